//! A figure's words, read: for figures that have no [`Reading`] of their own.

use fourcorners_record::Data;
use serde_json::Value;

use super::articles;
use super::figure::Figure;
use super::names::{Found, Names};
use super::reading::{
    Article, Before, By, CatalogueDrive, Compared, Host, OrderedPlace, Ordering, PlaceOf, Reading,
    RelativeTo,
};

/// Articles by a part of the citation.
const ARTICLES: [(&str, Article); 9] = [
    ("the-ssd-diaries-crucials-realssd-c300", Article::SsdDiariesC300),
    ("M550 review, 2014, performance consistency page", Article::AnandtechM550Consistency),
    ("Show/Index/2738?", Article::AnandtechAnthology),
    ("Crucial's m4 SSD tested at", Article::TomsM4Capacities),
    ("m4-ssd-capacity-comparison", Article::TomsM4Capacities),
    ("mirror of Tom's 2957", Article::TomsM4Capacities),
    ("Show/Index/11953?", Article::Anandtech900p),
    ("simon-crisp/intel-optane-ssd-900p-480gb-ssd-review/10", Article::KitguruSustainedRandom),
    ("simon-crisp/samsung-ssd-970-evo-plus-1tb-review/10", Article::KitguruSustainedRandom),
];

/// What pages say of a drive's past that the list of figures does not, by a part of the citation: one sentence about
/// drives that PC Perspective had used for months gives both speeds.
const PASTS: [(&str, Before); 1] = [("17441-intel-x25-m-ssd", Before::MonthsOfUse)];

/// Host controllers by a part of what figures call them, and their names in `drives/hosts`.
const HOSTS: [(&str, &str); 1] = [("88SE9128", "marvell-9128")];

/// What the words of `figure` come to.
///
/// # Errors
/// Words that are not clear.
pub(super) fn read(figure: &Figure, names: &Names) -> Result<Reading, String> {
    let article = named_part(&ARTICLES, &figure.source);
    let mut reading = Reading {
        article,
        host: figure.interface.as_deref().map(host),
        depth: depth(&figure.test.queue_depth)?,
        spare_percent: figure.test.extra_op.as_deref().map(spare_percent).transpose()?,
        before: match figure.test.precondition.as_deref() {
            Some(words) => before(words),
            None => named_part(&PASTS, &figure.source),
        },
        ..Reading::default()
    };
    let whose = Whose { names, article, gb: figure.capacity_gb };
    reading.drive = whose.find(&figure.drive, figure.capacity_gb).ok().map(catalogued);
    match figure.metric.as_str() {
        "ratio" => {
            reading.relative_to =
                figure.relative_to.as_deref().map(|to| relative_to(to, &whose)).transpose()?
        }
        "ordering" => reading.ordering = ordering(figure, &whose),
        _ => {}
    }
    Ok(reading)
}

fn catalogued(found: Found<'_>) -> CatalogueDrive {
    CatalogueDrive { id: found.profile.name.clone(), usual: found.usual }
}

/// What one of the parts of citations stands for.
fn named_part<T: Copy>(parts: &[(&str, T)], source: &str) -> Option<T> {
    parts.iter().find(|(part, _)| source.contains(part)).map(|&(_, named)| named)
}

/// Whose drives are looked for.
pub(super) struct Whose<'a> {
    pub(super) names: &'a Names,
    pub(super) article: Option<Article>,
    /// The capacity of the figure's drive, 10^9 bytes.
    pub(super) gb: Option<f64>,
}

impl<'a> Whose<'a> {
    /// The drive that `name` names, with the firmware it had when the article was written.
    pub(super) fn find(&self, name: &str, gb: Option<f64>) -> Result<Found<'a>, String> {
        let found = self.names.find(name, gb)?;
        match articles::of(self.article).firmware {
            Some((family, firmware)) if family == found.family => {
                self.names.find(&format!("{name} firmware {firmware}"), gb)
            }
            _ => Ok(found),
        }
    }

    /// The drive that is compared with the figure's: of the same capacity where it is sold so.
    pub(super) fn compared(&self, name: &str) -> Result<Found<'a>, String> {
        let found = self.find(name, None)?;
        match found.usual && self.gb.is_some() {
            true => Ok(self.find(name, self.gb).unwrap_or(found)),
            false => Ok(found),
        }
    }
}

fn host(words: &str) -> Host {
    if let Some((_, host)) = HOSTS.iter().find(|(part, _)| words.contains(part)) {
        return Host::Controller((*host).into());
    }
    match words {
        text if text.starts_with("SATA 1.5Gbps") => Host::Gbps(1.5),
        text if text.starts_with("SATA 3Gbps") => Host::Gbps(3.0),
        text if text.starts_with("SATA 6Gbps") => Host::Gbps(6.0),
        other => Host::Other(other.into()),
    }
}

fn depth(published: &Value) -> Result<Option<u32>, String> {
    let number = match published {
        Value::Null => return Ok(None),
        Value::Number(number) => number.as_u64(),
        Value::String(word) if word == "high" => Some(32),
        // The deepest of a range, the next of a sweep in powers of two.
        Value::String(word) => match word.strip_prefix('>') {
            Some(above) => above.parse().ok().map(|above: u64| above.saturating_mul(2)),
            None => word.trim_end_matches('+').rsplit('-').next().and_then(|n| n.parse().ok()),
        },
        _ => None,
    };
    let depth = number.filter(|depth| (1..=65_536).contains(depth));
    let depth = depth.ok_or_else(|| format!("a queue depth of {published} is not clear"))?;
    Ok(Some(depth as u32))
}

