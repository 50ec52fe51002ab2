//! Choices: the ranking of drives by a work, and that it could have come out otherwise.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use fourcorners_catalogue::built_in;
use fourcorners_lab::array::ArrayProfile;
use fourcorners_lab::choose::{
    Candidate, ChooseError, Jobs, Recording, Request, State, Work, candidates, choose,
};
use fourcorners_record::{Choice, RankedDrive};
use fourcorners_trace::Options;

const M4: &str = "crucial-m4-256gb";
const EVO: &str = "samsung-840-evo-250gb";
const RAPTOR: &str = "wd-velociraptor-300gb";
const X25M: &str = "intel-x25-m-g2-160gb";
const VERTEX: &str = "ocz-vertex-120gb";

fn drives(names: &[&str]) -> Vec<Candidate> {
    let mut all = candidates();
    all.retain(|candidate| names.contains(&candidate.name()));
    assert_eq!(all.len(), names.len(), "{names:?}");
    all
}

fn has_power(name: &str) -> bool {
    built_in(name, &[]).is_ok_and(|profile| profile.has_power())
}

fn recording(path: &Path) -> Work {
    let read = Recording::read(path, &Options { seed: 1, ..Options::default() }, &mut || true);
    Work::Recording(Box::new(read.unwrap_or_else(|error| panic!("{error}")).expect("not stopped")))
}

fn request(work: Work, names: &[&str]) -> Request {
    Request {
        work,
        state: State::Written,
        candidates: drives(names),
        have: None,
        gb_per_day: None,
        prices: BTreeMap::new(),
    }
}

fn chosen(request: &Request) -> Choice {
    choose(request, &|_| true).unwrap_or_else(|error| panic!("{error}"))
}

fn names(choice: &Choice) -> Vec<&str> {
    choice.ranking.iter().map(|drive| drive.drive.as_str()).collect()
}

fn of<'a>(choice: &'a Choice, name: &str) -> &'a RankedDrive {
    choice.ranking.iter().find(|drive| drive.drive == name).expect("it did the work")
}

