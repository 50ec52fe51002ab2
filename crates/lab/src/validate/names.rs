//! From what a publication calls a drive to the drive of the catalogue.

use std::path::{Path, PathBuf};

use fourcorners_catalogue::{self as catalogue, CatalogueError, Family, HostController, Profile};

/// Words that say nothing about which drive it is.
const NOISE: [&str; 15] = [
    "intel",
    "crucial",
    "micron",
    "ocz",
    "sandisk",
    "samsung",
    "seagate",
    "western",
    "digital",
    "wd",
    "ssd",
    "gb",
    "drive",
    "class",
    "preproduction",
];

/// How far a published capacity may be from the drive's.
const CAPACITY_TOLERANCE: f64 = 0.03;

/// The catalogue as publications see it.
pub(super) struct Names {
    models: Vec<Model>,
}

struct Model {
    family: Family,
    /// Each of its names, in words.
    names: Vec<Vec<String>>,
    drives: Vec<Profile>,
    /// Where it is, if not in the catalogue.
    path: Option<PathBuf>,
}

/// A drive that was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'a> {
    /// The drive.
    pub profile: &'a Profile,
    /// The file it is in.
    pub family: &'a str,
    /// Whether its capacity is our choice, because none was published.
    pub usual: bool,
}

impl Names {
    /// Reads the catalogue.
    ///
    /// # Panics
    /// Never: the tests read every drive of the catalogue, which is compiled in.
    pub(super) fn new() -> Names {
        let models = catalogue::families().into_iter().map(|family| {
            let own = std::iter::once(&family.name);
            let names = own.chain(&family.published.names).map(|name| telling(name)).collect();
            let profile = |name: &String| catalogue::built_in(name, &[]).expect("it is built in");
            let drives = family.drives.iter().map(profile).collect();
            Model { family, names, drives, path: None }
        });
        Names { models: models.collect() }
    }

    /// Puts a file of drives beside those of the catalogue, or in the place of the one of that name.
    pub(super) fn replace(&mut self, family: Family, drives: Vec<Profile>, path: &Path) {
        self.models.retain(|model| model.family.name != family.name);
        let own = std::iter::once(&family.name);
        let names = own.chain(&family.published.names).map(|name| telling(name)).collect();
        self.models.push(Model { family, names, drives, path: Some(path.into()) });
    }

    /// Whether there is a file of drives of this name.
    pub(super) fn has_family(&self, name: &str) -> bool {
        self.models.iter().any(|model| model.family.name == name)
    }

    /// The drive of this name behind a host controller, if one is given, with `set` applied.
    ///
    /// # Errors
    /// As [`catalogue::built_in_behind`].
    pub(super) fn profile(
        &self,
        drive: &str,
        host: Option<&HostController>,
        set: &[String],
    ) -> Result<Profile, CatalogueError> {
        match self.path_of(drive) {
            Some(path) => catalogue::of_family_behind(path, drive, host, set),
            None => catalogue::built_in_behind(drive, host, set),
        }
    }

    /// Where a drive is, if not in the catalogue.
    pub(super) fn path_of(&self, drive: &str) -> Option<&Path> {
        let has_it = |model: &&Model| model.drives.iter().any(|it| it.name == drive);
        self.models.iter().find(has_it)?.path.as_deref()
    }

    /// All hard disks.
    pub(super) fn hard_disks(&self) -> impl Iterator<Item = Found<'_>> {
        self.models.iter().flat_map(|model| {
            let disks = model.drives.iter().filter(|profile| profile.model.kind() == "hdd");
            disks.map(|profile| Found { profile, family: &model.family.name, usual: true })
        })
    }

    /// The drive of this name in the catalogue.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn named(&self, id: &str, usual: bool) -> Result<Found<'_>, String> {
        let drives = self.models.iter().flat_map(|model| {
            let family = model.family.name.as_str();
            model.drives.iter().map(move |profile| Found { profile, family, usual })
        });
        let mut named = drives.filter(|found| found.profile.name == id);
        named.next().ok_or_else(|| format!("there is no drive \"{id}\" in the catalogue"))
    }

    /// The drive that `name` names; `gb` is its capacity where that is published apart.
    ///
    /// # Errors
    /// Why there is none, in a few words.
    pub(super) fn find(&self, name: &str, gb: Option<f64>) -> Result<Found<'_>, String> {
        let words = telling(name);
        let fits = |model| best_place(model, &words).map(|(place, length)| (model, place, length));
        let best = self.models.iter().filter_map(fits).max_by_key(|&(_, _, length)| length);
        let Some((model, place, length)) = best else {
            return Err(format!("no drive of the catalogue is called \"{name}\""));
        };
        let mut wanted = Wanted { gb, firmware: None };
        let mut rest = words[..place].iter().chain(&words[place + length..]);
        while let Some(word) = rest.next() {
            match word.as_str() {
                "fw" | "firmware" => wanted.firmware = rest.next().cloned(),
                word => match capacity_gb(word) {
                    Some(gb) => wanted.gb = wanted.gb.or(Some(gb)),
                    None => {
                        let (name, has) = (name.trim(), &model.family.name);
                        return Err(format!(
                            "the catalogue's {has} is not what \"{name}\" is: \"{word}\""
                        ));
                    }
                },
            }
        }
        model.drive(&wanted)
    }
}

/// What is asked of a model's drives.
struct Wanted {
    gb: Option<f64>,
    firmware: Option<String>,
}

