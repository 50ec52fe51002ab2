//! What is asked of a drive beside requests.

/// What a turn has to know of its drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TurnSettings {
    /// It takes TRIM.
    pub trims: bool,
    /// It answers TRIMs and forgets nothing: what was there stays. Zeroes are zeroes all the same.
    pub ignores_trims: bool,
    /// Its times depend on how far data can be compressed.
    pub compresses: bool,
    /// [`Turn::recorded`](super::Turn::recorded) gives the I/Os.
    pub records: bool,
    /// What is stored is kept for whoever logs it.
    pub logs_data: bool,
    /// It answers flushes at once and does nothing for them, nor does it force a write.
    pub ignores_flushes: bool,
    /// Zeroes are written, for a TRIM of this drive promises none.
    pub writes_zeroes: bool,
}

impl TurnSettings {
    /// Whether a TRIM makes zeroes.
    pub(super) fn zeroes_by_trim(self) -> bool {
        self.trims && !self.writes_zeroes
    }
}
