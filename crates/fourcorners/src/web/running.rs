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

use super::course::Course;
use super::reviews::Wanted;
use crate::event::Event;

/// Most lines that are kept of what it says to a person.
const MOST_SAID: usize = 20;

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
    #[serde(flatten)]
    pub(super) course: Course,
    /// What it said to a person, the last lines.
    said: Vec<String>,
}

impl Status {
    pub(super) fn is_running(&self) -> bool {
        self.state == "running"
    }

    /// The same for a list.
    pub(super) fn without_series(mut self) -> Status {
        self.course.drop_series();
        self
    }
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
            course: Course::default(),
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
        state.status.course.remaining_s = None;
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
            state.status.course.done = 1.0;
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
        self.status.course.hear(event);
    }

    fn say(&mut self, line: String) {
        let said = &mut self.status.said;
        said.push(line);
        if said.len() > MOST_SAID {
            said.remove(0);
        }
    }

    fn look_at_the_clock(&mut self) {
        self.status.course.look_at_the_clock(self.began.elapsed());
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
            course: Course::default(),
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
            r#"{"event":"ended","target":"b","method":"toms","id":"0123456789abcdef","cut_short":false,"kept":true}"#,
            "fourcorners: something for a person",
            r#"{"event":"unheard of"}"#,
        ] {
            state.hear(line.into());
        }
        state.look_at_the_clock();
        let status = &state.status;
        let course = &status.course;
        assert_eq!((course.parts[0].iops.as_slice(), course.parts[1].done), (&[1, 2, 5][..], 1.0));
        assert_eq!(course.done, 0.625);
        assert_eq!((course.figures.len(), status.said.len()), (1, 2));
        // The seconds of the next phase begin anew.
        let next = r#"{"event":"phase","target":"a","method":"toms","number":2,"of":2,
                       "words":"y","figure":null}"#;
        state.hear(next.into());
        assert!(state.status.course.parts[0].iops.is_empty());
        // A stopped method keeps the progress that it had reached.
        let ended = r#"{"event":"ended","target":"a","method":"toms","id":"0","cut_short":true,"kept":true}"#;
        state.hear(ended.into());
        let part = &state.status.course.parts[0];
        assert_eq!(
            (part.done, part.words.as_str(), part.record.as_deref()),
            (0.5, "cut short", Some("0"))
        );
    }

    #[test]
    fn only_the_last_lines_are_kept() {
        let mut state = state();
        (0..100).for_each(|line| state.hear(format!("line {line}")));
        assert_eq!(state.status.said.len(), MOST_SAID);
        assert_eq!(state.status.said.last().map(String::as_str), Some("line 99"));
    }
}
