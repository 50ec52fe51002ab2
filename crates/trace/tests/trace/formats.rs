//! Every format, written and read back.

use fourcorners_drive::{Nanos, Op};
use fourcorners_trace::{
    AddressMap, Event, Filter, Format, OpSet, Options, Output, TraceIo, files, from_bytes, open,
    write,
};

use crate::{io, read, some, whole, writers};

/// The same with what a format can carry besides.
fn timed(ios: Vec<TraceIo>, device: u32) -> Vec<TraceIo> {
    let duration = |n: u64| Some(Nanos(100 + n % 7 * 100_000));
    let ios = ios.into_iter().enumerate();
    ios.map(|(n, io)| TraceIo { duration: duration(n as u64), device, ..io }).collect()
}

fn written(ios: &[TraceIo], output: Output) -> Vec<u8> {
    let mut bytes = Vec::new();
    let written = write(ios.iter().copied().map(Ok), output, "/dev/sda", &mut bytes);
    assert_eq!(written.expect("memory can be written").ios, ios.len() as u64);
    bytes
}

fn format_of(bytes: &[u8]) -> Format {
    let trace = from_bytes(bytes.to_vec(), &Options::default()).expect("it is one");
    trace.format().expect("it has a format")
}

/// Written as text or bytes it is known as its format and comes back as it was.
fn comes_back(format: Format, bytes: &[u8], ios: &[TraceIo]) {
    assert_eq!(format_of(bytes), format);
    assert_eq!(whole(bytes), ios, "{format:?}");
    let named = Options { format: Some(format), ..Options::default() };
    assert_eq!(read(bytes, &named).expect("it is whole"), ios, "{format:?}");
}

#[test]
fn fio_iolog_2_and_3() {
    let mut ios = some();
    ios.push(io(90_000_000, Op::Trim, 1 << 30, 1 << 20));
    ios.push(io(90_000_000, Op::Flush, 0, 0));
    comes_back(Format::FioIolog, &writers::iolog2(&ios), &ios);
    comes_back(Format::FioIolog, &written(&ios, Output::Iolog), &ios);
}

#[test]
fn csv_and_compact() {
    let mut ios = timed(some(), 9);
    ios.push(io(90_000_000, Op::Trim, 1 << 30, 1 << 20));
    ios.push(io(90_000_001, Op::Flush, 0, 0));
    // Late, far, long and odd.
    ios.push(TraceIo { device: u32::MAX, ..io(5, Op::Write, (1 << 62) - 1, 1) });
    ios.push(io(1 << 61, Op::Read, 3, u64::from(u32::MAX) * 512));
    comes_back(Format::Csv, &written(&ios, Output::Csv), &ios);
    comes_back(Format::Compact, &written(&ios, Output::Compact), &ios);
}

#[test]
fn compact_over_many_blocks() {
    let ios: Vec<TraceIo> =
        (0..200_000).map(|n| io(n * 31, Op::Read, n * n % 999_983 * 512, 512)).collect();
    let bytes = written(&ios, Output::Compact);
    assert!(bytes.len() < ios.len() * 7, "{} bytes", bytes.len());
    assert_eq!(whole(&bytes), ios);
}

#[test]
fn csv_by_the_names_of_its_columns() {
    let text = b"\xef\xbb\xbfop, sector, what, sectors ,time_ms\r\nR,16,x,8,1.5\r\n\r\n# so\r\nW,0,,1,2\r\n";
    assert_eq!(whole(text), [io(0, Op::Read, 8192, 4096), io(500_000, Op::Write, 0, 512)]);
}

#[test]
fn blktrace_of_both_byte_orders_and_blkparse() {
    // One at a time, so that issue and completion belong together however the places repeat.
    let ios: Vec<TraceIo> = some()
        .into_iter()
        .enumerate()
        .map(|(n, io)| TraceIo { at: Nanos(n as u64 * 1_000_000), ..io })
        .collect();
    let mut ios = timed(ios, 8 << 20 | 3);
    ios[7].duration = None;
    ios[8].op = Op::Trim;
    comes_back(Format::Blktrace, &writers::blktrace(&ios, false), &ios);
    comes_back(Format::Blktrace, &writers::blktrace(&ios, true), &ios);
    ios.push(TraceIo { device: 8 << 20 | 3, ..io(999_000_000, Op::Flush, 0, 0) });
    comes_back(Format::Blktrace, &writers::blktrace(&ios, false), &ios);
    comes_back(Format::Blkparse, &writers::blkparse(&ios), &ios);
}

