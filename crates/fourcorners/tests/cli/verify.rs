//! Verification on files and loop devices: what was spoiled behind a job's back is found and named.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use serde_json::Value;

use crate::bench::{Ran, folder, run};
use crate::media::{Loop, MIB, run as tool};

const BLOCK: usize = 16_384;
const BLOCKS: usize = 1024;

fn write(path: &Path, offset: usize, bytes: &[u8]) {
    let file = OpenOptions::new().write(true).open(path).expect("it is ours");
    file.write_all_at(bytes, offset as u64).and_then(|()| file.sync_all()).expect("it is there");
}

fn job(dir: &Path, target: &str, more: &str, args: &[&str]) -> Ran {
    let text =
        format!("[job]\nrw=randwrite\nbs=16k\nsize=4m\niodepth=8\nioengine=io_uring\n{more}");
    fs::write(dir.join("job.fio"), text).expect("a folder of ours");
    run(dir, &[&["run", "job.fio", target][..], args].concat())
}

/// What is wrong, by kind and place.
fn findings(ran: &Ran) -> Vec<(String, u64, String)> {
    let document: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let verify = &document["jobs"][0]["fourcorners"]["verify"];
    let list = verify["findings"].as_array().unwrap_or_else(|| panic!("{ran:?}"));
    let text = |value: &Value| value.as_str().expect("text").to_string();
    list.iter()
        .map(|it| {
            let offset = it["offset_bytes"].as_u64().expect("a number");
            (text(&it["damage"]), offset, text(&it["what"]))
        })
        .collect()
}

/// Spoils what lies on a target whose data is in `image`, and looks.
fn spoil_and_look(dir: &Path, target: &str, image: &Path, checksum: &str) {
    let verify = format!("verify={checksum}\n");
    let destroy = ["--destroy", target];
    let first = job(dir, target, &format!("{verify}do_verify=0\n"), &destroy);
    assert_eq!(first.code, Some(0), "{first:?}");
    tool(&["sync", image.to_str().expect("text")]).expect("it is part of coreutils");
    let old = fs::read(image).expect("it can be read");
    // Once more, with the check that follows it: all of it is well.
    let again = job(dir, target, &verify, &[&destroy[..], &["--output-format", "json"]].concat());
    assert_eq!((again.code, findings(&again)), (Some(0), Vec::new()), "{again:?}");
    let document: Value = serde_json::from_str(&again.stdout).expect("JSON");
    assert_eq!(document["jobs"][0]["fourcorners"]["verify"]["read_back_bytes"], 4 << 20);

    let only = format!("{verify}verify_only\n");
    let clean = job(dir, target, &only, &["--output-format", "json"]);
    assert_eq!((clean.code, findings(&clean)), (Some(0), Vec::new()), "{clean:?}");

    tool(&["sync", image.to_str().expect("text")]).expect("it is part of coreutils");
    let new = fs::read(image).expect("it can be read");
    let block = |number: usize| number * BLOCK..(number + 1) * BLOCK;
    let (flipped, lost, torn, from, to) = (10, 20, 30, 40, 50);
    let bit = flipped * BLOCK + 5000;
    write(image, bit, &[new[bit] ^ 0x08]);
    write(image, lost * BLOCK, &old[block(lost)]);
    // Half a block, in the middle of a sector's neighbours: 3 sectors are new.
    write(image, torn * BLOCK + 1536, &old[torn * BLOCK + 1536..(torn + 1) * BLOCK]);
    write(image, to * BLOCK, &new[block(from)]);
    write(image, from * BLOCK, &old[block(from)]);

    let found = job(dir, target, &only, &["--output-format", "json"]);
    assert_eq!(found.code, Some(1), "{found:?}");
    let list = findings(&found);
    let kinds: Vec<(&str, u64)> = list.iter().map(|(kind, at, _)| (kind.as_str(), *at)).collect();
    let at = |number: usize| (number * BLOCK) as u64;
    assert_eq!(
        kinds,
        [
            ("flipped_bits", at(flipped)),
            ("lost_write", at(lost)),
            ("torn_write", at(torn)),
            ("lost_write", at(from)),
            ("misplaced_write", at(to)),
        ]
    );
    let what = |place: usize| list[place].2.as_str();
    assert!(what(0).contains(&format!("bit 3 of the byte at offset {bit} of write ")), "{list:?}");
    assert!(what(1).contains(" was lost: there is still what another run wrote"), "{list:?}");
    assert!(what(2).contains(" was torn: 1536 bytes of it are there"), "{list:?}");
    assert!(what(3).contains(&format!("is not here but at offset {}", at(to))), "{list:?}");
    assert!(what(4).contains(&format!("was meant for offset {}", at(from))), "{list:?}");
    for (_, _, sentence) in &list {
        assert!(found.stderr.contains(sentence), "{found:?}");
    }
    assert!(found.stderr.contains("invalid data (integrity check failed)"), "{found:?}");

    let fatal = job(dir, target, &format!("{only}verify_fatal\n"), &["--output-format", "json"]);
    assert_eq!(fatal.code, Some(1), "{fatal:?}");
    // What was in flight when the first was found is still looked at.
    assert!((1..=5).contains(&findings(&fatal).len()), "{fatal:?}");
    assert_eq!(findings(&fatal)[0].0, "flipped_bits");
}

#[test]
fn what_is_spoiled_in_a_file_is_found_and_named() {
    let dir = folder();
    let path = dir.path().join("target.img");
    for checksum in ["crc32c", "md5", "xxhash"] {
        let image = fs::File::create(&path).expect("a folder of ours");
        image.set_len((BLOCK * BLOCKS) as u64).expect("a sparse file");
        drop(image);
        spoil_and_look(dir.path(), "target.img", &path, checksum);
    }
}

#[test]
fn what_is_spoiled_under_a_loop_device_is_found_and_named() {
    let Some(device) = Loop::blank(16 * MIB) else { return };
    let dir = folder();
    spoil_and_look(dir.path(), &device.node, device.path(), "crc32c");
}

#[test]
fn reads_are_checked_by_what_the_blocks_say_of_themselves() {
    let dir = folder();
    let target = dir.path().join("target.img");
    let ran = job(dir.path(), "target.img", "verify=xxhash\n", &["--size", "16MiB"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let reads = "[check]\nrw=randread\nbs=16k\nsize=4m\nverify=xxhash\n";
    let read = |text: &str| {
        fs::write(dir.path().join("read.fio"), text).expect("a folder of ours");
        run(dir.path(), &["run", "read.fio", "target.img", "--output-format", "json"])
    };
    let ran = read(reads);
    assert_eq!((ran.code, findings(&ran)), (Some(0), Vec::new()), "{ran:?}");
    // In smaller pieces than it was written in it cannot be checked, and that is said.
    let ran = read(&reads.replace("16k", "4k"));
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("set verify_interval=16384"), "{ran:?}");
    write(&target, 5 * BLOCK, &[0; BLOCK]);
    let ran = read(reads);
    let list = findings(&ran);
    assert_eq!((ran.code, list.len(), list[0].0.as_str()), (Some(1), 1, "not_stamped"));
}
