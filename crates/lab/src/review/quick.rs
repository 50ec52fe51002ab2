//! The rows of CrystalDiskMark and KDiskMark: a drive in a minute.
//!
//! | row | block | order | queue depth | reads and writes |
//! |---|---|---|---|---|
//! | `SEQ1M Q8T1`, `SEQ1M Q1T1` | 1 MiB | sequential | 8, 1 | each |
//! | `RND4K Q32T1`, `RND4K Q1T1` | 4 KiB | random | 32, 1 | each |
//! | `MIX70 Q1T1` | 4 KiB | random | 1 | 70 % reads, 30 % writes |
//! | `SYNC4K Q1T1` | 4 KiB | sequential | 1 | writes, a flush behind each |
//!
//! The span is the first GiB, as those programs make a file of 1 GiB, written once before. Each job is run three
//! times, the first four rows for 2 s and the others for 1 s; the fastest run is the figure, and the curve
//! `..._runs` has all three. Reads come before writes, as in those programs. With 4 s for the span that is 58 s;
//! a real drive that writes less than a GiB in that time is measured on what it wrote.
//!
//! Nothing is purged: a drive is measured in the state it is in.

use fourcorners_record::note::note;
use fourcorners_record::{Data, Job, Note, Until};
use fourcorners_run::Measured;

use super::{Medium, Phase, Scope};

pub(super) const METHOD: &str = "quick";

/// Bytes of the span where the target has as many.
pub const QUICK_SPAN_BYTES: u64 = 1 << 30;
/// Times each job is run.
pub const QUICK_RUNS: usize = 3;
/// Most seconds for writing the span of a real drive.
const FILL_SECONDS: u64 = 4;
const BLOCK: u64 = 1 << 20;
/// The smallest span: a queue of the deepest sequential row.
const LEAST_SPAN: u64 = 8 * BLOCK;

/// What the note is about that has the bytes of a span which was not written in full.
const SPAN: &str = "quick-span";
/// What the note is about that has the share of reads of a mixed job.
pub const READ_SHARE: &str = "quick-read-share";

/// A row of the card.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QuickRow {
    /// Its name, as the programs call it.
    pub name: &'static str,
    /// The figure of its reads.
    pub read: Option<&'static str>,
    /// The figure of its writes.
    pub write: Option<&'static str>,
    /// The figure of reads and writes together.
    pub mixed: Option<&'static str>,
}

const fn row(name: &'static str, read: &'static str, write: &'static str) -> QuickRow {
    QuickRow { name, read: Some(read), write: Some(write), mixed: None }
}

/// The rows of the card, in its order.
pub const QUICK_ROWS: [QuickRow; 6] = [
    row("SEQ1M Q8T1", "sequential_read_1m_qd8", "sequential_write_1m_qd8"),
    row("SEQ1M Q1T1", "sequential_read_1m_qd1", "sequential_write_1m_qd1"),
    row("RND4K Q32T1", "random_read_4k_qd32", "random_write_4k_qd32"),
    row("RND4K Q1T1", "random_read_4k_qd1", "random_write_4k_qd1"),
    QuickRow { name: "MIX70 Q1T1", read: None, write: None, mixed: Some("random_mixed70_4k_qd1") },
    QuickRow {
        name: "SYNC4K Q1T1",
        read: None,
        write: Some("sequential_write_4k_qd1_flush"),
        mixed: None,
    },
];

/// The curve with all runs of a figure.
pub fn runs_of(figure: &str) -> String {
    format!("{figure}_runs")
}

pub(super) fn plan(scope: &Scope) -> Vec<Phase> {
    let span = scope.span(QUICK_SPAN_BYTES) / BLOCK * BLOCK;
    let (long, short) = (Until::Seconds(2), Until::Seconds(1));
    let sequential = |reads: u8, depth: u32| Job {
        block_bytes: BLOCK as u32,
        ..scope.sequential(reads, depth, span, long)
    };
    let random =
        |reads: u8, depth: u32, until: Until| Job { until, ..scope.random(reads, depth, span, 0) };
    let runs = |figure: &str, job: Job| Phase::Runs {
        times: QUICK_RUNS,
        figure: figure.into(),
        job: scope.seeded(figure, Job { data: Data::Incompressible, ..job }),
    };
    let mut phases = vec![fill(scope, span)];
    for (kind, reads) in [("read", 100), ("write", 0)] {
        for depth in [8, 1] {
            phases.push(runs(&format!("sequential_{kind}_1m_qd{depth}"), sequential(reads, depth)));
        }
        for depth in [32, 1] {
            phases.push(runs(&format!("random_{kind}_4k_qd{depth}"), random(reads, depth, long)));
        }
    }
    phases.push(runs("random_mixed70_4k_qd1", random(70, 1, short)));
    let sync = Job { block_bytes: 4096, flush: true, ..scope.sequential(0, 1, span, short) };
    phases.push(runs("sequential_write_4k_qd1_flush", sync));
    phases
}

