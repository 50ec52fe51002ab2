//! What is asked of members, held against what has to be true of the data they hold.

use std::collections::{BTreeMap, BTreeSet};

use fourcorners_drive::Geometry;
use proptest::prelude::*;

use super::*;
use crate::layout::MOST_MEMBERS;

/// Sectors of a member, and of a chunk of 4 KiB.
const EACH: u64 = 8 * 7;

fn layout(level: Level, members: usize) -> Layout {
    let member = Geometry { sectors: EACH + 3, logical_block_bytes: 512, queue_depth: 32 };
    Layout::new(level, 4096, &vec![member; members]).expect("it is one")
}

/// Every sector of an array, by where it is.
fn places(layout: &Layout) -> BTreeMap<(usize, u64), u64> {
    let places: BTreeMap<_, _> = (0..layout.sectors())
        .map(|at| {
            let piece = layout.piece(at, at + 1);
            ((piece.on, piece.lba), at)
        })
        .collect();
    assert_eq!(places.len() as u64, layout.sectors(), "two sectors in one place");
    places
}

#[test]
fn each_sector_has_a_place_of_its_own_and_parity_is_in_none() {
    for level in Level::ALL {
        for members in (level.fewest()..9).filter(|it| level != Level::Raid10 || it % 2 == 0) {
            let layout = layout(level, members);
            for (member, lba) in places(&layout).into_keys() {
                assert!(lba < EACH, "{level:?} {members}: beyond a member");
                if level == Level::Raid5 {
                    let parity = layout.parity_of(lba / layout.chunk());
                    assert_ne!(member, parity, "{members}: data where parity is");
                }
            }
        }
    }
}

#[test]
fn parity_is_on_each_member_in_turn() {
    let layout = layout(Level::Raid5, 4);
    assert_eq!((0..5).map(|it| layout.parity_of(it)).collect::<Vec<_>>(), [3, 2, 1, 0, 3]);
    // Left-symmetric: data goes on behind the parity.
    assert_eq!((0..3).map(|it| layout.holder(1, it)).collect::<Vec<_>>(), [3, 0, 1]);
}

fn jobs(layout: &Layout, io: Io, gone: Option<usize>) -> Option<Vec<Job>> {
    let missing = |member: usize, _| Some(member) == gone;
    let mut reader = |there: &[usize]| there[0];
    Members { layout, missing: &missing, reader: &mut reader }.jobs(io)
}

fn sectors(parts: &[Part], op: Op) -> BTreeSet<(usize, u64)> {
    let of = parts.iter().filter(|part| part.io.op == op);
    of.flat_map(|part| (part.io.lba.0..part.io.end()).map(|lba| (part.member, lba))).collect()
}

#[test]
fn a_small_write_costs_four_ios_and_a_whole_stripe_reads_nothing() {
    let layout = layout(Level::Raid5, 4);
    let count = |io| {
        let jobs = jobs(&layout, io, None).expect("all are there");
        let (first, then) = jobs
            .iter()
            .fold((0, 0), |(first, then), job| (first + job.first.len(), then + job.then.len()));
        (jobs.len(), first, then)
    };
    assert_eq!(count(Io::write(Lba(0), 8)), (1, 2, 2));
    // Two chunks of three: the third is read instead of the two and their parity.
    assert_eq!(count(Io::write(Lba(0), 16)), (1, 1, 3));
    assert_eq!(count(Io::write(Lba(0), 24)), (1, 4, 0));
    assert_eq!(count(Io::write(Lba(24), 24)), (1, 4, 0));
    // Over the end of a stripe: two jobs.
    assert_eq!(count(Io::write(Lba(20), 8)).0, 2);
}

