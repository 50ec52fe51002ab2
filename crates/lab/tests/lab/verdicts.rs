//! Verdicts on drives whose truth is known from their profile, by the methods that a user runs: each
//! outcome where it must come out, beside a drive on which the opposite must.

use fourcorners_catalogue::built_in;
use fourcorners_lab::campaign::{Session, Settings, Unwatched, measure};
use fourcorners_lab::device_under_test::DeviceUnderTest;
use fourcorners_lab::review::Method;
use fourcorners_record::{Ended, Outcome, Record};

/// The records of a method on drives with these settings, at full length.
fn reviewed(method: Method, drives: &[(&str, &[&str])]) -> Vec<Record> {
    let settings = Settings { seed: 5, ..Settings::default() };
    let sessions = drives.iter().map(|(name, set)| {
        let set: Vec<String> = set.iter().map(ToString::to_string).collect();
        let profile = built_in(name, &set).unwrap_or_else(|error| panic!("{error}"));
        let target = DeviceUnderTest::Virtual(Box::new(profile));
        Session::new(target, &[method.into()], &settings).expect("ours fit all targets")
    });
    let sessions: Vec<Session> = sessions.collect();
    let records = measure(&sessions, &Unwatched).expect("virtual drives are ready").records;
    assert_eq!(records.len(), drives.len());
    for record in &records {
        assert_eq!(record.ended, Ended::Complete, "{}", record.target.name);
    }
    records
}

#[test]
fn trim_works_where_it_does_and_nowhere_else() {
    let drives: [(&str, &[&str], Outcome); 9] = [
        ("crucial-m4-64gb", &[], Outcome::Yes),
        ("crucial-m4-64gb", &["trim.partial_percent=50"], Outcome::Partly),
        ("crucial-m4-64gb", &["trim.deferred_s=30"], Outcome::Yes),
        // It takes effect when all of it is written again.
        ("crucial-m4-64gb", &["trim.deferred_s=36000"], Outcome::No),
        // Without a torture before the last pass this one would be as fast as the first.
        ("crucial-m4-64gb", &["trim.mode=ignored"], Outcome::No),
        ("crucial-m4-64gb", &["trim.supported=false"], Outcome::No),
        ("crucial-c300-64gb", &[], Outcome::Yes),
        ("ocz-vertex-30gb", &[], Outcome::Yes),
        // With half of it spare the torture leaves no mark that a TRIM could take away.
        ("ocz-vertex-30gb", &["capacity.sectors=29312000"], Outcome::Undetermined),
    ];
    let named: Vec<_> = drives.iter().map(|&(name, set, _)| (name, set)).collect();
    for (record, (name, set, expected)) in reviewed(Method::Trim, &named).iter().zip(drives) {
        let [verdict] = &record.verdicts[..] else { panic!("{name}: {:?}", record.verdicts) };
        assert_eq!(verdict.outcome, expected, "{name} {set:?}: {}", verdict.words(record));
        // The control is measured, whatever comes out.
        for pass in ["clean", "tortured", "trimmed"] {
            for what in ["read", "write"] {
                let figure = format!("sequential_{what}_128k_qd1_{pass}");
                assert!(record.figures.contains_key(&figure), "{name}: {figure}");
            }
        }
    }
}

#[test]
fn a_trim_that_reaches_the_drive_is_told_from_one_that_does_not() {
    let drives: [(&[&str], Outcome); 7] = [
        (&[], Outcome::Yes),
        (&["trim.mode=blocking", "trim.us_per_mib=1000"], Outcome::Yes),
        (&["trim.partial_percent=50"], Outcome::Partly),
        (&["trim.deferred_s=30"], Outcome::Yes),
        (&["trim.deferred_s=36000"], Outcome::No),
        (&["trim.mode=ignored"], Outcome::No),
        (&["trim.supported=false"], Outcome::No),
    ];
    let named: Vec<_> = drives.iter().map(|&(set, _)| ("crucial-m4-64gb", set)).collect();
    for (record, (set, expected)) in reviewed(Method::TrimReaches, &named).iter().zip(drives) {
        let [verdict] = &record.verdicts[..] else { panic!("{set:?}: {:?}", record.verdicts) };
        assert_eq!(verdict.outcome, expected, "{set:?}: {}", verdict.words(record));
    }
}

