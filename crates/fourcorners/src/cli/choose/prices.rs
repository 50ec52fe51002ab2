//! `--prices`: a CSV file of drives and what they cost.

use std::collections::BTreeMap;
use std::path::Path;

use fourcorners_words::nearest;

/// A file larger than this is no list of prices.
const MOST_BYTES: u64 = 1 << 20;

/// The prices in a file, by drive. `known` are the drives' names.
///
/// # Errors
/// The line that is wrong, and what to give.
pub(super) fn read(path: &Path, known: &[&str]) -> Result<BTreeMap<String, f64>, String> {
    let place = path.display();
    let cannot = |cause| format!("{place}: cannot read the prices: {cause}");
    let metadata = std::fs::metadata(path).map_err(cannot)?;
    if !metadata.is_file() {
        return Err(format!("{place}: this is not a file; a list of prices is one"));
    }
    if metadata.len() > MOST_BYTES {
        return Err(format!("{place}: {} bytes is too long for prices", metadata.len()));
    }
    let text = std::fs::read_to_string(path).map_err(cannot)?;
    parse(&text, known).map_err(|(line, why)| format!("{place}: line {line}: {why}"))
}

/// The prices in a text; else the line and what is wrong with it.
fn parse(text: &str, known: &[&str]) -> Result<BTreeMap<String, f64>, (u64, String)> {
    let mut prices = BTreeMap::new();
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    for record in reader.records() {
        let record =
            record.map_err(|error| (line_of(text, error.position()), error.to_string()))?;
        let line = line_of(text, record.position());
        let fields: Vec<&str> = record.iter().collect();
        let (drive, price) = match fields[..] {
            ["drive", "price"] if prices.is_empty() => continue,
            [drive, price] => (drive, price),
            _ => {
                let count = fields.len();
                return Err((line, format!("it has {count} fields: give drive,price")));
            }
        };
        if !known.contains(&drive) {
            let near = nearest(drive, known.iter().copied());
            let hint = near.map_or_else(
                || "`fourcorners drives` lists them".into(),
                |near| format!("did you mean \"{near}\"?"),
            );
            return Err((line, format!("there is no drive \"{drive}\" in the catalogue; {hint}")));
        }
        let number: Option<f64> = price.parse().ok();
        let number = number.filter(|price| price.is_finite() && *price > 0.0).ok_or_else(|| {
            (line, format!("the price \"{price}\" is not a number above 0, such as 149.90"))
        })?;
        if prices.insert(drive.to_string(), number).is_some() {
            return Err((line, format!("{drive} has a price already")));
        }
    }
    match prices.is_empty() {
        false => Ok(prices),
        true => Err((1, "there is no price in it: give lines of drive,price".into())),
    }
}

/// The line that a record is in. The reader's own count is of where it began to look, before the empty lines and the rest of the line
/// end before the record.
fn line_of(text: &str, position: Option<&csv::Position>) -> u64 {
    let Some(position) = position else { return 1 };
    let from = (position.byte() as usize).min(text.len());
    let is_end = |byte: &&u8| matches!(byte, b'\r' | b'\n');
    let skipped = text.as_bytes()[from..].iter().take_while(is_end).count();
    let before = &text.as_bytes()[..from + skipped];
    // The second byte of CR LF ends no further line.
    let ends = |at: &usize| match before[*at] {
        b'\n' => *at == 0 || before[*at - 1] != b'\r',
        byte => byte == b'\r',
    };
    1 + (0..before.len()).filter(ends).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[&str] = &["crucial-m4-256gb", "intel-320-300gb"];

    #[test]
    fn prices_are_read_with_and_without_a_heading() {
        let two = BTreeMap::from([
            ("crucial-m4-256gb".to_string(), 99.9),
            ("intel-320-300gb".to_string(), 120.0),
        ]);
        for text in [
            "drive,price\ncrucial-m4-256gb,99.90\nintel-320-300gb,120\n",
            "\u{feff}crucial-m4-256gb , 99.90\r\n\r\n\"intel-320-300gb\",120",
        ] {
            assert_eq!(parse(text, KNOWN), Ok(two.clone()), "{text}");
        }
    }

    #[test]
    fn a_line_that_is_wrong_is_named() {
        for (text, line, told) in [
            ("", 1, "no price in it"),
            ("drive,price\n", 1, "no price in it"),
            ("drive,price\ncrucial-m4-256gb\n", 2, "1 fields"),
            ("crucial-m4-256gb,99,EUR", 1, "3 fields"),
            ("drive,price\ncrucial-m4-256,99", 2, "did you mean \"crucial-m4-256gb\"?"),
            ("zzz,99", 1, "`fourcorners drives` lists them"),
            ("crucial-m4-256gb,cheap", 1, "\"cheap\" is not a number"),
            ("crucial-m4-256gb,-3", 1, "above 0"),
            ("crucial-m4-256gb,inf", 1, "above 0"),
            ("crucial-m4-256gb,3\ncrucial-m4-256gb,4", 2, "has a price already"),
            // Whatever ends a line, and with lines that are empty.
            ("drive,price\r\nzzz,99\r\n", 2, "no drive \"zzz\""),
            ("drive,price\n\nzzz,99\n", 3, "no drive \"zzz\""),
            ("\r\n\r\ncrucial-m4-256gb,3\r\n\r\ncrucial-m4-256gb,4", 5, "has a price already"),
            ("\u{feff}drive,price\rzzz,99", 2, "no drive \"zzz\""),
        ] {
            let (at, why) = parse(text, KNOWN).expect_err(text);
            assert_eq!(at, line, "{text}: {why}");
            assert!(why.contains(told), "{text}: {why}");
        }
    }
}
