//! The machine we run on.

use fourcorners_record::Host;
use rustix::process::{Resource, getrlimit};

/// What the kernel tells about this machine.
pub fn describe() -> Host {
    let system = rustix::system::uname();
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "model name").then(|| value.trim().to_string())
    });
    Host {
        kernel: system.release().to_string_lossy().into_owned(),
        cpu: model.unwrap_or_else(|| system.machine().to_string_lossy().into_owned()),
        cpus: std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32),
        overhead_ns_per_io: None,
    }
}

/// Programs that were running or ready to, on average over the last minute (proc_loadavg(5)).
pub fn load() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

/// Memory that can be had without swapping (proc(5), `MemAvailable`) and within this process's limit of
/// addresses (`ulimit -v`), bytes.
pub fn available_memory_bytes() -> Option<u64> {
    match (free_memory_bytes(), addresses_left_bytes()) {
        (Some(free), Some(left)) => Some(free.min(left)),
        (free, left) => free.or(left),
    }
}

/// None where there is no limit.
fn addresses_left_bytes() -> Option<u64> {
    let limit = getrlimit(Resource::As).current?;
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    let taken: u64 = pages.split_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(taken * rustix::param::page_size() as u64))
}

fn free_memory_bytes() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
