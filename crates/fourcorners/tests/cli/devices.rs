//! Block devices: loop devices over files of our own, and no other.

use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use fourcorners_record::{Ended, TargetKind};
use fourcorners_testing::skipped;
use rustix::process::Signal;

use crate::bench::{folder, obeys_the_laws, refused, run, saved, start, wait_for};
use crate::files::is_a_good_quick_review;
use crate::media::{Image, Loop, MIB, Undo, is_root, mount_point, run as tool, run_with};

/// Refused however it is asked for, and the medium the same before and after. The line without
/// any permission.
fn is_kept(device: &Loop, force_too: bool) -> String {
    let dir = folder();
    tool(&["sync"]).expect("it is part of coreutils");
    let before = device.image.sha256();
    let node = device.node.as_str();
    let line = refused(dir.path(), &["review", node, "--quick"]);
    refused(dir.path(), &["review", node, "--quick", "--destroy", node]);
    refused(dir.path(), &["review", node, "--quick", "--force", node]);
    refused(dir.path(), &["review", "crucial-m4-256gb", node, "--quick", "--size", "64M"]);
    if force_too {
        let both = ["--destroy", node, "--force", node];
        refused(dir.path(), &[&["review", node, "--quick"][..], &both].concat());
    }
    tool(&["sync"]).expect("it is part of coreutils");
    assert!(device.image.sha256() == before, "{node} was written");
    line
}

fn ext4() -> Option<Loop> {
    let image = Image::new(64 * MIB);
    match tool(&["mkfs.ext4", "-q", "-F", image.text()]) {
        Ok(_) => Loop::over(image, &[]),
        Err(error) => {
            skipped("mkfs.ext4", error);
            None
        }
    }
}

