//! The state of a virtual drive in a file: whole or refused.

use std::fs;
use std::path::Path;

use fourcorners_catalogue::{Model, Profile, built_in};
use fourcorners_drive::config::{
    LogBlocksSection, LogReplacement, MapSection, StreamVictims, StreamsSection,
};
use fourcorners_drive::{Ssd, Target};
use fourcorners_lab::state::{StateFileError, check, load, save};
use fourcorners_record::{Data, Job, Pattern, Until};
use fourcorners_run::{Unobserved, run};
use sha2::{Digest, Sha256};

/// A small m4: 268 MB of NAND.
fn profile(more: &[&str]) -> Profile {
    let small = ["nand.channels=4", "nand.dies=4", "nand.blocks_per_plane=64"];
    let small = small.iter().chain(&["nand.pages_per_block=64", "capacity.sectors=460000"]);
    let set: Vec<String> = small.chain(more).map(|&set| set.to_string()).collect();
    built_in("crucial-m4-256gb", &set).expect("a drive")
}

fn new(profile: &Profile) -> Ssd {
    let Model::Ssd(model) = &profile.model else { panic!("the m4 is an SSD") };
    Ssd::new(model).expect("a drive")
}

fn job(read_percent: u8, drive_writes: u64, seed: u64) -> Job {
    let span_bytes = 460_000 * 512 / 4096 * 4096;
    Job {
        pattern: Pattern::Random,
        read_percent,
        block_bytes: 4096,
        queue_depth: 32,
        span_start_bytes: 0,
        span_bytes,
        data: Data::Incompressible,
        fua: false,
        flush: false,
        jobs: 1,
        until: Until::Bytes(span_bytes * drive_writes),
        seed,
    }
}

fn used(profile: &Profile) -> Ssd {
    let mut drive = new(profile);
    run(&mut drive, &job(0, 2, 1), &mut Unobserved);
    drive
}

/// What `load` says of a file with this content.
fn refusal(folder: &Path, content: &[u8], profile: &Profile) -> String {
    let path = folder.join("a.state");
    fs::write(&path, content).expect("a file");
    let error = load(&path, profile).expect_err("no state").to_string();
    assert!(!error.contains('\n'), "{error}");
    error
}

/// The content with the checksum it ought to have.
fn sealed(mut content: Vec<u8>) -> Vec<u8> {
    content.truncate(content.len() - 32);
    let digest = Sha256::digest(&content);
    content.extend_from_slice(&digest);
    content
}

#[test]
fn a_drive_goes_on_from_a_file_as_if_nothing_had_happened() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("used.state");
    let profile = profile(&[]);
    let mut drive = used(&profile);
    save(&drive, &profile, &path).expect("it can be saved");
    check(&path, &profile).expect("it is a state");
    let mut loaded = load(&path, &profile).expect("it can be loaded");
    assert_eq!(loaded.ssd.now(), drive.now());
    // Twice the same, and from the same drive the same file.
    let id = loaded.id.clone();
    save(&drive, &profile, &path).expect("it replaces a state");
    assert_eq!(load(&path, &profile).expect("a state").id, id);
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    let measured = run(&mut drive, &job(30, 2, 7), &mut Unobserved);
    let again = run(&mut loaded.ssd, &job(30, 2, 7), &mut Unobserved);
    assert_eq!(measured.latency.bins(), again.latency.bins());
    assert_eq!((measured.elapsed, measured.seconds), (again.elapsed, again.seconds));
    assert_eq!(drive.counters(), loaded.ssd.counters());
    drive.check_map().expect("a map");
}

#[test]
fn what_is_no_state_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let profile = profile(&[]);
    for content in [b"".as_slice(), b"4cst", b"name = \"mine\"\n", &[0; 1000]] {
        let error = refusal(folder.path(), content, &profile);
        assert!(error.contains("is not the state of a drive"), "{error}");
    }
    let missing = load(&folder.path().join("none"), &profile).expect_err("it is not there");
    assert!(matches!(missing, StateFileError::Io { .. }), "{missing}");
    let error = load(folder.path(), &profile).expect_err("a folder").to_string();
    assert!(error.contains("is not the state of a drive"), "{error}");
    let error = load(Path::new("/dev/zero"), &profile).expect_err("a device").to_string();
    assert!(error.contains("is not the state of a drive"), "{error}");
    let disk = built_in("seagate-momentus-5400.6", &[]).expect("a drive");
    let error = load(folder.path(), &disk).expect_err("a disk").to_string();
    assert!(error.contains("there is no state to keep"), "{error}");
}

