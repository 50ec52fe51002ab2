//! Whether the running system uses a target: mounts, swap, what device mapper, MD and bcache
//! built on it, and what else it backs. Writing below any of these damages the system whatever
//! the user says, so no option overrides it.
//!
//! Where the kernel's account cannot be had, the answer is that nothing is known; and loop devices are asked a
//! second way.
//!
//! An exclusive open ([`super::open`]) is the kernel's own answer and covers mounts in other
//! name spaces as well; this comes first because it can say who and what to do. What neither
//! finds is a program that has the device open without a claim and without a lock, and a loop
//! device whose backing file was deleted under one of its names and is the target under another.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::describe::{Node, node_path};
use super::loops;
use super::refusal::{Usage, UsageKind, quoted};
use super::system::{Devno, System, Thing, Unknown, attribute, children, name_of, unescape};

/// Everything whose bytes would change when the target is written.
#[derive(Clone, Default, Debug)]
pub(super) struct Subject {
    /// The device, its partitions, the disk it is part of.
    pub(super) devices: Vec<Node>,
    /// The file, or the file below a loop device.
    pub(super) file: Option<(Thing, PathBuf)>,
    /// The directory in sysfs of the loop device that is the target: it uses its own file.
    pub(super) itself: Option<PathBuf>,
}

impl Subject {
    fn device(&self, number: Devno) -> Option<&str> {
        let node = self.devices.iter().find(|node| node.number == number)?;
        Some(&node.path)
    }

    /// The name of the part of the target that `thing` is.
    fn part(&self, thing: Thing) -> Option<String> {
        match thing {
            Thing::Device(number) => self.device(number).map(str::to_owned),
            Thing::File { .. } => {
                self.file.as_ref().filter(|file| file.0 == thing).map(|file| quoted(&file.1))
            }
        }
    }

    /// The part that `path` leads to. A path of another name space leads nowhere here, or
    /// elsewhere; then the same name is taken for the same thing.
    fn part_at(&self, path: &Path) -> Option<String> {
        match Thing::at(path) {
            Some(thing) => self.part(thing),
            None => {
                let of_file = self.file.as_ref().map(|file| file.1.as_path());
                let mut own =
                    of_file.into_iter().chain(self.devices.iter().map(|d| d.path.as_ref()));
                let same = own.find(|own| own.file_name() == path.file_name());
                same.map(quoted)
            }
        }
    }
}

/// The first use of the target that is found.
pub(super) fn find(system: &System, subject: &Subject) -> Result<Option<Usage>, Unknown> {
    system.answers()?;
    let checks = [mounted, btrfs_member, swap, held, backing, backing_by_itself];
    for check in checks {
        if let Some(usage) = check(system, subject)? {
            return Ok(Some(usage));
        }
    }
    Ok(None)
}

/// proc(5), mountinfo: 36 35 98:0 / /mnt rw,noatime master:1 - ext3 /dev/root rw.
fn mounted(system: &System, subject: &Subject) -> Result<Option<Usage>, Unknown> {
    // A kernel always has this table: without it, nothing is known.
    let name = "self/mountinfo";
    let table = system
        .table(name)?
        .ok_or_else(|| Unknown { path: system.proc.join(name), errno: rustix::io::Errno::NOENT })?;
    for line in table.lines() {
        let (before, after) = line.split_once(" - ").unwrap_or((line, ""));
        let mut fields = before.split(' ').skip(2);
        let number = fields.next().and_then(Devno::parse);
        let at = path_of(fields.nth(1).unwrap_or("?"));
        let source = path_of(after.split(' ').nth(1).unwrap_or(""));
        let part = number
            .and_then(|number| subject.device(number).map(str::to_owned))
            .or_else(|| sources(&source).into_iter().find_map(|path| part_of_mount(subject, path)));
        if let Some(part) = part {
            let at = quoted(&at);
            return Ok(Some(Usage {
                kind: UsageKind::Mounted,
                how: format!("{part} is mounted at {at}"),
                undo: format!("umount {at}"),
            }));
        }
    }
    Ok(None)
}

