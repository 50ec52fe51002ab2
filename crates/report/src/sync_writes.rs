//! Synchronous writes: what each costs by how it becomes durable, and what several jobs have together.

use fourcorners_record::Figure;
use maud::{Markup, html};

use super::chapter::Part;
use super::entries::{Entries, Entry};
use super::words::{FigureName, iops, micros, rate};

/// The method whose figures these are.
pub(super) const METHOD: &str = "sync-writes";

/// What the words behind the depth in a figure's name say.
fn how(name: &FigureName) -> String {
    let words: Vec<&str> = name.rest.split('_').collect();
    let durable = if words.contains(&"flush") {
        "a flush after each"
    } else if words.contains(&"fua") {
        "FUA"
    } else {
        "not made durable"
    };
    durable.into()
}

/// The chapter.
pub(super) fn parts(all: &Entries) -> Vec<Part> {
    let entries = all.of_method(METHOD);
    if entries.iter().all(|entry| entry.record.figures.is_empty()) {
        return Vec::new();
    }
    let words = html! { p {
        "4 KiB written in order, one at a time in each job, as databases and journals write. Where a flush \
         follows a write, its time is in the latency; FUA asks the drive for the same in one command. What \
         is not made durable may stay in a cache, and is what the others are to be held against. IOPS and \
         MB/s are those of all jobs together, in 10" sup { "6" } " bytes per second."
    } };
    let tables = entries.iter().map(|entry| Part::Text(table(all, entry)));
    [Part::Text(words)].into_iter().chain(tables).collect()
}

fn table(all: &Entries, entry: &Entry) -> Markup {
    let named = |(name, figure)| Some((FigureName::parse(name)?, figure));
    let rows: Vec<(FigureName, &Figure)> = entry
        .record
        .figures
        .iter()
        .map(|(name, figure)| (name.as_str(), figure))
        .filter_map(named)
        .collect();
    let label = entry.label_with_clock(all);
    html! {
        div.wide tabindex="0" role="region" aria-label=(format!("Synchronous writes of {label}")) {
            table {
                caption { span { (label) } }
                thead { tr {
                    th.text scope="col" { "4 KiB writes, QD 1" }
                    @for heading in ["jobs", "IOPS", "MB/s", "mean", "99 %", "max"] {
                        th scope="col" { (heading) }
                    }
                } }
                tbody { @for (name, figure) in &rows {
                    tr {
                        th scope="row" {
                            (how(name))
                            @if !figure.complete { br; small.warn { "incomplete" } }
                        }
                        td { (figure.job.jobs) }
                        td.main { (iops(figure.iops)) }
                        td { (rate(figure.mb_per_s)) }
                        td { (micros(figure.latency_us.mean)) }
                        td { (micros(figure.latency_us.p99)) }
                        td { (micros(figure.latency_us.max)) }
                    }
                } }
            }
        }
    }
}
