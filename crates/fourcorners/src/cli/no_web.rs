//! In place of the pages, in a program that was built without the feature `web`: whoever asks for one is told so.

use std::convert::Infallible;
use std::net::SocketAddr;

use fourcorners_serve::Report;

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
#[error("this program was built without the feature web: cargo build --features fourcorners/web")]
pub(super) struct PageError;

/// No address is one.
pub(super) fn address(_text: &str) -> Result<SocketAddr, String> {
    Err(PageError.to_string())
}

/// What a page would be told of a drive that is served.
#[expect(dead_code, reason = "nobody shows it here")]
pub(super) struct About {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) size: String,
    pub(super) bytes: u64,
    pub(super) uri: String,
}

/// A page that there is not.
pub(super) struct ServedPage(Infallible);

impl ServedPage {
    pub(super) fn open(_listen: SocketAddr, _about: About) -> Result<ServedPage, PageError> {
        Err(PageError)
    }

    pub(super) fn address(&self) -> SocketAddr {
        match self.0 {}
    }

    pub(super) fn show(&self, _report: &Report) {
        match self.0 {}
    }
}
