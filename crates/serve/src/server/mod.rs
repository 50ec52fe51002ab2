//! The one loop: sockets, the drive and the clock, on one thread.
//!
//! ```text
//! read all sockets, stamp what came -> in order of stamps: answer what is due before it, submit it
//!   -> answer what is due by now plus the door -> send -> again, if any of this did something
//!   -> otherwise wait for a socket or for the next answer: sleep until shortly before it, then look at clock and sockets
//! ```

mod clients;
mod power;
mod real;
mod reporting;
mod steering;

use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};

use fourcorners_drive::{Nanos, Target};
use fourcorners_linux::{Waking, clock};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno as OsErrno;

use crate::client::Client;
use crate::data_log::DataRecording;
use crate::listener::Listener;
use crate::nbd::{Export, Request};
use crate::recorder::Recording;
use crate::tally::{Report, Tally};
use crate::time::{Anchor, Pace};
use crate::turn::{Answer, Turn};
use reporting::Counters;
use steering::Steering;

/// Connections at a time. A client opens a few; more are refused by closing them.
pub const MOST_CONNECTIONS: usize = 64;

/// Read at once from a socket.
const READ_BYTES: usize = 256 << 10;

/// How long a client may take until it has shown its certificate, where one is asked for.
const MOST_HANDSHAKE: Nanos = Nanos(10_000_000_000);

/// How long clients are waited for in the end to take their answers.
const FAREWELL: Nanos = Nanos(1_000_000_000);

/// How a drive is served.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What clients are offered.
    pub export: Export,
    /// How time goes by.
    pub pace: Pace,
    /// Answers go out so much earlier than they are due.
    pub door: Nanos,
    /// End when the last of the clients has gone and none has come for so long: some connect once to ask, and again to
    /// work.
    pub until_last_disconnect: Option<Nanos>,
    /// Time between calls of `observe`; `None`: only in the end.
    pub every: Option<Nanos>,
}

/// What the loop ended with that was no end.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Sockets cannot be waited for.
    #[error("waiting for sockets failed: {0}")]
    Wait(std::io::Error),
    /// What was written since a snapshot is lost.
    #[error(
        "what was written since the first snapshot could not all be stored in the file of the contents: {0}"
    )]
    Commit(std::io::Error),
}

/// A drive that is served.
pub struct Server<T> {
    turn: Turn<T>,
    settings: Settings,
    listener: Option<Listener>,
    stop: Option<OwnedFd>,
    /// Readable when a real drive may have an answer.
    readiness: Option<OwnedFd>,
    recording: Option<Recording>,
    data: Option<DataRecording>,
    clients: BTreeMap<u64, Box<dyn Client>>,
    next_id: u64,
    tally: Tally,
    waking: Waking,
    /// Both times at the first request; before it virtual time stands still.
    anchor: Option<Anchor>,
    /// When a client was heard of last, for virtual time.
    heard: Nanos,
    began: Nanos,
    /// When the last client went, while there is none.
    left: Option<Nanos>,
    /// Until when the power is off.
    off_until: Option<Nanos>,
    stopping: bool,
    buffer: Vec<u8>,
    room: Vec<u8>,
    answers: Vec<Answer>,
    arrived: Vec<(Nanos, u64, Request)>,
    steering: Option<Steering<T>>,
    counters: Box<Counters<T>>,
    complain: Box<dyn Fn(&str)>,
}

impl<T: Target> Server<T> {
    /// A server of this drive; nobody can connect yet.
    pub fn new(turn: Turn<T>, settings: Settings) -> Server<T> {
        let began = clock();
        Server {
            turn,
            settings,
            listener: None,
            stop: None,
            readiness: None,
            recording: None,
            data: None,
            clients: BTreeMap::new(),
            next_id: 0,
            tally: Tally::default(),
            waking: Waking::new(),
            anchor: None,
            heard: began,
            began,
            left: None,
            off_until: None,
            stopping: false,
            buffer: vec![0; READ_BYTES],
            room: Vec::new(),
            answers: Vec::new(),
            arrived: Vec::new(),
            steering: None,
            counters: Box::new(|_| None),
            complain: Box::new(|_| {}),
        }
    }

