//! Devices and files that the system uses: refused, whatever is named.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use fourcorners_linux::guard::{
    Permission, Refusal, UsageKind, create_file, inspect, may_write, open_for_writing,
};
use fourcorners_testing::skipped;

use crate::bench::{
    Beside, Image, Loop, MIB, Undo, command, mount_point, run, run_with, skip_unless,
};

/// The refusal of something that is named in every way there is.
fn refusal(path: &Path) -> Refusal {
    let name = path.to_str().expect("it is text").to_owned();
    let permission = Permission { destroy: vec![name.clone()], force: vec![name] };
    let target = inspect(path).expect("it can be inspected");
    let refusal = may_write(&target, &permission).expect_err("it is in use");
    let opened = open_for_writing(&target, &permission).expect_err("it is in use");
    assert_eq!(refusal, opened);
    refusal
}

fn is_used(path: &Path, kind: UsageKind, part: &str) {
    let refusal = refusal(path);
    let line = refusal.to_string();
    assert!(matches!(&refusal, Refusal::InUse { usage, .. } if usage.kind == kind), "{line}");
    assert!(line.contains(part), "{part}: {line}");
    assert!(!line.contains('\n'), "{line}");
}

fn ext4() -> Option<Loop> {
    let image = Image::new(32 * MIB);
    if let Err(error) = run(&["mkfs.ext4", "-q", "-F", image.text()]) {
        skipped("mkfs.ext4", error);
        return None;
    }
    Loop::over(image, &[])
}

#[test]
fn a_mounted_device_its_file_and_nothing_else() {
    let Some(device) = ext4() else { return };
    let at = mount_point(&device.image);
    skip_unless!(run(&["mount", &device.node, &at]).is_ok(), "ext4", "ext4 cannot be mounted here");
    let mounted = Undo::with(&["umount", &at]);
    is_used(device.path(), UsageKind::Mounted, &format!("umount {at}"));
    is_used(&device.image.path, UsageKind::Backing, &format!("losetup -d {}", device.node));

    // A file on it is one like any other, until it is read-only.
    let file = Path::new(&at).join("scratch");
    create_file(&file, 16 * MIB).expect("there is room");
    run(&["mount", "-o", "remount,ro", &at]).expect("it can be remounted");
    let target = inspect(&file).expect("it can be inspected");
    assert!(target.read_only);
    let line = may_write(&target, &Permission::default()).expect_err("read-only").to_string();
    assert!(line.contains("is read-only: its file system is mounted read-only"), "{line}");
    drop(mounted);
}

#[test]
fn a_mount_in_another_name_space_is_a_claim() {
    let Some(device) = ext4() else { return };
    let at = mount_point(&device.image);
    let script = format!(
        "unshare --mount --propagation private sh -c \
         'mount {} {at} && echo ready && cat >/dev/null'",
        device.node
    );
    let beside = Beside::script(&script);
    skip_unless!(beside.is_some(), "mount-namespaces", "no private mounts here");
    is_used(device.path(), UsageKind::Claimed, "fuser -v");
}

#[test]
fn a_mounted_partition_keeps_its_disk() {
    let Some(device) = partitioned() else { return };
    let part = format!("{}p1", device.node);
    run(&["mkfs.ext4", "-q", "-F", &part]).expect("a file system");
    let at = mount_point(&device.image);
    skip_unless!(run(&["mount", &part, &at]).is_ok(), "ext4", "ext4 cannot be mounted here");
    let mounted = Undo::with(&["umount", &at]);
    is_used(device.path(), UsageKind::Mounted, &format!("{part} is mounted at {at}"));
    is_used(Path::new(&part), UsageKind::Mounted, &format!("{part} is mounted at {at}"));

    // The one beside it is free.
    let beside = format!("{}p2", device.node);
    let permission = Permission { destroy: vec![beside.clone()], ..Permission::default() };
    let target = inspect(Path::new(&beside)).expect("it can be inspected");
    assert_eq!(target.partition_of.as_ref(), Some(&device.node));
    assert_eq!(may_write(&target, &permission), Ok(()));
    drop(mounted);
}

