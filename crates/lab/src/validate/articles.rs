//! What an article says once, or shows only by all of its figures together, and no figure of it
//! says by itself.

/// What holds for all figures of an article that say nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Article {
    /// The host's link, as a figure would say it.
    pub(super) interface: Option<&'static str>,
    /// The drives were full, and had been written at random, in the span of the test, for so many
    /// seconds when the random writes were measured.
    pub(super) written_seconds: Option<u64>,
    /// Bytes from the start that random I/Os are of.
    pub(super) random_span_bytes: Option<u64>,
    /// The depth at which latencies are measured.
    pub(super) latency_depth: Option<u32>,
    /// Random writes are those of the consistency test.
    pub(super) consistency: bool,
}

const NONE: Article = Article {
    interface: None,
    written_seconds: None,
    random_span_bytes: None,
    latency_depth: None,
    consistency: false,
};

/// By a part of the citation.
const ARTICLES: [(&str, Article); 5] = [
    // "While operating on a 3Gbps SATA controller"; 6 Gbps are said where they are meant.
    ("the-ssd-diaries-crucials-realssd-c300", Article { interface: Some("SATA 3Gbps"), ..NONE }),
    ("M550 review, 2014, performance consistency page", Article { consistency: true, ..NONE }),
    // Random writes come right after a trace has been played, at one depth after the other. Its
    // figures show how much was written before: the spare of 64 GB was used up (21.6 MB/s, where
    // 82 are promised), that of 128 GB nearly, that of 256 and 512 GB not. Ten seconds for each of
    // the five depths before 32 do that; nothing else was chosen.
    ("Crucial's m4 SSD tested at", SWEPT),
    ("m4-ssd-capacity-comparison", SWEPT),
    ("mirror of Tom's 2957", SWEPT),
];

/// None of its sequential figures is above what 3 Gb/s carry (277 MB/s of reads in Iometer, 275 of
/// writes in ATTO), where the data sheet and later pages have 350 to 415: the host had no more. Of its latencies no depth is given: 0.69 and 0.14 ms times the rates of the same two drives are
/// 3.6 and 3.7 in flight.
const SWEPT: Article = Article {
    interface: Some("SATA 3Gbps"),
    written_seconds: Some(50),
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
