//! Waits in which one looks for a completion instead of sleeping.
//!
//! Who sleeps is late by what waking takes, and waking takes time of the processor that completes the
//! I/O, too. With few in flight a device that answers in some microseconds runs out of work meanwhile: there
//! we look for as long, as long as waits are mostly that short.
//!
//! With many a device has work while we are woken, unless it tells of a whole queue at once. A loop device
//! does: its thread keeps the processor from who would tell until it has nothing left to do, so that it and we sleep in
//! turn, and each has to be woken by the other. There we look for longer, in spells, as long as that finds something
//! soon. A disk that interrupts at the end of its queue and not before takes too long for that.

use fourcorners_drive::Nanos;

/// With more I/Os in flight a device has work while we are woken.
const FEW: u32 = 8;

/// About what falling asleep and being woken take on a virtual machine.
const BRIEF: Nanos = Nanos(6_000);

/// One long wait is no reason to sleep through the next: it counts for no more than this.
const LONG: Nanos = Nanos(4 * BRIEF.0);

/// With many in flight: about what it takes on a virtual machine until we are woken and have woken who serves the
/// device (37 us measured on a loop device). Who has found nothing for so long may as well sleep.
const TWO_WAKINGS: Nanos = Nanos(30_000);

/// With many in flight, how long is looked for in all before it is asked whether that pays.
const SPELL: Nanos = Nanos(1_000_000);

/// If it pays, looking takes one part in so many of the time: it is CPU time that no I/O takes. Random writes to a
/// loop device over 16 MiB of tmpfs made 0.94 of fio's rate without, for 0.65 of its CPU time an I/O; 1.03, 1.07, 1.13 and
/// 1.26 of it with one part in 24, 16, 12 and 8, for 0.71 to 0.74; 1.33 when always looking, for 0.77 (medians of 7).
const PART: u64 = 12;

/// It pays if looks take no longer than this in the mean, those that found nothing, too. A loop device that keeps up
/// with us has something after 1 or 2 us; a disk that interrupts this processor is even held up by our looking.
const SOON: Nanos = Nanos(5_000);

/// And if they take less than one part in so many of a spell. Where it is more, the device is what takes long, and
/// does so whether it is looked at or not.
const MOST: u64 = 3;

/// If it does not pay, it is tried again after so long.
const SELDOM: Nanos = Nanos(200_000_000);

/// Whether to look for a completion or to sleep until there is one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Brief {
    /// How long the last waits took with few I/Os in flight.
    mean: Nanos,
    many: Many,
}

impl Brief {
    pub(super) fn new() -> Brief {
        Brief { mean: LONG, many: Many::Sleeps { until: Nanos::ZERO } }
    }

    /// How long to look for a completion before sleeping, if at all, with so many in flight.
    #[inline]
    pub(super) fn look_for(&mut self, flying: u32, now: Nanos) -> Option<Nanos> {
        match flying <= FEW {
            true => (self.mean <= BRIEF).then_some(BRIEF),
            false => self.many.look_for(now),
        }
    }

    /// With so many in flight it was looked for so long.
    #[inline]
    pub(super) fn looked(&mut self, flying: u32, time: Nanos) {
        if flying > FEW {
            self.many.looked(time);
        }
    }

    /// A wait, asleep or not, took so long with so many in flight when it began.
    #[inline]
    pub(super) fn waited(&mut self, flying: u32, time: Nanos) {
        if flying <= FEW {
            self.mean.0 = (7 * self.mean.0 + time.min(LONG).0) / 8;
        }
    }
}

/// What is done with many I/Os in flight.
///
/// Looking and sleeping are told apart in spells of some milliseconds and not wait by wait: one wait that is slept
/// through leaves the device with nothing, and the next waits are long.
#[derive(Clone, Copy, Debug)]
enum Many {
    /// Waits are slept through until then.
    Sleeps { until: Nanos },
    /// Waits were looked through since it began.
    Looks { began: Nanos, looked: Nanos, looks: u64 },
}

impl Many {
    fn look_for(&mut self, now: Nanos) -> Option<Nanos> {
        match *self {
            Many::Sleeps { until } if now < until => return None,
            Many::Sleeps { .. } => {
                *self = Many::Looks { began: now, looked: Nanos::ZERO, looks: 0 };
            }
            Many::Looks { began, looked, looks } if looked >= SPELL => {
                let took = now.since(began);
                let pays = looked.0 <= looks * SOON.0 && MOST * looked.0 <= took.0;
                let pause = if pays { Nanos(PART * looked.0).since(took) } else { SELDOM };
                *self = Many::Sleeps { until: now.saturating_add(pause) };
                return None;
            }
            Many::Looks { .. } => {}
        }
        Some(TWO_WAKINGS)
    }

    fn looked(&mut self, time: Nanos) {
        if let Many::Looks { looked, looks, .. } = self {
            looked.0 += time.0;
            *looks += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_answers_soon_is_looked_at_and_a_slow_one_slept_for() {
        let mut brief = Brief::new();
        let look_for = |brief: &mut Brief| brief.look_for(FEW, Nanos::ZERO);
        assert_eq!(look_for(&mut brief), None);
        (0..100).for_each(|_| brief.waited(FEW, Nanos(4_000)));
        assert_eq!(look_for(&mut brief), Some(BRIEF));
        // A stall is one wait.
        brief.waited(FEW, Nanos::from_secs(1));
        brief.waited(FEW, Nanos(4_000));
        brief.waited(FEW, Nanos(4_000));
        assert_eq!(look_for(&mut brief), Some(BRIEF));
        (0..100).for_each(|_| brief.waited(FEW, Nanos(20_000)));
        assert_eq!(look_for(&mut brief), None);
    }

    /// A second of waits with many in flight: how long was looked for, if a look finds something after `finds`, or
    /// nothing, and what it found is handed out for so long.
    fn looked_in_a_second(finds: Option<Nanos>, handed_out: Nanos) -> Nanos {
        let (mut brief, mut now, mut looked) = (Brief::new(), Nanos::ZERO, Nanos::ZERO);
        while now < Nanos::from_secs(1) {
            let mut asleep = Nanos(100_000);
            if let Some(longest) = brief.look_for(32, now) {
                let time = finds.unwrap_or(longest);
                brief.looked(32, time);
                now = now.saturating_add(time);
                looked = looked.saturating_add(time);
                if finds.is_some() {
                    asleep = handed_out;
                }
            }
            now = now.saturating_add(asleep);
        }
        looked
    }

    #[test]
    fn with_many_in_flight_looking_that_pays_takes_its_part_of_the_time() {
        let looked = looked_in_a_second(Some(Nanos(1_000)), Nanos(5_000));
        let part = 1_000_000_000 / PART;
        assert!((part * 9 / 10..=part * 11 / 10).contains(&looked.0), "{looked:?}");
    }

    #[test]
    fn looking_that_finds_nothing_or_takes_long_is_tried_for_a_spell_only() {
        for (finds, handed_out) in
            [(None, 0), (Some(Nanos(8_000)), 90_000), (Some(Nanos(4_000)), 4_000)]
        {
            let looked = looked_in_a_second(finds, Nanos(handed_out));
            let most = 5 * (SPELL.0 + TWO_WAKINGS.0);
            assert!((SPELL.0..=most).contains(&looked.0), "{finds:?}: {looked:?}");
        }
    }
}
