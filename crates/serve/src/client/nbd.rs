//! A client over NBD: bytes that came, requests on their way, bytes to go.

use std::io;
use std::os::fd::AsFd;

use fourcorners_drive::Nanos;
use rustix::event::{PollFd, PollFlags};

use super::{Client, Outstanding, read_answered};
use crate::connection::Connection;
use crate::contents::Contents;
use crate::nbd::{Closing, Command, Errno, Export, Reply, Request, Session, Step};
use crate::turn::{Answer, Outcome};

/// Room for replies that stays taken.
const ROOM_KEPT: usize = 1 << 20;

/// A connection. It takes at most the bytes of a request that is not whole (32 MiB), those of what is outstanding (16 MiB
/// or one request) and its replies.
pub(crate) struct NbdClient {
    connection: Connection,
    /// When it connected.
    since: Nanos,
    session: Session,
    out: Vec<u8>,
    /// Of `out`, what is sent.
    sent: usize,
    outstanding: Outstanding,
    /// When its last bytes were read.
    stamp: Nanos,
    /// Whole requests may wait in the session because too much is outstanding.
    held_back: bool,
    /// It said goodbye or broke the protocol; what is on its way is still answered.
    closing: Option<Closing>,
    /// It is gone.
    gone: bool,
    /// Its socket has something to be read.
    readable: bool,
    /// When answers in `out` were due on the wall, and whether they were below the floor.
    dues: Vec<(Nanos, bool)>,
}

impl NbdClient {
    pub(crate) fn new(connection: Connection, export: &Export, now: Nanos) -> NbdClient {
        let mut out = Vec::new();
        let session = match connection.asks_for_tls() {
            false => Session::new(export.clone(), &mut out),
            true => Session::with_tls(export.clone(), &mut out),
        };
        NbdClient {
            connection,
            since: now,
            session,
            out,
            sent: 0,
            outstanding: Outstanding::default(),
            stamp: Nanos::ZERO,
            held_back: false,
            closing: None,
            gone: false,
            readable: false,
            dues: Vec::new(),
        }
    }

    /// Whether its socket is to be read.
    fn wants_read(&self) -> bool {
        !self.gone && self.closing.is_none() && !self.held_back
    }

    fn is_full(&self) -> bool {
        self.outstanding.is_full((self.out.len() - self.sent) as u64, self.wants_write())
    }

    /// Once all is sent to a client that is closing, it is told so.
    fn part(&mut self) {
        if self.closing.is_some() && self.outstanding.is_empty() && self.sent == self.out.len() {
            self.connection.say_goodbye();
        }
    }
}

impl Client for NbdClient {
    fn since(&self) -> Nanos {
        self.since
    }

    fn waits_for<'a>(&'a self, reads: bool, fds: &mut Vec<PollFd<'a>>) {
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, self.wants_read() && reads);
        flags.set(PollFlags::OUT, self.wants_write());
        fds.push(PollFd::from_borrowed_fd(self.connection.as_fd(), flags));
    }

    fn came(&mut self, flags: &[PollFlags]) {
        let flags = flags.first().copied().unwrap_or(PollFlags::empty());
        self.readable = flags.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR);
        // Nobody is there to be answered, and its socket would be ready for ever.
        self.gone |= !self.wants_read() && flags.intersects(PollFlags::HUP | PollFlags::ERR);
    }

    fn is_readable(&self) -> bool {
        (self.readable || self.connection.has_more()) && self.wants_read()
    }

    fn read(&mut self, buffer: &mut [u8], clock: fn() -> Nanos) -> bool {
        match self.connection.read(buffer) {
            Ok(0) => {
                self.gone = true;
                true
            }
            Ok(count) => {
                self.stamp = clock();
                self.session.take(&buffer[..count]);
                true
            }
            Err(error) if is_later(&error) => false,
            Err(_) => {
                self.gone = true;
                true
            }
        }
    }

    fn request(&mut self, _: fn() -> Nanos) -> Option<(Nanos, Request)> {
        if self.gone || self.closing.is_some() {
            return None;
        }
        if self.is_full() {
            self.held_back = true;
            return None;
        }
        self.held_back = false;
        match self.session.next(&mut self.out) {
            Step::Starved => None,
            Step::StartTls => {
                let plain = self.out.split_off(self.sent);
                self.out.clear();
                self.sent = 0;
                self.gone |= self.connection.start_tls(plain).is_err();
                None
            }
            Step::Close(why) => {
                self.closing = Some(why);
                self.part();
                None
            }
            Step::Request(request) => {
                self.outstanding.begin(&request);
                Some((self.stamp, request))
            }
        }
    }

    fn answer(
        &mut self,
        answer: &Answer,
        contents: &Contents,
        room: &mut Vec<u8>,
        due: Option<(Nanos, bool)>,
    ) -> bool {
        let request = &answer.request;
        self.outstanding.end(request);
        if self.gone {
            return false;
        }
        let mut failed = false;
        let mut fail = |errno, why: &str, session: &Session, out: &mut Vec<u8>| {
            failed = true;
            session.reply(request, Reply::Failed(errno, why), out);
        };
        let (session, out) = (&self.session, &mut self.out);
        match (&answer.outcome, request.command) {
            (Outcome::Failed(errno, why), _) => fail(*errno, why, session, out),
            (Outcome::Status(extents), _) => session.reply(request, Reply::Status(extents), out),
            (Outcome::Done, Command::Read { .. }) => match read_answered(answer, contents, room) {
                Ok(found) if found || answer.flips.is_some() => {
                    session.reply(request, Reply::Data(room), out)
                }
                Ok(_) => session.reply(request, Reply::Hole, out),
                Err(error) => fail(Errno::Io, &error.to_string(), session, out),
            },
            (Outcome::Done, _) => session.reply(request, Reply::Done, out),
        }
        self.dues.extend(due);
        failed
    }

    fn wants_write(&self) -> bool {
        !self.gone && (self.sent < self.out.len() || self.connection.wants_write())
    }

    fn send(&mut self) -> bool {
        let mut moved = false;
        loop {
            self.part();
            if !self.wants_write() {
                break;
            }
            if self.sent == self.out.len() {
                // Nothing is left but what is encrypted already.
                match self.connection.flush() {
                    Ok(()) => moved = true,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) if is_later(&error) => {}
                    Err(_) => self.gone = true,
                }
                break;
            }
            match self.connection.write(&self.out[self.sent..]) {
                Ok(0) => self.gone = true,
                Ok(count) => {
                    self.sent += count;
                    moved = true;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_later(&error) => break,
                Err(_) => self.gone = true,
            }
        }
        if self.sent == self.out.len() || self.gone {
            if self.out.capacity() > ROOM_KEPT {
                self.out = Vec::new();
            }
            self.out.clear();
            self.sent = 0;
        }
        moved
    }

    fn sent_dues(&mut self) -> std::vec::Drain<'_, (Nanos, bool)> {
        let sent = self.out.is_empty() && !self.connection.wants_write();
        let count = if sent { self.dues.len() } else { 0 };
        self.dues.drain(..count)
    }

    fn is_held_back(&self) -> bool {
        self.held_back && !self.is_full()
    }

    fn is_trusted(&self) -> bool {
        self.connection.is_trusted()
    }

    fn let_go(&mut self) {
        self.gone = true;
    }

    fn is_over(&self) -> bool {
        self.gone || (self.closing.is_some() && self.outstanding.is_empty() && !self.wants_write())
    }

    fn broke_the_protocol(&self) -> bool {
        self.closing.is_some_and(|why| why != Closing::Disconnected)
    }
}

fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
