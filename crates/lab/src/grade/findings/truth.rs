//! What a finding has to say of a drive that is known, and whether times can tell.

use fourcorners_catalogue::{Model, Profile};
use fourcorners_drive::Ssd;
use fourcorners_drive::config::{SsdConfig, TrimMode, WhenSlcFull};

use crate::diagnose::{
    FLASH_US, Finding, LEAST_TRIM_GAIN, LEAST_TRIM_LOST, SPARE_FALL, Standing, Value,
    before_compression_bytes, region_bytes, spare_most_percent, write_buffer_most_bytes,
};

use super::rates::{self, RandomUs};

mod amplification;
mod collection;
mod dies;
mod mapping;
mod page_kinds;
mod told;

pub(super) use amplification::{Counted, count};
use told::KNOWN_TO;
pub(super) use told::{Told, Truth, number};

/// The truth of a property, and whether the times of the drive can tell it by the closed forms below. Of one that was `used`
/// before, nothing is told that needs an empty drive unless a TRIM leaves it empty. What a used drive writes is `counted`.
pub(super) fn of(
    profile: &Profile,
    key: &str,
    used: bool,
    counted: Option<Counted>,
) -> (Truth, Told) {
    let Model::Ssd(ssd) = &profile.model else {
        return match key {
            "kind" => (Truth::Class("disk"), Told::Yes),
            _ => (Truth::None, Told::No),
        };
    };
    let (truth, told) = match key {
        "dies" | "channels" | "stripe_bytes" => return dies::of(ssd, key),
        "kind" => (Truth::Class("ssd"), Told::Yes),
        "slc_cache_mib" => slc(ssd, used),
        "compression" => compression(ssd),
        "spare_percent" => spare(ssd),
        "trim" => trim(ssd),
        "page_kinds" => page_kinds::of(ssd),
        "map_unit_bytes" => map_unit(ssd),
        "suspension" => suspension(ssd),
        "mapping" | "log_areas" => mapping::of(ssd, key),
        "write_amplification" | "move_cost_us" => amplification::of(ssd, key, counted),
        "collection_idle" | "collection_pacing" => collection::of(ssd, key),
        _ => {
            let (truth, told) = of_ssd(ssd, key);
            (truth, told.into())
        }
    };
    // Nothing else is said of what may be memory.
    (truth, is_slower_than_memory(ssd).and(told))
}

fn of_ssd(ssd: &SsdConfig, key: &str) -> (Truth, bool) {
    let nand = &ssd.nand;
    let (page, planes) = (f64::from(nand.page_bytes), f64::from(nand.planes));
    match key {
        "page_bytes" => (Truth::Number(page, 0.0), Borders::of(ssd).tell_the_page(ssd)),
        "row_bytes" => (Truth::Number(page * planes, 0.0), Borders::of(ssd).tell_the_row(ssd)),
        "write_buffer_kib" => write_buffer(ssd),
        "map_reach_gib" => map(ssd),
        "compression_ratio" => compression_ratio(ssd),
        "read_ahead" => read_ahead(ssd),
        "trim_holds_up_reads" => trim_holds_up(ssd),
        _ => (Truth::None, false),
    }
}

/// What answers sooner may be memory behind something slow, unless a host adds to it. The quickest reads count, which are by a
/// quarter quicker than the mean where pages differ.
fn is_slower_than_memory(ssd: &SsdConfig) -> Told {
    if 0.75 * rates::read_us(ssd) > FLASH_US { Told::Yes } else { Told::Perhaps }
}

/// How much longer a read of two units takes than in one page, in shares of a read.
struct Borders {
    /// Where they are in two pages of a row: both come over the same wires one after the other, and what is not hidden by the
    /// first one's time on the link is seen.
    within: f64,
    /// Where they are in two rows: of dies on two channels nothing. On one channel a model's dies read at once and their
    /// transfers meet only if they are longer than that.
    of_rows: f64,
}

