//! `fourcorners crash` as typed: a recording of a served drive, its power cut, and what is refused.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use fourcorners_testing::skipped;

use crate::bench::{M4, without_defaults};
use crate::state::with;

fn fourcorners(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fourcorners"));
    command.args(args).current_dir(dir);
    without_defaults(&mut command);
    command
}

fn ran(dir: &Path, args: &[&str]) -> (Output, String) {
    let output = fourcorners(dir, args).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    (output, text)
}

/// A program of qemu-io on a served drive: 60 rounds of a record, and a flush behind every other one. `None` where
/// there is no qemu-io.
fn recording(dir: &Path) -> Option<()> {
    Command::new("qemu-io").arg("--version").output().ok()?;
    let args = ["serve", "crucial-m4-256gb", "--at", "unix:s", "--time", "virtual"];
    let more = ["--record", "t", "--record-data", "d", "--until-last-disconnect"];
    let mut server = fourcorners(dir, &[&args[..], &more].concat());
    let mut server = server.stdout(Stdio::null()).spawn().expect("it runs");
    while !dir.join("s").exists() {
        assert!(server.try_wait().expect("it is ours").is_none(), "it serves");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let mut client = Command::new("qemu-io");
    client.args(["-f", "raw", "-t", "none"]).current_dir(dir).stdout(Stdio::null());
    for round in 1..=60 {
        client.args(["-c", &format!("write -P {round} {} 12k", round % 7 * 8192)]);
        if round % 2 == 0 {
            client.args(["-c", "flush"]);
        }
    }
    let status = client.arg("nbd+unix:///?socket=s").status().expect("it runs");
    assert!(status.success() && server.wait().expect("it ends").success());
    Some(())
}

#[test]
fn promises_are_kept_by_who_keeps_them_and_images_are_made_again() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let dir = dir.path();
    if recording(dir).is_none() {
        return skipped("qemu-io", "there is no qemu-io");
    }
    let (output, text) =
        ran(dir, &["crash", "t", "crucial-m4-256gb", "--at", "each-flush", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(
        (output.status.code(), &document["schema"]),
        (Some(0), &"fourcorners.crash/1".into())
    );
    let cuts = document["cuts"].as_array().expect("there are cuts");
    let broken = |class: &str| {
        let of: Vec<_> = cuts.iter().filter(|cut| cut["class"] == class).collect();
        let broken = of.iter().filter(|cut| cut["promised_writes_lost"] != 0).count();
        (broken, of.len())
    };
    // qemu-io flushes once more when it ends.
    let (honest, flushes) = broken("honest");
    assert!(honest == 0 && flushes >= 30, "{honest} of {flushes}");
    assert_eq!(broken("legal"), (0, flushes));
    let (broken, of) = broken("lost-flush");
    assert!(of == flushes && broken > 15, "{broken} of {of}");
    // On a drive with capacitors not even what was only answered is lost.
    let (_, text) = ran(dir, &["crash", "t", "intel-s3700-200gb", "--fault", "honest"]);
    // The median and the most.
    let nothing_lost = text.matches(" 0 bytes").count() == 2;
    assert!(text.contains("Its capacitors keep what was answered.") && nothing_lost, "{text}");

    // A check that fails, with what makes its image again.
    let check = "od -An -tu1 -N1 {} | grep -qv ' 0' || { echo nothing at 0; exit 3; }";
    let args =
        ["crash", "t", "crucial-m4-256gb", "--data", "d", "--check", check, "--fault", "honest"];
    let (output, text) = ran(dir, &[&args[..], &["--at", "0", "--at", "10s"]].concat());
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("1 cut failed its check") && text.contains("exit 3: nothing at 0"),
        "{text}"
    );
    let again =
        text.lines().find(|line| line.trim().starts_with("fourcorners crash")).expect("a line");
    assert!(again.contains("--fault honest --at ") && again.contains("--seed 1"), "{again}");

    // The same image twice, and another by another seed.
    let mut images = Vec::new();
    for (out, seed) in [("a", "1"), ("b", "1"), ("c", "2")] {
        let args = [
            "crash",
            "t",
            "crucial-m4-256gb",
            "--data",
            "d",
            "--fault",
            "legal",
            "--at",
            "every 7",
        ];
        let (output, text) = ran(dir, &[&args[..], &["--seed", seed, "-o", out]].concat());
        assert_eq!(output.status.code(), Some(0), "{text}");
        let mut files: Vec<_> = std::fs::read_dir(dir.join(out)).expect("it is there").collect();
        files.sort_by_key(|file| file.as_ref().map(|file| file.file_name()).expect("a file"));
        let first = |file: std::io::Result<std::fs::DirEntry>| {
            use std::io::Read;
            let mut bytes = vec![0; 1 << 20];
            let file = std::fs::File::open(file.expect("a file").path());
            file.and_then(|mut file| file.read_exact(&mut bytes)).expect("it is an image");
            bytes
        };
        images.push(files.into_iter().map(first).collect::<Vec<Vec<u8>>>());
    }
    assert!(images[0] == images[1] && images[0] != images[2], "the seed decides");
}

/// A recording of `writes` writes of 8 KiB, one every 3.2 ms, each followed by a flush if the program flushes.
fn written_recording(dir: &Path, writes: u64, flushes: bool) {
    let mut text = "time_us,op,offset_bytes,length_bytes,duration_us\n".to_string();
    for n in 0..writes {
        text += &format!("{},write,{},8192,50\n", n * 3200, n * 8192);
        if flushes {
            text += &format!("{},flush,0,0,100\n", n * 3200 + 200);
        }
    }
    std::fs::write(dir.join("t.csv"), text).expect("it can be written");
}

#[test]
fn an_aged_drive_is_cut_in_the_recording_and_moments_count_from_its_first_io() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let dir = dir.path();
    written_recording(dir, 300, true);
    let age = ["age", M4, "-o", "used.state", "--drive-writes", "1"];
    let (output, text) = ran(dir, &with(&age));
    assert_eq!(output.status.code(), Some(0), "{text}");
    for state in [&[][..], &["--state", "used.state"]] {
        let crash = ["crash", "t.csv", M4, "--fault", "lost-flush", "--json"];
        let at = ["--at", "random 100", "--at", "0.5s", "--at", "0"];
        let (output, text) = ran(dir, &with(&[&crash[..], &at, state].concat()));
        assert_eq!(output.status.code(), Some(0), "{text}");
        let document: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        let seconds = document["seconds"].as_f64().expect("a number");
        assert!((0.9..10.0).contains(&seconds), "{state:?}: {seconds}");
        let cuts = document["cuts"].as_array().expect("there are cuts");
        let times = cuts.iter().map(|cut| cut["at_us"].as_f64().expect("a number"));
        assert!(times.clone().all(|at| at <= seconds * 1e6), "{state:?}: {text}");
        // The first I/O, and half a second after it.
        assert_eq!((cuts[0]["at_us"].as_f64(), &cuts[0]["ios"]), (Some(0.0), &1.into()));
        let half = cuts.iter().find(|cut| cut["at_us"] == 500_000.0).expect("it was asked for");
        assert!((20..=400).contains(&half["ios"].as_u64().expect("a number")), "{half}");
        let broken = cuts.iter().filter(|cut| cut["promised_writes_lost"] != 0).count();
        assert!(broken > 10, "{state:?}: {broken} of {}", cuts.len());
    }
}