/// Two partitions that the kernel knows.
fn partitioned() -> Option<Loop> {
    let image = Image::new(64 * MIB);
    let table = "label: dos\n,24M\n,24M\n";
    if let Err(error) = run_with(&["sfdisk", "-q", "--no-reread", image.text()], table) {
        skipped("sfdisk", error);
        return None;
    }
    let device = Loop::over(image, &[])?;
    if let Err(error) = run(&["partx", "--add", &device.node]) {
        skipped("partitions", error);
        return None;
    }
    Some(device)
}

#[test]
fn partitions_are_refused_by_their_names_and_a_name_of_the_disk_is_not_theirs() {
    let Some(device) = partitioned() else { return };
    // Gone from the medium, but the kernel still has them.
    run(&["dd", "if=/dev/zero", &format!("of={}", device.node), "bs=4096", "count=1"])
        .expect("it can be written");
    let permission = Permission { destroy: vec![device.node.clone()], ..Permission::default() };
    let target = inspect(device.path()).expect("it can be inspected");
    let line = may_write(&target, &permission).expect_err("it has partitions").to_string();
    let parts = format!("has partitions ({0}p1, {0}p2): ", device.node);
    assert!(line.contains(&parts), "{line}");

    let part = format!("{}p1", device.node);
    let target = inspect(Path::new(&part)).expect("it can be inspected");
    let refusal = may_write(&target, &permission).expect_err("it is not named");
    assert!(matches!(refusal, Refusal::NotNamed { .. }), "{refusal}");
    assert!(refusal.to_string().contains(&format!("partition of {}", device.node)), "{refusal}");
}

#[test]
fn every_device_of_a_mounted_btrfs() {
    let (Some(first), Some(second)) = (Loop::blank(128 * MIB), Loop::blank(128 * MIB)) else {
        return;
    };
    let made = run(&["mkfs.btrfs", "-q", "-f", "-d", "raid1", &first.node, &second.node]);
    skip_unless!(made.is_ok(), "mkfs.btrfs", "{made:?}");
    let at = mount_point(&first.image);
    let mounted = run(&["mount", "-t", "btrfs", &first.node, &at]);
    skip_unless!(mounted.is_ok(), "btrfs", "{mounted:?}");
    let mounted = Undo::with(&["umount", &at]);
    is_used(first.path(), UsageKind::Mounted, &first.node);
    is_used(second.path(), UsageKind::Mounted, &second.node);
    drop(mounted);
}

#[test]
fn swap_on_a_device_and_in_a_file() {
    let Some(device) = Loop::blank(16 * MIB) else { return };
    run(&["mkswap", &device.node]).expect("it is part of util-linux");
    let on = run(&["swapon", &device.node]);
    skip_unless!(on.is_ok(), "swap", "{on:?}");
    let swap = Undo::with(&["swapoff", &device.node]);
    is_used(device.path(), UsageKind::Swap, &format!("swapoff {}", device.node));
    drop(swap);

    let image = Image::new(0);
    fs::write(&image.path, vec![0; 16 << 20]).expect("it can be written");
    run(&["chmod", "600", image.text()]).expect("it is ours");
    run(&["mkswap", image.text()]).expect("it is part of util-linux");
    let on = run(&["swapon", image.text()]);
    skip_unless!(on.is_ok(), "swap", "{on:?}");
    let swap = Undo::with(&["swapoff", image.text()]);
    is_used(&image.path, UsageKind::Swap, &format!("swapoff {}", image.text()));
    drop(swap);
}

#[test]
fn a_device_below_device_mapper() {
    let Some(device) = Loop::blank(16 * MIB) else { return };
    let name = format!("fourcorners-test-{}", std::process::id());
    let table = format!("0 16384 linear {} 0", device.node);
    let made = run_with(&["dmsetup", "create", &name], &table);
    skip_unless!(made.is_ok(), "device-mapper", "{made:?}");
    let mapped = Undo::with(&["dmsetup", "remove", &name]);
    is_used(device.path(), UsageKind::Held, &format!("dmsetup remove {name}"));
    drop(mapped);
}

