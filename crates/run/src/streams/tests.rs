//! Streams on drives whose answers can be worked out by hand.

use fourcorners_drive::{Clock, Done, Geometry, Io, Null, Tag, Target};

use super::testing::stream;
use super::*;
use crate::observer::{Observer, Unobserved};

const MS: u64 = 1_000_000;

fn null(latency_ns: u64) -> Null {
    Null::new(1 << 21, Nanos(latency_ns))
}

fn plan(streams: Vec<Stream>) -> Plan {
    Plan { streams, ..Plan::default() }
}

fn seconds(mut stream: Stream, seconds: u64) -> Stream {
    stream.limits.time = Nanos::from_secs(seconds);
    stream
}

fn ios(result: &RunResult) -> Vec<u64> {
    result.streams.iter().map(|stream| stream.measure.ios()).collect()
}

/// Takes two I/Os at a time.
struct Narrow(Null);
impl Target for Narrow {
    const CLOCK: Clock = Clock::Virtual;
    fn geometry(&self) -> Geometry {
        Geometry { queue_depth: 2, ..self.0.geometry() }
    }
    fn now(&self) -> Nanos {
        self.0.now()
    }
    fn submit(&mut self, tag: Tag, io: Io) {
        assert!(tag.0 < 2);
        self.0.submit(tag, io);
    }
    fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
        self.0.reap(until)
    }
}

#[test]
fn two_streams_share_a_target_and_each_has_its_depth() {
    let mut deep = seconds(stream(1 << 30), 1);
    deep.depth = 4;
    let shallow = seconds(stream(1 << 30), 2);
    let result = run(&mut null(100_000), &plan(vec![deep, shallow]), &mut Unobserved);
    assert_eq!(ios(&result), [40_000, 20_000]);
    assert_eq!(result.streams[0].elapsed, Nanos::from_secs(1));
    assert_eq!(result.streams[0].measure.depths, [1, 2, 39_997, 0, 0, 0, 0]);
}

#[test]
fn what_the_target_does_not_take_waits_in_line_and_in_the_latency() {
    let mut deep = seconds(stream(1 << 30), 1);
    deep.depth = 6;
    let result = run(&mut Narrow(null(MS)), &plan(vec![deep]), &mut Unobserved);
    let tally = &result.streams[0].measure.tallies[0];
    // Two at a time take a millisecond; an I/O waits for two pairs before it.
    assert_eq!(tally.latency.percentile(50.0), 3 * MS);
    assert!(tally.latency.count().abs_diff(2000) <= 6, "{}", tally.latency.count());
}

#[test]
fn a_stream_searches_the_depth_that_meets_a_latency_and_measures_at_that() {
    let search_of = |change: fn(Stream) -> Stream, latency_ns: u64| {
        let mut deep = stream(1 << 30);
        deep.depth = 32;
        deep.limits.bytes = u64::MAX;
        deep.latency_target = Some(LatencyTarget {
            latency: Nanos(latency_ns),
            window: Nanos::from_secs(1),
            percent: 99.0,
            goes_on: false,
        });
        let mut result = run(&mut Narrow(null(MS)), &plan(vec![change(deep)]), &mut Unobserved);
        result.streams.remove(0)
    };
    let search = |latency_ns| search_of(|deep| deep, latency_ns);
    // Six in flight take three rounds of two.
    let in_time = search(3 * MS + MS / 2);
    assert_eq!(in_time.depth_found, Some(DepthFound { depth: 6, met: Some(true) }));
    let measure = &in_time.measure;
    let (count, most) = (measure.ios(), measure.tallies[0].latency.max());
    assert!((1990..=2010).contains(&count) && most <= 3 * MS, "{count} I/Os, {most} ns");
    // Of the window that counts only.
    assert!((0.99..1.02).contains(&in_time.elapsed.as_secs()), "{:?}", in_time.elapsed);
    // What is done in a ramp is not looked at, and not counted: it is over when the first window begins.
    let ramp = |deep: Stream| Stream { ramp: Nanos::from_secs(5), ..deep };
    assert_eq!(search_of(ramp, 3 * MS + MS / 2).depth_found, in_time.depth_found);
    let none = search(MS / 2);
    assert_eq!(none.depth_found, Some(DepthFound { depth: 1, met: Some(false) }));
    let all = search(100 * MS);
    assert_eq!(all.depth_found, Some(DepthFound { depth: 32, met: Some(true) }));
}

