//! The temperature of a virtual SSD against its closed form, and what it does when it is too warm.

use crate::common::*;
use fourcorners_drive::config::{HeatSection, HeatSink, HeatThrottle, SsdConfig};
use fourcorners_drive::{Io, Lba, Nanos, Op, Ssd, SsdHeat, SsdState, Tag, Target};

const SMALL: Shape = Shape { dies: 4, blocks_per_die: 64, pages_per_block: 16, effective_op: 0.3 };

/// Warm within seconds, so that the tests need simulate no more.
fn section() -> HeatSection {
    HeatSection {
        ambient_c: 25.0,
        package_c_per_w: 4.0,
        package_s: 0.5,
        board_c_per_w: 20.0,
        board_s: 5.0,
        sink_c_per_w: Some(5.0),
        sink_s: Some(10.0),
        throttle_c: 60.0,
        resume_c: 58.0,
        throttled_percent: 50.0,
        work_ms: 1.0,
        ..HeatSection::default()
    }
}

fn config(heat: Option<HeatSection>) -> SsdConfig {
    let mut config = ssd(SMALL);
    config.controller.read_command_us = 5.0;
    config.controller.write_command_us = 20.0;
    config.power = Some(power());
    config.heat = heat;
    config
}

fn off() -> HeatSection {
    HeatSection { throttle: HeatThrottle::Off, ..section() }
}

fn heat(drive: &Ssd) -> SsdHeat {
    drive.heat().expect("the config has [heat]")
}

/// Writes in order, round and round, until `until`; how many there were.
fn write_until(drive: &mut Ssd, until: Nanos) -> u64 {
    let units = drive.geometry().sectors / 8;
    let (mut count, mut ended) = (0, false);
    for tag in 0..8 {
        drive.submit(Tag(tag), io(Op::Write, u64::from(tag), 1));
    }
    while let Ok(Some(done)) = drive.reap(Nanos::MAX) {
        count += 1;
        ended |= drive.now() >= until;
        if !ended {
            drive.submit(done.tag, io(Op::Write, (count + 8) % units, 1));
        }
    }
    count
}

fn idle(drive: &mut Ssd, seconds: u64) {
    let until = drive.now() + Nanos::from_secs(seconds);
    assert_eq!(drive.reap(until), Ok(None));
}

/// A drive that has drawn `from_w` for ever and then draws `watts` for a time, by the formula.
fn formula(section: &HeatSection, [from_w, watts]: [f64; 2], seconds: f64) -> f64 {
    let part =
        |c_per_w: f64, tau: f64| c_per_w * (watts + (from_w - watts) * (-seconds / tau).exp());
    let (slow, tau) = match section.sink {
        HeatSink::None => (section.board_c_per_w, section.board_s),
        HeatSink::Fitted => (section.sink_c_per_w.unwrap_or(0.0), section.sink_s.unwrap_or(1.0)),
    };
    section.ambient_c + part(section.package_c_per_w, section.package_s) + part(slow, tau)
}

#[test]
fn without_the_section_there_is_no_temperature_and_with_throttling_off_no_effect() {
    let mut none = make(&config(None));
    let mut unthrottled = make(&config(Some(off())));
    let mut throttled = make(&config(Some(section())));
    assert_eq!(none.heat(), None);
    let until = Nanos::from_secs(12);
    let written = write_until(&mut none, until);
    assert_eq!(write_until(&mut unthrottled, until), written);
    assert_eq!(unthrottled.now(), none.now());
    assert_eq!(unthrottled.energy(none.now()), none.energy(none.now()));
    assert_eq!(heat(&unthrottled).throttled, Nanos::ZERO);
    assert!(heat(&unthrottled).temperature_c > 60.0, "{:?}", heat(&unthrottled));
    // The control: the same writes do slow it where throttling is on.
    assert!(write_until(&mut throttled, until) < written);
}

