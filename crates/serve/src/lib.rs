//! Virtual drives for real programs: a drive of the catalogue behind a socket, with its size, contents and times; and real
//! ones, passed on to be recorded ([`Turn::of_real`]).
//!
//! - [`nbd`]: the protocol of network block devices, bytes in and bytes out, without any I/O;
//! - [`contents`]: what is stored, in memory or in a sparse file;
//! - [`Turn`]: requests on a drive in virtual time, without sockets or a clock;
//! - `vhost_user`: virtual machines with shared memory as clients, beside NBD's (feature `vhost-user`);
//! - the kernel of this machine as a client, through its driver ublk ([`Server::adopt_device`]);
//! - [`Server`]: the one loop of sockets, drive and clock; [`Pace`] says how virtual time goes by;
//! - [`door`]: how long the way to a client is; [`Recording`]: what was asked, as a trace; [`DataLog`]: what was written;
//! - [`Control`]: asking and steering a server while it runs;
//! - [`Faults`]: errors and delays that are injected; [`crash`]: what of that is left when the power is cut.

#![forbid(unsafe_code)]

mod address;
mod block_device;
mod client;
mod connection;
pub mod contents;
mod control;
pub mod crash;
mod data_log;
mod distribution;
pub mod door;
mod faults;
mod io_log;
mod listener;
pub mod nbd;
mod recorder;
mod server;
mod stream;
mod tally;
mod time;
mod tls;
mod turn;
#[cfg(feature = "vhost-user")]
mod vhost_user;

pub use address::{Address, AddressError, At};
pub use block_device::block_device;
pub use control::{Control, ControlCommand, UnknownCommand};
pub use data_log::{DataLog, DataLogError, DataRecording, LoggedWrite};
pub use distribution::Distribution;
pub use faults::{FaultSpec, Faults, UnknownFault};
pub use listener::{ListenError, Listener};
pub use recorder::{RecordError, Recording};
pub use server::{MOST_CONNECTIONS, ServeError, Server, Settings};
pub use stream::Stream;
pub use tally::{
    DriveCounters, InLedger, Late, Latencies, Operation, Pacing, Recorded, RecordedData, Report,
    SCHEMA,
};
pub use time::{GRACE, Pace};
pub use tls::{Tls, TlsError};
pub use turn::{Answer, CutError, Outcome, PowerCut, REAL_IO_BYTES, Turn, TurnSettings};
