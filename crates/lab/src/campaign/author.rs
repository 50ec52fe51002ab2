//! Who reviews.

use thiserror::Error;

/// Most characters of a name.
const MOST_OF_A_NAME: usize = 200;

/// No name that can stand in a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("give a name of 1 to {MOST_OF_A_NAME} characters, on one line")]
pub struct NoAuthorName;

/// The name of an author, as it can stand in a line of a record.
///
/// # Errors
/// [`NoAuthorName`] if it is empty, of several lines or too long.
pub fn author_name(text: &str) -> Result<String, NoAuthorName> {
    let name = text.trim();
    let fits = (1..=MOST_OF_A_NAME).contains(&name.chars().count());
    if fits && !name.contains(char::is_control) { Ok(name.into()) } else { Err(NoAuthorName) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_line() {
        let longest = "\u{e9}".repeat(MOST_OF_A_NAME);
        for name in ["Ada Lovelace", " Ada ", &longest] {
            assert_eq!(author_name(name).as_deref(), Ok(name.trim()));
        }
        for wrong in ["", " ", "a\nb", "a\u{1b}[0m", &format!("{longest}a")] {
            assert_eq!(author_name(wrong), Err(NoAuthorName), "{wrong}");
        }
    }
}
