//! What the reference does where it can be told to, by hand.

use fourcorners_drive::config::SsdConfig;
use fourcorners_drive::{Lba, Op};

use crate::common::play::{Command, Drive, play};
use crate::common::{Shape, io, set_effective_op, ssd};
use crate::model::Reference;
use crate::space::{Space, Written};

/// One die with rows of four units, four rows a block.
fn rows_of_four(coalesce: bool) -> SsdConfig {
    let mut profile =
        ssd(Shape { dies: 1, blocks_per_die: 16, pages_per_block: 4, effective_op: 0.2 });
    profile.nand.page_bytes = 16_384;
    set_effective_op(&mut profile, 0.2);
    profile.buffer.coalesce = Some(coalesce);
    profile
}

#[test]
fn a_write_takes_the_place_of_what_is_in_the_row_being_filled() {
    let mut space = Space::new(&rows_of_four(true));
    let absorbed = [7, 7, 8, 7].map(|unit| matches!(space.write(unit), Written::Absorbed));
    assert_eq!(absorbed, [false, true, false, true]);
    // What was trimmed has no place to take.
    space.trim(8);
    assert!(matches!(space.write(8), Written::Placed));
    assert!(matches!(space.write(9), Written::RowFull(_)));
    // That row is on its way.
    assert!(matches!(space.write(9), Written::Placed));
    assert_eq!((space.host_units, space.absorbed_units, space.placed_units()), (7, 2, 5));
    space.check();
}

#[test]
fn repeated_writes_of_one_unit_wait_for_no_nand_when_absorbed() {
    let run = |absorbs| {
        let mut drive = Reference::new(&rows_of_four(absorbs));
        let writes = (0..1000).map(|_| Command::Io(io(Op::Write, 3, 1)));
        let answers = play(&mut drive, 1, writes);
        (drive, answers.map(|answers| answers.len()))
    };
    let (plain, answered) = run(false);
    assert_eq!((answered, plain.counters().programmed_units), (Ok(1000), 1000));
    let (absorbing, _) = run(true);
    let counters = absorbing.counters();
    assert_eq!(counters.absorbed_units, 999);
    assert_eq!((counters.programmed_units, counters.pending_units), (0, 1));
    assert!(absorbing.is_mapped(Lba(3 * 8 + 7)) && !absorbing.is_mapped(Lba(4 * 8)));
}

#[test]
fn a_victim_is_moved_when_chosen_and_free_when_its_work_is_charged() {
    let mut space = Space::new(&rows_of_four(false));
    let user = space.user_units();
    (0..user).for_each(|unit| {
        space.write(unit);
    });
    // Every other unit again: blocks of half their units are what is left to collect.
    let (mut rows_programmed, mut erased) = (0, 0);
    for unit in (0..user).step_by(2).chain((0..user).step_by(2)) {
        if let Written::RowFull(full) = space.write(unit) {
            rows_programmed += full.chores.rows_programmed;
            erased += full.chores.blocks_erased;
        }
        space.check();
    }
    assert!(space.moved_units > 0 && erased > 0);
    // All moves but those of the last victim and of a row that is not full are charged.
    let charged = rows_programmed * 4;
    assert!((charged..charged + 16 + 4).contains(&space.moved_units), "{charged}");
}
