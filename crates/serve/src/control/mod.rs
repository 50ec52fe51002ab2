//! Asking and steering a server while it runs, over a unix socket of its owner's: a line each way.
//!
//! A line is a command ([`ControlCommand`]); each is answered by one line of JSON, in order: `{"ok":true, ...}`, or
//! `{"ok":false,"error":"..."}`.

mod command;
mod socket;

pub use command::{ControlCommand, UnknownCommand};
pub use socket::Control;
