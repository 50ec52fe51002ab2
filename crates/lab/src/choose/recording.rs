//! A trace, a task or a generated workload as the work of a choice: replayed closed loop, with all of
//! its think time, as the tasks of a review are, or as a recording is to be replayed.

use std::path::{Path, PathBuf};

use fourcorners_drive::{Geometry, Nanos, Op};
use fourcorners_record::{Card, ChosenReplay, ChosenWork, ReplayPart};
use fourcorners_run::Observer;
use fourcorners_trace::{self as trace, Options, TraceError};

use super::WorkError;
use super::amplification::{amplified, repetition_seed};
use super::candidate::Candidate;
use super::footprint::Footprint;
use super::measure::{Measured, complete, prepared};
use super::obstacle::Obstacle;
use super::state::State;
use crate::drive::Drive;
use crate::replay::{Addresses, Pace, Script};

/// A recording is asked whether to go on after so many I/Os.
const ASK_AFTER: u32 = 1 << 16;

/// The formats of what was not recorded but is drawn.
const TASK: &str = "task";
const GENERATED: &str = "generated";

/// How a recording is replayed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Replaying {
    /// When I/Os are issued.
    pub pace: Pace,
    /// Most I/Os in flight, at least 1.
    pub depth: u32,
    /// What is done about addresses. `None`: they are as recorded, and shrunk where they reach beyond a drive.
    pub addresses: Option<Addresses>,
    /// The host in front of the drives, in words; the profiles of the candidates have it.
    pub host: &'static str,
}

impl Default for Replaying {
    /// Closed loop, with all think time, each drive behind the host of its profile.
    fn default() -> Replaying {
        let pace = Pace::Think { cap: Nanos::MAX };
        Replaying { pace, depth: 32, addresses: None, host: "profile" }
    }
}

/// A recording, and what is in it.
#[derive(Clone, Debug)]
pub struct Recording {
    path: PathBuf,
    options: Options,
    card: Card,
    footprint: Footprint,
    replaying: Replaying,
}

