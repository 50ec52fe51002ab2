//! Verification of all jobs of a file together, with one ledger per target.

use fourcorners_drive::Op;
use fourcorners_run::streams::{BlockSizes, Operations, Plan, Stream};
use fourcorners_run::verify::{LEDGER_BYTES_A_BLOCK, Spec};

use super::described::{Described, Placed};
use super::error::JobFileError;
use super::options::Verify;

/// Most memory for the account of what was written where.
const MOST_LEDGER_BYTES: u64 = 1 << 30;

/// Shortest block: its header and tags need a sector.
const LEAST_BLOCK: u64 = 512;

/// What the jobs ask for, by their places in the plan.
#[derive(Default)]
pub(super) struct Verifications {
    asked: Vec<Verify>,
    /// The first job that asks, to be named where they cannot be done together.
    first: Option<Described>,
    /// The greatest length that all I/Os of all jobs are multiples of.
    unit: u64,
    /// What only the first of two kinds of jobs has.
    paced_mix: bool,
    random_seed: bool,
}

/// Refuses what a job cannot be verified with.
pub(super) fn check(described: &Described) -> Result<(), JobFileError> {
    let options = &described.options;
    if let Some(bytes) = options.verify.block_bytes
        && !u64::from(bytes).is_multiple_of(LEAST_BLOCK)
    {
        let what = format!("verify_interval={bytes} is not a multiple of {LEAST_BLOCK} bytes");
        return Err(described.wrong(&["verify_interval"], what));
    }
    Ok(())
}

impl Verifications {
    /// Takes in a job's copy.
    pub(super) fn add(&mut self, described: &Described, stream: &Stream) {
        let options = &described.options;
        if self.first.is_none() && options.verify.kind.is_some() {
            self.first = Some(described.clone());
        }
        // A recording writes where it says, whatever its job's options are.
        let recorded = stream.recorded.iter().flat_map(|recorded| &recorded.ios);
        self.unit = recorded
            .filter(|(_, io)| io.op != Op::Flush)
            .flat_map(|(_, io)| [io.lba.bytes(), io.bytes()])
            .fold(self.unit, gcd);
        let drawn = stream.recorded.is_none().then_some(stream);
        self.unit = drawn
            .into_iter()
            .flat_map(Stream::sizes_of_blocks)
            .flat_map(|sizes| match sizes {
                // A range goes in steps of its least.
                BlockSizes::One(bytes) | BlockSizes::Range(bytes, _) => vec![*bytes],
                BlockSizes::Split(split) => split.iter().map(|(bytes, _)| *bytes).collect(),
            })
            .chain(drawn.into_iter().flat_map(Stream::units))
            .map(u64::from)
            .chain([stream.span_start_bytes, stream.access.step_bytes.unsigned_abs()])
            .chain(stream.access.zones.iter().flat_map(|zones| [zones.bytes, zones.skip_bytes]))
            .chain(options.verify.block_bytes.map(u64::from))
            .fold(self.unit, gcd);
        let mixed = matches!(stream.operations, Operations::Mixed { .. });
        self.paced_mix |= mixed && stream.pace.iter().any(Option::is_some);
        self.random_seed |= options.randseed.is_none() && !options.randrepeat;
        self.asked.push(options.verify.clone());
    }

    /// How all of them are verified, if any asks for it.
    pub(super) fn of(&self, plan: &Plan, placed: Placed) -> Result<Option<Spec>, JobFileError> {
        let Some(first) = &self.first else { return Ok(None) };
        let kind = first.options.verify.kind;
        let asked = || self.asked.iter().filter(|verify| verify.kind.is_some());
        let Some(kind) = kind.filter(|_| asked().all(|verify| verify.kind == kind)) else {
            let what = "jobs on one target verify with one checksum: give all of them the same";
            return Err(first.wrong(&["verify"], what));
        };
        let unit = self.unit;
        let start = plan.streams.iter().map(|stream| stream.span_start_bytes).min().unwrap_or(0);
        let end = |stream: &Stream| stream.span_start_bytes + stream.span_bytes;
        let end = plan.streams.iter().map(end).max().unwrap_or(0);
        let start = start / unit * unit;
        let bytes = (end - start) / unit * unit;
        if bytes / unit * LEDGER_BYTES_A_BLOCK > MOST_LEDGER_BYTES {
            let what = format!(
                "keeping account of {bytes} bytes in blocks of {unit} takes more than 1 GiB of \
                 memory: set a smaller size, or larger blocks"
            );
            return Err(first.wrong(&["verify", "size"], what));
        }
        let only = asked().any(|verify| verify.only);
        if self.asked.iter().any(|verify| (verify.only && verify.kind.is_some()) != only) {
            let what = "verify_only goes for all jobs on a target or for none";
            return Err(first.wrong(&["verify_only", "verify"], what));
        }
        if only {
            self.may_be_verified_only(first, plan)?;
        }
        Ok(Some(Spec {
            kind,
            block_bytes: unit as u32,
            start_bytes: start,
            bytes,
            run: placed.seed,
            compressible_percent: plan.streams.iter().map(|it| it.compressible_percent).collect(),
            wanted: self.asked.iter().map(|verify| verify.kind.is_some()).collect(),
            fatal: asked().any(|verify| verify.fatal),
            read_back: asked().any(|verify| verify.after) || only,
            only,
        }))
    }

    /// What was written has to follow from the job file alone.
    fn may_be_verified_only(&self, first: &Described, plan: &Plan) -> Result<(), JobFileError> {
        let wrong = |what: &str| {
            let what =
                format!("verify_only has to know what the jobs wrote without running them: {what}");
            Err(first.wrong(&["verify_only"], what))
        };
        let writers = || plan.streams.iter().enumerate().filter(|(_, stream)| stream.writes());
        if !plan.changes() {
            return wrong("they write nothing; leave verify_only out to check what they read");
        }
        if writers().any(|(_, stream)| stream.limits.time != fourcorners_drive::Nanos::MAX) {
            return wrong(
                "leave runtime out, and say with size, io_size or loops how much they wrote",
            );
        }
        if self.random_seed {
            return wrong("with randrepeat=0 they go elsewhere every time; give a randseed");
        }
        if self.paced_mix || writers().any(|(_, stream)| stream.flow.is_some()) {
            return wrong("a mix with paces or flow depends on how fast the target was");
        }
        if !plan.steady.is_empty() || plan.streams.iter().any(|it| it.takes_along.is_some()) {
            return wrong("leave steadystate and exitall out");
        }
        if writers().any(|(_, stream)| stream.latency_target.is_some()) {
            return wrong(
                "how much is written until latency_target is met depends on how fast the target was",
            );
        }
        for (place, one) in writers() {
            for (_, other) in writers().filter(|(other, _)| *other > place) {
                let overlaps = one.span_start_bytes < other.span_start_bytes + other.span_bytes
                    && other.span_start_bytes < one.span_start_bytes + one.span_bytes;
                if overlaps && !other.start.after.contains(&place) {
                    return wrong(
                        "two of them write to the same place at once; put a stonewall between \
                         them, or offset_increment",
                    );
                }
            }
        }
        Ok(())
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
