//! The catalogue of virtual drives and the profiles users bring: from TOML to a checked profile.
//!
//! The files of `drives/` are compiled in: named SSDs, hard disks and host controllers, every value
//! with its unit, its standing (stated, from a data sheet, inferred, assumed, fitted) and its source. A
//! [`Profile`] is what such a file becomes once everything in it was checked; `fourcorners-drive`
//! makes a drive of it.
//!
//! It needs no Linux: it compiles for Windows and macOS, too (`scripts/other-systems`).
//!
//! ```
//! use fourcorners_catalogue::{Model, built_in};
//! use fourcorners_drive::Ssd;
//!
//! let profile = built_in("crucial-m4-256gb", &["link.gbps=3".to_string()])?;
//! let Model::Ssd(values) = &profile.model else { panic!("it is an SSD") };
//! let drive = Ssd::new(values).expect("a profile of the catalogue is one that works");
//! assert!(drive.nameplate_op() > drive.effective_op());
//! # Ok::<(), fourcorners_catalogue::CatalogueError>(())
//! ```

#![forbid(unsafe_code)]

mod defaults;
mod error;
mod family;
mod files;
mod hosts;
mod like;
mod outline;
mod parse;
mod profile;
mod set;
mod sourced;
mod written;

use std::path::Path;

use include_dir::File;
use toml::{Table, Value};

pub use error::CatalogueError;
use error::{form, nearest_of, part_of};
pub use family::Published;
pub use files::read;
use files::{DRIVES, name_of};
pub use hosts::{HostController, host, host_names};
use parse::{parse, table_of};
pub use profile::{Model, Profile, ProfileValue};
pub use set::overridden;
pub use sourced::Standing;

/// A file of the catalogue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Family {
    /// The file's name without its ending: `crucial-m4`.
    pub name: String,
    /// What publications call its drives.
    pub published: Published,
    /// Names of its drives, in alphabetical order.
    pub drives: Vec<String>,
}

/// Names of the built-in drives, in alphabetical order.
///
/// # Panics
/// Never: the tests read every file of the catalogue, which is compiled in.
pub fn names() -> Vec<String> {
    let mut names: Vec<String> = families().into_iter().flat_map(|family| family.drives).collect();
    names.sort_unstable();
    names
}

/// The files of the catalogue, in alphabetical order.
///
/// # Panics
/// Never: the tests read every file of the catalogue, which is compiled in.
pub fn families() -> Vec<Family> {
    let read = |file: &File<'_>| {
        let name = name_of(file)?.to_string();
        let mut table = table_of(file.contents_utf8()?, &name).ok()?;
        let published = family::take_published(&mut table, &name).ok()?;
        let drives = family::drives_of(table, &name).ok()?;
        let drives = drives.iter().filter_map(|drive| Some(drive.get("name")?.as_str()?.into()));
        Some(Family { published, drives: drives.collect(), name })
    };
    let mut families: Vec<Family> = DRIVES
        .files()
        .filter(|file| name_of(file).is_some())
        .map(|file| read(file).expect("every file of the catalogue can be read"))
        .collect();
    families.sort_by(|a, b| a.name.cmp(&b.name));
    families
}

/// The built-in drive called `name`, with `set` (`key=value`) applied.
///
/// # Errors
/// When there is none (with the nearest name), or `set` makes no drive.
pub fn built_in(name: &str, set: &[String]) -> Result<Profile, CatalogueError> {
    built_in_behind(name, None, set)
}

/// The same behind a host controller, if one is given. What is `set` comes last.
///
/// # Errors
/// As [`built_in`], and when the drive takes no host controller.
pub fn built_in_behind(
    name: &str,
    host: Option<&HostController>,
    set: &[String],
) -> Result<Profile, CatalogueError> {
    let (drive, place) = table_named(name)?;
    // The file is as it was released: what is wrong is what was asked for beside it.
    let behind = host.map_or_else(String::new, |host| format!(" behind {}", host.name));
    let with = match set.len() {
        0 => String::new(),
        1..=MOST_NAMED => format!(" with --set {}", set.join(" --set ")),
        _ => " with what is set".into(),
    };
    let given = match behind.is_empty() && with.is_empty() {
        true => place.to_string(),
        false => format!("{name}{behind}{with}"),
    };
    parse(whole(drive, place)?, &given, host, set)
}

