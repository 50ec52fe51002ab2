//! What a driver asks for is done, as it is for clients of NBD.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use fourcorners_drive::{Io, Lba, Op, Tag, Target};
use fourcorners_trace::{Options as TraceOptions, TraceIo};
use vhost::VhostBackend;
use vhost::vhost_user::VhostUserFrontend;
use vhost::vhost_user::message::VhostUserConfigFlags;
use virtio_bindings::virtio_blk::{
    VIRTIO_BLK_T_DISCARD, VIRTIO_BLK_T_FLUSH, VIRTIO_BLK_T_GET_ID, VIRTIO_BLK_T_OUT,
    VIRTIO_BLK_T_WRITE_ZEROES,
};
use vm_memory::{Bytes, GuestAddress};

use super::*;

/// Everything but EVENT_IDX (bit 29): the driver is told of each answer.
const WITHOUT_EVENT_IDX: u64 = !(1 << 29);

#[test]
fn data_are_read_as_they_were_written_and_discards_and_zeroes_are_zero() {
    let served = Served::new(Options::default());
    for features in [u64::MAX, WITHOUT_EVENT_IDX] {
        let mut driver = match features {
            u64::MAX => served.driver(),
            _ => Driver::connect(served.stream(), features).expect("the other has left"),
        };
        let data: Vec<u8> = (0..64 << 10).map(|index: u32| (index % 251) as u8).collect();
        let mut again = || {
            assert_eq!(driver.write(1000, &data).expect("an answer"), 0);
            assert!(driver.read_back(1000, 64 << 10).expect("an answer") == data);
            assert_eq!(driver.send(VIRTIO_BLK_T_FLUSH, 0, &[]).expect("an answer"), 0);
            for (kind, flags) in [
                (VIRTIO_BLK_T_DISCARD, 0),
                (VIRTIO_BLK_T_WRITE_ZEROES, 0),
                (VIRTIO_BLK_T_WRITE_ZEROES, 1),
            ] {
                assert_eq!(driver.write(1000, &data).expect("an answer"), 0);
                let one = range(1008, 16, flags);
                assert_eq!(driver.send(kind, 0, &one).expect("an answer"), 0, "{kind} {flags}");
                let mut expected = data.clone();
                expected[8 * 512..24 * 512].fill(0);
                assert!(driver.read_back(1000, 64 << 10).expect("an answer") == expected);
            }
        };
        // More requests than the ring has entries, so that it is gone round.
        (0..30).for_each(|_| again());
        drop(driver);
        // The next one is served when this one has gone.
        std::thread::sleep(Duration::from_millis(100));
    }
    let (complaints, report, _) = served.end();
    assert_eq!(complaints, [""; 0]);
    assert_eq!((report.failed, report.connections.broken), (0, 0));
}

#[test]
fn a_driver_sees_the_drives_name_and_size() {
    let served = Served::new(Options::default());
    let mut driver = served.driver();
    driver.put_header(VIRTIO_BLK_T_GET_ID, 0).expect("it is memory");
    let id = [(DATA, 16, false), (BUFFER, 20, true), (STATUS, 1, true)];
    assert_eq!(driver.ask(&id).expect("an answer"), (0, 21));
    let mut name = [0; 20];
    driver.guest.read_slice(&mut name, GuestAddress(BUFFER)).expect("it is memory");
    assert_eq!(name[..3], *b"m4\0");
    assert_eq!(driver.frontend.get_queue_num().expect("a number"), 64);
    let (_, config) = driver
        .frontend
        .get_config(0, 60, VhostUserConfigFlags::empty(), &[0; 60])
        .expect("the configuration");
    assert_eq!(config[..8], (DRIVE_BYTES / 512).to_le_bytes());
    served.end();
}

