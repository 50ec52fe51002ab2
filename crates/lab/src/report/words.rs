//! Names, numbers and units as a reader expects them.

use crate::record::{ClockName, Ended, TargetKind};
use crate::workload::{Data, Job, Pattern, Until};

/// What stands where there is no number to show.
pub(super) const NO_VALUE: &str = "–";

/// What a figure's name says: `random_write_4k_qd3_incompressible_used` and the like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FigureName<'a> {
    /// `random` or `sequential`.
    pub(super) access: &'a str,
    /// `read` or `write`.
    pub(super) op: &'a str,
    /// Block size in KiB or MiB, as spelled: `4k`, `128k`, `1m`.
    block: &'a str,
    /// I/Os in flight.
    pub(super) queue_depth: u32,
    /// What follows the queue depth: data and state, in the name's own spelling.
    pub(super) rest: &'a str,
}

impl<'a> FigureName<'a> {
    /// Takes a name apart; `None` when it is not formed like one.
    pub(super) fn parse(name: &'a str) -> Option<FigureName<'a>> {
        let (access, after) = name.split_once('_')?;
        let (op, after) = after.split_once('_')?;
        let (block, after) = after.split_once('_')?;
        let (depth, rest) = after.split_once('_').unwrap_or((after, ""));
        let known = matches!(access, "random" | "sequential") && matches!(op, "read" | "write");
        let digits = block.strip_suffix(['k', 'm'])?;
        let sized = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let queue_depth = depth.strip_prefix("qd")?.parse().ok()?;
        (known && sized).then_some(FigureName { access, op, block, queue_depth, rest })
    }

    /// "4 KiB random write".
    pub(super) fn what(&self) -> String {
        let (digits, unit) = self.block.split_at(self.block.len() - 1);
        let unit = if unit == "m" { "MiB" } else { "KiB" };
        format!("{digits} {unit} {} {}", self.access, self.op)
    }

    /// "QD 3, incompressible, used state".
    pub(super) fn how(&self) -> String {
        let mut how = format!("QD {}", self.queue_depth);
        for word in self.rest.split('_').filter(|word| !word.is_empty()) {
            how.push_str(", ");
            let percent = |prefix| word.strip_prefix(prefix).filter(|rest| is_number(rest));
            let share = [("spare", "spare"), ("compressible", "compressible"), ("full", "full")]
                .into_iter()
                .find_map(|(prefix, what)| Some(format!("{} % {what}", percent(prefix)?)));
            if let Some(share) = share {
                how.push_str(&share);
                continue;
            }
            how.push_str(word);
            if matches!(word, "used" | "fresh" | "filled") {
                how.push_str(" state");
            }
        }
        how
    }
}

fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

/// A figure's name in words: `random_write_4k_qd3_incompressible_used` is "4 KiB random write,
/// QD 3, incompressible, used state". A name of another form is shown with spaces.
pub fn figure_words(name: &str) -> String {
    match FigureName::parse(name) {
        Some(figure) => format!("{}, {}", figure.what(), figure.how()),
        None => name.replace('_', " "),
    }
}

/// A method's name as a heading.
pub(crate) fn method_words(method: &str) -> String {
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
pub(crate) fn rate(mb_per_s: f64) -> String {
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
pub(super) fn iops(value: f64) -> String {
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
pub(crate) fn micros(us: f64) -> String {
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

/// A share of one as a percentage.
pub(super) fn percent(share: f64) -> String {
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
fn block(count: u32) -> String {
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
    let forced = if job.fua { ", each write durable (FUA)" } else { "" };
    format!(
        "{} {pattern} {op} over {span}, QD {}{data}{forced}, {until}, seed {}",
        block(job.block_bytes),
        job.queue_depth,
        job.seed
    )
}

/// Which clock, in two words.
pub(crate) fn clock_words(clock: ClockName) -> &'static str {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figure_names_become_words() {
        let cases = [
            ("random_write_4k_qd3_repeating", "4 KiB random write, QD 3, repeating"),
            ("random_write_4k_qd32_incompressible", "4 KiB random write, QD 32, incompressible"),
            ("random_read_4k_qd3", "4 KiB random read, QD 3"),
            ("sequential_read_128k_qd1", "128 KiB sequential read, QD 1"),
            (
                "random_write_4k_qd3_incompressible_used",
                "4 KiB random write, QD 3, incompressible, used state",
            ),
            (
                "random_write_4k_qd32_incompressible_spare12.5",
                "4 KiB random write, QD 32, incompressible, 12.5 % spare",
            ),
            ("sequential_write_1m_qd8", "1 MiB sequential write, QD 8"),
            ("trim_time", "trim time"),
            ("random_write_4k_qd", "random write 4k qd"),
            ("random_write_k_qd1", "random write k qd1"),
            ("", ""),
        ];
        for (name, words) in cases {
            assert_eq!(figure_words(name), words);
        }
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
