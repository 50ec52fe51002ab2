//! The page of a drive that is served: what `serve --progress json` says, drawn while clients work.
//!
//! It stands beside the loop that serves the drive, is given a report each second and shows the last ones.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use fourcorners_serve::Report;
use serde::Serialize;

use super::assets;
use super::beside::{Beside, PageError};
use super::metrics::{self, Exposition};

/// Seconds that are shown: ten minutes.
const MOST_SECONDS: usize = 600;

/// What is served, for whoever looks.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct About {
    /// The drive's name in the catalogue.
    pub(crate) name: String,
    /// What it is called.
    pub(crate) title: String,
    /// Its size, in words.
    pub(crate) size: String,
    /// The same, bytes.
    pub(crate) bytes: u64,
    /// Where clients connect.
    pub(crate) uri: String,
}

/// A page that is shown until this is dropped.
#[derive(Debug)]
pub(crate) struct ServedPage {
    beside: Beside,
    shown: Arc<Mutex<Shown>>,
}

/// What the page asks for.
#[derive(Debug, Serialize)]
struct Shown {
    drive: About,
    /// The last report, as `--progress json` prints it; null before the first.
    report: Option<Report>,
    /// What was done in the last seconds, the oldest first.
    seconds: VecDeque<Second>,
    #[serde(skip)]
    before: Totals,
}

/// From one report to the next.
#[derive(Clone, Debug, Serialize)]
struct Second {
    /// When it ended, seconds since the drive is served.
    at_s: f64,
    /// I/Os a second, by operation.
    iops: Vec<(&'static str, f64)>,
    /// 10^6 bytes a second, all operations together.
    mb_per_s: f64,
}

/// I/Os and bytes by operation.
#[derive(Debug, Default)]
struct Totals {
    seconds: f64,
    operations: Vec<(&'static str, u64, u64)>,
}

impl ServedPage {
    /// Listens, and shows nothing yet.
    ///
    /// # Errors
    /// When other machines can reach the address, or it cannot be listened at.
    pub(crate) fn open(listen: SocketAddr, about: About) -> Result<ServedPage, PageError> {
        let shown = Arc::new(Mutex::new(Shown {
            drive: about,
            report: None,
            seconds: VecDeque::new(),
            before: Totals::default(),
        }));
        let beside = Beside::open("--web", listen, router(Arc::clone(&shown)))?;
        Ok(ServedPage { beside, shown })
    }

    /// The address, with the port that was taken.
    pub(crate) fn address(&self) -> SocketAddr {
        self.beside.address
    }

    /// Shows a report from now on.
    pub(crate) fn show(&self, report: &Report) {
        let mut shown = lock(&self.shown);
        let second = shown.before.second(report);
        shown.seconds.extend(second);
        if shown.seconds.len() > MOST_SECONDS {
            shown.seconds.pop_front();
        }
        shown.report = Some(report.clone());
    }
}

impl Totals {
    /// What was done since the report before this one.
    fn second(&mut self, report: &Report) -> Option<Second> {
        let now: Vec<_> = report.operations.iter().map(|it| (it.name, it.ios, it.bytes)).collect();
        let before = std::mem::replace(self, Totals { seconds: report.seconds, operations: now });
        let elapsed = self.seconds - before.seconds;
        if elapsed <= 0.0 {
            return None;
        }
        let since = |name: &str| {
            let found = before.operations.iter().find(|(of, ..)| *of == name);
            found.map_or((0, 0), |(_, ios, bytes)| (*ios, *bytes))
        };
        let iops = self
            .operations
            .iter()
            .map(|(name, ios, _)| (*name, ios.saturating_sub(since(name).0) as f64 / elapsed));
        let bytes =
            self.operations.iter().map(|(name, _, bytes)| bytes.saturating_sub(since(name).1));
        let mb_per_s = bytes.sum::<u64>() as f64 / 1e6 / elapsed;
        Some(Second { at_s: self.seconds, iops: iops.collect(), mb_per_s })
    }
}

fn lock(shown: &Mutex<Shown>) -> MutexGuard<'_, Shown> {
    shown.lock().unwrap_or_else(PoisonError::into_inner)
}

fn router(shown: Arc<Mutex<Shown>>) -> Router {
    Router::new()
        .route("/api/served", get(served))
        .route("/metrics", get(metrics))
        .route("/", get(assets::served_index))
        .route("/assets/{name}", get(assets::asset))
        .with_state(shown)
}

async fn served(State(shown): State<Arc<Mutex<Shown>>>) -> Response {
    // Made while it is locked, and sent when it is not: the loop waits for no client.
    let text = serde_json::to_string(&*lock(&shown));
    match text {
        Ok(text) => ([(CONTENT_TYPE, "application/json")], text).into_response(),
        Err(why) => Json(serde_json::json!({ "error": why.to_string() })).into_response(),
    }
}

/// What a monitoring system is told: the last report, as the page has it.
async fn metrics(State(shown): State<Arc<Mutex<Shown>>>) -> Exposition {
    let shown = lock(&shown);
    metrics::served(&shown.drive, shown.report.as_ref())
}
