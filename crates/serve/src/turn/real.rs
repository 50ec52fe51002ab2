//! A real drive in place of a model: its data go with its I/Os, and its time is the wall's.

use fourcorners_drive::{Io, Op, Tag, Target};
use fourcorners_linux::{Uring, clock};

use super::job::Job;
use super::settings::TurnSettings;
use super::{Turn, ended_by};
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
    /// Looks at what a real drive has answered, so that its latencies have the time until now and not that of whatever is
    /// done for its clients first.
    pub(crate) fn notice(&mut self) {
        if self.on_drive.is_none() {
            return;
        }
        while self.free.len() + self.noticed.len() < self.flights.len() {
            let Some(ended) = ended_by(&mut self.target, clock()) else { return };
            self.noticed.push_back(ended);
        }
    }

    /// Hands an I/O of a job to the drive, with its data if the drive is the one that holds them.
    pub(super) fn submit(&mut self, tag: Tag, io: Io, job: usize) {
        match self.on_drive.filter(|_| io.op == Op::Write) {
            // Without data of a job it is refused, and nothing of our own is written.
            Some(on_drive) => {
                let data = self.jobs[job].as_ref().and_then(|job| job.data_of(io));
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
        if job.request.data.is_empty() {
            // Memory that is zeroed as it is touched: a clock is not kept waiting for all of it.
            job.request.data = vec![0; job.request.length as usize];
        }
        let begin = (io.lba.bytes() - job.request.offset) as usize;
        let part = job.request.data.get_mut(begin..begin + io.bytes() as usize);
        part.is_some_and(|part| on_drive(&mut self.target).read(tag, part))
    }
}

impl Job {
    /// What one of its writes writes.
    pub(super) fn data_of(&self, io: Io) -> Option<&[u8]> {
        let bytes = io.bytes() as usize;
        match self.request.command {
            Command::Write { .. } => {
                let begin = (io.lba.bytes() - self.request.offset) as usize;
                self.request.data.get(begin..begin + bytes)
            }
            Command::WriteZeroes { .. } => ZEROES.get(..bytes),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use fourcorners_drive::{Geometry, Nanos};
    use fourcorners_linux::Setup;

    use super::*;
    use crate::data_log::Logged;
    use crate::nbd::{Errno, Request};
    use crate::turn::{Answer, Outcome};

    const BYTES: u64 = 8 << 20;

    fn turn(file: File) -> Turn<Uring> {
        let geometry = Geometry { sectors: BYTES / 512, logical_block_bytes: 512, queue_depth: 8 };
        let setup = Setup { queue_depth: 8, max_block_bytes: REAL_IO_BYTES };
        let drive = Uring::new(file, geometry, setup).expect("io_uring");
        let settings =
            TurnSettings { trims: true, records: true, logs_data: true, ..Default::default() };
        Turn::of_real(drive, settings)
    }

    fn ask(turn: &mut Turn<Uring>, command: Command, length: u64, answers: &mut Vec<Answer>) {
        let data = match command {
            Command::Write { .. } => (0..length).map(|n| (n / 4096) as u8).collect(),
            _ => Vec::new(),
        };
        let request = Request { cookie: 0, command, offset: 0, length, data };
        turn.arrive(turn.now(), 1, request, answers);
    }

    fn flushes_in_flight(turn: &Turn<Uring>) -> usize {
        turn.flights.iter().flatten().filter(|flight| flight.io.op == Op::Flush).count()
    }

    #[test]
    fn what_is_logged_is_what_is_recorded_piece_by_piece() {
        let file = tempfile::tempfile().expect("a temporary file");
        file.set_len(BYTES).expect("it grows");
        let mut turn = turn(file);
        let (mut answers, length) = (Vec::new(), 2 * u64::from(REAL_IO_BYTES) + 4096);
        for command in [
            Command::Write { fua: true },
            Command::WriteZeroes { fua: false, no_hole: true, fast: false },
            Command::Trim { fua: true },
            Command::Flush,
        ] {
            let length = if command == Command::Flush { 0 } else { length };
            ask(&mut turn, command, length, &mut answers);
            turn.pass_until(Nanos::MAX, &mut answers);
        }
        assert_eq!(answers.len(), 4);
        let told = |io: fourcorners_trace::TraceIo| match io.op {
            Op::Write if !io.flags.zeroes => ("write", io.offset_bytes, io.bytes),
            Op::Write | Op::Trim => ("discard", io.offset_bytes, io.bytes),
            Op::Read | Op::Flush => ("flush", 0, 0),
        };
        let recorded: Vec<_> = turn.recorded().map(told).collect();
        let mut content = Vec::new();
        let logged: Vec<_> = turn
            .logged()
            .map(|entry| match entry {
                Logged::Write { offset, fua, data } => {
                    assert!(fua);
                    content.extend_from_slice(&data);
                    ("write", offset, data.len() as u64)
                }
                Logged::Discard { offset, length } => ("discard", offset, length),
                Logged::Flush => ("flush", 0, 0),
            })
            .collect();
        assert_eq!(recorded, logged);
        assert_eq!(logged.iter().filter(|entry| entry.0 == "write").count(), 3);
        assert!(content.iter().enumerate().all(|(n, byte)| *byte == (n / 4096) as u8));
        assert_eq!(content.len() as u64, length);
    }

    #[test]
    fn a_flush_behind_a_trim_waits_for_it_and_is_not_sent_if_it_fails() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.as_file().set_len(BYTES).expect("it grows");
        let flushed = |file: File| {
            let (mut turn, mut answers) = (turn(file), Vec::new());
            ask(&mut turn, Command::Trim { fua: true }, 1 << 20, &mut answers);
            assert_eq!(flushes_in_flight(&turn), 0, "what it is to cover is in flight");
            turn.pass_until(Nanos::MAX, &mut answers);
            assert!(turn.is_idle() && answers.len() == 1);
            let flushes = turn.recorded().filter(|io| io.op == Op::Flush).count();
            (matches!(answers[0].outcome, Outcome::Done), flushes)
        };
        assert_eq!(flushed(file.reopen().expect("it is there")), (true, 1));
        // Opened for reading only: the TRIM fails.
        assert_eq!(flushed(File::open(file.path()).expect("it is there")), (false, 0));
    }

    #[test]
    fn what_was_noticed_is_given_out_though_nothing_is_in_flight_any_more() {
        let file = tempfile::tempfile().expect("a temporary file");
        file.set_len(BYTES).expect("it grows");
        let (mut turn, mut answers) = (turn(file), Vec::new());
        for round in 1..=100 {
            ask(&mut turn, Command::Flush, 0, &mut answers);
            while turn.noticed.is_empty() {
                turn.notice();
            }
            // As the loop looks at the drive: by a time that is past when it is compared with the drive's.
            turn.pass_until(clock(), &mut answers);
            assert_eq!((answers.len(), turn.is_idle()), (round, true));
        }
    }

    #[test]
    fn a_flush_that_has_waited_is_recorded_in_its_place() {
        let file = tempfile::tempfile().expect("a temporary file");
        file.set_len(BYTES).expect("it grows");
        let (mut turn, mut answers) = (turn(file), Vec::new());
        for _ in 0..20 {
            ask(&mut turn, Command::Trim { fua: true }, 4 << 20, &mut answers);
            ask(&mut turn, Command::Write { fua: false }, 4096, &mut answers);
            turn.pass_until(Nanos::MAX, &mut answers);
        }
        let recorded: Vec<_> = turn.recorded().collect();
        assert_eq!((recorded.len(), answers.len()), (60, 40));
        assert!(recorded.is_sorted_by_key(|io| io.at), "in the order they were issued");
        for three in recorded.chunks(3) {
            let of = |op| three.iter().find(|io| io.op == op).expect("one of each");
            let (trim, flush) = (of(Op::Trim), of(Op::Flush));
            assert!(flush.at >= trim.at.saturating_add(trim.duration.expect("it has ended")));
        }
    }

    #[test]
    fn a_drive_that_is_full_or_read_only_is_said_to_be_so() {
        use fourcorners_drive::{Fault, FaultCause, Lba};
        let told = |errno| {
            let cause = FaultCause::Os { errno };
            crate::turn::errno_of(&Fault {
                tag: Tag(0),
                io: Io::write(Lba(0), 8),
                at: Nanos::ZERO,
                cause,
            })
        };
        let expected =
            [(28, Errno::NoSpc), (122, Errno::NoSpc), (30, Errno::Perm), (95, Errno::NotSup)];
        for (errno, word) in expected {
            assert_eq!(told(errno), word, "{errno}");
        }
        assert_eq!(told(5), Errno::Io);
    }
}