/// Settings that an error names one by one.
const MOST_NAMED: usize = 2;

/// A drive's table with what it has from the drive that it is like.
fn whole(table: Table, place: &str) -> Result<Table, CatalogueError> {
    let named = |name: &str| table_named(name).map(|(table, _)| table);
    like::whole(table, named).map_err(|error| form(place, error.to_string()))
}

fn what_if_files() -> impl Iterator<Item = &'static File<'static>> {
    DRIVES.get_dir("what-if").into_iter().flat_map(|folder| folder.files())
}

/// Letters that may be wrong in the name of a drive that nobody sells.
const MOST_SLIPS: usize = 2;

/// Names of the built-in drives that nobody sells (`drives/what-if`), in alphabetical order.
pub fn what_if_names() -> Vec<&'static str> {
    let mut names: Vec<&str> = what_if_files().filter_map(name_of).collect();
    names.sort_unstable();
    names
}

/// The table of the built-in drive called `name`, as it is written, and the file that it is in.
fn table_named(name: &str) -> Result<(Table, &'static str), CatalogueError> {
    // A drive's name begins with that of its file, so that few files are read for it.
    let files = DRIVES.files().filter(|file| name_of(file).is_some_and(|f| name.starts_with(f)));
    for file in files {
        let Some((text, place)) = file.contents_utf8().zip(file.path().to_str()) else { continue };
        let mut table = table_of(text, place)?;
        family::take_published(&mut table, place)?;
        let drives = family::drives_of(table, place)?;
        let is_it = |drive: &Table| drive.get("name").and_then(Value::as_str) == Some(name);
        if let Some(drive) = drives.into_iter().find(is_it) {
            return Ok((drive, place));
        }
    }
    let what_if = what_if_files().find(|file| name_of(file) == Some(name));
    match what_if.and_then(|file| file.contents_utf8().zip(file.path().to_str())) {
        Some((text, place)) => Ok((table_of(text, place)?, place)),
        None => {
            // A drive that nobody sells is meant by who types nearly its whole name, and no part of another's.
            let typed = name.to_lowercase();
            let slips = |known: &&str| match typed.len().abs_diff(known.len()) {
                0..=MOST_SLIPS => strsim::damerau_levenshtein(&typed, known),
                _ => usize::MAX,
            };
            let what_if = || {
                let nearest = what_if_names().into_iter().min_by_key(slips);
                nearest.filter(|known| slips(known) <= MOST_SLIPS).map(String::from)
            };
            let nearest = part_of(names(), name).or_else(what_if);
            let nearest = nearest.or_else(|| nearest_of(names(), name));
            Err(CatalogueError::Unknown { name: name.into(), nearest })
        }
    }
}

/// A file in the form of the catalogue's: what publications call its drives, and the drives. The family has the
/// file's name without its ending.
///
/// # Errors
/// When it cannot be read, is none of drives, or one of them is none.
pub fn family_from_file(path: &Path) -> Result<(Family, Vec<Profile>), CatalogueError> {
    let (place, published, drives) = family_tables(path)?;
    let profiles = drives.into_iter().map(|drive| parse(drive, &place, None, &[]));
    let profiles = profiles.collect::<Result<Vec<Profile>, _>>()?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let drives = profiles.iter().map(|profile| profile.name.clone()).collect();
    Ok((Family { name, published, drives }, profiles))
}

