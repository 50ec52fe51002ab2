//! One file a format: what its records look like, and which I/O each is.

pub(super) mod blkparse;
pub(super) mod blkreplay;
pub(super) mod blktrace;
pub(super) mod columns;
pub(super) mod compact;
pub(super) mod csv;
pub(super) mod iolog;
pub(super) mod mqsim;
pub(super) mod msr;
mod pairing;
pub(super) mod vscsi;

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use pairing::Pairing;

/// A format of traces.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// What blktrace(8) writes, of either byte order.
    Blktrace,
    /// What blkparse(1) prints.
    Blkparse,
    /// fio's log of I/Os, version 2 or 3.
    FioIolog,
    /// The CSV of the MSR Cambridge traces.
    Msr,
    /// The Storage Performance Council's, as of UMass.
    Spc,
    /// Alibaba's cloud disks.
    Alibaba,
    /// Tencent's cloud volumes.
    Tencent,
    /// The virtual desktops of Systor '17.
    Systor,
    /// What blkreplay reads, `.load`.
    Blkreplay,
    /// VMware's vSCSI trace, version 1.
    Vscsi,
    /// The ASCII traces of MQSim.
    Mqsim,
    /// A table with a line of names.
    Csv,
    /// fourcorners' own.
    Compact,
}

impl Format {
    /// All of them, in the order they are looked for.
    pub const ALL: [Format; 13] = [
        Format::Compact,
        Format::Blktrace,
        Format::Vscsi,
        Format::FioIolog,
        Format::Csv,
        Format::Msr,
        Format::Systor,
        Format::Alibaba,
        Format::Spc,
        Format::Tencent,
        Format::Blkreplay,
        Format::Blkparse,
        Format::Mqsim,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Blktrace => "blktrace",
            Format::Blkparse => "blkparse",
            Format::FioIolog => "fio-iolog",
            Format::Msr => "msr",
            Format::Spc => "spc",
            Format::Alibaba => "alibaba",
            Format::Tencent => "tencent",
            Format::Systor => "systor",
            Format::Blkreplay => "blkreplay",
            Format::Vscsi => "vscsi",
            Format::Mqsim => "mqsim",
            Format::Csv => "csv",
            Format::Compact => "compact",
        }
    }

    /// The name in a sentence.
    pub fn title(self) -> &'static str {
        match self {
            Format::Blktrace => "blktrace binary",
            Format::Blkparse => "blkparse text",
            Format::FioIolog => "fio iolog",
            Format::Msr => "MSR Cambridge CSV",
            Format::Spc => "SPC (UMass)",
            Format::Alibaba => "Alibaba cloud CSV",
            Format::Tencent => "Tencent cloud CSV",
            Format::Systor => "Systor '17 CSV",
            Format::Blkreplay => "blkreplay load",
            Format::Vscsi => "VSCSI v1",
            Format::Mqsim => "MQSim ASCII",
            Format::Csv => "CSV",
            Format::Compact => "fourcorners compact",
        }
    }

    /// Whether its records are events of the kernel, of which an I/O has several.
    pub fn has_events(self) -> bool {
        matches!(self, Format::Blktrace | Format::Blkparse)
    }

    /// The names of all, for a message.
    pub(super) fn names() -> String {
        Format::ALL.map(Format::name).join(", ")
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;
    fn from_str(name: &str) -> Result<Format, UnknownFormat> {
        let known = Format::ALL.into_iter().find(|format| format.name() == name);
        known.ok_or_else(|| UnknownFormat { name: name.into() })
    }
}

/// There is no format of this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no format \"{name}\"; there are: {}", Format::names())]
pub struct UnknownFormat {
    /// The name.
    pub name: String,
}

/// Times counted from the first one, for formats whose times begin anywhere. The first is [`FIRST`] and not 0, so that one before
/// it is still earlier.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Since(Option<u64>);

/// The first time: 18 minutes in nanoseconds, 12 days in microseconds. It is small enough for a time in each of these units.
const FIRST: u64 = 1 << 40;

impl Since {
    #[inline]
    pub(super) fn first(&mut self, time: u64) -> u64 {
        time.saturating_add(FIRST).saturating_sub(*self.0.get_or_insert(time))
    }
}
