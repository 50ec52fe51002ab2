//! A method of a user's own, and the limits that it sets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A method that a user has written.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PlanInfo {
    /// Its name.
    pub name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// SHA-256 of its file.
    pub sha256: String,
    /// What it asked for, and whether it was met.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<Threshold>,
}

/// A limit that a plan file sets to a figure or to the ratio of two.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Threshold {
    /// What it is about: the same as that of its conclusion.
    pub about: String,
    /// What was measured.
    pub value: f64,
    /// The least that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// Whether it is within both.
    pub met: bool,
}
