//! CPU time, that of the kernel on our behalf included.

use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

/// Of this process so far, seconds.
pub fn process_seconds() -> f64 {
    seconds(ClockId::ProcessCPUTime)
}

/// Of this thread so far, seconds.
pub fn thread_seconds() -> f64 {
    seconds(ClockId::ThreadCPUTime)
}

fn seconds(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Why a thread cannot be kept on some CPUs.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PinError {
    /// The system does not tell which there are.
    #[error("cannot see CPUs: {0}")]
    Unseen(Errno),
    /// This process may not use one of them.
    #[error("CPU {cpu} is not among those that this process may use: {may_use}")]
    Absent {
        /// Which.
        cpu: u32,
        /// Those that it may use.
        may_use: String,
    },
    /// The system refuses it.
    #[error("cannot stay on CPUs: {0}")]
    Refused(Errno),
}

/// Keeps this thread on some CPUs, numbered from 0, until what is returned goes away. What it touches
/// first from then on is memory of their node.
///
/// # Errors
/// [`PinError`], when this process may not use one of them.
pub fn pin(cpus: &[u32]) -> Result<Pinned, PinError> {
    let before = sched_getaffinity(None).map_err(PinError::Unseen)?;
    let mut wanted = CpuSet::new();
    for &cpu in cpus {
        let index = cpu as usize;
        if index >= CpuSet::MAX_CPU || !before.is_set(index) {
            let there: Vec<String> = (0..CpuSet::MAX_CPU)
                .filter(|&cpu| before.is_set(cpu))
                .map(|cpu| cpu.to_string())
                .collect();
            return Err(PinError::Absent { cpu, may_use: there.join(",") });
        }
        wanted.set(index);
    }
    sched_setaffinity(None, &wanted).map_err(PinError::Refused)?;
    Ok(Pinned { before })
}

/// Where the thread was allowed before; it is again when this goes away.
pub struct Pinned {
    before: CpuSet,
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // It was so before, and if it may not be any more nothing is lost.
        let _ = sched_setaffinity(None, &self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_stays_where_it_is_put_and_is_free_afterwards() {
        let before = sched_getaffinity(None).expect("it can be asked");
        let first =
            (0..CpuSet::MAX_CPU).find(|&cpu| before.is_set(cpu)).expect("it runs somewhere");
        let pinned = pin(&[first as u32]).expect("it may run there");
        let now = sched_getaffinity(None).expect("it can be asked");
        assert!(now.is_set(first) && now.count() == 1);
        drop(pinned);
        assert_eq!(sched_getaffinity(None).expect("it can be asked"), before);
        let absent = (0..2048).find(|&cpu| cpu >= CpuSet::MAX_CPU || !before.is_set(cpu));
        let error = pin(&[absent.expect("no machine has as many") as u32]).err().expect("refused");
        assert!(error.to_string().contains("may use: "), "{error}");
    }
}
