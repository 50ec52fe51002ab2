//! Methods by what they are called: a name of ours, a plan file, the id of a published figure.

use std::path::Path;
use std::sync::Arc;

use super::CampaignError;
use crate::device_under_test::DeviceUnderTest;
use crate::review::{Method, PlanError, PlanFile, Protocol, UnknownMethod};
use crate::validate::PublishedFigure;

/// What a target is to be reviewed by.
#[derive(Clone, Debug, PartialEq)]
pub enum ChosenMethod {
    /// The same on every target.
    Protocol(Protocol),
    /// The test of a published figure, which each drive has in its own form.
    Figure(Box<PublishedFigure>),
}

/// Why a list names no methods.
#[derive(Debug, thiserror::Error)]
pub enum ChoiceError {
    /// A plan file cannot be read, or is none.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// There is nothing of this name.
    #[error("{0}; or a plan file, or a figure of docs/FIDELITY.md (m028)")]
    Unknown(UnknownMethod),
    /// Two files give the same name.
    #[error("two plan files are called {name:?}: change the name in one of them")]
    SameName {
        /// The name.
        name: String,
    },
}

impl ChosenMethod {
    /// The methods of a list of names, plan files and ids of published figures; `all` is all of ours. What is
    /// named twice is taken once.
    ///
    /// # Errors
    /// [`ChoiceError`]: there is none of a name, or two files of one name.
    pub fn named(names: &[String]) -> Result<Vec<ChosenMethod>, ChoiceError> {
        let mut methods: Vec<ChosenMethod> = Vec::new();
        for name in names {
            let named = match name.trim() {
                "all" => Method::ALL.map(ChosenMethod::from).to_vec(),
                file if file.contains('/') || file.ends_with(".toml") => {
                    let plan = PlanFile::read(Path::new(file))?;
                    vec![ChosenMethod::Protocol(Protocol::Plan(Arc::new(plan)))]
                }
                name => match PublishedFigure::named(name) {
                    Some(figure) => vec![ChosenMethod::Figure(Box::new(figure))],
                    None => vec![name.parse::<Method>().map_err(ChoiceError::Unknown)?.into()],
                },
            };
            for method in named {
                match methods.iter().find(|other| other.name() == method.name()) {
                    None => methods.push(method),
                    // The same again is the same; another of that name could not be told from it.
                    Some(other) if *other == method => {}
                    Some(_) => {
                        return Err(ChoiceError::SameName { name: method.name().into() });
                    }
                }
            }
        }
        Ok(methods)
    }

    fn name(&self) -> &str {
        match self {
            ChosenMethod::Protocol(protocol) => protocol.name(),
            ChosenMethod::Figure(figure) => figure.id(),
        }
    }

    /// Most I/Os it keeps in flight, if that is more than any method of ours does.
    pub(super) fn depth(&self) -> u32 {
        match self {
            ChosenMethod::Protocol(protocol) => protocol.depth(),
            ChosenMethod::Figure(_) => 0,
        }
    }

    /// On this target.
    pub(super) fn on(&self, target: &DeviceUnderTest) -> Result<Protocol, CampaignError> {
        match (self, target) {
            (ChosenMethod::Protocol(protocol), _) => Ok(protocol.clone()),
            (ChosenMethod::Figure(figure), DeviceUnderTest::Virtual(profile)) => {
                match figure.on(profile) {
                    Ok(published) => Ok(Protocol::Published(Arc::new(published))),
                    Err(why) => Err(CampaignError::Figure { target: target.name(), why }),
                }
            }
            (ChosenMethod::Figure(figure), _) => Err(CampaignError::FigureOfUnknown {
                target: target.name(),
                figure: figure.id().into(),
            }),
        }
    }
}

impl From<Method> for ChosenMethod {
    fn from(method: Method) -> ChosenMethod {
        ChosenMethod::Protocol(method.into())
    }
}
