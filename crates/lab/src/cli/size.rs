//! Sizes as people type them.

/// Bytes of `2G`, `2GB` (10^9), `2GiB` (2^30), `500M`, `1.5T` or a plain number of bytes.
pub(super) fn parse_size(text: &str) -> Result<u64, String> {
    bytes_of(text)
        .ok_or_else(|| format!("--size {text}: give a size such as 2G (10^9 bytes), 2GiB or 500M"))
}

/// The same without a word on what was wrong.
pub(super) fn bytes_of(text: &str) -> Option<u64> {
    let text_end = text.trim_end();
    let digits = text_end.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text_end.len());
    let (number, unit) = text_end.split_at(digits);
    let number: f64 = number.parse().ok()?;
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    let bytes = number * factor;
    // Beyond 2^53 a f64 skips whole numbers; no file is that large.
    (1.0..=9_007_199_254_740_992.0).contains(&bytes).then_some(bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_mean_them() {
        assert_eq!(parse_size("2G"), Ok(2_000_000_000));
        assert_eq!(parse_size("2GiB"), Ok(2 << 30));
        assert_eq!(parse_size("1.5 T"), Ok(1_500_000_000_000));
        assert_eq!(parse_size("4096"), Ok(4096));
        for nonsense in ["", "G", "-1G", "2X", "1e400", "0", "NaN", "99999999T", "2,5G"] {
            assert!(parse_size(nonsense).is_err(), "{nonsense}");
        }
    }
}