#[test]
fn moments_that_the_recording_does_not_have_are_refused_and_nothing_passes_without_a_cut() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let dir = dir.path();
    let status = |at: &[&str]| {
        let (output, text) = ran(dir, &[&["crash", "t.csv", M4, "--fault", "honest"], at].concat());
        (output.status.code(), text)
    };
    written_recording(dir, 100, false);
    for (at, told) in [
        (&["--at", "each-flush"][..], "see that the program flushes"),
        (&["--at", "every 1000"], "the recording has 100 I/Os; give a number up to 100"),
        (&["--at", "100"], "the recording's last I/O is 99"),
        // Also where others are there.
        (&["--at", "5ms", "--at", "each-flush"], "see that the program flushes"),
    ] {
        let (status, text) = status(at);
        assert!(status == Some(2) && text.contains(told), "{at:?}: {text}");
    }
    for at in [&["--at", "every 100"][..], &["--at", "99"]] {
        let (status, text) = status(at);
        assert_eq!(status, Some(0), "{at:?}: {text}");
    }
    written_recording(dir, 100, true);
    let (status, text) = status(&["--at", "each-flush"]);
    assert_eq!(status, Some(0), "{text}");
}

#[test]
fn what_cannot_be_cut_is_refused_in_a_line() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let dir = dir.path();
    std::fs::write(dir.join("letters"), "dear reader").expect("it can be written");
    std::fs::write(
        dir.join("t"),
        "time_us,op,offset_bytes,length_bytes\n0,write,0,4096\n5,flush,0,0\n",
    )
    .expect("it can");
    for (args, told) in [
        (&["nothing", "crucial-m4-256gb"][..], "nothing"),
        (&["letters", "crucial-m4-256gb"], "letters"),
        (&["t", "crucial-m4-256gb"], "I/O 0 has no duration"),
        (&["t", "seagate-momentus-5400.6"], "hard disk"),
        (&["t", "crucial-m4-256gb", "--at", "soon"], "each-flush"),
        (&["t", "crucial-m4-256gb", "--fault", "fire"], "lost-flush"),
        (&["t", "crucial-m4-256gb", "--check", "true {}"], "--data"),
        (&["t", "crucial-m4-256gb", "--data", "letters", "--check", "true"], "{}"),
        (&["t", "crucial-m4-256gb", "--data", "letters", "--check", "true {}"], "no log"),
    ] {
        let args = [&["crash"], args].concat();
        let (output, text) = ran(dir, &args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        assert!(text.contains(told), "{args:?}: {text}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}
