//! Write amplification against closed forms. Np is the units of a block, B the logical blocks
//! written to, c the log blocks, k their associativity.

use super::*;

#[track_caller]
fn assert_within(measured: f64, expected: f64, share: f64) {
    let error = measured / expected - 1.0;
    assert!(error.abs() < share, "{measured:.3}, expected {expected:.3}: {error:+.4}");
}

/// Logical blocks that `writes` writes anywhere in `blocks` of them touch, on average.
fn touched(blocks: u32, writes: u32) -> f64 {
    let blocks = f64::from(blocks);
    blocks * (1.0 - (1.0 - 1.0 / blocks).powi(writes as i32))
}

#[test]
fn sequential_writes_are_switch_merged_and_cost_nothing() {
    for associativity in [1, 4, FULL] {
        let shape = Shape { dies: 4, stripe_dies: 2, logs: 3, associativity, ..ONE_DIE };
        let mut drive = make(&profile(shape));
        (0..4).for_each(|_| fill(&mut drive));
        let (count, merges) = (drive.counters(), drive.merges().expect("a log-block map"));
        assert_eq!((count.moved_units, count.padded_units), (0, 0));
        assert_eq!(merges.switch_merges, 4 * 100);
        assert_eq!((merges.partial_merges, merges.full_merges), (0, 0));
        // An erase for every block written, on each of its two dies.
        assert_eq!(count.blocks_erased, 4 * 100 * 2);
    }
}

#[test]
fn unrecognised_sequential_writes_are_copied_once() {
    let mut drive = make(&profile(Shape { sequential: false, ..ONE_DIE }));
    (0..4).for_each(|_| fill(&mut drive));
    let count = drive.counters();
    // All but the last log block, which is not merged yet.
    assert_eq!(count.moved_units, count.host_units - 64);
}

#[test]
fn one_plus_k_where_every_log_block_is_full_of_k_logical_blocks() {
    for k in [1, 2, 4, 8] {
        let shape = Shape { associativity: k, sequential: false, ..ONE_DIE };
        assert_within(random_write_amplification(shape, k), 1.0 + f64::from(k), 0.01);
    }
}

#[test]
fn one_log_block_a_data_block_doubles_what_is_written() {
    let shape = Shape { logs: 16, sequential: false, ..ONE_DIE };
    assert_within(random_write_amplification(shape, 16), 2.0, 0.01);
}

#[test]
fn a_shared_log_block_costs_as_many_data_blocks_as_it_touches() {
    // Of Np writes to B logical blocks: each that was touched is merged.
    for span in [2, 8, 32, 100] {
        let shape = Shape { associativity: FULL, sequential: false, ..ONE_DIE };
        let expected = 1.0 + touched(span, 64);
        assert_within(random_write_amplification(shape, span), expected, 0.01);
    }
}

#[test]
fn a_longer_log_merges_a_data_block_more_rarely() {
    // A logical block is merged when the log block of its first write since the last merge is the
    // oldest: c log blocks after that write, which comes 1/p - 1 log blocks after the merge, p
    // being the chance that a log block touches it.
    let (span, logs) = (400, 8);
    let shape =
        Shape { associativity: FULL, sequential: false, logs, logical_blocks: span, ..ONE_DIE };
    let p = touched(span, 64) / f64::from(span);
    let expected = 1.0 + f64::from(span) / (1.0 / p - 1.0 + f64::from(logs));
    assert_within(random_write_amplification(shape, span), expected, 0.02);
}

#[test]
fn a_block_map_writes_a_block_for_a_page() {
    // c log blocks of one logical block each find the next write theirs in c of B cases; in all
    // others one is merged, after hardly any writes: Np units for each.
    for (span, logs) in [(100, 1), (100, 4), (100, 25)] {
        let shape = Shape { logs, sequential: false, ..ONE_DIE };
        let miss = 1.0 - f64::from(logs) / f64::from(span);
        assert_within(random_write_amplification(shape, span), 1.0 + 64.0 * miss, 0.01);
    }
}

#[test]
fn associativity_saves_when_the_span_is_wide() {
    let shape = Shape { logs: 8, sequential: false, ..ONE_DIE };
    let of = |associativity| random_write_amplification(Shape { associativity, ..shape }, 100);
    let (bast, kast, fast) = (of(1), of(8), of(FULL));
    assert!(bast > 1.2 * kast && kast > 1.2 * fast, "{bast:.1} {kast:.1} {fast:.1}");
}

#[test]
fn least_recently_written_keeps_what_is_written_often() {
    // Nine of ten writes go to four logical blocks: their log blocks stay if use counts.
    let amplification = |replacement| {
        let mut profile = profile(Shape { logs: 8, sequential: false, ..ONE_DIE });
        profile.log_blocks.as_mut().expect("set").replacement = replacement;
        let mut drive = make(&profile);
        fill(&mut drive);
        let mut random = Random(11);
        let mut any = || match random.below(10) {
            0 => random.below(6400),
            _ => random.below(4 * 64),
        };
        let before = drive.counters();
        closed_loop(&mut drive, 1, times(20_000, |_| io(Op::Write, any(), 1)));
        drive.counters().write_amplification_since(&before).expect("the host wrote")
    };
    let oldest = amplification(LogReplacement::Oldest);
    let recent = amplification(LogReplacement::LeastRecentlyWritten);
    assert!(recent < 0.8 * oldest, "{recent:.2} against {oldest:.2}");
}