impl Borders {
    fn of(ssd: &SsdConfig) -> Borders {
        let nand = &ssd.nand;
        let transfer_us = f64::from(nand.page_bytes) / nand.bus_mb_per_s;
        let hidden_us = rates::link_us(ssd, 4096);
        let read_us = rates::read_us(ssd);
        let meet_us =
            (transfer_us - rates::array_us(ssd)).max(0.0) * f64::from(u8::from(nand.channels == 1));
        let seen = |us: f64| (us - hidden_us).max(0.0) / read_us;
        let within = if nand.planes > 1 { seen(transfer_us) } else { 0.0 };
        Borders { within, of_rows: seen(meet_us) }
    }

    /// A border of rows is taken for none if it costs less than half of one within; where there is no read without a
    /// border, it has to cost less.
    fn tell_the_row(&self, ssd: &SsdConfig) -> bool {
        let differ = match ssd.nand.page_bytes {
            4096 => self.within - self.of_rows > 0.01,
            _ => self.of_rows < 0.5 * self.within,
        };
        self.within > 0.01 && differ
    }

    /// There must be reads of two units that cross none.
    fn tell_the_page(&self, ssd: &SsdConfig) -> bool {
        self.tell_the_row(ssd) || self.within.max(self.of_rows) > 0.01 && ssd.nand.page_bytes > 4096
    }
}

/// The rest of a unit is read from the flash while the data comes over the link, which has to take less. No write may wait for
/// space in the buffer, and next to nothing of the region may still be in it. What is stored of a unit that compresses is read
/// from elsewhere. A map of first-generation drives has no units.
fn map_unit(ssd: &SsdConfig) -> (Truth, Told) {
    let unit = ssd.unit_bytes();
    let buffer = u64::from(ssd.buffer.write_kib) * 1024;
    let rest_us = rates::array_us(ssd) + f64::from(ssd.nand.page_bytes) / ssd.nand.bus_mb_per_s;
    let seen = Told::is_more(
        rest_us - rates::link_us(ssd, unit),
        2.0 * rest_us - rates::link_us(ssd, unit / 2),
        20.0,
    );
    let plain = ssd.compression.is_none()
        && buffer >= 256 << 10
        && 4 * buffer < region_bytes(ssd.capacity.sectors * 512);
    let told = match ssd.log_blocks {
        Some(_) => Told::Perhaps,
        None => seen.and(if plain { Told::Yes } else { Told::Perhaps }),
    };
    (Truth::Number(f64::from(unit), 0.0), told)
}

/// A program has to take much longer than it takes to make way, which has to be seen beside what is waited for on the wires: the
/// data of rows to dies of the same channel. Behind a cache there are programs of two kinds, and what folds it.
fn suspension(ssd: &SsdConfig) -> (Truth, Told) {
    let makes_way_us = ssd.nand_suspend.as_ref().and_then(|it| it.program_suspend_us);
    let nand = &ssd.nand;
    let row_us = f64::from(nand.page_bytes * nand.planes) / nand.bus_mb_per_s;
    let program_us = rates::program_us(ssd);
    let dies = f64::from(nand.dies) / f64::from(nand.channels);
    let plain = dies * row_us < 0.25 * program_us && program_us > 700.0 && ssd.slc_buffer.is_none();
    let flushes = !ssd.buffer.power_loss_protected;
    match makes_way_us {
        _ if !flushes => {
            (Truth::Class(if makes_way_us.is_some() { "yes" } else { "no" }), Told::No)
        }
        Some(us) => {
            let told = plain && us > 40.0 && us < 0.17 * program_us;
            (Truth::Class("yes"), if told { Told::Yes } else { Told::Perhaps })
        }
        None => (Truth::Class("no"), if plain { Told::Yes } else { Told::Perhaps }),
    }
}

/// What the buffer takes: whole rows, without those that are being filled. It is seen if the link fills it before the first
/// row is programmed and noticed if it is more than a few writes, and no more than is written.
fn write_buffer(ssd: &SsdConfig) -> (Truth, bool) {
    let nand = &ssd.nand;
    let row = u64::from(nand.page_bytes) * u64::from(nand.planes);
    let rows = rates::rows_in_buffer(ssd);
    let bytes = (rows * row) as f64;
    let fill_us = bytes / f64::from(16 << 10) * rates::write_us(ssd, 16 << 10);
    let programmed_us = rates::program_us(ssd) + row as f64 / nand.bus_mb_per_s;
    let most = write_buffer_most_bytes(ssd.capacity.sectors * 512) as f64;
    let told = !ssd.buffer.power_loss_protected
        && fill_us < 0.95 * programmed_us
        && fill_us + 80.0 < programmed_us + fill_us / rows as f64
        && bytes > f64::from(80 << 10)
        && bytes < most;
    (Truth::Number(bytes / 1024.0, 0.0), told)
}

