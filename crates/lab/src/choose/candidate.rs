//! What there is to choose from: drives of the catalogue, one's own, and several as one.

use fourcorners_catalogue::{self as catalogue, Model, Profile};
use fourcorners_drive::Geometry;

use crate::array::{ArrayKind, ArrayProfile};
use crate::drive::Drive;
use crate::target_info::rated_cycles;

/// A drive to choose from, or several as one.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// What does the work.
    pub made_of: MadeOf,
    /// Its file in the catalogue; `None` for a profile of one's own and for several drives.
    pub family: Option<String>,
}

/// One drive, or several.
#[derive(Clone, Debug)]
pub enum MadeOf {
    /// One.
    Drive(Box<Profile>),
    /// An array of drives, or one in front of another.
    Array(Box<ArrayProfile>),
}

/// All drives of the catalogue, in alphabetical order of their families.
///
/// # Panics
/// Never: the tests read every drive of the catalogue, which is compiled in.
pub fn candidates() -> Vec<Candidate> {
    let families = catalogue::families().into_iter();
    let of_family = |family: catalogue::Family| {
        let name = family.name;
        family.drives.into_iter().map(move |drive| {
            let profile = catalogue::built_in(&drive, &[]).expect("it is built in");
            Candidate { family: Some(name.clone()), ..Candidate::of(profile) }
        })
    };
    families.flat_map(of_family).collect()
}

impl Candidate {
    /// A drive that no family of the catalogue has.
    pub fn of(profile: Profile) -> Candidate {
        Candidate { made_of: MadeOf::Drive(Box::new(profile)), family: None }
    }

    /// Several drives as one.
    pub fn of_array(array: ArrayProfile) -> Candidate {
        Candidate { made_of: MadeOf::Array(Box::new(array)), family: None }
    }

    /// Its name on the command line.
    pub fn name(&self) -> &str {
        match &self.made_of {
            MadeOf::Drive(profile) => &profile.name,
            MadeOf::Array(array) => &array.name,
        }
    }

    /// The name that a reader knows it by.
    pub fn title(&self) -> &str {
        match &self.made_of {
            MadeOf::Drive(profile) => &profile.title,
            MadeOf::Array(array) => &array.title,
        }
    }

    /// What it can hold and take.
    pub fn geometry(&self) -> Geometry {
        match &self.made_of {
            MadeOf::Drive(profile) => profile.geometry(),
            MadeOf::Array(array) => array.geometry(),
        }
    }

    /// Bytes that it holds.
    pub fn capacity_bytes(&self) -> u64 {
        self.geometry().bytes()
    }

    /// Memory that it takes, bytes.
    pub fn memory_bytes(&self) -> u64 {
        match &self.made_of {
            MadeOf::Drive(profile) => profile.memory_bytes(),
            MadeOf::Array(array) => array.memory_bytes(),
        }
    }

    /// Whether TRIMs come to anything on it.
    pub fn takes_trim(&self) -> bool {
        match &self.made_of {
            MadeOf::Drive(profile) => profile.takes_trim(),
            MadeOf::Array(array) => array.takes_trim(),
        }
    }

    /// Whether what was written to it before makes a difference: a hard disk is the same, whatever it holds. What a
    /// cache holds is what the work brings into it.
    pub(super) fn has_a_state(&self) -> bool {
        match &self.made_of {
            MadeOf::Drive(profile) => matches!(profile.model, Model::Ssd(_)),
            MadeOf::Array(array) => matches!(array.kind, ArrayKind::Array(_)) && array.is_flash(),
        }
    }

    /// Whether any of its SSDs folds or collects while nothing is asked of it.
    pub(super) fn works_while_idle(&self) -> bool {
        let works = |profile: &Profile| match &profile.model {
            Model::Ssd(ssd) => ssd.gc.idle_ms.is_some() || ssd.slc_buffer.is_some(),
            Model::Hdd(_) => false,
        };
        match &self.made_of {
            MadeOf::Drive(profile) => works(profile),
            MadeOf::Array(array) => array.members.iter().any(works),
        }
    }

    /// It, new.
    pub(super) fn drive(&self) -> Drive {
        match &self.made_of {
            MadeOf::Drive(profile) => Drive::from_profile(profile),
            MadeOf::Array(array) => array.drive(),
        }
    }

    /// Cycles that its flash is rated for, where it is one drive's.
    pub(super) fn rated_cycles(&self) -> Option<u32> {
        let MadeOf::Drive(profile) = &self.made_of else { return None };
        let Model::Ssd(ssd) = &profile.model else { return None };
        rated_cycles(ssd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_candidates_are_the_catalogue() {
        let candidates = candidates();
        let mut names: Vec<&str> = candidates.iter().map(Candidate::name).collect();
        names.sort_unstable();
        assert_eq!(names, catalogue::names());
        let m4 = candidates.iter().find(|it| it.name() == "crucial-m4-64gb");
        assert_eq!(m4.and_then(|it| it.family.as_deref()), Some("crucial-m4"));
    }

    #[test]
    fn only_flash_has_a_state_and_an_array_of_it() {
        let array = |name: &str| {
            let array = ArrayProfile::parse(name, None, &[]).expect("it is the name of one");
            Candidate::of_array(array.unwrap_or_else(|error| panic!("{error}")))
        };
        let drive =
            |name: &str| Candidate::of(catalogue::built_in(name, &[]).expect("it is built in"));
        assert!(drive("crucial-m4-64gb").has_a_state());
        assert!(!drive("wd-velociraptor-300gb").has_a_state());
        assert!(array("raid0:2xcrucial-m4-64gb").has_a_state());
        assert!(!array("raid0:2xwd-velociraptor-300gb").has_a_state());
        assert!(!array("cache:crucial-m4-64gb+wd-velociraptor-300gb").has_a_state());
    }
}
