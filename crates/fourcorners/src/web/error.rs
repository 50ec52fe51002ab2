//! Error answers: a status and one sentence, as JSON; to a browser that goes to a page, as a page.

use axum::Json;
use axum::extract::{OriginalUri, Request};
use axum::http::StatusCode;
use axum::http::header::{ACCEPT, RETRY_AFTER};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use fourcorners_results::store::StoreError;
use serde_json::json;

use super::assets;

/// A request that is not answered.
#[derive(Debug)]
pub(super) struct Refused {
    status: StatusCode,
    why: String,
}

impl Refused {
    pub(super) fn new(status: StatusCode, why: String) -> Refused {
        Refused { status, why }
    }

    /// Something in the request is wrong.
    pub(super) fn bad(why: impl Into<String>) -> Refused {
        Refused::new(StatusCode::BAD_REQUEST, why.into())
    }

    /// Something went wrong here.
    pub(super) fn ours(why: impl ToString) -> Refused {
        Refused::new(StatusCode::INTERNAL_SERVER_ERROR, why.to_string())
    }

    #[cfg(test)]
    pub(super) fn status(&self) -> StatusCode {
        self.status
    }
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Refused {
        let status = match error {
            StoreError::Unknown { .. } => StatusCode::NOT_FOUND,
            StoreError::Ambiguous { .. } => StatusCode::BAD_REQUEST,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Refused::new(status, error.to_string())
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let mut answer = (self.status, Json(json!({"error": self.why}))).into_response();
        answer.extensions_mut().insert(Why(self.why));
        answer
    }
}

/// The sentence of an error answer.
#[derive(Clone, Debug)]
struct Why(String);

/// Makes a page of an error answer for a reader who followed a link; scripts and other programs get JSON.
pub(super) async fn as_page(request: Request, next: Next) -> Response {
    let mut accepted = request.headers().get_all(ACCEPT).iter().filter_map(|it| it.to_str().ok());
    let is_read =
        accepted.any(|it| it.contains("text/html")) && !request.uri().path().starts_with("/api");
    let answer = next.run(request).await;
    let Some(Why(why)) = answer.extensions().get::<Why>().filter(|_| is_read) else {
        return answer;
    };
    let mut page = (answer.status(), assets::refused(answer.status(), why)).into_response();
    if let Some(after) = answer.headers().get(RETRY_AFTER) {
        page.headers_mut().insert(RETRY_AFTER, after.clone());
    }
    page
}

/// There is nothing at this address.
pub(super) async fn not_found(OriginalUri(address): OriginalUri) -> Refused {
    Refused::new(StatusCode::NOT_FOUND, format!("there is nothing at {}", address.path()))
}
