//! What processes of the host reach, and reads that a controller handles in parts, against closed forms.

use crate::common::*;
use fourcorners_drive::config::SsdConfig;
use fourcorners_drive::{Nanos, Op, Ssd, Target};

/// Reads of what was never written: nothing but host, controller and link.
fn drive(change: impl FnOnce(&mut SsdConfig)) -> Ssd {
    let mut profile =
        ssd(Shape { dies: 4, blocks_per_die: 64, pages_per_block: 16, effective_op: 0.15 });
    profile.link = pcie(5, 4, 256);
    profile.host.command_us = 10.0;
    profile.controller.read_command_us = 0.1;
    profile.capacity.queue_depth = 1024;
    change(&mut profile);
    make(&profile)
}

/// Reads a second of 4 KiB at a depth.
fn rate(depth: u32, change: impl FnOnce(&mut SsdConfig)) -> f64 {
    let mut drive = drive(change);
    let begin = drive.now();
    const COUNT: u64 = 20_000;
    closed_loop(&mut drive, depth, times(COUNT, |i| io(Op::Read, i % 1000, 1)));
    COUNT as f64 / (drive.now() - begin).as_secs()
}

fn near(measured: f64, expected: f64) {
    assert!(
        (measured / expected - 1.0).abs() < 0.01,
        "{measured:.0} where {expected:.0} was expected"
    );
}

#[test]
fn one_process_reaches_one_command_over_its_time_and_several_as_many_times_that() {
    let with = |process_us, processes| {
        rate(256, |profile| {
            (profile.host.process_us, profile.host.processes) = (process_us, processes)
        })
    };
    near(with(Some(2.5), None), 400_000.0);
    near(with(Some(2.5), Some(3)), 1_200_000.0);
    // Nothing but the drive is a limit without it, and with as many as it can feed.
    let free = with(None, None);
    assert!(free > 2_000_000.0, "{free}");
    near(with(Some(2.5), Some(64)), free);
    near(with(Some(0.0), None), free);
}

#[test]
fn one_command_at_a_time_takes_what_it_took_and_few_are_no_fewer() {
    let of = |depth, process_us| rate(depth, |profile| profile.host.process_us = process_us);
    assert_eq!(of(1, None), of(1, Some(2.5)));
    // Two in some 12 us: a process is not busy all the time.
    near(of(2, Some(2.5)), of(2, None));
    assert!(of(8, Some(2.5)) < 0.9 * of(8, None));
}

#[test]
fn a_read_handled_in_parts_takes_the_longer_of_handling_and_sending() {
    let alone = |units: u32, read_4k_us: f64, pipelined: Option<bool>| -> Nanos {
        let mut drive = drive(|profile| {
            profile.controller.read_command_us = 5.0;
            profile.controller.read_4k_us = read_4k_us;
            profile.controller.read_pipelined = pipelined;
            profile.link = pcie(1, 1, 256);
        });
        closed_loop(&mut drive, 1, times(1, |_| io(Op::Read, 64, units)))[0]
    };
    // Generation 1, one lane: 4 ns a byte, 24 bytes of header each 256.
    let send = |units: u32| Nanos(u64::from(units) * 4 * (4096 + 16 * 24));
    let (first, rest) = (Nanos::from_micros(8.0), Nanos::from_micros(31.0 * 8.0));
    let whole = alone(32, 8.0, None);
    assert_eq!(whole, alone(32, 8.0, Some(false)));
    // What is handled first is sent while the rest is: all of the rest is saved, for the link is slower.
    assert!(send(32) > rest);
    assert_eq!(alone(32, 8.0, Some(true)), whole - rest);
    // Where handling is slower, it decides, and what is left of sending is nothing.
    let slow = alone(32, 40.0, Some(true));
    assert_eq!(slow, alone(32, 40.0, None) - send(32));
    // One unit has no rest.
    assert_eq!(alone(1, 8.0, Some(true)), alone(1, 8.0, None));
    assert!(alone(1, 8.0, None) > first);
}

#[test]
fn what_cannot_be_of_a_host_is_refused_by_key_value_and_what_to_do() {
    let refused = |process_us, processes| {
        let mut profile =
            ssd(Shape { dies: 4, blocks_per_die: 64, pages_per_block: 16, effective_op: 0.15 });
        profile.host.command_us = 10.0;
        profile.host.read_command_us = Some(3.0);
        (profile.host.process_us, profile.host.processes) = (process_us, processes);
        profile.check().map_err(|error| error.to_string())
    };
    assert_eq!(refused(Some(3.0), Some(1024)), Ok(()));
    for process_us in [3.1, -1.0, f64::NAN, f64::INFINITY] {
        let told = refused(Some(process_us), None).expect_err("it is more than a read takes");
        let begins = format!("host.process_us = {process_us} is not possible");
        assert!(told.starts_with(&begins) && told.contains("0 to 3"), "{told}");
    }
    for processes in [0, 1025] {
        let told = refused(Some(1.0), Some(processes)).expect_err("so many there are not");
        assert!(
            told.starts_with(&format!("host.processes = {processes} is not possible")),
            "{told}"
        );
    }
    let told = refused(None, Some(4)).expect_err("they have nothing to share");
    assert!(told.contains("host.process_us"), "{told}");
}
