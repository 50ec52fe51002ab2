//! A target behind a pointer, so that what is done with targets of all kinds is compiled once for each clock and not once
//! for each kind. Loops over the models that are simulated most, an SSD and a hard disk, do without.

use fourcorners_drive::{Clock, Done, Fault, Geometry, Io, Nanos, Tag, Target};

/// A target of whichever kind, whose clock is a real one or not.
pub(crate) struct AnyTarget<'a, const WALL: bool>(&'a mut dyn Behind);

impl<'a, const WALL: bool> AnyTarget<'a, WALL> {
    /// The target, whose clock is of that kind.
    pub(crate) fn of<T: Target>(target: &'a mut T) -> AnyTarget<'a, WALL> {
        const { assert!(WALL == matches!(T::CLOCK, Clock::Wall)) };
        AnyTarget(target)
    }
}

/// What a target does, without what its type says.
trait Behind {
    fn geometry(&self) -> Geometry;
    fn now(&self) -> Nanos;
    fn hint(&mut self, ahead: &[Io]);
    fn submit(&mut self, tag: Tag, io: Io);
    fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault>;
    fn due(&mut self) -> Option<Nanos>;
    fn catch_up(&mut self);
    fn energy_j(&self, at: Nanos) -> Option<f64>;
}

impl<T: Target> Behind for T {
    fn geometry(&self) -> Geometry {
        Target::geometry(self)
    }

    fn now(&self) -> Nanos {
        Target::now(self)
    }

    fn hint(&mut self, ahead: &[Io]) {
        Target::hint(self, ahead);
    }

    fn submit(&mut self, tag: Tag, io: Io) {
        Target::submit(self, tag, io);
    }

    fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
        Target::reap(self, until)
    }

    fn due(&mut self) -> Option<Nanos> {
        Target::due(self)
    }

    fn catch_up(&mut self) {
        Target::catch_up(self);
    }

    fn energy_j(&self, at: Nanos) -> Option<f64> {
        Target::energy_j(self, at)
    }
}

impl<const WALL: bool> Target for AnyTarget<'_, WALL> {
    const CLOCK: Clock = if WALL { Clock::Wall } else { Clock::Virtual };

    fn geometry(&self) -> Geometry {
        self.0.geometry()
    }

    fn now(&self) -> Nanos {
        self.0.now()
    }

    fn hint(&mut self, ahead: &[Io]) {
        self.0.hint(ahead);
    }

    fn submit(&mut self, tag: Tag, io: Io) {
        self.0.submit(tag, io);
    }

    fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
        self.0.reap(until)
    }

    fn due(&mut self) -> Option<Nanos> {
        self.0.due()
    }

    fn catch_up(&mut self) {
        self.0.catch_up();
    }

    fn energy_j(&self, at: Nanos) -> Option<f64> {
        self.0.energy_j(at)
    }
}
