//! Replays: on a drive whose answers are known, and the real traces on the drives of the catalogue.

use std::io::Write;

use fourcorners_catalogue as catalogue;
use fourcorners_drive::Nanos;
use fourcorners_lab::drive::Drive;
use fourcorners_lab::replay::{Addresses, Before, Pace, Plan, replay};
use fourcorners_record::{Ended, Record, TargetInfo, TargetKind};
use fourcorners_run::Unobserved;
use fourcorners_trace::{Options, card, open};

#[path = "../../../trace/tests/common/mod.rs"]
mod real;

fn plan(trace: &std::path::Path, pace: Pace, addresses: Addresses, states: Vec<Before>) -> Plan {
    let options = Options::default();
    let opened = open(trace, &options).unwrap_or_else(|error| panic!("{error}"));
    let card = card(opened, &mut || true).unwrap_or_else(|error| panic!("{error}"));
    let card = card.expect("not stopped");
    Plan { trace: trace.into(), options, card, pace, depth: 32, addresses, states }
}

/// A small m4, or the hard disk.
fn drive(name: &str, set: &[&str]) -> (Drive, TargetInfo) {
    let set: Vec<String> = set.iter().map(ToString::to_string).collect();
    let profile = catalogue::built_in(name, &set).expect("it is in the catalogue");
    let drive = Drive::from_profile(&profile);
    let capacity_bytes = drive.geometry().bytes();
    let target = TargetInfo::new(name.into(), TargetKind::Virtual, capacity_bytes, 512);
    (drive, target)
}

const SMALL_M4: &[&str] = &["nand.blocks_per_plane=64", "capacity.sectors=14680064"];

fn replayed(plan: &Plan, name: &str, set: &[&str]) -> Record {
    let (mut drive, target) = drive(name, set);
    replay(plan, &mut drive, (target, None), &mut Unobserved)
}

fn csv(lines: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    write!(file, "time_us,op,offset_bytes,length_bytes,duration_us\n{lines}").expect("written");
    file
}

/// What a note about this says, of the first record's notes.
fn said(record: &Record, about: &str) -> Vec<String> {
    let notes = record.notes.iter().filter(|note| note.about == about);
    notes.map(|note| note.text.clone()).collect()
}

#[test]
fn a_battery_is_told_of_only_with_all_pauses_and_where_the_power_is_known() {
    let file = csv("0,read,0,4096,100\n2000100,read,8192,4096,100\n4000200,read,0,4096,100\n");
    let with = |cap: u64| {
        let pace = Pace::Think { cap: Nanos::from_secs(cap) };
        plan(file.path(), pace, Addresses::AsRecorded, vec![Before::Empty])
    };
    let whole = replayed(&with(3600), "crucial-m4-256gb", SMALL_M4);
    let [told] = &said(&whole, "battery")[..] else { panic!("{:?}", whole.notes) };
    // Four seconds of pauses, nearly all of it idle power.
    let replay = &whole.replay.as_ref().expect("it was replayed").figures["storage_bench_empty"];
    let watts = replay.joules.expect("its power is known") / replay.elapsed_s;
    assert!(replay.elapsed_s > 4.0 && watts < 1.0, "{watts} W in {} s", replay.elapsed_s);
    assert!(told.contains("a battery of 50 Wh"), "{told}");
    assert!(told.contains(&format!("run for {:.1} hours", 50.0 / (8.0 + watts))), "{told}");
    // Pauses that are cut are not what anybody does, and without a power section nothing is known.
    let cut = replayed(&with(1), "crucial-m4-256gb", SMALL_M4);
    assert_eq!(said(&cut, "battery"), [""; 0]);
    let mut faster = with(3600);
    faster.options.filter.time_scale = 0.5;
    assert_eq!(said(&replayed(&faster, "crucial-m4-256gb", SMALL_M4), "battery"), [""; 0]);
    let away = csv("0,read,0,4096,100\n7200000100,read,8192,4096,100\n");
    let pace = Pace::Think { cap: Nanos::from_secs(3600) };
    let away = plan(away.path(), pace, Addresses::AsRecorded, vec![Before::Empty]);
    assert_eq!(said(&replayed(&away, "crucial-m4-256gb", SMALL_M4), "battery"), [""; 0]);
    let heavier = [SMALL_M4, &["power.idle_w=8", "power.active_w=9"]].concat();
    let heavier = replayed(&with(3600), "crucial-m4-256gb", &heavier);
    assert!(said(&heavier, "battery")[0].contains("for 3.1 hours"), "{:?}", heavier.notes);
}