/// A file in the form of those of `drives/`: its name in messages, what publications call its drives, and a table of each.
fn family_tables(path: &Path) -> Result<(String, Published, Vec<Table>), CatalogueError> {
    let place = path.display().to_string();
    let mut table = table_of(&read(path)?, &place)?;
    let published = family::take_published(&mut table, &place)?;
    let drives = family::drives_of(table, &place)?;
    Ok((place, published, drives))
}

/// One of the drives in a file in the form of those of `drives/`, behind a host controller, if one is given, with `set` applied.
///
/// # Errors
/// As [`family_from_file`]; and when it has no drive of this name, that takes no host controller, or makes no drive with what is
/// set.
pub fn of_family_behind(
    path: &Path,
    name: &str,
    host: Option<&HostController>,
    set: &[String],
) -> Result<Profile, CatalogueError> {
    let (place, _, drives) = family_tables(path)?;
    let is_it = |drive: &Table| drive.get("name").and_then(toml::Value::as_str) == Some(name);
    let drive = drives.into_iter().find(is_it);
    let drive = drive.ok_or_else(|| form(&place, format!("it has no drive \"{name}\"")))?;
    parse(drive, &place, host, set)
}

/// The profile in a file, with `set` applied.
///
/// # Errors
/// When it cannot be read, is no profile, or makes no drive.
pub fn from_file(path: &Path, set: &[String]) -> Result<Profile, CatalogueError> {
    from_file_behind(path, None, set)
}

/// The same behind a host controller, if one is given. What is `set` comes last.
///
/// # Errors
/// As [`from_file`], and when the drive takes no host controller.
pub fn from_file_behind(
    path: &Path,
    host: Option<&HostController>,
    set: &[String],
) -> Result<Profile, CatalogueError> {
    from_text_behind(&read(path)?, &path.display().to_string(), host, set)
}

