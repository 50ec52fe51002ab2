//! Options that say nothing of a trace of its kind are refused, and only there.

use std::path::Path;

use fourcorners_trace::{
    Event, Format, Inapplicable, Options, ReadOption, Reason, TraceKind, from_bytes, open,
};

use crate::{some, writers};

const CSV: &str = "time_s,op,sector,sectors\n0,r,0,8\n";

/// What is refused, and in which words for the library and for the command line; `None` if it is read.
fn refused(name: &str, options: &Options) -> Option<(Inapplicable, String, String)> {
    let error = open(Path::new(name), options).err()?;
    let line = error.to_string();
    match error.reason {
        Reason::Inapplicable(why) => Some((why, line, why.on_command_line())),
        other => panic!("{other}"),
    }
}

#[test]
fn what_is_of_recordings_is_refused_of_generated_traces_and_tasks() {
    let plain = Options::default();
    for (name, kind) in [("generated:light", TraceKind::Generated), ("task:boot", TraceKind::Task)]
    {
        for (options, option, keyword, flag) in [
            (
                Options { skip_bad: true, ..plain.clone() },
                ReadOption::SkipBad,
                "skip_bad (--skip-bad)",
                "--skip-bad",
            ),
            (
                Options { format: Some(Format::Csv), ..plain.clone() },
                ReadOption::Format,
                "format (--format)",
                "--format",
            ),
            (
                Options { event: Event::Queue, ..plain.clone() },
                ReadOption::Event,
                "event (--event)",
                "--event",
            ),
        ] {
            let (why, library, command) = refused(name, &options).expect("it is refused");
            assert_eq!((why.option, why.kind), (option, kind));
            assert!(library.starts_with(&format!("{name}: {keyword} is for ")), "{library}");
            assert!(command.starts_with(&format!("{flag} is for ")), "{command}");
            assert!(command.ends_with(": leave it out"), "{command}");
        }
        assert!(refused(name, &plain).is_none());
    }
}

#[test]
fn a_number_of_ios_is_of_generated_traces_alone() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("a.csv");
    std::fs::write(&path, CSV).expect("it can be written");
    let name = path.to_str().expect("temporary paths are text");
    let options = Options { ios: Some(5), ..Options::default() };
    let (_, library, command) = refused(name, &options).expect("a recording has what it has");
    assert!(
        library.contains("ios (--ios) does not apply to a recording; from_s and to_s (--from and --to) take a part"),
        "{library}"
    );
    assert_eq!(command, "--ios does not apply to a recording; --from and --to take a part of it");
    let (_, library, _) = refused("task:boot", &options).expect("a task has what it has");
    assert!(library.contains("ios (--ios) does not apply to a task: leave it out"), "{library}");
    assert!(refused("generated:light", &options).is_none());
    assert!(refused(name, &Options::default()).is_none());
}

#[test]
fn queue_events_are_of_kernel_traces() {
    let queue = Options { event: Event::Queue, ..Options::default() };
    for (bytes, format) in [
        (CSV.as_bytes().to_vec(), Format::Csv),
        (writers::vscsi(&some()), Format::Vscsi),
        (writers::msr(&some()), Format::Msr),
    ] {
        let error = from_bytes(bytes.clone(), &queue).err().expect("it has no events").to_string();
        let told = format!(
            "event (--event) is for kernel traces (blktrace and blkparse), and this is a recording ({}): leave it out",
            format.title()
        );
        assert!(error.contains(&told), "{error}");
        assert!(from_bytes(bytes, &Options::default()).is_ok());
    }
    for bytes in [writers::blktrace(&some(), false), writers::blkparse(&some())] {
        assert!(from_bytes(bytes, &queue).is_ok());
    }
}