#[test]
fn a_trim_that_holds_up_the_work_beside_it_is_told_from_one_that_does_not() {
    // The drive itself takes 10 ms for one, in which nothing else is served.
    let instant = ["trim.mode=instant", "trim.command_us=0"];
    let blocking = ["trim.mode=blocking", "trim.us_per_mib=300"];
    let drives: [(&[&str], Outcome); 3] =
        [(&instant, Outcome::No), (&[], Outcome::Yes), (&blocking, Outcome::Yes)];
    let named: Vec<_> = drives.iter().map(|&(set, _)| ("crucial-m4-64gb", set)).collect();
    for (record, (set, expected)) in reviewed(Method::TrimUnderLoad, &named).iter().zip(drives) {
        let verdict = record.verdicts.iter().find(|verdict| verdict.id == "trim-holds-up-reads");
        let verdict = verdict.unwrap_or_else(|| panic!("{set:?}: {:?}", record.verdicts));
        assert_eq!(verdict.outcome, expected, "{set:?}: {}", verdict.words(record));
        // Each TRIM is told by what ran beside it.
        let mut beside = record.notes.iter().filter(|note| note.about == "trim-time");
        for work in ["4 KiB random read", "4 KiB random write", "128 KiB sequential"] {
            let note = beside.next().unwrap_or_else(|| panic!("{set:?}: {:?}", record.notes));
            assert!(note.text.contains(&format!(" GB beside \"{work}")), "{}", note.text);
        }
    }
}

/// The outcome of a verdict of a record.
fn outcome(record: &Record, id: &str) -> Outcome {
    let verdict = record.verdicts.iter().find(|verdict| verdict.id == id);
    verdict.unwrap_or_else(|| panic!("{id}: {:?}", record.verdicts)).outcome
}

#[test]
fn a_drive_is_too_full_where_it_is_and_nowhere_else() {
    let drives = ["crucial-c300-64gb", "intel-x25-m-g2-160gb"].map(|name| (name, &[][..]));
    let records = reviewed(Method::FillLevel, &drives);
    let outcomes = records.iter().map(|record| outcome(record, "too-full"));
    assert_eq!(outcomes.collect::<Vec<_>>(), [Outcome::Yes, Outcome::No]);
}

#[test]
fn seconds_are_steady_where_they_are_and_nowhere_else() {
    // With spare area it is so fast that the stalls of its batched collection are whole seconds.
    let records = reviewed(Method::Consistency, &[("crucial-m500-120gb", &[])]);
    assert_eq!(outcome(&records[0], "steady-random-write"), Outcome::Yes);
    assert_eq!(outcome(&records[0], "steady-random-write-spare25"), Outcome::No);
}

#[test]
fn a_trim_that_takes_long_gives_the_control_as_much_rest() {
    // 64 GB at 10,000 us a MiB: ten minutes, while the drive could collect.
    let slow = ["trim.mode=blocking", "trim.us_per_mib=10000"];
    let quick = ["trim.mode=blocking", "trim.us_per_mib=0"];
    let named = [("crucial-m4-64gb", &slow[..]), ("crucial-m4-64gb", &quick[..])];
    let records = reviewed(Method::Trim, &named);
    for record in &records {
        assert_eq!(
            record.verdicts[0].outcome,
            Outcome::Yes,
            "{}",
            record.verdicts[0].words(record)
        );
    }
    // The repeated control follows three passes instead of one, and has another rate.
    let rate = |record: &Record| record.figures["sequential_write_128k_qd1_tortured"].mb_per_s;
    assert_ne!(rate(&records[0]), rate(&records[1]));
    let seconds = |record: &Record| {
        record.notes.iter().find(|note| note.about == "trim-time").and_then(|note| note.value)
    };
    assert!(seconds(&records[0]) > Some(120.0) && seconds(&records[1]) < Some(1.0));
}

#[test]
fn a_used_drive_is_slower_where_it_is_and_nowhere_else() {
    let drives: [(&str, &[&str], Outcome); 3] = [
        ("crucial-m4-64gb", &[], Outcome::Yes),
        // The larger one is bound by its channels, new or used; the smaller one by its dies.
        ("intel-x25-m-g2-160gb", &[], Outcome::No),
        ("intel-x25-m-g2-80gb", &[], Outcome::Yes),
    ];
    let named: Vec<_> = drives.iter().map(|&(name, set, _)| (name, set)).collect();
    for (record, (name, _, expected)) in reviewed(Method::UsedState, &named).iter().zip(drives) {
        let [verdict] = &record.verdicts[..] else { panic!("{name}: {:?}", record.verdicts) };
        assert_eq!(verdict.outcome, expected, "{name}: {}", verdict.words(record));
    }
}

#[test]
fn data_that_does_not_compress_is_slower_on_a_drive_that_compresses_alone() {
    let drives = [("ocz-vertex-3-120gb", Outcome::Yes), ("crucial-m4-64gb", Outcome::No)];
    let named: Vec<(&str, &[&str])> = drives.iter().map(|&(name, _)| (name, &[][..])).collect();
    for (record, (name, expected)) in reviewed(Method::FourCorners, &named).iter().zip(drives) {
        let id = "slower-incompressible-sequential-write";
        let verdict = record.verdicts.iter().find(|verdict| verdict.id == id);
        let verdict = verdict.unwrap_or_else(|| panic!("{name}: {:?}", record.verdicts));
        assert_eq!(verdict.outcome, expected, "{name}: {}", verdict.words(record));
    }
}