/// A trace of I/Os without thought: operation, offset and length.
fn trace(ios: impl Iterator<Item = (&'static str, u64, u64)>) -> tempfile::NamedTempFile {
    let mut file = tempfile::Builder::new().suffix(".csv").tempfile().expect("a temporary file");
    let mut text = String::from("time_us,op,offset_bytes,length_bytes\n");
    for (op, offset, bytes) in ios {
        text += &format!("0,{op},{offset},{bytes}\n");
    }
    file.write_all(text.as_bytes()).expect("it can be written");
    file
}

/// The jobs of a job file's text, each cut off after `most_ios` I/Os.
fn jobs(text: &str, most_ios: u64) -> Work {
    let mut file = tempfile::Builder::new().suffix(".fio").tempfile().expect("a temporary file");
    file.write_all(text.as_bytes()).expect("it can be written");
    Work::Jobs(Jobs::read(file.path(), most_ios).unwrap_or_else(|error| panic!("{error}")))
}

/// Places of 4 KiB all over some bytes, each once.
fn anywhere(count: u64, bytes: u64) -> impl Iterator<Item = u64> {
    let units = bytes / 4096;
    (0..count).map(move |place| place * 48_271 % units * 4096)
}

#[test]
fn drives_that_truly_swap_places_swap_them() {
    // The Vertex writes in order faster than the X25-M, and at random much slower (AnandTech 2009).
    let in_order = trace((0..20_000).map(|at| ("write", at * 131_072, 131_072)));
    let random = trace(anywhere(20_000, 8_000_000_000).map(|at| ("write", at, 4096)));
    let both = [VERTEX, X25M];
    let in_order = chosen(&request(recording(in_order.path()), &both));
    let random = chosen(&request(recording(random.path()), &both));
    assert_eq!(names(&in_order), [VERTEX, X25M]);
    assert_eq!(names(&random), [X25M, VERTEX]);
    assert!(random.ranking[1].waited_s > 2.0 * random.ranking[0].waited_s, "{random:?}");
    assert_eq!((random.ranking[0].tier, random.ranking[1].tier), (1, 2));
}

#[test]
fn drives_come_in_the_order_of_the_pages_and_twice_the_same() {
    let request = Request {
        have: Some(RAPTOR.into()),
        gb_per_day: Some(20.0),
        prices: BTreeMap::from([(M4.to_string(), 100.0), (RAPTOR.to_string(), 50.0)]),
        ..request(recording(Path::new("task:boot")), &[M4, EVO, RAPTOR])
    };
    let choice = chosen(&request);
    assert_eq!(names(&choice), [EVO, M4, RAPTOR]);
    assert_eq!(choice, chosen(&request));
    let (m4, raptor) = (of(&choice, M4), of(&choice, RAPTOR));
    assert!(raptor.waited_s > 5.0 * m4.waited_s, "{choice:?}");
    assert_eq!((raptor.rank, raptor.tier > m4.tier), (3, true));
    // Every number that follows from others does.
    let moved = choice.work.read_gb + choice.work.written_gb;
    let times_a_year = 20.0 * 365.25 / moved;
    let hours = (raptor.waited_s - m4.waited_s) * times_a_year / 3600.0;
    let near = |a: Option<f64>, b: f64| a.is_some_and(|a| (a / b - 1.0).abs() < 1e-9);
    assert!(near(m4.hours_a_year_vs_have, hours) && hours > 0.0, "{hours}: {m4:?}");
    assert_eq!(raptor.hours_a_year_vs_have, Some(0.0));
    let amplification = m4.write_amplification.expect("it wrote");
    // Boot writes little, and all of it is on the NAND in the end, padded to whole rows.
    assert!(amplification >= 1.0, "{amplification}");
    let written_gb = choice.work.written_gb * amplification * times_a_year;
    assert!(near(m4.years, m4.capacity_gb * 3000.0 / written_gb), "{m4:?}");
    assert!(near(m4.price_per_performance, 100.0 * m4.waited_s));
    assert_eq!((raptor.years, raptor.write_amplification), (None, None));
    assert!(m4.energy_wh.is_some_and(|wh| wh > 0.0) || !has_power(M4));
    for drive in &choice.ranking {
        let [low, high] = drive.band_s;
        assert!(low < drive.waited_s && drive.waited_s < high, "{drive:?}");
        assert!(["family", "catalogue", "family and catalogue"].contains(&&*drive.band_standing));
    }
}

#[test]
fn what_is_read_was_written_before_and_a_used_drive_is_slower() {
    let reads = trace(anywhere(5000, 4_000_000_000).map(|at| ("read", at, 4096)));
    let written = chosen(&request(recording(reads.path()), &[M4]));
    // A page of NAND takes 50 µs and more; 32 at a time are in 32 dies at best.
    let least = 5000.0 * 50e-6 / 32.0;
    assert!(written.ranking[0].waited_s > least, "{written:?}");
    assert!(written.ranking[0].p99_us > 50.0, "{written:?}");
    assert_eq!(written.ranking[0].write_amplification, None);

    let writes = trace(anywhere(50_000, 200_000_000_000).map(|at| ("write", at, 4096)));
    let new = request(recording(writes.path()), &[M4]);
    let used = Request { state: State::Used, ..new.clone() };
    let (new, used) = (chosen(&new), chosen(&used));
    assert!(used.ranking[0].waited_s > 5.0 * new.ranking[0].waited_s, "{new:?} {used:?}");
    let amplification = |choice: &Choice| choice.ranking[0].write_amplification.expect("it wrote");
    assert!(amplification(&used) > 1.5 * amplification(&new), "{new:?} {used:?}");
}

#[test]
fn a_work_is_shrunk_to_a_drive_if_its_data_has_room_and_else_left_out() {
    // 200 GB apart, and little in between.
    let far = trace([0u64, 200_000_000_000].into_iter().map(|at| ("read", at, 4096)));
    let choice = chosen(&request(recording(far.path()), &[VERTEX, M4]));
    assert!(choice.rescaled && choice.left_out.is_empty());
    assert!(of(&choice, VERTEX).rescaled && !of(&choice, M4).rescaled);

    let large = trace((0..1300).map(|at| ("write", at * 100_000_256, 100_000_256)));
    let choice = chosen(&request(recording(large.path()), &[VERTEX, M4]));
    assert_eq!(names(&choice), [M4]);
    assert!(!choice.rescaled);
    let why = &choice.left_out[0].why;
    assert_eq!(choice.left_out[0].drive, VERTEX);
    assert!(why.contains("touches 130.0 GB") && why.contains("120.0 GB"), "{why}");

    match choose(&request(recording(large.path()), &[VERTEX]), &|_| true) {
        Err(error @ ChooseError::NoDrive { .. }) => {
            assert!(error.to_string().contains("touches 130.0 GB"), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_hard_disk_does_it_without_trim_and_that_is_said() {
    let trims = trace([("write", 0, 4096), ("trim", 0, 4096), ("read", 8192, 4096)].into_iter());
    let choice = chosen(&request(recording(trims.path()), &[RAPTOR, M4]));
    assert_eq!(choice.ranking.len(), 2, "{choice:?}");
    assert!(choice.notes.iter().any(|note| note.contains(RAPTOR) && !note.contains(M4)));
    let none = trace([("write", 0, 4096)].into_iter());
    let choice = chosen(&request(recording(none.path()), &[RAPTOR, M4]));
    assert_eq!(choice.notes, [""; 0]);
    // Who does nothing at all is not the fastest.
    let only = trace([("trim", 0, 1 << 20), ("trim", 1 << 20, 1 << 20)].into_iter());
    let choice = chosen(&request(recording(only.path()), &[RAPTOR, M4]));
    assert_eq!((names(&choice), choice.left_out.len()), (vec![M4], 1), "{choice:?}");
    assert!(choice.left_out[0].why.contains("all of the work is TRIMs"), "{choice:?}");
}

#[test]
fn devices_that_lie_one_over_the_other_are_told() {
    let of = |devices: [u32; 2]| {
        let mut file = tempfile::Builder::new().suffix(".csv").tempfile().expect("a file");
        let lines: String = devices.map(|it| format!("0,write,0,4096,{it}\n")).concat();
        let text = format!("time_us,op,offset_bytes,length_bytes,device\n{lines}");
        file.write_all(text.as_bytes()).expect("it can be written");
        chosen(&request(recording(file.path()), &[M4])).notes
    };
    assert_eq!(of([3, 3]), [""; 0]);
    let told = of([0, 1]);
    assert!(told[0].contains("The 2 devices of "), "{told:?}");
    // `choose` itself has no such option.
    let advice = "`fourcorners trace convert --device K` makes a trace of one of them.";
    assert!(told[0].ends_with(advice), "{told:?}");
}

#[test]
fn ios_that_were_widened_to_whole_blocks_are_told() {
    let notes = |ios: &[(&'static str, u64, u64)]| {
        chosen(&request(recording(trace(ios.iter().copied()).path()), &[M4, RAPTOR])).notes
    };
    let told = notes(&[("write", 100, 512), ("read", 8192, 1000), ("read", 4096, 4096)]);
    assert_eq!(told, ["2 I/Os were widened to whole blocks of 512 bytes."]);
    assert_eq!(notes(&[("write", 512, 512), ("read", 4096, 4096)]), [""; 0]);
}

#[test]
fn a_job_file_does_the_same_on_every_drive() {
    let jobs = |text: &str| jobs(text, 6000);
    // By the clock a faster drive would do more, and a larger one would be filled further.
    let timed = jobs(
        "[global]\nruntime=30\ntime_based\nbs=4k\nrw=randwrite\n[a]\niodepth=4\nioengine=libaio\n\
         [b]\nrw=randread\n",
    );
    let choice = chosen(&request(timed, &[M4, RAPTOR]));
    assert_eq!(names(&choice), [M4, RAPTOR]);
    assert_eq!((choice.work.ios, choice.work.kind.as_str()), (6000, "job_file"));
    assert!((choice.work.read_gb - 3000.0 * 4096.0 / 1e9).abs() < 1e-9, "{choice:?}");
    assert!(choice.rescaled, "the whole of a drive is not that of another");
    let same = jobs("[a]\nbs=4k\nrw=randread\nsize=1g\n");
    let choice = chosen(&request(same, &[M4, RAPTOR]));
    assert!(!choice.rescaled);
    assert_eq!(choice.work.ios, 6000);
    // One at a time: the drive is busy all the time, and the time is that of the latencies.
    let m4 = of(&choice, M4);
    assert!((50e-6..300e-6).contains(&(m4.waited_s / 6000.0)), "{m4:?}");
    // Nor does it take as long as it is searched for a depth.
    let plain = "[a]\nbs=4k\nrw=randread\nsize=1g\nioengine=libaio\niodepth=8\n";
    let searched =
        format!("{plain}latency_target=2ms\nlatency_window=500ms\nlatency_percentile=99\n");
    let took = |text: &str| of(&chosen(&request(jobs(text), &[M4])), M4).waited_s;
    assert_eq!(took(&searched), took(plain));
    let large = jobs("[a]\nbs=4k\nrw=randread\nsize=280g\n");
    // What is larger than a drive covers all of it, which is not the same place on each.
    let choice = chosen(&request(large, &[M4, RAPTOR]));
    assert!(of(&choice, M4).rescaled && !of(&choice, RAPTOR).rescaled, "{choice:?}");
    assert!(choice.notes.iter().any(|note| note.contains("is more than")), "{choice:?}");
}

#[test]
fn a_job_file_does_no_more_ios_than_it_may_flushes_among_them() {
    let done = |text: &str, most_ios: u64| {
        choose(&request(jobs(text, most_ios), &[M4]), &|_| true).map(|choice| choice.work.ios)
    };
    let one = "rw=randwrite\nbs=4k\nsize=1g\n";
    let a = |flushes: &str| format!("[a]\n{one}{flushes}");
    // A flush after each write, after every third, and one more at the end.
    assert_eq!(done(&a("fsync=1\n"), 1000), Ok(1000));
    assert_eq!(done(&a("fsync=3\n"), 1000), Ok(1000));
    // 750 writes would have 251.
    assert_eq!(done(&a("fsync=3\nend_fsync=1\n"), 1000), Ok(999));
    assert_eq!(done(&a(""), 1000), Ok(1000));
    let two = format!("[a]\n{one}[b]\n{one}");
    assert_eq!([2, 3, 4].map(|most| done(&two, most)), [Ok(2), Ok(2), Ok(4)]);
    let few = |text: &str, most: u64| done(text, most).expect_err("too few").to_string();
    let told = few(&two, 1);
    assert!(
        told.contains("its 2 jobs do 2 I/Os at least") && told.ends_with("2 or more"),
        "{told}"
    );
    let told = few(&a("fsync=1\nend_fsync=1\n"), 2);
    assert!(told.ends_with("give 3 or more"), "{told}");
    assert_eq!(done(&a("fsync=1\nend_fsync=1\n"), 3), Ok(3));
}

#[test]
fn the_flushes_of_a_job_as_long_as_it_is_are_counted_without_overflow() {
    // Half of the I/Os are flushes: 250 writes have as many, and one more at the end.
    let text = "[a]\nrw=randwrite\nbs=4k\nsize=1m\nfsync=1\nend_fsync=1\n";
    for most_ios in [u64::MAX, u64::MAX - 1, 1 << 63] {
        let choice = chosen(&request(jobs(text, most_ios), &[M4]));
        assert_eq!(choice.work.ios, 2 * 256 + 1, "{most_ios}");
    }
}

#[test]
fn the_years_of_a_random_job_are_the_same_at_any_number_of_ios() {
    const SMALL_M4: &str = "crucial-m4-64gb";
    const SMALL_X25E: &str = "intel-x25-e-64gb";
    let done = |name: &str, rw: &str, ios: u64| {
        let text = format!("[a]\nrw={rw}\nbs=4k\nioengine=libaio\niodepth=4\n");
        let request = Request {
            state: State::Used,
            gb_per_day: Some(20.0),
            ..request(jobs(&text, ios), &[name])
        };
        chosen(&request).ranking.remove(0)
    };
    let alike = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => (a / b - 1.0).abs() < 0.2,
        _ => false,
    };
    // Repeated 31 times; once; and once, although that is more I/Os than are repeated otherwise.
    let [few, many, most] =
        [20_000, 400_000, 2_000_001].map(|ios| done(SMALL_M4, "randwrite", ios));
    for other in [&few, &most] {
        assert!(alike(other.write_amplification, many.write_amplification), "{other:?} {many:?}");
        assert!(alike(other.years, many.years), "{other:?} {many:?}");
    }
    // A repetition draws other places, but the same ones in every choice.
    assert_eq!(few, done(SMALL_M4, "randwrite", 20_000));
    // The control, on a drive that does not collect ahead for writes in order as the m4 does: they leave no valid data in their blocks.
    let of = |rw: &str, ios: u64| done(SMALL_X25E, rw, ios).write_amplification.expect("it wrote");
    for ios in [100_000, 400_000] {
        let (in_order, random) = (of("write", ios), of("randwrite", ios));
        assert!((1.0..1.1).contains(&in_order) && random > 1.5 * in_order, "{in_order} {random}");
    }
}

#[test]
fn a_depth_that_does_not_count_is_told() {
    let notes = |engine: &str| {
        let text = format!("[a]\nbs=4k\nrw=randread\nsize=1g\niodepth=4\n{engine}");
        chosen(&request(jobs(&text, 100), &[M4])).notes
    };
    let told = notes("");
    assert!(told[0].starts_with("job a: iodepth=4 does not count"), "{told:?}");
    assert_eq!(notes("ioengine=libaio\n"), [""; 0]);
}

#[test]
fn what_overwrote_a_drive_is_not_charged_to_the_work_nor_are_years_concluded_from_too_little() {
    const SMALL_EVO: &str = "samsung-840-evo-120gb";
    const SMALL_M4: &str = "crucial-m4-64gb";
    // Small writes with pauses, in which a drive folds and collects; `reads` of 4 KiB after each.
    let work = |reads: usize| {
        let mut file = tempfile::Builder::new().suffix(".csv").tempfile().expect("a file");
        let mut text = String::from("time_us,op,offset_bytes,length_bytes\n");
        for (at, place) in anywhere(500, 20_000_000_000).enumerate() {
            text += &format!("{},write,{place},4096\n", at * 700_000);
            text += &format!("{},read,{place},4096\n", at * 700_000).repeat(reads);
        }
        file.write_all(text.as_bytes()).expect("it can be written");
        file
    };
    let of_work = |work: &Path, state: State| {
        let request = Request {
            state,
            gb_per_day: Some(20.0),
            ..request(recording(work), &[SMALL_EVO, SMALL_M4])
        };
        chosen(&request)
    };
    let short = work(0);
    let used = of_work(short.path(), State::Used);
    for name in [SMALL_EVO, SMALL_M4] {
        // What is written to the flash for the preparation alone is a thousand times the work.
        let amplification = of(&used, name).write_amplification.expect("it wrote");
        assert!((1.0..30.0).contains(&amplification), "{name}: {used:?}");
    }
    // Repeated a thousand times it wrote enough to conclude from; one that mostly reads does not.
    assert!(used.ranking.iter().all(|drive| drive.years.is_some()), "{used:?}");
    assert_eq!(used.notes, [""; 0]);
    let reads = of_work(work(99).path(), State::Used);
    assert_eq!(reads.ranking.iter().filter_map(|drive| drive.years).count(), 0, "{reads:?}");
    assert!(reads.ranking.iter().all(|drive| drive.write_amplification.is_some()), "{reads:?}");
    let said = reads.notes.iter().find(|note| note.starts_with("No years for "));
    let names = |note: &String| note.contains(SMALL_EVO) && note.contains(SMALL_M4);
    assert!(said.is_some_and(names), "{reads:?}");
    // A new drive has nothing left to be done, and its years are known.
    let written = of_work(short.path(), State::Written);
    assert!(of(&written, SMALL_M4).years.is_some() && written.notes.is_empty(), "{written:?}");
}

#[test]
fn it_stops_when_it_is_told_to() {
    let stopped = choose(&request(recording(Path::new("task:boot")), &[M4]), &|_| false);
    assert_eq!(stopped, Err(ChooseError::Stopped));
}

/// Drives of the catalogue, and several as one.
fn all_of(names: &[&str], arrays: &[&str], work: Work) -> Request {
    let mut request = request(work, names);
    request.candidates.extend(arrays.iter().map(|name| {
        let array = ArrayProfile::parse(name, None, &[]).expect("it is the name of one");
        Candidate::of_array(array.unwrap_or_else(|error| panic!("{error}")))
    }));
    request
}

fn beside(names: &[&str], arrays: &[&str], work: Work) -> Choice {
    let request = all_of(names, arrays, work);
    let choice = chosen(&request);
    assert_eq!(choice, chosen(&request), "twice the same");
    choice
}

#[test]
fn two_drives_share_what_is_wide_and_not_what_comes_one_at_a_time() {
    let stripe = "raid0:2xcrucial-m4-256gb";
    let mirror = "raid1:2xcrucial-m4-256gb";
    let waited = |choice: &Choice, name: &str| of(choice, name).waited_s;
    let wide = trace((0..4000).map(|at| ("write", at * 1_048_576, 1_048_576)));
    let wide = beside(&[M4], &[stripe, mirror], recording(wide.path()));
    let one = waited(&wide, M4);
    assert!((0.48..0.55).contains(&(waited(&wide, stripe) / one)), "{wide:?}");
    assert!((0.95..1.10).contains(&(waited(&wide, mirror) / one)), "{wide:?}");
    assert!((of(&wide, stripe).capacity_gb / of(&wide, M4).capacity_gb - 2.0).abs() < 0.01);
    // Nothing published was compared with an array; the m4's own family was.
    let standing = |name: &str| of(&wide, name).band_standing.as_str();
    assert_eq!((standing(stripe), standing(M4)), ("catalogue", "family and catalogue"));
    // An I/O that fits into a chunk, and the next after it, has one drive to wait for.
    let alone = (0..2000).map(|at| format!("{},read,{},4096\n", at * 10_000, at * 999_424));
    let mut file = tempfile::Builder::new().suffix(".csv").tempfile().expect("a temporary file");
    let text = format!("time_us,op,offset_bytes,length_bytes\n{}", alone.collect::<String>());
    file.write_all(text.as_bytes()).expect("it can be written");
    let alone = beside(&[M4], &[stripe], recording(file.path()));
    assert!((0.95..1.05).contains(&(waited(&alone, stripe) / waited(&alone, M4))), "{alone:?}");
    // What no single drive has: years of several, whose members wear apart.
    assert_eq!(of(&alone, stripe).years, None);
}

#[test]
fn the_state_of_an_array_is_that_of_its_flash_and_its_members_wear_apart() {
    let [one, flash] = ["crucial-m4-64gb", "raid1:2xcrucial-m4-64gb"];
    let [disks, cache] =
        ["raid0:2xwd-velociraptor-300gb", "cache:crucial-m4-64gb+wd-velociraptor-300gb"];
    let writes = trace(anywhere(20_000, 60_000_000_000).map(|at| ("write", at, 4096)));
    let new = Request {
        gb_per_day: Some(20.0),
        ..all_of(&[one], &[flash, disks, cache], recording(writes.path()))
    };
    let used = Request { state: State::Used, ..new.clone() };
    let (new, used) = (chosen(&new), chosen(&used));
    for name in [one, flash] {
        let [new, used] = [&new, &used].map(|choice| of(choice, name).waited_s);
        assert!(used > 2.0 * new, "{name}: {new} s new, {used} s used");
    }
    for name in [disks, cache] {
        assert_eq!(of(&new, name).waited_s, of(&used, name).waited_s, "{name}");
    }
    // What is written to flash is that of both, and years are one drive's.
    for name in [one, flash] {
        assert!(of(&used, name).write_amplification > of(&new, name).write_amplification, "{name}");
        assert!(of(&new, name).write_amplification >= Some(1.0), "{name}");
    }
    assert_eq!(of(&new, cache).write_amplification, None, "a disk is in it, too");
    assert!(of(&new, one).years.is_some(), "{new:?}");
    assert_eq!(of(&new, flash).years, None);
}

#[test]
fn a_cache_helps_the_second_time_and_only_then() {
    let cache = "cache:crucial-m4-256gb+wd-velociraptor-300gb";
    let places: Vec<u64> = anywhere(3000, 4_000_000_000).collect();
    let reads = |times: usize| {
        let ios = (0..times).flat_map(|_| places.iter().map(|&at| ("read", at, 4096)));
        let file = trace(ios);
        beside(&[M4, RAPTOR], &[cache], recording(file.path()))
    };
    let (once, ten) = (reads(1), reads(10));
    let against_disk = |choice: &Choice| of(choice, cache).waited_s / of(choice, RAPTOR).waited_s;
    assert!(against_disk(&once) > 0.9, "{once:?}");
    assert!(against_disk(&ten) < 0.2, "{ten:?}");
    assert!(of(&ten, cache).waited_s > of(&ten, M4).waited_s, "{ten:?}");
}
