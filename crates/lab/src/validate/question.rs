//! What a figure asks: which tests to run, and how their results are held against what was
//! published.

use serde_json::Value;

use super::conventions;
use super::figure::Figure;
use super::names::{Found, Names};
use super::reading::{By, Compared, PlaceOf, Reading, RelativeTo};
use super::runs::{State, Test};
use super::words::Whose;
use crate::statistic::Statistic;

/// What a figure asks.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Question {
    /// How much is it?
    Value { test: Test, statistic: Statistic, published: Published },
    /// How many times what the others reach on average?
    Ratio { test: Test, others: Vec<Test>, published: Published },
    /// Is each better than the next?
    Ordering { places: Vec<Place>, by: By },
}

/// A published number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Published {
    /// The number; the ends of a range.
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) bound: Bound,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Bound {
    /// The number itself, or about it.
    None,
    Above,
    Below,
}

/// One place of an ordering.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Place {
    pub(super) name: String,
    /// Drives that share the place in any order.
    pub(super) tests: Vec<Test>,
    /// Those are about equal.
    pub(super) equal: bool,
    /// It is said to be about as good as the place before it.
    pub(super) level: bool,
}

/// What of a run a figure is.
fn statistic(figure: &Figure) -> Result<Statistic, String> {
    let stat = figure.stat.as_deref().unwrap_or_default();
    let steady = figure.test.state.as_deref() == Some("steady");
    Ok(match (figure.metric.as_str(), stat) {
        ("MB/s", stat) if stat.starts_with("min") => Statistic::LeastMbPerS,
        ("MB/s", "median") => Statistic::MedianMbPerS,
        ("MB/s", "max") => Statistic::MostMbPerS,
        ("MB/s", _) => Statistic::MbPerS,
        // The largest over a range of depths is measured at the deepest.
        ("MiB/s", _) => Statistic::MibPerS,
        ("IOPS", stat) if stat.starts_with("peak") => Statistic::PeakIops,
        // What most seconds are below says nothing of the mean: the others may be far above.
        ("IOPS", _) if steady && figure.bound.as_deref() == Some("mostly <") => {
            Statistic::MedianSteadyIops
        }
        ("IOPS", _) if steady => Statistic::SteadyIops,
        ("IOPS", _) => Statistic::Iops,
        ("avg_latency_ms", _) => Statistic::MeanMs,
        ("max_latency_ms", _) => Statistic::MaxMs,
        ("median_latency_ms", _) => Statistic::PercentileMs(50.0),
        ("power_w", "min") => Statistic::LeastW,
        ("power_w", "max" | "peak") => Statistic::MostW,
        ("power_w", _) => Statistic::MeanW,
        (metric, _) => {
            let percent = metric.strip_prefix('p').and_then(|p| p.strip_suffix("_latency_ms"));
            match percent.and_then(|percent| percent.parse().ok()) {
                Some(percent) => Statistic::PercentileMs(percent),
                None => return Err(format!("the metric \"{metric}\" is not modelled")),
            }
        }
    })
}

impl Published {
    fn of(figure: &Figure) -> Result<Published, String> {
        let number = |value: &Value| value.as_f64().filter(|number| number.is_finite());
        let (low, high) = match &figure.value {
            Value::Null => return Err("no number is published".into()),
            Value::Array(ends) => match ends.as_slice() {
                [low, high] => (number(low), number(high)),
                _ => (None, None),
            },
            value => (number(value), number(value)),
        };
        let bound = match figure.bound.as_deref() {
            // What a data sheet promises at most is what its maker measured.
            None | Some("~" | "up to" | "just below") => Bound::None,
            Some(">" | ">=") => Bound::Above,
            Some("<" | "<=" | "mostly <") => Bound::Below,
            Some(other) => return Err(format!("the bound \"{other}\" is not clear")),
        };
        match (low, high) {
            (Some(low), Some(high)) if low > 0.0 && high >= low => {
                Ok(Published { low, high, bound })
            }
            _ => Err(format!("{} is no number to compare with", figure.value)),
        }
    }
}

