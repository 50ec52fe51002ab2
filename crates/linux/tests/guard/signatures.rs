//! Every signature that a real tool can make, on a file or a loop device.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use fourcorners_linux::guard::{Permission, Refusal, inspect, may_write};
use fourcorners_testing::skipped;

use crate::bench::{Image, Loop, MIB, run_with};

/// What is needed for the tool.
#[derive(Clone, Copy, PartialEq)]
enum On {
    File,
    /// A loop device with sectors of this size.
    Loop(u32),
}

struct Case {
    name: &'static str,
    on: On,
    mib: u64,
    /// `{}` is the file or device, `{dir}` a directory with a file in it.
    command: &'static str,
    input: &'static str,
    /// Bytes to zero afterwards: what is left has to be enough.
    wipe: u64,
}

const fn on(on: On, name: &'static str, mib: u64, command: &'static str) -> Case {
    Case { name, on, mib, command, input: "", wipe: 0 }
}

const fn file(name: &'static str, mib: u64, command: &'static str) -> Case {
    on(On::File, name, mib, command)
}

const LUKS: &str = "cryptsetup luksFormat -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 --type";

fn cases() -> Vec<Case> {
    let gpt = |on, wipe| Case {
        name: "GPT partition table",
        on,
        mib: 32,
        command: "sfdisk -q --no-reread {}",
        input: "label: gpt\n,8M\n,8M\n",
        wipe,
    };
    let luks =
        |name, command, wipe| Case { name, on: On::File, mib: 32, command, input: "x", wipe };
    vec![
        file("ext2/ext3/ext4", 32, "mkfs.ext2 -q -F {}"),
        file("ext2/ext3/ext4", 32, "mkfs.ext3 -q -F {}"),
        file("ext2/ext3/ext4", 32, "mkfs.ext4 -q -F {}"),
        file("ext2/ext3/ext4", 32, "mkfs.ext4 -q -F -b 4096 -O ^has_journal {}"),
        file("XFS", 320, "mkfs.xfs -q -f {}"),
        file("Btrfs", 128, "mkfs.btrfs -q -f {}"),
        Case { wipe: MIB, ..file("Btrfs", 128, "mkfs.btrfs -q -f {}") },
        file("F2FS", 64, "mkfs.f2fs -q -f {}"),
        file("NTFS", 32, "mkntfs -q -F -Q {}"),
        file("FAT", 16, "mkfs.vfat -F 12 -s 16 {}"),
        file("FAT", 32, "mkfs.vfat -F 16 {}"),
        file("FAT", 64, "mkfs.vfat -F 32 {}"),
        on(On::Loop(4096), "FAT", 300, "mkfs.vfat -F 32 -S 4096 {}"),
        file("exFAT", 32, "mkfs.exfat {}"),
        file("HFS+", 32, "mkfs.hfsplus {}"),
        file("APFS", 32, "mkapfs {}"),
        file("ISO 9660", 16, "genisoimage -quiet -o {} {dir}"),
        file("UDF", 32, "mkudffs {}"),
        file("UDF", 32, "mkudffs -b 4096 {}"),
        file("ReiserFS", 64, "mkreiserfs -q -ff {}"),
        file("JFS", 32, "mkfs.jfs -q {}"),
        file("NILFS2", 256, "mkfs.nilfs2 -q -f {}"),
        Case { wipe: MIB, ..file("NILFS2", 256, "mkfs.nilfs2 -q -f {}") },
        file("EROFS", 16, "mkfs.erofs --quiet {} {dir}"),
        file("SquashFS", 16, "mksquashfs {dir} {} -noappend -quiet -no-progress"),
        file("cramfs", 16, "mkfs.cramfs {dir} {}"),
        file("MINIX", 32, "mkfs.minix -1 {}"),
        file("MINIX", 32, "mkfs.minix -2 {}"),
        file("MINIX", 32, "mkfs.minix -3 {}"),
        file("bcachefs", 64, "bcachefs format -q {}"),
        file("bcache", 32, "bcache make -B {}"),
        file("bcache", 32, "make-bcache -B {}"),
        file("OCFS2", 64, "mkfs.ocfs2 -q -F -M local {}"),
        file("GFS2", 64, "mkfs.gfs2 -q -O -p lock_nolock {}"),
        file("swap", 16, "mkswap {}"),
        file("swap", 16, "mkswap --pagesize 8192 {}"),
        file("swap", 16, "mkswap --pagesize 65536 {}"),
        on(On::Loop(512), "LVM2 physical volume", 32, "pvcreate -q {}"),
        on(On::Loop(4096), "LVM2 physical volume", 32, "pvcreate -q {}"),
        luks("LUKS", concat_luks("luks1"), 0),
        luks("LUKS", concat_luks("luks2"), 0),
        luks("LUKS2 (second header)", concat_luks("luks2"), 4096),
        on(On::Loop(512), "DRBD", 32, "drbdmeta --force 0 v08 {} internal create-md"),
        on(On::Loop(512), "DRBD", 32, "drbdmeta --force 0 v09 {} internal create-md 1"),
        gpt(On::File, 0),
        gpt(On::File, MIB),
        gpt(On::Loop(4096), 0),
        gpt(On::Loop(4096), MIB),
        Case {
            input: "label: dos\n,8M\n",
            ..file("MBR partition table", 32, "sfdisk -q --no-reread {}")
        },
        Case { input: "label: dos\n", ..file("MBR partition table", 32, "sfdisk -q {}") },
        file("Apple partition map", 32, "parted -s {} mklabel mac"),
        file("Sun disk label", 32, "parted -s {} mklabel sun"),
        file("SGI disk label", 32, "parted -s {} mklabel dvh"),
        file("BSD disk label", 32, "parted -s {} mklabel bsd"),
        file("Amiga partition table", 32, "parted -s {} mklabel amiga"),
        file("QCOW image", 16, "qemu-img create -q -f qcow2 {} 1G"),
        file("VDI image", 16, "qemu-img create -q -f vdi {} 1G"),
        file("VMDK image", 16, "qemu-img create -q -f vmdk {} 1G"),
        file("VHDX image", 16, "qemu-img create -q -f vhdx {} 1G"),
        file("VHD image", 16, "qemu-img create -q -f vpc {} 1G"),
    ]
}

