//! Does TRIM bring a tortured drive back? (AnandTech's TRIM validation.)
//!
//! Purge, fill, a pass of writes over the LBAs (clean); 4 KiB random writes over all of them at queue
//! depth 32 for 30 minutes, a pass (dirty: it may rise as the drive repairs itself); TRIM of all, a
//! pass (trimmed). TRIM works when the trimmed pass is 0.95 of the clean one or more.

use fourcorners_record::verdict::{finished, verdict};
use fourcorners_record::{Job, Record, Until};
use fourcorners_run::trim::Range;
use fourcorners_words::three_digits;

use super::lba_pass::{extremes, pass};
use super::{Medium, Phase, Scope};

pub(super) const METHOD: &str = "trim";

/// What a refused TRIM is noted as, by every method that trims.
pub(super) const REFUSED: &str = "trim-refused";

const CLEAN: &str = "sequential_write_128k_qd1_clean";
const DIRTY: &str = "sequential_write_128k_qd1_tortured";
const TRIMMED: &str = "sequential_write_128k_qd1_trimmed";

const TORTURE_SECONDS: u64 = 30 * 60;
const QUICK_SECONDS: u64 = 20;
/// From this part of the clean speed on, TRIM works.
const RECOVERED: f64 = 0.95;

pub(super) fn plan(scope: &Scope) -> Vec<Phase> {
    if let Some(why) = not_trimmed(scope.medium) {
        return vec![Phase::LeftOut { why }];
    }
    let whole = scope.whole();
    let seconds = scope.either(TORTURE_SECONDS, QUICK_SECONDS);
    let torture = Job { until: Until::Seconds(seconds), ..scope.random(0, 32, whole, 0) };
    vec![
        Phase::Purge,
        scope.fill("filled", whole),
        pass(scope, CLEAN, 0),
        Phase::Prepare { state: "tortured".into(), job: torture },
        pass(scope, DIRTY, 0),
        Phase::Trim { range: Range { start_bytes: 0, bytes: whole } },
        pass(scope, TRIMMED, 0),
    ]
}

/// Why there is nothing to trim.
pub(super) fn not_trimmed(medium: Medium) -> Option<String> {
    match medium {
        Medium::Ssd | Medium::Device => None,
        Medium::HardDisk => Some("TRIM was left out: a hard disk takes none.".into()),
        Medium::File => Some(
            "TRIM was left out: what a hole in a file does to its speed is the file system's doing."
                .into(),
        ),
    }
}

pub(super) fn conclude(record: &mut Record) {
    if record.verdicts.iter().any(|verdict| verdict.about == REFUSED) {
        // The last pass ran on a drive that was not trimmed: its speed says nothing of TRIM.
        let text = "TRIM does not work: the drive refused it.".to_string();
        return record.verdicts.push(verdict(METHOD, text, 0.0));
    }
    let rate = |name: &str| finished(record, name).map(|figure| figure.mb_per_s);
    let (Some(clean), Some(trimmed)) = (rate(CLEAN), rate(TRIMMED)) else { return };
    let recovery = trimmed / clean;
    let word = if recovery >= RECOVERED { "TRIM works" } else { "TRIM does not restore it" };
    let worst = record.curves.get(DIRTY).and_then(extremes).map(|(low, _)| low);
    let tortured = rate(DIRTY).zip(worst).map_or_else(String::new, |(mean, worst)| {
        format!(", {} tortured ({} at the slowest place)", three_digits(mean), three_digits(worst))
    });
    let text = format!(
        "{word}: trimmed, it writes {:.0} % of its clean speed across the LBAs: {} MB/s clean{tortured}, \
         {} trimmed.",
        recovery * 100.0,
        three_digits(clean),
        three_digits(trimmed),
    );
    record.verdicts.push(verdict(METHOD, text, recovery));
}