/// A question with what has to be said about it.
pub(super) struct Asked {
    pub(super) question: Question,
    /// The drive it is about, and its file in the catalogue.
    pub(super) drive: String,
    pub(super) family: String,
    pub(super) notes: Vec<String>,
}

/// What `figure` asks.
///
/// # Errors
/// Why it cannot be asked of the catalogue.
pub(super) fn ask(figure: &Figure, names: &Names) -> Result<Asked, String> {
    match (figure.metric.as_str(), figure.kind.as_str()) {
        ("shape" | "behaviour", _) | (_, "qualitative") => {
            return Err("it is described in words: there is no number to compare with".into());
        }
        (_, "vendor claim") => return Err("a vendor's claim without a test".into()),
        _ => {}
    }
    if figure.metric == "ordering" {
        return ordering(&Asking::of(figure, names)?);
    }
    let published = Published::of(figure)?;
    let ratio = figure.metric == "ratio";
    let statistic = if ratio { Statistic::MbPerS } else { statistic(figure)? };
    let asking = Asking::of(figure, names)?;
    let found = asking.own()?;
    let mut notes = Vec::new();
    if found.usual {
        notes.push(format!("no capacity is published: run on {}", found.profile.name));
    }
    if figure.metric == "power_w" && !found.profile.has_power() {
        return Err(format!("what {} draws is not in its profile", found.profile.name));
    }
    let test = asking.test(found)?;
    let question = match ratio {
        false => Question::Value { test, statistic, published },
        true => relative(&asking, test, published, &mut notes)?,
    };
    let (drive, family) = (found.profile.name.clone(), found.family.to_string());
    notes.extend(special(&question));
    Ok(Asked { question, drive, family, notes })
}

/// What holds by a rule for one article or one drive alone (`articles.rs`), said of every figure that it
/// decides.
fn special(question: &Question) -> Option<String> {
    let is = |wanted: fn(&State) -> bool| question.tests().iter().any(|test| wanted(&test.state));
    let alone = if is(|state| matches!(state, State::Begun { .. })) {
        "for this drive alone: its reads were of space that was mostly never written"
    } else if is(|state| matches!(state, State::Swept { .. })) {
        "of this article alone: what had been written at random before the test"
    } else {
        return None;
    };
    Some(format!("by a rule {alone}"))
}

/// A figure, what its words come to, and the catalogue.
struct Asking<'a> {
    figure: &'a Figure,
    reading: Reading,
    names: &'a Names,
}

impl<'a> Asking<'a> {
    fn of(figure: &'a Figure, names: &'a Names) -> Result<Asking<'a>, String> {
        Ok(Asking { figure, reading: figure.read(names)?, names })
    }

    fn whose(&self) -> Whose<'a> {
        Whose { names: self.names, article: self.reading.article, gb: self.figure.capacity_gb }
    }

    /// The drive that the figure is about.
    fn own(&self) -> Result<Found<'a>, String> {
        match &self.reading.drive {
            Some(drive) => self.names.named(&drive.id, drive.usual),
            None => self.whose().find(&self.figure.drive, self.figure.capacity_gb),
        }
    }

    fn test(&self, found: Found<'_>) -> Result<Test, String> {
        conventions::test(self.figure, &self.reading, found)
    }

    /// The figure's test on every drive of a list. What the catalogue does not have is noted; one drive at least must
    /// be left.
    fn tests_of(&self, drives: &[Compared], notes: &mut Vec<String>) -> Result<Vec<Test>, String> {
        let mut tests = Vec::new();
        let mut missing = Vec::new();
        for drive in drives {
            let found = match drive {
                Compared::Drive(id) => self.names.named(id, false).map(|found| vec![found]),
                Compared::HardDisks => Ok(self.names.hard_disks().collect()),
                Compared::Unknown(name) => self.whose().compared(name).map(|found| vec![found]),
            };
            match found {
                Ok(found) => {
                    for found in found {
                        tests.push(self.test(found)?);
                    }
                }
                Err(why) => missing.push(why),
            }
        }
        if tests.is_empty() {
            return Err(missing.join("; "));
        }
        notes.extend(missing.into_iter().map(|why| format!("left out: {why}")));
        Ok(tests)
    }
}

