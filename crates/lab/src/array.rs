//! Arrays by name: `raid5:4xcrucial-m4-256gb:64k` is four drives of the catalogue as one target.

use fourcorners_array::{Array, ArrayConfig, ArrayError, CHUNK_BYTES, Level};
use fourcorners_catalogue::{self as catalogue, CatalogueError, HostController, Model, Profile};
use fourcorners_drive::{Geometry, Hdd, SECTOR_BYTES, Ssd};
use fourcorners_record::{TargetInfo, TargetKind};
use fourcorners_words::{bytes_of, nearest};
use sha2::{Digest, Sha256};

use crate::target_info::target_info;
use crate::virtual_drive::Virtual;

/// An array of virtual drives.
#[derive(Clone, Debug)]
pub struct ArrayProfile {
    /// As it was typed.
    pub name: String,
    /// The name a reader knows it by.
    pub title: String,
    /// How its members make one.
    pub config: ArrayConfig,
    /// The members, in order; each SSD varies in its own way.
    pub members: Vec<Profile>,
    /// What was changed of all of them.
    pub set: Vec<String>,
}

/// Why a name is not that of an array.
#[derive(Debug, thiserror::Error)]
pub enum ArrayNameError {
    /// There is no such drive.
    #[error(transparent)]
    Drive(#[from] CatalogueError),
    /// A part of the name that means nothing.
    #[error("{name}: \"{part}\" {must}")]
    Part {
        /// The whole name.
        name: String,
        /// The part.
        part: String,
        /// What has to be there.
        must: String,
    },
    /// The drives do not make one.
    #[error("{name}: {error}")]
    Array {
        /// The whole name.
        name: String,
        /// Why.
        error: ArrayError,
    },
}

/// What follows the drives in a name.
const OPTIONS: &str =
    "is not known there: a chunk such as 64k, no-trim, failed=2 and rebuild=100 (MB/s) are";

impl ArrayProfile {
    /// The array of a name, its drives behind this host controller and with these values changed; `None` if the name is
    /// none of an array.
    ///
    /// # Errors
    /// [`ArrayNameError`]: it is the name of one, and there is no such array.
    pub fn parse(
        name: &str,
        host: Option<&HostController>,
        set: &[String],
    ) -> Option<Result<ArrayProfile, ArrayNameError>> {
        let (level, rest) = name.split_once(':')?;
        let of_level = |it: &&Level| it.name() == level;
        let level = Level::ALL.iter().find(of_level).copied();
        let slip = || {
            let known = Level::ALL.iter().map(|level| level.name());
            nearest(name.split(':').next().unwrap_or_default(), known)
        };
        match level {
            Some(level) => Some(ArrayProfile::of(name, level, rest, (host, set))),
            None if name.contains('/') => None,
            None => slip().map(|near| {
                let part = name.split(':').next().unwrap_or_default().to_string();
                Err(ArrayNameError::Part {
                    name: name.into(),
                    part,
                    must: format!("is no kind of array; did you mean {near}?"),
                })
            }),
        }
    }

    fn of(
        name: &str,
        level: Level,
        rest: &str,
        (host, set): (Option<&HostController>, &[String]),
    ) -> Result<ArrayProfile, ArrayNameError> {
        let wrong = |part: &str, must: &str| ArrayNameError::Part {
            name: name.into(),
            part: part.into(),
            must: must.into(),
        };
        let mut parts = rest.split(':');
        let mut members = Vec::new();
        for drives in parts.next().unwrap_or_default().split('+') {
            let (count, drive) = match drives.split_once('x') {
                Some((count, drive))
                    if !count.is_empty() && count.bytes().all(|it| it.is_ascii_digit()) =>
                {
                    let most = fourcorners_array::MOST_MEMBERS;
                    let count = count.parse().ok().filter(|count| (1..=most).contains(count));
                    let must = format!("is not a number of drives from 1 to {most}");
                    (count.ok_or_else(|| wrong(drives, &must))?, drive)
                }
                _ => (1, drives),
            };
            for _ in 0..count {
                members.push(member(drive, members.len() + 1, host, set)?);
            }
        }
        let mut config = ArrayConfig { level, chunk_bytes: CHUNK_BYTES, ..ArrayConfig::default() };
        for part in parts {
            if part == "no-trim" {
                config.trim = false;
            } else if let Some(number) = part.strip_prefix("failed=") {
                let number = number.parse::<usize>().ok().filter(|&number| number > 0);
                let number =
                    number.ok_or_else(|| wrong(part, "names no drive: they are counted from 1"))?;
                config.failed = Some(number - 1);
            } else if let Some(rate) = part.strip_prefix("rebuild=") {
                let rate = rate.trim_end_matches("MB/s").parse::<f64>().ok();
                config.rebuild_mb_per_s =
                    Some(rate.ok_or_else(|| wrong(part, "is no rate in MB/s"))?);
            } else {
                config.chunk_bytes = chunk_bytes(part).ok_or_else(|| wrong(part, OPTIONS))?;
            }
        }
        let title = title(&config, &members);
        let set = set.to_vec();
        let profile = ArrayProfile { name: name.into(), title, config, members, set };
        // What makes none is said now: an array that is asked for is one.
        let geometries: Vec<Geometry> = profile.members.iter().map(Profile::geometry).collect();
        let nulls = geometries
            .iter()
            .map(|it| fourcorners_drive::Null::new(it.sectors, Default::default()));
        Array::new(&profile.config, nulls.collect())
            .map_err(|error| ArrayNameError::Array { name: name.into(), error })?;
        Ok(profile)
    }

