//! A profile that says only what it has and another drive has not:
//!
//! ```toml
//! like = "crucial-m4-256gb"
//! name = "m4-coalescing"
//! title = "Crucial m4 256 GB that coalesces writes"
//! [sources]
//! what-if = "..."
//! [buffer]
//! coalesce = { value = true, standing = "assumed", source = "what-if" }
//! ```
//!
//! Everything else is that drive's, with its sources. Profiles of this form in `drives/what-if` are of drives that
//! nobody sells: each has one mechanism that no drive of the catalogue is known to have, so that its effect can be
//! measured. They go by their names as the catalogue's do, and are in none of its lists.

use thiserror::Error;
use toml::{Table, Value};

/// Drives that one is like through others, at most.
const MOST_STEPS: usize = 4;

/// Why a profile is not like another drive; `E` is why there is no such drive.
#[derive(Debug, Error)]
pub(super) enum LikeError<E: std::error::Error> {
    #[error("like = {0} must be the name of a drive")]
    NoName(Value),
    #[error("like: {0}")]
    NoDrive(E),
    #[error("like = \"{0}\" is a drive too far: there may be {MOST_STEPS} of them")]
    TooFar(String),
    #[error("kind = {kind} is that of {name}: leave it out")]
    Kind { kind: Value, name: String },
}

/// A drive's table with all that it has from the drive it is like, which `named` finds; itself where it is like none.
pub(super) fn whole<E: std::error::Error>(
    mut table: Table,
    named: impl Fn(&str) -> Result<Table, E>,
) -> Result<Table, LikeError<E>> {
    let mut steps = Vec::new();
    while let Some(like) = table.remove("like") {
        let Value::String(name) = like else { return Err(LikeError::NoName(like)) };
        if steps.len() == MOST_STEPS {
            return Err(LikeError::TooFar(name));
        }
        if let Some(kind) = table.remove("kind") {
            return Err(LikeError::Kind { kind, name });
        }
        let mut common = named(&name).map_err(LikeError::NoDrive)?;
        // A drive that is another has a name of its own.
        common.remove("name");
        common.remove("title");
        steps.push(std::mem::replace(&mut table, common));
    }
    for own in steps.into_iter().rev() {
        for (section, content) in own {
            overlay(&mut table, section, content);
        }
    }
    Ok(table)
}

/// Puts a drive's own section over the common one, key by key.
pub(super) fn overlay(drive: &mut Table, section: String, content: Value) {
    match (drive.get_mut(&section), content) {
        (Some(Value::Table(common)), Value::Table(own)) => common.extend(own),
        (_, content) => {
            drive.insert(section, content);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CatalogueError, Profile, built_in, from_text_behind, names, what_if_names};

    fn read(text: &str) -> Result<Profile, CatalogueError> {
        from_text_behind(text, "mine.toml", None, &[])
    }

    const MINE: &str = "like = \"crucial-m4-256gb\"\nname = \"mine\"\ntitle = \"Mine\"\n\
        [sources]\nme = \"I say so\"\n\
        [nand]\nread_us = { value = 40.0, standing = \"assumed\", source = \"me\" }\n";

    #[test]
    fn what_a_profile_does_not_say_is_that_of_the_drive_it_is_like() {
        let m4 = built_in("crucial-m4-256gb", &[]).expect("built in");
        let mine = read(MINE).expect("a profile");
        assert_eq!((mine.name.as_str(), mine.title.as_str()), ("mine", "Mine"));
        let differ: Vec<&str> = (m4.values.iter().zip(&mine.values))
            .filter(|(theirs, ours)| theirs != ours)
            .map(|(_, ours)| ours.key.as_str())
            .collect();
        assert_eq!((m4.values.len(), differ), (mine.values.len(), vec!["nand.read_us"]));
        // Written out it is whole, and like no other.
        let again = read(&mine.to_toml()).expect("a profile");
        assert_eq!(again, mine);
    }

    #[test]
    fn a_profile_that_is_like_none_there_is_is_refused() {
        let told = |old: &str, new: &str| {
            assert!(MINE.contains(old));
            read(&MINE.replacen(old, new, 1)).expect_err(new).to_string()
        };
        let near = told("m4-256gb", "m4-265gb");
        assert!(
            near.starts_with("mine.toml: like: there is no drive \"crucial-m4-265gb\""),
            "{near}"
        );
        assert!(near.contains("did you mean \"crucial-m4-256gb\"?"), "{near}");
        let kind = told("name =", "kind = \"hdd\"\nname =");
        assert_eq!(kind, "mine.toml: kind = \"hdd\" is that of crucial-m4-256gb: leave it out");
        let number = told("\"crucial-m4-256gb\"", "3");
        assert_eq!(number, "mine.toml: like = 3 must be the name of a drive");
        let nameless = told("name = \"mine\"\n", "");
        assert!(nameless.contains("name is missing"), "{nameless}");
    }

    #[test]
    fn a_profile_that_is_like_itself_comes_to_an_end() {
        let itself = |_: &str| Ok::<Table, std::io::Error>("like = \"a\"".parse().expect("TOML"));
        let table = "like = \"a\"\nname = \"a\"".parse().expect("TOML");
        let error = whole(table, itself).expect_err("there is no end").to_string();
        assert_eq!(error, "like = \"a\" is a drive too far: there may be 4 of them");
    }

    #[test]
    fn every_drive_that_nobody_sells_is_one_under_its_own_name_and_in_no_list() {
        assert!(!what_if_names().is_empty());
        for name in what_if_names() {
            let profile = built_in(name, &[]).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(profile.name, name);
            assert!(!names().iter().any(|known| known == name), "{name}");
        }
        let error = built_in("m4-coalescin", &[]).expect_err("no such drive").to_string();
        assert!(error.contains("did you mean \"m4-coalescing\"?"), "{error}");
    }
}
