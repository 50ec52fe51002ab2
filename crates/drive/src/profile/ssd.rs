//! The parameters of an SSD.

use serde::{Deserialize, Serialize};

/// An SSD as data.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SsdProfile {}
