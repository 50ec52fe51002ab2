//! One step of a plan, and what is known of it before it is run.

use fourcorners_record::{Job, Until};
use fourcorners_run::time_limit;
use fourcorners_run::trim::Range;
use fourcorners_words::{count, figure_words, three_digits};

use super::{Replayed, Scope};

/// One step of a plan.
#[derive(Clone, PartialEq, Debug)]
pub enum Phase {
    /// Make the target forget everything.
    Purge,
    /// Bring the target into a state.
    Prepare {
        /// The state it is in afterwards.
        state: String,
        /// How.
        job: Job,
    },
    /// Measure a figure.
    Measure {
        /// Its name.
        figure: String,
        /// How.
        job: Job,
    },
    /// Measure a figure, and its data rate along the way.
    Pass {
        /// Its name, and that of its curve.
        figure: String,
        /// How: a sequential job of a given number of bytes.
        job: Job,
        /// At how many places at most.
        points: u64,
    },
    /// Measure figures round after round until one of them is steady.
    Rounds {
        /// How many rounds at most.
        most: usize,
        /// The figure that is to be steady.
        tracked: String,
        /// Names and jobs.
        tests: Vec<(String, Job)>,
    },
    /// Measure a figure several times and keep the fastest; a curve has all of them.
    Runs {
        /// How many times.
        times: usize,
        /// Its name.
        figure: String,
        /// How, each time with the next seed.
        job: Job,
    },
    /// Replay a trace.
    Replay(Box<Replayed>),
    /// TRIM a range.
    Trim {
        /// Which.
        range: Range,
    },
    /// Measure a figure while a range is trimmed; both begin together.
    BesideTrim {
        /// The figure's name.
        figure: String,
        /// How.
        job: Job,
        /// What is trimmed.
        range: Range,
    },
    /// TRIM a range and look at what that did to what is stored.
    ProbeTrim {
        /// Which.
        range: Range,
    },
    /// Leave the target alone, and say what it draws.
    Idle {
        /// For how long.
        seconds: u64,
    },
    /// Leave the target alone until it is so long since the last preparation; what was done since
    /// then counts, a TRIM too.
    Rest {
        /// Seconds from the end of the preparation.
        seconds: u64,
    },
    /// Where the last TRIM took longer than a rest, phases once more with rests as long as it took.
    AfterLongTrim {
        /// Seconds of the rest.
        seconds: u64,
        /// The phases; they have none of this kind among them.
        again: Vec<Phase>,
    },
    /// Something the method knows but that is left out here.
    LeftOut {
        /// What and why, in a sentence.
        why: String,
    },
}

impl Phase {
    /// The job it runs, if it runs one.
    pub fn job(&self) -> Option<&Job> {
        match self {
            Phase::Prepare { job, .. }
            | Phase::Measure { job, .. }
            | Phase::Pass { job, .. }
            | Phase::Runs { job, .. }
            | Phase::BesideTrim { job, .. } => Some(job),
            Phase::Purge
            | Phase::Rounds { .. }
            | Phase::Replay(_)
            | Phase::Trim { .. }
            | Phase::ProbeTrim { .. }
            | Phase::Idle { .. }
            | Phase::Rest { .. }
            | Phase::AfterLongTrim { .. }
            | Phase::LeftOut { .. } => None,
        }
    }

    /// All jobs it runs, or may run.
    pub fn jobs(&self) -> impl Iterator<Item = &Job> {
        let rounds = match self {
            Phase::Rounds { tests, .. } => &tests[..],
            _ => &[],
        };
        let again = match self {
            Phase::AfterLongTrim { again, .. } => &again[..],
            _ => &[],
        };
        let rounds = rounds.iter().map(|(_, job)| job);
        self.job().into_iter().chain(rounds).chain(again.iter().filter_map(Phase::job))
    }

    /// Most commands it has in flight.
    pub fn in_flight(&self) -> u32 {
        let deepest = self.jobs().map(Job::in_flight).max().unwrap_or(1);
        // The TRIM is a command, too.
        deepest + u32::from(matches!(self, Phase::BesideTrim { .. }))
    }

    /// Whether a figure comes of it.
    pub fn measures(&self) -> bool {
        matches!(
            self,
            Phase::Measure { .. }
                | Phase::Pass { .. }
                | Phase::Runs { .. }
                | Phase::BesideTrim { .. }
                | Phase::Rounds { .. }
                | Phase::Replay(_)
        )
    }

