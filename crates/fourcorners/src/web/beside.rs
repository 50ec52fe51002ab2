//! A server beside other work, on a thread of its own: only this machine is answered, and nothing can be changed by it.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::{Router, middleware};
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use super::access::{self, Access};
use super::{connections, error};

/// Why the server did not start.
#[derive(Debug, Error)]
pub(crate) enum PageError {
    /// Others could look on.
    #[error(
        "{option}={listen} can be reached by other machines, and nothing here would ask who looks: give an address of \
         this machine (127.0.0.1:8643) and a tunnel to it (ssh -L)"
    )]
    Open {
        /// What asked for it.
        option: &'static str,
        /// Where.
        listen: SocketAddr,
    },
    /// The address cannot be listened at.
    #[error("{option} cannot listen at {listen}: {why}; choose another address, or port 0 for any")]
    Listen {
        /// What asked for it.
        option: &'static str,
        /// Where.
        listen: SocketAddr,
        /// What the system says.
        why: std::io::Error,
    },
}

/// Answers until it is dropped.
#[derive(Debug)]
pub(super) struct Beside {
    runtime: Option<Runtime>,
    /// With the port that was taken.
    pub(super) address: SocketAddr,
}

impl Beside {
    /// Listens at an address that `option` named.
    ///
    /// # Errors
    /// When other machines can reach the address, or it cannot be listened at.
    pub(super) fn open(
        option: &'static str,
        listen: SocketAddr,
        router: Router,
    ) -> Result<Beside, PageError> {
        if !listen.ip().is_loopback() {
            return Err(PageError::Open { option, listen });
        }
        let failed = |why| PageError::Listen { option, listen, why };
        // One thread, so that the work beside it keeps its core.
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(1)
            .enable_all()
            .build()
            .map_err(failed)?;
        let listener = runtime.block_on(TcpListener::bind(listen)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let access = Arc::new(Access::new(true, Vec::new()));
        let router = router
            .fallback(error::not_found)
            .layer(middleware::from_fn_with_state(access, access::check));
        runtime.spawn(connections::serve(listener, router));
        Ok(Beside { runtime: Some(runtime), address })
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_can_look() {
        for elsewhere in ["0.0.0.0:0", "192.0.2.1:80", "[::]:0"] {
            let listen = elsewhere.parse().expect("an address");
            let error = Beside::open("--web", listen, Router::new()).expect_err("it is open");
            let error = error.to_string();
            let asked = format!("--web={elsewhere} ");
            assert!(error.contains(&asked) && error.contains("ssh -L"), "{error}");
        }
        let here = Beside::open("--web", "127.0.0.1:0".parse().expect("an address"), Router::new());
        assert_ne!(here.expect("it is this machine's").address.port(), 0);
    }
}
