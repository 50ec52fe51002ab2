//! `fourcorners serve` as typed: what it says, what it refuses, how it ends.

#[cfg(feature = "vhost-user")]
#[path = "serve/machine.rs"]
mod machine;
#[path = "serve/metrics.rs"]
mod metrics;
#[path = "serve/nbd.rs"]
mod nbd;
#[path = "serve/page.rs"]
mod page;
#[path = "serve/pass_through.rs"]
mod pass_through;

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use crate::bench::without_defaults;
use nbd::Client;
use serde_json::Value;

/// A command in a folder.
fn fourcorners(dir: &tempfile::TempDir, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fourcorners"));
    command.args(args).current_dir(dir.path());
    without_defaults(&mut command);
    command
}

/// Says a line at the control socket `c` in a folder, and gives its answer.
fn control(dir: &tempfile::TempDir) -> impl FnMut(&str) -> Value {
    let socket = UnixStream::connect(dir.path().join("c")).expect("it listens");
    let mut socket = BufReader::new(socket);
    move |line| {
        writeln!(socket.get_mut(), "{line}").expect("it is read");
        let mut answer = String::new();
        socket.read_line(&mut answer).expect("it is answered");
        serde_json::from_str(&answer).expect("JSON")
    }
}

fn temporary() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

#[test]
fn a_real_time_priority_is_the_serving_threads_or_is_refused_and_nothing_is_served() {
    let policy = |priority: &str| {
        let dir = temporary();
        let args = ["serve", "crucial-m4-64gb", "--at", "unix:s", "--priority", priority];
        let mut serve = fourcorners(&dir, &[&args[..], &["--progress", "json"]].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut told = String::new();
        let stderr = serve.stderr.take().expect("it is piped");
        BufReader::new(stderr).read_line(&mut told).expect("it says what it serves or why not");
        // Field 41 of proc(5): the scheduling policy, 0 for usual threads and 1 for SCHED_FIFO.
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", serve.id()));
        let policy = stat.ok().and_then(|stat| {
            let (_, fields) = stat.rsplit_once(") ")?;
            fields.split(' ').nth(38)?.parse::<u32>().ok()
        });
        serve.kill().expect("it is there");
        serve.wait().expect("it ends");
        match told.contains("ulimit -r") {
            true => None,
            false => policy,
        }
    };
    assert_eq!(policy("normal"), Some(0));
    // Not root, or in a container: None.
    assert!(matches!(policy("realtime"), Some(1) | None));
}

#[test]
fn what_cannot_be_served_is_refused_in_a_line() {
    let dir = temporary();
    let real = std::fs::File::create(dir.path().join("real")).expect("a file");
    real.set_len(32 << 20).expect("it is sparse");
    std::fs::write(dir.path().join("letters"), "dear reader").expect("it can be written");
    std::fs::write(dir.path().join("scratch"), vec![1; 32 << 20]).expect("it can be written");
    for (args, told) in [
        (&["m4-of-nobody"][..], "m4-of-nobody"),
        (&["scratch"], "--destroy scratch"),
        (&["scratch", "--force", "scratch"], "--destroy"),
        (&["letters"], "letters (file, 11 bytes) is too small"),
        (&["."], ". is a directory"),
        (&["crucial-m4-256gb", "--at", "tcp:0.0.0.0:10809"], "other machines"),
        (&["crucial-m4-256gb", "--at", "tcp:0.0.0.0:10809", "--contents", "c"], "--tls DIR"),
        (&["raid0:2xm4-of-nobody"], "m4-of-nobody"),
        (&["raid0:2xcrucial-m4-64gb", "--state", "letters"], "several"),
        (&["crucial-m4-256gb", "--control", "letters"], "is no socket"),
        (&["crucial-m4-256gb", "--tls", "pki"], "pki/ca-cert.pem: No such file"),
        (&["crucial-m4-256gb", "--until-last-disconnect=-1"], "seconds from 0 to 86400"),
        (&["crucial-m4-256gb", "--at", "unix:letters"], "is no socket"),
        (&["crucial-m4-256gb", "--at", "vhost-user:letters"], "letters exists and is no socket"),
        (&["crucial-m4-256gb", "--at", "vhost-user:s", "--tls", "."], "ca-cert.pem"),
        (&["crucial-m4-256gb", "--at", "vhost-user:"], "give a path behind it"),
        (&["crucial-m4-256gb", "--at", "vhost:s"], "vhost-user:PATH for a virtual machine"),
        (&["crucial-m4-256gb", "--at", "ublk:0"], "ublk for a block device"),
        (&["crucial-m4-256gb", "--at", "ublk", "--tls", "."], "nothing that could be encrypted"),
        (&["crucial-m4-256gb", "--at", "ublk", "--until-last-disconnect"], "stays connected"),
        (&["crucial-m4-256gb", "--contents", "letters"], "11 bytes"),
        // What is named to be overwritten may be the contents, and is nothing else.
        (&["crucial-m4-256gb", "--contents", "letters", "--destroy", "letters"], "11 bytes"),
        (&["crucial-m4-256gb", "--destroy", "letters"], "no target is one"),
        (&["crucial-m4-256gb", "--record", "letters"], "replaces nothing"),
        (&["crucial-m4-256gb", "--record", "no/r"], "no: there is no such folder; make it first"),
        (&["crucial-m4-256gb", "--contents", "no/c"], "no: there is no such folder"),
        (&["crucial-m4-256gb", "--at", "unix:no/s"], "no: there is no such folder"),
        (&["crucial-m4-256gb", "--time", "x0"], "from 1 to 10000"),
        (&["crucial-m4-256gb", "--door", "-1"], "--door"),
        (&["crucial-m4-256gb", "--fault", "fire@n=1"], "fire@n=1: give KIND@WHEN"),
        (&["crucial-m4-256gb", "--fault", "dead@n=1,1000G-2000G"], "its range begins at byte 1000"),
        (&["crucial-m4-256gb", "--seed", "5"], "--seed draws faults"),
        (&["crucial-m4-256gb", "--record-data", "d"], "--record"),
        (&["crucial-m4-256gb", "--then-try", "all"], "--record"),
        (&["crucial-m4-256gb", "--then-try", "m5", "--record", "r"], "no drive \"m5\""),
        (&["crucial-m4-256gb", "--then-try", "raid0:1xcrucial-m4-64gb", "--record", "r"], "raid0"),
        (&["crucial-m4-256gb", "--then-try", "all,crucial-m4-64gb", "--record", "r"], "others out"),
        (&["crucial-m4-256gb", "--web=0.0.0.0:0", "--record", "r"], "ssh -L"),
        (&["crucial-m4-256gb", "--web=here"], "for example 8642"),
        (&["crucial-m4-256gb", "--state", "letters"], "no"),
        // One file has one use, by whatever way it is named, and nothing is made before that is known.
        (
            &["crucial-m4-256gb", "--record", "r", "--record-data", "./r"],
            "--record and --record-data",
        ),
        (&["crucial-m4-256gb", "--record", "r", "--contents", "r"], "--contents and --record"),
        (
            &["crucial-m4-256gb", "--at", "unix:s", "--control", "s"],
            "--at and --control are both s",
        ),
        (&["crucial-m4-256gb", "--contents", "c", "--record", "letters"], "replaces nothing"),
        (&["crucial-m4-256gb", "--contents", "c", "--read-only"], "it is not there"),
        (&["crucial-m4-256gb", "--contents", "."], "it is a folder"),
        (
            &["crucial-m4-256gb", "--contents", "c", "--time", "virtual", "--door", "5"],
            "leave it out",
        ),
        (&["./real", "--contents", "memory"], "--contents is for virtual drives"),
        (&["./real", "--time", "real"], "--time is for virtual drives"),
    ] {
        let args = [&["serve"], args].concat();
        let output = fourcorners(&dir, &args).output().expect("it runs");
        let line = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {line}");
        assert!(line.contains(told) && line.trim_end().lines().count() == 1, "{args:?}: {line}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
    assert!(!dir.path().join("c").exists(), "made in vain");
    assert_eq!(std::fs::read(dir.path().join("letters")).expect("it is there"), b"dear reader");
    for created in ["c", "r"] {
        assert!(!dir.path().join(created).exists(), "{created}: it was refused");
    }
}

/// What the end event says after 20 writes of 4 KiB to `drive`, 5 GB apart, and the recording's replay on it.
fn written_to(drive: &str) -> (Value, Value) {
    let dir = temporary();
    let args = ["serve", drive, "--at", "unix:s", "--time", "virtual", "--record", "t"];
    let more = ["--until-last-disconnect=0", "--progress", "json"];
    let mut command = fourcorners(&dir, &[&args[..], &more].concat());
    let server = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    let mut client = Client::connect(&dir.path().join("s"));
    (0..20).for_each(|n| client.write(n * 5_000_003_584, n as u8));
    drop(client);
    let output = server.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let end = serde_json::from_str(text.lines().last().unwrap_or("")).expect("JSON");
    let args = ["trace", "replay", "t", drive, "--pace", "recorded", "--json"];
    let host = ["--set", "host.command_us=0"];
    let replayed = fourcorners(&dir, &[&args[..], &host].concat()).output().expect("it runs");
    let replayed = serde_json::from_slice(&replayed.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}", String::from_utf8_lossy(&replayed.stderr));
    });
    (end, replayed)
}

#[test]
fn several_drives_as_one_are_served_and_take_what_a_replay_on_them_takes() {
    for (drive, holds) in [
        ("raid0:2xcrucial-m4-64gb", true),
        ("cache:crucial-m4-64gb+wd-velociraptor-300gb:write-back", true),
        // The last write is at 95 GB.
        ("crucial-m4-64gb", false),
    ] {
        if !holds {
            let dir = temporary();
            let args = ["serve", drive, "--at", "unix:s", "--until-last-disconnect=0"];
            let mut server =
                fourcorners(&dir, &args).stdout(Stdio::null()).spawn().expect("it runs");
            let mut client = Client::connect(&dir.path().join("s"));
            let beyond = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                client.write(95_000_068_096, 1);
            }));
            assert!(beyond.is_err(), "{drive} alone is smaller");
            drop(client);
            server.wait().expect("it ends");
            continue;
        }
        let (end, replayed) = written_to(drive);
        let operations = end["operations"].as_array().expect("operations");
        let write = operations.iter().find(|one| one["name"] == "write").expect("writes");
        assert_eq!(write["ios"], 20, "{drive}: {end}");
        // A served drive is new.
        let replayed =
            &replayed["records"][0]["replay"]["figures"]["storage_bench_empty"]["writes"];
        assert_eq!(replayed["ios"], 20, "{drive}: {replayed}");
        for figure in ["p50", "p99", "max"] {
            let (served, again) = (&write["latency_us"][figure], &replayed["latency_us"][figure]);
            assert!(
                served.as_f64() > Some(1.0) && served == again,
                "{drive} {figure}: {served}, {again}"
            );
        }
    }
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
    let mut say = control(&dir);
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
fn what_is_recorded_with_its_data_is_not_taken_back() {
    for (records, takes_back) in
        [(&["--record", "t", "--record-data", "d"][..], false), (&[], true)]
    {
        let dir = temporary();
        let args = [&["--control", "c"], records].concat();
        let (mut server, mut events) = with_events(&dir, &args);
        events.next().expect("it goes on");
        let mut say = control(&dir);
        assert_eq!(say("snapshot a")["ok"], true);
        let answer = say("rollback a");
        assert_eq!(answer["ok"], takes_back, "{answer}");
        server.kill().expect("it runs");
        server.wait().expect("it ends");
    }
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

#[test]
fn what_was_recorded_is_tried_on_other_drives_in_the_end() {
    let array = "raid0:2xcrucial-m4-64gb";
    let others = &format!("crucial-m4-256gb,intel-s3700-200gb,{array}");
    for (json, writes) in [(true, 20), (false, 20), (true, 0)] {
        let dir = temporary();
        let mut args = vec!["serve", "crucial-m4-256gb", "--at", "unix:s", "--time", "virtual"];
        args.extend(["--record", "t", "--then-try", others, "--until-last-disconnect=0"]);
        args.extend(if json { &["--progress", "json"][..] } else { &[] });
        let mut command = fourcorners(&dir, &args);
        let server =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
        let mut client = Client::connect(&dir.path().join("s"));
        (0..writes).for_each(|n| client.write(n << 20, 1));
        drop(client);
        let output = server.wait_with_output().expect("it ends");
        let text = String::from_utf8_lossy(&output.stdout);
        if writes == 0 {
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(told.contains("--then-try: t: there is nothing in it"), "{told}");
            assert!(output.status.code() == Some(1) && !text.contains("then_try"), "{text}");
            continue;
        }
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        if json {
            let event: Value =
                serde_json::from_str(text.lines().last().unwrap_or("")).expect("JSON");
            assert_eq!((&event["event"], &event["recording"]), (&"then_try".into(), &"t".into()));
            // As a replay of the same recording ranks them.
            let args = ["trace", "replay", "t", "all", "--also", array, "--json"];
            let all = fourcorners(&dir, &args).output().expect("it runs").stdout;
            let all: Value = serde_json::from_slice(&all).expect("JSON");
            let of = |choice: &Value, name: &str| {
                let drives = choice["ranking"].as_array().expect("drives").iter();
                drives.filter(|it| it["drive"] == name).map(|it| it["waited_s"].clone()).next()
            };
            assert_eq!(event["choice"]["ranking"].as_array().map(Vec::len), Some(3));
            for name in others.split(',') {
                let here = of(&event["choice"], name);
                assert!(here.is_some() && here == of(&all, name), "{name}: {event}");
            }
        } else {
            assert!(text.contains("served for") && text.contains("intel-s3700-200gb"), "{text}");
            assert!(!text.contains("intel-x25"), "{text}");
        }
    }
}

/// What qemu-io finds after a cut under another qemu-io: what was flushed, and what was not.
fn left_by_a_cut(drive: &str, cut: Option<&str>) -> (bool, bool) {
    let dir = temporary();
    let args = ["serve", drive, "--at", "unix:s", "--control", "c", "--door", "0"];
    let mut server = fourcorners(&dir, &args).stdout(Stdio::null()).spawn().expect("it runs");
    drop(Client::connect(&dir.path().join("s")));
    let mut say = control(&dir);
    let uri = "nbd+unix:///?socket=s";
    let mut client = Command::new("qemu-io");
    client.args(["-t", "writeback", "-f", "raw", uri]).current_dir(dir.path());
    let mut client = client
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it is there");
    let mut typed = client.stdin.take().expect("it is piped");
    for (line, name, ios) in
        [("write -P 7 0 64k", "write", 1), ("flush", "flush", 1), ("write -P 8 1M 4k", "write", 2)]
    {
        writeln!(typed, "{line}").expect("it is read");
        let done = |status: &Value| {
            let operations = status["status"]["operations"].as_array().cloned().unwrap_or_default();
            operations.iter().any(|it| it["name"] == name && it["ios"].as_u64() >= Some(ios))
        };
        while !done(&say("status")) {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
    match cut {
        Some(cut) => assert_eq!(say(cut)["ok"], true),
        // The client is killed instead, and flushes nothing.
        None => client.kill().expect("it runs"),
    }
    let read = |command: &str| {
        let mut reader = Command::new("qemu-io");
        reader.args(["-r", "-f", "raw", "-c", command, uri]).current_dir(dir.path());
        let output = reader.output().expect("it is there");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.contains("bytes at offset").then(|| !text.contains("verification failed"))
    };
    let flushed = loop {
        // It is turned away while the power is off.
        if let Some(flushed) = read("read -P 7 0 64k") {
            break flushed;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    let answered = read("read -P 8 1M 4k").expect("the power is on");
    let _ = client.kill();
    client.wait().expect("it ends");
    server.kill().expect("it runs");
    server.wait().expect("it ends");
    (flushed, answered)
}

#[test]
fn the_power_is_cut_under_qemu() {
    if Command::new("qemu-io").arg("--version").output().is_err() {
        return fourcorners_testing::skipped("qemu-io", "there is no qemu-io");
    }
    let (m4, capacitors) = ("crucial-m4-256gb", "intel-s3700-200gb");
    assert_eq!(left_by_a_cut(m4, None), (true, true), "without a cut all is there");
    assert_eq!(left_by_a_cut(m4, Some("cut --off 0.1")), (true, false));
    assert_eq!(left_by_a_cut(capacitors, Some("cut --off 0.1")), (true, true));
}
