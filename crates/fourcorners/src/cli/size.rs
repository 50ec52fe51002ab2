//! The size of a file, as `--size` takes it.

pub(super) use fourcorners_words::bytes_of;

/// Bytes of `2G`, `2GB` (10^9), `2GiB` (2^30), `500M`, `1.5T` or a plain number of bytes.
pub(super) fn parse_size(text: &str) -> Result<u64, String> {
    bytes_of(text)
        .ok_or_else(|| format!("--size {text}: give a size such as 2G (10^9 bytes), 2GiB or 500M"))
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
