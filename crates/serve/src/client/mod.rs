//! A client of the loop, whatever it speaks: requests on their way in, answers on their way out.

mod block_device;
mod nbd;

use fourcorners_drive::Nanos;
use rustix::event::{PollFd, PollFlags};

use crate::contents::Contents;
use crate::nbd::{Command, Request};
use crate::turn::Answer;

pub(crate) use block_device::BlockDeviceClient;
pub(crate) use nbd::NbdClient;

/// Bytes of requests on their way and of replies not taken at which no more requests of a client are looked at; one
/// request may always be on its way, whatever its size.
const MOST_OUTSTANDING_BYTES: u64 = 16 << 20;

/// Requests on their way at which no more of a client's are looked at.
const MOST_OUTSTANDING: usize = 4096;

/// Bytes of a discard at most, of clients that are told a limit.
pub(crate) const MOST_DISCARD_BYTES: u64 = 2 << 30;

/// Who asks a served drive for something. The loop waits for its files, has it read, takes its requests, and gives it the
/// answers, which it sends.
pub(crate) trait Client {
    /// When it connected.
    fn since(&self) -> Nanos;

    /// Adds what it waits for; `reads`: requests may be looked at now.
    fn waits_for<'a>(&'a self, reads: bool, fds: &mut Vec<PollFd<'a>>);

    /// What those were found to be ready for, in the same order.
    fn came(&mut self, flags: &[PollFlags]);

    /// Whether reading may give something.
    fn is_readable(&self) -> bool;

    /// Reads what there is, at most as much as `buffer` holds. Whether anything came.
    fn read(&mut self, buffer: &mut [u8], clock: fn() -> Nanos) -> bool;

    /// Its next request, and when that came.
    fn request(&mut self, clock: fn() -> Nanos) -> Option<(Nanos, Request)>;

    /// Takes an answer to one of its requests. `due` is on the wall, with whether it was below the floor. Whether the
    /// reply is a failure.
    fn answer(
        &mut self,
        answer: &Answer,
        contents: &Contents,
        room: &mut Vec<u8>,
        due: Option<(Nanos, bool)>,
    ) -> bool;

    /// Whether something is to be sent.
    fn wants_write(&self) -> bool;

    /// Sends what it can. Whether anything went.
    fn send(&mut self) -> bool;

    /// What was due of the answers that have been sent, once all have.
    fn sent_dues(&mut self) -> std::vec::Drain<'_, (Nanos, bool)>;

    /// Whether requests may wait in it that could be looked at now.
    fn is_held_back(&self) -> bool;

    /// Whether it may be there: where TLS is asked for, it has shown a certificate.
    fn is_trusted(&self) -> bool;

    /// It is let go of without another word.
    fn let_go(&mut self);

    /// The end is near. Whether it needs nothing more; if not, it is served until it says so.
    fn leaves(&mut self) -> bool {
        true
    }

    /// Whether nothing is left to be done for it.
    fn is_over(&self) -> bool;

    /// Whether it ended by breaking the protocol.
    fn broke_the_protocol(&self) -> bool;

    /// In one line, what a person should know of how it ended.
    fn complaint(&self) -> Option<String> {
        None
    }
}

/// What a client has asked for and has not been answered.
#[derive(Default)]
pub(crate) struct Outstanding {
    requests: usize,
    bytes: u64,
}

impl Outstanding {
    pub(crate) fn is_empty(&self) -> bool {
        self.requests == 0
    }

    pub(crate) fn begin(&mut self, request: &Request) {
        self.requests += 1;
        self.bytes += weight(request);
    }

    pub(crate) fn end(&mut self, request: &Request) {
        self.requests = self.requests.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(weight(request));
    }

    /// Whether no more is looked at, with so many bytes of replies besides that are not taken yet; `sends`: some are on
    /// their way.
    pub(crate) fn is_full(&self, unsent_bytes: u64, sends: bool) -> bool {
        self.requests >= MOST_OUTSTANDING
            || self.bytes + unsent_bytes >= MOST_OUTSTANDING_BYTES && (self.requests > 0 || sends)
    }
}

/// Reads into `room` what an answered read gives, from the drive that holds it or the contents, with the bit that a fault
/// flips. Whether anything was ever written there, as far as that is known.
pub(crate) fn read_answered(
    answer: &Answer,
    contents: &Contents,
    room: &mut Vec<u8>,
) -> std::io::Result<bool> {
    room.clear();
    let found = match answer.request.data.is_empty() {
        true => {
            room.resize(answer.request.length as usize, 0);
            contents.read(answer.request.offset, room)
        }
        false => {
            room.extend_from_slice(&answer.request.data);
            Ok(true)
        }
    };
    if let Some(bit) = answer.flips
        && let Some(byte) = room.get_mut((bit / 8) as usize)
    {
        *byte ^= 1 << (bit % 8);
    }
    found
}

/// Bytes that a request keeps in memory, its own or its reply's.
fn weight(request: &Request) -> u64 {
    match request.command {
        Command::Read { .. } | Command::Write { .. } => request.length,
        _ => 0,
    }
}
