//! Values of options that are more than a number.

use fourcorners_drive::Nanos;
use fourcorners_run::streams::{
    BlockSizes, Criterion, Direction, Distribution, Operations, PARTS, Watched,
};
use fourcorners_words::nearest;

use super::units;
use super::value_error::ValueError;

/// Largest block; a buffer of this size is made for each I/O in flight.
pub(super) const MOST_BLOCK_BYTES: u64 = 1 << 30;

/// Most blocks of a sequence.
const MOST_OF_A_SEQUENCE: usize = 64;

/// What `rw` says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Rw {
    /// Its name, for reports.
    pub(super) name: &'static str,
    pub(super) operations: Operations,
    pub(super) random: bool,
    /// What follows a colon: I/Os at a place when random, bytes skipped when sequential.
    pub(super) run: u32,
    pub(super) step_bytes: i64,
}

/// Yes when it stands alone or is a number other than 0.
pub(super) fn flag(value: Option<&str>) -> Result<bool, ValueError> {
    match value.map(str::trim) {
        None | Some("" | "on" | "true") => Ok(true),
        Some("off" | "false") => Ok(false),
        Some(number) => number
            .parse::<i64>()
            .map(|number| number != 0)
            .map_err(|_| ValueError::Neither { text: number.into(), choices: ["0", "1"] }),
    }
}

/// A count of 1 and more.
pub(super) fn at_least_one(text: &str) -> Result<u32, ValueError> {
    match u32::try_from(units::count(text)?) {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(ValueError::NotPositive(text.into())),
    }
}

/// A block size that I/Os can have.
pub(super) fn block(bytes: u64) -> Result<u32, ValueError> {
    match (1..=MOST_BLOCK_BYTES).contains(&bytes) {
        true => Ok(bytes as u32),
        false => Err(ValueError::BlockBytes(bytes)),
    }
}

/// The name of a file, and whether it is several: `:` stands between them, and `\:` is a colon.
pub(super) fn file(text: &str) -> (String, bool) {
    let several = text.replace("\\:", "").contains(':');
    (text.replace("\\:", ":"), several)
}

/// `a`, `a,b` or `a,b,c`, for reads, writes and trims. One alone is for all, the second of two for
/// writes and trims; what is left empty is left as it is.
pub(super) fn by_direction<T: Copy>(
    text: &str,
    parse: impl Fn(&str) -> Result<T, ValueError>,
) -> Result<[Option<T>; 3], ValueError> {
    let parts: Vec<Option<T>> = text
        .split(',')
        .map(|part| match part.trim() {
            "" => Ok(None),
            part => parse(part).map(Some),
        })
        .collect::<Result<_, _>>()?;
    match parts[..] {
        [all] => Ok([all; 3]),
        [read, write] => Ok([read, write, write]),
        [read, write, trim] => Ok([read, write, trim]),
        _ => Err(ValueError::Directions(text.into())),
    }
}

/// The same of what cannot be copied, straight into its place.
pub(super) fn split_directions(
    text: &str,
    blocks: &mut [BlockSizes; 3],
    parse: impl Fn(&str) -> Result<BlockSizes, ValueError>,
) -> Result<(), ValueError> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.len() > 3 {
        return Err(ValueError::Directions(text.into()));
    }
    for (direction, block) in blocks.iter_mut().enumerate() {
        let part = parts[direction.min(parts.len() - 1)];
        if !part.is_empty() {
            *block = parse(part)?;
        }
    }
    Ok(())
}

/// `4k-64k` or `4k:64k`.
pub(super) fn range(text: &str, kb_base: u64) -> Result<BlockSizes, ValueError> {
    let wrong = || ValueError::Range(text.into());
    let (one, other) = text.split_once(['-', ':']).ok_or_else(wrong)?;
    let (one, other) = (units::bytes(one, kb_base)?, units::bytes(other, kb_base)?);
    let (least, most) = (block(one.min(other))?, block(one.max(other))?);
    Ok(if least == most { BlockSizes::One(least) } else { BlockSizes::Range(least, most) })
}

