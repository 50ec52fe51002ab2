//! Defaults of a command that nobody typed.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ValueEnum;

use super::{Config, Key};
use crate::cli::args::WhichReferences;
use crate::cli::command::Command;

/// A value that a command took without its being typed.
pub(in crate::cli) struct Taken {
    key: Key,
    texts: Vec<OsString>,
    from: Origin,
}

/// Where a value is from.
enum Origin {
    Variable(&'static str),
    File { path: PathBuf, line: usize },
}

impl Taken {
    /// What a person is told of the values of a config file: what they measure, and where it goes, is not what was typed. A
    /// variable of the environment is set for the command.
    pub(in crate::cli) fn note(taken: &[Taken]) -> Option<String> {
        let of_file = |taken: &Taken| match &taken.from {
            Origin::File { path, .. } => {
                let set = format!("{} {}", taken.key.name(), taken.names().join(","));
                Some((path.clone(), set))
            }
            Origin::Variable(_) => None,
        };
        let set: Vec<(PathBuf, String)> = taken.iter().filter_map(of_file).collect();
        let (path, _) = set.first()?;
        let values: Vec<&str> = set.iter().map(|(_, set)| set.as_str()).collect();
        Some(format!("fourcorners: by {}: {}", path.display(), values.join("; ")))
    }

    /// What is added to an error that is about such a value, so that it is looked for where it is.
    pub(in crate::cli) fn blamed(taken: &[Taken], message: &str) -> String {
        // A name is in no error that is about it.
        let said = taken.iter().filter(|it| it.key != Key::Author).filter_map(|it| {
            let value = it.names().into_iter().find(|text| message.contains(text.as_str()))?;
            Some(match &it.from {
                Origin::Variable(name) => format!(" ({value} is from {name})"),
                Origin::File { path, line } => {
                    format!(" ({value} is {} in {}, line {line})", it.key.name(), path.display())
                }
            })
        });
        said.collect()
    }
}

/// Gives a command the values that nobody typed: of the environment, or of the config file.
pub(in crate::cli) fn fill(command: &mut Command, config: &Config) -> Vec<Taken> {
    let mut taken = Vec::new();
    if let Some(place @ None) = database(command)
        && let Some(found) = config.value(Key::Database)
    {
        *place = Some(found.path());
        taken.push(found);
    }
    match command {
        Command::Review(args) => {
            if args.methods.is_empty()
                && let Some(found) = config.value(Key::Methods)
            {
                args.methods = found.names();
                taken.push(found);
            }
            if args.output.is_none()
                && args.resume.is_none()
                && !args.json
                && let Some(found) = config.value(Key::Results)
            {
                args.results = Some(found.path());
                taken.push(found);
            }
            taken.extend(references(&mut args.references, config));
            taken.extend(author(&mut args.author, config));
            if !args.quiet {
                args.keep.note = Taken::note(&taken);
            }
        }
        Command::Report(args) => taken.extend(references(&mut args.references, config)),
        Command::Sweep(args) => taken.extend(python(&mut args.python, config)),
        Command::Diagnose(args) if args.twin.is_some() => {
            taken.extend(python(&mut args.python, config));
        }
        Command::Quick(args) => {
            taken.extend(author(&mut args.author, config));
            args.keep.note = Taken::note(&taken);
        }
        Command::Trace(args) => {
            if let Some(keep) = args.keep() {
                keep.note = Taken::note(&taken);
            }
        }
        _ => {}
    }
    taken
}

impl Config {
    /// What the environment says, or else the file.
    fn value(&self, key: Key) -> Option<Taken> {
        if let Some((name, value)) = key.in_environment() {
            return Some(Taken { key, texts: vec![value], from: Origin::Variable(name) });
        }
        let (path, setting) = (self.path.as_ref()?, self.settings.get(&key)?);
        let from = Origin::File { path: path.clone(), line: setting.line };
        let texts = setting.texts.iter().map(OsString::from).collect();
        Some(Taken { key, texts, from })
    }
}

impl Taken {
    /// Its texts, as they can be shown.
    fn names(&self) -> Vec<String> {
        self.texts.iter().map(|text| text.to_string_lossy().into_owned()).collect()
    }

    fn path(&self) -> PathBuf {
        self.texts.iter().collect()
    }
}

/// Where a command has the database that was typed, if it may use one.
fn database(command: &mut Command) -> Option<&mut Option<PathBuf>> {
    match command {
        Command::Review(args) => args.keep.stored_in(),
        Command::Quick(args) => args.keep.stored_in(),
        Command::Trace(args) => args.keep()?.stored_in(),
        Command::Report(args) => Some(&mut args.db),
        Command::Results(args) => Some(&mut args.db),
        Command::Compare(args) => Some(&mut args.db),
        #[cfg(feature = "web")]
        Command::Web(args) => Some(&mut args.db),
        _ => None,
    }
}

fn python(place: &mut Option<OsString>, config: &Config) -> Option<Taken> {
    let found = config.value(Key::Python)?;
    *place = Some(found.path().into());
    Some(found)
}

fn author(typed: &mut Option<String>, config: &Config) -> Option<Taken> {
    if typed.is_some() {
        return None;
    }
    let found = config.value(Key::Author)?;
    *typed = found.names().pop();
    Some(found)
}

fn references(typed: &mut Option<WhichReferences>, config: &Config) -> Option<Taken> {
    if typed.is_some() {
        return None;
    }
    let found = config.value(Key::References)?;
    *typed = WhichReferences::from_str(&found.names().concat(), false).ok();
    Some(found)
}
