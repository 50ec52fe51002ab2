//! The page's tables and words: the four corners, what was concluded, every figure.

use fourcorners_record::{ClockName, Figure, FlashWear, Record};
use maud::{Markup, html};

use super::entries::{Entries, Entry, has_bars};
use super::members;
use super::words::{
    NO_VALUE, clock_words, ended_words, figure_words, iops, method_words, micros, percent, rate,
    ratio, thousands, watts,
};

/// A corner: its heading, what is beneath, and the figures that may stand for it, the first of
/// them that was measured. Incompressible data come first: they cost every controller the same.
struct Corner {
    heading: &'static str,
    how: &'static str,
    figures: &'static [&'static str],
}

const CORNERS: [Corner; 4] = [
    Corner { heading: "Random read", how: "4 KiB, QD 3", figures: &["random_read_4k_qd3"] },
    Corner {
        heading: "Random write",
        how: "4 KiB, QD 3",
        figures: &[
            "random_write_4k_qd3_incompressible",
            "random_write_4k_qd3",
            "random_write_4k_qd3_repeating",
        ],
    },
    Corner {
        heading: "Sequential read",
        how: "128 KiB, QD 1",
        figures: &["sequential_read_128k_qd1"],
    },
    Corner {
        heading: "Sequential write",
        how: "128 KiB, QD 1",
        figures: &[
            "sequential_write_128k_qd1_incompressible",
            "sequential_write_128k_qd1",
            "sequential_write_128k_qd1_repeating",
        ],
    },
];

impl Corner {
    fn of<'a>(&self, record: &'a Record) -> Option<&'a Figure> {
        self.figures.iter().find_map(|name| record.figures.get(*name))
    }
}

/// "virtual time" or "wall time", in words and a shape of its own.
pub(super) fn clock_badge(clock: ClockName) -> Markup {
    let class = match clock {
        ClockName::Virtual => "badge virtual",
        ClockName::Wall => "badge wall",
    };
    html! { span class=(class) { (clock_words(clock)) } }
}

/// What to keep in mind where both clocks stand together.
pub(super) fn clocks_note(all: &Entries) -> Markup {
    html! {
        @if all.mixed_clocks {
            " Results in " (clock_badge(ClockName::Virtual)) " come from a model, results in "
            (clock_badge(ClockName::Wall)) " from hardware."
        }
    }
}

/// Whether a record has a corner. Other methods may have figures of the same name.
fn has_corner(entry: &Entry) -> bool {
    has_bars(&entry.record.method) && CORNERS.iter().any(|corner| corner.of(entry.record).is_some())
}

/// The corners of all records that have one, side by side; nothing of one alone.
pub(super) fn side_by_side(all: &Entries) -> Option<Markup> {
    let entries: Vec<&Entry> = all.all.iter().filter(|entry| has_corner(entry)).collect();
    (entries.len() > 1).then(|| {
        html! {
            div.wide.fit tabindex="0" role="region" aria-label="The four corners side by side" {
                table {
                    caption { span { "MB/s." (clocks_note(all)) } }
                    thead { tr {
                        th scope="col" { "Drive" }
                        @for corner in &CORNERS {
                            th scope="col" { (corner.heading) br; small { (corner.how) } }
                        }
                    } }
                    tbody { @for entry in entries { tr {
                        th scope="row" {
                            @if entry.under_test { strong { (entry.label) } }
                            @else { (entry.label) }
                            " " (clock_badge(entry.record.clock))
                        }
                        @for corner in &CORNERS { td {
                            @match corner.of(entry.record) {
                                Some(figure) => {
                                    (rate(figure.mb_per_s))
                                    @if !figure.complete { br; small.warn { "incomplete" } }
                                },
                                None => "not run",
                            }
                        } }
                    } } }
                }
            }
        }
    })
}

