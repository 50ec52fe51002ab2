//! Reviews of virtual drives side by side: as many at a time as there are CPUs and memory.

use std::convert::Infallible;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use fourcorners_catalogue::{Model, Profile};
use fourcorners_drive::Geometry;
use fourcorners_drive::config::{FlashSection, PortTrim, SsdConfig};
use fourcorners_machine::{host, workers};
use fourcorners_record::{
    Ended, FlashRating, HostTrim, Record, Retention, TargetInfo, TargetKind, Variation,
};
use fourcorners_words::size;

use crate::drive::Drive;
use crate::review::{
    Bench, Medium, Method, Past, Phase, Protocol, Reviewed, Scope, Shelf, Watch, longest_first,
    plans, review,
};

/// Of the memory that is available, what virtual drives may take.
const SHARE_OF_MEMORY: f64 = 0.9;

/// A virtual drive that is to be reviewed, and how.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The drive.
    pub profile: Profile,
    /// The methods, in their order.
    pub methods: Vec<Method>,
    /// Seconds instead of minutes, and no used state.
    pub quick: bool,
    /// Percent of the drive's space, at its end, that is never touched.
    pub spare_percent: f64,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Most I/Os of each trace of the storage bench; `None` for what the method has.
    pub most_ios: Option<u64>,
}

impl Wanted {
    fn plans(&self) -> Vec<Vec<Phase>> {
        let medium = match self.profile.model {
            Model::Ssd(_) => Medium::Ssd,
            Model::Hdd(_) => Medium::HardDisk,
        };
        let scope = Scope {
            geometry: self.profile.geometry(),
            spare_percent: self.spare_percent,
            quick: self.quick,
            seed: self.seed,
            medium,
            most_ios: self.most_ios,
        };
        let protocols: Vec<Protocol> = self.methods.iter().copied().map(Protocol::from).collect();
        // Only a plan file may not fit a drive.
        plans(&protocols, &scope).expect("our own methods fit every drive")
    }
}

/// Reviews all of them, a new drive each: one record for each drive and method, in that order,
/// whatever the order they are finished in and however many are run at a time. `watch` is asked for
/// a watch of the review of this drive by this method. Once one of them stops, no other is begun;
/// those have no record.
pub fn review_all<W: Watch>(
    wanted: &[Wanted],
    watch: &(dyn Fn(&Wanted, Method) -> W + Sync),
) -> Vec<Record> {
    let plans: Vec<Vec<Vec<Phase>>> = wanted.iter().map(Wanted::plans).collect();
    let shelf = |keep| {
        move |(wanted, plans): (&'_ Wanted, &Vec<Vec<Phase>>)| {
            let profile = wanted.profile.clone();
            shelf(&wanted.profile, plans, keep, move || Drive::from_profile(&profile))
        }
    };
    let needs: Vec<Need> = wanted
        .iter()
        .zip(&plans)
        .map(|(wanted, plans)| Need {
            drive: wanted.profile.memory_bytes(),
            kept: shelf(true)((wanted, plans)).map_or(0, |shelf| shelf.most_kept()),
            methods: plans.len(),
        })
        .collect();
    let room = Room::here(&needs);
    let shelves: Vec<Option<Shelf<'_>>> = wanted.iter().zip(&plans).map(shelf(room.keep)).collect();
    // A drive's methods one after the other, so that its states are wanted at the same time.
    let work: Vec<(usize, usize, Mutex<Option<Record>>)> = plans
        .iter()
        .enumerate()
        .flat_map(|(drive, plans)| {
            let order = longest_first(plans.iter()).into_iter();
            order.map(move |method| (drive, method, Mutex::default()))
        })
        .collect();
    let stopped = AtomicBool::new(false);
    let one = |(drive, method, slot): &(usize, usize, Mutex<Option<Record>>)| {
        if stopped.load(Ordering::Relaxed) {
            return Ok::<(), Infallible>(());
        }
        let (wanted, plan) = (&wanted[*drive], plans[*drive][*method].clone());
        let method = wanted.methods[*method];
        let reviewed = Reviewed {
            protocol: method.into(),
            plan,
            quick: wanted.quick,
            seed: wanted.seed,
            target: target_info(&wanted.profile, wanted.profile.geometry()),
            host: None,
            health: None,
            erase: None,
        };
        let watch = &mut watch(wanted, method);
        let record = match &shelves[*drive] {
            Some(shelf) => review(reviewed, &mut Bench::Shelf(shelf), None, watch),
            None => {
                let mut drive = Drive::from_profile(&wanted.profile);
                let past = &mut Past::default();
                review(reviewed, &mut Bench::One(&mut drive, past), None, watch)
            }
        };
        if record.ended == Ended::Interrupted {
            stopped.store(true, Ordering::Relaxed);
        }
        *slot.lock().expect("no holder panics") = Some(record);
        Ok(())
    };
    let Ok(()) = workers::each(&work, room.workers, one);
    let mut work = work;
    work.sort_unstable_by_key(|&(drive, method, _)| (drive, method));
    let slots = work.into_iter().map(|(_, _, slot)| slot);
    slots.into_iter().filter_map(|slot| slot.into_inner().expect("no holder panics")).collect()
}

/// The states of a virtual SSD, if a purge makes it new. It does not where flash wears out: such a
/// drive goes through each method as one.
pub fn shelf<'a>(
    profile: &Profile,
    plans: &[Vec<Phase>],
    keep: bool,
    new: impl Fn() -> Drive + Sync + 'a,
) -> Option<Shelf<'a>> {
    let Model::Ssd(ssd) = &profile.model else { return None };
    ssd.wear.is_none().then(|| Shelf::new(plans, keep, new))
}

