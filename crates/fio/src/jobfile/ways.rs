//! Options of the loop itself: its CPUs and its ring.

use fourcorners_run::streams::{Direction, Plan};

use super::described::Described;
use super::error::JobFileError;
use super::value_error::ValueError;

/// What a job file asks of the one loop that runs all its jobs. It counts on real targets only.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ways {
    /// Ask the device for completions (`hipri`).
    pub polled: bool,
    /// A thread of the kernel fetches submissions (`sqthread_poll`).
    pub submission_thread: bool,
    /// The CPU of that thread (`sqthread_poll_cpu`).
    pub submission_cpu: Option<u32>,
    /// CPUs that the loop stays on, in order; any if there are none (`cpus_allowed`, `cpumask`, and
    /// those of `numa_cpu_nodes`).
    pub cpus: Vec<u32>,
}

/// Highest number of a CPU and of a node.
const MOST_CPU: u32 = 8191;

impl Ways {
    /// Takes in a job: what one asks for goes for all, so they may not differ.
    pub(super) fn join(&mut self, described: &Described, first: bool) -> Result<(), JobFileError> {
        let ways = &described.options.ways;
        if first {
            *self = ways.clone();
            return Ok(());
        }
        for (same, keys) in [
            (self.polled == ways.polled, &["hipri"][..]),
            (
                self.submission_thread == ways.submission_thread
                    && self.submission_cpu == ways.submission_cpu,
                &["sqthread_poll", "sqthread_poll_cpu"],
            ),
            (self.cpus == ways.cpus, &["cpus_allowed", "cpumask", "numa_cpu_nodes"]),
        ] {
            if !same {
                let what = format!(
                    "one loop runs all jobs on a target, so {} is the same for all of them: put it \
                     into [global]",
                    keys[0]
                );
                return Err(described.wrong(keys, what));
            }
        }
        Ok(())
    }

    /// Refuses a plan that cannot be run so.
    pub(super) fn check(&self, last: &Described, plan: &Plan) -> Result<(), JobFileError> {
        let others = plan.streams.iter().any(|stream| {
            let flushes = stream.flushes.every > 0 || stream.flushes.at_end;
            flushes || stream.operations.has(Direction::Trim)
        });
        if self.polled && others {
            let what = "a polled ring takes reads and writes only: leave hipri out, or fsync, \
                        end_fsync and trims";
            return Err(last.wrong(&["hipri"], what));
        }
        Ok(())
    }
}

/// CPUs as fio lists them: `0,2-4`.
///
/// # Errors
/// [`ValueError`] of the first part that is no number or range of them.
pub fn cpu_list(text: &str) -> Result<Vec<u32>, ValueError> {
    number_list(text, "CPU")
}

/// Numbers of CPUs or nodes, in order.
fn number_list(text: &str, of: &'static str) -> Result<Vec<u32>, ValueError> {
    let mut cpus = Vec::new();
    for part in text.split(',').map(str::trim) {
        let number = |text: &str| {
            let number = text.trim().parse::<u32>().ok().filter(|&number| number <= MOST_CPU);
            number.ok_or_else(|| ValueError::Number { part: part.into(), of })
        };
        // fio takes a colon, too.
        let (from, to) = match part.split_once(['-', ':']) {
            Some((from, to)) => (number(from)?, number(to)?),
            None => (number(part)?, number(part)?),
        };
        if from > to {
            return Err(ValueError::Backwards(part.into()));
        }
        cpus.extend(from..=to);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

/// CPUs by the bits of a number.
pub(super) fn cpu_mask(mask: u64) -> Result<Vec<u32>, ValueError> {
    match mask {
        0 => Err(ValueError::NoCpu),
        _ => Ok((0..64).filter(|bit| mask >> bit & 1 == 1).collect()),
    }
}

/// The CPUs of some NUMA nodes.
pub(super) fn node_cpus(nodes: &str) -> Result<Vec<u32>, ValueError> {
    let mut cpus = Vec::new();
    for node in number_list(nodes, "node")? {
        let path = format!("/sys/devices/system/node/node{node}/cpulist");
        let list = std::fs::read_to_string(&path).map_err(|_| ValueError::NoNode { node, path })?;
        // A node may have memory only.
        if !list.trim().is_empty() {
            cpus.extend(cpu_list(list.trim())?);
        }
    }
    match cpus.is_empty() {
        true => Err(ValueError::NodesWithoutCpus),
        false => Ok(cpus),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_listed_as_fio_does() {
        assert_eq!(cpu_list("3,0-1, 1"), Ok(vec![0, 1, 3]));
        assert_eq!(cpu_mask(0b1010), Ok(vec![1, 3]));
        for wrong in ["", "a", "1-", "4-2", "9999", "-1", "1,,2", "99999999999"] {
            assert!(cpu_list(wrong).is_err(), "{wrong}");
        }
        assert!(cpu_mask(0).is_err());
        assert!(node_cpus("8000").is_err_and(|why| why.to_string().contains("no NUMA node 8000")));
    }
}
