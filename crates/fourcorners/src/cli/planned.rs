//! A target that was found: what it is, whether it has to be created, and how it is made ready.

use std::path::{Path, PathBuf};

use fourcorners_catalogue::{Model, Profile};
use fourcorners_drive::{Geometry, SECTOR_BYTES};
use fourcorners_lab::drive::Drive;
use fourcorners_lab::review::{Medium, Phase};
use fourcorners_lab::side_by_side::target_info;
use fourcorners_lab::state;
use fourcorners_linux::device::{self, Erase, EraseWith};
use fourcorners_linux::guard::{self, Kind, Opened, Permission, RealTarget};
use fourcorners_linux::{Modes, Setup, Uring, overhead};
use fourcorners_machine::host;
use fourcorners_record::{HealthReading, Host, TargetInfo, TargetKind};

/// Most I/Os any method keeps in flight.
const QUEUE_DEPTH: u32 = 32;
/// Largest block of any method.
const MOST_BLOCK_BYTES: u32 = 131_072;

/// A target that was found and may be tested.
#[derive(Clone, Debug)]
pub(super) enum Planned {
    /// A model.
    Virtual(Box<Profile>),
    /// A model, and the file with the state it is in.
    Used(Box<Profile>, PathBuf),
    /// A block device or a file that is there.
    Real(Box<RealTarget>, Permission),
    /// One that is there and only read.
    ToRead(Box<RealTarget>),
    /// A file to be created.
    New(PathBuf, u64),
}

/// A drive that is ready, with what its record says of it.
pub(super) struct Ready {
    pub(super) drive: Drive,
    pub(super) target: TargetInfo,
    pub(super) host: Option<Host>,
}

impl Planned {
    /// The target as typed.
    pub(super) fn name(&self) -> String {
        match self {
            Planned::Virtual(profile) | Planned::Used(profile, _) => profile.name.clone(),
            Planned::Real(target, _) | Planned::ToRead(target) => target.path.display().to_string(),
            Planned::New(path, _) => path.display().to_string(),
        }
    }

    pub(super) fn is_real(&self) -> bool {
        !matches!(self, Planned::Virtual(_) | Planned::Used(..))
    }

    /// The same with the commands it takes at once: those of a model, or what a review opens a real
    /// target for, which is `depth` where that is more than any method of ours wants.
    pub(super) fn reviewed_geometry(&self, depth: u32) -> Geometry {
        match self {
            Planned::Virtual(profile) | Planned::Used(profile, _) => profile.geometry(),
            _ => Geometry { queue_depth: depth.max(QUEUE_DEPTH), ..self.geometry() },
        }
    }

    /// What kind of drive it is.
    pub(super) fn medium(&self) -> Medium {
        match self {
            Planned::Virtual(profile) | Planned::Used(profile, _) => match profile.model {
                Model::Ssd(_) => Medium::Ssd,
                Model::Hdd(_) => Medium::HardDisk,
            },
            Planned::Real(target, _) | Planned::ToRead(target) if target.kind == Kind::Device => {
                Medium::Device
            }
            Planned::Real(..) | Planned::ToRead(_) | Planned::New(..) => Medium::File,
        }
    }

    /// Memory that it takes when it is opened.
    pub(super) fn memory_bytes(&self) -> u64 {
        match self {
            Planned::Virtual(profile) | Planned::Used(profile, _) => profile.memory_bytes(),
            Planned::Real(..) | Planned::ToRead(_) | Planned::New(..) => 0,
        }
    }

    /// Whether a write to one may change the other: a drive and a partition of it, a loop device and its file.
    pub(super) fn overlaps(&self, other: &Planned) -> bool {
        match (self, other) {
            (
                Planned::Real(a, _) | Planned::ToRead(a),
                Planned::Real(b, _) | Planned::ToRead(b),
            ) => a.overlaps(b),
            _ => self.is_same(other),
        }
    }

