//! Numbers as conclusions spell them.

/// The text with a capital letter.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// A number to about three digits, as the reviews print them.
pub fn three_digits(value: f64) -> String {
    let decimals = match value.abs() {
        100.0.. => 0,
        10.0.. => 1,
        1.0.. => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// A share of one in percent, to three digits; nothing at all is 0.
pub fn percent(share: f64) -> String {
    if share == 0.0 { "0 %".into() } else { format!("{} %", three_digits(share * 100.0)) }
}

/// A whole number with a comma between thousands.
pub fn count(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Microseconds in the unit a reader wants them in.
pub fn time(micros: f64) -> String {
    match micros {
        1e6.. => format!("{} s", three_digits(micros / 1e6)),
        1e3.. => format!("{} ms", three_digits(micros / 1e3)),
        _ => format!("{} µs", three_digits(micros)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_and_units_a_reader_wants() {
        assert_eq!(
            [0.8124, 8.124, 81.24, 812.4].map(three_digits),
            ["0.812", "8.12", "81.2", "812"]
        );
        assert_eq!([0.4, 999.6, 1_234_567.0].map(count), ["0", "1,000", "1,234,567"]);
        assert_eq!([58.34, 4312.0, 1.4e6].map(time), ["58.3 µs", "4.31 ms", "1.40 s"]);
    }
}
