//! What is said of broken traces: format, place and reason in one line; and what is left of them.

use fourcorners_drive::{Nanos, Op};
use fourcorners_trace::{Format, IoFlags, Options, Output, Recorder, TraceIo, write};

use crate::{io, read, some, whole, writers};

/// The one line about it, and how many I/Os and bad records there are without the bad ones.
fn said(bytes: &[u8]) -> (String, usize, u64) {
    let line = read(bytes, &Options::default()).expect_err("it is broken").to_string();
    assert!(!line.chars().any(char::is_control), "{line}");
    let skip = Options { skip_bad: true, ..Options::default() };
    let mut trace =
        fourcorners_trace::from_bytes(bytes.to_vec(), &skip).expect("its head is whole");
    let ios = trace.by_ref().inspect(|io| assert!(io.is_ok(), "{io:?}")).count();
    (line, ios, trace.skipped())
}

fn lines(text: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(text).lines().map(String::from).collect()
}

#[test]
fn a_bad_line_is_named_by_its_number() {
    let ios = &some()[..20];
    let cases: [(Vec<u8>, &str, &str, &str); 6] = [
        (
            writers::msr(ios),
            "128166372003061629,hm,0,Raed,1,2,3",
            "MSR Cambridge CSV",
            "the type is \"Raed\"",
        ),
        (
            writers::blkreplay(ios),
            " 1.5 ; 12 ; -8 ; R ; 0.0 ; 0.0",
            "blkreplay load",
            "the length is \"-8\"",
        ),
        (writers::mqsim(ios), "12 0 99 8 7", "MQSim ASCII", "the type is \"7\""),
        (writers::iolog2(ios), "/dev/sda reed 0 4096", "fio iolog", "the action is \"reed\""),
        (
            writers::blkparse(ios),
            "8,0 1 2 0.5x 4711 D R 8 + 8 [fio]",
            "blkparse text",
            "the time is \"0.5x\"",
        ),
        (
            b"time_ns,op,offset_bytes,length_bytes\n0,r,0,512\n1,r,0,512\n2,w,0,512\n3,r,8,8\n"
                .to_vec(),
            "1,read,0",
            "CSV",
            "there is no field",
        ),
    ];
    for (good, bad, format, reason) in cases {
        let mut text = lines(&good);
        let at = 4.min(text.len() - 1);
        text.insert(at, bad.into());
        let before = read(&good, &Options::default()).expect("it is whole").len();
        let (line, left, skipped) = said(text.join("\n").as_bytes());
        let place = format!("{format}, line {}: ", at + 1);
        assert!(line.contains(&place) && line.contains(reason), "{line}");
        assert_eq!((left, skipped), (before, 1), "{format}");
    }
}

#[test]
fn a_bad_first_record_leaves_the_times_of_the_others_as_they_are() {
    let skip = Options { skip_bad: true, ..Options::default() };
    let gaps = |bytes: &[u8], format: Format| {
        let options = Options { format: Some(format), ..skip.clone() };
        let ios = read(bytes, &options).expect("the rest is whole");
        ios.iter().map(|io| io.at.0).collect::<Vec<_>>()
    };
    // The first is of a later time, and has no bytes.
    let msr = |size: u32| {
        format!(
            "9000000000000,usr,0,Read,0,{size},1\n1000,usr,0,Read,0,512,1\n1010,usr,0,Write,0,512,1\n"
        )
    };
    assert_eq!(gaps(msr(0).as_bytes(), Format::Msr), [0, 1_000]);
    assert_eq!(gaps(msr(512).as_bytes(), Format::Msr), [0, 0, 0], "the control");
    let spc = "0,0,0,R,90000\n0,0,512,R,1\n0,8,512,W,1.5\n";
    assert_eq!(gaps(spc.as_bytes(), Format::Spc), [0, 500_000_000]);
    let mut vscsi = writers::vscsi(&[
        io(1 << 60, Op::Read, 0, 512),
        io(0, Op::Read, 0, 512),
        io(7_000, Op::Read, 0, 512),
    ]);
    vscsi[4..8].fill(0);
    assert_eq!(gaps(&vscsi, Format::Vscsi), [0, 7_000]);
}

#[test]
fn a_response_that_takes_longer_than_any_time_is_named() {
    let msr =
        |response: u64| format!("1000,usr,0,Read,0,512,1\n1010,usr,0,Read,0,512,{response}\n");
    let (line, left, skipped) = said(msr(18_446_744_073_709_551_000).as_bytes());
    assert!(line.contains("line 2: the response time is \"18446744073709551000\""), "{line}");
    assert_eq!((left, skipped), (1, 1));
    assert_eq!(whole(msr((1 << 61) / 100).as_bytes()).len(), 2);
}