/// `4k/10:64k/50:32k/40`; sizes without a share divide what the others leave.
pub(super) fn split(text: &str, kb_base: u64) -> Result<BlockSizes, ValueError> {
    let mut sizes: Vec<(u32, Option<f64>)> = Vec::new();
    for part in text.split(':').filter(|part| !part.trim().is_empty()) {
        let (size, share) = part.split_once('/').unwrap_or((part, ""));
        let size = block(units::bytes(size, kb_base)?)?;
        let share = match share.trim() {
            "" => None,
            share => Some(units::percent(share)?),
        };
        sizes.push((size, share));
    }
    let shares = shares(sizes.iter().map(|size| size.1))
        .map_err(|sum| ValueError::Shares { text: text.into(), sum })?;
    let mut parts: Vec<(u32, u32)> = sizes
        .iter()
        .zip(shares)
        .map(|(size, share)| (size.0, (share / 100.0 * f64::from(PARTS)).round() as u32))
        .collect();
    // What rounding took or gave is the largest's, where it is least.
    let rest = i64::from(PARTS) - parts.iter().map(|part| i64::from(part.1)).sum::<i64>();
    if let Some(largest) = parts.iter_mut().max_by_key(|part| part.1) {
        largest.1 = (i64::from(largest.1) + rest).max(0) as u32;
    }
    match parts.is_empty() {
        true => Err(ValueError::NoSizes(text.into())),
        false => Ok(BlockSizes::Split(parts)),
    }
}

/// Shares that add up to 100; those missing divide the rest. An error is their sum.
fn shares(given: impl Iterator<Item = Option<f64>> + Clone) -> Result<Vec<f64>, f64> {
    let sum: f64 = given.clone().flatten().sum();
    let missing = given.clone().filter(Option::is_none).count();
    let each = (100.0 - sum) / missing.max(1) as f64;
    let fits = if missing > 0 { sum <= 100.0 } else { (sum - 100.0).abs() < 1e-6 };
    // An empty list is refused by those who ask.
    if fits || given.clone().next().is_none() {
        Ok(given.map(|share| share.unwrap_or(each)).collect())
    } else {
        Err(sum)
    }
}

const RW: &[(&str, Operations, bool)] = &[
    ("read", Operations::Only(Direction::Read), false),
    ("write", Operations::Only(Direction::Write), false),
    ("trim", Operations::Only(Direction::Trim), false),
    ("randread", Operations::Only(Direction::Read), true),
    ("randwrite", Operations::Only(Direction::Write), true),
    ("randtrim", Operations::Only(Direction::Trim), true),
    ("rw", Operations::Mixed { read_percent: 50 }, false),
    ("readwrite", Operations::Mixed { read_percent: 50 }, false),
    ("randrw", Operations::Mixed { read_percent: 50 }, true),
    ("trimwrite", Operations::TrimWrite, false),
    ("randtrimwrite", Operations::TrimWrite, true),
];

/// What a name of `rw` means.
pub(super) fn rw(text: &str) -> Result<Rw, ValueError> {
    match RW.iter().find(|(name, ..)| *name == text) {
        Some(&(name, operations, random)) => {
            let name = if name == "readwrite" { "rw" } else { name };
            Ok(Rw { name, operations, random, run: 1, step_bytes: 0 })
        }
        None => {
            let names: Vec<&str> = RW.iter().map(|(name, ..)| *name).collect();
            let near = nearest(text, names.iter().copied());
            Err(ValueError::Pattern { text: text.into(), near, names: names.join(", ") })
        }
    }
}

/// The same with what may follow a colon: `randread:8`, `read:-8k`.
pub(super) fn rw_with_run(text: &str, kb_base: u64) -> Result<Rw, ValueError> {
    let (name, more) = match text.split_once(':') {
        Some((name, more)) => (name, Some(more)),
        None => (text, None),
    };
    let rw = rw(name)?;
    match more {
        None => Ok(rw),
        Some(more) if rw.random => Ok(Rw { run: at_least_one(more)?, ..rw }),
        Some(more) => {
            let (sign, bytes) = match more.strip_prefix('-') {
                Some(bytes) => (-1, bytes),
                None => (1, more),
            };
            let bytes = units::bytes(bytes, kb_base)? as i64;
            Ok(Rw { step_bytes: sign * bytes, ..rw })
        }
    }
}

