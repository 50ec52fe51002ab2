//! Every mode and every fallback moves the same bytes to the same places; a stalled drive is
//! waited for as long as asked and no longer.

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use fourcorners_drive::{Lba, SECTOR_BYTES};
use rustix::fs::MemfdFlags;

use super::making::Plan;
use super::setup::BEST_FIRST;
use super::*;

const GEOMETRY: Geometry = Geometry { sectors: 2048, logical_block_bytes: 512, queue_depth: 32 };
const SETUP: Setup = Setup { queue_depth: 4, max_block_bytes: 16384 };

fn io(op: Op, sector: u64, sectors: u32) -> Io {
    Io { op, lba: Lba(sector), sectors, compressible_percent: 100, fua: false }
}

/// A file whose every sector begins with its own number.
fn numbered_file() -> File {
    numbered(tempfile::tempfile().expect("temporary file"))
}

fn numbered(mut file: File) -> File {
    for sector in 0..GEOMETRY.sectors {
        let mut bytes = [0xAA; 512];
        bytes[..8].copy_from_slice(&sector.to_le_bytes());
        file.write_all(&bytes).expect("1 MiB");
    }
    file
}

fn only(drive: &mut Uring, io: Io) -> Result<Option<Done>, Fault> {
    drive.submit(Tag(1), io);
    drive.reap(Nanos::MAX)
}

/// What the last read under `tag` brought.
fn read_bytes(drive: &Uring, tag: u32, bytes: usize) -> Vec<u8> {
    let slot = drive.buffers.read_slot(tag);
    // SAFETY: nothing is in flight, and the slot is 16 KiB.
    unsafe { std::slice::from_raw_parts(slot.address, bytes) }.to_vec()
}

fn pipe(queue_depth: u32) -> (Uring, std::io::PipeWriter) {
    // Reading an empty pipe is the one read that surely does not end before we let it; how much
    // it returns is ours to choose, too.
    let (reader, writer) = std::io::pipe().expect("pipe");
    let setup = Setup { queue_depth, ..SETUP };
    let drive = Uring::new(File::from(OwnedFd::from(reader)), GEOMETRY, setup).expect("drive");
    (drive, writer)
}

#[test]
fn all_modes_and_fallbacks_read_and_write_the_same() {
    for modes in [&BEST_FIRST[..], &BEST_FIRST[1..], &BEST_FIRST[2..]] {
        for register in [true, false] {
            let file = numbered_file();
            let plan = Plan { modes, register, asked: Modes::default() };
            let mut drive =
                Uring::with(file.try_clone().expect("dup"), GEOMETRY, SETUP, plan).expect("drive");
            assert_eq!(drive.completions, modes[0], "this kernel knows all modes");
            assert_eq!(drive.granted().registered_reads, register);
            assert_eq!(drive.granted().registered_writes, register);
            for tag in 0..4 {
                drive.submit(Tag(tag), io(Op::Read, 100 * u64::from(tag), 2));
            }
            for _ in 0..4 {
                assert!(drive.reap(Nanos::MAX).expect("reads").is_some());
            }
            for tag in 0..4u32 {
                let bytes = read_bytes(&drive, tag, 1024);
                assert_eq!(bytes[..8], (100 * u64::from(tag)).to_le_bytes());
                assert_eq!(bytes[512..520], (100 * u64::from(tag) + 1).to_le_bytes());
            }
            assert!(only(&mut drive, io(Op::Write, 7, 2)).expect("write").is_some());
            assert!(only(&mut drive, io(Op::Read, 6, 4)).expect("read").is_some());
            let bytes = read_bytes(&drive, 1, 2048);
            assert_eq!(bytes[..8], 6u64.to_le_bytes());
            assert!(bytes[512..1536].iter().all(|&byte| byte == 0x55));
            assert_eq!(bytes[1536..1544], 9u64.to_le_bytes());
        }
    }
}

#[test]
fn a_stalled_drive_is_waited_for_until_then_and_no_longer() {
    let (mut drive, mut writer) = pipe(4);
    drive.submit(Tag(2), io(Op::Read, 0, 8));
    for _ in 0..3 {
        let until = drive.now() + Nanos(20_000_000);
        assert_eq!(drive.reap(until), Ok(None));
        assert!(drive.now() >= until);
    }
    // A time that is over asks without waiting.
    let before = drive.now();
    assert_eq!(drive.reap(Nanos::ZERO), Ok(None));
    assert!(drive.now() >= before);
    writer.write_all(&[1; 4096]).expect("pipe");
    let done = drive.reap(Nanos::MAX).expect("read").expect("done");
    assert!(done.tag == Tag(2) && done.at >= before);
}

