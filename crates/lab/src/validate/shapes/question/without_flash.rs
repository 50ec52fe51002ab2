//! Reads that touch no flash, as an entry tells of them.

use fourcorners_catalogue::Model;

use super::super::entry::Entry;
use super::{Question, State, span_bytes};

/// The share of reads, in per cent, that are faster than any read of the flash. What answers them, a buffer or an LBA without data, is
/// told nowhere, and it differs between tests of one drive and even, as their rates from window to window tell, within a test. For want
/// of a cause the entry's share stands for it, as LBAs without data: rates, means and low percentiles follow from it in part, the variation
/// does not.
pub(in super::super) const SHARE_WITHOUT_FLASH: &str = "share_under_50us_pct";

/// A filled drive. If the entry reads the whole drive at random and does nothing else, as much of it stays unwritten as its share of
/// reads without flash.
pub(super) fn filled(entry: &Entry) -> State {
    let only_reads = entry.test.pattern == "randread" && span_bytes(&entry.test.span).is_none();
    match entry.number(SHARE_WITHOUT_FLASH).filter(|_| only_reads) {
        Some(percent) if (0.0..=100.0).contains(&percent) => {
            State::FilledInPart { parts: 10_000 - (percent * 100.0).round() as u32 }
        }
        _ => State::Filled,
    }
}

/// What a reader has to know of a test whose share of reads without flash was put in, or that of the one it is relative to.
pub(super) fn put_in(state: State, base: Option<State>) -> Option<String> {
    let is_put_in = |state| matches!(state, State::FilledInPart { .. });
    let whose = match (is_put_in(state), base.is_some_and(is_put_in)) {
        (true, false) => "its share",
        (false, true) => "the share of what it is relative to",
        (true, true) => "its share, and that of what it is relative to,",
        (false, false) => return None,
    };
    Some(format!(
        "{whose} of reads under 50 us is put in, and rates, means and low percentiles follow from it in part"
    ))
}

impl Question {
    /// As it is asked of a drive, relative to `base`. A drive that does not say how long a read without flash takes gives no share
    /// of them.
    pub(in super::super) fn of_drive(mut self, model: &Model, base: Option<&Entry>) -> Question {
        let tells = match model {
            Model::Ssd(config) => {
                config.controller.unwritten_read_us.is_some()
                    && config.nand.reads_unwritten != Some(true)
            }
            Model::Hdd(_) => false,
        };
        match tells {
            true => self.notes.extend(put_in(self.state, base.map(filled))),
            false if matches!(self.state, State::FilledInPart { .. }) => self.state = State::Filled,
            false => {}
        }
        self
    }
}
