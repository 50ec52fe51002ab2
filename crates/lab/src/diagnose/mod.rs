//! What is inside a drive, from the times of its I/Os alone.
//!
//! A [`Detector`] does I/Os on a target and sees when each was done: no counter, no profile, no energy, no name. What it
//! measured is [`Evidence`], and what it says of it a [`Finding`]: a value with an interval, a class, a bound, or that the
//! times do not tell, and why. A finding is made of the evidence and of nothing else, so that a stored diagnosis can be
//! judged again ([`judge`]).
//!
//! ```
//! use fourcorners_catalogue::built_in;
//! use fourcorners_lab::diagnose::{Detector, Options, diagnose};
//! use fourcorners_lab::drive::Drive;
//!
//! let mut drive = Drive::from_profile(&built_in("crucial-m4-64gb", &["nand.page_bytes=8192".into()])?);
//! let options = Options { detectors: vec![Detector::Row], ..Options::default() };
//! let found = diagnose(&mut drive, "m4", &options, &mut |_| true);
//! assert_eq!(found.findings[0].key, "page_bytes");
//! assert_eq!(found.findings[0].determined(), Some(8192.0));
//! # Ok::<(), fourcorners_catalogue::CatalogueError>(())
//! ```

mod amplification;
mod budget;
mod collection;
mod compression;
mod dies;
mod empty;
mod judge;
mod kind;
mod machine;
mod map_reach;
mod map_unit;
mod mapping;
mod noisy;
mod page_kinds;
mod probe;
mod read_ahead;
mod region;
mod row;
mod run;
mod slc_cache;
mod spare;
mod statistics;
mod suspension;
mod trim;
mod write_buffer;

use fourcorners_drive::{Geometry, Target};

pub(crate) use amplification::{
    MOST_SPARE as MOST_SPARE_OF_AMPLIFICATION, greedy as greedy_amplification,
};
pub use budget::{Budget, BudgetError};
pub(crate) use collection::{GAIN as COLLECTION_GAIN, LEAST_LOST as LEAST_COLLECTION_LOST};
pub(crate) use compression::before_judged as before_compression_bytes;
pub(crate) use dies::LONGEST_STRIPE_BYTES;
pub use fourcorners_record::diagnosis::{
    Cost, Diagnosis, Evidence, Finding, SCHEMA, Series, Standing, Value,
};
pub use judge::judge;
pub(crate) use kind::FLASH_US;
pub(crate) use mapping::{bytes_in_turn as mapped_bytes_in_turn, most_areas as most_mapped_areas};
pub use noisy::{Noise, Noisy};
pub use probe::Stopped;
pub(crate) use region::bytes_of as region_bytes;
pub use run::Finished;
pub(crate) use spare::{FALL as SPARE_FALL, most_percent as spare_most_percent};
pub(crate) use trim::{LEAST_GAIN as LEAST_TRIM_GAIN, LEAST_LOST as LEAST_TRIM_LOST};
pub(crate) use write_buffer::of_trial as write_buffer_most_bytes;

use crate::drive::Drive;
use probe::Probe;
use region::Region;

/// One detector.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Detector {
    /// SSD, hard disk, memory, or one behind another.
    Kind,
    /// The page of the flash and its row over the planes of a die.
    Row,
    /// Where writes wait for the flash.
    WriteBuffer,
    /// Flash with one bit a cell that takes writes first.
    SlcCache,
    /// How much of the drive the map in its memory reaches.
    MapReach,
    /// Whether less is stored of data that compresses.
    Compression,
    /// Whether what is read in order is fetched before it is asked for.
    ReadAhead,
    /// Whether a TRIM makes a used drive faster, and whether reads wait for it.
    Trim,
    /// How much more flash there is than a full drive needs.
    Spare,
    /// When it wins back space: while idle, and whether writes stall for it.
    Collection,
    /// The dies that data in order lies on, and the channels that they share.
    Dies,
    /// In how many times pages are read.
    PageKinds,
    /// How much is written at least.
    MapUnit,
    /// Whether programs make way for reads.
    Suspension,
    /// By what it maps: by pages, or by blocks with a log.
    Mapping,
    /// How much more it writes than it is sent, once it is used.
    Amplification,
}

impl Detector {
    /// All of them, in the order in which they are run.
    pub const ALL: [Detector; 16] = [
        Detector::Kind,
        Detector::Row,
        Detector::Dies,
        Detector::PageKinds,
        Detector::ReadAhead,
        Detector::WriteBuffer,
        Detector::MapUnit,
        Detector::Suspension,
        Detector::SlcCache,
        Detector::MapReach,
        Detector::Compression,
        Detector::Mapping,
        Detector::Spare,
        Detector::Amplification,
        Detector::Trim,
        Detector::Collection,
    ];

