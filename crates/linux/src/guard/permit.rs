//! Permission of the user to write a target.

use std::fs::File;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::describe::{Disk, namesakes, node_path};
use super::in_use::{self, Subject};
use super::lock::{Holder, Share, unlocked};
use super::loops;
use super::refusal::{Refusal, Usage, UsageKind, os_refusal, quoted};
use super::scan;
use super::scratch::is_scratch;
use super::system::{System, Thing, Unknown};
use super::target::{Handle, Kind, RealTarget, device_bytes, unknown};

/// What the user has named, each a path or a serial number exactly as typed.
///
/// A path names what it leads to, links resolved: a device by its number, a file by its
/// canonical path. A serial number names a whole disk, if no other disk here has the same.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Permission {
    /// Targets that may lose all their data (`--destroy`).
    pub destroy: Vec<String>,
    /// Those of them that may lose it even if they carry partitions or a signature (`--force`).
    pub force: Vec<String>,
}

/// Whether `target` may be written, with nothing changed on it. A device is claimed for the
/// moment, which is how the kernel tells that somebody else has.
///
/// # Errors
/// The [`Refusal`] to show.
pub fn may_write(target: &RealTarget, permission: &Permission) -> Result<(), Refusal> {
    let handle = same(target)?;
    // What is known to use it makes a better message than that it is busy.
    let checks = Checks::new(target)?;
    checks.in_use()?;
    let reader = match target.kind {
        Kind::Device => handle.claim(OFlags::RDONLY),
        Kind::File => handle.reopen(OFlags::RDONLY),
    };
    let reader = reader.map_err(|errno| open_refusal(target, "read", errno))?;
    checks.all(&handle, &reader, permission)
}

/// What `target` was when it was inspected, found again at its canonical path.
pub(super) fn same(target: &RealTarget) -> Result<Handle, Refusal> {
    let handle = Handle::get(&target.canonical)?;
    if Thing::of(&handle.stat) == Some(target.thing) {
        Ok(handle)
    } else {
        Err(Refusal::Changed { target: target.to_string() })
    }
}

/// Whether `file` is what was inspected, and nothing else.
pub(super) fn unchanged(target: &RealTarget, file: &File) -> Result<(), Refusal> {
    let failed = |errno| os_refusal(target.to_string(), "read", errno);
    let stat = rustix::fs::fstat(file).map_err(failed)?;
    let (bytes, sequence) = match target.thing {
        Thing::File { .. } => (u64::try_from(stat.st_size).unwrap_or(0), None),
        Thing::Device(number) => {
            let disk = Disk::describe(&System::real(), number)
                .map_err(|error| unknown(target.to_string(), error))?;
            (device_bytes(file, disk.logical_block_bytes).map_err(failed)?, disk.sequence)
        }
    };
    if Thing::of(&stat) == Some(target.thing)
        && bytes == target.bytes
        && sequence == target.sequence
    {
        Ok(())
    } else {
        Err(Refusal::Changed { target: target.to_string() })
    }
}

/// Why an open failed.
pub(super) fn open_refusal(target: &RealTarget, action: &'static str, errno: Errno) -> Refusal {
    let shown = target.to_string();
    match errno {
        // open(2), O_EXCL on a block device: in use by the system, such as mounted.
        Errno::BUSY if target.kind == Kind::Device => Refusal::InUse {
            target: shown,
            usage: Usage {
                kind: UsageKind::Claimed,
                how: "another program, or a mount in another name space, has claimed it".into(),
                undo: format!("end what fuser -v {} shows", quoted(&target.canonical)),
            },
        },
        Errno::ROFS | Errno::ACCESS if target.kind == Kind::Device && target.read_only => {
            Refusal::ReadOnly { target: shown, why: device_read_only(target) }
        }
        Errno::NXIO | Errno::NODEV | Errno::NOMEDIUM => Refusal::Changed { target: shown },
        errno => os_refusal(shown, action, errno),
    }
}

fn device_read_only(target: &RealTarget) -> String {
    let node = quoted(&target.canonical);
    format!("clear its write protection (blockdev --setrw {node}) or give another")
}

