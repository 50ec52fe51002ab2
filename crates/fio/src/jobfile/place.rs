//! The part of a target that a job covers, and the amount it moves there.

use fourcorners_drive::Geometry;
use fourcorners_run::streams::{BlockSizes, Direction, Zones};

use super::described::Described;
use super::error::JobFileError;
use super::units::Size;

/// Most memory for maps of blocks.
pub(super) const MOST_MAP_BYTES: u64 = 1 << 30;

/// The part of a target that a job covers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) start_bytes: u64,
    pub(super) bytes: u64,
    /// What it moves in all, without a time limit.
    pub(super) amount_bytes: u64,
    pub(super) align_bytes: [u32; 3],
    pub(super) zones: Option<Zones>,
}

/// What was cut down to the target, to be said once.
#[derive(Default)]
pub(super) struct Warnings {
    larger: Option<(u64, u64)>,
}

impl Warnings {
    pub(super) fn into_sentences(self) -> impl Iterator<Item = String> {
        self.larger.into_iter().map(|(asked, there)| {
            format!(
                "size={asked} is more than the {there} bytes there are: all of these are covered \
                 instead"
            )
        })
    }
}

/// The span of a job's copy, from 0, on a target.
pub(super) fn span(
    described: &Described,
    geometry: Geometry,
    copy: u32,
    warnings: &mut Warnings,
) -> Result<Span, JobFileError> {
    let options = &described.options;
    let whole = geometry.bytes();
    let block = u64::from(geometry.logical_block_bytes);
    let operations = described.operations();
    let own = || Direction::ALL.into_iter().filter(|&direction| operations.has(direction));
    let sizes: Vec<&BlockSizes> =
        own().map(|direction| &options.blocks[direction as usize]).collect();
    for size in &sizes {
        check_blocks(described, size, block)?;
    }
    let most = u64::from(sizes.iter().map(|size| size.most()).max().unwrap_or(0));
    let align_bytes = Direction::ALL.map(|direction| {
        let least = || options.blocks[direction as usize].least();
        options.align_bytes[direction as usize].unwrap_or_else(least)
    });
    let of_jobs = || own().map(|direction| align_bytes[direction as usize]);
    if let Some(wrong) = of_jobs().find(|align| !u64::from(*align).is_multiple_of(block)) {
        let what = format!("blockalign={wrong} is not a multiple of the logical block, {block}");
        return Err(described.wrong(&["blockalign", "ba"], what));
    }
    let least = of_jobs().min().unwrap_or(0);
    if !options.rw.step_bytes.unsigned_abs().is_multiple_of(block) {
        let what = format!("the step of rw is not a multiple of the logical block, {block}");
        return Err(described.wrong(&["rw", "readwrite"], what));
    }
    let increment = options.offset_increment.of(whole).saturating_mul(u64::from(copy));
    let mut start = options.offset.of(whole).saturating_add(increment);
    // A share of a drive rarely is a multiple of its blocks.
    let shares = [options.offset, options.offset_increment];
    let a_share = shares.iter().any(|size| matches!(size, Size::Percent(_)));
    let unit = options.offset_align.max(if a_share { u64::from(least) } else { 1 });
    start -= start % unit.max(1);
    if !start.is_multiple_of(block) {
        let what = format!("offset={start} is not a multiple of the logical block, {block}");
        return Err(described.wrong(&["offset", "offset_increment"], what));
    }
    let room = whole.saturating_sub(start);
    if room < most {
        let what = format!(
            "offset={start} leaves no room for a block of {most} bytes: the target has {whole}"
        );
        return Err(described.wrong(&["offset", "offset_increment", "bs", "numjobs"], what));
    }
    let asked = options.size.map_or(room, |size| match size {
        Size::Percent(_) => size.of(whole).min(room),
        Size::Bytes(bytes) => bytes,
    });
    if asked > room {
        warnings.larger.get_or_insert((asked, room));
    }
    let bytes = asked.min(room);
    let bytes = bytes - bytes % block;
    if bytes < most {
        let what = format!("size={asked} is less than a block of {most} bytes");
        return Err(described.wrong(&["size"], what));
    }
    // As in fio 0 is not given, and the last block is a whole one: io_size=1 moves a block, and
    // io_size=5000 two of 4096 bytes. That is of all loops together.
    let given = options.io_size.map(|size| size.of(whole)).filter(|&amount| amount > 0);
    let amount_bytes = match given {
        Some(amount) => {
            let smallest = sizes.iter().map(|size| u64::from(size.least())).min().unwrap_or(1);
            let amount = amount.saturating_mul(options.loops).max(most);
            amount.checked_next_multiple_of(smallest.max(1)).unwrap_or(amount)
        }
        None => bytes.saturating_mul(options.loops),
    };
    let zones = zones(described, bytes, block)?;
    if let Some(furthest) = options.distribution.furthest().filter(|_| options.rw.random) {
        // Of the largest there are the fewest.
        let unit = of_jobs().max().unwrap_or(0).max(1);
        let blocks = zones.map_or(bytes, |zones| zones.bytes) / u64::from(unit);
        if furthest >= blocks {
            let what = format!(
                "random_distribution: there is no block {furthest}: {blocks} of {unit} bytes are numbered from 0"
            );
            return Err(described.wrong(&["random_distribution"], what));
        }
    }
    Ok(Span { start_bytes: start, bytes, amount_bytes, align_bytes, zones })
}

fn check_blocks(described: &Described, sizes: &BlockSizes, block: u64) -> Result<(), JobFileError> {
    let one = |bytes: u32| u64::from(bytes).is_multiple_of(block);
    let fits = match sizes {
        BlockSizes::One(bytes) => one(*bytes),
        BlockSizes::Range(least, most) => one(*least) && one(*most),
        BlockSizes::Split(split) => split.iter().all(|(bytes, _)| one(*bytes)),
    };
    match fits {
        true => Ok(()),
        false => {
            let what =
                format!("blocks have to be multiples of the target's logical block, {block} bytes");
            let keys = ["bs", "blocksize", "bssplit", "bsrange", "blocksize_range"];
            Err(described.wrong(&keys, what))
        }
    }
}

fn zones(described: &Described, bytes: u64, block: u64) -> Result<Option<Zones>, JobFileError> {
    let options = &described.options;
    if !options.strided {
        return Ok(None);
    }
    let range = match options.zone_range_bytes {
        0 => options.zone_bytes,
        range => range,
    };
    let zones = Zones {
        moved_bytes: options.zone_bytes,
        bytes: range,
        skip_bytes: options.zone_skip_bytes,
    };
    let whole = [zones.bytes, zones.skip_bytes].iter().all(|size| size.is_multiple_of(block));
    match zones.moved_bytes > 0 && whole && (block..=bytes).contains(&zones.bytes) {
        true => Ok(Some(zones)),
        false => {
            let what = format!(
                "zonesize={}, zonerange={} and zoneskip={} do not fit {bytes} bytes in blocks of \
                 {block}",
                zones.moved_bytes, zones.bytes, zones.skip_bytes
            );
            Err(described.wrong(&["zonesize", "zonerange", "zoneskip", "zonemode"], what))
        }
    }
}
