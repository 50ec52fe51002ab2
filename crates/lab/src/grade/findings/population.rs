//! The drives that findings are graded on: one drive of the catalogue with another inside.

use fourcorners_catalogue::{Profile, built_in};

use crate::disturbed::Random;

/// An SSD and two that are none; all that matters of the SSD is drawn.
const SSD: &str = "crucial-m4-64gb";
const HARD_DISKS: [&str; 2] = ["seagate-momentus-5400.6", "wd-velociraptor-300gb"];
/// One drive in so many is a hard disk.
const HARD_DISK_EACH: usize = 20;
const MIB: u64 = 1 << 20;

/// A drive, and how to have it again.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Seed of the draw.
    pub draw: u64,
    /// Its number, from 0.
    pub index: usize,
    /// The drive of the catalogue.
    pub base: &'static str,
    /// What was changed of it, as `--set` takes it.
    pub set: Vec<String>,
    /// What comes of both.
    pub profile: Profile,
    /// Of the places that are read and written, and of the noise.
    pub seed: u64,
}

impl Drawn {
    /// What `fourcorners diagnose` is given for it.
    pub fn arguments(&self) -> String {
        let set: Vec<String> = self.set.iter().map(|set| format!(" --set {set}")).collect();
        format!("{}{} --seed {}", self.base, set.concat(), self.seed)
    }

    /// The same drive with another unit of the map: 4 KiB, 8 or 16, as its pages allow.
    pub(super) fn with_another_unit(&self) -> Drawn {
        self.changed(0x756e_6974, |random, set| {
            set.push(format!("map.unit_bytes={}", 4096 << (random.next() % 3)));
        })
    }

    /// The same drive, every other one with programs that make way for reads, soon or late; most note something behind the
    /// programs of a flush.
    pub(super) fn suspending(&self) -> Drawn {
        self.changed(0x7375_7370, |random, set| {
            let waits = ["", "", "", "20", "60", "150"];
            let wait = waits[(random.next() % waits.len() as u64) as usize];
            let noted = ["0", "500", "3000"][(random.next() % 3) as usize];
            set.push(format!("controller.sync_latency_us={noted}"));
            if !wait.is_empty() {
                set.push(format!("nand_suspend.program_suspend_us={wait}"));
                set.push("nand_suspend.resume_us=20".into());
                set.push("nand_suspend.most_suspensions=3".into());
            }
        })
    }

    /// The same drive, every other one with blocks and a log of some for a map: such a drive has no cache, stores what it is sent and
    /// keeps all of the map in memory.
    pub(super) fn mapped(&self) -> Drawn {
        self.changed(0x6d61_7070, |random, set| {
            let mut one_of =
                |choices: &[u64]| choices[(random.next() % choices.len() as u64) as usize];
            if one_of(&[0, 1]) == 0 {
                return;
            }
            set.retain(|it| {
                !["slc_buffer.", "compression.", "map."].iter().any(|of| it.starts_with(of))
            });
            let stripe = one_of(&[1, 2, 4, 8, 16]);
            if stripe <= 4 && one_of(&[0, 1]) == 0 {
                with_small_blocks(set);
            }
            let given = [
                ("count", one_of(&[1, 3, 6, 10, 17, 30, 60]).to_string()),
                ("associativity", one_of(&[1, 1, 1, 2, 4]).to_string()),
                ("stripe_dies", stripe.to_string()),
                (
                    "replacement",
                    ["oldest", "least_recently_written"][one_of(&[0, 1]) as usize].into(),
                ),
                ("sequential", ["true", "false"][one_of(&[0, 0, 1]) as usize].into()),
            ];
            set.extend(given.iter().map(|(key, value)| format!("log_blocks.{key}={value}")));
        })
    }

