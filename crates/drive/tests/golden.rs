//! Same profile, same job: the same times, to the nanosecond, on any machine, at any optimisation
//! level and on any number of threads at once. What they are is pinned here by a hash a drive.

mod common;

use common::jobs::Job;
use common::play::play;
use common::{Random, Shape, make, sata, set_effective_op, ssd};
use fourcorners_drive::Target;
use fourcorners_drive::config::{Pacing, SsdConfig, VictimPolicy};

/// FNV-1a over 64-bit words (Fowler, Noll, Vo): enough to tell times apart, and never to change.
struct Hash(u64);

impl Hash {
    fn add(&mut self, word: u64) {
        for byte in word.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

/// A drive and a job by name.
struct Golden {
    name: &'static str,
    job: Job,
    change: fn(&mut SsdConfig),
}

/// Four dies with two planes of 8 KiB pages, a host, a controller and a link that take their time.
fn base() -> SsdConfig {
    let mut profile =
        ssd(Shape { dies: 4, blocks_per_die: 48, pages_per_block: 12, effective_op: 0.15 });
    profile.host.command_us = 8.1;
    profile.link = sata(6.0, 1.3, 0.98);
    profile.controller.read_command_us = 9.7;
    profile.controller.write_command_us = 12.3;
    profile.controller.read_4k_us = 0.9;
    profile.controller.write_4k_us = 1.1;
    profile.controller.read_ahead_kib = 128;
    profile.buffer.write_kib = 200;
    profile.nand.channels = 2;
    profile.nand.planes = 2;
    profile.nand.page_bytes = 8192;
    profile.nand.bus_mb_per_s = 166.0;
    set_effective_op(&mut profile, 0.15);
    profile
}

const MIXED: Job = Job {
    read_percent: 40,
    sequential_percent: 30,
    hot_percent: 50,
    sizes: (1, 96, 1),
    align: 1,
    trims_per_1000: 20,
    flushes_per_1000: 5,
    idles_per_1000: 5,
    depth: 7,
    ..Job::OVERWRITE
};

/// The hashes of all times and counters of [`GOLDEN`], in its order.
const PINNED: [u64; 10] = [
    0x39e6503ef1e13dad,
    0xda50a32de5703794,
    0xde51be6fcc152a63,
    0x4681df287e36cf52,
    0x8fe38cf54f1757ec,
    0x4af5aae6de6fe235,
    0xb24630cd2fc67a8b,
    0xba5f8e78634dc2f2,
    0xfd2f5e2b26fadcbd,
    0xf7abc40f680ef71e,
];

const GOLDEN: [Golden; 10] = [
    Golden { name: "overwrite", job: Job::OVERWRITE, change: |_| {} },
    Golden { name: "mixed", job: MIXED, change: |_| {} },
    Golden {
        name: "sequential",

        job: Job {
            read_percent: 50,
            sequential_percent: 100,
            sizes: (256, 256, 1),
            depth: 2,
            ..Job::OVERWRITE
        },
        change: |_| {},
    },
    Golden { name: "delayed", job: MIXED, change: |profile| profile.gc.pacing = Pacing::Delayed },
    Golden { name: "fifo", job: MIXED, change: |profile| profile.gc.policy = VictimPolicy::Fifo },
    Golden {
        name: "cost_benefit",

        job: MIXED,
        change: |profile| profile.gc.policy = VictimPolicy::CostBenefit,
    },
    Golden {
        name: "d_choices",

        job: Job::OVERWRITE,
        change: |profile| {
            profile.gc.policy = VictimPolicy::DChoices;
            profile.gc.choices = 5;
        },
    },
    Golden {
        name: "random",

        job: Job { depth: 1, ..Job::OVERWRITE },
        change: |profile| profile.gc.policy = VictimPolicy::Random,
    },
    Golden {
        name: "odd_shape",

        job: MIXED,
        change: |profile| {
            profile.nand.dies = 5;
            profile.nand.planes = 3;
            profile.nand.page_bytes = 12_288;
            profile.nand.pages_per_block = 7;
            profile.link = sata(1.5, 1.3, 0.98);
            set_effective_op(profile, 0.28);
        },
    },
    Golden {
        name: "protected",

        job: Job { flushes_per_1000: 100, read_percent: 20, ..Job::OVERWRITE },
        change: |profile| profile.buffer.power_loss_protected = true,
    },
];

impl Golden {
    fn measure(&self) -> u64 {
        let mut profile = base();
        (self.change)(&mut profile);
        let mut drive = make(&profile);
        let commands = self.job.commands(drive.geometry().sectors, &mut Random(7));
        let answers = play(&mut drive, self.job.depth, commands)
            .unwrap_or_else(|error| panic!("{}: {error}", self.name));
        let mut hash = Hash(0xcbf2_9ce4_8422_2325);
        for answer in answers {
            hash.add(answer.at.0);
        }
        let counters = drive.counters();
        let blocks = u64::from(profile.nand.dies * profile.nand.blocks_per_plane);
        assert!(counters.blocks_erased > blocks, "{} uses no block twice", self.name);
        hash.add(counters.moved_units);
        hash.add(counters.programmed_units);
        hash.add(counters.blocks_erased);
        hash.0
    }
}

/// A change that moves these is a change of what the drives answer: say so in its commit message.
#[test]
fn the_same_job_has_the_same_times_for_ever() {
    let measured = GOLDEN.each_ref().map(Golden::measure);
    let changed: Vec<&str> =
        (0..GOLDEN.len()).filter(|&i| measured[i] != PINNED[i]).map(|i| GOLDEN[i].name).collect();
    assert!(changed.is_empty(), "{changed:?} changed; the hashes are now {measured:#018x?}");
}

#[test]
fn threads_side_by_side_do_not_change_a_time() {
    for (golden, pinned) in GOLDEN.iter().zip(PINNED).step_by(3) {
        let hashes: Vec<u64> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| golden.measure())).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        assert_eq!(hashes, [pinned; 4], "{}", golden.name);
    }
}
