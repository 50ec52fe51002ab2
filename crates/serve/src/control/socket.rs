//! The control socket: lines that come, and lines that go.

use std::collections::VecDeque;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::event::{PollFd, PollFlags};

use crate::address::Address;
use crate::connection::Connection;
use crate::listener::{ListenError, Listener};

/// Connections at a time; more are closed.
const MOST_PEERS: usize = 16;

/// Bytes of a line. Whoever sends more without an end is let go of.
const MOST_LINE: usize = 4096;

/// Answers that somebody does not take, until they are let go of.
const MOST_UNSENT: usize = 1 << 20;

/// Where a server is asked and steered. The socket is removed when this is dropped.
#[derive(Debug)]
pub struct Control {
    listener: Listener,
    peers: Vec<Peer>,
    next_id: u64,
    /// Lines that are to be carried out, in the order they came in, and whose they are.
    lines: VecDeque<(u64, String)>,
}

#[derive(Debug)]
struct Peer {
    id: u64,
    connection: Connection,
    input: Vec<u8>,
    out: Vec<u8>,
    /// Lines of it that are not answered yet.
    unanswered: usize,
    readable: bool,
    /// It sends nothing more; what it asked for is still answered.
    ended: bool,
    gone: bool,
}

impl Control {
    /// Listens at a path, for its owner only (mode 0600).
    ///
    /// # Errors
    /// As [`Listener::open`].
    pub fn open(path: &Path) -> Result<Control, ListenError> {
        let listener = Listener::open(&Address::Unix(path.into()), None)?;
        Ok(Control { listener, peers: Vec::new(), next_id: 0, lines: VecDeque::new() })
    }

    /// What is to be waited for: the socket, and who is connected.
    pub(crate) fn waits_for(&self) -> impl Iterator<Item = PollFd<'_>> {
        let peers = self.peers.iter().map(|peer| {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, !peer.ended);
            flags.set(PollFlags::OUT, !peer.out.is_empty());
            PollFd::from_borrowed_fd(peer.connection.as_fd(), flags)
        });
        let listener = PollFd::from_borrowed_fd(self.listener.as_fd(), PollFlags::IN);
        std::iter::once(listener).chain(peers)
    }

    /// What came of it, in the same order.
    pub(crate) fn came(&mut self, flags: &[PollFlags]) {
        let Some((listener, peers)) = flags.split_first() else { return };
        for (peer, flags) in self.peers.iter_mut().zip(peers) {
            peer.readable = flags.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR);
            // Nobody is there to be answered, and the socket would be ready for ever.
            peer.gone |= peer.ended && flags.intersects(PollFlags::HUP | PollFlags::ERR);
        }
        if listener.is_empty() {
            return;
        }
        while let Ok(Some(connection)) = self.listener.accept() {
            if self.peers.len() < MOST_PEERS {
                self.peers.push(Peer {
                    id: self.next_id,
                    connection,
                    input: Vec::new(),
                    out: Vec::new(),
                    unanswered: 0,
                    readable: true,
                    ended: false,
                    gone: false,
                });
                self.next_id += 1;
            }
        }
    }

    /// Reads what has come.
    pub(crate) fn read(&mut self) {
        for peer in self.peers.iter_mut().filter(|peer| peer.readable && !peer.ended && !peer.gone)
        {
            peer.readable = false;
            peer.read();
            while let Some(end) = peer.input.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = peer.input.drain(..=end).collect();
                peer.unanswered += 1;
                self.lines.push_back((peer.id, String::from_utf8_lossy(&line).trim().into()));
            }
            // A line without an end, or a last one without.
            peer.gone |= peer.input.len() > MOST_LINE;
        }
    }

    /// The next line, and whose it is.
    pub(crate) fn next(&mut self) -> Option<(u64, String)> {
        self.lines.pop_front()
    }

    /// It is for later.
    pub(crate) fn put_back(&mut self, id: u64, line: String) {
        self.lines.push_front((id, line));
    }

    /// Answers a line of somebody.
    pub(crate) fn answer(&mut self, id: u64, answer: &serde_json::Value) {
        if let Some(peer) = self.peers.iter_mut().find(|peer| peer.id == id) {
            peer.unanswered = peer.unanswered.saturating_sub(1);
            peer.out.extend_from_slice(answer.to_string().as_bytes());
            peer.out.push(b'\n');
            peer.gone |= peer.out.len() > MOST_UNSENT;
        }
    }

    /// Sends what it can, and lets go of those that are done with.
    pub(crate) fn send(&mut self) {
        self.peers.iter_mut().for_each(Peer::send);
        let lines = &mut self.lines;
        self.peers.retain(|peer| {
            let done = peer.ended && peer.unanswered == 0 && peer.out.is_empty();
            if peer.gone {
                lines.retain(|(id, _)| *id != peer.id);
            }
            !peer.gone && !done
        });
    }
}

impl Peer {
    fn read(&mut self) {
        let mut buffer = [0; MOST_LINE];
        match self.connection.read(&mut buffer) {
            Ok(0) => self.ended = true,
            Ok(count) => self.input.extend_from_slice(&buffer[..count]),
            Err(error) if is_later(&error) => {}
            Err(_) => self.gone = true,
        }
    }

    fn send(&mut self) {
        while !self.out.is_empty() && !self.gone {
            match self.connection.write(&self.out) {
                Ok(count) if count > 0 => drop(self.out.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_later(&error) => return,
                Ok(_) | Err(_) => self.gone = true,
            }
        }
    }
}

fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
