//! What an I/O costs this machine's host, measured on a target that is only read, as a host that virtual drives can be
//! put behind.

use std::path::Path;

use fourcorners_linux::guard;
use fourcorners_linux::{Setup, Uring};
use fourcorners_record::{Data, Job, Pattern, Until};
use fourcorners_run::Observer;

use crate::drive::{Drive, Outcome};

const SECONDS: u64 = 1;
const BLOCK_BYTES: u32 = 4096;
/// No host answers a read for less, microseconds of processor time: io_uring's own part alone is more.
const LEAST_US: f64 = 0.2;
/// Commands at a time where a process has others to go on with.
const DEEP: u32 = 32;

/// What a read of 4 KiB costs, microseconds of processor time of this process and of the kernel on its behalf.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HostCost {
    /// One at a time: the least that the host adds to a latency. What a processor takes to wake up is not in it.
    pub command_us: f64,
    /// 32 at a time, no more than `command_us`: one process reaches one read over this.
    pub process_us: f64,
    /// Reads a second that were measured, one and 32 at a time.
    pub reads_per_second: [f64; 2],
}

impl HostCost {
    /// Measured for two seconds with direct reads at random places of a device or a file, which is not written to.
    ///
    /// # Errors
    /// Why it cannot be.
    pub fn measure(path: &Path, observer: &mut dyn Observer) -> Result<HostCost, String> {
        let found = guard::inspect(path).map_err(|refusal| refusal.to_string())?;
        let opened = guard::open_for_reading(&found).map_err(|refusal| refusal.to_string())?;
        if let Some(found) = opened.in_memory(&found) {
            return Err(format!(
                "{}: {found}; memory costs another time than a drive: give a device, or a file that was written, on a \
                 file system with direct I/O",
                path.display()
            ));
        }
        let setup = Setup { queue_depth: DEEP, max_block_bytes: BLOCK_BYTES };
        let ring = Uring::new(opened.file, found.geometry, setup);
        let ring = ring.map_err(|error| format!("{}: {error}", path.display()))?;
        let mut drive = Drive::Real(Box::new(ring));
        let mut costs = [0.0; 2];
        let mut rates = [0.0; 2];
        for (which, queue_depth) in [1, DEEP].into_iter().enumerate() {
            let job = Job {
                pattern: Pattern::Random,
                read_percent: 100,
                block_bytes: BLOCK_BYTES,
                queue_depth,
                span_start_bytes: 0,
                span_bytes: found.geometry.bytes() / u64::from(BLOCK_BYTES)
                    * u64::from(BLOCK_BYTES),
                data: Data::Incompressible,
                until: Until::Seconds(SECONDS),
                seed: 1,
                fua: false,
                flush: false,
                jobs: 1,
            };
            let outcome = drive.run(&job, observer);
            (costs[which], rates[which]) = cost_of(&outcome, path)?;
        }
        let [command_us, deep_us] = costs;
        Ok(HostCost { command_us, process_us: deep_us.min(command_us), reads_per_second: rates })
    }

    /// Reads a second that one process reaches.
    pub fn process_limit(&self) -> f64 {
        1e6 / self.process_us
    }

    /// A host of the catalogue's form, called `name`; `of` says on what it was measured.
    pub fn to_toml(&self, name: &str, of: &str) -> String {
        let HostCost { command_us, process_us, reads_per_second: [one, deep] } = self;
        let quoted = |text: &str| toml::Value::String(text.into()).to_string();
        format!(
            "# What an I/O costs one process of this machine; `--set host.processes=N` has more of them.\n\
             name = {}\n\
             title = {}\n\
             kind = \"host\"\n\n\
             [sources]\n\
             doctor = {}\n\n\
             [host]\n\
             command_us = {{ value = {command_us:.2}, standing = \"inferred\", source = \"doctor\", note = \"processor time \
             of one read at a time, {one:.0} a second: the least that the host adds; what it takes to wake up is not in it\" }}\n\
             process_us = {{ value = {process_us:.2}, standing = \"inferred\", source = \"doctor\", note = \"processor time \
             of a read with {DEEP} at a time, {deep:.0} a second\" }}\n",
            quoted(name),
            quoted(&format!("measured on {of}")),
            quoted(&format!(
                "fourcorners doctor {of} --host-profile: direct 4 KiB reads, io_uring"
            )),
        )
    }
}

fn cost_of(outcome: &Outcome, path: &Path) -> Result<(f64, f64), String> {
    let measured = &outcome.measured;
    let ios = measured.latency.count() as f64;
    cost(path, ios, measured.elapsed.as_secs(), outcome.cpu_seconds)
}

/// Microseconds of processor time a read, and reads a second.
fn cost(path: &Path, ios: f64, seconds: f64, cpu_seconds: f64) -> Result<(f64, f64), String> {
    let path = path.display();
    if ios == 0.0 || seconds <= 0.0 {
        return Err(format!("{path}: no read of it was answered, so that nothing is known"));
    }
    let cost_us = cpu_seconds * 1e6 / ios;
    if cost_us < LEAST_US {
        return Err(format!(
            "{path}: its reads are answered while the loop looks at the clock, so that what they cost is not known: give a \
             device that takes some microseconds, not memory or a file with holes"
        ));
    }
    Ok((cost_us, ios / seconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourcorners_run::Unobserved;

    #[test]
    fn what_is_written_is_a_host_with_what_was_measured() {
        let cost =
            HostCost { command_us: 7.126, process_us: 2.5, reads_per_second: [9000.4, 250_000.0] };
        assert_eq!(cost.process_limit(), 400_000.0);
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("mine.toml");
        std::fs::write(&file, cost.to_toml("mine", "a \"drive\" of mine"))
            .expect("a folder of ours");
        let host = fourcorners_catalogue::host(file.to_str().expect("UTF-8"));
        let host = host.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            (host.name.as_str(), host.title.as_str()),
            ("mine", "measured on a \"drive\" of mine")
        );
        assert_eq!((host.model.host.command_us, host.model.host.process_us), (7.13, Some(2.5)));
        assert_eq!(host.model.ports, None);
    }

    #[test]
    fn what_answers_while_the_clock_is_looked_at_tells_no_cost() {
        let cost = |ios, cpu_seconds| cost(Path::new("d"), ios, 2.0, cpu_seconds);
        assert_eq!(cost(1e6, 3.0), Ok((3.0, 5e5)));
        for cpu_seconds in [0.1, 0.0] {
            assert!(cost(1e6, cpu_seconds).is_err_and(|why| why.contains("looks at the clock")));
        }
        assert!(cost(0.0, 1.0).is_err_and(|why| why.contains("no read of it was answered")));
    }

    #[test]
    fn what_cannot_be_read_is_refused_and_a_file_is_measured_without_being_written() {
        let dir = tempfile::tempdir().expect("a folder");
        let nothing = HostCost::measure(&dir.path().join("nothing"), &mut Unobserved);
        assert!(nothing.is_err_and(|error| error.contains("nothing")));
        let file = dir.path().join("data");
        let content = vec![3u8; 17 << 20];
        std::fs::write(&file, &content).expect("a folder of ours");
        match HostCost::measure(&file, &mut Unobserved) {
            Ok(cost) => {
                assert!(0.0 < cost.process_us && cost.process_us <= cost.command_us, "{cost:?}");
                assert!(cost.reads_per_second.iter().all(|&rate| rate > 0.0), "{cost:?}");
            }
            Err(why) => {
                assert!(why.contains("page cache") || why.contains("in memory"), "{why}");
            }
        }
        assert_eq!(std::fs::read(&file).expect("it stays"), content);
    }
}
