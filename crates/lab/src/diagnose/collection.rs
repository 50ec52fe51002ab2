//! When a drive collects: whether it does so while nobody asks for anything, and whether writes stall for it.
//!
//! The drive is filled in order and written at random until it is used. Then comes trial after trial, some of them behind a
//! pause: a trial writes a fixed number of bytes at random, and flushes. What was collected in a pause need not be collected
//! during the trial behind it.
//! A time with a pause before it is held against those without one right before it, so that a drive that is not yet steady
//! is judged by what it was then; and what a pause won is used up before the next. How long a write waits at most tells
//! whether the rest of the work stops the host: paced collection makes it wait for a few programs, a stall for all of a block.
//!
//! There are two controls, both on the drive when it was only filled and had nothing to collect. If a pause makes it faster
//! even then, the pause empties a cache, and would do so on the used drive, too: nothing is said. And a used drive that is no
//! slower than a filled one has nothing to win: that it does not collect in pauses is not said of it.

use fourcorners_drive::{Geometry, Nanos, Target};
use fourcorners_record::diagnosis::{Finding, Series};

use super::probe::{Probe, Stopped, part};
use super::region::UNIT;
use super::statistics::{mean, median, quantile, variation};

const IDLE: &str = "collection_idle";
const PACING: &str = "collection_pacing";

const MIB: u64 = 1 << 20;
/// Pieces of the drive by which times are taken, and how many of them are written at random until it is used.
const PIECES: u64 = 256;
const TO_USE: u64 = 384;
/// The longest wait is taken of each of the last of them.
const LAST: u64 = 64;
/// Finer pieces of the drive. A trial on the used drive has 1, 2, 4 .. or `MOST_FINE` of them, and at least these bytes.
const FINE: u64 = 2048;
const MOST_FINE: usize = 64;
const LEAST_BYTES: u64 = 2 * MIB;
/// It has the fewest whose times differ by no more than this share.
const ALIKE: f64 = 0.05;
/// Pieces written at a time on the filled drive, where nothing is collected yet, and the pauses before, milliseconds.
const FILLED: u64 = 2;
const OF_FILLED: [f64; 4] = [0.0, 0.0, LONGEST_MS, LONGEST_MS];
/// Single writes with a flush behind each: what a program takes.
const FLUSHED: u64 = 20;
/// Trials without a pause before any with one, and those right before one that it is held against.
const FIRST: usize = 12;
const BEFORE: usize = 6;
/// What a pause won is used up when trials take this share of the time before it again, or after so many pieces.
const AGAIN: f64 = 0.96;
const TO_USE_UP: u64 = 48;
/// Length of a pause, milliseconds, and how many there are on the used drive. Shorter pauses do not tell when collection
/// begins: a block that is only half moved when a pause ends wins nothing yet.
const LONGEST_MS: f64 = 60_000.0;
const LONGEST: u64 = 2;
/// A pause wins something if the drive is faster behind it by this factor and by this many standard errors.
pub(crate) const GAIN: f64 = 1.1;
const ERRORS: f64 = 3.0;
/// Nothing is less than this share of the time, and surely less than this one of what is lost to collection.
const NO_SHARE: f64 = 0.06;
const NOTHING: f64 = 0.5;
/// That nothing is won is said by trials on the used drive that are shorter than those on the filled one by this factor.
const FINE_ENOUGH: f64 = 2.0;
/// A filled drive is faster than the used one by this factor, or there is nothing to win.
pub(crate) const LEAST_LOST: f64 = 1.25;
/// A cache is emptied in a pause if it makes the filled drive faster by this.
const RECOVERS: f64 = 1.05;
/// What the first pause won lasts until the second if trials take less than this share of the time then.
const LASTS: f64 = 0.8;
/// So many programs a write waits at most where collection is paced, and at least where it stalls.
const PACED: f64 = 13.0;
const STALLS: f64 = 18.0;
/// A flush behind a write takes longer than the write by this factor, or it waits for no program.
const WAITS_FOR_FLASH: f64 = 2.0;

/// Seconds of all pauses.
pub(super) const RESTS_S: f64 = 360.0;

/// Bytes that are written at most.
pub(super) fn bytes(geometry: Geometry) -> u64 {
    geometry.bytes() + bytes_at_random(geometry)
}

