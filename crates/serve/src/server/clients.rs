//! Who is there: clients come, are let in, and go.

#[cfg(feature = "vhost-user")]
use std::os::unix::net::UnixStream;

use fourcorners_drive::Target;
use fourcorners_linux::clock;
use fourcorners_linux::ublk::{UblkDevice, UblkError};

use super::{MOST_CONNECTIONS, MOST_HANDSHAKE, Server};
#[cfg(feature = "vhost-user")]
use crate::address::Address;
use crate::client::{BlockDeviceClient, Client, NbdClient};
use crate::connection::Connection;
use crate::listener::Listener;
use crate::stream::Stream;
#[cfg(feature = "vhost-user")]
use crate::vhost_user::VhostUserClient;

/// What is said when a second virtual machine connects.
#[cfg(feature = "vhost-user")]
const ONE_MACHINE: &str =
    "another virtual machine is connected, and one at a time is served: the second was refused";

impl<T: Target> Server<T> {
    /// A client that is connected already.
    ///
    /// # Errors
    /// When its socket cannot be used.
    pub fn adopt(&mut self, stream: Stream) -> std::io::Result<()> {
        let connection = Connection::new(stream.prepared()?, None);
        self.welcome(Box::new(NbdClient::new(connection, &self.settings.export, clock())));
        Ok(())
    }

    /// A virtual machine that is connected already.
    ///
    /// # Errors
    /// When its socket cannot be used.
    #[cfg(feature = "vhost-user")]
    pub fn adopt_machine(&mut self, stream: UnixStream) -> std::io::Result<()> {
        let client = VhostUserClient::new(stream, &self.settings.export, clock())?;
        self.welcome(Box::new(client));
        Ok(())
    }

    /// A block device of this machine, which is started.
    ///
    /// # Errors
    /// When its driver cannot be told to start it.
    pub fn adopt_device(&mut self, device: UblkDevice) -> Result<(), UblkError> {
        let client = BlockDeviceClient::new(device, clock())?;
        self.welcome(Box::new(client));
        Ok(())
    }

    pub(super) fn accept(&mut self) {
        // As many as there is room for; an error concerns a client that has gone again.
        while let Some(Ok(Some(connection))) = self.listener.as_ref().map(Listener::accept) {
            match self.client_at(connection) {
                Some(client) => self.welcome(client),
                None => self.tally.refused_connections += 1,
            }
        }
    }

    /// Whoever has connected, if there is room and the power is on.
    fn client_at(&mut self, connection: Connection) -> Option<Box<dyn Client>> {
        if self.is_off() {
            return None;
        }
        #[cfg(feature = "vhost-user")]
        if let Some(Address::VhostUser(_)) = self.listener.as_ref().map(Listener::address) {
            if !self.clients.values().all(|client| client.is_over()) {
                (self.complain)(ONE_MACHINE);
                return None;
            }
            let Stream::Unix(stream) = connection.into_stream() else { return None };
            let client = VhostUserClient::new(stream, &self.settings.export, clock());
            return Some(Box::new(client.ok()?));
        }
        if !self.has_room() {
            return None;
        }
        Some(Box::new(NbdClient::new(connection, &self.settings.export, clock())))
    }

    /// Whether one more client may be there. Whoever has not said yet who they are keeps nobody out: the first of them
    /// makes room.
    fn has_room(&mut self) -> bool {
        if self.clients.len() < MOST_CONNECTIONS {
            return true;
        }
        let stranger = self.clients.iter().find(|(_, client)| !client.is_trusted());
        let Some(id) = stranger.map(|(id, _)| *id) else { return false };
        self.clients.remove(&id);
        self.tally.untrusted_connections += 1;
        true
    }

    fn welcome(&mut self, client: Box<dyn Client>) {
        self.clients.insert(self.next_id, client);
        self.next_id += 1;
        self.tally.connections += 1;
        self.left = None;
    }

    /// Lets go of clients that are done with.
    pub(super) fn bury(&mut self) {
        let (tally, complain) = (&mut self.tally, &self.complain);
        let mut now = None;
        self.clients.retain(|_, client| {
            let trusted = client.is_trusted();
            if !trusted && now.get_or_insert_with(clock).since(client.since()) >= MOST_HANDSHAKE {
                client.let_go();
            }
            let over = client.is_over();
            if over && let Some(line) = client.complaint() {
                complain(&line);
            }
            tally.untrusted_connections += u64::from(over && !trusted);
            tally.broken_connections += u64::from(over && trusted && client.broke_the_protocol());
            !over
        });
        // Whoever was not let in is no client that leaves.
        if self.clients.is_empty()
            && self.left.is_none()
            && !self.is_off()
            && self.tally.connections > self.tally.untrusted_connections
        {
            self.left = Some(clock());
        }
    }
}
