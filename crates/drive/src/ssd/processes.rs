//! The host's processes: each submits and collects one command after the other.

use crate::Nanos;
use crate::config::HostSection;
use crate::variation::{Drift, Factor};

/// What processes are busy with. A command goes to the one that is free first, so that a drive behind several gets as
/// many commands a second as all of them can submit, whichever process they are of.
#[derive(Clone, Debug)]
pub(super) struct Processes {
    /// For how long a command keeps one busy before the drive has it.
    command: Nanos,
    /// By how much that takes longer now.
    drift: Factor,
    busy_until: Vec<Nanos>,
}

impl Processes {
    /// `None` where commands keep nobody busy.
    pub(super) fn new(host: &HostSection) -> Option<Box<Processes>> {
        let command = Nanos::from_micros(host.process_us?);
        let count = host.processes.unwrap_or(1).max(1) as usize;
        (command > Nanos::ZERO).then(|| {
            Box::new(Processes {
                command,
                drift: Factor::default(),
                busy_until: vec![Nanos::ZERO; count],
            })
        })
    }

    /// The host is slower or faster from now on.
    pub(super) fn drifts(&mut self, drift: Drift) {
        self.drift = drift.of_reads();
    }

    /// When a process has done its part of a command that is asked for at `now`.
    pub(super) fn submit(&mut self, now: Nanos) -> Nanos {
        let first = self.busy_until.iter_mut().min();
        first.map_or(now, |busy_until| {
            *busy_until = now.max(*busy_until) + self.drift.of(self.command);
            *busy_until
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn submitted(process_us: f64, processes: Option<u32>, at: [u64; 4]) -> Option<[u64; 4]> {
        let host =
            HostSection { process_us: Some(process_us), processes, ..HostSection::default() };
        let mut processes = Processes::new(&host)?;
        Some(at.map(|at| processes.submit(Nanos(at)).0))
    }

    #[test]
    fn one_process_submits_one_command_after_the_other() {
        assert_eq!(
            submitted(2.0, None, [0, 0, 10_000, 11_000]),
            Some([2000, 4000, 12_000, 14_000])
        );
    }

    #[test]
    fn two_processes_submit_two_at_a_time() {
        assert_eq!(submitted(2.0, Some(2), [0, 0, 0, 1000]), Some([2000, 2000, 4000, 4000]));
    }

    #[test]
    fn without_a_cost_nobody_is_busy() {
        assert_eq!(submitted(0.0, None, [0; 4]), None);
    }
}