fn spare_percent(text: &str) -> Result<f64, String> {
    let percent = text.trim_end_matches('%').trim().parse::<f64>().ok();
    let percent = percent.filter(|percent| (0.0..=90.0).contains(percent));
    percent.ok_or_else(|| format!("spare of {text} is not clear"))
}

fn before(words: &str) -> Option<Before> {
    match words {
        "" => None,
        words if words.contains("idle") => Some(Before::Idle),
        words if words.contains("months") => Some(Before::MonthsOfUse),
        words => Some(seconds_in(words).map_or(Before::Other, Before::WrittenSeconds)),
    }
}

/// The duration in `fill drive, then 4KB random write all LBAs QD32 for 20 min`.
fn seconds_in(words: &str) -> Option<u64> {
    let words: Vec<&str> = words.split([' ', ',', '(', ')']).collect();
    words.windows(2).find_map(|pair| {
        let number: u64 = pair[0].parse().ok()?;
        match pair[1] {
            "min" | "minutes" => number.checked_mul(60),
            "h" | "hours" => number.checked_mul(3600),
            _ => None,
        }
    })
}

fn relative_to(to: &str, whose: &Whose<'_>) -> Result<RelativeTo, String> {
    if to.starts_with("fresh") {
        return Ok(RelativeTo::Fresh);
    }
    if to.contains("SATA 3Gbps") {
        return Ok(RelativeTo::Gbps(3.0));
    }
    let mut drives = compared(to, whose);
    // "five times slower than": the ratio of rates is the other way round.
    if to.contains("slower") {
        return match (drives.pop(), drives.is_empty()) {
            (Some(one), true) => Ok(RelativeTo::TimesSlowerThan(one)),
            _ => Err(format!("relative to \"{to}\" is not clear")),
        };
    }
    Ok(RelativeTo::Drives(drives))
}

/// Every drive that `text` names: `m4 256/512`, `Vertex 2 and X25-M G2`.
fn compared(text: &str, whose: &Whose<'_>) -> Vec<Compared> {
    let mut drives = Vec::new();
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
        drives.push(match whose.compared(&name) {
            Ok(found) => Compared::Drive(found.profile.name.clone()),
            Err(_) if name.starts_with("HDDs") => Compared::HardDisks,
            Err(_) => Compared::Unknown(name),
        });
    }
    drives
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

/// `None` where the value is no list of names.
fn ordering(figure: &Figure, whose: &Whose<'_>) -> Option<Ordering> {
    let order = figure.order.as_deref().unwrap_or("best first");
    let by = match order {
        order if order.contains("max write latency") => By::MaxLatency,
        order if order.contains("least degraded") => By::Kept,
        _ => By::Rate,
    };
    let listed: Vec<&str> =
        figure.value.as_array()?.iter().map(Value::as_str).collect::<Option<_>>()?;
    let place = |(index, name): (usize, &&str)| OrderedPlace {
        of: match *name {
            "repeating data" => PlaceOf::Data(Data::Repeating),
            "incompressible data" => PlaceOf::Data(Data::Incompressible),
            name => PlaceOf::Drives(compared(&name.replace("~=", "/"), whose)),
        },
        equal: name.contains("~="),
        level_with: (0..index).filter(|&other| about_equal(order, listed[other], name)).collect(),
    };
    Some(Ordering { by, places: listed.iter().enumerate().map(place).collect() })
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

#[cfg(test)]
mod tests {
    use super::super::figure::built_in;
    use super::*;

    #[test]
    fn the_built_in_readings_are_what_the_words_come_to() {
        let names = Names::new();
        let mut wrong = Vec::new();
        for figure in built_in() {
            let read = read(&figure, &names).ok();
            if figure.reading != read {
                let told = serde_json::to_string(&read).expect("it has only string keys");
                wrong.push(format!("{}\t{told}", figure.id));
            }
        }
        assert!(
            wrong.is_empty(),
            "figures/published.json does not have these readings:\n{}",
            wrong.join("\n")
        );
    }

    #[test]
    fn drives_that_are_said_to_be_about_equal_are_known_by_a_word_of_their_names() {
        let order = "best first; 128 vs 64 about equal (512 is 85% faster than both)";
        assert!(about_equal(order, "m4 128", "m4 64") && about_equal(order, "m4 64", "m4 128"));
        for (one, other) in [("m4 512", "m4 128"), ("m4 64", "m4 256"), ("m4 128", "m4 640")] {
            assert!(!about_equal(order, one, other), "{one}, {other}");
        }
        assert!(!about_equal("best first", "m4 128", "m4 64"));
    }

    #[test]
    fn every_article_and_every_past_is_cited() {
        let figures = built_in();
        let parts = ARTICLES.iter().map(|(part, _)| part).chain(PASTS.iter().map(|(part, _)| part));
        for part in parts {
            assert!(figures.iter().any(|figure| figure.source.contains(part)), "{part}");
        }
        assert_eq!(named_part(&ARTICLES, "a page of our own"), None);
    }

    #[test]
    fn host_controllers_that_are_named_are_in_the_catalogue() {
        for (_, host) in HOSTS {
            assert!(fourcorners_catalogue::host(host).is_ok(), "{host}");
        }
    }
}
