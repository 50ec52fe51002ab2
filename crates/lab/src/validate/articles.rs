//! What an article says once, or shows only by all of its figures together, and no figure of it
//! says by itself.

use super::reading::Article;

/// What holds for all figures of an article that say nothing else.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Rules {
    /// The line rate of the host's link, Gb/s.
    pub(super) gbps: Option<f64>,
    /// The drives were full, and had been written at random, in `random_span_bytes`, for so many
    /// seconds when they were measured.
    pub(super) written_seconds: Option<u64>,
    /// One that was not when its reads were measured.
    pub(super) begun: Option<Begun>,
    /// Bytes from the start that random I/Os are of.
    pub(super) random_span_bytes: Option<u64>,
    /// The depth at which latencies are measured.
    pub(super) latency_depth: Option<u32>,
    /// Random writes are those of the consistency test.
    pub(super) consistency: bool,
    /// The firmware that a model had then, where the catalogue has it as a drive of its own: the
    /// model's file, and the end of the drive's name.
    pub(super) firmware: Option<(&'static str, &'static str)>,
    /// The host that its drives on PCIe were behind, by its name in the catalogue.
    pub(super) nvme_host: Option<&'static str>,
    /// The depth of random I/Os that name none.
    pub(super) random_depth: Option<u32>,
}

/// A drive of which little had ever been written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Begun {
    /// Drives of so many bytes or more.
    pub(super) capacity_bytes: u64,
    /// What was written, from the start.
    pub(super) written_bytes: u64,
}

const NONE: Rules = Rules {
    gbps: None,
    written_seconds: None,
    begun: None,
    random_span_bytes: None,
    latency_depth: None,
    consistency: false,
    firmware: None,
    nvme_host: None,
    random_depth: None,
};

/// One process keeps the drive busy, through the kernel. Its own limit is what measurements of other drives on another
/// computer have (`drives/hosts/linux-kernel.toml`); nothing was fitted to these articles.
const ONE_PROCESS: Rules = Rules { nvme_host: Some("linux-kernel"), ..NONE };

/// Tom's m4 of four capacities (docs/SOURCES.md).
///
/// The host: none of its sequential figures is above what 3 Gb/s carry (277 MB/s of reads in Iometer,
/// 275 of writes in ATTO), where the data sheet and later pages have 350 to 415.
///
/// What was written before: Iometer comes right after a trace has been played, random I/Os at one
/// depth after the other and then those in order. The random writes show how much that was: the spare
/// of 64 GB was used up (21.6 MB/s, where 82 are promised), that of 128 GB nearly, that of 256 and 512
/// GB not. Ten seconds for each of the five depths before 32 do that; nothing else was chosen.
///
/// The 512 GB drive: reads at one command cannot be 85 % faster than from pages of 4 KiB, nor those in
/// order fill the link, if they are of its pages of 8 KiB that were written at random; and in ATTO, which reads what
/// it has just written, it is slower than the 64 GB drive. So its reads were of space that was mostly
/// never written. All that the article says of it is ATTO's file of 2 GB.
///
/// The depth of its latencies: 0.69 and 0.14 ms times the rates of the same two drives are 3.6 and 3.7
/// in flight.
const SWEPT: Rules = Rules {
    gbps: Some(3.0),
    written_seconds: Some(50),
    begun: Some(Begun { capacity_bytes: 500_000_000_000, written_bytes: 2_000_000_000 }),
    random_span_bytes: Some(16_000_000_000),
    latency_depth: Some(4),
    ..NONE
};

/// What holds for the figures of an article; nothing for those of none.
pub(super) fn of(article: Option<Article>) -> Rules {
    match article {
        None => NONE,
        // "While operating on a 3Gbps SATA controller"; 6 Gbps are said where they are meant.
        Some(Article::SsdDiariesC300) => Rules { gbps: Some(3.0), ..NONE },
        Some(Article::AnandtechM550Consistency) => Rules { consistency: true, ..NONE },
        // The SSD Anthology, of March 2009: its Vertex has 2.41 MB/s of random writes where that of
        // August has 7.
        Some(Article::AnandtechAnthology) => {
            Rules { firmware: Some(("ocz-vertex", "march2009")), ..NONE }
        }
        Some(Article::TomsM4Capacities) => SWEPT,
        // Sustained random I/Os "similar to the 2015 test suite", whose Iometer has one worker.
        Some(Article::Anandtech900p) => ONE_PROCESS,
        // The page of the 970 EVO Plus names a depth of 32; that of the 900P, by the same author in the same place of
        // his review, names none.
        Some(Article::KitguruSustainedRandom) => Rules { random_depth: Some(32), ..ONE_PROCESS },
    }
}
