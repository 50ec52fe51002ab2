//! Ctrl-C and its kin.

use std::io::{ErrorKind, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use fourcorners_record::Ended;
use fourcorners_testing::skipped;
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::process::Signal;

use crate::bench::{
    HDD, M4, Ran, Started, command, data_home, folder, obeys_the_laws, start, without_defaults,
};

/// Stops a long virtual review after `wait`.
fn stopped_after(wait: Duration, signal: Signal) -> Ran {
    let dir = folder();
    let mut review = start(dir.path(), &["review", M4, HDD, "--json"]);
    review.wait_until_it_listens();
    std::thread::sleep(wait);
    review.signal(signal);
    review.finish()
}

#[test]
fn a_long_virtual_review_keeps_its_finished_figures() {
    // How far it is when it is stopped depends on the machine: the first wait that lets at least
    // one figure be finished is taken.
    for millis in [1000, 2000, 4000, 8000, 16_000, 64_000] {
        let ran = stopped_after(Duration::from_millis(millis), Signal::INT);
        let document = ran.document();
        let m4 = &document.records[0];
        if m4.ended == Ended::Complete {
            assert_eq!(ran.code, Some(0));
            let why = "the review was over before it could be stopped";
            return skipped("slow-machine", why);
        }
        assert_eq!((ran.code, &m4.ended), (Some(1), &Ended::Interrupted), "{}", ran.stderr);
        assert!(ran.stderr.contains("crucial-m4-256gb: stopped; the "), "{}", ran.stderr);
        document.records.iter().for_each(obeys_the_laws);
        if m4.figures.values().any(|figure| figure.complete) {
            return;
        }
    }
    panic!("no figure was finished in 64 s");
}

#[test]
fn being_terminated_or_hung_up_is_the_same() {
    for signal in [Signal::TERM, Signal::HUP] {
        let ran = stopped_after(Duration::from_millis(100), signal);
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        assert_eq!(ran.document().records[0].ended, Ended::Interrupted);
    }
}

#[test]
fn nohup_means_that_it_goes_on() {
    let dir = folder();
    // What nohup(1) does, and a shell without job control for SIGINT and its `&`.
    let script = "trap '' HUP INT; exec \"$0\" \"$@\"";
    let mut shell = Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_fourcorners"), "review", M4, "--quick"]);
    shell.arg("--json").current_dir(dir.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    without_defaults(&mut shell);
    let (name, data) = data_home();
    let mut review = Started::of(shell.env(name, data));
    for signal in [Signal::HUP, Signal::INT] {
        std::thread::sleep(Duration::from_millis(200));
        review.signal(signal);
    }
    let ran = review.finish();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(ran.document().records[0].ended, Ended::Complete);
}

#[test]
fn the_second_ctrl_c_ends_it_at_once() {
    let dir = folder();
    // After the first, it wants to print what it has, and cannot: the pipe is full.
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    fcntl_setfl(&writer, OFlags::NONBLOCK).expect("it is ours");
    loop {
        match writer.write(&[b'x'; 4096]) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => panic!("{error}"),
        }
    }
    fcntl_setfl(&writer, OFlags::empty()).expect("it is ours");
    let mut review = Started::of(
        command(dir.path(), &["review", M4, "--json"]).stdout(writer).stderr(Stdio::piped()),
    );
    review.wait_until_it_listens();
    review.signal(Signal::INT);
    std::thread::sleep(Duration::from_millis(700));
    assert!(review.is_running(), "it waits for its reader");
    review.signal(Signal::INT);
    let ran = review.finish();
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), ""));
    drop(reader);
}