/// Nothing excludes a cache that is never seen: without one nothing can be told. It is told of a drive that is empty and whose
/// reads say so.
fn slc(ssd: &SsdConfig, used: bool) -> (Truth, Told) {
    let Some(slc) = &ssd.slc_buffer else { return (Truth::None, Told::No) };
    let mib = slc.most_bytes(ssd) as f64 / f64::from(1 << 20);
    // The drive becomes slower where it ends, by more than the detector calls a drop.
    let link = rates::link_mb_per_s(ssd);
    let [fast, slow] = rates::before_and_behind_cache_mb_per_s(ssd);
    let [least, most] =
        [waits_to_fold(ssd) * slow, slow].map(|slow| fast.min(link) / slow.min(link));
    let drops = Told::is_more(most.min(least), most.max(least), 1.0 / 0.85);
    let is_empty = if used { empties(ssd) } else { shows_nothing(ssd) };
    (Truth::Number(mib, 0.05), drops.and(is_empty.into()))
}

/// The share of the closed form's rate that is left of writes behind a cache at least: of a cache that is folded, reads of a
/// block, programs of another and writes wait for each other at the ends of each, as far as one of them idles all of the time.
fn waits_to_fold(ssd: &SsdConfig) -> f64 {
    let folds = ssd.slc_buffer.as_ref().is_some_and(|slc| slc.when_full == WhenSlcFull::Fold);
    if folds { 0.5 } else { 1.0 }
}

/// A map in memory for whole pages of it. A page has four bytes for each unit.
fn map(ssd: &SsdConfig) -> (Truth, bool) {
    let all = ssd.capacity.sectors as f64 * 512.0;
    let Some(reach) = map_reach_bytes(ssd) else { return (Truth::None, true) };
    let told = reach < 0.8 * all && reach > f64::from(48 << 20) && ssd.nand.read_us > 10.0;
    (Truth::Number(reach / f64::from(1 << 30), 0.05), told)
}

/// Bytes of the drive that the map in its memory reaches; none where that is all of it.
fn map_reach_bytes(ssd: &SsdConfig) -> Option<f64> {
    let map = ssd.map.as_ref()?;
    let kib = map.memory_kib?;
    let unit = f64::from(map.unit_bytes.unwrap_or(4096));
    let page = u64::from(map.page_bytes.unwrap_or(ssd.nand.page_bytes));
    Some((u64::from(kib) * 1024 / page * page) as f64 / 4.0 * unit)
}

/// 10^6 bytes a second that the flash takes of data that does not compress when compression is looked for. The cache is full
/// by then: all of the drive was written to find the reach of the map, which leaves no free blocks to be one. Only one of
/// blocks of its own may be larger than what was written.
fn incompressible_mb_per_s(ssd: &SsdConfig) -> f64 {
    let [fast, slow] = rates::before_and_behind_cache_mb_per_s(ssd);
    let written = before_compression_bytes(ssd.capacity.sectors * 512);
    let fixed_mib = ssd.slc_buffer.as_ref().and_then(|slc| slc.fixed_mib).unwrap_or(0);
    if u64::from(fixed_mib) << 20 > written { fast } else { slow }
}

/// The flash has to limit what does not compress, and by enough that less of it is seen.
fn compression(ssd: &SsdConfig) -> (Truth, Told) {
    let class = if ssd.compression.is_some() { "yes" } else { "no" };
    let link = rates::link_mb_per_s(ssd);
    let rate = incompressible_mb_per_s(ssd);
    let told = Told::is_more(link / rate, link / (waits_to_fold(ssd) * rate), 1.12);
    (Truth::Class(class), told)
}

