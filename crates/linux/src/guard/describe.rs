//! A block device as sysfs describes it. Only attributes are opened.

use std::path::{Path, PathBuf};

use super::refusal::one_line;
use super::system::{Devno, System, Unknown, attribute, children, name_of, number};

/// A device by the name of its node, `/dev/sdb1`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Node {
    pub(super) number: Devno,
    pub(super) path: String,
    /// Its directory in sysfs.
    pub(super) dir: PathBuf,
}

/// A block device: a whole disk or a partition of one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Disk {
    pub(super) node: Node,
    /// The disk that `node` is a partition of.
    pub(super) whole: Option<Node>,
    /// The partitions of `node`, if it is a whole disk.
    pub(super) partitions: Vec<Node>,
    pub(super) model: Option<String>,
    pub(super) serial: Option<String>,
    pub(super) firmware: Option<String>,
    pub(super) rotational: Option<bool>,
    pub(super) discard: bool,
    pub(super) read_only: bool,
    pub(super) host_managed: bool,
    pub(super) logical_block_bytes: u32,
    pub(super) queue_depth: u32,
    /// Differs between two disks that got the same number one after the other.
    pub(super) sequence: Option<u64>,
}

/// What the block layer gives a queue that says nothing, as one of a loop device's bio path may
/// (`BLKDEV_DEFAULT_RQ` in include/linux/blkdev.h).
pub(super) const DEFAULT_QUEUE_DEPTH: u32 = 128;

/// The sector of a device that states no other (Documentation/ABI/stable/sysfs-block).
const DEFAULT_BLOCK_BYTES: u32 = 512;

impl Disk {
    pub(super) fn describe(system: &System, number: Devno) -> Result<Disk, Unknown> {
        let node = node(system.device_dir(number)?, number);
        let whole = whole_of(&node);
        let dir = whole.as_ref().map_or(&node.dir, |whole| &whole.dir).clone();
        let queue = dir.join("queue");
        let unsigned = |name: &str| self::number(&queue.join(name));
        Ok(Disk {
            partitions: partitions_of(&node),
            model: model(&dir),
            serial: serial(&dir),
            firmware: firmware(&dir),
            rotational: unsigned("rotational").map(|value| value != 0),
            discard: unsigned("discard_max_bytes").is_some_and(|bytes| bytes > 0),
            read_only: [&node.dir, &dir]
                .iter()
                .any(|dir| self::number(&dir.join("ro")).is_some_and(|value| value != 0)),
            host_managed: attribute(&queue.join("zoned")).as_deref() == Some("host-managed"),
            logical_block_bytes: unsigned("logical_block_size")
                .and_then(|bytes| u32::try_from(bytes).ok())
                .filter(|bytes| bytes.is_power_of_two() && *bytes >= DEFAULT_BLOCK_BYTES)
                .unwrap_or(DEFAULT_BLOCK_BYTES),
            queue_depth: unsigned("nr_requests")
                .and_then(|requests| u32::try_from(requests).ok())
                .filter(|requests| *requests > 0)
                .unwrap_or(DEFAULT_QUEUE_DEPTH),
            sequence: self::number(&dir.join("diskseq")),
            node,
            whole,
        })
    }

    /// The device with all that shares its sectors: its partitions, or the disk it is part of.
    pub(super) fn related(&self) -> Vec<Node> {
        let mut nodes = vec![self.node.clone()];
        nodes.extend(self.whole.clone());
        nodes.extend(self.partitions.iter().cloned());
        nodes
    }

    /// What a loop device shows: the path of its backing file or device.
    pub(super) fn backing(&self) -> Option<String> {
        let dir = self.whole.as_ref().map_or(&self.node.dir, |whole| &whole.dir);
        attribute(&dir.join("loop/backing_file"))
    }
}

/// The nodes of other disks that state the same serial number as `disk`.
pub(super) fn namesakes(system: &System, disk: &Disk) -> Vec<String> {
    let same = |dir: &PathBuf| {
        let number = attribute(&dir.join("dev")).and_then(|text| Devno::parse(&text));
        number.is_some_and(|number| number != disk.node.number) && serial(dir) == disk.serial
    };
    system.disks().into_iter().filter(same).map(|dir| node_path(&dir)).collect()
}

/// The path of the node whose sysfs directory this is. The kernel writes the `/` of
/// `/dev/cciss/c0d0` as `!` there (`device_get_devnode` in drivers/base/core.c).
pub(super) fn node_path(dir: &Path) -> String {
    format!("/dev/{}", name_of(dir).replace('!', "/"))
}

