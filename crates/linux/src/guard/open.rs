//! Opening a target, with everything checked again on what was opened.

use std::fs::File;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::in_memory::{self, InMemory};
use super::lock::{Share, lock};
use super::permit::{Checks, Permission, may_write, open_refusal, same, unchanged};
use super::refusal::{Refusal, os_refusal};
use super::scratch;
use super::system::System;
use super::target::{Kind, RealTarget};

/// An open target. A device opened for writing stays claimed, and a file locked, until `file`
/// is closed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Opened {
    /// The device or file.
    pub file: File,
    /// What has to be kept as long as it is written.
    pub lease: Lease,
    /// Whether I/O bypasses the page cache. False only where the file system has no direct I/O;
    /// then memory is measured, which a report has to say.
    pub direct: bool,
}

impl Opened {
    /// What is known to answer in place of a drive now, which a report has to say. A file that is written once before it is
    /// measured has no holes any more.
    pub fn in_memory(&self, target: &RealTarget) -> Option<InMemory> {
        in_memory::behind(&System::real(), (target.kind, target.thing), &self.file, self.direct)
    }
}

/// The right to write a target: the lock on the file below a loop device, and the mark of a scratch file,
/// which is taken away meanwhile and given again when this is dropped, after the last write.
#[derive(Debug, Default)]
pub struct Lease {
    scratch: Option<File>,
    _below: Option<File>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(file) = &self.scratch {
            // Without it the file has to be named the next time.
            let _ = scratch::mark(file);
        }
    }
}

/// Opens for writing what [`may_write`] allows.
///
/// The device is claimed (`O_EXCL`), so that nothing can mount it meanwhile; then everything is
/// checked once more, on what was opened.
///
/// # Errors
/// The [`Refusal`] to show.
pub fn open_for_writing(target: &RealTarget, permission: &Permission) -> Result<Opened, Refusal> {
    may_write(target, permission)?;
    let handle = same(target)?;
    let opened = open(target, OFlags::RDWR)?;
    let checks = Checks::new(target)?;
    unchanged(target, &opened.file)?;
    // Direct reads would have to be aligned, and page-cache reads of the same inode see the same.
    let reader =
        handle.reopen(OFlags::RDONLY).map_err(|errno| open_refusal(target, "read", errno))?;
    checks.all(&handle, &reader, permission)?;
    // Keeps a second run off a file, as the claim does for a device. Last, because NFS makes it
    // a lock that the checks would find.
    if target.kind == Kind::File {
        lock(&opened.file, Share::No).map_err(|holder| checks.locked(&holder))?;
    }
    let below = checks.below(&reader)?;
    if let Some((file, share)) = &below {
        lock(file, *share).map_err(|holder| checks.locked(&holder))?;
    }
    let is_scratch = target.kind == Kind::File && scratch::was_created(&reader);
    if is_scratch {
        scratch::mark_in_use(&opened.file)
            .map_err(|errno| os_refusal(target.to_string(), "written", errno))?;
    }
    let lease = Lease { scratch: is_scratch.then_some(reader), _below: below.map(|it| it.0) };
    Ok(Opened { lease, ..opened })
}

/// Opens for reading, for which no permission is needed and nothing is claimed.
///
/// # Errors
/// The [`Refusal`] to show.
pub fn open_for_reading(target: &RealTarget) -> Result<Opened, Refusal> {
    let opened = open(target, OFlags::RDONLY)?;
    unchanged(target, &opened.file)?;
    Ok(opened)
}

fn open(target: &RealTarget, access: OFlags) -> Result<Opened, Refusal> {
    let handle = same(target)?;
    let claims = access == OFlags::RDWR && target.kind == Kind::Device;
    let action = if access == OFlags::RDWR { "written" } else { "read" };
    let refusal = |errno| open_refusal(target, action, errno);
    let file = untimed(access | OFlags::DIRECT, |flags| match claims {
        true => handle.claim(flags),
        false => handle.reopen(flags),
    });
    let opened = |file, direct| Opened { file, lease: Lease::default(), direct };
    match file {
        Ok(file) => Ok(opened(file, true)),
        // open(2): the file system does not support O_DIRECT.
        Err(Errno::INVAL) if target.kind == Kind::File => {
            let file = untimed(access, |flags| handle.reopen(flags)).map_err(refusal)?;
            Ok(opened(file, false))
        }
        Err(errno) => Err(refusal(errno)),
    }
}

/// Opens so that a read does not set the time of the last access, which is a write of its own and is asked about at
/// each read. Only the owner and root may do that (open(2)); who else may read opens without.
fn untimed(flags: OFlags, open: impl Fn(OFlags) -> Result<File, Errno>) -> Result<File, Errno> {
    match open(flags | OFlags::NOATIME) {
        Err(Errno::PERM) => open(flags),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_not_own_it_opens_it_all_the_same() {
        let asked = std::cell::RefCell::new(Vec::new());
        let opened = untimed(OFlags::DIRECT, |flags| {
            asked.borrow_mut().push(flags);
            if flags.contains(OFlags::NOATIME) { Err(Errno::PERM) } else { Err(Errno::ACCESS) }
        });
        assert_eq!(opened.err(), Some(Errno::ACCESS));
        assert_eq!(*asked.borrow(), [OFlags::DIRECT | OFlags::NOATIME, OFlags::DIRECT]);
    }
}