/// Only what resolves counts here: `/dev/root` is no path, and file systems that are no device's
/// may call their source anything.
fn part_of_mount(subject: &Subject, path: &Path) -> Option<String> {
    subject.part(Thing::at(path)?)
}

/// A file system of several devices may name them all, as `/dev/sda:/dev/sdb` (bcachefs).
fn sources(source: &Path) -> Vec<&Path> {
    let bytes = source.as_os_str().as_bytes();
    if !bytes.starts_with(b"/") {
        return vec![];
    }
    let mut paths = vec![source];
    paths.extend(bytes.split(|byte| *byte == b':').map(|part| Path::new(OsStr::from_bytes(part))));
    paths
}

/// Mountinfo names one device of a Btrfs of several; sysfs has them all.
fn btrfs_member(system: &System, subject: &Subject) -> Result<Option<Usage>, Unknown> {
    for member in system.expand("fs/btrfs/*/devices/*") {
        let number = attribute(&member.join("dev")).and_then(|text| Devno::parse(&text));
        if let Some(part) = number.and_then(|number| subject.device(number)) {
            let id = member.ancestors().nth(2).map(name_of).unwrap_or_default();
            return Ok(Some(Usage {
                kind: UsageKind::Mounted,
                how: format!("{part} is part of the mounted Btrfs file system {id}"),
                undo: format!("findmnt -S UUID={id}, then umount what it lists"),
            }));
        }
    }
    Ok(None)
}

/// proc(5), swaps: a header, then Filename Type Size Used Priority.
fn swap(system: &System, subject: &Subject) -> Result<Option<Usage>, Unknown> {
    let table = system.table("swaps")?.unwrap_or_default();
    for line in table.lines().skip(1) {
        let path = path_of(line.split([' ', '\t']).next().unwrap_or(""));
        if path.as_os_str().is_empty() {
            continue;
        }
        if let Some(part) = subject.part_at(undeleted(&path)) {
            return Ok(Some(Usage {
                kind: UsageKind::Swap,
                how: format!("{part} is active swap space"),
                undo: format!("swapoff {}", quoted(undeleted(&path))),
            }));
        }
    }
    Ok(None)
}

/// Documentation/ABI/stable/sysfs-block: `holders` has a link for each device built on this one.
fn held(_system: &System, subject: &Subject) -> Result<Option<Usage>, Unknown> {
    let holder = subject.devices.iter().find_map(|device| {
        let holder = children(&device.dir.join("holders"), "").into_iter().next()?;
        Some((device, holder))
    });
    Ok(holder.map(|(device, holder)| {
        let (what, undo) = words_for(&holder);
        Usage { kind: UsageKind::Held, how: format!("{} carries {what}", device.path), undo }
    }))
}

/// What a device that was built on another is, and what takes it apart.
fn words_for(holder: &Path) -> (String, String) {
    let node = node_path(holder);
    let kernel_name = name_of(holder);
    let Some(name) = attribute(&holder.join("dm/name")) else {
        return if kernel_name.starts_with("md") {
            (format!("the RAID {node}"), format!("mdadm --stop {node}"))
        } else if kernel_name.starts_with("bcache") {
            let stop = format!("/sys/block/{kernel_name}/bcache/stop");
            (format!("the cache {node}"), format!("echo 1 > {stop}"))
        } else {
            (node.clone(), format!("stop {node}"))
        };
    };
    let name = quoted(Path::new(&name));
    // The owner of a mapped device writes its name before the first dash.
    let uuid = attribute(&holder.join("dm/uuid")).unwrap_or_default();
    match uuid.split('-').next() {
        Some("LVM") => {
            (format!("the LVM volume {name}"), format!("lvchange -an /dev/mapper/{name}"))
        }
        Some("CRYPT") => {
            (format!("the encrypted device {name}"), format!("cryptsetup close {name}"))
        }
        Some("mpath") => (format!("the multipath device {name}"), format!("multipath -f {name}")),
        _ => (format!("the mapped device {name}"), format!("dmsetup remove {name}")),
    }
}