#[test]
fn an_alarm_that_rings_before_a_later_time_does_not_end_the_wait_for_it() {
    let (mut drive, mut writer) = pipe(4);
    drive.submit(Tag(0), io(Op::Read, 0, 8));
    // Far enough for an alarm, which is still set when the read is done before it.
    let first = drive.now() + Nanos(40_000_000);
    writer.write_all(&[1; 4096]).expect("pipe");
    assert_eq!(drive.reap(first).expect("read").map(|done| done.tag), Some(Tag(0)));
    for turn in 0..3 {
        drive.submit(Tag(turn), io(Op::Read, 0, 8));
        // An earlier one is kept nevertheless, and so is a later one.
        for wait in [2_000_000, 90_000_000] {
            let until = drive.now() + Nanos(wait);
            assert_eq!(drive.reap(until), Ok(None));
            assert!(drive.now() >= until);
        }
        writer.write_all(&[1; 4096]).expect("pipe");
        assert_eq!(drive.reap(Nanos::MAX).expect("read").map(|done| done.tag), Some(Tag(turn)));
    }
    // What is dropped with an alarm set does not wait for it.
    drive.submit(Tag(0), io(Op::Read, 0, 8));
    let until = drive.now() + Nanos(20_000_000_000);
    writer.write_all(&[1; 4096]).expect("pipe");
    assert!(drive.reap(until).expect("read").is_some());
}

#[test]
fn a_full_line_has_no_room_for_an_alarm_and_waits_as_long_all_the_same() {
    let (mut drive, mut writer) = pipe(4);
    for turn in 0..3 {
        (0..4).for_each(|tag| drive.submit(Tag(tag), io(Op::Read, 0, 8)));
        let until = drive.now() + Nanos(25_000_000);
        assert_eq!(drive.reap(until), Ok(None), "turn {turn}");
        assert!(drive.now() >= until && drive.queued == 0);
        writer.write_all(&[1; 4 * 4096]).expect("pipe");
        for _ in 0..4 {
            assert!(drive.reap(Nanos::MAX).expect("read").is_some());
        }
    }
}

#[test]
fn a_short_read_is_continued_where_it_stopped() {
    let (mut drive, mut writer) = pipe(4);
    drive.submit(Tag(3), io(Op::Read, 0, 8));
    for part in [1000, 96, 2000] {
        writer.write_all(&vec![part as u8; part]).expect("pipe");
        let until = drive.now() + Nanos(10_000_000);
        assert_eq!(drive.reap(until), Ok(None), "a short result never counts as done");
    }
    writer.write_all(&[9; 1000]).expect("pipe");
    assert_eq!(drive.reap(Nanos::MAX).expect("read").map(|done| done.tag), Some(Tag(3)));
    let expected = [vec![232; 1000], vec![96; 96], vec![208; 2000], vec![9; 1000]].concat();
    assert!(read_bytes(&drive, 3, 4096) == expected);
}

#[test]
fn the_end_of_input_is_a_short_fault_that_says_how_far_it_came() {
    let (mut drive, mut writer) = pipe(4);
    drive.submit(Tag(0), io(Op::Read, 0, 8));
    writer.write_all(&[1; 100]).expect("pipe");
    drop(writer);
    let fault = drive.reap(Nanos::MAX).expect_err("end of input");
    assert_eq!((fault.tag, fault.cause), (Tag(0), FaultCause::Short { moved_bytes: 100 }));
    assert_eq!(drive.reap(Nanos::MAX), Ok(None), "nothing is left in flight");
}

#[test]
fn dropping_waits_for_what_is_in_flight() {
    let (mut drive, mut writer) = pipe(4);
    drive.submit(Tag(0), io(Op::Read, 0, 8));
    let until = drive.now() + Nanos(1_000_000);
    assert_eq!(drive.reap(until), Ok(None));
    // Only queued: not waited for.
    drive.submit(Tag(1), io(Op::Read, 0, 8));
    let late = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        let at = clock();
        writer.write_all(&[1; 4096]).expect("the reader is still there");
        at
    });
    drop(drive);
    let dropped = clock();
    assert!(dropped >= late.join().expect("written"));
}