#[test]
fn header_and_data_may_be_in_any_descriptors() {
    let served = Served::new(Options::default());
    let mut driver = served.driver();
    driver.put_header(VIRTIO_BLK_T_OUT, 8).expect("it is memory");
    driver.guest.write_slice(&[7; 1024], GuestAddress(DATA + 32)).expect("it is memory");
    // The header in three parts, the last of which has data, too.
    driver.guest.write_slice(&[7; 1020], GuestAddress(DATA + 16 + 4)).expect("it is memory");
    let parts = [
        (DATA, 3, false),
        (DATA + 3, 9, false),
        (DATA + 12, 4, false),
        (DATA + 20, 500, false),
        (DATA + 520, 524, false),
        (DATA + 2048, 1, true),
    ];
    driver.describe(0, &parts).expect("it is memory");
    driver.give(0).expect("it listens");
    driver.take().expect("an answer");
    assert_eq!(driver.guest.read_obj::<u8>(GuestAddress(DATA + 2048)).expect("memory"), 0);
    assert_eq!(driver.read_back(8, 1024).expect("an answer"), [7; 1024]);
    served.end();
}

#[test]
fn any_queue_may_be_used() {
    let served = Served::new(Options::default());
    let mut driver = served.driver();
    driver.frontend.get_vring_base(0).expect("a base");
    driver.start(63).expect("there are 64");
    assert_eq!(driver.write(0, &[5; 512]).expect("an answer"), 0);
    served.end();
}

#[test]
fn a_driver_that_asks_while_it_is_looked_at_is_answered() {
    let pace = "real".parse().expect("a pace");
    let served = Served::new(Options { pace, ..Options::default() });
    let mut driver = served.driver();
    driver.put_header(VIRTIO_BLK_T_IN, 0).expect("it is memory");
    let heads = || (0..96u16).step_by(3);
    for head in heads() {
        let parts = [(DATA, 16, false), (BUFFER, 512, true), (STATUS, 1, true)];
        driver.describe(head, &parts).expect("it is memory");
    }
    for _ in 0..300 {
        heads().for_each(|head| driver.give(head).expect("it listens"));
        let mut taken: Vec<u32> = heads().map(|_| driver.take().expect("an answer").0).collect();
        taken.sort_unstable();
        assert!(taken.into_iter().eq(heads().map(u32::from)));
    }
    assert_eq!(served.end().0, [""; 0]);
}

#[test]
fn a_flush_takes_what_was_written_from_the_ledger() {
    for flushes in [false, true] {
        let served = Served::new(Options::default());
        let mut driver = served.driver();
        assert_eq!(driver.write(0, &[5; 4096]).expect("an answer"), 0);
        if flushes {
            assert_eq!(driver.send(VIRTIO_BLK_T_FLUSH, 0, &[]).expect("an answer"), 0);
        }
        let (_, report, _) = served.end();
        let ledger = report.ledger.expect("it is an SSD");
        assert_eq!(ledger.bytes, if flushes { 0 } else { 4096 });
    }
}

#[test]
fn a_power_cut_disconnects_the_machine_and_takes_what_was_not_flushed() {
    let served = Served::new(Options::default());
    let mut driver = served.driver();
    assert_eq!(driver.write(0, &[5; 4096]).expect("an answer"), 0);
    assert_eq!(driver.send(VIRTIO_BLK_T_FLUSH, 0, &[]).expect("an answer"), 0);
    assert_eq!(driver.write(8, &[6; 4096]).expect("an answer"), 0);
    let mut control = UnixStream::connect(served.dir.path().join("c")).expect("it listens");
    control.write_all(b"cut honest 1 --off 0\n").expect("it listens");
    let mut answer = [0; 512];
    let length = control.read(&mut answer).expect("it is answered");
    let answer = String::from_utf8_lossy(&answer[..length]);
    assert!(answer.contains("\"answered_lost_bytes\":4096"), "{answer}");
    assert!(driver.frontend.get_features().is_err(), "its connection has ended");
    let mut driver = served.driver();
    assert_eq!(driver.read_back(0, 4096).expect("an answer"), [5; 4096]);
    assert_eq!(driver.read_back(8, 4096).expect("an answer"), [0; 4096]);
    served.end();
}

