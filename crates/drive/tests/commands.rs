//! Commands of every kind at every size and alignment, on drives of every kind: each is answered
//! once, time never goes back, no unit is lost and none is in two places.

mod common;

use common::Random;
use common::attempt::attempt;
use common::draw::{self, Numbers};
use common::mechanisms;
use common::play::play;
use fourcorners_drive::Ssd;
use proptest::prelude::*;

/// Drives of the long run.
const DRIVES: u64 = 200;

/// Commands that each of them is given; all in all ten million.
const COMMANDS: usize = 50_000;

#[test]
fn ten_million_commands_lose_no_unit_and_map_none_twice() {
    let (mut answered, mut refused, mut collected) = (0, 0, 0);
    let (mut folded, mut compressing, mut absorbed) = (0, 0, 0);
    for seed in 0..DRIVES {
        let mut random = Random(seed);
        let most_units = random.one_of(&[500, 2000, 8000, 30_000]);
        let mut profile = draw::profile(&mut random, most_units);
        if seed % 2 == 1 {
            mechanisms::add(&mut random, &mut profile);
        }
        let sectors = profile.capacity.sectors;
        let depth = random.between(1, 32) as u32;
        let mut drive = Ssd::new(&profile).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        for _ in 0..10 {
            let commands = std::iter::repeat_with(|| draw::command(&mut random, sectors));
            let answers = play(&mut drive, depth, commands.take(COMMANDS / 10))
                .and_then(|answers| {
                    drive.check_map().map_err(|wrong| wrong.to_string()).map(|()| answers)
                })
                .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{profile:?}"));
            refused += answers.iter().filter(|answer| answer.refused).count();
            answered += answers.len();
        }
        let counters = drive.counters();
        folded += u32::from(counters.folded_units > counters.host_units / 100);
        absorbed += u32::from(counters.absorbed_units > counters.host_units / 1000);
        compressing += u32::from(profile.compression.is_some());
        collected += u32::from(counters.moved_units > counters.host_units / 10);
    }
    // What is drawn must not become dull unnoticed.
    println!(
        "{answered} answered, {refused} of them refused; {collected} drives collected, {folded} folded, \
         {absorbed} absorbed"
    );
    assert!(answered > 9_000_000, "{answered} answered");
    assert!((200_000..2_000_000).contains(&refused), "{refused} refused");
    assert!(folded > 15, "{folded} drives folded a hundredth of what the host wrote");
    assert!(absorbed > 8, "{absorbed} drives absorbed a thousandth of what the host wrote");
    assert!(compressing > 20, "{compressing} drives compress");
    assert!(collected > 100, "{collected} drives moved a tenth of what the host wrote");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// The fuzz target's own decoding; a file that it found goes through [`attempt`] as it is.
    #[test]
    fn any_bytes_make_a_drive_that_obeys_or_is_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..4000),
    ) {
        attempt(&bytes).map_err(TestCaseError::fail)?;
    }
}

#[test]
fn some_bytes_make_drives_and_some_are_refused() {
    let mut random = Random(1);
    let mut attempts = || {
        let bytes: Vec<u8> = (0..600).map(|_| random.next() as u8).collect();
        attempt(&bytes).expect("no drive does wrong")
    };
    let answered: Vec<Option<usize>> = (0..400).map(|_| attempts()).collect();
    let refused = answered.iter().filter(|answers| answers.is_none()).count();
    assert!((4..200).contains(&refused), "{refused} of 400 refused");
    let commands: usize = answered.iter().flatten().sum();
    assert!(commands > 200 * 20, "{commands} commands");
}
