//! What `diagnose` finds of drives whose truth is known: a small judge, and what it says of detectors that are spoiled on
//! purpose. `fourcorners grade --findings` is the large one.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use fourcorners_catalogue::built_in;
use fourcorners_lab::diagnose::{
    Detector, Evidence, Finding, Noise, SCHEMA, Standing, Value, diagnose, judge,
};
use fourcorners_lab::drive::Drive;
use fourcorners_lab::grade::findings::{
    Graded, Sampled, Tally, draw, grade_findings, of_used, sample, table, tally,
};

const DRIVES: usize = 20;

fn small(noise: Noise) -> Graded {
    Graded {
        detectors: Detector::ALL.to_vec(),
        drives: DRIVES,
        seed: 5,
        noise,
        only: None,
        workers: 2,
    }
}

/// What is measured of the drives without noise, which two tests read.
static WITHOUT_NOISE: LazyLock<Vec<Sampled>> =
    LazyLock::new(|| sample(&small(Noise::None), &|_| true));

/// What the small judge has against the findings: the key and why.
fn complaints(tally: &Tally) -> Vec<String> {
    let of_key = |key: &&str| {
        let Some(of_it) = tally.findings.get(*key).filter(|it| it.drives == DRIVES) else {
            return Some(format!("{key} was not looked for on all drives"));
        };
        let least = of_it.identifiable as f64 * 0.75;
        match (of_it.wrong, of_it.right as f64 >= least) {
            (0, true) => None,
            (0, false) => Some(format!("{key} is missed: {:?}", of_it.missed)),
            _ => Some(format!("{key} is wrong: {:?}", of_it.worst)),
        }
    };
    Detector::ALL.iter().flat_map(|detector| detector.keys()).filter_map(of_key).collect()
}

/// Half of the drives have no cache and no limited map, many have no border to be seen, and most a buffer that empties as
/// it fills: a detector without a control says something of them, which is wrong.
#[test]
fn nothing_is_found_that_is_not_so_and_most_of_what_can_be_told_is_found() {
    for noise in [Noise::None, Noise::Host] {
        let tally = match noise {
            Noise::None => tally(noise, &WITHOUT_NOISE, &judge),
            _ => grade_findings(&small(noise), &|_| true),
        };
        let shown = table(std::slice::from_ref(&tally));
        assert_eq!(complaints(&tally), [""; 0], "{shown}");
        // Few are used, of which chance may draw none that tells: the next test has one that does.
        for (key, of_it) in
            tally.findings.iter().filter(|(key, _)| **key != of_used("spare_percent"))
        {
            let all_are_told = key == "kind" || key == "map_reach_gib";
            // Of areas that may lie in two blocks there are bounds.
            assert!(of_it.identifiable > 0 || key == "log_areas", "{shown}");
            assert!(of_it.identifiable < DRIVES || all_are_told, "{shown}");
        }
        let used = &tally.findings[&of_used("spare_percent")];
        assert_eq!((used.wrong, used.undetermined), (0, 0), "{:?} {:?}", used.worst, used.missed);
    }
}

/// What the detectors say, but of one key something in any case.
fn never_undetermined(evidence: &[Evidence], key: &str) -> Vec<Finding> {
    let findings = judge(evidence).into_iter();
    let guessed = |finding: Finding| match finding.key == key && finding.determined().is_none() {
        true => {
            let value = match CLASSES.iter().find(|(of, _)| *of == key) {
                Some((_, class)) => Value::Class((*class).into()),
                None => Value::Number(1.0),
            };
            let standing = Standing::Determined;
            Finding { value: Some(value), interval: None, standing, ..finding }
        }
        false => finding,
    };
    findings.map(guessed).collect()
}

/// Keys whose values are classes, and what a detector says of any drive that looks for no more.
const CLASSES: [(&str, &str); 9] = [
    ("kind", "ssd"),
    ("compression", "yes"),
    ("read_ahead", "yes"),
    ("trim", "works"),
    ("trim_holds_up_reads", "yes"),
    ("collection_idle", "yes"),
    ("collection_pacing", "stalls"),
    ("suspension", "yes"),
    ("mapping", "pages"),
];

