//! How fast traces are read: I/Os a second of each binary format and of a text one, from memory, and
//! of a generated trace.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use fourcorners_drive::{Nanos, Op};
use fourcorners_trace::{IoFlags, Options, Output, TraceIo, from_bytes, open, write};

/// I/Os of one measurement.
const IOS: u64 = 200_000;

fn main() {
    divan::main();
}

/// Reads and writes of 4 KiB at random, with a duration, as many as fit in flight of a queue of 32.
fn ios() -> impl Iterator<Item = TraceIo> {
    (0..IOS).map(|n| TraceIo {
        at: Nanos(n * 10_000),
        op: if n % 3 == 0 { Op::Write } else { Op::Read },
        offset_bytes: n.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (1 << 26) * 4096,
        bytes: 4096,
        duration: Some(Nanos(300_000)),
        device: 0,
        flags: IoFlags::default(),
    })
}

/// Reads it all; an item is a record, of which an I/O may have two.
fn reading(bencher: Bencher<'_, '_>, bytes: &[u8], records: u64) {
    let options = Options::default();
    let bench = bencher.counter(ItemsCount::new(records)).with_inputs(|| bytes.to_vec());
    bench.bench_local_values(|bytes| {
        let trace = from_bytes(bytes, &options).expect("it was written for this");
        let count =
            trace.fold(0, |count, io| count + black_box(io.expect("it is whole")).bytes.min(1));
        assert_eq!(count, IOS);
    });
}

fn written(output: Output) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(ios().map(Ok), output, "sda", &mut bytes).expect("memory can be written");
    bytes
}

/// Issues and completions, 48 bytes each.
#[divan::bench(sample_count = 20)]
fn blktrace(bencher: Bencher<'_, '_>) {
    let mut events: Vec<(u64, u32, TraceIo)> = Vec::new();
    for io in ios() {
        let category = if io.op == Op::Read { 1 << 16 } else { 1 << 17 };
        events.push((io.at.0, 7 | category, io));
        events.push((io.at.0 + 300_000, 8 | category, io));
    }
    events.sort_by_key(|&(at, action, _)| (at, action & 0xff));
    let mut bytes = Vec::new();
    for (at, action, io) in events {
        bytes.extend(0x6561_7407u32.to_le_bytes());
        bytes.extend(0u32.to_le_bytes());
        bytes.extend(at.to_le_bytes());
        bytes.extend((io.offset_bytes / 512).to_le_bytes());
        for half in [io.bytes as u32, action, 1, 0, 0, 0] {
            bytes.extend(half.to_le_bytes());
        }
    }
    reading(bencher, &bytes, 2 * IOS);
}

#[divan::bench(sample_count = 20)]
fn vscsi(bencher: Bencher<'_, '_>) {
    let mut bytes = Vec::new();
    for io in ios() {
        for half in [0u32, io.bytes as u32, 1] {
            bytes.extend(half.to_le_bytes());
        }
        let command: u16 = if io.op == Op::Read { 0x28 } else { 0x2a };
        bytes.extend(command.to_le_bytes());
        bytes.extend(0x0100u16.to_le_bytes());
        bytes.extend((io.offset_bytes / 512).to_le_bytes());
        bytes.extend((io.at.0 / 1000).to_le_bytes());
    }
    reading(bencher, &bytes, IOS);
}

#[divan::bench(sample_count = 20)]
fn compact(bencher: Bencher<'_, '_>) {
    reading(bencher, &written(Output::Compact), IOS);
}

#[divan::bench(sample_count = 20)]
fn csv(bencher: Bencher<'_, '_>) {
    reading(bencher, &written(Output::Csv), IOS);
}

#[divan::bench(sample_count = 20)]
fn fio_iolog(bencher: Bencher<'_, '_>) {
    reading(bencher, &written(Output::Iolog), IOS);
}

#[divan::bench(sample_count = 20)]
fn generated(bencher: Bencher<'_, '_>) {
    let options = Options { ios: Some(IOS), ..Options::default() };
    bencher.counter(ItemsCount::new(IOS)).bench_local(|| {
        let trace = open("generated:heavy".as_ref(), &options).expect("there is one");
        trace.fold(0, |count, io| count + black_box(io.expect("it is whole")).bytes.min(1))
    });
}
