//! The parameters of a hard disk.

use super::ProfileError;
use serde::{Deserialize, Serialize};

/// A hard disk as data.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HddProfile {}

impl HddProfile {
    /// ok
    pub fn check(&self) -> Result<(), ProfileError> {
        Ok(())
    }
}
