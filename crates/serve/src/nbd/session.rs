//! One connection: which bytes come next, and what they were.

use super::handshake::{self, Agreed, Next, Tls};
use super::reply::Reply;
use super::request::{Asked, Header};
use super::wire::{self, Front};
use super::{Closing, Errno, Export, MOST_OPTION, Request};

/// One connection. Memory: the bytes of one request or option that is not whole yet and of whatever was given along
/// with them; the largest is a header and [`super::MOST_PAYLOAD`].
#[derive(Debug)]
pub struct Session {
    export: Export,
    stage: Stage,
    agreed: Agreed,
    input: Vec<u8>,
    /// Of `input`, what is done with.
    used: usize,
    options: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    ClientFlags,
    Options,
    Transmission,
    Closed,
}

/// Bytes of room that stay taken for the next requests.
const ROOM_KEPT: usize = 1 << 20;

/// Options of a handshake after which a client is not waited for any more.
const MOST_OPTIONS: u32 = 1000;

/// What a session has next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Nothing before there are more bytes.
    Starved,
    /// A request to be done.
    Request(Request),
    /// From here on the connection is encrypted: when what was written is sent, the handshake of TLS begins, and only
    /// what comes out of it is taken.
    StartTls,
    /// The connection is to be closed when what was written to it is sent.
    Close(Closing),
}

impl Session {
    /// A session whose client has said nothing yet; `out` gets the greeting.
    pub fn new(export: Export, out: &mut Vec<u8>) -> Session {
        handshake::greeting(out);
        let (stage, agreed) = (Stage::ClientFlags, Agreed::default());
        Session { export, stage, agreed, input: Vec::new(), used: 0, options: 0 }
    }

    /// The same for a client that is told nothing and gets nothing before TLS is on.
    pub fn with_tls(export: Export, out: &mut Vec<u8>) -> Session {
        let mut session = Session::new(export, out);
        session.agreed.tls = Tls::Required;
        session
    }

    /// Takes bytes from the client. What they are [`Session::next`] says.
    pub fn take(&mut self, bytes: &[u8]) {
        if self.stage == Stage::Closed {
            return;
        }
        if self.used == self.input.len() {
            // The room for a large write is not kept for the small ones after it.
            if self.input.capacity() > ROOM_KEPT {
                self.input = Vec::new();
            }
            self.input.clear();
            self.used = 0;
        } else if self.used > 0 && self.input.len() + bytes.len() > self.input.capacity() {
            self.input.drain(..self.used);
            self.used = 0;
        }
        self.input.extend_from_slice(bytes);
    }

    /// Bytes it keeps until a request is whole.
    pub fn kept_bytes(&self) -> usize {
        self.input.capacity()
    }

    /// Whether the handshake is over.
    pub fn is_open(&self) -> bool {
        self.stage == Stage::Transmission
    }

    /// What the bytes so far say. Answers of the handshake, and to requests that cannot be, are written to `out`.
    pub fn next(&mut self, out: &mut Vec<u8>) -> Step {
        loop {
            let step = match self.stage {
                Stage::Closed => Some(Step::Close(Closing::Disconnected)),
                Stage::ClientFlags => self.client_flags(),
                Stage::Options => self.option(out),
                Stage::Transmission => self.request(out),
            };
            if let Some(step) = step {
                if matches!(step, Step::Close(_)) {
                    self.stage = Stage::Closed;
                    self.input = Vec::new();
                    self.used = 0;
                }
                return step;
            }
        }
    }

    /// Answers a request of this session.
    pub fn reply(&self, request: &Request, reply: Reply<'_>, out: &mut Vec<u8>) {
        self.agreed.dialect.reply(request, reply, out);
    }

    fn left(&self) -> &[u8] {
        &self.input[self.used..]
    }

    fn client_flags(&mut self) -> Option<Step> {
        let Some(flags) = Front(self.left()).u32() else { return Some(Step::Starved) };
        self.used += 4;
        self.stage = Stage::Options;
        self.agreed.client_flags(flags).err().map(Step::Close)
    }

    fn option(&mut self, out: &mut Vec<u8>) -> Option<Step> {
        let mut front = Front(&self.input[self.used..]);
        let (Some(magic), Some(kind), Some(length)) = (front.u64(), front.u32(), front.u32())
        else {
            return Some(Step::Starved);
        };
        if magic != wire::OPTION_MAGIC {
            return Some(Step::Close(Closing::OptionMagic(magic)));
        }
        if length > MOST_OPTION {
            return Some(Step::Close(Closing::OptionTooLong(length)));
        }
        let Some(data) = front.bytes(length as usize) else { return Some(Step::Starved) };
        let next = self.agreed.option(&self.export, kind, data, out);
        self.used += 16 + length as usize;
        self.options += 1;
        match next {
            Next::Option if self.options < MOST_OPTIONS => None,
            Next::Option => Some(Step::Close(Closing::Disconnected)),
            Next::Transmission => {
                self.stage = Stage::Transmission;
                None
            }
            // Whoever is between could have put them there.
            Next::StartTls if self.used < self.input.len() => {
                Some(Step::Close(Closing::BytesBeforeTls(self.input.len() - self.used)))
            }
            Next::StartTls => Some(Step::StartTls),
            Next::Close(why) => Some(Step::Close(why)),
        }
    }

    fn request(&mut self, out: &mut Vec<u8>) -> Option<Step> {
        let extended = self.agreed.dialect == super::reply::Dialect::Extended;
        let header = match Header::read(self.left(), extended) {
            None => return Some(Step::Starved),
            Some(Err(why)) => return Some(Step::Close(why)),
            Some(Ok(header)) => header,
        };
        let payload = match header.payload() {
            Ok(payload) => payload,
            Err(why) => return Some(Step::Close(why)),
        };
        let begin = self.used + Header::bytes(extended);
        let data = match self.input.get(begin..begin + payload) {
            Some(data) => data,
            None => return Some(Step::Starved),
        };
        let asked = header.asked(&self.export, self.agreed.allocation);
        let step = match asked {
            Ok(Asked::Disconnect) => Some(Step::Close(Closing::Disconnected)),
            Ok(Asked::Command(command)) => {
                Some(Step::Request(header.request(command, data.to_vec())))
            }
            Err(errno) => {
                let request = header.request(super::Command::Flush, Vec::new());
                self.agreed.dialect.reply(&request, Reply::Failed(errno, why(errno)), out);
                None
            }
        };
        self.used = begin + payload;
        step
    }
}

/// What is said of a request that was not taken.
fn why(errno: Errno) -> &'static str {
    match errno {
        Errno::Perm => "the export is read-only",
        Errno::NoSpc => "the range ends behind the end of the export",
        Errno::Overflow => "a read of more than 32 MiB",
        Errno::NotSup => "this drive has no TRIM",
        Errno::Inval | Errno::Io | Errno::Shutdown => {
            "a command, flag, range or alignment that this export does not take"
        }
    }
}
