//! Why a campaign cannot begin, or measured nothing.

use super::BeginError;
use crate::device_under_test::DeviceError;
use crate::review::PlanError;

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// A method does not fit a target.
    #[error("{target}: {error}")]
    Plan {
        /// The target.
        target: String,
        /// The phase of a plan file, and why.
        error: PlanError,
    },
    /// A published figure cannot be run on a target; in the words of [`validate`](crate::validate).
    #[error("{target}: {why}")]
    Figure {
        /// The target.
        target: String,
        /// Why not.
        why: String,
    },
    /// A published figure is not run on a target that may be anything.
    #[error(
        "{target}: {figure} is the test of a published figure, which begins with a new drive of a known kind: \
         it is run on virtual drives"
    )]
    FigureOfUnknown {
        /// The target.
        target: String,
        /// The figure's id.
        figure: String,
    },
    /// A target is not ready to be tested.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// What a later run could go on from cannot be kept beside the results.
    #[error(transparent)]
    ResumeFolder(#[from] BeginError),
}
