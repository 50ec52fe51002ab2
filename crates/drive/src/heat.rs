//! The temperature of a drive: two low passes of its power, and the duty cycle that keeps it down.
//!
//! Nothing is integrated in steps of its own. The drive reads its energy when a command arrives and the last
//! reading is [`INTERVAL`] old, and takes the power since as constant, first while it had commands and then while
//! it had none: each part has a closed form, so an idle hour costs what a tenth of a second costs.
//!
//! The exponential function is `libm`'s, in Rust: that of a platform may differ in its last bit, and temperatures decide
//! about times, which are the same on any machine.

use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::config::{HeatSection, HeatSink, HeatThrottle};
use crate::state::LATEST;

/// From one reading of the sensor to the next, at least.
const INTERVAL: Nanos = Nanos(100_000_000);

/// No loaded temperature is farther from 0, degrees Celsius: 1000 W at 200 degrees each.
const MOST_C: f64 = 1e6;

/// No loaded energy is more, joules.
const MOST_J: f64 = 1e18;

/// How warm a virtual SSD is, and what that cost.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SsdHeat {
    /// What its sensor shows, degrees Celsius.
    pub temperature_c: f64,
    /// The highest it has shown since it was made, or since [`crate::Ssd::forget_highest_temperature`].
    pub highest_c: f64,
    /// Time for which commands waited because of heat, since it was made. It is counted in intervals of at least a tenth of
    /// a second, and each in which a command waited counts as a whole.
    pub throttled: Nanos,
    /// Whether there is a heat sink for it that is not fitted.
    pub sink_is_left_out: bool,
}

/// A part of the drive that is warmer than what carries it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Part {
    c_per_w: f64,
    seconds: f64,
    /// By how much it is warmer, degrees.
    above_c: f64,
}

impl Part {
    /// One that has drawn `watts` for ever.
    fn new((c_per_w, seconds): (f64, f64), watts: f64) -> Part {
        Part { c_per_w, seconds, above_c: c_per_w * watts }
    }

    /// `watts` for a time.
    fn follow(&mut self, watts: f64, time: Nanos) {
        let end = self.c_per_w * watts;
        self.above_c = end + (self.above_c - end) * libm::exp(-time.as_secs() / self.seconds);
    }

    fn fits(&self, made: &Part) -> bool {
        let Part { c_per_w, seconds, above_c } = *self;
        (c_per_w, seconds) == (made.c_per_w, made.seconds) && above_c.abs() <= MOST_C
    }
}

/// What the drive's energy was when it was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EnergySinceReading {
    /// All of it since the drive was made, without what it did in the idle time before `at`, joules.
    pub(crate) before_idle_work_j: f64,
    /// With it.
    pub(crate) total_j: f64,
    /// Until when it had commands.
    pub(crate) busy_until: Nanos,
}

/// The heat of a drive.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Heat {
    ambient_c: f64,
    package: Part,
    board: Part,
    idle_w: f64,
    sink_is_left_out: bool,
    duty: Option<DutyCycle>,
    /// When the energy was last read, and what it was.
    read_at: Nanos,
    read_j: f64,
    highest_c: f64,
    /// The highest of what it was from then on.
    highest_from: Nanos,
    throttled: Nanos,
}

impl Heat {
    /// Of a checked section, of a drive that has been idle for long.
    pub(crate) fn new(section: &HeatSection, idle_w: f64) -> Heat {
        let package = Part::new((section.package_c_per_w, section.package_s), idle_w);
        let board = Part::new(section.board(), idle_w);
        let mut heat = Heat {
            ambient_c: section.ambient_c,
            package,
            board,
            idle_w,
            sink_is_left_out: section.sink == HeatSink::None && section.sink_c_per_w.is_some(),
            duty: (section.throttle == HeatThrottle::On).then(|| DutyCycle::new(section)),
            read_at: Nanos::ZERO,
            read_j: 0.0,
            highest_c: 0.0,
            highest_from: Nanos::ZERO,
            throttled: Nanos::ZERO,
        };
        heat.highest_c = heat.temperature_c();
        heat
    }

    fn temperature_c(&self) -> f64 {
        self.ambient_c + self.board.above_c + self.package.above_c
    }

    /// Whether the sensor is to be read when a command arrives at `at`.
    #[inline]
    pub(crate) fn is_due(&self, at: Nanos) -> bool {
        at >= self.read_at + INTERVAL
    }

    /// Reads the sensor at `at`.
    pub(crate) fn read(&mut self, at: Nanos, energy: EnergySinceReading) {
        let busy_until = energy.busy_until.clamp(self.read_at, at.max(self.read_at));
        let (busy, idle) = (busy_until - self.read_at, at.since(busy_until));
        let idle_work_j = energy.total_j - energy.before_idle_work_j;
        let mut idle_j = self.idle_w * idle.as_secs();
        let mut busy_j = energy.before_idle_work_j - self.read_j - idle_j;
        // What a drive did without time for it is spread over the time there is.
        if busy == Nanos::ZERO {
            (idle_j, busy_j) = (idle_j + busy_j, 0.0);
        }
        idle_j += idle_work_j;
        if idle == Nanos::ZERO {
            busy_j += idle_work_j;
        }
        let waited = self.duty.as_mut().is_some_and(DutyCycle::take_waited);
        if waited {
            self.throttled += busy;
        }
        self.follow(busy_j, [self.read_at, busy_until]);
        self.follow(idle_j, [busy_until, at]);
        (self.read_at, self.read_j) = (at.max(self.read_at), energy.total_j);
        let now_c = self.temperature_c();
        if let Some(duty) = &mut self.duty {
            duty.note(now_c, self.read_at);
        }
    }

