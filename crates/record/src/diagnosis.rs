//! What is inside a drive, as far as the times of its I/Os tell: the JSON document `fourcorners.diagnose/1`.
//!
//! A finding is one property: a value with an interval, a class, a bound, or that it is not known, and why. The samples that
//! the findings were made of are in the document as well, so that they can be judged again, and drawn.

use serde::{Deserialize, Serialize};

/// Name and version of the form of [`Diagnosis`].
pub const SCHEMA: &str = "fourcorners.diagnose/1";

/// Why nothing is measured of a target that has no room for the region that detectors read and write.
pub const TOO_SMALL: &str = "the target is smaller than 640 MiB";

/// Size of the smallest target that is measured, bytes: a region is a fortieth of it, and needs enough pages.
pub const LEAST_BYTES: u64 = 640 << 20;

/// All that was found of a target.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Diagnosis {
    /// [`SCHEMA`].
    pub schema: String,
    /// The target as typed.
    pub target: String,
    /// Seed of the places that were read and written.
    pub seed: u64,
    /// What was found, and what was not and why.
    pub findings: Vec<Finding>,
    /// What was measured, by detector: the findings are made of it and of nothing else.
    pub evidence: Vec<Evidence>,
}

impl Diagnosis {
    /// What its detectors cost together.
    pub fn cost(&self) -> Cost {
        self.evidence.iter().fold(Cost::default(), |sum, Evidence { cost, .. }| Cost {
            gb: sum.gb + cost.gb,
            read_gb: sum.read_gb + cost.read_gb,
            minutes: sum.minutes + cost.minutes,
        })
    }

    /// Whether a region was written before its detectors: not of a target that is too small.
    pub fn has_a_region(&self) -> bool {
        self.evidence.iter().any(|evidence| evidence.stopped.as_deref() != Some(TOO_SMALL))
    }
}

/// A property: its value, or why there is none.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// Which property.
    pub key: String,
    /// What it is; of a bound, the bound; absent if undetermined.
    pub value: Option<Value>,
    /// Unit of the value.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unit: Option<String>,
    /// The value lies in it with a probability of `level`.
    pub interval: Option<[f64; 2]>,
    /// Probability that the interval holds the value; absent where the value is a class.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub level: Option<f64>,
    /// How far it is known.
    pub standing: Standing,
    /// Why it is so, or why it is not known.
    pub reason: String,
    /// Name of the evidence that it was made of.
    pub evidence: String,
    /// What the detector cost that found it.
    pub cost: Cost,
}

/// A number, or the name of a class.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// In the unit of the finding.
    Number(f64),
    /// One of the classes of the property.
    Class(String),
}

/// How far a property is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The value is known, within its interval.
    Determined,
    /// It is at least or at most that.
    Bound,
    /// The times do not tell.
    Undetermined,
}

/// What was done to find something.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Cost {
    /// 10^9 bytes that were written.
    pub gb: f64,
    /// 10^9 bytes that were read.
    pub read_gb: f64,
    /// Minutes on the target's clock.
    pub minutes: f64,
}

/// What a detector measured.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Evidence {
    /// Its name.
    pub detector: String,
    /// The samples; what the two numbers of each are is said by the detector.
    pub series: Vec<Series>,
    /// What they cost.
    pub cost: Cost,
    /// Why it was not measured, or not to the end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stopped: Option<String>,
}

/// Samples of one kind.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Series {
    /// What the two numbers of a sample are.
    pub what: String,
    /// The samples in the order they were taken.
    pub samples: Vec<[f64; 2]>,
}

impl Series {
    /// Whether its samples can be places and times: a stored one may be anything.
    pub fn can_be(&self) -> bool {
        self.samples.iter().flatten().all(|number| (0.0..=1e16).contains(number))
    }
}

impl Finding {
    /// A number with its interval.
    pub fn number(key: &str, value: f64, unit: &str, interval: [f64; 2]) -> Finding {
        Finding {
            value: Some(Value::Number(value)),
            unit: Some(unit.into()),
            interval: Some(interval),
            level: Some(0.95),
            standing: Standing::Determined,
            ..Finding::undetermined(key, "")
        }
    }

    /// How many there are, without a doubt.
    pub fn count(key: &str, count: f64) -> Finding {
        Finding { unit: None, ..Finding::number(key, count, "", [count, count]) }
    }

    /// A class.
    pub fn class(key: &str, class: &str, reason: impl Into<String>) -> Finding {
        Finding {
            value: Some(Value::Class(class.into())),
            standing: Standing::Determined,
            ..Finding::undetermined(key, reason)
        }
    }

    /// At least `low`.
    pub fn at_least(key: &str, low: f64, unit: &str, reason: impl Into<String>) -> Finding {
        Finding {
            value: Some(Value::Number(low)),
            unit: Some(unit.into()),
            standing: Standing::Bound,
            ..Finding::undetermined(key, reason)
        }
    }

    /// Nothing, and why.
    pub fn undetermined(key: &str, reason: impl Into<String>) -> Finding {
        Finding {
            key: key.into(),
            value: None,
            unit: None,
            interval: None,
            level: None,
            standing: Standing::Undetermined,
            reason: reason.into(),
            evidence: String::new(),
            cost: Cost::default(),
        }
    }

    /// The same finding with this reason.
    pub fn because(self, reason: impl Into<String>) -> Finding {
        Finding { reason: reason.into(), ..self }
    }

    /// The value, if it is a number that is determined.
    pub fn determined(&self) -> Option<f64> {
        match (&self.value, self.standing) {
            (Some(Value::Number(value)), Standing::Determined) => Some(*value),
            _ => None,
        }
    }

    /// The class, if it is one.
    pub fn as_class(&self) -> Option<&str> {
        match &self.value {
            Some(Value::Class(class)) => Some(class),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_written_of_all_but_a_target_that_is_too_small() {
        let of = |stopped: Option<&str>| {
            let evidence = Evidence {
                detector: "kind".into(),
                series: Vec::new(),
                cost: Cost::default(),
                stopped: stopped.map(String::from),
            };
            let (schema, target) = (SCHEMA.into(), "a".into());
            let diagnosis = Diagnosis {
                schema,
                target,
                seed: 1,
                findings: Vec::new(),
                evidence: vec![evidence],
            };
            diagnosis.has_a_region()
        };
        assert!(of(None) && of(Some("interrupted")) && !of(Some(TOO_SMALL)));
    }
}