/// `zipf:1.2`, `pareto:0.2`, `normal:20`, `zoned:50/5:30/15:20/80`; a centre, `zipf:1.2:0.5`, changes
/// nothing where hot blocks are scattered.
pub(super) fn distribution(text: &str) -> Result<Distribution, ValueError> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let number = |default: f64| -> Result<f64, ValueError> {
        match rest.split(':').next().unwrap_or_default().trim() {
            "" => Ok(default),
            number => {
                let wrong = || ValueError::NumberIn { number: number.into(), text: text.into() };
                number.parse().map_err(|_| wrong())
            }
        }
    };
    match name {
        "random" => Ok(Distribution::Uniform),
        "zipf" => match number(1.1)? {
            theta if theta > 0.0 && theta <= 100.0 => Ok(Distribution::Zipf(theta)),
            theta => Err(ValueError::Exponent(theta)),
        },
        "pareto" => match number(0.2)? {
            h if h > 0.0 && h < 1.0 => Ok(Distribution::Pareto(h)),
            h => Err(ValueError::Power(h)),
        },
        "normal" | "gauss" => match number(0.0)? {
            percent if (0.0..=100.0).contains(&percent) => Ok(Distribution::Normal(percent)),
            percent => Err(ValueError::Deviation(percent)),
        },
        "zoned" => zoned(rest),
        "zoned_abs" => Err(ValueError::Unsupported(
            "zones in bytes are not supported: give percentages, zoned:50/5:...",
        )),
        "sequence" => sequence(rest),
        _ => Err(ValueError::NoneOf {
            text: name.into(),
            choices: "random, zipf, pareto, normal, zoned and sequence",
        }),
    }
}

fn zoned(text: &str) -> Result<Distribution, ValueError> {
    // Directions of their own are rare; they would need a map of their own, too.
    let mut parts = text.split(',');
    let first = parts.next().unwrap_or_default();
    if parts.any(|part| part != first) {
        return Err(ValueError::Unsupported(
            "zones that differ by direction are not supported: give one list for all",
        ));
    }
    let share = |text: &str| match text.trim() {
        "" => Ok(None),
        text => units::percent(text).map(Some),
    };
    let mut zones = Vec::new();
    for zone in first.split(':').filter(|zone| !zone.trim().is_empty()) {
        let (accesses, space) = zone.split_once('/').unwrap_or((zone, ""));
        zones.push((share(accesses)?, share(space)?));
    }
    let wrong = |of: &'static str| move |sum: f64| ValueError::ZoneShares { of, sum };
    let accesses = shares(zones.iter().map(|zone| zone.0)).map_err(wrong("accesses"))?;
    let space = shares(zones.iter().map(|zone| zone.1)).map_err(wrong("sizes"))?;
    match zones.is_empty() {
        true => Err(ValueError::NoZones),
        false => Ok(Distribution::Zoned(accesses.into_iter().zip(space).collect())),
    }
}

/// `2,0,1`: numbers of blocks.
fn sequence(text: &str) -> Result<Distribution, ValueError> {
    let blocks: Vec<u64> = text.split(',').map(units::count).collect::<Result<_, _>>()?;
    match blocks.len() <= MOST_OF_A_SEQUENCE {
        true => Ok(Distribution::Sequence { blocks, strides: false }),
        false => Err(ValueError::Sequence(blocks.len())),
    }
}

/// `99.0:99.9`.
pub(super) fn percentiles(text: &str) -> Result<Vec<f64>, ValueError> {
    let list: Vec<f64> = text.split(':').map(units::percent).collect::<Result<_, _>>()?;
    match list.len() <= 20 && !list.is_empty() {
        true => Ok(list),
        false => Err(ValueError::Percentiles(list.len())),
    }
}

/// `5`, or `5-10`: a delay anywhere in it, for which its middle is taken, the same on every run.
pub(super) fn delay(text: &str) -> Result<Nanos, ValueError> {
    let second = Nanos::from_secs(1);
    match text.split_once('-') {
        None => units::time(text, second),
        Some((from, to)) => {
            let (from, to) = (units::time(from, second)?, units::time(to, second)?);
            if to < from {
                return Err(ValueError::Backwards(text.into()));
            }
            Ok(Nanos(from.0.midpoint(to.0)))
        }
    }
}