#[test]
fn faults_strike_and_a_read_only_drive_refuses_writes() {
    let faults = vec!["eio-write@n=2", "bit-flip@n=1"];
    let served = Served::new(Options { faults, ..Options::default() });
    let mut driver = served.driver();
    let statuses = [0; 3].map(|_: u8| driver.write(0, &[5; 512]).expect("an answer"));
    assert_eq!(statuses, [0, 1, 0]);
    let read = driver.read_back(0, 512).expect("an answer");
    let flipped: u32 = read.iter().map(|byte| (byte ^ 5).count_ones()).sum();
    assert_eq!(flipped, 1);
    served.end();
    let served = Served::new(Options { read_only: true, ..Options::default() });
    let mut driver = served.driver();
    assert_eq!(driver.write(0, &[5; 512]).expect("an answer"), 1);
    assert_eq!(driver.read_back(0, 512).expect("an answer"), [0; 512]);
    served.end();
}

/// Durations of what was recorded, replayed on a new m4 one after the other at the recorded times.
fn replayed(recorded: &[TraceIo]) -> Vec<Nanos> {
    let mut ssd = m4();
    let again = recorded.iter().map(|io| {
        assert!(matches!(ssd.reap(io.at), Ok(None)), "one at a time");
        let (lba, sectors) = (Lba(io.offset_bytes / 512), (io.bytes / 512) as u32);
        ssd.submit(Tag(0), Io { op: io.op, lba, sectors, ..Io::FLUSH });
        let done = ssd.reap(Nanos::MAX).expect("nothing fails").expect("it was submitted");
        done.at.since(io.at)
    });
    again.collect()
}

/// The same I/Os over NBD: those of [`over_vhost_user`].
fn over_nbd(served: &Served, ios: &[(Op, u64)]) {
    let mut stream = served.stream();
    let mut hello = 3u32.to_be_bytes().to_vec();
    hello.extend_from_slice(b"IHAVEOPT\0\0\0\x01\0\0\0\0");
    stream.write_all(&hello).expect("it can be written");
    stream.read_exact(&mut [0; 28]).expect("it is greeted");
    for (op, sector) in ios {
        let kind = match op {
            Op::Read => 0u32,
            Op::Write => 1,
            _ => 3,
        };
        let mut request = 0x2560_9513u32.to_be_bytes().to_vec();
        request.extend_from_slice(&kind.to_be_bytes());
        request.extend_from_slice(&[0; 8]);
        let bytes = if *op == Op::Flush { 0 } else { 4096u32 };
        request.extend_from_slice(&(sector * 512).to_be_bytes());
        request.extend_from_slice(&bytes.to_be_bytes());
        request.resize(request.len() + if *op == Op::Write { 4096 } else { 0 }, 9);
        stream.write_all(&request).expect("it can be written");
        let mut reply = vec![0; 16 + if *op == Op::Read { 4096 } else { 0 }];
        stream.read_exact(&mut reply).expect("it is answered");
    }
}

fn over_vhost_user(served: &Served, ios: &[(Op, u64)]) {
    let mut driver = served.driver();
    for (op, sector) in ios {
        match op {
            Op::Read => drop(driver.read_back(*sector, 4096).expect("an answer")),
            Op::Write => drop(driver.write(*sector, &[9; 4096]).expect("an answer")),
            _ => drop(driver.send(VIRTIO_BLK_T_FLUSH, 0, &[]).expect("an answer")),
        }
    }
}

