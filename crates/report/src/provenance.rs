//! Provenance: target, versions, seed and method, enough to repeat the run elsewhere.

use fourcorners_record::{Record, TargetInfo};
use maud::{Markup, html};

use super::entries::Entry;
use super::variation;
use super::words::{
    bytes, clock_words, ended_words, figure_words, job_words, kind_words, method_words, micros,
    thousands,
};

/// A record's target, set-up, jobs and the fio command of each.
pub(super) fn record(entry: &Entry, open: bool) -> Markup {
    let record = entry.record;
    html! {
        details open[open] {
            summary {
                span { (entry.label) } " "
                small { (method_words(&record.method)) ", " (clock_words(record.clock)) }
            }
            dl.facts {
                @for (name, value) in facts(record) { div { dt { (name) } dd { (value) } } }
            }
            @for (name, figure) in &record.figures {
                div.job {
                    h3 {
                        (figure_words(name))
                        @if !figure.complete { " " span.badge.warn { "incomplete" } }
                    }
                    p {
                        (job_words(&figure.job)) ". State before: " (figure.state) ". Ran "
                        (format!("{:.1}", figure.duration_s)) " s, " (bytes(figure.bytes)) ", mean "
                        "queue depth " (format!("{:.2}", figure.mean_queue_depth)) "."
                        @if let Some(cpu) = figure.cpu_us_per_io {
                            " CPU time per I/O " (micros(cpu)) "."
                        }
                    }
                    @if !figure.fio.is_empty() {
                        div.command {
                            pre { code { (unbroken(&figure.fio)) } }
                            button type="button" hidden {
                                span aria-live="polite" { "Copy" }
                                span.unseen { " the fio command of " (figure_words(name)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A command whose lines break between arguments only: a browser would break at hyphens, and
/// options begin with two.
pub(super) fn unbroken(command: &str) -> Markup {
    html! {
        @for (index, argument) in command.split(' ').enumerate() {
            @if index > 0 { " " }
            span { (argument) }
        }
    }
}

/// Drives in their order, those of one title that follow each other as one: "4 x Crucial m4 256 GB".
fn counted(drives: &[String]) -> Vec<String> {
    let alike = drives.chunk_by(|one, next| one == next);
    alike.map(|alike| format!("{} x {}", alike.len(), alike[0])).collect()
}

/// Names and values, without those that are not known.
fn facts(record: &Record) -> Vec<(&'static str, String)> {
    let TargetInfo {
        name,
        title: _,
        kind,
        capacity_bytes,
        logical_block_bytes,
        direct,
        in_memory,
        drives,
        model,
        serial,
        firmware,
        profile_hash,
        rated_cycles,
        flash,
        fitted,
        variation: how_it_varies,
        set,
        host_controller,
        host_trim,
        loaded_state,
    } = &record.target;
    let list = |values: &Vec<String>| (!values.is_empty()).then(|| values.join(", "));
    let host = record.host.as_ref();
    let facts = [
        ("Target", Some(name.clone())),
        ("Kind", Some(kind_words(*kind).into())),
        ("Drives", list(&counted(drives))),
        ("Model", model.clone()),
        ("Serial number", serial.clone()),
        ("Firmware", firmware.clone()),
        (
            "Capacity",
            Some(format!("{} ({} bytes)", bytes(*capacity_bytes), thousands(*capacity_bytes))),
        ),
        ("Logical block", Some(format!("{logical_block_bytes} bytes"))),
        ("Direct I/O", direct.map(|direct| if direct { "yes" } else { "no: page cache" }.into())),
        ("Not a drive", in_memory.clone()),
        ("Profile", profile_hash.clone()),
        ("Flash", flash.as_ref().map(|flash| flash.cells.clone())),
        (
            "Rated writes",
            flash.as_ref().and_then(|flash| {
                Some(format!("{} TB", thousands(flash.rated_tb?.round() as u64)))
            }),
        ),
        ("Rated cycles", rated_cycles.map(|cycles| thousands(cycles.into()))),
        ("Fitted parameters", list(fitted).or(profile_hash.as_ref().map(|_| "none".into()))),
        ("Variation", how_it_varies.map(|how| variation::known_from(how).into())),
        ("Set by hand", list(set)),
        (
            "Host",
            host_controller.as_ref().map(|name| match host_trim {
                Some(trim) => format!("{name}, {}", trim.words()),
                None => name.clone(),
            }),
        ),
        ("Loaded state", loaded_state.clone()),
        ("Clock", Some(clock_words(record.clock).into())),
        ("Method", Some(record.method.clone())),
        (
            "Plan file",
            record.plan.as_ref().map(|plan| {
                let about = plan.about.as_ref().map_or_else(String::new, |it| format!(": {it}"));
                format!("{}, SHA-256 {}{about}", plan.name, plan.sha256)
            }),
        ),
        ("Shortened", record.quick.then(|| "yes, by --quick".into())),
        ("Ended", Some(ended_words(&record.ended).unwrap_or("complete".into()))),
        ("Seed", Some(record.seed.to_string())),
        ("fourcorners", Some(record.version.clone())),
        ("Author", record.author.clone()),
        ("Kernel", host.map(|host| host.kernel.clone())),
        ("CPU", host.map(|host| format!("{} ({} logical)", host.cpu, host.cpus))),
        ("Started", Some(record.started_at.clone())),
        ("Finished", Some(record.finished_at.clone())),
        ("Record", Some(record.id.clone())),
    ];
    let known = |(name, value): (&'static str, Option<String>)| Some((name, value?));
    facts.into_iter().filter_map(known).filter(|(_, value)| !value.is_empty()).collect()
}
