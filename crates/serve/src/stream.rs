//! Where clients connect: a unix socket for its owner only, or this machine's loopback.

use std::fmt;
use std::fs::Permissions;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::str::FromStr;

/// An address to listen at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Address {
    /// A unix socket.
    Unix(PathBuf),
    /// A port of the loopback interface; 0 takes any that is free.
    Tcp(SocketAddr),
}

/// Text that is no address to listen at.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AddressError {
    /// A unix socket without a path.
    #[error("unix: give a path behind it, unix:./m4.sock")]
    NoPath,
    /// Neither kind of address.
    #[error("{0}: give unix:PATH or tcp:HOST:PORT")]
    Kind(String),
    /// A TCP address that is none.
    #[error("{0}: give an address and a port, tcp:127.0.0.1:10809 or tcp:[::1]:10809")]
    Tcp(String),
    /// An address that others can reach.
    #[error(
        "{0} can be reached by other machines, and nothing here asks who connects or encrypts: give \
         127.0.0.1, or a unix socket and a tunnel to it (ssh -L)"
    )]
    Open(IpAddr),
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Address, AddressError> {
        if let Some(path) = text.strip_prefix("unix:") {
            return match path {
                "" => Err(AddressError::NoPath),
                path => Ok(Address::Unix(path.into())),
            };
        }
        let Some(place) = text.strip_prefix("tcp:") else {
            return Err(AddressError::Kind(text.into()));
        };
        let address = match place.strip_prefix("localhost:") {
            Some(port) => format!("127.0.0.1:{port}").parse(),
            None => place.parse::<SocketAddr>(),
        };
        let address = address.map_err(|_| AddressError::Tcp(text.into()))?;
        match address.ip() {
            IpAddr::V4(ip) if ip.is_loopback() => Ok(Address::Tcp(address)),
            IpAddr::V6(ip) if ip.is_loopback() => Ok(Address::Tcp(address)),
            ip => Err(AddressError::Open(ip)),
        }
    }
}

impl fmt::Display for Address {
    /// As the URI of NBD clients.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix(path) => write!(f, "nbd+unix:///?socket={}", path.display()),
            Address::Tcp(address) => write!(f, "nbd://{address}"),
        }
    }
}

/// Why an address cannot be listened at.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Something is there, and it is not the socket of a server that has gone.
    #[error("{path} exists{what}: it is not replaced; give another path or remove it")]
    Exists {
        /// The path.
        path: String,
        /// What is known of it.
        what: &'static str,
    },
    /// The system says no.
    #[error("cannot listen at {address}: {error}")]
    Os {
        /// The address.
        address: String,
        /// What it said.
        error: io::Error,
    },
}

/// A socket that clients connect to. A unix socket is removed when this is dropped.
#[derive(Debug)]
pub struct Listener {
    socket: Socket,
    address: Address,
}

#[derive(Debug)]
enum Socket {
    Unix(UnixListener),
    Tcp(TcpListener),
}

impl Listener {
    /// Listens. A unix socket is for its owner only (mode 0600); one that nobody listens at any more is replaced.
    ///
    /// # Errors
    /// When something else is at the path, or the system says no.
    pub fn open(address: &Address) -> Result<Listener, ListenError> {
        let os = |error| ListenError::Os { address: address.to_string(), error };
        let listener = match address {
            Address::Tcp(at) => {
                let socket = TcpListener::bind(at).map_err(os)?;
                let address = Address::Tcp(socket.local_addr().map_err(os)?);
                Listener { socket: Socket::Tcp(socket), address }
            }
            Address::Unix(path) => {
                remove_if_dead(path)?;
                // No moment in which others could connect: the path is made with no rights for them.
                let before = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o177));
                let socket = UnixListener::bind(path);
                rustix::process::umask(before);
                let socket = socket.map_err(os)?;
                std::fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(os)?;
                Listener { socket: Socket::Unix(socket), address: address.clone() }
            }
        };
        match &listener.socket {
            Socket::Unix(socket) => socket.set_nonblocking(true),
            Socket::Tcp(socket) => socket.set_nonblocking(true),
        }
        .map_err(os)?;
        Ok(listener)
    }

    /// The address, with the port that was taken.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// A client that has connected, if there is one.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn accept(&self) -> io::Result<Option<Stream>> {
        let stream = match &self.socket {
            Socket::Unix(socket) => socket.accept().map(|(stream, _)| Stream::Unix(stream)),
            Socket::Tcp(socket) => socket.accept().and_then(|(stream, _)| {
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }),
        };
        match stream {
            Ok(stream) => stream.prepared().map(Some),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Address::Unix(path) = &self.address {
            // Whoever took its place meanwhile keeps it: only a socket that nobody listens at is removed.
            if let Socket::Unix(socket) = &self.socket {
                let _ = rustix::net::shutdown(socket, rustix::net::Shutdown::Both);
            }
            let _ = remove_if_dead(path);
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.socket {
            Socket::Unix(socket) => socket.as_fd(),
            Socket::Tcp(socket) => socket.as_fd(),
        }
    }
}

