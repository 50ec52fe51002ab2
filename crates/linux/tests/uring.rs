//! The real drive against real files: bytes land where they should, faults say what happened, and
//! the one loop measures it truly.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fourcorners_drive::{FaultCause, Geometry, Io, Lba, Nanos, Op, Tag, Target};
use fourcorners_linux::{Setup, Uring, UringError};
use fourcorners_record::{Data, Job, Pattern, Until};
use fourcorners_run::{JobEnd, Unobserved, run};
use fourcorners_testing::skipped;
use rustix::fs::OFlags;

const SETUP: Setup = Setup { queue_depth: 8, max_block_bytes: 131_072 };

fn geometry(bytes: u64) -> Geometry {
    Geometry { sectors: bytes / 512, logical_block_bytes: 512, queue_depth: 8 }
}

fn io(op: Op, sector: u64, sectors: u32, compressible_percent: u8) -> Io {
    Io { op, lba: Lba(sector), sectors, compressible_percent, fua: false }
}

fn open(path: &Path, direct: bool) -> File {
    let flags = if direct { OFlags::DIRECT.bits() as i32 } else { 0 };
    let open = |flags| OpenOptions::new().read(true).write(true).custom_flags(flags).open(path);
    // Some temporary directories are on file systems without O_DIRECT.
    open(flags).or_else(|_| open(0)).expect("open")
}

/// A temporary file filled with 0xAA.
fn filled_file(bytes: usize) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("temporary file");
    file.as_file().write_all_at(&vec![0xAA; bytes], 0).expect("write");
    file
}

/// Runs one I/O to its end.
fn one(drive: &mut Uring, io: Io) -> Result<(), FaultCause> {
    drive.submit(Tag(0), io);
    drive.reap(Nanos::MAX).map(|done| assert!(done.is_some())).map_err(|fault| fault.cause)
}

#[test]
fn writes_land_where_they_should_and_nowhere_else() {
    for direct in [false, true] {
        let file = filled_file(1 << 20);
        let mut drive =
            Uring::new(open(file.path(), direct), geometry(1 << 20), SETUP).expect("drive");
        let mut expected = vec![0xAA; 1 << 20];
        // Every length from a block to the largest, more of them than fit in flight at once.
        let mut sector = 8;
        let mut free: Vec<u32> = (0..8).collect();
        for blocks in [1u32, 2, 3, 1, 32, 5, 1, 16, 7, 1, 1, 2, 30] {
            let tag = free.pop().unwrap_or_else(|| {
                drive.reap(Nanos::MAX).expect("write").expect("one is in flight").tag.0
            });
            drive.submit(Tag(tag), io(Op::Write, sector, blocks * 8, 100));
            let start = sector as usize * 512;
            expected[start..start + blocks as usize * 4096].fill(0x55);
            sector += u64::from(blocks) * 8 + 16;
        }
        while drive.reap(Nanos::MAX).expect("write").is_some() {}
        drive.sync().expect("flush");
        let found = std::fs::read(file.path()).expect("read");
        let wrong = found.iter().zip(&expected).position(|(found, expected)| found != expected);
        assert_eq!((found.len(), wrong), (expected.len(), None));
    }
}

#[test]
fn incompressible_writes_all_differ_and_a_share_is_a_share() {
    let file = filled_file(1 << 20);
    let mut drive = Uring::new(open(file.path(), true), geometry(1 << 20), SETUP).expect("drive");
    for block in 0..256 {
        let percent = if block < 128 { 0 } else { 75 };
        one(&mut drive, io(Op::Write, block * 8, 8, percent)).expect("write");
    }
    let found = std::fs::read(file.path()).expect("read");
    let distinct: HashSet<&[u8]> = found.chunks(4096).collect();
    assert_eq!(distinct.len(), 256);
    for (index, block) in found.chunks(4096).enumerate() {
        // Random neighbours are equal once in 256: 16 of 4095, and hardly ever 48.
        let repeats = block.windows(2).filter(|pair| pair[0] == pair[1]).count() as i64;
        let random = repeats - if index < 128 { 0 } else { 3071 };
        assert!((0..48).contains(&random), "block {index}: {repeats}");
    }
}