/// Everything that is asked of an opened target.
pub(super) struct Checks<'a> {
    system: System,
    target: &'a RealTarget,
    /// `None` for a file.
    disk: Option<Disk>,
    subject: Subject,
}

impl<'a> Checks<'a> {
    pub(super) fn new(target: &'a RealTarget) -> Result<Checks<'a>, Refusal> {
        Checks::on(System::real(), target)
    }

    fn on(system: System, target: &'a RealTarget) -> Result<Checks<'a>, Refusal> {
        let mut subject = Subject::default();
        let disk = match target.thing {
            Thing::File { .. } => {
                subject.file = Some((target.thing, target.canonical.clone()));
                None
            }
            Thing::Device(number) => {
                let disk = Disk::describe(&system, number)
                    .map_err(|error| unknown(target.to_string(), error))?;
                subject.devices = disk.related();
                if let Some(below) = disk.backing() {
                    let whole = disk.whole.as_ref().unwrap_or(&disk.node);
                    subject.itself = Some(whole.dir.clone());
                    subject.file = match Thing::at(&below) {
                        Some(Thing::Device(_)) => {
                            let below = quoted(Path::new(&below));
                            return Err(Refusal::Window { target: target.to_string(), below });
                        }
                        Some(thing) => Some((thing, below.into())),
                        None => None,
                    };
                }
                Some(disk)
            }
        };
        Ok(Checks { system, target, disk, subject })
    }

    /// Whether the system uses it.
    pub(super) fn in_use(&self) -> Result<(), Refusal> {
        match in_use::find(&self.system, &self.subject) {
            Ok(None) => Ok(()),
            Ok(Some(usage)) => Err(Refusal::InUse { target: self.target.to_string(), usage }),
            Err(error) => Err(unknown(self.target.to_string(), error)),
        }
    }

    /// All of it, on the medium behind `reader`.
    pub(super) fn all(
        &self,
        handle: &Handle,
        reader: &File,
        permission: &Permission,
    ) -> Result<(), Refusal> {
        unchanged(self.target, reader)?;
        self.writable(handle)?;
        self.in_use()?;
        self.unlocked(reader)?;
        if let Some((below, _)) = self.below(reader)? {
            self.unlocked(&below)?;
        }
        self.allowed(reader, permission)
    }

    /// The file below a loop device, open to be locked, and whether others may write other parts of it.
    /// `None` where there is none, or it has no name any more by which anybody could open it.
    pub(super) fn below(&self, device: &File) -> Result<Option<(File, Share)>, Refusal> {
        let Some(disk) = &self.disk else { return Ok(None) };
        let Some(path) = disk.backing() else { return Ok(None) };
        let cannot = |errno| {
            let unknown_file = Unknown { path: (&path).into(), errno };
            unknown(self.target.to_string(), unknown_file)
        };
        let below = loops::file_below(device).map_err(cannot)?;
        let handle = match Handle::get(Path::new(&path)) {
            Ok(handle) => handle,
            Err(_) if path.ends_with(" (deleted)") => return Ok(None),
            Err(_) => return Err(cannot(Errno::NOENT)),
        };
        if Thing::of(&handle.stat) != Some(below) {
            // It is behind this path in another name space.
            return Err(cannot(Errno::NOENT));
        }
        let file = handle.reopen(OFlags::RDONLY).map_err(cannot)?;
        let share = if disk.whole.is_some() { Share::OtherParts } else { Share::No };
        Ok(Some((file, share)))
    }

    fn writable(&self, handle: &Handle) -> Result<(), Refusal> {
        let target = self.target.to_string();
        match &self.disk {
            Some(disk) if disk.read_only => {
                return Err(Refusal::ReadOnly { target, why: device_read_only(self.target) });
            }
            Some(disk) if disk.host_managed => return Err(Refusal::Zoned { target }),
            _ => {}
        }
        handle.may_write().map_err(|errno| match errno {
            // access(2) gives a file that chattr made immutable this error, to root as well.
            Errno::PERM if self.target.kind == Kind::File => Refusal::ReadOnly {
                target,
                why: format!("it is immutable; chattr -i {}", quoted(&self.target.canonical)),
            },
            errno => os_refusal(target, "written", errno),
        })
    }

    fn unlocked(&self, file: &File) -> Result<(), Refusal> {
        unlocked(file).map_err(|holder| self.locked(&holder))
    }

    pub(super) fn locked(&self, holder: &Holder) -> Refusal {
        // The file below a loop device is where the lock is.
        let path = self.subject.file.as_ref().map_or(&self.target.canonical, |file| &file.1);
        let undo = format!("end what fuser -v {} shows", quoted(path));
        Refusal::InUse {
            target: self.target.to_string(),
            usage: Usage { kind: UsageKind::Locked, how: holder.words(), undo },
        }
    }

    fn allowed(&self, reader: &File, permission: &Permission) -> Result<(), Refusal> {
        let target = self.target;
        let holds = self.holds(reader)?;
        let destroyed = self.named(&permission.destroy)?;
        let forced = self.named(&permission.force)?;
        let path = quoted(&target.path);
        let scratch = target.kind == Kind::File
            && holds.is_none()
            && (target.unmarked_scratch || is_scratch(reader));
        match holds {
            _ if !destroyed && !scratch => {
                let what = match target.kind {
                    Kind::Device => "all its data",
                    Kind::File => "its content",
                };
                let (loss, options) = match holds {
                    None => (what.to_owned(), format!("--destroy {path}")),
                    Some(holds) => (
                        format!("{what}, and it {holds}"),
                        format!("--destroy {path} --force {path}"),
                    ),
                };
                Err(Refusal::NotNamed { target: target.to_string(), loss, options })
            }
            Some(holds) if !forced => Err(Refusal::NotForced {
                target: target.to_string(),
                holds,
                options: format!("--force {path} to --destroy {path}"),
            }),
            _ => Ok(()),
        }
    }

    /// What of value is on it: `has partitions (/dev/sdb1) and carries the signature of XFS`.
    fn holds(&self, reader: &File) -> Result<Option<String>, Refusal> {
        let medium = scan::Opened { file: reader, bytes: self.target.bytes };
        let signatures = scan::signatures(&medium).map_err(|error| Refusal::Unreadable {
            target: self.target.to_string(),
            offset: error.offset,
            errno: error.errno,
        })?;
        let partitions: Vec<&str> = self
            .disk
            .iter()
            .flat_map(|disk| &disk.partitions)
            .map(|part| part.path.as_str())
            .collect();
        let mut holds = Vec::new();
        if !partitions.is_empty() {
            holds.push(format!("has partitions ({})", partitions.join(", ")));
        }
        if !signatures.is_empty() {
            holds.push(format!("carries the signature of {}", signatures.join(", ")));
        }
        Ok((!holds.is_empty()).then(|| holds.join(" and ")))
    }

    /// Whether one of `names` is the target.
    fn named(&self, names: &[String]) -> Result<bool, Refusal> {
        let mut ambiguous = None;
        for name in names.iter().filter(|name| !name.is_empty()) {
            let leads_here = Thing::at(name) == Some(self.target.thing);
            let by_path = match self.target.kind {
                Kind::Device => leads_here,
                Kind::File => {
                    leads_here
                        && std::fs::canonicalize(name)
                            .is_ok_and(|path| path == self.target.canonical)
                }
            };
            if by_path {
                return Ok(true);
            }
            let Some(disk) = self.disk.as_ref().filter(|disk| disk.whole.is_none()) else {
                continue;
            };
            if disk.serial.as_deref() == Some(name.trim()) {
                let others = namesakes(&self.system, disk);
                if others.is_empty() {
                    return Ok(true);
                }
                ambiguous = Some(Refusal::AmbiguousSerial {
                    serial: super::refusal::one_line(name),
                    disks: [vec![node_path(&disk.node.dir)], others].concat().join(", "),
                });
            }
        }
        ambiguous.map_or(Ok(false), Err)
    }
}

#[cfg(test)]
#[path = "permit_tests.rs"]
mod tests;
