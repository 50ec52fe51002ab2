//! Virtual drives as one target, by name (`raid5:4xcrucial-m4-256gb:64k`,
//! `cache:crucial-m4-64gb+wd-velociraptor-300gb`) or by a file of TOML that says the same, one thing a line.

mod cache_name;
mod file;
mod makeup;
mod name;

use std::path::Path;

use fourcorners_array::{Array, ArrayConfig, Cache, CacheConfig};
use fourcorners_catalogue::{HostController, Model, Profile};
use fourcorners_drive::{Geometry, Hdd, Null, Ssd, Target};
use fourcorners_record::{TargetInfo, TargetKind};
use fourcorners_words::hex;
use sha2::{Digest, Sha256};

use crate::drive::Drive;
use crate::target_info::target_info;
use crate::virtual_drive::Virtual;

pub use file::ArrayFile;
use makeup::Makeup;
pub use name::ArrayNameError;

/// Virtual drives as one target.
#[derive(Clone, Debug)]
pub struct ArrayProfile {
    /// What results go by: the name as it was typed, or the one in its file.
    pub name: String,
    /// The name a reader knows it by.
    pub title: String,
    /// How its members make one.
    pub kind: ArrayKind,
    /// The members, in order; each SSD varies in its own way.
    pub members: Vec<Profile>,
    /// What was changed of all of them.
    pub set: Vec<String>,
    /// What it was made of.
    makeup: Makeup,
}

/// How drives make one.
#[derive(Clone, PartialEq, Debug)]
pub enum ArrayKind {
    /// They share the data.
    Array(ArrayConfig),
    /// The first is the cache of the second.
    Cache(CacheConfig),
}

/// Drives as one, of either kind.
pub enum Several {
    /// They share the data.
    Array(Box<Array<Virtual>>),
    /// The first is the cache of the second.
    Cache(Box<Cache<Virtual>>),
}

impl ArrayProfile {
    /// The drives that a target as typed is of: a name, or a file that ends in `.toml`; `None` if it is a single drive.
    ///
    /// # Errors
    /// [`ArrayNameError`]: it is of several, and they make none.
    pub fn find(
        typed: &str,
        host: Option<&HostController>,
        set: &[String],
    ) -> Option<Result<ArrayProfile, ArrayNameError>> {
        if typed.ends_with(".toml") {
            let file = ArrayFile::read(Path::new(typed))?;
            return Some(file.and_then(|file| file.profile(host, set)));
        }
        ArrayProfile::parse(typed, host, set)
    }

    /// The same drives behind this host controller and with these values changed instead.
    ///
    /// # Errors
    /// [`ArrayNameError`]: they make none so.
    pub fn again(
        &self,
        host: Option<&HostController>,
        set: &[String],
    ) -> Result<ArrayProfile, ArrayNameError> {
        self.makeup.profile(host, set)
    }

    /// The drives as one, new.
    pub(crate) fn drive(&self) -> Drive {
        match self.several() {
            Several::Array(array) => Drive::Array(array),
            Several::Cache(cache) => Drive::Cache(cache),
        }
    }

    /// The same for whoever has a loop of their own.
    ///
    /// # Panics
    /// Never: a name that was parsed is of drives that make one.
    pub fn several(&self) -> Several {
        let checked = "a parsed profile has passed its check";
        let made = "it was made of the same before";
        let drives = self.members.iter().map(|profile| match &profile.model {
            Model::Ssd(ssd) => Virtual::Ssd(Box::new(Ssd::new(ssd).expect(checked))),
            Model::Hdd(hdd) => Virtual::Hdd(Box::new(Hdd::new(hdd).expect(checked))),
        });
        match &self.kind {
            ArrayKind::Array(config) => {
                Several::Array(Box::new(Array::new(config, drives.collect()).expect(made)))
            }
            ArrayKind::Cache(config) => {
                let mut drives = drives;
                let mut next = || drives.next().expect("a cache has two drives");
                let (ssd, disk) = (next(), next());
                Several::Cache(Box::new(Cache::new(config, ssd, disk).expect(made)))
            }
        }
    }

    /// What it can hold and take.
    ///
    /// # Panics
    /// Never: a name that was parsed is of drives that make one.
    pub fn geometry(&self) -> Geometry {
        self.geometry_of_nothing().expect("it was made of the same before")
    }

    /// The same of drives that do nothing, which takes no time, or why they make none.
    fn geometry_of_nothing(&self) -> Result<Geometry, String> {
        let mut nulls =
            self.members.iter().map(|it| Null::new(it.geometry().sectors, Default::default()));
        match &self.kind {
            ArrayKind::Array(config) => {
                let array = Array::new(config, nulls.collect());
                array.map(|it| it.geometry()).map_err(|error| error.to_string())
            }
            ArrayKind::Cache(config) => {
                // Nobody has to warm what does nothing.
                let config = CacheConfig { warm: false, ..config.clone() };
                let mut next = || nulls.next().ok_or("a cache has two drives");
                let (ssd, disk) = (next()?, next()?);
                let cache = Cache::new(&config, ssd, disk);
                cache.map(|it| it.geometry()).map_err(|error| error.to_string())
            }
        }
    }

