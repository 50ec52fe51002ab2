//! What an article says once, or shows only by all of its figures together, and no figure of it
//! says by itself.

/// What holds for all figures of an article that say nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Article {
    /// The host's link, as a figure would say it.
    pub(super) interface: Option<&'static str>,
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
}

/// A drive of which little had ever been written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Begun {
    /// Drives of so many bytes or more.
    pub(super) capacity_bytes: u64,
    /// What was written, from the start.
    pub(super) written_bytes: u64,
}

const NONE: Article = Article {
    interface: None,
    written_seconds: None,
    begun: None,
    random_span_bytes: None,
    latency_depth: None,
    consistency: false,
    firmware: None,
};

/// By a part of the citation.
const ARTICLES: [(&str, Article); 6] = [
    // "While operating on a 3Gbps SATA controller"; 6 Gbps are said where they are meant.
    ("the-ssd-diaries-crucials-realssd-c300", Article { interface: Some("SATA 3Gbps"), ..NONE }),
    ("M550 review, 2014, performance consistency page", Article { consistency: true, ..NONE }),
    // The SSD Anthology, of March 2009: its Vertex has 2.41 MB/s of random writes where that of
    // August has 7.
    ("Show/Index/2738?", Article { firmware: Some(("ocz-vertex", "march2009")), ..NONE }),
    ("Crucial's m4 SSD tested at", SWEPT),
    ("m4-ssd-capacity-comparison", SWEPT),
    ("mirror of Tom's 2957", SWEPT),
];

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
const SWEPT: Article = Article {
    interface: Some("SATA 3Gbps"),
    written_seconds: Some(50),
    begun: Some(Begun { capacity_bytes: 500_000_000_000, written_bytes: 2_000_000_000 }),
    random_span_bytes: Some(16_000_000_000),
    latency_depth: Some(4),
    ..NONE
};

/// The article of a citation, if it is one of these.
pub(super) fn of(source: &str) -> Article {
    let known = ARTICLES.iter().find(|(part, _)| source.contains(part));
    known.map_or(NONE, |(_, article)| *article)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::built_in;

    #[test]
    fn every_article_is_cited() {
        let figures = built_in();
        for (part, article) in ARTICLES {
            assert!(figures.iter().any(|figure| figure.source.contains(part)), "{part}");
            assert_eq!(of(&format!("see {part}, page 5")), article);
        }
        assert_eq!(of("a page of our own"), NONE);
    }
}
