//! A served drive in a virtual machine, as the kernel's own virtio-blk finds it.

use std::path::Path;
use std::process::{Command, Stdio};

use fourcorners_testing::skipped;
use serde_json::Value;

use super::{fourcorners, temporary};

/// What is done in the guest: name and size, a file system whose data come back from the drive, and a trim.
const IN_THE_GUEST: &str = r#"
    set -e
    test "$(cat /sys/block/vda/serial)" = crucial-m4-256gb
    test "$(cat /sys/block/vda/size)" = 500118192
    test "$(cat /sys/block/vda/queue/write_cache)" = "write back"
    modprobe ext4
    mke2fs /dev/vda 65536 >/dev/null
    mount -t ext4 /dev/vda /mnt
    dd if=/dev/urandom of=/mnt/a bs=64k count=128 2>/dev/null
    before=$(md5sum /mnt/a)
    umount /mnt
    echo 3 >/proc/sys/vm/drop_caches
    mount -t ext4 /dev/vda /mnt
    test "$(md5sum /mnt/a)" = "$before"
    rm /mnt/a
    fstrim /mnt
    umount /mnt
    echo all is well
"#;

#[test]
fn a_guest_has_the_drive_as_a_disk_with_a_file_system() {
    let dir = temporary();
    let mut server = fourcorners(
        &dir,
        &[
            "serve",
            "crucial-m4-256gb",
            "--at",
            "vhost-user:s",
            "--until-last-disconnect",
            "--progress",
            "json",
        ],
    );
    let server = server.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    let socket = dir.path().join("s");
    while !socket.exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/guest");
    let mut guest = Command::new(script);
    guest.args([
        "--program",
        env!("CARGO_BIN_EXE_fourcorners"),
        "--timeout",
        "120",
        "--vhost-user",
    ]);
    let guest = guest.arg(&socket).arg(IN_THE_GUEST).output().expect("a shell runs it");
    let mut server = server;
    if guest.status.code() == Some(2) {
        server.kill().expect("it runs");
        server.wait().expect("it ends");
        return skipped("guest", String::from_utf8_lossy(&guest.stderr).trim());
    }
    let told = [&guest.stdout[..], &guest.stderr[..]].concat();
    let told = String::from_utf8_lossy(&told).into_owned();
    if !guest.status.success() {
        server.kill().expect("it runs");
    }
    let output = server.wait_with_output().expect("it ends");
    assert!(guest.status.success() && told.contains("all is well"), "{told}");
    let events = String::from_utf8(output.stdout).expect("UTF-8");
    let end: Value = serde_json::from_str(events.lines().last().expect("an event")).expect("JSON");
    assert_eq!((&end["event"], &end["failed"]), (&"end".into(), &0.into()));
    assert_eq!((&end["connections"]["all"], &end["connections"]["broken"]), (&1.into(), &0.into()));
    let requests = |kind: &str| {
        let all = end["operations"].as_array().expect("a list").iter();
        let of_kind = all.filter(|operation| operation["name"] == kind);
        of_kind.map(|operation| operation["ios"].as_u64().expect("a number")).sum::<u64>()
    };
    for kind in ["read", "write", "flush", "trim"] {
        assert!(requests(kind) > 0, "{kind}: {end}");
    }
}