/// Makes room for a socket: what is there is removed if it is a socket and refuses connections.
fn remove_if_dead(path: &std::path::Path) -> Result<(), ListenError> {
    let exists = |what| Err(ListenError::Exists { path: path.display().to_string(), what });
    let os = |error| ListenError::Os { address: path.display().to_string(), error };
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(os(error)),
        Ok(metadata) if !metadata.file_type().is_socket() => exists(" and is no socket"),
        Ok(_) => match UnixStream::connect(path) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                std::fs::remove_file(path).map_err(os)
            }
            Ok(_) => exists(" and somebody listens at it"),
            Err(_) => exists(" and is a socket that cannot be asked whether anybody listens"),
        },
    }
}

/// A connection.
#[derive(Debug)]
pub enum Stream {
    /// Over a unix socket.
    Unix(UnixStream),
    /// Over TCP.
    Tcp(TcpStream),
}

impl Stream {
    /// Makes its reads and writes return at once.
    pub(crate) fn prepared(self) -> io::Result<Stream> {
        match &self {
            Stream::Unix(stream) => stream.set_nonblocking(true)?,
            Stream::Tcp(stream) => stream.set_nonblocking(true)?,
        }
        Ok(self)
    }

    pub(crate) fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.read(to),
            Stream::Tcp(stream) => stream.read(to),
        }
    }

    pub(crate) fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.write(from),
            Stream::Tcp(stream) => stream.write(from),
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Stream::Unix(stream) => stream.as_fd(),
            Stream::Tcp(stream) => stream.as_fd(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_and_unix_sockets_are_addresses() {
        for address in ["unix:/run/m4", "tcp:127.0.0.1:10809", "tcp:[::1]:0", "tcp:localhost:1"] {
            assert!(address.parse::<Address>().is_ok(), "{address}");
        }
        for wrong in ["", "unix:", "tcp:", "tcp:10809", "tcp:0.0.0.0:1", "tcp:10.0.0.1:10809"] {
            assert!(wrong.parse::<Address>().is_err(), "{wrong}");
        }
        let why = "tcp:[::]:1".parse::<Address>().expect_err("it is everybody's").to_string();
        assert!(why.contains("other machines"), "{why}");
    }

    #[test]
    fn a_socket_is_its_owners_and_only_a_dead_one_is_replaced() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("socket");
        let address = Address::Unix(path.clone());
        let listener = Listener::open(&address).expect("nothing is there");
        let mode = path.metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let error = Listener::open(&address).expect_err("somebody listens").to_string();
        assert!(error.contains("somebody listens"), "{error}");
        drop(listener);
        assert!(!path.exists(), "it is removed in the end");
        // What a killed server leaves.
        drop(UnixListener::bind(&path).expect("nothing is there"));
        assert!(path.exists());
        drop(Listener::open(&address).expect("a dead one is replaced"));
        std::fs::write(&path, "letters").expect("it can be written");
        let error = Listener::open(&address).expect_err("a file").to_string();
        assert!(error.contains("no socket"), "{error}");
        assert_eq!(std::fs::read(&path).expect("it is there"), b"letters");
    }
}