fn node(dir: PathBuf, number: Devno) -> Node {
    Node { number, path: node_path(&dir), dir }
}

fn whole_of(part: &Node) -> Option<Node> {
    if !part.dir.join("partition").exists() {
        return None;
    }
    let dir = part.dir.parent()?.to_owned();
    let number = Devno::parse(&attribute(&dir.join("dev"))?)?;
    Some(node(dir, number))
}

fn partitions_of(disk: &Node) -> Vec<Node> {
    children(&disk.dir, "")
        .into_iter()
        .filter(|dir| dir.join("partition").exists())
        .filter_map(|dir| {
            let number = Devno::parse(&attribute(&dir.join("dev"))?)?;
            Some(node(dir, number))
        })
        .collect()
}

/// A SATA drive's own name has 40 characters and the SCSI inquiry only 16, so the ATA
/// information page comes first; then SCSI and NVMe `model`, then the `name` of an SD card.
fn model(dir: &Path) -> Option<String> {
    let device = dir.join("device");
    ata_string(dir, 27, 20)
        .or_else(|| attribute(&device.join("model")))
        .or_else(|| attribute(&device.join("name")))
        .map(|text| one_line(&text))
}

/// NVMe and SD cards have `device/serial`, virtio `serial`, SCSI and SATA the unit serial number
/// page 80h; a disk without one may still have a world wide name.
fn serial(dir: &Path) -> Option<String> {
    let device = dir.join("device");
    attribute(&device.join("serial"))
        .or_else(|| attribute(&dir.join("serial")))
        .or_else(|| page_80(&device.join("vpd_pg80")))
        .or_else(|| attribute(&device.join("wwid")))
        .or_else(|| attribute(&dir.join("wwid")))
        .map(|text| one_line(&text))
}

fn firmware(dir: &Path) -> Option<String> {
    let device = dir.join("device");
    ata_string(dir, 23, 4)
        .or_else(|| attribute(&device.join("firmware_rev")))
        .or_else(|| attribute(&device.join("rev")))
        .or_else(|| attribute(&device.join("fwrev")))
        .map(|text| one_line(&text))
}

/// SPC-4 7.8.15: page length in bytes 2 and 3, then the number in ASCII.
fn page_80(path: &Path) -> Option<String> {
    let page = std::fs::read(path).ok()?;
    let length = usize::from(u16::from_be_bytes([*page.get(2)?, *page.get(3)?]));
    let text = page.get(4..4 + length).or_else(|| page.get(4..))?;
    trimmed(text)
}

/// SAT-3 12.4.2: the ATA information page 89h has IDENTIFY DEVICE from byte 60. ACS-3 7.12.7:
/// its strings have the first character in the high byte of each little-endian word.
fn ata_string(dir: &Path, word: usize, words: usize) -> Option<String> {
    let page = std::fs::read(dir.join("device/vpd_pg89")).ok()?;
    let from = 60 + 2 * word;
    let text: Vec<u8> = page
        .get(from..from + 2 * words)?
        .chunks_exact(2)
        .flat_map(|word| [word[1], word[0]])
        .collect();
    trimmed(&text)
}