proptest! {
    #[test]
    fn what_is_written_and_its_parity_follow_from_what_was_read(
        members in 3_usize..7,
        gone in proptest::option::of(0_usize..7),
        at in 0_u64..40,
        length in 1_u32..40,
    ) {
        let gone = gone.filter(|&gone| gone < members);
        let layout = layout(Level::Raid5, members);
        let length = length.min((layout.sectors() - at) as u32);
        let io = Io::write(Lba(at), length);
        let jobs = jobs(&layout, io, gone).expect("one may be missing");
        let places = places(&layout);
        let mut data = BTreeSet::new();
        for job in &jobs {
            let all: Vec<Part> = job.first.iter().chain(&job.then).copied().collect();
            prop_assert!(all.iter().all(|part| Some(part.member) != gone), "a missing member is asked");
            let (read, written) = (sectors(&all, Op::Read), sectors(&all, Op::Write));
            prop_assert!(sectors(&job.then, Op::Read).is_empty());
            if !job.then.is_empty() {
                prop_assert!(sectors(&job.first, Op::Write).is_empty(), "written before it was read");
            }
            for &(member, lba) in &written {
                let stripe = lba / layout.chunk();
                prop_assert_eq!(Some(stripe), job.stripe);
                let parity = layout.parity_of(stripe);
                if member != parity {
                    data.insert(places[&(member, lba)]);
                    continue;
                }
                // All of the sum is known, or what changes of it with what it was.
                let others = || (0..members).filter(|&it| it != parity).map(|it| (it, lba));
                let is_written = |place: &(usize, u64)| {
                    places.get(place).is_some_and(|&sector| (at..at + u64::from(length)).contains(&sector))
                };
                let whole = others().all(|place| is_written(&place) || read.contains(&place));
                let change = read.contains(&(parity, lba))
                    && others().filter(is_written).all(|place| read.contains(&place));
                prop_assert!(whole || change, "parity at {} is a guess", lba);
            }
            // Whoever is written has a parity that says so, where there is one.
            for &(member, lba) in &written {
                let parity = layout.parity_of(lba / layout.chunk());
                prop_assert!(member == parity || Some(parity) == gone || written.contains(&(parity, lba)));
            }
        }
        // All that is asked is written, but for what the missing member would hold: that is in the parity.
        for sector in at..at + u64::from(length) {
            let piece = layout.piece(sector, sector + 1);
            let parity = layout.parity_of(piece.lba / layout.chunk());
            let kept = data.contains(&sector)
                || Some(piece.on) == gone
                    && jobs.iter().any(|job| {
                        let all: Vec<Part> = job.first.iter().chain(&job.then).copied().collect();
                        sectors(&all, Op::Write).contains(&(parity, piece.lba))
                    });
            prop_assert!(kept, "sector {} is lost", sector);
        }
        prop_assert!(data.iter().all(|sector| (at..at + u64::from(length)).contains(sector)));
    }

    #[test]
    fn a_trim_of_stripes_is_one_range_a_member_and_touches_nothing_else(
        level in prop::sample::select(vec![Level::Raid0, Level::Raid5, Level::Raid10]),
        at in 0_u64..100,
        length in 1_u32..120,
    ) {
        let layout = layout(level, 4);
        let length = length.min((layout.sectors() - at) as u32);
        let jobs = jobs(&layout, Io::trim(Lba(at), length), None).expect("all are there");
        let places = places(&layout);
        let asked: BTreeSet<u64> = (at..at + u64::from(length)).collect();
        for (member, lba) in jobs.iter().flat_map(|job| sectors(&job.first, Op::Trim)) {
            let on = if level == Level::Raid10 { member / 2 } else { member };
            match places.get(&(on, lba)) {
                Some(sector) => prop_assert!(asked.contains(sector), "{} was not to be trimmed", sector),
                None => prop_assert_eq!(layout.parity_of(lba / layout.chunk()), member),
            }
        }
        let whole = layout.whole_stripes(at, length.into());
        let middle = jobs.iter().map(|job| job.first.len()).sum::<usize>();
        prop_assert!(middle <= 4 + 2 * 2 * 4, "{} ranges for {:?}", middle, whole);
    }
}

#[test]
fn what_makes_no_array_is_said() {
    let member = Geometry { sectors: 1000, logical_block_bytes: 512, queue_depth: 32 };
    let error = |level, chunk, members| {
        Layout::new(level, chunk, &vec![member; members]).expect_err("it is none").to_string()
    };
    assert!(error(Level::Raid5, 4096, 2).contains("raid5 of 2 drives: it takes 3 to 64"));
    assert!(error(Level::Raid10, 4096, 5).contains("an even number"));
    assert!(error(Level::Raid0, 4096, MOST_MEMBERS + 1).contains("2 to 64"));
    assert!(error(Level::Raid0, 5000, 2).contains("a power of two"));
    assert!(error(Level::Raid0, 1 << 20, 2).contains("drive 1 holds 512000 bytes"));
}
