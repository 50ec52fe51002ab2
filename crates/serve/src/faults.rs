//! Faults that are injected into a served drive: which request is struck, and by what. All that is drawn follows from one
//! seed.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use fourcorners_drive::Nanos;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::nbd::{Command, Errno, Request};

/// A fault as it is written: `KIND@WHEN` or `KIND@WHEN,RANGE`.
///
/// ```
/// use fourcorners_serve::FaultSpec;
///
/// for good in ["eio-write@n=1000", "latency=+20ms@p=0.01", "dead@t=5s", "bit-flip@each=100,0-1G"] {
///     assert_eq!(good.parse::<FaultSpec>().expect(good).to_string(), good);
/// }
/// assert!("eio-write".parse::<FaultSpec>().is_err());
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct FaultSpec {
    kind: Kind,
    when: When,
    /// Bytes that a request has to touch to be counted and struck.
    range: Option<Range<u64>>,
    text: String,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    EioRead,
    /// The data are stored all the same.
    EioWrite,
    /// The data are not stored.
    EioWriteDropped,
    EioFlush,
    Longer(Nanos),
    Slower(f64),
    ReadOnly,
    Dead,
    BitFlip,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum When {
    /// The request of this number, from 1, of those that it is about.
    Number(u64),
    /// Every so many of them.
    Each(u64),
    /// Each of them with this probability.
    Share(f64),
    /// From this time on, counted in the drive's time from the first request after the fault was given: a state for good, anything
    /// else the first request.
    Time(Nanos),
}

/// Text that is no fault.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{0}: give KIND@WHEN[,FROM-TO]; KIND is eio-read, eio-write, eio-write-dropped, eio-flush, latency=+20ms, latency=x8, \
     read-only, dead or bit-flip; WHEN is n=1000, each=100, p=0.001 or t=5s; FROM-TO are bytes (0-1G)"
)]
pub struct UnknownFault(String);

impl fmt::Display for FaultSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for FaultSpec {
    type Err = UnknownFault;

    fn from_str(text: &str) -> Result<FaultSpec, UnknownFault> {
        let spec = || {
            let (kind, rest) = text.split_once('@')?;
            let (when, range) = match rest.split_once(',') {
                None => (rest, None),
                Some((when, range)) => (when, Some(range_of(range)?)),
            };
            Some(FaultSpec {
                kind: Kind::of(kind)?,
                when: When::of(when)?,
                range,
                text: text.into(),
            })
        };
        spec().ok_or_else(|| UnknownFault(text.into()))
    }
}

impl FaultSpec {
    /// Says that its range begins beyond a drive of this size, so that it strikes no read or write; `None` if it does not, and of
    /// faults of flushes, which have no range.
    pub fn beyond(&self, drive_bytes: u64) -> Option<String> {
        let range = self.range.as_ref().filter(|range| range.start >= drive_bytes)?;
        if self.kind == Kind::EioFlush {
            return None;
        }
        Some(format!(
            "{}: its range begins at byte {}, and the drive has {drive_bytes} bytes: give one that the drive has",
            self.text, range.start
        ))
    }
}

/// `0-1G`: from the first byte to before the last.
fn range_of(text: &str) -> Option<Range<u64>> {
    let (from, to) = text.split_once('-')?;
    let range = place_of(from)?..fourcorners_words::bytes_of(to)?;
    (range.start < range.end).then_some(range)
}

/// A size is never 0, but a place may be, in any unit.
fn place_of(text: &str) -> Option<u64> {
    let unit = text.trim_start_matches('0');
    let is_zero =
        unit.len() < text.len() && !unit.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    match is_zero {
        true => fourcorners_words::bytes_of(&format!("1{unit}")).map(|_| 0),
        false => fourcorners_words::bytes_of(text),
    }
}