    /// Whether both are the same drive, whatever the words that lead to it.
    pub(super) fn is_same(&self, other: &Planned) -> bool {
        match (self, other) {
            (Planned::Virtual(a), Planned::Virtual(b)) => a.name == b.name,
            (
                Planned::Real(a, _) | Planned::ToRead(a),
                Planned::Real(b, _) | Planned::ToRead(b),
            ) => a.is_same(b),
            (Planned::New(a, _), Planned::New(b, _)) => place(a) == place(b),
            _ => false,
        }
    }

    /// The file that is still to be created.
    pub(super) fn to_create(&self) -> Option<&Path> {
        match self {
            Planned::New(path, _) => Some(path),
            Planned::Virtual(_) | Planned::Used(..) | Planned::Real(..) | Planned::ToRead(_) => {
                None
            }
        }
    }

    /// Creates what is to be created; the target as it is then.
    pub(super) fn create(self) -> Result<Planned, String> {
        Ok(match self {
            Planned::New(path, bytes) => {
                let created = guard::create_file(&path, bytes);
                let target = created.map_err(|refusal| refusal.to_string())?;
                Planned::Real(Box::new(target), Permission::default())
            }
            there => there,
        })
    }

    /// What the record of a virtual drive says of it, as long as it is new.
    pub(super) fn describe(&self) -> Option<TargetInfo> {
        match self {
            Planned::Virtual(profile) => Some(target_info(profile, profile.geometry())),
            Planned::Used(..) | Planned::Real(..) | Planned::ToRead(_) | Planned::New(..) => None,
        }
    }

    /// All that tells it from another drive, as far as it is known before it is opened.
    pub(super) fn identity(&self) -> String {
        let info = match self {
            Planned::Virtual(profile) => target_info(profile, profile.geometry()),
            Planned::Used(profile, file) => TargetInfo {
                loaded_state: Some(file.display().to_string()),
                ..target_info(profile, profile.geometry())
            },
            Planned::Real(target, _) | Planned::ToRead(target) => real_info(target, None),
            Planned::New(path, bytes) => {
                return format!("{} {bytes} to be created", path.display());
            }
        };
        format!("{info:?}")
    }

    /// Makes it ready for any method of ours, and for these phases.
    pub(super) fn open<'p>(
        &self,
        phases: impl Iterator<Item = &'p Phase>,
    ) -> Result<Ready, String> {
        let any = Setup { queue_depth: QUEUE_DEPTH, max_block_bytes: MOST_BLOCK_BYTES };
        self.open_for(phases.fold(any, |setup, phase| {
            let blocks = phase.jobs().map(|job| job.block_bytes);
            Setup {
                queue_depth: setup.queue_depth.max(phase.in_flight()),
                max_block_bytes: blocks.fold(setup.max_block_bytes, u32::max),
            }
        }))
    }

    /// Makes it ready for so many I/Os of such a size.
    pub(super) fn open_for(&self, setup: Setup) -> Result<Ready, String> {
        self.open_with(setup, Modes::default())
    }

    /// The same, a real one by such a ring.
    pub(super) fn open_with(&self, setup: Setup, modes: Modes) -> Result<Ready, String> {
        match self {
            Planned::Virtual(profile) => {
                let drive = Drive::from_profile(profile);
                let target = target_info(profile, drive.geometry());
                Ok(Ready { drive, target, host: None })
            }
            Planned::Used(profile, file) => {
                let loaded = state::load(file, profile).map_err(|error| error.to_string())?;
                let drive = Drive::Ssd(Box::new(loaded.ssd));
                let target = TargetInfo {
                    loaded_state: Some(loaded.id),
                    ..target_info(profile, drive.geometry())
                };
                Ok(Ready { drive, target, host: None })
            }
            Planned::Real(target, permission) => {
                let opened = guard::open_for_writing(target, permission);
                real_drive(target, opened.map_err(|refusal| refusal.to_string())?, (setup, modes))
            }
            Planned::ToRead(target) => {
                let opened = guard::open_for_reading(target);
                real_drive(target, opened.map_err(|refusal| refusal.to_string())?, (setup, modes))
            }
            Planned::New(path, _) => Err(format!("{} was not created", path.display())),
        }
    }

    /// What a real drive says of its health now; `None` of what is no drive.
    pub(super) fn health(&self) -> Option<HealthReading> {
        match self {
            Planned::Real(target, _) | Planned::ToRead(target) => device::read(target),
            Planned::Virtual(_) | Planned::Used(..) | Planned::New(..) => None,
        }
    }

    /// How it is purged when that is asked for by name.
    ///
    /// # Errors
    /// Where it cannot be purged so.
    pub(super) fn erase(&self, with: EraseWith) -> Result<Erase, String> {
        match self {
            Planned::Real(target, _) | Planned::ToRead(target) => Erase::of(with, target),
            _ => Err(format!("{} is not a real drive: leave --purge out", self.name())),
        }
    }

    /// What a record can say of a real target that could not be opened.
    pub(super) fn unopened(&self) -> Option<TargetInfo> {
        match self {
            Planned::Real(target, _) | Planned::ToRead(target) => Some(real_info(target, None)),
            Planned::Virtual(_) | Planned::Used(..) | Planned::New(..) => None,
        }
    }

    /// Its geometry, before it is opened: that of a file to be created has blocks of a sector.
    pub(super) fn geometry(&self) -> Geometry {
        match self {
            Planned::Virtual(profile) | Planned::Used(profile, _) => virtual_geometry(profile),
            Planned::Real(target, _) | Planned::ToRead(target) => target.geometry,
            Planned::New(_, bytes) => Geometry {
                sectors: bytes / SECTOR_BYTES,
                logical_block_bytes: SECTOR_BYTES as u32,
                queue_depth: u32::MAX,
            },
        }
    }

    /// Whether it is an SSD that was never written: reads of it would not touch the flash.
    pub(super) fn is_new_flash(&self) -> bool {
        matches!(self, Planned::Virtual(profile) if matches!(profile.model, Model::Ssd(_)))
    }

    /// Where it is, links resolved; `None` for a model.
    pub(super) fn place(&self) -> Option<PathBuf> {
        match self {
            Planned::Virtual(_) | Planned::Used(..) => None,
            Planned::Real(target, _) | Planned::ToRead(target) => Some(target.canonical.clone()),
            Planned::New(path, _) => Some(place(path)),
        }
    }
}

