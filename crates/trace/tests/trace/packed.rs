//! Packed traces, by the tools that pack them.

use std::io::Write;
use std::process::{Command, Stdio};

use fourcorners_drive::Op;
use fourcorners_testing::skipped;
use fourcorners_trace::Options;

use crate::{io, read, some, whole, writers};

/// What a tool makes of `bytes`; `None` when it is not installed.
fn packed(tool: &str, args: &[&str], bytes: &[u8]) -> Option<Vec<u8>> {
    let mut command = Command::new(tool);
    let spawned = command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = spawned else {
        skipped(tool, format!("{tool} is not installed"));
        return None;
    };
    let mut to = child.stdin.take().expect("it is piped");
    let bytes = bytes.to_vec();
    let writer = std::thread::spawn(move || to.write_all(&bytes));
    let output = child.wait_with_output().expect("it is our child");
    writer.join().expect("it does not panic").expect("it reads all");
    assert!(output.status.success());
    Some(output.stdout)
}

#[test]
fn gzip_zstd_and_lz4_are_seen_by_their_content() {
    // Enough of it that half of it has more than one block, and nothing that packs to nothing.
    let ios: Vec<_> = (0..60_000u64)
        .map(|n| {
            io(n * 1000, Op::Read, n.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (1 << 30) * 512, 4096)
        })
        .collect();
    let trace = writers::vscsi(&ios);
    let expected = whole(&trace);
    for (tool, args) in [
        ("gzip", &["-c"][..]),
        ("zstd", &["-c"]),
        ("zstd", &["-c", "-19", "--long=27"]),
        ("lz4", &["-c"]),
        ("lz4", &["-c", "-BD", "-B4"]),
    ] {
        let Some(bytes) = packed(tool, args, &trace) else { continue };
        assert!(bytes.len() < trace.len());
        assert_eq!(whole(&bytes), expected, "{tool} {args:?}");
        // Cut off or damaged it is an error with its place, and with what came before left.
        let half = &bytes[..bytes.len() / 2];
        let cut = read(half, &Options::default()).expect_err("it is cut off").to_string();
        let skip = Options { skip_bad: true, ..Options::default() };
        match read(half, &skip) {
            Ok(left) => {
                assert!(cut.contains("VSCSI v1, byte "), "{cut}");
                assert!(left.len() < expected.len() && left[..] == expected[..left.len()]);
            }
            // Half of it is not yet a window of zstd's, nor a whole block of 4 MB of lz4's.
            Err(error) => assert!(tool != "gzip", "{error}"),
        }
        let mut damaged = bytes.clone();
        let middle = damaged.len() / 2;
        damaged[middle..middle + 8].iter_mut().for_each(|byte| *byte ^= 0x5a);
        assert!(read(&damaged, &Options::default()).is_err(), "{tool} {args:?}");
    }
}

/// All I/Os are there before the checksum at the end of the stream, which alone is wrong.
#[test]
fn a_wrong_checksum_at_the_end_may_be_left_out_whatever_it_is_packed_with() {
    let trace = writers::vscsi(&some());
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&trace).expect("memory can be written");
    // Where the checksum is, from the end: before the length in gzip, last in the others.
    let mut all = vec![("gzip", gzip.finish().expect("memory can be written"), 8)];
    all.extend(packed("zstd", &["-c", "--check"], &trace).map(|bytes| ("zstd", bytes, 4)));
    all.extend(packed("lz4", &["-c"], &trace).map(|bytes| ("lz4", bytes, 4)));
    for (tool, mut bytes, from_end) in all {
        let skip = Options { skip_bad: true, ..Options::default() };
        let left = |bytes: &[u8]| {
            let mut trace = fourcorners_trace::from_bytes(bytes.to_vec(), &skip).expect("a trace");
            let ios = trace.by_ref().filter(|io| io.is_ok()).count();
            (ios, trace.skipped())
        };
        assert_eq!(left(&bytes), (some().len(), 0), "{tool}");
        let at = bytes.len() - from_end;
        bytes[at] ^= 1;
        assert_eq!(left(&bytes), (some().len(), 1), "{tool}");
        let strict = read(&bytes, &Options::default()).expect_err("it is damaged").to_string();
        assert!(strict.to_lowercase().contains("checksum"), "{tool}: {strict}");
    }
}

#[test]
fn packed_one_after_the_other() {
    let (first, second) = (writers::mqsim(&some()[..100]), writers::mqsim(&some()[100..]));
    for tool in ["gzip", "zstd", "lz4"] {
        let parts = [packed(tool, &["-c"], &first), packed(tool, &["-c"], &second)];
        let [Some(first), Some(second)] = parts else { continue };
        assert_eq!(whole(&[first, second].concat()), some(), "{tool}");
    }
}
