//! What an output may take the place of.

use std::fs;
use std::os::unix::fs::symlink;

use crate::bench::{folder, refused, run};

#[test]
fn no_output_replaces_what_it_is_made_of_or_what_is_not_ours() {
    let dir = folder();
    let at = |name: &str| dir.path().join(name);
    let done = |args: &[&str]| {
        let ran = run(dir.path(), args);
        assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
    };
    let review = ["review", "crucial-m4-64gb", "--quick", "--out"];
    done(&[&review[..], &["a", "--db", "r.db", "--seed", "1"]].concat());
    done(&[&review[..], &["b", "--db", "r.db", "--seed", "2"]].concat());
    fs::write(at("job.fio"), "[j]\nrw=randread\nsize=1m\n").expect("it can be written");
    fs::write(at("t.csv"), "time_us,op,offset,bytes\n0,read,0,4096\n").expect("it can be written");
    fs::write(at("notes.txt"), "three months of notes").expect("it can be written");
    symlink("a/review.json", at("link")).expect("it can be made");
    fs::hard_link(at("a/review.json"), at("hard")).expect("it can be made");
    let (a, b) = ("a/review.json", "b/review.json");
    let over_an_input: [&[&str]; 14] = [
        &["report", "a", "-o", a],
        &["report", a, "-o", "link"],
        &["report", a, "-o", "hard"],
        &["report", "crucial-m4-64gb", "-o", "r.db", "--db", "r.db"],
        &["results", "--db", "r.db", "export", "-o", "r.db"],
        &["results", "--db", "r.db", "export", "--csv", "-o", "r.db"],
        // What SQLite keeps beside a database, whether it is there or not.
        &["results", "--db", "r.db", "export", "-o", "./r.db-wal"],
        &["report", "a", "-o", "r.db-shm", "--db", "r.db"],
        &["compare", a, b, "-o", "r.db-journal", "--db", "r.db"],
        &["compare", a, b, "-o", a],
        &["compare", a, b, "-o", b],
        &["compare", "a", "b", "-o", "link"],
        &["run", "job.fio", "crucial-m4-64gb", "--output", "job.fio"],
        &["trace", "convert", "t.csv", "-o", "t.csv"],
    ];
    let kept = || [a, b, "r.db", "job.fio", "t.csv"].map(|name| fs::read(at(name)).expect("there"));
    let before = kept();
    for args in over_an_input {
        for args in [args.to_vec(), [args, &["--overwrite"]].concat()] {
            let line = refused(dir.path(), &args);
            let told = line.contains("name another file") || line.contains("is made from");
            assert!(told, "{args:?}: {line}");
        }
    }
    // A drawing, a picture and reports of fio itself are not ours, much as they look like it.
    let drawing = "<svg width=\"9\" height=\"9\" xmlns=\"http://www.w3.org/2000/svg\"/>\n";
    let of_fio = "j: (g=0): rw=read\nfio-3.33\nj: (groupid=0, jobs=1): err= 0\n";
    let theirs = [
        ("d.svg", drawing),
        ("d.png", "\u{89}PNG\r\n\u{1a}\n\0\0\0\rIHDR\0\0\t`\0\0\u{4}"),
        ("fio.txt", of_fio),
        ("fio.json", "{\n  \"fio version\" : \"fio-3.33\"\n}"),
    ];
    for (name, text) in theirs {
        fs::write(at(name), text).expect("it can be written");
    }
    let over_another: [&[&str]; 10] = [
        &["report", "a", "--card", "d.svg"],
        &["report", "a", "--card", "d.png"],
        &["run", "job.fio", "crucial-m4-64gb", "--output", "fio.txt"],
        &["run", "job.fio", "crucial-m4-64gb", "--output", "fio.json"],
        &["report", "a", "-o", "notes.txt"],
        &["report", "a", "-o", b],
        &["compare", "a", "b", "-o", "notes.txt"],
        &["results", "--db", "r.db", "export", "--csv", "-o", a],
        &["run", "job.fio", "crucial-m4-64gb", "--output", "notes.txt"],
        &["trace", "convert", "t.csv", "-o", "notes.txt"],
    ];
    for args in over_another {
        let line = refused(dir.path(), args);
        assert!(line.contains("--overwrite"), "{args:?}: {line}");
    }
    assert_eq!(kept(), before);
    for (name, text) in theirs {
        assert_eq!(fs::read(at(name)).expect("there"), text.as_bytes());
    }
    assert_eq!(fs::read(at("notes.txt")).expect("there"), b"three months of notes");

    // An earlier output of the same kind is replaced, an empty file is nothing, and who asks gets it.
    let again: [&[&str]; 9] = [
        &["report", "a", "--card", "card.svg"],
        &["report", "a", "--card", "card.png"],
        &["report", "a", "-o", "page.html"],
        &["compare", "a", "b", "-o", "page.html"],
        &["results", "--db", "r.db", "export", "-o", "all.json"],
        &["results", "--db", "r.db", "export", "--csv", "-o", "all.csv"],
        &["run", "job.fio", "crucial-m4-64gb", "--output", "report.txt"],
        &["diagnose", "crucial-m4-64gb", "-o", "page.html"],
        &["diagnose", "crucial-m4-64gb", "-o", "found.json"],
    ];
    // Two jobs, each with a line before that which says whose the report is.
    fs::write(at("job.fio"), "[global]\nrw=randread\nsize=1m\n[j]\n[k]\n").expect("it is text");
    for args in again {
        done(args);
        done(args);
    }
    done(&["run", "job.fio", "crucial-m4-64gb", "--output", "o.json", "--output-format", "json"]);
    done(&["run", "job.fio", "crucial-m4-64gb", "--output", "o.json", "--output-format", "json+"]);
    let both = ["--output", "both.txt", "--output-format", "normal,terse"];
    let terse = ["--output", "terse.txt", "--output-format", "terse"];
    for (args, again) in [(both, true), (terse, false)] {
        let args = [&["run", "job.fio", "crucial-m4-64gb"], &args[..]].concat();
        done(&args);
        if again { done(&args) } else { drop(refused(dir.path(), &args)) }
    }
    fs::write(at("empty"), "").expect("it can be written");
    done(&["report", "a", "-o", "empty"]);
    done(&["report", "a", "-o", "notes.txt", "--overwrite"]);
    assert!(fs::read_to_string(at("notes.txt")).expect("there").starts_with("<!DOCTYPE html>"));
}