    /// Whether it leaves what is stored as it was.
    pub(super) fn only_reads(&self) -> bool {
        match self {
            Phase::LeftOut { .. } | Phase::Idle { .. } | Phase::Rest { .. } => true,
            Phase::Purge
            | Phase::Prepare { .. }
            | Phase::Rounds { .. }
            | Phase::Replay(_)
            | Phase::Trim { .. }
            | Phase::BesideTrim { .. }
            | Phase::ProbeTrim { .. }
            | Phase::AfterLongTrim { .. } => false,
            Phase::Measure { job, .. } | Phase::Pass { job, .. } | Phase::Runs { job, .. } => {
                job.read_percent == 100
            }
        }
    }

    /// The figure it measures; of several rounds the tracked one.
    fn figure(&self) -> Option<&str> {
        match self {
            Phase::Measure { figure, .. }
            | Phase::Pass { figure, .. }
            | Phase::Runs { figure, .. }
            | Phase::BesideTrim { figure, .. } => Some(figure),
            Phase::Rounds { tracked, .. } => Some(tracked),
            Phase::Replay(replayed) => Some(replayed.figure),
            _ => None,
        }
    }

    /// What it does, in a few words.
    pub fn words(&self) -> String {
        match self {
            Phase::Purge => "purge".into(),
            Phase::Prepare { state, .. } => format!("prepare: {state}"),
            Phase::Measure { figure, .. } | Phase::Pass { figure, .. } => figure.clone(),
            Phase::Runs { times, figure, .. } => format!("{figure}, {times} runs"),
            Phase::Rounds { most, tracked, tests } => {
                format!("{} tests, at most {most} rounds, until steady: {tracked}", tests.len())
            }
            Phase::Replay(replayed) => match replayed.ios {
                Some(ios) => {
                    format!("{}, {} I/Os of {}", replayed.figure, rounded(ios), replayed.trace)
                }
                None => replayed.trace.clone(),
            },
            Phase::Trim { range } => format!("TRIM {:.1} GB", range.bytes as f64 / 1e9),
            Phase::BesideTrim { figure, range, .. } => {
                format!("{figure}, TRIM {:.1} GB", range.bytes as f64 / 1e9)
            }
            Phase::ProbeTrim { range } => {
                format!("TRIM {:.1} GB and read back", range.bytes as f64 / 1e9)
            }
            Phase::Idle { seconds } => format!("idle for {seconds} s"),
            Phase::Rest { seconds } => format!("idle until {seconds} s after the last preparation"),
            Phase::AfterLongTrim { seconds, .. } => {
                format!(
                    "if the TRIM took over {seconds} s: the tortured passes again, not counted here"
                )
            }
            Phase::LeftOut { .. } => "left out".into(),
        }
    }

    /// The phase on a target that takes fewer commands at once than most. A figure at a depth it
    /// does not have is left out: a host would queue the rest, and its wait is not the drive's.
    pub(super) fn within(self, scope: &Scope) -> Phase {
        let most = scope.geometry.queue_depth;
        let commands = if most == 1 { "command" } else { "commands" };
        let left_out = |figure: &str| Phase::LeftOut {
            why: format!(
                "{} was left out: the target accepts only {most} {commands} at once.",
                figure_words(figure)
            ),
        };
        match self {
            Phase::Measure { figure, job }
            | Phase::Pass { figure, job, .. }
            | Phase::Runs { figure, job, .. }
                if job.in_flight() > most =>
            {
                left_out(&figure)
            }
            Phase::Rounds { tests, .. } if tests.iter().any(|(_, job)| job.in_flight() > most) => {
                left_out("The steady state")
            }
            // The TRIM is a command, too.
            Phase::BesideTrim { figure, job, .. } if job.in_flight() >= most => left_out(&figure),
            Phase::Prepare { state, job } => {
                Phase::Prepare { state, job: Job { queue_depth: job.queue_depth.min(most), ..job } }
            }
            Phase::AfterLongTrim { seconds, again } => Phase::AfterLongTrim {
                seconds,
                again: again.into_iter().map(|phase| phase.within(scope)).collect(),
            },
            phase => phase,
        }
    }