    /// The same drive with less spare and another way to choose what it collects, of 2 GiB at most, as all of it is written many times.
    /// Its dies have a hundred blocks or more, and half of the SLC caches and maps that are not in memory are left out.
    pub(super) fn amplifying(&self) -> Drawn {
        self.changed(0x6d6f_7665, |random, set| {
            let mut one_of = |choices: &[&str]| {
                choices[(random.next() % choices.len() as u64) as usize].to_string()
            };
            for of in ["slc_buffer.", "map."] {
                if one_of(&["yes", "no"]) == "no" {
                    set.retain(|it| !it.starts_with(of));
                }
            }
            with_fewer_blocks(set, 2 << 30);
            with_small_blocks(set);
            set.retain(|it| !it.starts_with("gc.policy=") && !it.starts_with("trim."));
            let policies = [
                "greedy",
                "greedy",
                "greedy",
                "fifo",
                "cost_benefit",
                "d_choices",
                "random",
                "random",
            ];
            set.push(format!("gc.policy={}", one_of(&policies)));
            set.push(format!(
                "trim.mode={}",
                one_of(&["instant", "instant", "instant", "ignored"])
            ));
            with_blocks_left_out(set, one_of(&["100", "90", "80"]).parse().unwrap_or(100));
        })
    }

    /// The same drive with another way to collect: half of them do so while idle, and half let writes stall for it. Its dies
    /// have a hundred blocks or more, as those of real drives do, and half of the SLC caches are left out, which hide all of it.
    pub(super) fn collecting(&self) -> Drawn {
        self.changed(0x0063_6f6c_6c65_6374, |random, set| {
            set.retain(|it| !it.starts_with("gc.pacing="));
            if random.next().is_multiple_of(2) {
                set.retain(|it| !it.starts_with("slc_buffer."));
            }
            with_small_blocks(set);
            let mut one_of = |choices: &[&str]| {
                choices[(random.next() % choices.len() as u64) as usize].to_string()
            };
            let pacings = ["paced", "paced", "delayed", "delayed --set gc.stall=victim"];
            for part in one_of(&pacings).split(" --set ") {
                match part.split_once('=') {
                    Some(_) => set.push(part.into()),
                    None => set.push(format!("gc.pacing={part}")),
                }
            }
            if one_of(&["yes", "no"]) == "yes" {
                let idle =
                    one_of(&["20", "50", "100", "250", "500", "1000", "2500", "6000", "15000"]);
                set.push(format!("gc.idle_ms={idle}"));
                set.push(format!("gc.idle_free_blocks={}", one_of(&["8", "12", "20", "40"])));
            }
        })
    }

    /// The same drive, if it is an SSD, with a change that is drawn until the profile's check takes it: not all leave the drive
    /// as much as it needs to work.
    fn changed(&self, of: u64, change: impl Fn(&mut Random, &mut Vec<String>)) -> Drawn {
        let mut random = Random(self.seed ^ of);
        if self.base != SSD {
            return self.clone();
        }
        loop {
            let mut set = self.set.clone();
            change(&mut random, &mut set);
            if let Ok(profile) = built_in(SSD, &set) {
                return Drawn { set, profile, ..self.clone() };
            }
        }
    }
}

