//! From what a job did to the figure and the series of a record.

use fourcorners_fio as fio;
use fourcorners_record::{Figure, Job, Latency, TargetInfo, TargetKind};
use fourcorners_run::JobEnd;

use crate::drive::{Drive, Outcome};

/// What a figure is of, besides the outcome.
pub(super) struct About<'a> {
    pub(super) name: &'a str,
    pub(super) job: &'a Job,
    /// State of the target before the job.
    pub(super) state: &'a str,
    pub(super) target: &'a TargetInfo,
}

pub(super) fn figure(about: &About<'_>, outcome: &Outcome, drive: &Drive) -> Figure {
    let measured = &outcome.measured;
    let About { name, job, state, target } = *about;
    let seconds = measured.elapsed.as_secs().max(1e-9);
    let over_provisioning = drive.over_provisioning();
    let energy = measured.energy.as_ref();
    Figure {
        mb_per_s: measured.bytes as f64 / 1e6 / seconds,
        iops: measured.latency.count() as f64 / seconds,
        latency_us: Latency::from(&measured.latency),
        ios: measured.latency.count(),
        bytes: measured.bytes,
        duration_s: seconds,
        mean_queue_depth: measured.in_flight_ns as f64 / measured.elapsed.0.max(1) as f64,
        state: state.into(),
        write_amplification: outcome.write_amplification,
        nameplate_op: over_provisioning.map(|(nameplate, _)| nameplate),
        effective_op: over_provisioning.map(|(_, effective)| effective),
        wear: drive.wear(),
        mean_power_w: energy.map(|energy| energy.joules / seconds),
        joules_per_gb: energy.map(|energy| energy.joules / (measured.bytes as f64 / 1e9)),
        heat: outcome.heat,
        cache: outcome.cache.clone(),
        members: outcome.members.clone(),
        cpu_us_per_io: (target.kind != TargetKind::Virtual)
            .then(|| outcome.cpu_seconds * 1e6 / measured.latency.count() as f64),
        noise: outcome.noise,
        complete: measured.ended == JobEnd::Complete,
        job: job.clone(),
        fio: fio::command(name, job, target),
        latency_bins_ns: measured.latency.bins(),
    }
}