/// What the record of a virtual drive of this geometry says of it, as long as it is new.
pub fn target_info(profile: &Profile, geometry: Geometry) -> TargetInfo {
    TargetInfo {
        name: profile.name.clone(),
        title: profile.title.clone(),
        kind: TargetKind::Virtual,
        capacity_bytes: geometry.bytes(),
        logical_block_bytes: geometry.logical_block_bytes,
        direct: None,
        model: None,
        serial: None,
        firmware: None,
        profile_hash: Some(profile.hash()),
        rated_cycles: match &profile.model {
            Model::Ssd(ssd) => rated_cycles(ssd),
            Model::Hdd(_) => None,
        },
        flash: match &profile.model {
            Model::Ssd(ssd) => ssd.flash.as_ref().map(flash_rating),
            Model::Hdd(_) => None,
        },
        fitted: profile.fitted(),
        variation: variation(profile),
        set: profile.set.clone(),
        host_controller: profile.host_controller.clone(),
        host_trim: profile.host_trim.map(host_trim),
        loaded_state: None,
    }
}

/// Whether its times vary, and whether anything of how was fitted to it.
fn variation(profile: &Profile) -> Option<Variation> {
    let Model::Ssd(ssd) = &profile.model else { return None };
    ssd.variation_that_is_on()?;
    let fitted = profile.fitted().iter().any(|key| key.starts_with("variation."));
    Some(if fitted { Variation::Fitted } else { Variation::Inferred })
}

fn host_trim(trim: PortTrim) -> HostTrim {
    match trim {
        PortTrim::Passed => HostTrim::Passed,
        PortTrim::Dropped => HostTrim::Dropped,
        PortTrim::Refused => HostTrim::Refused,
        PortTrim::Unknown => HostTrim::Unknown,
    }
}

/// The cycles that its blocks bear in the model, else those that its flash is rated for.
pub(crate) fn rated_cycles(ssd: &SsdConfig) -> Option<u32> {
    let modelled = ssd.wear.as_ref().map(|wear| wear.endurance_cycles);
    let rated = || ssd.flash.as_ref()?.rated_cycles;
    modelled.or_else(rated)
}

fn flash_rating(flash: &FlashSection) -> FlashRating {
    let retention = || {
        Some(Retention {
            days: flash.retention_days?,
            celsius: flash.retention_celsius?,
            activation_ev: flash.activation_ev?,
        })
    };
    FlashRating {
        cells: flash.cells.name().into(),
        rated_tb: flash.rated_tb,
        retention: retention(),
    }
}

/// Refuses drives that would bring this machine to its knees, where so many are in memory at a time:
/// the largest of them, in bytes, count.
///
/// # Errors
/// Says how much they would take and how much there is.
pub fn check_memory(mut needs: Vec<u64>, at_a_time: usize) -> Result<(), String> {
    needs.sort_unstable();
    let need: u64 = needs.iter().rev().take(at_a_time).sum();
    match host::available_memory_bytes() {
        Some(available) if need > available => Err(format!(
            "the virtual drives would take {} of memory, and {} is available: take fewer at a time, \
             or smaller ones",
            size(need),
            size(available)
        )),
        _ => Ok(()),
    }
}

/// How many virtual drives are in memory at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    /// Drives that are tested at a time.
    pub workers: usize,
    /// Whether states are kept for the next that wants them.
    pub keep: bool,
}

impl Room {
    /// The room on this machine.
    pub fn here(needs: &[Need]) -> Room {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let most = host::available_memory_bytes().map(|bytes| bytes as f64 * SHARE_OF_MEMORY);
        Room::within(needs, workers, most.map_or(u64::MAX, |most| most as u64))
    }

    /// As many workers as have room; if there is none even for one and what it keeps, one.
    fn within(needs: &[Need], most_workers: usize, most_bytes: u64) -> Room {
        let fits = |workers: usize| {
            // Work is taken drive by drive, so no more drives are begun than there are workers;
            // one more may still be keeping states.
            let kept = needs.iter().map(|need| need.drive * need.kept as u64);
            let drives =
                needs.iter().flat_map(|need| std::iter::repeat_n(need.drive, need.methods));
            largest(drives, workers) + largest(kept, workers) <= most_bytes
        };
        match (1..=most_workers.max(1)).rev().find(|&workers| fits(workers)) {
            Some(workers) => Room { workers, keep: true },
            None => Room { workers: 1, keep: false },
        }
    }
}

/// What the review of one drive takes.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// Bytes of a drive.
    pub drive: u64,
    /// How many states of it are kept.
    pub kept: usize,
    /// Methods it is tested by.
    pub methods: usize,
}

/// The sum of the largest `count` of these.
fn largest(values: impl Iterator<Item = u64>, count: usize) -> u64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values.iter().rev().take(count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_drives_as_there_is_memory_for() {
        let need = Need { drive: 5, kept: 2, methods: 3 };
        let with = |bytes| Room::within(&[need, need], 4, bytes);
        // Four drives, and two states of both of them.
        assert_eq!(with(40), Room { workers: 4, keep: true });
        assert_eq!(with(39), Room { workers: 3, keep: true });
        assert_eq!(with(15), Room { workers: 1, keep: true });
        assert_eq!(with(14), Room { workers: 1, keep: false });
    }
}