/// Bytes of them that are written at random.
pub(super) fn bytes_at_random(geometry: Geometry) -> u64 {
    let most = trial(geometry, MOST_FINE);
    piece(geometry) * (2 * OF_FILLED.len() as u64 * FILLED + TO_USE + LONGEST * TO_USE_UP)
        + (FIRST as u64 + 2 * LONGEST) * most
        + FLUSHED * UNIT
}

fn piece(geometry: Geometry) -> u64 {
    part(geometry, PIECES)
}

fn fine(geometry: Geometry) -> u64 {
    part(geometry, FINE)
}

/// Bytes of a trial of `count` fine pieces.
fn trial(geometry: Geometry, count: usize) -> u64 {
    (fine(geometry) * count as u64).max(LEAST_BYTES)
}

/// Writes at random, with pauses.
struct Trials<'p, 'a, T> {
    probe: &'p mut Probe<'a, T>,
    span: u64,
    bytes: u64,
    /// Milliseconds of the pause before, and microseconds until all is durable.
    samples: Vec<[f64; 2]>,
}

impl<T: Target> Trials<'_, '_, T> {
    fn one(&mut self, pause_ms: f64) -> Result<(), Stopped> {
        if pause_ms > 0.0 {
            self.probe.idle(Nanos::from_micros(pause_ms * 1000.0))?;
        }
        let began = self.probe.now();
        self.probe.write_at_random(self.span, self.bytes, u64::MAX)?;
        self.probe.flush()?;
        self.samples.push([pause_ms, (self.probe.now() - began).as_micros()]);
        Ok(())
    }

    /// A pause, and then none until what it won is used up.
    fn paused(&mut self, to_use_up: u64) -> Result<(), Stopped> {
        let before = Without::of(&self.samples).us;
        self.one(LONGEST_MS)?;
        let (mut written, mut since) = (0, 0);
        loop {
            self.one(0.0)?;
            (written, since) = (written + self.bytes, since + 1);
            let again = Without::of(&self.samples).us >= AGAIN * before;
            if since >= BEFORE && (again || written >= to_use_up) {
                return Ok(());
            }
        }
    }
}

pub(super) fn measure<T: Target>(probe: &mut Probe<'_, T>) -> Result<Vec<Series>, Stopped> {
    let geometry = probe.geometry();
    let (piece, fine) = (piece(geometry), fine(geometry));
    let series = |what: &str, samples: Vec<[f64; 2]>| Series { what: what.into(), samples };
    let all = probe.fill()?;
    probe.flush()?;
    let [filled, in_order] = when_filled(probe, all, FILLED * piece)?;
    let mut flushed = Vec::new();
    for _ in 0..FLUSHED {
        let place = probe.below(all / UNIT) * UNIT;
        let write = probe.write_us(place, UNIT)?;
        flushed.push([write, probe.flush()?.as_micros()]);
    }
    probe.write_at_random(all, (TO_USE - LAST) * piece, u64::MAX)?;
    let (mut used, mut longest) = (Vec::new(), Vec::new());
    for number in 1..=LAST {
        let waits = probe.write_at_random(all, piece, UNIT)?;
        let each_fine = waits.chunks_exact((fine / UNIT) as usize);
        used.extend(each_fine.map(|some| [fine as f64, some.iter().sum()]));
        let most = waits.iter().copied().fold(0.0, f64::max);
        longest.push([((TO_USE - LAST + number) * piece) as f64, most]);
    }
    probe.flush()?;
    let bytes = trial(geometry, alike(&used));
    let mut trials = Trials { probe, span: all, bytes, samples: Vec::new() };
    for _ in 0..FIRST {
        trials.one(0.0)?;
    }
    for _ in 0..LONGEST {
        trials.paused(TO_USE_UP * piece)?;
    }
    let paused = trials.samples;
    let sizes = vec![[(FILLED * piece) as f64, bytes as f64]];
    Ok(vec![
        series("bytes of a trial on the filled drive; on the used one", sizes),
        series("milliseconds of a pause; microseconds of a trial after it, filled", filled),
        series(
            "milliseconds of a pause; microseconds of as much in order after it, filled",
            in_order,
        ),
        series("microseconds of a write of 4 KiB; of a flush behind it", flushed),
        series(
            "bytes written at random; microseconds of the longest wait in the last of them",
            longest,
        ),
        series("milliseconds of a pause; microseconds of a trial after it, used", paused),
    ])
}

