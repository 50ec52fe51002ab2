use fourcorners_drive::Geometry;

use super::super::fake::Machine;
use super::super::system::Devno;
use super::*;

const SDB: Devno = Devno { major: 8, minor: 16 };
const SDB1: Devno = Devno { major: 8, minor: 17 };

/// A disk with a serial number and a partition.
fn machine() -> Machine {
    let machine = Machine::new();
    machine.disk("sdb", SDB);
    machine.partition("sdb", "sdb1", SDB1);
    machine.write("block/sdb/device/vpd_pg80", b"\0\x80\0\x08  S1D5NS");
    machine
}

fn target(number: Devno) -> RealTarget {
    RealTarget {
        path: "/dev/nowhere/sdb".into(),
        canonical: "/dev/nowhere/sdb".into(),
        kind: Kind::Device,
        geometry: Geometry { sectors: 1 << 20, logical_block_bytes: 512, queue_depth: 32 },
        model: Some("Samsung SSD 840".into()),
        serial: Some("S1D5NS".into()),
        firmware: None,
        rotational: Some(false),
        discard: true,
        read_only: false,
        partition_of: None,
        backing: None,
        thing: Thing::Device(number),
        sequence: None,
        bytes: 1 << 29,
        unmarked_scratch: false,
    }
}

fn named(machine: &Machine, number: Devno, names: &[&str]) -> Result<bool, Refusal> {
    let target = target(number);
    let checks = Checks::on(machine.system(), &target).expect("sysfs has it");
    checks.named(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
}

#[test]
fn a_serial_number_names_its_disk_exactly() {
    let machine = machine();
    assert_eq!(named(&machine, SDB, &["other", "S1D5NS"]), Ok(true));
    assert_eq!(named(&machine, SDB, &[" S1D5NS "]), Ok(true));
    for other in ["", " ", "S1D5N", "s1d5ns", "S1D5NSX", "sdb", "/", "."] {
        assert_eq!(named(&machine, SDB, &[other]), Ok(false), "{other:?}");
    }
    assert_eq!(named(&machine, SDB, &[]), Ok(false));
}

#[test]
fn a_serial_number_does_not_name_a_partition() {
    assert_eq!(named(&machine(), SDB1, &["S1D5NS"]), Ok(false));
}

#[test]
fn a_disk_without_a_serial_number_is_not_named_by_nothing() {
    let machine = Machine::new();
    machine.disk("sdb", SDB);
    assert_eq!(named(&machine, SDB, &["", " "]), Ok(false));
}

#[test]
fn a_serial_number_of_two_disks_names_neither() {
    let machine = machine();
    machine.disk("sdc", Devno { major: 8, minor: 32 });
    machine.write("block/sdc/device/serial", "S1D5NS\n");
    let refusal = named(&machine, SDB, &["S1D5NS"]).expect_err("there are two");
    assert_eq!(
        refusal.to_string(),
        "S1D5NS is the serial number of more than one disk here (/dev/sdb, /dev/sdc): name the \
         one you mean by its path"
    );
}

#[test]
fn write_protected_and_host_managed_drives_are_refused() {
    // Something that may be written stands in for the node.
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let handle = Handle::get(file.path()).expect("it is there");
    let target = target(SDB);
    let machine = machine();
    let refusal = || {
        let checks = Checks::on(machine.system(), &target).expect("sysfs has it");
        checks.writable(&handle).map_err(|refusal| refusal.to_string())
    };
    assert_eq!(refusal(), Ok(()));
    machine.write("block/sdb/queue/zoned", "host-managed\n");
    let line = refusal().expect_err("it is zoned");
    assert!(line.contains("is a host-managed zoned drive"), "{line}");
    machine.write("block/sdb/ro", "1\n");
    let line = refusal().expect_err("it is write-protected");
    assert!(line.starts_with("/dev/nowhere/sdb (Samsung SSD 840, serial S1D5NS, 536.9 MB) is "));
    assert!(line.contains("blockdev --setrw /dev/nowhere/sdb"), "{line}");
}
