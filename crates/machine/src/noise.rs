//! Other activity of the machine during a measurement.

use std::fs;

use fourcorners_record::Noise;

use crate::host;

/// The machine's counters at the beginning of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct NoiseMeter {
    /// Nanoseconds that this thread has waited for a processor.
    waited_ns: u64,
    cpu: CpuTime,
}

impl NoiseMeter {
    /// Begins; `None` where the kernel does not tell.
    pub fn begin() -> Option<NoiseMeter> {
        Some(NoiseMeter { waited_ns: waited_ns()?, cpu: CpuTime::now()? })
    }

    /// What there was since, in this thread's `seconds` of wall time.
    pub fn end(self, seconds: f64) -> Option<Noise> {
        let (waited, cpu) = (waited_ns()?, CpuTime::now()?);
        let all = cpu.all.saturating_sub(self.cpu.all).max(1);
        Some(Noise {
            cpu_wait_share: waited.saturating_sub(self.waited_ns) as f64 / 1e9 / seconds.max(1e-9),
            cpu_steal_share: cpu.stolen.saturating_sub(self.cpu.stolen) as f64 / all as f64,
            load: host::load()?,
            other_io_share: None,
        })
    }
}

/// Nanoseconds that this thread was ready to run and did not (the kernel's
/// Documentation/scheduler/sched-stats.rst: the second of its schedstat).
fn waited_ns() -> Option<u64> {
    fs::read_to_string("/proc/thread-self/schedstat").ok()?.split_whitespace().nth(1)?.parse().ok()
}

/// Time of all processors, in the kernel's ticks.
#[derive(Clone, Copy, Debug)]
struct CpuTime {
    all: u64,
    /// What the hypervisor gave to other machines.
    stolen: u64,
}

impl CpuTime {
    fn now() -> Option<CpuTime> {
        // proc_stat(5): user nice system idle iowait irq softirq steal; guests are in user.
        let stat = fs::read_to_string("/proc/stat").ok()?;
        let line = stat.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> = line.split_whitespace().take(8).flat_map(str::parse).collect();
        let [.., stolen] = ticks[..] else { return None };
        Some(CpuTime { all: ticks.iter().sum(), stolen })
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn waiting_for_a_processor_is_seen_and_sleeping_is_none() {
        let Some(meter) = NoiseMeter::begin() else {
            return fourcorners_testing::skipped("schedstat", "this kernel has no schedstat");
        };
        std::thread::sleep(Duration::from_millis(300));
        let asleep = meter.end(0.3).expect("it told before").cpu_wait_share;
        assert!(asleep < 0.2, "{asleep}");
        // Four of us for each processor: each waits three quarters of the time.
        let many = 4 * std::thread::available_parallelism().map_or(1, usize::from);
        let busy = || {
            let meter = NoiseMeter::begin().expect("it told before");
            let began = Instant::now();
            while began.elapsed() < Duration::from_millis(500) {
                std::hint::spin_loop();
            }
            meter.end(began.elapsed().as_secs_f64()).expect("it told before").cpu_wait_share
        };
        let shares: Vec<f64> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..many).map(|_| scope.spawn(busy)).collect();
            threads.into_iter().map(|thread| thread.join().expect("it ends")).collect()
        });
        let mean = shares.iter().sum::<f64>() / shares.len() as f64;
        assert!(mean > 0.3, "{shares:?}");
    }
}