fn trimmed(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::fake::Machine;
    use super::*;

    const SDB: Devno = Devno { major: 8, minor: 16 };

    #[test]
    fn a_sata_drive_is_described_by_its_vital_product_data() {
        let machine = Machine::new();
        machine.disk("sdb", SDB);
        machine.write("block/sdb/device/model", "Samsung SSD 840 \n");
        machine.write("block/sdb/device/rev", "3B0Q\n");
        machine.write("block/sdb/device/vpd_pg80", b"\x00\x80\x00\x14     S1D5NSBF12345  ");
        machine.write("block/sdb/queue/logical_block_size", "512\n");
        machine.write("block/sdb/queue/rotational", "0\n");
        machine.write("block/sdb/queue/discard_max_bytes", "2147450880\n");
        machine.write("block/sdb/queue/nr_requests", "64\n");
        let disk = Disk::describe(&machine.system(), SDB).expect("it is there");
        assert_eq!(disk.node.path, "/dev/sdb");
        assert_eq!(disk.model.as_deref(), Some("Samsung SSD 840"));
        assert_eq!(disk.serial.as_deref(), Some("S1D5NSBF12345"));
        assert_eq!(disk.firmware.as_deref(), Some("3B0Q"));
        assert_eq!(disk.rotational, Some(false));
        assert!(disk.discard && !disk.read_only && !disk.host_managed);
        assert_eq!((disk.logical_block_bytes, disk.queue_depth), (512, 64));

        // With the ATA page the model is whole.
        let mut page = vec![0; 572];
        let swapped = |text: &str| -> Vec<u8> {
            text.as_bytes().chunks_exact(2).flat_map(|pair| [pair[1], pair[0]]).collect()
        };
        let name = format!("{:40}", "Samsung SSD 840 PRO Series");
        page[60 + 54..60 + 94].copy_from_slice(&swapped(&name));
        page[60 + 46..60 + 54].copy_from_slice(&swapped("DXM03B0Q"));
        machine.write("block/sdb/device/vpd_pg89", page);
        let disk = Disk::describe(&machine.system(), SDB).expect("it is there");
        assert_eq!(disk.model.as_deref(), Some("Samsung SSD 840 PRO Series"));
        assert_eq!(disk.firmware.as_deref(), Some("DXM03B0Q"));
    }

    #[test]
    fn an_nvme_drive_has_its_controllers_name() {
        let machine = Machine::new();
        let number = Devno { major: 259, minor: 0 };
        machine.disk("nvme0n1", number);
        machine.write("block/nvme0n1/device/model", "Samsung SSD 960 EVO 250GB               \n");
        machine.write("block/nvme0n1/device/serial", "S3ESNX0J      \n");
        machine.write("block/nvme0n1/device/firmware_rev", "2B7QCXE7\n");
        machine.write("block/nvme0n1/wwid", "eui.0025385\n");
        let disk = Disk::describe(&machine.system(), number).expect("it is there");
        assert_eq!(disk.model.as_deref(), Some("Samsung SSD 960 EVO 250GB"));
        assert_eq!(disk.serial.as_deref(), Some("S3ESNX0J"));
        assert_eq!(disk.firmware.as_deref(), Some("2B7QCXE7"));
        assert_eq!(namesakes(&machine.system(), &disk), Vec::<String>::new());

        // A second name space of the same controller has the same serial number.
        machine.disk("nvme0n2", Devno { major: 259, minor: 1 });
        machine.write("block/nvme0n2/device/serial", "S3ESNX0J\n");
        // And a multipath path is no disk of its own.
        machine.disk("nvme0c0n1", Devno { major: 259, minor: 2 });
        machine.write("block/nvme0c0n1/device/serial", "S3ESNX0J\n");
        machine.write("block/nvme0c0n1/hidden", "1\n");
        assert_eq!(namesakes(&machine.system(), &disk), ["/dev/nvme0n2"]);
    }

    #[test]
    fn a_partition_is_described_by_its_disk() {
        let machine = Machine::new();
        machine.disk("sdb", SDB);
        machine.partition("sdb", "sdb1", Devno { major: 8, minor: 17 });
        machine.write("block/sdb/device/model", "Disk\n");
        machine.write("block/sdb/queue/zoned", "host-managed\n");
        machine.write("block/sdb/ro", "1\n");
        let system = machine.system();
        let part = Disk::describe(&system, Devno { major: 8, minor: 17 }).expect("it is there");
        assert_eq!(part.whole.as_ref().map(|whole| whole.path.as_str()), Some("/dev/sdb"));
        assert_eq!(part.model.as_deref(), Some("Disk"));
        assert!(part.read_only && part.host_managed && part.partitions.is_empty());
        let whole = Disk::describe(&system, SDB).expect("it is there");
        let paths: Vec<_> = whole.related().into_iter().map(|node| node.path).collect();
        assert_eq!(paths, ["/dev/sdb", "/dev/sdb1"]);
    }

    #[test]
    fn nonsense_in_sysfs_is_no_number_and_no_panic() {
        let machine = Machine::new();
        machine.disk("cciss!c0d0", SDB);
        for (name, text) in [
            ("queue/logical_block_size", "513\n"),
            ("queue/nr_requests", "-1\n"),
            ("queue/rotational", "yes\n"),
            ("device/vpd_pg80", "\0"),
            ("device/vpd_pg89", "short"),
            ("device/model", "two\nlines\u{7}\n"),
        ] {
            machine.write(&format!("block/cciss!c0d0/{name}"), text);
        }
        let disk = Disk::describe(&machine.system(), SDB).expect("it is there");
        assert_eq!(disk.node.path, "/dev/cciss/c0d0");
        assert_eq!((disk.logical_block_bytes, disk.queue_depth), (512, DEFAULT_QUEUE_DEPTH));
        assert_eq!((disk.rotational, disk.serial), (None, None));
        assert_eq!(disk.model.as_deref(), Some("two lines"));
    }

    #[test]
    fn a_device_that_sysfs_does_not_know_is_unknown() {
        let machine = Machine::new();
        assert!(Disk::describe(&machine.system(), SDB).is_err());
    }
}
