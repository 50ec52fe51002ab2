//! Metrics of a drive that is served: its last report.

use fourcorners_serve::{DriveCounters, Operation, Pacing, Report};

use super::exposition::{Exposition, Kind};
use crate::web::About;

/// What `serve` says of a drive; before the first report only which it is.
pub(in crate::web) fn served(drive: &About, report: Option<&Report>) -> Exposition {
    let mut metrics = Exposition::default();
    let about = [("drive", &*drive.name), ("title", &drive.title), ("uri", &drive.uri)];
    metrics
        .family("fourcorners_serve", Kind::Info, None, "The drive that is served")
        .sample(&about, 1_u64);
    metrics
        .family("fourcorners_serve_capacity_bytes", Kind::Gauge, Some("bytes"), "Size of the drive")
        .sample(&[], drive.bytes);
    let Some(report) = report else { return metrics };
    operations(&mut metrics, &report.operations);
    answers(&mut metrics, report);
    connections(&mut metrics, report);
    contents(&mut metrics, report);
    if let Some(counters) = &report.drive {
        counted_by_the_drive(&mut metrics, counters);
    }
    metrics
}

fn operations(metrics: &mut Exposition, operations: &[Operation]) {
    fn each<'a>(
        metrics: &'a mut Exposition,
        (name, kind, unit, help): (&'a str, Kind, Option<&'a str>, &'a str),
        operations: &[Operation],
        value: impl Fn(&Operation) -> u64,
    ) {
        let family = metrics.family(name, kind, unit, help);
        operations.iter().fold(family, |family, operation| {
            family.sample(&[("operation", operation.name)], value(operation))
        });
    }
    let requests = ("fourcorners_serve_requests", Kind::Counter, None, "Requests answered");
    each(metrics, requests, operations, |operation| operation.ios);
    let name = "fourcorners_serve_transferred_bytes";
    let bytes = (name, Kind::Counter, Some("bytes"), "Bytes that requests read, wrote or trimmed");
    each(metrics, bytes, operations, |operation| operation.bytes);
    let family = metrics.family(
        "fourcorners_serve_latency_seconds",
        Kind::Histogram,
        Some("seconds"),
        "What the drive took, in virtual time",
    );
    operations.iter().fold(family, |family, operation| {
        family.times(&[("operation", operation.name)], &operation.latency)
    });
}

fn answers(metrics: &mut Exposition, report: &Report) {
    let mut one = |name, kind, unit, help, value: Option<f64>| {
        metrics.family(name, kind, unit, help).maybe(&[], value);
    };
    let (gauge, counter, seconds) = (Kind::Gauge, Kind::Counter, Some("seconds"));
    let help = "How long the drive is served";
    one("fourcorners_serve_uptime_seconds", gauge, seconds, help, Some(report.seconds));
    let help = "By how much answers go out before they are due";
    one("fourcorners_serve_door_seconds", gauge, seconds, help, Some(report.door_us / 1e6));
    let help = "Requests that the drive failed";
    one("fourcorners_serve_failed_requests", counter, None, help, Some(report.failed as f64));
    let help = "Most requests that waited for a place in the drive's queue";
    one("fourcorners_serve_backlog_most", gauge, None, help, Some(report.backlog_most as f64));
    let help = "Share of answers that were due before they could have been sent";
    let name = "fourcorners_serve_below_floor_ratio";
    one(name, gauge, Some("ratio"), help, report.below_floor);
    if report.lateness.count > 0 {
        metrics
            .family(
                "fourcorners_serve_lateness_seconds",
                Kind::Histogram,
                Some("seconds"),
                "From when an answer was due to after it was written, in wall time",
            )
            .times(&[], &report.lateness);
    }
    let is = match report.pacing {
        Pacing::Paced => "paced",
        Pacing::Behind => "behind",
        Pacing::NotPaced => "not_paced",
        Pacing::Real => "real",
    };
    let help = "Whether clients see the drive's times";
    metrics.family("fourcorners_serve_pacing", Kind::StateSet, None, help).state(
        &[],
        &["paced", "behind", "not_paced", "real"],
        is,
    );
}

