//! Virtual machines as clients: a virtio block device over vhost-user. The machine's memory is shared, so that data are
//! copied once and no byte goes over a socket.
//!
//! - [`device`]: features and configuration space, from what any client is offered;
//! - [`memory`]: the machine's memory, as its regions come over the socket;
//! - [`chain`]: a driver's descriptors as a request, or what is wrong with them;
//! - [`ring`]: a virtqueue with its two event files;
//! - [`backend`]: what the messages on the socket change; the protocol is rust-vmm's;
//! - [`client`]: all of that as a client of the loop;
//! - [`driver`]: the other side in this process, which measures the way to it.
//!
//! The guest is not trusted: what its descriptors say is checked before it is done, and memory is only read and written
//! through `vm-memory`, which knows its bounds. Whoever holds the socket is trusted as far as the memory goes: a file that
//! is made shorter under our mapping ends this process by SIGBUS, as it does any other back end.

mod backend;
mod chain;
mod client;
mod device;
pub(crate) mod driver;
mod memory;
mod ring;

#[cfg(test)]
mod tests;

pub(crate) use client::VhostUserClient;
