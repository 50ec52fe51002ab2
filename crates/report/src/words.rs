//! Names, numbers and units as a reader expects them.

use fourcorners_record::{ClockName, Data, Ended, Job, Pattern, TargetKind, Until};
pub(super) use fourcorners_words::FigureName;
pub use fourcorners_words::figure_words;

/// What stands where there is no number to show.
pub(super) const NO_VALUE: &str = "–";

/// A curve's name in words: that of its figure, and what was varied.
pub(crate) fn curve_words(name: &str) -> String {
    match name.split_once("_by_") {
        Some((figure, by)) => format!("{}, by {}", figure_words(figure), by.replace('_', " ")),
        None => figure_words(name),
    }
}

/// A method's name as a heading.
pub fn method_words(method: &str) -> String {
    match method {
        "four-corners" => "Four corners".into(),
        "toms" => "Queue depth sweep".into(),
        "storage-bench" => "Storage bench".into(),
        "tasks" => "Tasks".into(),
        "consistency" => "Consistency".into(),
        "lba-pass" => "Across the LBAs".into(),
        "trim" => "TRIM".into(),
        "used-state" => "Used state".into(),
        "compressible" => "Compressible data".into(),
        "fill-level" => "Fill level".into(),
        "trim-under-load" => "TRIM under load".into(),
        "trim-reaches" => "Does TRIM reach the drive".into(),
        "endurance" => "Endurance".into(),
        "power" => "Power".into(),
        "snia" => "SNIA steady state".into(),
        "sync-writes" => "Synchronous writes".into(),
        "quick" => "Quick card".into(),
        other => other.replace(['-', '_'], " "),
    }
}

/// `value` with `decimals` places and a comma between thousands.
fn grouped(value: f64, decimals: usize) -> String {
    let plain = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = plain.split_at(plain.find('.').unwrap_or(plain.len()));
    let mut text = String::new();
    if value < 0.0 && plain.bytes().any(|byte| (b'1'..=b'9').contains(&byte)) {
        text.push('-');
    }
    push_grouped(&mut text, whole);
    text + fraction
}

/// A count with a comma between thousands, exactly.
pub(super) fn thousands(count: u64) -> String {
    let mut text = String::new();
    push_grouped(&mut text, &count.to_string());
    text
}

fn push_grouped(text: &mut String, digits: &str) {
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
}

/// A data rate's number, MB/s: tenths as the reviews print it, more places for slow drives.
pub fn rate(mb_per_s: f64) -> String {
    match mb_per_s.abs() {
        value if !value.is_finite() => NO_VALUE.into(),
        value if value >= 1e9 => format!("{mb_per_s:.2e}"),
        value if value >= 1e3 => grouped(mb_per_s, 0),
        value if value >= 10.0 => grouped(mb_per_s, 1),
        value if value >= 0.1 || value == 0.0 => grouped(mb_per_s, 2),
        value if value >= 1e-3 => grouped(mb_per_s, 4),
        _ => format!("{mb_per_s:.1e}"),
    }
}

/// I/Os per second; tenths matter for hard disks.
pub fn iops(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => NO_VALUE.into(),
        size if size >= 1e12 => format!("{value:.2e}"),
        size if size >= 1e3 => grouped(value, 0),
        _ => grouped(value, 1),
    }
}

/// Watts, to the hundredth that a drive's power is known by.
pub(super) fn watts(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => NO_VALUE.into(),
        size if size >= 1e6 => format!("{value:.2e} W"),
        _ => format!("{} W", grouped(value, 2)),
    }
}

/// A time with three significant digits in the unit that suits it.
pub fn micros(us: f64) -> String {
    if !us.is_finite() {
        return NO_VALUE.into();
    }
    // The rounded value decides the unit, or 999.6 would print as "1000 µs".
    let (value, unit) = match us.abs() {
        size if size < 999.5 => (us, "µs"),
        size if size < 999.5e3 => (us / 1e3, "ms"),
        _ => (us / 1e6, "s"),
    };
    if value.abs() >= 1e9 {
        return format!("{value:.2e} {unit}");
    }
    let decimals = match value.abs() {
        size if size >= 99.95 || size == 0.0 => 0,
        size if size >= 9.995 => 1,
        _ => 2,
    };
    format!("{} {unit}", grouped(value, decimals))
}

