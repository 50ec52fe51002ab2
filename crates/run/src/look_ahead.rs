//! I/Os made some time before they are submitted, so that a target can fetch what it will need.

use fourcorners_drive::{Io, Target};

use crate::paced::{Due, Source};

/// I/Os made ahead of their submission and shown to the target, [`BATCH`] at a time. A virtual SSD
/// finds where a unit is in two steps, some I/Os apart.
const LOOK_AHEAD: usize = 64;

/// I/Os of one hint.
const BATCH: usize = 4;

const BATCHES: usize = LOOK_AHEAD / BATCH;

/// The next I/Os of a source, made in batches that the target is shown some batches before they
/// are due.
pub(crate) struct LookAhead<S> {
    source: S,
    ios: [[Io; BATCH]; BATCHES],
    /// When each of them is due, if they are paced.
    due: [[Due; BATCH]; BATCHES],
    /// How many have been taken. Those of the last [`LOOK_AHEAD`] positions are in `ios`, in a ring.
    taken: usize,
    /// How many there are, once the source has ended.
    end: usize,
}

impl<S: Source> LookAhead<S> {
    pub(crate) fn new(source: S) -> LookAhead<S> {
        let (ios, due) = ([[Io::FLUSH; BATCH]; BATCHES], [[Due::Now; BATCH]; BATCHES]);
        LookAhead { source, ios, due, taken: 0, end: usize::MAX }
    }

    /// Makes the first I/Os.
    pub(crate) fn begin<T: Target>(&mut self, target: &mut T) {
        (0..BATCHES).for_each(|batch| self.make(target, batch * BATCH));
    }

    /// When the next one is due; `None` at the end.
    pub(crate) fn due(&self) -> Option<Due> {
        (self.taken < self.end).then(|| self.due.as_flattened()[self.taken % LOOK_AHEAD])
    }

    /// How many have been taken.
    pub(crate) fn taken(&self) -> usize {
        self.taken
    }

    /// The next one; the caller knows that there is one.
    #[inline]
    pub(crate) fn next<T: Target>(&mut self, target: &mut T) -> Io {
        let io = self.ios.as_flattened()[self.taken % LOOK_AHEAD];
        self.taken += 1;
        if self.taken.is_multiple_of(BATCH) {
            self.make(target, self.taken - BATCH + LOOK_AHEAD);
        }
        io
    }

    /// Makes those of the batch that begins with `first`.
    fn make<T: Target>(&mut self, target: &mut T, first: usize) {
        if self.end != usize::MAX {
            return;
        }
        let batch = first / BATCH % BATCHES;
        let (ios, due) = (&mut self.ios[batch], &mut self.due[batch]);
        let made = make_batch(&mut self.source, ios, due);
        if made < BATCH {
            self.end = first + made;
        }
        target.hint(&ios[..made]);
    }
}

/// Fills a batch as far as the source goes. Returns how far.
///
/// What is borrowed apart is known not to overlap: the source's state stays in registers from one I/O to the
/// next.
#[inline]
fn make_batch<S: Source>(source: &mut S, ios: &mut [Io; BATCH], dues: &mut [Due; BATCH]) -> usize {
    for (made, (place, place_due)) in ios.iter_mut().zip(dues).enumerate() {
        let Some((io, due)) = source.next() else {
            return made;
        };
        *place = io;
        if S::PACED {
            *place_due = due;
        }
    }
    BATCH
}
