//! What a figure's words come to: the drive of the catalogue it is about, the host, what was done to the drive
//! before, and what it is compared with.
//!
//! A figure keeps the words of its publication, to be shown. What they come to stands beside them, under `reading`,
//! so that nothing that runs a figure reads English. Only a figure without one, of an older file or of one's own, is
//! read from its words (`words`); a test holds the built-in readings against theirs.

use fourcorners_record::Data;
use serde::{Deserialize, Serialize};

/// What a figure's words come to. What is left out was not published.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reading {
    /// The drive; left out where the catalogue has none that it could be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drive: Option<CatalogueDrive>,
    /// The article it is from, if that says something of all its figures (`articles.rs`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub article: Option<Article>,
    /// The host, if it is not the drive's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
    /// Commands in flight, 1 to 65,536; the deepest of a range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Space left unmapped, percent of all, 0 to 90.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spare_percent: Option<f64>,
    /// What was done to the drive before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Before>,
    /// What a ratio is relative to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relative_to: Option<RelativeTo>,
    /// What an ordering is of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ordering: Option<Ordering>,
}

/// Longest time that a drive was written before its test, seconds: a month.
const MOST_SECONDS: u64 = 31 * 86_400;

impl Reading {
    /// Refuses numbers that no drive and no host has.
    pub(super) fn check(&self) -> Result<(), String> {
        let gbps = match (&self.host, &self.relative_to) {
            (Some(Host::Gbps(gbps)), _) | (_, Some(RelativeTo::Gbps(gbps))) => Some(*gbps),
            _ => None,
        };
        if let Some(gbps) = gbps.filter(|gbps| !(0.1..=1000.0).contains(gbps)) {
            return Err(format!("gbps = {gbps} must be 0.1 to 1000"));
        }
        if let Some(depth) = self.depth.filter(|depth| !(1..=65_536).contains(depth)) {
            return Err(format!("depth = {depth} must be 1 to 65536"));
        }
        if let Some(spare) = self.spare_percent.filter(|spare| !(0.0..=90.0).contains(spare)) {
            return Err(format!("spare_percent = {spare} must be 0 to 90"));
        }
        match self.before {
            Some(Before::WrittenSeconds(seconds)) if seconds > MOST_SECONDS => {
                Err(format!("before.written_seconds = {seconds} must be at most {MOST_SECONDS}"))
            }
            _ => Ok(()),
        }
    }
}

/// A drive of the catalogue that a name was found to be.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogueDrive {
    /// Its name there.
    pub id: String,
    /// Whether its capacity is our choice, because none was published.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub usual: bool,
}

/// An article that says something of all its figures.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Article {
    /// The SSD diaries: Crucial's RealSSD C300.
    SsdDiariesC300,
    /// AnandTech on the M550, the page on its consistency.
    AnandtechM550Consistency,
    /// AnandTech's SSD Anthology.
    AnandtechAnthology,
    /// Tom's Hardware on the m4 of four capacities.
    TomsM4Capacities,
    /// AnandTech on Intel's Optane SSD 900P.
    Anandtech900p,
    /// A review of KitGuru's Simon Crisp, the page of sustained random I/Os.
    KitguruSustainedRandom,
}

/// What a drive was attached to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Host {
    /// A SATA link of this line rate, Gb/s.
    Gbps(f64),
    /// A host controller of the catalogue.
    Controller(String),
    /// One that is not modelled.
    Other(String),
}

/// What was done to a drive before its test.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Before {
    /// It was written for so many seconds.
    WrittenSeconds(u64),
    /// It was idle at last.
    Idle,
    /// It was somebody's for months.
    MonthsOfUse,
    /// Something that takes no time that is known.
    Other,
}

/// What a ratio is relative to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RelativeTo {
    /// The same drive as it left the factory.
    Fresh,
    /// The same drive behind a link of this line rate, Gb/s.
    Gbps(f64),
    /// The mean of these.
    Drives(Vec<Compared>),
    /// This one, whose rate over the figure's drive's is the number: how many times slower that is.
    TimesSlowerThan(Compared),
}

/// A drive, or several, that another is compared with.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compared {
    /// One of the catalogue.
    Drive(String),
    /// All hard disks of the catalogue.
    HardDisks,
    /// One by a name that the catalogue does not know.
    Unknown(String),
}

/// What an ordering is of.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ordering {
    /// What it is by.
    pub by: By,
    /// The best first, each named as in the figure's value.
    pub places: Vec<OrderedPlace>,
}

/// What an ordering is by.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// The most MB/s first.
    Rate,
    /// The shortest longest latency first.
    MaxLatency,
    /// The one that keeps most of its fresh rate first.
    Kept,
}

/// A place of an ordering.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrderedPlace {
    /// Who has it: drives in any order, or the figure's own drive with other data.
    pub of: PlaceOf,
    /// Those are about equal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub equal: bool,
    /// Places before it that it is about as good as.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub level_with: Vec<usize>,
}

/// Who has a place of an ordering.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlaceOf {
    /// These drives.
    Drives(Vec<Compared>),
    /// The figure's own, written with this.
    Data(Data),
}