fn relative(
    asking: &Asking<'_>,
    test: Test,
    published: Published,
    notes: &mut Vec<String>,
) -> Result<Question, String> {
    let to =
        asking.reading.relative_to.as_ref().ok_or("what it is relative to is not published")?;
    let others = match to {
        RelativeTo::Fresh => vec![Test { state: State::Fresh, ..test.clone() }],
        RelativeTo::Gbps(gbps) => {
            let set = vec![conventions::line_rate(*gbps)];
            vec![Test { host: None, set, ..test.clone() }]
        }
        RelativeTo::Drives(drives) => asking.tests_of(drives, notes)?,
        RelativeTo::TimesSlowerThan(drive) => {
            let faster = asking.tests_of(std::slice::from_ref(drive), notes)?;
            let [faster] = faster.as_slice() else {
                return Err("it is a number of times slower than several drives".into());
            };
            return Ok(Question::Ratio { test: faster.clone(), others: vec![test], published });
        }
    };
    Ok(Question::Ratio { test, others, published })
}

fn ordering(asking: &Asking<'_>) -> Result<Asked, String> {
    let own = asking.own();
    let not_a_list = "an ordering is a list of drives";
    let ordering = asking.reading.ordering.as_ref().ok_or(not_a_list)?;
    let names = asking.figure.value.as_array().ok_or(not_a_list)?;
    let names: Option<Vec<&str>> = names.iter().map(Value::as_str).collect();
    let names = names.filter(|names| names.len() == ordering.places.len()).ok_or(not_a_list)?;
    let mut notes = Vec::new();
    let mut places = Vec::new();
    let mut before = None;
    for (index, (place, name)) in ordering.places.iter().zip(names).enumerate() {
        let tests = match (&place.of, &own) {
            (PlaceOf::Data(data), Ok(own)) => asking.test(*own).map(|mut test| {
                test.job.data = *data;
                vec![test]
            }),
            (PlaceOf::Data(_), Err(why)) => Err(why.clone()),
            (PlaceOf::Drives(drives), _) => asking.tests_of(drives, &mut notes),
        };
        match tests {
            Ok(mut tests) => {
                if ordering.by == By::Kept {
                    let fresh = |test: &Test| Test { state: State::Fresh, ..test.clone() };
                    let fresh: Vec<Test> = tests.iter().map(fresh).collect();
                    tests.extend(fresh);
                }
                let level = before.is_some_and(|before| place.level_with.contains(&before));
                before = Some(index);
                places.push(Place { name: name.to_string(), tests, equal: place.equal, level });
            }
            Err(why) => notes.push(format!("left out: {why}")),
        }
    }
    let comparable = places.len() >= 2 || places.iter().any(|p| p.equal && p.tests.len() >= 2);
    if !comparable {
        return Err(notes.join("; ").replace("left out: ", ""));
    }
    let first = &places[0].tests[0].drive;
    let family = |found: Found<'_>| (found.profile.name.clone(), found.family.to_string());
    let (drive, family) = own.map(family).unwrap_or_else(|_| (first.clone(), String::new()));
    let question = Question::Ordering { places, by: ordering.by };
    notes.extend(special(&question));
    Ok(Asked { question, drive, family, notes })
}

impl Question {
    /// The tests whose results it needs, in an order that `judge` knows.
    pub(super) fn tests(&self) -> Vec<&Test> {
        match self {
            Question::Value { test, .. } => vec![test],
            Question::Ratio { test, others, .. } => std::iter::once(test).chain(others).collect(),
            Question::Ordering { places, .. } => places.iter().flat_map(|p| &p.tests).collect(),
        }
    }
}