fn concat_luks(version: &str) -> &'static str {
    // A command that outlives the table costs a few bytes once.
    Box::leak(format!("{LUKS} {version} {{}} -").into_boxed_str())
}

/// Makes one, and returns what has it: the image and the path to give.
fn make(case: &Case) -> Option<(Image, Option<Loop>)> {
    let image = Image::new(case.mib * MIB);
    let source = image.dir.path().join("source");
    fs::create_dir(&source).and_then(|()| fs::write(source.join("file"), "x")).expect("a file");
    let dir = source.to_str().expect("temporary paths are text").to_owned();
    let act = |path: &str| {
        let line = case.command.replace("{dir}", &dir).replace("{}", path);
        let words: Vec<&str> = line.split(' ').collect();
        let feature = format!("signature-{}", case.name.replace(' ', "-"));
        run_with(&words, case.input)
            .map_err(|error| skipped(&feature, format!("{}: {error}", case.name)))
    };
    let (image, device) = match case.on {
        On::File => {
            act(image.text()).ok()?;
            (image, None)
        }
        On::Loop(sector) => {
            let sector = sector.to_string();
            let device = Loop::over(image, &["--sector-size", &sector])?;
            act(&device.node).ok()?;
            let path = device.path().to_owned();
            let file = OpenOptions::new().read(true).open(path).expect("it can be opened");
            file.sync_all().expect("it can be synced");
            (Image::new(0), Some(device))
        }
    };
    let backing = device.as_ref().map_or(&image, |device| &device.image);
    let file = OpenOptions::new().write(true).open(&backing.path).expect("it can be written");
    let least = 16 * MIB;
    if file.metadata().expect("it is there").len() < least {
        // Tools that write a whole image make it as short as it can be.
        file.set_len(least).expect("it can be sized");
    }
    file.write_all_at(&vec![0; case.wipe as usize], 0).expect("it can be written");
    file.sync_all().expect("it can be synced");
    if case.wipe > 0
        && let Some(device) = &device
    {
        run_with(&["blockdev", "--flushbufs", &device.node], "").expect("it can be flushed");
    }
    Some((image, device))
}

