//! What is refused before anything is run or made: exit code 2 and one line that says what to do.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;

use fourcorners_testing::skipped;

use crate::bench::{HDD, M4, folder, refused, run};
use crate::files::small_disk;
use crate::media::{Undo, is_root, run as tool};

/// Each command line is refused, and the line says what stands beside it.
fn all_refused(cases: &[(&[&str], &str)]) {
    let dir = folder();
    fs::create_dir(dir.path().join("a-folder")).expect("it can be made");
    for (args, told) in cases {
        let line = refused(dir.path(), args);
        assert!(line.contains(told), "{args:?}: {line}");
    }
}

#[test]
fn unknown_drives_and_methods() {
    all_refused(&[
        (&["review", "crucial-m4-256"], "did you mean \"crucial-m4-256gb\"?"),
        (&["review", "seagate-momentus"], "did you mean \"seagate-momentus-5400.6\"?"),
        (&["review", "zzz"], "`fourcorners drives` lists them"),
        (&["review", ""], "there is no drive"),
        (&["review", "a\nb\u{1b}[31m"], r"a\nb\u{1b}[31m"),
        (&["review", M4, "--methods", "five-corners"], "there are: four-corners, toms"),
        (&["review", M4, "--methods", ""], "no method \"\""),
        (&["review", M4, "--methods", "four-corners,,toms"], "no method \"\""),
        (&["review", M4, "--methods"], "--methods"),
        (&["review"], "<TARGET>"),
        (&["reviews", M4], "unrecognized subcommand 'reviews'"),
        (&["review", M4, "--sed", "1"], "--seed"),
    ]);
}

#[test]
fn targets_that_are_none() {
    all_refused(&[
        (&["review", "./missing.img"], "does not exist"),
        (&["review", "no/such/folder/x.img", "--size", "64M"], "mkdir -p no/such/folder"),
        (&["review", "a-folder"], "is a directory"),
        (&["review", "./a-folder/"], "is a directory"),
        (&["review", "/"], "is a directory"),
        (&["review", "a-folder", "--size", "64M"], "a-folder"),
        (&["review", "/dev/null"], "/dev/null"),
        (&["review", "/dev/null", "--destroy", "/dev/null"], "/dev/null"),
        (&["review", "/proc/version"], "/proc/version"),
    ]);
}

#[test]
fn settings_that_set_nothing() {
    for drive in [M4, HDD] {
        all_refused(&[
            (&["review", drive, "--set", "link.gbsp=3"], "did you mean link.gbps?"),
            (&["review", drive, "--set", "link.gbps"], "section.key=value"),
            (&["review", drive, "--set", "="], "no parameter \"\""),
            (&["review", drive, "--set", ""], "section.key=value"),
            (&["review", drive, "--set", "link=3"], "no parameter \"link\""),
            (&["review", drive, "--set", "sources.sata=3"], "no parameter"),
            (&["review", drive, "--set", "link.gbps.value=3"], "no parameter"),
            (&["review", drive, "--set", "link.gbps=a=b"], "\"a=b\" for link.gbps"),
            (&["review", drive, "--set", "link.gbps="], "for link.gbps"),
            (&["review", drive, "--set", "link.gbps=-1"], "must be"),
            (&["review", drive, "--set", "link.gbps=inf"], "must be"),
            (&["review", drive, "--set", "capacity.sectors=-8"], "capacity.sectors"),
            (&["review", drive, "--set", "capacity.sectors=8"], "too small"),
            (&["review", drive, "--set", "capacity.sectors=99999999999999999999"], "too large"),
        ]);
    }
    all_refused(&[
        (&["review", HDD, "--set", "nand.dies=8"], "no parameter \"nand.dies\""),
        (&["review", M4, HDD, "--set", "nand.read_us=60"], "no parameter \"nand.read_us\""),
        (&["review", "./x.img", "--size", "64M", "--set", "link.gbps=3"], "no target is one"),
        // It is what was asked for that is wrong, and not a file of the catalogue.
        (
            &["review", "intel-p4510-1000gb", "--host", "intel-6gbps", "--set", "gc.policy=fifo"],
            "intel-p4510-1000gb behind intel-6gbps with --set gc.policy=fifo: ",
        ),
        (
            &["review", M4, "--set", "nand.dies=0"],
            "crucial-m4-256gb with --set nand.dies=0: nand.dies = 0",
        ),
    ]);
}

