//! `fourcorners serve` as typed: what it says, what it refuses, how it ends.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

/// A command in a folder.
fn fourcorners(dir: &tempfile::TempDir, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fourcorners"));
    command.args(args).current_dir(dir.path());
    command
}

fn temporary() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

#[test]
fn what_cannot_be_served_is_refused_in_a_line() {
    let dir = temporary();
    std::fs::write(dir.path().join("letters"), "dear reader").expect("it can be written");
    for (args, told) in [
        (&["m4-of-nobody"][..], "m4-of-nobody"),
        (&["crucial-m4-256gb", "--at", "tcp:0.0.0.0:10809"], "other machines"),
        (&["crucial-m4-256gb", "--at", "unix:letters"], "is no socket"),
        (&["crucial-m4-256gb", "--contents", "letters"], "11 bytes"),
        (&["crucial-m4-256gb", "--record", "letters"], "replaces nothing"),
        (&["crucial-m4-256gb", "--time", "x0"], "from 1 to 10000"),
        (&["crucial-m4-256gb", "--door", "-1"], "--door"),
        (&["crucial-m4-256gb", "--fault", "fire@n=1"], "fire@n=1: give KIND@WHEN"),
        (&["crucial-m4-256gb", "--record-data", "d"], "--record"),
        (&["crucial-m4-256gb", "--state", "letters"], "no"),
    ] {
        let args = [&["serve"], args].concat();
        let output = fourcorners(&dir, &args).output().expect("it runs");
        let line = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {line}");
        assert!(line.contains(told) && line.trim_end().lines().count() == 1, "{args:?}: {line}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
    assert_eq!(std::fs::read(dir.path().join("letters")).expect("it is there"), b"dear reader");
}

#[test]
fn a_signal_ends_it_with_a_report_and_takes_its_socket_away() {
    let dir = temporary();
    let args = ["serve", "crucial-m4-256gb", "--at", "unix:s", "--door", "0", "--record", "t"];
    for (signal, json) in [("-INT", false), ("-TERM", true)] {
        let _ = std::fs::remove_file(dir.path().join("t"));
        let mut args = args.to_vec();
        args.extend(if json { &["--progress", "json"][..] } else { &[] });
        let mut command = fourcorners(&dir, &args);
        let mut server =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
        // It says where it is on one or the other.
        let mut first = String::new();
        let mut out = BufReader::new(server.stdout.take().expect("it is piped"));
        let mut err = BufReader::new(server.stderr.take().expect("it is piped"));
        let told = if json { err.read_line(&mut first) } else { out.read_line(&mut first) };
        assert!(told.is_ok() && first.contains("nbd+unix:///?socket=s"), "{first}");
        // What follows is on a line of its own.
        assert!(first.ends_with("(Ctrl-C ends it)\n"), "{first}");
        assert!(dir.path().join("s").exists());
        let kill = Command::new("kill").args([signal, &server.id().to_string()]).status();
        assert!(kill.is_ok_and(|status| status.success()));
        assert!(server.wait().expect("it ends").success());
        let mut rest = String::new();
        out.read_to_string(&mut rest).expect("text");
        match json {
            false => assert!(rest.contains("served for"), "{rest}"),
            true => {
                let last = rest.lines().last().expect("an event");
                let event: serde_json::Value = serde_json::from_str(last).expect("JSON");
                assert_eq!(event["schema"], "fourcorners.serve/1");
                assert_eq!(event["event"], "end");
                assert_eq!(event["recorded"]["lost"], 0);
            }
        }
        assert!(!dir.path().join("s").exists(), "its socket is gone");
    }
}
