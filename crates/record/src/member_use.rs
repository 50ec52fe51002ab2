//! What a drive did inside of an array or a cache.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::FlashWear;

/// What one drive of an array or a cache did during a job.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MemberUse {
    /// `drive` of an array, `ssd` or `disk` of a cache.
    pub role: String,
    /// Bytes read from it: for whom the array works, for parity, and for a rebuild.
    pub read_bytes: u64,
    /// Bytes written to it: copies, parity and a rebuild included.
    pub written_bytes: u64,
    /// Energy it used, joules, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joules: Option<f64>,
    /// NAND writes over what was written to it (SSDs).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_amplification: Option<f64>,
    /// Bytes it wrote to NAND (SSDs).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nand_bytes: Option<u64>,
    /// How worn its flash was after the job (SSDs whose flash wears out).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wear: Option<FlashWear>,
    /// It had failed by the end of the job, and is not asked any more.
    #[serde(default, skip_serializing_if = "is_false")]
    pub failed: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl MemberUse {
    /// What it did in both jobs, of which `next` is the later: what one of them does not tell is not known of both.
    fn and(&self, next: &MemberUse) -> MemberUse {
        let written_bytes = self.written_bytes.saturating_add(next.written_bytes);
        let nand_bytes = self.nand_bytes.zip(next.nand_bytes);
        let nand_bytes = nand_bytes.map(|(one, other)| one.saturating_add(other));
        let amplified = nand_bytes.filter(|_| written_bytes > 0);
        MemberUse {
            role: self.role.clone(),
            read_bytes: self.read_bytes.saturating_add(next.read_bytes),
            written_bytes,
            joules: self.joules.zip(next.joules).map(|(one, other)| one + other),
            write_amplification: amplified.map(|nand| nand as f64 / written_bytes as f64),
            nand_bytes,
            wear: next.wear.or(self.wear),
            failed: next.failed,
        }
    }

    /// What each drive did in all of these jobs, the first of which comes first.
    pub(super) fn sum<'m>(jobs: impl Iterator<Item = &'m [MemberUse]>) -> Vec<MemberUse> {
        let jobs = jobs.filter(|members| !members.is_empty()).map(<[MemberUse]>::to_vec);
        let both = |one: Vec<MemberUse>, other: Vec<MemberUse>| {
            one.iter().zip(&other).map(|(one, other)| one.and(other)).collect()
        };
        jobs.reduce(both).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drives_of_two_jobs_are_added_and_more_than_can_be_counted_is_no_panic() {
        let of = |read_bytes, written_bytes| MemberUse {
            role: "drive".into(),
            read_bytes,
            written_bytes,
            joules: None,
            write_amplification: None,
            nand_bytes: Some(written_bytes),
            wear: None,
            failed: false,
        };
        let sum = |one, other| MemberUse::sum([&[one][..], &[other]].into_iter())[0].clone();
        let both = sum(of(1, 2), of(3, 4));
        assert_eq!((both.read_bytes, both.written_bytes, both.nand_bytes), (4, 6, Some(6)));
        let most = sum(of(u64::MAX, u64::MAX), of(1, 1));
        assert_eq!((most.read_bytes, most.written_bytes), (u64::MAX, u64::MAX));
        assert_eq!(most.nand_bytes, Some(u64::MAX));
    }
}
