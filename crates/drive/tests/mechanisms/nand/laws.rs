//! What must hold of any drive, whatever its cells, registers and suspensions.

use fourcorners_drive::config::{CellKind, NandSuspendSection, PageOrder};
use fourcorners_drive::{Io, Lba, Nanos, Op, Tag, Target};
use proptest::prelude::*;

use crate::common::{Random, Shape, fill, make, ssd};
use crate::nand::cells;

fn any_cells() -> impl Strategy<Value = (CellKind, PageOrder, u32)> {
    use CellKind::*;
    let kind = prop_oneof![Just(Slc), Just(Mlc), Just(Tlc)];
    let order = prop_oneof![Just(PageOrder::Shadow), Just(PageOrder::InTurn)];
    (kind, order, 1u32..4)
}

fn any_suspension() -> impl Strategy<Value = NandSuspendSection> {
    (0.0..300.0, 0.0..3000.0, 0.0..100.0, 1u32..20, 0..3).prop_map(
        |(program, erase, resume, most, which)| NandSuspendSection {
            program_suspend_us: (which != 0).then_some(program),
            erase_suspend_us: (which != 1).then_some(erase),
            resume_us: resume,
            most_suspensions: most,
            patience_us: None,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn all_is_answered_in_order_of_time_and_nothing_is_lost(
        dies in 1u32..4, planes in 1u32..3, blocks in 16u32..24, word_lines in 2u32..8,
        times_us in (0.0..100.0, 0.0..900.0, 0.0..4000.0),
        cells_of in prop::option::of(any_cells()), suspend in prop::option::of(any_suspension()),
        ratios in (0.1..5.0, 0.1..9.0),
        cached in (prop::option::of(any::<bool>()), prop::option::of(any::<bool>())),
        seed: u64,
    ) {
        let (kind, order, pages_per_level) = cells_of.unwrap_or((CellKind::Slc, PageOrder::InTurn, 1));
        let bits = match kind { CellKind::Slc => 1, CellKind::Mlc => 2, CellKind::Tlc => 3 };
        let pages_per_block = word_lines * bits * pages_per_level;
        let mut profile = ssd(Shape { dies, blocks_per_die: blocks, pages_per_block, effective_op: 0.15 });
        profile.nand.planes = planes;
        profile.capacity.sectors *= u64::from(planes);
        (profile.nand.read_us, profile.nand.program_us, profile.nand.erase_us) =
            (times_us.0, times_us.1, times_us.2);
        profile.nand.cache_reads = cached.0;
        profile.nand.cache_programs = cached.1;
        profile.nand_suspend = suspend;
        profile.nand_cells = cells_of.map(|_| {
            let ratio = |least, ratio| -> Option<f64> { (bits >= least).then_some(ratio) };
            let mut section = cells(kind, order);
            section.pages_per_level = pages_per_level;
            section.middle_program_ratio = ratio(3, ratios.0);
            section.upper_program_ratio = ratio(2, ratios.1);
            section.upper_read_ratio = ratio(2, ratios.0);
            section
        });
        let mut drive = make(&profile);
        let units = drive.geometry().sectors / 8;
        fill(&mut drive);
        let mut random = Random(seed);
        let mut last = drive.now();
        for round in 0..300 {
            let batch = 1 + random.below(8) as u32;
            for tag in 0..batch {
                let op = [Op::Read, Op::Write, Op::Write, Op::Trim, Op::Flush][random.below(5) as usize];
                let lba = Lba(random.below(units * 8 - 64));
                let sectors = if op == Op::Flush { 0 } else { 1 + random.below(64) as u32 };
                let lba = if op == Op::Flush { Lba(0) } else { lba };
                drive.submit(Tag(tag), Io { op, lba, sectors, ..Io::FLUSH });
            }
            for _ in 0..batch {
                let done = drive.reap(Nanos::MAX);
                let done = done.map_err(|fault| TestCaseError::fail(format!("{fault:?}")))?;
                let done = done.ok_or_else(|| TestCaseError::fail("lost"))?;
                prop_assert!(done.at >= last, "time went back");
                last = done.at;
            }
            if round % 3 == 0 {
                last += Nanos(random.below(2_000_000));
                drive.reap(last).map_err(|fault| TestCaseError::fail(format!("{fault:?}")))?;
            }
        }
        let count = drive.counters();
        prop_assert_eq!(
            count.host_units + count.moved_units + count.padded_units,
            count.programmed_units + count.pending_units
        );
        drive.check_map().map_err(|wrong| TestCaseError::fail(wrong.to_string()))?;
    }
}