impl Recording {
    /// Reads a trace (any format), `task:NAME` or `generated:NAME` to its end, twice. `None` when
    /// `go_on` said no.
    ///
    /// # Errors
    /// When it cannot be read, or there is no I/O in it.
    pub fn read(
        path: &Path,
        options: &Options,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Recording>, WorkError> {
        let Some(card) = trace::card(trace::open(path, options)?, go_on)? else { return Ok(None) };
        if card.ios == 0 {
            return Err(WorkError::Empty { name: card.trace });
        }
        let Some(footprint) = touched(path, options, go_on)? else { return Ok(None) };
        let (path, options) = (path.to_path_buf(), options.clone());
        let replaying = Replaying::default();
        Ok(Some(Recording { path, options, card, footprint, replaying }))
    }

    /// The same, replayed in this manner.
    #[must_use]
    pub fn replayed(self, replaying: Replaying) -> Recording {
        Recording { replaying, ..self }
    }

    /// What a document says of how it is replayed; nothing where it is replayed as for every choice.
    pub(super) fn replay(&self) -> Option<ChosenReplay> {
        let Replaying { pace, depth, host, .. } = self.replaying;
        (self.replaying != Replaying::default()).then(|| ChosenReplay {
            pace: pace.name().into(),
            idle_cap_ms: match pace {
                Pace::Think { cap } if cap < Nanos::MAX => Some(cap.as_micros() / 1e3),
                _ => None,
            },
            queue_depth: depth,
            host: host.into(),
        })
    }

    /// What is in it.
    pub fn card(&self) -> &Card {
        &self.card
    }

    /// Bytes that it reads or writes, each counted once.
    pub(super) fn touched_bytes(&self) -> u64 {
        self.footprint.bytes()
    }

    /// What it is in a document.
    fn kind(&self) -> &str {
        match self.card.format.as_str() {
            kind @ (TASK | GENERATED) => kind,
            _ => "trace",
        }
    }

    pub(super) fn described(&self) -> ChosenWork {
        let card = &self.card;
        ChosenWork {
            name: card.trace.clone(),
            kind: self.kind().into(),
            ios: card.ios,
            read_gb: card.read_bytes as f64 / 1e9,
            written_gb: card.write_bytes as f64 / 1e9,
            extent_gb: Some(card.extent_bytes as f64 / 1e9),
            duration_s: Some(card.duration_s),
        }
    }

    /// Replays it on a new drive.
    ///
    /// # Errors
    /// Why this drive cannot do it.
    pub(super) fn measure(
        &self,
        candidate: &Candidate,
        state: State,
        observer: &mut dyn Observer,
    ) -> Result<Measured, Obstacle> {
        let capacity = candidate.capacity_bytes();
        self.check_room(capacity)?;
        let mut options = self.options.clone();
        if !candidate.takes_trim() {
            options.filter.ops.trim = false;
        }
        let addresses =
            self.replaying.addresses.unwrap_or(match self.card.extent_bytes > capacity {
                true => Addresses::Rescaled,
                false => Addresses::AsRecorded,
            });
        let rescaled = match addresses {
            Addresses::AsRecorded | Addresses::Scaled => false,
            Addresses::Rescaled | Addresses::Into(_) => true,
            Addresses::Wrapped => self.card.extent_bytes > capacity,
        };
        let moved;
        let footprint = match rescaled && state == State::Written {
            false => &self.footprint,
            true => {
                moved = self.moved_footprint(addresses, candidate.geometry(), observer)?;
                &moved
            }
        };
        let mut drive = prepared(candidate, state, footprint, observer)?;
        let script = Script {
            trace: &self.path,
            options: &options,
            card: &self.card,
            pace: self.replaying.pace,
            depth: self.replaying.depth,
            addresses,
        };
        let is_drawn = matches!(self.kind(), TASK | GENERATED);
        let play = |drive: &mut Drive, repetition| {
            let played = match is_drawn && repetition > 0 {
                false => script.play(drive, observer)?,
                true => {
                    let seed = repetition_seed(options.seed, repetition);
                    let options = Options { seed, ..options.clone() };
                    // Other draws may reach somewhat beyond the extent of the first, and so beyond the end of a drive.
                    let addresses = match addresses {
                        Addresses::AsRecorded => Addresses::Wrapped,
                        other => other,
                    };
                    Script { options: &options, addresses, ..script }.play(drive, observer)?
                }
            };
            complete(played.outcome.measured.ended, "during the work")?;
            match &played.broken {
                // It was read to its end before.
                Some(why) => Err(Obstacle::Changed(why.clone())),
                None => {
                    let ios = played.outcome.measured.latency.count();
                    Ok((played, ios))
                }
            }
        };
        let (played, amplification) = amplified(&mut drive, (candidate, state), play)?;
        let figure = played.figure("", &drive, true);
        let sequential = self.card.sequential;
        let took = |part: &ReplayPart| part.service_us * part.ios as f64;
        let split =
            |part: &ReplayPart, share: f64| [took(part) * (1.0 - share), took(part) * share];
        let [random_read, sequential_read] = split(&figure.reads, sequential.reads);
        let [random_write, sequential_write] = split(&figure.writes, sequential.writes);
        Ok(Measured {
            waited_s: figure.busy_s,
            p99_us: figure.all.latency_us.p99,
            amplification,
            joules: figure.joules,
            shares: [random_read, random_write, sequential_read, sequential_write],
            ios: figure.all.ios,
            bytes: [figure.reads.bytes, figure.writes.bytes],
            rescaled,
            widened: (played.widened, drive.geometry().logical_block_bytes),
        })
    }

    fn check_room(&self, capacity: u64) -> Result<(), Obstacle> {
        let touched = self.touched_bytes();
        match touched > capacity {
            true => Err(Obstacle::NoRoom { touched, capacity }),
            false => Ok(()),
        }
    }

    /// The footprint on a drive whose addresses are not those of the trace.
    fn moved_footprint(
        &self,
        addresses: Addresses,
        geometry: Geometry,
        observer: &mut dyn Observer,
    ) -> Result<Footprint, Obstacle> {
        let mut options = self.options.clone();
        // It is of what is read and written.
        options.filter.ops.trim = false;
        if let Some(map) = addresses.map(&self.card, false, geometry)? {
            options.filter.addresses = map;
        }
        let touched = touched(&self.path, &options, &mut || observer.go_on(0.0));
        touched?.ok_or(Obstacle::Stopped)
    }
}

/// What a trace reads and writes.
fn touched(
    path: &Path,
    options: &Options,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Option<Footprint>, TraceError> {
    let mut footprint = Footprint::default();
    let mut since_asked = 0;
    let mut trace = trace::open(path, options)?;
    while let Some(io) = trace.next_or_left_out() {
        if let Some(io) = io?.filter(|io| matches!(io.op, Op::Read | Op::Write)) {
            footprint.add(io.offset_bytes, io.bytes);
        }
        since_asked += 1;
        if since_asked == ASK_AFTER {
            since_asked = 0;
            if !go_on() {
                return Ok(None);
            }
        }
    }
    footprint.join();
    Ok(Some(footprint))
}