/// Writes the span once; a real drive has a time limit, a virtual one only its own clock to spend.
fn fill(scope: &Scope, span: u64) -> Phase {
    let until = match scope.medium {
        Medium::Ssd | Medium::HardDisk => Until::Bytes(span),
        Medium::Device | Medium::File => Until::SecondsOrBytes(FILL_SECONDS, span),
    };
    let job = scope.sequential(0, 32, span, until);
    Phase::Prepare { state: "span written".into(), job }
}

/// What a record says of a span that was not written in full.
pub(super) fn short_span(job: &Job, written: u64) -> Option<Note> {
    let seconds = job.until.seconds()?;
    (job.until.bytes() != u64::MAX && written < job.span_bytes).then(|| {
        let span = written_span(written);
        let text = format!(
            "The span is {:.0} MB, as much as was written in {seconds} s, instead of {:.0} MB.",
            span as f64 / 1e6,
            job.span_bytes as f64 / 1e6
        );
        note(SPAN, text, span as f64)
    })
}

fn written_span(written: u64) -> u64 {
    (written / BLOCK * BLOCK).max(LEAST_SPAN)
}

/// The job on the span that was written.
pub(super) fn within_written(job: &Job, notes: &[Note]) -> Job {
    let written = notes.iter().find(|note| note.about == SPAN).and_then(|note| note.value);
    let span_bytes = written.map_or(job.span_bytes, |bytes| job.span_bytes.min(bytes as u64));
    Job { span_bytes, ..job.clone() }
}

/// The share of reads of a mixed job, which its figure does not tell.
pub(super) fn read_share(job: &Job, measured: &Measured) -> Option<Note> {
    let ios = measured.reads + measured.writes;
    (!matches!(job.read_percent, 0 | 100) && ios > 0).then(|| {
        let share = measured.reads as f64 / ios as f64;
        let text = format!("{:.1} % of the I/Os of the mixed job were reads.", share * 100.0);
        note(READ_SHARE, text, share)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourcorners_drive::Geometry;

    fn scope(bytes: u64, medium: Medium) -> Scope {
        let geometry = Geometry { sectors: bytes / 512, logical_block_bytes: 512, queue_depth: 32 };
        Scope::whole_of(geometry, medium)
    }

    #[test]
    fn the_card_has_all_figures_and_they_take_less_than_a_minute() {
        let plan = plan(&scope(1 << 36, Medium::File));
        let seconds: f64 = plan.iter().map(Phase::estimated_seconds).sum();
        assert!((50.0..=58.0).contains(&seconds), "{seconds}");
        let figures: Vec<&str> = plan
            .iter()
            .filter_map(|phase| match phase {
                Phase::Runs { figure, times: QUICK_RUNS, .. } => Some(figure.as_str()),
                _ => None,
            })
            .collect();
        let on_card = QUICK_ROWS.iter().flat_map(|row| [row.read, row.write, row.mixed]).flatten();
        assert!(on_card.clone().all(|figure| figures.contains(&figure)));
        assert_eq!(figures.len(), on_card.count());
    }

    #[test]
    fn a_slow_drive_is_measured_on_what_it_wrote_and_a_fast_one_on_all() {
        let plan = plan(&scope(1 << 36, Medium::Device));
        let fill = plan[0].job().expect("it writes").clone();
        let read = plan[1].job().expect("it reads").clone();
        assert_eq!((fill.span_bytes, read.span_bytes), (1 << 30, 1 << 30));
        assert_eq!(short_span(&fill, 1 << 30), None);
        for (written, span) in [(200 << 20, 200 << 20), ((200 << 20) + 5, 200 << 20), (7, 8 << 20)]
        {
            let note = short_span(&fill, written).expect("it is less");
            assert_eq!(within_written(&read, &[note]).span_bytes, span);
        }
        assert_eq!(within_written(&read, &[]).span_bytes, 1 << 30);
    }

    #[test]
    fn a_virtual_drive_writes_all_of_its_span() {
        let plan = plan(&scope(1 << 36, Medium::HardDisk));
        assert_eq!(plan[0].job().map(|job| job.until), Some(Until::Bytes(1 << 30)));
    }
}