#[test]
fn an_unreadable_sector_where_a_signature_may_be() {
    let Some(device) = Loop::blank(32 * MIB) else { return };
    let name = format!("fourcorners-bad-{}", std::process::id());
    let table = format!("0 128 linear {0} 0\n128 8 error\n136 65400 linear {0} 136\n", device.node);
    let made = run_with(&["dmsetup", "create", &name], &table);
    skip_unless!(made.is_ok(), "device-mapper", "{made:?}");
    let mapped = Undo::with(&["dmsetup", "remove", &name]);
    let refusal = refusal(Path::new(&format!("/dev/mapper/{name}")));
    assert!(matches!(refusal, Refusal::Unreadable { offset: 65536, .. }), "{refusal}");
    drop(mapped);
}

#[test]
fn a_device_that_another_has_claimed() {
    const O_EXCL: i32 = rustix::fs::OFlags::EXCL.bits() as i32;
    let Some(device) = Loop::blank(16 * MIB) else { return };
    let claim = OpenOptions::new().read(true).custom_flags(O_EXCL).open(device.path());
    let claim = claim.expect("nobody has it");
    is_used(device.path(), UsageKind::Claimed, &format!("fuser -v {}", device.node));
    drop(claim);

    // And ours keeps others away until it is closed.
    let permission = Permission { destroy: vec![device.node.clone()], ..Permission::default() };
    let target = inspect(device.path()).expect("it can be inspected");
    let opened = open_for_writing(&target, &permission).expect("it is free");
    let second = open_for_writing(&target, &permission).expect_err("it is claimed");
    assert!(matches!(second, Refusal::InUse { .. }), "{second}");
    drop(opened);
    open_for_writing(&target, &permission).expect("it is free again");
}

#[test]
fn a_loop_device_over_a_block_device_is_a_window() {
    let Some(device) = Loop::blank(16 * MIB) else { return };
    let window = match run(&["losetup", "--find", "--show", &device.node]) {
        Ok(window) => window,
        Err(error) => return skipped("loop-devices", error),
    };
    let undo = Undo::with(&["losetup", "--detach", &window]);
    let line = refusal(Path::new(&window)).to_string();
    assert!(line.ends_with(&format!("give {} itself", device.node)), "{line}");
    is_used(device.path(), UsageKind::Backing, &format!("losetup -d {window}"));
    drop(undo);
}

#[test]
fn two_loop_devices_over_one_file() {
    let Some(device) = Loop::blank(16 * MIB) else { return };
    let second = match run(&["losetup", "--find", "--show", device.image.text()]) {
        Ok(second) => second,
        Err(error) => return skipped("loop-devices", error),
    };
    let undo = Undo::with(&["losetup", "--detach", &second]);
    is_used(device.path(), UsageKind::Backing, &format!("losetup -d {second}"));
    is_used(Path::new(&second), UsageKind::Backing, &format!("losetup -d {}", device.node));
    drop(undo);
}

#[test]
fn a_file_that_another_program_has_locked() {
    let image = Image::new(16 * MIB);
    let lock = "import fcntl,sys; f=open(sys.argv[1],'r+'); fcntl.lockf(f,fcntl.LOCK_SH,1,100); \
                print('ready',flush=True); sys.stdin.read()";
    if command(&["python3", "-V"]).output().is_ok_and(|output| output.status.success()) {
        let script =
            format!("exec python3 -c \"{}\" {}", lock.replace("'r+'", "'r'"), image.text());
        let beside = Beside::script(&script).expect("it can be locked");
        is_used(&image.path, UsageKind::Locked, "has locked it");
        drop(beside);
    } else {
        skipped("python3", "no python3 to hold a lock");
    }

    let file = File::open(&image.path).expect("it is there");
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).expect("it is free");
    let permission = Permission { destroy: vec![image.text().into()], ..Permission::default() };
    let target = inspect(&image.path).expect("it can be inspected");
    let refusal = open_for_writing(&target, &permission).expect_err("it is locked");
    assert!(refusal.to_string().contains("has locked it"), "{refusal}");
}

