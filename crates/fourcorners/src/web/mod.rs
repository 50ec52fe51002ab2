//! `fourcorners web`: a page over the database, served to the browser of this machine.
//!
//! It shows results and starts reviews of virtual drives. Reviews of real drives are never started from
//! here: a browser cannot confirm what is overwritten.
//!
//! A review is a process of its own, `review --progress json --db FILE`, whose progress arrives in `event.rs`,
//! so a review is the same wherever it was started. Only names of the catalogue are accepted. `access.rs`
//! answers hosts that are addresses, `localhost` or `--name` (against DNS rebinding), and lets only our own
//! page change anything (Origin, Sec-Fetch-Site, JSON alone).

mod access;
mod assets;
mod beside;
mod budget;
mod connections;
mod course;
mod drives;
mod error;
mod metrics;
mod results;
mod review_metrics;
mod reviews;
mod running;
mod served;
mod shared;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::get;
use rustix::process::{Resource, getrlimit};
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;

pub(crate) use access::Access;
pub(crate) use beside::PageError;
use budget::Budget;
pub(crate) use review_metrics::ReviewMetrics;
use reviews::Reviews;
pub(crate) use served::{About, ServedPage};
pub(crate) use shared::Options;
use shared::Shared;

/// A request to start a review is some hundred bytes.
const MOST_BODY_BYTES: usize = 64 << 10;
/// How long an answer that is being sent may hold up the end.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// Files that it takes to serve anything.
const LEAST_FILES: u64 = connections::OTHER_FILES as u64 + 16;
/// Reports that are waited for or being sent at a time: some MB each.
const REPORTS: usize = 16;
/// Those that are being made: with their records and charts some ten times as much.
const MADE: usize = 2;
/// The same of lists and records.
const LISTS: usize = 16;
/// Threads that ask the database and make pages.
const THREADS_THAT_WAIT: usize = 4;

/// Why nothing is served.
#[derive(Debug, Error)]
pub(crate) enum WebError {
    /// The address cannot be listened at.
    #[error("cannot listen at {listen}: {why}; choose another --listen, or port 0 for any")]
    Listen {
        /// Where.
        listen: SocketAddr,
        /// What the system says.
        why: std::io::Error,
    },
    /// Others could start reviews here.
    #[error("{0} can be reached by other machines: add --read-only, so that they start nothing")]
    Open(SocketAddr),
    /// No connection could be had.
    #[error("this shell allows {0} open files, and the server takes {LEAST_FILES}: ulimit -n 1024")]
    Files(u64),
    /// The system refused something else.
    #[error("{0}")]
    System(#[from] std::io::Error),
}

/// Serves until SIGINT or SIGTERM; `ready` is told the address once it can be called. A review that is
/// under way then is stopped, and what it measured is kept.
///
/// # Errors
///
/// [`WebError`], before anything is served.
pub(crate) fn serve(options: Options, ready: impl FnOnce(SocketAddr)) -> Result<(), WebError> {
    if !options.read_only && !options.listen.ip().is_loopback() {
        return Err(WebError::Open(options.listen));
    }
    if let Some(files) = getrlimit(Resource::Nofile).current.filter(|it| *it < LEAST_FILES) {
        return Err(WebError::Files(files));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(THREADS_THAT_WAIT)
        .enable_all()
        .build()?;
    runtime
        .block_on(async {
            let listen = options.listen;
            let listener =
                TcpListener::bind(listen).await.map_err(|why| WebError::Listen { listen, why })?;
            let (mut interrupted, mut ended) =
                (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
            ready(listener.local_addr()?);
            let shared = Arc::new(Shared {
                options,
                reviews: Reviews::default(),
                made: Semaphore::new(MADE),
            });
            let serving = connections::serve(listener, router(Arc::clone(&shared)));
            tokio::select! {
                never = serving => match never {},
                _ = interrupted.recv() => {}
                _ = ended.recv() => {}
            }
            shared.reviews.stop_all().await;
            Ok(())
        })
        .inspect(|()| runtime.shutdown_timeout(LAST_ANSWERS))
}

fn router(shared: Arc<Shared>) -> Router {
    let access = Access::new(shared.options.read_only, shared.options.names.clone());
    let bounded = |answers| middleware::from_fn_with_state(Budget::new(answers), budget::keep);
    let lists = Router::new()
        .route("/drives", get(drives::drives))
        .route("/latest", get(results::latest))
        .route("/methods/measured", get(results::measured_methods))
        .route("/records", get(results::records))
        .route("/records/{id}", get(results::record))
        .layer(bounded(LISTS));
    let reports = Router::new()
        .route("/report", get(results::report))
        .route("/part", get(results::part))
        .layer(bounded(REPORTS));
    let api = lists
        .route("/methods", get(results::methods))
        .route("/reviews", get(reviews::all).post(reviews::start))
        .route("/reviews/{number}", get(reviews::one).delete(reviews::stop))
        .fallback(error::not_found);
    Router::new()
        .nest("/api", api)
        .merge(reports)
        .route("/metrics", get(reviews::metrics))
        .route("/", get(assets::index))
        .route("/assets/{name}", get(assets::asset))
        .fallback(error::not_found)
        .layer(middleware::from_fn(error::as_page))
        .layer(DefaultBodyLimit::max(MOST_BODY_BYTES))
        .layer(middleware::from_fn_with_state(Arc::new(access), access::check))
        .with_state(shared)
}
