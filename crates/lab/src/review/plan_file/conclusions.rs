//! Checks and curves of a plan file: a number each, with optional limits.

use std::collections::BTreeMap;

use fourcorners_record::note::{finished, note};
use fourcorners_record::{Curve, Figure, Note, Record, Steadiness, Threshold};
use fourcorners_words::{count, nearest, three_digits};

use super::cut::Cut;
use crate::strict_toml::{At, Expected, LineError, Section, number};

/// A number of a figure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Metric {
    MbPerS,
    Iops,
    MinUs,
    MeanUs,
    P50Us,
    P90Us,
    P99Us,
    P999Us,
    P9999Us,
    MaxUs,
    WriteAmplification,
    MeanPowerW,
    JoulesPerGb,
    Variation,
    P1Iops,
    ShareBelowHalf,
}

const METRICS: [(&str, Metric); 16] = [
    ("mb_per_s", Metric::MbPerS),
    ("iops", Metric::Iops),
    ("min_us", Metric::MinUs),
    ("mean_us", Metric::MeanUs),
    ("p50_us", Metric::P50Us),
    ("p90_us", Metric::P90Us),
    ("p99_us", Metric::P99Us),
    ("p999_us", Metric::P999Us),
    ("p9999_us", Metric::P9999Us),
    ("max_us", Metric::MaxUs),
    ("write_amplification", Metric::WriteAmplification),
    ("mean_power_w", Metric::MeanPowerW),
    ("joules_per_gb", Metric::JoulesPerGb),
    ("variation", Metric::Variation),
    ("p1_iops", Metric::P1Iops),
    ("share_below_half", Metric::ShareBelowHalf),
];

impl Metric {
    fn name(self) -> &'static str {
        METRICS.iter().find(|(_, metric)| *metric == self).map_or("", |(name, _)| name)
    }

    fn unit(self) -> &'static str {
        match self {
            Metric::MbPerS => " MB/s",
            Metric::Iops | Metric::P1Iops => " IOPS",
            Metric::MinUs
            | Metric::MeanUs
            | Metric::P50Us
            | Metric::P90Us
            | Metric::P99Us
            | Metric::P999Us
            | Metric::P9999Us
            | Metric::MaxUs => " µs",
            Metric::MeanPowerW => " W",
            Metric::JoulesPerGb => " J a GB",
            Metric::WriteAmplification | Metric::Variation | Metric::ShareBelowHalf => "",
        }
    }

    /// A number of it as a reader wants it.
    fn shown(self, value: f64) -> String {
        match self {
            Metric::Iops | Metric::P1Iops if value >= 1000.0 => count(value),
            _ => three_digits(value),
        }
    }

    /// Of a figure that was measured to its end; `None` where this target does not tell.
    fn of(self, record: &Record, name: &str) -> Option<f64> {
        let figure: &Figure = finished(record, name)?;
        let latency = &figure.latency_us;
        let steadiness = || Steadiness::of(&record.series.get(name)?.iops_of_seconds());
        let value = match self {
            Metric::MbPerS => figure.mb_per_s,
            Metric::Iops => figure.iops,
            Metric::MinUs => latency.min,
            Metric::MeanUs => latency.mean,
            Metric::P50Us => latency.p50,
            Metric::P90Us => latency.p90,
            Metric::P99Us => latency.p99,
            Metric::P999Us => latency.p999,
            Metric::P9999Us => latency.p9999,
            Metric::MaxUs => latency.max,
            Metric::WriteAmplification => figure.write_amplification?,
            Metric::MeanPowerW => figure.mean_power_w?,
            Metric::JoulesPerGb => figure.joules_per_gb?,
            Metric::Variation => steadiness()?.variation,
            Metric::P1Iops => steadiness()?.p1_iops,
            Metric::ShareBelowHalf => steadiness()?.share_below_half,
        };
        value.is_finite().then_some(value)
    }
}

/// A section `[[check]]`.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Judgement {
    about: String,
    of: String,
    over: Option<String>,
    metric: Metric,
    at_least: Option<f64>,
    at_most: Option<f64>,
    text: Option<String>,
}

/// A section `[[curve]]`.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct CurveOf {
    pub(super) name: String,
    x: String,
    metric: Metric,
    points: Vec<(f64, String)>,
}

/// The figure of a name, if the plan has it.
fn figure_of(
    section: &Section<'_>,
    figures: &[&str],
    name: At<String>,
) -> Result<String, LineError> {
    if figures.contains(&name.value.as_str()) {
        return Ok(name.value);
    }
    let near = nearest(&name.value, figures.iter().copied());
    let near = near.map_or_else(
        || format!("they are: {}", figures.iter().take(8).copied().collect::<Vec<_>>().join(", ")),
        |near| format!("did you mean {near:?}?"),
    );
    let what = format!("no phase measures a figure {:?}; {near}", name.value);
    Err(section.error_at(name.line, what))
}

