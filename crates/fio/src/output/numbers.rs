//! Numbers as fio's text has them.

/// Three digits and a prefix: `19.8k`, `1.25M`.
pub(super) fn count(value: f64) -> String {
    scaled(value, 1000.0, &["", "k", "M", "G", "T"])
}

/// `77.2MiB`.
pub(super) fn binary(bytes: f64) -> String {
    scaled(bytes, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB", "PiB"])
}

/// `80.9MB`.
pub(super) fn decimal(bytes: f64) -> String {
    scaled(bytes, 1000.0, &["B", "kB", "MB", "GB", "TB", "PB"])
}

fn scaled(value: f64, base: f64, units: &[&str]) -> String {
    let mut value = value;
    let mut unit = 0;
    // What rounds to 1000 is shown with the next prefix.
    while value.round() >= base.min(1000.0) && unit + 1 < units.len() {
        value /= base;
        unit += 1;
    }
    let decimals = match value {
        _ if unit == 0 => 0,
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}{}", units[unit])
}

/// The unit that latencies of this range read best in, and what it is of a nanosecond.
pub(super) fn unit(min_ns: u64, max_ns: u64) -> (&'static str, f64) {
    match (min_ns, max_ns) {
        (2_000_000.., 99_999_000..) => ("msec", 1e6),
        (2_000.., 99_999..) => ("usec", 1e3),
        _ => ("nsec", 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        assert_eq!([count(19_812.0), count(999.0), count(1e6)], ["19.8k", "999", "1.00M"]);
        assert_eq!(binary(77.2 * 1048576.0), "77.2MiB");
        assert_eq!([decimal(80.9e6), decimal(999.6e3)], ["80.9MB", "1.00MB"]);
        assert_eq!(binary(0.0), "0B");
    }
}
