//! Commands as they are typed.

/// A word for a shell, which within these quotes minds nothing but the quote.
pub fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=+:,@%".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.into(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_read_otherwise_is_quoted() {
        assert_eq!(shell_word("/dev/sdX"), "/dev/sdX");
        assert_eq!(shell_word(""), "''");
        assert_eq!(shell_word("my drive.toml"), "'my drive.toml'");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
    }
}
