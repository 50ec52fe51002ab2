//! What a reader should know of a ranking beside its numbers.

use std::collections::BTreeMap;

use fourcorners_record::ChosenWork;
use fourcorners_words::count;

use super::candidate::Candidate;
use super::{Did, Request, Work};
use crate::replay::{several_devices, widened};

/// The remarks on a ranking.
pub(super) fn of(request: &Request, work: &ChosenWork, did: &[Did<'_>]) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(without_trim(request, work));
    notes.extend(of_devices(request));
    notes.extend(of_widened(did));
    notes.extend(without_years(request, did));
    notes
}

/// Says that devices lie one over the other.
fn of_devices(request: &Request) -> Option<String> {
    let Work::Recording(recording) = &request.work else { return None };
    let advice = match recording.replay() {
        // `trace replay TRACE all` has the option itself.
        Some(_) => "--device K replays one of them",
        None => "`fourcorners trace convert --device K` makes a trace of one of them",
    };
    several_devices(recording.card(), advice)
}

/// Says which drives do a recording without its TRIMs.
fn without_trim(request: &Request, work: &ChosenWork) -> Option<String> {
    let Work::Recording(recording) = &request.work else { return None };
    let without = request.candidates.iter().filter(|it| !it.takes_trim());
    let names: Vec<&str> = without.map(Candidate::name).collect();
    (recording.card().trims > 0 && !names.is_empty()).then(|| {
        format!(
            "The TRIMs of {} are left out on the drives that take none: {}.",
            work.name,
            names.join(", ")
        )
    })
}

/// Says of how many I/Os the drives did more than was recorded, by the size of their blocks.
fn of_widened(did: &[Did<'_>]) -> Vec<String> {
    struct Drives<'a> {
        least: u64,
        most: u64,
        names: Vec<&'a str>,
    }
    let mut by_block: BTreeMap<u32, Drives<'_>> = BTreeMap::new();
    for it in did {
        let (ios, block) = it.measured.widened;
        if ios > 0 {
            let empty = Drives { least: ios, most: ios, names: Vec::new() };
            let drives = by_block.entry(block).or_insert(empty);
            (drives.least, drives.most) = (drives.least.min(ios), drives.most.max(ios));
            drives.names.push(it.candidate.name());
        }
    }
    let all = |drives: &Drives<'_>| drives.names.len() == did.len();
    let said = by_block.iter().map(|(&block, drives)| {
        let sentence = match drives.least == drives.most {
            true => widened(drives.most, block),
            false => format!("{} to {}", count(drives.least as f64), widened(drives.most, block)),
        };
        if all(drives) {
            format!("{sentence}.")
        } else {
            format!("{sentence} on {}.", drives.names.join(", "))
        }
    });
    said.collect()
}

/// Says for which drives no years are given although their rated cycles are known.
fn without_years(request: &Request, did: &[Did<'_>]) -> Option<String> {
    request.gb_per_day?;
    let is_open = |it: &&Did<'_>| {
        let amplification = it.measured.amplification;
        amplification.ratio.is_some()
            && amplification.of_the_work().is_none()
            && it.candidate.rated_cycles().is_some()
    };
    let names: Vec<&str> = did.iter().filter(is_open).map(|it| it.candidate.name()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "No years for {}: as often as the work was repeated, it wrote less than half of the spare area, or it took too \
             long to be repeated, so that the write amplification is still that of what overwrote the drive before. A \
             longer work, or --ios, writes more.",
            names.join(", ")
        )
    })
}