/// A plain ratio such as write amplification.
pub(super) fn ratio(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => NO_VALUE.into(),
        size if size >= 1e6 => format!("{value:.2e}"),
        _ => grouped(value, 2),
    }
}

/// A number over that of another side.
pub fn against(ratio: f64) -> String {
    match ratio {
        ratio if !ratio.is_finite() => NO_VALUE.into(),
        1e6.. => format!("{ratio:.1e}"),
        100.0.. => grouped(ratio, 0),
        10.0.. => format!("{ratio:.1}"),
        0.1.. => format!("{ratio:.2}"),
        // "1/263" is read at once, "0.0038" is not.
        1e-6.. => format!("1/{}", grouped(1.0 / ratio, 0)),
        _ => format!("{ratio:.1e}"),
    }
}

/// How far an interval reaches beyond its middle: its upper end over that.
pub fn spread(reach: f64) -> String {
    let percent = (reach - 1.0) * 100.0;
    match percent {
        100.0.. => "over 100 %".into(),
        10.0.. => format!("{percent:.0} %"),
        1.0.. => format!("{percent:.1} %"),
        _ => format!("{percent:.2} %"),
    }
}

/// A share of one as a percentage.
pub fn percent(share: f64) -> String {
    match share.abs() {
        size if !size.is_finite() => NO_VALUE.into(),
        size if size >= 1e6 => format!("{:.2e} %", share * 100.0),
        _ => format!("{} %", grouped(share * 100.0, 1)),
    }
}

/// Bytes in decimal units, as drives are sold: "256 GB", "8.59 GB".
pub(super) fn bytes(count: u64) -> String {
    const UNITS: [&str; 7] = ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"];
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1e3;
        unit += 1;
    }
    let decimals = match value {
        _ if unit == 0 => 0,
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        _ => 2,
    };
    let number = format!("{value:.decimals$}");
    let short = match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => &number,
    };
    format!("{short} {}", UNITS[unit])
}

/// A block size in binary units: "4 KiB".
pub(super) fn block(count: u32) -> String {
    const KIB: u32 = 1 << 10;
    const MIB: u32 = 1 << 20;
    match count {
        0 => "0 bytes".into(),
        count if count.is_multiple_of(MIB) => format!("{} MiB", count / MIB),
        count if count.is_multiple_of(KIB) => format!("{} KiB", count / KIB),
        count => format!("{count} bytes"),
    }
}

/// A job in one line.
pub(super) fn job_words(job: &Job) -> String {
    let pattern = match job.pattern {
        Pattern::Random => "random",
        Pattern::Sequential => "sequential",
    };
    let op = match job.read_percent {
        0 => "writes".to_string(),
        100.. => "reads".to_string(),
        reads => format!("I/Os, {reads} % reads"),
    };
    let data = match (job.read_percent, job.data) {
        (100.., _) => String::new(),
        (_, Data::Repeating) => ", repeating data".into(),
        (_, Data::Incompressible) => ", incompressible data".into(),
        (_, Data::Compressible(percent)) => format!(", data {percent} % compressible"),
    };
    let span = match job.span_start_bytes {
        0 => format!("the first {}", bytes(job.span_bytes)),
        start => format!("{} from {}", bytes(job.span_bytes), bytes(start)),
    };
    let until = match job.until {
        Until::Seconds(seconds) => format!("for {seconds} s"),
        Until::Bytes(count) => format!("for {}", bytes(count)),
        Until::SecondsOrBytes(seconds, count) => {
            format!("for {seconds} s or {}, whichever comes first", bytes(count))
        }
    };
    let durable = match (job.fua, job.flush) {
        (true, _) => ", each write durable (FUA)",
        (false, true) => ", a flush after each write",
        (false, false) => "",
    };
    let jobs = match job.jobs {
        0 | 1 => String::new(),
        jobs => format!(" in each of {jobs} jobs"),
    };
    format!(
        "{} {pattern} {op} over {span}, QD {}{jobs}{data}{durable}, {until}, seed {}",
        block(job.block_bytes),
        job.queue_depth,
        job.seed
    )
}