#[test]
fn milliseconds_of_disksim_are_not_taken_for_nanoseconds() {
    let line = read(b"0 0 100 8 1\n1.500000 0 108 8 0\n", &Options::default());
    let line = line.expect_err("it has a fraction").to_string();
    assert!(line.contains("MQSim ASCII, line 2: the time is \"1.500000\""), "{line}");
    assert!(line.contains("DiskSim"), "{line}");
    let first = read(b"0.000000 0 100 8 1\n", &Options::default()).expect_err("so has the first");
    assert!(first.to_string().contains("line 1"), "{first}");
    assert_eq!(whole(b"0 0 100 8 1\n1500000 0 108 8 0\n").len(), 2);
}

#[test]
fn a_column_that_is_there_twice_or_too_far_behind_is_named() {
    let needed = "time_us,op,offset_bytes,length_bytes";
    let named = Options { format: Some(Format::Csv), ..Options::default() };
    let why = |names: &str| {
        let record = names.replace(|c| c != ',', "");
        read(format!("{names}\n{record}\n").as_bytes(), &named).expect_err("no I/O").to_string()
    };
    for (twice, told) in [
        ("duration_us,duration_ms", "more than one column duration_ns"),
        ("device,device", "more than one column device"),
        ("op", "more than one column op"),
    ] {
        let line = why(&format!("{needed},{twice}"));
        assert!(line.contains(told), "{line}");
    }
    let others = |count: u32| (0..count).map(|n| format!("c{n},")).collect::<String>();
    let line = why(&format!("{}{needed}", others(64)));
    assert!(line.contains("no column time_ns") && line.contains("first 64 columns"), "{line}");
    // The controls: once, and among the first.
    assert_eq!(whole(format!("{needed},duration_us,device\n0,r,0,512,1,1\n").as_bytes()).len(), 1);
    let wide = format!("{}{needed}\n{}0,r,0,512\n", others(60), ",".repeat(60));
    assert_eq!(whole(wide.as_bytes()).len(), 1);
}

#[test]
fn a_bad_record_is_named_by_its_byte() {
    let ios = &some()[..20];
    let mut vscsi = writers::vscsi(ios);
    vscsi[32 * 5 + 14] = 9;
    let (line, left, skipped) = said(&vscsi);
    assert!(line.contains("VSCSI v1, byte 160: a record of version 0x0109"), "{line}");
    assert_eq!((left, skipped), (19, 1));

    let mut cut = writers::vscsi(ios);
    cut.truncate(32 * 19 + 7);
    let (line, left, skipped) = said(&cut);
    assert!(line.contains("byte 608: the trace ends after 7 of the 32 bytes"), "{line}");
    assert_eq!((left, skipped), (19, 1));

    let mut blktrace = writers::blktrace(ios, false);
    // The first has a note of 12 bytes.
    blktrace[60 + 48] ^= 0xff;
    let (line, left, skipped) = said(&blktrace);
    assert!(line.contains("blktrace binary, byte 108: a record begins with"), "{line}");
    assert_eq!((left, skipped), (19, 1));
}

#[test]
fn damage_to_a_compact_trace_is_seen_and_kept_to_its_block() {
    let ios: Vec<_> =
        (0..100_000).map(|n| io(n * 31, Op::Read, n * n % 999_983 * 512, 512)).collect();
    let mut bytes = Vec::new();
    write(ios.iter().copied().map(Ok), Output::Compact, "x", &mut bytes).expect("it is written");
    for place in (20..bytes.len()).step_by(bytes.len() / 50) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x10;
        assert!(read(&damaged, &Options::default()).is_err(), "byte {place}");
    }
    let mut damaged = bytes.clone();
    damaged[70_000] ^= 1;
    let (line, left, skipped) = said(&damaged);
    assert!(line.contains("the block's checksum is"), "{line}");
    assert!(skipped == 1 && left > 80_000 && left < 100_000, "{left} left");
    // Cut off anywhere it is not whole.
    for length in [17, 1000, bytes.len() - 30, bytes.len() - 1] {
        assert!(read(&bytes[..length], &Options::default()).is_err(), "{length} bytes");
    }
    let mut newer = bytes;
    // A trace without what version 2 brought is one of version 1 but for that number.
    newer[12] = 1;
    assert_eq!(read(&newer, &Options::default()).expect("version 1 is read"), ios);
    newer[12] = 3;
    let line = read(&newer, &Options::default()).map(|ios| ios.len());
    let line = line.expect_err("another version").to_string();
    assert!(line.contains("version 3"), "{line}");
}

