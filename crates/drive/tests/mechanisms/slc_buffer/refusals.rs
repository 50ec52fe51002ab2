//! Buffers that cannot be.

use super::*;

fn refused(change: impl FnOnce(&mut SsdConfig)) -> String {
    let mut profile = profile(Some(fixed_buffer()));
    change(&mut profile);
    profile.check().expect_err("it is refused").to_string()
}

fn slc(profile: &mut SsdConfig) -> &mut SlcBufferSection {
    profile.slc_buffer.as_mut().expect("it has one")
}

#[test]
fn nonsense_is_refused_by_name() {
    for (error, start) in [
        (refused(|p| slc(p).fixed_mib = Some(1 << 25)), "slc_buffer.fixed_mib = 33554432 "),
        (refused(|p| slc(p).fixed_mib = None), "slc_buffer.fixed_mib = absent "),
        (refused(|p| slc(p).dynamic_mib = Some(1 << 25)), "slc_buffer.dynamic_mib = 33554432 "),
        (refused(|p| slc(p).cell_bits = 1), "slc_buffer.cell_bits = 1 "),
        (refused(|p| slc(p).program_us = -1.0), "slc_buffer.program_us = -1 "),
        (refused(|p| slc(p).read_us = f64::NAN), "slc_buffer.read_us = NaN "),
        (refused(|p| slc(p).idle_ms = -1.0), "slc_buffer.idle_ms = -1 "),
        (refused(|p| slc(p).fold_mb_per_s = Some(0.0)), "slc_buffer.fold_mb_per_s = 0 "),
        // More than the drive has, and than a u32 counts.
        (refused(|p| slc(p).fixed_mib = Some(1 << 24)), "capacity.sectors = "),
        (refused(|p| slc(p).fixed_mib = Some(100)), "capacity.sectors = "),
        (refused(|p| p.buffer.write_kib = 32), "buffer.write_kib = 32 "),
        (refused(|p| p.nand.pages_per_block = 2), "nand.pages_per_block = 2 "),
    ] {
        assert!(error.starts_with(start), "{error}");
    }
    let kind = |kind| {
        move |profile: &mut SsdConfig| {
            profile.nand_cells = Some(NandCellsSection {
                kind,
                order: PageOrder::InTurn,
                pages_per_level: 1,
                middle_program_ratio: None,
                upper_program_ratio: None,
                middle_read_ratio: None,
                upper_read_ratio: None,
            });
        }
    };
    assert!(refused(kind(CellKind::Mlc)).contains("it must be 2, which nand_cells.kind says"));
    assert!(refused(kind(CellKind::Slc)).contains("it must be 1"));
    let error = refused(|profile| {
        profile.log_blocks = Some(LogBlocksSection {
            count: 4,
            associativity: 1,
            stripe_dies: 1,
            replacement: LogReplacement::Oldest,
            sequential: true,
        });
    });
    assert!(error.contains("[slc_buffer]") && error.contains("[log_blocks]"), "{error}");
    let error = refused(|profile| {
        profile.compression = Some(CompressionSection {
            granule_bytes: 512,
            least_stored_percent: 20,
            overhead_bytes: 0,
            parity_rows: None,
            store_4k_us: None,
        });
    });
    assert!(error.contains("[slc_buffer]") && error.contains("[compression]"), "{error}");
}
