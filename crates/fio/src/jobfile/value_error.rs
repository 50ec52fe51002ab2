//! What is wrong with the value of an option; where it stands is added by who asks.

use fourcorners_run::verify::UnknownChecksum;

use super::values::MOST_BLOCK_BYTES;

/// Why an option cannot have a value.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// An option stands alone that cannot.
    #[error("it needs a value")]
    Missing,
    /// One of two words.
    #[error("\"{text}\" is neither {} nor {}", choices[0], choices[1])]
    Neither {
        /// What is there.
        text: String,
        /// The two.
        choices: [&'static str; 2],
    },
    /// One of more words.
    #[error("\"{text}\" is none of {choices}")]
    NoneOf {
        /// What is there.
        text: String,
        /// What may be there.
        choices: &'static str,
    },
    /// A size.
    #[error("\"{0}\" is no size: give a number such as 4096, 4k, 1m or 10g")]
    Size(String),
    /// A percentage.
    #[error("\"{0}\" is no percentage: give a number from 0 to 100")]
    Percentage(String),
    /// A count.
    #[error("\"{0}\" is no number: give a whole one such as 16")]
    Count(String),
    /// A count of 1 and more.
    #[error("\"{0}\" is out of range: give 1 or more")]
    NotPositive(String),
    /// A time.
    #[error("\"{0}\" is no time: give a number such as 30, 30s, 5m or 500ms")]
    Time(String),
    /// The bytes of a block.
    #[error("{0} bytes are out of range: give 512 to {MOST_BLOCK_BYTES}")]
    BlockBytes(u64),
    /// More parts than there are directions.
    #[error("\"{0}\" has more than three parts, for reads, writes and trims")]
    Directions(String),
    /// A range of block sizes.
    #[error("\"{0}\" is no range: give one such as 4k-64k")]
    Range(String),
    /// Shares of block sizes.
    #[error("\"{text}\": the shares add up to {sum} % instead of 100")]
    Shares {
        /// All of them.
        text: String,
        /// Their sum, per cent.
        sum: f64,
    },
    /// No block size at all.
    #[error("\"{0}\" names no size: give some such as 4k/50:64k/50")]
    NoSizes(String),
    /// A pattern of `rw`.
    #[error(
        "\"{text}\" is none of the patterns; {}There are {names}",
        near.map(|near| format!("did you mean {near}? ")).unwrap_or_default()
    )]
    Pattern {
        /// What is there.
        text: String,
        /// The one that is most like it.
        near: Option<&'static str>,
        /// All of them.
        names: String,
    },
    /// A number behind the name of a distribution.
    #[error("\"{number}\" in \"{text}\" is no number")]
    NumberIn {
        /// What is there.
        number: String,
        /// The whole.
        text: String,
    },
    /// The exponent of Zipf's distribution.
    #[error("an exponent of {0} is out of range: above 0, at most 100")]
    Exponent(f64),
    /// The power of Pareto's distribution.
    #[error("{0} is out of range: above 0 and below 1")]
    Power(f64),
    /// The deviation of a normal distribution, per cent.
    #[error("a deviation of {0} is out of range: 0 to 100")]
    Deviation(f64),
    /// Shares of zones.
    #[error("the {of} of the zones add up to {sum} %")]
    ZoneShares {
        /// `accesses` or `sizes`.
        of: &'static str,
        /// Their sum, per cent.
        sum: f64,
    },
    /// No zone at all.
    #[error("zones need shares: zoned:50/5:30/15:20/80")]
    NoZones,
    /// Blocks of a sequence, by their number.
    #[error("{0} blocks are too many for a sequence: fio takes 64")]
    Sequence(usize),
    /// Percentiles, by their number.
    #[error("{0} percentiles are too many: fio takes 20")]
    Percentiles(usize),
    /// The limit of a steady state.
    #[error("\"{limit}\" is not a limit: give one such as {name}:5%")]
    Limit {
        /// What is there.
        limit: String,
        /// What is watched.
        name: String,
    },
    /// The number of a CPU or a node.
    #[error("\"{part}\" is not a {of}: give numbers from 0 and ranges, as in 0,2-4")]
    Number {
        /// What is there.
        part: String,
        /// `CPU` or `node`.
        of: &'static str,
    },
    /// A range of CPUs, nodes or times.
    #[error("\"{0}\" ends before it begins: give the smaller one first")]
    Backwards(String),
    /// A mask of no CPUs.
    #[error("no CPU is left")]
    NoCpu,
    /// A NUMA node that this machine does not have.
    #[error("this machine has no NUMA node {node}: there is no {path}")]
    NoNode {
        /// Its number.
        node: u32,
        /// Where its CPUs would be listed.
        path: String,
    },
    /// NUMA nodes that have memory only.
    #[error("these nodes have no CPUs")]
    NodesWithoutCpus,
    /// What fio has and we do not, with a reason.
    #[error("{0}")]
    Unsupported(&'static str),
    /// An engine that moves no blocks.
    #[error("{name} does no block I/O: {why}")]
    NoBlockIo {
        /// The engine.
        name: String,
        /// What it does.
        why: &'static str,
    },
    /// An engine that fio does not have.
    #[error("fio has no engine {name}{}", meant(*near))]
    UnknownEngine {
        /// What is there.
        name: String,
        /// The one that is most like it.
        near: Option<&'static str>,
    },
    /// An option that fio does not have.
    #[error("fio has no such option{}", meant(*near))]
    UnknownOption {
        /// The one that is most like it.
        near: Option<&'static str>,
    },
    /// A checksum.
    #[error(transparent)]
    Checksum(#[from] UnknownChecksum),
}

fn meant(near: Option<&str>) -> String {
    near.map(|near| format!("; did you mean {near}?")).unwrap_or_default()
}
