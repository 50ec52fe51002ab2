//! The report of jobs in the formats asked for.

use fourcorners_fio::output::{DiskUtil, Report, json, normal, terse};
use fourcorners_linux::device::DiskCounters;

use super::run::args::OutputFormat;

/// All formats asked for, in fio's order whatever theirs is.
pub(super) fn text(report: &Report, formats: &[OutputFormat]) -> String {
    const ORDER: [OutputFormat; 4] =
        [OutputFormat::Terse, OutputFormat::JsonPlus, OutputFormat::Json, OutputFormat::Normal];
    let with_bins = formats.contains(&OutputFormat::JsonPlus);
    let mut text = String::new();
    for format in ORDER.into_iter().filter(|format| formats.contains(format)) {
        text += &match format {
            OutputFormat::Terse => terse(report),
            OutputFormat::JsonPlus => json(report, true),
            // The other has all of it.
            OutputFormat::Json if with_bins => continue,
            OutputFormat::Json => json(report, false),
            OutputFormat::Normal => normal(report),
        };
        text.push('\n');
    }
    text
}

/// What the disk below a target did between two readings, in so many seconds.
pub(super) fn disk_util(
    before: Option<DiskCounters>,
    after: Option<DiskCounters>,
    seconds: f64,
) -> Option<DiskUtil> {
    let (before, after) = (before?, after?);
    let DiskCounters { name, ios, merges, ticks_ms, busy_ms, in_queue_ms } = after.since(&before);
    let util = busy_ms as f64 / (seconds * 1e3).max(1.0) * 100.0;
    Some(DiskUtil {
        name,
        read_ios: ios[0],
        write_ios: ios[1],
        read_merges: merges[0],
        write_merges: merges[1],
        read_ticks: ticks_ms[0],
        write_ticks: ticks_ms[1],
        in_queue: in_queue_ms,
        util: util.min(100.0),
    })
}
