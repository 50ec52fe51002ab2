//! One review in a process of its own, and how far it is by what it tells.

use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;

use super::reviews::Wanted;
use crate::event::Event;

/// Most lines that are kept of what it says to a person.
const MOST_SAID: usize = 20;
/// An end is only foretold after this part of the whole.
const LEAST_TO_FORETELL: f64 = 0.02;

/// A review that was started.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) number: u64,
    state: Mutex<State>,
    /// True once its process has ended.
    ended: watch::Sender<bool>,
}

#[derive(Debug)]
struct State {
    status: Status,
    began: Instant,
    process: Option<Pid>,
    stopped: bool,
}

/// How far a review is.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Status {
    pub(super) number: u64,
    pub(super) wanted: Wanted,
    /// `running`, `done`, `stopped` or `failed`.
    pub(super) state: &'static str,
    /// 0 to 1, by how long the methods take on the drives' clocks.
    pub(super) done: f64,
    pub(super) elapsed_s: f64,
    /// None before there is enough to go by.
    pub(super) remaining_s: Option<f64>,
    pub(super) parts: Vec<Part>,
    pub(super) figures: Vec<Figure>,
    /// What it said to a person, the last lines.
    said: Vec<String>,
}

impl Status {
    pub(super) fn is_running(&self) -> bool {
        self.state == "running"
    }

    /// The same for a list.
    pub(super) fn without_series(mut self) -> Status {
        for part in &mut self.parts {
            (part.iops, part.mb_per_s) = (Vec::new(), Vec::new());
        }
        self
    }
}

/// A method of a drive.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Part {
    pub(super) target: String,
    pub(super) method: String,
    /// How long it takes on the drive's clock.
    pub(super) seconds: f64,
    pub(super) done: f64,
    /// What it is doing.
    pub(super) words: String,
    /// What it is measuring.
    pub(super) figure: Option<String>,
    /// Of the job that is running, or was the last one.
    pub(super) iops: Vec<u64>,
    pub(super) mb_per_s: Vec<f64>,
    /// The id of its record.
    pub(super) record: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Figure {
    pub(super) target: String,
    pub(super) method: String,
    name: String,
    pub(super) mb_per_s: f64,
    pub(super) iops: f64,
}

impl Running {
    /// Starts a review; its results go into `database`.
    pub(super) fn start(
        number: u64,
        wanted: Wanted,
        program: &Path,
        database: &Path,
    ) -> std::io::Result<Arc<Running>> {
        let mut child = Command::new(program)
            .args(wanted.arguments())
            .arg("--db")
            .arg(database)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            // A Ctrl-C in our terminal is ours: a second signal would end it without saving.
            .process_group(0)
            .spawn()?;
        let status = Status {
            number,
            wanted,
            state: "running",
            done: 0.0,
            elapsed_s: 0.0,
            remaining_s: None,
            parts: Vec::new(),
            figures: Vec::new(),
            said: Vec::new(),
        };
        let process = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let state = State { status, began: Instant::now(), process, stopped: false };
        let running = Running { number, state: Mutex::new(state), ended: watch::channel(false).0 };
        let running = Arc::new(running);
        let follows = Arc::clone(&running);
        tokio::spawn(async move {
            let told = child.stderr.take();
            if let Some(told) = told {
                let mut lines = BufReader::new(told).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    follows.lock().hear(line);
                }
            }
            follows.end(child).await;
        });
        Ok(running)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How far it is now.
    pub(super) fn status(&self) -> Status {
        let mut state = self.lock();
        if state.status.is_running() {
            state.look_at_the_clock();
        }
        state.status.clone()
    }

    /// Asks it to stop; what it measured is kept.
    pub(super) fn stop(&self) {
        let mut state = self.lock();
        // A second signal would end it at once.
        if let (Some(process), false) = (state.process, state.stopped) {
            state.stopped = true;
            // It may have ended by itself since.
            let _ = kill_process(process, Signal::INT);
        }
    }

    /// Waits for its end.
    pub(super) async fn ended(&self) {
        // The sender is ours, so there is always an answer.
        let _ = self.ended.subscribe().wait_for(|ended| *ended).await;
    }

    async fn end(&self, mut child: Child) {
        let exit = child.wait().await;
        let mut state = self.lock();
        state.look_at_the_clock();
        state.process = None;
        state.status.remaining_s = None;
        state.status.state = match exit {
            Ok(exit) if exit.success() => "done",
            _ if state.stopped => "stopped",
            Ok(exit) => {
                state.say(format!("the review ended with {exit}"));
                "failed"
            }
            Err(error) => {
                state.say(format!("the review was lost: {error}"));
                "failed"
            }
        };
        if state.status.state == "done" {
            state.status.done = 1.0;
        }
        drop(state);
        self.ended.send_replace(true);
    }
}

