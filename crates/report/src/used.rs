//! The used state: the same figure fresh and used, and how much of it is kept.

use fourcorners_record::Record;
use maud::{Markup, html};

use super::chapter::Part;
use super::chart::{BarRow, Chart};
use super::entries::{Entries, Entry, having};
use super::speed::{compared, longest};
use super::words::{clock_words, percent, rate};

/// The method that measures the pair.
pub(super) const METHOD: &str = "used-state";

const FRESH: &str = "random_write_4k_qd3_incompressible";
/// The random write of a used drive. The four corners bring the same state about, and measure it as long.
pub(super) const USED: &str = "random_write_4k_qd3_incompressible_used";
/// The method that measures it, too, once it has measured the fresh drive.
const FOUR_CORNERS: &str = "four-corners";
/// From this share of a drive on all of it was written; the end of a span is cut to whole blocks.
const WHOLE: f64 = 0.99;

/// Whether a record is of too few writes to say anything of the used state: seconds do not bring it about.
pub(super) fn is_left_open(record: &Record) -> bool {
    record.quick && record.method == METHOD
}

/// Whether the four corners of a record are of a drive in the used state as [`METHOD`] brings it about: at full length, and
/// with no spare area left (`--spare`), which their longest span tells.
pub(super) fn is_as_of_method(record: &Record) -> bool {
    let spans = record.figures.values().map(|figure| figure.job.span_bytes);
    let longest = spans.max().unwrap_or(0) as f64;
    let is_whole = longest >= record.target.capacity_bytes as f64 * WHOLE;
    record.method == FOUR_CORNERS && !record.quick && is_whole
}

/// The chapter.
pub(super) fn parts(all: &Entries) -> Vec<Part> {
    let (quick, entries): (Vec<&Entry>, Vec<&Entry>) =
        all.of_method(METHOD).into_iter().partition(|entry| is_left_open(entry.record));
    let mut parts = full(all, &entries);
    if !quick.is_empty() {
        let drives: Vec<&str> = quick.iter().map(|entry| entry.label.as_str()).collect();
        parts.push(Part::Text(html! { p {
            "A quick review writes too little to bring a drive into its used state, so nothing is said here of "
            (drives.join(", ")) "."
        } }));
    }
    parts
}

/// Of the reviews that brought the used state about.
fn full(all: &Entries, entries: &[&Entry]) -> Vec<Part> {
    let pairs = having(entries, FRESH).into_iter().chain(having(entries, USED));
    let rows: Vec<BarRow> =
        pairs.map(|(_, figure)| BarRow { value: figure.mb_per_s, ..BarRow::default() }).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let longest = longest(&rows);
    let chart = |name: &str, title: &str| {
        let mut chart = compared(all, entries, name, title, Some(longest));
        chart.name = format!("used-state-{}", chart.name);
        chart.context = "4 KiB random write, QD 3, incompressible".into();
        chart
    };
    let words = html! { p {
        "4 KiB random write at QD 3 of a new drive, and once all of it was written and then written over \
         at random. MB/s, higher is better, on one scale."
    } };
    let mut charts = vec![chart(FRESH, "Fresh"), chart(USED, "Used")];
    charts.retain(Chart::has_several_bars);
    let table = Part::Text(table(all, entries));
    match charts.is_empty() {
        true => vec![Part::Text(words), table],
        false => vec![Part::Text(words), Part::Charts(charts), table],
    }
}

fn table(all: &Entries, entries: &[&Entry]) -> Markup {
    html! {
        div.wide tabindex="0" role="region" aria-label="Fresh and used" {
            table {
                caption { span { "4 KiB random write, QD 3, incompressible: MB/s" } }
                thead { tr {
                    th scope="col" { "Drive" }
                    @if all.mixed_clocks { th.text scope="col" { "Clock" } }
                    @for heading in ["fresh", "used", "kept"] { th scope="col" { (heading) } }
                } }
                tbody { @for entry in entries {
                    @let fresh = entry.record.figures.get(FRESH);
                    @let used = entry.record.figures.get(USED);
                    @if let (Some(fresh), Some(used)) = (fresh, used) {
                        tr {
                            th scope="row" { (entry.label) }
                            @if all.mixed_clocks { td.text { (clock_words(entry.record.clock)) } }
                            td { (rate(fresh.mb_per_s)) }
                            td { (rate(used.mb_per_s)) }
                            td.main { (percent(used.mb_per_s / fresh.mb_per_s)) }
                        }
                    }
                } }
            }
        }
    }
}