/// Trials on the filled drive, at random and in order, as something else may limit one of both: those without a pause before
/// any with one, as a cache that was emptied once may hold all that follows.
fn when_filled<T: Target>(
    probe: &mut Probe<'_, T>,
    span: u64,
    bytes: u64,
) -> Result<[Vec<[f64; 2]>; 2], Stopped> {
    let mut in_order = Vec::new();
    let mut trials = Trials { probe, span, bytes, samples: Vec::new() };
    for pause in OF_FILLED {
        trials.probe.idle(Nanos::from_micros(pause * 1000.0))?;
        let (began, start) = (trials.probe.now(), in_order.len() as u64 * bytes);
        trials.probe.write_in_order(start, bytes, (128 << 10, 8), u64::MAX)?;
        trials.probe.flush()?;
        in_order.push([pause, (trials.probe.now() - began).as_micros()]);
        trials.one(pause)?;
    }
    Ok([trials.samples, in_order])
}

/// Of how many fine pieces a trial is: the fewest that take times which are alike.
fn alike(used: &[[f64; 2]]) -> usize {
    let differ = |count: usize| {
        let sums: Vec<f64> =
            used.chunks_exact(count).map(|some| some.iter().map(|[_, us]| us).sum()).collect();
        variation(&sums)
    };
    let counts = std::iter::successors(Some(1), |count| Some(2 * count));
    let mut counts = counts.take_while(|count| *count <= MOST_FINE);
    counts.find(|count| differ(*count) <= ALIKE).unwrap_or(MOST_FINE)
}

/// What trials without a pause take.
#[derive(Clone, Copy)]
struct Without {
    us: f64,
    /// Their standard deviation, a share of that.
    variation: f64,
}

impl Without {
    /// The middle one before the first pause.
    fn before_any(samples: &[[f64; 2]]) -> f64 {
        let first = samples.iter().take_while(|[pause, _]| *pause == 0.0);
        median(&first.map(|[_, us]| *us).collect::<Vec<f64>>())
    }

    /// By the last of them, and the variation of those before the first pause.
    fn of(samples: &[[f64; 2]]) -> Without {
        let none = |sample: &&[f64; 2]| sample[0] == 0.0;
        let first: Vec<f64> = samples.iter().take_while(none).map(|[_, us]| *us).collect();
        let last: Vec<f64> =
            samples.iter().rev().take_while(none).take(BEFORE).map(|[_, us]| *us).collect();
        // No clock is more exact than that.
        Without { us: mean(&last), variation: variation(&first).max(0.005) }
    }
}

/// What a pause won of a time without one.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Won {
    without_us: f64,
    /// The share of the time that was saved.
    share: f64,
    /// Its standard error.
    error: f64,
}

impl Won {
    fn is_something(&self) -> bool {
        self.share >= (1.0 - 1.0 / GAIN).max(ERRORS * self.error)
    }
}

/// What each pause won, by trials in the order in which they were done.
fn won(samples: &[[f64; 2]]) -> Vec<Won> {
    let pauses = samples.iter().enumerate().filter(|(_, [pause, _])| *pause > 0.0);
    let of = |(at, [_, us]): (usize, &[f64; 2])| {
        let without = Without::of(&samples[..at]);
        let error = without.variation * (1.0 + 1.0 / BEFORE as f64).sqrt();
        Won { without_us: without.us, share: 1.0 - us / without.us, error }
    };
    pauses.map(of).collect()
}

