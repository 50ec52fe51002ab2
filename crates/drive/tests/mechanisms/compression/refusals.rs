//! Profiles that make no drive are refused by name, value and range.

use super::*;

/// What is said of a drive with rows of 8 KiB and this section.
fn refused(change: impl Fn(&mut SsdConfig, &mut CompressionSection)) -> String {
    let mut profile =
        ssd(Shape { dies: 2, blocks_per_die: 40, pages_per_block: 16, effective_op: 0.5 });
    profile.nand.planes = 2;
    let mut section = compression(512);
    change(&mut profile, &mut section);
    profile.compression = Some(section);
    let error = profile.check().expect_err("it is refused");
    assert_eq!(Ssd::new(&profile).err(), Some(error.clone()));
    error.to_string()
}

#[test]
fn each_value_has_its_range() {
    for (granule, says) in [
        (256, "compression.granule_bytes = 256 is not possible: it must be 512 to 4096"),
        (8192, "compression.granule_bytes = 8192 is not possible: it must be 512 to 4096"),
        (1000, "compression.granule_bytes = 1000 is not possible: it must be a power of two"),
    ] {
        let said = refused(|_, section| section.granule_bytes = granule);
        assert!(said.starts_with(says), "{said}");
    }
    for percent in [0, 101] {
        let said = refused(|_, section| section.least_stored_percent = percent);
        assert!(said.contains(&format!("least_stored_percent = {percent}")), "{said}");
        assert!(said.ends_with("it must be 1 to 100"), "{said}");
    }
    for rows in [0, 1, 65_537] {
        let said = refused(|_, section| section.parity_rows = Some(rows));
        assert!(said.contains(&format!("parity_rows = {rows}")), "{said}");
    }
    for us in [-1.0, 1e7, f64::NAN] {
        let said = refused(|_, section| section.store_4k_us = Some(us));
        assert!(said.starts_with(&format!("compression.store_4k_us = {us}")), "{said}");
        assert!(said.ends_with("it must be 0 to 1000000"), "{said}");
    }
    let said = refused(|profile, _| profile.controller.read_ahead_contiguous = Some(true));
    assert!(said.starts_with("controller.read_ahead_contiguous = true is not possible"), "{said}");
    let said = refused(|profile, _| profile.nand.reads_unwritten = Some(true));
    assert!(said.starts_with("nand.reads_unwritten = true is not possible"), "{said}");
    let said = refused(|_, section| section.overhead_bytes = 4097);
    assert!(said.contains("overhead_bytes = 4097") && said.ends_with("0 to 4096"), "{said}");
}

#[test]
fn a_row_holds_a_unit_with_its_overhead() {
    let said = refused(|profile, section| {
        profile.nand.planes = 1;
        section.overhead_bytes = 1;
    });
    assert!(said.starts_with("compression.overhead_bytes = 1 is not possible"), "{said}");
    assert!(said.contains("4608 bytes, and a row"), "{said}");
}

#[test]
fn both_sections_that_exclude_each_other_are_named() {
    let said = refused(|profile, _| {
        profile.log_blocks = Some(LogBlocksSection {
            count: 2,
            associativity: 2,
            stripe_dies: 1,
            replacement: LogReplacement::Oldest,
            sequential: true,
        });
    });
    assert!(said.contains("[compression]") && said.contains("[log_blocks]"), "{said}");
}

#[test]
fn parity_and_overhead_leave_less_for_the_user() {
    let most = |section: CompressionSection| {
        let said = refused(|profile, changed| {
            profile.capacity.sectors = 1 << 20;
            *changed = section.clone();
        });
        let most = said.split("at most ").nth(1).and_then(|rest| rest.split([',', ' ']).next());
        let most: u64 = most.and_then(|most| most.parse().ok()).expect("it says how much");
        // And that much it takes.
        let mut profile =
            ssd(Shape { dies: 2, blocks_per_die: 40, pages_per_block: 16, effective_op: 0.5 });
        profile.nand.planes = 2;
        profile.compression = Some(section);
        profile.capacity.sectors = most / 8 * 8;
        make(&profile);
        most as f64
    };
    let plain = most(compression(4096));
    let parity = most(CompressionSection { parity_rows: Some(4), ..compression(4096) });
    assert!((parity / plain - 0.75).abs() < 0.001, "{parity} of {plain}");
    let overhead = most(CompressionSection { overhead_bytes: 512, ..compression(512) });
    // Less 8 of a block's 256 granules, which may be left over at its end.
    assert!((overhead / plain - 8.0 / 9.0 * 248.0 / 256.0).abs() < 0.001, "{overhead} of {plain}");
}

#[test]
fn more_than_can_be_named_is_refused() {
    let said = refused(|profile, _| {
        profile.nand.dies = 64;
        profile.nand.blocks_per_plane = 40_000;
        profile.nand.pages_per_block = 64;
    });
    assert!(said.starts_with("compression.granule_bytes = 512"), "{said}");
    assert!(said.contains("2^31 granules"), "{said}");
    let said = refused(|profile, section| {
        section.granule_bytes = 4096;
        profile.nand.dies = 64;
        profile.nand.blocks_per_plane = 20_000;
        profile.nand.pages_per_block = 64;
        profile.capacity.sectors = 7 << 26 | 8;
    });
    assert!(
        said.starts_with("capacity.sectors = 469762056 is not possible: with [compression]"),
        "{said}"
    );
}