#[test]
fn a_pace_is_kept_to_the_io_and_a_stall_shows_in_every_latency_behind_it() {
    let mut paced = seconds(stream(1 << 30), 10);
    paced.pace[0] = Some(Pace { rate: Rate::Ios(1000), poisson: false });
    let result = run(&mut null(100_000), &plan(vec![paced.clone()]), &mut Unobserved);
    assert_eq!(ios(&result), [10_000]);
    assert_eq!(result.streams[0].measure.tallies[0].latency.max(), 100_000);

    let mut slow = null(2_000 * MS);
    paced.limits.ios = 5;
    paced.limits.time = Nanos::MAX;
    let result = run(&mut slow, &plan(vec![paced]), &mut Unobserved);
    let latency = &result.streams[0].measure.tallies[0].latency;
    // Due at 0, 1, 2, 3, 4 ms; done at 2, 4, 6, 8, 10 s.
    assert_eq!(latency.sum(), u128::from((2 + 4 + 6 + 8 + 10) * 1000 * MS - 10 * MS));
}

#[test]
fn what_was_due_in_time_is_done_also_when_it_fell_behind_but_not_without_end() {
    let mut paced = seconds(stream(1 << 30), 10);
    paced.pace[0] = Some(Pace { rate: Rate::Ios(1000), poisson: false });
    // One at a time, each 0.5 % longer than there is time for: 50 are left at the end, and all 10,000
    // take 10.05 s.
    let result = run(&mut null(1_005_000), &plan(vec![paced.clone()]), &mut Unobserved);
    assert_eq!(ios(&result), [10_000]);
    assert_eq!(result.streams[0].elapsed, Nanos(10_050_000_000));
    // Half as fast as asked for: it ends after a hundredth more of its time.
    let result = run(&mut null(2_000_000), &plan(vec![paced.clone()]), &mut Unobserved);
    assert_eq!(ios(&result), [5_050]);
    assert_eq!(result.streams[0].elapsed, Nanos(10_100_000_000));
    // A pause that goes on beyond its time is waited for no longer than that.
    paced.think = Some(Think { pause: Nanos::from_secs(100), every: 9_990 });
    let result = run(&mut null(1_005_000), &plan(vec![paced]), &mut Unobserved);
    assert_eq!(ios(&result), [9_990]);
}

#[test]
fn stone_walls_and_delays_keep_their_order() {
    let mut first = stream(1 << 30);
    first.limits.ios = 1000;
    let mut second = first.clone();
    second.start = Start { delay: Nanos::from_secs(7), after: Vec::new() };
    let mut third = first.clone();
    third.start.after = vec![0];
    let mut fourth = first.clone();
    fourth.start.after = vec![0, 1, 2];
    let result = run(&mut null(MS), &plan(vec![first, second, third, fourth]), &mut Unobserved);
    let began: Vec<f64> = result.streams.iter().map(|stream| stream.began.as_secs()).collect();
    assert_eq!(began, [0.0, 7.0, 1.0, 8.0]);
    assert_eq!(ios(&result), [1000; 4]);
}

#[test]
fn a_ramp_is_done_and_not_measured() {
    let mut ramped = seconds(stream(1 << 30), 2);
    ramped.ramp = Nanos::from_secs(3);
    let mut drive = null(MS);
    let result = run(&mut drive, &plan(vec![ramped]), &mut Unobserved);
    assert_eq!(drive.now(), Nanos::from_secs(5));
    assert_eq!(result.streams[0].elapsed, Nanos::from_secs(2));
    assert_eq!(result.streams[0].ended, Nanos::from_secs(5));
    // The one that ends with the ramp is counted.
    assert_eq!(ios(&result), [2001]);
}

#[test]
fn bytes_and_ios_end_a_stream_to_the_io() {
    let mut bytes = stream(1 << 30);
    bytes.limits.bytes = 10 * 4096 + 100;
    let mut count = stream(1 << 30);
    count.limits.ios = 7;
    let mut nothing = stream(1 << 30);
    nothing.limits.ios = 0;
    let result = run(&mut null(MS), &plan(vec![bytes, count, nothing]), &mut Unobserved);
    assert_eq!(ios(&result), [10, 7, 0]);
    assert_eq!(result.streams[2].elapsed, Nanos::ZERO);
}

