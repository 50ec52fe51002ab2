//! Commands that ask nothing of any drive: the layer above the drives answers them itself.

use std::collections::VecDeque;

use fourcorners_drive::Nanos;

/// What such a command takes: the host's work on it, of the order of a microsecond. The exact time matters to no
/// result, but at 0 ns a job that runs for a time would never end. What a drive is asked for bears no such time: the
/// drives' own are far longer.
pub(crate) const LAYER: Nanos = Nanos(1_000);

/// Jobs that the layer answers, in the order in which they came.
#[derive(Clone, Default)]
pub(crate) struct Passing {
    /// When each is through, and the job.
    jobs: VecDeque<(Nanos, u32)>,
}

impl Passing {
    /// A job asks nothing of any drive.
    pub(crate) fn begin(&mut self, job: u32, now: Nanos) {
        self.jobs.push_back((now.saturating_add(LAYER), job));
    }

    /// When the next is through.
    pub(crate) fn due(&self) -> Option<Nanos> {
        self.jobs.front().map(|&(due, _)| due)
    }

    /// A job that is through by now.
    pub(crate) fn through(&mut self, now: Nanos) -> Option<u32> {
        self.jobs.pop_front_if(|&mut (due, _)| due <= now).map(|(_, job)| job)
    }
}
