//! Moves one value after the other until runs meet the sheet.

use fourcorners_catalogue::{self as catalogue, Model, Profile};
use fourcorners_drive::config::LinkSection;
use fourcorners_record::{Data, Job, Pattern, Until};
use fourcorners_run::Unobserved;

use super::{DataSheet, NewDriveError, SheetFigure};
use crate::drive::Drive;

/// Rounds over all figures: moving one value moves others' figures a little.
const MOST_ROUNDS: usize = 4;
/// A figure as near as this is left alone.
const ENOUGH: f64 = 0.015;
/// Halvings of a bracket.
const MOST_HALVINGS: usize = 12;
/// A drive of this many user bytes is as fast as a larger one of as many dies, and takes less memory.
const SOLVED_BYTES: u64 = 16 << 30;
const SPAN_BYTES: u64 = 1 << 30;
const RANDOM_BLOCK: u32 = 4096;
const SEQUENTIAL_BLOCK: u32 = 131_072;

/// A value that moves a figure.
struct Lever {
    key: &'static str,
    /// Whether a larger value makes the drive faster.
    is_rate: bool,
}

const fn time(key: &'static str) -> Lever {
    Lever { key, is_rate: false }
}

/// The values that move a figure, the first that does it alone first.
fn levers(figure: SheetFigure) -> &'static [Lever] {
    const BUS: Lever = Lever { key: "nand.bus_mb_per_s", is_rate: true };
    match figure {
        SheetFigure::ReadLatency => const { &[time("nand.read_us")] },
        SheetFigure::Read => const { &[time("controller.read_4k_us"), BUS] },
        SheetFigure::Write => {
            const { &[time("controller.write_4k_us"), time("nand.program_us"), BUS] }
        }
        SheetFigure::ReadIops => {
            const { &[time("controller.read_command_us"), time("controller.read_4k_us")] }
        }
        SheetFigure::WriteIops => {
            const {
                &[
                    time("controller.write_command_us"),
                    time("nand.program_us"),
                    time("controller.write_4k_us"),
                ]
            }
        }
    }
}

/// In this order, since what comes later moves what came before the least.
const ORDER: [SheetFigure; 5] = [
    SheetFigure::ReadLatency,
    SheetFigure::Read,
    SheetFigure::Write,
    SheetFigure::ReadIops,
    SheetFigure::WriteIops,
];

/// The settings that meet the sheet as well as they can, those of `scale` among them.
pub(super) fn solve(
    sheet: &DataSheet,
    like: &str,
    scale: &[(String, String)],
    go_on: &mut dyn FnMut(&str) -> bool,
) -> Result<Vec<(String, String)>, NewDriveError> {
    // It has to be possible at its own size before its figures are looked for.
    let set: Vec<String> = scale.iter().map(|(key, value)| format!("{key}={value}")).collect();
    catalogue::built_in(like, &set)?;
    let mut search = Search { like, scale, small: small(like, scale), moved: Vec::new() };
    'rounds: for _ in 0..MOST_ROUNDS {
        let mut all_met = true;
        for figure in ORDER {
            let wanted = sheet.wanted.iter().find(|(it, _)| *it == figure);
            let Some(&(_, wanted)) = wanted else { continue };
            for lever in levers(figure) {
                if !go_on(figure.name()) {
                    break 'rounds;
                }
                let near = search.distance(figure, wanted).is_some_and(|it| it.abs() <= ENOUGH);
                if near {
                    break;
                }
                all_met = false;
                search.move_lever(lever, figure, wanted);
            }
        }
        if all_met {
            break;
        }
    }
    let moved = search.moved.into_iter().map(|(key, value)| (key.to_string(), shown(value)));
    Ok(scale.iter().cloned().chain(moved).collect())
}

/// A value as it is written: four digits are more than any sheet gives.
fn shown(value: f64) -> String {
    match value {
        0.0 => "0.0".into(),
        _ => {
            let digits = (3 - value.abs().log10().floor() as i32).clamp(1, 6) as usize;
            format!("{value:.digits$}")
        }
    }
}

struct Search<'a> {
    like: &'a str,
    scale: &'a [(String, String)],
    /// The same drive with fewer blocks, where such a one is possible.
    small: Option<Vec<(String, String)>>,
    moved: Vec<(&'static str, f64)>,
}