#[test]
fn an_idle_drive_is_as_warm_as_its_idle_power_makes_it() {
    let mut drive = make(&config(Some(section())));
    let expected = 25.0 + 0.5 * 24.0;
    for _ in 0..3 {
        let SsdHeat { temperature_c, highest_c, throttled, .. } = heat(&drive);
        assert!((temperature_c - expected).abs() < 1e-9, "{temperature_c}");
        assert!((highest_c - expected).abs() < 1e-9 && throttled == Nanos::ZERO);
        idle(&mut drive, 3600);
    }
    let sink = HeatSection { sink: HeatSink::Fitted, ..section() };
    let with_sink = heat(&make(&config(Some(sink)))).temperature_c;
    assert!((with_sink - (25.0 + 0.5 * 9.0)).abs() < 1e-9, "{with_sink}");
}

#[test]
fn constant_power_follows_two_exponentials_up_and_down() {
    let section = off();
    let mut drive = make(&config(Some(section.clone())));
    let units = drive.geometry().sectors / 8;
    fill(&mut drive);
    drive.settle();
    idle(&mut drive, 600);
    let mut random = Random(7);
    let (began, joules) = (drive.now(), drive.energy_j(drive.now()).expect("metered"));
    let mut highest = 0.0f64;
    for _ in 0..40 {
        closed_loop(&mut drive, 4, times(20_000, |_| io(Op::Read, random.below(units), 1)));
        let seconds = (drive.now() - began).as_secs();
        let watts = (drive.energy_j(drive.now()).expect("metered") - joules) / seconds;
        let expected = formula(&section, [0.5, watts], seconds);
        let shown = heat(&drive).temperature_c;
        assert!((shown - expected).abs() < 0.1, "after {seconds} s: {shown}, not {expected}");
        assert!(shown > highest, "{shown} after {highest}");
        highest = shown;
    }
    assert!(highest > 50.0 && heat(&drive).highest_c >= highest, "{highest}");
    // From there it cools, each part by its own time.
    let watts =
        (drive.energy_j(drive.now()).expect("metered") - joules) / (drive.now() - began).as_secs();
    let seconds = (drive.now() - began).as_secs();
    let at_end = |tau: f64| watts + (0.5 - watts) * (-seconds / tau).exp();
    let (package, board) = (at_end(section.package_s), at_end(section.board_s));
    for after in [1u64, 2, 5, 20] {
        let mut cooling = drive.clone();
        idle(&mut cooling, after);
        let part = |from: f64, c_per_w: f64, tau: f64| {
            c_per_w * (0.5 + (from - 0.5) * (-(after as f64) / tau).exp())
        };
        let expected = section.ambient_c
            + part(package, section.package_c_per_w, section.package_s)
            + part(board, section.board_c_per_w, section.board_s);
        let shown = heat(&cooling).temperature_c;
        assert!((shown - expected).abs() < 0.1, "{after} s later: {shown}, not {expected}");
    }
}

#[test]
fn an_idle_hour_is_the_same_in_one_piece_and_in_thousands() {
    let mut whole = make(&config(Some(off())));
    write_until(&mut whole, Nanos::from_secs(3));
    let mut parts = whole.clone();
    idle(&mut whole, 60);
    for _ in 0..60 {
        idle(&mut parts, 1);
        // The answer changes nothing: asking twice, or not at all, gives the same drive.
        heat(&parts);
    }
    assert_eq!(heat(&whole), heat(&parts));
    let trim = |drive: &mut Ssd| {
        drive.submit(Tag(0), Io::read(Lba(0), 8));
        drive.reap(Nanos::MAX).expect("no fault").expect("one is in flight").at
    };
    assert_eq!(trim(&mut whole), trim(&mut parts));
    idle(&mut whole, 3600);
    let rise = heat(&whole).temperature_c - 37.0;
    assert!(rise.abs() < 1e-6, "{rise} degrees above idle");
}

