//! What all handlers of the page share.

use std::net::SocketAddr;
use std::path::PathBuf;

use tokio::sync::Semaphore;

use super::reviews::Reviews;

/// What is served, where and to whom.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Where to listen; port 0 takes any that is free.
    pub listen: SocketAddr,
    /// The database of results.
    pub database: PathBuf,
    /// Whether nothing can be started.
    pub read_only: bool,
    /// Names besides `localhost` and addresses that browsers may call this machine.
    pub names: Vec<String>,
    /// This program, which runs the reviews.
    pub program: PathBuf,
}

/// What all handlers share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) options: Options,
    pub(super) reviews: Reviews,
    /// Reports that may be made at a time.
    pub(super) made: Semaphore,
}
