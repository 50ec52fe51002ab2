//! Where a drive that stands alone stands among the reference drives: the first thing on its page.

use fourcorners_record::ClockName;
use fourcorners_results::compare::NO_MATTER;
use fourcorners_words::listed;
use maud::{Markup, html};

use super::entries::{Entries, Entry, has_bars};
use super::references::{Role, rotational};
use super::used;
use super::words::rate;

/// A figure that drives are placed by: its heading, what is beneath, and the names it may have.
struct Placed {
    heading: &'static str,
    how: &'static str,
    figures: &'static [&'static str],
}

const PLACED: [Placed; 8] = [
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
        heading: "Write and flush",
        how: "4 KiB, QD 1",
        figures: &["sequential_write_4k_qd1_flush"],
    },
    Placed { heading: "Random write, used", how: "4 KiB, QD 3", figures: &[used::USED] },
];

/// A figure of the drive and those of all reference drives that have it.
pub(super) struct Strip<'a> {
    placed: &'static Placed,
    own: f64,
    /// Whether the drive is a hard disk; `None` where that is not known.
    rotational: Option<bool>,
    others: Vec<Other<'a>>,
}

/// A reference drive that has the figure, MB/s.
#[derive(Clone, Copy)]
struct Other<'a> {
    title: &'a str,
    value: f64,
    rotational: Option<bool>,
}

