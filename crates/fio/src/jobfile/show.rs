//! Jobs as a command line, as `fio --showcmd` prints them.

use super::JobRequest;
use super::error::JobFileError;
use super::sections::{Environment, Section, Setting};

/// The command line of the jobs. Values are quoted for a shell where they have to be.
///
/// # Errors
/// For the first line that is neither a section nor an option; what an option means is not asked.
pub fn show_command(
    request: &JobRequest<'_>,
    environment: Environment<'_>,
) -> Result<String, JobFileError> {
    let sections = request.read(environment)?.sections;
    let mut words = vec!["fio".to_string()];
    let mut globals = 0;
    for (place, section) in sections.iter().enumerate() {
        let Section { name, globals: all, own, .. } = section;
        let new = all.get(globals..).unwrap_or_default();
        if place > 0 && !new.is_empty() {
            words.push("--name=global".into());
        }
        words.extend(new.iter().map(option));
        globals = all.len();
        words.push(format!("--name={}", quoted(name)));
        words.extend(own.iter().map(option));
    }
    Ok(words.join(" "))
}

fn option(setting: &Setting) -> String {
    match &setting.value {
        Some(value) => format!("--{}={}", setting.key, quoted(value)),
        None => format!("--{}", setting.key),
    }
}

/// A word as a POSIX shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:,=".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::sections::JobSource;
    use super::*;

    fn shown(text: &str, sections: &[String]) -> String {
        let sources = [JobSource::Text { text: text.into(), name: PathBuf::from("job.fio") }];
        let request = JobRequest { options: &[], sources: &sources, sections };
        show_command(&request, &|_| None).expect(text)
    }

    #[test]
    fn a_job_file_is_shown_as_the_command_that_does_the_same() {
        let text = "[global]\nbs=4k\ntime_based\n[a b]\nrw=randread\n[global]\nsize=1m\n[c]\ndescription=it's\n";
        assert_eq!(
            shown(text, &[]),
            "fio --bs=4k --time_based --name='a b' --rw=randread --name=global --size=1m --name=c \
             --description='it'\\''s'"
        );
        assert_eq!(
            shown(text, &["c".into()]),
            "fio --bs=4k --time_based --size=1m --name=c --description='it'\\''s'"
        );
    }
}