#[test]
fn sizes_spare_areas_and_seeds() {
    all_refused(&[
        (&["review", M4, "--size", "64M"], "no target is one"),
        (&["review", "./x.img", "--size", "64X"], "--size 64X"),
        (&["review", "./x.img", "--size", ""], "--size"),
        (&["review", "./x.img", "--size", "-1"], "--size -1"),
        (&["review", "./x.img", "--size", "-1G"], "--size -1G"),
        (&["review", "./x.img", "--size", "--quick"], "a value is required before the next option"),
        (&["diagnose", M4, "--budget", "-o"], "a value is required before the next option"),
        (&["methods", "--size", "-1G"], "-1G"),
        (&["tasks", "--real", "a-folder", "--size", "-1G"], "-1G"),
        (&["drives", "new", "acme", "--like", M4, "--capacity", "-5GB", "-o", "a.toml"], "-5GB"),
        (&["review", "./x.img", "--size", "0"], "--size 0"),
        (&["review", "./x.img", "--size", "1M"], "at least 16.8 MB"),
        (&["review", "./x.img", "--size", "1e999"], "--size 1e999"),
        (&["review", "./x.img", "--size", "9000T"], "free"),
        (&["review", M4, "--spare", "-1"], "--spare -1"),
        (&["review", M4, "--spare", "90.001"], "from 0 to 90"),
        (&["review", M4, "--spare", "NaN"], "--spare NaN"),
        (&["review", M4, "--spare", "inf"], "--spare inf"),
        (&["review", M4, "--spare", "a lot"], "invalid value 'a lot'"),
        (&["review", M4, "--spare", "91%"], "from 0 to 90"),
        (&["review", M4, "--spare", "25%%"], "25 or 25%"),
        (
            &["review", M4, "--seed", "-1"],
            "a seed is a whole number from 0 to 18446744073709551615",
        ),
        (&["review", M4, "--seed", "18446744073709551616"], "--seed"),
    ]);
}

#[test]
fn what_is_named_for_destruction_is_a_target() {
    let dir = folder();
    let file = File::create(dir.path().join("a.img")).expect("it can be made");
    file.set_len(32 << 20).expect("it can be sized");
    for (args, told) in [
        (&["review", M4, "--quick", "--destroy", "foo"][..], "--destroy is for real drives"),
        (&["review", M4, "--quick", "--force", "foo"], "--force is for real drives"),
        (&["serve", M4, "--destroy", "foo"], "--destroy is for real drives"),
        (&["quick", ".", "--destroy", "foo"], "--destroy is for a device or a file"),
        (&["quick", ".", "--force", "foo"], "--force is for a device or a file"),
        (
            &["review", "./a.img", "--destroy", "./b.img"],
            "--destroy ./b.img: there is no such file",
        ),
        (
            &["review", "./a.img", "--destroy", "./a.img", "--destroy", "./b.img"],
            "--destroy ./b.img: there is no such file",
        ),
    ] {
        let line = refused(dir.path(), args);
        assert!(line.contains(told), "{args:?}: {line}");
    }
    // Neither what is there nor what is to be created is missing.
    for args in [&["review", "./a.img"][..], &["review", "./c.img", "--destroy", "c.img"]] {
        let line = refused(dir.path(), args);
        assert!(!line.contains("no such file"), "{line}");
    }
    let whole = dir.path().canonicalize().expect("it is there").join("c.img");
    for named in ["./c.img", ".//c.img", &whole.display().to_string()] {
        let new = ["review", "c.img", "--size", "32M", "--destroy", named, "--dry-run"];
        assert_eq!(run(dir.path(), &new).code, Some(0), "{named}");
    }
}

