//! Answers that take memory: so many at a time, until they are sent.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{HeaderValue, RETRY_AFTER};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::Semaphore;

use super::connections::Held;
use super::error::Refused;

/// How long it is waited for one of the others.
const PATIENCE: Duration = Duration::from_secs(2);

/// How many there may be at a time.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    answers: Arc<Semaphore>,
    patience: Duration,
}

impl Budget {
    pub(super) fn new(answers: usize) -> Budget {
        Budget { answers: Arc::new(Semaphore::new(answers)), patience: PATIENCE }
    }
}

/// Answers when it is this one's turn, and says when to come again if that takes too long.
pub(super) async fn keep(State(budget): State<Budget>, request: Request, next: Next) -> Response {
    match tokio::time::timeout(budget.patience, budget.answers.acquire_owned()).await {
        Ok(Ok(permit)) => next.run(request).await.map(|body| Body::new(Held::new(body, permit))),
        _ => {
            let why = "too much is asked for at a time: try again in a moment";
            let mut busy =
                Refused::new(StatusCode::SERVICE_UNAVAILABLE, why.into()).into_response();
            busy.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("2"));
            busy
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::middleware::from_fn_with_state;
    use axum::routing::get;
    use hyper::service::Service;
    use hyper_util::service::TowerToHyperService;

    use super::*;

    #[test]
    fn who_comes_while_all_are_being_sent_is_told_to_come_again() {
        let budget = Budget { patience: Duration::from_millis(20), ..Budget::new(1) };
        let router = Router::new()
            .route("/", get(|| async { "page" }))
            .layer(from_fn_with_state(budget, keep));
        let server = TowerToHyperService::new(router);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.expect("a runtime").block_on(async {
            let ask = || async {
                let request = Request::new(Body::empty());
                server.call(request).await.unwrap_or_else(|never| match never {})
            };
            let first = ask().await;
            assert_eq!(first.status(), StatusCode::OK);
            let second = ask().await;
            assert_eq!(second.status(), StatusCode::SERVICE_UNAVAILABLE);
            assert!(second.headers().contains_key(RETRY_AFTER));
            // What was not sent yet is kept; what was, is not.
            drop(first);
            assert_eq!(ask().await.status(), StatusCode::OK);
        });
    }
}
