//! One drive's worst second is everybody's: what an array makes of a member that stalls or is slow.

use crate::common::Random;
use fourcorners_array::{Array, ArrayConfig, Level};
use fourcorners_drive::{Clock, Done, Fault, Geometry, Io, Lba, Nanos, Null, Op, Tag, Target};

const US: u64 = 1000;
/// Sectors of a chunk of 64 KiB.
const CHUNK: u64 = 128;

/// A drive that answers after 1 ms; in each of its own seconds, with a chance, nothing of what comes in the first half
/// is answered before that half is over.
#[derive(Clone)]
struct Stalling {
    drive: Null,
    number: u64,
    chance: f64,
    late: Vec<(Nanos, Tag)>,
}

impl Stalling {
    fn new(number: u64, chance: f64) -> Stalling {
        Stalling { drive: Null::new(1 << 24, Nanos(1000 * US)), number, chance, late: Vec::new() }
    }

    /// Whether it stalls in this second.
    fn stalls(&self, second: u64) -> bool {
        Random((second << 8) | self.number).share() < self.chance
    }
}

impl Target for Stalling {
    const CLOCK: Clock = Clock::Virtual;

    fn geometry(&self) -> Geometry {
        self.drive.geometry()
    }

    fn now(&self) -> Nanos {
        self.drive.now()
    }

    fn submit(&mut self, tag: Tag, io: Io) {
        let now = self.now();
        let (second, of_it) = (now.0 / 1_000_000_000, now.0 % 1_000_000_000);
        match of_it < 500_000_000 && self.stalls(second) {
            true => self.late.push((Nanos(second * 1_000_000_000 + 500_000_000), tag)),
            false => self.drive.submit(tag, io),
        }
    }

    fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
        let first = self.late.iter().min().copied().filter(|late| late.0 <= until);
        let Some((at, tag)) = first else { return self.drive.reap(until) };
        if let Some(done) = self.drive.reap(at)? {
            return Ok(Some(done));
        }
        self.late.retain(|&(_, other)| other != tag);
        Ok(Some(Done { tag, at }))
    }

    fn due(&mut self) -> Option<Nanos> {
        let late = self.late.iter().min().map(|late| late.0);
        [late, self.drive.due()].into_iter().flatten().min()
    }
}

/// The share of seconds in which as much is done as in the best, reading `sectors` at random places, one at a time.
fn full_seconds(target: &mut impl Target, sectors: u64, seconds: usize) -> f64 {
    let mut done = vec![0u64; seconds];
    let places = target.geometry().sectors / sectors;
    let mut random = Random(1);
    loop {
        let lba = Lba(random.below(places) * sectors);
        target.submit(Tag(0), Io { op: Op::Read, lba, sectors: sectors as u32, ..Io::FLUSH });
        let at = target.reap(Nanos::MAX).expect("no fault").expect("one is in flight").at;
        match done.get_mut((at.0 / 1_000_000_000) as usize) {
            Some(second) => *second += 1,
            None => break,
        }
    }
    let best = *done.iter().max().expect("there are seconds");
    let full = done.iter().filter(|&&ios| ios * 100 > best * 99).count();
    full as f64 / seconds as f64
}

fn array(level: Level, members: u64, chance: f64) -> Array<Stalling> {
    let config = ArrayConfig { level, chunk_bytes: CHUNK * 512, ..ArrayConfig::default() };
    let drives = (0..members).map(|number| Stalling::new(number, chance)).collect();
    Array::new(&config, drives).expect("it is one")
}

#[test]
fn an_array_of_eight_has_a_good_second_when_all_eight_have_one() {
    const SECONDS: usize = 1500;
    let alone = full_seconds(&mut Stalling::new(0, 0.1), CHUNK, SECONDS);
    assert!((alone - 0.9).abs() < 0.025, "{alone}: three standard deviations of 0.9");
    // Whole stripes: each member has a part of each.
    let eight = full_seconds(&mut array(Level::Raid0, 8, 0.1), 8 * CHUNK, SECONDS);
    assert!((eight - 0.9f64.powi(8)).abs() < 0.04, "{eight}: three standard deviations of 0.43");
    // Where no drive stalls, none of eight does.
    assert_eq!(full_seconds(&mut array(Level::Raid0, 8, 0.0), 8 * CHUNK, 50), 1.0);
    // One behind the other they are all read in a second, too, and whichever stalls is waited for.
    let behind = full_seconds(&mut array(Level::Concat, 8, 0.1), CHUNK, 300);
    assert!(behind < 0.7, "{behind}");
}

/// I/Os a second at QD 1, of `sectors` each, of an array of four drives. The second drive takes `slow` times as long as the others.
fn rate(level: Level, op: Op, sectors: u64, slow: u64) -> f64 {
    let config = ArrayConfig { level, chunk_bytes: CHUNK * 512, ..ArrayConfig::default() };
    let drives = (0..4).map(|number| {
        let times = if number == 1 { slow } else { 1 };
        Null::new(1 << 24, Nanos(100 * US * times))
    });
    let mut array = Array::new(&config, drives.collect()).expect("it is one");
    let places = array.geometry().sectors / sectors;
    for number in 0..4000u64 {
        let lba = Lba(number * 7919 % places * sectors);
        array.submit(Tag(0), Io { op, lba, sectors: sectors as u32, ..Io::FLUSH });
        assert!(array.reap(Nanos::MAX).expect("no fault").is_some());
    }
    4000.0 / array.now().as_secs()
}

#[test]
fn a_throttled_member_slows_what_waits_for_it_and_nothing_else() {
    let is = |level, op, sectors, share: f64| {
        let slowed = rate(level, op, sectors, 4) / rate(level, op, sectors, 1);
        assert!(
            (slowed / share - 1.0).abs() < 0.02,
            "{level:?} {op:?} {sectors}: {slowed} of {share}"
        );
    };
    // A whole stripe waits for the slow one, which takes four times as long.
    is(Level::Raid0, Op::Read, 4 * CHUNK, 0.25);
    // A chunk is on one of four: three take 1 and one 4, 7 of 4.
    is(Level::Raid0, Op::Read, CHUNK, 4.0 / 7.0);
    // A write to a mirror waits for all of its drives.
    is(Level::Raid1, Op::Write, 8, 0.25);
    // Concatenated, the first drive knows nothing of the second.
    let first = |slow| {
        let config = ArrayConfig { level: Level::Concat, ..ArrayConfig::default() };
        let drives = [1, slow].map(|times| Null::new(1 << 20, Nanos(100 * US * times)));
        let mut array = Array::new(&config, drives.to_vec()).expect("it is one");
        array.submit(Tag(0), Io::read(Lba(0), 8));
        array.reap(Nanos::MAX).expect("no fault").expect("it was submitted").at
    };
    assert_eq!(first(4), first(1));
}
