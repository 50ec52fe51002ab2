//! What to type to go on with work that was stopped: the command as it was typed, with `--resume`.

use std::path::Path;

use fourcorners_words::{shell_word, steers_a_terminal};

/// The command that was typed, going on from `folder`. `replaced` are the options, each with a value, that named the folder of
/// the results, as they may be spelled: `--out`, `-o`.
pub(super) fn command(folder: &Path, replaced: &[&str]) -> String {
    let typed = std::env::args_os().map(std::ffi::OsString::into_string);
    told(typed.collect::<Result<_, _>>().ok(), folder, replaced)
}

/// `typed` are the words of the command; `None` where one of them is not text.
fn told(typed: Option<Vec<String>>, folder: &Path, replaced: &[&str]) -> String {
    // What cannot be printed cannot be typed from here.
    let printed = |text: &str| !text.chars().any(steers_a_terminal);
    match (typed, folder.to_str()) {
        (Some(typed), Some(folder)) if printed(folder) && typed.iter().all(|it| printed(it)) => {
            format!("to continue: {}", going_on(typed, folder, replaced))
        }
        _ => format!(
            "to continue: the same command with --resume {} (and without {})",
            folder.display(),
            replaced[0]
        ),
    }
}

fn going_on(typed: Vec<String>, folder: &str, replaced: &[&str]) -> String {
    let mut words = Vec::new();
    let mut behind = Vec::new();
    let mut typed = typed.into_iter();
    words.extend(typed.next());
    while let Some(word) = typed.next() {
        if word == "--" {
            behind.push(word);
            behind.extend(typed);
            break;
        }
        let (flags, word) = apart(word, replaced);
        words.extend(flags);
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
    words.push(format!("--resume={folder}"));
    words.extend(behind);
    words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}

/// The flag without a value before a replaced one in `-qo`, and the rest.
fn apart(word: String, replaced: &[&str]) -> (Option<String>, String) {
    match word.strip_prefix("-q") {
        Some(rest) if replaced.contains(&"-o") && rest.starts_with('o') => {
            (Some("-q".into()), format!("-{rest}"))
        }
        _ => (None, word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_the_results_is_named_once_and_all_else_stays() {
        let typed = |words: &[&str]| {
            let words = std::iter::once("./fourcorners").chain(words.iter().copied());
            going_on(words.map(String::from).collect(), "r", &["--output", "--out", "-o"])
        };
        for same in [
            &["review", "m4", "-q"][..],
            &["review", "m4", "-o", "r", "-q"],
            &["review", "m4", "-qo", "r"],
            &["review", "m4", "-qor"],
            &["review", "m4", "-or", "-q"],
            &["review", "--out=r", "m4", "-q"],
            &["review", "m4", "--output", "a b", "-q"],
            &["review", "--resume", "r", "m4", "-q"],
        ] {
            assert_eq!(typed(same), "./fourcorners review m4 -q --resume=r", "{same:?}");
        }
        // Not an option: a target behind `--`, and another option that begins alike.
        assert_eq!(
            typed(&["review", "--overwrite", "--", "-o", "my drive.toml"]),
            "./fourcorners review --overwrite --resume=r -- -o 'my drive.toml'"
        );
        // What cannot be printed is not.
        let said = |typed: Option<&[&str]>, folder| {
            let typed = typed.map(|words| words.iter().map(ToString::to_string).collect());
            told(typed, Path::new(folder), &["--out"])
        };
        assert_eq!(said(Some(&["f", "m4"]), "r"), "to continue: f m4 --resume=r");
        let same = "to continue: the same command with --resume r (and without --out)";
        assert_eq!([said(None, "r"), said(Some(&["f", "a\nb"]), "r")], [same; 2]);
        assert_eq!(said(Some(&["f", "a\u{202e}b"]), "r"), same);
        assert_eq!(
            typed(&["review", "m4", "--outer", "x"]),
            "./fourcorners review m4 --outer x --resume=r"
        );
    }
}