#[test]
fn nothing_that_is_read_for_a_trace_is_replaced() {
    let dir = folder();
    let at = |name: &str| dir.path().join(name);
    let record = |action: u32, at_ns: u64| {
        let halves = [0x6561_7407, 1, at_ns as u32, 0, 8, 0, 4096, action, 1, 8 << 20, 0, 0];
        halves.iter().flat_map(|half: &u32| half.to_le_bytes()).collect::<Vec<u8>>()
    };
    let events = [record(7 | 1 << 16, 0), record(8 | 1 << 16, 500)].concat();
    for name in ["sda.blktrace.0", "sda.blktrace.1"] {
        fs::write(at(name), &events).expect("it can be written");
    }
    let task = run(dir.path(), &["tasks", "--show", "boot"]).stdout;
    fs::write(at("mine.toml"), &task).expect("it can be written");
    let csv = "time_us,op,offset_bytes,length_bytes\n0,write,0,4096\n";
    // Long enough to be a target.
    let long = format!("{csv}{}", "# nothing\n".repeat(2_000_000));
    fs::write(at("t.csv"), &long).expect("it can be written");
    let overwrite = "--overwrite";
    for args in [
        &["trace", "convert", "sda.blktrace.0", "-o", "sda.blktrace.1", overwrite][..],
        &["trace", "convert", "task:./mine.toml", "-o", "mine.toml", "--as", "csv", overwrite],
        &["choose", "task:./mine.toml", "-o", "mine.toml", "--capacity", "64GB", overwrite],
    ] {
        let line = refused(dir.path(), args);
        assert!(line.contains("which is read for it; name another file"), "{args:?}: {line}");
    }
    symlink("t.csv", at("link.csv")).expect("it can be made");
    for target in ["./t.csv", "./link.csv"] {
        let line = refused(dir.path(), &["trace", "replay", "t.csv", target, "--destroy", target]);
        assert!(line.contains("while the trace is read from t.csv"), "{line}");
    }
    assert_eq!(fs::read(at("sda.blktrace.1")).expect("there"), events);
    assert_eq!(fs::read_to_string(at("mine.toml")).expect("there"), task);
    assert_eq!(fs::read_to_string(at("t.csv")).expect("there"), long);
    // The control: what is not read for it.
    let args = ["trace", "convert", "sda.blktrace.0", "-o", "sdb.blktrace.0", overwrite];
    let ran = run(dir.path(), &args);
    assert!(ran.code == Some(0) && ran.stdout.contains("2 I/Os"), "{ran:?}");
}

