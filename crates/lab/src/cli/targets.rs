//! From a target as typed to a drive that is ready: names are resolved, and everything that may be
//! refused is refused before anything is created or opened for writing.

use std::path::{Path, PathBuf};

use super::args::ReviewArgs;
use super::size::parse_size;
use crate::catalogue::{self, CatalogueError, Profile};
use crate::drive::Drive;
use crate::guard::{self, Kind, Permission, RealTarget};
use crate::host;
use crate::record::{Host, TargetInfo, TargetKind};
use crate::uring::{Setup, Uring};

/// Most I/Os any method keeps in flight.
const QUEUE_DEPTH: u32 = 32;
/// Largest block of any method.
const MOST_BLOCK_BYTES: u32 = 131_072;

/// A target that was found and may be tested.
#[derive(Clone, Debug)]
pub(super) enum Planned {
    /// A model.
    Virtual(Box<Profile>),
    /// A block device or a file that is there.
    Real(Box<RealTarget>, Permission),
    /// A file to be created.
    New(PathBuf, u64),
}

/// A drive that is ready, with what its record says of it.
pub(super) struct Ready {
    pub(super) drive: Drive,
    pub(super) target: TargetInfo,
    pub(super) host: Option<Host>,
}

/// Finds all targets; the first that may not be tested refuses the whole review.
pub(super) fn plan(args: &ReviewArgs) -> Result<Vec<Planned>, String> {
    let size = args.size.as_deref().map(parse_size).transpose()?;
    let permission = Permission { destroy: args.destroy.clone(), force: args.force.clone() };
    let mut planned: Vec<Planned> = Vec::new();
    for target in &args.targets {
        let found = find(target, size, &args.set, &permission)?;
        if planned.iter().any(|other| other.is_same(&found)) {
            return Err(format!("{target} is named twice: name it once"));
        }
        planned.push(found);
    }
    let any = |wanted: fn(&Planned) -> bool| planned.iter().any(wanted);
    if size.is_some() && !any(|target| target.is_real()) {
        return Err("--size is the size of a file, and no target is one: leave it out".into());
    }
    if !args.set.is_empty() && !any(|target| !target.is_real()) {
        return Err("--set changes virtual drives, and no target is one: leave it out".into());
    }
    Ok(planned)
}

fn find(
    target: &str,
    size: Option<u64>,
    set: &[String],
    permission: &Permission,
) -> Result<Planned, String> {
    let words = |error: CatalogueError| error.to_string();
    if target.ends_with(".toml") {
        let profile = catalogue::from_file(Path::new(target), set).map_err(words)?;
        return Ok(Planned::Virtual(Box::new(profile)));
    }
    let path = Path::new(target);
    let is_path = target.contains('/') || size.is_some() || path.symlink_metadata().is_ok();
    match catalogue::built_in(target, set) {
        Ok(profile) => Ok(Planned::Virtual(Box::new(profile))),
        Err(CatalogueError::Unknown { .. }) if is_path => real(path, size, permission),
        Err(error) => Err(error.to_string()),
    }
}

/// A device or a file that is there, or one that can be created.
fn real(path: &Path, size: Option<u64>, permission: &Permission) -> Result<Planned, String> {
    let there = guard::inspect(path).and_then(|target| {
        guard::may_write(&target, permission)?;
        Ok(target)
    });
    match (there, size) {
        (Ok(target), None) => Ok(Planned::Real(Box::new(target), permission.clone())),
        // A scratch file of an earlier review, of the size that is asked for.
        (Ok(target), Some(bytes)) if target.geometry.bytes() == bytes - bytes % 4096 => {
            Ok(Planned::Real(Box::new(target), permission.clone()))
        }
        (Err(refusal), None) => Err(refusal.to_string()),
        (_, Some(bytes)) => {
            guard::may_create(path, bytes).map_err(|refusal| refusal.to_string())?;
            Ok(Planned::New(path.to_path_buf(), bytes))
        }
    }
}

impl Planned {
    /// The target as typed.
    pub(super) fn name(&self) -> String {
        match self {
            Planned::Virtual(profile) => profile.name.clone(),
            Planned::Real(target, _) => target.path.display().to_string(),
            Planned::New(path, _) => path.display().to_string(),
        }
    }

    pub(super) fn is_real(&self) -> bool {
        !matches!(self, Planned::Virtual(_))
    }

    fn is_same(&self, other: &Planned) -> bool {
        match (self, other) {
            (Planned::Virtual(a), Planned::Virtual(b)) => a.name == b.name,
            (Planned::Real(a, _), Planned::Real(b, _)) => a.canonical == b.canonical,
            (Planned::New(a, _), Planned::New(b, _)) => a == b,
            _ => false,
        }
    }

    /// Creates what is to be created; the target as it is then.
    pub(super) fn create(self) -> anyhow::Result<Planned> {
        Ok(match self {
            Planned::New(path, bytes) => {
                let target = guard::create_file(&path, bytes)?;
                Planned::Real(Box::new(target), Permission::default())
            }
            there => there,
        })
    }

    /// Makes it ready.
    pub(super) fn open(&self) -> anyhow::Result<Ready> {
        match self {
            Planned::Virtual(profile) => {
                let drive = Drive::from_profile(profile);
                let target = virtual_info(profile, &drive);
                Ok(Ready { drive, target, host: None })
            }
            Planned::Real(target, permission) => open_real(target, permission),
            Planned::New(path, _) => anyhow::bail!("{} was not created", path.display()),
        }
    }
}

fn open_real(target: &RealTarget, permission: &Permission) -> anyhow::Result<Ready> {
    let opened = guard::open_for_writing(target, permission)?;
    let direct = opened.direct;
    let setup = Setup { queue_depth: QUEUE_DEPTH, max_block_bytes: MOST_BLOCK_BYTES };
    let drive = Drive::Real(Box::new(Uring::new(opened.file, target.geometry, setup)?));
    let name = target.path.display().to_string();
    let info = TargetInfo {
        title: target.model.clone().unwrap_or_else(|| name.clone()),
        name,
        kind: match target.kind {
            Kind::Device => TargetKind::Device,
            Kind::File => TargetKind::File,
        },
        capacity_bytes: target.geometry.bytes(),
        logical_block_bytes: target.geometry.logical_block_bytes,
        direct: Some(direct),
        model: target.model.clone(),
        serial: target.serial.clone(),
        firmware: target.firmware.clone(),
        profile_hash: None,
        fitted: Vec::new(),
        set: Vec::new(),
    };
    Ok(Ready { drive, target: info, host: Some(host::describe()) })
}

fn virtual_info(profile: &Profile, drive: &Drive) -> TargetInfo {
    let geometry = drive.geometry();
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
        fitted: profile.fitted(),
        set: profile.set.clone(),
    }
}
