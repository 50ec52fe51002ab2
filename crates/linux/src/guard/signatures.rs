//! The marks that file systems, partition tables, volume managers and disk images leave, and
//! where. One row each: a structure's places, the magic's offset in it, the magic.
//!
//! Offsets and magics are facts of the on-disk formats. Each row names where they are written
//! down; kernel headers are those of Linux 6.x, `libblkid` is util-linux's list of superblocks.
//!
//! A magic of two bytes would be met by chance in one random medium out of 65,536, and a drive
//! that was just tested is full of random bytes. Those rows say what else must hold.

/// Where a structure begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum At {
    /// This many bytes from the beginning.
    Start(u64),
    /// This many bytes before the end, the end first rounded down to a multiple of `align`.
    End { align: u64, back: u64 },
}

/// One kind of content.
pub(super) struct Signature {
    /// What a user calls it.
    pub(super) name: &'static str,
    /// Where its structure may begin.
    pub(super) places: &'static [At],
    /// Where in the structure the magic is.
    pub(super) offset: usize,
    /// Any of these is the magic.
    pub(super) magics: &'static [&'static [u8]],
    /// What else must hold, given the structure (at least 512 bytes unless the medium ends).
    pub(super) plausible: fn(&[u8]) -> bool,
}

/// Most rows: the magic is long enough to be no accident.
const fn row(
    name: &'static str,
    places: &'static [At],
    offset: usize,
    magics: &'static [&'static [u8]],
) -> Signature {
    Signature { name, places, offset, magics, plausible: |_| true }
}

const fn from_end(back: u64) -> At {
    At::End { align: 512, back }
}

use At::Start;

/// Read at [`ZFS_LABELS`] as well, entry by entry of the uberblock ring.
pub(super) const ZFS: &str = "ZFS";

/// A boot sector that no other row knows; dropped where another one does.
pub(super) const BOOT_SECTOR: &str = "boot sector";

/// Four labels of 256 KiB, two at each end (ZFS On-Disk Specification, 1.2.1).
pub(super) const ZFS_LABELS: &[At] = &[
    Start(0),
    Start(256 << 10),
    At::End { align: 256 << 10, back: 512 << 10 },
    At::End { align: 256 << 10, back: 256 << 10 },
];

