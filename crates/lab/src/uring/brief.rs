//! Waits that are over before one would be asleep.
//!
//! Who sleeps is late by what waking takes, and waking takes time of the processor that completes the
//! I/O, too. With many in flight the device works on meanwhile. With few, and a device that answers in
//! some microseconds, it runs out of work: so we look for the completion for as long, as long as waits
//! are mostly that short.

use fourcorners_drive::Nanos;

/// With more I/Os in flight a device has work while we are woken.
const FEW: u32 = 8;

/// About what falling asleep and being woken take on a virtual machine.
const BRIEF: Nanos = Nanos(6_000);

/// One long wait is no reason to sleep through the next: it counts for no more than this.
const LONG: Nanos = Nanos(4 * BRIEF.0);

/// How long the last waits took with few I/Os in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Brief {
    mean: Nanos,
}

impl Brief {
    pub(super) fn new() -> Brief {
        Brief { mean: LONG }
    }

    /// Whether so few are in flight that it matters.
    #[inline]
    pub(super) fn matters(flying: u32) -> bool {
        flying <= FEW
    }

    /// How long to look for a completion before sleeping, if at all.
    #[inline]
    pub(super) fn look_for(self) -> Option<Nanos> {
        (self.mean <= BRIEF).then_some(BRIEF)
    }

    /// A wait with few in flight took so long.
    #[inline]
    pub(super) fn waited(&mut self, time: Nanos) {
        self.mean.0 = (7 * self.mean.0 + time.min(LONG).0) / 8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_answers_soon_is_looked_at_and_a_slow_one_slept_for() {
        let mut brief = Brief::new();
        assert_eq!(brief.look_for(), None);
        (0..100).for_each(|_| brief.waited(Nanos(4_000)));
        assert_eq!(brief.look_for(), Some(BRIEF));
        // A stall is one wait.
        brief.waited(Nanos::from_secs(1));
        brief.waited(Nanos(4_000));
        brief.waited(Nanos(4_000));
        assert_eq!(brief.look_for(), Some(BRIEF));
        (0..100).for_each(|_| brief.waited(Nanos(20_000)));
        assert_eq!(brief.look_for(), None);
    }
}
