//! I/Os made some time before they are submitted, so that a target can fetch what it will need.

use fourcorners_drive::{Io, Target};

use crate::arrival::{Due, Source};

/// I/Os made ahead of their submission and shown to the target, [`BATCH`] at a time. A virtual SSD
/// finds where a unit is in two steps, some I/Os apart.
const LOOK_AHEAD: usize = 64;

/// I/Os of one hint.
const BATCH: usize = 4;

/// The next I/Os of a source, made in batches that the target is shown some batches before they
/// are due.
pub(crate) struct LookAhead<S> {
    source: S,
    ios: [Io; LOOK_AHEAD],
    /// When each of them is due, if they are paced.
    due: [Due; LOOK_AHEAD],
    /// How many have been taken. Those of the last [`LOOK_AHEAD`] positions are in `ios`, in a ring.
    taken: usize,
    /// How many there are, once the source has ended.
    end: usize,
}

impl<S: Source> LookAhead<S> {
    pub(crate) fn new(source: S) -> LookAhead<S> {
        let (ios, due) = ([Io::FLUSH; LOOK_AHEAD], [Due::Now; LOOK_AHEAD]);
        LookAhead { source, ios, due, taken: 0, end: usize::MAX }
    }

    /// Makes the first I/Os.
    pub(crate) fn begin<T: Target>(&mut self, target: &mut T) {
        (0..LOOK_AHEAD / BATCH).for_each(|batch| self.make(target, batch * BATCH));
    }

    /// When the next one is due; `None` at the end.
    pub(crate) fn due(&self) -> Option<Due> {
        (self.taken < self.end).then(|| self.due[self.taken % LOOK_AHEAD])
    }

    /// How many have been taken.
    pub(crate) fn taken(&self) -> usize {
        self.taken
    }

    /// The next one; the caller knows that there is one.
    #[inline]
    pub(crate) fn next<T: Target>(&mut self, target: &mut T) -> Io {
        let io = self.ios[self.taken % LOOK_AHEAD];
        self.taken += 1;
        if self.taken.is_multiple_of(BATCH) {
            self.make(target, self.taken - BATCH + LOOK_AHEAD);
        }
        io
    }

    /// Makes those from `first` on.
    fn make<T: Target>(&mut self, target: &mut T, first: usize) {
        let from = first % LOOK_AHEAD;
        let mut made = 0;
        while made < BATCH && self.end == usize::MAX {
            let Some((io, due)) = self.source.next() else {
                self.end = first + made;
                break;
            };
            self.ios[from + made] = io;
            if S::PACED {
                self.due[from + made] = due;
            }
            made += 1;
        }
        target.hint(&self.ios[from..from + made]);
    }
}
