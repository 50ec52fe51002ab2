//! The kernel of this machine as a client: the drive is a block device of it.

use fourcorners_drive::Nanos;
use fourcorners_linux::ublk::{Asked, UblkDevice, UblkError, UblkRequest};
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;

use super::{Client, Outstanding, read_answered};
use crate::contents::Contents;
use crate::nbd::{Command, Request};
use crate::turn::{Answer, Outcome};

/// A block device of this machine, from when it starts until nobody can use it any more.
pub(crate) struct BlockDeviceClient {
    device: UblkDevice,
    since: Nanos,
    /// By tag: what was asked and has not been answered.
    flights: Vec<Option<UblkRequest>>,
    outstanding: Outstanding,
    readable: bool,
    held_back: bool,
    dues: Vec<(Nanos, bool)>,
    gone: bool,
    failed: Option<String>,
}

impl BlockDeviceClient {
    /// Begins to start the device.
    pub(crate) fn new(mut device: UblkDevice, now: Nanos) -> Result<Self, UblkError> {
        device.start()?;
        Ok(BlockDeviceClient {
            device,
            since: now,
            flights: Vec::new(),
            outstanding: Outstanding::default(),
            readable: false,
            held_back: false,
            dues: Vec::new(),
            gone: false,
            failed: None,
        })
    }

    fn fail(&mut self, error: &UblkError) {
        self.failed.get_or_insert_with(|| error.to_string());
    }

    fn is_full(&self) -> bool {
        // Answers go straight into memory that is there.
        self.outstanding.is_full(0, false)
    }

    /// Puts an answer where the kernel takes it: what the request ended with.
    fn put_answer(
        &mut self,
        asked: &UblkRequest,
        answer: &Answer,
        contents: &Contents,
        room: &mut Vec<u8>,
    ) -> Result<(), Errno> {
        match &answer.outcome {
            Outcome::Done => {}
            // Its numbers are Linux's.
            Outcome::Failed(errno, _) => return Err(Errno::from_raw_os_error(*errno as i32)),
            Outcome::Status(_) => return Err(Errno::IO),
        }
        if asked.asked == Asked::Read {
            read_answered(answer, contents, room).map_err(|_| Errno::IO)?;
            self.device.data(asked).copy_from_slice(room);
        }
        Ok(())
    }
}

/// What the kernel asks for, as any client does.
fn command(asked: Asked) -> Command {
    match asked {
        Asked::Read => Command::Read { one_chunk: false },
        Asked::Write { fua } => Command::Write { fua },
        Asked::Flush => Command::Flush,
        Asked::Discard => Command::Trim { fua: false },
        Asked::WriteZeroes { fua, no_unmap } => {
            Command::WriteZeroes { fua, no_hole: no_unmap, fast: false }
        }
    }
}

impl Client for BlockDeviceClient {
    fn since(&self) -> Nanos {
        self.since
    }

    fn waits_for<'a>(&'a self, reads: bool, fds: &mut Vec<PollFd<'a>>) {
        let [requests, control] = self.device.fds();
        let flags = |wants: bool| if wants { PollFlags::IN } else { PollFlags::empty() };
        fds.push(PollFd::from_borrowed_fd(requests, flags(reads && !self.held_back)));
        fds.push(PollFd::from_borrowed_fd(control, flags(true)));
    }

    fn came(&mut self, flags: &[PollFlags]) {
        self.readable = flags.iter().any(|flags| flags.contains(PollFlags::IN));
    }

    fn is_readable(&self) -> bool {
        self.readable && !self.is_over()
    }

    fn read(&mut self, _: &mut [u8], _: fn() -> Nanos) -> bool {
        self.readable = false;
        match self.device.go_on() {
            Ok(moved) => moved,
            Err(error) => {
                self.fail(&error);
                true
            }
        }
    }

    fn request(&mut self, clock: fn() -> Nanos) -> Option<(Nanos, Request)> {
        self.held_back = self.is_full();
        if self.held_back || self.is_over() {
            return None;
        }
        let asked = self.device.request()?;
        let data = match asked.asked {
            Asked::Write { .. } => self.device.data(&asked).to_vec(),
            _ => Vec::new(),
        };
        let request = Request {
            cookie: u64::from(asked.tag),
            command: command(asked.asked),
            offset: asked.offset,
            length: asked.bytes,
            data,
        };
        let tag = usize::from(asked.tag);
        if self.flights.len() <= tag {
            self.flights.resize(tag + 1, None);
        }
        self.flights[tag] = Some(asked);
        self.outstanding.begin(&request);
        Some((clock(), request))
    }

    fn answer(
        &mut self,
        answer: &Answer,
        contents: &Contents,
        room: &mut Vec<u8>,
        due: Option<(Nanos, bool)>,
    ) -> bool {
        let flight = self.flights.get_mut(answer.request.cookie as usize);
        let Some(asked) = flight.and_then(Option::take) else { return false };
        self.outstanding.end(&answer.request);
        self.dues.extend(due);
        let result = self.put_answer(&asked, answer, contents, room);
        self.device.answer(&asked, result);
        result.is_err()
    }

    fn wants_write(&self) -> bool {
        self.device.wants_send() && !self.is_over()
    }

    fn send(&mut self) -> bool {
        match self.device.send() {
            Ok(sent) => sent,
            Err(error) => {
                self.fail(&error);
                true
            }
        }
    }

    fn sent_dues(&mut self) -> std::vec::Drain<'_, (Nanos, bool)> {
        self.dues.drain(..)
    }

    fn is_held_back(&self) -> bool {
        !self.is_over() && self.held_back && !self.is_full()
    }

    fn is_trusted(&self) -> bool {
        true
    }

    fn let_go(&mut self) {
        self.gone = true;
    }

    fn leaves(&mut self) -> bool {
        if let Err(error) = self.device.stop() {
            self.fail(&error);
        }
        self.is_over()
    }

    fn is_over(&self) -> bool {
        self.gone || self.failed.is_some() || self.device.is_stopped()
    }

    fn broke_the_protocol(&self) -> bool {
        self.failed.is_some()
    }

    fn complaint(&self) -> Option<String> {
        self.failed.clone()
    }
}