/// That of a model, without making one.
fn virtual_geometry(profile: &Profile) -> Geometry {
    let logical_block_bytes = match &profile.model {
        Model::Ssd(_) => SECTOR_BYTES as u32,
        Model::Hdd(disk) => disk.capacity.logical_block_bytes,
    };
    let sectors = profile.capacity_bytes() / SECTOR_BYTES;
    Geometry { sectors, logical_block_bytes, queue_depth: u32::MAX }
}

/// Where a file that is to be created will be, links in its folder's path resolved.
fn place(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize();
    match (folder, path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_path_buf(),
    }
}

fn real_drive(
    target: &RealTarget,
    opened: Opened,
    (setup, modes): (Setup, Modes),
) -> Result<Ready, String> {
    let info = real_info(target, Some(opened.direct));
    let mut uring = Uring::with_modes(opened.file, target.geometry, setup, modes)
        .map_err(|error| format!("{}: {error}", info.name))?;
    uring.hold(opened.lease);
    let host = Host { overhead_ns_per_io: overhead::ns_per_io(), ..host::describe() };
    Ok(Ready { drive: Drive::Real(Box::new(uring)), target: info, host: Some(host) })
}

fn real_info(target: &RealTarget, direct: Option<bool>) -> TargetInfo {
    let name = target.path.display().to_string();
    TargetInfo {
        title: target.model.clone().unwrap_or_else(|| name.clone()),
        name,
        kind: match target.kind {
            Kind::Device => TargetKind::Device,
            Kind::File => TargetKind::File,
        },
        capacity_bytes: target.geometry.bytes(),
        logical_block_bytes: target.geometry.logical_block_bytes,
        direct,
        model: target.model.clone(),
        serial: target.serial.clone(),
        firmware: target.firmware.clone(),
        profile_hash: None,
        rated_cycles: None,
        flash: None,
        fitted: Vec::new(),
        variation: None,
        set: Vec::new(),
        host_controller: None,
        host_trim: None,
        loaded_state: None,
    }
}
