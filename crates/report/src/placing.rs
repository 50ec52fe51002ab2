//! Where a drive that stands alone stands among the reference drives: the first thing on its page.

use fourcorners_record::ClockName;
use fourcorners_results::compare::NO_MATTER;
use maud::{Markup, html};

use super::entries::{Entries, Entry, has_bars};
use super::references::Role;
use super::words::rate;

/// A figure that drives are placed by: its heading, what is beneath, and the names it may have.
struct Placed {
    heading: &'static str,
    how: &'static str,
    figures: &'static [&'static str],
}

const PLACED: [Placed; 7] = [
    Placed { heading: "Random read", how: "4 KiB, QD 3", figures: &["random_read_4k_qd3"] },
    Placed {
        heading: "Random write",
        how: "4 KiB, QD 3",
        figures: &["random_write_4k_qd3_incompressible"],
    },
    Placed {
        heading: "Sequential read",
        how: "128 KiB, QD 1",
        figures: &["sequential_read_128k_qd1"],
    },
    Placed {
        heading: "Sequential write",
        how: "128 KiB, QD 1",
        figures: &["sequential_write_128k_qd1_incompressible"],
    },
    Placed { heading: "Random read", how: "4 KiB, QD 1", figures: &["random_read_4k_qd1"] },
    Placed {
        heading: "Random write",
        how: "4 KiB, QD 1",
        figures: &["random_write_4k_qd1_incompressible"],
    },
    Placed {
        heading: "Random write, used",
        how: "4 KiB, QD 3",
        figures: &["random_write_4k_qd3_incompressible_used"],
    },
];

/// A figure of the drive and those of all reference drives that have it.
pub(super) struct Strip<'a> {
    placed: &'static Placed,
    own: f64,
    others: Vec<(&'a str, f64)>,
}

impl<'a> Strip<'a> {
    fn of(placed: &'static Placed, all: &'a Entries) -> Option<Strip<'a>> {
        let references = all.references?;
        let found = |entry: &'a Entry| {
            let counts = has_bars(&entry.record.method) || entry.record.method == "toms";
            let mut names = placed.figures.iter().filter(|_| counts);
            let (name, figure) =
                names.find_map(|name| Some((*name, entry.record.figures.get(*name)?)))?;
            (figure.complete && figure.mb_per_s > 0.0).then_some((entry, name, figure.mb_per_s))
        };
        let (entry, name, own) = all.all.iter().find_map(found)?;
        let others = references.others(entry.record);
        let others = others.into_iter().filter_map(|drive| {
            let value = drive.figure(entry.record, name)?.0;
            (value > 0.0).then_some((drive.short_title(), value))
        });
        let others: Vec<(&str, f64)> = others.collect();
        (!others.is_empty()).then_some(Strip { placed, own, others })
    }

    /// From 1; drives that are at most 10 % faster share it.
    pub(super) fn place(&self) -> usize {
        let most = self.own * (1.0 + NO_MATTER);
        1 + self.others.iter().filter(|(_, value)| *value > most).count()
    }

    /// Where a value stands between the slowest and the fastest, in equal factors.
    fn share(&self, value: f64) -> f64 {
        let values = || self.others.iter().map(|(_, value)| value.ln()).chain([self.own.ln()]);
        let (low, high) = (values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max));
        if high > low { (value.ln() - low) / (high - low) } else { 0.5 }
    }

    /// "Random read, 4 KiB, QD 3".
    pub(super) fn heading(&self) -> String {
        format!("{}, {}", self.placed.heading, self.placed.how)
    }

    /// The drive's own data rate, MB/s.
    pub(super) fn own(&self) -> f64 {
        self.own
    }

    /// How many other drives there are.
    pub(super) fn others(&self) -> usize {
        self.others.len()
    }

    /// Where the drive stands between the slowest and the fastest.
    pub(super) fn own_share(&self) -> f64 {
        self.share(self.own)
    }

    /// Where the others stand.
    pub(super) fn shares(&self) -> impl Iterator<Item = f64> + '_ {
        self.others.iter().map(|(_, value)| self.share(*value))
    }

    fn end(&self, best: fn(f64, f64) -> bool) -> (&'a str, f64) {
        let end = self.others.iter().copied().reduce(|a, b| if best(b.1, a.1) { b } else { a });
        end.unwrap_or(("", 0.0))
    }
}