/// `20ms`: seconds, milliseconds or microseconds, an hour at most.
fn time_of(text: &str) -> Option<Nanos> {
    // The longest unit first: us ends in s.
    let units = [("us", 1.0), ("ms", 1e3), ("s", 1e6)];
    let (number, us) = units.iter().find_map(|(unit, us)| Some((text.strip_suffix(unit)?, us)))?;
    let micros = number.parse::<f64>().ok()? * us;
    (0.0..=3.6e9).contains(&micros).then(|| Nanos::from_micros(micros))
}

impl Kind {
    fn of(text: &str) -> Option<Kind> {
        Some(match text {
            "eio-read" => Kind::EioRead,
            "eio-write" => Kind::EioWrite,
            "eio-write-dropped" => Kind::EioWriteDropped,
            "eio-flush" => Kind::EioFlush,
            "read-only" => Kind::ReadOnly,
            "dead" => Kind::Dead,
            "bit-flip" => Kind::BitFlip,
            _ => match text.strip_prefix("latency=")?.split_at_checked(1)? {
                ("+", time) => Kind::Longer(time_of(time)?),
                ("x", factor) => {
                    let factor = factor.parse::<f64>().ok()?;
                    Kind::Slower((1.0..=1e6).contains(&factor).then_some(factor)?)
                }
                _ => return None,
            },
        })
    }

    /// Whether a request is one that it is about.
    fn is_about(self, command: Command) -> bool {
        let writes = matches!(command, Command::Write { .. } | Command::WriteZeroes { .. });
        let reads = matches!(command, Command::Read { .. });
        let flushes = command == Command::Flush;
        match self {
            Kind::EioRead | Kind::BitFlip => reads,
            Kind::EioWrite => writes,
            Kind::EioWriteDropped => matches!(command, Command::Write { .. }),
            Kind::EioFlush => flushes,
            Kind::Longer(_) | Kind::Slower(_) | Kind::ReadOnly | Kind::Dead => {
                reads || writes || flushes || matches!(command, Command::Trim { .. })
            }
        }
    }

    /// Whether it stays, once it has begun.
    fn is_a_state(self) -> bool {
        matches!(self, Kind::ReadOnly | Kind::Dead)
    }
}

impl When {
    fn of(text: &str) -> Option<When> {
        let (word, value) = text.split_once('=')?;
        let count = || value.parse::<u64>().ok().filter(|count| *count > 0);
        Some(match word {
            "n" => When::Number(count()?),
            "each" => When::Each(count()?),
            "p" => {
                let share = value.parse::<f64>().ok()?;
                When::Share((0.0..=1.0).contains(&share).then_some(share)?)
            }
            "t" => When::Time(time_of(value)?),
            _ => return None,
        })
    }
}

/// The faults of a drive, with what they have done.
#[derive(Clone, Debug)]
pub struct Faults {
    faults: Vec<Fault>,
    random: Xoshiro256PlusPlus,
}

#[derive(Clone, Debug)]
struct Fault {
    spec: FaultSpec,
    /// When the first request came, of any kind: times are counted from here. The clock of a drive that was used before shows
    /// any time.
    began: Option<Nanos>,
    /// Requests that it is about, so far.
    seen: u64,
    struck: u64,
}