#[test]
fn the_file_of_a_processor_that_had_nothing_to_do_brings_those_of_the_others() {
    let ios = timed(some(), 0);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let of = |cpu: u32| folder.path().join(format!("sda.blktrace.{cpu}"));
    let opened = |cpu| open(&of(cpu), &Options::default());
    for cpu in [0, 1, 2] {
        std::fs::write(of(cpu), b"").expect("it can be written");
    }
    // The control: where all are empty there is no trace.
    assert!(opened(0).is_err_and(|error| error.to_string().contains("it is empty")));
    std::fs::write(of(2), writers::blktrace(&ios, false)).expect("it can be written");
    for cpu in [0, 1, 2] {
        let trace = opened(cpu).unwrap_or_else(|error| panic!("CPU {cpu}: {error}"));
        assert_eq!(trace.format(), Some(Format::Blktrace));
        assert_eq!(trace.count(), ios.len());
    }
}

#[test]
fn of_a_trace_of_several_processors_the_file_with_the_damage_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let of = |cpu: u32| folder.path().join(format!("sda.blktrace.{cpu}"));
    let bytes = writers::blktrace(&timed(some(), 0), false);
    let why = |cpu: u32| {
        let trace = open(&of(cpu), &Options::default()).map_err(|error| error.to_string())?;
        let mut errors = trace.filter_map(Result::err);
        errors.next().map_or(Ok(()), |error| Err(error.to_string()))
    };
    let names = |told: Result<(), String>, cpu: u32| {
        let told = told.expect_err("it is damaged");
        assert!(told.starts_with(&format!("{}: ", of(cpu).display())), "{told}");
    };
    std::fs::write(of(0), &bytes).expect("it can be written");
    std::fs::write(of(1), &bytes).expect("it can be written");
    assert_eq!(why(0), Ok(()), "the control");
    let mut damaged = bytes.clone();
    damaged[60] ^= 0xff;
    for damaged in [&damaged[..], &bytes[..bytes.len() - 20]] {
        std::fs::write(of(1), damaged).expect("it can be written");
        names(why(0), 1);
        std::fs::write(of(1), &bytes).expect("it can be written");
        std::fs::write(of(0), damaged).expect("it can be written");
        names(why(0), 0);
        std::fs::write(of(0), &bytes).expect("it can be written");
    }
    // The file of a processor that there is not is not read from the others.
    assert!(why(7).is_err_and(|told| told.contains("sda.blktrace.7: ")));
    std::fs::create_dir(of(2)).expect("it can be made");
    names(why(0), 2);
}

#[test]
fn the_files_that_are_read_for_a_trace_are_known() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    for name in ["sda.blktrace.0", "sda.blktrace.1", "sdb.blktrace.0", "t.csv"] {
        std::fs::write(at(name), "").expect("it can be written");
    }
    assert_eq!(files(&at("sda.blktrace.1")), [at("sda.blktrace.0"), at("sda.blktrace.1")]);
    assert_eq!(files(&at("t.csv")), [at("t.csv")]);
    assert_eq!(files("task:./mine.toml".as_ref()), [std::path::Path::new("./mine.toml")]);
    for made in ["task:boot", "generated:light"] {
        assert!(files(made.as_ref()).is_empty(), "{made}");
    }
}

#[test]
fn blkparse_of_several_traces_has_their_totals_in_between() {
    let event = |sector: u32| format!("8,0 0 1 {sector}.0 100 D R {sector} + 8 [a]\n");
    let totals = "CPU0 (sda):\n Reads Queued:           1,        4KiB\n\nTotal (sda):\n Reads: 1\n\n\
                  Throughput (R/W): 4KiB/s / 0KiB/s\nSkips: 0 forward (0 -   0.0%)\n";
    let [one, other] = [event(8), event(16)];
    assert_eq!(whole(format!("{one}{totals}{other}{totals}").as_bytes()).len(), 2);
    assert_eq!(whole(format!("{one}{totals}").as_bytes()).len(), 1);
}

#[test]
fn comments_before_the_first_record_are_passed_over() {
    let ios = &some()[..3];
    let traces =
        [writers::msr(ios), writers::iolog2(ios), writers::mqsim(ios), writers::blkparse(ios)];
    for bytes in traces {
        let bare = whole(&bytes);
        assert_eq!(bare.len(), ios.len());
        assert_eq!(whole(&[b"# cut from a longer one\n", &*bytes].concat()), bare);
    }
}

#[test]
fn blktrace_with_several_in_flight() {
    // Each takes longer than until the next but two is issued.
    let ios: Vec<TraceIo> = (0..5000u64)
        .map(|n| TraceIo {
            duration: Some(Nanos(250 + n % 3)),
            ..io(n * 100, Op::Read, n % 100 * 4096, 4096)
        })
        .collect();
    assert_eq!(whole(&writers::blktrace(&ios, false)), ios);
    // All completions lost: the I/Os are there all the same.
    let lost: Vec<TraceIo> = (0..200_000u64).map(|n| io(n, Op::Read, n * 4096, 4096)).collect();
    assert_eq!(whole(&writers::blktrace(&lost, false)), lost);
}