#[test]
fn a_document_that_was_edited_is_shown_with_a_mark_or_not_at_all() {
    let dir = folder();
    for (out, seed) in [("a", "1"), ("b", "2")] {
        let args =
            ["review", "crucial-m4-64gb", "--quick", "--no-db", "--out", out, "--seed", seed];
        assert_eq!(run(dir.path(), &args).code, Some(0));
    }
    let document = dir.path().join("a/review.json");
    let text = fs::read_to_string(&document).expect("there");
    let at = text.find("\"mb_per_s\":").expect("a figure") + "\"mb_per_s\":".len();
    let end = at + text[at..].find(',').expect("more follows");
    fs::write(&document, format!("{}99999.0{}", &text[..at], &text[end..])).expect("it is ours");
    for args in [&["report", "a"][..], &["report", "a", "-o", "p.html"], &["compare", "b", "a"]] {
        let line = refused(dir.path(), args);
        assert!(line.contains("is not what was measured"), "{args:?}: {line}");
    }
    for args in [&["report", "a", "-o", "p.html"][..], &["compare", "b", "a", "-o", "p.html"]] {
        let ran = run(dir.path(), &[args, &["--as-is"]].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let page = fs::read_to_string(dir.path().join("p.html")).expect("a page");
        assert!(page.contains("(changed since it was measured)"), "{args:?}");
    }
    // Untouched, there is no mark.
    let ran = run(dir.path(), &["report", "b", "-o", "p.html", "--as-is"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let page = fs::read_to_string(dir.path().join("p.html")).expect("a page");
    assert!(!page.contains("changed since"));
}

#[test]
fn what_is_of_others_in_a_folder_of_results_stays() {
    let dir = folder();
    let notes = "my own notes\n";
    let review = ["review", "crucial-m4-64gb", "--quick", "--no-db", "-q", "-o", "out"];
    let replay = [
        "trace",
        "replay",
        "generated:light",
        "crucial-m4-64gb",
        "--ios",
        "500",
        "--no-db",
        "-o",
        "out",
    ];
    let all = [
        "trace",
        "replay",
        "generated:light",
        "all",
        "--capacity",
        "60GB-70GB",
        "--ios",
        "500",
        "-o",
        "out",
    ];
    let first = [&review[..6], &["first"]].concat();
    assert_eq!(run(dir.path(), &first).code, Some(0));
    let charts = |how| ["report", "first", how, "out"];
    let (svg, png) = (charts("--svg"), charts("--png"));
    // What each writes: made once, and looked for.
    for (args, files) in [
        (&review[..], &["review.html", "review.json"][..]),
        (&replay[..], &["replay.html", "replay.json"][..]),
        (&all[..], &["replay.html", "replay.json"][..]),
        (&svg[..], &[][..]),
        (&png[..], &[][..]),
    ] {
        let out = dir.path().join("out");
        let made = run(dir.path(), args);
        assert_eq!(made.code, Some(0), "{args:?}: {}", made.stderr);
        let names = || std::fs::read_dir(&out).expect("it is there").map(|it| it.expect("a file"));
        let chart = names().map(|it| it.file_name().into_string().expect("text")).next();
        let chart = [chart.expect("it wrote something")];
        let files: Vec<String> = match files {
            [] => chart.to_vec(),
            files => files.iter().map(|file| file.to_string()).collect(),
        };
        for file in &files {
            let place = out.join(file);
            std::fs::write(&place, notes).expect("it can be written");
            let said = refused(dir.path(), args);
            assert!(said.contains(file) && said.contains("--overwrite"), "{said}");
            assert_eq!(std::fs::read_to_string(&place).expect("text"), notes);
            // Control: with the word for it, and then as an earlier output, it is replaced.
            for more in [&["--overwrite"][..], &[]] {
                let ran = run(dir.path(), &[args, more].concat());
                assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.stderr);
            }
            assert_ne!(std::fs::read(&place).expect("a file"), notes.as_bytes());
        }
        std::fs::remove_dir_all(&out).expect("it is ours");
    }
}
