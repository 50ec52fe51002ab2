//! The files and devices below loop devices, asked of the devices themselves.
//!
//! Sysfs names them by a path, which may lead elsewhere in another name space, and may itself be hidden
//! from this one. A device says the file system and the inode (`LOOP_GET_STATUS64` in
//! include/uapi/linux/loop.h), where this user may open it.

#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::AsFd;
use std::path::PathBuf;

use rustix::io::Errno;
use rustix::ioctl::{Getter, Opcode, ioctl};

use super::lock::patiently;
use super::system::{System, Thing, Unknown, attribute};

/// `struct loop_info64`, of which the rest is of no use here.
#[repr(C)]
struct LoopInfo {
    device: u64,
    inode: u64,
    _rest: [u64; 27],
}

/// `LOOP_GET_STATUS64`.
const GET_STATUS: Opcode = 0x4c05;

/// The file that an open loop device, or a partition of one, is over.
pub(super) fn file_below(device: impl AsFd) -> Result<Thing, Errno> {
    // SAFETY: the kernel fills a loop_info64, of 232 bytes, for this request and nothing else.
    let info = unsafe { ioctl(device, Getter::<GET_STATUS, LoopInfo>::new()) }?;
    // The kernel encodes as `new_encode_dev` in include/linux/kdev_t.h.
    let device = info.device;
    let (major, minor) = (device >> 8 & 0xfff, device & 0xff | device >> 12 & 0xf_ff00);
    Ok(Thing::File { dev: rustix::fs::makedev(major as u32, minor as u32), ino: info.inode })
}

/// A loop device that is over something.
pub(super) struct Bound {
    /// Its name, `loop0`.
    pub(super) name: String,
    /// What it says itself; `None` where sysfs has to do.
    pub(super) below: Option<Thing>,
}

/// All loop devices that are over something, after /proc/partitions, which is there whatever is mounted
/// over sysfs.
///
/// # Errors
/// Neither sysfs nor the device itself says what one of them is over.
pub(super) fn bound(system: &System) -> Result<Vec<Bound>, Unknown> {
    // One that was just taken away is in the table no longer when that is read again.
    patiently(|| ask(system), |_| true)
}

fn ask(system: &System) -> Result<Vec<Bound>, Unknown> {
    let table = system.table("partitions")?.unwrap_or_default();
    let names = table.lines().filter_map(|line| line.split_whitespace().nth(3));
    let whole = |name: &&str| {
        let number = name.strip_prefix("loop");
        number.is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let one = |name: &str| {
        let said = attribute(&system.sys.join(format!("block/{name}/loop/backing_file")));
        let node = PathBuf::from("/dev").join(name);
        let below = File::open(&node).map_err(|error| super::system::errno_of(&error));
        match below.and_then(file_below) {
            Ok(below) => Ok(Bound { name: name.into(), below: Some(below) }),
            Err(_) if said.is_some() => Ok(Bound { name: name.into(), below: None }),
            Err(errno) => Err(Unknown { path: node, errno }),
        }
    };
    names.filter(whole).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fake::Machine;
    use super::*;

    const TABLE: &str = "major minor  #blocks  name\n\n   7     4211        100 loop4211\n \
                          259        1         50 loop4211p1\n   8        0        100 sda\n";

    #[test]
    fn a_loop_device_of_which_nothing_answers_is_unknown() {
        let machine = Machine::new();
        assert!(bound(&machine.system()).is_ok_and(|bound| bound.is_empty()), "there are none");
        machine.proc("partitions", TABLE);
        let error = bound(&machine.system()).err().expect("nobody says what it is over");
        assert_eq!(error.path, PathBuf::from("/dev/loop4211"));
        machine.write("block/loop4211/loop/backing_file", "/x\n");
        let bound = bound(&machine.system()).expect("sysfs says it");
        assert!(bound.len() == 1 && bound[0].name == "loop4211" && bound[0].below.is_none());
    }
}
