//! What a finding has to say of a drive that is known, and whether times can tell.

use fourcorners_catalogue::{Model, Profile};
use fourcorners_drive::config::{LinkSection, SsdConfig, WhenSlcFull};

use crate::diagnose::{Finding, Standing, Value, write_buffer_most_bytes};

/// What is so.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Truth {
    /// A number, of which a finding may be off by this share.
    Number(f64, f64),
    /// A class.
    Class(&'static str),
    /// There is nothing of the kind: a number would be of something else.
    None,
}

impl Truth {
    /// In words.
    pub(super) fn words(&self) -> String {
        match self {
            Truth::Number(value, _) => number(*value),
            Truth::Class(class) => (*class).into(),
            Truth::None => "none".into(),
        }
    }
}

/// A number as it is shown: whole, or with three digits.
pub(super) fn number(value: f64) -> String {
    match value {
        whole if whole.fract() == 0.0 || whole >= 1000.0 => format!("{whole:.0}"),
        large if large >= 10.0 => format!("{large:.1}"),
        small => format!("{small:.3}"),
    }
}

/// The truth of a property, and whether the times of the drive can tell it by the closed forms below.
pub(super) fn of(profile: &Profile, key: &str) -> (Truth, bool) {
    let Model::Ssd(ssd) = &profile.model else {
        return match key {
            "kind" => (Truth::Class("disk"), true),
            _ => (Truth::None, false),
        };
    };
    let nand = &ssd.nand;
    let (page, planes) = (f64::from(nand.page_bytes), f64::from(nand.planes));
    match key {
        // What answers sooner may be memory behind something slow.
        "kind" => (Truth::Class("ssd"), read_us(ssd) > 15.0),
        "page_bytes" => (Truth::Number(page, 0.0), Borders::of(ssd).tell_the_page(ssd)),
        "row_bytes" => (Truth::Number(page * planes, 0.0), Borders::of(ssd).tell_the_row(ssd)),
        "write_buffer_kib" => write_buffer(ssd),
        "slc_cache_mib" => slc(ssd),
        "map_reach_gib" => map(ssd),
        _ => (Truth::None, false),
    }
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
        let hidden_us = link_us(ssd, 4096);
        let read_us = read_us(ssd);
        let meet_us =
            (transfer_us - array_us(ssd)).max(0.0) * f64::from(u8::from(nand.channels == 1));
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

/// Microseconds that the array takes for a page: what was written in order lies in the SLC buffer, if there is one.
fn array_us(ssd: &SsdConfig) -> f64 {
    ssd.slc_buffer.as_ref().map_or(ssd.nand.read_us, |slc| slc.read_us)
}

/// Microseconds of a read of 4 KiB.
fn read_us(ssd: &SsdConfig) -> f64 {
    let firmware_us = ssd.host.command_us + ssd.controller.read_command_us;
    let transfer_us = f64::from(ssd.nand.page_bytes) / ssd.nand.bus_mb_per_s;
    firmware_us + array_us(ssd) + transfer_us + link_us(ssd, 4096)
}

/// Microseconds of data on the link, without what a command adds.
fn link_us(ssd: &SsdConfig, bytes: u32) -> f64 {
    match &ssd.link {
        // Ten bits a byte, in frames of 8 KiB.
        LinkSection::Sata(sata) => {
            f64::from(bytes) / (sata.gbps * 100.0) + f64::from(bytes.div_ceil(8192)) * sata.frame_us
        }
        // 24 bytes more for each packet.
        LinkSection::Pcie(pcie) => {
            let gigabytes =
                [0.25, 0.5, 0.985, 1.97, 3.94][pcie.generation.clamp(1, 5) as usize - 1];
            let payload = f64::from(pcie.max_payload_bytes);
            f64::from(bytes) * (1.0 + 24.0 / payload) / (gigabytes * 1e3 * f64::from(pcie.lanes))
        }
    }
}

/// Microseconds that a command adds on the link.
fn link_command_us(ssd: &SsdConfig) -> f64 {
    match &ssd.link {
        LinkSection::Sata(sata) => sata.command_us,
        LinkSection::Pcie(_) => 0.0,
    }
}

/// Microseconds that a write of this many bytes takes at least if others follow it at once: the slower of link and
/// firmware.
fn write_us(ssd: &SsdConfig, bytes: u32) -> f64 {
    let controller = &ssd.controller;
    let link = link_us(ssd, bytes) + link_command_us(ssd);
    let firmware = controller.write_command_us + f64::from(bytes / 4096) * controller.write_4k_us;
    link.max(firmware).max(ssd.host.command_us)
}

/// The program time of what is written first.
fn program_us(ssd: &SsdConfig) -> f64 {
    ssd.slc_buffer.as_ref().map_or(ssd.nand.program_us, |slc| slc.program_us)
}

/// Rows that the buffer holds beside those that are being filled.
fn rows_in_buffer(ssd: &SsdConfig) -> u64 {
    let row = u64::from(ssd.nand.page_bytes) * u64::from(ssd.nand.planes);
    let filling = 1 + u64::from(ssd.slc_buffer.is_some()) + u64::from(ssd.streams.is_some());
    (u64::from(ssd.buffer.write_kib) * 1024 / row).saturating_sub(filling).max(1)
}

/// What the buffer takes: whole rows, without those that are being filled. It is seen if the link fills it before the first
/// row is programmed and noticed if it is more than a few writes, and no more than is written.
fn write_buffer(ssd: &SsdConfig) -> (Truth, bool) {
    let nand = &ssd.nand;
    let row = u64::from(nand.page_bytes) * u64::from(nand.planes);
    let rows = rows_in_buffer(ssd);
    let bytes = (rows * row) as f64;
    let fill_us = bytes / f64::from(16 << 10) * write_us(ssd, 16 << 10);
    let programmed_us = program_us(ssd) + row as f64 / nand.bus_mb_per_s;
    let most = write_buffer_most_bytes(ssd.capacity.sectors * 512) as f64;
    let told = !ssd.buffer.power_loss_protected
        && fill_us < 0.95 * programmed_us
        && fill_us + 80.0 < programmed_us + fill_us / rows as f64
        && bytes > f64::from(80 << 10)
        && bytes < most;
    (Truth::Number(bytes / 1024.0, 0.0), told)
}

/// 10^6 bytes a second that the flash takes, with so many microseconds a program: no more dies are at work than rows are in
/// the buffer.
fn flash_mb_per_s(ssd: &SsdConfig, program_us: f64) -> f64 {
    let nand = &ssd.nand;
    let row = f64::from(nand.planes * nand.page_bytes);
    let at_work = f64::from(nand.dies).min(rows_in_buffer(ssd) as f64);
    let by_program = at_work * row / (program_us + row / nand.bus_mb_per_s);
    by_program.min(f64::from(nand.channels) * nand.bus_mb_per_s)
}

/// Nothing excludes a cache that is never seen: without one nothing can be told.
fn slc(ssd: &SsdConfig) -> (Truth, bool) {
    let Some(slc) = &ssd.slc_buffer else { return (Truth::None, false) };
    let mib = slc.most_bytes(ssd) as f64 / f64::from(1 << 20);
    // The drive becomes slower where it ends, by more than the detector calls a drop.
    let block = 128 << 10;
    let link = f64::from(block) / write_us(ssd, block);
    let [fast, main] = [slc.program_us, ssd.nand.program_us].map(|us| flash_mb_per_s(ssd, us));
    // Until a block is read and programmed again the next waits, and all goes through both.
    let row = f64::from(ssd.nand.planes * ssd.nand.page_bytes);
    let moves =
        flash_mb_per_s(ssd, ssd.nand.program_us + slc.read_us + row / ssd.nand.bus_mb_per_s);
    let slow = match slc.when_full {
        WhenSlcFull::Direct => main,
        WhenSlcFull::Fold => 1.0 / (1.0 / fast + 1.0 / moves),
    };
    (Truth::Number(mib, 0.05), slow.min(link) < 0.85 * fast.min(link))
}

/// A map in memory for whole pages of it. A page has four bytes for each unit.
fn map(ssd: &SsdConfig) -> (Truth, bool) {
    let all = ssd.capacity.sectors as f64 * 512.0;
    let Some((map, kib)) = ssd.map.as_ref().and_then(|map| Some((map, map.memory_kib?))) else {
        return (Truth::None, true);
    };
    let unit = f64::from(map.unit_bytes.unwrap_or(4096));
    let page = u64::from(map.page_bytes.unwrap_or(ssd.nand.page_bytes));
    let reach = (u64::from(kib) * 1024 / page * page) as f64 / 4.0 * unit;
    let told = reach < 0.8 * all && reach > f64::from(48 << 20) && ssd.nand.read_us > 10.0;
    (Truth::Number(reach / f64::from(1 << 30), 0.05), told)
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
        (Standing::Undetermined, _, _) | (_, None, _) => (Grade::Undetermined, None),
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
