//! The data of requests: where they go, what a log has of them, and how far they can be compressed.

use fourcorners_drive::{Io, Op, Target};

use super::Turn;
use super::job::Job;
use crate::data_log::Logged;
use crate::nbd::{Command, Request};

/// Of a write's data, so much is compressed to know how far it can be.
const SAMPLE_BYTES: usize = 16 << 10;

impl<T: Target> Turn<T> {
    /// Does to the contents what a request says. The data are seen by whatever arrives later, and stay there if the
    /// drive fails the request on its way, as they may on any drive.
    pub(super) fn store(&mut self, request: &Request) -> std::io::Result<()> {
        let (offset, length) = (request.offset, request.length);
        match request.command {
            // It gets them with its I/Os.
            _ if self.on_drive.is_some() => Ok(()),
            Command::Write { .. } => self.contents.write(offset, &request.data),
            Command::Trim { .. } | Command::WriteZeroes { no_hole: false, .. } => {
                self.contents.discard(offset, length)
            }
            Command::WriteZeroes { no_hole: true, .. } => {
                let zeros = vec![0; length.min(1 << 20) as usize];
                let (mut at, end) = (offset, offset + length);
                while at < end {
                    let part = (zeros.len() as u64).min(end - at);
                    self.contents.write(at, &zeros[..part as usize])?;
                    at += part;
                }
                Ok(())
            }
            Command::Read { .. }
            | Command::Flush
            | Command::BlockStatus { .. }
            | Command::Cache => Ok(()),
        }
    }

    /// Stores nothing of a request. What is logged in place of a write is what stays there, so that the log has a write for
    /// each that is recorded.
    pub(super) fn keep(&mut self, request: &mut Request) -> std::io::Result<()> {
        match (request.command, self.on_drive) {
            (Command::Write { .. }, None) => {
                request.data.fill(0);
                self.contents.read(request.offset, &mut request.data).map(drop)
            }
            _ => Ok(()),
        }
    }

    /// How far the data of a request can be compressed, percent, where the drive's times depend on it.
    pub(super) fn compressible(&self, request: &Request) -> u8 {
        match request.command {
            Command::WriteZeroes { .. } => 100,
            Command::Write { .. } if self.settings.compresses => compressible(&request.data),
            _ => 0,
        }
    }
}

impl Job {
    /// What a log of data has of one of its I/Os.
    pub(super) fn logged(&self, io: Io) -> Option<Logged> {
        let (offset, length) = (io.lba.bytes(), io.bytes());
        let command = self.request.command;
        match io.op {
            Op::Write if matches!(command, Command::Write { .. }) => {
                let data = self.data_of(io)?.to_vec();
                Some(Logged::Write { offset, fua: io.fua, data })
            }
            Op::Write | Op::Trim => Some(Logged::Discard { offset, length }),
            Op::Flush => Some(Logged::Flush),
            Op::Read => None,
        }
    }
}

/// What a log of data has of a request; nothing of one that was to make zeroes, where what was there is kept.
pub(super) fn logged(request: &Request, data: Vec<u8>, keeps: bool) -> Option<Logged> {
    let (offset, length) = (request.offset, request.length);
    match request.command {
        Command::Write { fua } => Some(Logged::Write { offset, fua, data }),
        Command::Trim { .. } | Command::WriteZeroes { .. } if keeps => None,
        Command::Trim { .. } | Command::WriteZeroes { .. } => {
            Some(Logged::Discard { offset, length })
        }
        Command::Flush => Some(Logged::Flush),
        Command::Read { .. } | Command::BlockStatus { .. } | Command::Cache => None,
    }
}

/// How much of these data LZ4 removes, in percent, by a sample from their beginning.
fn compressible(data: &[u8]) -> u8 {
    let sample = &data[..data.len().min(SAMPLE_BYTES)];
    let stored = lz4_flex::block::compress(sample).len().min(sample.len());
    match sample.len() {
        0 => 0,
        bytes => (100 - stored * 100 / bytes) as u8,
    }
}
