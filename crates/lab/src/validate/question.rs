//! What a figure asks: which tests to run, and how their results are held against what was
//! published.

use fourcorners_record::Data;
use serde_json::Value;

use super::articles;
use super::conventions;
use super::figure::Figure;
use super::names::{Found, Names};
use super::runs::{State, Test};
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

/// What an ordering is by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum By {
    /// The most MB/s first.
    Rate,
    /// The shortest longest latency first.
    MaxLatency,
    /// The one that keeps most of its fresh rate first; each place has its fresh tests after the
    /// others.
    Kept,
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
        return ordering(figure, names);
    }
    let published = Published::of(figure)?;
    let ratio = figure.metric == "ratio";
    let statistic = if ratio { Statistic::MbPerS } else { statistic(figure)? };
    let found = then(names, figure, &figure.drive, figure.capacity_gb)?;
    let mut notes = Vec::new();
    if found.usual {
        notes.push(format!("no capacity is published: run on {}", found.profile.name));
    }
    if figure.metric == "power_w" && !found.profile.has_power() {
        return Err(format!("what {} draws is not in its profile", found.profile.name));
    }
    let test = conventions::test(figure, found)?;
    let question = match ratio {
        false => Question::Value { test, statistic, published },
        true => relative(figure, names, test, published, &mut notes)?,
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

/// The drive that `name` names, with the firmware it had when the figure's article was written.
fn then<'a>(
    names: &'a Names,
    figure: &Figure,
    name: &str,
    gb: Option<f64>,
) -> Result<Found<'a>, String> {
    let found = names.find(name, gb)?;
    match articles::of(&figure.source).firmware {
        Some((family, firmware)) if family == found.family => {
            names.find(&format!("{name} firmware {firmware}"), gb)
        }
        _ => Ok(found),
    }
}

fn relative(
    figure: &Figure,
    names: &Names,
    test: Test,
    published: Published,
    notes: &mut Vec<String>,
) -> Result<Question, String> {
    let to = figure.relative_to.as_deref().ok_or("what it is relative to is not published")?;
    if to.starts_with("fresh") {
        let fresh = Test { state: State::Fresh, ..test.clone() };
        return Ok(Question::Ratio { test, others: vec![fresh], published });
    }
    if to.contains("SATA 3Gbps") {
        let set = vec![conventions::line_rate(3.0)];
        let slower = Test { host: None, set, ..test.clone() };
        return Ok(Question::Ratio { test, others: vec![slower], published });
    }
    let others = tests_of(figure, names, to, notes)?;
    // "five times slower than": the ratio of rates is the other way round.
    if to.contains("slower") {
        let [other] = others.as_slice() else {
            return Err(format!("relative to \"{to}\" is not clear"));
        };
        return Ok(Question::Ratio { test: other.clone(), others: vec![test], published });
    }
    Ok(Question::Ratio { test, others, published })
}

/// The figure's test on every drive that `text` names: `m4 256/512`, `Vertex 2 and X25-M G2`.
/// What the catalogue does not have is noted; one drive at least must be left.
fn tests_of(
    figure: &Figure,
    names: &Names,
    text: &str,
    notes: &mut Vec<String>,
) -> Result<Vec<Test>, String> {
    let mut tests = Vec::new();
    let mut missing = Vec::new();
    let mut before = String::new();
    let text = others(text).replace(" and ", "/").replace('&', "/");
    for part in text.split('/') {
        let part = plain(part);
        // "m4 256/512": a number is another capacity of the drive before.
        let name = match part.parse::<f64>() {
            Ok(_) => format!("{before} {part}"),
            Err(_) => part.clone(),
        };
        if let Some((model, last)) = name.rsplit_once(' ') {
            before = if last.parse::<f64>().is_ok() { model.into() } else { name.clone() };
        }
        let found: Vec<Found<'_>> = match then(names, figure, &name, None) {
            // Drives that are compared have the same capacity where they are sold so.
            Ok(found) if found.usual && figure.capacity_gb.is_some() => {
                vec![then(names, figure, &name, figure.capacity_gb).unwrap_or(found)]
            }
            Ok(found) => vec![found],
            Err(_) if name.starts_with("HDDs") => names.hard_disks().collect(),
            Err(why) => {
                missing.push(why);
                continue;
            }
        };
        for found in found {
            tests.push(conventions::test(figure, found)?);
        }
    }
    if tests.is_empty() {
        return Err(missing.join("; "));
    }
    notes.extend(missing.into_iter().map(|why| format!("left out: {why}")));
    Ok(tests)
}

