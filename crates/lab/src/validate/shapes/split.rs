//! The split of entries into those that profiles may be fitted to, and those kept out to check the fit.

use super::entry::Entry;

/// Whether the entry is kept out of every fit: one in three of its kind, counted drive by drive and within a
/// drive in the order of a hash of the id (FNV-1a of drive, kind and id). The rule knows nothing of the test or
/// of what was measured, and of each kind with two entries or more some are on either side. `entries` are those
/// of the file.
pub fn is_kept_out(entry: &Entry, entries: &[Entry]) -> bool {
    let place = |entry: &Entry| (entry.drive.clone(), hash(entry));
    let own = place(entry);
    let kind = entries.iter().filter(|other| other.kind == entry.kind);
    // The second of each three, so that a single entry is not kept out.
    kind.filter(|other| place(other) < own).count() % 3 == 1
}

fn hash(entry: &Entry) -> u64 {
    let parts = [&entry.drive, &entry.kind, &entry.id];
    // A zero after each part: what ends one and begins the next is no other pair.
    let bytes = parts.into_iter().flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::validate::shapes::{Question, built_in};

    #[test]
    fn a_third_is_kept_out_and_each_kind_is_on_either_side() {
        let entries = built_in();
        let mut kinds: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
        for entry in &entries {
            kinds.entry(&entry.kind).or_default()[usize::from(is_kept_out(entry, &entries))] += 1;
        }
        let kept: usize = kinds.values().map(|sides| sides[1]).sum();
        let share = kept as f64 / entries.len() as f64;
        assert!((share - 1.0 / 3.0).abs() < 0.03, "{kept} of {}", entries.len());
        for (kind, [fitting, kept]) in kinds {
            assert!(
                fitting + kept < 2 || (fitting > 0 && kept > 0),
                "{kind}: {fitting} and {kept}"
            );
        }
    }

    #[test]
    fn what_was_measured_decides_nothing_and_the_id_does() {
        let entries = built_in();
        let mut others = entries.clone();
        for entry in &mut others {
            entry.result.clear();
            entry.test = Default::default();
        }
        let kept = |entries: &[Entry]| -> Vec<bool> {
            entries.iter().map(|entry| is_kept_out(entry, entries)).collect()
        };
        assert_eq!(kept(&others), kept(&entries));
        others.iter_mut().for_each(|entry| entry.id.insert(0, 'x'));
        assert_ne!(kept(&others), kept(&entries));
    }

    /// Whether a note names the entry: its id, and not the beginning of another.
    fn cites(note: &str, id: &str) -> bool {
        note.split(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)))
            .any(|word| word.trim_end_matches('.') == id)
    }

    /// The fitted values whose notes cite one of `entries`, each as `drive: key`.
    fn fitted_to(entries: &[&Entry]) -> Vec<String> {
        let mut found = Vec::new();
        for name in fourcorners_catalogue::names() {
            let profile = fourcorners_catalogue::built_in(&name, &[]).expect("it is built in");
            let fitted = |standing| standing == fourcorners_catalogue::Standing::Fitted;
            for value in profile.values.iter().filter(|value| fitted(value.standing)) {
                let note = value.note.as_deref().unwrap_or_default();
                if entries.iter().any(|entry| cites(note, &entry.id)) {
                    found.push(format!("{name}: {}", value.key));
                }
            }
        }
        found
    }

    #[test]
    fn no_profile_says_that_it_was_fitted_to_an_entry_that_is_kept_out() {
        assert!(cites("fitted to 980pro-rr4k-j1-q1.", "980pro-rr4k-j1-q1"));
        assert!(!cites("fitted to 980pro-rr4k-j1-q16", "980pro-rr4k-j1-q1"));
        let entries = built_in();
        let kept: Vec<&Entry> = entries.iter().filter(|e| is_kept_out(e, &entries)).collect();
        assert_eq!(fitted_to(&kept), [""; 0]);
    }

    #[test]
    fn the_one_value_that_is_fitted_to_what_is_only_reported_is_the_one_that_the_document_names() {
        let entries = built_in();
        let is_reported =
            |entry: &&Entry| Question::of(entry, &entries).is_ok_and(|question| question.reported);
        let reported: Vec<&Entry> = entries.iter().filter(is_reported).collect();
        assert_eq!(fitted_to(&reported), ["intel-p4510-1000gb: nand.program_us"]);
    }
}