#[test]
fn littles_law_holds_on_a_real_drive() {
    let file = filled_file(8 << 20);
    for (direct, queue_depth, read_percent) in [(true, 8, 50), (false, 3, 100), (true, 1, 0)] {
        let mut drive =
            Uring::new(open(file.path(), direct), geometry(8 << 20), SETUP).expect("drive");
        let job = Job {
            pattern: Pattern::Random,
            read_percent,
            block_bytes: 4096,
            queue_depth,
            span_start_bytes: 0,
            span_bytes: 8 << 20,
            data: Data::Incompressible,
            until: Until::Bytes(4 << 20),
            seed: 5,
            fua: read_percent == 0,
            flush: false,
            jobs: 1,
        };
        for _ in 0..2 {
            let measured = run(&mut drive, &job, &mut Unobserved);
            assert_eq!(measured.ended, JobEnd::Complete);
            assert_eq!(measured.latency.count(), 1024);
            assert_eq!(measured.in_flight_ns, measured.latency.sum());
            assert!(measured.latency.min() > 0);
            assert!(measured.latency.max() <= measured.elapsed.0);
        }
    }
}

#[test]
fn a_job_after_a_pause_does_not_count_the_pause() {
    let file = filled_file(1 << 20);
    let mut drive = Uring::new(open(file.path(), false), geometry(1 << 20), SETUP).expect("drive");
    let before = drive.now();
    std::thread::sleep(Duration::from_millis(30));
    let submitted = drive.now();
    assert!(submitted.since(before) >= Nanos(30_000_000));
    drive.submit(Tag(0), io(Op::Read, 0, 8, 0));
    let held = drive.now();
    assert_eq!(drive.now(), held, "with one in flight, time moves in reap only");
    let done = drive.reap(Nanos::MAX).expect("read").expect("done");
    assert!(held >= submitted && done.at > held);
}

#[test]
fn with_nothing_in_flight_it_returns_at_once_or_sleeps_until_then() {
    let file = filled_file(4096);
    let mut drive = Uring::new(open(file.path(), false), geometry(4096), SETUP).expect("drive");
    assert_eq!(drive.reap(Nanos::MAX), Ok(None));
    let until = drive.now() + Nanos(30_000_000);
    assert_eq!(drive.reap(until), Ok(None));
    assert!(drive.now() >= until);
    assert_eq!(drive.reap(Nanos::ZERO), Ok(None));
}

#[test]
fn what_cannot_be_done_is_a_fault_and_the_rest_goes_on() {
    let file = filled_file(1 << 20);
    let mut drive = Uring::new(open(file.path(), false), geometry(1 << 20), SETUP).expect("drive");
    let einval = FaultCause::Os { errno: 22 };
    let too_long = SETUP.max_block_bytes / 512 + 1;
    for (io, cause) in [
        (io(Op::Read, 2048, 8, 0), FaultCause::OutOfRange { sectors: 2048 }),
        (io(Op::Write, u64::MAX, 8, 0), FaultCause::OutOfRange { sectors: 2048 }),
        (io(Op::Read, 0, 0, 0), FaultCause::OutOfRange { sectors: 2048 }),
        (io(Op::Read, 0, too_long, 0), einval),
        (io(Op::Write, 0, too_long, 255), einval),
    ] {
        assert_eq!(one(&mut drive, io), Err(cause));
    }
    drive.submit(Tag(8), io(Op::Read, 0, 8, 0));
    assert_eq!(drive.reap(Nanos::MAX).map_err(|fault| fault.cause), Err(einval), "no such tag");
    drive.submit(Tag(3), io(Op::Read, 0, 8, 0));
    drive.submit(Tag(3), io(Op::Read, 8, 8, 0));
    let busy = drive.reap(Nanos::MAX).expect_err("the tag is in flight");
    assert_eq!((busy.io.lba, busy.cause), (Lba(8), FaultCause::Os { errno: 16 }));
    assert_eq!(drive.reap(Nanos::MAX).expect("read").expect("done").tag, Tag(3));
    assert_eq!(drive.reap(Nanos::MAX), Ok(None));
    let mut coarse = geometry(1 << 20);
    coarse.logical_block_bytes = 4096;
    let mut drive = Uring::new(open(file.path(), false), coarse, SETUP).expect("drive");
    let unaligned = FaultCause::Unaligned { logical_block_bytes: 4096 };
    assert_eq!(one(&mut drive, io(Op::Read, 1, 8, 0)), Err(unaligned));
}

#[test]
fn reading_past_the_end_of_the_file_is_short() {
    for direct in [false, true] {
        // The second block holds 1000 bytes only.
        let file = filled_file(4096 + 1000);
        let mut drive =
            Uring::new(open(file.path(), direct), geometry(1 << 20), SETUP).expect("drive");
        assert_eq!(one(&mut drive, io(Op::Read, 0, 8, 0)), Ok(()));
        let short = |moved_bytes| Err(FaultCause::Short { moved_bytes });
        assert_eq!(one(&mut drive, io(Op::Read, 8, 8, 0)), short(1000));
        assert_eq!(one(&mut drive, io(Op::Read, 16, 8, 0)), short(0));
    }
}

