//! The sizes of a trace's reads and writes as bars, in order of size.

use fourcorners_record::{Bin, Card, LAST_SIZE_ABOVE};
use maud::html;

use super::chapter::Part;
use super::chart::{BarRow, Bars, Chart, file_name};
use super::entries::Entries;
use super::speed::bars;
use super::tasks::{are_tasks, replays};
use super::words::{NO_VALUE, percent};

/// Charts of the traces of the storage bench, each once, whatever number of drives it was replayed on.
pub(super) fn parts(all: &Entries) -> Vec<Part> {
    let mut traces: Vec<(&str, &Card)> = Vec::new();
    for entry in all.all.iter().filter(|entry| !are_tasks(entry.record)) {
        for (name, replay) in replays(entry.record) {
            if traces.iter().all(|(_, known)| **known != replay.card) {
                traces.push((name, &replay.card));
            }
        }
    }
    let charts: Vec<Chart> = traces
        .into_iter()
        .map(|(name, card)| chart(name, card))
        .filter(Chart::has_several_bars)
        .collect();
    if charts.is_empty() {
        return Vec::new();
    }
    vec![
        Part::Heading("Access sizes".into()),
        Part::Text(
            html! { p { "The share of a trace's reads and writes that are of a size. Small ones wait \
            for latency, large ones for data rate." } },
        ),
        Part::Charts(charts),
    ]
}

fn chart(name: &str, card: &Card) -> Chart {
    let ios = card.reads.saturating_add(card.writes).max(1) as f64;
    let used = |bin: &&Bin| bin.reads > 0 || bin.writes > 0;
    let rows: Vec<BarRow> = card.sizes.iter().filter(used).map(|bin| row(card, bin, ios)).collect();
    let longest = rows.iter().map(|row| row.value).fold(0.0, f64::max);
    // In order of size and not of share: it is the shape that tells one work from another.
    let mut chart = bars(
        &format!("{name}: access sizes"),
        "share of reads and writes",
        Bars { rows, longest, what: String::new() },
    );
    chart.name = file_name(&format!("access sizes {name}"));
    chart
}

fn row(card: &Card, bin: &Bin, ios: f64) -> BarRow {
    let share = bin.reads.saturating_add(bin.writes) as f64 / ios;
    let of = |part: u64, whole: u64| match whole {
        0 => NO_VALUE.into(),
        whole => percent(part as f64 / whole as f64),
    };
    BarRow {
        // At a bar's end there is room for a number.
        label: format!(
            "{} · reads {}, writes {}",
            size_words(bin),
            of(bin.reads, card.reads),
            of(bin.writes, card.writes)
        ),
        value: share,
        text: percent(share),
        under_test: true,
        ..BarRow::default()
    }
}

/// The sizes of a class.
fn size_words(bin: &Bin) -> String {
    let binary = |bytes: u64| match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KiB", bytes / 1024),
        _ => format!("{} MiB", bytes / 1_048_576),
    };
    match bin.up_to {
        Some(up_to) => format!("up to {}", binary(up_to)),
        None => format!("above {}", binary(LAST_SIZE_ABOVE)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trace with no size but what is given.
    fn card(sizes: &[(Option<u64>, u64, u64)]) -> Card {
        let nothing = serde_json::json!({
            "trace": "t.csv", "format": "csv", "ios": 0, "reads": 0, "writes": 0, "trims": 0, "flushes": 0,
            "read_bytes": 0, "write_bytes": 0, "trim_bytes": 0, "duration_s": 1.0, "extent_bytes": 0,
            "largest_bytes": 0, "devices": 1, "sizes": [],
            "sequential": {"reads": 0.0, "writes": 0.0, "all": 0.0},
            "aligned_4k": {"reads": 0.0, "writes": 0.0, "all": 0.0},
            "aligned_512": {"reads": 0.0, "writes": 0.0, "all": 0.0},
            "think_us": {"count": 0, "mean": 0.0, "p50": 0.0, "p90": 0.0, "p99": 0.0, "max": 0.0, "sum_s": 0.0},
            "out_of_order": 0, "skipped": 0
        });
        let mut card: Card = serde_json::from_value(nothing).expect("a card");
        card.sizes =
            sizes.iter().map(|&(up_to, reads, writes)| Bin { up_to, reads, writes }).collect();
        card.reads = card.sizes.iter().map(|bin| bin.reads).sum();
        card.writes = card.sizes.iter().map(|bin| bin.writes).sum();
        card
    }

    #[test]
    fn a_class_is_a_bar_in_order_of_size_and_an_empty_one_is_none() {
        let card =
            card(&[(Some(512), 0, 0), (Some(4096), 10, 20), (Some(131_072), 60, 0), (None, 0, 10)]);
        let drawn = chart("work", &card);
        let rows: Vec<(&str, Vec<String>)> =
            drawn.table.rows.iter().map(|(name, values)| (name.as_str(), values.clone())).collect();
        assert_eq!(
            rows,
            [
                ("up to 4 KiB · reads 14.3 %, writes 66.7 %", vec!["30.0 %".to_string()]),
                ("up to 128 KiB · reads 85.7 %, writes 0.0 %", vec!["60.0 %".to_string()]),
                ("above 16 MiB · reads 0.0 %, writes 33.3 %", vec!["10.0 %".to_string()]),
            ]
        );
    }

    #[test]
    fn a_trace_of_one_size_needs_no_chart() {
        assert!(!chart("work", &card(&[(Some(4096), 5, 5)])).has_several_bars());
        let only_reads = chart("work", &card(&[(Some(512), 5, 0), (Some(4096), 5, 0)]));
        assert!(only_reads.description.contains(&format!("writes {NO_VALUE}")));
    }

    #[test]
    fn more_than_can_be_counted_is_no_panic() {
        let mut card = card(&[(Some(512), 1, u64::MAX), (None, 1, 0)]);
        (card.reads, card.writes) = (u64::MAX, u64::MAX);
        assert_eq!(chart("work", &card).table.rows.len(), 2);
    }
}