#[test]
fn devices_that_lie_one_over_the_other_are_told() {
    let of = |second: u32| {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        let lines = format!("0,read,0,4096,0\n9,read,0,4096,{second}\n");
        write!(file, "time_us,op,offset_bytes,length_bytes,device\n{lines}").expect("written");
        let plan = plan(file.path(), Pace::Fast, Addresses::AsRecorded, vec![Before::Empty]);
        said(&replayed(&plan, "crucial-m4-256gb", SMALL_M4), "devices")
    };
    assert_eq!(of(0), [""; 0]);
    assert!(of(1)[0].starts_with("The 2 devices of "), "{:?}", of(1));
}

#[test]
fn a_second_time_is_told_of_only_if_there_is_one_and_a_plain_drive_is_no_faster() {
    let file = csv("0,read,0,4096,100\n1000,read,8192,4096,100\n2000,read,40960,4096,100\n");
    let states =
        |states: &[Before]| plan(file.path(), Pace::Fast, Addresses::AsRecorded, states.to_vec());
    let once = replayed(&states(&[Before::Empty]), "wd-velociraptor-300gb", &[]);
    assert_eq!(said(&once, "second-time"), [""; 0]);
    let twice = states(&[Before::Empty, Before::Again]);
    let twice = replayed(&twice, "crucial-m4-256gb", SMALL_M4);
    let [told] = &said(&twice, "second-time")[..] else { panic!("{:?}", twice.notes) };
    let ratio = twice.notes.iter().find(|note| note.about == "second-time").expect("told").value;
    assert!(ratio.is_some_and(|ratio| (0.8..1.25).contains(&ratio)), "{told}");
}

#[test]
fn time_is_busy_time_and_think_time_and_nothing_else() {
    // Four reads one after the other, with 1 ms, 40 ms and 5 ms of thought between.
    let file = csv(
        "0,read,0,4096,100\n1100,read,8192,4096,100\n41200,read,0,4096,100\n46300,read,0,4096,100\n",
    );
    let cap = Nanos(25_000_000);
    let plan = plan(
        file.path(),
        Pace::Think { cap },
        Addresses::AsRecorded,
        vec![Before::Empty, Before::Full],
    );
    assert_eq!(plan.card.think_us.max, 40_000.0);
    let record = replayed(&plan, "crucial-m4-256gb", SMALL_M4);
    assert_eq!(record.ended, Ended::Complete);
    let replay = record.replay.expect("it was replayed");
    assert_eq!(replay.figures.len(), 2);
    for figure in replay.figures.values() {
        let think = figure.elapsed_s - figure.busy_s;
        assert!((think - 0.031).abs() < 1e-9, "{think} s of thought");
        assert!((figure.all.service_us * 4.0 / 1e6 - figure.busy_s).abs() < 1e-9, "one at a time");
        assert_eq!((figure.all.ios, figure.reads.ios, figure.all.bytes), (4, 4, 16_384));
        assert!((figure.mb_per_s * figure.busy_s - 0.016384).abs() < 1e-9);
    }
    let [empty, full] = ["empty", "full"].map(|it| &replay.figures[&format!("storage_bench_{it}")]);
    assert!(
        full.all.service_us > empty.all.service_us,
        "a page that was written is read from the flash"
    );
    assert_eq!((empty.state.as_str(), full.state.as_str()), ("fresh", "filled"));
}