#[test]
fn every_byte_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("whole");
    let profile = profile(&[]);
    save(&new(&profile), &profile, &path).expect("it can be saved");
    let whole = fs::read(&path).expect("the file");
    let step = whole.len() / 300 + 1;
    let near = |at: usize| at < 64 || at + 40 > whole.len();
    for at in (0..whole.len()).filter(|&at| near(at) || at % step == 0) {
        let mut changed = whole.clone();
        changed[at] ^= 0x10;
        refusal(folder.path(), &changed, &profile);
        // And as it is when a disk is full.
        refusal(folder.path(), &whole[..at], &profile);
        // With a right checksum, what it says is looked at: it is refused, or the same drive but
        // for something that cannot do any harm.
        if (16..whole.len() - 32).contains(&at) {
            fs::write(&path, sealed(changed)).expect("a file");
            if let Ok(mut loaded) = load(&path, &profile) {
                run(&mut loaded.ssd, &job(50, 1, 3), &mut Unobserved);
                loaded.ssd.check_map().expect("a map");
            }
        }
    }
    let mut longer = whole.clone();
    longer.push(0);
    assert!(refusal(folder.path(), &longer, &profile).contains("checksum"));
}

#[test]
fn versions_and_drives_are_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("whole");
    let profile = profile(&[]);
    save(&new(&profile), &profile, &path).expect("it can be saved");
    let whole = fs::read(&path).expect("the file");

    let mut form = whole.clone();
    form[8] += 1;
    let error = refusal(folder.path(), &sealed(form), &profile);
    assert!(error.contains("of another version (form"), "{error}");
    let version = env!("CARGO_PKG_VERSION").as_bytes();
    let at = whole.windows(version.len()).position(|bytes| bytes == version).expect("it is there");
    let mut other = whole.clone();
    other[at] = b'9';
    let error = refusal(folder.path(), &sealed(other), &profile);
    assert!(error.contains("made by fourcorners 9."), "{error}");

    let set = self::profile(&["gc.policy=fifo"]);
    let error = refusal(folder.path(), &whole, &set);
    assert!(error.contains("crucial-m4-256gb with other values"), "{error}");
    let intel = built_in("intel-320-300gb", &[]).expect("a drive");
    let error = refusal(folder.path(), &whole, &intel);
    assert!(error.ends_with("is the state of crucial-m4-256gb, not of intel-320-300gb"));
}

#[test]
fn content_of_another_drive_behind_the_right_header_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (one, other) = (profile(&[]), profile(&["nand.blocks_per_plane=80"]));
    let of = |profile: &Profile| {
        let path = folder.path().join("whole");
        save(&new(profile), profile, &path).expect("it can be saved");
        fs::read(&path).expect("the file")
    };
    let (one_file, other_file) = (of(&one), of(&other));
    // Headers are of one length: only the hash differs.
    let header = 16 + u32::from_le_bytes(one_file[12..16].try_into().expect("four bytes")) as usize;
    let forged = [&one_file[..header], &other_file[header..]].concat();
    let error = refusal(folder.path(), &sealed(forged), &one);
    assert!(error.contains("it is no state of this drive: its NAND has another shape"), "{error}");
    // A frame that is a thousand times as large as it looks is not unpacked.
    let mut frame = lz4_flex::frame::FrameEncoder::new(Vec::new());
    let zeros = vec![0; 1 << 20];
    (0..600).for_each(|_| std::io::Write::write_all(&mut frame, &zeros).expect("memory"));
    let frame = frame.finish().expect("memory");
    assert!(frame.len() < 8 << 20);
    let bomb = [&one_file[..header], &frame[..], &[0; 32]].concat();
    refusal(folder.path(), &sealed(bomb), &one);
}

