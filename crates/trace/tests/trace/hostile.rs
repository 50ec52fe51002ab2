//! Anything at all as a trace: an answer, never a panic, and no more I/Os than bytes.

use fourcorners_trace::{Event, Format, Options, Output, from_bytes, write};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::{some, writers};

/// Reads it as every format and as none, leaving bad records out and not.
fn is_answered(bytes: &[u8]) {
    let formats = Format::ALL.map(Some).into_iter().chain([None]);
    for format in formats {
        for skip_bad in [false, true] {
            // Other formats have no such events, and refuse it.
            let is_of_kernel = format.is_some_and(Format::has_events);
            let event = if skip_bad && is_of_kernel { Event::Queue } else { Event::Issue };
            let options = Options { format, skip_bad, event, ..Options::default() };
            let Ok(mut trace) = from_bytes(bytes.to_vec(), &options) else { continue };
            let mut answers = 0;
            while let Some(answer) = trace.next() {
                answers += 1;
                if let Ok(io) = answer {
                    assert!(io.end_bytes() < 1 << 63 && io.at.0 <= 1 << 61);
                } else {
                    assert!(trace.next().is_none(), "an error is the end");
                }
            }
            // The shortest I/O of all is three bytes.
            assert!(answers <= bytes.len() * 300 + 1, "{answers} of {} bytes", bytes.len());
            assert!(trace.skipped() <= bytes.len() as u64 * 300 + 1);
        }
    }
}

/// A trace of each format.
fn all() -> Vec<Vec<u8>> {
    let ios = &some()[..40];
    let mut traces = vec![
        writers::blktrace(ios, false),
        writers::blktrace(ios, true),
        writers::blkparse(ios),
        writers::iolog2(ios),
        writers::msr(ios),
        writers::blkreplay(ios),
        writers::vscsi(ios),
        writers::mqsim(ios),
    ];
    traces.extend(writers::columns(ios));
    for output in [Output::Iolog, Output::Csv, Output::Compact] {
        let mut bytes = Vec::new();
        write(ios.iter().copied().map(Ok), output, "sda", &mut bytes).expect("it is written");
        traces.push(bytes);
    }
    traces
}

/// A change to a trace.
#[derive(Clone, Debug)]
enum Change {
    Set(Index, u8),
    Flip(Index, u8),
    Remove(Index, u8),
    Insert(Index, Vec<u8>),
    Cut(Index),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (any::<Index>(), 0u8..8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        (any::<Index>(), any::<u8>()).prop_map(|(at, count)| Change::Remove(at, count)),
        (any::<Index>(), prop::collection::vec(any::<u8>(), 1..20))
            .prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        any::<Index>().prop_map(Change::Cut),
    ]
}

fn changed(mut bytes: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for change in changes {
        if bytes.is_empty() {
            break;
        }
        let length = bytes.len();
        match change {
            Change::Set(at, byte) => bytes[at.index(length)] = *byte,
            Change::Flip(at, bit) => bytes[at.index(length)] ^= 1 << bit,
            Change::Remove(at, count) => {
                let from = at.index(length);
                bytes.drain(from..(from + usize::from(*count)).min(length));
            }
            Change::Insert(at, more) => {
                let at = at.index(length);
                bytes.splice(at..at, more.iter().copied());
            }
            Change::Cut(at) => bytes.truncate(at.index(length)),
        }
    }
    bytes
}

proptest! {
    #[test]
    fn arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        is_answered(&bytes);
    }

    #[test]
    fn arbitrary_bytes_behind_a_packed_beginning(
        magic in prop::sample::select(vec![
            &[0x1f, 0x8b, 8, 0][..], &[0x28, 0xb5, 0x2f, 0xfd], &[0x04, 0x22, 0x4d, 0x18],
        ]),
        bytes in prop::collection::vec(any::<u8>(), 0..500),
    ) {
        is_answered(&[magic, &bytes].concat());
    }

    #[test]
    fn changed_traces(
        which in any::<Index>(), changes in prop::collection::vec(change(), 1..8),
    ) {
        let traces = all();
        is_answered(&changed(traces[which.index(traces.len())].clone(), &changes));
    }
}
