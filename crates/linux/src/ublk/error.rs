//! Why a drive cannot be a block device of this machine.

use std::io;

/// What stops a block device of our own.
#[derive(Debug, thiserror::Error)]
pub enum UblkError {
    /// No driver.
    #[error(
        "this kernel has no ublk (there is no /dev/ublk-control): modprobe ublk_drv, with Linux 6.4 or newer built with \
         CONFIG_BLK_DEV_UBLK"
    )]
    Absent,
    /// Not allowed.
    #[error("only root may add a block device (CAP_SYS_ADMIN): run it as root")]
    NotRoot,
    /// A driver that knows other commands.
    #[error(
        "this kernel's ublk does not know how devices are added today ({0}): Linux 6.4 or newer does"
    )]
    TooOld(io::Error),
    /// No file of the device.
    #[error("{path} has not come: {source}; is there a devtmpfs at /dev?")]
    NoFile {
        /// The file.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// The system says no.
    #[error("cannot {doing} the driver ublk: {source}")]
    Os {
        /// What was tried.
        doing: &'static str,
        /// What it said.
        source: io::Error,
    },
}

impl UblkError {
    pub(super) fn os(doing: &'static str, source: io::Error) -> UblkError {
        UblkError::Os { doing, source }
    }
}
