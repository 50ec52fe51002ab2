//! Jobs on drives whose answers can be worked out by hand.

use fourcorners_drive::{Fault, Io, Null};
use fourcorners_record::{Data, Pattern, Until};
use proptest::prelude::*;

use super::*;
use crate::observer::Unobserved;

fn job(queue_depth: u32, until: Until) -> Job {
    Job {
        pattern: Pattern::Random,
        read_percent: 50,
        block_bytes: 4096,
        queue_depth,
        span_start_bytes: 0,
        span_bytes: 1 << 30,
        data: Data::Incompressible,
        until,
        seed: 1,
        fua: false,
        flush: false,
        jobs: 1,
    }
}

#[test]
fn a_second_at_depth_four_and_100_us_is_40_000_ios() {
    let mut drive = Null::new(1 << 21, Nanos::from_micros(100.0));
    let measured = run(&mut drive, &job(4, Until::Seconds(3)), &mut Unobserved);
    assert_eq!(measured.latency.count(), 120_000);
    assert_eq!(measured.elapsed, Nanos::from_secs(3));
    // The completions of the very last instant belong to the second that begins there, which
    // is not whole.
    let ios: Vec<u64> = measured.seconds.iter().map(|second| second.ios).collect();
    assert_eq!(ios, [39_996, 40_000, 40_000]);
    assert_eq!(measured.ended, JobEnd::Complete);
}

#[test]
fn marks_are_when_each_piece_was_done() {
    let mut drive = Null::new(1 << 21, Nanos::from_micros(10.0));
    let job = job(1, Until::Bytes(10 * 4096));
    let measured = run_marked(&mut drive, &job, 3 * 4096, &mut Unobserved);
    assert_eq!(measured.marks, [30.0, 60.0, 90.0].map(Nanos::from_micros));
    assert!(run(&mut drive, &job, &mut Unobserved).marks.is_empty());
}

#[test]
fn a_job_of_bytes_submits_no_more() {
    let mut drive = Null::new(1 << 21, Nanos::from_micros(1.0));
    let measured = run(&mut drive, &job(8, Until::Bytes(100 * 4096)), &mut Unobserved);
    assert_eq!((measured.bytes, measured.reads + measured.writes), (100 * 4096, 100));
}

#[test]
fn a_fault_ends_the_job_and_keeps_what_was_measured() {
    // The drive is half as large as the span: one of the first I/Os lands outside.
    let mut drive = Null::new(1 << 20, Nanos::from_micros(1.0));
    let measured = run(&mut drive, &job(8, Until::Bytes(1 << 20)), &mut Unobserved);
    assert!(matches!(measured.ended, JobEnd::Failed(fault) if fault.io.end() > 1 << 20));
    assert!(measured.latency.count() > 0);
    assert_eq!(measured.in_flight_ns, measured.latency.sum());
}

#[test]
fn an_observer_can_stop_it() {
    struct StopAt(f64);
    impl Observer for StopAt {
        fn go_on(&mut self, part_done: f64) -> bool {
            part_done < self.0
        }
    }
    let mut drive = Null::new(1 << 21, Nanos::from_micros(100.0));
    let measured = run(&mut drive, &job(4, Until::Seconds(100)), &mut StopAt(0.5));
    assert_eq!(measured.ended, JobEnd::Interrupted);
    assert!((measured.elapsed.as_secs() - 50.0).abs() < 1.0);
}

/// A drive that draws 2 W and a joule an I/O.
struct Metered(Null, f64);

impl Target for Metered {
    const CLOCK: Clock = Clock::Virtual;
    fn geometry(&self) -> fourcorners_drive::Geometry {
        self.0.geometry()
    }
    fn now(&self) -> Nanos {
        self.0.now()
    }
    fn submit(&mut self, tag: Tag, io: Io) {
        self.1 += 1.0;
        self.0.submit(tag, io);
    }
    fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
        self.0.reap(until)
    }
    fn energy_j(&self, at: Nanos) -> Option<f64> {
        Some(2.0 * at.as_secs() + self.1)
    }
}

#[test]
fn energy_is_read_at_the_end_of_every_second() {
    // An I/O takes 0.6 s: submitted at 0, 0.6, 1.2, 1.8, 2.4 and 3.0 s.
    let mut drive = Metered(Null::new(1 << 21, Nanos::from_micros(600_000.0)), 1000.0);
    drive.reap(Nanos::from_secs(10)).expect("no fault");
    let measured = run(&mut drive, &job(1, Until::Bytes(6 * 4096)), &mut Unobserved);
    let energy = measured.energy.expect("the drive can tell");
    assert_eq!(measured.elapsed, Nanos::from_micros(3_600_000.0));
    assert!((energy.joules - (2.0 * 3.6 + 6.0)).abs() < 1e-9, "{energy:?}");
    let expected = [2.0 + 2.0, 2.0 + 2.0, 2.0 + 1.0];
    assert_eq!(energy.seconds.len(), expected.len());
    for (second, expected) in energy.seconds.iter().zip(expected) {
        assert!((second - expected).abs() < 1e-9, "{energy:?}");
    }
}

#[test]
fn a_stall_of_seconds_draws_in_each_of_them() {
    let mut drive = Metered(Null::new(1 << 21, Nanos::from_secs(5)), 0.0);
    let measured = run(&mut drive, &job(1, Until::Bytes(4096)), &mut Unobserved);
    let seconds = measured.energy.expect("the drive can tell").seconds;
    assert_eq!(seconds, [3.0, 2.0, 2.0, 2.0, 2.0]);
    let mut unmetered = Null::new(1 << 21, Nanos::from_secs(5));
    let measured = run(&mut unmetered, &job(1, Until::Bytes(4096)), &mut Unobserved);
    assert_eq!(measured.energy, None);
}

proptest! {
    #[test]
    fn littles_law_holds_exactly(
        queue_depth in 1u32..64, latency in 1u64..1_000_000, blocks in 1u64..5000,
    ) {
        let mut drive = Null::new(1 << 21, Nanos(latency));
        let measured =
            run(&mut drive, &job(queue_depth, Until::Bytes(blocks * 4096)), &mut Unobserved);
        prop_assert_eq!(measured.in_flight_ns, measured.latency.sum());
    }
}
