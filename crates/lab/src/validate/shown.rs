//! The table of how right the catalogue is: `docs/FIDELITY.md`.

use std::fmt::Write;

use serde_json::Value;

use super::{Part, RATIO_TOLERANCE, Row, Standing, Summary, Validation};

/// The unit of a row's metric.
pub fn unit(row: &Row) -> &str {
    match row.metric.as_str() {
        "ratio" => "times",
        "ordering" => "",
        metric if metric.ends_with("_ms") => "ms",
        metric => metric,
    }
}

/// What was simulated, as text.
pub fn simulated(row: &Row) -> String {
    let number = |value: &Value| value.as_f64().map(|number| number.to_string());
    match &row.simulated {
        None => "-".into(),
        Some(Value::Array(places)) => {
            let place = |value: &Value| match value {
                Value::Array(several) => {
                    several.iter().filter_map(number).collect::<Vec<_>>().join(" / ")
                }
                value => number(value).unwrap_or_default(),
            };
            places.iter().map(place).collect::<Vec<_>>().join(", ")
        }
        Some(value) => number(value).unwrap_or_default(),
    }
}

/// The error in percent, or whether it holds.
pub fn verdict(row: &Row) -> String {
    match (row.holds, row.error) {
        (Some(true), _) => "holds".into(),
        (Some(false), Some(error)) => format!("fails, {}", percent(error)),
        (Some(false), None) => "fails".into(),
        (None, Some(error)) => percent(error),
        (None, None) => "-".into(),
    }
}

/// `fitted` or `predicted`.
pub fn standing(row: &Row) -> &'static str {
    match row.standing {
        Standing::Fitted => "fitted",
        Standing::Predicted => "predicted",
        Standing::NotRun => "not run",
    }
}

fn percent(error: f64) -> String {
    format!("{:+.0} %", error * 100.0)
}

/// The summary in lines.
pub fn sum(summary: &Summary) -> Vec<String> {
    let part = |name: &str, part: &Part| match (part.median_abs_error, part.p90_abs_error) {
        (Some(median), Some(p90)) => format!(
            "{name}: {} figure{}, median error {:.0} %, 90th percentile {:.0} %",
            part.figures,
            if part.figures == 1 { "" } else { "s" },
            median * 100.0,
            p90 * 100.0
        ),
        _ => format!("{name}: no figures"),
    };
    let mut lines = vec![match (summary.run, summary.figures) {
        (1, 1) => "The figure was run.".into(),
        (run, 1) => format!("{run} of 1 figure was run."),
        (run, all) => format!("{run} of {all} figures were run."),
    }];
    lines.push(part("Fitted", &summary.fitted));
    lines.push(part("Predicted", &summary.predicted));
    lines.extend(summary.groups.iter().map(|group| part(group.group.words(), &group.errors)));
    lines.extend(summary.families.iter().map(|family| part(&family.family, &family.errors)));
    let all = Part {
        figures: summary.fitted.figures + summary.predicted.figures,
        median_abs_error: summary.median_abs_error,
        p90_abs_error: summary.p90_abs_error,
    };
    lines.push(part("All", &all));
    lines.push(format!(
        "Hold: {} of {} orderings, {} of {} ratios, {} of {} bounds.{}",
        summary.orderings_held,
        summary.orderings,
        summary.ratios_held,
        summary.ratios,
        summary.bounds_held,
        summary.bounds,
        match summary.worst.is_empty() {
            true => String::new(),
            false => format!(" The worst: {}.", summary.worst.join(", ")),
        }
    ));
    lines
}