#[test]
fn a_read_only_file_reads_and_refuses_writes() {
    let file = filled_file(1 << 20);
    let read_only = File::open(file.path()).expect("open");
    let mut drive = Uring::new(read_only, geometry(1 << 20), SETUP).expect("drive");
    assert_eq!(one(&mut drive, io(Op::Read, 0, 8, 0)), Ok(()));
    assert_eq!(one(&mut drive, io(Op::Write, 0, 8, 0)), Err(FaultCause::Os { errno: 9 }));
    assert!(std::fs::read(file.path()).expect("read").iter().all(|&byte| byte == 0xAA));
}

#[test]
fn trimming_a_file_frees_its_blocks_and_flush_goes_through() {
    let file = filled_file(1 << 20);
    file.as_file().sync_all().expect("sync");
    let held = file.as_file().metadata().expect("metadata").blocks();
    let mut drive = Uring::new(open(file.path(), true), geometry(1 << 20), SETUP).expect("drive");
    // Longer than the largest block: a TRIM moves no data.
    assert_eq!(one(&mut drive, io(Op::Trim, 512, 1024, 0)), Ok(()));
    assert_eq!(one(&mut drive, io(Op::Flush, u64::MAX, 0, 0)), Ok(()));
    let found = std::fs::read(file.path()).expect("read");
    assert_eq!(found.len(), 1 << 20);
    assert!(found[512 * 512..1536 * 512].iter().all(|&byte| byte == 0));
    assert!(found[..512 * 512].iter().chain(&found[1536 * 512..]).all(|&byte| byte == 0xAA));
    assert!(file.as_file().metadata().expect("metadata").blocks() < held);
    let error = drive.purge().expect_err("a file");
    assert!(matches!(error, UringError::PurgeUnsupported { .. }), "{error}");
}

#[test]
fn deep_queues_work_and_absurd_ones_are_refused() {
    let file = filled_file(8 << 20);
    let deep = Setup { queue_depth: 1024, max_block_bytes: 4096 };
    let mut drive = Uring::new(open(file.path(), true), geometry(8 << 20), deep).expect("drive");
    assert_eq!(drive.geometry().queue_depth, 1024);
    for tag in 0..1024 {
        drive.submit(Tag(tag), io(Op::Read, u64::from(tag) * 8, 8, 0));
    }
    let mut seen = HashSet::new();
    while let Some(done) = drive.reap(Nanos::MAX).expect("read") {
        assert!(seen.insert(done.tag));
    }
    assert_eq!(seen.len(), 1024);
    for (queue_depth, max_block_bytes) in [(0, 4096), (u32::MAX, 4096), (32768, u32::MAX)] {
        let setup = Setup { queue_depth, max_block_bytes };
        assert!(Uring::new(open(file.path(), false), geometry(8 << 20), setup).is_err());
    }
}

#[test]
fn without_locked_memory_it_works_unregistered() {
    use rustix::process::{Resource, Rlimit, Uid, geteuid, setrlimit};
    use rustix::thread::{CapabilitySet, capabilities, set_capabilities, set_thread_res_uid};
    let file = filled_file(1 << 20);
    let opened = open(file.path(), true);
    // Capabilities are a thread's own, so that only this one comes under the limit.
    std::thread::spawn(move || {
        // The limit is one of all processes of a user, and another of ours may have reached it (perf's
        // buffers count): a user nobody is has all of it.
        if geteuid().is_root() {
            let nobody_is = Uid::from_raw(3_141_592_653);
            set_thread_res_uid(nobody_is, nobody_is, nobody_is).expect("another user");
        }
        let mut sets = capabilities(None).expect("capabilities");
        sets.effective.remove(CapabilitySet::IPC_LOCK);
        set_capabilities(None, sets).expect("fewer capabilities");
        let limit = Rlimit { current: Some(65536), maximum: Some(65536) };
        setrlimit(Resource::Memlock, limit).expect("a lower limit");
        let mut drive = Uring::new(opened, geometry(1 << 20), SETUP).expect("drive");
        let granted = drive.granted();
        assert!(!granted.registered_reads && !granted.registered_writes, "{granted:?}");
        assert_eq!(one(&mut drive, io(Op::Write, 0, 256, 100)), Ok(()));
        assert_eq!(one(&mut drive, io(Op::Read, 0, 256, 0)), Ok(()));
        let mut found = [0; 131_072];
        file.as_file().read_exact_at(&mut found, 0).expect("read");
        assert!(found.iter().all(|&byte| byte == 0x55));
    })
    .join()
    .expect("no failed assertion");
}

