//! `fourcorners serve` as typed: what it says, what it refuses, how it ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

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
        (&["crucial-m4-256gb", "--at", "tcp:0.0.0.0:10809", "--contents", "c"], "--tls DIR"),
        (&["crucial-m4-256gb", "--control", "letters"], "is no socket"),
        (&["crucial-m4-256gb", "--tls", "pki"], "pki/ca-cert.pem: No such file"),
        (&["crucial-m4-256gb", "--until-last-disconnect=-1"], "seconds from 0 to 86400"),
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
    assert!(!dir.path().join("c").exists(), "nothing is created for what is refused");
}

/// A server whose events are read as they come.
fn with_events(dir: &tempfile::TempDir, more: &[&str]) -> (Child, impl Iterator<Item = Value>) {
    let args = ["serve", "crucial-m4-256gb", "--at", "unix:s", "--door", "0", "--progress", "json"];
    let mut command = fourcorners(dir, &[&args[..], more].concat());
    let mut server = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it runs");
    let lines = BufReader::new(server.stdout.take().expect("it is piped")).lines();
    (server, lines.map(|line| serde_json::from_str(&line.expect("text")).expect("JSON")))
}

#[test]
fn an_event_comes_each_second_while_nobody_is_there_and_while_somebody_is_and_asks_nothing() {
    let dir = temporary();
    let (mut server, mut events) = with_events(&dir, &[]);
    let mut second = |open: u64| {
        let event = events.next().expect("it goes on");
        assert_eq!(
            (&event["event"], &event["connections"]["open"]),
            (&"second".into(), &open.into())
        );
        event["seconds"].as_f64().expect("a number")
    };
    let (first, next) = (second(0), second(0));
    assert!((0.9..3.0).contains(&(next - first)), "{first}, {next}");
    let client = UnixStream::connect(dir.path().join("s")).expect("it listens");
    let (third, fourth) = (second(1), second(1));
    assert!((0.9..3.0).contains(&(fourth - third)), "{third}, {fourth}");
    drop(client);
    server.kill().expect("it runs");
    server.wait().expect("it ends");
}

#[test]
fn it_is_asked_and_steered_while_it_runs() {
    let dir = temporary();
    let (mut server, mut events) = with_events(&dir, &["--control", "c"]);
    let first = events.next().expect("it goes on");
    let mut control =
        BufReader::new(UnixStream::connect(dir.path().join("c")).expect("it listens"));
    let mut say = |line: &str| -> Value {
        writeln!(control.get_mut(), "{line}").expect("it is read");
        let mut answer = String::new();
        control.read_line(&mut answer).expect("it is answered");
        serde_json::from_str(&answer).expect("JSON")
    };
    assert_eq!(say("fault dead@t=60s")["ok"], true);
    assert_eq!(say("snapshot a --with-state")["ok"], true);
    assert_eq!(say("rollback a --with-state")["ok"], true);
    let status = say("status")["status"].clone();
    assert_eq!(
        (&status["event"], &status["injected"]["dead@t=60s"]),
        (&"status".into(), &0.into())
    );
    // The same counters as in the events, and all that a drive tells.
    let keys = |event: &Value| -> Vec<String> {
        event["drive"].as_object().expect("an SSD").keys().cloned().collect()
    };
    assert_eq!(keys(&status), keys(&first));
    assert!(status["drive"]["host_bytes"] == 0 && status["drive"]["read_only"] == false);
    let kill = Command::new("kill").args(["-TERM", &server.id().to_string()]).status();
    assert!(kill.is_ok_and(|status| status.success()));
    assert_eq!(events.last().expect("an event")["event"], "end");
    assert!(server.wait().expect("it ends").success());
    assert!(!dir.path().join("c").exists(), "its socket is gone");
}

#[test]
fn fio_comes_twice_and_the_second_time_it_is_still_there() {
    let dir = temporary();
    let engines = Command::new("fio").arg("--enghelp").output();
    let has_nbd = |it: &std::process::Output| String::from_utf8_lossy(&it.stdout).contains("nbd");
    if !engines.is_ok_and(|engines| has_nbd(&engines)) {
        return fourcorners_testing::skipped("fio-nbd", "no fio with the engine nbd");
    }
    let more = ["--time", "virtual", "--until-last-disconnect"];
    let (mut server, events) = with_events(&dir, &more);
    while !dir.path().join("s").exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let job = ["--name=r", "--ioengine=nbd", "--uri=nbd+unix:///?socket=s", "--rw=randread"];
    let mut fio = Command::new("fio");
    fio.args(job).args(["--size=1M", "--bs=4k"]).current_dir(dir.path());
    let fio = fio.output().expect("it was there");
    assert!(fio.status.success(), "{}", String::from_utf8_lossy(&fio.stderr));
    let end = events.last().expect("an event in the end");
    assert_eq!((&end["event"], &end["operations"][0]["ios"]), (&"end".into(), &256.into()));
    assert!(end["connections"]["all"].as_u64() >= Some(2), "{end}");
    assert!(server.wait().expect("it ends by itself").success());
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
