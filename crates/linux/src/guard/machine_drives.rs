//! The drives of this machine, and what the system uses each for. Nothing is written; a drive that is free is
//! claimed for a moment, which is how the kernel tells that somebody else has it.

use std::path::{Path, PathBuf};

use rustix::fs::Access;

use super::describe::{Disk, Node};
use super::in_use::{self, Subject};
use super::permit::{Permission, may_write};
use super::refusal::Refusal;
use super::system::{Devno, System, attribute, name_of, number, unescape};
use super::target::inspect;

/// A drive of this machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MachineDrive {
    /// Its node, `/dev/sda`.
    pub path: String,
    /// Model as the device tells it.
    pub model: Option<String>,
    /// Serial number as the device tells it.
    pub serial: Option<String>,
    /// Bytes.
    pub bytes: u64,
    /// Whether it turns, where that is known.
    pub rotational: Option<bool>,
    /// What is behind a loop device.
    pub backing: Option<String>,
    /// What the system uses it or a partition of it for: `/dev/sda1 is mounted at /`.
    pub uses: Vec<String>,
    /// Directories that a file system of it is mounted at, and that this user may write.
    pub directories: Vec<PathBuf>,
    /// What may be done to it.
    pub standing: DriveStanding,
}

/// What may be done to a drive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DriveStanding {
    /// It may be written once it is named with `--destroy`.
    Free,
    /// It holds something, and has to be named with `--force`, too; what it holds.
    Holds(String),
    /// The system uses it: it is never written.
    InUse,
    /// It cannot be measured, or not be looked at by this user; why.
    Refused(String),
}

/// The drives of this machine by their names; those that hold nothing (an empty card reader, a loop device over
/// nothing) and memory are left out.
///
/// # Errors
/// Where sysfs or /proc do not answer; which.
pub fn machine_drives() -> Result<Vec<MachineDrive>, String> {
    on(&System::real())
}

fn on(system: &System) -> Result<Vec<MachineDrive>, String> {
    system.answers().map_err(|error| {
        format!("{} cannot be read ({}): mount /sys and /proc", error.path.display(), error.errno)
    })?;
    let mounts = mounts(system);
    let drives = system.disks().into_iter().filter_map(|dir| drive(system, &dir, &mounts));
    let mut drives: Vec<MachineDrive> = drives.collect();
    // Loop devices are many where there are any, and hardly what is looked for.
    drives.sort_by_key(|drive| drive.backing.is_some());
    Ok(drives)
}

fn drive(system: &System, dir: &Path, mounts: &[(Devno, PathBuf)]) -> Option<MachineDrive> {
    const SECTOR_BYTES: u64 = 512;
    let name = name_of(dir);
    let bytes = number(&dir.join("size"))?.saturating_mul(SECTOR_BYTES);
    if bytes == 0 || name.starts_with("ram") || name.starts_with("zram") {
        return None;
    }
    let number = Devno::parse(&attribute(&dir.join("dev"))?)?;
    let disk = Disk::describe(system, number).ok()?;
    let nodes: Vec<&Node> = std::iter::once(&disk.node).chain(&disk.partitions).collect();
    let uses: Vec<String> = nodes
        .iter()
        .filter_map(|&node| {
            let subject = Subject { devices: vec![node.clone()], ..Subject::default() };
            in_use::find(system, &subject).ok()?.map(|usage| usage.how)
        })
        .collect();
    let mounted = mounts.iter().filter(|(at, _)| nodes.iter().any(|node| node.number == *at));
    let directories = mounted.map(|(_, place)| place.clone()).filter(|place| may_be_used(place));
    Some(MachineDrive {
        path: disk.node.path.clone(),
        backing: disk.backing(),
        bytes,
        rotational: disk.rotational,
        directories: directories.collect(),
        standing: match (uses.is_empty(), system.genuine) {
            (false, _) => DriveStanding::InUse,
            (true, true) => standing(Path::new(&disk.node.path)),
            (true, false) => DriveStanding::Free,
        },
        uses,
        model: disk.model,
        serial: disk.serial,
    })
}

/// What the guard would say, were it named.
fn standing(node: &Path) -> DriveStanding {
    let target = match inspect(node) {
        Ok(target) => target,
        Err(refusal) => return DriveStanding::Refused(refusal.to_string()),
    };
    let destroy = vec![node.display().to_string()];
    match may_write(&target, &Permission { destroy, force: Vec::new() }) {
        Ok(()) => DriveStanding::Free,
        Err(Refusal::NotForced { holds, .. }) => DriveStanding::Holds(holds),
        Err(Refusal::InUse { .. }) => DriveStanding::InUse,
        Err(refusal) => DriveStanding::Refused(refusal.to_string()),
    }
}

/// proc(5), mountinfo: device numbers and the places they are mounted at.
fn mounts(system: &System) -> Vec<(Devno, PathBuf)> {
    let table = system.table("self/mountinfo").ok().flatten().unwrap_or_default();
    let mount = |line: &str| {
        let mut fields = line.split(' ').skip(2);
        let number = Devno::parse(fields.next()?)?;
        let place = unescape(fields.nth(1)?);
        Some((number, PathBuf::from(String::from_utf8(place).ok()?)))
    };
    table.lines().filter_map(mount).collect()
}

fn may_be_used(place: &Path) -> bool {
    let writes = Access::WRITE_OK | Access::EXEC_OK;
    place.is_dir() && rustix::fs::access(place, writes).is_ok()
}

#[cfg(test)]
mod tests {
    use super::super::fake::Machine;
    use super::*;

    #[test]
    fn a_drive_is_listed_with_its_uses_and_an_empty_one_is_not() {
        let machine = Machine::new();
        let place = tempfile::tempdir().expect("a directory");
        machine.disk("sda", Devno { major: 8, minor: 0 });
        machine.write("block/sda/size", "2000000\n");
        machine.write("block/sda/device/model", "WDC WD10\n");
        machine.disk("sdb", Devno { major: 8, minor: 16 });
        machine.write("block/sdb/size", "4000000\n");
        machine.disk("sdc", Devno { major: 8, minor: 32 });
        machine.write("block/sdc/size", "0\n");
        machine.disk("zram0", Devno { major: 250, minor: 0 });
        machine.write("block/zram0/size", "4000000\n");
        machine.proc(
            "self/mountinfo",
            format!("36 35 8:0 / {} rw - ext4 /dev/sda rw\n", place.path().display()),
        );
        let drives = on(&machine.system()).expect("it answers");
        let paths: Vec<&str> = drives.iter().map(|drive| drive.path.as_str()).collect();
        assert_eq!(paths, ["/dev/sda", "/dev/sdb"]);
        let [mounted, free] = &drives[..] else { panic!("{drives:?}") };
        assert_eq!(mounted.standing, DriveStanding::InUse);
        assert!(mounted.uses[0].starts_with("/dev/sda is mounted at "), "{:?}", mounted.uses);
        assert_eq!(mounted.directories, [place.path()]);
        assert_eq!((mounted.bytes, mounted.model.as_deref()), (1_024_000_000, Some("WDC WD10")));
        assert_eq!((free.standing.clone(), free.uses.len()), (DriveStanding::Free, 0));
        assert!(free.directories.is_empty());
    }
}
