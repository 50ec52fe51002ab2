use std::fs;

use super::super::describe::Disk;
use super::super::fake::Machine;
use super::*;

const SDB: Devno = Devno { major: 8, minor: 16 };
const SDB1: Devno = Devno { major: 8, minor: 17 };

/// A disk with a partition, as the target.
fn machine() -> (Machine, Subject) {
    let machine = Machine::new();
    machine.disk("sdb", SDB);
    machine.partition("sdb", "sdb1", SDB1);
    let disk = Disk::describe(&machine.system(), SDB).expect("it is there");
    (machine, Subject { devices: disk.related(), ..Subject::default() })
}

fn usage(machine: &Machine, subject: &Subject) -> Option<(UsageKind, String, String)> {
    let usage = find(&machine.system(), subject).expect("all of it can be read")?;
    Some((usage.kind, usage.how, usage.undo))
}

fn expect(machine: &Machine, subject: &Subject, kind: UsageKind, how: &str, undo: &str) {
    assert_eq!(usage(machine, subject), Some((kind, how.to_owned(), undo.to_owned())));
}

#[test]
fn a_disk_that_nothing_uses_is_free() {
    let (machine, subject) = machine();
    machine.proc("self/mountinfo", "27 1 254:0 / / rw - ext4 /dev/root rw\nnonsense\n\n36 35\n");
    machine.proc("swaps", "Filename\tType\n/dev/sdc1 partition 1 0 -2\n");
    assert_eq!(usage(&machine, &subject), None);
}

#[test]
fn a_mounted_partition_is_a_use_of_its_disk_and_the_reverse() {
    let (machine, subject) = machine();
    machine.proc("self/mountinfo", "36 35 8:17 / /mnt/my\\040x rw shared:1 - ext4 /dev/sdb1 rw\n");
    let how = "/dev/sdb1 is mounted at '/mnt/my x'";
    expect(&machine, &subject, UsageKind::Mounted, how, "umount '/mnt/my x'");

    machine.proc("self/mountinfo", "36 35 8:16 /sub /mnt rw - ext4 /dev/sdb rw\n");
    let part = Disk::describe(&machine.system(), SDB1).expect("it is there");
    let subject = Subject { devices: part.related(), ..Subject::default() };
    expect(&machine, &subject, UsageKind::Mounted, "/dev/sdb is mounted at /mnt", "umount /mnt");
}

#[test]
fn a_partition_beside_the_target_may_be_mounted() {
    let (machine, _) = machine();
    machine.partition("sdb", "sdb2", Devno { major: 8, minor: 18 });
    machine.proc("self/mountinfo", "36 35 8:18 / /mnt rw - ext4 /dev/sdb2 rw\n");
    let part = Disk::describe(&machine.system(), SDB1).expect("it is there");
    let subject = Subject { devices: part.related(), ..Subject::default() };
    assert_eq!(usage(&machine, &subject), None);
}

#[test]
fn a_file_named_as_a_mounts_source_is_mounted() {
    let (machine, mut subject) = machine();
    let dir = tempfile::tempdir().expect("a temporary directory");
    let image = dir.path().join("image:1");
    fs::write(&image, "x").expect("it can be written");
    subject.file = Thing::at(&image).map(|thing| (thing, image.clone()));
    for source in [image.display().to_string(), format!("/nowhere:{}", dir.path().display())] {
        machine.proc("self/mountinfo", format!("36 35 0:45 / /mnt rw - fuse.x {source} rw\n"));
        let expected = source.ends_with("image:1");
        assert_eq!(usage(&machine, &subject).is_some(), expected, "{source}");
    }
}

#[test]
fn every_device_of_a_btrfs_is_mounted() {
    let (machine, subject) = machine();
    machine.link("fs/btrfs/12-34/devices/sdb1", "block/sdb/sdb1");
    expect(
        &machine,
        &subject,
        UsageKind::Mounted,
        "/dev/sdb1 is part of the mounted Btrfs file system 12-34",
        "findmnt -S UUID=12-34, then umount what it lists",
    );
}

