//! Sizes as people type them.

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
