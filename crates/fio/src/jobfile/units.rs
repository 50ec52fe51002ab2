//! Numbers as job files write them.

use fourcorners_drive::Nanos;

use super::value_error::ValueError;

/// A size that may be a share of the target.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Size {
    Bytes(u64),
    Percent(f64),
}

impl Size {
    /// In bytes of `whole`.
    pub(super) fn of(self, whole: u64) -> u64 {
        match self {
            Size::Bytes(bytes) => bytes,
            Size::Percent(percent) => (whole as f64 * (percent / 100.0).min(1.0)) as u64,
        }
    }
}

/// `4k`, `1.5m`, `2GiB`, `0x200`: with a base of 1024, fio's default, `k` and `kb` are 1024 and `ki`
/// and `kib` 1000; with 1000 the other way round, as the standard has it.
pub(super) fn bytes(text: &str, kb_base: u64) -> Result<u64, ValueError> {
    let wrong = || ValueError::Size(text.into());
    // As fio's, sizes fit a signed number, so that none is out of range once its sign is turned.
    let fits = |bytes: &u64| *bytes <= i64::MAX as u64;
    let lower = text.trim().to_ascii_lowercase();
    if let Some(hex) = lower.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok().filter(fits).ok_or_else(wrong);
    }
    let digits = lower.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(lower.len());
    let (number, unit) = lower.split_at(digits);
    let unit = unit.trim();
    let (prefix, other_base) = match unit.strip_suffix('b').unwrap_or(unit) {
        "" => return whole(number).filter(fits).ok_or_else(wrong),
        prefix => match prefix.strip_suffix('i') {
            Some(prefix) => (prefix, true),
            None => (prefix, false),
        },
    };
    let base = if (kb_base == 1000) == other_base { 1024u64 } else { 1000 };
    let power = ["k", "m", "g", "t", "p"].iter().position(|&name| name == prefix);
    let factor = base.pow(power.ok_or_else(wrong)? as u32 + 1);
    let bytes = match whole(number) {
        Some(number) => number.checked_mul(factor),
        None => {
            let number: f64 = number.parse().map_err(|_| wrong())?;
            Some((number * factor as f64) as u64)
        }
    };
    bytes.filter(fits).ok_or_else(wrong)
}

fn whole(number: &str) -> Option<u64> {
    number.parse().ok()
}

/// Bytes, or a percentage.
pub(super) fn size(text: &str, kb_base: u64) -> Result<Size, ValueError> {
    match text.trim().strip_suffix('%') {
        Some(percent) => Ok(Size::Percent(self::percent(percent)?)),
        None => bytes(text, kb_base).map(Size::Bytes),
    }
}

/// 0 to 100, with or without a sign for per cent.
pub(super) fn percent(text: &str) -> Result<f64, ValueError> {
    let wrong = || ValueError::Percentage(text.into());
    let number: f64 = text.trim().trim_end_matches('%').trim().parse().map_err(|_| wrong())?;
    (0.0..=100.0).contains(&number).then_some(number).ok_or_else(wrong)
}

/// A count.
pub(super) fn count(text: &str) -> Result<u64, ValueError> {
    bytes(text, 1024).map_err(|_| ValueError::Count(text.trim().into()))
}

/// `30`, `30s`, `5m`, `500ms`, `100us`, `2h`, `1d`; `unit` is that of a number alone.
pub(super) fn time(text: &str, unit: Nanos) -> Result<Nanos, ValueError> {
    let wrong = || ValueError::Time(text.into());
    let lower = text.trim().to_ascii_lowercase();
    let digits = lower.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(lower.len());
    let (number, name) = lower.split_at(digits);
    let second = 1_000_000_000;
    let factor = match name.trim() {
        "" => unit.0,
        "ns" | "nsec" => 1,
        "us" | "usec" => 1000,
        "ms" | "msec" => 1_000_000,
        "s" | "sec" => second,
        "m" => 60 * second,
        "h" => 3600 * second,
        "d" => 86_400 * second,
        _ => return Err(wrong()),
    };
    let ns = match whole(number) {
        Some(number) => number.checked_mul(factor),
        None => {
            let number: f64 = number.parse().map_err(|_| wrong())?;
            Some((number * factor as f64) as u64)
        }
    };
    // A century is longer than any test, and far from where times overflow.
    let century = 100 * 366 * 86_400 * second;
    ns.filter(|&ns| ns <= century).map(Nanos).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_fios() {
        for (text, base, expected) in [
            ("4096", 1024, 4096),
            ("4k", 1024, 4096),
            ("4KB", 1024, 4096),
            ("4ki", 1024, 4000),
            ("4kib", 1000, 4096),
            ("4k", 1000, 4000),
            ("1.5m", 1024, 3 << 19),
            ("2G", 1024, 2 << 30),
            ("0x200", 1024, 512),
            ("512b", 1024, 512),
        ] {
            assert_eq!(bytes(text, base), Ok(expected), "{text} {base}");
        }
        for nonsense in [
            "",
            "k",
            "4x",
            "-4k",
            "4kk",
            "99999999p",
            "1e3",
            "4 k m",
            "z",
            "1z",
            "nan",
            "18446744073709551104",
            "9223372036854775808",
            "0xfffffffffffffe00",
        ] {
            assert!(bytes(nonsense, 1024).is_err(), "{nonsense}");
        }
    }

    #[test]
    fn times_have_the_unit_of_their_option() {
        let second = Nanos::from_secs(1);
        assert_eq!(time("30", second), Ok(Nanos::from_secs(30)));
        assert_eq!(time("30", Nanos(1000)), Ok(Nanos(30_000)));
        assert_eq!(time("5m", second), Ok(Nanos::from_secs(300)));
        assert_eq!(time("500msec", second), Ok(Nanos(500_000_000)));
        assert_eq!(time("1.5h", second), Ok(Nanos::from_secs(5400)));
        assert_eq!(time("0", second), Ok(Nanos::ZERO));
        for nonsense in ["", "x", "-1", "5y", "1e9d", "999999999d"] {
            assert!(time(nonsense, second).is_err(), "{nonsense}");
        }
    }

    #[test]
    fn a_share_is_of_the_whole() {
        assert_eq!(size("50%", 1024).map(|size| size.of(1000)), Ok(500));
        assert_eq!(size("4k", 1024).map(|size| size.of(1000)), Ok(4096));
        assert!(size("101%", 1024).is_err() && size("%", 1024).is_err());
    }
}
