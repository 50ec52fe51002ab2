//! A drive as a caller names it: a name, a path or a Drive, of which only the profile counts.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::drive::Drive;
use crate::profile::DriveProfile;
use crate::share::Share;

/// A drive that a caller named, as its profile has it.
pub(crate) struct NamedDrive {
    pub(crate) profile: DriveProfile,
    /// Share that is left alone.
    pub(crate) spare: f64,
    /// Whether it is the catalogue's, or an array of the catalogue's, with nothing changed.
    pub(crate) is_as_named: bool,
    /// Whether it was put behind a host controller.
    pub(crate) has_host: bool,
}

impl NamedDrive {
    /// The drive of a name, or the one given, new.
    pub(crate) fn of(drive: &Bound<'_, PyAny>) -> PyResult<NamedDrive> {
        let named = |drive: &Drive| NamedDrive {
            profile: drive.profile.clone(),
            spare: drive.spare,
            is_as_named: drive.recipe.is_as_named(),
            has_host: drive.recipe.host.is_some(),
        };
        match drive.cast::<Drive>() {
            Ok(drive) => Ok(named(drive.get())),
            Err(_) => Drive::new(drive, Share(0.0), None, None).map(|drive| named(&drive)),
        }
    }

    /// The same as a whole: `what` leaves no spare area alone.
    pub(crate) fn whole(drive: &Bound<'_, PyAny>, what: &str) -> PyResult<NamedDrive> {
        let named = NamedDrive::of(drive)?;
        if named.spare > 0.0 {
            return Err(PyValueError::new_err(format!(
                "{} has spare={}, and {what} is of a whole drive: give it without",
                named.profile.name(),
                named.spare
            )));
        }
        Ok(named)
    }
}