/// Which clock, in two words.
pub fn clock_words(clock: ClockName) -> &'static str {
    match clock {
        ClockName::Virtual => "virtual time",
        ClockName::Wall => "wall time",
    }
}

/// What kind of target, in words.
pub(super) fn kind_words(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::Virtual => "virtual drive",
        TargetKind::Device => "block device",
        TargetKind::File => "file",
    }
}

/// Why a record is not whole; `None` when it is.
pub(super) fn ended_words(ended: &Ended) -> Option<String> {
    match ended {
        Ended::Complete => None,
        Ended::Interrupted => Some("interrupted before it was complete".into()),
        Ended::Failed(reason) => Some(format!("failed: {reason}")),
    }
}

/// Lines of at most `limit` letters, broken between words; a longer word is broken, too.
pub fn wrapped(words: &str, limit: usize) -> Vec<String> {
    let pieces = |word: &str| -> Vec<String> {
        let letters: Vec<char> = word.chars().collect();
        letters.chunks(limit.max(1)).map(|piece| piece.iter().collect()).collect()
    };
    filled(words.split_whitespace().flat_map(pieces), limit)
}

/// Lines of at most `limit` letters, broken between words; a longer word, such as an address, has a line of its own.
pub fn wrapped_between_words(words: &str, limit: usize) -> Vec<String> {
    filled(words.split_whitespace(), limit)
}

/// Lines of as many words each as fit; at least one line.
fn filled(words: impl Iterator<Item = impl AsRef<str>>, limit: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in words {
        let word = word.as_ref();
        if !line.is_empty() {
            if line.chars().count() + 1 + word.chars().count() > limit {
                lines.push(std::mem::take(&mut line));
            } else {
                line.push(' ');
            }
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_broken_between_words() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("onetwothree four", 4), ["onet", "woth", "ree", "four"]);
        assert_eq!(wrapped("", 4), [""]);
        assert_eq!(wrapped_between_words("onetwothree four", 4), ["onetwothree", "four"]);
        assert_eq!(wrapped_between_words("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped_between_words("", 4), [""]);
    }

    #[test]
    fn numbers_keep_the_digits_that_matter() {
        let rates = [
            (0.0, "0.00"),
            (0.0312, "0.0312"),
            (0.83, "0.83"),
            (66.14, "66.1"),
            (205.34, "205.3"),
            (3456.7, "3,457"),
            (-2.0, "-2.00"),
            (f64::NAN, "–"),
            (f64::INFINITY, "–"),
            (1e300, "1.00e300"),
        ];
        for (value, text) in rates {
            assert_eq!(rate(value), text);
        }
        assert_eq!([iops(50_131.4), iops(74.26)], ["50,131", "74.3"]);
        let times = [
            (0.0, "0 µs"),
            (0.456, "0.46 µs"),
            (58.12, "58.1 µs"),
            (999.4, "999 µs"),
            (999.6, "1.00 ms"),
            (14_600.0, "14.6 ms"),
            (2_500_000.0, "2.50 s"),
            (1e20, "1.00e14 s"),
        ];
        for (us, text) in times {
            assert_eq!(micros(us), text);
        }
        let sizes = [
            (512, "512 bytes"),
            (256_060_514_304, "256 GB"),
            (8_589_934_592, "8.59 GB"),
            (8_000_000_000, "8 GB"),
            (100, "100 bytes"),
        ];
        for (count, text) in sizes {
            assert_eq!(bytes(count), text);
        }
    }
}
