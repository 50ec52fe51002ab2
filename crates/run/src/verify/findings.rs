//! Findings of a verification, and their wording.

use std::collections::BTreeMap;
use std::fmt;

use super::Sequence;
use super::damage::{Damage, Holds};

/// Most findings that are kept one by one.
const MOST: usize = 1000;

/// Blocks side by side that are wrong in the same way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The stream that it is told of.
    pub stream: usize,
    /// Where they begin.
    pub offset_bytes: u64,
    /// How long they are.
    pub bytes: u64,
    /// The write that should be there, where that is known.
    pub expected: Option<Sequence>,
    /// What is wrong.
    pub damage: Damage,
}

/// All that was found wrong.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// The first thousand that were found, by place; what lies side by side and is wrong in the same
    /// way is one.
    pub list: Vec<Finding>,
    /// Blocks that were wrong, by stream.
    pub blocks: BTreeMap<usize, u64>,
    /// Where each write was found that was meant for another place.
    went_to: BTreeMap<Sequence, u64>,
}

impl Findings {
    /// Whether nothing was wrong.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    pub(super) fn add(&mut self, found: Finding) {
        *self.blocks.entry(found.stream).or_default() += 1;
        if let Damage::Misplaced { by, .. } = found.damage {
            self.went_to.entry(by).or_insert(found.offset_bytes);
        }
        if !joined(&mut self.list, found) && self.list.len() < MOST {
            self.list.push(found);
        }
    }

    /// By place, which reads in flight do not come back by.
    fn sort(&mut self) {
        self.list.sort_by_key(|finding| finding.offset_bytes);
        let mut sorted = Vec::with_capacity(self.list.len());
        for finding in self.list.drain(..) {
            if !joined(&mut sorted, finding) {
                sorted.push(finding);
            }
        }
        self.list = sorted;
    }

    /// Puts together what belongs together: a write that is missing here and was found there, and one
    /// of which other blocks did arrive. `extent` says which blocks around an offset a write has left,
    /// if it still is the last one there.
    pub(super) fn conclude(&mut self, extent: impl Fn(u64, Sequence) -> Option<(u64, u64)>) {
        self.sort();
        let mut missing: BTreeMap<Sequence, Missing> = BTreeMap::new();
        for finding in &self.list {
            let (at_bytes, bytes, holds) = match finding.damage {
                Damage::Lost { holds, .. } => (finding.offset_bytes, finding.bytes, holds),
                Damage::Torn { right_bytes, at_bytes, holds } => {
                    (at_bytes, finding.bytes - right_bytes, holds)
                }
                _ => continue,
            };
            if let Some(expected) = finding.expected {
                let first = Missing { at_bytes, bytes: 0, holds, told: false };
                missing.entry(expected).or_insert(first).bytes += bytes;
            }
        }
        let went_to = &self.went_to;
        self.list.retain_mut(|finding| {
            let Some(expected) = finding.expected else { return true };
            let Some(missing) = missing.get_mut(&expected) else { return true };
            if let (Damage::Lost { went_to_bytes, .. }, Some(&place)) =
                (&mut finding.damage, went_to.get(&expected))
            {
                *went_to_bytes = Some(place);
                return true;
            }
            let whole = extent(finding.offset_bytes, expected);
            let is_missing = matches!(finding.damage, Damage::Lost { .. } | Damage::Torn { .. });
            match whole {
                Some((start, bytes)) if is_missing && bytes > missing.bytes => {
                    (finding.offset_bytes, finding.bytes) = (start, bytes);
                    finding.damage = Damage::Torn {
                        right_bytes: bytes - missing.bytes,
                        at_bytes: missing.at_bytes,
                        holds: missing.holds,
                    };
                    // One sentence for all of a write.
                    !std::mem::replace(&mut missing.told, true)
                }
                _ => true,
            }
        });
    }
}

/// Whether the last of a list could be made longer by what was found.
fn joined(list: &mut [Finding], found: Finding) -> bool {
    let Some(last) = list.last_mut().filter(|last| last.is_followed_by(&found)) else {
        return false;
    };
    last.bytes += found.bytes;
    true
}