impl<'a> Strip<'a> {
    /// Of the first record that has the figure and that other drives have it of, too; of repeats the mean.
    fn of(placed: &'static Placed, all: &'a Entries) -> Option<Strip<'a>> {
        let references = all.references?;
        let of_entry = |entry: &'a Entry| {
            let record = entry.record;
            let method = record.method.as_str();
            let counts =
                has_bars(method) || ["toms", "sync-writes", used::METHOD].contains(&method);
            let mut names = placed.figures.iter().filter(|_| counts);
            let (name, figure) = names.find_map(|name| Some((name, record.figures.get(*name)?)))?;
            if !figure.complete || used::is_left_open(record) {
                return None;
            }
            let own = all.mean_of_repeats(record, name).filter(|own| *own > 0.0)?;
            let others = references.others(record).into_iter().filter_map(|drive| {
                let value = drive.figure(record, name)?.0;
                let other =
                    Other { title: drive.short_title(), value, rotational: drive.rotational() };
                (value > 0.0).then_some(other)
            });
            let others: Vec<Other> = others.collect();
            let rotational = rotational(record);
            (!others.is_empty()).then_some(Strip { placed, own, rotational, others })
        };
        all.all.iter().find_map(of_entry)
    }

    /// From 1; drives that are at most 10 % faster share it.
    pub(super) fn place(&self) -> usize {
        self.place_among(self.others.iter())
    }

    fn place_among<'o>(&self, others: impl Iterator<Item = &'o Other<'o>>) -> usize {
        let most = self.own * (1.0 + NO_MATTER);
        1 + others.filter(|other| other.value > most).count()
    }

    /// Where a value stands between the slowest and the fastest, in equal factors.
    fn share(&self, value: f64) -> f64 {
        let values = || self.others.iter().map(|other| other.value.ln()).chain([self.own.ln()]);
        let (low, high) = (values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max));
        if high > low { (value.ln() - low) / (high - low) } else { 0.5 }
    }

    /// Whether it is of the used state.
    fn is_used(&self) -> bool {
        self.placed.figures.contains(&used::USED)
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
        self.others.iter().map(|other| self.share(other.value))
    }

    /// The fastest and the slowest of all, which stand at the ends; of equals this drive.
    fn ends(&self) -> [Other<'a>; 2] {
        let this = Other { title: "this drive", value: self.own, rotational: self.rotational };
        self.others.iter().fold([this; 2], |[fastest, slowest], other| {
            [
                if other.value > fastest.value { *other } else { fastest },
                if other.value < slowest.value { *other } else { slowest },
            ]
        })
    }

    /// Of a hard disk: its place among hard disks, and how many of them there are with it.
    fn among_disks(&self) -> Option<(usize, usize)> {
        let disks = || self.others.iter().filter(|other| other.rotational == Some(true));
        let is_told = self.rotational == Some(true) && disks().next().is_some();
        is_told.then(|| (self.place_among(disks()), disks().count() + 1))
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
            p { (sentence(&strips)) " " (most_like(all)) }
            div.strips { @for strip in &strips { (drawn(strip)) } }
            p.note {
                "A grey mark is one of " (most) " other drives (" (about) "); the slowest stands at the \
                 left, the fastest at the right, equal distances are equal factors. Drives within 10 % \
                 share a place."
                @if let Some(others) = strips.iter().find(|strip| strip.is_used()).map(Strip::others) {
                    " The used state was measured at full length, on " (others) " of them."
                }
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

/// The best and the worst place, with figures; of a hard disk those among hard disks.
pub(super) fn sentence(strips: &[Strip]) -> String {
    disk_sentence(strips).unwrap_or_else(|| best_and_worst(strips))
}

/// Where a hard disk stands among hard disks, and how far the slowest SSD is from it in the first figure.
fn disk_sentence(strips: &[Strip]) -> Option<String> {
    let places: Vec<String> = strips
        .iter()
        .filter_map(|strip| {
            let (place, _) = strip.among_disks()?;
            let what = strip.placed.heading.to_lowercase();
            Some(format!("place {place} in {what} ({})", strip.placed.how))
        })
        .collect();
    let first = strips.iter().find(|strip| strip.among_disks().is_some())?;
    let (_, disks) = first.among_disks()?;
    let ssds = first.others.iter().filter(|other| other.rotational == Some(false));
    let slowest = ssds.min_by(|a, b| a.value.total_cmp(&b.value));
    let ssd = slowest.map(|ssd| {
        format!(
            " In {} the slowest SSD, {}, does {} MB/s, this disk {}.",
            first.placed.heading.to_lowercase(),
            ssd.title,
            rate(ssd.value),
            rate(first.own)
        )
    });
    Some(format!("Among {disks} hard disks: {}.{}", places.join(", "), ssd.unwrap_or_default()))
}

fn best_and_worst(strips: &[Strip]) -> String {
    let said = |strip: &Strip| {
        format!(
            "{} ({}): place {} of {}, {} MB/s",
            strip.placed.heading.to_lowercase(),
            strip.placed.how,
            strip.place(),
            strip.others.len() + 1,
            rate(strip.own)
        )
    };
    let share = |strip: &&Strip| (strip.place() * 1000) / (strip.others.len() + 1);
    let best = strips.iter().min_by_key(share);
    let worst = strips.iter().max_by_key(share);
    match best.zip(worst) {
        Some((best, worst)) if share(&best) < share(&worst) => {
            format!("It does best in {}; and worst in {}.", said(best), said(worst))
        }
        Some((best, _)) => format!("Its place in {}.", said(best)),
        None => String::new(),
    }
}

/// The drives that its charts show beside it.
fn most_like(all: &Entries) -> String {
    let near = all.beside.iter().filter(|(_, role)| *role == Role::Near);
    let near: Vec<&str> = near.map(|(drive, _)| drive.short_title()).collect();
    match near[..] {
        [] => String::new(),
        _ => format!("Most like it: {}.", listed(&near, near.len(), near.len())),
    }
}

fn drawn(strip: &Strip) -> Markup {
    let left = |value| format!("left:{:.2}%", strip.share(value) * 100.0);
    let [fastest, slowest] = strip.ends();
    let said = format!(
        "{}, {}: {} MB/s, place {} of {}. Fastest: {} {}, slowest: {} {}.",
        strip.placed.heading,
        strip.placed.how,
        rate(strip.own),
        strip.place(),
        strip.others.len() + 1,
        fastest.title,
        rate(fastest.value),
        slowest.title,
        rate(slowest.value)
    );
    html! {
        div.strip role="img" aria-label=(said) {
            span.what { (strip.placed.heading) " " small { (strip.placed.how) } }
            span.low { (rate(slowest.value)) }
            span.track {
                @for Other { title, value, .. } in &strip.others {
                    i style=(left(*value)) title=(format!("{title}: {} MB/s", rate(*value))) {}
                }
                b style=(left(strip.own)) {}
            }
            span.high { (rate(fastest.value)) }
            span.value { strong { (rate(strip.own)) } " MB/s" }
            span.place { "place " strong { (strip.place()) } " of " (strip.others.len() + 1) }
        }
    }
}
