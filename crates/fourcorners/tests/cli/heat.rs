//! What a review says of how warm a virtual drive was.

use fourcorners_record::Record;

use crate::bench::{folder, run};

fn reviewed(drive: &str, more: &[&str]) -> Record {
    let dir = folder();
    let args = [&["review", drive, "--methods", "power", "--quick", "--json"], more].concat();
    let ran = run(dir.path(), &args);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.document().records.remove(0)
}

/// What it says of its heat, with what that is about.
fn said(record: &Record) -> Vec<(String, String)> {
    let heat = ["thermal-throttling", "temperature"];
    let notes = record.notes.iter().filter(|note| heat.contains(&note.about.as_str()));
    notes.map(|note| (note.about.clone(), note.text.clone())).collect()
}

#[test]
fn a_drive_that_was_slowed_says_so_and_that_a_sink_is_to_be_had() {
    let hot = reviewed("m4-4gb-hot", &[]);
    let [(about, text)] = &said(&hot)[..] else { panic!("{:?}", said(&hot)) };
    assert_eq!(about, "thermal-throttling");
    assert!(text.contains("and throttled for"), "{text}");
    assert!(text.ends_with("To fit its heat sink: --set heat.sink=fitted."), "{text}");
    let health = hot.health.as_ref().expect("it has a temperature");
    let heat = health.heat.expect("it was measured");
    assert!(heat.throttled_s > 1.0 && heat.highest_c >= 70.0, "{heat:?}");
    assert!(health.before.temperature_c.is_some(), "{health:?}");
    let after = health.after.as_ref().and_then(|after| after.temperature_c);
    assert!(after.is_some() && after != health.before.temperature_c, "{health:?}");
    assert!(hot.figures.values().all(|figure| figure.heat.is_some()));
    // The same once more: the temperature decides about times, and those are the same.
    let again = reviewed("m4-4gb-hot", &[]);
    assert_eq!((&again.id, &again.figures, &again.health), (&hot.id, &hot.figures, &hot.health));
}

#[test]
fn a_drive_that_was_not_slowed_does_not_say_so() {
    for (drive, more) in [
        ("m4-4gb-hot-with-a-sink", &[][..]),
        ("m4-4gb-hot", &["--set", "heat.sink=fitted"]),
        ("m4-4gb-hot", &["--set", "heat.throttle=off"]),
        ("wd-sn850x-1000gb", &[]),
    ] {
        let record = reviewed(drive, more);
        let [(about, text)] = &said(&record)[..] else { panic!("{drive}: {:?}", said(&record)) };
        assert_eq!(about, "temperature", "{drive}: {text}");
        assert!(text.ends_with("and did not throttle."), "{drive}: {text}");
        let heat = record.health.and_then(|health| health.heat).expect("it was measured");
        assert_eq!(heat.throttled_s, 0.0, "{drive}");
    }
}

#[test]
fn a_drive_without_heat_says_nothing_of_it() {
    let record = reviewed("m4-4gb", &[]);
    assert_eq!(said(&record), []);
    assert_eq!(record.health, None);
    assert!(record.figures.values().all(|figure| figure.heat.is_none()));
}
