//! A target that notes how long it had something to do.

use fourcorners_drive::{Clock, Done, Fault, Geometry, Io, Nanos, Tag, Target};

/// A drive, and the time with at least one I/O in it.
pub(super) struct Busy<'a, T> {
    target: &'a mut T,
    in_flight: u32,
    /// When the first of those in flight was submitted.
    since: Nanos,
    busy: Nanos,
}

impl<'a, T: Target> Busy<'a, T> {
    pub(super) fn new(target: &'a mut T) -> Busy<'a, T> {
        Busy { target, in_flight: 0, since: Nanos::ZERO, busy: Nanos::ZERO }
    }

    /// So far, of what has completed.
    pub(super) fn time(&self) -> Nanos {
        self.busy
    }

    fn came_back(&mut self, at: Nanos) {
        self.in_flight -= 1;
        if self.in_flight == 0 {
            self.busy += at.since(self.since);
        }
    }
}

impl<T: Target> Target for Busy<'_, T> {
    const CLOCK: Clock = T::CLOCK;

    fn geometry(&self) -> Geometry {
        self.target.geometry()
    }

    fn now(&self) -> Nanos {
        self.target.now()
    }

    fn hint(&mut self, ahead: &[Io]) {
        self.target.hint(ahead);
    }

    fn submit(&mut self, tag: Tag, io: Io) {
        if self.in_flight == 0 {
            self.since = self.target.now();
        }
        self.in_flight += 1;
        self.target.submit(tag, io);
    }

    fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
        let reaped = self.target.reap(until);
        match &reaped {
            Ok(Some(done)) => self.came_back(done.at),
            Ok(None) => {}
            Err(fault) => self.came_back(fault.at),
        }
        reaped
    }

    fn due(&mut self) -> Option<Nanos> {
        self.target.due()
    }

    fn energy_j(&self, at: Nanos) -> Option<f64> {
        self.target.energy_j(at)
    }
}

#[cfg(test)]
mod tests {
    use fourcorners_drive::{Lba, Null};

    use super::*;

    #[test]
    fn time_counts_once_whatever_is_in_flight_and_not_between() {
        let mut null = Null::new(1 << 20, Nanos(100));
        let mut drive = Busy::new(&mut null);
        let io = Io::read(Lba(0), 8);
        drive.submit(Tag(0), io);
        drive.submit(Tag(1), io);
        while drive.reap(Nanos::MAX).expect("it does not fail").is_some() {}
        assert_eq!(drive.time(), Nanos(100));
        // Idle until 1000 ns.
        assert_eq!(drive.reap(Nanos(1000)), Ok(None));
        drive.submit(Tag(0), io);
        assert!(drive.reap(Nanos::MAX).expect("it does not fail").is_some());
        assert_eq!((drive.time(), drive.now()), (Nanos(200), Nanos(1100)));
    }
}
