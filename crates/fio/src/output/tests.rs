//! What is told of jobs that were run on a drive that takes 100 us for each I/O.

use std::path::Path;

use fourcorners_drive::{Geometry, Nanos, Null};
use fourcorners_record::{ClockName, TargetInfo, TargetKind};
use fourcorners_run::Unobserved;
use fourcorners_run::streams::run;
use serde_json::Value;

use super::*;
use crate::jobfile::{JobFile, Placed};

const DRIVE: Geometry = Geometry { sectors: 1 << 21, logical_block_bytes: 512, queue_depth: 1024 };

fn report(text: &str) -> Report {
    let file = JobFile::from_text(text, Path::new("job.fio"), &|_| None).expect(text);
    let placed = Placed { geometry: DRIVE, is_virtual: true, seed: 9, first_job: 0 };
    let jobs = file.on(placed, |_| true).expect(text);
    let result = run(&mut Null::new(DRIVE.sectors, Nanos(100_000)), &jobs.plan, &mut Unobserved);
    let run = TargetRun {
        target: TargetInfo::new("null".into(), TargetKind::Virtual, DRIVE.bytes(), 512),
        clock: ClockName::Virtual,
        jobs,
        result,
        cost: Cost::default(),
        seconds: 1.0,
        looked_s: 0.0,
        overhead_ns_per_io: None,
        disk: None,
    };
    Report { globals: file.globals, runs: vec![run], at_ms: 0, at: String::new() }
}

fn jobs(text: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(&json(&report(text), false)).expect("JSON");
    document["jobs"].as_array().expect("an array").clone()
}

const UNEQUAL: &str = "[global]\ngroup_reporting\nsize=8m\ntime_based\n[g]\nrw=randread\nruntime=1\n\
                       [b]\nrw=randwrite\nruntime=2\n";

#[test]
fn a_group_is_timed_by_the_jobs_that_did_ios_in_a_direction() {
    let jobs = jobs(UNEQUAL);
    let [group] = &jobs[..] else { panic!("one: {jobs:?}") };
    let told = |side: &str| (group[side]["runtime"].as_u64(), group[side]["iops"].as_f64());
    assert_eq!(told("read"), (Some(1000), Some(10_000.0)));
    assert_eq!(told("write"), (Some(2000), Some(10_000.0)));
    assert_eq!(told("trim"), (Some(0), Some(0.0)));
    assert_eq!(group["job_runtime"], 3000);
    let report = report(UNEQUAL);
    let terse = terse(&report);
    let fields: Vec<&str> = terse.split(';').collect();
    // KiB, KiB/s, I/Os a second and milliseconds of reads, and 41 fields later of writes.
    assert_eq!(fields[5..9], ["40000", "40000", "10000", "1000"]);
    assert_eq!(fields[46..50], ["80000", "40000", "10000", "2000"]);
    let text = normal(&report);
    for said in ["run=1000-1000msec", "run=2000-2000msec", "(39.1MiB/1000msec)"] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn jobs_of_one_direction_are_timed_by_the_longest_of_them() {
    let jobs = jobs(&UNEQUAL.replace("randwrite", "randread"));
    let read = &jobs[0]["read"];
    assert_eq!((&read["runtime"], &read["total_ios"]), (&2000.into(), &30_000.into()));
    assert_eq!(read["iops"], 15_000.0);
}

#[test]
fn a_group_of_one_job_is_as_fast_as_that_job() {
    // 33 I/Os in 3.3 ms, cut to 3 of them: the total was by a tenth above the fastest.
    for (text, count) in [("[a]\nrw=randwrite\nnumber_ios=33\n", 1), (UNEQUAL, 2)] {
        let text = normal(&report(text));
        let totals: Vec<&str> = text.lines().filter(|line| line.contains("bw=")).collect();
        assert_eq!(totals.len(), count, "{text}");
        for total in totals {
            let rates: Vec<&str> = total.split(['=', ' ', ',']).collect();
            let at = rates.iter().position(|word| *word == "bw").expect("a rate");
            let together = rates[at + 1];
            assert!(total.contains(&format!("{together}-{together}")), "{total}");
        }
    }
}

#[test]
fn a_job_without_stats_is_run_and_left_out_of_the_report() {
    let text = "[global]\nrw=randread\nnumber_ios=100\ngroup_reporting\n[a]\nstats=0\n[b]\n[c]\n\
                stats=0\n[d]\n";
    let report = report(text);
    assert_eq!(report.runs[0].result.streams[0].measure.ios(), 100);
    let jobs = jobs(text);
    assert_eq!(jobs.len(), 1, "{jobs:?}");
    assert_eq!((&jobs[0]["jobname"], &jobs[0]["read"]["total_ios"]), (&"b".into(), &200.into()));
    let told = normal(&report);
    assert!(!told.contains("\na: (groupid") && told.contains("\nb: (groupid"), "{told}");
    assert!(told.contains("io=800KiB"), "{told}");
    let all = super::tests::jobs(&text.replace("stats=0", "stats=1"));
    assert_eq!(all[0]["read"]["total_ios"], 400);
    // None at all is an empty report, and no error.
    assert_eq!(terse(&self::report("[a]\nstats=0\nnumber_ios=1\n")), "");
}

#[test]
fn a_job_that_measured_nothing_is_named_with_why() {
    let said = |text: &str| report(text).runs[0].unmeasured();
    let job = "[a]\nrw=randread\nsize=4m\n";
    assert_eq!(
        said(&format!("{job}ramp_time=1\nnumjobs=3\n[b]\nnumber_ios=5\n")),
        ["a: nothing was measured: it ended within its ramp_time: make the job longer, or \
             ramp_time shorter"]
    );
    // One that is measured, after a ramp and without.
    assert_eq!(said(&format!("{job}ramp_time=10ms\n")), [""; 0]);
    assert_eq!(said(job), [""; 0]);
    // Taken along by another before it began.
    let taken = "[a]\nnumber_ios=5\nexitall\nexit_what=all\n[b]\nstartdelay=5\nnumber_ios=5\n";
    assert_eq!(said(taken), [""; 0]);
}
