//! Error answers: a status and one sentence, as JSON.

use axum::Json;
use axum::extract::OriginalUri;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use fourcorners_results::store::StoreError;
use serde_json::json;

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
        (self.status, Json(json!({"error": self.why}))).into_response()
    }
}

/// There is nothing at this address.
pub(super) async fn not_found(OriginalUri(address): OriginalUri) -> Refused {
    Refused::new(StatusCode::NOT_FOUND, format!("there is nothing at {}", address.path()))
}