/// Every figure of a record.
pub(super) fn figures(all: &Entries, entry: &Entry) -> Markup {
    let record = entry.record;
    let has =
        |value: fn(&Figure) -> Option<f64>| record.figures.values().any(|f| value(f).is_some());
    let shows = Shows {
        amplified: has(|figure| figure.write_amplification),
        power: has(|figure| figure.mean_power_w),
    };
    let spare = record.figures.values().find_map(|figure| figure.effective_op);
    let nameplate = record.figures.values().find_map(|figure| figure.nameplate_op);
    let caption = html! {
        strong { (entry.label) } ", " (method_words(&record.method)) " "
        (clock_badge(record.clock)) " "
        @if entry.under_test && all.all.iter().any(|other| !other.under_test) {
            span.badge.tested { "drive under test" }
        }
        @if let Some(how) = ended_words(&record.ended) { " " span.badge.warn { (how) } }
    };
    html! {
        @if record.figures.is_empty() && record.figure_count() > 0 {
            p.empty { (caption) " is in a chapter of its own." }
        } @else if record.figures.is_empty() {
            p.empty { (caption) " has no figures." }
        } @else {
            div.wide tabindex="0" role="region" aria-label=(format!("Figures of {}, {}", entry.label, method_words(&record.method))) {
                table {
                    caption { span { (caption) } }
                    thead {
                        tr {
                            th scope="col" rowspan="2" { "Figure" }
                            th scope="col" rowspan="2" { "MB/s" }
                            th scope="col" rowspan="2" { "IOPS" }
                            th.span scope="colgroup" colspan="7" { "Latency" }
                            th.text scope="col" rowspan="2" { "State" }
                            @if shows.amplified { th scope="col" rowspan="2" { "Write ampl." } }
                            @if shows.power { th scope="col" rowspan="2" { "Power" } }
                        }
                        tr {
                            @for heading in
                                ["mean", "median", "90 %", "99 %", "99.9 %", "99.99 %", "max"]
                            { th scope="col" { (heading) } }
                        }
                    }
                    tbody { @for (name, figure) in &record.figures {
                        (figure_row(name, figure, shows))
                    } }
                }
            }
            @if let (Some(spare), Some(nameplate)) = (spare, nameplate) {
                p.note {
                    "Spare area " (percent(nameplate)) " of user space by nameplate, "
                    (percent(spare)) " effective: without open blocks and the collection reserve."
                }
            }
            @if let Some(wear) = record.figures.values().rev().find_map(|figure| figure.wear) {
                p.note { (wear_words(&wear)) }
            }
        }
        @if let Some(drives) = members::markup(entry) { (drives) }
    }
}

/// How worn the flash was in the end.
fn wear_words(wear: &FlashWear) -> String {
    let mut words = format!(
        "Flash erased {} to {} times, {:.1} on average: {} of its endurance.",
        thousands(wear.erases_min.into()),
        thousands(wear.erases_max.into()),
        wear.erases_mean,
        percent(wear.endurance_used)
    );
    if wear.blocks_retired > 0 {
        words += &format!(" {} blocks have failed.", thousands(wear.blocks_retired.into()));
    }
    if wear.read_only {
        words += " The drive is worn out and read-only.";
    }
    words
}

/// Which columns a table has beyond those of all.
#[derive(Clone, Copy)]
struct Shows {
    amplified: bool,
    power: bool,
}

fn figure_row(name: &str, figure: &Figure, shows: Shows) -> Markup {
    let latency = &figure.latency_us;
    let times = [
        latency.mean,
        latency.p50,
        latency.p90,
        latency.p99,
        latency.p999,
        latency.p9999,
        latency.max,
    ];
    html! {
        tr {
            th scope="row" {
                (figure_words(name))
                @if !figure.complete { " " span.badge.warn { "incomplete" } }
            }
            td.main { (rate(figure.mb_per_s)) }
            td { (iops(figure.iops)) }
            @for time in times { td { (micros(time)) } }
            td.text { (figure.state) }
            @if shows.amplified {
                td { (figure.write_amplification.map_or(NO_VALUE.into(), ratio)) }
            }
            @if shows.power { td { (figure.mean_power_w.map_or(NO_VALUE.into(), watts)) } }
        }
    }
}