    /// How long it takes, roughly, in seconds of the target's time. A fill's duration is not known
    /// before it is run: it is counted at [`ASSUMED_BYTES_PER_SECOND`].
    pub fn estimated_seconds(&self) -> f64 {
        if let Phase::Idle { seconds } | Phase::Rest { seconds } = self {
            return *seconds as f64;
        }
        if let Phase::Replay(replayed) = self {
            return replayed.expected.1;
        }
        if let Phase::Rounds { most, tests, .. } = self {
            let round: f64 = tests.iter().map(|(_, job)| time_limit(job.until).as_secs()).sum();
            return round * *most as f64;
        }
        self.job().map_or(0.0, |job| match job.until {
            Until::Seconds(seconds) => seconds as f64 * self.times(),
            Until::Bytes(bytes) => bytes as f64 / ASSUMED_BYTES_PER_SECOND,
            Until::SecondsOrBytes(seconds, bytes) => {
                (seconds as f64).min(bytes as f64 / ASSUMED_BYTES_PER_SECOND)
            }
        })
    }

    /// How many times its job is run.
    fn times(&self) -> f64 {
        match self {
            Phase::Runs { times, .. } => *times as f64,
            _ => 1.0,
        }
    }

    /// Whether its time is known beforehand.
    pub fn is_timed(&self) -> bool {
        !matches!(self, Phase::Rounds { .. } | Phase::Replay(_) | Phase::AfterLongTrim { .. })
            && self.job().is_none_or(|job| matches!(job.until, Until::Seconds(_)))
    }

    /// What it writes, in bytes: exactly where the job says, and at [`ASSUMED_BYTES_PER_SECOND`] where
    /// it is as much as the drive takes in a given time.
    pub fn estimated_writes(&self) -> Writes {
        if let Phase::Rounds { most, tests, .. } = self {
            let share = |job: &Job| f64::from(100 - job.read_percent) / 100.0;
            let seconds = |(_, job): &(String, Job)| time_limit(job.until).as_secs() * share(job);
            let seconds = tests.iter().map(seconds).sum::<f64>() * *most as f64;
            return Writes { bytes: (seconds * ASSUMED_BYTES_PER_SECOND) as u64, exact: false };
        }
        if let Phase::Replay(replayed) = self {
            return Writes { bytes: replayed.expected.0, exact: replayed.ios.is_none() };
        }
        let Some(job) = self.job().filter(|job| job.read_percent < 100) else {
            // Hardly any drive makes its passes once more necessary: they are not counted.
            let exact = !matches!(self, Phase::AfterLongTrim { .. });
            return Writes { bytes: 0, exact };
        };
        let share = f64::from(100 - job.read_percent) / 100.0;
        let exact = matches!(job.until, Until::Bytes(_));
        let assumed = self.estimated_seconds() * ASSUMED_BYTES_PER_SECOND;
        let bytes = if exact { job.until.bytes() as f64 } else { assumed };
        Writes { bytes: (bytes * share) as u64, exact }
    }
}

/// A plan where nothing may be written: what it would write to measure is left out, which is said at its end, and so is
/// what brings the target into a state.
pub(crate) fn reading(plan: Vec<Phase>) -> Vec<Phase> {
    let (mut kept, others): (Vec<Phase>, Vec<Phase>) =
        plan.into_iter().partition(Phase::only_reads);
    let left_out: Vec<String> = others.iter().filter_map(Phase::figure).map(figure_words).collect();
    if !left_out.is_empty() {
        let why =
            format!("Left out, since nothing is written to the target: {}.", left_out.join("; "));
        kept.push(Phase::LeftOut { why });
    }
    kept
}

/// What a middling drive reads or writes in a second: what a plan counts with before it is run.
pub const ASSUMED_BYTES_PER_SECOND: f64 = 200e6;

/// "10.5 M", "832,339".
fn rounded(number: u64) -> String {
    match number {
        1_000_000.. => format!("{} M", three_digits(number as f64 / 1e6)),
        _ => count(number as f64),
    }
}

/// What a phase is going to write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Writes {
    /// Bytes.
    pub bytes: u64,
    /// Whether it is known.
    pub exact: bool,
}

/// The preparation that follows a purge: the jobs that make the state of what comes then. Two
/// drives with the same past are in the same state, so this is the name of a state.
pub(super) fn preparation(after_purge: &[Phase]) -> Vec<Job> {
    let job = |phase: &Phase| match phase {
        Phase::Prepare { job, .. } => Some(job.clone()),
        _ => None,
    };
    after_purge.iter().map_while(job).collect()
}