#[test]
fn a_drive_with_a_log_block_map_keeps_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("whole");
    let page_map = profile(&[]);
    save(&new(&page_map), &page_map, &path).expect("it can be saved");
    let mut profile = page_map.clone();
    let Model::Ssd(model) = &mut profile.model else { panic!("the m4 is an SSD") };
    model.log_blocks = Some(LogBlocksSection {
        count: 2,
        associativity: 1,
        stripe_dies: 1,
        replacement: LogReplacement::Oldest,
        sequential: false,
    });
    let drive = new(&profile);
    assert!(drive.state().is_none());
    for error in [
        save(&drive, &profile, &path).expect_err("it has no state"),
        check(&path, &profile).expect_err("it has no state"),
        load(&path, &profile).expect_err("it has no state"),
    ] {
        let told = "has a log-block map, and only the state of a page map can be kept";
        assert!(error.to_string().ends_with(told), "{error}");
    }
    let Model::Ssd(model) = &profile.model else { panic!("the m4 is an SSD") };
    let state = new(&page_map);
    let error = Ssd::restore(model, state.state().expect("it is idle")).expect_err("another kind");
    assert!(error.to_string().ends_with("it has a log-block map, which keeps no state"), "{error}");
}

#[test]
fn a_drive_with_limited_map_memory_keeps_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("whole");
    let profile = with_limited_map(profile(&["capacity.sectors=400000"]));
    for error in [
        save(&new(&profile), &profile, &path).expect_err("it has no state"),
        check(&path, &profile).expect_err("it has no state"),
        load(&path, &profile).expect_err("it has no state"),
    ] {
        let told = "has a map with limited memory (map.memory_kib), and only the state of a map \
                    that is all in memory can be kept";
        assert!(error.to_string().ends_with(told), "{error}");
    }
}

#[test]
fn a_drive_with_streams_keeps_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("whole");
    let mut profile = profile(&["capacity.sectors=400000"]);
    let Model::Ssd(model) = &mut profile.model else { panic!("the m4 is an SSD") };
    model.streams = Some(StreamsSection {
        region_kib: 64,
        period_percent: 100,
        hot_factor: 2.0,
        hot_spare_percent: None,
        cool_turns: 5.0,
        victims: StreamVictims::OverShare,
    });
    for error in [
        save(&new(&profile), &profile, &path).expect_err("it has no state"),
        check(&path, &profile).expect_err("it has no state"),
        load(&path, &profile).expect_err("it has no state"),
    ] {
        let told = "keeps hot and cold data apart ([streams]), and only the state of a drive that \
                    does not can be kept";
        assert!(error.to_string().ends_with(told), "{error}");
    }
}

fn with_limited_map(mut profile: Profile) -> Profile {
    let Model::Ssd(model) = &mut profile.model else { panic!("the m4 is an SSD") };
    model.map = Some(MapSection { memory_kib: Some(64), ..MapSection::default() });
    profile
}

#[test]
fn nothing_but_a_state_is_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let profile = profile(&[]);
    let path = folder.path().join("thesis.txt");
    fs::write(&path, "years of work").expect("a file");
    let error = save(&new(&profile), &profile, &path).expect_err("it is not ours").to_string();
    assert!(error.ends_with("exists and is no state: it is not replaced"), "{error}");
    assert_eq!(fs::read(&path).expect("the file"), b"years of work");
    assert!(save(&new(&profile), &profile, folder.path()).is_err());
    assert!(save(&new(&profile), &profile, &folder.path().join("no/such/folder")).is_err());
}

/// What a state consists of may change, but not unnoticed: a file of before would be read as
/// something else. When this fails and the change is meant, raise `FORM` in `src/state.rs` and put
/// the number shown here.
#[test]
fn the_form_is_the_one_we_know() {
    let mut drive = new(&profile(&[]));
    let mut few = job(0, 1, 1);
    few.until = Until::Bytes(1 << 20);
    run(&mut drive, &few, &mut Unobserved);
    let state = postcard::to_stdvec(&drive.state().expect("nothing is in flight"));
    let digest = Sha256::digest(state.expect("it can be written"));
    let digest: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(digest, KNOWN_FORM);
}

const KNOWN_FORM: &str = "23f1d698da3eb034";