    /// Those that are run unless others are asked for: they write a twentieth of the drive at most.
    pub const USUAL: [Detector; 6] = [
        Detector::Kind,
        Detector::Row,
        Detector::Dies,
        Detector::PageKinds,
        Detector::ReadAhead,
        Detector::WriteBuffer,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Detector::Kind => "kind",
            Detector::Row => "row",
            Detector::WriteBuffer => "write-buffer",
            Detector::SlcCache => "slc-cache",
            Detector::MapReach => "map-reach",
            Detector::Compression => "compression",
            Detector::ReadAhead => "read-ahead",
            Detector::Trim => "trim",
            Detector::Spare => "spare",
            Detector::Collection => "collection",
            Detector::Dies => "dies",
            Detector::PageKinds => "page-kinds",
            Detector::MapUnit => "map-unit",
            Detector::Suspension => "suspension",
            Detector::Mapping => "mapping",
            Detector::Amplification => "amplification",
        }
    }

    /// The detector of a name.
    pub fn named(name: &str) -> Option<Detector> {
        Detector::ALL.into_iter().find(|detector| detector.name() == name)
    }

    /// Keys of what it finds.
    pub fn keys(self) -> &'static [&'static str] {
        match self {
            Detector::Kind => &["kind"],
            Detector::Row => &["page_bytes", "row_bytes"],
            Detector::WriteBuffer => &["write_buffer_kib"],
            Detector::SlcCache => &["slc_cache_mib"],
            Detector::MapReach => &["map_reach_gib"],
            Detector::Compression => &["compression", "compression_ratio"],
            Detector::ReadAhead => &["read_ahead"],
            Detector::Trim => &["trim", "trim_holds_up_reads"],
            Detector::Spare => &["spare_percent"],
            Detector::Collection => &["collection_idle", "collection_pacing"],
            Detector::Dies => &["dies", "channels", "stripe_bytes"],
            Detector::PageKinds => &["page_kinds"],
            Detector::MapUnit => &["map_unit_bytes"],
            Detector::Suspension => &["suspension"],
            Detector::Mapping => &["mapping", "log_areas"],
            Detector::Amplification => &["write_amplification", "move_cost_us"],
        }
    }

    /// What its samples say.
    fn estimate(self, series: &[Series]) -> Vec<Finding> {
        match self {
            Detector::Kind => kind::estimate(series),
            Detector::Row => row::estimate(series),
            Detector::WriteBuffer => write_buffer::estimate(series),
            Detector::SlcCache => slc_cache::estimate(series),
            Detector::MapReach => map_reach::estimate(series),
            Detector::Compression => compression::estimate(series),
            Detector::ReadAhead => read_ahead::estimate(series),
            Detector::Trim => trim::estimate(series),
            Detector::Spare => spare::estimate(series),
            Detector::Collection => collection::estimate(series),
            Detector::Dies => dies::estimate(series),
            Detector::PageKinds => page_kinds::estimate(series),
            Detector::MapUnit => map_unit::estimate(series),
            Detector::Suspension => suspension::estimate(series),
            Detector::Mapping => mapping::estimate(series),
            Detector::Amplification => amplification::estimate(series),
        }
    }

    fn measure<T: Target>(
        self,
        probe: &mut Probe<'_, T>,
        region: Region,
    ) -> Result<Vec<Series>, Stopped> {
        match self {
            Detector::Kind => kind::measure(probe, region),
            Detector::Row => row::measure(probe, region),
            Detector::WriteBuffer => write_buffer::measure(probe, region),
            Detector::SlcCache => slc_cache::measure(probe, region),
            Detector::MapReach => map_reach::measure(probe),
            Detector::Compression => compression::measure(probe),
            Detector::ReadAhead => read_ahead::measure(probe, region),
            Detector::Trim => trim::measure(probe),
            Detector::Spare => spare::measure(probe, region),
            Detector::Collection => collection::measure(probe),
            Detector::Dies => dies::measure(probe, region),
            Detector::PageKinds => page_kinds::measure(probe, region),
            Detector::MapUnit => map_unit::measure(probe, region),
            Detector::Suspension => suspension::measure(probe, region),
            Detector::Mapping => mapping::measure(probe),
            Detector::Amplification => amplification::measure(probe, region),
        }
    }
}

/// What a diagnosis is to find, and how.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// The detectors; they are run in the order of [`Detector::ALL`].
    pub detectors: Vec<Detector>,
    /// Of the places that are read and written.
    pub seed: u64,
    /// How inexact the times are made that the detectors see.
    pub noise: Noise,
}

impl Default for Options {
    fn default() -> Options {
        Options { detectors: Detector::USUAL.to_vec(), seed: 1, noise: Noise::None }
    }
}

