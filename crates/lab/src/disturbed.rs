//! A virtual drive on a machine that is not quiet: now and then the loop that drives it does not run.
//!
//! What is answered while the loop stands still is seen when it goes on, and nothing is submitted
//! meanwhile. How much of the time it stands still differs from second to second and from job to job.
//! Some of it the operating system counts (the loop waited for a processor), and some nobody sees.

use std::collections::VecDeque;

use fourcorners_drive::{Clock, Done, Fault, Geometry, Io, Nanos, Tag, Target};
use fourcorners_record::Noise;

use crate::virtual_drive::Virtual;

/// How long the loop stands still on average: some slices of a scheduler.
const STILL_US: f64 = 3000.0;
/// By how much the share of a second varies around that of its job, and that of a job around the
/// mean: deviations of the logarithm.
const BY_SECOND: f64 = 0.5;
const BY_JOB: f64 = 0.3;
/// No second is lost whole.
const MOST: f64 = 0.6;

/// How much a machine disturbs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Disturbance {
    /// Mean share of the time that the loop waits for a processor, 0 to 0.6; the record tells it.
    pub seen: f64,
    /// Mean share of the time that is lost and that nothing tells of, 0 to 0.6.
    pub unseen: f64,
    /// Of its random numbers.
    pub seed: u64,
}

/// A virtual drive that is disturbed.
pub struct Disturbed {
    drive: Virtual,
    of: Disturbance,
    random: Random,
    /// What is seen, and what is not.
    losses: [Loss; 2],
    /// Until when the shares of this second hold.
    second_ends: Nanos,
    waited: Nanos,
    /// Answered while the loop stood still.
    held: VecDeque<Result<Done, Fault>>,
}

/// Time that is lost to one cause.
#[derive(Clone, Copy, Default)]
struct Loss {
    /// Its share of this job, and of this second.
    of_job: f64,
    share: f64,
    /// When the loop stands still next.
    next: Nanos,
}

impl Disturbed {
    pub(crate) fn new(drive: Virtual, of: Disturbance) -> Disturbed {
        let random = Random(of.seed);
        let (losses, held) = ([Loss::default(); 2], VecDeque::new());
        let (second_ends, waited) = (Nanos::ZERO, Nanos::ZERO);
        Disturbed { drive, of, random, losses, second_ends, waited, held }
    }

    pub(crate) fn drive(&self) -> &Virtual {
        &self.drive
    }

    pub(crate) fn drive_mut(&mut self) -> &mut Virtual {
        &mut self.drive
    }

    /// A job begins: the machine may be busier than it was, or quieter. How long the loop has waited
    /// for a processor so far.
    pub(crate) fn begin(&mut self) -> Nanos {
        let now = self.drive.now();
        for (loss, mean) in self.losses.iter_mut().zip([self.of.seen, self.of.unseen]) {
            loss.of_job = mean * self.random.log_normal(BY_JOB);
        }
        self.new_second(now);
        self.waited
    }

    /// What the operating system counted since a job began at `began`, when it had counted `waited`.
    pub(crate) fn noise(&self, began: Nanos, waited: Nanos) -> Noise {
        let seconds = (self.drive.now() - began).as_secs().max(1e-9);
        let cpu_wait_share = (self.waited - waited).as_secs() / seconds;
        let load = 1.0 + self.of.seen;
        Noise {
            cpu_wait_share,
            cpu_steal_share: 0.0,
            load,
            other_io_share: None,
            stopped_share: 0.0,
        }
    }

    fn new_second(&mut self, now: Nanos) {
        self.second_ends = now + Nanos::from_secs(1);
        for index in 0..self.losses.len() {
            let share = self.losses[index].of_job * self.random.log_normal(BY_SECOND);
            self.losses[index].share = share.min(MOST);
            self.losses[index].next = self.after(now, share.min(MOST));
        }
    }

    /// When the loop stands still next, that loses this share of the time.
    fn after(&mut self, now: Nanos, share: f64) -> Nanos {
        if share <= 0.0 {
            return Nanos(u64::MAX);
        }
        let mean = STILL_US * (1.0 - share) / share;
        now.saturating_add(Nanos::from_micros(mean * self.random.exponential()))
    }

    /// Until when the loop stands still that would go on at `now`.
    fn goes_on(&mut self, now: Nanos) -> Nanos {
        if now >= self.second_ends {
            self.new_second(now);
        }
        let mut end = now;
        for index in 0..self.losses.len() {
            let Loss { share, next, .. } = self.losses[index];
            if now < next {
                continue;
            }
            let still = Nanos::from_micros(STILL_US * self.random.exponential());
            end += still;
            if index == 0 {
                self.waited += still;
            }
            self.losses[index].next = self.after(end, share);
        }
        end
    }
}

impl Target for Disturbed {
    const CLOCK: Clock = Clock::Virtual;

