//! Detects the format of a trace by its first bytes.

use super::error::Reason;
use super::formats::{
    Format, blkparse, blkreplay, blktrace, columns, compact, csv, iolog, mqsim, msr, vscsi,
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
        (Format::Msr, |line| msr::is_record(line) || msr::is_heading(line)),
        (Format::Mqsim, mqsim::is_record),
        (Format::Blkparse, blkparse::is_event),
    ] {
        if is(first) {
            return Some(format);
        }
    }
    if let Some(layout) = columns::ALL.into_iter().find(|layout| layout.begins(first)) {
        return Some(layout.format());
    }
    lines().any(blkreplay::is_heading).then_some(Format::Blkreplay)
}

/// Of a trace that is of no format, the one that its first line is nearest to: which, the number of the line, and
/// what keeps it from being of it. `None` where it is near to none.
pub(super) fn nearest(head: &[u8]) -> Option<(Format, u64, Reason)> {
    let is_content = |line: &[u8]| !line.is_empty() && !line.starts_with(b"#");
    let lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let (number, line) = (1..).zip(lines).find(|(_, line)| is_content(line))?;
    let is_text = line.iter().all(|byte| (b' '..=b'~').contains(byte));
    let begins_with_a_name = line.first().is_some_and(u8::is_ascii_alphabetic);
    match (is_text && line.contains(&b','), begins_with_a_name) {
        (false, _) => None,
        (true, true) => csv::is_not_a_heading(line).map(|why| (Format::Csv, number, why)),
        (true, false) if msr::has_its_fields(line) => {
            msr::Msr::default().line(line).err().map(|why| (Format::Msr, number, why))
        }
        (true, false) if let Some(why) = msr::lacks_its_last_field(line) => {
            Some((Format::Msr, number, why))
        }
        (true, false) => columns::nearest(line).map(|(format, why)| (format, number, why)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_the_names_of_msrs_columns_is_msrs() {
        let named = b"Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n128166372003061629,usr,0,Read,7014609920,24576,41286\n";
        assert_eq!(format(named), Some(Format::Msr));
        // The control: other names are no names of MSR's.
        let other = b"when,host,disk,kind,where,long,took\n1,usr,0,Read,7014609920,24576,41286\n";
        assert_eq!(format(other), None);
        let (near, line, why) = nearest(other).expect("it is like a table");
        assert_eq!((near, line), (Format::Csv, 1));
        assert!(why.to_string().contains("column time_ns"), "{why}");
    }

    #[test]
    fn what_is_near_to_a_format_is_said_and_what_is_near_to_none_is_not() {
        let (near, line, why) =
            nearest(b"# cut\n1,usr,0,Raed,0,4096,12\n").expect("it is MSR's but for a word");
        assert_eq!((near, line), (Format::Msr, 2));
        assert!(why.to_string().contains("Raed"), "{why}");
        // Some cut MSR's last column off.
        let (near, line, why) = nearest(b"1,usr,0,Read,0,4096\n").expect("it is but for a field");
        assert_eq!((near, line), (Format::Msr, 1));
        assert!(why.to_string().contains("response time"), "{why}");
        for far in [
            &b"\x7fELF\x02\x01\x01,,,"[..],
            b"dear reader",
            b"",
            b"1,2,3\n",
            b"1,usr,0,Raed,0,4096\n",
        ] {
            assert!(nearest(far).is_none(), "{far:?}");
        }
    }
}