#[test]
fn a_broken_ring_fails_what_is_in_flight_and_what_comes() {
    let mut drive = Uring::new(numbered_file(), GEOMETRY, SETUP).expect("drive");
    drive.submit(Tag(0), io(Op::Read, 0, 8));
    drive.submit(Tag(1), io(Op::Read, 8, 8));
    drive.broken = Some(Errno::BADFD.raw_os_error());
    for tag in [Tag(0), Tag(1)] {
        assert_eq!(drive.reap(Nanos::MAX).map_err(|fault| fault.tag), Err(tag));
    }
    assert_eq!(drive.reap(Nanos::MAX), Ok(None));
    assert_eq!(only(&mut drive, io(Op::Read, 0, 8)).map_err(|f| f.cause), Err(os(Errno::BADFD)));
}

#[test]
fn trims_in_flight_together_all_fall_back_on_an_older_kernel() {
    // A file answers the block device's discard command as an older kernel's device does, and the ioctl by ENOTTY.
    let file = numbered_file();
    let mut drive = Uring::new(file.try_clone().expect("dup"), GEOMETRY, SETUP).expect("drive");
    drive.discard = Discard::Command;
    for round in 0..3 {
        for tag in 0..4 {
            drive.submit(Tag(tag), io(Op::Trim, 64 * u64::from(tag), 8));
        }
        for _ in 0..4 {
            let fault = drive.reap(Nanos::MAX).expect_err("a file takes no such request");
            assert_eq!(fault.cause, os(Errno::NOTTY), "round {round}");
        }
        assert_eq!((drive.discard, drive.flying), (Discard::Ioctl, 0));
    }
    // What the kernel would do as a write of zeroes is not tried.
    assert!(only(&mut drive, io(Op::Read, 192, 8)).expect("read").is_some());
    assert_eq!(read_bytes(&drive, 1, 8), 192u64.to_le_bytes());
}

/// A loop device over a file, which is taken away again; `None`, and a line that says why, where there is none.
struct Loop {
    device: String,
    _file: tempfile::NamedTempFile,
}

impl Loop {
    fn new() -> Option<Loop> {
        let file = tempfile::NamedTempFile::new().expect("temporary file");
        numbered(file.reopen().expect("open"));
        let made = Command::new("losetup").args(["--find", "--show"]).arg(file.path()).output();
        let device = match &made {
            Ok(output) => String::from_utf8_lossy(&output.stdout).trim().to_string(),
            Err(_) => String::new(),
        };
        if !device.starts_with("/dev/loop") {
            fourcorners_testing::skipped("loop-devices", format!("no loop device: {made:?}"));
            return None;
        }
        Some(Loop { device, _file: file })
    }

    /// What sysfs says of it.
    fn attribute(&self, name: &str) -> String {
        let path = format!("/sys/block/{}/{name}", &self.device["/dev/".len()..]);
        std::fs::read_to_string(&path).unwrap_or_else(|error| format!("{path}: {error}"))
    }

    /// Discards and writes that its driver has completed (Documentation/block/stat.rst).
    fn discards_and_writes(&self) -> [u64; 2] {
        let stat = self.attribute("stat");
        [11, 4].map(|at| {
            stat.split_whitespace().nth(at).and_then(|word| word.parse().ok()).expect("a number")
        })
    }