/// What of a write is not there.
struct Missing {
    /// Where it begins.
    at_bytes: u64,
    bytes: u64,
    holds: Holds,
    told: bool,
}

impl Damage {
    /// Its kind in a word, for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Damage::Flipped { .. } => "flipped_bits",
            Damage::Lost { .. } => "lost_write",
            Damage::Torn { .. } => "torn_write",
            Damage::Misplaced { .. } => "misplaced_write",
            Damage::Foreign => "overwritten",
            Damage::Unstamped => "not_stamped",
            Damage::OtherLength { .. } => "other_block_length",
        }
    }
}

impl Finding {
    /// Whether another says the same of what lies behind it.
    fn is_followed_by(&self, next: &Finding) -> bool {
        let end = self.offset_bytes + self.bytes;
        let same_write = self.expected == next.expected && self.stream == next.stream;
        let same = match (self.damage, next.damage) {
            (
                Damage::Misplaced { meant_for_bytes: here, by },
                Damage::Misplaced { meant_for_bytes: there, by: next_by },
            ) => by == next_by && here + self.bytes == there,
            (Damage::Lost { .. }, Damage::Lost { .. })
            | (Damage::Foreign, Damage::Foreign)
            | (Damage::Unstamped, Damage::Unstamped)
            | (Damage::OtherLength { .. }, Damage::OtherLength { .. }) => {
                self.damage == next.damage
            }
            (Damage::Flipped { .. } | Damage::Torn { .. }, _) | (_, _) => false,
        };
        next.offset_bytes == end && same_write && same
    }

    /// One sentence; `name` is that of a stream.
    pub fn sentence<'a>(&self, name: impl Fn(usize) -> &'a str) -> String {
        let write = |sequence: Sequence| Write { sequence, name: name(sequence.stream()) };
        let should = self.expected.map_or_else(|| "a write".into(), |it| write(it).to_string());
        let holds = |holds: Holds| match holds {
            Holds::Older(older) => format!("still {}", write(older)),
            Holds::OtherRun => "still what another run wrote".into(),
            Holds::Nothing => "nothing but zeros".into(),
            Holds::Unknown => "something that was not written to be verified".into(),
        };
        let what = match self.damage {
            Damage::Flipped { bits: 1, at_bytes, mask } => format!(
                "one bit flipped: bit {} of the byte at offset {at_bytes} of {should}",
                mask.trailing_zeros()
            ),
            Damage::Flipped { bits, at_bytes, mask } => format!(
                "{bits} bits flipped, the first in the byte at offset {at_bytes} (mask \
                 {mask:#04x}) of {should}"
            ),
            Damage::Lost { holds: there, went_to_bytes: None } => {
                format!("{should} was lost: there is {}", holds(there))
            }
            Damage::Lost { holds: there, went_to_bytes: Some(place) } => {
                format!("{should} is not here but at offset {place}: there is {}", holds(there))
            }
            Damage::Torn { right_bytes, at_bytes, holds: there } => format!(
                "{should} was torn: {right_bytes} bytes of it are there, at offset {at_bytes} is {}",
                holds(there)
            ),
            Damage::Misplaced { meant_for_bytes, by } => format!(
                "{} was meant for offset {meant_for_bytes} and landed here, where {should} should be",
                write(by)
            ),
            Damage::Foreign => {
                format!("overwritten by something else, where {should} should be")
            }
            Damage::Unstamped => "nothing here was written by a job with verify".into(),
            Damage::OtherLength { block_bytes } => format!(
                "it was written in blocks of {block_bytes} bytes: set verify_interval={block_bytes}"
            ),
        };
        format!("{} bytes at offset {}: {what}", self.bytes, self.offset_bytes)
    }
}

/// `write 17 of job`.
struct Write<'a> {
    sequence: Sequence,
    name: &'a str,
}

impl fmt::Display for Write<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "write {} of {}", self.sequence.count(), self.name)
    }
}
