//! Data rates as bars: the best first, the drive under test in a colour of its own.

use fourcorners_record::{ClockName, Figure};
use maud::{Markup, html};

use super::chapter::{Group, Panel, Part, Switch};
use super::chart::{BarRow, Bars, Best, Chart, DataTable, Plot, file_name};
use super::entries::{Entries, Entry, figure_names, has_bars, having, shortened};
use super::references::{Reference, ReferenceFigure, Role};
use super::used::USED;
use super::words::{FigureName, clock_words, figure_words, method_words, rate};

/// What fits above a bar on a phone, with the word "Incomplete" before it.
const BAR_LABEL_CHARS: usize = 44;

/// Figures of data that repeats and of data that does not are one where they differ by less than this factor.
const EQUAL: f64 = 1.02;

/// A reference's bar that is this many times as long as the drive's own is cut.
const MOST_OWN: f64 = 4.0;

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
            "MB/s, higher is better." (greys(all))
            @if all.mixed_clocks { " Bars of results in wall time are hatched." }
        } };
        parts.insert(0, Part::Text(words));
    }
    parts
}

/// The bar charts of one method: by figure when drives are compared, or one drive stands among others; a bar
/// for each figure of a drive alone.
fn method_bars(all: &Entries, entries: &[&Entry]) -> Vec<Part> {
    let names = figure_names(entries);
    let names = distinct(entries, &names);
    if let [entry] = entries {
        return one_drive(all, entry, &names);
    }
    let group_of = |name: &str| {
        let name = FigureName::parse(name)?;
        GROUPS
            .iter()
            .position(|(_, access, op)| *access == name.access && (op.is_empty() || *op == name.op))
    };
    let mut groups: Vec<(&str, Vec<Chart>)> =
        GROUPS.iter().map(|(heading, ..)| (*heading, Vec::new())).collect();
    groups.push(("Other figures", Vec::new()));
    for (name, words) in &names {
        let chart = compared(all, entries, name, words, None);
        if chart.has_several_bars() {
            groups[group_of(name).unwrap_or(GROUPS.len())].1.push(chart);
        }
    }
    groups.retain(|(_, charts)| !charts.is_empty());
    groups
        .into_iter()
        .flat_map(|(heading, charts)| [Part::Heading(heading.into()), Part::Charts(charts)])
        .collect()
}

/// The names of figures with their words. Where data that repeats gives every drive the figure that
/// incompressible data gives, only the latter is left, and says so.
pub(super) fn distinct<'n>(entries: &[&Entry], names: &[&'n str]) -> Vec<(&'n str, String)> {
    let is_equal = |of: &str, other: &str| {
        let mut pairs = entries.iter().filter_map(|entry| {
            let figures = &entry.record.figures;
            Some((figures.get(of)?, figures.get(other)))
        });
        pairs.all(|(one, other)| {
            other.is_some_and(|other| {
                let ratio = one.mb_per_s / other.mb_per_s;
                one.complete && other.complete && (ratio.ln()).abs() < EQUAL.ln()
            })
        })
    };
    let words = |name: &&'n str| {
        let plain = |from: &str, to: &str| name.replace(from, to);
        if name.contains("_repeating") {
            let other = plain("_repeating", "_incompressible");
            let dropped = names.contains(&other.as_str()) && is_equal(name, &other);
            return (!dropped).then(|| (*name, figure_words(name)));
        }
        let other = plain("_incompressible", "_repeating");
        let both = other != **name && names.contains(&other.as_str()) && is_equal(&other, name);
        let words = figure_words(name);
        let words = if both { words.replace("incompressible", "any data") } else { words };
        Some((*name, words))
    };
    names.iter().filter_map(words).collect()
}

/// A drive alone: among reference drives, and by itself.
fn one_drive(all: &Entries, entry: &Entry, names: &[(&str, String)]) -> Vec<Part> {
    let rows = alone_rows(all, entry, names);
    let longest_own = longest(&rows);
    let alone = bars("All data rates", "MB/s", Bars::sorted(rows, longest_own, Best::Highest));
    let among = |(name, words): &(&str, String)| compared(all, &[entry], name, words, None);
    let among: Vec<Chart> = names.iter().map(among).filter(Chart::has_several_bars).collect();
    let alone = Some(alone).filter(Chart::has_several_bars);
    match (among.is_empty(), alone) {
        (true, alone) => alone.map(|alone| Part::Charts(vec![alone])).into_iter().collect(),
        (false, None) => vec![Part::Charts(among)],
        (false, Some(alone)) => vec![Part::Switch(Switch {
            groups: vec![Group {
                what: "Show it",
                choices: vec!["Among other drives".into(), "Alone".into()],
            }],
            panels: vec![
                Panel { choices: vec![0], heading: "Among other drives".into(), charts: among },
                Panel { choices: vec![1], heading: "Alone".into(), charts: vec![alone] },
            ],
        })],
    }
}

