//! The device under test: a model, a device or a file that was found and may be tested; what it is, whether
//! it has to be created, and how it is made ready.

use std::path::{Path, PathBuf};

use fourcorners_catalogue::{Model, Profile};
use fourcorners_drive::{Geometry, SECTOR_BYTES};
use fourcorners_linux::device::{self, Erase, EraseWith};
use fourcorners_linux::guard::{self, InMemory, Kind, Opened, Permission, RealTarget, Refusal};
use fourcorners_linux::{Modes, ONLY_DEVICES_ARE_PURGED, Setup, Uring, UringError, overhead};
use fourcorners_machine::host;
use fourcorners_record::{HealthReading, Host, TargetInfo, TargetKind};

use crate::array::ArrayProfile;
use crate::drive::{Drive, LOADED, NO_FLASH};
use crate::review::{Medium, Phase};
use crate::state::{self, StateFileError};
use crate::target_info::target_info;

/// Most I/Os any method keeps in flight.
const QUEUE_DEPTH: u32 = 32;
/// Buffers of a ring hold at least this; phases with larger blocks ask for more.
const MOST_BLOCK_BYTES: u32 = 131_072;

/// Why a target is not ready to be tested.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// The guard does not let it be opened or created.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The file of its state is not one of it.
    #[error(transparent)]
    State(#[from] StateFileError),
    /// There is no ring for it.
    #[error("{name}: {error}")]
    Ring {
        /// The target.
        name: String,
        /// Why not.
        error: UringError,
    },
    /// It was to be created before.
    #[error("{} was not created", path.display())]
    NotCreated {
        /// The file.
        path: PathBuf,
    },
    /// Nothing but a real drive is purged by a command of its own.
    #[error("{name} is not a real drive: leave --purge out")]
    NotReal {
        /// The target.
        name: String,
    },
    /// It cannot be purged so; in the words of `fourcorners_linux::device`.
    #[error("{0}")]
    Erase(String),
}

/// A target that was found and may be tested.
#[derive(Clone, Debug)]
pub enum DeviceUnderTest {
    /// A model.
    Virtual(Box<Profile>),
    /// Several models as one.
    Array(Box<ArrayProfile>),
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
pub struct Ready {
    /// The drive.
    pub drive: Drive,
    /// What its record says of it.
    pub target: TargetInfo,
    /// What its record says of the machine (real ones only).
    pub host: Option<Host>,
    /// It is a file with holes, and its record says so.
    pub has_holes: bool,
}

impl Ready {
    /// The same target, if its plan writes what it measures once before: then its holes do not count.
    pub fn laid_out(mut self) -> Ready {
        if std::mem::take(&mut self.has_holes) {
            self.target.in_memory = None;
        }
        self
    }
}

impl DeviceUnderTest {
    /// The target as typed.
    pub fn name(&self) -> String {
        match self {
            DeviceUnderTest::Virtual(profile) | DeviceUnderTest::Used(profile, _) => {
                profile.name.clone()
            }
            DeviceUnderTest::Array(array) => array.name.clone(),
            DeviceUnderTest::Real(target, _) | DeviceUnderTest::ToRead(target) => {
                target.path.display().to_string()
            }
            DeviceUnderTest::New(path, _) => path.display().to_string(),
        }
    }

    /// Whether it is a device or a file, or will be one.
    pub fn is_real(&self) -> bool {
        !matches!(
            self,
            DeviceUnderTest::Virtual(_) | DeviceUnderTest::Array(_) | DeviceUnderTest::Used(..)
        )
    }

    /// Whether it is there and cannot be written, by nobody or not by this user.
    pub fn is_read_only(&self) -> bool {
        match self {
            DeviceUnderTest::Real(real, _) | DeviceUnderTest::ToRead(real) => real.read_only,
            DeviceUnderTest::Virtual(_)
            | DeviceUnderTest::Array(_)
            | DeviceUnderTest::Used(..)
            | DeviceUnderTest::New(..) => false,
        }
    }

