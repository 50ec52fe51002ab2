//! The kind of a file's file system, by the numbers of the kernel's include/uapi/linux/magic.h.

use rustix::fs::StatFs;

const PROC: u32 = 0x9fa0;
const SYSFS: u32 = 0x6265_6572;

/// Whether its files are the kernel's variables, some as large as a disk, such as a graphics card's
/// memory.
pub fn is_kernels_own(file_system: &StatFs) -> bool {
    matches!(
        magic(file_system),
        PROC
            | SYSFS
            | 0x6462_6720 // debugfs
            | 0x7472_6163 // tracefs
            | 0x7363_6673 // securityfs
            | 0x6265_6570 // configfs
            | 0xde5e_81e4 // efivarfs
            | 0x6165_676c // pstore
            | 0x0027_e0eb // cgroup
            | 0x6367_7270 // cgroup2
            | 0xcafe_4a11 // bpf
            | 0xf97c_ff8c // selinux
    )
}

/// Whether its files are in memory and nowhere else.
pub fn is_in_memory(file_system: &StatFs) -> bool {
    matches!(
        magic(file_system),
        0x0102_1994 // tmpfs
            | 0x8584_58f6 // ramfs
    )
}

/// Whether it is sysfs.
pub fn is_sysfs(file_system: &StatFs) -> bool {
    magic(file_system) == SYSFS
}

/// Whether it is /proc.
pub fn is_proc(file_system: &StatFs) -> bool {
    magic(file_system) == PROC
}

/// `f_type`, which is signed on some machines and 32 bits wide on others.
fn magic(file_system: &StatFs) -> u32 {
    file_system.f_type as u32
}