#[test]
fn a_file_that_is_locked_is_not_written_through_a_loop_device() {
    let Some(device) = Loop::blank(16 * MIB) else { return };
    let file = File::open(&device.image.path).expect("it is there");
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).expect("it is free");
    let permission = Permission { destroy: vec![device.node.clone()], ..Permission::default() };
    let target = inspect(device.path()).expect("it can be inspected");
    let line = open_for_writing(&target, &permission).expect_err("it is locked").to_string();
    assert!(line.contains("has locked it; to free it: end what fuser -v"), "{line}");
    assert!(line.contains(device.image.text()), "{line}");
    drop(file);

    // And ours is on the file until the last write.
    let opened = open_for_writing(&target, &permission).expect("it is free");
    let file = File::open(&device.image.path).expect("it is there");
    let lock = || rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive);
    drop(opened.file);
    assert_eq!(lock(), Err(rustix::io::Errno::WOULDBLOCK));
    drop(opened.lease);
    assert_eq!(lock(), Ok(()));
}

#[test]
fn two_partitions_of_a_loop_device_may_be_written_at_a_time() {
    let Some(device) = partitioned() else { return };
    let [one, two] = ["p1", "p2"].map(|part| format!("{}{part}", device.node));
    let open = |part: &String| {
        let permission = Permission { destroy: vec![part.clone()], ..Permission::default() };
        let target = inspect(Path::new(part)).expect("it can be inspected");
        open_for_writing(&target, &permission).expect("it is free")
    };
    let both = (open(&one), open(&two));
    drop(both);
}

#[test]
fn a_loop_device_over_a_file_without_a_name_has_no_lock_to_take() {
    let Some(device) = Loop::blank(16 * MIB) else { return };
    fs::remove_file(&device.image.path).expect("it is ours");
    let permission = Permission { destroy: vec![device.node.clone()], ..Permission::default() };
    let target = inspect(device.path()).expect("it can be inspected");
    drop(open_for_writing(&target, &permission).expect("nobody else can open it"));
    // Another file of that name is not what would be written.
    let other = device.image.path.with_file_name(format!(
        "{} (deleted)",
        device.image.path.file_name().expect("it has one").to_string_lossy()
    ));
    File::create(other).expect("a file");
    let refusal = open_for_writing(&target, &permission).expect_err("it is another file");
    assert!(matches!(refusal, Refusal::Unknown { .. }), "{refusal}");
}

#[test]
fn a_lock_whose_holder_is_about_to_go_is_waited_for() {
    let image = Image::new(16 * MIB);
    let file = File::open(&image.path).expect("it is there");
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).expect("it is free");
    let permission = Permission { destroy: vec![image.text().into()], ..Permission::default() };
    let target = inspect(&image.path).expect("it can be inspected");
    let goes = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        drop(file);
    });
    drop(open_for_writing(&target, &permission).expect("it is free by then"));
    goes.join().expect("it ends");
}

/// The one device that every machine has in use. It is only asked about, never opened to write.
#[test]
fn the_disk_that_this_machine_runs_from() {
    let stat = rustix::fs::stat("/").expect("there is a root");
    let number = (rustix::fs::major(stat.st_dev), rustix::fs::minor(stat.st_dev));
    let dir = fs::canonicalize(format!("/sys/dev/block/{}:{}", number.0, number.1));
    skip_unless!(
        dir.is_ok(),
        "root-on-one-device",
        "the root file system is not on one block device"
    );
    let dir = dir.expect("just checked");
    let node = Path::new("/dev").join(dir.file_name().expect("it has a name"));
    let target = inspect(&node);
    skip_unless!(target.is_ok(), "root-on-one-device", "{target:?}");
    let name = node.to_str().expect("device names are text").to_owned();
    let permission = Permission { destroy: vec![name.clone()], force: vec![name] };
    let refusal = may_write(&target.expect("just checked"), &permission).expect_err("it is in use");
    assert!(matches!(refusal, Refusal::InUse { .. }), "{refusal}");
}
