//! Candidates by the names that people give them: a drive of the catalogue, a profile's file, or several drives as one.

use std::path::Path;

use fourcorners_catalogue::{self as catalogue, CatalogueError};

use super::candidate::{Candidate, MadeOf};
use crate::array::{ArrayNameError, ArrayProfile};

/// Why a name adds no candidate.
#[derive(Debug, thiserror::Error)]
pub enum CandidateError {
    /// There is no such drive, or its profile is not valid.
    #[error(transparent)]
    Drive(#[from] CatalogueError),
    /// There is no such array.
    #[error(transparent)]
    Array(#[from] ArrayNameError),
    /// Results go by the name.
    #[error("{typed}: there is another drive called {name}: change the name in the file")]
    Taken {
        /// As it was typed.
        typed: String,
        /// The name in its profile.
        name: String,
    },
}

/// Adds what is called `typed` to `all`, unless it is there already: a drive of the catalogue, a profile
/// (`./mine.toml`), an array (`raid0:2xNAME`) or a cache (`cache:SSD+DISK`), or a file of
/// one. The name that it has in the ranking.
///
/// # Errors
/// [`CandidateError`].
pub fn add_named(typed: &str, all: &mut Vec<Candidate>) -> Result<String, CandidateError> {
    let candidate = if let Some(array) = ArrayProfile::find(typed, None, &[]) {
        Candidate::of_array(array?)
    } else if typed.ends_with(".toml") {
        Candidate::of(catalogue::from_file(Path::new(typed), &[])?)
    } else {
        let found = catalogue::built_in(typed, &[])?;
        // The same as before, or one that nobody sells (`drives/what-if`).
        if all.iter().any(|candidate| candidate.name() == found.name) {
            return Ok(found.name);
        }
        Candidate::of(found)
    };
    let name = candidate.name().to_string();
    match all.iter().find(|known| known.name() == name) {
        None => all.push(candidate),
        // An array that the user has and thinks of, too.
        Some(known) if candidate.is_the_array(known) => {}
        Some(_) => return Err(CandidateError::Taken { typed: typed.into(), name }),
    }
    Ok(name)
}

impl Candidate {
    /// Whether both are the same array.
    fn is_the_array(&self, other: &Candidate) -> bool {
        match (&self.made_of, &other.made_of) {
            (MadeOf::Array(one), MadeOf::Array(other)) => one.hash() == other.hash(),
            _ => false,
        }
    }

    /// The same drive with the values of `set`, behind a host that takes no time: a recording has the time of its own host
    /// already. Times of a host that `set` gives are kept.
    ///
    /// # Errors
    /// [`CandidateError`]: it has no such value.
    pub fn without_host(&self, set: &[String]) -> Result<Candidate, CandidateError> {
        let made_of = match &self.made_of {
            MadeOf::Drive(profile) => {
                let found = |set: &[String]| match self.family {
                    Some(_) => catalogue::built_in(&profile.name, set),
                    // Its name may be another drive's, too.
                    None => {
                        let text = profile.to_toml();
                        catalogue::from_text_behind(&text, &profile.name, None, set)
                    }
                };
                // What is asked for counts, a host of one's own among it.
                let all = catalogue::overridden(&profile.host_to_zero(), set);
                // An error names what was asked for, and not what nobody typed.
                let without = found(&all).or_else(|error| found(set).and(Err(error)))?;
                MadeOf::Drive(Box::new(without))
            }
            MadeOf::Array(array) => {
                // All drives are told the same; what one of them has not is 0 in it, too.
                let host = array.members.iter().flat_map(|member| member.host_to_zero());
                let own = catalogue::overridden(&array.set, &host.collect::<Vec<_>>());
                let all = catalogue::overridden(&own, set);
                let asked = || array.again(None, &catalogue::overridden(&array.set, set));
                let without = array.again(None, &all).or_else(|error| asked().and(Err(error)))?;
                MadeOf::Array(Box::new(without))
            }
        };
        Ok(Candidate { made_of, family: self.family.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::candidates;
    use super::*;

    #[test]
    fn what_is_there_is_not_added_again_and_a_name_is_of_one_drive() {
        let mut all = candidates();
        let known = all.len();
        assert_eq!(add_named("crucial-m4-64gb", &mut all).ok().as_deref(), Some("crucial-m4-64gb"));
        assert_eq!(all.len(), known);
        let array = "raid0:2xcrucial-m4-64gb";
        for _ in 0..2 {
            assert_eq!(add_named(array, &mut all).ok().as_deref(), Some(array));
        }
        assert_eq!(all.len(), known + 1);
        let folder = tempfile::tempdir().expect("a folder can be made");
        let file = folder.path().join("mine.toml");
        let m4 = catalogue::built_in("crucial-m4-64gb", &[]).expect("it is built in");
        std::fs::write(&file, m4.to_toml()).expect("it can be written");
        let typed = file.display().to_string();
        let taken = add_named(&typed, &mut all).expect_err("the catalogue has that name");
        assert!(taken.to_string().contains("another drive called crucial-m4-64gb"), "{taken}");
        // Control: alone it is taken.
        assert!(add_named(&typed, &mut Vec::new()).is_ok());
        // So is a file that says the same; one that says something else under that name is not.
        let stripe = |number: u32| {
            let text = format!(
                "name = \"{array}\"\nkind = \"raid0\"\n[[drive]]\nname = \"crucial-m4-64gb\"\nnumber = {number}\n"
            );
            std::fs::write(&file, text).expect("it can be written");
        };
        stripe(2);
        assert_eq!(add_named(&typed, &mut all).ok().as_deref(), Some(array));
        stripe(3);
        let taken = add_named(&typed, &mut all).expect_err("another has that name");
        assert!(taken.to_string().contains(&format!("another drive called {array}")), "{taken}");
        let unknown = add_named("raid0:2xcrucial-m5-64gb", &mut all).expect_err("there is none");
        assert!(unknown.to_string().contains("crucial-m5-64gb"), "{unknown}");
    }

    #[test]
    fn without_a_host_every_member_is_without_one_and_what_is_set_counts() {
        let mut all = Vec::new();
        for name in ["crucial-m4-64gb", "raid0:2xcrucial-m4-64gb"] {
            add_named(name, &mut all).expect("it is one");
        }
        let host_of = |candidate: &Candidate| -> Vec<String> {
            let profiles = match &candidate.made_of {
                MadeOf::Drive(profile) => std::slice::from_ref(&**profile),
                MadeOf::Array(array) => &array.members[..],
            };
            let value = |profile: &catalogue::Profile| {
                let value = profile.values.iter().find(|it| it.key == "host.command_us");
                value.map(|it| format!("{:?}", it.value)).unwrap_or_default()
            };
            profiles.iter().map(value).collect()
        };
        for candidate in &all {
            let bare = candidate.without_host(&[]).expect("it can be set");
            let slow = candidate.without_host(&["host.command_us=7".into()]).expect("it can be");
            assert!(host_of(&bare).iter().all(|it| it.contains('0')), "{:?}", host_of(&bare));
            assert!(host_of(&slow).iter().all(|it| it.contains('7')), "{:?}", host_of(&slow));
            // Control: as it is sold, it has one.
            assert_ne!(host_of(candidate), host_of(&bare));
            assert_eq!(bare.name(), candidate.name());
        }
        for candidate in &all {
            let refused = |set: &[&str]| {
                let set: Vec<String> = set.iter().map(|given| given.to_string()).collect();
                candidate.without_host(&set).map(|_| ()).map_err(|error| error.to_string())
            };
            for set in ["host.no_such=1", "link.gbps=4"] {
                let said = refused(&[set]).expect_err(set);
                // Nobody typed that of the host.
                let is_named = said.contains(set) || said.contains(&set.replace('=', " = "));
                assert!(is_named && !said.contains("command_us=0"), "{said}");
            }
            assert_eq!(refused(&["link.gbps=3"]), Ok(()));
        }
    }
}