pub(super) fn estimate(series: &[Series]) -> Vec<Finding> {
    let all = |reason: String| {
        [IDLE, PACING].map(|key| Finding::undetermined(key, reason.clone())).to_vec()
    };
    let nothing = || all("nothing was measured".into());
    let [sizes, filled, in_order, flushed, longest, paused] = series else { return nothing() };
    let Some([of_filled, of_used]) = sizes.samples.first() else { return nothing() };
    // The first may still wait for the fill.
    let of = |trials: &Series| {
        [0.0, LONGEST_MS].map(|pause_ms| {
            let those = trials.samples.iter().skip(1).filter(|[pause, _]| *pause == pause_ms);
            mean(&those.map(|[_, us]| *us).collect::<Vec<f64>>()) / of_filled
        })
    };
    let ([filled, rested], [filled_in_order, rested_in_order]) = (of(filled), of(in_order));
    let used = Without::before_any(&paused.samples) / of_used;
    // Of none the median is no number, which is above nothing.
    if ![filled, rested, filled_in_order, rested_in_order, used]
        .iter()
        .all(|it| *it > 0.0 && it.is_finite())
    {
        return nothing();
    }
    let recovers = (filled / rested).max(filled_in_order / rested_in_order);
    let lost = used / filled;
    if recovers >= RECOVERS {
        return all(format!(
            "after a minute's pause a drive that was only filled is {recovers:.2} times as fast: a cache is emptied then, which hides \
             what is collected"
        ));
    }
    let is_fine = of_used * FINE_ENOUGH <= *of_filled;
    vec![
        in_pauses(&won(&paused.samples), lost, is_fine),
        pacing(&flushed.samples, &longest.samples, lost),
    ]
}

/// By what pauses won of a drive that is slower by a factor when it is used, and whether a trial is so short that a little of
/// space that is won would be seen.
fn in_pauses(won: &[Won], lost: f64, is_fine: bool) -> Finding {
    let [first, second, ..] = won else {
        return Finding::undetermined(IDLE, "nothing was measured");
    };
    let share = (first.share + second.share) / 2.0;
    let reason = format!(
        "written at random, the used drive is {lost:.2} times as slow as a filled one, and a minute's pause wins {:.0} % of the time",
        100.0 * share
    );
    let potential = 1.0 - 1.0 / lost;
    let error = first.error.max(second.error) / 2.0_f64.sqrt();
    let is_nothing = share < NO_SHARE && share + ERRORS * error < NOTHING * potential;
    // What the first won may last for longer than it is waited for.
    let lasts = second.without_us < LASTS * first.without_us;
    if first.is_something() && (second.is_something() || lasts) {
        return Finding::class(IDLE, "yes", reason);
    }
    let why = match (lost < LEAST_LOST, is_fine, is_nothing) {
        (true, ..) => "there is too little to win",
        (false, false, _) => "times are alike in long trials only, which hide a little that is won",
        (false, true, true) => return Finding::class(IDLE, "no", reason),
        (false, true, false) => "that tells neither",
    };
    Finding::undetermined(IDLE, format!("{reason}: {why}"))
}

/// By what single writes and flushes take, and by the longest waits.
fn pacing(flushed: &[[f64; 2]], longest: &[[f64; 2]], lost: f64) -> Finding {
    let [write, flush] =
        [0, 1].map(|at| median(&flushed.iter().map(|it| it[at]).collect::<Vec<f64>>()));
    // Not all pieces of a drive that stalls have a stall.
    let waits: Vec<f64> = longest.iter().map(|[_, us]| *us).collect();
    let [wait, rare] = [0.75, 1.0].map(|share| quantile(&waits, share));
    if ![write, flush, wait].iter().all(|us| *us > 0.0) {
        return Finding::undetermined(PACING, "nothing was measured");
    }
    let [times, rarely] = [wait, rare].map(|us| us / flush);
    let reason = format!(
        "a program and its flush take {flush:.0} us, and writes at random wait {wait:.0} us at most: {times:.1} times as long, and once {rarely:.1} times"
    );
    if flush < WAITS_FOR_FLASH * write {
        return Finding::undetermined(
            PACING,
            format!("{reason}, but a flush waits for no program"),
        );
    }
    match times {
        _ if rarely <= PACED && lost < LEAST_LOST => Finding::undetermined(
            PACING,
            format!("{reason}, but the drive loses too little to collection"),
        ),
        _ if rarely <= PACED => Finding::class(PACING, "paced", reason),
        long if long >= STALLS => Finding::class(PACING, "stalls", reason),
        _ => Finding::undetermined(
            PACING,
            format!("{reason}: neither little by little nor a block at a time"),
        ),
    }
}
