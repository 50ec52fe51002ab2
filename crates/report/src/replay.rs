//! A replay as a table: the storage bench's figures, and what was replayed.

use comfy_table::{Attribute, Cell, CellAlignment, Color, LineStyle, Table};
use fourcorners_record::{Replay, ReplayPart};
use fourcorners_words::counted;

use super::table::plain;
use super::words::{bytes, figure_words, micros, percent, rate};

/// The figures, three lines each: all I/Os, reads and writes. Of 80 columns there is none left for the median, which is on the
/// page.
pub(super) fn figures(replay: &Replay, mut table: Table) -> Table {
    table.style_mut().header_separator = LineStyle::none().fill('─').junction('─');
    let headings = [
        "",
        "MB/s",
        "service\nmean",
        "busy",
        "\np99",
        "\np99.9",
        "\nmax",
        "% over\n1 ms",
        "\n10 ms",
        "\n100 ms",
    ];
    table.set_header(headings.map(|heading| {
        Cell::new(heading).set_alignment(CellAlignment::Right).add_attribute(Attribute::Bold)
    }));
    for (name, figure) in &replay.figures {
        let words = plain(&figure_words(name));
        // The title has the first two.
        let words = words.strip_prefix("storage bench ").unwrap_or(&words);
        let name = match figure.complete {
            true => Cell::new(words),
            false => Cell::new(format!("{words}\nincomplete")).fg(Color::Yellow),
        };
        let busy = seconds(figure.busy_s);
        table.add_row(row(name, &figure.all, busy));
        for (name, part) in [("reads", &figure.reads), ("writes", &figure.writes)] {
            if part.ios > 0 {
                table.add_row(row(Cell::new(name), part, String::new()));
            }
        }
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_padding((1, 0));
    }
    table
}

/// Its busy time, in no more digits than the column has room for.
fn seconds(busy: f64) -> String {
    let decimals = usize::from(busy < 999.95);
    format!("{busy:.decimals$} s")
}

fn row(name: Cell, part: &ReplayPart, busy: String) -> Vec<Cell> {
    let numbers = [
        rate(part.mb_per_s),
        micros(part.service_us),
        busy,
        micros(part.latency_us.p99),
        micros(part.latency_us.p999),
        micros(part.latency_us.max),
        percent(part.over_1_ms).trim_end_matches(" %").into(),
        percent(part.over_10_ms).trim_end_matches(" %").into(),
        percent(part.over_100_ms).trim_end_matches(" %").into(),
    ];
    let numbers = numbers.map(|text| Cell::new(text).set_alignment(CellAlignment::Right));
    std::iter::once(name).chain(numbers).collect()
}

/// What was replayed, and how, in a sentence.
pub(super) fn about(replay: &Replay) -> String {
    let card = &replay.card;
    let pace = match (replay.pace.as_str(), replay.idle_cap_ms) {
        ("think", Some(cap)) => format!("after the recorded think time, at most {cap} ms"),
        ("recorded", _) => "at the recorded times".into(),
        _ => "as fast as the drive takes them".into(),
    };
    let addresses = match replay.addresses.as_str() {
        "as_recorded" => String::new(),
        other => format!(", addresses {other}"),
    };
    format!(
        "{}: {}, {} read and {} written, {pace}, at most {} in flight{addresses}",
        card.trace,
        counted(card.ios, "I/O"),
        bytes(card.read_bytes),
        bytes(card.write_bytes),
        replay.queue_depth,
    )
}

#[cfg(test)]
mod tests {
    use fourcorners_record::Latency;

    use super::*;

    #[test]
    fn a_row_has_its_numbers_under_their_headings() {
        let latency_us = Latency {
            min: 1.0,
            mean: 2.0,
            p50: 3.0,
            p90: 4.0,
            p99: 500.0,
            p999: 600.0,
            p9999: 700.0,
            max: 800.0,
        };
        let part = ReplayPart {
            ios: 1,
            bytes: 4096,
            mb_per_s: 12.0,
            service_us: 100.0,
            latency_us,
            over_1_ms: 0.3,
            over_10_ms: 0.2,
            over_100_ms: 0.1,
        };
        let cells = row(Cell::new("reads"), &part, "1.5 s".into());
        let shown: Vec<String> = cells.iter().map(Cell::content).collect();
        assert_eq!(
            shown,
            [
                "reads", "12.0", "100 µs", "1.5 s", "500 µs", "600 µs", "800 µs", "30.0", "20.0",
                "10.0"
            ]
        );
    }
}