/// Takes a control out of the evidence of a detector: what the samples say that would speak against it.
type WithoutControl = fn(&mut Evidence);

const WITHOUT_CONTROL: [(Detector, &str, WithoutControl); 12] = [
    // Places of one kind differ as much as those of two that are near each other do, and where there are more of the faster
    // ones, some of them were not read: two kinds near each other are one, and that is as frequent as the third.
    (Detector::PageKinds, "page_kinds", |evidence| {
        if let Some(series) = evidence.series.first_mut() {
            near_kinds_as_one(&mut series.samples);
        }
    }),
    // What is written after a moment's rest is as slow as what was written before it.
    (Detector::SlcCache, "slc_cache_mib", |evidence| {
        if let [.., first, again] = &mut evidence.series[..] {
            let slowest = first.samples.iter().map(|[_, us]| *us).fold(0.0, f64::max);
            again.samples.iter_mut().for_each(|sample| sample[1] = slowest);
        }
    }),
    // Reads between bursts take half as long: all those beside flushes wait.
    (Detector::Suspension, "suspension", |evidence| {
        for rest in evidence.series.iter_mut().skip(2).step_by(3) {
            rest.samples.iter_mut().for_each(|sample| sample[1] *= 0.5);
        }
    }),
    // Reads in many areas are as fast as in one, of a map that is not all in memory, too.
    (Detector::Mapping, "mapping", |evidence| {
        if let [_, near, far] = &mut evidence.series[..] {
            far.samples.clone_from(&near.samples);
        }
    }),
    // A pause wins nothing, of a cache either, and with a fifth trimmed times are those of one that collects what has the least
    // valid data.
    (Detector::Amplification, "move_cost_us", |evidence| {
        (1..20).any(|share| {
            if let [_, _, _, _, written, steady, paused, trimmed] = &mut evidence.series[..] {
                paused.samples.clone_from(&steady.samples);
                let before = written.samples.get(4).map_or(0.0, |it| it[1]);
                let end = steady.samples.last().map_or(0.0, |it| it[1]);
                let us = before + f64::from(share) / 20.0 * (end - before);
                trimmed.samples.iter_mut().for_each(|it| it[1] = us);
            }
            says(evidence, "move_cost_us")
        });
    }),
    // What was written first is on the flash just before the writes go on, whenever they wait.
    (Detector::WriteBuffer, "write_buffer_kib", |evidence| {
        (1..40).any(|step| {
            if let Some(flushes) = evidence.series.last_mut() {
                let us = 50.0 * 1.2_f64.powi(step);
                flushes.samples.iter_mut().for_each(|it| it[1] = us);
            }
            says(evidence, "write_buffer_kib")
        });
    }),
    // A write at a multiple of its size takes no longer than larger ones let expect, and half of it does: of a drive that reads the
    // rest of a unit behind a large write as well.
    (Detector::MapUnit, "map_unit_bytes", |evidence| {
        let measured = evidence.series.clone();
        [4, 8, 16].into_iter().any(|kib| {
            evidence.series.clone_from(&measured);
            let Some(whole) = evidence.series.first_mut() else { return false };
            let unit = f64::from(kib << 10);
            let of =
                |bytes: f64| whole.samples.iter().find(|it| it[0] == bytes).map_or(0.0, |it| it[1]);
            let expected = of(2.0 * unit) - (of(4.0 * unit) - of(2.0 * unit)) / 2.0;
            let set = [(unit, expected), (unit / 2.0, expected + 60.0)];
            for at in &mut whole.samples {
                if let Some((_, us)) = set.iter().find(|(bytes, _)| at[0] == *bytes) {
                    at[1] = *us;
                }
            }
            says(evidence, "map_unit_bytes")
        });
    }),
    // The link is as fast as anything: it never limits.
    (Detector::Compression, "compression", |evidence| scale_last(evidence, 0, 0.01)),
    // Backwards the third of three reads is as slow as one that nothing was read before.
    (Detector::ReadAhead, "read_ahead", |evidence| scale_last(evidence, 0, 1.5)),
    // The drive was not filled before: a quarter of what is written at random is what fills it.
    (Detector::Spare, "spare_percent", |evidence| {
        for written in evidence.series.iter_mut().skip(4).step_by(4) {
            let fills = written.samples.len() / 4;
            let until = written.samples.drain(..fills).next_back().map_or(0.0, |[bytes, _]| bytes);
            written.samples.iter_mut().for_each(|sample| sample[0] -= until);
        }
    }),
    // Without a TRIM a used drive becomes slower yet, and what was trimmed is not read.
    (Detector::Trim, "trim", |evidence| {
        scale_last(evidence, 5, 1.5);
        scale_last(evidence, 0, 0.3);
    }),
    // A drive that was only filled is as fast after a pause as before it.
    (Detector::Collection, "collection_idle", |evidence| {
        for filled in evidence.series.iter_mut().skip(1).take(2) {
            let without = filled.samples.iter().rfind(|[pause, _]| *pause == 0.0).map(|it| it[1]);
            filled.samples.iter_mut().for_each(|it| it[1] = without.unwrap_or(it[1]));
        }
    }),
];