impl Judgement {
    pub(super) fn read(
        mut section: Section<'_>,
        figures: &[&str],
        plan: &str,
    ) -> Result<Judgement, LineError> {
        let about = section.text("about")?.map_or_else(|| plan.to_string(), |it| it.value);
        let of = section.needed("of", figures.first().copied().unwrap_or("random_read_4k_qd1"))?;
        let of = figure_of(&section, figures, of)?;
        let over = section.text("over")?;
        let over = over.map(|over| figure_of(&section, figures, over)).transpose()?;
        let metric = section.word("value", &METRICS)?.unwrap_or(Metric::MbPerS);
        let at_least = section.number("at_least", f64::MIN..=f64::MAX)?;
        let at_most = section.number("at_most", f64::MIN..=f64::MAX)?;
        if let Some((least, most)) = at_least.zip(at_most).filter(|(least, most)| least > most) {
            return Err(section.error(format!(
                "at_least = {least} and at_most = {most}: no number keeps both, so swap them or leave one out"
            )));
        }
        let text = section.text("text")?;
        if let Some(text) = &text {
            placeholders(&text.value, over.is_some())
                .map_err(|what| section.error_at(text.line, format!("text: {what}")))?;
        }
        let text = text.map(|it| it.value);
        let judgement = Judgement { about, of, over, metric, at_least, at_most, text };
        section.finish()?;
        Ok(judgement)
    }

    /// Adds to a record what it comes to; `cuts` has what a quick review took from its figures.
    pub(super) fn conclude(
        &self,
        record: &mut Record,
        cuts: &BTreeMap<String, Cut>,
    ) -> Option<Threshold> {
        let figures = || [Some(&self.of), self.over.as_ref()].into_iter().flatten();
        let cut = figures().find_map(|name| Some((name, cuts.get(name)?.preparation.as_ref()?)));
        if let Some((name, what)) = cut {
            let text = format!(
                "Nothing is said about \"{}\": in a quick review {what}, so {name} is not of the state that the plan asks for.",
                self.about
            );
            record.notes.push(Note { about: "not-run".into(), text, value: None });
            return None;
        }
        let value = |name: &str| self.metric.of(record, name);
        let of = value(&self.of);
        let over = self.over.as_deref().map(|name| (name, value(name)));
        let (found, parts) = match (of, over) {
            (Some(of), None) => (of, (of, None)),
            (Some(of), Some((_, Some(over)))) if over != 0.0 => (of / over, (of, Some(over))),
            _ => {
                let missing = match over {
                    Some((name, over)) if of.is_some() && over.is_none_or(|it| it == 0.0) => name,
                    _ => self.of.as_str(),
                };
                let text = format!(
                    "Nothing is said about \"{}\": {missing} has no {} here.",
                    self.about,
                    self.metric.name()
                );
                record.notes.push(Note { about: "not-run".into(), text, value: None });
                return None;
            }
        };
        let mut text = self.words(record, found, parts);
        if let Some(part) = figures().find_map(|name| cuts.get(name)?.measured.as_deref()) {
            text += &format!(" A quick review measured {part}.");
        }
        let kept = self.at_least.is_none_or(|least| found >= least)
            && self.at_most.is_none_or(|most| found <= most);
        let asked = [("at least", self.at_least), ("at most", self.at_most)];
        let asked: Vec<String> = asked
            .iter()
            .filter_map(|(word, limit)| Some(format!("{word} {}", (*limit)?)))
            .collect();
        if !asked.is_empty() {
            let word = if kept { "met" } else { "not met" };
            text += &format!(" Limit: {} ({word}).", asked.join(" and "));
        }
        record.notes.push(note(&self.about, text, found));
        (!asked.is_empty()).then(|| Threshold {
            about: self.about.clone(),
            value: found,
            at_least: self.at_least,
            at_most: self.at_most,
            met: kept,
        })
    }

    fn words(&self, record: &Record, value: f64, (of, over): (f64, Option<f64>)) -> String {
        let unit = self.metric.unit();
        let shown = |value: f64| self.metric.shown(value);
        let Some(text) = &self.text else {
            let name = self.metric.name();
            return match (over, &self.over) {
                (Some(over), Some(other)) => format!(
                    "{}: {name} is {}{unit}, {:.1} % of the {}{unit} of {other}.",
                    self.of,
                    shown(of),
                    value * 100.0,
                    shown(over)
                ),
                _ => format!("{}: {name} is {}{unit}.", self.of, shown(of)),
            };
        };
        let state = |name: &str| {
            record.figures.get(name).map_or_else(String::new, |figure| figure.state.clone())
        };
        let with = |word: &str| match word {
            "value" if self.over.is_some() => three_digits(value),
            "value" | "of" => shown(of),
            "percent" => format!("{:.0}", value * 100.0),
            "over" => over.map(shown).unwrap_or_default(),
            "of.state" => state(&self.of),
            _ => self.over.as_deref().map(state).unwrap_or_default(),
        };
        // Its words are known: `placeholders` has seen them.
        pieces(text).map(|piece| piece.map_or_else(str::to_string, with)).collect()
    }
}