/// The drive of this number: 1 to 8 GiB of flash; each mechanism that a detector looks for in about half of them, so that
/// the others are its negative controls.
pub fn draw(seed: u64, index: usize) -> Drawn {
    let mut random = Random(seed ^ (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let drive_seed = random.next() >> 32;
    if index % HARD_DISK_EACH == HARD_DISK_EACH - 1 {
        let base = HARD_DISKS[index / HARD_DISK_EACH % HARD_DISKS.len()];
        let profile = built(base, &[]);
        return Drawn { draw: seed, index, base, set: Vec::new(), profile, seed: drive_seed };
    }
    // Not every draw is a drive: the profile's check says no to some.
    loop {
        let set = settings(&mut random);
        if let Ok(profile) = built_in(SSD, &set) {
            return Drawn { draw: seed, index, base: SSD, set, profile, seed: drive_seed };
        }
    }
}

fn settings(random: &mut Random) -> Vec<String> {
    let mut set: Vec<String> = Vec::new();
    let mut give = |key: &str, value: String| set.push(format!("{key}={value}"));
    let mut one_of = |choices: &[u64]| choices[(random.next() % choices.len() as u64) as usize];
    let dies = one_of(&[2, 4, 8, 16]);
    let channels = one_of(&[1, 2, 4, 8]).min(dies);
    let planes = one_of(&[1, 2, 2, 4]);
    let page = one_of(&[4096, 8192, 16384]);
    let pages = one_of(&[96, 192]);
    let row = planes * page;
    let raw = one_of(&[1, 2, 4, 8]) << 30;
    let blocks = raw / (dies * row * pages);
    give("nand.dies", dies.to_string());
    give("nand.channels", channels.to_string());
    give("nand.planes", planes.to_string());
    give("nand.page_bytes", page.to_string());
    give("nand.pages_per_block", pages.to_string());
    give("nand.read_us", one_of(&[20, 40, 60, 90]).to_string());
    let program = one_of(&[300, 800, 1300, 2200]);
    give("nand.program_us", program.to_string());
    give("nand.bus_mb_per_s", one_of(&[40, 100, 200, 400, 800]).to_string());
    give("link.gbps", one_of(&[3, 6]).to_string());
    give("gc.pacing", "paced".into());
    give("gc.policy", "greedy".into());
    give("controller.read_ahead_kib", one_of(&[0, 128]).to_string());
    let buffer = one_of(&[128, 256, 384, 512, 1024, 4096]) + one_of(&[0, 32, 96]);
    give("buffer.write_kib", buffer.max(4 * row / 1024).to_string());
    // The user has 8 to 30 % less than the flash, and the mechanisms have their blocks on top.
    let user = raw / 100 * one_of(&[70, 80, 88]) / MIB * MIB;
    give("capacity.sectors", (user / 512).to_string());
    let mut more = 12;
    if one_of(&[0, 1]) == 1 {
        let mib = user / MIB / one_of(&[8, 16, 32]);
        let bits = one_of(&[2, 3]);
        let kind = one_of(&[0, 1]);
        give(["slc_buffer.fixed_mib", "slc_buffer.dynamic_mib"][kind as usize], mib.to_string());
        give("slc_buffer.cell_bits", bits.to_string());
        give("slc_buffer.program_us", (program / one_of(&[2, 3, 5])).to_string());
        give("slc_buffer.read_us", "20".into());
        give("slc_buffer.when_full", ["direct", "fold"][one_of(&[0, 1]) as usize].into());
        give("slc_buffer.idle_ms", one_of(&[100, 1000]).to_string());
        more += mib * MIB * bits / (dies * row * pages) + 4;
    }
    if one_of(&[0, 1]) == 1 {
        // Four bytes of the map for each unit of 4 KiB.
        let reach = user / one_of(&[3, 6, 12]);
        give("map.memory_kib", (reach / MIB).max(8 * page / 1024).to_string());
        give("map.page_bytes", page.max(4096).to_string());
        more += 16;
    }
    give("nand.blocks_per_plane", (blocks + more).to_string());
    let mut more = Random(random.next());
    if let Some(stored) = stored_percent(&set, &mut more) {
        set.push(format!("compression.least_stored_percent={stored}"));
        set.push("compression.granule_bytes=512".into());
        set.push("compression.overhead_bytes=0".into());
        // Data that compresses lies anywhere.
        set.push("controller.read_ahead_contiguous=false".into());
        set.push("buffer.join=false".into());
    }
    // Two in five do nothing with a TRIM.
    let trims: [&[&str]; 5] = [
        &["mode=instant"],
        &["mode=queued", "range_us=30"],
        &["mode=blocking", "command_us=10000"],
        &["mode=ignored"],
        &["supported=false"],
    ];
    let trim = trims[(more.next() % trims.len() as u64) as usize];
    set.extend(trim.iter().map(|it| format!("trim.{it}")));
    // Two kinds of pages as in the base, then three: well apart, with two near each other, with two alike. Last, one kind.
    let kinds: [&[&str]; 5] = [
        &[],
        &["middle_read_ratio=1.12", "upper_read_ratio=1.37"],
        &["middle_read_ratio=1.03", "upper_read_ratio=1.21"],
        &["middle_read_ratio=1", "upper_read_ratio=1.3"],
        &["upper_read_ratio=1"],
    ];
    let kinds = kinds[(more.next() % kinds.len() as u64) as usize];
    set.extend(kinds.iter().map(|it| format!("variation.{it}")));
    set
}

/// Blocks of half, a quarter or less of the size, until there are a hundred of them a plane.
fn with_small_blocks(set: &mut Vec<String>) {
    let value = |set: &[String], key: &str| {
        let found = set.iter().find_map(|it| it.strip_prefix(key)?.parse::<u64>().ok());
        found.unwrap_or_else(|| unreachable!("{key} is drawn"))
    };
    const KEYS: [&str; 2] = ["nand.pages_per_block=", "nand.blocks_per_plane="];
    let [mut pages, mut blocks] = KEYS.map(|key| value(set, key));
    while blocks < 100 && pages.is_multiple_of(2) {
        (pages, blocks) = (pages / 2, blocks * 2);
    }
    set.retain(|it| !KEYS.iter().any(|key| it.starts_with(key)));
    set.extend(KEYS.iter().zip([pages, blocks]).map(|(key, value)| format!("{key}{value}")));
}

/// Halves the blocks and the user's space until that space is no more than this many bytes.
fn with_fewer_blocks(set: &mut [String], bytes: u64) {
    const KEYS: [&str; 2] = ["capacity.sectors=", "nand.blocks_per_plane="];
    let half = |it: &mut String, key: &str| {
        let value = it[key.len()..].parse::<u64>().unwrap_or(0);
        *it = format!("{key}{}", value / 2);
    };
    let sectors = |set: &[String]| {
        set.iter().find_map(|it| it.strip_prefix(KEYS[0])?.parse::<u64>().ok()).unwrap_or(0)
    };
    while sectors(set) * 512 > bytes {
        for key in KEYS {
            set.iter_mut().filter(|it| it.starts_with(key)).for_each(|it| half(it, key));
        }
    }
}

/// Leaves this percentage of the blocks.
fn with_blocks_left_out(set: &mut [String], percent: u64) {
    for it in set.iter_mut().filter(|it| it.starts_with("nand.blocks_per_plane=")) {
        let blocks: u64 = it["nand.blocks_per_plane=".len()..].parse().unwrap_or(0);
        *it = format!("nand.blocks_per_plane={}", blocks * percent / 100);
    }
}

/// What is stored at least of a drive's data, percent, if it compresses: every other one that has no SLC cache, which no
/// drive has with it.
fn stored_percent(set: &[String], random: &mut Random) -> Option<u64> {
    let has_cache = set.iter().any(|it| it.starts_with("slc_buffer."));
    let compresses = random.next().is_multiple_of(2);
    (compresses && !has_cache).then(|| [12, 25, 50][(random.next() % 3) as usize])
}

fn built(base: &str, set: &[String]) -> Profile {
    built_in(base, set).unwrap_or_else(|error| unreachable!("{base} {set:?}: {error}"))
}

#[cfg(test)]
mod tests {
    use fourcorners_catalogue::Model;

    use super::*;

    fn is_ssd(drawn: &Drawn) -> bool {
        matches!(drawn.profile.model, Model::Ssd(_))
    }

    #[test]
    fn any_seed_draws_drives_with_each_mechanism_and_without() {
        for seed in 0..5 {
            let drawn: Vec<Drawn> = (0..60).map(|index| draw(seed, index)).collect();
            for (key, count) in
                [("slc_buffer", 15..45), ("map.memory_kib", 15..45), ("compression.least", 6..25)]
            {
                let with = drawn.iter().filter(|it| it.set.iter().any(|set| set.starts_with(key)));
                assert!(count.contains(&with.count()), "{seed} {key}");
            }
            assert_eq!(drawn.iter().filter(|it| !is_ssd(it)).count(), 3);
        }
        assert_ne!(draw(1, 0).set, draw(2, 0).set);
    }
}