impl Options {
    /// Minutes that the detectors take on a drive of this geometry that writes 200 MB/s in order and 50 at random, and reads in
    /// 0.1 ms: what to expect, and no bound.
    pub fn minutes(&self, geometry: Geometry) -> f64 {
        let reads = |detector: &Detector| match detector {
            Detector::Kind => 4_000.0,
            Detector::Suspension => 700.0,
            Detector::Mapping => 800.0,
            Detector::Row => 30_000.0,
            Detector::Dies => 12_000.0,
            Detector::PageKinds => 51_200.0,
            Detector::ReadAhead => 2_400.0,
            Detector::WriteBuffer
            | Detector::MapUnit
            | Detector::Compression
            | Detector::Collection => 0.0,
            Detector::Trim => 5_000.0,
            Detector::SlcCache | Detector::Spare | Detector::Amplification => 10_000.0,
            // At some thirty spans twice, with what warms the map.
            Detector::MapReach => 1_400_000.0,
        };
        let rests = |detector: &Detector| match detector {
            Detector::Kind | Detector::Row | Detector::Dies | Detector::Mapping => 0.0,
            Detector::Compression => 1.0,
            Detector::ReadAhead | Detector::Spare | Detector::Amplification | Detector::Trim => 4.0,
            Detector::WriteBuffer => 2.0,
            // The second minute is for a TRIM that acts late.
            Detector::SlcCache => 124.0,
            Detector::MapReach => 60.0,
            Detector::PageKinds => 30.0,
            Detector::MapUnit => map_unit::RESTS_S,
            Detector::Suspension => suspension::RESTS_S,
            Detector::Collection => collection::RESTS_S,
        };
        let of = |detector| reads(detector) * 1e-4 + rests(detector);
        let at_random = |detector: &Detector| match detector {
            Detector::Spare => spare::bytes_at_random(geometry),
            Detector::Amplification => amplification::bytes_at_random(geometry),
            Detector::Trim => trim::bytes_at_random(geometry),
            Detector::Collection => collection::bytes_at_random(geometry),
            _ => 0,
        };
        let at_random = self.detectors.iter().map(at_random).sum::<u64>() as f64;
        let seconds = self.bytes_written(geometry) as f64 / 200e6
            + at_random * (1.0 / 50e6 - 1.0 / 200e6)
            + self.detectors.iter().map(of).sum::<f64>();
        seconds / 60.0
    }

    /// The share of a target that the detectors trim.
    pub fn share_trimmed(&self) -> f64 {
        let of = |detector: &Detector| match detector {
            Detector::SlcCache | Detector::Spare | Detector::Amplification => 1.0,
            Detector::Trim => 0.5,
            _ => 0.0,
        };
        self.detectors.iter().map(of).fold(0.0, f64::max)
    }

    /// Bytes that the detectors write at most on a target of this geometry.
    pub fn bytes_written(&self, geometry: Geometry) -> u64 {
        let region = Region::of(geometry).map_or(0, |region| region.bytes);
        let of = |detector: &Detector| match detector {
            Detector::Kind
            | Detector::Row
            | Detector::Dies
            | Detector::PageKinds
            | Detector::ReadAhead => 0,
            Detector::WriteBuffer => write_buffer::most_bytes(geometry.bytes()),
            Detector::MapUnit => map_unit::bytes(),
            Detector::Suspension => suspension::bytes(),
            Detector::Mapping => mapping::bytes(geometry),
            Detector::SlcCache => slc_cache::bytes(geometry),
            Detector::MapReach => map_reach::bytes(geometry),
            Detector::Compression => compression::bytes(geometry),
            Detector::Trim => trim::bytes(geometry),
            Detector::Spare => spare::bytes(geometry),
            Detector::Amplification => amplification::bytes(geometry),
            Detector::Collection => collection::bytes(geometry),
        };
        region + self.detectors.iter().map(of).sum::<u64>()
    }
}

/// Runs the detectors on a drive. `watch` is told what is run, before it begins and now and then, and stops all by `false`.
pub fn diagnose(
    drive: &mut Drive,
    target: &str,
    options: &Options,
    watch: &mut dyn FnMut(&str) -> bool,
) -> Diagnosis {
    go_on(drive, target, options, Vec::new(), watch, &mut |_, _| {})
}

/// Runs the detectors that are missing on a drive that is as the finished ones left it. `keep` is told each that is finished,
/// with the drive as it is then; the rest is as in [`diagnose`].
pub fn go_on(
    drive: &mut Drive,
    target: &str,
    options: &Options,
    finished: Vec<Finished>,
    watch: &mut dyn FnMut(&str) -> bool,
    keep: &mut dyn FnMut(&Drive, &Finished),
) -> Diagnosis {
    let evidence = run::all(drive, options, finished, watch, keep);
    let findings = judge(&evidence);
    Diagnosis {
        schema: SCHEMA.into(),
        target: target.into(),
        seed: options.seed,
        findings,
        evidence,
    }
}