    /// Its geometry with the commands it takes at once: those of a model, or what a review opens a real
    /// target for, which is `depth` where that is more than any method of ours wants.
    pub fn reviewed_geometry(&self, depth: u32) -> Geometry {
        match self {
            DeviceUnderTest::Virtual(profile) | DeviceUnderTest::Used(profile, _) => {
                profile.geometry()
            }
            DeviceUnderTest::Array(array) => array.geometry(),
            _ => Geometry { queue_depth: depth.max(QUEUE_DEPTH), ..self.geometry() },
        }
    }

    /// What kind of drive it is.
    pub fn medium(&self) -> Medium {
        match self {
            DeviceUnderTest::Virtual(profile) | DeviceUnderTest::Used(profile, _) => {
                match profile.model {
                    Model::Ssd(_) => Medium::Ssd,
                    Model::Hdd(_) => Medium::HardDisk,
                }
            }
            DeviceUnderTest::Array(array) if array.is_flash() => Medium::Ssd,
            DeviceUnderTest::Array(_) => Medium::HardDisk,
            DeviceUnderTest::Real(target, _) | DeviceUnderTest::ToRead(target)
                if target.kind == Kind::Device =>
            {
                Medium::Device
            }
            DeviceUnderTest::Real(..) | DeviceUnderTest::ToRead(_) | DeviceUnderTest::New(..) => {
                Medium::File
            }
        }
    }

    /// Why no purge of it will be carried out, where that is known before it is opened: what a device takes is asked of it then.
    pub fn never_purged(&self) -> Option<&'static str> {
        match self {
            DeviceUnderTest::Used(..) => Some(LOADED),
            DeviceUnderTest::Virtual(_) if self.medium() == Medium::HardDisk => Some(NO_FLASH),
            DeviceUnderTest::Array(array) if array.keeps_data_on_a_disk() => Some(NO_FLASH),
            DeviceUnderTest::Real(..) | DeviceUnderTest::ToRead(_) | DeviceUnderTest::New(..)
                if self.medium() == Medium::File =>
            {
                Some(ONLY_DEVICES_ARE_PURGED)
            }
            _ => None,
        }
    }

    /// Memory that it takes when it is opened.
    pub fn memory_bytes(&self) -> u64 {
        match self {
            DeviceUnderTest::Virtual(profile) | DeviceUnderTest::Used(profile, _) => {
                profile.memory_bytes()
            }
            DeviceUnderTest::Array(array) => array.memory_bytes(),
            DeviceUnderTest::Real(..) | DeviceUnderTest::ToRead(_) | DeviceUnderTest::New(..) => 0,
        }
    }

    /// Whether a write to one may change the other: a drive and a partition of it, a loop device and its file.
    pub fn overlaps(&self, other: &DeviceUnderTest) -> bool {
        match (self, other) {
            (
                DeviceUnderTest::Real(a, _) | DeviceUnderTest::ToRead(a),
                DeviceUnderTest::Real(b, _) | DeviceUnderTest::ToRead(b),
            ) => a.overlaps(b),
            _ => self.is_same(other),
        }
    }

    /// Whether both are the same drive, whatever the words that lead to it.
    pub fn is_same(&self, other: &DeviceUnderTest) -> bool {
        match (self, other) {
            (DeviceUnderTest::Virtual(a), DeviceUnderTest::Virtual(b)) => a.name == b.name,
            (DeviceUnderTest::Array(a), DeviceUnderTest::Array(b)) => a.name == b.name,
            (
                DeviceUnderTest::Real(a, _) | DeviceUnderTest::ToRead(a),
                DeviceUnderTest::Real(b, _) | DeviceUnderTest::ToRead(b),
            ) => a.is_same(b),
            (DeviceUnderTest::New(a, _), DeviceUnderTest::New(b, _)) => place(a) == place(b),
            _ => false,
        }
    }

    /// The file that is still to be created.
    pub fn to_create(&self) -> Option<&Path> {
        match self {
            DeviceUnderTest::New(path, _) => Some(path),
            DeviceUnderTest::Virtual(_)
            | DeviceUnderTest::Array(_)
            | DeviceUnderTest::Used(..)
            | DeviceUnderTest::Real(..)
            | DeviceUnderTest::ToRead(_) => None,
        }
    }

    /// Creates what is to be created; the target as it is then.
    ///
    /// # Errors
    /// [`DeviceError::Refused`]; then there is no new file.
    pub fn create(self) -> Result<DeviceUnderTest, DeviceError> {
        Ok(match self {
            DeviceUnderTest::New(path, bytes) => {
                let target = guard::create_file(&path, bytes)?;
                DeviceUnderTest::Real(Box::new(target), Permission::default())
            }
            there => there,
        })
    }