fn refused(path: &Path, permission: &Permission, name: &str, options: &str) {
    let target = inspect(path).expect("it can be inspected");
    let refusal = may_write(&target, permission).expect_err(name);
    let line = refusal.to_string();
    assert!(line.contains(name), "{name}: {line}");
    assert!(line.contains(options), "{options}: {line}");
    assert!(!line.contains('\n'), "{line}");
    let expected = if permission.destroy.is_empty() {
        matches!(refusal, Refusal::NotNamed { .. })
    } else {
        matches!(refusal, Refusal::NotForced { .. })
    };
    assert!(expected, "{refusal:?}");
}

fn check(name: &str, backing: &Image, path: &Path) {
    let text = path.to_str().expect("it is text").to_owned();
    let before = backing.sha256();
    refused(path, &Permission::default(), name, &format!("--destroy {text} --force {text}"));
    let force = Permission { force: vec![text.clone()], ..Permission::default() };
    refused(path, &force, name, &format!("--destroy {text}"));
    let destroy = Permission { destroy: vec![text.clone()], ..Permission::default() };
    refused(path, &destroy, name, &format!("--force {text}"));
    let both = Permission { destroy: vec![text.clone()], force: vec![text] };
    let target = inspect(path).expect("it can be inspected");
    assert_eq!(may_write(&target, &both), Ok(()), "{name}");
    assert!(before == backing.sha256(), "{name}: checking changed the medium");
}

#[test]
fn what_real_tools_make_is_refused_by_name_and_left_as_it_is() {
    let mut checked = 0;
    for case in cases() {
        let Some((image, device)) = make(&case) else { continue };
        match device {
            Some(device) => check(case.name, &device.image, device.path()),
            None => {
                let path = image.path.clone();
                check(case.name, &image, &path);
                // And the same bytes as a device, except where udev starts what it finds.
                if case.name != "bcache"
                    && let Some(device) = Loop::over(image, &[])
                {
                    check(case.name, &device.image, device.path());
                }
            }
        }
        checked += 1;
    }
    println!("{checked} signatures were made and refused");
}

#[test]
fn raid_members_are_refused_by_name() {
    for metadata in ["0.90", "1.0", "1.1", "1.2", "ddf", "imsm"] {
        let Some(device) = Loop::blank(64 * MIB) else { return };
        // Not in /dev/md0 and up, which the machine may use.
        let node = format!("/dev/md{}", 900_000 + std::process::id() % 100_000);
        let words = ["mdadm", "--create", &node, "--run", "--force", "--metadata", metadata];
        let members: &[&str] = match metadata {
            "ddf" | "imsm" => &["--level=container", "--raid-devices=1", &device.node],
            _ => &["--level=1", "--raid-devices=2", &device.node, "missing"],
        };
        let made = run_with(&[&words[..], members].concat(), "");
        let _ = run_with(&["mdadm", "--stop", &node], "");
        if let Err(error) = made {
            skipped("md", error);
            continue;
        }
        let name = match metadata {
            "ddf" => "DDF RAID member",
            "imsm" => "Intel RAID member",
            _ => "MD RAID member",
        };
        // A copy, because udev may have started the array again.
        let copy = Image::new(0);
        fs::copy(&device.image.path, &copy.path).expect("it can be copied");
        check(name, &copy, &copy.path);
    }
}