#[test]
fn think_time_and_flushes_come_between() {
    let mut thinking = stream(1 << 30);
    thinking.operations = Operations::Only(Direction::Write);
    thinking.limits.ios = 10;
    thinking.think = Some(Think { pause: Nanos(9 * MS), every: 2 });
    let mut drive = null(MS);
    let result = run(&mut drive, &plan(vec![thinking.clone()]), &mut Unobserved);
    // Ten of 1 ms, and a pause after each pair of them.
    assert_eq!(result.streams[0].elapsed, Nanos((10 + 5 * 9) * MS));
    thinking.think = None;
    thinking.flushes = Flushes { every: 5, at_end: true };
    let result = run(&mut null(MS), &plan(vec![thinking]), &mut Unobserved);
    let measure = &result.streams[0].measure;
    assert_eq!((measure.ios(), measure.flushes.latency.count()), (10, 3));
}

#[test]
fn flow_keeps_the_shares_of_streams() {
    let mut writer = seconds(stream(1 << 30), 5);
    writer.flow = Some((0, 1));
    writer.depth = 16;
    let mut reader = seconds(stream(1 << 30), 5);
    reader.flow = Some((0, 8));
    let result = run(&mut null(MS), &plan(vec![writer, reader]), &mut Unobserved);
    let ios = ios(&result);
    assert!((ios[1] as f64 / ios[0] as f64 - 8.0).abs() < 0.05, "{ios:?}");
}

#[test]
fn the_first_to_end_takes_the_others_along() {
    let mut first = stream(1 << 30);
    first.limits.ios = 100;
    first.takes_along = Some(TakesAlong::Group);
    let endless = stream(1 << 30);
    let mut waits = stream(1 << 30);
    waits.start.after = vec![0, 1];
    let mut other = seconds(stream(1 << 30), 1);
    other.group = 1;
    let all = vec![first, endless, waits, other];
    let result = run(&mut null(MS), &plan(all), &mut Unobserved);
    assert_eq!(ios(&result), [100, 100, 0, 1000]);
}

#[test]
fn a_failed_io_ends_its_stream_only_and_a_hardy_one_counts_on() {
    // The second half of the span is outside the drive of 1 GiB.
    let mut fails = stream(2 << 30);
    fails.limits.ios = 1000;
    let mut survives = fails.clone();
    survives.survives_errors = true;
    let mut sound = stream(1 << 30);
    sound.limits.ios = 1000;
    let result = run(&mut null(MS), &plan(vec![fails, survives, sound]), &mut Unobserved);
    let failed: Vec<Option<u64>> =
        result.streams.iter().map(|stream| stream.failed.map(|failed| failed.1)).collect();
    assert_eq!(failed[0], Some(1));
    assert_eq!(failed[2], None);
    let (counted, done) = (failed[1].expect("half of them"), ios(&result)[1]);
    assert_eq!(counted + done, 1000);
    assert!((400..600).contains(&counted));
    assert_eq!(ios(&result)[2], 1000);
}

#[test]
fn a_stream_that_only_fails_ends() {
    let mut outside = seconds(stream(1 << 30), 1000);
    outside.span_start_bytes = 4 << 30;
    outside.survives_errors = true;
    let result = run(&mut null(MS), &plan(vec![outside]), &mut Unobserved);
    assert_eq!(result.streams[0].failed.map(|failed| failed.1), Some(10_000));
}

#[test]
fn pauses_and_due_times_beyond_the_end_of_time_end_a_stream() {
    let century = Nanos(100 * 366 * 86_400 * 1_000_000_000);
    let mut thinking = stream(1 << 30);
    thinking.think = Some(Think { pause: century, every: 1 });
    let mut paced = stream(1 << 30);
    paced.pace[0] = Some(Pace { rate: Rate::Bytes(1), poisson: false });
    paced.blocks[0] = BlockSizes::One(1 << 30);
    paced.access.random_percent = [0; 3];
    let mut poisson = paced.clone();
    poisson.pace[0] = Some(Pace { rate: Rate::Bytes(1), poisson: true });
    let mut after = stream(1 << 30);
    after.start.after = vec![0, 1, 2];
    let result = run(&mut null(MS), &plan(vec![thinking, paced, poisson, after]), &mut Unobserved);
    let ios: Vec<u64> = result.streams.iter().map(|stream| stream.measure.ios()).collect();
    // 292 years: a pause of a century fits twice, and 2^30 seconds, 34 years, eight times.
    assert_eq!((ios[0], ios[1], ios[3]), (3, 9, 0));
    assert!((1..30).contains(&ios[2]), "{}", ios[2]);
}

