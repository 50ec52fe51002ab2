//! A protocol: a built-in method, or one from a plan file.

use std::sync::Arc;

use fourcorners_record::{PlanInfo, Record};

use super::plan_file::{PlanError, PlanFile};
use super::{Method, Phase, Published, Scope};

/// A method of ours or a user's.
#[derive(Clone, PartialEq, Debug)]
pub enum Protocol {
    /// Ours.
    Method(Method),
    /// A user's.
    Plan(Arc<PlanFile>),
    /// The test of a published figure, on one drive.
    Published(Arc<Published>),
}

impl Protocol {
    /// Its name in records.
    pub fn name(&self) -> &str {
        match self {
            Protocol::Method(method) => method.name(),
            Protocol::Plan(plan) => plan.name(),
            Protocol::Published(test) => test.id(),
        }
    }

    /// Most I/Os it keeps in flight, if that is more than any method of ours does.
    pub fn depth(&self) -> u32 {
        match self {
            Protocol::Method(_) | Protocol::Published(_) => 0,
            Protocol::Plan(plan) => plan.depth(),
        }
    }

    /// The file it is from: its path and what records say of it.
    pub fn file(&self) -> Option<(&str, PlanInfo)> {
        match self {
            Protocol::Method(_) | Protocol::Published(_) => None,
            Protocol::Plan(plan) => Some((plan.place(), plan.info())),
        }
    }

    /// What it does to a target of this scope, step by step.
    pub(super) fn phases(&self, scope: &Scope) -> Result<Vec<Phase>, PlanError> {
        match self {
            Protocol::Method(method) => Ok(method.phases(scope)),
            Protocol::Plan(plan) => plan.phases(scope),
            Protocol::Published(test) => Ok(test.phases()),
        }
    }

    /// Adds to a record what its figures mean.
    pub(super) fn conclude(&self, record: &mut Record, scope: &Scope) {
        match self {
            Protocol::Method(method) => method.conclude(record),
            Protocol::Plan(plan) => plan.conclude(record, scope),
            Protocol::Published(test) => test.conclude(record),
        }
    }
}

impl From<Method> for Protocol {
    fn from(method: Method) -> Protocol {
        Protocol::Method(method)
    }
}