    /// What the record of a virtual drive says of it, as long as it is new.
    pub fn describe(&self) -> Option<TargetInfo> {
        match self {
            DeviceUnderTest::Virtual(profile) => Some(target_info(profile, profile.geometry())),
            DeviceUnderTest::Array(array) => Some(array.target_info(array.geometry())),
            DeviceUnderTest::Used(..)
            | DeviceUnderTest::Real(..)
            | DeviceUnderTest::ToRead(_)
            | DeviceUnderTest::New(..) => None,
        }
    }

    /// All that tells it from another drive, as far as it is known before it is opened.
    pub fn identity(&self) -> String {
        let info = match self {
            DeviceUnderTest::Virtual(profile) => target_info(profile, profile.geometry()),
            DeviceUnderTest::Array(array) => array.target_info(array.geometry()),
            DeviceUnderTest::Used(profile, file) => TargetInfo {
                loaded_state: Some(file.display().to_string()),
                ..target_info(profile, profile.geometry())
            },
            DeviceUnderTest::Real(target, _) | DeviceUnderTest::ToRead(target) => {
                real_info(target, None)
            }
            DeviceUnderTest::New(path, bytes) => {
                return format!("{} {bytes} to be created", path.display());
            }
        };
        format!("{info:?}")
    }

    /// Makes it ready for any method of ours, and for these phases.
    ///
    /// # Errors
    /// [`DeviceError`]: it is in use by now, its state is of another drive, there is no ring.
    pub fn open<'p>(&self, phases: impl Iterator<Item = &'p Phase>) -> Result<Ready, DeviceError> {
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
    ///
    /// # Errors
    /// As [`open`](DeviceUnderTest::open).
    pub fn open_for(&self, setup: Setup) -> Result<Ready, DeviceError> {
        self.open_with(setup, Modes::default())
    }

    /// Makes it ready for so many I/Os of such a size, a real one by a ring of these modes.
    ///
    /// # Errors
    /// As [`open`](DeviceUnderTest::open).
    pub fn open_with(&self, setup: Setup, modes: Modes) -> Result<Ready, DeviceError> {
        match self {
            DeviceUnderTest::Virtual(profile) => {
                let drive = Drive::from_profile(profile);
                let target = target_info(profile, drive.geometry());
                Ok(Ready { drive, target, host: None, has_holes: false })
            }
            DeviceUnderTest::Array(array) => {
                let drive = array.drive();
                let target = array.target_info(drive.geometry());
                Ok(Ready { drive, target, host: None, has_holes: false })
            }
            DeviceUnderTest::Used(profile, file) => {
                let loaded = state::load(file, profile)?;
                let drive = Drive::Ssd(Box::new(loaded.ssd));
                let target = TargetInfo {
                    loaded_state: Some(loaded.id),
                    ..target_info(profile, drive.geometry())
                };
                Ok(Ready { drive, target, host: None, has_holes: false })
            }
            DeviceUnderTest::Real(target, permission) => {
                let opened = guard::open_for_writing(target, permission)?;
                real_drive(target, opened, (setup, modes))
            }
            DeviceUnderTest::ToRead(target) => {
                real_drive(target, guard::open_for_reading(target)?, (setup, modes))
            }
            DeviceUnderTest::New(path, _) => Err(DeviceError::NotCreated { path: path.clone() }),
        }
    }

    /// What a real drive says of its health now; `None` of what is no drive.
    pub fn health(&self) -> Option<HealthReading> {
        match self {
            DeviceUnderTest::Real(target, _) | DeviceUnderTest::ToRead(target) => {
                device::read(target)
            }
            DeviceUnderTest::Virtual(_)
            | DeviceUnderTest::Array(_)
            | DeviceUnderTest::Used(..)
            | DeviceUnderTest::New(..) => None,
        }
    }

    /// How it is purged when that is asked for by name.
    ///
    /// # Errors
    /// Where it cannot be purged so.
    pub fn erase(&self, with: EraseWith) -> Result<Erase, DeviceError> {
        match self {
            DeviceUnderTest::Real(target, _) | DeviceUnderTest::ToRead(target) => {
                Erase::of(with, target).map_err(DeviceError::Erase)
            }
            _ => Err(DeviceError::NotReal { name: self.name() }),
        }
    }

    /// What a record can say of a real target that could not be opened.
    pub fn unopened(&self) -> Option<TargetInfo> {
        match self {
            DeviceUnderTest::Real(target, _) | DeviceUnderTest::ToRead(target) => {
                Some(real_info(target, None))
            }
            DeviceUnderTest::Virtual(_)
            | DeviceUnderTest::Array(_)
            | DeviceUnderTest::Used(..)
            | DeviceUnderTest::New(..) => None,
        }
    }

    /// Its geometry, before it is opened: that of a file to be created has blocks of a sector.
    pub fn geometry(&self) -> Geometry {
        match self {
            DeviceUnderTest::Virtual(profile) | DeviceUnderTest::Used(profile, _) => {
                virtual_geometry(profile)
            }
            DeviceUnderTest::Array(array) => array.geometry(),
            DeviceUnderTest::Real(target, _) | DeviceUnderTest::ToRead(target) => target.geometry,
            DeviceUnderTest::New(_, bytes) => Geometry {
                sectors: bytes / SECTOR_BYTES,
                logical_block_bytes: SECTOR_BYTES as u32,
                queue_depth: u32::MAX,
            },
        }
    }

    /// Whether it takes TRIMs, as far as that is known before one is tried: of a file, that holes are punched into it.
    pub fn takes_trim(&self) -> bool {
        match self {
            DeviceUnderTest::Virtual(profile) | DeviceUnderTest::Used(profile, _) => {
                profile.takes_trim()
            }
            DeviceUnderTest::Array(array) => array.takes_trim(),
            DeviceUnderTest::Real(target, _) | DeviceUnderTest::ToRead(target) => {
                target.discard || target.kind == Kind::File
            }
            DeviceUnderTest::New(..) => true,
        }
    }

    /// Whether it is an SSD that was never written: reads of it would not touch the flash.
    pub fn is_new_flash(&self) -> bool {
        match self {
            DeviceUnderTest::Virtual(profile) => matches!(profile.model, Model::Ssd(_)),
            DeviceUnderTest::Array(array) => array.is_flash(),
            _ => false,
        }
    }

    /// Where it is, links resolved; `None` for a model.
    pub fn place(&self) -> Option<PathBuf> {
        match self {
            DeviceUnderTest::Virtual(_) | DeviceUnderTest::Array(_) | DeviceUnderTest::Used(..) => {
                None
            }
            DeviceUnderTest::Real(target, _) | DeviceUnderTest::ToRead(target) => {
                Some(target.canonical.clone())
            }
            DeviceUnderTest::New(path, _) => Some(place(path)),
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
pub fn place(path: &Path) -> PathBuf {
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
) -> Result<Ready, DeviceError> {
    let found = opened.in_memory(target);
    let has_holes = matches!(found, Some(InMemory::Holes { .. }));
    let in_memory = found.map(|found| found.to_string());
    let info = TargetInfo { in_memory, ..real_info(target, Some(opened.direct)) };
    let mut uring = Uring::with_modes(opened.file, target.geometry, setup, modes)
        .map_err(|error| DeviceError::Ring { name: info.name.clone(), error })?;
    uring.hold(opened.lease);
    let host = Host { overhead_ns_per_io: overhead::ns_per_io(), ..host::describe() };
    Ok(Ready { drive: Drive::Real(Box::new(uring)), target: info, host: Some(host), has_holes })
}

fn real_info(target: &RealTarget, direct: Option<bool>) -> TargetInfo {
    let name = target.path.display().to_string();
    let kind = match target.kind {
        Kind::Device => TargetKind::Device,
        Kind::File => TargetKind::File,
    };
    let Geometry { logical_block_bytes, .. } = target.geometry;
    TargetInfo {
        title: target.model.clone().unwrap_or_else(|| name.clone()),
        direct,
        model: target.model.clone(),
        serial: target.serial.clone(),
        firmware: target.firmware.clone(),
        ..TargetInfo::new(name, kind, target.geometry.bytes(), logical_block_bytes)
    }
}