#[test]
fn at_recorded_times_latency_counts_from_when_each_was_due() {
    // A thousand random reads of a hard disk, due all at once.
    let lines: String =
        (0..1000).map(|n| format!("0,read,{},4096,\n", n * 7919 % 1000 * 4096 * 50)).collect();
    let file = csv(&lines);
    let states = || vec![Before::AsFound];
    let run = |pace| {
        let plan = plan(file.path(), pace, Addresses::AsRecorded, states());
        let record = replayed(&plan, "seagate-momentus-5400.6", &[]);
        assert_eq!(record.ended, Ended::Complete);
        record.replay.expect("it was replayed").figures["storage_bench_as_found"].clone()
    };
    let (recorded, fast) = (run(Pace::Recorded), run(Pace::Fast));
    // The same I/Os in the same order, so the drive does the same.
    assert_eq!((recorded.busy_s, recorded.all.service_us), (fast.busy_s, fast.all.service_us));
    assert_eq!(fast.waited_s, 0.0);
    let waited_each = recorded.waited_s / 1000.0;
    assert!(
        (recorded.all.latency_us.mean / 1e6 - recorded.all.service_us / 1e6 - waited_each).abs()
            < 1e-9
    );
    assert!(
        (recorded.all.latency_us.max / 1e6 - recorded.elapsed_s).abs() < 0.01 * recorded.elapsed_s
    );
    assert!(recorded.all.over_100_ms > 0.9, "most wait for the others");
}

#[test]
fn late_ios_do_not_put_off_those_after_them() {
    // One every 10 ms, a tenth of what the drive could do: none waits, and the end is the last one's.
    let lines: String =
        (0..500).map(|n| format!("{},write,{},4096,\n", n * 10_000, n * 4096)).collect();
    let file = csv(&lines);
    let plan = plan(file.path(), Pace::Recorded, Addresses::AsRecorded, vec![Before::Empty]);
    let record = replayed(&plan, "crucial-m4-256gb", SMALL_M4);
    let series = &record.series["storage_bench_empty"];
    assert_eq!(series.iops, [100, 100, 100, 100], "and a last second that is not whole");
    let figure = &record.replay.as_ref().expect("it was replayed").figures["storage_bench_empty"];
    assert!(figure.elapsed_s > 4.99 && figure.elapsed_s < 4.992, "{}", figure.elapsed_s);
    assert_eq!(figure.waited_s, 0.0);
}

#[test]
fn what_reaches_beyond_a_drive_is_refused_with_the_choice() {
    let file = csv("0,read,9000000000,4096,\n");
    let plan = |addresses| plan(file.path(), Pace::Fast, addresses, vec![Before::AsFound]);
    let (drive, _) = drive("crucial-m4-256gb", SMALL_M4);
    let why =
        plan(Addresses::AsRecorded).refuses(drive.geometry()).expect("it is refused").to_string();
    assert!(why.contains("--rescale-address") && why.contains("--wrap-address"), "{why}");
    for addresses in [Addresses::Rescaled, Addresses::Wrapped] {
        let plan = plan(addresses);
        assert!(plan.refuses(drive.geometry()).is_none());
        assert_eq!(replayed(&plan, "crucial-m4-256gb", SMALL_M4).ended, Ended::Complete);
    }
}

#[test]
fn a_trace_that_was_written_since_its_card_was_made_is_no_whole_replay() {
    let lines = "0,read,0,4096,100\n10,trim,0,4096,\n20,write,8192,4096,100\n";
    let mut file = csv(lines);
    let plan = plan(file.path(), Pace::Fast, Addresses::AsRecorded, vec![Before::Empty]);
    assert_eq!(replayed(&plan, "crucial-m4-256gb", SMALL_M4).ended, Ended::Complete);
    writeln!(file, "30,write,0,4096,100").expect("it can be written");
    let told = |plan: &Plan| match replayed(plan, "crucial-m4-256gb", SMALL_M4).ended {
        Ended::Failed(why) => why,
        other => panic!("{other:?}"),
    };
    let longer = told(&plan);
    assert!(longer.contains("gave 4 I/Os in the replay and 3 when it was read"), "{longer}");
    let heading = "time_us,op,offset_bytes,length_bytes,duration_us\n".len() as u64;
    let first = lines.lines().next().map_or(0, |line| line.len() as u64 + 1);
    file.as_file().set_len(heading + first).expect("it can be cut");
    let shorter = told(&plan);
    assert!(shorter.contains("gave 1 I/O in the replay and 3 when"), "{shorter}");
}

