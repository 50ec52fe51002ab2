//! fio's logs: `time in ms, value, direction, block size, offset`.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use fourcorners_machine::save;
use fourcorners_run::streams::Row;
use indexmap::IndexMap;

use super::TargetRun;
use crate::jobfile::Jobs;

/// What a log is of.
#[derive(Clone, Copy)]
enum Kind {
    Bandwidth,
    Iops,
    Latency,
}

/// The logs of jobs by file, each with the jobs whose rows are in it.
fn files(jobs: &Jobs) -> IndexMap<&str, (Kind, Vec<usize>)> {
    let mut files: IndexMap<&str, (Kind, Vec<usize>)> = IndexMap::new();
    for (place, job) in jobs.jobs.iter().enumerate() {
        let logs = &job.logs;
        for (name, kind) in [
            (&logs.bw, Kind::Bandwidth),
            (&logs.iops, Kind::Iops),
            (&logs.lat, Kind::Latency),
            (&logs.clat, Kind::Latency),
        ] {
            if let Some(name) = name {
                files.entry(name).or_insert((kind, Vec::new())).1.push(place);
            }
        }
    }
    files
}

/// The files that the logs of jobs go to.
pub fn log_files(jobs: &Jobs) -> Vec<PathBuf> {
    files(jobs).keys().map(PathBuf::from).collect()
}

/// Writes the logs of a run, each whole or not at all.
///
/// # Errors
/// With the file that could not be written.
pub fn write_logs(run: &TargetRun) -> Result<(), (PathBuf, io::Error)> {
    for (name, (kind, places)) in files(&run.jobs) {
        let mut rows: Vec<&Row> = Vec::new();
        for &place in &places {
            let log = run.result.streams[place].measure.log.as_ref();
            rows.extend(log.iter().flat_map(|log| &log.rows));
        }
        if places.len() > 1 {
            rows.sort_by_key(|row| row.at_ms);
        }
        let offsets = places.iter().any(|&place| run.jobs.jobs[place].logs.offsets);
        save::write_atomically_with(Path::new(name), &|file| {
            let mut out = BufWriter::new(file);
            for row in &rows {
                let value = match kind {
                    Kind::Bandwidth => Some(row.kib_per_s),
                    Kind::Iops => Some(row.iops),
                    Kind::Latency => row.latency_ns,
                };
                let Some(value) = value else { continue };
                let (at, direction) = (row.at_ms, row.direction as u8);
                write!(out, "{at}, {value}, {direction}, {}", row.block_bytes)?;
                match offsets {
                    // fio 3.33 has the priority after the offset, and in its place without one.
                    true => writeln!(out, ", {}, 0", row.offset_bytes)?,
                    false => writeln!(out, ", 0")?,
                }
            }
            out.flush()
        })
        .map_err(|error| (PathBuf::from(name), error))?;
    }
    Ok(())
}