/// `iops:5%`, `bw_slope:0.1%`, `lat:10`.
pub(super) fn criterion(text: &str) -> Result<Criterion, ValueError> {
    let (name, limit) = text.split_once(':').unwrap_or((text, "0.01%"));
    let (watched, slope) = match name {
        "iops" => (Watched::Iops, false),
        "iops_slope" => (Watched::Iops, true),
        "bw" => (Watched::Bandwidth, false),
        "bw_slope" => (Watched::Bandwidth, true),
        "lat" => (Watched::Latency, false),
        "lat_slope" => (Watched::Latency, true),
        _ => {
            let choices = "iops, bw and lat, with or without _slope";
            return Err(ValueError::NoneOf { text: name.into(), choices });
        }
    };
    let (number, percent) = match limit.trim().strip_suffix('%') {
        Some(number) => (number, true),
        None => (limit, false),
    };
    match number.trim().parse::<f64>() {
        Ok(limit) if limit.is_finite() && limit > 0.0 => {
            Ok(Criterion { watched, slope, limit, percent })
        }
        _ => Err(ValueError::Limit { limit: limit.into(), name: name.into() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_that_are_missing_divide_the_rest() {
        let sizes = split("4k/10:64k/50:32k/40", 1024).expect("a split");
        let expected = vec![(4096, 10_000), (65_536, 50_000), (32_768, 40_000)];
        assert_eq!(sizes, BlockSizes::Split(expected));
        let sizes = split("4k/50:64k/:32k", 1024).expect("a split");
        let expected = vec![(4096, 50_000), (65_536, 25_000), (32_768, 25_000)];
        assert_eq!(sizes, BlockSizes::Split(expected));
        let BlockSizes::Split(thirds) = split("1k:2k:3k", 1024).expect("a split") else {
            panic!("a split");
        };
        assert_eq!(thirds.iter().map(|part| part.1).sum::<u32>(), PARTS);
        for nonsense in ["", "4k/60:8k/60", "4k/50:8k/40", "x/10:4k", "4k/x", "0/100"] {
            assert!(split(nonsense, 1024).is_err(), "{nonsense}");
        }
    }

    #[test]
    fn directions_take_what_is_theirs() {
        let parse = |text: &str| units::bytes(text, 1024);
        assert_eq!(by_direction("4k", parse), Ok([Some(4096); 3]));
        assert_eq!(by_direction("4k,8k", parse), Ok([Some(4096), Some(8192), Some(8192)]));
        assert_eq!(by_direction(",8k,", parse), Ok([None, Some(8192), None]));
        assert!(by_direction("1,2,3,4", parse).is_err());
    }

    #[test]
    fn patterns_have_runs_and_steps() {
        let rw = rw_with_run("randread:8", 1024).expect("a pattern");
        assert_eq!((rw.random, rw.run, rw.step_bytes), (true, 8, 0));
        let rw = rw_with_run("read:-8k", 1024).expect("a pattern");
        assert_eq!((rw.random, rw.run, rw.step_bytes), (false, 1, -8192));
        let error = rw_with_run("randred", 1024).expect_err("a slip");
        assert!(error.to_string().contains("did you mean randread?"), "{error}");
        assert!(rw_with_run("randread:0", 1024).is_err());
    }

    #[test]
    fn distributions_are_checked() {
        assert_eq!(distribution("zipf:1.2"), Ok(Distribution::Zipf(1.2)));
        assert_eq!(distribution("zipf:1.2:0.5"), Ok(Distribution::Zipf(1.2)));
        let zones = vec![(50.0, 5.0), (30.0, 15.0), (20.0, 80.0)];
        assert_eq!(distribution("zoned:50/5:30/15:20/"), Ok(Distribution::Zoned(zones)));
        for nonsense in [
            "zipf:0",
            "zipf:x",
            "zipf:-1",
            "zipf:nan",
            "pareto:1",
            "normal:101",
            "zoned:",
            "flat",
            "zoned:50/5:30/15",
            "sequence:1,x",
            "sequence:",
            "zoned:50/50:50/50,1/1:99/99",
        ] {
            assert!(distribution(nonsense).is_err(), "{nonsense}");
        }
    }
}
