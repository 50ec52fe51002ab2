//! What may be a target, by which name, and what comes of opening it.

use std::fs::{self, File, FileTimes, OpenOptions};
use std::os::unix::fs::{FileExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use fourcorners_linux::guard::{
    Kind, Permission, Refusal, create_file, inspect, may_create, may_write, open_for_reading,
    open_for_writing,
};
use fourcorners_testing::skipped;

use crate::bench::{Image, Loop, MIB, Undo, is_root, run, skip_unless};

fn message(path: &Path) -> String {
    let line = inspect(path).expect_err("it is no target").to_string();
    assert!(!line.contains('\n'), "{line}");
    line
}

fn destroy(name: impl Into<String>) -> Permission {
    Permission { destroy: vec![name.into()], force: vec![] }
}

#[test]
fn what_is_no_target_says_what_it_is_and_what_to_give() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let at = |name: &str| dir.path().join(name);
    let missing = at("missing");
    assert_eq!(
        message(&missing),
        format!(
            "{} does not exist: give a block device or a file, or add --size 2G to create a file \
             of that size there",
            missing.display()
        )
    );
    // A file by that name cannot be made.
    assert_eq!(
        message(&at("missing/")),
        format!(
            "{}/ does not exist, and ends as a folder does: make it first (mkdir), or leave the / out",
            missing.display()
        )
    );
    assert_eq!(
        message(dir.path()),
        format!(
            "{0} is a directory: give a file in it, such as {0}/scratch.bin --size 2G",
            dir.path().display()
        )
    );
    assert_eq!(
        message(Path::new("/dev/null")),
        "/dev/null is a character device: give a block device (lsblk lists them) or a file"
    );
    run(&["mkfifo", &at("fifo").display().to_string()]).expect("it is part of coreutils");
    assert!(message(&at("fifo")).contains(" is a FIFO: "));
    let _listener = UnixListener::bind(at("socket")).expect("a socket");
    assert!(message(&at("socket")).contains(" is a socket: "));
    assert!(message(Path::new("/proc/self/mountinfo")).contains("a file of the kernel's own"));
    File::create(at("empty")).expect("a file");
    assert!(message(&at("empty")).contains(" is empty: give one of at least 16.8 MB"));
    fs::write(at("small"), "x").expect("a file");
    assert!(message(&at("small")).contains("(file, 1 byte) is too small: give one of at least"));
    symlink(at("missing"), at("dangling")).expect("a link");
    assert!(message(&at("dangling")).contains("does not exist"));
    symlink(at("circle"), at("circle")).expect("a link");
    assert!(message(&at("circle")).contains("cannot be reached"));
    assert!(message(Path::new("")).starts_with("'' does not exist"));
    assert!(message(&at("two\nlines")).contains("two\\nlines"));
}

#[test]
fn a_device_is_described_and_needs_its_name() {
    let Some(device) = Loop::over(Image::new(16 * MIB + 512), &["--sector-size", "4096"]) else {
        return;
    };
    let target = inspect(device.path()).expect("it can be inspected");
    assert_eq!(target.kind, Kind::Device);
    assert_eq!(target.canonical, device.path());
    assert_eq!(target.geometry.logical_block_bytes, 4096);
    assert_eq!(target.geometry.bytes(), 16 * MIB);
    assert!(target.geometry.queue_depth > 0);
    assert_eq!((target.read_only, target.partition_of.as_ref()), (false, None));
    assert_eq!(target.backing.as_deref(), Some(device.image.text()));
    let before = device.image.sha256();
    for names in [vec![], vec![""], vec!["/dev/null", "loop", "/dev", device.image.text()]] {
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        let permission = Permission { destroy: names, ..Permission::default() };
        for refusal in [
            may_write(&target, &permission).expect_err("it is not named"),
            open_for_writing(&target, &permission).expect_err("it is not named"),
        ] {
            assert_eq!(
                refusal.to_string(),
                format!(
                    "{0} (loop device over {1}, 16.8 MB) would lose all its data: to allow it, \
                     add --destroy {0}",
                    device.node,
                    device.image.text()
                )
            );
        }
    }
    assert!(before == device.image.sha256());

    let opened = open_for_writing(&target, &destroy(&*device.node)).expect("it is named");
    assert!(opened.direct);
    assert!(before == device.image.sha256(), "opening changed it");
}

#[test]
fn a_link_and_what_it_leads_to_are_one() {
    let Some(device) = Loop::blank(16 * MIB) else { return };
    let link = device.image.dir.path().join("by-id");
    symlink(device.path(), &link).expect("a link");
    let link_name = link.to_str().expect("it is text");
    let through = inspect(&link).expect("it can be inspected");
    assert_eq!(through.canonical, device.path());
    assert_eq!(may_write(&through, &destroy(&*device.node)), Ok(()));
    assert_eq!(may_write(&through, &destroy(link_name)), Ok(()));
    let direct = inspect(device.path()).expect("it can be inspected");
    assert_eq!(may_write(&direct, &destroy(link_name)), Ok(()));
    let line = may_write(&through, &Permission::default()).expect_err("not named").to_string();
    assert!(line.starts_with(&format!("{link_name} ({}, loop", device.node)), "{line}");

    // Turned after it was checked, it leads nowhere new.
    let other = Image::new(16 * MIB);
    fs::remove_file(&link).and_then(|()| symlink(&other.path, &link)).expect("a link");
    let refusal = open_for_writing(&through, &destroy(link_name)).expect_err("it names another");
    assert!(matches!(refusal, Refusal::NotNamed { .. }), "{refusal}");
    open_for_writing(&through, &destroy(&*device.node)).expect("it is what was inspected");
}