/// The drives that `text` names, without what is said of all of them besides: `HDDs (<1 MB/s)`; of
/// `others (X25-M, Vertex ...)` those that it gives as examples.
fn others(text: &str) -> String {
    let inside = |open: &str| text.strip_prefix(open)?.strip_suffix(')');
    match (inside("others ("), inside("HDDs (")) {
        (Some(drives), _) => drives.trim_end_matches([' ', '.']).replace(", ", "/"),
        (None, Some(_)) => "HDDs".into(),
        (None, None) => text.into(),
    }
}

/// A name without what is said of it besides: `(times slower)`, `random write`, `used`.
fn plain(name: &str) -> String {
    let mut text = name.to_string();
    if let (Some(open), Some(close)) = (text.find('('), text.rfind(')'))
        && open < close
        && !text[open..close].to_lowercase().contains("indilinx")
    {
        text.replace_range(open..=close, "");
    }
    for extra in [" random write", " random read", " used", " fresh"] {
        text = text.replace(extra, "");
    }
    text.trim().to_string()
}

fn ordering(figure: &Figure, names: &Names) -> Result<Asked, String> {
    let own = then(names, figure, &figure.drive, figure.capacity_gb);
    let order = figure.order.as_deref().unwrap_or("best first");
    let by = match order {
        order if order.contains("max write latency") => By::MaxLatency,
        order if order.contains("least degraded") => By::Kept,
        _ => By::Rate,
    };
    let list = figure.value.as_array().ok_or("an ordering is a list of drives")?;
    let mut notes = Vec::new();
    let mut places = Vec::new();
    for element in list {
        let name = element.as_str().ok_or("an ordering is a list of drives")?;
        let equal = name.contains("~=");
        let data = match name {
            "repeating data" => Some(Data::Repeating),
            "incompressible data" => Some(Data::Incompressible),
            _ => None,
        };
        let tests = match (data, &own) {
            (Some(data), Ok(own)) => conventions::test(figure, *own).map(|mut test| {
                test.job.data = data;
                vec![test]
            }),
            (Some(_), Err(why)) => Err(why.clone()),
            (None, _) => tests_of(figure, names, &name.replace("~=", "/"), &mut notes),
        };
        match tests {
            Ok(mut tests) => {
                if by == By::Kept {
                    let fresh = |test: &Test| Test { state: State::Fresh, ..test.clone() };
                    let fresh: Vec<Test> = tests.iter().map(fresh).collect();
                    tests.extend(fresh);
                }
                let before = places.last().map(|place: &Place| place.name.as_str());
                let level = before.is_some_and(|before| about_equal(order, before, name));
                places.push(Place { name: name.to_string(), tests, equal, level });
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
    let question = Question::Ordering { places, by };
    notes.extend(special(&question));
    Ok(Asked { question, drive, family, notes })
}

/// Whether the words for the order say that two of its drives are about equal: `best first; 128 vs 64
/// about equal`.
fn about_equal(order: &str, one: &str, other: &str) -> bool {
    let is_named = |name: &str, word: &str| name.split(' ').any(|part| part == word);
    let pairs = order.split(';').filter_map(|part| part.split_once(" about equal"));
    pairs.filter_map(|(pair, _)| pair.trim().split_once(" vs ")).any(|(a, b)| {
        is_named(one, a) && is_named(other, b) || is_named(one, b) && is_named(other, a)
    })
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

#[cfg(test)]
mod tests {
    use super::about_equal;

    #[test]
    fn drives_that_are_said_to_be_about_equal_are_known_by_a_word_of_their_names() {
        let order = "best first; 128 vs 64 about equal (512 is 85% faster than both)";
        assert!(about_equal(order, "m4 128", "m4 64") && about_equal(order, "m4 64", "m4 128"));
        for (one, other) in [("m4 512", "m4 128"), ("m4 64", "m4 256"), ("m4 128", "m4 640")] {
            assert!(!about_equal(order, one, other), "{one}, {other}");
        }
        assert!(!about_equal("best first", "m4 128", "m4 64"));
    }
}