    /// Discards and writes since `before`, once they are `expected` or it is clear that they will not be: the kernel counts one
    /// after it has told who waits for it.
    fn since(&self, before: [u64; 2], expected: [u64; 2]) -> [u64; 2] {
        let end = Instant::now() + Duration::from_secs(5);
        loop {
            let now = self.discards_and_writes();
            let since = [now[0] - before[0], now[1] - before[1]];
            if since == expected || Instant::now() > end {
                return since;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// What may be the reason that it does not discard.
    fn state(&self) -> String {
        let of = ["loop/backing_file", "queue/discard_max_bytes", "size", "ro"];
        of.map(|name| format!("{name} {}", self.attribute(name).trim())).join(", ")
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("-d").arg(&self.device).status();
    }
}

#[test]
fn where_io_uring_has_no_discard_a_trim_is_one_nevertheless_and_no_write() {
    let Some(device) = Loop::new() else { return };
    let open = || {
        let file = File::options().read(true).write(true).open(&device.device);
        file.expect("it can be opened")
    };
    let old = -Errno::OPNOTSUPP.raw_os_error();
    let mut drive = Uring::new(open(), GEOMETRY, SETUP).expect("drive");
    drive.discard = Discard::Command.after(old).expect("there is another way");
    let before = device.discards_and_writes();
    for round in 0..8u64 {
        // Reads beside them are answered as ever.
        let op = |tag: u64| if tag == 3 { Op::Read } else { Op::Trim };
        for tag in 0..4 {
            drive.submit(Tag(tag as u32), io(op(tag), 256 * tag + 8 * round, 8));
        }
        let began = clock();
        for _ in 0..4 {
            let done = drive.reap(Nanos::MAX);
            let done = done.unwrap_or_else(|fault| panic!("{fault:?}: {}", device.state()));
            assert!(done.expect("four are in flight").at >= began);
        }
        assert_eq!(drive.reap(Nanos::MAX), Ok(None));
    }
    assert_eq!(device.since(before, [24, 0]), [24, 0]);
    for (sector, zeroes) in
        [(0, true), (63, true), (64, false), (256, true), (575, true), (576, false), (768, false)]
    {
        assert!(only(&mut drive, io(Op::Read, sector, 1)).expect("read").is_some());
        let expected = if zeroes { 0 } else { sector };
        assert_eq!(read_bytes(&drive, 1, 8), expected.to_le_bytes(), "sector {sector}");
    }
    // The control: a hole punched is told from a discard.
    let before = device.discards_and_writes();
    drive.discard = Discard::PunchHole;
    assert!(only(&mut drive, io(Op::Trim, 64, 8)).expect("a hole").is_some());
    assert_eq!(device.since(before, [0, 1]), [0, 1]);
    drive.discard = Discard::Ioctl;
    // One that the device refuses is an error; what is beyond its end is no range of it.
    drive.geometry.sectors += 8;
    let fault = only(&mut drive, io(Op::Trim, GEOMETRY.sectors, 8)).expect_err("beyond the end");
    assert_eq!(fault.cause, os(Errno::INVAL));
    assert!(only(&mut drive, io(Op::Trim, 0, 8)).expect("discarded").is_some());
    // Dropped with some in flight, it has let go of the device.
    for tag in 0..4 {
        drive.submit(Tag(tag), io(Op::Trim, 512 + 8 * u64::from(tag), 8));
    }
    drop(drive);
    let mut read_only =
        Uring::new(File::open(&device.device).expect("open"), GEOMETRY, SETUP).expect("drive");
    read_only.discard = Discard::Ioctl;
    let fault = only(&mut read_only, io(Op::Trim, 0, 8)).expect_err("it is not open for writing");
    assert_eq!(fault.cause, os(Errno::BADF));
}

#[test]
fn a_kernel_thread_that_submits_moves_the_same() {
    for cpu in [None, Some(0)] {
        let file = numbered_file();
        let asked = Modes { submission_thread: Some(SubmissionThread { cpu }), polled: false };
        let mut drive = Uring::with_modes(file.try_clone().expect("dup"), GEOMETRY, SETUP, asked)
            .expect("drive");
        for round in 0..200u64 {
            for tag in 0..4 {
                drive.submit(Tag(tag), io(Op::Read, (round * 4 + u64::from(tag)) % 2000, 1));
            }
            for _ in 0..4 {
                let done = drive.reap(Nanos::MAX).expect("it reads").expect("four are in flight");
                let sector = (round * 4 + u64::from(done.tag.0)) % 2000;
                assert_eq!(read_bytes(&drive, done.tag.0, 8), sector.to_le_bytes());
            }
        }
        assert_eq!(only(&mut drive, io(Op::Write, 9, 2)).map(|done| done.is_some()), Ok(true));
        assert_eq!(only(&mut drive, Io::FLUSH).map(|done| done.is_some()), Ok(true));
        let until = drive.now() + Nanos(2_000_000);
        assert_eq!(drive.reap(until), Ok(None));
        assert!(drive.now() >= until);
    }
}

#[test]
fn what_cannot_be_polled_is_refused_before_anything_is_measured() {
    let asked = Modes { polled: true, ..Modes::default() };
    // Not opened for direct I/O, so that no kernel polls for it.
    let error = Uring::with_modes(numbered_file(), GEOMETRY, SETUP, asked).err().expect("refused");
    assert!(matches!(error, UringError::NoPolling), "{error}");
    assert!(error.to_string().contains("leave hipri out"));
}

#[test]
fn a_null_target_answers_everything_and_moves_nothing() {
    let mut drive = Uring::null(SETUP, Modes::default()).expect("drive");
    for op in [Op::Read, Op::Write, Op::Trim] {
        let done = only(&mut drive, io(op, 1 << 40, 8));
        assert!(done.is_ok_and(|done| done.is_some()) || op == Op::Trim, "{op:?}");
    }
}

#[test]
fn writes_to_the_page_cache_get_there_whoever_carries_them_out() {
    written_and_read(&numbered_file());
}

#[test]
fn so_do_reads_and_writes_of_a_file_in_memory() {
    // A file of the kernel's own tmpfs, which is there whatever is mounted.
    let file = rustix::fs::memfd_create("fourcorners", MemfdFlags::CLOEXEC).expect("memfd");
    let file = numbered(File::from(file));
    written_and_read(&file);
    let mut drive = Uring::new(file.try_clone().expect("dup"), GEOMETRY, SETUP).expect("drive");
    for round in 0..3 {
        for tag in 0..4 {
            drive.submit(Tag(tag), io(Op::Read, 1600 + 16 * u64::from(tag), 16));
        }
        for tag in 0..4 {
            // In the order of their submission, for as long as this thread does them.
            let done = drive.reap(Nanos::MAX).expect("it works").expect("four are in flight");
            assert_eq!(done.tag, Tag(tag), "round {round}");
            let sector = 1600 + 16 * u64::from(tag);
            assert_eq!(read_bytes(&drive, tag, 8), sector.to_le_bytes(), "round {round}");
        }
    }
    file.set_len((GEOMETRY.sectors - 8) * SECTOR_BYTES).expect("shorter");
    let fault =
        only(&mut drive, io(Op::Read, GEOMETRY.sectors - 16, 16)).expect_err("half is gone");
    assert_eq!(fault.cause, FaultCause::Short { moved_bytes: 4096 });
}

fn written_and_read(file: &File) {
    let mut drive = Uring::new(file.try_clone().expect("dup"), GEOMETRY, SETUP).expect("drive");
    let write = |place| Io { compressible_percent: 0, ..io(Op::Write, place, 8) };
    for turn in 0..100u64 {
        // Nothing but writes; then reads beside them, so that neither waits for the other.
        let reads = turn % 4 == 3;
        for tag in 0..4 {
            let place = turn * 4 + u64::from(tag);
            match reads && tag % 2 == 0 {
                true => drive.submit(Tag(tag), io(Op::Read, 8 * (place % 200), 8)),
                false => drive.submit(Tag(tag), write(8 * (place % 200))),
            }
        }
        let began = drive.now();
        let mut tags: Vec<u32> = (0..4)
            .map(|_| {
                let done = drive.reap(Nanos::MAX).expect("it works").expect("four are in flight");
                assert!(done.at >= began);
                done.tag.0
            })
            .collect();
        tags.sort_unstable();
        assert_eq!(tags, [0, 1, 2, 3]);
    }
    assert_eq!(drive.reap(Nanos::ZERO), Ok(None));
    assert_eq!(only(&mut drive, Io::FLUSH).map(|done| done.is_some()), Ok(true));
    // 800 blocks, all different, of which the last of each place is there; 4 KiB each, aligned.
    let mut seen = std::collections::HashSet::new();
    for place in 0..200 {
        assert!(only(&mut drive, io(Op::Read, 8 * place, 8)).expect("read").is_some());
        let block = read_bytes(&drive, 1, 4096);
        assert_ne!(block[..8], (8 * place).to_le_bytes(), "place {place} was written");
        assert!(seen.insert(block), "place {place} has the data of another");
    }
}

#[test]
fn a_write_that_fails_is_a_fault_whoever_carries_it_out() {
    // Opened for reading only: the guard never lends such a file for writing.
    let path = tempfile::NamedTempFile::new().expect("temporary file");
    path.as_file().set_len(1 << 20).expect("1 MiB");
    let file = File::open(path.path()).expect("open");
    let mut drive = Uring::new(file, GEOMETRY, SETUP).expect("drive");
    for _ in 0..2 {
        let fault = only(&mut drive, io(Op::Write, 0, 8)).expect_err("it is not open for writing");
        assert_eq!((fault.tag, fault.cause), (Tag(1), os(Errno::BADF)));
    }
    assert!(only(&mut drive, io(Op::Read, 0, 8)).expect("read").is_some());
}

#[test]
fn dropping_with_writes_in_line_is_quiet() {
    let file = numbered_file();
    let mut drive = Uring::new(file.try_clone().expect("dup"), GEOMETRY, SETUP).expect("drive");
    for tag in 0..4 {
        drive.submit(Tag(tag), io(Op::Write, 8 * u64::from(tag), 8));
    }
    drop(drive);
}
