//! The history of a drive since its purge, so that a preparation it already had is not repeated.

use fourcorners_record::{Job, Record};

use super::phase::preparation;
use super::{Phase, Writes};
use crate::drive::{NO_FLASH, NOT_PURGED, PURGE};

/// Whether the flash of a review was not purged: then any of its LBAs may hold data, whatever the review wrote.
pub(super) fn is_not_purged(record: &Record) -> bool {
    let says = |text: &str| text.starts_with(NOT_PURGED) && !text.contains(NO_FLASH);
    record.notes.iter().any(|note| note.about == PURGE && says(&note.text))
}

/// The jobs that were run on a drive since it was purged, where they say all of its state.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Past(Option<Vec<Job>>);

impl Past {
    /// How many of the phases of a plan that begins with a purge are spared, because the drive is in
    /// the state they lead to or on the way there.
    pub fn spares(&self, plan: &[Phase]) -> usize {
        match (&self.0, plan) {
            (Some(jobs), [Phase::Purge, after @ ..])
                if !jobs.is_empty() && preparation(after).starts_with(jobs) =>
            {
                1 + jobs.len()
            }
            _ => 0,
        }
    }

    /// A phase was carried out.
    pub fn went_through(&mut self, phase: &Phase) {
        match (phase, &mut self.0) {
            (Phase::Purge, past) => *past = Some(Vec::new()),
            (Phase::Prepare { job, .. }, Some(jobs)) => jobs.push(job.clone()),
            (phase, _) if phase.only_reads() => {}
            _ => self.0 = None,
        }
    }

    /// What becomes of the phases of a plan: those it spares are one, named by the last of them.
    pub fn foresee<'a>(&mut self, plan: &'a [Phase]) -> Vec<Foreseen<'a>> {
        let (mut foreseen, mut next) = (Vec::new(), 0);
        while next < plan.len() {
            let spared = self.spares(&plan[next..]);
            let first = next + 1;
            next += spared.max(1);
            let phase = &plan[next - 1];
            foreseen.push(Foreseen { first, last: next, phase, spared: spared > 0 });
            if spared == 0 {
                self.went_through(phase);
            }
        }
        foreseen
    }
}

/// A phase of a plan, or several that are spared.
#[derive(Clone, Copy, Debug)]
pub struct Foreseen<'a> {
    /// The number of the first of them, from 1.
    pub first: usize,
    /// The number of the last.
    pub last: usize,
    /// The last.
    pub phase: &'a Phase,
    /// Whether it is not carried out, because the drive is in this state already.
    pub spared: bool,
}

impl Foreseen<'_> {
    /// As of the phase, and none where it is not carried out.
    pub fn estimated_seconds(&self) -> f64 {
        if self.spared { 0.0 } else { self.phase.estimated_seconds() }
    }

    /// As of the phase, and nothing where it is not carried out.
    pub fn estimated_writes(&self) -> Writes {
        match self.spared {
            true => Writes { bytes: 0, exact: true },
            false => self.phase.estimated_writes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use fourcorners_record::{ClockName, TargetInfo, TargetKind};

    use super::*;
    use crate::drive::LOADED;

    #[test]
    fn a_disk_has_nothing_to_purge_and_flash_that_was_not_holds_data() {
        let noted = |text: &str| {
            let target = TargetInfo::new("a".into(), TargetKind::Virtual, 1 << 20, 512);
            let mut record = Record::begun(target, ClockName::Virtual, "fill-level", 1, None);
            record.notes.push(fourcorners_record::Note {
                about: PURGE.into(),
                text: text.into(),
                value: None,
            });
            is_not_purged(&record)
        };
        assert!(noted(&format!("{NOT_PURGED}: {LOADED}. Each test starts from the state before.")));
        assert!(!noted(&format!(
            "{NOT_PURGED}: {NO_FLASH}. Each test starts from the state before."
        )));
        assert!(!noted("Purged by blkdiscard."));
    }
}