#[test]
fn a_blank_loop_device_gives_figures_and_only_when_it_is_named() {
    let Some(device) = Loop::blank(64 * MIB) else { return };
    let node = device.node.as_str();
    let line = is_kept_unnamed(&device);
    assert!(line.contains(&format!("add --destroy {node}")), "{line}");
    let dir = folder();
    let ran = run(dir.path(), &["review", node, "--destroy", node, "--quick", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    is_a_good_quick_review(&ran.document().records[0], TargetKind::Device);
}

/// As [`is_kept`] for a device that `--destroy` would allow.
fn is_kept_unnamed(device: &Loop) -> String {
    let dir = folder();
    let before = device.image.sha256();
    let node = device.node.as_str();
    refused(dir.path(), &["review", node, "--quick", "--force", node]);
    refused(dir.path(), &["review", node, "--quick", "--destroy", "/dev/loop-none"]);
    let line = refused(dir.path(), &["review", node, "--quick"]);
    assert!(device.image.sha256() == before, "{node} was written");
    line
}

#[test]
fn a_mounted_device_is_never_written() {
    let Some(device) = ext4() else { return };
    let at = mount_point(&device.image);
    if let Err(error) = tool(&["mount", &device.node, &at]) {
        return skipped("ext4", error);
    }
    let _mounted = Undo::with(&["umount", &at]);
    let line = is_kept(&device, true);
    assert!(line.contains(&format!("is mounted at {at}")), "{line}");
    assert!(line.contains(&format!("umount {at}")), "{line}");
    // Nor by way of the file below.
    let dir = folder();
    let image = device.image.text();
    let line = refused(dir.path(), &["review", image, "--destroy", image, "--force", image]);
    assert!(line.contains(&device.node), "{line}");
}

/// `/sys` and its parts say what is in use; something else may be mounted over any of them.
#[test]
fn what_cannot_be_asked_is_not_written() {
    let Some(device) = ext4() else { return };
    let at = mount_point(&device.image);
    if let Err(error) = tool(&["mount", &device.node, &at]) {
        return skipped("ext4", error);
    }
    let _mounted = Undo::with(&["umount", &at]);
    let unused = Image::new(32 * MIB);
    let before = [device.image.sha256(), unused.sha256()];
    let review = |hidden: &str, image: &Image| {
        let hide = match hidden {
            "" => String::new(),
            place => format!("mount -t tmpfs none {place} && "),
        };
        let review = format!(
            "{hide}FOURCORNERS_CONFIG=/dev/null exec {} review {1} --quick --destroy {1} --force {1} --methods lba-pass --json",
            env!("CARGO_BIN_EXE_fourcorners"),
            image.text()
        );
        tool(&["unshare", "--mount", "--propagation", "private", "sh", "-c", &review])
    };
    if let Err(error) = tool(&["unshare", "--mount", "true"]) {
        return skipped("mount-namespaces", error);
    }
    let lines = |hidden: &str, image: &Image| review(hidden, image).expect_err("it is refused");
    let line = lines("", &device.image);
    assert!(line.contains(&format!("backs the loop device {}", device.node)), "{line}");
    for hidden in ["/sys", "/sys/block", "/sys/dev/block"] {
        for image in [&device.image, &unused] {
            let line = lines(hidden, image);
            assert!(line.contains("cannot be checked") || line.contains("backs the"), "{line}");
        }
    }
    // What sysfs does not tell the device itself does.
    let line = lines("/sys/devices/virtual/block", &device.image);
    assert!(line.contains(&format!("backs the loop device {}", device.node)), "{line}");
    assert!([device.image.sha256(), unused.sha256()] == before);
    review("/sys/devices/virtual/block", &unused).expect("nobody uses it");
    assert!(unused.sha256() != before[1]);
}

#[test]
fn a_file_system_is_not_written() {
    let Some(device) = ext4() else { return };
    let line = is_kept(&device, false);
    assert!(line.contains("ext2/ext3/ext4"), "{line}");
    assert!(line.contains(&format!("--destroy {0} --force {0}", device.node)), "{line}");
}

#[test]
fn a_partition_table_is_not_written() {
    let image = Image::new(64 * MIB);
    let made = run_with(&["sfdisk", "-q", "--no-reread", image.text()], "label: gpt\n,8M\n,8M\n");
    if let Err(error) = made {
        return skipped("sfdisk", error);
    }
    let Some(device) = Loop::over(image, &[]) else { return };
    let line = is_kept(&device, false);
    assert!(line.contains("GPT"), "{line}");
}

/// Takes the space of a file system whenever there is some, until told to stop.
fn take_all_space(path: &std::path::Path, stop: &AtomicBool) {
    let mut ballast = File::create(path).expect("it can be made");
    while !stop.load(Ordering::Relaxed) {
        if ballast.write(&[1; 65_536]).is_err() {
            std::thread::sleep(std::time::Duration::from_micros(200));
        }
    }
}

#[test]
fn a_device_that_fails_in_the_middle_keeps_what_was_measured() {
    if !is_root() {
        return skipped("root", "loop devices need root");
    }
    // A loop device fails a write when the file system below has no room for it. It has until the
    // first figure is measured; then something else takes what each purge gives back.
    let image = Image::new(0);
    let at = mount_point(&image);
    if let Err(error) = tool(&["mount", "-t", "tmpfs", "-o", "size=48M", "none", &at]) {
        return skipped("mount", error);
    }
    let _mounted = Undo::with(&["umount", &at]);
    let path = std::path::Path::new(&at).join("sparse");
    File::create(&path).and_then(|file| file.set_len(32 * MIB)).expect("there is room");
    let node = match tool(&["losetup", "--find", "--show", path.to_str().expect("it is text")]) {
        Ok(node) => node,
        Err(error) => return skipped("loop-devices", error),
    };
    let _device = Undo::with(&["losetup", "--detach", &node]);
    let dir = folder();
    let args = ["review", &node, "--destroy", &node, "--quick", "--json", "--out", "out"];
    let review = start(dir.path(), &args);
    let out = dir.path().join("out");
    let first = wait_for("a figure", || saved(&out));
    let stop = AtomicBool::new(false);
    let ran = std::thread::scope(|scope| {
        let ballast = std::path::Path::new(&at).join("ballast");
        let stop = &stop;
        scope.spawn(move || take_all_space(&ballast, stop));
        let ran = review.finish();
        stop.store(true, Ordering::Relaxed);
        ran
    });
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let document = ran.document();
    assert_eq!(saved(&out), Some(document.clone()));
    assert!(out.join("review.html").exists());
    let record = &document.records[0];
    let Ended::Failed(why) = &record.ended else { panic!("{:?}", record.ended) };
    assert!(why.contains("write of 4096 bytes at offset "), "{why}");
    // Kernels differ in whether the loop driver passes on ENOSPC or makes it EIO.
    assert!(why.contains("(errno 28)") || why.contains("(errno 5)"), "{why}");
    assert!(ran.stderr.contains(why), "{}", ran.stderr);
    let (name, figure) = first.records[0].figures.first().expect("it was measured");
    assert_eq!(record.figures.get(name), Some(figure), "what was measured before is kept");
    assert!(figure.complete);
    obeys_the_laws(record);
}

#[test]
fn a_quick_look_offers_no_destruction_of_a_device_that_cannot_be_written() {
    let Some(device) = Loop::blank(64 * MIB) else { return };
    let node = device.node.as_str();
    // A node keeps it for whatever is attached to it next.
    let _writable = Undo::with(&["blockdev", "--setrw", node]);
    for (flag, offered) in [("--setrw", true), ("--setro", false)] {
        tool(&["blockdev", flag, node]).expect("it is a device");
        let dir = folder();
        let mut card = start(dir.path(), &["quick", node, "--no-db"]);
        card.wait_until_it_listens();
        std::thread::sleep(std::time::Duration::from_secs(1));
        card.signal(Signal::INT);
        let said = card.finish().stderr;
        assert_eq!(said.contains("ALL ITS DATA IS LOST"), offered, "{said}");
        assert_eq!(said.contains("nothing is written: it is read-only"), !offered, "{said}");
    }
}

#[test]
fn what_is_done_to_a_device_is_recorded() {
    let Some(device) = Loop::blank(64 * MIB) else { return };
    let dir = folder();
    let node = device.node.as_str();
    let mut recorder = start(dir.path(), &["trace", "record", node, "-o", "it"]);
    // It is set up when its temporary files are there, or it has ended because it may not.
    wait_for("the recorder", || {
        let files = std::fs::read_dir(dir.path()).expect("a folder").count();
        (files > 0 || !recorder.is_running()).then_some(())
    });
    if recorder.is_running() {
        std::thread::sleep(std::time::Duration::from_millis(200));
        let text =
            "[job]\nrw=randwrite\nbs=8k\nsize=8m\nnumber_ios=500\niodepth=4\nioengine=libaio\n";
        std::fs::write(dir.path().join("job.fio"), text).expect("a folder of ours");
        let ran = run(dir.path(), &["run", "job.fio", node, "--destroy", node]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        recorder.signal(rustix::process::Signal::INT);
    }
    let ran = recorder.finish();
    if ran.code == Some(2) {
        let known =
            ["debugfs", "CONFIG_BLK_DEV_IO_TRACE", "CAP_SYS_ADMIN", "already", "locked down"];
        assert!(known.iter().any(|why| ran.stderr.contains(why)), "{ran:?}");
        assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 0, "nothing is left");
        return skipped("blktrace", ran.stderr);
    }
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let card = run(dir.path(), &["trace", "info", "it.blktrace.0", "--json", "--ops", "write"]);
    assert_eq!(card.code, Some(0), "{card:?}");
    let card: serde_json::Value = serde_json::from_str(&card.stdout).expect("JSON");
    assert_eq!(card["ios"], 500, "{card}");
    let again = refused(dir.path(), &["trace", "record", node, "-o", "it", "--seconds", "0.1"]);
    assert!(again.contains("already exists"), "{again}");
}