/// The profile that a text is, behind a host controller, if one is given. Errors name the text
/// `place`; what is `set` comes last. What it may leave out (`drives/defaults`) is assumed, and says so.
///
/// # Errors
/// As [`from_file_behind`].
pub fn from_text_behind(
    text: &str,
    place: &str,
    host: Option<&HostController>,
    set: &[String],
) -> Result<Profile, CatalogueError> {
    let form = |message: String| form(place, message);
    let mut table = table_of(text, place)?;
    family::take_published(&mut table, place)?;
    let mut drives = family::drives_of(table, place)?;
    if drives.len() > 1 {
        let names: Vec<&str> = drives.iter().filter_map(|d| d.get("name")?.as_str()).collect();
        let names = names.join(", ");
        return Err(form(format!("{names}: these are several drives; a profile is of one")));
    }
    match drives.pop() {
        Some(drive) => {
            let mut drive = whole(drive, place)?;
            defaults::complete(&mut drive);
            let mut with_set = drive.clone();
            set::apply(&mut with_set, set)?;
            defaults::refuse_missing(&with_set, text, place)?;
            parse(drive, place, host, set)
        }
        None => Err(form("there is no drive in it".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourcorners_drive::config::{LinkSection, TrimMode};

    #[test]
    fn every_built_in_drive_is_a_drive_under_its_own_name() {
        for family in families() {
            assert!(!family.drives.is_empty(), "{}", family.name);
            for name in &family.drives {
                let profile = built_in(name, &[]).unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(&profile.name, name);
                assert!(!profile.values.is_empty());
            }
            let year = family.published.year;
            assert!(year.is_some_and(|year| (2000..2100).contains(&year)), "{}", family.name);
            let usual = family.published.usual;
            assert!(usual.is_none_or(|usual| family.drives.contains(&usual)), "{}", family.name);
        }
    }

    /// Values of a drive without the note that CONTRIBUTING.md asks for. A page that is cited says what was concluded from; a model
    /// does not.
    fn without_a_note(profile: &Profile) -> Vec<String> {
        let needs = |it: &ProfileValue| match it.standing {
            Standing::Fitted => true,
            Standing::Inferred => it.source_key == "model",
            _ => false,
        };
        let has = |it: &ProfileValue| it.note.as_ref().is_some_and(|note| !note.trim().is_empty());
        let without = profile.values.iter().filter(|it| needs(it) && !has(it));
        without.map(|it| format!("{} {}", profile.name, it.key)).collect()
    }

    #[test]
    fn what_was_concluded_or_fitted_says_how() {
        let drives = names().into_iter().chain(what_if_names().into_iter().map(String::from));
        let drives = drives.map(|name| built_in(&name, &[]).expect("built in"));
        let lacking: Vec<String> = drives.flat_map(|drive| without_a_note(&drive)).collect();
        assert_eq!(lacking, [""; 0]);
        let mut m4 = built_in("crucial-m4-256gb", &[]).expect("built in");
        let fitted = m4.values.iter_mut().find(|it| it.standing == Standing::Fitted);
        fitted.expect("some are").note = None;
        assert_eq!(without_a_note(&m4).len(), 1);
    }

    #[test]
    fn an_unknown_drive_suggests_the_nearest() {
        let error = built_in("crucial-m4-256", &[]).expect_err("no such drive");
        assert_eq!(
            error.to_string(),
            "there is no drive \"crucial-m4-256\" in the catalogue; did you mean \"crucial-m4-256gb\"? \
             `fourcorners drives` lists them"
        );
        let told = |name: &str| built_in(name, &[]).expect_err("no such drive").to_string();
        // Part of a name; and a drive that nobody sells only where nearly all of its name is typed.
        assert!(
            told("m4-256").contains("did you mean \"crucial-m4-256gb\"?"),
            "{}",
            told("m4-256")
        );
        assert!(told("M4-256GB").contains("did you mean \"crucial-m4-256gb\"?"));
        assert!(told("840-evo-foldin").contains("did you mean \"840-evo-folding\"?"));
        // A part of one that is sold, though one that nobody sells is as near.
        assert!(told("m4-64gb").contains("did you mean \"crucial-m4-64gb\"?"));
        assert!(told("M4-4G").contains("did you mean \"m4-4gb\"?"));
        // Neither from the middle of a part, nor of two letters.
        assert!(told("840").contains("did you mean \"samsung-840-evo-"), "{}", told("840"));
        assert!(!told("gb").contains("did you mean") && !told("64").contains("did you mean"));
        let part = told("840-evo-f");
        assert!(!part.contains("folding"), "{part}");
        let error = built_in("zzzz", &[]).expect_err("no such drive");
        assert!(!error.to_string().contains("did you mean"), "{error}");
    }

    #[test]
    fn a_profile_written_out_is_the_same_drive() {
        for name in names() {
            let profile = built_in(&name, &[]).unwrap_or_else(|error| panic!("{error}"));
            let table = table_of(&profile.to_toml(), &name).unwrap_or_else(|e| panic!("{e}"));
            let again = parse(table, &name, None, &[]).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(again, profile);
        }
    }

    fn set(given: &str) -> Result<Profile, CatalogueError> {
        built_in("crucial-m4-256gb", &[given.to_string()])
    }

    #[test]
    fn a_file_that_is_no_profile_is_refused_with_its_line() {
        let error = table_of("name = \"a\"\ntitle = = 3", "mine.toml").expect_err("not TOML");
        assert!(error.to_string().starts_with("mine.toml: line 2: "), "{error}");
        let table = table_of("name = \"a\"\n", "mine.toml").expect("TOML");
        let error = parse(table, "mine.toml", None, &[]).expect_err("no profile");
        assert!(error.to_string().contains("title is missing"), "{error}");
    }

    #[test]
    fn a_value_can_be_set() {
        let profile = set("link.gbps=3").expect("3 Gb/s is a link");
        let Model::Ssd(ssd) = &profile.model else { panic!("the m4 is an SSD") };
        let LinkSection::Sata(sata) = &ssd.link else { panic!("the m4 is SATA") };
        assert_eq!(sata.gbps, 3.0);
        let gbps = profile.values.iter().find(|value| value.key == "link.gbps").expect("there");
        assert_eq!(gbps.standing, Standing::Set);
        assert_ne!(profile.hash(), built_in("crucial-m4-256gb", &[]).expect("there").hash());
    }

    #[test]
    fn a_key_and_a_section_that_the_file_does_not_have_can_be_set() {
        let given = |set: &[&str]| {
            let set: Vec<String> = set.iter().map(ToString::to_string).collect();
            let profile = built_in("samsung-840-evo-250gb", &set).unwrap_or_else(|e| panic!("{e}"));
            let Model::Ssd(ssd) = profile.model else { panic!("it is an SSD") };
            *ssd
        };
        let plain = given(&[]);
        assert!(plain.trim.mode.is_none() && plain.nand_suspend.is_none() && plain.map.is_none());
        let ssd = given(&["trim.mode=ignored", "map.unit_bytes=4096"]);
        assert_eq!(ssd.trim.mode, Some(TrimMode::Ignored));
        assert_eq!(ssd.map.and_then(|map| map.unit_bytes), Some(4096));
        let ssd = given(&["gc.idle_ms=100", "gc.idle_free_blocks=20"]);
        assert_eq!(ssd.gc.idle_ms, Some(100.0));
        // In any order, and a section is whole once all of it is set.
        let suspend = ["resume_us=20", "most_suspensions=8", "erase_suspend_us=100"];
        let suspend = suspend.map(|key| format!("nand_suspend.{key}"));
        let ssd = given(&suspend.each_ref().map(String::as_str));
        assert_eq!(ssd.nand_suspend.map(|it| it.most_suspensions), Some(8));
    }

    #[test]
    fn a_setting_that_makes_no_drive_is_refused_by_key_value_and_range() {
        for (given, told) in [
            ("link.gbps", "write it as section.key=value"),
            ("link.gbps=4", "link.gbps = 4 is not possible: it must be 1.5, 3 or 6"),
            ("link.frame_us=x", "\"x\" for link.frame_us"),
            (
                "capacity.queue_depth=33",
                "capacity.queue_depth = 33 is not possible: it must be 1 to 32",
            ),
            ("link.gbsp=3", "did you mean link.gbps?"),
            ("link.gbps=fast", "\"fast\" for link.gbps"),
            ("nand.dies=0", "nand.dies = 0 is not possible: it must be 1 to 4096"),
            ("nand.dies=-1", "nand.dies"),
            ("nand.dies=99999999999999999999", "nand.dies"),
            ("nand.read_us=-3", "nand.read_us = -3 is not possible: it must be 0 to 1000000"),
            ("nand.read_us=NaN", "nand.read_us = NaN is not possible"),
            ("capacity.sectors=900118192", "capacity.sectors = 900118192 is not possible"),
            ("gc.pacing=sometimes", "gc.pacing"),
            ("sources.model=x", "no parameter \"sources.model\""),
            ("trim.mode=sometimes", "it must be one of instant, queued, blocking, ignored"),
            ("gc.idle_ms=soon", "\"soon\" for gc.idle_ms"),
            ("gc.idle_ms=100", "gc.idle_free_blocks"),
            ("gc.idel_ms=100", "did you mean gc.idle_ms?"),
            ("mechanics.rpm=7200", "no parameter \"mechanics.rpm\""),
            ("map.unit_bytes=big", "\"big\" for map.unit_bytes: it must be a whole number"),
            (
                "nand_suspend.resume_us=20",
                "has no section nand_suspend; to give it one, set nand_suspend.most_suspensions (a \
                 whole number) as well",
            ),
        ] {
            let error = set(given).expect_err(given).to_string();
            assert!(error.contains(told), "{given}: {error}");
            assert!(!error.contains('\n'), "{given}: {error}");
        }
    }
}