/// A text in pieces: what stands for itself is an error, what stands in braces is not.
fn pieces(text: &str) -> impl Iterator<Item = Result<&str, &str>> {
    text.split('{').enumerate().flat_map(|(index, piece)| {
        let (word, rest) = match (index, piece.split_once('}')) {
            (0, _) => (None, piece),
            (_, Some((word, rest))) => (Some(Ok(word)), rest),
            (_, None) => (None, piece),
        };
        word.into_iter().chain(std::iter::once(Err(rest)))
    })
}

/// A word in braces that stands for nothing.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{{{0}}} is not known: there are {{value}}, {{percent}}, {{of}}, {{of.state}}, and with over = ... \
     {{over}} and {{over.state}}"
)]
struct UnknownPlaceholder(String);

/// Whether all that stands in braces is known.
fn placeholders(text: &str, has_over: bool) -> Result<(), UnknownPlaceholder> {
    const ALONE: [&str; 4] = ["value", "percent", "of", "of.state"];
    const OVER: [&str; 2] = ["over", "over.state"];
    for piece in text.split('{').skip(1) {
        let known = match piece.split_once('}') {
            Some((word, _)) => ALONE.contains(&word) || has_over && OVER.contains(&word),
            None => false,
        };
        if !known {
            let word = piece.split('}').next().unwrap_or_default();
            return Err(UnknownPlaceholder(word.into()));
        }
    }
    Ok(())
}

impl CurveOf {
    pub(super) fn read(mut section: Section<'_>, figures: &[&str]) -> Result<CurveOf, LineError> {
        let name = section.needed("name", "random_read_4k_by_depth")?;
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !name.value.chars().all(plain) {
            let what = format!("name = {:?}: small letters, digits and _", name.value);
            return Err(section.error_at(name.line, what));
        }
        let x = section.needed("x", "I/Os in flight")?.value;
        let metric = section.word("value", &METRICS)?.unwrap_or(Metric::MbPerS);
        let points = section.one("points", |value| {
            let wanted =
                || Expected::from("a list of pairs such as [[1, \"random_read_4k_qd1\"], ...]");
            let point = |pair: &toml::Spanned<toml::de::DeValue<'_>>| {
                let pair = pair.get_ref().as_array()?;
                let x = pair.first().and_then(|x| number(x.get_ref()))?;
                let figure = pair.get(1)?.get_ref().as_str()?.to_string();
                (pair.len() == 2).then_some((x, figure))
            };
            let points: Option<Vec<_>> =
                value.as_array().and_then(|list| list.iter().map(point).collect());
            let rising = |points: &Vec<(f64, String)>| {
                points.len() > 1 && points.windows(2).all(|two| two[0].0 < two[1].0)
            };
            let points = points.ok_or_else(wanted)?;
            if rising(&points) { Ok(points) } else { Err("two points or more, x rising".into()) }
        })?;
        let points = points.ok_or_else(|| section.error("points is missing"))?;
        for (_, figure) in &points.value {
            figure_of(&section, figures, At { value: figure.clone(), line: points.line })?;
        }
        section.finish()?;
        Ok(CurveOf { name: name.value, x, metric, points: points.value })
    }

    /// Adds it to a record, as far as it was measured.
    pub(super) fn conclude(&self, record: &mut Record) {
        let point = |(x, figure): &(f64, String)| Some((*x, self.metric.of(record, figure)?));
        let points: Vec<(f64, f64)> = self.points.iter().filter_map(point).collect();
        if points.len() > 1 {
            let y = format!("{}{}", self.metric.name().replace('_', " "), self.metric.unit());
            let y = match self.metric {
                Metric::MbPerS => "MB/s".into(),
                Metric::Iops => "IOPS".into(),
                _ => y,
            };
            record.curves.insert(self.name.clone(), Curve { x: self.x.clone(), y, points });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_filled_in_where_braces_are() {
        let filled = |text| -> String {
            pieces(text)
                .map(|piece| piece.map_or_else(str::to_string, |it| it.to_uppercase()))
                .collect()
        };
        assert_eq!(filled("a {of} b {over} c"), "a OF b OVER c");
        assert_eq!(filled("{of}"), "OF");
        assert_eq!(filled("plain"), "plain");
        assert!(placeholders("{of} {value}", false).is_ok());
        for wrong in ["{over}", "{of", "{}", "{nothing}", "{of} {"] {
            assert!(placeholders(wrong, false).is_err(), "{wrong}");
        }
    }
}