#[test]
fn waiting_without_end_can_be_interrupted() {
    struct Enough(u32);
    impl Observer for Enough {
        fn go_on(&mut self, _: f64) -> bool {
            self.0 += 1;
            self.0 < 3
        }
    }
    let mut thinking = stream(1 << 30);
    thinking.think = Some(Think { pause: Nanos(100 * 366 * 86_400 * 1_000_000_000), every: 1 });
    let criterion = Criterion { watched: Watched::Iops, slope: false, limit: 5.0, percent: true };
    let mut plan = plan(vec![thinking]);
    plan.steady.push(SteadySpec {
        members: vec![0],
        criterion,
        window: Nanos::from_secs(1),
        ramp: Nanos::ZERO,
        interval: Nanos(MS),
    });
    assert!(run(&mut null(MS), &plan, &mut Enough(0)).interrupted);
}

#[test]
fn a_log_of_short_windows_bears_years_of_waiting() {
    let year = 366 * 86_400 * 1_000_000_000;
    let mut logged = stream(1 << 30);
    logged.limits.ios = 2;
    logged.log = Some(LogSpec { window: Nanos(MS), longest: false, most_rows: MOST_ROWS });
    let result = run(&mut null(year), &plan(vec![logged]), &mut Unobserved);
    let log = result.streams[0].measure.log.as_ref().expect("asked for");
    assert!(log.cut && log.rows.len() == MOST_ROWS);
    // Samples begin with the first I/O that came back.
    assert_eq!(result.streams[0].measure.tallies[0].iops.count, year / (500 * MS));
}

#[test]
fn a_steady_group_ends_early() {
    let criterion = Criterion { watched: Watched::Iops, slope: false, limit: 5.0, percent: true };
    let steady = SteadySpec {
        members: vec![0],
        criterion,
        window: Nanos::from_secs(10),
        ramp: Nanos::from_secs(2),
        interval: Nanos::from_secs(1),
    };
    let streams = vec![seconds(stream(1 << 30), 1000)];
    let result =
        run(&mut null(MS), &Plan { streams, steady: vec![steady], verify: None }, &mut Unobserved);
    assert!(result.steady[0].attained);
    let elapsed = result.streams[0].elapsed;
    assert!(elapsed.since(Nanos::from_secs(12)) <= Nanos(MS), "{elapsed}");
    assert_eq!(result.steady[0].iops.len(), 10);
}

#[test]
fn an_observer_stops_everything() {
    struct Stop;
    impl Observer for Stop {
        fn go_on(&mut self, _part_done: f64) -> bool {
            false
        }
    }
    let mut waits = stream(1 << 30);
    waits.start.after = vec![0];
    let result = run(&mut null(MS), &plan(vec![stream(1 << 30), waits]), &mut Stop);
    assert!(result.interrupted);
    assert_eq!(ios(&result)[1], 0);
}

#[test]
fn logs_have_a_row_a_window_and_direction() {
    let mut logged = seconds(stream(1 << 30), 2);
    logged.log = Some(LogSpec { window: Nanos(500 * MS), longest: false, most_rows: MOST_ROWS });
    let result = run(&mut null(MS), &plan(vec![logged.clone()]), &mut Unobserved);
    let rows = &result.streams[0].measure.log.as_ref().expect("asked for").rows;
    let times: Vec<u64> = rows.iter().map(|row| row.at_ms).collect();
    assert_eq!(times, [500, 1000, 1500, 2000]);
    // What completes with a window's end belongs to the next.
    assert!(rows[1..].iter().all(|row| row.iops == 1000 && row.kib_per_s == 4000));
    assert!(rows.iter().all(|row| row.latency_ns == Some(MS)));
    logged.log = Some(LogSpec { window: Nanos::ZERO, longest: false, most_rows: MOST_ROWS });
    let result = run(&mut null(MS), &plan(vec![logged]), &mut Unobserved);
    let rows = &result.streams[0].measure.log.as_ref().expect("asked for").rows;
    assert_eq!((rows.len(), rows[0].block_bytes, rows[1].at_ms), (2000, 4096, 2));
}