    /// The array, its drives new.
    pub(crate) fn array(&self) -> Array<Virtual> {
        let checked = "a parsed profile has passed its check";
        let drives = self.members.iter().map(|profile| match &profile.model {
            Model::Ssd(ssd) => Virtual::Ssd(Box::new(Ssd::new(ssd).expect(checked))),
            Model::Hdd(hdd) => Virtual::Hdd(Box::new(Hdd::new(hdd).expect(checked))),
        });
        Array::new(&self.config, drives.collect()).expect("it was made of the same before")
    }

    /// What it can hold and take.
    pub fn geometry(&self) -> Geometry {
        fourcorners_drive::Target::geometry(&self.array_of_nothing())
    }

    fn array_of_nothing(&self) -> Array<fourcorners_drive::Null> {
        let nulls = self.members.iter().map(|it| {
            fourcorners_drive::Null::new(it.capacity_bytes() / SECTOR_BYTES, Default::default())
        });
        Array::new(&self.config, nulls.collect()).expect("it was made of the same before")
    }

    /// Memory that its drives take, bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.members.iter().map(Profile::memory_bytes).sum()
    }

    /// Whether all of its drives are SSDs.
    pub fn is_flash(&self) -> bool {
        self.members.iter().all(|member| matches!(member.model, Model::Ssd(_)))
    }

    /// What its record says of it: of its drives as far as they agree.
    pub(crate) fn target_info(&self, geometry: Geometry) -> TargetInfo {
        let members = self.members.iter().map(|it| target_info(it, it.geometry()));
        let members: Vec<TargetInfo> = members.collect();
        let mut sum = Sha256::new();
        sum.update(format!("{:?}", self.config));
        for member in &members {
            sum.update(member.profile_hash.as_deref().unwrap_or_default());
        }
        let hash: String =
            sum.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let mut fitted: Vec<String> = members.iter().flat_map(|it| it.fitted.clone()).collect();
        fitted.sort();
        fitted.dedup();
        let first = &members[0];
        TargetInfo {
            title: self.title.clone(),
            rotational: members.iter().all(|it| it.rotational),
            profile_hash: Some(hash),
            fitted,
            variation: first
                .variation
                .filter(|_| members.iter().all(|it| it.variation == first.variation)),
            set: self.set.clone(),
            host_controller: first.host_controller.clone(),
            host_trim: first.host_trim,
            ..TargetInfo::new(
                self.name.clone(),
                TargetKind::Virtual,
                geometry.bytes(),
                geometry.logical_block_bytes,
            )
        }
    }
}

/// A chunk as controllers and md write it: 64k are 65,536 bytes, since no chunk is a power of ten.
fn chunk_bytes(text: &str) -> Option<u64> {
    let unit = |shift: u32, suffix: [char; 2]| {
        let number: u64 = text.strip_suffix(suffix)?.parse().ok()?;
        number.checked_mul(1 << shift)
    };
    unit(10, ['k', 'K']).or_else(|| unit(20, ['m', 'M'])).or_else(|| bytes_of(text))
}

/// A member, which varies in its own way where drives of its kind vary.
fn member(
    drive: &str,
    number: usize,
    host: Option<&HostController>,
    set: &[String],
) -> Result<Profile, CatalogueError> {
    let profile = catalogue::built_in_behind(drive, host, set)?;
    match &profile.model {
        Model::Ssd(ssd) if ssd.variation.is_some() => {
            let own = [format!("variation.seed={number}")];
            let set: Vec<String> = own.into_iter().chain(set.iter().cloned()).collect();
            catalogue::built_in_behind(drive, host, &set)
        }
        _ => Ok(profile),
    }
}

