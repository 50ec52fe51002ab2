//! The section as text, and what makes no drive: refused by name.

use super::*;
use fourcorners_drive::config::{Levelling, MapSection};

#[track_caller]
fn refused(change: impl Fn(&mut SsdConfig), message: &str) {
    let shape = Shape { dies: 4, stripe_dies: 2, ..ONE_DIE };
    let mut profile = profile(shape);
    profile.check().unwrap_or_else(|error| panic!("before the change: {error}"));
    change(&mut profile);
    let error = profile.check().expect_err("it makes no drive");
    assert_eq!(error.to_string(), message);
}

fn in_section(change: impl Fn(&mut LogBlocksSection)) -> impl Fn(&mut SsdConfig) {
    move |profile| change(profile.log_blocks.as_mut().expect("set"))
}

#[test]
fn nonsense_is_refused_by_key_value_and_range() {
    refused(
        in_section(|section| section.count = 0),
        "log_blocks.count = 0 is not possible: it must be 1 to 1",
    );
    refused(
        in_section(|section| section.count = 2),
        "log_blocks.count = 2 is not possible: it must be 1 to 1",
    );
    refused(
        in_section(|section| section.associativity = 0),
        "log_blocks.associativity = 0 is not possible: it must be 1 to 4294967295",
    );
    refused(
        in_section(|section| section.stripe_dies = 3),
        "log_blocks.stripe_dies = 3 is not possible: the 4 dies of nand.dies must be a multiple of it",
    );
    refused(
        in_section(|section| section.stripe_dies = 8),
        "log_blocks.stripe_dies = 8 is not possible: it must be 1 to 4",
    );
}

#[test]
fn the_user_gets_all_but_two_blocks_at_most() {
    // 102 blocks of 128 units: 100 are left to the user.
    refused(
        |profile| profile.capacity.sectors += 8,
        "capacity.sectors = 102408 is not possible: it must be at most 102400, which leaves two of \
         the 102 blocks of 128 units for a log block and to merge into",
    );
}

#[test]
fn it_is_all_in_memory() {
    let map = |memory_kib| MapSection { memory_kib: Some(memory_kib), ..MapSection::default() };
    refused(
        move |profile| profile.map = Some(map(64)),
        "map.memory_kib = 64 is not possible: a log-block map is all in memory: map.memory_kib and \
         [log_blocks] exclude each other",
    );
}

#[test]
fn it_does_not_wear_out() {
    refused(
        |profile| profile.wear = Some(crate::common::wear(Levelling::None, 3000)),
        "wear.endurance_cycles = 3000 is not possible: blocks of a log-block map do not wear out: \
         [wear] and [log_blocks] exclude each other",
    );
}

#[test]
fn the_section_is_written_and_read_and_left_out_where_there_is_none() {
    let with = profile(ONE_DIE);
    let text = toml::to_string(&with).expect("a profile is TOML");
    assert!(text.contains("replacement = \"oldest\""), "{text}");
    assert_eq!(toml::from_str::<SsdConfig>(&text), Ok(with.clone()));
    let without = SsdConfig { log_blocks: None, ..with };
    let text = toml::to_string(&without).expect("a profile is TOML");
    assert!(!text.contains("log_blocks"), "{text}");
    assert_eq!(toml::from_str::<SsdConfig>(&text), Ok(without));
}
