//! Access control: no page of another site, and no host name that is not this machine's.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderName, HeaderValue, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::error::Refused;

/// Whose requests are answered.
///
/// A page of another site can send requests to `localhost`, and with a name that it has point here
/// (DNS rebinding) it could read the answers, too. So the name a browser called must be `localhost`, an
/// address or one that was given, and what changes anything must come from our own page or from
/// no page.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    read_only: bool,
    names: Vec<String>,
}

impl Access {
    /// `names`: what this machine may be called besides `localhost` and addresses.
    pub(crate) fn new(read_only: bool, names: Vec<String>) -> Access {
        Access { read_only, names }
    }

    /// Why a request is not answered.
    fn refuse(&self, method: &Method, headers: &HeaderMap) -> Option<Refused> {
        let forbidden = |why: String| Some(Refused::new(StatusCode::FORBIDDEN, why));
        let mut hosts = headers.get_all(HOST).iter();
        let host = match (hosts.next().map(HeaderValue::to_str), hosts.next()) {
            (Some(Ok(host)), None) if self.knows(host) => host,
            (Some(Ok(host)), None) => {
                return forbidden(format!(
                    "this server is not called {host:?}; if it is, start it with --name"
                ));
            }
            _ => {
                let why = "the request does not say in one Host header whom it is for";
                return Some(Refused::new(StatusCode::BAD_REQUEST, why.into()));
            }
        };
        if matches!(*method, Method::GET | Method::HEAD) {
            return None;
        }
        if self.read_only {
            return forbidden("this server is read-only".into());
        }
        // Which of several counts is nobody's to say.
        let own = format!("http://{host}");
        let mut origins = headers.get_all(ORIGIN).iter();
        let mut sites = headers.get_all("sec-fetch-site").iter();
        let from_elsewhere = match (origins.next(), origins.next()) {
            (None, _) => sites.any(|site| site != "same-origin" && site != "none"),
            (Some(origin), None) => origin != own.as_str(),
            _ => true,
        };
        if from_elsewhere {
            return forbidden("only this server's own page may change something here".into());
        }
        // Parameters, such as charset=utf-8, may follow.
        let form = headers.get(CONTENT_TYPE).and_then(|form| form.to_str().ok());
        let form = form.and_then(|form| form.split(';').next()).unwrap_or_default();
        let is_json = form.trim().eq_ignore_ascii_case("application/json");
        // A form of another page can be posted without being asked for; JSON cannot.
        if *method == Method::POST && !is_json {
            let why = "the request's content has to be application/json";
            return Some(Refused::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why.into()));
        }
        None
    }

    fn knows(&self, host: &str) -> bool {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
        address.unwrap_or(name).parse::<IpAddr>().is_ok()
            || name.eq_ignore_ascii_case("localhost")
            || self.names.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// Answers a request that may be answered, and says to browsers what they may do with it.
pub(super) async fn check(
    State(access): State<Arc<Access>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match access.refuse(request.method(), request.headers()) {
        Some(refused) => refused.into_response(),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(access: &Access, method: Method, headers: &[(&'static str, &str)]) -> u16 {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().expect("a header"));
        }
        access.refuse(&method, &map).map_or(200, |refused| refused.status().as_u16())
    }

    #[test]
    fn only_names_of_this_machine() {
        let access = Access::new(false, vec!["lab.local".into()]);
        for (host, status) in [
            ("localhost", 200),
            ("LOCALHOST:8080", 200),
            ("127.0.0.1:1", 200),
            ("[::1]:8080", 200),
            ("192.168.1.7:8080", 200),
            ("lab.local:8080", 200),
            ("evil.example", 403),
            ("localhost.evil.example:80", 403),
            ("127.0.0.1.evil.example", 403),
            ("", 403),
            ("localhost:80:80", 403),
        ] {
            assert_eq!(answer(&access, Method::GET, &[("host", host)]), status, "{host:?}");
        }
        assert_eq!(answer(&access, Method::GET, &[]), 400);
        let twice = [("host", "localhost"), ("host", "evil.example")];
        assert_eq!(answer(&access, Method::GET, &twice), 400);
    }

    #[test]
    fn nothing_is_changed_for_pages_of_other_sites() {
        let access = Access::new(false, Vec::new());
        let json = ("content-type", "application/json");
        for (more, status) in [
            (&[json][..], 200),
            (&[json, ("origin", "http://localhost:8080")], 200),
            (&[json, ("sec-fetch-site", "same-origin")], 200),
            (&[json, ("origin", "http://localhost:9090")], 403),
            (&[json, ("origin", "https://localhost:8080")], 403),
            (&[json, ("origin", "http://evil.example")], 403),
            (&[json, ("origin", "null")], 403),
            (&[json, ("origin", "http://localhost:8080"), ("origin", "http://evil.example")], 403),
            (
                &[json, ("origin", "http://localhost:8080"), ("origin", "http://localhost:8080")],
                403,
            ),
            (&[json, ("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")], 403),
            (&[json, ("sec-fetch-site", "cross-site")], 403),
            (&[json, ("sec-fetch-site", "same-site")], 403),
            (&[("content-type", "text/plain")], 415),
            (&[("content-type", "application/x-www-form-urlencoded")], 415),
            (&[], 415),
        ] {
            let headers = [&[("host", "localhost:8080")], more].concat();
            assert_eq!(answer(&access, Method::POST, &headers), status, "{more:?}");
        }
        let read_only = Access::new(true, Vec::new());
        let ours = [("host", "localhost"), json];
        assert_eq!(answer(&read_only, Method::POST, &ours), 403);
        assert_eq!(answer(&read_only, Method::DELETE, &ours), 403);
        assert_eq!(answer(&read_only, Method::GET, &ours), 200);
    }
}