/// "RAID 5 of 4 x Crucial m4 256 GB, chunks of 64 KiB".
fn title(config: &ArrayConfig, members: &[Profile]) -> String {
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for member in members {
        match kinds.last_mut() {
            Some((title, count)) if *title == member.title => *count += 1,
            _ => kinds.push((&member.title, 1)),
        }
    }
    let kinds: Vec<String> =
        kinds.iter().map(|(title, count)| format!("{count} x {title}")).collect();
    let level = match config.level {
        Level::Concat => "Concatenation of",
        Level::Raid0 => "RAID 0 of",
        Level::Raid1 => "RAID 1 of",
        Level::Raid5 => "RAID 5 of",
        Level::Raid10 => "RAID 10 of",
    };
    let mut title = format!("{level} {}", kinds.join(" and "));
    if config.level.is_striped() {
        title += &format!(", chunks of {} KiB", config.chunk_bytes >> 10);
    }
    if !config.trim {
        title += ", no TRIM";
    }
    match (config.failed, config.rebuild_mb_per_s) {
        (Some(failed), None) => title += &format!(", drive {} failed", failed + 1),
        (Some(failed), Some(rate)) => {
            title += &format!(", drive {} new, rebuilt at {rate} MB/s", failed + 1);
        }
        (None, _) => {}
    }
    title
}

#[cfg(test)]
mod tests {
    use fourcorners_drive::Target;

    use super::*;

    fn parse(name: &str) -> Result<ArrayProfile, String> {
        let parsed = ArrayProfile::parse(name, None, &[]).expect("the name of an array");
        parsed.map_err(|error| error.to_string())
    }

    #[test]
    fn a_name_says_what_is_inside() {
        let array = parse("raid5:3xcrucial-m4-64gb:64k").expect("it is one");
        assert_eq!(array.title, "RAID 5 of 3 x Crucial m4 64 GB, chunks of 64 KiB");
        assert_eq!(array.config.chunk_bytes, 65_536);
        let one = array.members[0].capacity_bytes();
        let whole = 2 * (one / 65_536 * 65_536);
        assert_eq!((array.geometry().bytes(), array.array().geometry().bytes()), (whole, whole));
        // Drives of one model do not vary alike.
        assert_ne!(array.members[0].hash(), array.members[1].hash());
        let mixed = parse("concat:crucial-m4-64gb+wd-velociraptor-300gb").expect("it is one");
        assert_eq!(
            mixed.title,
            "Concatenation of 1 x Crucial m4 64 GB and 1 x WD VelociRaptor 300 GB"
        );
        assert!(array.is_flash() && !mixed.is_flash());
        let failed =
            parse("raid1:2xcrucial-m4-64gb:failed=2:rebuild=50MB/s:no-trim").expect("it is one");
        assert_eq!((failed.config.failed, failed.config.rebuild_mb_per_s), (Some(1), Some(50.0)));
        assert!(
            failed.title.ends_with(", no TRIM, drive 2 new, rebuilt at 50 MB/s"),
            "{}",
            failed.title
        );
        let [one, other] = ["raid5:3xcrucial-m4-64gb:64k", "raid5:3xcrucial-m4-64gb:128k"]
            .map(|name| parse(name).expect("it is one"));
        let hash = |it: &ArrayProfile| it.target_info(it.geometry()).profile_hash;
        assert_ne!(hash(&one), hash(&other));
        assert_eq!(hash(&one), hash(&array));
    }

    #[test]
    fn what_makes_none_names_the_part() {
        let of = |name: &str| parse(name).expect_err("it is none");
        assert!(of("raid5:2xcrucial-m4-64gb").ends_with("raid5 of 2 drives: it takes 3 to 64"));
        assert!(of("raid0:2xcrucial-m4-64g").contains("did you mean \"crucial-m4-64gb\""));
        assert!(of("raid0:2xcrucial-m4-64gb:fast").contains("\"fast\" is not known there"));
        assert!(of("raid0:2xcrucial-m4-64gb:12k").contains("a power of two"));
        assert!(of("raid0:99xcrucial-m4-64gb").contains("not a number of drives from 1 to 64"));
        assert!(of("raid1:2xcrucial-m4-64gb:failed=0").contains("counted from 1"));
        assert!(of("raid1:2xcrucial-m4-64gb:failed=3").contains("has failed"));
        assert!(of("raid6:4xcrucial-m4-64gb").contains("did you mean raid"));
        for no_array in
            ["crucial-m4-64gb", "./raid0:file", "task:boot", "/dev/disk/by-path/pci-0:1"]
        {
            assert!(ArrayProfile::parse(no_array, None, &[]).is_none(), "{no_array}");
        }
    }
}
