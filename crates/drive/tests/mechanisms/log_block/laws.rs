//! What holds of any log-block map, whatever is asked of it.

use super::*;
use crate::common::drain;
use fourcorners_drive::config::MapSection;
use fourcorners_drive::{Io, Lba, Tag, Target};
use proptest::prelude::*;

fn any_io() -> impl Strategy<Value = Io> {
    let op = prop_oneof![2 => Just(Op::Read), 6 => Just(Op::Write), 1 => Just(Op::Trim), 1 => Just(Op::Flush)];
    // Single units, sequential pieces and anything else.
    let sectors = prop_oneof![3 => Just(8u32), 1 => Just(64u32), 1 => 0u32..600];
    (op, any::<u32>(), sectors, any::<bool>()).prop_map(|(op, lba, sectors, aligned)| {
        let lba = Lba(u64::from(if aligned { lba / 8 * 8 } else { lba }));
        Io { op, lba, sectors, ..Io::FLUSH }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn whatever_is_asked_is_answered_once_and_every_page_is_accounted_for(
        stripe_dies in 1u32..5, groups in 1u32..4, planes in 1u32..4, pages_in_4k in 1u32..4,
        pages_per_block in 1u32..20, logical_blocks in 1u32..20, logs in 1u32..6,
        associativity in prop_oneof![1u32..4, Just(FULL)], sequential: bool, recent: bool, short: bool,
        coalesces: bool,         unit_power in 0u32..4,
        ios in prop::collection::vec(any_io(), 1..300),
    ) {
        let shape = Shape {
            dies: stripe_dies * groups, stripe_dies, pages_per_block, logical_blocks, logs,
            associativity, sequential,
        };
        let mut profile = profile(shape);
        profile.nand.planes = planes;
        profile.nand.page_bytes = pages_in_4k * 4096;
        profile.buffer.write_kib = 256;
        profile.buffer.coalesce = Some(coalesces);
        profile.capacity.sectors *= u64::from(planes * pages_in_4k);
        if short && profile.capacity.sectors > 8 {
            // The last logical block is not whole.
            profile.capacity.sectors -= 8;
        }
        if recent {
            let section = profile.log_blocks.as_mut().expect("set");
            section.replacement = LogReplacement::LeastRecentlyWritten;
        }
        // Units of as many pages, or pages of as many units, as that makes.
        let unit_bytes = Some(4096 << unit_power);
        profile.map = Some(MapSection { unit_bytes, ..MapSection::default() });
        prop_assume!(profile.check().is_ok());
        let mut drive = make(&profile);
        let sectors = drive.geometry().sectors;
        let (mut asked, mut answered) = (0, 0);
        for round in 0..6u64 {
            let mut next = 0;
            for (i, io) in ios.iter().enumerate() {
                // One in four goes on where the last write ended, so that all kinds of merges occur.
                let lba = match i % 4 {
                    0 => next % sectors,
                    _ => (io.lba.0 + round * 997 * 8) % (sectors + 8),
                };
                if io.op == Op::Write {
                    next = lba + u64::from(io.sectors);
                }
                drive.submit(Tag(i as u32 % 32), Io { lba: Lba(lba), ..*io });
                asked += 1;
                if i % 32 == 31 {
                    answered += drain(&mut drive).map_err(TestCaseError::fail)?;
                }
            }
            answered += drain(&mut drive).map_err(TestCaseError::fail)?;
            drive.check_map().map_err(|wrong| TestCaseError::fail(wrong.to_string()))?;
        }
        prop_assert_eq!(asked, answered);
        let count = drive.counters();
        prop_assert_eq!(
            count.host_units - count.absorbed_units + count.moved_units + count.padded_units,
            count.programmed_units + count.pending_units
        );
        prop_assert_eq!(count.host_units * 8, count.host_sectors + count.rmw_sectors);
    }
}
