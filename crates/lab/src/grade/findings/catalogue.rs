//! Every drive of the catalogue diagnosed: what is found of it, and what it is.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use fourcorners_catalogue::{self as catalogue, Model, Profile};
use fourcorners_machine::workers;

use crate::diagnose::{Detector, Noise, Options, diagnose};
use crate::drive::Drive;
use crate::validate::shapes::scale::scaled;

use super::shown::value;
use super::truth::{self, Grade, Told};

/// What is looked for: all but what writes a drive at random until it collects or is used, which takes minutes of each.
pub(super) fn detectors() -> Vec<Detector> {
    let takes_long =
        [Detector::Spare, Detector::Amplification, Detector::Trim, Detector::Collection];
    Detector::ALL.into_iter().filter(|it| !takes_long.contains(it)).collect()
}

/// What was found of a drive.
#[derive(Clone, PartialEq, Debug)]
pub struct CatalogueRow {
    /// Its name.
    pub drive: String,
    /// How many times smaller the one is that was diagnosed, everything but its size the same.
    pub factor: u64,
    /// Key, what was found, what is so, its grade, and whether times can tell it.
    pub cells: Vec<CatalogueCell>,
}

/// A property of a drive.
#[derive(Clone, PartialEq, Debug)]
pub struct CatalogueCell {
    /// Which.
    pub key: String,
    /// What was found, in words.
    pub found: String,
    /// What is so, in words.
    pub so: String,
    /// How the one stands to the other; a guess of what times cannot tell is wrong.
    pub grade: Grade,
    /// Whether its times can tell, by closed forms.
    pub told: bool,
}

/// Diagnoses all drives of the catalogue, `workers` at a time. `watch` is told how many are done, and stops it by `false`.
pub fn grade_catalogue(
    noise: Noise,
    workers: usize,
    watch: &(dyn Fn(usize) -> bool + Sync),
) -> Vec<CatalogueRow> {
    let slots: Vec<(String, Mutex<Option<CatalogueRow>>)> =
        catalogue::names().into_iter().map(|name| (name, Mutex::default())).collect();
    let done = AtomicUsize::new(0);
    let one = |(name, slot): &(String, Mutex<Option<CatalogueRow>>)| {
        if watch(done.load(Ordering::Relaxed)) {
            *slot.lock().expect("no holder panics") = row(name, noise);
        }
        done.fetch_add(1, Ordering::Relaxed);
        Ok::<(), std::convert::Infallible>(())
    };
    let Ok(()) = workers::each(&slots, workers, one);
    slots.into_iter().filter_map(|(_, slot)| slot.into_inner().expect("no holder panics")).collect()
}

fn row(name: &str, noise: Noise) -> Option<CatalogueRow> {
    let (profile, factor) = smaller(catalogue::built_in(name, &[]).ok()?);
    let options = Options { detectors: detectors(), seed: 1, noise };
    let found = diagnose(&mut Drive::from_profile(&profile), name, &options, &mut |_| true);
    let cells = found.findings.iter().map(|finding| {
        let (truth, told) = truth::of(&profile, &finding.key, false, None);
        let grade = match truth::grade(finding, &truth).0 {
            Grade::Right if told == Told::No => Grade::Wrong,
            grade => grade,
        };
        let (found, so) = (value(finding), truth.words());
        CatalogueCell { key: finding.key.clone(), found, so, grade, told: told == Told::Yes }
    });
    Some(CatalogueRow { drive: name.into(), factor, cells: cells.collect() })
}

/// A drive that is as fast and smaller, and how many times; a hard disk stays what it is.
fn smaller(profile: Profile) -> (Profile, u64) {
    match &profile.model {
        Model::Ssd(ssd) => match scaled(ssd) {
            Ok(small) => {
                (Profile { model: Model::Ssd(Box::new(small.config)), ..profile }, small.factor)
            }
            Err(_) => (profile, 1),
        },
        Model::Hdd(_) => (profile, 1),
    }
}