/// Whether a detector says something of a key.
fn says(evidence: &Evidence, key: &str) -> bool {
    let findings = judge(std::slice::from_ref(evidence));
    findings.iter().any(|it| it.key == key && it.determined().is_some())
}

/// Readings of places, of whose kinds those near each other cannot be told from one.
fn near_kinds_as_one(samples: &mut Vec<[f64; 2]>) {
    let mut readings: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for [unit, us] in samples.iter_mut() {
        let of_it = readings.entry(*unit as u64).or_default();
        // One half of the readings is late, and of other places the other half.
        let is_late = (of_it.len() as u64 + *unit as u64 / 2).is_multiple_of(2);
        *us += if is_late { 1.0 } else { -1.0 };
        of_it.push(*us);
    }
    let middle = |times: &Vec<f64>| {
        let mut times = times.clone();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let middles: BTreeMap<u64, f64> =
        readings.iter().map(|(unit, times)| (*unit, middle(times))).collect();
    let ends = [f64::min, f64::max].map(|least| middles.values().copied().reduce(least));
    let [Some(fastest), Some(slowest)] = ends else { return };
    let is_fast = |unit: f64| middles[&(unit as u64)] < 0.5 * (fastest + slowest);
    let fast = middles.keys().filter(|unit| is_fast(**unit as f64)).count();
    if fast * 10 > middles.len() * 6 {
        samples.retain(|[unit, _]| !is_fast(*unit) || (*unit as u64 / 4).is_multiple_of(2));
    }
}

/// Makes the times of a series others by a factor; which, is counted from the last.
fn scale_last(evidence: &mut Evidence, from_last: usize, factor: f64) {
    if let Some(series) = evidence.series.iter_mut().rev().nth(from_last) {
        series.samples.iter_mut().for_each(|sample| sample[1] *= factor);
    }
}

#[test]
fn the_judge_is_against_a_detector_that_always_says_something_and_one_without_its_control() {
    let noise = Noise::None;
    let sampled = &*WITHOUT_NOISE;
    assert_eq!(complaints(&tally(noise, sampled, &judge)), [""; 0]);
    for key in Detector::ALL.iter().flat_map(|detector| detector.keys()) {
        let spoiled = tally(noise, sampled, &|evidence| never_undetermined(evidence, key));
        let against = complaints(&spoiled);
        assert!(against.len() == 1 && against[0].starts_with(key), "{key}: {against:?}");
    }
    for (detector, key, take_out) in WITHOUT_CONTROL {
        let reading = |evidence: &[Evidence]| {
            let mut evidence = evidence.to_vec();
            evidence.iter_mut().filter(|it| it.detector == detector.name()).for_each(take_out);
            judge(&evidence)
        };
        let against = complaints(&tally(noise, sampled, &reading));
        let wrong = format!("{key} is wrong");
        assert!(against.iter().any(|it| it.starts_with(&wrong)), "{key}: {against:?}");
    }
}

/// What is spare of a drive: percent, from which to which; as it is new, and once it was used.
fn spare_new_and_used(trim: &str) -> [Option<[f64; 2]>; 2] {
    let set = [
        "nand.dies=4",
        "nand.planes=2",
        "nand.page_bytes=4096",
        "nand.pages_per_block=96",
        "nand.blocks_per_plane=400",
        "capacity.sectors=1845248",
        trim,
    ];
    let profile = built_in("crucial-m4-64gb", &set.map(String::from)).expect("a drive");
    let mut drive = Drive::from_profile(&profile);
    [(); 2].map(|()| {
        let found = |drive: &mut Drive, detector| {
            let detectors = vec![Detector::Kind, detector];
            let options = fourcorners_lab::diagnose::Options { detectors, ..Default::default() };
            diagnose(drive, "a", &options, &mut |_| true).findings
        };
        let findings = found(&mut drive, Detector::Spare);
        let spare = findings.into_iter().find(|it| it.key == "spare_percent").expect("looked for");
        // Which fills the drive and writes it at random: without a TRIM it would show less from now on.
        found(&mut drive, Detector::Trim);
        spare.interval.filter(|_| spare.standing == Standing::Determined)
    })
}

#[test]
fn what_is_spare_is_the_same_of_a_used_drive_or_is_not_said() {
    // A TRIM that acts after a while is waited for.
    for frees_all in ["trim.mode=instant", "trim.deferred_s=20"] {
        let [new, used] = spare_new_and_used(frees_all);
        let (new, used) = (new.expect("new it is told"), used.expect("used it is told"));
        assert!(new[0] <= used[1] && used[0] <= new[1], "{frees_all}: {new:?} {used:?}");
    }
    for leaves_something in [
        "trim.mode=ignored",
        "trim.supported=false",
        "trim.partial_percent=50",
        "trim.deferred_s=9000",
    ] {
        assert_eq!(spare_new_and_used(leaves_something), [None; 2], "{leaves_something}");
    }
}

/// What two detectors measure of drives with these pages.
fn row_and_dies(page_bytes: [u32; 2]) -> Vec<Finding> {
    let detectors = [Detector::Row, Detector::Dies];
    let measured = detectors.iter().zip(page_bytes).map(|(detector, page)| {
        let set = [format!("nand.page_bytes={page}")];
        let mut drive = Drive::from_profile(&built_in("crucial-m4-64gb", &set).expect("a drive"));
        let options =
            fourcorners_lab::diagnose::Options { detectors: vec![*detector], ..Default::default() };
        diagnose(&mut drive, "a", &options, &mut |_| true).evidence.remove(0)
    });
    judge(&measured.collect::<Vec<_>>())
}

#[test]
fn dies_with_other_rows_than_were_found_are_not_determined() {
    let of_dies = |findings: &[Finding]| -> Vec<Option<f64>> {
        let keys = ["dies", "stripe_bytes"];
        let of = |key| findings.iter().find(|it| it.key == key).expect("looked for");
        keys.map(|key| of(key).determined()).to_vec()
    };
    let alike = row_and_dies([8192, 8192]);
    assert_eq!(of_dies(&alike), [Some(16.0), Some(262_144.0)]);
    let other = row_and_dies([4096, 8192]);
    assert_eq!(of_dies(&other), [None; 2]);
    let reason = &other.iter().find(|it| it.key == "dies").expect("looked for").reason;
    assert!(reason.contains("8192 bytes") && reason.contains("16384"), "{reason}");
}

#[test]
fn of_a_drive_that_takes_one_io_at_a_time_no_two_are_asked_at_once() {
    let set = ["capacity.queue_depth=1".to_string()];
    let mut drive = Drive::from_profile(&built_in("crucial-m4-64gb", &set).expect("a drive"));
    let options = fourcorners_lab::diagnose::Options { noise: Noise::Lab, ..Default::default() };
    let findings = diagnose(&mut drive, "a", &options, &mut |_| true).findings;
    let of = |key| findings.iter().find(|it| it.key == key).expect("looked for");
    assert_eq!(of("dies").determined(), None);
    assert!(of("dies").reason.contains("one I/O at a time"), "{}", of("dies").reason);
    // The others go on.
    assert_eq!(of("page_bytes").determined(), Some(4096.0));
    assert_eq!(of("read_ahead").as_class(), Some("yes"));
}

/// What is said of when a drive collects: in pauses, and how.
fn collection_of(set: &[&str]) -> [Finding; 2] {
    let common = [
        "nand.dies=4",
        "nand.channels=4",
        "nand.planes=2",
        "nand.page_bytes=4096",
        "nand.pages_per_block=48",
        "nand.blocks_per_plane=800",
        "nand.program_us=1300",
        "capacity.sectors=1845248",
    ];
    let set: Vec<String> = common.iter().chain(set).map(|it| (*it).to_string()).collect();
    let mut drive = Drive::from_profile(&built_in("crucial-m4-64gb", &set).expect("a drive"));
    let detectors = vec![Detector::Kind, Detector::Collection];
    let options = fourcorners_lab::diagnose::Options { detectors, ..Default::default() };
    let findings = diagnose(&mut drive, "a", &options, &mut |_| true).findings;
    Detector::Collection
        .keys()
        .iter()
        .map(|key| findings.iter().find(|it| it.key == *key).expect("looked for").clone())
        .collect::<Vec<_>>()
        .try_into()
        .expect("two")
}

#[test]
fn when_a_drive_collects_is_told_from_what_looks_like_it() {
    let class = |finding: &Finding| finding.as_class().map(String::from);
    let idle = ["gc.idle_ms=3000", "gc.idle_free_blocks=20"];
    for (pacing, how) in [("gc.pacing=paced", "paced"), ("gc.pacing=delayed", "stalls")] {
        let [collects, paced] = collection_of(&[&[pacing][..], &idle].concat());
        assert_eq!(class(&collects), Some("yes".into()), "{pacing}: {}", collects.reason);
        assert_eq!(class(&paced), Some(how.into()), "{pacing}: {}", paced.reason);
        // The same drive without.
        let [collects, paced] = collection_of(&[pacing]);
        assert_ne!(class(&collects), Some("yes".into()), "{pacing}: {}", collects.reason);
        // Of one that stalls a trial has to be long, and a little would not be seen.
        let said = class(&collects) == Some("no".into());
        assert!(said || how == "stalls", "{pacing}: {}", collects.reason);
        assert_eq!(class(&paced), Some(how.into()), "{pacing}: {}", paced.reason);
    }
    // What folds its cache in pauses is faster then, too, and need not collect.
    let folds = [
        "gc.pacing=paced",
        "slc_buffer.fixed_mib=40",
        "slc_buffer.cell_bits=2",
        "slc_buffer.program_us=300",
        "slc_buffer.read_us=20",
        "slc_buffer.when_full=fold",
        "slc_buffer.idle_ms=100",
    ];
    for finding in collection_of(&folds) {
        assert_eq!(finding.standing, Standing::Undetermined, "{finding:?}");
        assert!(finding.reason.contains("a cache is emptied"), "{}", finding.reason);
    }
}

/// What one detector says of a drive of 0.9 GB with these settings.
fn found_of(detector: Detector, set: &[&str]) -> Vec<Finding> {
    let common = [
        "nand.dies=4",
        "nand.channels=4",
        "nand.planes=2",
        "nand.page_bytes=4096",
        "nand.pages_per_block=96",
        "nand.blocks_per_plane=400",
        "nand.program_us=1300",
        "capacity.sectors=1845248",
        "gc.pacing=paced",
    ];
    let set: Vec<String> = common.iter().chain(set).map(|it| (*it).to_string()).collect();
    let mut drive = Drive::from_profile(&built_in("crucial-m4-64gb", &set).expect("a drive"));
    let detectors = vec![Detector::Kind, detector];
    let options = fourcorners_lab::diagnose::Options { detectors, ..Default::default() };
    let findings = diagnose(&mut drive, "a", &options, &mut |_| true).findings;
    findings.into_iter().filter(|it| detector.keys().contains(&it.key.as_str())).collect()
}

#[test]
fn blocks_with_a_log_are_told_from_pages_and_from_pages_whose_map_is_read() {
    let of = |set: &[&str]| {
        let found = found_of(Detector::Mapping, set);
        (found[0].as_class().map(String::from), found[1].value.clone())
    };
    assert_eq!(of(&[]), (Some("pages".into()), None));
    for count in [5, 20] {
        let log = format!("log_blocks.count={count}");
        let rest = ["log_blocks.replacement=oldest", "log_blocks.sequential=true"];
        let [dies, associativity] = ["log_blocks.stripe_dies=4", "log_blocks.associativity=1"];
        let (class, areas) = of(&[&log, rest[0], rest[1], dies, associativity]);
        assert_eq!(class.as_deref(), Some("log blocks"), "{count}");
        let Some(Value::Number(areas)) = areas else { panic!("{count}: {areas:?}") };
        assert!(areas <= f64::from(count) && areas > 0.7 * f64::from(count), "{count}: {areas}");
    }
    // A page of the map for every few areas: writes wait for it, and reads as well.
    let (class, _) = of(&["map.memory_kib=16", "map.page_bytes=4096"]);
    assert_eq!(class, None);
}

#[test]
fn write_amplification_is_that_of_greedy_collection_or_not_said() {
    let found = found_of(Detector::Amplification, &["gc.policy=greedy"]);
    let [low, high] = found[0].interval.unwrap_or_else(|| panic!("{}", found[0].reason));
    // Of what is spare, by Desnoyers (2012).
    let spare = found_of(Detector::Spare, &["gc.policy=greedy"])[0].determined();
    assert!(spare.is_some_and(|percent| (20.0..35.0).contains(&percent)), "{spare:?}");
    assert!(low > 2.1 && high < 3.2 && low < high, "{low} to {high}");
    assert!(found[1].determined().is_some());
    for another in [&["gc.policy=random"][..], &["gc.policy=greedy", "trim.mode=ignored"]] {
        let found = found_of(Detector::Amplification, another);
        assert!(found.iter().all(|it| it.determined().is_none()), "{another:?}: {found:?}");
    }
}

#[test]
fn a_finding_is_made_of_its_evidence_and_the_same_seed_finds_the_same() {
    let drawn = draw(5, 0);
    let options = fourcorners_lab::diagnose::Options {
        detectors: Detector::ALL.to_vec(),
        seed: 3,
        noise: Noise::Lab,
    };
    let found = || diagnose(&mut Drive::from_profile(&drawn.profile), "a", &options, &mut |_| true);
    let one = found();
    assert_eq!(one, found());
    assert_eq!(one.schema, SCHEMA);
    assert_eq!(judge(&one.evidence), one.findings);
    for finding in &one.findings {
        assert!(one.evidence.iter().any(|it| it.detector == finding.evidence), "{finding:?}");
        assert!(!finding.reason.is_empty());
    }
    let text = serde_json::to_string(&one).expect("it can be written");
    let read: fourcorners_lab::diagnose::Diagnosis = serde_json::from_str(&text).expect("and read");
    assert_eq!(judge(&read.evidence), one.findings);
}

#[test]
fn what_is_stopped_says_so_and_finds_nothing() {
    let drawn = draw(5, 0);
    let options = fourcorners_lab::diagnose::Options::default();
    let mut asked = 0;
    let found = diagnose(&mut Drive::from_profile(&drawn.profile), "a", &options, &mut |what| {
        asked += usize::from(what == "row");
        asked < 2
    });
    let reason = |key: &str| {
        found
            .findings
            .iter()
            .find(|it| it.key == key)
            .map(|it| it.reason.clone())
            .unwrap_or_default()
    };
    assert!(!reason("kind").contains("interrupted"), "that was done by then");
    for key in ["page_bytes", "row_bytes", "write_buffer_kib"] {
        assert!(reason(key).contains("interrupted"), "{key}: {}", reason(key));
    }
}
