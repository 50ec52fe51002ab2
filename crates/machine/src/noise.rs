//! Other activity of the machine during a measurement.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fourcorners_record::Noise;

use crate::host;

/// The machine's counters at the beginning of a measurement.
#[derive(Debug)]
pub struct NoiseMeter {
    /// Nanoseconds that this thread has waited for a processor.
    waited_ns: u64,
    cpu: CpuTime,
    pulse: Option<Pulse>,
}

impl NoiseMeter {
    /// Begins; `None` where the kernel does not tell.
    pub fn begin() -> Option<NoiseMeter> {
        let (waited_ns, cpu) = (waited_ns()?, CpuTime::now()?);
        Some(NoiseMeter { waited_ns, cpu, pulse: Pulse::begin() })
    }

    /// What there was since, in this thread's `seconds` of wall time.
    pub fn end(self, seconds: f64) -> Option<Noise> {
        let stood_still = self.pulse.map_or(Duration::ZERO, Pulse::end);
        let (waited, cpu) = (waited_ns()?, CpuTime::now()?);
        let all = cpu.all.saturating_sub(self.cpu.all).max(1);
        Some(Noise {
            cpu_wait_share: waited.saturating_sub(self.waited_ns) as f64 / 1e9 / seconds.max(1e-9),
            cpu_steal_share: cpu.stolen.saturating_sub(self.cpu.stolen) as f64 / all as f64,
            load: host::load()?,
            other_io_share: None,
            stopped_share: (stood_still.as_secs_f64() / seconds.max(1e-9)).min(1.0),
        })
    }
}

/// A thread that wakes up again and again, and notices where it could not: that the program was stopped is in no counter of
/// the kernel's.
#[derive(Debug)]
struct Pulse {
    /// Whose end ends it.
    lives: Sender<()>,
    thread: JoinHandle<Duration>,
}

impl Pulse {
    const EVERY: Duration = Duration::from_millis(50);
    /// A thread that is late by less than this was not stopped; time that it waited for a processor does not count. A stop of
    /// [`Pulse::EVERY`] and this, 0.1 s, is noticed, except that a thread may wait for a processor before it stops.
    const LATE: Duration = Duration::from_millis(50);

    /// Begins; `None` where there is no thread to be had.
    fn begin() -> Option<Pulse> {
        let (lives, ends) = mpsc::channel::<()>();
        let beat = move || {
            let schedstat = File::open(SCHEDSTAT).ok();
            let waited_ns = || schedstat.as_ref().and_then(waited_in);
            let mut stood_still = Duration::ZERO;
            loop {
                let (slept, waited) = (Instant::now(), waited_ns());
                let ended = ends.recv_timeout(Pulse::EVERY) != Err(RecvTimeoutError::Timeout);
                let waited =
                    waited_ns().zip(waited).map_or(0, |(now, then)| now.saturating_sub(then));
                let took = slept.elapsed().saturating_sub(Duration::from_nanos(waited));
                // It may have been stopped as soon as it slept: no stop is told as shorter than it was.
                if took >= Pulse::EVERY + Pulse::LATE {
                    stood_still += took;
                }
                if ended {
                    return stood_still;
                }
            }
        };
        let thread = std::thread::Builder::new().name("pulse".into()).spawn(beat).ok()?;
        Some(Pulse { lives, thread })
    }

    /// How long the program stood still since it began.
    fn end(self) -> Duration {
        drop(self.lives);
        self.thread.join().unwrap_or_default()
    }
}

/// Of the thread that opens it.
const SCHEDSTAT: &str = "/proc/thread-self/schedstat";

/// Nanoseconds that this thread was ready to run and did not.
fn waited_ns() -> Option<u64> {
    waited_in(&File::open(SCHEDSTAT).ok()?)
}

/// The same for the thread that opened this file: the second of its numbers (Documentation/scheduler/sched-stats.rst of the kernel).
/// Allocates nothing, because a thread may have to wait for memory.
fn waited_in(schedstat: &File) -> Option<u64> {
    let mut text = [0; 64];
    let length = schedstat.read_at(&mut text, 0).ok()?;
    std::str::from_utf8(&text[..length]).ok()?.split_whitespace().nth(1)?.parse().ok()
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

    /// What a program that is stopped in its middle says of itself, and one that is not.
    #[test]
    fn a_program_that_is_stopped_says_so_and_one_that_works_or_sleeps_does_not() {
        const THE_PROGRAM: &str = "FOURCORNERS_NOISE_TEST";
        if std::env::var_os(THE_PROGRAM).is_some() {
            let (meter, began) = (NoiseMeter::begin().expect("it told before"), Instant::now());
            while began.elapsed() < Duration::from_millis(2500) {
                std::thread::sleep(Duration::from_millis(10));
            }
            let noise = meter.end(began.elapsed().as_secs_f64()).expect("it told before");
            println!("stopped {}", noise.stopped_share * began.elapsed().as_secs_f64());
            return;
        }
        if NoiseMeter::begin().is_none() {
            return fourcorners_testing::skipped("schedstat", "this kernel has no schedstat");
        }
        let stopped_s = |stop: Duration| -> f64 {
            let this = "noise::tests::a_program_that_is_stopped_says_so_and_one_that_works_or_sleeps_does_not";
            let program = std::process::Command::new(std::env::current_exe().expect("it runs"))
                .args([this, "--exact", "--nocapture"])
                .env(THE_PROGRAM, "1")
                .stdout(std::process::Stdio::piped())
                .spawn()
                .expect("it starts again");
            std::thread::sleep(Duration::from_millis(700));
            if !stop.is_zero() {
                let pid = program.id().to_string();
                let signal = |name: &str| {
                    let sent = std::process::Command::new("kill").args([name, &pid]).status();
                    assert!(sent.expect("kill is there").success());
                };
                signal("-STOP");
                std::thread::sleep(stop);
                signal("-CONT");
            }
            let said = program.wait_with_output().expect("it ends").stdout;
            let said = String::from_utf8(said).expect("it is text");
            let (_, after) = said.split_once("stopped ").expect("it says so");
            after.lines().next().and_then(|it| it.trim().parse().ok()).expect("a number")
        };
        let stopped = stopped_s(Duration::from_secs(1));
        assert!((0.8..1.5).contains(&stopped), "{stopped} s");
        let shortly = stopped_s(Duration::from_millis(250));
        assert!((0.1..0.7).contains(&shortly), "{shortly} s");
        let not = stopped_s(Duration::ZERO);
        assert!(not < 0.3, "{not} s");
    }
}
