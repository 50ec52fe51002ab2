//! The files of the page, all of them in this program.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use fourcorners_report::chart_library;

use super::error::Refused;

const INDEX: &str = include_str!("page/index.html");
const SCRIPT: &str = include_str!("page/app.js");
const LIVE: &str = include_str!("page/live.js");
const COMMON: &str = include_str!("page/common.js");
const CHARTS: &str = include_str!("page/charts.js");
const STYLE: &str = include_str!("page/app.css");

/// Nothing but our own files may load or run. The chart library writes a style element of its own.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
    img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// The chart library without the element it stands in.
static LIBRARY: LazyLock<&'static str> = LazyLock::new(|| {
    let element = chart_library();
    let inside = element.find('>').zip(element.rfind("</script>"));
    inside.map_or("", |(start, end)| &element[start + 1..end])
});

pub(super) async fn index() -> Response {
    let headers = [(CONTENT_TYPE, "text/html; charset=utf-8"), (CONTENT_SECURITY_POLICY, POLICY)];
    (headers, INDEX).into_response()
}

pub(super) async fn asset(Path(name): Path<String>) -> Result<Response, Refused> {
    let (form, text) = match name.as_str() {
        "app.js" => ("text/javascript; charset=utf-8", SCRIPT),
        "common.js" => ("text/javascript; charset=utf-8", COMMON),
        "live.js" => ("text/javascript; charset=utf-8", LIVE),
        "charts.js" => ("text/javascript; charset=utf-8", CHARTS),
        "plotly.js" => ("text/javascript; charset=utf-8", *LIBRARY),
        "app.css" => ("text/css; charset=utf-8", STYLE),
        _ => {
            let why = format!("there is no file {name:?}");
            return Err(Refused::new(StatusCode::NOT_FOUND, why));
        }
    };
    Ok(([(CONTENT_TYPE, form)], text).into_response())
}
