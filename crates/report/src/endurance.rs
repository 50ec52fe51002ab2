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
    ("retention_by_arrhenius", "Arrhenius' law, 1.1 eV"),
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
    // It follows from temperature alone, so that of any drive is that of all.
    let laws: Vec<Drawn> = RETENTION
        .iter()
        .enumerate()
        .filter_map(|(style, (name, label))| {
            let curve = entries.iter().find_map(|entry| entry.record.curves.get(*name))?;
            Some(Drawn { label: (*label).into(), style, curve })
        })
        .collect();
    if !laws.is_empty() {
        let values: Vec<f64> =
            laws.iter().flat_map(|law| law.curve.points.iter().map(|&(_, y)| y)).collect();
        let chart = curves::chart("How long data stays on flash that is worn out", &laws, &values);
        parts.push(Part::Charts(vec![chart]));
    }
    parts
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