/// The table as Markdown.
pub fn markdown(validation: &Validation) -> String {
    let mut text = String::from(INTRODUCTION);
    let mut line = |content: String| {
        text.push_str(&content);
        text.push('\n');
    };
    line(format!(
        "A ratio holds within {:.0} %. An error is simulated over published, less one.\n",
        RATIO_TOLERANCE * 100.0
    ));
    let summary = &validation.summary;
    line("## In sum\n".into());
    sum(summary).into_iter().for_each(|sentence| line(format!("- {sentence}")));
    line("\n## How large the errors are\n\n```text".into());
    chart(validation).into_iter().for_each(&mut line);
    line("```\n\n## The worst\n\n| figure | drive | published | simulated | why |\n|---|---|---|---|---|".into());
    let rows =
        summary.worst.iter().filter_map(|id| validation.figures.iter().find(|row| row.id == *id));
    for row in rows {
        line(format!(
            "| {} | {} | {} {} | {} | {} |",
            row.id,
            cell(&row.drive),
            cell(&row.published_text),
            unit(row),
            simulated(row),
            cell(row.why.as_deref().unwrap_or("not known"))
        ));
    }
    line("\n## Figures\n".into());
    line(
        "| figure | drive | test | published | simulated | error | standing | command | note |"
            .into(),
    );
    line("|---|---|---|---|---|---|---|---|---|".into());
    for row in validation.figures.iter().filter(|row| row.standing != Standing::NotRun) {
        line(format!(
            "| {} | {} | {} | {} {} | {} | {} | {} | {} | {} |",
            row.id,
            cell(&row.drive),
            cell(&format!("{} {}", row.metric, row.test)),
            cell(&row.published_text),
            unit(row),
            simulated(row),
            verdict(row),
            standing(row),
            row.commands.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join("; "),
            cell(row.why.as_deref().unwrap_or_default())
        ));
    }
    line("\n## Not run\n\n| figure | drive | test | why |\n|---|---|---|---|".into());
    for row in validation.figures.iter().filter(|row| row.standing == Standing::NotRun) {
        let why = cell(row.why.as_deref().unwrap_or_default());
        let test = cell(&format!("{} {}", row.metric, row.test));
        line(format!("| {} | {} | {test} | {why} |", row.id, cell(&row.drive)));
    }
    text
}

/// Text that cannot break a table.
fn cell(text: &str) -> String {
    text.replace('|', "/").replace('\n', " ")
}

/// How many figures have errors of which size; fitted ones `#`, predicted ones `o`.
fn chart(validation: &Validation) -> Vec<String> {
    const EDGES: [f64; 7] = [0.05, 0.10, 0.15, 0.30, 0.60, 1.0, f64::INFINITY];
    let mut below = 0.0;
    let mut lines = Vec::new();
    for edge in EDGES {
        let inside = |row: &&Row| {
            let size = row.error.map(f64::abs);
            size.is_some_and(|size| size <= edge && (size > below || below == 0.0))
        };
        let count = |standing: Standing| {
            let rows = validation.figures.iter().filter(|row| row.standing == standing);
            rows.filter(inside).count()
        };
        let (fitted, predicted) = (count(Standing::Fitted), count(Standing::Predicted));
        let label = match edge.is_finite() {
            true => format!("to {:.0} %", edge * 100.0),
            false => "more".into(),
        };
        let mut bar = String::new();
        // Writing into a String does not fail.
        let _ = write!(bar, "{label:>9} {}{}", "#".repeat(fitted), "o".repeat(predicted));
        lines.push(bar);
        below = edge;
    }
    lines.push("          # fitted   o predicted".into());
    lines
}

const INTRODUCTION: &str = "# How right the virtual drives are

Made by `fourcorners validate --markdown --chart docs/fidelity.svg`; do not edit. Every published figure (`figures/published.json`, each with
its source) is held against the drive of the catalogue it is about, in the test it was measured in. What a
publication leaves open (the span, the depth, the capacity) is filled in by the rules at the top of
`crates/lab/src/validate/conventions.rs`, the same for all. *Fitted*: the drive has fitted values, and the figure is among
those they may be fitted to; one figure in three is kept out of every fit, by a hash of its id
(`crates/lab/src/validate/split.rs`), and ratios and orderings are never fitted. *Predicted*: all others. *Random QD 1* are rates
and mean latencies of one random command at a time, *synchronous writes* those of a drive whose write cache is off; both say more of
a drive's latency than of its throughput. The command of a row
repeats it, with what was done to the drive before, the span, the depth and the data (`--dry-run` shows them), and prints the
row's number of each drive; on another drive it is the same test by the same rules.

![Published against simulated, each figure a point; the band is 30 %](fidelity.svg)

";
