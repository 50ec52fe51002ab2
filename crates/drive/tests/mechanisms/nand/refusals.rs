//! Profiles that make no drive, and what a profile looks like as text.

use fourcorners_drive::config::{CellKind, NandSuspendSection, PageOrder, SsdConfig};

use crate::nand::{cells, lone_die, mlc, set_tlc};

fn refusal(change: impl FnOnce(&mut SsdConfig)) -> String {
    let mut profile = lone_die(48);
    profile.nand_cells = Some(mlc(2.0));
    profile.nand_suspend = Some(NandSuspendSection {
        program_suspend_us: Some(20.0),
        erase_suspend_us: Some(40.0),
        resume_us: 10.0,
        most_suspensions: 4,
        patience_us: None,
    });
    profile.check().expect("it is a drive before the change");
    change(&mut profile);
    profile.check().expect_err("it is no drive after the change").to_string()
}

fn cells_of(profile: &mut SsdConfig) -> &mut fourcorners_drive::config::NandCellsSection {
    profile.nand_cells.as_mut().expect("it has cells")
}

fn suspend_of(profile: &mut SsdConfig) -> &mut NandSuspendSection {
    profile.nand_suspend.as_mut().expect("it suspends")
}

#[test]
fn nonsense_is_refused_by_key_value_and_range() {
    for (refused, told) in [
        (
            refusal(|profile| cells_of(profile).pages_per_level = 0),
            "nand_cells.pages_per_level = 0 is not possible: it must be 1 to 64",
        ),
        (
            refusal(|profile| profile.nand.rest_read_ratio = Some(-0.5)),
            "nand.rest_read_ratio = -0.5 is not possible: it must be 0 to 10",
        ),
        (
            refusal(|profile| cells_of(profile).upper_program_ratio = Some(f64::NAN)),
            "nand_cells.upper_program_ratio = NaN is not possible: it must be 0.01 to 100",
        ),
        (
            refusal(|profile| cells_of(profile).upper_read_ratio = Some(0.0)),
            "nand_cells.upper_read_ratio = 0 is not possible: it must be 0.01 to 100",
        ),
        (
            refusal(|profile| cells_of(profile).middle_program_ratio = Some(2.0)),
            "nand_cells.middle_program_ratio = 2 is not possible: it must be left out",
        ),
        (
            refusal(|profile| cells_of(profile).middle_read_ratio = Some(2.0)),
            "nand_cells.middle_read_ratio = 2 is not possible: it must be left out",
        ),
        (
            refusal(|profile| cells_of(profile).kind = CellKind::Slc),
            "nand_cells.upper_program_ratio = 2 is not possible: it must be left out",
        ),
        (
            refusal(|profile| profile.nand.pages_per_block = 47),
            "nand.pages_per_block = 47 is not possible: it must be a multiple of 2",
        ),
        (
            refusal(|profile| {
                cells_of(profile).pages_per_level = 7;
                cells_of(profile).kind = CellKind::Tlc;
            }),
            "nand.pages_per_block = 48 is not possible: it must be a multiple of 21",
        ),
        (
            refusal(|profile| suspend_of(profile).program_suspend_us = Some(-1.0)),
            "nand_suspend.program_suspend_us = -1 is not possible: it must be 0 to 1000000",
        ),
        (
            refusal(|profile| suspend_of(profile).erase_suspend_us = Some(f64::INFINITY)),
            "nand_suspend.erase_suspend_us = inf is not possible: it must be 0 to 1000000",
        ),
        (
            refusal(|profile| suspend_of(profile).resume_us = -0.5),
            "nand_suspend.resume_us = -0.5 is not possible: it must be 0 to 1000000",
        ),
        (
            refusal(|profile| suspend_of(profile).most_suspensions = 0),
            "nand_suspend.most_suspensions = 0 is not possible: it must be 1 to 1000000",
        ),
        (
            refusal(|profile| {
                suspend_of(profile).program_suspend_us = None;
                suspend_of(profile).erase_suspend_us = None;
            }),
            "nand_suspend.program_suspend_us = absent is not possible: it or \
             nand_suspend.erase_suspend_us must be given",
        ),
    ] {
        assert!(refused.starts_with(told), "{refused}\nwhere this was expected: {told}");
    }
}

#[test]
fn slc_takes_any_number_of_pages() {
    let mut profile = lone_die(47);
    profile.nand_cells = Some(cells(CellKind::Slc, PageOrder::Shadow));
    assert_eq!(profile.check(), Ok(()));
}

#[test]
fn what_is_absent_is_not_written_and_what_is_there_comes_back() {
    let plain = lone_die(48);
    let text = serde_json::to_string(&plain).expect("a profile can be written");
    for key in
        ["nand_cells", "nand_suspend", "cache_reads", "cache_programs", "contiguous", "unwritten"]
    {
        assert!(!text.contains(key), "{key} in {text}");
    }
    let mut full = plain;
    set_tlc(&mut full);
    full.nand.cache_reads = Some(true);
    full.nand.reads_unwritten = Some(true);
    full.controller.read_ahead_contiguous = Some(true);
    full.nand_suspend = Some(NandSuspendSection {
        program_suspend_us: None,
        erase_suspend_us: Some(40.0),
        resume_us: 10.0,
        most_suspensions: 4,
        patience_us: None,
    });
    let text = toml::to_string(&full).expect("a profile can be written");
    assert!(text.contains("[nand_cells]\nkind = \"tlc\""), "{text}");
    assert_eq!(toml::from_str::<SsdConfig>(&text).expect("it can be read"), full);
    let misspelt = text.replace("most_suspensions", "max_suspensions");
    assert!(toml::from_str::<SsdConfig>(&misspelt).is_err());
}
