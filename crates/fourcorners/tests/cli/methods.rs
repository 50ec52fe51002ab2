//! Every method, on a virtual drive and on devices that do and do not pass TRIM on.

use std::fs::File;
use std::process::Command;

use fourcorners_record::{ClockName, Document, Ended, Outcome, Record};
use fourcorners_testing::skipped;

use crate::bench::{HDD, M4, folder, obeys_the_laws, run};
use crate::media::{Loop, MIB, Undo, is_root, run as tool};

fn reviewed(args: &[&str]) -> Document {
    let dir = folder();
    let ran = run(dir.path(), &[&["review"], args, &["--quick", "--json"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.document()
}

fn value(record: &Record, about: &str) -> f64 {
    let found = record.notes.iter().find(|note| note.about == about);
    let found = found.unwrap_or_else(|| panic!("no {about}: {:#?}", record.notes));
    found.value.unwrap_or_else(|| panic!("{about} has no number: {found:?}"))
}

/// Mean latency of a method's figure that was named `figure`, microseconds.
fn mean_us(record: &Record, figure: &str) -> f64 {
    record.figures[figure].latency_us.mean
}

/// How the one verdict of a record came out.
fn outcome(record: &Record, id: &str) -> Outcome {
    let [verdict] = &record.verdicts[..] else { panic!("{:#?}", record.verdicts) };
    assert_eq!(verdict.id, id);
    for said in [&verdict.claim, &verdict.threshold, &verdict.control] {
        assert!(!said.is_empty(), "{verdict:?}");
    }
    assert!(verdict.figures.iter().all(|name| record.figures.contains_key(name)), "{verdict:?}");
    verdict.outcome
}

#[test]
fn all_methods_are_listed_with_what_they_take() {
    let dir = folder();
    let listed = |args: &[&str]| {
        let ran = run(dir.path(), &[&["methods", "--json"], args].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let value: serde_json::Value = serde_json::from_str(&ran.stdout).expect("one document");
        assert_eq!(value["schema"], "fourcorners.methods/1");
        let of = |method: &serde_json::Value| {
            let number = |key: &str| method[key].as_f64().expect("a number");
            let name = method["name"].as_str().expect("a name").to_string();
            (name, number("seconds"), number("written_bytes"), method["by_default"] == true)
        };
        value["methods"].as_array().expect("a list").iter().map(of).collect::<Vec<_>>()
    };
    let (usual, large) = (listed(&[]), listed(&["--size", "2T"]));
    let quick = listed(&["--quick"]);
    assert_eq!(usual.len(), 17);
    let named_only: Vec<&str> = usual.iter().filter(|it| !it.3).map(|it| it.0.as_str()).collect();
    assert_eq!(named_only, ["snia", "quick"]);
    let of = |list: &[(String, f64, f64, bool)], name: &str| {
        let found = list.iter().find(|it| it.0 == name).expect(name);
        (found.1, found.2)
    };
    // A drive that is filled takes as many times longer as it is larger; a span of 8 GB does not.
    assert!(of(&large, "lba-pass").1 > 7.0 * of(&usual, "lba-pass").1);
    assert_eq!(of(&large, "quick"), of(&usual, "quick"));
    assert!(of(&quick, "four-corners").0 < 0.1 * of(&usual, "four-corners").0);
    // The used state is what a quick one leaves out.
    for (args, told) in [(&["methods"][..], true), (&["methods", "--quick"], false)] {
        let listed = run(dir.path(), args).stdout;
        let four = listed.lines().skip_while(|line| !line.starts_with("four-corners")).take(2);
        assert_eq!(four.collect::<String>().contains("fresh and used"), told, "{listed}");
    }

    // What a dry run says of each phase together: what the drive is already filled for is filled once.
    let ran = run(dir.path(), &["review", M4, "--methods", "four-corners", "--dry-run", "--json"]);
    let planned: serde_json::Value = serde_json::from_str(&ran.stdout).expect("one document");
    let session = &planned["sessions"][0];
    let planned = |key: &str| session[key].as_f64().expect("a number");
    let same = of(&listed(&["--size", "256060514304"]), "four-corners");
    assert_eq!(same, (planned("seconds"), planned("writes_bytes")));
    let phases = session["methods"][0]["phases"].as_array().expect("a list");
    let spared: Vec<_> = phases.iter().filter(|phase| !phase["left_out"].is_null()).collect();
    assert_eq!(spared.len(), 1, "the second fill");
    assert_eq!((&spared[0]["first"], &spared[0]["number"]), (&19.into(), &20.into()));

    let ran = run(dir.path(), &["methods"]);
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ran.stdout);
    assert!(ran.stdout.contains("snia *") && !ran.stdout.contains("trim *"), "{}", ran.stdout);
    for (size, told) in [("0", "--size 0"), ("many", "many"), ("2000T", "1MiB to 1024TiB")] {
        let ran = run(dir.path(), &["methods", "--size", size]);
        assert_eq!(ran.code, Some(2), "{size}");
        assert!(ran.stderr.contains(told), "{size}: {}", ran.stderr);
    }
}

#[test]
fn all_methods_say_something_of_a_virtual_drive() {
    let document = reviewed(&[M4, "--methods", "all"]);
    let of = |method: &str| {
        let found = document.records.iter().find(|record| record.method == method);
        found.unwrap_or_else(|| panic!("{method} was not run"))
    };
    for record in &document.records {
        assert_eq!(record.ended, Ended::Complete, "{}", record.method);
        obeys_the_laws(record);
        // The sweep is a table and a chart; all others end with a sentence.
        assert_eq!(record.conclusions().is_empty(), record.method == "toms", "{}", record.method);
    }
    // Twenty seconds of random writes leave no mark on an m4 of 256 GB.
    assert_eq!(outcome(of("trim"), "trim-works"), Outcome::Undetermined);
    assert_eq!(outcome(of("trim-reaches"), "trim-reaches"), Outcome::Yes);
    // Five seconds of a drive that was filled to 8 GB: whatever comes out rests on its ratio.
    let used = &of("used-state").verdicts[0];
    assert_eq!(outcome(of("used-state"), "slower-when-used"), used.outcome);
    assert!(used.value.is_some_and(|kept| (0.0..=1.01).contains(&kept)), "{used:?}");
    // Nor do they bring a drive to where writes cost its flash most.
    let lasts = of("endurance").notes.iter().find(|note| note.about == "endurance");
    let lasts = lasts.expect("it is concluded of");
    assert!(
        lasts.value.is_none() && lasts.text.contains("undetermined: a quick review"),
        "{lasts:?}"
    );
    let pass = &of("lba-pass").curves["sequential_write_128k_qd1_pass"].points;
    assert_eq!(pass.len(), 200);
    let figure = &of("lba-pass").figures["sequential_write_128k_qd1_pass"];
    // Pieces are equally long, so their harmonic mean is the rate of all.
    let harmonic = 200.0 / pass.iter().map(|(_, rate)| 1.0 / rate).sum::<f64>();
    assert!((harmonic / figure.mb_per_s - 1.0).abs() < 0.01, "{harmonic} {}", figure.mb_per_s);
    assert_eq!(of("fill-level").curves["random_write_4k_qd32_by_fill"].points.len(), 10);
    for (method, figures) in [("storage-bench", 8), ("tasks", 8)] {
        assert_eq!(of(method).figure_count(), figures, "{method}");
    }
    // An m4 has no capacitors: a write that has to be durable waits for its row, whichever way it asks.
    let sync = &of("sync-writes").figures;
    let mean = |figure: &str| mean_us(of("sync-writes"), figure);
    let plain = mean("sequential_write_4k_qd1");
    for durable in ["sequential_write_4k_qd1_flush", "sequential_write_4k_qd1_fua"] {
        assert!(mean(durable) > 10.0 * plain, "{durable}: {} and {plain}", mean(durable));
        for jobs in [5, 10] {
            let several = &sync[&format!("{durable}_jobs{jobs}")];
            assert!((several.mean_queue_depth - f64::from(jobs)).abs() < 0.01, "{durable}");
            assert!(several.iops > sync[durable].iops, "{durable}, {jobs} jobs");
        }
    }
    let steadiness = of("consistency").steadiness["random_write_4k_qd32_incompressible_default"];
    let series = &of("consistency").series["random_write_4k_qd32_incompressible_default"];
    assert_eq!(steadiness.seconds as usize, series.iops.len());
}

#[test]
fn synchronous_writes_cost_what_the_drive_has_to_do_for_them() {
    let figures = ["", "_flush", "_fua"].map(|how| format!("sequential_write_4k_qd1{how}"));
    let means = |args: &[&str]| {
        let document = reviewed(&[args, &["--methods", "sync-writes"]].concat());
        let record = &document.records[0];
        figures.each_ref().map(|figure| mean_us(record, figure))
    };
    // With capacitors a synchronous write waits for the firmware alone; without that it costs what any write does.
    let quick = ["intel-s3700-200gb", "--set", "controller.sync_latency_us=0"];
    let [plain, flush, fua] = means(&quick);
    assert!((fua / plain - 1.0).abs() < 0.01, "{fua} and {plain}");
    assert!(flush > plain && flush < 3.0 * plain, "{flush} and {plain}");
    let [same, noted, safe] = means(&["intel-s3700-200gb"]);
    assert!((same / plain - 1.0).abs() < 0.01, "{same} and {plain}");
    for (with, without) in [(noted, flush), (safe, fua)] {
        assert!((with - without - 104.0).abs() < 2.0, "{with} and {without}");
    }
    // The same drive without capacitors.
    let without = ["intel-s3700-200gb", "--set", "buffer.power_loss_protected=false"];
    let [plain, flush, fua] = means(&without);
    assert!(flush > 5.0 * plain && fua > 5.0 * plain, "{plain}, {flush}, {fua}");
    // Without a write cache no write is quicker than a forced one; with capacitors it waits for the firmware, too.
    let off = |set: &[&str]| means(&[set, &["--set", "buffer.write_cache=false"]].concat());
    let [through, _, forced] = off(&without);
    assert!((through / forced - 1.0).abs() < 0.05, "{through} and {forced}");
    let [through, _, forced] = off(&["intel-s3700-200gb"]);
    assert!((through / safe - 1.0).abs() < 0.02 && (forced / safe - 1.0).abs() < 0.02, "{through}");
    // A disk waits for its platters.
    let [plain, flush, fua] = means(&[HDD]);
    assert!(flush > 50.0 * plain && fua > 50.0 * plain, "{plain}, {flush}, {fua}");
    let [through, _, forced] = means(&[HDD, "--set", "cache.write_cache=false"]);
    assert!((through / forced - 1.0).abs() < 0.05, "{through} and {forced}");
}

#[test]
fn a_method_measures_the_same_alone_and_beside_others() {
    let together = reviewed(&[M4, "--methods", "used-state,fill-level,consistency,tasks"]);
    for record in &together.records {
        let alone = reviewed(&[M4, "--methods", &record.method]);
        assert_eq!(alone.records[0].id, record.id, "{}", record.method);
    }
}

#[test]
fn a_drive_that_takes_no_trim_and_one_that_cannot() {
    let methods = ["--methods", "trim-reaches,trim,trim-under-load"];
    let document = reviewed(&[&[M4, "--set", "trim.supported=false"], &methods[..]].concat());
    assert_eq!(outcome(&document.records[0], "trim-reaches"), Outcome::No);
    assert_eq!(outcome(&document.records[1], "trim-works"), Outcome::No);
    assert!(document.records.iter().all(|record| record.ended == Ended::Complete));
    // What seconds do not show may come later.
    let ignored = reviewed(&[M4, "--set", "trim.mode=ignored", "--methods", "trim-reaches"]);
    obeys_the_laws(&ignored.records[0]);
    let verdict = &ignored.records[0].verdicts[0];
    assert_eq!(verdict.outcome, Outcome::Undetermined);
    assert!(verdict.why.as_ref().is_some_and(|why| why.contains("for 2 s at most")), "{verdict:?}");
    let flash = [methods[1], "used-state", "fill-level", "endurance"].join(",");
    let disk = reviewed(&[HDD, methods[0], &flash]);
    assert_eq!(disk.records.len(), 6);
    for record in &disk.records {
        assert!(record.figures.is_empty() && record.verdicts.is_empty(), "{}", record.method);
        let [note] = &record.notes[..] else { panic!("{:?}", record.notes) };
        assert!(note.about == "not-run" && note.text.contains("a hard disk"), "{note:?}");
    }
}

#[test]
fn trim_reaches_a_loop_device() {
    let Some(device) = Loop::blank(64 * MIB) else { return };
    let node = device.node.as_str();
    let args = [node, "--destroy", node, "--methods", "trim-reaches,lba-pass,trim-under-load"];
    let document = reviewed(&args);
    assert_eq!(outcome(&document.records[0], "trim-reaches"), Outcome::Yes);
    assert_eq!(value(&document.records[0], "trim-content"), 1.0, "zeroes come back");
    document.records.iter().for_each(obeys_the_laws);
}

#[test]
fn a_loop_device_gives_real_figures_of_passes_seconds_and_tasks() {
    let Some(device) = Loop::blank(64 * MIB) else { return };
    let node = device.node.as_str();
    let methods = ["--methods", "lba-pass,consistency,tasks"];
    let document = reviewed(&[&[node, "--destroy", node], &methods[..]].concat());
    let [pass, consistency, tasks] = &document.records[..] else { panic!("three records") };
    for record in &document.records {
        assert_eq!((&record.ended, record.clock), (&Ended::Complete, ClockName::Wall));
        obeys_the_laws(record);
    }
    for curve in pass.curves.values() {
        // Of a span that small a place for every eight I/Os, none of them faster than memory.
        assert_eq!(curve.points.len(), 64);
        assert!(curve.points.iter().all(|&(_, rate)| rate > 0.0 && rate < 1e5), "{curve:?}");
    }
    let seconds = consistency.series.values().next().expect("a run").iops.iter();
    assert!(seconds.sum::<u64>() > 0);
    assert_eq!(tasks.replays.len(), 8);
    for (name, replay) in &tasks.replays {
        assert_eq!(replay.addresses, "rescaled", "{name}");
        let figure = &replay.figures["task"];
        let moved = replay.card.read_bytes + replay.card.write_bytes;
        assert_eq!((figure.all.ios, figure.all.bytes), (replay.card.ios, moved), "{name}");
        assert!(figure.complete && figure.cpu_us_per_io.is_some(), "{name}");
        assert!(figure.busy_s > 0.0 && figure.busy_s <= figure.elapsed_s, "{name}");
    }
}

#[test]
fn trim_does_not_reach_a_loop_over_a_file_system_without_holes() {
    if !is_root() {
        return skipped("root", "mounting needs root");
    }
    // ramfs has no fallocate, so that a loop device over it takes no discard.
    let dir = folder();
    let at = dir.path().to_str().expect("temporary paths are text");
    if let Err(error) = tool(&["mount", "-t", "ramfs", "none", at]) {
        return skipped("mount", error);
    }
    let _mounted = Undo::with(&["umount", at]);
    let image = dir.path().join("image");
    File::create(&image).and_then(|file| file.set_len(64 * MIB)).expect("a file");
    let image = image.to_str().expect("temporary paths are text");
    let node = match tool(&["losetup", "--find", "--show", image]) {
        Ok(node) => node,
        Err(error) => return skipped("loop-devices", error),
    };
    let _attached = Undo::with(&["losetup", "--detach", &node]);
    let document = reviewed(&[&node, "--destroy", &node, "--methods", "trim-reaches"]);
    assert_eq!(outcome(&document.records[0], "trim-reaches"), Outcome::No);
    assert!(document.records[0].notes.iter().any(|it| it.about == "trim-refused"));
}

#[test]
fn others_on_the_device_are_told_from_ourselves() {
    let Some(device) = Loop::blank(64 * MIB) else { return };
    let node = device.node.as_str();
    let share = || {
        let document = reviewed(&[node, "--destroy", node, "--methods", "lba-pass"]);
        let figure = &document.records[0].figures["sequential_read_128k_qd1_pass"];
        figure.noise.expect("the kernel tells it").other_io_share
    };
    let alone = share().expect("a loop device is a device");
    assert!(alone < 0.02, "{alone}");
    let reads =
        format!("while :; do dd if={node} of=/dev/null bs=1M iflag=direct status=none; done");
    let mut other = Command::new("sh").args(["-c", &reads]).spawn().expect("a shell");
    let beside = share().expect("a loop device is a device");
    other.kill().expect("it is ours");
    other.wait().expect("it ends");
    assert!(beside > 0.1, "{beside}");
}