/// A place in sysfs where the path below a device or an export is written.
struct Backing {
    pattern: &'static str,
    /// Which ancestor of the attribute names the user.
    user: usize,
    /// What it is, and how it is undone; `{}` is the user's name.
    what: &'static str,
    undo: &'static str,
}

/// Documentation/ABI/testing/sysfs-block-zram, configfs-usb-gadget-mass-storage;
/// drivers/target/target_core_configfs.c; drivers/nvme/target/configfs.c; drivers/block/loop.c.
const BACKINGS: &[Backing] = &[
    Backing {
        pattern: "block/loop*/loop/backing_file",
        user: 2,
        what: "the loop device /dev/{}",
        undo: "losetup -d /dev/{}",
    },
    Backing {
        pattern: "block/zram*/backing_dev",
        user: 1,
        what: "the compressed memory /dev/{}",
        undo: "swapoff /dev/{0}; echo 1 > /sys/block/{0}/reset",
    },
    Backing {
        pattern: "kernel/config/target/core/*/*/udev_path",
        user: 1,
        what: "the exported SCSI disk {}",
        undo: "targetcli clearconfig confirm=True",
    },
    Backing {
        pattern: "kernel/config/nvmet/subsystems/*/namespaces/*/device_path",
        user: 3,
        what: "the exported NVMe subsystem {}",
        undo: "nvmetcli clear",
    },
    Backing {
        pattern: "kernel/config/usb_gadget/*/functions/*/lun.*/file",
        user: 4,
        what: "the USB gadget {}",
        undo: "echo > /sys/kernel/config/usb_gadget/{}/UDC",
    },
];

fn backing(system: &System, subject: &Subject) -> Result<Option<Usage>, Unknown> {
    for row in BACKINGS {
        for file in system.expand(row.pattern) {
            let Some(path) = attribute(&file).filter(|path| path.starts_with('/')) else {
                continue;
            };
            let user = file.ancestors().nth(row.user).unwrap_or(&file);
            let own = |dir: &PathBuf| name_of(dir) == name_of(user);
            if subject.itself.as_ref().is_some_and(own) {
                continue;
            }
            if let Some(part) = subject.part_at(undeleted(Path::new(&path))) {
                let fill = |text: &str| {
                    text.replace("{0}", "{}").replace("{}", &name_of(user).replace('!', "/"))
                };
                return Ok(Some(Usage {
                    kind: UsageKind::Backing,
                    how: format!("{part} backs {}", fill(row.what)),
                    undo: fill(row.undo),
                }));
            }
        }
    }
    Ok(None)
}

/// Loop devices that say themselves what they are over, whatever sysfs says.
fn backing_by_itself(system: &System, subject: &Subject) -> Result<Option<Usage>, Unknown> {
    let Some((file, path)) = &subject.file else { return Ok(None) };
    let itself = subject.itself.as_deref().map(name_of);
    let mut others = loops::bound(system)?.into_iter();
    let other = others.find(|it| it.below == Some(*file) && Some(&it.name) != itself.as_ref());
    Ok(other.map(|other| Usage {
        kind: UsageKind::Backing,
        how: format!("{} backs the loop device /dev/{}", quoted(path), other.name),
        undo: format!("losetup -d /dev/{}", other.name),
    }))
}

/// What the kernel appends to the path of an unlinked file (`d_path` in fs/d_path.c).
fn undeleted(path: &Path) -> &Path {
    let bytes = path.as_os_str().as_bytes();
    Path::new(OsStr::from_bytes(bytes.strip_suffix(b" (deleted)").unwrap_or(bytes)))
}

fn path_of(field: &str) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(&unescape(field)))
}

#[cfg(test)]
#[path = "in_use_tests.rs"]
mod tests;