#[test]
fn parts_of_recordings_that_hold_nothing() {
    let dir = folder();
    let made =
        ["trace", "convert", "generated:light", "--ios", "1000", "-o", "a.csv", "--as", "csv"];
    assert_eq!(run(dir.path(), &made).code, Some(0));
    for (args, told) in [
        (["trace", "info", "a.csv", "--ios", "10"], "--ios does not apply to a recording"),
        (["trace", "info", "a.csv", "--from", "50000"], "none is left by --from"),
    ] {
        let line = refused(dir.path(), &args);
        assert!(line.contains(told), "{args:?}: {line}");
    }
    assert_eq!(run(dir.path(), &["trace", "info", "a.csv", "--from", "0.01"]).code, Some(0));
}

#[test]
fn a_target_that_is_named_twice() {
    let dir = folder();
    let file = File::create(dir.path().join("a.img")).expect("it can be made");
    file.set_len(32 << 20).expect("it can be sized");
    fs::hard_link(dir.path().join("a.img"), dir.path().join("b.img")).expect("it can be linked");
    std::os::unix::fs::symlink(".", dir.path().join("here")).expect("it can be linked");
    let both = ["--destroy", "a.img", "--destroy", "b.img"];
    for (args, told) in [
        (&["review", M4, HDD, M4][..], "crucial-m4-256gb is named twice"),
        (&["review", "./a.img", "a.img", both[0], both[1]], "a.img is named twice"),
        (&["review", "a.img", "b.img", both[0], both[1], both[2], both[3]], "b.img is named twice"),
        (&["review", "./x.img", "x.img", "--size", "32M"], "x.img is named twice"),
        (&["review", "x.img", "here/x.img", "--size", "32M"], "here/x.img is named twice"),
    ] {
        let line = refused(dir.path(), args);
        assert!(line.contains(told), "{args:?}: {line}");
    }
}

#[test]
fn when_the_second_target_is_refused_nothing_is_done_with_the_first() {
    let dir = folder();
    fs::write(dir.path().join("letter.txt"), "Dear reader").expect("it can be written");
    let file = File::create(dir.path().join("data.img")).expect("it can be made");
    file.set_len(32 << 20).expect("it can be sized");
    for second in ["crucial-m4-256", "./letter.txt", "./data.img", "no/folder/x.img", "/dev/null"] {
        // The first would be created, or run at once.
        refused(dir.path(), &["review", "./new.img", second, "--size", "32M", "--quick"]);
        refused(dir.path(), &["review", M4, second, "--quick"]);
        refused(dir.path(), &["review", M4, second, "--quick", "--out", "results"]);
    }
    assert!(fs::read(dir.path().join("data.img")).expect("it is there").iter().all(|&b| b == 0));
}

#[test]
fn a_file_of_somebody_else_is_not_overwritten() {
    let dir = folder();
    let path = dir.path().join("photos.tar");
    let content: Vec<u8> = (0..20 << 20).map(|n: u32| (n % 251) as u8).collect();
    fs::write(&path, &content).expect("it can be written");
    let line = refused(dir.path(), &["review", "./photos.tar", "--quick"]);
    assert!(line.contains("--destroy ./photos.tar"), "{line}");
    let line = refused(dir.path(), &["review", "./photos.tar", "--quick", "--size", "64M"]);
    assert!(line.contains("exists already"), "{line}");
    refused(dir.path(), &["review", "./photos.tar", "--quick", "--destroy", "photos"]);
    assert!(fs::read(&path).expect("it is there") == content);
}

#[test]
fn arguments_that_are_not_text() {
    let dir = folder();
    let args = [OsStr::new("review"), OsStr::from_bytes(b"\xff\xfe")];
    assert!(refused(dir.path(), &args).contains("UTF-8"));
}

#[test]
fn a_drive_that_does_not_fit_into_memory() {
    // 8 TiB of flash, the most there can be, takes 19 GB.
    let info = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let available = available.and_then(|text| text.trim().strip_suffix("kB")?.trim().parse().ok());
    if available.is_none_or(|kib: u64| kib > 18_000_000) {
        let why = "this machine has the memory, or does not say";
        return skipped("less-than-18-gb", why);
    }
    let dir = folder();
    let args =
        ["review", M4, "--quick", "--methods", "all", "--set", "nand.blocks_per_plane=65000"];
    let line = refused(dir.path(), &args);
    assert!(line.contains("GB of memory"), "{line}");
}

