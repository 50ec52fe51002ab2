//! What reading or writing a trace loses is told, and only that.

use fourcorners_drive::{Nanos, Op};
use fourcorners_trace::{Conversion, Lost, Options, Output, TraceIo, card, from_bytes, write};

use crate::{io, read, whole};

fn lost(ios: &[TraceIo], output: Output) -> (Lost, Vec<u8>) {
    let mut bytes = Vec::new();
    let written = write(ios.iter().copied().map(Ok), output, "/dev/sda", &mut bytes);
    (written.expect("memory can be written").lost, bytes)
}

#[test]
fn what_a_form_has_no_place_for_is_told_and_nothing_else() {
    let plain = [io(0, Op::Read, 0, 4096), io(5_000, Op::Write, 8192, 4096)];
    for output in [Output::Iolog, Output::Csv, Output::Compact] {
        assert_eq!(lost(&plain, output).0, Lost::default(), "{output:?}");
    }
    let timed = [TraceIo { duration: Some(Nanos(7)), ..plain[0] }, io(1, Op::Read, 0, 512)];
    let words = |ios: &[TraceIo], output| lost(ios, output).0.words().collect::<Vec<_>>();
    assert_eq!(words(&timed, Output::Iolog), ["durations", "parts of a microsecond"]);
    assert_eq!(words(&timed, Output::Csv), [""; 0]);
    let back = [plain[1], plain[0]];
    assert_eq!(words(&back, Output::Iolog), ["times that go back"]);
    let mut durable = plain;
    durable[1].flags.fua = true;
    assert_eq!(words(&durable, Output::Csv), ["flags (FUA, zeros, failures)"]);
    assert_eq!(words(&durable, Output::Compact), [""; 0]);
    durable[1].flags.compressible_percent = 46;
    assert_eq!(words(&durable, Output::Compact), ["compressibility"]);
}

#[test]
fn each_device_of_a_trace_is_a_file_of_an_iolog() {
    let on = |device, at| TraceIo { device, ..io(at, Op::Write, 0, 4096) };
    let (_, bytes) = lost(&[on(7, 0), on(3, 1_000), on(7, 2_000)], Output::Iolog);
    let text = String::from_utf8(bytes.clone()).expect("it is text");
    assert!(text.contains("1 /dev/sda.1 add\n") && text.contains("2 /dev/sda.1 close\n"), "{text}");
    let words = |ios: &[TraceIo]| lost(ios, Output::Iolog).0.words().collect::<Vec<_>>();
    assert_eq!(words(&[on(7, 0)]), ["numbers of devices"]);
    assert_eq!(words(&[on(0, 0), on(1, 5_000)]), [""; 0]);
    // Numbered in the order they appear.
    assert_eq!(whole(&bytes), [on(0, 0), on(1, 1_000), on(0, 2_000)]);
}

#[test]
fn an_iolog_of_more_devices_than_can_be_read_back_is_refused() {
    let devices =
        |count: u32| (0..count).map(|device| Ok(TraceIo { device, ..io(0, Op::Read, 0, 512) }));
    let mut bytes = Vec::new();
    write(devices(4096), Output::Iolog, "sda", &mut bytes).expect("it has as many as it may");
    assert_eq!(whole(&bytes).len(), 4096);
    let why = write(devices(4097), Output::Iolog, "sda", Vec::new()).expect_err("one too many");
    let why = std::error::Error::source(&why).expect("it has a cause").to_string();
    assert!(why.contains("more than 4096 devices") && why.contains("--as csv"), "{why}");
    assert!(write(devices(4097), Output::Csv, "sda", Vec::new()).is_ok());
}

#[test]
fn times_before_the_first_are_told_as_lost() {
    let words = |times: &[u64]| {
        let lines: String = times.iter().map(|at| format!("{at},r,0,4096\n")).collect();
        let text = format!("time_us,op,offset_bytes,length_bytes\n{lines}");
        let mut trace = from_bytes(text.into(), &Options::default()).expect("it is a trace");
        let conversion = Conversion { output: Output::Csv, drive: "sda" };
        let written = conversion.write(&mut trace, Vec::new(), &mut || true);
        written.expect("it is written").expect("to its end").lost.words().collect::<Vec<_>>()
    };
    assert_eq!(words(&[5, 1, 6]), ["times before the first I/O"]);
    assert_eq!(words(&[5, 7, 6]), [""; 0]);
}