#[test]
fn a_file_is_named_by_its_path_or_a_link_but_not_by_another_name() {
    let image = Image::new(16 * MIB);
    let target = inspect(&image.path).expect("it can be inspected");
    assert_eq!(target.kind, Kind::File);
    let refusal = may_write(&target, &Permission::default()).expect_err("it is not named");
    assert_eq!(
        refusal.to_string(),
        format!(
            "{0} (file, 16.8 MB) would lose its content: to allow it, add --destroy {0}",
            image.text()
        )
    );
    let link = image.dir.path().join("link");
    symlink(&image.path, &link).expect("a link");
    assert_eq!(may_write(&target, &destroy(link.to_str().expect("text"))), Ok(()));
    let hard = image.dir.path().join("hard");
    fs::hard_link(&image.path, &hard).expect("a link");
    assert!(may_write(&target, &destroy(hard.to_str().expect("text"))).is_err());
    assert!(open_for_writing(&target, &destroy(image.text())).is_ok());
}

#[test]
fn what_was_replaced_or_resized_is_refused() {
    let image = Image::new(16 * MIB);
    let permission = destroy(image.text());
    let target = inspect(&image.path).expect("it can be inspected");
    let file = OpenOptions::new().write(true).open(&image.path).expect("it is ours");
    file.set_len(17 * MIB).expect("it can be sized");
    let resized = open_for_writing(&target, &permission).expect_err("it was resized");
    assert!(matches!(resized, Refusal::Changed { .. }), "{resized}");
    file.set_len(16 * MIB).expect("it can be sized");
    assert!(open_for_writing(&target, &permission).is_ok());

    // The old one is kept, so that its inode is not used again.
    fs::rename(&image.path, image.dir.path().join("old")).expect("it is ours");
    let precious = File::create(&image.path).expect("a file");
    precious.set_len(16 * MIB).expect("it can be sized");
    for refusal in [
        may_write(&target, &permission).expect_err("it was replaced"),
        open_for_writing(&target, &permission).expect_err("it was replaced"),
        open_for_reading(&target).expect_err("it was replaced"),
    ] {
        assert!(matches!(refusal, Refusal::Changed { .. }), "{refusal}");
    }
}

#[test]
fn reading_a_file_leaves_the_time_of_its_last_access() {
    #[repr(align(4096))]
    struct Block([u8; 4096]);
    let image = Image::new(16 * MIB);
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let file = OpenOptions::new().write(true).open(&image.path).expect("it is ours");
    file.set_times(FileTimes::new().set_accessed(long_ago)).expect("it is ours");
    let opened = open_for_reading(&inspect(&image.path).expect("a target")).expect("it is ours");
    opened.file.read_exact_at(&mut Block([1; 4096]).0, 0).expect("it is as long");
    let accessed = fs::metadata(&image.path).expect("it is there").accessed().expect("a time");
    assert_eq!(accessed, long_ago);
}

#[test]
fn a_read_only_device_and_an_immutable_file() {
    let Some(device) = Loop::over(Image::new(16 * MIB), &["--read-only"]) else { return };
    let target = inspect(device.path()).expect("it can be inspected");
    assert!(target.read_only);
    let refusal = may_write(&target, &destroy(&*device.node)).expect_err("it is read-only");
    assert!(
        refusal.to_string().contains(&format!("blockdev --setrw {}", device.node)),
        "{refusal}"
    );
    assert!(open_for_reading(&target).is_ok());

    let image = Image::new(16 * MIB);
    let made = run(&["chattr", "+i", image.text()]);
    skip_unless!(made.is_ok(), "immutable-files", "{made:?}");
    let immutable = Undo::with(&["chattr", "-i", image.text()]);
    let target = inspect(&image.path).expect("it can be inspected");
    let refusal = may_write(&target, &destroy(image.text())).expect_err("it is immutable");
    assert!(refusal.to_string().contains(&format!("chattr -i {}", image.text())), "{refusal}");
    drop(immutable);
}

#[test]
fn reading_needs_no_name_and_cannot_write() {
    let image = Image::new(16 * MIB + 5);
    let target = inspect(&image.path).expect("it can be inspected");
    assert_eq!(target.geometry.bytes(), 16 * MIB);
    let opened = open_for_reading(&target).expect("it can be read");
    assert!(opened.file.write_at(b"x", 0).is_err());
    skip_unless!(!is_root(), "another-user", "root may read anything");
    let mut mode = fs::metadata(&image.path).expect("it is there").permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0);
    fs::set_permissions(&image.path, mode).expect("it is ours");
    assert!(message(&image.path).contains("may not be read by this user"));
}

