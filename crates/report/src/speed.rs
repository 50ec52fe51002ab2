//! Data rates as bars: the best first, the drive under test in a colour of its own.

use fourcorners_record::{ClockName, Figure};
use maud::html;

use super::chapter::Part;
use super::chart::{BarRow, Bars, Best, Chart, DataTable, Plot, file_name};
use super::entries::{Entries, Entry, figure_names, has_bars, having, shortened};
use super::words::{FigureName, clock_words, figure_words, method_words, rate};

/// What fits above a bar on a phone, with the word "Incomplete" before it.
const BAR_LABEL_CHARS: usize = 44;

/// The groups a review's bars are in: heading, access, operation (any when empty).
const GROUPS: [(&str, &str, &str); 3] = [
    ("Random write", "random", "write"),
    ("Random read", "random", "read"),
    ("Sequential", "sequential", ""),
];

/// Bars with everything said about them; `what` names the unit.
pub(super) fn bars(title: &str, what: &str, bars: Bars) -> Chart {
    let said: Vec<String> =
        bars.rows.iter().map(|row| format!("{} {}", row.label, row.text)).collect();
    let rows = bars.rows.iter().map(|row| (row.label.clone(), vec![row.text.clone()]));
    Chart {
        name: file_name(title),
        context: String::new(),
        title: title.into(),
        about: String::new(),
        note: String::new(),
        description: format!("Bar chart, {title}, {what}: {}.", said.join("; ")),
        table: DataTable { head: vec![String::new(), what.into()], rows: rows.collect() },
        plot: Plot::Bars(Bars { what: what.into(), ..bars }),
    }
}

/// The bar charts of all methods without a chapter of their own.
pub(super) fn parts(all: &Entries) -> Vec<Part> {
    let of_method = |method: &str| method_bars(all, &all.of_method(method));
    let methods = all.methods().into_iter().filter(|it| has_bars(it));
    let mut methods: Vec<(&str, Vec<Part>)> = methods.map(|it| (it, of_method(it))).collect();
    methods.retain(|(_, parts)| !parts.is_empty());
    let several = methods.len() > 1;
    let mut parts = Vec::new();
    for (method, of_method) in methods {
        let headed = of_method.iter().any(|part| matches!(part, Part::Heading(_)));
        if several && !headed {
            parts.push(Part::Heading(method_words(method)));
        }
        // One heading that says both, not one beneath the other.
        parts.extend(of_method.into_iter().map(|part| match part {
            Part::Heading(group) if several => {
                Part::Heading(format!("{}: {}", method_words(method), group.to_lowercase()))
            }
            part => part,
        }));
    }
    if !parts.is_empty() {
        let words = html! { p {
            "MB/s, higher is better."
            @if all.mixed_clocks { " Bars of results in wall time are hatched." }
        } };
        parts.insert(0, Part::Text(words));
    }
    parts
}

/// The bar charts of one method: by figure when drives are compared, by group when one is alone.
fn method_bars(all: &Entries, entries: &[&Entry]) -> Vec<Part> {
    let group_of = |name: &str| {
        let name = FigureName::parse(name)?;
        GROUPS
            .iter()
            .position(|(_, access, op)| *access == name.access && (op.is_empty() || *op == name.op))
    };
    let mut groups: Vec<(&str, Vec<&str>)> =
        GROUPS.iter().map(|(heading, ..)| (*heading, Vec::new())).collect();
    groups.push(("Other figures", Vec::new()));
    for name in figure_names(entries) {
        groups[group_of(name).unwrap_or(GROUPS.len())].1.push(name);
    }
    groups.retain(|(_, names)| !names.is_empty());
    if let [entry] = entries {
        let all_names: Vec<&str> = groups.iter().flat_map(|(_, names)| names.clone()).collect();
        let longest = longest(&alone_rows(all, entry, &all_names));
        let chart = |(heading, names): &(&str, Vec<&str>)| {
            let rows = alone_rows(all, entry, names);
            bars(heading, "MB/s", Bars::sorted(rows, longest, Best::Highest))
        };
        let charts: Vec<Chart> = groups.iter().map(chart).collect();
        return if charts.is_empty() { Vec::new() } else { vec![Part::Charts(charts)] };
    }
    let compared = |name: &&str| compared(all, entries, name, &figure_words(name), None);
    groups
        .iter()
        .flat_map(|(heading, names)| {
            let charts = names.iter().map(compared).collect();
            [Part::Heading((*heading).into()), Part::Charts(charts)]
        })
        .collect()
}

/// A bar for each drive that has the figure. Charts with the same `longest` can be compared.
pub(super) fn compared(
    all: &Entries,
    entries: &[&Entry],
    name: &str,
    title: &str,
    longest_of_all: Option<f64>,
) -> Chart {
    let row = |(entry, figure): (&Entry, &Figure)| BarRow {
        label: bar_label(all, entry, figure),
        value: figure.mb_per_s,
        text: rate(figure.mb_per_s),
        under_test: entry.under_test,
        hatched: hatched(all, entry),
    };
    let rows: Vec<BarRow> = having(entries, name).into_iter().map(row).collect();
    let longest = longest_of_all.unwrap_or_else(|| longest(&rows));
    bars(title, "MB/s", Bars::sorted(rows, longest, Best::Highest))
}

/// The longest of some bars.
pub(super) fn longest(rows: &[BarRow]) -> f64 {
    rows.iter().map(BarRow::length).fold(0.0, f64::max)
}

/// Whether an entry's bars are hatched.
pub(super) fn hatched(all: &Entries, entry: &Entry) -> bool {
    all.mixed_clocks && entry.record.clock == ClockName::Wall
}

/// A bar for each figure of a drive that stands alone.
fn alone_rows(all: &Entries, entry: &Entry, names: &[&str]) -> Vec<BarRow> {
    let row = |name: &&str| {
        let figure = entry.record.figures.get(*name)?;
        Some(BarRow {
            label: marked(figure_words(name), figure.complete),
            value: figure.mb_per_s,
            text: rate(figure.mb_per_s),
            under_test: true,
            hatched: hatched(all, entry),
        })
    };
    names.iter().filter_map(row).collect()
}

/// A drive's label above its bar. The name gives way, so that a mark is never what is cut off.
fn bar_label(all: &Entries, entry: &Entry, figure: &Figure) -> String {
    let clock = match all.mixed_clocks {
        true => format!(" · {}", clock_words(entry.record.clock)),
        false => String::new(),
    };
    let name = BAR_LABEL_CHARS - clock.chars().count();
    marked(format!("{}{clock}", shortened(&entry.label, name)), figure.complete)
}

fn marked(label: String, complete: bool) -> String {
    if complete { label } else { format!("Incomplete: {label}") }
}