/// The section; nothing where the drive is not alone, or nothing is known of others.
pub(super) fn section(all: &Entries) -> Option<Markup> {
    let strips = strips(all);
    let most = strips.iter().map(|strip| strip.others.len()).max()?;
    let about = all.references?.about();
    Some(html! {
        section.placing #placing aria-labelledby="placing-heading" {
            h2 #placing-heading { "Where it stands" }
            p { (sentence(&strips, most)) " " (most_like(all)) }
            div.strips { @for strip in &strips { (drawn(strip)) } }
            p.note {
                "A grey mark is one of " (most) " other drives (" (about) "); the slowest stands at the \
                 left, the fastest at the right, equal distances are equal factors. Drives within 10 % \
                 share a place."
                @if all.all.iter().any(|entry| entry.record.clock == ClockName::Wall) {
                    " This drive is hardware in wall time; a virtual drive is a model in its own time."
                }
            }
        }
    })
}

/// A strip for each figure that can be placed.
pub(super) fn strips<'a>(all: &'a Entries) -> Vec<Strip<'a>> {
    PLACED.iter().filter_map(|placed| Strip::of(placed, all)).collect()
}

/// The best and the worst place, with figures.
pub(super) fn sentence(strips: &[Strip], most: usize) -> String {
    let said = |strip: &Strip| {
        format!(
            "{} ({}): place {}, {} MB/s",
            strip.placed.heading.to_lowercase(),
            strip.placed.how,
            strip.place(),
            rate(strip.own)
        )
    };
    let share = |strip: &&Strip| (strip.place() * 1000) / (strip.others.len() + 1);
    let best = strips.iter().min_by_key(share);
    let worst = strips.iter().max_by_key(share);
    match best.zip(worst) {
        Some((best, worst)) if share(&best) < share(&worst) => format!(
            "Among {} drives it does best in {}; and worst in {}.",
            most + 1,
            said(best),
            said(worst)
        ),
        Some((best, _)) => format!("Among {} drives: {}.", most + 1, said(best)),
        None => String::new(),
    }
}

/// The drives that its charts show beside it.
fn most_like(all: &Entries) -> String {
    let near = all.beside.iter().filter(|(_, role)| *role == Role::Near);
    let near: Vec<&str> = near.map(|(drive, _)| drive.short_title()).collect();
    match near[..] {
        [] => String::new(),
        [ref first @ .., last] if !first.is_empty() => {
            format!("Most like it: {} and {last}.", first.join(", "))
        }
        _ => format!("Most like it: {}.", near.join("")),
    }
}

fn drawn(strip: &Strip) -> Markup {
    let left = |value| format!("left:{:.2}%", strip.share(value) * 100.0);
    let (fastest, slowest) = (strip.end(|a, b| a > b), strip.end(|a, b| a < b));
    let said = format!(
        "{}, {}: {} MB/s, place {} of {}. Fastest: {} {}, slowest: {} {}.",
        strip.placed.heading,
        strip.placed.how,
        rate(strip.own),
        strip.place(),
        strip.others.len() + 1,
        fastest.0,
        rate(fastest.1),
        slowest.0,
        rate(slowest.1)
    );
    html! {
        div.strip role="img" aria-label=(said) {
            span.what { (strip.placed.heading) " " small { (strip.placed.how) } }
            span.low { (rate(slowest.1)) }
            span.track {
                @for (title, value) in &strip.others {
                    i style=(left(*value)) title=(format!("{title}: {} MB/s", rate(*value))) {}
                }
                b style=(left(strip.own)) {}
            }
            span.high { (rate(fastest.1)) }
            span.value { strong { (rate(strip.own)) } " MB/s" }
            span.place { "place " strong { (strip.place()) } " of " (strip.others.len() + 1) }
        }
    }
}
