//! The CPU time, context switches and faults of a run.

/// CPU time and the like.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Cost {
    /// Seconds in user mode.
    pub user_s: f64,
    /// Seconds in the kernel on our behalf.
    pub system_s: f64,
    /// Context switches.
    pub switches: u64,
    /// Page faults that needed I/O, and those that did not.
    pub faults: (u64, u64),
}

impl Cost {
    /// Of this process so far, from proc(5); nothing where /proc cannot be read.
    pub fn so_far() -> Cost {
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
        // The name in brackets may hold spaces; the third field is the first after it.
        let fields: Vec<&str> =
            stat.rsplit_once(')').map_or("", |split| split.1).split_whitespace().collect();
        let field = |number: usize| -> u64 {
            fields.get(number - 3).and_then(|field| field.parse().ok()).unwrap_or(0)
        };
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let switches = |line: &str| -> Option<u64> {
            let (name, count) = line.split_once(':')?;
            name.ends_with("ctxt_switches").then(|| count.trim().parse().unwrap_or(0))
        };
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        Cost {
            user_s: field(14) as f64 / ticks,
            system_s: field(15) as f64 / ticks,
            switches: status.lines().filter_map(switches).sum(),
            faults: (field(12), field(10)),
        }
    }

    /// What came to it since.
    pub fn since(self, earlier: Cost) -> Cost {
        Cost {
            user_s: self.user_s - earlier.user_s,
            system_s: self.system_s - earlier.system_s,
            switches: self.switches.saturating_sub(earlier.switches),
            faults: (
                self.faults.0.saturating_sub(earlier.faults.0),
                self.faults.1.saturating_sub(earlier.faults.1),
            ),
        }
    }

    /// What a job with this share of all I/Os is given of it. One loop serves all jobs, so nobody
    /// can tell them apart; it is exact for one job alone.
    pub(super) fn share(self, share: f64) -> Cost {
        let part = |count: u64| (count as f64 * share).round() as u64;
        Cost {
            user_s: self.user_s * share,
            system_s: self.system_s * share,
            switches: part(self.switches),
            faults: (part(self.faults.0), part(self.faults.1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_costs_time() {
        let before = Cost::so_far();
        let mut sum = 0u64;
        while Cost::so_far().since(before).user_s + Cost::so_far().since(before).system_s < 0.02 {
            sum = (0..10_000u64).fold(sum, |sum, next| std::hint::black_box(sum ^ next));
        }
        assert!(before.faults.1 > 0 && Cost::so_far().switches >= before.switches);
    }
}