#[test]
fn swap_on_a_partition_or_in_a_file() {
    let (machine, mut subject) = machine();
    let header = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";
    machine.proc("swaps", format!("{header}/dev/sdb1 partition\t1\t0\t-2\n"));
    // The node of this machine that nobody has leads nowhere; its name is enough.
    let how = "/dev/sdb1 is active swap space";
    expect(&machine, &subject, UsageKind::Swap, how, "swapoff /dev/sdb1");

    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("swap file");
    fs::write(&file, "x").expect("it can be written");
    subject.file = Thing::at(&file).map(|thing| (thing, file.clone()));
    let escaped = file.display().to_string().replace(' ', "\\040");
    machine.proc("swaps", format!("{header}{escaped} file\t1\t0\t-2\n"));
    let undo = format!("swapoff {}", quoted(&file));
    let how = format!("{} is active swap space", quoted(&file));
    expect(&machine, &subject, UsageKind::Swap, &how, &undo);
}

#[test]
fn holders_are_named_with_what_ends_them() {
    for (holder, uuid, what, undo) in [
        ("dm-3", "LVM-x", "the LVM volume v", "lvchange -an /dev/mapper/v"),
        ("dm-3", "CRYPT-LUKS2-x", "the encrypted device v", "cryptsetup close v"),
        ("dm-3", "mpath-x", "the multipath device v", "multipath -f v"),
        ("dm-3", "", "the mapped device v", "dmsetup remove v"),
        ("md0", "", "the RAID /dev/md0", "mdadm --stop /dev/md0"),
        ("bcache0", "", "the cache /dev/bcache0", "echo 1 > /sys/block/bcache0/bcache/stop"),
        ("drbd0", "", "/dev/drbd0", "stop /dev/drbd0"),
    ] {
        let (machine, subject) = machine();
        machine.disk(holder, Devno { major: 253, minor: 3 });
        if holder == "dm-3" {
            machine.write("block/dm-3/dm/name", "v\n");
            machine.write("block/dm-3/dm/uuid", uuid);
        }
        machine.link(&format!("block/sdb/sdb1/holders/{holder}"), &format!("block/{holder}"));
        let how = format!("/dev/sdb1 carries {what}");
        expect(&machine, &subject, UsageKind::Held, &how, undo);
    }
}

#[test]
fn what_backs_something_is_in_use_but_not_by_itself() {
    for (attribute, what, undo) in [
        ("block/loop7/loop/backing_file", "the loop device /dev/loop7", "losetup -d /dev/loop7"),
        (
            "block/zram0/backing_dev",
            "the compressed memory /dev/zram0",
            "swapoff /dev/zram0; echo 1 > /sys/block/zram0/reset",
        ),
        (
            "kernel/config/target/core/fileio_0/disk1/udev_path",
            "the exported SCSI disk disk1",
            "targetcli clearconfig confirm=True",
        ),
        (
            "kernel/config/nvmet/subsystems/nqn.x/namespaces/1/device_path",
            "the exported NVMe subsystem nqn.x",
            "nvmetcli clear",
        ),
        (
            "kernel/config/usb_gadget/g1/functions/mass_storage.0/lun.0/file",
            "the USB gadget g1",
            "echo > /sys/kernel/config/usb_gadget/g1/UDC",
        ),
    ] {
        let (machine, mut subject) = machine();
        machine.write(attribute, "/dev/nowhere/sdb1\n");
        expect(&machine, &subject, UsageKind::Backing, &format!("/dev/sdb1 backs {what}"), undo);

        let dir = tempfile::tempdir().expect("a temporary directory");
        let file = dir.path().join("image");
        fs::write(&file, "x").expect("it can be written");
        subject.file = Thing::at(&file).map(|thing| (thing, file.clone()));
        for suffix in ["", " (deleted)"] {
            machine.write(attribute, format!("{}{suffix}\n", file.display()));
            let how = format!("{} backs {what}", quoted(&file));
            expect(&machine, &subject, UsageKind::Backing, &how, undo);
        }
        machine.write(attribute, "none\n");
        assert_eq!(usage(&machine, &subject), None);
        machine.write(attribute, "/nowhere/other\n");
        assert_eq!(usage(&machine, &subject), None);
    }

    let (machine, mut subject) = machine();
    machine.write("block/loop7/loop/backing_file", "/dev/sdb1\n");
    subject.itself = Some("/sys/block/loop7".into());
    assert_eq!(usage(&machine, &subject), None);
}

#[test]
fn without_the_table_of_mounts_nothing_is_known() {
    let (machine, subject) = machine();
    let mut system = machine.system();
    system.proc = "/nowhere".into();
    assert!(find(&system, &subject).is_err());
}
