//! Purging: a drive forgets all that was written to it.

use fourcorners_array::{Array, Cache};
use fourcorners_linux::UringError;

use super::Drive;
use crate::virtual_drive::Virtual;

/// What a purge, or what stood in its way, is noted as.
pub(crate) const PURGE: &str = "purge";

/// How the note of what stood in its way begins.
pub(crate) const NOT_PURGED: &str = "Not purged";

/// Why a hard disk is not purged.
pub(crate) const NO_FLASH: &str = "a hard disk has nothing to purge";

/// Why a drive whose state was loaded is not purged.
pub(crate) const LOADED: &str = "the drive is tested in the state that was loaded";

/// What a purge did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Purge {
    /// Nothing is mapped any more.
    Done,
    /// It cannot be done; why.
    NotPossible(String),
}

impl Drive {
    /// Makes the drive forget everything, if it can.
    ///
    /// # Errors
    /// When a real device fails it.
    pub fn purge(&mut self) -> Result<Purge, UringError> {
        let no_flash = || Ok(Purge::NotPossible(NO_FLASH.into()));
        let ssd = match self {
            Drive::Ssd(ssd) => ssd,
            Drive::Disturbed(disturbed) => match disturbed.drive_mut() {
                Virtual::Ssd(ssd) => ssd,
                Virtual::Hdd(_) => return no_flash(),
            },
            Drive::Hdd(_) => return no_flash(),
            Drive::Array(array) => return Ok(purge_all(array)),
            Drive::Cache(cache) => return Ok(purge_cache(cache)),
            Drive::Real(uring) => {
                return match uring.purge() {
                    Ok(_) => Ok(Purge::Done),
                    Err(UringError::PurgeUnsupported { reason }) => {
                        Ok(Purge::NotPossible(reason.into()))
                    }
                    Err(error) => Err(error),
                };
            }
        };
        if ssd.is_read_only() {
            return Ok(Purge::NotPossible("the drive is worn out and read-only".into()));
        }
        ssd.purge();
        Ok(Purge::Done)
    }
}

/// Every drive of an array forgets everything, or none does.
fn purge_all(array: &mut Array<Virtual>) -> Purge {
    let why = |member: &Virtual| match member {
        Virtual::Ssd(ssd) if ssd.is_read_only() => Some("a drive is worn out and read-only"),
        Virtual::Ssd(_) => None,
        Virtual::Hdd(_) => Some(NO_FLASH),
    };
    if let Some(why) = array.members().find_map(why) {
        return Purge::NotPossible(why.into());
    }
    for member in array.members_mut() {
        if let Virtual::Ssd(ssd) = member {
            ssd.purge();
        }
    }
    array.meet();
    Purge::Done
}

/// The SSD of a cache is purged and nothing is cached any more. What is on the disk is of no value then, either.
fn purge_cache(cache: &mut Cache<Virtual>) -> Purge {
    if let [Virtual::Ssd(ssd), _] = cache.members_mut() {
        if ssd.is_read_only() {
            return Purge::NotPossible("the SSD of the cache is worn out and read-only".into());
        }
        ssd.purge();
    }
    cache.meet();
    cache.forget();
    Purge::Done
}
