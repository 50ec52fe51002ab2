//! The SATA link as times: how long a command's frames and data take to cross it.

use crate::Nanos;
use crate::profile::LinkSection;

/// Payload of one SATA data frame, bytes (Serial ATA specification, data FIS).
const FRAME_BYTES: u64 = 8192;

/// A link's speed, worked out once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    command: Nanos,
    frame: Nanos,
    /// 8b/10b coding sends ten bits for eight.
    bytes_per_second: f64,
}

impl Link {
    pub(crate) fn new(section: &LinkSection) -> Link {
        Link {
            command: Nanos::from_micros(section.command_us.value),
            frame: Nanos::from_micros(section.frame_us.value),
            bytes_per_second: section.gbps.value * 1e9 / 10.0,
        }
    }

    /// The time a command's own frames take.
    pub(crate) fn command(&self) -> Nanos {
        self.command
    }

    /// The time `bytes` of data take, without the command's own frames.
    pub(crate) fn data(&self, bytes: u64) -> Nanos {
        let wire = Nanos((bytes as f64 * 1e9 / self.bytes_per_second).round() as u64);
        wire + Nanos(self.frame.0 * bytes.div_ceil(FRAME_BYTES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Sourced, Standing};

    fn value(value: f64) -> Sourced<f64> {
        Sourced { value, standing: Standing::Set, source: "test".into(), note: None }
    }

    #[test]
    fn sata_6_with_a_frame_cost_of_0_98_us_moves_560_mb_per_s() {
        // shared figure: t_fis of about 0.98 us calibrates a 6 Gb/s link to its practical 560 MB/s.
        let link = Link::new(&LinkSection {
            gbps: value(6.0),
            command_us: value(0.0),
            frame_us: value(0.98),
        });
        let mb_per_s = 131_072.0 * 1e3 / link.data(131_072).0 as f64;
        assert!((mb_per_s - 560.0).abs() < 1.0, "{mb_per_s}");
    }
}