    /// So many joules, evenly over a time.
    fn follow(&mut self, joules: f64, [from, until]: [Nanos; 2]) {
        let time = until.since(from);
        if time == Nanos::ZERO {
            return;
        }
        let watts = joules / time.as_secs();
        self.package.follow(watts, time);
        self.board.follow(watts, time);
        // Within a stretch of one power it is between both ends, but for a difference that no sensor shows.
        if until >= self.highest_from {
            self.highest_c = self.highest_c.max(self.temperature_c());
        }
    }

    /// When a command that arrives at `at` may begin; `done` says when the drive is done with
    /// all before it, and is asked where it matters.
    #[inline]
    pub(crate) fn admit(&mut self, at: Nanos, done: impl FnOnce() -> Nanos) -> Nanos {
        match &mut self.duty {
            Some(duty) => duty.admit(at, done),
            None => at,
        }
    }

    pub(crate) fn reading(&self) -> SsdHeat {
        SsdHeat {
            temperature_c: self.temperature_c(),
            highest_c: self.highest_c,
            throttled: self.throttled,
            sink_is_left_out: self.sink_is_left_out,
        }
    }

    /// From `at` on, where it is at `now_c`, the highest temperature counts anew. No reading of the sensor: what
    /// the drive does later does not depend on who asked.
    pub(crate) fn forget_highest(&mut self, at: Nanos, now_c: f64) {
        (self.highest_from, self.highest_c) = (at, now_c);
    }

    /// Whether a loaded one is one that `made`, which is new, could have become.
    pub(crate) fn fits(&self, made: &Heat) -> bool {
        let Heat { ambient_c, package, board, idle_w, sink_is_left_out, duty, .. } = *self;
        let Heat { read_at, read_j, highest_c, highest_from, throttled, .. } = *self;
        let duties = match (&duty, &made.duty) {
            (Some(duty), Some(made)) => duty.fits(made),
            (None, None) => true,
            _ => false,
        };
        let constant = (ambient_c, idle_w, sink_is_left_out);
        constant == (made.ambient_c, made.idle_w, made.sink_is_left_out)
            && package.fits(&made.package)
            && board.fits(&made.board)
            && duties
            && read_at.max(throttled).max(highest_from) <= LATEST
            && (0.0..=MOST_J).contains(&read_j)
            && highest_c.abs() <= MOST_C
    }
}

/// Work and rest in turn while the drive is too warm.
///
/// A stretch of work lasts `work` and until all commands that began in it are answered and what they wrote is on
/// the NAND; the rest after it is as long as gives the work its share of the time, whatever the work is. Micron's firmware does it in this way:
/// it puts delays between commands from a temperature on and ends that two degrees below ("Adaptive Thermal
/// Monitoring", data sheet of the M600).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct DutyCycle {
    throttle_c: f64,
    resume_c: f64,
    work: Nanos,
    /// Rest over work, in parts of 65,536.
    rest: u64,
    /// Whether it is too warm now.
    holds: bool,
    /// Whether a command waited since the last reading.
    waited: bool,
    /// When the stretch of work began.
    began: Nanos,
    /// No command begins before.
    rests_until: Nanos,
}

impl DutyCycle {
    fn new(section: &HeatSection) -> DutyCycle {
        DutyCycle {
            throttle_c: section.throttle_c,
            resume_c: section.resume_c,
            work: Nanos::from_micros(section.work_ms * 1000.0),
            rest: ((100.0 / section.throttled_percent - 1.0) * 65_536.0) as u64,
            holds: false,
            waited: false,
            began: Nanos::ZERO,
            rests_until: Nanos::ZERO,
        }
    }

    /// The sensor shows `now_c` at `at`.
    fn note(&mut self, now_c: f64, at: Nanos) {
        let held = self.holds;
        self.holds = now_c >= if held { self.resume_c } else { self.throttle_c };
        if self.holds && !held {
            self.began = at;
        }
    }

    fn take_waited(&mut self) -> bool {
        std::mem::take(&mut self.waited)
    }

    #[inline]
    fn admit(&mut self, at: Nanos, done: impl FnOnce() -> Nanos) -> Nanos {
        // What came during a rest waits for its end, also if the drive is cooler by now: nothing overtakes.
        let may_begin = at.max(self.rests_until);
        let begins = match self.holds && may_begin >= self.began + self.work {
            true => self.rest(may_begin, done()),
            false => may_begin,
        };
        self.waited |= begins > at;
        begins
    }

    /// The stretch of work is over when a command comes at `at`: when that may begin, after a rest.
    #[cold]
    fn rest(&mut self, at: Nanos, done: Nanos) -> Nanos {
        let end = done.max(self.began + self.work);
        let rest = (u128::from(end.since(self.began).0) * u128::from(self.rest)) >> 16;
        // Of a drive that had nothing to do since, it is over already.
        self.rests_until = end + Nanos(rest as u64);
        self.began = at.max(self.rests_until);
        self.began
    }

    fn fits(&self, made: &DutyCycle) -> bool {
        let DutyCycle { throttle_c, resume_c, work, rest, holds: _, waited: _, began, rests_until } =
            *self;
        (throttle_c, resume_c, work, rest) == (made.throttle_c, made.resume_c, made.work, made.rest)
            && began.max(rests_until) <= LATEST
    }
}
