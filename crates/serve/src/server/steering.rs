//! What is asked for over the control socket is carried out here, between two requests of the clients where it has to be.

use std::collections::BTreeMap;

use fourcorners_drive::Target;
use serde_json::{Value, json};

use super::Server;
use crate::contents::Snapshot;
use crate::control::{Control, ControlCommand};

/// Snapshots at a time.
const MOST_SNAPSHOTS: usize = 64;

/// The control socket and what was kept for it.
pub(super) struct Steering<T> {
    pub(super) control: Control,
    /// What is written over a file since the first snapshot takes at most so much memory.
    most_bytes: u64,
    /// A copy of a drive, if it can be had.
    copy: Box<dyn Fn(&T) -> T>,
    snapshots: BTreeMap<String, Kept<T>>,
    /// A command waits for what is in flight; nothing is read from clients meanwhile.
    holds: bool,
}

/// A snapshot, and the drive as it was.
struct Kept<T> {
    contents: Snapshot,
    state: Option<T>,
}

impl<T: Target + Clone + 'static> Server<T> {
    /// It is asked and steered here. What is written over contents in a file since the first snapshot takes at most so
    /// much memory.
    pub fn steer(&mut self, control: Control, most_bytes: u64) {
        self.steering = Some(Steering {
            control,
            most_bytes,
            copy: Box::new(T::clone),
            snapshots: BTreeMap::new(),
            holds: false,
        });
    }
}

impl<T: Target> Server<T> {
    /// Whether nothing is read from clients, because a command waits for what is in flight.
    pub(super) fn holds(&self) -> bool {
        self.steering.as_ref().is_some_and(|steering| steering.holds)
    }

    /// Carries out what was asked for.
    pub(super) fn obey(&mut self) {
        let Some(mut steering) = self.steering.take() else { return };
        steering.control.read();
        steering.holds = false;
        while let Some((id, line)) = steering.control.next() {
            let answer = match line.parse::<ControlCommand>() {
                Err(error) => Err(error.to_string()),
                Ok(command) if command.is_between_requests() && !self.turn.is_idle() => {
                    steering.control.put_back(id, line);
                    steering.holds = true;
                    break;
                }
                Ok(command) => self.carry_out(command, &mut steering),
            };
            let answer = match answer {
                Ok(mut answer) => {
                    answer["ok"] = json!(true);
                    answer
                }
                Err(error) => json!({ "ok": false, "error": error }),
            };
            steering.control.answer(id, &answer);
        }
        steering.control.send();
        self.steering = Some(steering);
    }

    fn carry_out(
        &mut self,
        command: ControlCommand,
        steering: &mut Steering<T>,
    ) -> Result<Value, String> {
        match command {
            ControlCommand::Status => {
                let status = serde_json::to_value(self.report("status"));
                Ok(json!({ "status": status.map_err(|error| error.to_string())? }))
            }
            ControlCommand::Fault(spec) => {
                if let Some(why) = spec.beyond(self.settings.export.bytes) {
                    return Err(why);
                }
                let faults = self.turn.faults_mut().ok_or("nothing can be injected here")?;
                faults.add(spec);
                Ok(json!({}))
            }
            ControlCommand::Clear(text) => {
                let faults = self.turn.faults_mut().ok_or("nothing can be injected here")?;
                let gone: BTreeMap<String, u64> =
                    faults.clear(text.as_deref()).into_iter().collect();
                match text.filter(|_| gone.is_empty()) {
                    Some(text) => {
                        Err(format!("there is no fault {text}: status lists those there are"))
                    }
                    None => Ok(json!({ "cleared": gone })),
                }
            }
            ControlCommand::Snapshot { name, with_state } => {
                if with_state && self.recording.is_some() {
                    return Err(NO_STATE.into());
                }
                if steering.snapshots.contains_key(&name) {
                    return Err(format!("there is a snapshot {name} already: drop it first"));
                }
                if steering.snapshots.len() == MOST_SNAPSHOTS {
                    return Err(format!("there are {MOST_SNAPSHOTS} snapshots: drop one first"));
                }
                let contents = self.turn.contents_mut().snapshot(steering.most_bytes);
                let state = with_state.then(|| (steering.copy)(self.turn.target()));
                steering.snapshots.insert(name, Kept { contents, state });
                Ok(json!({}))
            }
            // Nothing of a recording says that what was written is not there any more.
            ControlCommand::Rollback { .. } if self.data.is_some() => {
                Err("what is recorded would no longer be what is stored: leave --record-data out"
                    .into())
            }
            ControlCommand::Rollback { name, with_state } => {
                let kept = steering.snapshots.get(&name).ok_or_else(|| unknown(&name))?;
                let state = match (with_state, &kept.state) {
                    (false, _) => None,
                    (true, _) if self.recording.is_some() => return Err(NO_STATE.into()),
                    (true, Some(state)) => Some((steering.copy)(state)),
                    (true, None) => {
                        return Err(format!(
                            "{name} was taken without --with-state: it has no state"
                        ));
                    }
                };
                self.turn.rollback(&kept.contents);
                if let Some(state) = state {
                    self.turn.exchange(state);
                    // The drive's clock shows what it showed then; it goes on from there at the next request.
                    self.anchor = None;
                }
                Ok(json!({}))
            }
            ControlCommand::Drop(name) => {
                steering.snapshots.remove(&name).ok_or_else(|| unknown(&name))?;
                if steering.snapshots.is_empty() {
                    self.commit()?;
                }
                Ok(json!({}))
            }
            ControlCommand::Commit => {
                // What is stored in the file is no snapshot's any more.
                steering.snapshots.clear();
                self.commit()?;
                Ok(json!({}))
            }
            ControlCommand::Cut { class, seed, off } => self.cut_power(class, seed, off),
            ControlCommand::Snapshots => {
                let all: BTreeMap<&String, Value> = steering
                    .snapshots
                    .iter()
                    .map(|(name, kept)| (name, json!({ "with_state": kept.state.is_some() })))
                    .collect();
                Ok(json!({ "snapshots": all }))
            }
        }
    }

    fn commit(&mut self) -> Result<(), String> {
        let committed = self.turn.contents_mut().commit();
        committed.map_err(|error| {
            format!("not all is stored in the file, the rest is in memory: {error}")
        })
    }
}

/// Why a drive's state does not go back while it is recorded.
const NO_STATE: &str = "--with-state sets the drive's clock back, and --record needs one that goes on: leave one of them out";

fn unknown(name: &str) -> String {
    format!("there is no snapshot {name}: snapshots lists those there are")
}
