//! The files of the page, all of them in this program.

use axum::extract::Path;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use fourcorners_report::{part_script, style_sheet};

use super::error::Refused;

const INDEX: &str = include_str!("page/index.html");
const SCRIPT: &str = include_str!("page/app.js");
const LIVE: &str = include_str!("page/live.js");
const PLOT: &str = include_str!("page/plot.js");
const SERVED_INDEX: &str = include_str!("page/served.html");
const SERVED: &str = include_str!("page/served.js");
const COMMON: &str = include_str!("page/common.js");
const STYLE: &str = include_str!("page/app.css");
const REFUSED: &str = include_str!("page/refused.html");

/// Nothing but our own files may load or run. Bars and marks of charts have a style of their own.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
    img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

pub(super) async fn index() -> Response {
    page(INDEX)
}

/// The page of a drive that is served.
pub(super) async fn served_index() -> Response {
    page(SERVED_INDEX)
}

/// The page of an error: what kind it is, its sentence, and the way back.
pub(super) fn refused(status: StatusCode, why: &str) -> Response {
    let kind = match status {
        StatusCode::NOT_FOUND => "Not found",
        StatusCode::SERVICE_UNAVAILABLE => "Busy",
        _ => "This cannot be shown",
    };
    page(REFUSED.replace("{kind}", kind).replace("{why}", &escaped(why)))
}

/// Plain text as HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn page(text: impl IntoResponse) -> Response {
    let headers = [(CONTENT_TYPE, "text/html; charset=utf-8"), (CONTENT_SECURITY_POLICY, POLICY)];
    (headers, text).into_response()
}

pub(super) async fn asset(Path(name): Path<String>) -> Result<Response, Refused> {
    let (form, text) = match name.as_str() {
        "app.js" => ("text/javascript; charset=utf-8", SCRIPT),
        "common.js" => ("text/javascript; charset=utf-8", COMMON),
        "live.js" => ("text/javascript; charset=utf-8", LIVE),
        "plot.js" => ("text/javascript; charset=utf-8", PLOT),
        "served.js" => ("text/javascript; charset=utf-8", SERVED),
        "part.js" => ("text/javascript; charset=utf-8", part_script()),
        "report.css" => ("text/css; charset=utf-8", style_sheet()),
        "app.css" => ("text/css; charset=utf-8", STYLE),
        _ => {
            let why = format!("there is no file {name:?}");
            return Err(Refused::new(StatusCode::NOT_FOUND, why));
        }
    };
    Ok(([(CONTENT_TYPE, form)], text).into_response())
}
