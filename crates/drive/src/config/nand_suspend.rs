//! Programs and erases that make way for reads.

use serde::{Deserialize, Serialize};

use super::{ConfigError, within};

/// Suspending programs and erases for reads.
///
/// A read that finds its die at such an operation waits until that is suspended, or over if that is
/// sooner. Reads that come while it is suspended are served, too. Then the operation goes on: all
/// in all it is longer by the reads and by `resume_us`. With `variation.suspend_spread` the two waits
/// below are means: some reads wait for less, and some for several times as long.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NandSuspendSection {
    /// Microseconds that a read waits at most for a program, 0 to 10^6; absent when programs are not
    /// suspended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_suspend_us: Option<f64>,
    /// Microseconds that a read waits at most for an erase, 0 to 10^6; absent when erases are not
    /// suspended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erase_suspend_us: Option<f64>,
    /// Microseconds, 0 to 10^6, that an operation is longer for each time it was suspended, beside the
    /// reads it was suspended for.
    pub resume_us: f64,
    /// How often one operation may be suspended, 1 to 10^6: after that reads wait for its end, so
    /// that it comes to an end.
    pub most_suspensions: u32,
    /// Microseconds, 0 to 10^6: while a write waits for longer than that, programs are not suspended, since what is
    /// suspended holds up the writes; erases still are. None where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience_us: Option<f64>,
}

impl Default for NandSuspendSection {
    /// Erases make way after 100 us, each once.
    fn default() -> NandSuspendSection {
        NandSuspendSection {
            program_suspend_us: None,
            erase_suspend_us: Some(100.0),
            resume_us: 0.0,
            most_suspensions: 1,
            patience_us: None,
        }
    }
}

impl NandSuspendSection {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        for (key, wait) in [
            ("nand_suspend.program_suspend_us", self.program_suspend_us),
            ("nand_suspend.erase_suspend_us", self.erase_suspend_us),
        ] {
            if let Some(wait) = wait {
                within(key, wait, 0.0..=1e6)?;
            }
        }
        within("nand_suspend.resume_us", self.resume_us, 0.0..=1e6)?;
        if let Some(patience) = self.patience_us {
            within("nand_suspend.patience_us", patience, 0.0..=1e6)?;
        }
        within("nand_suspend.most_suspensions", self.most_suspensions, 1..=1_000_000)?;
        if self.program_suspend_us.is_none() && self.erase_suspend_us.is_none() {
            return Err(ConfigError::new(
                "nand_suspend.program_suspend_us",
                "absent",
                "it or nand_suspend.erase_suspend_us must be given, or [nand_suspend] left out",
            ));
        }
        Ok(())
    }
}