#[test]
fn thousands_of_devices_and_the_largest_trim_are_counted() {
    let card = |text: String| {
        let trace = from_bytes(text.into(), &Options::default()).expect("it is a trace");
        card(trace, &mut || true).expect("it is whole").expect("it went on")
    };
    let names = "time_us,op,offset_bytes,length_bytes,device\n";
    let lines: String = (0..10_000).map(|n| format!("{n},r,0,4096,{}\n", n / 2)).collect();
    let many = card(format!("{names}{lines}"));
    assert_eq!((many.devices, many.largest_trim_bytes), (5_000, None));
    let one = card(format!("{names}0,t,0,8192,0\n1,t,0,1048576,0\n2,w,0,4096,0\n"));
    assert_eq!((one.devices, one.largest_trim_bytes), (1, Some(1_048_576)));
    assert_eq!(one.largest_bytes, 4096);
}

#[test]
fn what_was_recorded_before_the_first_is_counted_as_out_of_order_once() {
    let out_of_order = |text: &str| {
        let trace = from_bytes(text.into(), &Options::default()).expect("it is a trace");
        card(trace, &mut || true).expect("it is whole").expect("it went on").out_of_order
    };
    let csv = |times: &[u64]| {
        let lines: String = times.iter().map(|at| format!("{at},R,0,4096\n")).collect();
        format!("time_s,op,offset_bytes,length_bytes\n{lines}")
    };
    let msr = |times: &[u64]| -> String {
        let line = |at: &u64| format!("{},host,0,Read,0,4096,10\n", 128_166_372_000_000_000 + at);
        times.iter().map(line).collect()
    };
    for (times, expected) in [
        (&[5, 6, 6][..], 0),
        (&[5, 4, 6], 1),
        (&[5, 4, 3, 6], 2),
        (&[5, 6, 4], 1),
        (&[5, 4, 6, 3], 2),
    ] {
        assert_eq!(out_of_order(&csv(times)), expected, "{times:?}");
        assert_eq!(out_of_order(&msr(times)), expected, "{times:?}");
    }
    // Of those that are kept, which were in order.
    let of_device = |device| {
        let text = "time_s,op,offset_bytes,length_bytes,device\n5,R,0,4096,0\n4,W,0,4096,1\n6,R,0,4096,1\n3,R,0,4096,1\n";
        let mut options = Options::default();
        options.filter.device = device;
        let trace = from_bytes(text.into(), &options).expect("it is a trace");
        card(trace, &mut || true).expect("it is whole").expect("it went on").out_of_order
    };
    assert_eq!((of_device(None), of_device(Some(1))), (2, 1));
}

#[test]
fn what_is_no_record_at_the_head_of_a_load_file_or_after_the_end_of_a_compact_one_is_an_error() {
    let refused =
        |bytes: &[u8]| read(bytes, &Options::default()).expect_err("it is not whole").to_string();
    let good = "0.2 ; 24 ; 8 ; R ; 0 ; 0\n0.3 ; 32 ; 8 ; W ; 0 ; 0\n";
    let headed = format!("A recording ; of somebody's\n{good}");
    let options =
        Options { format: Some("blkreplay".parse().expect("a format")), ..Options::default() };
    assert_eq!(read(headed.as_bytes(), &options).expect("it is whole").len(), 2, "an explanation");
    let wrong = read(format!("0.0 ; 8 ; 8 ; X ; 0 ; 0\n{good}").as_bytes(), &options);
    let wrong = wrong.expect_err("X is no operation").to_string();
    assert!(wrong.contains("line 1") && wrong.contains("\"X\""), "{wrong}");
    let (_, once) = lost(&[io(0, Op::Read, 0, 4096)], Output::Compact);
    assert_eq!(whole(&once).len(), 1);
    for more in [&once[..], b"x"] {
        let wrong = refused(&[&once[..], more].concat());
        assert!(wrong.contains("there is more after its last block"), "{wrong}");
    }
}

#[test]
fn what_an_action_may_be_is_by_version() {
    let wrong = |version: u32, line: &str| {
        let text = format!("fio version {version} iolog\n{line}\n");
        read(text.as_bytes(), &Options::default()).expect_err("it is none").to_string()
    };
    let of_3 = wrong(3, "2000 /dev/sda wait 500 0");
    assert!(of_3.contains("add, open or close") && !of_3.contains("or wait"), "{of_3}");
    assert!(wrong(2, "/dev/sda hold 500").contains("close or wait"));
}
