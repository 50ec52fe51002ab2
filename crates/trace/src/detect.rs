//! Detects the format of a trace by its first bytes.

use super::formats::{
    Format, blkparse, blkreplay, blktrace, compact, csv, iolog, mqsim, msr, vscsi,
};

/// Bytes of a trace that are looked at: the explanations at the head of a blkreplay file are long.
pub(super) const LOOKED_AT: usize = 64 << 10;

/// The format of a trace that begins like this.
pub(super) fn format(head: &[u8]) -> Option<Format> {
    if compact::begins(head) {
        return Some(Format::Compact);
    }
    if blktrace::begins(head) {
        return Some(Format::Blktrace);
    }
    if vscsi::begins(head) {
        return Some(Format::Vscsi);
    }
    let lines = || head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines().find(|line| !line.is_empty() && !line.starts_with(b"#"))?;
    for (format, is) in [
        (Format::FioIolog, iolog::begins as fn(&[u8]) -> bool),
        (Format::Csv, csv::is_heading),
        (Format::Msr, msr::is_record),
        (Format::Mqsim, mqsim::is_record),
        (Format::Blkparse, blkparse::is_event),
    ] {
        if is(first) {
            return Some(format);
        }
    }
    lines().any(blkreplay::is_heading).then_some(Format::Blkreplay)
}