#[test]
fn what_cannot_be_trimmed_is_refused_before_anything_is_written() {
    let plan = |length: u64, addresses| {
        let file = csv(&format!("0,write,0,4096,\n5,trim,0,{length},\n9,read,0,4096,\n"));
        (plan(file.path(), Pace::Fast, addresses, vec![Before::Empty]), file)
    };
    let (drive, _) = drive("crucial-m4-256gb", SMALL_M4);
    for addresses in [Addresses::Wrapped, Addresses::Rescaled] {
        let (larger, _file) = plan(400_000_000_000, addresses);
        let why = larger.refuses(drive.geometry()).expect("it is larger").to_string();
        assert!(why.contains("an I/O of 400000000000 bytes"), "{why}");
        let (fits, _file) = plan(1 << 20, addresses);
        assert!(fits.refuses(drive.geometry()).is_none());
        assert_eq!(replayed(&fits, "crucial-m4-256gb", SMALL_M4).ended, Ended::Complete);
        assert!(fits.refuses_trims(true).is_none());
        let why = fits.refuses_trims(false).expect("it has one").to_string();
        assert!(why.contains("--ops read,write,flush"), "{why}");
    }
    let (mut without, _file) = plan(1 << 20, Addresses::AsRecorded);
    without.options.filter.ops.trim = false;
    let opened = open(&without.trace, &without.options).expect("it is there");
    without.card = card(opened, &mut || true).expect("it is whole").expect("not stopped");
    assert!(without.refuses_trims(false).is_none());
}

#[test]
fn sizes_that_read_alike_are_told_in_bytes() {
    let (drive, _) = drive("crucial-m4-256gb", SMALL_M4);
    let bytes = drive.geometry().bytes();
    let why = |offset: u64| {
        let file = csv(&format!("0,read,{offset},4096,\n"));
        let plan = plan(file.path(), Pace::Fast, Addresses::AsRecorded, vec![Before::AsFound]);
        plan.refuses(drive.geometry()).expect("it is beyond").to_string()
    };
    let near = why(bytes - 512);
    let told = format!("reaches to {} bytes and the target has {bytes} bytes", bytes + 3584);
    assert!(near.contains(&told), "{near}");
    let far = why(9_000_000_000);
    assert!(far.contains("reaches to 9.0 GB and the target has 7.5 GB"), "{far}");
}

#[test]
fn the_real_traces_on_an_ssd_and_a_hard_disk() {
    for (name, reads, writes) in [
        (real::MSSQL, None, None),
        (real::VSCSI, Some(46_974), Some(66_898)),
        (real::WEBSERVER, Some(149_018), Some(119_989)),
    ] {
        let Some(path) = real::trace(name) else { continue };
        let cap = Nanos(25_000_000);
        let plan = plan(&path, Pace::Think { cap }, Addresses::Rescaled, vec![Before::Empty]);
        for (drive, set) in [("crucial-m4-256gb", SMALL_M4), ("seagate-momentus-5400.6", &[])] {
            let record = replayed(&plan, drive, set);
            assert_eq!(record.ended, Ended::Complete, "{name} on {drive}");
            let replay = record.replay.as_ref().expect("it was replayed");
            let figure = &replay.figures[0];
            assert_eq!(figure.all.ios, plan.card.ios);
            assert_eq!(replay.card, plan.card);
            assert_eq!((figure.reads.ios, figure.writes.ios), (plan.card.reads, plan.card.writes));
            if name == real::WEBSERVER {
                let gb = [figure.reads.bytes, figure.writes.bytes].map(|it| it as f64 / 1e9);
                assert_eq!(gb.map(|gb| format!("{gb:.2}")), ["3.58", "1.12"], "{drive}");
            }
            if name == real::MSSQL {
                assert_eq!(figure.all.ios, 42_976, "{drive}");
            }
            assert_eq!(figure.reads.ios, reads.unwrap_or(plan.card.reads));
            assert_eq!(figure.writes.ios, writes.unwrap_or(plan.card.writes));
            assert!(figure.all.bytes >= plan.card.read_bytes + plan.card.write_bytes);
            // By Little's law, over the busy time.
            let in_flight = figure.all.service_us / 1e6 * figure.all.ios as f64 / figure.busy_s;
            assert!((in_flight / figure.mean_queue_depth - 1.0).abs() < 1e-9);
            let again = replayed(&plan, drive, set);
            assert_eq!(record.id, again.id, "{name} on {drive}");
        }
    }
}
