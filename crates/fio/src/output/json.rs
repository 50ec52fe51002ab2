//! fio's JSON, `json` and `json+`.

use fourcorners_run::Histogram;
use fourcorners_run::streams::{Criterion, Direction, SteadyResult, SteadySpec, Tally, Watched};
use fourcorners_run::verify::Finding;
use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Value, json};

use super::summary::{GroupTotal, Reported, group_total, reported};
use super::{DiskUtil, Report, TargetRun, bins};

/// The version of fio whose keys and units these are, in the form that programs which read its output look for.
pub const FORM_OF: &str = "fio-3.33";

/// The document; `plus` adds the bins of every latency, fio's `json+`.
pub fn json(report: &Report, plus: bool) -> String {
    let mut groups = 0;
    let mut jobs = Vec::new();
    let all: Vec<Vec<Reported<'_>>> = report.runs.iter().map(reported).collect();
    for (run, reported) in report.runs.iter().zip(&all) {
        for one in reported {
            jobs.push(Form { run, reported, first_group: groups, plus }.job(one));
        }
        groups += run.jobs.jobs.last().map_or(0, |job| job.group + 1);
    }
    let document = Document {
        version: FORM_OF,
        ours: env!("CARGO_PKG_VERSION"),
        timestamp: report.at_ms / 1000,
        timestamp_ms: report.at_ms,
        time: &report.at,
        globals: pairs(&report.globals),
        jobs,
        disk_util: report.runs.iter().filter_map(|run| run.disk.as_ref()).collect(),
    };
    serde_json::to_string_pretty(&document).expect("maps with text keys and finite numbers")
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(rename = "fio version")]
    version: &'static str,
    #[serde(rename = "fourcorners version")]
    ours: &'static str,
    timestamp: i64,
    timestamp_ms: i64,
    time: &'a str,
    #[serde(rename = "global options")]
    globals: IndexMap<&'a str, &'a str>,
    jobs: Vec<JobForm<'a>>,
    disk_util: Vec<&'a DiskUtil>,
}

#[derive(Serialize)]
struct JobForm<'a> {
    jobname: &'a str,
    groupid: u32,
    error: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_err: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_error: Option<i32>,
    eta: u64,
    elapsed: u64,
    #[serde(rename = "job options")]
    options: IndexMap<&'a str, &'a str>,
    read: DirectionForm,
    write: DirectionForm,
    trim: DirectionForm,
    sync: SyncForm,
    job_runtime: u64,
    usr_cpu: f64,
    sys_cpu: f64,
    ctx: u64,
    majf: u64,
    minf: u64,
    iodepth_level: IndexMap<&'static str, f64>,
    iodepth_submit: IndexMap<&'static str, f64>,
    iodepth_complete: IndexMap<&'static str, f64>,
    latency_ns: IndexMap<String, f64>,
    latency_us: IndexMap<String, f64>,
    latency_ms: IndexMap<String, f64>,
    latency_depth: u32,
    latency_target: u64,
    latency_percentile: f64,
    latency_window: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    steadystate: Option<Value>,
    /// Ours: what it was run on.
    fourcorners: Value,
}

#[derive(Serialize)]
struct DirectionForm {
    io_bytes: u64,
    io_kbytes: u64,
    bw_bytes: u64,
    bw: u64,
    iops: f64,
    runtime: u64,
    total_ios: u64,
    short_ios: u64,
    drop_ios: u64,
    slat_ns: LatencyForm,
    clat_ns: LatencyForm,
    lat_ns: LatencyForm,
    bw_min: u64,
    bw_max: u64,
    bw_agg: f64,
    bw_mean: f64,
    bw_dev: f64,
    bw_samples: u64,
    iops_min: u64,
    iops_max: u64,
    iops_mean: f64,
    iops_stddev: f64,
    iops_samples: u64,
}

#[derive(Serialize)]
struct SyncForm {
    total_ios: u64,
    lat_ns: LatencyForm,
}

#[derive(Serialize, Default)]
struct LatencyForm {
    min: u64,
    max: u64,
    mean: f64,
    stddev: f64,
    #[serde(rename = "N")]
    count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    percentile: Option<IndexMap<String, u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bins: Option<IndexMap<String, u64>>,
}

