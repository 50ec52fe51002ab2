//! What becomes of the texts about a trace when it is converted.

use fourcorners_drive::Op;
use fourcorners_trace::{Conversion, Options, Output, Recorder, Written, from_bytes};

use crate::{io, whole};

const TEXT: &str = "recorded by a test, 2024-05-06";

/// A compact trace of two I/Os, with a text or without.
fn recorded(text: Option<&str>) -> Vec<u8> {
    let mut recorder = Recorder::new(Vec::new(), text.unwrap_or_default()).expect("to memory");
    for n in 0..2 {
        recorder.put(&io(n * 1000, Op::Write, n * 4096, 4096)).expect("to memory");
    }
    let mut bytes = recorder.finish().expect("to memory");
    if text.is_none() {
        // The block of text is the first, and without text its beginning alone.
        bytes.drain(16..32);
    }
    bytes
}

fn converted(bytes: &[u8], output: Output) -> (Written, Vec<u8>) {
    let mut trace = from_bytes(bytes.to_vec(), &Options::default()).expect("it is a trace");
    let mut to = Vec::new();
    let written = Conversion { output, drive: "sda" }.write(&mut trace, &mut to, &mut || true);
    (written.expect("it is written").expect("it went on"), to)
}

fn times(bytes: &[u8], text: &str) -> usize {
    bytes.windows(text.len()).filter(|window| *window == text.as_bytes()).count()
}

#[test]
fn text_is_kept_where_there_is_a_place_for_it_and_else_told_as_lost() {
    let with = recorded(Some(TEXT));
    let (written, again) = converted(&with, Output::Compact);
    assert_eq!(again, with, "nothing of it is lost");
    assert_eq!((written.ios, written.lost.words().count()), (2, 0));
    let without = recorded(None);
    assert_eq!(times(&without, TEXT), 0);
    for output in [Output::Csv, Output::Iolog] {
        let (written, other) = converted(&with, output);
        assert_eq!(
            written.lost.words().collect::<Vec<_>>(),
            ["text about the trace"],
            "{output:?}"
        );
        assert_eq!((whole(&other).len(), times(&other, TEXT)), (2, 0));
        let (written, same) = converted(&without, output);
        assert_eq!((written.lost.words().count(), same == other), (0, true), "{output:?}");
    }
    assert_eq!(converted(&without, Output::Compact).1, without);
}

#[test]
fn texts_between_and_behind_ios_are_kept_and_beyond_a_bound_told_as_lost() {
    let with = recorded(Some(TEXT));
    let block = &with[16..16 + 16 + TEXT.len()];
    // Behind the I/Os, before the last block of 24 bytes.
    let end = with.len() - 24;
    let twice = [&with[..end], block, &with[end..]].concat();
    let (written, again) = converted(&twice, Output::Compact);
    assert_eq!((times(&again, TEXT), written.lost.words().count()), (2, 0));
    assert_eq!(whole(&again), whole(&with));
    // As many as memory is not kept for.
    let many = [&with[..end], &block.repeat(40_000), &with[end..]].concat();
    let (written, again) = converted(&many, Output::Compact);
    assert_eq!(written.lost.words().collect::<Vec<_>>(), ["text beyond 1 MiB at one place"]);
    assert!((1..40_000).contains(&times(&again, TEXT)) && whole(&again) == whole(&with));
}

#[test]
fn of_a_trace_without_ios_or_with_a_bad_first_one_nothing_is_written() {
    let csv = "time_s,op,sector,sectors\n";
    for output in [Output::Csv, Output::Iolog, Output::Compact] {
        let (written, bytes) = converted(csv.as_bytes(), output);
        assert_eq!((written, bytes.len()), (Written::default(), 0), "{output:?}");
        let one = format!("{csv}0,r,0,8\n");
        let (written, bytes) = converted(one.as_bytes(), output);
        assert!(written.ios == 1 && !bytes.is_empty(), "{output:?}");
        let bad = format!("{csv}0,x,0,8\n");
        let mut trace = from_bytes(bad.into(), &Options::default()).expect("it is a trace");
        let mut to = Vec::new();
        let conversion = Conversion { output, drive: "sda" };
        assert!(conversion.write(&mut trace, &mut to, &mut || true).is_err() && to.is_empty());
    }
}

#[test]
fn a_conversion_that_is_stopped_has_no_end() {
    let ios: String = (0..70_000).map(|n| format!("{n},r,{n},8\n")).collect();
    let text = format!("time_us,op,sector,sectors\n{ios}");
    let written = |go_on: bool| {
        let mut trace = from_bytes(text.clone().into(), &Options::default()).expect("a trace");
        let conversion = Conversion { output: Output::Compact, drive: "sda" };
        let written = conversion.write(&mut trace, Vec::new(), &mut || go_on);
        written.expect("it is written").map(|written| written.ios)
    };
    assert_eq!((written(false), written(true)), (None, Some(70_000)));
    // Nor one of which everything so far is left out, and so it is with a card.
    let asked = |device: Option<u32>| {
        let mut options = Options::default();
        options.filter.device = device;
        let open = || from_bytes(text.clone().into(), &options).expect("a trace");
        let conversion = Conversion { output: Output::Compact, drive: "sda" };
        let mut asked = 0;
        let mut go_on = || {
            asked += 1;
            false
        };
        let written = conversion.write(&mut open(), Vec::new(), &mut go_on);
        assert!(written.expect("nothing is wrong").is_none());
        assert!(fourcorners_trace::card(open(), &mut go_on).expect("nothing is wrong").is_none());
        asked
    };
    assert_eq!((asked(Some(7)), asked(None)), (2, 2));
}