    /// What a person should know of a client that was let go of is told here, a line each.
    pub fn complain(&mut self, complain: impl Fn(&str) + 'static) {
        self.complain = Box::new(complain);
    }

    /// Clients connect here.
    pub fn listen(&mut self, listener: Listener) {
        self.listener = Some(listener);
    }

    /// It ends when this can be read.
    pub fn stop_at(&mut self, stop: OwnedFd) {
        self.stop = Some(stop);
    }

    /// I/Os are recorded here.
    pub fn record(&mut self, recording: Recording) {
        self.recording = Some(recording);
    }

    /// What is written is logged here; the turn has to keep it ([`crate::TurnSettings::logs_data`]).
    pub fn log_data(&mut self, data: DataRecording) {
        self.data = Some(data);
    }

    /// Serves until it is told to stop, or the last client has gone if that is the end. `observe` gets a report each
    /// second, if that is set. The drive, and the report of all.
    ///
    /// # Errors
    /// When sockets cannot be waited for, or what was written since a snapshot cannot be stored.
    pub fn run(
        mut self,
        mut observe: impl FnMut(&Report),
    ) -> Result<(Turn<T>, Report), ServeError> {
        // Where it is refused, wakings are later by the usual 50 us.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        // What came before was making ready.
        self.began = clock();
        let mut tick = self.settings.every.map(|every| self.began + every);
        // The first look at the sockets waits for nobody: until when it may is known after it.
        let mut until = Some(Nanos::ZERO);
        loop {
            self.wait(until)?;
            self.obey();
            self.power_on();
            let mut moved = false;
            if !self.holds() {
                moved |= self.read_all();
                moved |= self.take_requests();
            }
            self.pass();
            moved |= self.send_all();
            self.bury();
            if let (Some(at), Some(every)) = (tick, self.settings.every)
                && clock() >= at
            {
                observe(&self.report("second"));
                // Those that were missed, on a machine that stood still, do not come all at once.
                tick = Some((at + every).max(clock()));
            }
            if self.may_stop() || self.end().is_some_and(|end| clock() >= end) {
                break;
            }
            // Whatever did something may have made something else possible: look again before sleeping.
            until = if moved { Some(Nanos::ZERO) } else { self.sleep_until(tick) };
        }
        self.farewell();
        let report = self.report("end");
        observe(&report);
        self.turn.contents_mut().commit().map_err(ServeError::Commit)?;
        Ok((self.turn, report))
    }

    /// Whether it is to stop, and no client needs more.
    fn may_stop(&mut self) -> bool {
        let mut clients = self.clients.values_mut();
        self.stopping && clients.all(|client| client.leaves())
    }

    /// When it ends if nobody comes.
    fn end(&self) -> Option<Nanos> {
        Some(self.left?.saturating_add(self.settings.until_last_disconnect?))
    }

    /// Until when nothing is to be done, if no socket is heard of; `None`: for ever.
    fn sleep_until(&mut self, tick: Option<Nanos>) -> Option<Nanos> {
        let due = self.turn.due();
        let answer = due.map(|due| match (self.settings.pace, &self.anchor) {
            (Pace::Virtual { grace }, _) => self.heard.saturating_add(grace),
            (Pace::Dilated(_), Some(anchor)) => {
                Nanos(anchor.wall_at(due).0.saturating_sub(self.settings.door.0))
            }
            (Pace::Dilated(_), None) => Nanos::ZERO,
        });
        let look = self.look_at_drive_by();
        let strangers = self.clients.values().filter(|client| !client.is_trusted());
        let patience = strangers.map(|client| client.since() + MOST_HANDSHAKE).min();
        // A tick may be late; it is nothing that the clock is looked at for.
        [answer, look, tick, patience, self.end(), self.off_until].into_iter().flatten().min()
    }

