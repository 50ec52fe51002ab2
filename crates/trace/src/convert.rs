//! A trace in another form: its I/Os, and the texts about it.

use std::io::Write;

use super::Trace;
use super::write::{Output, WriteError, Writer, Written};

/// Whether to go on is asked after so many I/Os.
const ASK_AFTER: u64 = 1 << 16;

/// The form that a trace is written in.
#[derive(Clone, Copy, Debug)]
pub struct Conversion<'a> {
    /// The format.
    pub output: Output,
    /// What an iolog calls the drive; the second of several it calls `drive.1`.
    pub drive: &'a str,
}

impl Conversion<'_> {
    /// Writes a trace to its end. `go_on` is asked every few thousand I/Os, those that are left out among them; `None` when
    /// it said no, and what was written is then no whole trace. If no I/O is left of the trace ([`Written::ios`] is 0), not
    /// even a heading is written.
    ///
    /// # Errors
    /// The first of either side.
    pub fn write(
        self,
        trace: &mut Trace,
        to: impl Write,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Written>, WriteError> {
        trace.keep_texts();
        // What is refused, empty or bad from its first I/O on, is found before anything is written.
        let mut to = Some(to);
        let mut begun = None;
        let mut ios = 0u64;
        while let Some(io) = trace.next_or_left_out() {
            if let Some(io) = io? {
                if let Some(to) = to.take() {
                    begun = Some(Writer::begin(self.output, self.drive, to)?);
                }
                if let Some(writer) = &mut begun {
                    writer.texts(&trace.take_texts())?;
                    writer.put(&io)?;
                }
            }
            ios += 1;
            if ios.is_multiple_of(ASK_AFTER) && !go_on() {
                return Ok(None);
            }
        }
        let Some(mut writer) = begun else { return Ok(Some(Written::default())) };
        writer.texts(&trace.take_texts())?;
        if trace.has_clamped() {
            writer.lose_times_before_first();
        }
        Ok(Some(writer.finish()?))
    }
}