impl State {
    /// Takes in a line.
    fn hear(&mut self, line: String) {
        let Ok(event) = serde_json::from_str::<Event>(&line) else {
            self.say(line);
            return;
        };
        match event {
            Event::Planned { target, method, seconds } => self.status.parts.push(Part {
                target,
                method,
                seconds,
                done: 0.0,
                words: "waiting".into(),
                figure: None,
                iops: Vec::new(),
                mb_per_s: Vec::new(),
                record: None,
            }),
            Event::Phase { target, method, words, figure, .. } => {
                self.part(&target, &method, |part| {
                    (part.words, part.figure) = (words, figure);
                    (part.iops, part.mb_per_s) = (Vec::new(), Vec::new());
                });
            }
            Event::Part { target, method, done } => {
                self.part(&target, &method, |part| part.done = done.clamp(0.0, 1.0));
            }
            Event::Seconds { target, method, from, iops, mb_per_s } => {
                self.part(&target, &method, |part| {
                    part.iops.truncate(from);
                    part.mb_per_s.truncate(from);
                    part.iops.extend(iops);
                    part.mb_per_s.extend(mb_per_s);
                });
            }
            Event::Figure { target, method, name, mb_per_s, iops } => {
                self.status.figures.push(Figure { target, method, name, mb_per_s, iops });
            }
            Event::Ended { target, method, id } => self.part(&target, &method, |part| {
                (part.done, part.words) = (1.0, "done".into());
                part.record = Some(id);
            }),
        }
    }

    fn part(&mut self, target: &str, method: &str, change: impl FnOnce(&mut Part)) {
        let mut parts = self.status.parts.iter_mut();
        if let Some(part) = parts.find(|part| part.target == target && part.method == method) {
            change(part);
        }
    }

    fn say(&mut self, line: String) {
        let said = &mut self.status.said;
        said.push(line);
        if said.len() > MOST_SAID {
            said.remove(0);
        }
    }

    fn look_at_the_clock(&mut self) {
        let status = &mut self.status;
        let of = |share: fn(&Part) -> f64| status.parts.iter().map(share).sum::<f64>();
        let whole = of(|part| part.seconds);
        if whole > 0.0 {
            status.done = of(|part| part.seconds * part.done) / whole;
        }
        status.elapsed_s = self.began.elapsed().as_secs_f64();
        status.remaining_s = (status.done >= LEAST_TO_FORETELL)
            .then(|| status.elapsed_s * (1.0 - status.done) / status.done);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> State {
        let wanted = serde_json::from_str(r#"{"drives": ["a", "b"]}"#).expect("it is whole");
        let status = Status {
            number: 1,
            wanted,
            state: "running",
            done: 0.0,
            elapsed_s: 0.0,
            remaining_s: None,
            parts: Vec::new(),
            figures: Vec::new(),
            said: Vec::new(),
        };
        State { status, began: Instant::now(), process: None, stopped: false }
    }

    #[test]
    fn what_is_told_is_put_together() {
        let mut state = state();
        for line in [
            r#"{"event":"planned","target":"a","method":"toms","seconds":300}"#,
            r#"{"event":"planned","target":"b","method":"toms","seconds":100}"#,
            r#"{"event":"phase","target":"a","method":"toms","number":1,"of":2,"words":"x","figure":"f"}"#,
            r#"{"event":"seconds","target":"a","method":"toms","from":0,"iops":[1,2],"mb_per_s":[3,4]}"#,
            r#"{"event":"seconds","target":"a","method":"toms","from":2,"iops":[5],"mb_per_s":[6]}"#,
            r#"{"event":"part","target":"a","method":"toms","done":0.5}"#,
            r#"{"event":"figure","target":"a","method":"toms","name":"f","mb_per_s":1.5,"iops":2}"#,
            r#"{"event":"ended","target":"b","method":"toms","id":"0123456789abcdef"}"#,
            "fourcorners: something for a person",
            r#"{"event":"unheard of"}"#,
        ] {
            state.hear(line.into());
        }
        state.look_at_the_clock();
        let status = &state.status;
        assert_eq!((status.parts[0].iops.as_slice(), status.parts[1].done), (&[1, 2, 5][..], 1.0));
        assert_eq!(status.done, 0.625);
        assert_eq!((status.figures.len(), status.said.len()), (1, 2));
        // The seconds of the next phase begin anew.
        let next = r#"{"event":"phase","target":"a","method":"toms","number":2,"of":2,
                       "words":"y","figure":null}"#;
        state.hear(next.into());
        assert!(state.status.parts[0].iops.is_empty());
    }

    #[test]
    fn only_the_last_lines_are_kept() {
        let mut state = state();
        (0..100).for_each(|line| state.hear(format!("line {line}")));
        assert_eq!(state.status.said.len(), MOST_SAID);
        assert_eq!(state.status.said.last().map(String::as_str), Some("line 99"));
    }
}
