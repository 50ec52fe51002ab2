//! One client's connection: bytes as they are, or encrypted from where the protocol says so.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

use rustls::ServerConnection;

use crate::stream::Stream;
use crate::tls::Tls;

/// What is encrypted before it is sent, at most: some records, so that a large reply is not in memory twice.
const MOST_ENCRYPTED: usize = 256 << 10;

/// A connection. Reads and writes return at once.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: Stream,
    /// Where TLS is asked for, with what.
    required: Option<Tls>,
    tls: Option<Box<Encrypted>>,
    /// What the last read gave filled its room, so that more may be decrypted already.
    has_more: bool,
}

impl Connection {
    /// A client that has connected. With `required` it is told nothing before TLS is on.
    pub(crate) fn new(stream: Stream, required: Option<Tls>) -> Connection {
        Connection { stream, required, tls: None, has_more: false }
    }

    /// The socket, where nothing is encrypted and bytes are not all that goes over it.
    #[cfg(feature = "vhost-user")]
    pub(crate) fn into_stream(self) -> Stream {
        self.stream
    }

    /// Encrypts from here on; `plain` is still to be sent as it is.
    ///
    /// # Errors
    /// When there is no TLS for it.
    pub(crate) fn start_tls(&mut self, plain: Vec<u8>) -> io::Result<()> {
        let Some(tls) = &self.required else { return Err(io::ErrorKind::Unsupported.into()) };
        self.tls = Some(Box::new(Encrypted::new(tls, plain)?));
        Ok(())
    }

    /// Whether TLS is asked for here.
    pub(crate) fn asks_for_tls(&self) -> bool {
        self.required.is_some()
    }

    /// Whether whoever is there may be there: no TLS is asked for, or a good certificate was shown.
    pub(crate) fn is_trusted(&self) -> bool {
        let shown = self.tls.as_ref().is_some_and(|tls| !tls.session.is_handshaking());
        self.required.is_none() || shown
    }

    /// Whether there are bytes to go that were taken by [`Connection::write`] or are TLS's own.
    pub(crate) fn wants_write(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.wants_write())
    }

    /// Whether something can be read that the socket does not tell of.
    pub(crate) fn has_more(&self) -> bool {
        self.has_more
    }

    /// As `read(2)`: 0 at the end, `WouldBlock` if there is nothing.
    pub(crate) fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => self.stream.read(to),
            Some(tls) => {
                let read = tls.read(&mut self.stream, to);
                self.has_more = matches!(read, Ok(count) if count == to.len());
                read
            }
        }
    }

    /// As `write(2)`.
    pub(crate) fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => self.stream.write(from),
            Some(tls) => tls.write(&mut self.stream, from),
        }
    }

    /// Sends what was taken before.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        match &mut self.tls {
            None => Ok(()),
            Some(tls) => tls.flush(&mut self.stream),
        }
    }

    /// Tells the peer that nothing more comes; it is sent by [`Connection::flush`].
    pub(crate) fn say_goodbye(&mut self) {
        if let Some(tls) = &mut self.tls
            && !std::mem::replace(&mut tls.said_goodbye, true)
        {
            tls.session.send_close_notify();
        }
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

/// TLS on a connection.
#[derive(Debug)]
struct Encrypted {
    session: ServerConnection,
    /// Unencrypted bytes that are sent before all else.
    plain: Vec<u8>,
    said_goodbye: bool,
}

impl Encrypted {
    fn new(tls: &Tls, plain: Vec<u8>) -> io::Result<Encrypted> {
        let mut session = ServerConnection::new(tls.0.clone()).map_err(io::Error::other)?;
        session.set_buffer_limit(Some(MOST_ENCRYPTED));
        Ok(Encrypted { session, plain, said_goodbye: false })
    }

    fn wants_write(&self) -> bool {
        !self.plain.is_empty() || self.session.wants_write()
    }

    /// All that can be decrypted now, unless `to` is full.
    fn read(&mut self, stream: &mut Stream, to: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        loop {
            match self.session.reader().read(&mut to[filled..]) {
                // No room, or the peer's goodbye.
                Ok(0) => return Ok(filled),
                Ok(count) => {
                    filled += count;
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // What was read before counts; the error comes again.
                Err(_) if filled > 0 => return Ok(filled),
                Err(error) => return Err(error),
            }
            match self.session.read_tls(stream) {
                // The end of a connection that did not say goodbye: the reader says so, the next time.
                Ok(0) => return Ok(filled),
                Ok(_) => {}
                Err(_) if filled > 0 => return Ok(filled),
                Err(error) => return Err(error),
            }
            if let Err(error) = self.session.process_new_packets() {
                // The peer is told why, if it still listens.
                let _ = self.flush(stream);
                return Err(io::Error::new(io::ErrorKind::InvalidData, error));
            }
        }
    }

    fn write(&mut self, stream: &mut Stream, from: &[u8]) -> io::Result<usize> {
        self.flush(stream)?;
        let taken = self.session.writer().write(from)?;
        match self.flush(stream) {
            // It is taken, and goes later.
            Err(error) if taken > 0 && error.kind() == io::ErrorKind::WouldBlock => Ok(taken),
            Err(error) => Err(error),
            Ok(()) => Ok(taken),
        }
    }

    fn flush(&mut self, stream: &mut Stream) -> io::Result<()> {
        while !self.plain.is_empty() {
            let sent = at_least_one(stream.write(&self.plain)?)?;
            self.plain.drain(..sent);
        }
        while self.session.wants_write() {
            at_least_one(self.session.write_tls(stream)?)?;
        }
        Ok(())
    }
}

fn at_least_one(sent: usize) -> io::Result<usize> {
    if sent == 0 { Err(io::ErrorKind::WriteZero.into()) } else { Ok(sent) }
}
