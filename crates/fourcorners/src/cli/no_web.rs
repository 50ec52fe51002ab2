//! In place of the pages, in a program that was built without the feature `web`: whoever asks for one is told so.

use std::convert::Infallible;
use std::net::SocketAddr;

use fourcorners_serve::Report;

use super::address::WITHOUT_WEB;
use crate::event::Event;

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
#[error("{WITHOUT_WEB}")]
pub(super) struct PageError;

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

/// Metrics that there are not.
#[derive(Debug)]
pub(super) struct ReviewMetrics(Infallible);

impl ReviewMetrics {
    pub(super) fn open(_listen: SocketAddr) -> Result<ReviewMetrics, PageError> {
        Err(PageError)
    }

    pub(super) fn address(&self) -> SocketAddr {
        match self.0 {}
    }

    pub(super) fn hear(&self, _event: &Event) {
        match self.0 {}
    }
}