/// What the forms of a run have in common.
struct Form<'a> {
    run: &'a TargetRun,
    reported: &'a [Reported<'a>],
    first_group: u32,
    plus: bool,
}

impl<'a> Form<'a> {
    fn job(&self, one: &Reported<'a>) -> JobForm<'a> {
        let job = one.job;
        let measure = &one.measure;
        let direction = |direction: Direction| self.direction(one, direction);
        let coarse = bins::coarse(measure.tallies.iter().map(|tally| &tally.latency));
        let seconds = one.job_time.as_secs().max(1e-9);
        // One I/O at a time goes to the target, and one at a time is taken from it.
        let one_at_a_time = || {
            let all = if measure.ios() > 0 { 100.0 } else { 0.0 };
            ["0", "4", "8", "16", "32", "64", ">=64"]
                .map(|name| (name, if name == "4" { all } else { 0.0 }))
                .into_iter()
                .collect()
        };
        let steady = job.steady.map(|place| {
            let (spec, result) =
                (&self.run.jobs.plan.steady[place], &self.run.result.steady[place]);
            steady_state(&job.steady_text, spec, result)
        });
        let target = one.searched.map(|(target, _)| target);
        let (errno, failed) = one.error;
        let hardy = job.survives_errors && failed > 0;
        JobForm {
            jobname: &job.name,
            groupid: self.first_group + job.group,
            error: if hardy { 0 } else { errno },
            total_err: hardy.then_some(failed),
            first_error: hardy.then_some(errno),
            eta: 0,
            elapsed: one.end.0 / 1_000_000_000 + 1,
            options: pairs(&job.options),
            read: direction(Direction::Read),
            write: direction(Direction::Write),
            trim: direction(Direction::Trim),
            sync: SyncForm {
                total_ios: measure.flushes.latency.count(),
                lat_ns: self.latency(&measure.flushes, &job.percentiles.list),
            },
            job_runtime: one.job_time.0 / 1_000_000,
            usr_cpu: round(one.cost.user_s * 100.0 / seconds),
            sys_cpu: round(one.cost.system_s * 100.0 / seconds),
            ctx: one.cost.switches,
            majf: one.cost.faults.0,
            minf: one.cost.faults.1,
            iodepth_level: levels(measure.depths),
            iodepth_submit: one_at_a_time(),
            iodepth_complete: one_at_a_time(),
            latency_ns: rounded(coarse.ns),
            latency_us: rounded(coarse.us),
            latency_ms: rounded(coarse.ms),
            latency_depth: one.depth,
            latency_target: target.map_or(0, |target| target.latency.0),
            latency_percentile: target.map_or(100.0, |target| target.percent),
            latency_window: target.map_or(0, |target| target.window.0 / 1000),
            steadystate: steady,
            fourcorners: self.ours(one),
        }
    }

    fn ours(&self, one: &Reported<'a>) -> Value {
        let mut ours = json!({"target": self.run.target.name, "clock": self.run.clock});
        if let Some(overhead) = self.run.overhead_ns_per_io {
            ours["overhead_ns_per_io"] = json!(overhead);
            ours["limited_by_generator"] = json!(self.run.was_limited_by_us());
        }
        if let Some((_, found)) = one.searched {
            ours["latency_target_met"] = json!(found.met);
        }
        if let (Some(spec), Some(findings)) =
            (&self.run.jobs.plan.verify, &self.run.result.findings)
        {
            let name = |stream: usize| self.run.jobs.name_of(stream);
            let mine = |finding: &&Finding| {
                let job = self.run.jobs.jobs.get(finding.stream);
                job.is_some_and(|job| job.reported_as == one.job.reported_as)
            };
            let told = |finding: &Finding| {
                json!({
                    "offset_bytes": finding.offset_bytes,
                    "bytes": finding.bytes,
                    "damage": finding.damage.name(),
                    "what": finding.sentence(name),
                })
            };
            let back = one.verified.clone().unwrap_or_default();
            ours["verify"] = json!({
                "checksum": spec.kind.name(),
                "block_bytes": spec.block_bytes,
                "read_back_blocks": back.blocks,
                "read_back_bytes": back.bytes,
                "read_back_ms": back.elapsed.0 / 1_000_000,
                "wrong_blocks": one.wrong_blocks,
                "findings": findings.list.iter().filter(mine).map(told).collect::<Vec<_>>(),
            });
        }
        ours
    }

    fn direction(&self, one: &Reported<'a>, direction: Direction) -> DirectionForm {
        let tally = one.tally(direction);
        let bytes_per_s = one.bytes_a_second(direction);
        let percentiles = &one.job.percentiles;
        let list = |wanted: bool| if wanted { percentiles.list.as_slice() } else { &[] };
        let total = group_total(self.reported, one.job.group, direction);
        let together = total.map_or(0.0, |total: GroupTotal| total.together / 1024.0);
        let (bw, iops) = (&tally.kib_per_s, &tally.iops);
        DirectionForm {
            io_bytes: tally.bytes,
            io_kbytes: tally.bytes / 1024,
            bw_bytes: bytes_per_s as u64,
            bw: (bytes_per_s / 1024.0) as u64,
            iops: round(one.ios_a_second(direction)),
            runtime: one.runtime_ms(direction),
            total_ios: tally.latency.count(),
            short_ios: 0,
            drop_ios: 0,
            slat_ns: LatencyForm::default(),
            clat_ns: self.latency(tally, list(percentiles.completion)),
            lat_ns: self.latency(tally, list(percentiles.total)),
            bw_min: bw.min as u64,
            bw_max: bw.max as u64,
            bw_agg: if bw.count == 0 {
                0.0
            } else {
                round((bw.mean() * 100.0 / together).min(100.0))
            },
            bw_mean: round(bw.mean()),
            bw_dev: round(bw.deviation()),
            bw_samples: bw.count,
            iops_min: iops.min as u64,
            iops_max: iops.max as u64,
            iops_mean: round(iops.mean()),
            iops_stddev: round(iops.deviation()),
            iops_samples: iops.count,
        }
    }

    fn latency(&self, tally: &Tally, percentiles: &[f64]) -> LatencyForm {
        let latency: &Histogram = &tally.latency;
        let told = !percentiles.is_empty() && latency.count() > 0;
        let percentile = |&percent: &f64| (format!("{percent:.6}"), latency.percentile(percent));
        LatencyForm {
            min: latency.min(),
            max: latency.max(),
            mean: round(latency.mean()),
            stddev: round(tally.latency_deviation()),
            count: latency.count(),
            percentile: told.then(|| percentiles.iter().map(percentile).collect()),
            bins: (told && self.plus).then(|| bins::bins(latency)),
        }
    }
}

fn pairs(options: &[(String, String)]) -> IndexMap<&str, &str> {
    options.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect()
}

/// fio prints six decimals.
fn round(value: f64) -> f64 {
    if value.is_finite() { (value * 1e6).round() / 1e6 } else { 0.0 }
}

fn rounded(bins: IndexMap<String, f64>) -> IndexMap<String, f64> {
    bins.into_iter().map(|(name, percent)| (name, round(percent))).collect()
}

fn levels(depths: [u64; 7]) -> IndexMap<&'static str, f64> {
    let all: u64 = depths.iter().sum();
    let names = ["1", "2", "4", "8", "16", "32", ">=64"];
    let percent = |count: u64| round(count as f64 * 100.0 / all.max(1) as f64);
    names.into_iter().zip(depths.map(percent)).collect()
}

fn steady_state(text: &str, spec: &SteadySpec, result: &SteadyResult) -> Value {
    let Criterion { watched, percent, .. } = spec.criterion;
    let mean = |values: &[u64]| values.iter().sum::<u64>() / values.len().max(1) as u64;
    let sign = if percent { "%" } else { "" };
    let mut data = json!({
        "bw_mean": mean(&result.kib_per_s),
        "iops_mean": mean(&result.iops),
        "iops": result.iops,
        "bw": result.kib_per_s,
    });
    if watched == Watched::Latency {
        data["lat_mean"] = json!(mean(&result.latency_ns));
        data["lat_ns"] = json!(result.latency_ns);
    }
    json!({
        "ss": text,
        "duration": spec.window.0 / 1_000_000_000,
        "attained": u8::from(result.attained),
        "criterion": format!("{:.6}{sign}", round(result.value)),
        "max_deviation": round(result.deviation),
        "slope": round(result.slope),
        "data": data,
    })
}