fn connections(metrics: &mut Exposition, report: &Report) {
    let connections = &report.connections;
    metrics
        .family("fourcorners_serve_connections", Kind::Counter, None, "Connections of clients")
        .sample(&[], connections.all);
    metrics
        .family("fourcorners_serve_open_connections", Kind::Gauge, None, "Connections now")
        .sample(&[], connections.open);
    let name = "fourcorners_serve_ended_connections";
    let help = "Connections that were refused, broke the protocol or had no good certificate";
    metrics
        .family(name, Kind::Counter, None, help)
        .sample(&[("why", "refused")], connections.refused)
        .sample(&[("why", "broken")], connections.broken)
        .sample(&[("why", "untrusted")], connections.untrusted);
    metrics
        .family("fourcorners_serve_power_cuts", Kind::Counter, None, "Power cuts")
        .sample(&[], report.power_cuts);
    let help = "Requests that a fault has struck";
    let family = metrics.family("fourcorners_serve_faulted_requests", Kind::Counter, None, help);
    report
        .injected
        .iter()
        .flatten()
        .fold(family, |family, (fault, struck)| family.sample(&[("fault", fault)], *struck));
}

fn contents(metrics: &mut Exposition, report: &Report) {
    let bytes = Some("bytes");
    let help = "Bytes of contents that are stored";
    metrics
        .family("fourcorners_serve_stored_bytes", Kind::Gauge, bytes, help)
        .sample(&[], report.stored_bytes);
    let ledger = report.ledger.as_ref();
    let help = "Writes and TRIMs that a power cut now might take";
    metrics
        .family("fourcorners_serve_volatile_writes", Kind::Gauge, None, help)
        .maybe(&[], ledger.map(|ledger| ledger.writes));
    metrics
        .family("fourcorners_serve_volatile_bytes", Kind::Gauge, bytes, "Bytes of these writes")
        .maybe(&[], ledger.map(|ledger| ledger.bytes));
    let help = "What the NAND wrote over what the host wrote, since the drive is served";
    metrics
        .family("fourcorners_serve_write_amplification_ratio", Kind::Gauge, Some("ratio"), help)
        .maybe(&[], report.write_amplification);
    let recorded = report.recorded.as_ref();
    let help = "I/Os given to the recording, and those that were lost";
    let family = metrics.family("fourcorners_serve_recorded_ios", Kind::Counter, None, help);
    let family = family.maybe(&[("kept", "true")], recorded.map(|it| it.ios));
    family.maybe(&[("kept", "false")], recorded.map(|it| it.lost));
}

fn counted_by_the_drive(metrics: &mut Exposition, counters: &DriveCounters) {
    let mut one = |name, kind, unit, help, value: Option<f64>| {
        metrics.family(name, kind, unit, help).maybe(&[], value);
    };
    let (gauge, counter, bytes) = (Kind::Gauge, Kind::Counter, Some("bytes"));
    let help = "Bytes that the host has written since the drive is served";
    let name = "fourcorners_serve_host_written_bytes";
    one(name, counter, bytes, help, Some(counters.host_bytes as f64));
    let help = "Bytes that the NAND was programmed with since then";
    let name = "fourcorners_serve_nand_written_bytes";
    one(name, counter, bytes, help, Some(counters.nand_bytes as f64));
    let help = "Blocks erased since then, one of each plane together";
    let name = "fourcorners_serve_erased_blocks";
    one(name, counter, None, help, Some(counters.blocks_erased as f64));
    let help = "Blocks that have failed, in the drive's life";
    let name = "fourcorners_serve_retired_blocks";
    one(name, gauge, None, help, Some(f64::from(counters.blocks_retired)));
    let help = "Erases of the mean block over those it is rated for";
    let name = "fourcorners_serve_used_endurance_ratio";
    one(name, gauge, Some("ratio"), help, counters.percentage_used.map(|used| used / 100.0));
    let help = "1 if so many blocks have failed that the drive takes no more writes";
    let name = "fourcorners_serve_read_only";
    one(name, gauge, None, help, Some(f64::from(u8::from(counters.read_only))));
    let help = "The drive's own time";
    let name = "fourcorners_serve_power_on_seconds";
    one(name, gauge, Some("seconds"), help, Some(counters.power_on_s));
    let help = "Temperature of the drive";
    let name = "fourcorners_serve_temperature_celsius";
    one(name, gauge, Some("celsius"), help, counters.temperature_c);
}
