//! A virtual machine as a client of the loop: messages over its socket, requests and answers in its memory.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fourcorners_drive::Nanos;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::RecvFlags;
use vhost::vhost_user::{BackendReqHandler, Error};
use virtio_bindings::virtio_blk::{VIRTIO_BLK_S_IOERR, VIRTIO_BLK_S_OK, VIRTIO_BLK_S_UNSUPP};
use vm_memory::Bytes;

use super::backend::Backend;
use super::chain::{Asked, Chain};
use super::device::Device;
use super::memory::{Segment, scatter};
use crate::client::{Client, Outstanding, read_answered};
use crate::contents::Contents;
use crate::nbd::{Command, Errno, Export, Request};
use crate::turn::{Answer, Outcome};

/// Bytes of a message's header: request, flags, bytes that follow.
const HEADER: usize = 12;

/// Bytes of a message at most, as `vhost` has it.
const MOST_MESSAGE: u64 = 4096 + HEADER as u64;

/// Requests that are answered without the drive before others of the loop have their turn. A guest could send them without
/// end.
const MOST_AT_ONCE: usize = 256;

/// How long a message may take that has begun to come.
const MOST_MESSAGE_TIME: Nanos = Nanos(100_000_000);

/// A virtual machine. Its messages are looked at when nothing is on its way: whatever they change, no request sees half
/// of it, and a queue whose base is asked for has been answered.
pub(crate) struct VhostUserClient {
    since: Nanos,
    socket: UnixStream,
    messages: BackendReqHandler<Mutex<Backend>>,
    backend: Arc<Mutex<Backend>>,
    /// The files of the rings that run, for the loop to wait for, and which rings those are.
    kicks: Vec<(usize, std::os::fd::OwnedFd)>,
    kicked: Vec<usize>,
    /// By cookie.
    flights: Vec<Option<Flight>>,
    free: Vec<usize>,
    outstanding: Outstanding,
    /// A message waits for what is on its way.
    message: bool,
    /// Since when there is a part of one.
    message_since: Option<Nanos>,
    held_back: bool,
    /// More than could be looked at is in the rings.
    has_more: bool,
    /// Of `kicks`, whose ring is looked at first.
    first: usize,
    /// Answers that the driver has not been told of yet.
    answered: bool,
    dues: Vec<(Nanos, bool)>,
    gone: bool,
    broken: Option<String>,
}

/// A request on its way.
struct Flight {
    ring: usize,
    chain: Chain,
}

/// Whether a message can be taken.
enum Message {
    Whole,
    Partial,
    Wrong(String),
}

impl VhostUserClient {
    pub(crate) fn new(stream: UnixStream, export: &Export, now: Nanos) -> io::Result<Self> {
        let backend = Arc::new(Mutex::new(Backend::new(Device::new(export))?));
        stream.set_nonblocking(true)?;
        let messages = BackendReqHandler::from_stream(stream.try_clone()?, backend.clone());
        Ok(VhostUserClient {
            since: now,
            socket: stream,
            messages,
            backend,
            kicks: Vec::new(),
            kicked: Vec::new(),
            flights: Vec::new(),
            free: Vec::new(),
            outstanding: Outstanding::default(),
            message: false,
            message_since: None,
            held_back: false,
            has_more: false,
            first: 0,
            answered: false,
            dues: Vec::new(),
            gone: false,
            broken: None,
        })
    }

    /// It is let go of, and this is said of it.
    fn fail(&mut self, why: impl std::fmt::Display) {
        self.broken.get_or_insert_with(|| format!("a virtual machine was disconnected: {why}"));
    }

    fn is_full(&self) -> bool {
        // Answers go straight into the machine's memory.
        self.outstanding.is_full(0, false)
    }