    /// Waits for sockets until a time: asleep until shortly before it, then by looking again and again.
    fn wait(&mut self, until: Option<Nanos>) -> Result<(), ServeError> {
        let now = clock();
        let asleep = until.map(|until| self.waking.asleep(until.since(now)));
        let timeout = asleep.map(|asleep| Timespec {
            tv_sec: (asleep.0 / 1_000_000_000) as i64,
            tv_nsec: (asleep.0 % 1_000_000_000) as i64,
        });
        let mut fds: Vec<PollFd<'_>> = Vec::with_capacity(self.clients.len() + 2);
        let mut ends = Vec::with_capacity(self.clients.len());
        for client in self.clients.values() {
            client.waits_for(!self.holds(), &mut fds);
            ends.push(fds.len());
        }
        let of_clients = fds.len();
        if let Some(stop) = &self.stop {
            fds.push(PollFd::from_borrowed_fd(stop.as_fd(), PollFlags::IN));
        }
        let of_drive = fds.len();
        if let Some(readiness) = &self.readiness {
            fds.push(PollFd::from_borrowed_fd(readiness.as_fd(), PollFlags::IN));
        }
        let of_listener = fds.len();
        if let Some(listener) = &self.listener {
            fds.push(PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN));
        }
        let of_control = fds.len();
        if let Some(steering) = &self.steering {
            fds.extend(steering.control.waits_for());
        }
        let woken = match poll(&mut fds, timeout.as_ref()) {
            Ok(count) => count,
            Err(OsErrno::INTR) => 0,
            Err(errno) => return Err(ServeError::Wait(errno.into())),
        };
        let ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
        self.stopping |= fds[of_clients..of_drive].iter().any(ready);
        let drive_tells = fds[of_drive..of_listener].iter().any(ready);
        let connects = fds[of_listener..of_control].iter().any(ready);
        let came: Vec<PollFlags> = fds[..of_clients].iter().map(PollFd::revents).collect();
        let to_control: Vec<PollFlags> = fds[of_control..].iter().map(PollFd::revents).collect();
        let mut begin = 0;
        for (client, end) in self.clients.values_mut().zip(ends) {
            client.came(&came[begin..end]);
            begin = end;
        }
        if let Some(steering) = &mut self.steering {
            steering.control.came(&to_control);
        }
        if let (0, Some(asleep)) = (woken, asleep)
            && asleep > Nanos::ZERO
        {
            self.waking.woke(now + asleep, clock());
        }
        if drive_tells {
            self.hear_drive();
        }
        if connects {
            self.accept();
        }
        Ok(())
    }

    /// Reads every socket once. Whether anything came.
    fn read_all(&mut self) -> bool {
        let mut moved = false;
        for client in self.clients.values_mut().filter(|client| client.is_readable()) {
            moved |= client.read(&mut self.buffer, clock);
        }
        moved
    }

    /// Takes whole requests, those that were held back among them, in the order they came in.
    fn take_requests(&mut self) -> bool {
        for (id, client) in &mut self.clients {
            while let Some((stamp, request)) = client.request(clock) {
                self.arrived.push((stamp, *id, request));
            }
        }
        self.arrived.sort_by_key(|(stamp, ..)| *stamp);
        let moved = !self.arrived.is_empty();
        for (wall, id, request) in std::mem::take(&mut self.arrived) {
            self.heard = self.heard.max(wall);
            let stamp = self.drive_time(wall);
            let mut answers = std::mem::take(&mut self.answers);
            self.turn.arrive(stamp, id, request, &mut answers);
            self.hand_out(&mut answers);
            self.answers = answers;
        }
        moved
    }

    /// Virtual time of a request that came at `wall`.
    fn drive_time(&mut self, wall: Nanos) -> Nanos {
        let now = self.turn.now();
        if Self::IS_REAL {
            // Its time is the wall's; when it was handed a request is what the drive has to answer for.
            return now.max(wall);
        }
        match (self.settings.pace, &self.anchor) {
            // Something is in flight: time stands still.
            (Pace::Virtual { .. }, Some(_)) if !self.turn.is_idle() => now,
            (_, Some(anchor)) => anchor.drive_at(wall),
            (pace, None) => {
                let factor = match pace {
                    Pace::Dilated(factor) => factor,
                    Pace::Virtual { .. } => 1.0,
                };
                self.anchor = Some(Anchor::new(wall, now, factor));
                now
            }
        }
    }

    /// Lets virtual time go on to where it is by now.
    fn pass(&mut self) {
        let until = match (self.settings.pace, &self.anchor) {
            _ if Self::IS_REAL => return self.look_at_drive(),
            (_, None) => return,
            (Pace::Dilated(_), Some(anchor)) => {
                // Without anything in flight time goes on at the next request.
                if self.turn.is_idle() {
                    return;
                }
                anchor.drive_at(clock().saturating_add(self.settings.door))
            }
            (Pace::Virtual { grace }, Some(_)) => match self.turn.due() {
                Some(due) if clock() >= self.heard.saturating_add(grace) => due,
                _ => return,
            },
        };
        let mut answers = std::mem::take(&mut self.answers);
        match self.settings.pace {
            // No further than to the next answer, so that time does not run ahead of who asks.
            Pace::Dilated(_) => {
                while let Some(due) = self.turn.due().filter(|due| *due <= until) {
                    self.turn.pass_until(due, &mut answers);
                }
            }
            Pace::Virtual { .. } => {
                self.turn.pass_until(until, &mut answers);
                if !answers.is_empty() {
                    self.heard = clock();
                }
                if self.turn.is_idle() {
                    // From here on it goes by with the wall again.
                    self.anchor = Some(Anchor::new(clock(), self.turn.now(), 1.0));
                }
            }
        }
        self.hand_out(&mut answers);
        self.answers = answers;
    }

    /// Gives answers to their clients.
    fn hand_out(&mut self, answers: &mut Vec<Answer>) {
        let paced = matches!(self.settings.pace, Pace::Dilated(_)) && !Self::IS_REAL;
        for answer in answers.drain(..) {
            let asked = answer.due.map(|due| due.since(answer.at));
            let wall = match (&self.anchor, answer.due) {
                (Some(anchor), Some(due)) if paced => {
                    let (due, came) = (anchor.wall_at(due), anchor.wall_at(answer.at));
                    // An answer cannot go out before its request has come.
                    let early = Nanos(due.0.saturating_sub(self.settings.door.0));
                    Some((early.max(came), early < came))
                }
                _ => None,
            };
            let failed = match self.clients.get_mut(&answer.client) {
                Some(client) => client.answer(&answer, self.turn.contents(), &mut self.room, wall),
                None => false,
            };
            let request = &answer.request;
            self.tally.answered(request.command, request.length, asked, failed);
        }
        if let Some(recording) = &mut self.recording {
            self.turn.recorded().for_each(|io| recording.put(io));
        }
        if let Some(data) = &mut self.data {
            self.turn.logged().for_each(|entry| data.put(entry));
        }
    }

    fn send_all(&mut self) -> bool {
        let mut moved = false;
        for client in self.clients.values_mut() {
            if client.wants_write() {
                moved |= client.send();
                self.turn.notice();
            }
            let dues = client.sent_dues();
            if !dues.as_slice().is_empty() {
                let now = clock();
                dues.for_each(|(due, below)| self.tally.sent(now.since(due), below));
            }
        }
        // What was held back may be looked at now.
        moved || self.clients.values().any(|client| client.is_held_back())
    }

    /// Nothing more is taken; what is in flight is answered at once, and clients have a second to take it.
    fn farewell(&mut self) {
        self.listener = None;
        let mut answers = std::mem::take(&mut self.answers);
        while let Some(due) = self.turn.due() {
            self.turn.pass_until(due, &mut answers);
        }
        self.wait_for_drive(&mut answers);
        self.hand_out(&mut answers);
        let end = clock() + FAREWELL;
        while self.clients.values().any(|client| client.wants_write()) && clock() < end {
            if !self.send_all() {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        }
    }
}
