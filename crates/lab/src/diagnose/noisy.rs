//! A drive behind a host that is not exact: what a detector has to bear.
//!
//! An answer is seen late, never early, and the drive stands still for nobody: what is submitted next is submitted at the
//! time at which the last answer was seen.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use fourcorners_drive::{Clock, Done, Fault, Geometry, Io, Nanos, Tag, Target};

use crate::disturbed::Random;

/// How exact the times are that a detector sees.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Noise {
    /// Those of the drive.
    None,
    /// Of a quiet machine: times vary by 1 % and are seen 2 us late on average.
    Lab,
    /// Of a busy one: times vary by 3 %, are seen 48 us late on average by a clock of 1 us, grow by 2 % an hour, and
    /// one in a thousand is seen 1 to 10 ms late.
    Host,
}

impl Noise {
    /// All of them.
    pub const ALL: [Noise; 3] = [Noise::None, Noise::Lab, Noise::Host];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Noise::None => "none",
            Noise::Lab => "lab",
            Noise::Host => "host",
        }
    }
}

/// Where the random numbers of noise begin.
pub(super) fn first_random(seed: u64) -> u64 {
    seed ^ 0x006e_6f69_7379
}

/// A target that is seen through noise.
pub struct Noisy<'a, T> {
    target: &'a mut T,
    noise: Noise,
    random: Random,
    /// When each tag was submitted.
    submitted: Vec<Nanos>,
    /// Answers that are not seen yet: when each will be, and its tag.
    unseen: BinaryHeap<Reverse<(Nanos, u32)>>,
}

impl<'a, T: Target> Noisy<'a, T> {
    /// `seed` is of the noise.
    pub fn new(target: &'a mut T, noise: Noise, seed: u64) -> Noisy<'a, T> {
        Noisy::going_on(target, noise, first_random(seed))
    }

    /// Where an earlier one ended, which had nothing in flight.
    pub(super) fn going_on(target: &'a mut T, noise: Noise, random: u64) -> Noisy<'a, T> {
        let depth = target.geometry().queue_depth as usize;
        let submitted = vec![Nanos::ZERO; depth];
        Noisy { target, noise, random: Random(random), submitted, unseen: BinaryHeap::new() }
    }

    /// Where its random numbers are.
    pub(super) fn random(&self) -> u64 {
        self.random.0
    }

    /// When an answer is seen that came at `at` to what was submitted at `submitted`.
    fn seen(&mut self, submitted: Nanos, at: Nanos) -> Nanos {
        let took = (at - submitted).as_micros();
        let (spread, late) = match self.noise {
            Noise::None => return at,
            Noise::Lab => (0.01, 2.0),
            Noise::Host => (0.03, 8.0),
        };
        // Three deviations later than it would be around the true time, and never before it.
        let share = spread * (self.random.normal() + 3.0).max(0.0);
        let mut more = took * share + late * self.random.exponential();
        if self.noise == Noise::Host {
            more += 40.0 + took * 0.02 * at.as_secs() / 3600.0;
            if self.random.unit() < 0.001 {
                more += 1000.0 + 9000.0 * self.random.unit();
            }
        }
        let seen = at + Nanos::from_micros(more);
        match self.noise {
            Noise::Host => Nanos(seen.0.div_ceil(1000) * 1000),
            Noise::None | Noise::Lab => seen,
        }
    }
}

impl<T: Target> Target for Noisy<'_, T> {
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
        self.submitted[tag.0 as usize] = self.target.now();
        self.target.submit(tag, io);
    }

    fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
        loop {
            let first = self.unseen.peek().map(|Reverse((at, _))| *at);
            let wait = first.map_or(until, |at| at.min(until));
            if let Some(done) = self.target.reap(wait)? {
                let seen = self.seen(self.submitted[done.tag.0 as usize], done.at);
                self.unseen.push(Reverse((seen, done.tag.0)));
                continue;
            }
            return match self.unseen.peek() {
                Some(&Reverse((at, tag))) if at <= until => {
                    self.unseen.pop();
                    Ok(Some(Done { tag: Tag(tag), at }))
                }
                _ => Ok(None),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use fourcorners_drive::{Lba, Null};

    use super::*;

    /// What reads of 100 us take, one at a time or four.
    fn seen(noise: Noise, depth: u32) -> Vec<f64> {
        let mut drive = Null::new(1 << 20, Nanos::from_micros(100.0));
        let mut noisy = Noisy::new(&mut drive, noise, 1);
        let mut began = vec![Nanos::ZERO; depth as usize];
        (0..depth).for_each(|tag| noisy.submit(Tag(tag), Io::read(Lba(0), 8)));
        let (mut times, mut last) = (Vec::new(), Nanos::ZERO);
        while times.len() < 4000 {
            let done = noisy.reap(Nanos::MAX).expect("no fault").expect("one is in flight");
            assert!(done.at >= last && noisy.now() == done.at);
            last = done.at;
            times.push((done.at - began[done.tag.0 as usize]).as_micros());
            began[done.tag.0 as usize] = done.at;
            noisy.submit(done.tag, Io::read(Lba(0), 8));
        }
        times
    }

    #[test]
    fn none_is_none_and_more_is_more_and_nothing_is_early() {
        for depth in [1, 4] {
            assert!(seen(Noise::None, depth).iter().all(|&us| us == 100.0));
            let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
            let [lab, host] = [Noise::Lab, Noise::Host].map(|noise| seen(noise, depth));
            assert!(lab.iter().chain(&host).all(|&us| us >= 100.0));
            // 3 % and 2 us, 9 % and 48 us and 5.5 us of what is 1 to 10 ms late.
            assert!((mean(&lab) - 105.0).abs() < 0.2, "{}", mean(&lab));
            assert!((mean(&host) - 163.0).abs() < 3.0, "{}", mean(&host));
            assert!(host.iter().filter(|us| **us > 1000.0).count().abs_diff(4) < 6);
        }
    }
}