#[test]
fn places_for_results_that_cannot_be_written() {
    let dir = folder();
    fs::write(dir.path().join("file"), "").expect("it can be written");
    fs::create_dir_all(dir.path().join("odd/review.html")).expect("it can be made");
    let new = ["./new.img", "--size", "32M", "--quick"];
    for place in ["file", "file/below", "/proc/below", "odd", ""] {
        for target in [&[M4, "--quick", "--json"][..], &new] {
            let args = [&["review"][..], target, &["--out", place]].concat();
            let line = refused(dir.path(), &args);
            assert!(line.contains("--out"), "{place}: {line}");
        }
    }
    let long = "x".repeat(300);
    // What was made on the way to it is gone again.
    refused(dir.path(), &["review", M4, "--quick", "--out", &format!("made/on/the/way/{long}")]);
}

#[test]
fn a_read_only_place_for_results() {
    if !is_root() {
        return skipped("root", "mounting needs root");
    }
    let dir = folder();
    let at = dir.path().join("read-only");
    fs::create_dir(&at).expect("it can be made");
    let at = at.to_str().expect("temporary paths are text");
    if let Err(error) = tool(&["mount", "-t", "tmpfs", "-o", "ro,size=1M", "none", at]) {
        return skipped("mount", error);
    }
    let _mounted = Undo::with(&["umount", at]);
    for out in [at.to_string(), format!("{at}/deeper/down")] {
        let line = refused(dir.path(), &["review", M4, "--quick", "--out", &out]);
        assert!(line.contains("Read-only file system") && line.contains("--out"), "{line}");
    }
}

#[test]
fn a_full_place_for_results_is_named() {
    let (disk, _mounted) = match small_disk("64k") {
        Ok(disk) => disk,
        Err(reason) => return skipped("mount", reason),
    };
    let dir = folder();
    let out = disk.path().join("out").display().to_string();
    fs::create_dir(&out).expect("it can be made");
    // Until nothing fits any more.
    let _ = fs::write(disk.path().join("fill"), vec![1; 1 << 20]);
    let ran = run(dir.path(), &["review", M4, "--quick", "--no-db", "--out", &out]);
    let named = ran.stderr.contains(&format!("cannot write into {out}: No space left"));
    assert!(ran.code == Some(1) && named, "{ran:?}");
}

#[test]
fn helps_say_all_that_can_be_typed() {
    let dir = folder();
    let help = |args: &[&str]| run(dir.path(), &[args, &["--help"]].concat()).stdout;
    assert!(help(&["trace", "replay"]).contains("as-found"));
    let review = help(&["review"]);
    for said in ["Examples:\n  fourcorners review ", "all except snia and quick", "127.0.0.1:9642"]
    {
        let flat = review.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(review.contains(said) || flat.contains(said), "{said}: {review}");
    }
    // A line that is longer than a terminal is broken, and what is pasted then is two commands.
    let completions = help(&["completions"]);
    let examples = completions.split("Examples:\n").nth(1).expect("there are some");
    assert!(examples.contains("  fourcorners completions bash > fourcorners\n"), "{examples}");
    assert!(examples.lines().all(|line| line.chars().count() <= 79), "{examples}");
}

#[test]
fn spare_area_that_nothing_reaches_is_told() {
    let dir = folder();
    let args = ["review", M4, "--methods", "four-corners", "--dry-run", "--spare", "50"];
    let quick = run(dir.path(), &[&args[..], &["--quick"]].concat());
    let told = "--spare 50 changes nothing: a quick review does not reach that far";
    assert!(quick.code == Some(0) && quick.stderr.contains(told), "{}", quick.stderr);
    let whole = run(dir.path(), &args);
    assert_eq!((whole.code, whole.stderr.as_str()), (Some(0), ""));
}

#[test]
fn without_arguments_it_says_what_to_type_and_a_command_without_a_target_how_it_is_used() {
    let dir = folder();
    let ran = run::<&str>(dir.path(), &[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert!(ran.stdout.contains("fourcorners --help"), "{}", ran.stdout);
    assert!(refused(dir.path(), &["quick"]).contains("<TARGET>"));
}