    fn geometry(&self) -> Geometry {
        self.drive.geometry()
    }

    fn now(&self) -> Nanos {
        self.drive.now()
    }

    fn hint(&mut self, ahead: &[Io]) {
        self.drive.hint(ahead);
    }

    fn submit(&mut self, tag: Tag, io: Io) {
        self.drive.submit(tag, io);
    }

    fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
        if let Some(held) = self.held.pop_front() {
            return held.map(Some);
        }
        let answer = self.drive.reap(until);
        let at = match &answer {
            Ok(None) => return Ok(None),
            Ok(Some(done)) => done.at,
            Err(fault) => fault.at,
        };
        let end = self.goes_on(at);
        if end == at {
            return answer;
        }
        let late = |answer: Result<Done, Fault>| match answer {
            Ok(done) => Ok(Done { at: end, ..done }),
            Err(fault) => Err(Fault { at: end, ..fault }),
        };
        self.held.extend(answer.transpose().map(late));
        while let Some(answer) = self.drive.reap(end).transpose() {
            self.held.push_back(late(answer));
        }
        self.held.pop_front().transpose()
    }

    fn due(&mut self) -> Option<Nanos> {
        match self.held.front() {
            Some(Ok(done)) => Some(done.at),
            Some(Err(fault)) => Some(fault.at),
            None => self.drive.due(),
        }
    }

    fn catch_up(&mut self) {
        self.drive.catch_up();
    }

    fn energy_j(&self, at: Nanos) -> Option<f64> {
        self.drive.energy_j(at)
    }
}

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to 1, without 0.
    pub(crate) fn unit(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 1.0) / (1_u64 << 53) as f64
    }

    /// With a mean of 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -self.unit().ln()
    }

    /// With a mean of 0 and a deviation of 1.
    pub(crate) fn normal(&mut self) -> f64 {
        // Box and Muller's: two even ones make a normal one.
        let (radius, angle) =
            ((-2.0 * self.unit().ln()).sqrt(), self.unit() * std::f64::consts::TAU);
        radius * angle.cos()
    }

    /// With a mean of 1, and this deviation of its logarithm.
    fn log_normal(&mut self, deviation: f64) -> f64 {
        (deviation * self.normal() - deviation * deviation / 2.0).exp()
    }
}

#[cfg(test)]
mod tests {
    use fourcorners_catalogue::built_in;
    use fourcorners_record::{Data, Job, Pattern, Until};
    use fourcorners_run::Unobserved;

    use crate::drive::{Drive, Outcome};

    use super::*;

    /// A minute of random writes or reads, one at a time.
    fn minute(read_percent: u8, of: Disturbance) -> Outcome {
        let profile = built_in("crucial-m4-64gb", &[]).expect("it is in the catalogue");
        let mut drive = Drive::disturbed(&profile, of);
        let job = Job {
            pattern: Pattern::Random,
            read_percent,
            block_bytes: 4096,
            queue_depth: 1,
            span_start_bytes: 0,
            span_bytes: 1 << 30,
            data: Data::Incompressible,
            until: Until::Seconds(60),
            seed: 1,
            fua: false,
            flush: false,
            jobs: 1,
        };
        let all = Job { read_percent: 0, until: Until::Bytes(1 << 30), ..job.clone() };
        drive.run(&all, &mut Unobserved);
        drive.run(&job, &mut Unobserved)
    }

    #[test]
    fn what_is_lost_is_lost_to_the_drive_and_told_only_where_it_is_seen() {
        let share = |outcome: &Outcome| outcome.noise.expect("it is told").cpu_wait_share;
        let disturbed = |read_percent, seen, unseen| {
            minute(read_percent, Disturbance { seen, unseen, seed: 1 })
        };
        let kept = |some: &Outcome, all: &Outcome| {
            some.measured.latency.count() as f64 / all.measured.latency.count() as f64
        };
        let quiet = disturbed(100, 0.0, 0.0);
        let seen = disturbed(100, 0.2, 0.0);
        let unseen = disturbed(100, 0.0, 0.2);
        assert_eq!(share(&quiet), 0.0);
        // One at a time: what is lost of the time is lost of the rate, but for the command in flight.
        let (rate, time) = (kept(&seen, &quiet), 1.0 - share(&seen));
        assert!((rate - time).abs() < 0.03, "{rate} {time}");
        assert!((0.05..0.5).contains(&share(&seen)));
        assert!(share(&unseen) == 0.0 && kept(&unseen, &quiet) < 0.95);
        // An I/O that is answered while the loop stands still is seen late.
        assert!(seen.measured.latency.max() > quiet.measured.latency.max() + 3_000_000);
        // The buffer is emptied while the loop stands still, so that writes lose less.
        let writes = disturbed(0, 0.2, 0.0);
        assert!(kept(&writes, &disturbed(0, 0.0, 0.0)) > 1.0 - share(&writes) + 0.03);
    }
}