#[test]
fn flags_and_text_are_of_version_2_and_damage_in_version_1() {
    let flags = IoFlags { fua: true, zeroes: true, ..IoFlags::default() };
    let ios = [TraceIo { flags, ..io(5, Op::Write, 4096, 512) }, io(9, Op::Flush, 0, 0)];
    let mut recorder = Recorder::new(Vec::new(), "from a test").expect("memory can be written");
    ios.iter().for_each(|io| recorder.put(io).expect("memory can be written"));
    let mut bytes = recorder.finish().expect("memory can be written");
    let begun_at_0: Vec<TraceIo> =
        ios.iter().map(|io| TraceIo { at: Nanos(io.at.0 - 5), ..*io }).collect();
    assert_eq!(read(&bytes, &Options::default()).expect("it is whole"), begun_at_0);
    bytes[12] = 1;
    assert!(read(&bytes, &Options::default()).is_err());
}

#[test]
fn what_is_no_trace_is_refused() {
    for (bytes, told) in [
        (&b""[..], "it is empty"),
        (b"Dear reader,\nthis is a letter.\n", "--format"),
        (&[0; 1000], "--format"),
        (b"timestamp,what\n1,2\n", "--format"),
    ] {
        let line = read(bytes, &Options::default()).expect_err("it is none").to_string();
        assert!(line.contains(told), "{line}");
    }
    let named = Options { format: Some(Format::FioIolog), ..Options::default() };
    let line = read(b"fio version 9 iolog\n", &named).expect_err("no such version").to_string();
    assert!(
        line.contains("fio iolog, line 1: the first line is \"fio version 9 iolog\""),
        "{line}"
    );
}

#[test]
fn numbers_beyond_all_bounds() {
    let head = "time_ns,op,offset_bytes,length_bytes,device\n";
    for (record, told) in [
        ("0,read,4611686018427387904,512,0", "the offset is"),
        ("0,read,0,9999999999999,0", "the length is"),
        ("0,read,0,0,0", "an I/O of no bytes"),
        ("99999999999999999999,read,0,512,0", "the time is"),
        ("2305843009213693953,read,0,512,0", "the time is"),
        ("0,read,0,512,4294967296", "the device is"),
    ] {
        let line = read(format!("{head}{record}\n").as_bytes(), &Options::default());
        let line = line.expect_err(record).to_string();
        assert!(line.contains(told) && line.contains("line 2"), "{line}");
    }
}

#[test]
fn a_flush_needs_no_address_wherever_its_columns_are() {
    for text in [
        "time_s,op,offset_bytes,length_bytes\n0.1,flush,,\n",
        "time_s,offset_bytes,op,length_bytes\n0.1,,flush,0\n",
        "sector,sectors,time_s,op\n,,0.1,f\n",
    ] {
        assert_eq!(whole(text.as_bytes()).len(), 1, "{text}");
        let told = text.replace("flush", "read").replace(",f\n", ",r\n");
        assert!(read(told.as_bytes(), &Options::default()).is_err(), "{told}");
    }
}

#[test]
fn a_line_without_end_is_passed_over_in_little_memory() {
    let mut text = b"time_ns,op,offset_bytes,length_bytes\n0,r,0,512\n".to_vec();
    text.extend(std::iter::repeat_n(b'x', 3 << 20));
    text.extend(b"\n1,w,0,512\n");
    let (line, left, skipped) = said(&text);
    assert!(line.contains("line 3: a line of more than 65536 bytes"), "{line}");
    assert_eq!((left, skipped), (2, 1));
}

/// A terabyte of nothing, as a sparse file has it: its first line is refused before the rest is read.
#[test]
fn what_has_no_end_is_refused_by_its_beginning() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.as_file().set_len(1 << 40).expect("it can be sized");
    let named = [Format::Csv, Format::FioIolog, Format::Msr, Format::Blkparse, Format::Blktrace];
    for format in named {
        let options = Options { format: Some(format), ..Options::default() };
        let mut trace = fourcorners_trace::open(file.path(), &options).expect("it can be opened");
        let line = trace.next().expect("a line").expect_err("it is no I/O").to_string();
        let told = if format == Format::Blktrace {
            "byte 0: a record begins"
        } else {
            "line 1: a line of"
        };
        assert!(line.contains(told), "{line}");
    }
}

#[test]
fn a_task_that_is_named_without_its_prefix_is_pointed_to() {
    let refused = |name: &str| {
        let opened = fourcorners_trace::open(std::path::Path::new(name), &Options::default());
        opened.err().expect("there is no such file").to_string()
    };
    assert_eq!(refused("boot"), "boot: there is no such file; did you mean task:boot?");
    assert_eq!(refused("light"), "light: there is no such file; did you mean generated:light?");
    assert!(!refused("cellar").contains("did you mean"));
}