/// A device or a mount that is taken away again.
struct Undo {
    target: PathBuf,
    command: &'static [&'static str],
    _one_at_a_time: MutexGuard<'static, ()>,
}

impl Drop for Undo {
    fn drop(&mut self) {
        let undone =
            Command::new(self.command[0]).args(&self.command[1..]).arg(&self.target).status();
        // Also shows that a dropped drive lets go of its file at once.
        let undone = undone.is_ok_and(|status| status.success());
        assert!(undone || std::thread::panicking(), "left behind: {:?}", self.target);
    }
}

/// `losetup --find` is not free of races with itself.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A loop device over `file`, or why there is none.
fn loop_device(file: &Path) -> Result<Undo, String> {
    let guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    if !rustix::process::geteuid().is_root() {
        return Err("not root".to_string());
    }
    let output = Command::new("losetup")
        .args(["--find", "--show", "--direct-io=on"])
        .arg(file)
        .output()
        .map_err(|error| format!("losetup: {error}"))?;
    let device = String::from_utf8_lossy(&output.stdout).trim().to_string();
    if !output.status.success() || !device.starts_with("/dev/loop") {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_string());
    }
    Ok(Undo { target: device.into(), command: &["losetup", "-d"], _one_at_a_time: guard })
}

#[test]
fn a_loop_device_reads_writes_trims_and_purges() {
    let file = filled_file(16 << 20);
    let device = match loop_device(file.path()) {
        Ok(device) => device,
        Err(reason) => return skipped("loop-devices", reason),
    };
    let all = geometry(16 << 20);
    let mut drive = Uring::new(open(&device.target, true), all, SETUP).expect("drive");
    assert!(drive.granted().direct);
    assert_eq!(one(&mut drive, io(Op::Write, 1024, 256, 100)), Ok(()));
    assert_eq!(one(&mut drive, io(Op::Read, 1024, 256, 0)), Ok(()));
    assert_eq!(one(&mut drive, io(Op::Trim, 4096, 512, 0)), Ok(()));
    assert_eq!(one(&mut drive, io(Op::Flush, 0, 0, 0)), Ok(()));
    let found = std::fs::read(file.path()).expect("read");
    assert!(found[1024 * 512..1280 * 512].iter().all(|&byte| byte == 0x55));
    assert!(found[4096 * 512..4608 * 512].iter().all(|&byte| byte == 0));
    let around = (found[1023 * 512], found[4095 * 512], found[4608 * 512]);
    assert_eq!(around, (0xAA, 0xAA, 0xAA));
    assert_eq!(drive.purge().expect("a loop device discards").bytes, 16 << 20);
    assert!(std::fs::read(file.path()).expect("read").iter().all(|&byte| byte == 0));
}

#[test]
fn a_device_that_fails_is_an_input_output_error() {
    let file = filled_file(1 << 20);
    let device = match loop_device(file.path()) {
        Ok(device) => device,
        Err(reason) => return skipped("loop-devices", reason),
    };
    let mut drive =
        Uring::new(open(&device.target, true), geometry(1 << 20), SETUP).expect("drive");
    // The loop driver fails reads of what its file no longer has.
    file.as_file().set_len(65536).expect("truncate");
    assert_eq!(one(&mut drive, io(Op::Read, 0, 8, 0)), Ok(()));
    drive.submit(Tag(5), io(Op::Read, 1024, 8, 0));
    let fault = drive.reap(Nanos::MAX).expect_err("the sectors are gone");
    assert_eq!((fault.tag, fault.io.lba), (Tag(5), Lba(1024)));
    assert_eq!(fault.cause, FaultCause::Os { errno: 5 });
}

#[test]
fn a_full_file_system_says_so() {
    let guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = tempfile::tempdir().expect("temporary directory");
    let mount = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=1m", "fourcorners-test"])
        .arg(directory.path())
        .output();
    match mount {
        Ok(output) if output.status.success() => {}
        _ => return skipped("mount", "cannot mount a tmpfs (not root?)"),
    }
    let target = directory.path().to_path_buf();
    let _mounted = Undo { target, command: &["umount"], _one_at_a_time: guard };
    let path = directory.path().join("drive");
    File::create_new(&path).and_then(|file| file.set_len(4 << 20)).expect("sparse file");
    let mut drive = Uring::new(open(&path, false), geometry(4 << 20), SETUP).expect("drive");
    let fault = (0..1024).find_map(|block| one(&mut drive, io(Op::Write, block * 8, 8, 0)).err());
    assert_eq!(fault, Some(FaultCause::Os { errno: 28 }));
}