/// How many times as much is stored of a unit that does not compress as of one of which nine tenths can be removed. Told if
/// the flash limits also the latter; otherwise there is a bound.
fn compression_ratio(ssd: &SsdConfig) -> (Truth, bool) {
    let Some(section) = &ssd.compression else { return (Truth::None, false) };
    let unit = ssd.map.as_ref().and_then(|map| map.unit_bytes).unwrap_or(4096);
    let granules = |percent: u32| {
        let stored = (unit * percent).div_ceil(100) + section.overhead_bytes;
        f64::from(stored.div_ceil(section.granule_bytes))
    };
    let ratio = granules(100) / granules(section.least_stored_percent.max(10));
    let fastest = incompressible_mb_per_s(ssd) * ratio;
    (Truth::Number(ratio, 0.1), 1.1 * fastest < rates::link_mb_per_s(ssd))
}

/// What is fetched ahead spares a read the time of the flash, which has to be more than a tenth of it.
fn read_ahead(ssd: &SsdConfig) -> (Truth, bool) {
    let class = if ssd.controller.read_ahead_kib > 0 { "yes" } else { "no" };
    let link = rates::link_us(ssd, 4096) + rates::link_command_us(ssd);
    let firmware = ssd.host.command_us + ssd.controller.read_command_us;
    let all = rates::read_us(ssd);
    (Truth::Class(class), all - link - firmware > 0.2 * all)
}

/// What is spare for user data, with what a cache holds that has blocks of its own; what is written again before such a
/// cache is folded is never written to the rest. It is told if collection makes the drive slower when it begins. How much of a
/// cache of free blocks is in use, where data takes several times its space, depends on what was written before, so that
/// the truth is open there; and so it is where it is no more exact than a block of each die. And the drive has to be
/// emptied by a TRIM first, which is seen if a read of nothing is sooner than one of the flash.
fn spare(ssd: &SsdConfig) -> (Truth, Told) {
    let Ok(made) = Ssd::new(ssd) else { return (Truth::None, Told::No) };
    let user = ssd.capacity.sectors as f64 * 512.0;
    let fixed = made.fixed_slc_bytes() as f64 / user;
    let (mut in_free_blocks, mut absorbed) = (0.0, 0.0);
    if let Some(slc) = &ssd.slc_buffer {
        let dynamic = slc.most_bytes(ssd) as f64 / user - fixed;
        in_free_blocks = dynamic * f64::from(slc.cell_bits - 1);
        absorbed = if slc.when_full == WhenSlcFull::Fold { fixed } else { 0.0 };
    }
    let share = (made.effective_op() + fixed) / (1.0 - absorbed).max(0.1);
    // Half a point, or a twentieth of it.
    let tolerance = (0.005 / share).max(0.05);
    let block = ssd.raw_bytes() as f64 / f64::from(ssd.nand.blocks_per_plane) / user;
    if block + in_free_blocks > tolerance * share {
        return (Truth::Open, Told::Perhaps);
    }
    let [evenly, unevenly] = [1.0, 2.0].map(|uneven| rates::fall_at_collection(ssd, share, uneven));
    let told = match empties(ssd) && 100.0 * share < spare_most_percent() {
        true => Told::is_more(evenly / KNOWN_TO, unevenly * KNOWN_TO, SPARE_FALL),
        false => Told::No,
    };
    (Truth::Number(100.0 * share, tolerance), told)
}

/// Whether reads of places without data are visibly shorter: they need neither the flash array nor its bus, which shows unless
/// the link takes as long.
fn shows_nothing(ssd: &SsdConfig) -> bool {
    let flash_us = rates::array_us(ssd) + f64::from(ssd.nand.page_bytes) / ssd.nand.bus_mb_per_s;
    let shorter_us = flash_us - ssd.controller.unwritten_read_us.unwrap_or(0.0);
    ssd.nand.reads_unwritten != Some(true) && shorter_us > 0.1 * rates::read_us(ssd)
}

/// Whether a TRIM leaves nothing of a drive, and its reads say so.
fn empties(ssd: &SsdConfig) -> bool {
    let trim = &ssd.trim;
    let frees_all = trim.supported
        && trim.mode != Some(TrimMode::Ignored)
        && trim.partial_percent.is_none_or(|percent| percent == 100.0)
        && trim.deferred_s.is_none_or(|seconds| seconds < 60.0);
    frees_all && shows_nothing(ssd)
}

