//! What to type to go on with work that was stopped: the command as it was typed, with `--resume`.

use std::path::Path;

use fourcorners_words::shell_word;

/// The command that was typed, going on from `folder`. `replaced` are the options, each with a value, that named the folder of
/// the results, as they may be spelled: `--out`, `-o`.
pub(super) fn command(folder: &Path, replaced: &[&str]) -> String {
    let typed = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    format!("to continue: {}", going_on(typed, &folder.to_string_lossy(), replaced))
}

fn going_on(typed: impl Iterator<Item = String>, folder: &str, replaced: &[&str]) -> String {
    let mut words = vec!["fourcorners".to_string()];
    let mut behind = Vec::new();
    let mut typed = typed.peekable();
    while let Some(word) = typed.next() {
        if word == "--" {
            behind.push(word);
            behind.extend(typed);
            break;
        }
        let is = |option: &str| match word.strip_prefix(option) {
            Some("") => Some(true),
            // `-oDIR`, `-o=DIR`, `--out=DIR`: the value is there.
            Some(value) if !option.starts_with("--") || value.starts_with('=') => Some(false),
            _ => None,
        };
        match replaced.iter().chain(&["--resume"]).find_map(|option| is(option)) {
            Some(true) => drop(typed.next()),
            Some(false) => {}
            None => words.push(word),
        }
    }
    words.extend(["--resume".into(), folder.into()]);
    words.extend(behind);
    words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_the_results_is_named_once_and_all_else_stays() {
        let typed = |words: &[&str]| {
            let words = words.iter().map(|word| (*word).to_string());
            going_on(words, "r", &["--output", "--out", "-o"])
        };
        let plain = "fourcorners review m4 --quick --resume r";
        for same in [
            &["review", "m4", "--quick"][..],
            &["review", "m4", "-o", "r", "--quick"],
            &["review", "m4", "-or", "--quick"],
            &["review", "--out=r", "m4", "--quick"],
            &["review", "m4", "--output", "a b", "--quick"],
            &["review", "--resume", "r", "m4", "--quick"],
        ] {
            assert_eq!(typed(same), plain, "{same:?}");
        }
        // Not an option: a target behind `--`, and another option that begins alike.
        assert_eq!(
            typed(&["review", "--overwrite", "--", "-o", "my drive.toml"]),
            "fourcorners review --overwrite --resume r -- -o 'my drive.toml'"
        );
        assert_eq!(
            typed(&["review", "m4", "--outer", "x"]),
            "fourcorners review m4 --outer x --resume r"
        );
    }
}
