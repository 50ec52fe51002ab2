//! Where a server listens: a unix socket for its owner only, this machine's loopback, or with TLS any address.

use std::fs::Permissions;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};

use crate::address::Address;
use crate::connection::Connection;
use crate::stream::Stream;
use crate::tls::Tls;

/// Why an address cannot be listened at.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// An address that others can reach, and nothing that asks who they are.
    #[error(
        "{0} can be reached by other machines, and nothing here would ask who connects: give --tls DIR with certificates \
         (docs/SERVE.md), or 127.0.0.1, or a unix socket and a tunnel to it (ssh -L)"
    )]
    Open(SocketAddr),
    /// Something is there, and it is not the socket of a server that has gone.
    #[error("{path} exists{what}: it is not replaced; give another path or remove it")]
    Exists {
        /// The path.
        path: String,
        /// What is known of it.
        what: &'static str,
    },
    /// Encryption of what is not sent.
    #[error(
        "vhost-user:{0} shares memory with a virtual machine on this computer, and sends nothing that --tls could encrypt: \
         leave --tls out, or serve at tcp:HOST:PORT"
    )]
    Encrypted(String),
    /// A program without the feature.
    #[error(
        "vhost-user:{0}: this program was built without vhost-user: build it with the feature vhost-user, or serve at \
         unix:{0}"
    )]
    NotBuilt(String),
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
    tls: Option<Tls>,
}

#[derive(Debug)]
enum Socket {
    Unix(UnixListener),
    Tcp(TcpListener),
}

impl Listener {
    /// Listens. A unix socket is for its owner only (mode 0600); one that nobody listens at any more is replaced. With
    /// `tls` clients are told nothing before they have shown a certificate.
    ///
    /// # Errors
    /// When others can reach the address and there is no `tls`, something else is at the path, or the system says no.
    pub fn open(address: &Address, tls: Option<Tls>) -> Result<Listener, ListenError> {
        if let (Address::Tcp(open), None) = (address, &tls)
            && address.is_open()
        {
            return Err(ListenError::Open(*open));
        }
        let os = |error| ListenError::Os { address: address.to_string(), error };
        if let Address::VhostUser(path) = address {
            let path = path.display().to_string();
            if tls.is_some() {
                return Err(ListenError::Encrypted(path));
            }
            if cfg!(not(feature = "vhost-user")) {
                return Err(ListenError::NotBuilt(path));
            }
        }
        let listener = match address {
            Address::Tcp(at) => {
                let socket = TcpListener::bind(at).map_err(os)?;
                let address = Address::Tcp(socket.local_addr().map_err(os)?);
                Listener { socket: Socket::Tcp(socket), address, tls }
            }
            Address::Unix(path) | Address::VhostUser(path) => {
                remove_if_dead(path)?;
                // No moment in which others could connect: the path is made with no rights for them.
                let before = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o177));
                let socket = UnixListener::bind(path);
                rustix::process::umask(before);
                let socket = socket.map_err(os)?;
                std::fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(os)?;
                Listener { socket: Socket::Unix(socket), address: address.clone(), tls }
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

    /// The URI that clients are given.
    pub fn uri(&self) -> String {
        self.address.uri(self.tls.is_some())
    }

    /// A client that has connected, if there is one.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn accept(&self) -> io::Result<Option<Connection>> {
        let stream = match &self.socket {
            Socket::Unix(socket) => socket.accept().map(|(stream, _)| Stream::Unix(stream)),
            Socket::Tcp(socket) => socket.accept().and_then(|(stream, _)| {
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }),
        };
        match stream {
            Ok(stream) => Ok(Some(Connection::new(stream.prepared()?, self.tls.clone()))),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Address::Unix(path) | Address::VhostUser(path) = &self.address {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_its_owners_and_only_a_dead_one_is_replaced() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("socket");
        let address = Address::Unix(path.clone());
        let listener = Listener::open(&address, None).expect("nothing is there");
        let mode = path.metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let error = Listener::open(&address, None).expect_err("somebody listens").to_string();
        assert!(error.contains("somebody listens"), "{error}");
        drop(listener);
        assert!(!path.exists(), "it is removed in the end");
        // What a killed server leaves.
        drop(UnixListener::bind(&path).expect("nothing is there"));
        assert!(path.exists());
        drop(Listener::open(&address, None).expect("a dead one is replaced"));
        std::fs::write(&path, "letters").expect("it can be written");
        let error = Listener::open(&address, None).expect_err("a file").to_string();
        assert!(error.contains("no socket"), "{error}");
        assert_eq!(std::fs::read(&path).expect("it is there"), b"letters");
    }

    #[test]
    fn an_open_address_needs_tls() {
        let address: Address = "tcp:0.0.0.0:0".parse().expect("an address");
        let error = Listener::open(&address, None).expect_err("it is everybody's").to_string();
        assert!(error.contains("other machines") && error.contains("--tls"), "{error}");
        let loopback: Address = "tcp:127.0.0.1:0".parse().expect("an address");
        Listener::open(&loopback, None).expect("it is this machine's");
    }
}