/// What is done to a request.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Strike {
    /// It fails with this, after the drive has done it.
    pub(crate) fails: Option<(Errno, &'static str)>,
    /// It fails at once, without the drive.
    pub(crate) refused: Option<(Errno, &'static str)>,
    /// Its data are not stored.
    pub(crate) drops: bool,
    /// Its answer takes so much longer, and so many times as long.
    pub(crate) longer: Nanos,
    pub(crate) slower: f64,
    /// A bit of what it reads is another: which, of its bytes times eight.
    pub(crate) flips: Option<u64>,
}

impl Strike {
    /// Nothing is done to it.
    pub(crate) const NONE: Strike = Strike {
        fails: None,
        refused: None,
        drops: false,
        longer: Nanos::ZERO,
        slower: 1.0,
        flips: None,
    };

    /// When an answer is due that the drive has at `at`, to a request of `asked`.
    pub(crate) fn delays(self, asked: Nanos, at: Nanos) -> Nanos {
        if self.longer == Nanos::ZERO && self.slower == 1.0 {
            return at;
        }
        let taken = (at.since(asked).0 as f64 * self.slower).round() as u64;
        asked.saturating_add(Nanos(taken)).saturating_add(self.longer).max(at)
    }
}

impl Faults {
    /// These, drawn by a seed.
    pub fn new(specs: &[FaultSpec], seed: u64) -> Faults {
        Faults {
            faults: specs.iter().cloned().map(Fault::new).collect(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    /// One more from now on; what it counts begins here.
    pub(crate) fn add(&mut self, spec: FaultSpec) {
        self.faults.push(Fault::new(spec));
    }

    /// Takes those back that are written so, or all. What is gone, and how many requests it has struck.
    pub(crate) fn clear(&mut self, text: Option<&str>) -> Vec<(String, u64)> {
        let gone =
            self.faults.extract_if(.., |fault| text.is_none_or(|text| fault.spec.text == text));
        gone.map(|fault| (fault.spec.text, fault.struck)).collect()
    }

    /// Each fault, and how many requests it has struck.
    pub fn struck(&self) -> impl Iterator<Item = (String, u64)> + '_ {
        self.faults.iter().map(|fault| (fault.spec.to_string(), fault.struck))
    }

    /// What is done to a request that comes at a time.
    pub(crate) fn strike(&mut self, request: &Request, at: Nanos) -> Strike {
        let mut strike = Strike::NONE;
        for fault in &mut self.faults {
            // The numbers that are drawn depend on the requests alone, not on what other faults did to them.
            if !fault.is_struck(request, at, &mut self.random) {
                continue;
            }
            fault.struck += 1;
            match fault.spec.kind {
                Kind::EioRead | Kind::EioFlush => {
                    strike.fails = Some((Errno::Io, "an injected fault"));
                }
                // Data that another fault has dropped are not.
                Kind::EioWrite if strike.drops => {}
                Kind::EioWrite => {
                    strike.fails = Some((Errno::Io, "an injected fault; the data are stored"));
                }
                Kind::EioWriteDropped => {
                    strike.fails = Some((Errno::Io, "an injected fault; the data are lost"));
                    strike.drops = true;
                }
                Kind::Longer(time) => strike.longer += time,
                Kind::Slower(factor) => strike.slower *= factor,
                Kind::ReadOnly => {
                    strike
                        .refused
                        .get_or_insert((Errno::Perm, "the drive is read-only by a fault"));
                }
                Kind::Dead => {
                    strike.refused = Some((Errno::Shutdown, "the drive is dead by a fault"))
                }
                Kind::BitFlip => {
                    let bits = u128::from(request.length) * 8;
                    let bit = (u128::from(self.random.next_u64()) * bits) >> 64;
                    strike.flips = Some(bit as u64);
                }
            }
        }
        strike
    }
}

impl Fault {
    fn new(spec: FaultSpec) -> Fault {
        Fault { spec, began: None, seen: 0, struck: 0 }
    }

    fn is_struck(&mut self, request: &Request, at: Nanos, random: &mut impl Rng) -> bool {
        // A rollback sets the clock back, perhaps to before the first request.
        let began = self.began.map_or(at, |began| began.min(at));
        self.began = Some(began);
        let FaultSpec { kind, when, range, .. } = &self.spec;
        // What a read-only drive still does is read.
        let state = kind.is_a_state() && self.struck > 0;
        let reads = matches!(request.command, Command::Read { .. } | Command::Flush);
        if state && !(*kind == Kind::ReadOnly && reads) {
            return kind.is_about(request.command);
        }
        let touched = request.offset..request.offset + request.length;
        let there = range.as_ref().is_none_or(|range| {
            request.command == Command::Flush
                || touched.start < range.end && range.start < touched.end
        });
        if state || !kind.is_about(request.command) || !there || *kind == Kind::ReadOnly && reads {
            return false;
        }
        self.seen += 1;
        match *when {
            When::Number(number) => self.seen == number,
            When::Each(step) => self.seen.is_multiple_of(step),
            When::Share(share) => {
                (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64 <= share && share > 0.0
            }
            When::Time(time) => at.since(began) >= time && self.struck == 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(command: Command, offset: u64) -> Request {
        Request { cookie: 0, command, offset, length: 4096, data: Vec::new() }
    }

    fn faults(specs: &[&str], seed: u64) -> Faults {
        let specs: Vec<FaultSpec> = specs.iter().map(|spec| spec.parse().expect(spec)).collect();
        Faults::new(&specs, seed)
    }

    const READ: Command = Command::Read { one_chunk: false };
    const WRITE: Command = Command::Write { fua: false };

    /// Which of the first hundred requests of a kind are struck.
    fn struck(spec: &str, command: Command) -> Vec<u64> {
        let mut faults = faults(&[spec], 1);
        let strike = |n: &u64| {
            faults.strike(&request(command, n * 4096), Nanos(n * 1_000_000)) != Strike::NONE
        };
        (1..=100).filter(strike).collect()
    }

    #[test]
    fn a_fault_strikes_when_it_is_said_to_and_what_it_is_about() {
        assert_eq!(struck("eio-read@n=7", READ), [7]);
        assert_eq!(struck("eio-read@n=7", WRITE), [0; 0]);
        assert_eq!(struck("eio-write@each=40", WRITE), [40, 80]);
        assert_eq!(struck("eio-flush@n=1", Command::Flush), [1]);
        // The first of them comes at 1 ms.
        assert_eq!(struck("latency=x8@t=50ms", READ), [51]);
        assert_eq!(struck("eio-read@p=0", READ), [0; 0]);
        assert_eq!(struck("eio-read@p=1", READ).len(), 100);
        assert!((5..40).contains(&struck("eio-read@p=0.2", READ).len()));
        // Requests that touch the bytes from 40 KiB to before 48 KiB; only those are counted.
        assert_eq!(struck("bit-flip@each=1,40KiB-48KiB", READ), [10, 11]);
        assert_eq!(struck("bit-flip@n=2,40KiB-48KiB", READ), [11]);
        // The first byte in any unit.
        for zero in ["0", "0K", "0KiB", "00G"] {
            assert_eq!(struck(&format!("bit-flip@each=1,{zero}-12KiB"), READ), [1, 2], "{zero}");
        }
    }

    #[test]
    fn a_time_is_counted_from_the_first_request_whatever_the_clock_of_the_drive_shows() {
        // A read is sent each second, the first when the clock shows `clock` seconds: the number of the first read that is struck.
        let strikes = |faults: &mut Faults, clock: u64| {
            (0..200).find(|second| {
                let at = Nanos::from_secs(clock + second);
                faults.strike(&request(READ, 0), at) != Strike::NONE
            })
        };
        // A new drive, and one that was aged for 46 minutes.
        for clock in [0, 2_777] {
            for fault in ["dead@t=60s", "eio-read@t=60s"] {
                assert_eq!(strikes(&mut faults(&[fault], 1), clock), Some(60), "{fault}, {clock}");
            }
        }
        // Requests that the fault is not about count from the first on, too.
        let mut later = faults(&["eio-read@t=60s"], 1);
        later.strike(&request(WRITE, 0), Nanos::from_secs(1_000));
        assert_eq!(strikes(&mut later, 1_050), Some(10));
        // One that is added while it runs is counted from then on.
        let mut added = faults(&["eio-read@t=500s"], 1);
        assert_eq!(strikes(&mut added, 0), None);
        added.add("dead@t=60s".parse().expect("a fault"));
        assert_eq!(strikes(&mut added, 200), Some(60));
        // The clock is set back to before the first request.
        let mut back = faults(&["dead@t=60s"], 1);
        back.strike(&request(READ, 0), Nanos::from_secs(1_000));
        assert_eq!(strikes(&mut back, 100), Some(60));
    }

    #[test]
    fn a_state_stays_and_a_read_only_drive_still_reads() {
        assert_eq!(struck("dead@n=90", READ), (90..=100).collect::<Vec<u64>>());
        let mut faults = faults(&["read-only@n=2"], 1);
        let mut refused = |command| faults.strike(&request(command, 0), Nanos(0)).refused.is_some();
        assert_eq!(
            [WRITE, READ, WRITE, READ, WRITE].map(&mut refused),
            [false, false, true, false, true]
        );
        assert!(!refused(Command::Flush));
    }

    #[test]
    fn a_range_that_the_drive_does_not_have_is_told() {
        let beyond = |text: &str| text.parse::<FaultSpec>().expect(text).beyond(80_000_000_000);
        assert!(beyond("eio-read@n=1,1000G-2000G").is_some_and(|why| why.contains("80000000000")));
        for within in ["eio-read@n=1,79G-2000G", "eio-read@n=1", "eio-flush@n=1,1000G-2000G"] {
            assert_eq!(beyond(within), None);
        }
    }

    #[test]
    fn a_write_that_is_dropped_is_said_to_be_lost_whatever_else_fails_it() {
        for specs in
            [["eio-write-dropped@n=2", "eio-write@n=2"], ["eio-write@n=2", "eio-write-dropped@n=2"]]
        {
            let mut faults = faults(&specs, 1);
            let mut why = || faults.strike(&request(WRITE, 0), Nanos(0)).fails.map(|(_, why)| why);
            assert_eq!([why(), why()], [None, Some("an injected fault; the data are lost")]);
        }
        let mut stored = faults(&["eio-write@n=1"], 1);
        let why = stored.strike(&request(WRITE, 0), Nanos(0)).fails.map(|(_, why)| why);
        assert_eq!(why, Some("an injected fault; the data are stored"));
    }

    #[test]
    fn faults_add_up_and_the_seed_decides_what_is_drawn() {
        let mut both =
            faults(&["latency=+20ms@each=1", "latency=x8@each=2", "eio-write-dropped@n=2"], 1);
        let mut strike = || both.strike(&request(WRITE, 0), Nanos(0));
        let first = strike();
        assert_eq!(
            (first.longer, first.slower, first.fails, first.drops),
            (Nanos(20_000_000), 1.0, None, false)
        );
        let second = strike();
        assert_eq!((second.slower, second.drops), (8.0, true));
        assert_eq!(both.struck().map(|(_, struck)| struck).collect::<Vec<u64>>(), [2, 1, 1]);
        let bits = |seed| {
            let mut faults = faults(&["bit-flip@each=1"], seed);
            [0; 4].map(|_| faults.strike(&request(READ, 0), Nanos(0)).flips.expect("each"))
        };
        assert_eq!(bits(1), bits(1));
        assert_ne!(bits(1), bits(2));
        assert!(bits(3).iter().all(|bit| *bit < 4096 * 8));
    }

    #[test]
    fn what_is_no_fault_is_refused() {
        for text in [
            "",
            "eio-read",
            "@n=1",
            "eio-read@n=0",
            "eio-read@n=-1",
            "eio-read@p=2",
            "eio-read@p=NaN",
            "fire@n=1",
            "latency@n=1",
            "latency=20ms@n=1",
            "latency=+20@n=1",
            "latency=x0@n=1",
            "latency=é@n=1",
            "eio-read@t=5",
            "eio-read@n=1,5-5",
            "eio-read@n=1,zzz",
            "eio-read@n=1,0Q-1G",
            "eio-read@n=1,0-0K",
            "eio-read@soon",
        ] {
            let error = text.parse::<FaultSpec>().expect_err(text).to_string();
            assert!(error.starts_with(&format!("{text}: give KIND@WHEN")), "{error}");
        }
    }
}
