//! The card of a trace for a terminal and as JSON.

use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table};
use fourcorners_record::{Bin, Card, LAST_DEPTH_ABOVE, LAST_SIZE_ABOVE, Share, Spread};
use fourcorners_report::plain;
use fourcorners_words::{count, counted, three_digits, time};
use serde::Serialize;

/// The name and version of the JSON document's form.
const SCHEMA: &str = "fourcorners.trace/1";

/// The card as one JSON document.
pub(super) fn json(card: &Card) -> serde_json::Result<String> {
    #[derive(Serialize)]
    struct Document<'a> {
        schema: &'static str,
        #[serde(flatten)]
        card: &'a Card,
    }
    serde_json::to_string(&Document { schema: SCHEMA, card })
}

/// The card as tables no wider than `width`.
pub(super) fn table(card: &Card, width: usize) -> String {
    let facts = facts(card);
    let mut text = format!("{} ({})\n\n", plain(&card.trace), card.format);
    text += &columns(width, &facts);
    text += &histogram(width, card, ("size", LAST_SIZE_ABOVE), &card.sizes, size);
    if !card.queue_depths.is_empty() {
        let depth = |depth: u64| depth.to_string();
        let what = ("queue depth", LAST_DEPTH_ABOVE);
        text += &histogram(width, card, what, &card.queue_depths, depth);
    }
    text
}

fn facts(card: &Card) -> Vec<[String; 2]> {
    let per = |part: u64| percent(part as f64 / (card.reads + card.writes).max(1) as f64);
    let mut facts = vec![
        ["I/Os".into(), grouped(card.ios)],
        ["reads".into(), data(card.reads, card.read_bytes, &per(card.reads))],
        ["writes".into(), data(card.writes, card.write_bytes, &per(card.writes))],
    ];
    if card.trims > 0 {
        facts.push([
            "TRIMs".into(),
            format!("{}, {}", grouped(card.trims), amount(card.trim_bytes)),
        ]);
    }
    if card.flushes > 0 {
        facts.push(["flushes".into(), grouped(card.flushes)]);
    }
    // I/Os that all come at one time have no rate.
    let rate = match card.duration_s {
        seconds if seconds > 0.0 => {
            format!(", {} I/Os a second", three_digits(card.ios as f64 / seconds))
        }
        _ => String::new(),
    };
    facts.extend([
        ["duration".into(), format!("{:.3} s{rate}", card.duration_s)],
        ["touches up to".into(), amount(card.extent_bytes)],
        ["largest I/O".into(), size(card.largest_bytes)],
        ["sequential".into(), share(&card.sequential)],
        ["aligned to 4 KiB".into(), share(&card.aligned_4k)],
    ]);
    if card.aligned_512.all < 1.0 {
        facts.push(["aligned to 512".into(), share(&card.aligned_512)]);
    }
    match card.mean_queue_depth {
        Some(depth) => facts.push(["mean queue depth".into(), format!("{depth:.2}")]),
        // It is counted at reads and writes, and only flushes or TRIMs may say how long they took.
        None if card.has_durations() => {
            facts.push(["queue depth".into(), "not known: no durations of reads or writes".into()])
        }
        None => facts.push(["queue depth".into(), "not known: no durations".into()]),
    }
    if let Some(latency) = &card.latency_us {
        facts.push(["recorded latency".into(), spread(latency)]);
    }
    let think = if card.has_durations() { "think time" } else { "between issues" };
    facts.push([think.into(), spread(&card.think_us)]);
    for (name, count) in
        [("devices", card.devices), ("out of order", card.out_of_order), ("left out", card.skipped)]
    {
        if count > u64::from(name == "devices") {
            facts.push([name.into(), grouped(count)]);
        }
    }
    facts
}

fn columns(width: usize, rows: &[[String; 2]]) -> String {
    let mut table = empty(width);
    for [name, value] in rows {
        table.add_row([name, value]);
    }
    print(table)
}

fn histogram(
    width: usize,
    card: &Card,
    (what, last_above): (&str, u64),
    bins: &[Bin],
    words: impl Fn(u64) -> String,
) -> String {
    let mut table = empty(width);
    table.add_row(right([what, "reads", "", "writes", ""].map(String::from)));
    for bin in bins {
        let label = match bin.up_to {
            Some(up_to) => format!("≤ {}", words(up_to)),
            None => format!("> {}", words(last_above)),
        };
        let part = |count: u64, all: u64| percent(count as f64 / all.max(1) as f64);
        table.add_row(right([
            label,
            grouped(bin.reads),
            part(bin.reads, card.reads),
            grouped(bin.writes),
            part(bin.writes, card.writes),
        ]));
    }
    format!("\n{}", print(table))
}

fn right<const N: usize>(texts: [String; N]) -> [Cell; N] {
    texts.map(|text| Cell::new(text).set_alignment(CellAlignment::Right))
}

fn empty(width: usize) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(width).unwrap_or(u16::MAX).max(1)).force_no_tty();
    table
}

fn print(mut table: Table) -> String {
    if let Some(first) = table.column_mut(0) {
        first.set_padding((0, 1));
    }
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn data(ios: u64, bytes: u64, share: &str) -> String {
    format!("{} ({share}), {}", grouped(ios), amount(bytes))
}

fn share(share: &Share) -> String {
    let [reads, writes, all] = [share.reads, share.writes, share.all].map(percent);
    format!("{all} (reads {reads}, writes {writes})")
}

fn spread(spread: &Spread) -> String {
    let [mean, p50, p99, max] = [spread.mean, spread.p50, spread.p99, spread.max].map(time);
    format!("mean {mean}, median {p50}, 99 % {p99}, max {max}, {:.1} s in all", spread.sum_s)
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Bytes in gigabytes, and below a tenth of one in a smaller unit.
fn amount(bytes: u64) -> String {
    match bytes as f64 / 1e9 {
        100.0.. => format!("{:.1} GB", bytes as f64 / 1e9),
        0.1.. => format!("{:.3} GB", bytes as f64 / 1e9),
        _ => fourcorners_words::size(bytes),
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        bytes if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => {
            format!("{} MiB", bytes >> 20)
        }
        bytes if bytes >= 1 << 10 && bytes.is_multiple_of(1 << 10) => {
            format!("{} KiB", bytes >> 10)
        }
        bytes => counted(bytes, "byte"),
    }
}

fn grouped(number: u64) -> String {
    count(number as f64)
}
