//! `/metrics` of the review that is measuring in this process (`review --metrics`).

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::Router;
use axum::extract::State;
use axum::routing::get;

use super::beside::{Beside, PageError};
use super::course::Course;
use super::metrics::{self, Exposition, Numbered};
use crate::event::Event;

/// Tells monitoring systems how far the review is, until it is dropped.
#[derive(Debug)]
pub(crate) struct ReviewMetrics {
    beside: Beside,
    shown: Arc<Shown>,
}

#[derive(Debug)]
struct Shown {
    began: Instant,
    course: Mutex<Course>,
}

impl Shown {
    fn lock(&self) -> MutexGuard<'_, Course> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReviewMetrics {
    /// Listens; nothing is planned yet.
    ///
    /// # Errors
    /// When other machines can reach the address, or it cannot be listened at.
    pub(crate) fn open(listen: SocketAddr) -> Result<ReviewMetrics, PageError> {
        let shown = Arc::new(Shown { began: Instant::now(), course: Mutex::default() });
        let router = Router::new().route("/metrics", get(metrics)).with_state(Arc::clone(&shown));
        Ok(ReviewMetrics { beside: Beside::open("--metrics", listen, router)?, shown })
    }

    /// The address, with the port that was taken.
    pub(crate) fn address(&self) -> SocketAddr {
        self.beside.address
    }

    /// Adds an event of the review.
    pub(crate) fn hear(&self, event: &Event) {
        self.shown.lock().hear(event.clone());
    }
}

async fn metrics(State(shown): State<Arc<Shown>>) -> Exposition {
    let mut course = shown.lock();
    course.look_at_the_clock(shown.began.elapsed());
    metrics::reviews(&[Numbered { number: 1, state: "running", course: &course }])
}
