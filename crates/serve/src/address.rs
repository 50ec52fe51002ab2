//! Where a drive is served.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

/// Where a drive is served.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum At {
    /// Clients connect.
    Socket(Address),
    /// It is a block device of this machine.
    BlockDevice,
}

impl FromStr for At {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<At, AddressError> {
        match text {
            "ublk" => Ok(At::BlockDevice),
            address => address.parse().map(At::Socket),
        }
    }
}

/// An address to listen at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Address {
    /// A unix socket.
    Unix(PathBuf),
    /// A port; 0 takes any that is free.
    Tcp(SocketAddr),
    /// A unix socket at which a virtual machine finds a virtio block device.
    VhostUser(PathBuf),
}

/// Text that is no address to listen at.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AddressError {
    /// A unix socket without a path.
    #[error("{0}: give a path behind it, {0}./m4.sock")]
    NoPath(&'static str),
    /// Neither kind of address.
    #[error(
        "{0}: give unix:PATH or tcp:HOST:PORT for NBD, vhost-user:PATH for a virtual machine, or ublk for a block device of \
         this machine"
    )]
    Kind(String),
    /// A TCP address that is none.
    #[error("{0}: give an address and a port, tcp:127.0.0.1:10809 or tcp:[::1]:10809")]
    Tcp(String),
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Address, AddressError> {
        let path_behind = |prefix| match text.strip_prefix(prefix) {
            Some("") => Err(AddressError::NoPath(prefix)),
            path => Ok(path.map(PathBuf::from)),
        };
        if let Some(path) = path_behind("unix:")? {
            return Ok(Address::Unix(path));
        }
        if let Some(path) = path_behind("vhost-user:")? {
            return Ok(Address::VhostUser(path));
        }
        let Some(place) = text.strip_prefix("tcp:") else {
            return Err(AddressError::Kind(text.into()));
        };
        let address = match place.strip_prefix("localhost:") {
            Some(port) => format!("127.0.0.1:{port}").parse(),
            None => place.parse::<SocketAddr>(),
        };
        address.map(Address::Tcp).map_err(|_| AddressError::Tcp(text.into()))
    }
}

impl Address {
    /// Whether other machines, or other users of this one without a word in it, may connect here: whatever is neither a
    /// unix socket nor loopback.
    pub fn is_open(&self) -> bool {
        match self {
            Address::Unix(_) | Address::VhostUser(_) => false,
            Address::Tcp(address) => !address.ip().is_loopback(),
        }
    }

    /// As the URI of NBD clients, or as it is written where there is none; `tls`: of those that encrypt.
    pub fn uri(&self, tls: bool) -> String {
        let scheme = if tls { "nbds" } else { "nbd" };
        match self {
            Address::Unix(path) => format!("{scheme}+unix:///?socket={}", path.display()),
            Address::Tcp(address) => format!("{scheme}://{address}"),
            Address::VhostUser(path) => format!("vhost-user:{}", path.display()),
        }
    }
}

impl fmt::Display for Address {
    /// As the URI of NBD clients without TLS.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.uri(false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_is_neither_a_unix_socket_nor_loopback_is_open() {
        let is_open = |text: &str| text.parse::<Address>().map(|address| address.is_open());
        for address in [
            "unix:/run/m4",
            "vhost-user:/run/m4",
            "tcp:127.0.0.1:10809",
            "tcp:[::1]:0",
            "tcp:localhost:1",
        ] {
            assert_eq!(is_open(address), Ok(false), "{address}");
        }
        for address in
            ["tcp:0.0.0.0:1", "tcp:10.0.0.1:10809", "tcp:[::]:1", "tcp:[::ffff:127.0.0.1]:1"]
        {
            assert_eq!(is_open(address), Ok(true), "{address}");
        }
        for wrong in [
            "",
            "unix:",
            "vhost-user:",
            "tcp:",
            "tcp:10809",
            "tcp:example.org:1",
            "http://127.0.0.1:1",
        ] {
            assert!(is_open(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_block_device_has_no_address() {
        assert_eq!("ublk".parse(), Ok(At::BlockDevice));
        assert_eq!("unix:s".parse(), Ok(At::Socket(Address::Unix("s".into()))));
        assert!("ublk:0".parse::<At>().is_err());
    }
}