impl Search<'_> {
    fn profile(&self) -> Option<Profile> {
        let of = |scale: &[(String, String)]| {
            let moved = self.moved.iter().map(|(key, value)| format!("{key}={}", shown(*value)));
            let set: Vec<String> =
                scale.iter().map(|(key, value)| format!("{key}={value}")).chain(moved).collect();
            catalogue::built_in(self.like, &set).ok()
        };
        of(self.small.as_deref().unwrap_or(self.scale))
    }

    /// By how much the drive is too fast, as a logarithm; `None` where it is no drive.
    fn distance(&self, figure: SheetFigure, wanted: f64) -> Option<f64> {
        let measured = measured(&self.profile()?, figure);
        let too_fast = (measured / wanted).ln();
        Some(if figure == SheetFigure::ReadLatency { -too_fast } else { too_fast })
    }

    fn value(&self, key: &str) -> f64 {
        let moved = self.moved.iter().find(|(moved, _)| *moved == key).map(|(_, value)| *value);
        let written = || {
            let profile = self.profile()?;
            let value = profile.values.iter().find(|value| value.key == key)?;
            value.value.as_float().or_else(|| value.value.as_integer().map(|it| it as f64))
        };
        moved.or_else(written).unwrap_or(0.0)
    }

    fn set(&mut self, key: &'static str, value: f64) {
        self.moved.retain(|(moved, _)| *moved != key);
        self.moved.push((key, value));
    }

    /// Moves a value until the figure is met, or to where it is nearest.
    fn move_lever(&mut self, lever: &Lever, figure: SheetFigure, wanted: f64) {
        let before = self.moved.clone();
        let start = self.value(lever.key).max(0.01);
        let Some(at_start) = self.distance(figure, wanted) else { return };
        let mut best = (at_start.abs(), None);
        let mut try_at = |search: &mut Self, value: f64| {
            search.set(lever.key, value);
            let distance = search.distance(figure, wanted)?;
            if distance.abs() < best.0 - 1e-9 {
                best = (distance.abs(), Some(value));
            }
            Some(distance)
        };
        // A value on the other side of the target.
        let faster = (at_start < 0.0) == lever.is_rate;
        let factor: f64 = if faster { 4.0 } else { 0.25 };
        let mut near = start;
        let mut far = None;
        for power in 1..=5 {
            let value = start * factor.powi(power);
            match try_at(self, value) {
                Some(distance) if (distance < 0.0) != (at_start < 0.0) => {
                    far = Some(value);
                    break;
                }
                Some(_) => near = value,
                None => break,
            }
        }
        if let Some(mut far) = far {
            for _ in 0..MOST_HALVINGS {
                let middle = (near * far).sqrt();
                match try_at(self, middle) {
                    Some(distance) if distance.abs() <= ENOUGH / 2.0 => break,
                    Some(distance) if (distance < 0.0) == (at_start < 0.0) => near = middle,
                    Some(_) => far = middle,
                    None => break,
                }
            }
        }
        self.moved = before;
        if let Some(value) = best.1 {
            self.set(lever.key, value);
        }
    }
}

/// The drive with the user space that is needed for its figures, and blocks in proportion.
fn small(like: &str, scale: &[(String, String)]) -> Option<Vec<(String, String)>> {
    let number = |name: &str| scale.iter().find(|(key, _)| key == name)?.1.parse::<f64>().ok();
    let sectors = number("capacity.sectors")?;
    let share = SOLVED_BYTES as f64 / (sectors * 512.0);
    if share >= 1.0 {
        return None;
    }
    // A quarter more, because what collection keeps free does not shrink with the drive.
    let blocks = (number("nand.blocks_per_plane")? * share * 1.25).ceil() + 8.0;
    let small: Vec<(String, String)> = scale
        .iter()
        .map(|(key, value)| {
            let value = match key.as_str() {
                "capacity.sectors" => ((SOLVED_BYTES / 4096) * 8).to_string(),
                "nand.blocks_per_plane" => format!("{blocks:.0}"),
                _ => value.clone(),
            };
            (key.clone(), value)
        })
        .collect();
    let set: Vec<String> = small.iter().map(|(key, value)| format!("{key}={value}")).collect();
    catalogue::built_in(like, &set).is_ok().then_some(small)
}

/// I/Os in flight of a figure's run.
pub(super) fn depth(figure: SheetFigure, profile: &Profile) -> u32 {
    let deep = match &profile.model {
        Model::Ssd(ssd) if matches!(ssd.link, LinkSection::Sata(_)) => 32,
        _ => 128,
    };
    let most = profile.geometry().queue_depth;
    if figure == SheetFigure::ReadLatency { 1 } else { deep.min(most) }
}

/// What a run of a figure gives on a new drive of a profile.
pub(super) fn measured(profile: &Profile, figure: SheetFigure) -> f64 {
    let mut drive = Drive::from_profile(profile);
    let geometry = profile.geometry();
    let block = u64::from(SEQUENTIAL_BLOCK);
    let span_bytes = SPAN_BYTES.min(geometry.bytes() / block * block);
    let depth = depth(figure, profile);
    let job = |pattern: Pattern, read_percent: u8, queue_depth: u32, until: Until| Job {
        pattern,
        read_percent,
        block_bytes: match pattern {
            Pattern::Random => RANDOM_BLOCK,
            Pattern::Sequential => SEQUENTIAL_BLOCK,
        },
        queue_depth,
        span_start_bytes: 0,
        span_bytes,
        data: Data::Incompressible,
        until,
        seed: 1,
        fua: false,
        flush: false,
        jobs: 1,
    };
    let fill_depth = geometry.queue_depth.min(32);
    let fill = job(Pattern::Sequential, 0, fill_depth, Until::Bytes(span_bytes));
    drive.run(&fill, &mut Unobserved);
    // A virtual drive always can.
    let _ = drive.settle();
    let (pattern, reads) = match figure {
        SheetFigure::Read => (Pattern::Sequential, 100),
        SheetFigure::Write => (Pattern::Sequential, 0),
        SheetFigure::ReadIops | SheetFigure::ReadLatency => (Pattern::Random, 100),
        SheetFigure::WriteIops => (Pattern::Random, 0),
    };
    let measured =
        drive.run(&job(pattern, reads, depth, Until::Seconds(1)), &mut Unobserved).measured;
    let seconds = measured.elapsed.as_secs().max(1e-9);
    match figure {
        SheetFigure::ReadLatency => measured.latency.mean() / 1e3,
        SheetFigure::Read | SheetFigure::Write => measured.bytes as f64 / 1e6 / seconds,
        SheetFigure::ReadIops | SheetFigure::WriteIops => measured.latency.count() as f64 / seconds,
    }
}
