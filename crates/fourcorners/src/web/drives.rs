//! The drives that can be looked at or tested.

use std::sync::{Arc, LazyLock};

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use fourcorners_catalogue::{self as catalogue, CatalogueError};
use serde::Serialize;

use super::error::Refused;
use super::results::with_store;
use super::shared::Shared;

/// A drive.
#[derive(Clone, Serialize)]
struct DriveEntry {
    name: String,
    title: String,
    /// `ssd`, `hdd`; none of a real one.
    kind: Option<&'static str>,
    capacity_bytes: Option<u64>,
    /// Whether there are results of it.
    measured: bool,
}

/// The catalogue. It is in the binary and stays as it is, so it is read once.
static CATALOGUE: LazyLock<Result<Vec<DriveEntry>, CatalogueError>> = LazyLock::new(|| {
    let entry = |name: String| {
        let profile = catalogue::built_in(&name, &[])?;
        Ok(DriveEntry {
            title: profile.title.clone(),
            kind: Some(profile.model.kind()),
            capacity_bytes: Some(profile.capacity_bytes()),
            measured: false,
            name,
        })
    };
    catalogue::names().into_iter().map(entry).collect()
});

/// The catalogue, and all other drives that have results.
pub(super) async fn drives(State(shared): State<Arc<Shared>>) -> Result<Response, Refused> {
    let measured = with_store(shared, Vec::new(), |store| store.titled_drives()).await?;
    // The first time it takes a moment.
    let read = tokio::task::spawn_blocking(|| CATALOGUE.as_ref()).await.map_err(Refused::ours)?;
    let mut drives = read.map_err(Refused::ours)?.clone();
    for drive in &mut drives {
        drive.measured = measured.iter().any(|(name, _)| *name == drive.name);
    }
    for (name, title) in measured {
        if !drives.iter().any(|drive| drive.name == name) {
            let (kind, capacity_bytes) = (None, None);
            drives.push(DriveEntry { name, title, kind, capacity_bytes, measured: true });
        }
    }
    Ok(Json(drives).into_response())
}
