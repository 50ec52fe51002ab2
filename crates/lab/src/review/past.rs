//! The history of a drive since its purge, so that a preparation it already had is not repeated.

use fourcorners_record::Job;

use super::Phase;
use super::phase::preparation;

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
}
