//! A sysfs and a /proc in a temporary directory, for machines that no test runs on.

use std::fs;
use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::system::{Devno, System};

pub(super) struct Machine {
    dir: TempDir,
}

impl Machine {
    pub(super) fn new() -> Machine {
        let machine = Machine { dir: tempfile::tempdir().expect("a temporary directory") };
        machine.proc("self/mountinfo", "");
        machine
    }

    pub(super) fn system(&self) -> System {
        let [sys, proc] = ["sys", "proc"].map(|name| self.dir.path().join(name));
        System { sys, proc, genuine: false }
    }

    /// A file in sysfs.
    pub(super) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.system().sys.join(name);
        fs::create_dir_all(path.parent().expect("it has one")).expect("it can be made");
        fs::write(path, content).expect("it can be written");
    }

    /// A file in /proc.
    pub(super) fn proc(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.system().proc.join(name);
        fs::create_dir_all(path.parent().expect("it has one")).expect("it can be made");
        fs::write(path, content).expect("it can be written");
    }

    /// A link in sysfs to a directory of sysfs.
    pub(super) fn link(&self, name: &str, to: &str) {
        let path = self.system().sys.join(name);
        fs::create_dir_all(path.parent().expect("it has one")).expect("it can be made");
        symlink(self.system().sys.join(to), path).expect("it can be linked");
    }

    pub(super) fn disk(&self, name: &str, number: Devno) {
        self.write(&format!("block/{name}/dev"), format!("{number}\n"));
        self.link(&format!("dev/block/{number}"), &format!("block/{name}"));
    }

    pub(super) fn partition(&self, disk: &str, name: &str, number: Devno) {
        self.write(&format!("block/{disk}/{name}/dev"), format!("{number}\n"));
        self.write(&format!("block/{disk}/{name}/partition"), "1\n");
        self.link(&format!("dev/block/{number}"), &format!("block/{disk}/{name}"));
    }
}
