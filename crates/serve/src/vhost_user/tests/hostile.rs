//! Drivers and front ends that do what they must not: an error status or the end of the connection, and nothing else.

use std::io::{Read, Write};
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use vhost::{VhostBackend, VringConfigData};
use virtio_bindings::virtio_blk::{
    VIRTIO_BLK_T_DISCARD, VIRTIO_BLK_T_GET_ID, VIRTIO_BLK_T_OUT, VIRTIO_BLK_T_WRITE_ZEROES,
};
use virtio_queue::desc::split::Descriptor;

use super::super::driver::{DESCRIPTORS, ENTRIES, MEMORY_BYTES, Parts, USED};
use super::*;

const NEXT: u16 = 1;
const WRITE: u16 = 2;
const INDIRECT: u16 = 4;

const IO_ERROR: u8 = 1;
const UNSUPPORTED: u8 = 2;

#[test]
fn a_request_that_makes_no_sense_is_answered_with_an_error() {
    let served = Served::new(Options::default());
    let mut driver = served.driver();
    let sectors = DRIVE_BYTES / 512;
    let (header, status) = ((DATA, 16, false), (STATUS, 1, true));
    let cases: [(u32, u64, Parts<'_>, u8); 14] = [
        // Sizes.
        (VIRTIO_BLK_T_IN, 0, &[header, (BUFFER, 511, true), status], IO_ERROR),
        (VIRTIO_BLK_T_OUT, 0, &[header, (BUFFER, 513, false), status], IO_ERROR),
        (VIRTIO_BLK_T_IN, 0, &[header, status], IO_ERROR),
        (VIRTIO_BLK_T_OUT, 0, &[header, status], IO_ERROR),
        // A short header.
        (VIRTIO_BLK_T_IN, 0, &[(DATA, 15, false), (BUFFER, 512, true), status], IO_ERROR),
        (VIRTIO_BLK_T_IN, 0, &[(BUFFER, 512, true), status], IO_ERROR),
        // Places.
        (VIRTIO_BLK_T_IN, sectors, &[header, (BUFFER, 512, true), status], IO_ERROR),
        (VIRTIO_BLK_T_OUT, sectors - 1, &[header, (BUFFER, 1024, false), status], IO_ERROR),
        (VIRTIO_BLK_T_OUT, u64::MAX, &[header, (BUFFER, 512, false), status], IO_ERROR),
        (VIRTIO_BLK_T_OUT, 0, &[header, (MEMORY_BYTES - 8, 512, false), status], IO_ERROR),
        (VIRTIO_BLK_T_IN, 0, &[header, (u64::MAX - 511, 512, true), status], IO_ERROR),
        // Read where it should be written.
        (VIRTIO_BLK_T_IN, 0, &[header, (BUFFER, 512, false), status], IO_ERROR),
        (VIRTIO_BLK_T_OUT, 0, &[header, (BUFFER, 512, true), status], IO_ERROR),
        // What is not known.
        (77, 0, &[header, (BUFFER, 512, true), status], UNSUPPORTED),
    ];
    for (kind, sector, parts, expected) in cases {
        driver.put_header(kind, sector).expect("it is memory");
        let (found, _) = driver.ask(parts).expect("an answer");
        assert_eq!(found, expected, "type {kind}, sector {sector}, {parts:x?}");
    }
    driver.put_header(VIRTIO_BLK_T_GET_ID, 0).expect("it is memory");
    assert_eq!(driver.ask(&[header, status]).expect("an answer").0, IO_ERROR);
    let last = sectors as u32;
    for (kind, range, expected) in [
        (VIRTIO_BLK_T_DISCARD, range(0, 8, 1), UNSUPPORTED),
        (VIRTIO_BLK_T_WRITE_ZEROES, range(0, 8, 2), UNSUPPORTED),
        (VIRTIO_BLK_T_DISCARD, range(8, last, 0), IO_ERROR),
        (VIRTIO_BLK_T_WRITE_ZEROES, range(0, last, 1), IO_ERROR),
        (VIRTIO_BLK_T_DISCARD, range(u64::MAX, 1, 0), IO_ERROR),
        (VIRTIO_BLK_T_DISCARD, range(0, 0, 0), IO_ERROR),
        (VIRTIO_BLK_T_DISCARD, [range(0, 1, 0), range(8, 1, 0)].concat(), IO_ERROR),
        (VIRTIO_BLK_T_DISCARD, vec![0; 15], IO_ERROR),
    ] {
        let found = driver.send(kind, 0, &range).expect("an answer");
        assert_eq!(found, expected, "type {kind}, {range:?}");
    }
    // It is served as before.
    assert_eq!(driver.write(0, &[5; 512]).expect("an answer"), 0);
    let (complaints, report, _) = served.end();
    assert_eq!((complaints.len(), report.connections.broken), (0, 0));
}

/// What is said of a driver that does this, and then another is served.
fn disconnected(spoil: impl FnOnce(&mut Driver)) -> String {
    let served = Served::new(Options::default());
    let mut driver = served.driver();
    driver.put_header(VIRTIO_BLK_T_IN, 0).expect("it is memory");
    spoil(&mut driver);
    let refused = driver.frontend.get_features();
    assert!(refused.is_err(), "its connection has ended");
    drop(driver);
    assert_eq!(served.driver().write(0, &[5; 512]).expect("an answer"), 0);
    let (mut complaints, report, _) = served.end();
    assert_eq!((complaints.len(), report.connections.broken), (1, 1), "{complaints:?}");
    complaints.remove(0)
}

fn given(parts: Parts<'_>) -> String {
    disconnected(|driver| {
        driver.describe(0, parts).expect("it is memory");
        driver.give(0).expect("it listens");
        std::thread::sleep(Duration::from_millis(50));
    })
}

#[test]
fn a_chain_without_a_place_for_an_answer_ends_the_connection_with_one_line() {
    let header = (DATA, 16, false);
    for (line, part) in [
        (given(&[header]), "queue 0: descriptors from 0 on have no byte of memory for the status"),
        (given(&[header, (u64::MAX, 1, true)]), "no byte of memory"),
        (given(&[header, (MEMORY_BYTES, 1, true)]), "no byte of memory"),
        (given(&[header, (STATUS, 0, true)]), "no byte of memory"),
        (given(&[(STATUS, 1, true), header]), "behind one that is written"),
        (given(&[header; 128]), "no byte of memory"),
    ] {
        assert!(line.contains(part) && line.contains("was disconnected"), "{line}");
    }
    let line = disconnected(|driver| {
        // A loop.
        for number in 0..2 {
            let descriptor = Descriptor::new(DATA, 16, NEXT, 1 - number);
            driver.put_descriptor(number, descriptor).expect("it is memory");
        }
        driver.give(0).expect("it listens");
        std::thread::sleep(Duration::from_millis(50));
    });
    assert!(line.contains("do not end"), "{line}");
    let line = disconnected(|driver| {
        driver.give(ENTRIES).expect("it listens");
        std::thread::sleep(Duration::from_millis(50));
    });
    assert!(line.contains("lead out of their table"), "{line}");
    let line = disconnected(|driver| {
        // A table of descriptors in itself.
        let table = Descriptor::new(DESCRIPTORS, 16 * 128, INDIRECT, 0);
        driver.put_descriptor(0, table).expect("it is memory");
        driver.give(0).expect("it listens");
        std::thread::sleep(Duration::from_millis(50));
    });
    assert!(line.contains("do not end"), "{line}");
    let line = disconnected(|driver| {
        // More is there than there is room for.
        let index = GuestAddress(super::super::driver::AVAILABLE + 2);
        driver.guest.write_obj(1000u16, index).expect("it is memory");
        driver.give(0).expect("it listens");
        driver.guest.write_obj(1000u16, index).expect("it is memory");
        driver.give(0).expect("it listens");
        driver.guest.write_obj(1000u16, index).expect("it is memory");
        driver.kick().expect("it listens");
        std::thread::sleep(Duration::from_millis(50));
    });
    assert!(line.contains("queue 0:"), "{line}");
}

#[test]
fn a_guest_that_never_stops_asking_keeps_nobody_else_waiting() {
    let served = Served::new(Options::default());
    let mut driver = served.driver();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    // A type that is not known, so that no drive is asked; the ring is never empty.
    driver.put_header(77, 0).expect("it is memory");
    driver.describe(0, &[(DATA, 16, false), (STATUS, 1, true)]).expect("it is memory");
    let flood = std::thread::spawn(move || {
        let mut given = 0u16;
        while ended.try_recv().is_err() {
            while given.wrapping_sub(driver.used_index().expect("memory")) < ENTRIES - 1 {
                driver.give(0).expect("it is memory");
                given = given.wrapping_add(1);
            }
        }
    });
    std::thread::sleep(Duration::from_millis(200));
    // It is told to stop, and does.
    let (complaints, ..) = served.end();
    assert_eq!(complaints, [""; 0]);
    end.send(()).expect("it floods");
    flood.join().expect("it did not fail");
}

#[test]
fn a_front_end_that_says_what_cannot_be_is_disconnected() {
    let far = VringConfigData {
        queue_max_size: ENTRIES,
        queue_size: ENTRIES,
        flags: 0,
        desc_table_addr: 0,
        used_ring_addr: USED,
        avail_ring_addr: 0,
        log_addr: None,
    };
    type Spoil<'a> = &'a dyn Fn(&mut Driver);
    let cases: [(Spoil<'_>, &str); 5] = [
        (&|driver| drop(driver.frontend.set_vring_addr(0, &far)), "outside of the memory"),
        (&|driver| drop(driver.frontend.set_vring_num(0, 3)), "queue 0 of 3 entries"),
        (&|driver| drop(driver.frontend.set_vring_num(0, 4096)), "queue 0 of 4096 entries"),
        (&|driver| drop(driver.frontend.set_features(1 << 63 | 1 << 30)), "were not offered"),
        (&|driver| drop(driver.frontend.set_mem_table(&[])), ""),
    ];
    for (spoil, part) in &cases[..4] {
        let line = disconnected(|driver| {
            spoil(driver);
            std::thread::sleep(Duration::from_millis(50));
        });
        assert!(line.contains(part), "{line}");
    }
    for bytes in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        &[0; 12],
        &[0xff; 64],
        // GET_FEATURES, version 1, and a length that is too large.
        b"\x01\0\0\0\x01\0\0\0\xff\xff\xff\0",
        // The beginning of a message, and no more.
        b"\x02\0\0\0\x01\0\0\0\x08\0\0\0\x01",
        b"\x01",
    ] {
        let served = Served::new(Options::default());
        let mut stream = served.stream();
        stream.write_all(bytes).expect("it listens");
        let timeout = Some(Duration::from_secs(5));
        stream.set_read_timeout(timeout).expect("it can be set");
        assert!(!matches!(stream.read(&mut [0; 64]), Ok(1..)), "nothing is said");
        drop(stream);
        assert_eq!(served.driver().write(0, &[5; 512]).expect("an answer"), 0);
        let (complaints, ..) = served.end();
        assert_eq!(complaints.len(), 1, "{bytes:?}: {complaints:?}");
    }
}

/// A descriptor that may be anything, and may be nearly right.
fn any_descriptor() -> impl Strategy<Value = (u64, u32, u16, u16)> {
    let address = prop_oneof![
        4 => (0..16u64).prop_map(|page| DATA + page * 4096),
        1 => 0..MEMORY_BYTES,
        1 => Just(DESCRIPTORS),
        1 => Just(USED),
        1 => any::<u64>(),
    ];
    let bytes = prop_oneof![
        3 => Just(16u32),
        3 => Just(1),
        3 => (0..9u32).prop_map(|sectors| sectors * 512),
        1 => any::<u32>(),
    ];
    let flags = prop_oneof![4 => 0..4u16, 1 => 0..8u16, 1 => any::<u16>()];
    let next = prop_oneof![4 => 0..12u16, 1 => any::<u16>()];
    (address, bytes, flags, next)
}

/// Header, data and status, one behind the other, of which some are anything.
fn descriptors() -> impl Strategy<Value = Vec<(u64, u32, u16, u16)>> {
    let descriptor = |number: u16| {
        let right = (0..16u64, 0..9u32, 0..2u16).prop_map(move |(page, sectors, writes)| {
            let address = DATA + page * 4096;
            match number % 3 {
                0 => (address, 16, NEXT, number + 1),
                1 => (address, sectors * 512, NEXT | (writes * WRITE), number + 1),
                _ => (address + 4095, 1, WRITE, 0),
            }
        });
        prop_oneof![9 => right, 1 => any_descriptor()]
    };
    (0..12).map(descriptor).collect::<Vec<_>>()
}

#[test]
fn any_descriptors_are_answered_or_end_the_connection_and_the_next_driver_is_served() {
    let served = Served::new(Options::default());
    let strategy = (
        descriptors(),
        proptest::collection::vec(
            prop_oneof![40 => (0..4u16).prop_map(|chain| 3 * chain), 1 => 0..12u16, 1 => any::<u16>()],
            1..5,
        ),
        proptest::collection::vec((0..15u32, prop_oneof![Just(0u64), any::<u64>()]), 16),
    );
    let config = Config { cases: 300, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let driver = std::cell::RefCell::new(Some(served.driver()));
    let result = runner.run(&strategy, |(descriptors, heads, headers)| {
        let mut one = driver.take().unwrap_or_else(|| served.driver());
        for (page, (kind, sector)) in headers.into_iter().enumerate() {
            let header = [u64::from(kind), sector];
            let place = GuestAddress(DATA + 4096 * page as u64);
            one.guest.write_obj(header, place).expect("it is memory");
        }
        for (number, (address, bytes, flags, next)) in (0..).zip(descriptors) {
            let descriptor = Descriptor::new(address, bytes, flags, next);
            one.put_descriptor(number, descriptor).expect("it is memory");
        }
        for head in heads {
            one.give(head).expect("it is memory");
        }
        // It answers a message: all descriptors were looked at. Or it has ended.
        let is_there = one.frontend.get_features().is_ok();
        drop(one);
        let mut next = served.driver();
        prop_assert_eq!(next.write(0, &[5; 512]).expect("an answer"), 0, "{}", is_there);
        driver.replace(Some(next));
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}\n{runner}"));
    drop(driver);
    let (complaints, ..) = served.end();
    // Both ends were met.
    assert!((30..270).contains(&complaints.len()), "{} of 300", complaints.len());
}
