//! Anything as a trace, in every format: an answer, and never a panic. The first byte says how it is
//! read.
#![no_main]

use fourcorners_trace::{Event, Format, Options, from_bytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&how, bytes)) = data.split_first() else { return };
    // Beyond the last format it is seen by its content.
    let format = Format::ALL.get(usize::from(how & 0x0f)).copied();
    let has_events = format.is_some_and(Format::has_events);
    let event = if how & 0x40 == 0 || !has_events { Event::Issue } else { Event::Queue };
    let options = Options {
        format,
        skip_bad: how & 0x80 != 0,
        event,
        ..Options::default()
    };
    let Ok(mut trace) = from_bytes(bytes.to_vec(), &options) else { return };
    for io in trace.by_ref().flatten() {
        assert!(io.end_bytes() < 1 << 63 && io.at.0 <= 1 << 61);
    }
    assert!(trace.next().is_none());
});