#[test]
fn times_are_the_drives_whatever_the_way_to_it() {
    // Written in order, then read here and there, with a flush now and then.
    let writes = (0..400).map(|number| (Op::Write, number * 8));
    let reads = (0..400).map(|number| (Op::Read, number * 37 % 400 * 8));
    let ios = writes.chain([(Op::Flush, 0)]).chain(reads).collect::<Vec<(Op, u64)>>();
    let recorded = ["unix", "vhost-user"].map(|at| {
        let served = Served::new(Options { at, records: true, ..Options::default() });
        match at {
            "unix" => over_nbd(&served, &ios),
            _ => over_vhost_user(&served, &ios),
        }
        let (_, _, dir) = served.end();
        let trace = fourcorners_trace::open(&dir.path().join("trace"), &TraceOptions::default());
        let ios: Vec<TraceIo> = trace.expect("a trace").map(|io| io.expect("an I/O")).collect();
        let durations: Vec<Nanos> = ios.iter().map(|io| io.duration.expect("it has one")).collect();
        // Think time is the wall's, so the moments differ; what the drive takes at each is its own, to the nanosecond.
        assert!(durations == replayed(&ios), "over {at}");
        ios
    });
    let what = |ios: &[TraceIo]| {
        ios.iter().map(|io| (io.op, io.offset_bytes, io.bytes)).collect::<Vec<_>>()
    };
    assert!(what(&recorded[0]) == what(&recorded[1]), "the drive was asked for the same");
}

#[test]
fn answers_are_held_to_their_time_and_a_queue_is_answered_before_it_stops() {
    let faults = vec!["latency=+50ms@each=1"];
    let pace = "real".parse().expect("a pace");
    let served = Served::new(Options { faults, pace, ..Options::default() });
    let mut driver = served.driver();
    let began = Instant::now();
    assert_eq!(driver.write(0, &[5; 512]).expect("an answer"), 0);
    assert!(began.elapsed() >= Duration::from_millis(50));
    // The base is only told once the request is answered.
    driver.put_header(VIRTIO_BLK_T_OUT, 8).expect("it is memory");
    driver.describe(0, &[(DATA, 16, false), (BUFFER, 512, false), (STATUS, 1, true)]).expect("");
    driver.guest.write_obj(0xffu8, GuestAddress(STATUS)).expect("it is memory");
    let began = Instant::now();
    driver.give(0).expect("it listens");
    // The loop has to have seen it before the message.
    std::thread::sleep(Duration::from_millis(10));
    assert_eq!(driver.frontend.get_vring_base(0).expect("a base"), 2);
    assert!(began.elapsed() >= Duration::from_millis(50));
    assert_eq!(driver.guest.read_obj::<u8>(GuestAddress(STATUS)).expect("memory"), 0);
    driver.take().expect("it is answered");
    // It goes on from there.
    driver.start(0).expect("it can be set up again");
    assert_eq!(driver.read_back(8, 512).expect("an answer"), [5; 512]);
    let (_, report, _) = served.end();
    let late = report.lateness_us.expect("time is real");
    assert!(late.p50 < 50_000.0, "{late:?}");
}

#[test]
fn one_machine_is_served_at_a_time_and_one_that_goes_midway_leaves_the_drive_well() {
    let faults = vec!["latency=+100ms@each=1"];
    let pace = "real".parse().expect("a pace");
    let served = Served::new(Options { faults, pace, ..Options::default() });
    let mut first = served.driver();
    assert!(Driver::connect(served.stream(), u64::MAX).is_err(), "the second is refused");
    first.put_header(VIRTIO_BLK_T_OUT, 0).expect("it is memory");
    for head in (0..60).step_by(3) {
        let parts = [(DATA, 16, false), (BUFFER, 4096, false), (STATUS, 1, true)];
        first.describe(head, &parts).expect("it is memory");
        first.give(head).expect("it listens");
    }
    std::thread::sleep(Duration::from_millis(20));
    drop(first);
    let mut next = served.driver();
    assert_eq!(next.write(0, &[6; 512]).expect("an answer"), 0);
    assert_eq!(next.read_back(0, 512).expect("an answer"), [6; 512]);
    let (complaints, report, _) = served.end();
    assert!(complaints[0].contains("one at a time"), "{complaints:?}");
    assert!(report.connections.refused >= 1);
    assert_eq!(report.connections.broken, 0);
}