#[test]
fn sustained_writes_throttle_it_and_a_heat_sink_prevents_that() {
    let until = Nanos::from_secs(60);
    let mut bare = make(&config(Some(section())));
    let mut sink = make(&config(Some(HeatSection { sink: HeatSink::Fitted, ..section() })));
    let mut never = make(&config(Some(off())));
    let [with, with_sink, without] =
        [&mut bare, &mut sink, &mut never].map(|drive| write_until(drive, until));
    assert_eq!(with_sink, without);
    assert_eq!(heat(&sink).throttled, Nanos::ZERO);
    assert!(heat(&sink).highest_c < 60.0, "{:?}", heat(&sink));
    assert!(heat(&never).highest_c > 65.0, "{:?}", heat(&never));
    // It is kept at the limit, but for what the package gains between two readings.
    let SsdHeat { highest_c, throttled, temperature_c, .. } = heat(&bare);
    assert!((60.0..64.0).contains(&highest_c), "{highest_c}");
    assert!((55.0..64.0).contains(&temperature_c), "{temperature_c}");
    assert!((10.0..60.0).contains(&throttled.as_secs()), "{throttled}");
    let share = with as f64 / without as f64;
    assert!((0.4..0.95).contains(&share), "{share}");
}

#[test]
fn while_it_is_throttled_it_works_for_its_share_of_the_time() {
    let mut never = make(&config(Some(off())));
    write_until(&mut never, Nanos::from_secs(20));
    let full = write_until(&mut never, Nanos::from_secs(24)) as f64;
    for percent in [80.0, 50.0, 20.0, 5.0] {
        // So warm that it never is cool enough again.
        let hot = HeatSection {
            ambient_c: 25.0,
            throttle_c: 36.0,
            resume_c: 26.0,
            throttled_percent: percent,
            work_ms: 2.0,
            ..section()
        };
        let mut drive = make(&config(Some(hot)));
        write_until(&mut drive, Nanos::from_secs(20));
        let before = heat(&drive).throttled;
        let share = write_until(&mut drive, Nanos::from_secs(24)) as f64 / full;
        assert!((share / (percent / 100.0) - 1.0).abs() < 0.15, "{percent} %: {share} of {full}");
        let throttled = (heat(&drive).throttled - before).as_secs();
        assert!((3.7..4.3).contains(&throttled), "{percent} %: {throttled} of 4 s");
    }
}

#[test]
fn every_joule_is_in_the_temperature() {
    // Without a way out but time: with both parts so slow that they gain energy only, the rise is energy over
    // capacity, whatever the drive did and whenever it was read.
    let slow = HeatSection { package_c_per_w: 0.0, board_c_per_w: 100.0, board_s: 1e5, ..off() };
    for seed in 0..10 {
        let mut random = Random(seed);
        let mut config = config(Some(slow.clone()));
        config.gc.idle_ms = Some(1.0);
        config.gc.idle_free_blocks = Some(config.gc.start_free_blocks + 4);
        let mut drive = make(&config);
        let units = drive.geometry().sectors / 8;
        for _ in 0..30 {
            let count = 1 + random.below(3000);
            closed_loop(&mut drive, 8, times(count, |_| io(Op::Write, random.below(units), 1)));
            let pause = drive.now() + Nanos(random.below(400_000_000));
            assert_eq!(drive.reap(pause), Ok(None));
        }
        drive.submit(Tag(0), Io::read(Lba(0), 8));
        drive.reap(Nanos::MAX).expect("no fault");
        let seconds = drive.now().as_secs();
        let joules = drive.energy_j(drive.now()).expect("metered") - 0.5 * seconds;
        let rise = heat(&drive).temperature_c - (25.0 + 50.0);
        let expected = joules * 100.0 / 1e5;
        // A part of it, at most `seconds` over the time constant, has left again.
        let lost = 1.0 - seconds / 1e5;
        assert!(rise <= expected * (1.0 + 1e-9), "seed {seed}: {rise}, not {expected}");
        assert!(rise >= expected * lost - 1e-9, "seed {seed}: {rise}, not {expected}");
    }
}