/// A scratch file that is marked, or `None` where files cannot be.
fn scratch(dir: &Path) -> Option<PathBuf> {
    let path = dir.join("scratch");
    create_file(&path, 16 * MIB).expect("there is room");
    let target = inspect(&path).expect("it can be inspected");
    if may_write(&target, &Permission::default()).is_err() {
        skipped("extended-attributes", "the file system has no extended attributes");
        return None;
    }
    Some(path)
}

#[test]
fn a_scratch_file_may_be_written_again_while_it_is_nothing_else() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("new");
    let created = create_file(&path, 16 * MIB + 100).expect("there is room");
    assert_eq!(created.geometry.bytes(), 16 * MIB);
    assert!(!created.read_only);
    let opened = open_for_writing(&created, &Permission::default()).expect("it is ours");
    let refusal = create_file(&path, 16 * MIB).expect_err("it exists");
    assert!(refusal.to_string().contains("exists already: leave out --size"), "{refusal}");
    drop(opened);
    let refusal = create_file(dir.path(), 16 * MIB).expect_err("it is a folder").to_string();
    assert!(refusal.contains("is a folder") && refusal.contains("/test.img"), "{refusal}");

    let Some(path) = scratch(dir.path()) else { return };
    let name = path.to_str().expect("it is text").to_owned();
    let open = || {
        let target = inspect(&path).expect("it can be inspected");
        open_for_writing(&target, &Permission::default())
    };
    // Random bytes are what a test leaves.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    })
    .take(2 << 20)
    .flatten()
    .collect();
    let opened = open().expect("it is ours");
    // By another way than the direct one, which wants aligned memory.
    let file = OpenOptions::new().write(true).open(&path).expect("it is ours");
    file.write_all_at(&noise, 0).expect("it can be written");
    drop(opened);
    drop(open().expect("it is still a scratch file"));

    let hard = dir.path().join("hard");
    fs::hard_link(&path, &hard).expect("a link");
    assert!(matches!(open(), Err(Refusal::NotNamed { .. })), "it has a second name");
    fs::remove_file(hard).expect("it is ours");
    open().expect("it is a scratch file again");

    // Its owner has written since, then named it, and it is ours once more.
    file.write_all_at(b"letter", 1 << 20).expect("it can be written");
    assert!(matches!(open(), Err(Refusal::NotNamed { .. })), "it was written");
    let target = inspect(&path).expect("it can be inspected");
    drop(open_for_writing(&target, &destroy(&name)).expect("it is named"));
    let opened = open().expect("it is a scratch file again");
    // A killed program closes its file without a word.
    std::mem::forget(opened.lease);
    drop(opened.file);
    assert!(matches!(open(), Err(Refusal::NotNamed { .. })), "nobody knows what was written");
    drop(open_for_writing(&target, &destroy(&name)).expect("it is named"));

    run(&["mkfs.ext4", "-q", "-F", &name]).expect("it is part of e2fsprogs");
    let refusal = open().expect_err("it is a file system");
    let options = format!(
        "carries the signature of ext2/ext3/ext4: to allow it, add --destroy {name} --force {name}"
    );
    assert!(refusal.to_string().ends_with(&options), "{refusal}");

    // Somebody's data, copied over it.
    let data = dir.path().join("data");
    fs::write(&data, vec![7; 17 << 20]).expect("it can be written");
    fs::copy(&data, &path).expect("it can be copied");
    assert!(matches!(open(), Err(Refusal::NotNamed { .. })), "it has another size");
}

#[test]
fn what_cannot_be_created_says_why_and_leaves_nothing() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let at = |name: &str| dir.path().join(name);
    File::create(at("file")).expect("a file");
    symlink(at("missing"), at("dangling")).expect("a link");
    for (path, bytes, part) in [
        (at("small"), 16 * MIB - 1, "with 16.8 MB: give at least 16.8 MB"),
        (at("huge"), 1 << 60, " free; give less or another place"),
        (at("no/such/place"), 16 * MIB, "is not a directory: mkdir -p "),
        (at("file/below"), 16 * MIB, "is not a directory: mkdir -p "),
        (at("file"), 16 * MIB, "exists already"),
        (at("dangling"), 16 * MIB, "exists already"),
        (dir.path().to_owned(), 16 * MIB, "is a folder: name a new file in it, for example "),
        (PathBuf::from("/proc/scratch"), 16 * MIB, ""),
        (PathBuf::from(""), 16 * MIB, ""),
    ] {
        for refusal in [
            may_create(&path, bytes).expect_err("it cannot be created"),
            create_file(&path, bytes).expect_err("it cannot be created"),
        ] {
            let line = refusal.to_string();
            assert!(line.contains(part) && !line.contains('\n'), "{line}");
        }
    }
    let mut left: Vec<_> =
        fs::read_dir(dir.path()).expect("it is there").flatten().map(|e| e.file_name()).collect();
    left.sort();
    assert_eq!(left, ["dangling", "file"]);
}