    /// Whether `vhost`, which waits for whatever is missing, would wait now.
    fn next_message(&self) -> Message {
        let mut header = [0; HEADER];
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        let peeked =
            rustix::net::recv(&self.socket, &mut header[..], flags).map(|(count, _)| count);
        // The end of the connection is told by `vhost`.
        let Ok(HEADER) = peeked else {
            return if peeked == Ok(0) { Message::Whole } else { Message::Partial };
        };
        let [.., a, b, c, d] = header;
        let all = HEADER as u64 + u64::from(u32::from_ne_bytes([a, b, c, d]));
        if all > MOST_MESSAGE {
            return Message::Wrong(format!(
                "a message of {all} bytes; at most {MOST_MESSAGE} are taken"
            ));
        }
        match rustix::io::ioctl_fionread(&self.socket) {
            Ok(there) if there >= all => {}
            Ok(_) => return Message::Partial,
            Err(errno) => return Message::Wrong(io::Error::from(errno).to_string()),
        }
        // A reply has to fit, too.
        let mut fds = [PollFd::new(&self.socket, PollFlags::OUT)];
        match poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
            Ok(1) => Message::Whole,
            _ => Message::Wrong("it does not read what it is answered".into()),
        }
    }

    /// Takes a message, if there is one and nothing is on its way. Whether something came.
    fn take_message(&mut self, now: Nanos) -> bool {
        if !self.message || !self.outstanding.is_empty() {
            return false;
        }
        self.message = false;
        match self.next_message() {
            Message::Whole => {
                self.message_since = None;
                match self.messages.handle_request() {
                    Ok(()) => self.renew_kicks(),
                    Err(Error::Disconnected | Error::SocketBroken(_)) => self.gone = true,
                    Err(Error::ReqHandlerError(error)) => self.fail(error),
                    Err(error) => self.fail(error),
                }
                true
            }
            Message::Partial => {
                let since = *self.message_since.get_or_insert(now);
                if now.since(since) >= MOST_MESSAGE_TIME {
                    self.fail("a message began and did not end");
                }
                false
            }
            Message::Wrong(why) => {
                self.fail(why);
                true
            }
        }
    }

    /// Which files are waited for may have changed.
    fn renew_kicks(&mut self) {
        let backend = locked(&self.backend);
        let rings = backend.rings.iter().enumerate();
        let kicks = rings.filter_map(|(index, ring)| Some((index, ring.kick()?)));
        let kicks: io::Result<Vec<_>> =
            kicks.map(|(index, kick)| Ok((index, kick.try_clone_to_owned()?))).collect();
        drop(backend);
        match kicks {
            Ok(kicks) => self.kicks = kicks,
            Err(error) => self.fail(error),
        }
    }

    /// The next request that goes to the drive; what is answered at once is on the way.
    fn next_request(&mut self) -> Result<Option<Request>, String> {
        let mut backend = locked(&self.backend);
        let Backend { device, memory, rings } = &mut *backend;
        let Some(memory) = memory else { return Ok(None) };
        let guest = &memory.guest;
        let mut answered = 0;
        for step in 0..self.kicks.len() {
            let place = (self.first + step) % self.kicks.len();
            let index = self.kicks[place].0;
            let ring = &mut rings[index];
            let named = |error: &dyn std::fmt::Display| format!("queue {index}: {error}");
            while let Some(descriptors) = ring.pop(guest).map_err(|error| named(&error))? {
                let chain = Chain::of(descriptors).map_err(|error| named(&error))?;
                let (status, written) = match chain.asked(guest, device) {
                    Ok(Asked::Drive { command, offset, length, data }) => {
                        self.first = place + 1;
                        let flight = Flight { ring: index, chain };
                        let cookie = match self.free.pop() {
                            Some(cookie) => {
                                self.flights[cookie] = Some(flight);
                                cookie
                            }
                            None => {
                                self.flights.push(Some(flight));
                                self.flights.len() - 1
                            }
                        } as u64;
                        return Ok(Some(Request { cookie, command, offset, length, data }));
                    }
                    Ok(Asked::Id) => {
                        let id = device.id();
                        scatter(guest, &chain.writable, &id).map_err(|error| named(&error))?;
                        (VIRTIO_BLK_S_OK as u8, written(&chain.writable).min(id.len() as u32))
                    }
                    Err(refused) => (refused.status(), 0),
                };
                let put = guest.write_obj(status, chain.status).map_err(|error| named(&error));
                put.and_then(|()| {
                    let put = ring.put_used(guest, chain.head, written + 1);
                    put.map_err(|error| named(&error))
                })?;
                self.answered = true;
                answered += 1;
                if answered == MOST_AT_ONCE {
                    self.has_more = true;
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }

    /// Writes an answer into the machine's memory. Whether it is a failure.
    fn put_answer(
        &mut self,
        flight: &Flight,
        answer: &Answer,
        contents: &Contents,
        room: &mut Vec<u8>,
    ) -> Result<bool, String> {
        let mut backend = locked(&self.backend);
        let Backend { memory, rings, .. } = &mut *backend;
        let Some(memory) = memory else { return Ok(false) };
        let (guest, request, chain) = (&memory.guest, &answer.request, &flight.chain);
        let mut written = 1;
        let mut status = match &answer.outcome {
            Outcome::Done => VIRTIO_BLK_S_OK,
            Outcome::Failed(Errno::NotSup, _) => VIRTIO_BLK_S_UNSUPP,
            Outcome::Failed(..) | Outcome::Status(_) => VIRTIO_BLK_S_IOERR,
        };
        if status == VIRTIO_BLK_S_OK && matches!(request.command, Command::Read { .. }) {
            match read_answered(answer, contents, room) {
                Ok(_) => {
                    scatter(guest, &chain.writable, room).map_err(|error| error.to_string())?;
                    written += request.length as u32;
                }
                Err(_) => status = VIRTIO_BLK_S_IOERR,
            }
        }
        guest.write_obj(status as u8, chain.status).map_err(|error| error.to_string())?;
        let put = rings[flight.ring].put_used(guest, chain.head, written);
        put.map_err(|error| error.to_string())?;
        self.answered = true;
        Ok(status != VIRTIO_BLK_S_OK)
    }
}

impl Client for VhostUserClient {
    fn since(&self) -> Nanos {
        self.since
    }

    fn waits_for<'a>(&'a self, reads: bool, fds: &mut Vec<PollFd<'a>>) {
        let flags = |wants: bool| if wants { PollFlags::IN } else { PollFlags::empty() };
        let messages = reads && !self.message && !self.is_over();
        fds.push(PollFd::from_borrowed_fd(self.socket.as_fd(), flags(messages)));
        let requests = messages && !self.held_back;
        for (_, kick) in &self.kicks {
            fds.push(PollFd::from_borrowed_fd(kick.as_fd(), flags(requests)));
        }
    }

    fn came(&mut self, flags: &[PollFlags]) {
        let Some((of_socket, of_kicks)) = flags.split_first() else { return };
        self.message |= of_socket.contains(PollFlags::IN);
        // Nobody is there to be answered.
        self.gone |= of_socket.intersects(PollFlags::HUP | PollFlags::ERR);
        let kicks = self.kicks.iter().zip(of_kicks);
        let kicked = kicks.filter(|(_, flags)| flags.contains(PollFlags::IN));
        self.kicked.extend(kicked.map(|((ring, _), _)| *ring));
        // One that is no event file is ready for ever.
        if of_kicks
            .iter()
            .any(|flags| flags.intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL))
        {
            self.fail("a kick file is broken");
        }
    }

    fn is_readable(&self) -> bool {
        !self.is_over()
            && ((self.message && self.outstanding.is_empty()) || !self.kicked.is_empty())
    }

    fn read(&mut self, _: &mut [u8], clock: fn() -> Nanos) -> bool {
        let kicked = !self.kicked.is_empty();
        if kicked {
            let mut backend = locked(&self.backend);
            for ring in self.kicked.drain(..) {
                backend.rings[ring].kicked();
            }
        }
        self.take_message(clock()) || kicked
    }

    fn request(&mut self, clock: fn() -> Nanos) -> Option<(Nanos, Request)> {
        if self.is_over() || self.message {
            return None;
        }
        self.held_back = self.is_full();
        if self.held_back {
            return None;
        }
        self.has_more = false;
        match self.next_request() {
            Ok(request) => request.map(|request| {
                self.outstanding.begin(&request);
                (clock(), request)
            }),
            Err(why) => {
                self.fail(why);
                None
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
        let cookie = answer.request.cookie as usize;
        let Some(flight) = self.flights.get_mut(cookie).and_then(Option::take) else {
            return false;
        };
        self.free.push(cookie);
        self.outstanding.end(&answer.request);
        if self.is_over() {
            return false;
        }
        self.dues.extend(due);
        self.put_answer(&flight, answer, contents, room).unwrap_or_else(|why| {
            self.fail(why);
            true
        })
    }

    fn wants_write(&self) -> bool {
        self.answered && !self.is_over()
    }

    fn send(&mut self) -> bool {
        let mut backend = locked(&self.backend);
        let Backend { memory, rings, .. } = &mut *backend;
        let mut calls = rings.iter_mut().filter(|ring| ring.wants_call());
        let called = match memory {
            Some(memory) => calls.try_for_each(|ring| ring.call(&memory.guest)),
            None => Ok(()),
        };
        drop(backend);
        if let Err(error) = called {
            self.fail(error);
        }
        std::mem::take(&mut self.answered)
    }

    fn sent_dues(&mut self) -> std::vec::Drain<'_, (Nanos, bool)> {
        self.dues.drain(..)
    }

    fn is_held_back(&self) -> bool {
        !self.is_over()
            && (self.has_more
                || (self.held_back && !self.is_full())
                || (self.message && self.outstanding.is_empty()))
    }

    fn is_trusted(&self) -> bool {
        true
    }

    fn let_go(&mut self) {
        self.gone = true;
    }

    fn is_over(&self) -> bool {
        self.gone || self.broken.is_some()
    }

    fn broke_the_protocol(&self) -> bool {
        self.broken.is_some()
    }

    fn complaint(&self) -> Option<String> {
        self.broken.clone()
    }
}

fn locked(backend: &Mutex<Backend>) -> MutexGuard<'_, Backend> {
    // Nobody else has it: `vhost` only takes it while it handles a message, on this thread.
    backend.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes of segments; of a request that is taken, no more than 32 bits tell.
fn written(segments: &[Segment]) -> u32 {
    segments.iter().fold(0, |all: u32, segment| all.saturating_add(segment.bytes))
}