#[test]
fn a_drive_saved_while_it_is_throttled_goes_on_as_it_would_have() {
    let config = config(Some(section()));
    let mut drive = make(&config);
    write_until(&mut drive, Nanos::from_secs(15));
    assert!(heat(&drive).throttled > Nanos::ZERO);
    let json = serde_json::to_string(&drive.state().expect("idle")).expect("a state is JSON");
    let state: SsdState<'_> = serde_json::from_str(&json).expect("the same");
    let mut loaded = Ssd::restore(&config, state).expect("a state of its own");
    assert_eq!(heat(&loaded), heat(&drive));
    let until = Nanos::from_secs(30);
    assert_eq!(write_until(&mut loaded, until), write_until(&mut drive, until));
    assert_eq!((loaded.now(), heat(&loaded)), (drive.now(), heat(&drive)));
    // The control: a drive that was not warm before is faster.
    let mut cool = make(&config);
    idle(&mut cool, 15);
    let mut warm = make(&config);
    write_until(&mut warm, Nanos::from_secs(15));
    assert!(write_until(&mut cool, until) > write_until(&mut warm, until));
}

#[test]
fn the_highest_temperature_can_be_forgotten_and_nothing_else_changes() {
    let mut drive = make(&config(Some(section())));
    write_until(&mut drive, Nanos::from_secs(15));
    idle(&mut drive, 60);
    let mut asked = drive.clone();
    let before = heat(&asked);
    assert!(before.highest_c > before.temperature_c + 10.0);
    asked.forget_highest_temperature();
    assert_eq!(heat(&asked), SsdHeat { highest_c: before.temperature_c, ..before });
    let until = drive.now() + Nanos::from_secs(10);
    assert_eq!(write_until(&mut asked, until), write_until(&mut drive, until));
    assert_eq!(asked.now(), drive.now());
}

#[test]
fn a_section_that_makes_no_drive_is_refused_by_name_value_and_what_to_do() {
    type Change = fn(&mut SsdConfig, &mut HeatSection);
    let cases: [(Change, &str); 9] = [
        (
            |_, heat| heat.throttle_c = 25.0,
            "heat.throttle_c = 25 is not possible: it must be above \
            heat.ambient_c (25) and up to 150",
        ),
        (
            |_, heat| heat.resume_c = 60.5,
            "heat.resume_c = 60.5 is not possible: it must be 25 to 60",
        ),
        (
            |_, heat| heat.package_c_per_w = -1.0,
            "heat.package_c_per_w = -1 is not possible: it must be \
            0 to 100",
        ),
        (
            |_, heat| heat.board_c_per_w = f64::NAN,
            "heat.board_c_per_w = NaN is not possible: it must be \
            0 to 100",
        ),
        (|_, heat| heat.board_s = 0.0, "heat.board_s = 0 is not possible: it must be 1 to 100000"),
        (
            |_, heat| heat.throttled_percent = 0.0,
            "heat.throttled_percent = 0 is not possible: it must be \
            1 to 100",
        ),
        (
            |config, _| config.power = None,
            "heat.ambient_c = 25 is not possible: heat comes of power, of \
            which there is none: give [power], or leave out [heat]",
        ),
        (
            |_, heat| heat.sink_s = None,
            "heat.sink_c_per_w = 5 is not possible: it needs heat.sink_s: \
            give it, or leave both out",
        ),
        (
            |_, heat| {
                *heat = HeatSection {
                    sink: HeatSink::Fitted,
                    sink_c_per_w: None,
                    sink_s: None,
                    ..section()
                };
            },
            "heat.sink = fitted is not possible: no heat sink of this drive is known: give \
            heat.sink_c_per_w and heat.sink_s, or set heat.sink = none",
        ),
    ];
    for (change, expected) in cases {
        let (mut config, mut heat) = (config(None), section());
        change(&mut config, &mut heat);
        config.heat = Some(heat);
        assert_eq!(Ssd::new(&config).expect_err(expected).to_string(), expected);
    }
    Ssd::new(&config(Some(section()))).expect("the control");
}