    /// Whether a TRIM of all of it comes to anything: all members of an array take one, or the SSD of a cache does.
    pub fn takes_trim(&self) -> bool {
        match &self.kind {
            ArrayKind::Array(config) => config.trim && self.members.iter().all(Profile::takes_trim),
            ArrayKind::Cache(_) => self.members.first().is_some_and(Profile::takes_trim),
        }
    }

    /// What tells it from any other: its members with all that was changed of them, and how they make one.
    pub fn hash(&self) -> String {
        let mut sum = Sha256::new();
        sum.update(match &self.kind {
            ArrayKind::Array(config) => format!("{config:?}"),
            ArrayKind::Cache(config) => format!("{config:?}"),
        });
        for member in &self.members {
            sum.update(member.hash());
        }
        hex(&sum.finalize()[..8])
    }

    /// Memory that its drives take, and the table of a cache, bytes.
    pub fn memory_bytes(&self) -> u64 {
        let drives: u64 = self.members.iter().map(Profile::memory_bytes).sum();
        match (&self.kind, &self.members[..]) {
            (ArrayKind::Cache(config), [ssd, disk]) => {
                drives + config.memory_bytes(ssd.capacity_bytes(), disk.capacity_bytes())
            }
            _ => drives,
        }
    }

    /// Whether all of its drives are SSDs. A cache is what lies behind it.
    pub fn is_flash(&self) -> bool {
        let cached = usize::from(matches!(self.kind, ArrayKind::Cache(_)));
        self.members[cached..].iter().all(|member| matches!(member.model, Model::Ssd(_)))
    }

    /// Whether a hard disk is among the drives that share the data, so that it cannot be emptied.
    pub(crate) fn keeps_data_on_a_disk(&self) -> bool {
        let is_disk = |member: &Profile| matches!(member.model, Model::Hdd(_));
        matches!(self.kind, ArrayKind::Array(_)) && self.members.iter().any(is_disk)
    }

    /// What its record says of it: of its drives as far as they agree.
    pub(crate) fn target_info(&self, geometry: Geometry) -> TargetInfo {
        let members = self.members.iter().map(|it| target_info(it, it.geometry()));
        let members: Vec<TargetInfo> = members.collect();
        let mut fitted: Vec<String> = members.iter().flat_map(|it| it.fitted.clone()).collect();
        fitted.sort();
        fitted.dedup();
        let first = &members[0];
        TargetInfo {
            title: self.title.clone(),
            drives: self.members.iter().map(|member| member.title.clone()).collect(),
            profile_hash: Some(self.hash()),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(name: &str) -> Result<ArrayProfile, String> {
        let parsed = ArrayProfile::parse(name, None, &[]).expect("the name of an array");
        parsed.map_err(|error| error.to_string())
    }

    fn config(profile: &ArrayProfile) -> &ArrayConfig {
        match &profile.kind {
            ArrayKind::Array(config) => config,
            ArrayKind::Cache(_) => panic!("an array"),
        }
    }

    #[test]
    fn a_name_says_what_is_inside() {
        let array = parse("raid5:3xcrucial-m4-64gb:64k").expect("it is one");
        assert_eq!(array.title, "RAID 5 of 3 x Crucial m4 64 GB, chunks of 64 KiB");
        assert_eq!(config(&array).chunk_bytes, 65_536);
        let one = array.members[0].capacity_bytes();
        let whole = 2 * (one / 65_536 * 65_536);
        assert_eq!((array.geometry().bytes(), array.drive().geometry().bytes()), (whole, whole));
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
        assert_eq!(
            (config(&failed).failed, config(&failed).rebuild_mb_per_s),
            (Some(1), Some(50.0))
        );
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
        for twice in
            ["failed=1:failed=2", "64k:32k", "no-trim:no-trim", "failed=1:rebuild=1:rebuild=2"]
        {
            let told = of(&format!("raid5:4xcrucial-m4-64gb:{twice}"));
            assert!(told.contains("a second time: leave one"), "{told}");
        }
        assert!(of("raid5:4xcrucial-m4-64gb:64k:faild=2").contains("is not known there"));
        assert!(of("raid1:2xcrucial-m4-64gb:64k").contains("is a chunk, and raid1 has none"));
        assert!(of("raid6:4xcrucial-m4-64gb").contains("did you mean raid"));
        for no_array in
            ["crucial-m4-64gb", "./raid0:file", "task:boot", "/dev/disk/by-path/pci-0:1"]
        {
            assert!(ArrayProfile::parse(no_array, None, &[]).is_none(), "{no_array}");
        }
    }
}
