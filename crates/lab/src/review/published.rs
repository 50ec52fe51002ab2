//! The test of a published figure as a plan: what was done to the drive before, the span, the depth, the
//! data, as the fidelity table has it.

use fourcorners_record::note::note;
use fourcorners_record::{Note, Record};

use super::Phase;
use crate::statistic::{Statistic, four_digits};

/// A published figure's test on one drive.
#[derive(Clone, PartialEq, Debug)]
pub struct Published {
    /// The figure's id, which is the method's name.
    pub(crate) id: String,
    /// What was published: the drive, the test, the value, the source.
    pub(crate) about: String,
    pub(crate) phases: Vec<Phase>,
    /// The figure of each test, and what of it is compared.
    pub(crate) asked: Vec<(String, Statistic)>,
}

impl Published {
    /// The figure's id.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn phases(&self) -> Vec<Phase> {
        self.phases.clone()
    }

    pub(super) fn conclude(&self, record: &mut Record) {
        let said: Vec<Note> =
            self.asked.iter().filter_map(|asked| self.said(record, asked)).collect();
        record.notes.extend(said);
    }

    fn said(&self, record: &Record, (figure, statistic): &(String, Statistic)) -> Option<Note> {
        let value = statistic.of(record, figure)?;
        // As the fidelity table has it.
        let shown = four_digits(value);
        let unit = statistic.unit();
        let text = format!("{}: {shown} {unit} here ({figure}). {}", self.id, self.about);
        Some(note("published", text, value))
    }
}