/// A TRIM of half of the drive has to make it faster, if it works; and that it does not, is told where a drive that was only
/// filled is faster. Theory is of dies that fill evenly; of dies that do not, the fullest is waited for, and twice as much is
/// moved at most. What lies between both may be told or not.
fn trim(ssd: &SsdConfig) -> (Truth, Told) {
    if !ssd.trim.supported {
        return (Truth::Class("not offered"), Told::Yes);
    }
    let ignores = ssd.trim.mode == Some(TrimMode::Ignored);
    let us = [1.0, 2.0].map(|uneven| RandomUs::of(ssd, uneven));
    let (class, least, of): (_, _, Vec<f64>) = match ignores {
        true => {
            ("does nothing", LEAST_TRIM_LOST, us.iter().map(|us| us.used / us.filled).collect())
        }
        false => {
            let gains = us.iter().flat_map(|us| us.trimmed.map(|trimmed| us.used / trimmed));
            ("works", LEAST_TRIM_GAIN, gains.collect())
        }
    };
    let (low, high) =
        (of.iter().copied().fold(f64::INFINITY, f64::min), of.iter().copied().fold(0.0, f64::max));
    let told = Told::is_more(low / KNOWN_TO, high * KNOWN_TO, least);
    (Truth::Class(class), told.and(shows_nothing(ssd).into()))
}

/// A read waits for as long as the controller is at work on a TRIM, or the drive on nothing else. Where not all of the map is
/// in memory a TRIM reads and programs pages of it, and how long reads wait for those depends on where they lie.
fn trim_holds_up(ssd: &SsdConfig) -> (Truth, bool) {
    if !ssd.trim.supported {
        return (Truth::None, false);
    }
    let bytes = ssd.capacity.sectors as f64 * 512.0 / 64.0;
    let value = |key: Option<f64>| key.unwrap_or(0.0);
    let waits = match ssd.trim.mode {
        Some(TrimMode::Blocking) => {
            value(ssd.trim.command_us) + value(ssd.trim.us_per_mib) * bytes / f64::from(1 << 20)
        }
        Some(TrimMode::Queued) => value(ssd.trim.range_us) * (bytes / (65_535.0 * 512.0)).ceil(),
        _ => 0.0,
    };
    let has_all_of_map = ssd.map.as_ref().and_then(|map| map.memory_kib).is_none();
    let is_alone = matches!(ssd.trim.mode, Some(TrimMode::Blocking | TrimMode::Ignored));
    if !has_all_of_map && !is_alone {
        return (Truth::Open, false);
    }
    let times = 1.0 + waits / rates::read_us(ssd);
    let class = if times >= 5.0 { "yes" } else { "no" };
    (Truth::Class(class), !(2.3..5.5).contains(&times))
}

/// How a finding stands to the truth.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Grade {
    /// Determined, and so.
    Right,
    /// Determined, or bound, and not so; or a guess where the times cannot tell.
    Wrong,
    /// Not determined.
    Undetermined,
}

/// The grade of a finding, and whether its interval holds the truth where it has one.
pub(super) fn grade(finding: &Finding, truth: &Truth) -> (Grade, Option<bool>) {
    match (finding.standing, &finding.value, truth) {
        (Standing::Undetermined, _, _) | (_, None, _) | (_, _, Truth::Open) => {
            (Grade::Undetermined, None)
        }
        // All that was looked at is below the bound: right for what is not there.
        (Standing::Bound, Some(_), Truth::None) => (Grade::Right, None),
        (Standing::Bound, Some(Value::Number(least)), Truth::Number(truth, _)) => {
            (if truth >= least { Grade::Undetermined } else { Grade::Wrong }, None)
        }
        (Standing::Determined, Some(Value::Class(class)), Truth::Class(truth)) => {
            (if class == truth { Grade::Right } else { Grade::Wrong }, None)
        }
        (Standing::Determined, Some(Value::Number(value)), Truth::Number(truth, share)) => {
            let [low, high] = finding.interval.unwrap_or([*value, *value]);
            let inside = low <= *truth && *truth <= high;
            let near = (value - truth).abs() <= share * truth;
            (if near || inside { Grade::Right } else { Grade::Wrong }, Some(inside))
        }
        _ => (Grade::Wrong, None),
    }
}
