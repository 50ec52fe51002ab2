//! A real drive in place of a model: its data go with its I/Os, and its time is the wall's.

use fourcorners_drive::{Io, Op, Tag, Target};
use fourcorners_linux::Uring;

use super::Turn;
use super::job::Job;
use super::settings::TurnSettings;
use crate::contents::{Contents, Memory};
use crate::nbd::Command;

/// Longest I/O that a real drive is handed; longer requests are taken in pieces, as the kernel itself has them.
pub const REAL_IO_BYTES: u32 = 1 << 20;

/// Zeroes of writes that carry none.
static ZEROES: [u8; REAL_IO_BYTES as usize] = [0; REAL_IO_BYTES as usize];

/// A drive that holds its data itself.
pub(super) trait HoldsData {
    /// Hands over a write of these data; all else is as [`Target::submit`] has it.
    fn write(&mut self, tag: Tag, io: Io, data: &[u8]);

    /// What was read under a tag that was just answered. Whether it could be had.
    fn read(&self, tag: Tag, data: &mut [u8]) -> bool;
}

impl HoldsData for Uring {
    fn write(&mut self, tag: Tag, io: Io, data: &[u8]) {
        self.submit_data(tag, io, data);
    }

    fn read(&self, tag: Tag, data: &mut [u8]) -> bool {
        self.take_data(tag, data)
    }
}

/// The same drive, as one that holds its data.
pub(super) type OnDrive<T> = fn(&mut T) -> &mut dyn HoldsData;

impl Turn<Uring> {
    /// A real drive with nothing in flight, which was opened for I/Os of [`REAL_IO_BYTES`]. What is stored is what it
    /// holds. Its times begin now. Faults are not for it: what one says is dropped would be stored all the same.
    pub fn of_real(drive: Uring, settings: TurnSettings) -> Turn<Uring> {
        let began = drive.now();
        // A TRIM promises no zeroes.
        let settings = TurnSettings { writes_zeroes: true, ..settings };
        let mut turn = Turn::new(drive, Contents::Memory(Memory::new(0)), settings);
        turn.most_io_bytes = REAL_IO_BYTES;
        turn.on_drive = Some(|drive| drive);
        turn.log.begins_at(began);
        turn
    }
}

impl<T: Target> Turn<T> {
    /// Hands an I/O of a job to the drive, with its data if the drive is the one that holds them.
    pub(super) fn submit(&mut self, tag: Tag, io: Io, job: usize) {
        match self.on_drive.filter(|_| io.op == Op::Write) {
            // Without data of a job it is refused, and nothing of our own is written.
            Some(on_drive) => {
                let data = self.jobs[job].as_ref().and_then(|job| data_of(job, io));
                on_drive(&mut self.target).write(tag, io, data.unwrap_or(&[]));
            }
            None => self.target.submit(tag, io),
        }
    }

    /// Takes what a part of a read has brought from a drive that holds its data. Whether it could be had.
    pub(super) fn take(&mut self, tag: Tag, io: Io, job: usize) -> bool {
        let (Some(on_drive), Some(job)) = (self.on_drive, self.jobs[job].as_mut()) else {
            return true;
        };
        if !matches!(job.request.command, Command::Read { .. }) {
            return true;
        }
        job.request.data.resize(job.request.length as usize, 0);
        let begin = (io.lba.bytes() - job.request.offset) as usize;
        let part = job.request.data.get_mut(begin..begin + io.bytes() as usize);
        part.is_some_and(|part| on_drive(&mut self.target).read(tag, part))
    }
}

/// What a write of a job writes.
fn data_of(job: &Job, io: Io) -> Option<&[u8]> {
    let bytes = io.bytes() as usize;
    match job.request.command {
        Command::Write { .. } => {
            let begin = (io.lba.bytes() - job.request.offset) as usize;
            job.request.data.get(begin..begin + bytes)
        }
        Command::WriteZeroes { .. } => ZEROES.get(..bytes),
        _ => None,
    }
}
