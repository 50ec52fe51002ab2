//! Ctrl-C: the first one ends the measurement and keeps what there is, the second ends us.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

/// Whether we were asked to stop.
#[derive(Clone, Debug)]
pub(super) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// From now on SIGINT, SIGTERM and SIGHUP are asked for here; a second one exits at once.
    ///
    /// Those that were ignored when we were started stay so: `nohup` means that a review goes on
    /// when its terminal is closed.
    pub(super) fn listen() -> io::Result<Interrupt> {
        let asked = Arc::new(AtomicBool::new(false));
        let ignored = ignored();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            if ignored & (1 << (signal - 1)) != 0 {
                continue;
            }
            // In this order: the flag is only set by the first signal, so only the second exits.
            flag::register_conditional_shutdown(signal, 1, Arc::clone(&asked))?;
            flag::register(signal, Arc::clone(&asked))?;
        }
        Ok(Interrupt(asked))
    }

    pub(super) fn asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The signals that this process ignores, a bit each from the lowest (proc(5), `SigIgn`); none
/// where /proc cannot be read.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
