//! What a name must not do to the terminal that it is shown on.

/// Whether a character moves the cursor, rings, changes colours, or reorders the text around it.
pub fn steers_a_terminal(c: char) -> bool {
    c.is_control() || reorders_text(c)
}

/// Whether a character is a mark of direction, which reorders the text around it, also that of a page.
pub fn reorders_text(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_and_marks_of_direction_steer_and_letters_of_any_script_do_not() {
        assert!(
            ['\u{1b}', '\n', '\u{9b}', '\u{202e}', '\u{2066}']
                .map(steers_a_terminal)
                .iter()
                .all(|&it| it)
        );
        assert!(['a', 'é', 'ش', '漢', '\u{301}', ' '].map(steers_a_terminal).iter().all(|&it| !it));
    }
}
