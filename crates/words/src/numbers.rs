//! Numbers as conclusions spell them.

/// The text with a capital letter.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// A number to about three digits, as the reviews print them: "0", "0.812", "81.2", "812", "8,124".
pub fn three_digits(value: f64) -> String {
    // The rounded value decides: 9.996 is 10.0.
    let decimals = match value.abs() {
        0.0 => return "0".into(),
        999.5.. => return count(value),
        99.95.. => 0,
        9.995.. => 1,
        0.9995.. => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// A share of one in percent, to three digits.
pub fn percent(share: f64) -> String {
    format!("{} %", three_digits(share * 100.0))
}

/// A whole number with a comma between thousands.
pub fn count(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    if value < 0.0 && digits != "0" {
        text.push('-');
    }
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Things with their number: "1 drive", "1,234 drives". `one` is the noun for one, whose plural ends in an s.
pub fn counted(number: u64, one: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {one}{plural}", count(number as f64))
}

/// Names as a sentence has them: "a", "a and b", "a, b and c"; of more than `most`, `some` and how many more: "a, b and 3 more".
pub fn listed(names: &[&str], most: usize, some: usize) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).into(),
        _ if names.len() > most => {
            let some = some.min(names.len());
            format!("{} and {} more", names[..some].join(", "), names.len() - some)
        }
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Bytes as hexadecimal digits: a hash as it is printed.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Microseconds in the unit a reader wants them in.
pub fn time(micros: f64) -> String {
    match micros {
        999.5e3.. => format!("{} s", three_digits(micros / 1e6)),
        999.5.. => format!("{} ms", three_digits(micros / 1e3)),
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
        assert_eq!([0.0, 8124.0, -81_240.0].map(three_digits), ["0", "8,124", "-81,240"]);
        assert_eq!([0.4, 999.6, 1_234_567.0].map(count), ["0", "1,000", "1,234,567"]);
        assert_eq!(hex(&[0, 10, 255]), "000aff");
        assert_eq!([0, 1, 1234].map(|it| counted(it, "I/O")), ["0 I/Os", "1 I/O", "1,234 I/Os"]);
        assert_eq!([-0.4, -3.0, -1234.0].map(count), ["0", "-3", "-1,234"]);
        assert_eq!([58.34, 4312.0, 1.4e6].map(time), ["58.3 µs", "4.31 ms", "1.40 s"]);
    }

    #[test]
    fn what_rounds_to_the_next_power_has_its_digits_and_its_unit() {
        assert_eq!(
            [0.9996, 9.996, 99.97, 999.7].map(three_digits),
            ["1.00", "10.0", "100", "1,000"]
        );
        assert_eq!(
            [999.4, 999.7, 999_400.0, 999_700.0].map(time),
            ["999 µs", "1.00 ms", "999 ms", "1.00 s"]
        );
    }
}