impl Model {
    fn drive(&self, wanted: &Wanted) -> Result<Found<'_>, String> {
        let published = &self.family.published;
        // A drive of another firmware than the common one says so at the end of its name.
        let other = wanted.firmware.as_ref().filter(|&fw| !published.firmware.contains(fw));
        let is_firmware = |name: &str| match other {
            Some(firmware) => name.ends_with(&format!("-fw{firmware}")),
            None => !name.contains("-fw"),
        };
        let is_capacity = |profile: &Profile| match wanted.gb {
            Some(gb) => {
                (profile.capacity_bytes() as f64 / 1e9 / gb - 1.0).abs() < CAPACITY_TOLERANCE
            }
            None => {
                self.drives.len() == 1
                    || published.usual.as_deref() == Some(without_firmware(profile))
            }
        };
        let found = self.drives.iter().find(|p| is_firmware(&p.name) && is_capacity(p));
        let found = found.map(|profile| Found {
            profile,
            family: &self.family.name,
            usual: wanted.gb.is_none() && self.drives.len() > 1,
        });
        found.ok_or_else(|| match (other, wanted.gb) {
            (Some(firmware), _) => format!("the profile is not of firmware {firmware}"),
            (None, Some(gb)) => format!("the catalogue has no {} of {gb} GB", self.family.name),
            (None, None) => "no capacity is published".into(),
        })
    }
}

/// A drive's name without the firmware at its end.
fn without_firmware(profile: &Profile) -> &str {
    profile.name.split_once("-fw").map_or(profile.name.as_str(), |(name, _)| name)
}

/// Where the longest of a model's names is in `words`, and its length.
fn best_place(model: &Model, words: &[String]) -> Option<(usize, usize)> {
    let place = |name: &Vec<String>| {
        let at = words.windows(name.len().max(1)).position(|window| window == name.as_slice())?;
        Some((at, name.len()))
    };
    model.names.iter().filter_map(place).max_by_key(|&(_, length)| length)
}

/// The words of a name that tell which drive it is.
fn telling(name: &str) -> Vec<String> {
    let plain = name.to_lowercase();
    let words = plain.split(|c: char| !c.is_alphanumeric() && c != '.');
    let words = words.map(|word| word.trim_matches('.'));
    words.filter(|word| !word.is_empty() && !NOISE.contains(word)).map(str::to_string).collect()
}

/// A word that is a capacity: `256`, `256gb`, `1tb`.
fn capacity_gb(word: &str) -> Option<f64> {
    let (number, factor) = match word.strip_suffix("tb") {
        Some(number) => (number, 1000.0),
        None => (word.strip_suffix("gb").unwrap_or(word), 1.0),
    };
    number.parse::<f64>().ok().filter(|&gb| gb > 0.0 && gb.is_finite()).map(|gb| gb * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_names_lead_to_drives() {
        let names = Names::new();
        for (name, gb, drive) in [
            ("Crucial m4", Some(256.0), "crucial-m4-256gb"),
            ("m4 512", None, "crucial-m4-512gb"),
            ("Crucial m4 (fw 0002)", Some(256.0), "crucial-m4-256gb"),
            ("Crucial m4 (fw 0009)", Some(128.0), "crucial-m4-128gb-fw0009"),
            ("Crucial C300", None, "crucial-c300-256gb"),
            ("RealSSD C300 128GB", None, "crucial-c300-128gb"),
            ("Intel 320", Some(300.0), "intel-320-300gb"),
            ("Intel DC S3700", Some(200.0), "intel-s3700-200gb"),
            ("Intel X25-M G2", None, "intel-x25-m-g2-160gb"),
            ("X25-M G1", Some(160.0), "intel-x25-m-g1-160gb"),
            ("OCZ Vertex (Indilinx)", None, "ocz-vertex-120gb"),
            ("OCZ Vertex firmware march2009", None, "ocz-vertex-120gb-fwmarch2009"),
            ("OCZ Vertex 2", None, "ocz-vertex-2-100gb"),
            ("OCZ Vertex 3 240", None, "ocz-vertex-3-240gb"),
            ("Samsung 840 EVO", Some(1000.0), "samsung-840-evo-1000gb"),
            ("Samsung SSD 840 EVO 1TB", None, "samsung-840-evo-1000gb"),
            ("WD VelociRaptor (WD3000GLFS)", Some(300.0), "wd-velociraptor-300gb"),
            ("Seagate Momentus 5400.6", None, "seagate-momentus-5400.6"),
        ] {
            let found = names.find(name, gb).unwrap_or_else(|why| panic!("{name}: {why}"));
            assert_eq!(found.profile.name, drive, "{name}");
        }
    }

    #[test]
    fn what_is_another_drive_is_not_taken_for_one_of_ours() {
        let names = Names::new();
        for (name, gb, told) in [
            ("OCZ Vertex LE", None, "\"le\""),
            ("OCZ Vertex Turbo (Indilinx)", Some(128.0), "\"turbo\""),
            ("OCZ Vertex (Indilinx SLC)", None, "\"slc\""),
            ("P3700 vs X25-M G2", None, "\"p3700\""),
            ("Intel 510", None, "no drive of the catalogue is called"),
            ("generic", None, "no drive of the catalogue is called"),
            ("", None, "no drive of the catalogue is called"),
            ("Intel 320", Some(40.0), "no intel-320 of 40 GB"),
            ("Crucial m4 (fw 0309)", Some(128.0), "not of firmware 0309"),
            ("Crucial m4", Some(0.0), "no crucial-m4 of 0 GB"),
        ] {
            let why = names.find(name, gb).expect_err(name);
            assert!(why.contains(told), "{name}: {why}");
        }
        assert_eq!(names.hard_disks().count(), 2);
    }
}
