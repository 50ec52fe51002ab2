//! Endurance: how much is written to flash for what the host writes, how long that lasts, and how
//! long data stays.

use maud::{Markup, html};

use super::chapter::Part;
use super::curves::{self, Drawn};
use super::entries::{Entries, Entry};
use super::words::{NO_VALUE, iops, ratio};

/// The method that measures it.
pub(super) const METHOD: &str = "endurance";

const RANDOM: &str = "random_write_4k_qd32_incompressible_used";
const ORDERED: &str = "sequential_write_128k_qd32_incompressible";

/// The laws of retention, by the names of their curves.
const RETENTION: [(&str, &str); 2] = [
    ("retention_by_arrhenius", "Arrhenius' law"),
    ("retention_by_nine_degrees", "half for every 9 °C"),
];

/// The chapter.
pub(super) fn parts(all: &Entries) -> Vec<Part> {
    let entries = all.of_method(METHOD);
    let known: Vec<&Entry> =
        entries.iter().copied().filter(|entry| !entry.record.figures.is_empty()).collect();
    let mut parts = Vec::new();
    if !known.is_empty() {
        parts.push(Part::Text(table(all, &known)));
    }
    let drives: Vec<(&Entry, Vec<Drawn>)> = entries
        .iter()
        .map(|entry| (*entry, laws(entry)))
        .filter(|(_, laws)| !laws.is_empty())
        .collect();
    // On axes alike, so that drives that keep data for longer have higher lines.
    let laws = drives.iter().flat_map(|(_, laws)| laws);
    let values: Vec<f64> = laws.flat_map(|law| law.curve.points.iter().map(|&(_, y)| y)).collect();
    let chart = |(entry, laws): &(&Entry, Vec<Drawn>)| {
        let title = "How long data stays on flash that is worn out";
        match entries.len() {
            1 => curves::chart(title, laws, &values),
            _ => curves::chart(&format!("{}: {title}", entry.label_with_clock(all)), laws, &values),
        }
    };
    if !drives.is_empty() {
        parts.push(Part::Charts(drives.iter().map(chart).collect()));
    }
    parts
}

/// How long a drive keeps data by the temperature it lies at, by each law that its record has.
fn laws<'a>(entry: &Entry<'a>) -> Vec<Drawn<'a>> {
    let law = |(style, (name, label)): (usize, &(&str, &str))| {
        let curve = entry.record.curves.get(*name)?;
        Some(Drawn { label: (*label).into(), style, curve })
    };
    RETENTION.iter().enumerate().filter_map(law).collect()
}

fn table(all: &Entries, entries: &[&Entry]) -> Markup {
    let amplification = |entry: &Entry, name: &str| {
        let figure = entry.record.figures.get(name);
        figure.and_then(|it| it.write_amplification).map_or(NO_VALUE.into(), ratio)
    };
    let concluded = |entry: &Entry, about: &str| {
        entry.record.notes.iter().find(|it| it.about == about).and_then(|it| it.value)
    };
    html! {
        div.wide tabindex="0" role="region" aria-label="Endurance" {
            table {
                caption { span { "Write amplification as measured, and how long the flash lasts" } }
                thead { tr {
                    th scope="col" { "Drive" }
                    @for heading in [
                        "written in order", "written at random", "days at random",
                        "drive writes a day at random",
                    ] { th scope="col" { (heading) } }
                } }
                tbody { @for entry in entries { tr {
                    th scope="row" { (entry.label_with_clock(all)) }
                    td { (amplification(entry, ORDERED)) }
                    td { (amplification(entry, RANDOM)) }
                    td.main { (concluded(entry, "endurance").map_or(NO_VALUE.into(), iops)) }
                    td { (concluded(entry, "drive-writes").map_or(NO_VALUE.into(), ratio)) }
                } } }
            }
        }
    }
}
