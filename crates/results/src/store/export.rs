//! Records as documents and tables for other programs.

use std::io::{self, Write};

use fourcorners_record::{Record, SCHEMA};

use super::packed::{json, unpack};
use super::query::{ended, name_of};
use super::{Store, StoreError};

/// The columns of [`Store::export_csv`]. New ones are the last, so that an earlier export begins as one of now.
///
/// `iops` and `mb_per_s` are over `busy_s`: of a replay the time with at least one I/O in the target, of a job all of `duration_s`.
const COLUMNS: [&str; 32] = [
    "id",
    "started_at",
    "drive",
    "title",
    "kind",
    "capacity_bytes",
    "model",
    "serial",
    "firmware",
    "profile_hash",
    "set_up",
    "clock",
    "method",
    "quick",
    "ended",
    "seed",
    "version",
    "figure",
    "state",
    "mb_per_s",
    "iops",
    "latency_mean_us",
    "latency_p50_us",
    "latency_p99_us",
    "latency_p999_us",
    "latency_max_us",
    "ios",
    "bytes",
    "duration_s",
    "write_amplification",
    "complete",
    "busy_s",
];

/// How many of them exports had from the first version on.
const FIRST_COLUMNS: usize = 31;

/// What every export as CSV begins with, those of earlier versions too.
pub fn csv_header() -> String {
    COLUMNS[..FIRST_COLUMNS].join(",")
}

impl Store {
    /// Writes the records of these ids as one document, as `review --json` does, one record at a time
    /// in memory.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unknown`], [`StoreError::Damaged`], [`StoreError::Export`], or what the database
    /// says.
    pub fn export_json<S: AsRef<str>>(
        &self,
        ids: &[S],
        out: &mut dyn Write,
    ) -> Result<(), StoreError> {
        write!(out, "{{\"schema\":\"{SCHEMA}\",\"records\":[")?;
        for (place, id) in ids.iter().enumerate() {
            if place > 0 {
                out.write_all(b",")?;
            }
            let packed = self.packed(id.as_ref())?;
            let json = json(&packed).map_err(|why| self.damaged(id.as_ref(), why))?;
            out.write_all(&json)?;
        }
        out.write_all(b"]}\n")?;
        Ok(out.flush()?)
    }

    /// Writes the figures of these records as CSV, a line each, with the names of the columns in the
    /// first (RFC 4180). What a figure does not have is empty.
    ///
    /// # Errors
    ///
    /// As [`export_json`](Store::export_json).
    pub fn export_csv<S: AsRef<str>>(
        &self,
        ids: &[S],
        out: &mut dyn Write,
    ) -> Result<(), StoreError> {
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(COLUMNS).map_err(io::Error::from)?;
        for id in ids {
            let packed = self.packed(id.as_ref())?;
            let record = unpack(&packed).map_err(|why| self.damaged(id.as_ref(), why))?;
            for figure in figures(&record) {
                csv.write_record(about(&record).into_iter().chain(figure).map(inert))
                    .map_err(io::Error::from)?;
            }
        }
        Ok(csv.flush()?)
    }
}

/// A cell that a spreadsheet takes for text or a number, never for a formula: what a drive or a file is
/// called may begin as one does. A quote before it, which spreadsheets do not show, says that it is text.
pub fn inert(cell: String) -> String {
    let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if formula && cell.parse::<f64>().is_err() { format!("'{cell}") } else { cell }
}

/// The columns that all figures of a record have in common.
fn about(record: &Record) -> Vec<String> {
    let target = &record.target;
    let or_empty = |text: &Option<String>| text.clone().unwrap_or_default();
    vec![
        record.id.clone(),
        record.started_at.clone(),
        target.name.clone(),
        target.title.clone(),
        name_of(&target.kind),
        target.capacity_bytes.to_string(),
        or_empty(&target.model),
        or_empty(&target.serial),
        or_empty(&target.firmware),
        or_empty(&target.profile_hash),
        super::query::set_up(target),
        name_of(&record.clock),
        record.method.clone(),
        record.quick.to_string(),
        ended(&record.ended).into(),
        record.seed.to_string(),
        record.version.clone(),
    ]
}

/// The rest of the columns, of each figure.
fn figures(record: &Record) -> Vec<Vec<String>> {
    let number = |value: f64| value.to_string();
    // Of no I/O there is no latency.
    let latency_of = |ios: u64, us: f64| if ios > 0 { number(us) } else { String::new() };
    let measured = record.figures.iter().map(|(name, figure)| {
        let latency = &figure.latency_us;
        let latencies = [latency.mean, latency.p50, latency.p99, latency.p999, latency.max];
        let mut columns = vec![name.clone(), figure.state.clone()];
        columns.extend([figure.mb_per_s, figure.iops].map(number));
        columns.extend(latencies.map(|us| latency_of(figure.ios, us)));
        columns.extend([figure.ios.to_string(), figure.bytes.to_string()]);
        columns.push(number(figure.duration_s));
        columns.push(figure.write_amplification.map(number).unwrap_or_default());
        columns.push(figure.complete.to_string());
        // All rates of a job are over its duration.
        columns.push(number(figure.duration_s));
        columns
    });
    let replayed = record.replayed().map(|(name, _, figure)| {
        let all = &figure.all;
        let latency = &all.latency_us;
        let mut columns = vec![name.into_owned(), figure.state.clone(), number(figure.mb_per_s)];
        columns.push(figure.iops().map(number).unwrap_or_default());
        let latencies = [latency.mean, latency.p50, latency.p99, latency.p999, latency.max];
        columns.extend(latencies.map(|us| latency_of(all.ios, us)));
        columns.extend([all.ios.to_string(), all.bytes.to_string(), number(figure.elapsed_s)]);
        columns.push(figure.write_amplification.map(number).unwrap_or_default());
        columns.push(figure.complete.to_string());
        columns.push(number(figure.busy_s));
        columns
    });
    measured.chain(replayed).collect()
}

#[cfg(test)]
mod tests {
    use super::inert;

    #[test]
    fn what_begins_as_a_formula_is_text_and_a_negative_number_stays_one() {
        for formula in ["=1+1", "+cmd|' /C calc'!A0", "-2+3+cmd", "@SUM(A1)", "\t=1"] {
            assert_eq!(inert(formula.into()), format!("'{formula}"));
        }
        for same in ["Crucial m4 256 GB", "-0.5", "1e-3", ""] {
            assert_eq!(inert(same.into()), same);
        }
    }
}