/// What of a figure is drawn as bars.
#[derive(Clone, Copy)]
pub(super) struct Quantity {
    /// Its unit, or what it is.
    pub(super) unit: &'static str,
    pub(super) best: Best,
    pub(super) of: fn(&Figure) -> f64,
    /// The same of a reference drive.
    pub(super) of_reference: fn(ReferenceFigure) -> f64,
    pub(super) say: fn(f64) -> String,
}

const DATA_RATE: Quantity = Quantity {
    unit: "MB/s",
    best: Best::Highest,
    of: |figure| figure.mb_per_s,
    of_reference: |figure| figure.0,
    say: rate,
};

/// A bar for each drive that has the figure, and for the reference drives. Charts with the same `longest` can
/// be compared.
pub(super) fn compared(
    all: &Entries,
    entries: &[&Entry],
    name: &str,
    title: &str,
    longest_of_all: Option<f64>,
) -> Chart {
    compared_by(all, entries, (name, title), DATA_RATE, longest_of_all)
}

/// The same of any quantity.
pub(super) fn compared_by(
    all: &Entries,
    entries: &[&Entry],
    (name, title): (&str, &str),
    quantity: Quantity,
    longest_of_all: Option<f64>,
) -> Chart {
    let row = |(entry, figure): (&Entry, &Figure)| BarRow {
        label: bar_label(all, entry, figure),
        value: (quantity.of)(figure),
        text: (quantity.say)((quantity.of)(figure)),
        under_test: entry.under_test,
        hatched: hatched(all, entry),
        ..BarRow::default()
    };
    let mut rows: Vec<BarRow> = having(entries, name).into_iter().map(row).collect();
    let own = longest(&rows);
    rows.extend(references(all, entries, name, quantity));
    // A reference of another class would make all others a line: its bar is cut.
    let whole = rows.iter().map(BarRow::length).filter(|length| *length <= own * MOST_OWN);
    let longest = longest_of_all.unwrap_or_else(|| whole.fold(0.0, f64::max));
    bars(title, quantity.unit, Bars::sorted(rows, longest, quantity.best))
}

/// What the grey bars and lines are, where there are any.
pub(super) fn greys(all: &Entries) -> Markup {
    html! {
        @if let Some(references) = all.references {
            " Grey: " (references.about()) ". Bars that fade out are cut."
            @if has_used_references(all) { " The used state of grey drives was measured at full length." }
            @if all.all.iter().any(|entry| entry.record.clock == ClockName::Wall) {
                " This drive is hardware in wall time; a virtual drive is a model in its own time."
            }
        }
    }
}

/// Whether a grey bar among those of a method without a chapter of its own is of the used state.
fn has_used_references(all: &Entries) -> bool {
    let records = all.all.iter().map(|entry| entry.record);
    let mut records = records.filter(|it| has_bars(&it.method) && it.figures.contains_key(USED));
    records.any(|record| all.beside.iter().any(|(drive, _)| drive.figure(record, USED).is_some()))
}

/// The longest of some bars.
pub(super) fn longest(rows: &[BarRow]) -> f64 {
    rows.iter().map(BarRow::length).fold(0.0, f64::max)
}

/// Whether an entry's bars are hatched.
pub(super) fn hatched(all: &Entries, entry: &Entry) -> bool {
    all.mixed_clocks && entry.record.clock == ClockName::Wall
}

/// The bars of the reference drives that have a figure of these entries.
fn references(all: &Entries, entries: &[&Entry], name: &str, quantity: Quantity) -> Vec<BarRow> {
    let Some((entry, _)) = having(entries, name).into_iter().next() else { return Vec::new() };
    let row = |(drive, _): &(&Reference, Role)| {
        let value = (quantity.of_reference)(drive.figure(entry.record, name)?);
        let (label, text) = (drive.short_title().into(), (quantity.say)(value));
        Some(BarRow { label, value, text, reference: true, ..BarRow::default() })
    };
    all.beside.iter().filter_map(row).collect()
}

/// A bar for each figure of a drive that stands alone.
fn alone_rows(all: &Entries, entry: &Entry, names: &[(&str, String)]) -> Vec<BarRow> {
    let row = |(name, words): &(&str, String)| {
        let figure = entry.record.figures.get(*name)?;
        Some(BarRow {
            label: marked(words.clone(), figure.complete),
            value: figure.mb_per_s,
            text: rate(figure.mb_per_s),
            under_test: true,
            hatched: hatched(all, entry),
            ..BarRow::default()
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
