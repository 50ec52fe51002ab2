//! A virtual drive of either kind, inside of what is made of drives.

use fourcorners_drive::{Clock, Done, Fault, Geometry, Hdd, Io, Nanos, Ssd, Tag, Target};

/// An SSD or a hard disk.
#[derive(Clone)]
pub enum Virtual {
    /// A model of an SSD.
    Ssd(Box<Ssd>),
    /// A model of a hard disk.
    Hdd(Box<Hdd>),
}

impl Virtual {
    /// The SSD, if it is one.
    pub fn ssd(&self) -> Option<&Ssd> {
        match self {
            Virtual::Ssd(ssd) => Some(ssd),
            Virtual::Hdd(_) => None,
        }
    }

    /// Waits until what was written is on the medium.
    pub fn settle(&mut self) {
        match self {
            Virtual::Ssd(ssd) => ssd.settle(),
            Virtual::Hdd(hdd) => hdd.settle(),
        }
    }
}

impl Target for Virtual {
    const CLOCK: Clock = Clock::Virtual;

    fn geometry(&self) -> Geometry {
        match self {
            Virtual::Ssd(ssd) => ssd.geometry(),
            Virtual::Hdd(hdd) => hdd.geometry(),
        }
    }

    fn now(&self) -> Nanos {
        match self {
            Virtual::Ssd(ssd) => ssd.now(),
            Virtual::Hdd(hdd) => hdd.now(),
        }
    }

    fn hint(&mut self, ahead: &[Io]) {
        match self {
            Virtual::Ssd(ssd) => ssd.hint(ahead),
            Virtual::Hdd(hdd) => hdd.hint(ahead),
        }
    }

    fn submit(&mut self, tag: Tag, io: Io) {
        match self {
            Virtual::Ssd(ssd) => ssd.submit(tag, io),
            Virtual::Hdd(hdd) => hdd.submit(tag, io),
        }
    }

    fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
        match self {
            Virtual::Ssd(ssd) => ssd.reap(until),
            Virtual::Hdd(hdd) => hdd.reap(until),
        }
    }

    fn is_read_only(&self) -> bool {
        match self {
            Virtual::Ssd(ssd) => ssd.is_read_only(),
            Virtual::Hdd(hdd) => hdd.is_read_only(),
        }
    }

    fn due(&mut self) -> Option<Nanos> {
        match self {
            Virtual::Ssd(ssd) => ssd.due(),
            Virtual::Hdd(hdd) => hdd.due(),
        }
    }

    fn catch_up(&mut self) {
        match self {
            Virtual::Ssd(ssd) => ssd.catch_up(),
            Virtual::Hdd(hdd) => hdd.catch_up(),
        }
    }

    fn energy_j(&self, at: Nanos) -> Option<f64> {
        match self {
            Virtual::Ssd(ssd) => ssd.energy_j(at),
            Virtual::Hdd(hdd) => hdd.energy_j(at),
        }
    }
}