/// Every kind of content the guard knows.
pub(super) const SIGNATURES: &[Signature] = &[
    // Partition tables. UEFI 2.10, 5.3.2: header in LBA 1 and in the last LBA.
    row(
        "GPT partition table",
        &[Start(512), Start(4096), from_end(512), At::End { align: 4096, back: 4096 }],
        0,
        &[b"EFI PART"],
    ),
    Signature {
        // block/partitions/msdos.c: 55 AA, and the boot flag of each entry is 00 or 80.
        name: "MBR partition table",
        places: &[Start(0)],
        offset: 510,
        magics: &[b"\x55\xaa"],
        plausible: mbr,
    },
    // block/partitions/mac.h: partition map entry in block 1.
    row("Apple partition map", &[Start(512), Start(2048)], 0, &[b"PM\0\0"]),
    // block/partitions/msdos.c: BSD_DISKMAGIC in sector 1; parted libparted/labels/bsd.c: or at
    // 64 of sector 0.
    row("BSD disk label", &[Start(512), Start(64)], 0, &[b"\x57\x45\x56\x82", b"\x82\x56\x45\x57"]),
    // block/partitions/sgi.c.
    row("SGI disk label", &[Start(0)], 0, &[b"\x0b\xe5\xa9\x41"]),
    Signature {
        // block/partitions/sun.c: big-endian DABE at 508, and all 16-bit words xor to 0.
        name: "Sun disk label",
        places: &[Start(0)],
        offset: 508,
        magics: &[b"\xda\xbe"],
        plausible: sun_checksum,
    },
    // block/partitions/ldm.h: OFF_PRIV1 is sector 6.
    row("Windows dynamic disk", &[Start(6 * 512)], 0, &[b"PRIVHEAD"]),
    // include/uapi/linux/affs_hardblocks.h: RDB_LOCATION_LIMIT 16.
    row("Amiga partition table", RDB_PLACES, 0, &[b"RDSK"]),
    // File systems.
    Signature {
        // fs/ext4/ext4.h: struct ext4_super_block at 1024, s_magic at 56.
        name: "ext2/ext3/ext4",
        places: &[Start(1024)],
        offset: 56,
        magics: &[b"\x53\xef"],
        plausible: ext,
    },
    // fs/xfs/libxfs/xfs_format.h.
    row("XFS", &[Start(0)], 0, &[b"XFSB"]),
    // fs/btrfs/disk-io.h: copies at 64 KiB, 64 MiB and 256 GiB; magic at 64.
    row("Btrfs", &[Start(64 << 10), Start(64 << 20), Start(256 << 30)], 64, &[b"_BHRfS_M"]),
    // include/linux/f2fs_fs.h: F2FS_SUPER_OFFSET 1024 in blocks 0 and 1 of 4 KiB.
    row("F2FS", &[Start(1024), Start(4096 + 1024)], 0, &[b"\x10\x20\xf5\xf2"]),
    // fs/ntfs3/ntfs.h: system_id at 3.
    row("NTFS", &[Start(0)], 3, &[b"NTFS    "]),
    row("ReFS", &[Start(0)], 3, &[b"ReFS\0\0\0\0"]),
    // Microsoft "FAT: General Overview", BS_FilSysType, at 54 and for FAT32 at 82.
    row("FAT", &[Start(0)], 54, &[b"FAT12   ", b"FAT16   ", b"FAT     "]),
    row("FAT", &[Start(0)], 82, &[b"FAT32   "]),
    // exFAT specification, 3.1.2.
    row("exFAT", &[Start(0)], 3, &[b"EXFAT   "]),
    Signature {
        // Apple TN1150: H+ has version 4, HX version 5.
        name: "HFS+",
        places: &[Start(1024)],
        offset: 0,
        magics: &[b"H+\0\x04", b"HX\0\x05"],
        plausible: |_| true,
    },
    Signature {
        // Inside Macintosh: Files, 2-60: drSigWord BD, drAlBlkSiz at 20.
        name: "HFS",
        places: &[Start(1024)],
        offset: 0,
        magics: &[b"BD"],
        plausible: |mdb| matches!(be32(mdb, 20), Some(size) if size > 0 && size % 512 == 0),
    },
    // Apple File System Reference: nx_magic.
    row("APFS", &[Start(0)], 32, &[b"NXSB"]),
    // ECMA-119, 8.4: volume descriptors from logical sector 16.
    row("ISO 9660", &[Start(32768)], 1, &[b"CD001"]),
    // ECMA-167 2/9 and 3/9: volume recognition sequence, one descriptor per 2 KiB or block.
    row("UDF", &[Start(32768), Start(34816), Start(36864)], 1, &[b"BEA01", b"NSR02", b"NSR03"]),
    // fs/reiserfs/reiserfs.h (until 6.12): superblock at 64 KiB or 8 KiB, s_magic at 52.
    row(
        "ReiserFS",
        &[Start(64 << 10), Start(8 << 10)],
        52,
        &[b"ReIsErFs", b"ReIsEr2Fs", b"ReIsEr3Fs"],
    ),
    row("Reiser4", &[Start(64 << 10)], 0, &[b"ReIsEr4"]),
    // fs/jfs/jfs_superblock.h, jfs_filsys.h: SUPER1_OFF 0x8000.
    row("JFS", &[Start(32768)], 0, &[b"JFS1"]),
    Signature {
        // include/uapi/linux/nilfs2_ondisk.h: s_rev_level 2, s_magic 0x3434 at 6; the second
        // superblock is in the last whole 4 KiB.
        name: "NILFS2",
        places: &[Start(1024), At::End { align: 4096, back: 4096 }],
        offset: 6,
        magics: &[b"\x34\x34"],
        plausible: |block| le32(block, 0) == Some(2),
    },
    // fs/erofs/erofs_fs.h.
    row("EROFS", &[Start(1024)], 0, &[b"\xe2\xe1\xf5\xe0"]),
    // fs/squashfs/squashfs_fs.h; the other three are older or patched (libblkid).
    row("SquashFS", &[Start(0)], 0, &[b"hsqs", b"sqsh", b"qshs", b"shsq"]),
    // include/uapi/linux/cramfs_fs.h and romfs_fs.h.
    row("cramfs", &[Start(0), Start(512)], 0, &[b"\x45\x3d\xcd\x28", b"\x28\xcd\x3d\x45"]),
    row("romfs", &[Start(0)], 0, &[b"-rom1fs-"]),
    // fs/bcachefs/bcachefs_format.h: BCH_SB_SECTOR 8, BCH_SB_LAYOUT_SECTOR 7; magic at 24.
    row(
        "bcachefs",
        &[Start(4096)],
        24,
        &[b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"],
    ),
    row(
        "bcachefs",
        &[Start(3584)],
        0,
        &[b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"],
    ),
    // ZFS On-Disk Specification, 1.3.2: XDR name-value pairs at 16 KiB begin with "version".
    row(ZFS, ZFS_LABELS, (16 << 10) + 24, &[b"version\0"]),
    Signature {
        // include/uapi/linux/magic.h: MINIX 1 and 2; s_log_zone_size at 10 is 0.
        name: "MINIX",
        places: &[Start(1024)],
        offset: 16,
        magics: &[b"\x7f\x13", b"\x8f\x13", b"\x68\x24", b"\x78\x24"],
        plausible: |block| block.get(10..12) == Some(&[0, 0]) && le32(block, 12) > Some(0),
    },
    Signature {
        // include/linux/minix_fs.h: MINIX 3; s_log_zone_size at 12 and s_pad1 at 14 are 0.
        name: "MINIX",
        places: &[Start(1024)],
        offset: 24,
        magics: &[b"\x5a\x4d"],
        plausible: |block| le32(block, 12) == Some(0),
    },
    // fs/ufs/ufs_fs.h: superblock at 8 or 64 KiB, fs_magic at 1372.
    row(
        "UFS",
        &[Start(8 << 10), Start(64 << 10), Start(0), Start(256 << 10)],
        1372,
        &[b"\x19\x01\x54\x19", b"\x19\x54\x01\x19", b"\x54\x19\x01\0", b"\0\x01\x19\x54"],
    ),
    // fs/gfs2: GFS2_MAGIC 0x01161970 in block 16 of 4 KiB.
    row("GFS2", &[Start(64 << 10)], 0, &[b"\x01\x16\x19\x70"]),
    // fs/ocfs2/ocfs2_fs.h: block 2 of 512 bytes to 4 KiB.
    row("OCFS2", &[Start(1024), Start(2048), Start(4096), Start(8192)], 0, &[b"OCFSV2"]),
    // libblkid: vxfs.c, hpfs.c, befs.c.
    row("VxFS", &[Start(1024)], 0, &[b"\xf5\xfc\x01\xa5"]),
    row("HPFS", &[Start(8192)], 0, &[b"\x49\xe8\x95\xf9"]),
    row("BeFS", &[Start(0), Start(512)], 32, &[b"BFS1", b"1SFB"]),
    // libblkid: vmfs.c, volume at 1 MiB, file system at 2 MiB.
    row("VMFS", &[Start(1 << 20)], 0, &[b"\x0d\xd0\x01\xc0"]),
    row("VMFS", &[Start(2 << 20)], 0, &[b"\x5e\xf1\xab\x2f"]),
    // Swap. mm/swapfile.c, include/linux/swap.h: last ten bytes of the first page, of 4 to
    // 64 KiB; suspended images as in kernel/power/swap.c (S1SUSPEND) and libblkid: swap.c.
    row(
        "swap",
        &[Start(0xff6), Start(0x1ff6), Start(0x3ff6), Start(0x7ff6), Start(0xfff6)],
        0,
        &[b"SWAPSPACE2", b"SWAP-SPACE"],
    ),
    row(
        "suspended system",
        &[Start(0xff6), Start(0x1ff6), Start(0x3ff6), Start(0x7ff6), Start(0xfff6)],
        0,
        &[b"S1SUSPEND", b"S2SUSPEND", b"ULSUSPEND", b"LINHIB0001"],
    ),
    // Volume managers and encryption. LVM2 lib/format_text/layout.h: label in sectors 0 to 3.
    row(
        "LVM2 physical volume",
        &[Start(0), Start(512), Start(1024), Start(1536)],
        0,
        &[b"LABELONE"],
    ),
    row("LVM1 physical volume", &[Start(0)], 0, &[b"HM\x01\0", b"HM\x02\0"]),
    // LUKS1 and LUKS2 On-Disk Format Specifications.
    row("LUKS", &[Start(0)], 0, &[b"LUKS\xba\xbe"]),
    row("LUKS2 (second header)", LUKS2_SECOND, 0, &[b"SKUL\xba\xbe"]),
    // libblkid: bitlocker.c; the last is the identifier of BitLocker To Go.
    row("BitLocker", &[Start(0)], 3, &[b"-FVE-FS-"]),
    row(
        "BitLocker",
        &[Start(0)],
        424,
        &[b"\x3b\xd6\x67\x49\x29\x2e\xd8\x4a\x83\x99\xf6\xa3\x39\xe3\xd0\x01"],
    ),
    // libblkid: stratis.c (sectors 1 and 9), vdo.c.
    row("Stratis", &[Start(512), Start(9 * 512)], 4, &[b"!Stra0tis\x86\xff\x02^\x41rh"]),
    row("VDO", &[Start(0)], 0, &[b"dmvdo001"]),
    // drivers/md/bcache/super.c: SB_SECTOR 8, magic at 24.
    row(
        "bcache",
        &[Start(4096)],
        24,
        &[b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"],
    ),
    // RAID. include/uapi/linux/raid/md_p.h and drivers/md/md.c (super_1_load): 1.1 at 0, 1.2 at
    // 4 KiB, 1.0 at least 8 KiB before the end, 0.90 in the last whole 64 KiB, of any byte order.
    row(
        "MD RAID member",
        &[
            Start(0),
            Start(4096),
            At::End { align: 4096, back: 8192 },
            At::End { align: 64 << 10, back: 64 << 10 },
        ],
        0,
        &[b"\xfc\x4e\x2b\xa9", b"\xa9\x2b\x4e\xfc"],
    ),
    // SNIA Common RAID DDF 2.0: anchor header in the last LBA; libblkid: ddf_raid.c, or 257th.
    row(
        "DDF RAID member",
        &[from_end(512), from_end(257 * 512), At::End { align: 4096, back: 4096 }],
        0,
        &[b"\xde\x11\xde\x11", b"\x11\xde\x11\xde"],
    ),
    // mdadm super-intel.c: the sector before the last.
    row(
        "Intel RAID member",
        &[from_end(1024), At::End { align: 4096, back: 8192 }],
        0,
        &[b"Intel Raid ISM Cfg Sig. "],
    ),
    // libblkid: nvidia_raid.c, lsi_raid.c, promise_raid.c, highpoint_raid.c.
    row("NVIDIA RAID member", &[from_end(1024)], 0, &[b"NVIDIA"]),
    row("LSI RAID member", &[from_end(512)], 0, &[b"$XIDE$"]),
    row("Promise RAID member", PROMISE_PLACES, 0, &[b"Promise Technology, Inc."]),
    row(
        "HighPoint RAID member",
        &[Start(9 * 512)],
        32,
        &[b"\xf0\x16\x78\x5a", b"\xfd\x16\x78\x5a"],
    ),
    row(
        "HighPoint RAID member",
        &[from_end(11 * 512)],
        0,
        &[b"\xf3\x16\x78\x5a", b"\xfd\x16\x78\x5a"],
    ),
    // drbd-utils drbdmeta.c: internal metadata in the last whole 4 KiB, magic at 60
    // (DRBD_MD_MAGIC_07 0x8374026a, _08 6b, _84_UNCLEAN 6c, _09 6d).
    row(
        "DRBD",
        &[At::End { align: 4096, back: 4096 }],
        60,
        &[b"\x83\x74\x02\x6a", b"\x83\x74\x02\x6b", b"\x83\x74\x02\x6c", b"\x83\x74\x02\x6d"],
    ),
    // Storage of databases and clusters. Ceph BlueStore.cc; libblkid: oracle_asm in oracleasm.c.
    row("Ceph BlueStore", &[Start(0)], 0, &[b"bluestore block device"]),
    row("Oracle ASM", &[Start(0)], 32, &[b"ORCLDISK"]),
    // Disk images in a file. QEMU docs/interop/qcow2.txt; VirtualBox VDICore.h; VMware Virtual
    // Disk Format 5.0; [MS-VHDX] 2.2.1; Microsoft VHD specification (footer, copied in front).
    row("QCOW image", &[Start(0)], 0, &[b"QFI\xfb"]),
    row("VDI image", &[Start(0)], 64, &[b"\x7f\x10\xda\xbe"]),
    row("VMDK image", &[Start(0)], 0, &[b"KDMV", b"# Disk DescriptorFile"]),
    row("VHDX image", &[Start(0)], 0, &[b"vhdxfile"]),
    row("VHD image", &[Start(0), from_end(512)], 0, &[b"conectix"]),
    Signature {
        // A jump and 55 AA: bootable, or a FAT so old that it does not say so.
        name: BOOT_SECTOR,
        places: &[Start(0)],
        offset: 510,
        magics: &[b"\x55\xaa"],
        plausible: jumps,
    },
];

const RDB_PLACES: &[At] = &[
    Start(0),
    Start(512),
    Start(1024),
    Start(1536),
    Start(2048),
    Start(2560),
    Start(3072),
    Start(3584),
    Start(4096),
    Start(4608),
    Start(5120),
    Start(5632),
    Start(6144),
    Start(6656),
    Start(7168),
    Start(7680),
];

/// LUKS2 On-Disk Format Specification, 2.1: the offsets a second header may have.
const LUKS2_SECOND: &[At] = &[
    Start(0x4000),
    Start(0x8000),
    Start(0x10000),
    Start(0x20000),
    Start(0x40000),
    Start(0x80000),
    Start(0x100000),
    Start(0x200000),
    Start(0x400000),
];

/// libblkid: promise_raid.c, in sectors before the end.
const PROMISE_PLACES: &[At] = &[
    from_end(63 * 512),
    from_end(255 * 512),
    from_end(256 * 512),
    from_end(16 * 512),
    from_end(399 * 512),
    from_end(591 * 512),
    from_end(675 * 512),
    from_end(735 * 512),
    from_end(911 * 512),
    from_end(974 * 512),
    from_end(991 * 512),
    from_end(951 * 512),
    from_end(3087 * 512),
];

fn le32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// `s_log_block_size` (24) is at most 6, for 64 KiB blocks, and `s_rev_level` (76) 0 or 1.
fn ext(block: &[u8]) -> bool {
    matches!((le32(block, 24), le32(block, 76)), (Some(0..=6), Some(0 | 1)))
}

/// Begins with a jump over the parameters of a boot sector.
fn jumps(sector: &[u8]) -> bool {
    matches!(sector, [0xeb, _, 0x90, ..] | [0xe9, ..])
}

/// Four entries of 16 bytes from 446, status first, type at 4. A boot sector may have zeros
/// there, but then it begins with a jump.
fn mbr(sector: &[u8]) -> bool {
    let Some(entries) = sector.get(446..510) else { return false };
    let entries = entries.chunks_exact(16);
    entries.clone().all(|entry| matches!(entry[0], 0 | 0x80))
        && (entries.clone().any(|entry| entry[4] != 0) || !jumps(sector))
}

fn sun_checksum(sector: &[u8]) -> bool {
    sector.len() >= 512
        && sector[..512].chunks_exact(2).fold([0, 0], |sum, w| [sum[0] ^ w[0], sum[1] ^ w[1]])
            == [0, 0]
}