#[test]
fn queue_events_are_taken_when_asked_for() {
    let ios = timed(vec![io(0, Op::Read, 512, 512), io(5_000_000, Op::Write, 0, 512)], 8 << 20);
    let text = String::from_utf8(writers::blkparse(&ios)).expect("text");
    let only_queued: String =
        text.lines().filter(|line| !line.contains(" D ")).collect::<Vec<_>>().join("\n");
    let queue = Options { event: Event::Queue, ..Options::default() };
    assert_eq!(read(only_queued.as_bytes(), &queue).expect("it is whole"), ios);
    let error = read(only_queued.as_bytes(), &Options::default()).expect_err("no issue events");
    assert!(error.to_string().contains("set event (--event) to queue"), "{error}");
}

#[test]
fn msr_blkreplay_vscsi_and_mqsim() {
    let mut ios = some();
    comes_back(Format::Vscsi, &writers::vscsi(&ios), &ios);
    comes_back(Format::Blkreplay, &writers::blkreplay(&ios), &ios);
    comes_back(Format::Mqsim, &writers::mqsim(&ios), &ios);
    ios = timed(ios, 0);
    comes_back(Format::Blkreplay, &writers::blkreplay(&ios), &ios);
    ios = timed(ios, 2);
    comes_back(Format::Msr, &writers::msr(&ios), &ios);
}

#[test]
fn spc_alibaba_tencent_and_systor() {
    let ios = timed(some(), 0);
    let [spc, alibaba, tencent, systor] = writers::columns(&ios);
    comes_back(Format::Systor, &systor, &ios);
    // They have no durations, and Tencent's times are whole seconds.
    let mut ios = some();
    comes_back(Format::Spc, &spc, &ios);
    comes_back(Format::Alibaba, &alibaba, &ios);
    ios.iter_mut().for_each(|io| io.at = Nanos(io.at.0 / 1_000_000_000 * 1_000_000_000));
    comes_back(Format::Tencent, &tencent, &ios);
}

#[test]
fn filters_and_scales() {
    let ios = some();
    let bytes = writers::vscsi(&ios);
    let filtered = |filter: Filter| read(&bytes, &Options { filter, ..Options::default() });
    let all = Filter::default();
    let ops = OpSet { write: true, ..OpSet::NONE };
    let writes = filtered(Filter { ops, ..all }).expect("it is whole");
    assert_eq!(writes.len(), ios.iter().filter(|io| io.op == Op::Write).count());

    let (from, to) = (Nanos(10_000_000), Nanos(40_000_000));
    let some = filtered(Filter { from, to, ..all }).expect("it is whole");
    let expected: Vec<&TraceIo> = ios.iter().filter(|io| io.at >= from && io.at < to).collect();
    assert_eq!(some.len(), expected.len());
    assert_eq!(some[0].at, Nanos::ZERO, "times count from the first that is kept");
    assert_eq!(some[5].at, expected[5].at - expected[0].at);

    let (range_start, range_end) = (1 << 20, 2 << 20);
    let near = filtered(Filter { range_start, range_end, ..all }).expect("it is whole");
    let inside = |io: &&TraceIo| io.offset_bytes >= range_start && io.end_bytes() <= range_end;
    assert_eq!(near.len(), ios.iter().filter(inside).count());

    let slow = filtered(Filter { time_scale: 2.0, ..all }).expect("it is whole");
    assert!(slow.iter().zip(&ios).all(|(slow, io)| slow.at.0 == 2 * io.at.0));
    // Beyond what times and addresses there are it says so, and does not end at the last of them.
    let text = b"time_s,op,offset_bytes,length_bytes\n0,r,0,512\n5000000,r,9000000000000,512\n";
    let scaled = |filter| {
        let ios = read(text, &Options { filter, ..Options::default() });
        ios.map(|ios| ios[1]).map_err(|error| error.to_string())
    };
    let stretched = |factor| {
        scaled(Filter { addresses: AddressMap::Stretched { factor, limit_bytes: None }, ..all })
    };
    assert_eq!(scaled(Filter { time_scale: 400.0, ..all }).map(|io| io.at.as_secs()), Ok(2e9));
    let late = scaled(Filter { time_scale: 500.0, ..all }).expect_err("it is beyond");
    assert!(late.contains("an I/O at 5000000 s") && late.contains("by 500"), "{late}");
    assert!(stretched(5e5).is_ok());
    let far = stretched(6e5).expect_err("it is beyond");
    assert!(far.contains("offset 9000000000000") && far.contains("by 600000"), "{far}");
}
