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

/// A figure of a virtual drive, to be changed by tests.
#[cfg(test)]
pub(super) fn example() -> Figure {
    use fourcorners_record::{Data, Pattern, Until};

    let job = Job {
        pattern: Pattern::Random,
        read_percent: 100,
        block_bytes: 4096,
        queue_depth: 1,
        span_start_bytes: 0,
        span_bytes: 1 << 20,
        data: Data::Incompressible,
        until: Until::Bytes(1 << 20),
        seed: 1,
        fua: false,
        flush: false,
        jobs: 1,
    };
    let profile = fourcorners_catalogue::built_in("crucial-m4-64gb", &[]).expect("it is there");
    let mut drive = Drive::from_profile(&profile);
    let outcome = drive.run(&job, &mut fourcorners_run::Unobserved);
    let target = TargetInfo::new("example".into(), TargetKind::Virtual, 1 << 20, 512);
    figure(&About { name: "example", job: &job, state: "fresh", target: &target }, &outcome, &drive)
}
