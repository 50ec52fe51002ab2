//! Sizes as people type them, and as they are told.

/// A size in decimal units, as drives are sold.
pub fn size(bytes: u64) -> String {
    match bytes {
        1 => "1 byte".into(),
        0..1_000_000 => format!("{bytes} bytes"),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        1_000_000_000..1_000_000_000_000 => format!("{:.1} GB", bytes as f64 / 1e9),
        _ => format!("{:.2} TB", bytes as f64 / 1e12),
    }
}

/// Bytes of `2G`, `2GB` (10^9), `2GiB` (2^30), `500M`, `1.5T` or a plain number of bytes; `None` of
/// anything else, of nothing at all, and of more than 2^53.
pub fn bytes_of(text: &str) -> Option<u64> {
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
    use super::size;

    #[test]
    fn sizes_are_decimal() {
        assert_eq!([0, 1, 2].map(size), ["0 bytes", "1 byte", "2 bytes"]);
        assert_eq!(size(512), "512 bytes");
        assert_eq!(size(16 << 20), "16.8 MB");
        assert_eq!(size(120_034_123_776), "120.0 GB");
        assert_eq!(size(4_000_787_030_016), "4.00 TB");
    }
}
