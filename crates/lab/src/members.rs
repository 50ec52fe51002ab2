//! What each drive of an array or a cache did between two moments, for a record.

use fourcorners_array::MemberBytes;
use fourcorners_drive::{Nanos, Ssd, SsdCounters, Target};
use fourcorners_record::{FlashWear, MemberUse};
use fourcorners_words::size;

use crate::drive::Drive;
use crate::virtual_drive::Virtual;

/// What each drive had done until a moment; nothing of a single one.
#[derive(Clone, Debug, Default)]
pub struct MembersSnapshot(Vec<MemberSnapshot>);

#[derive(Clone, Debug)]
struct MemberSnapshot {
    role: &'static str,
    bytes: MemberBytes,
    joules: Option<f64>,
    ssd: Option<(SsdCounters, Option<FlashWear>)>,
    failed: bool,
}

impl MembersSnapshot {
    /// What they have done so far.
    pub fn of(drive: &Drive) -> MembersSnapshot {
        match drive {
            Drive::Array(array) => {
                let (now, failed) = (array.now(), array.failed());
                let members = array.members().zip(array.member_bytes()).enumerate();
                let of = |(at, (member, bytes))| MemberSnapshot {
                    failed: failed.contains(&at),
                    ..MemberSnapshot::of("drive", member, bytes, now)
                };
                MembersSnapshot(members.map(of).collect())
            }
            Drive::Cache(cache) => {
                let ([ssd, disk], counts) = (cache.members(), cache.counts());
                let of = |role, member, bytes| MemberSnapshot::of(role, member, bytes, cache.now());
                MembersSnapshot(vec![of("ssd", ssd, counts.ssd), of("disk", disk, counts.disk)])
            }
            Drive::Ssd(_) | Drive::Hdd(_) | Drive::Disturbed(_) | Drive::Real(_) => {
                MembersSnapshot::default()
            }
        }
    }

    /// What each did from then on.
    pub fn until_now(&self, drive: &Drive) -> Vec<MemberUse> {
        let now = MembersSnapshot::of(drive);
        self.0.iter().zip(&now.0).map(|(from, to)| to.since(from)).collect()
    }
}

/// What each of them did, in a sentence: "drive 1 read 1.2 GB and wrote 640.0 MB, 31.2 J; drive 2 ...".
pub fn sentence(members: &[MemberUse]) -> String {
    let each = members.iter().enumerate().map(|(at, it)| {
        let joules = it.joules.map(|joules| format!(", {joules:.1} J")).unwrap_or_default();
        let failed = if it.failed { ", and has failed" } else { "" };
        let (read, written) = (size(it.read_bytes), size(it.written_bytes));
        format!("drive {} read {read} and wrote {written}{joules}{failed}", at + 1)
    });
    each.collect::<Vec<String>>().join("; ")
}

impl MemberSnapshot {
    fn of(role: &'static str, drive: &Virtual, bytes: MemberBytes, now: Nanos) -> MemberSnapshot {
        let ssd = drive.ssd().map(|ssd| (ssd.counters(), flash_wear(ssd)));
        MemberSnapshot { role, bytes, joules: drive.energy_j(now), ssd, failed: false }
    }

    fn since(&self, from: &MemberSnapshot) -> MemberUse {
        let counters = self.ssd.as_ref().zip(from.ssd.as_ref());
        let counters = counters.map(|((to, _), (from, _))| (to, from));
        MemberUse {
            role: self.role.into(),
            read_bytes: self.bytes.read - from.bytes.read,
            written_bytes: self.bytes.written - from.bytes.written,
            joules: self.joules.zip(from.joules).map(|(to, from)| to - from),
            write_amplification: counters.and_then(|(to, from)| to.write_amplification_since(from)),
            nand_bytes: counters.map(|(to, from)| to.nand_bytes_since(from)),
            wear: self.ssd.as_ref().and_then(|(_, wear)| *wear),
            failed: self.failed,
        }
    }
}

/// How worn a virtual SSD is; `None` of one that does not wear out: what it was erased says nothing then.
pub(crate) fn flash_wear(ssd: &Ssd) -> Option<FlashWear> {
    let wear = ssd.wear();
    Some(FlashWear {
        erases_min: wear.erases_min,
        erases_mean: wear.erases_mean,
        erases_max: wear.erases_max,
        erases_std: wear.erases_std,
        endurance_used: wear.endurance_used?,
        blocks_retired: wear.blocks_retired,
        read_only: wear.read_only,
    })
}

#[cfg(test)]
mod tests {
    use fourcorners_record::{Data, Job, Pattern, Until};
    use fourcorners_run::Unobserved;

    use super::*;
    use crate::array::ArrayProfile;
    use crate::drive::Outcome;

    const CHUNK: u32 = 64 << 10;

    fn drive(name: &str, set: &[String]) -> Drive {
        let found = ArrayProfile::parse(name, None, set).expect("the name of several");
        found.unwrap_or_else(|error| panic!("{error}")).drive()
    }

    /// Writes so many blocks.
    fn written(drive: &mut Drive, pattern: Pattern, block_bytes: u32, ios: u64) -> Outcome {
        let job = Job {
            pattern,
            read_percent: 0,
            block_bytes,
            queue_depth: 8,
            span_start_bytes: 0,
            span_bytes: drive.geometry().bytes().min(4 << 30) / (3 << 20) * (3 << 20),
            data: Data::Incompressible,
            until: Until::Bytes(ios * u64::from(block_bytes)),
            seed: 7,
            fua: false,
            flush: false,
            jobs: 1,
        };
        drive.run(&job, &mut Unobserved)
    }

    /// The share of what the array was written that each drive was.
    fn shares(outcome: &Outcome) -> Vec<f64> {
        let share = |it: &MemberUse| it.written_bytes as f64 / outcome.measured.bytes as f64;
        outcome.members.iter().map(share).collect()
    }

    #[test]
    fn a_mirror_writes_all_to_both_and_a_stripe_a_part_to_each() {
        let random = |name: &str| written(&mut drive(name, &[]), Pattern::Random, 4096, 4096);
        let mirror = random("raid1:2xcrucial-m4-64gb");
        assert_eq!(shares(&mirror), [1.0, 1.0]);
        let stripe = shares(&random("raid0:2xcrucial-m4-64gb"));
        assert_eq!(stripe.iter().sum::<f64>(), 1.0);
        // Of 4096 writes a half to each, five standard deviations at most from it.
        assert!((stripe[0] - 0.5).abs() < 5.0 * 0.5 / 64.0, "{stripe:?}");
        // What they used is what the array used, and what they wrote to NAND is what it amplified.
        let all: f64 = mirror.members.iter().filter_map(|it| it.joules).sum();
        let array = mirror.measured.energy.as_ref().expect("an m4's is known").joules;
        assert!((all / array - 1.0).abs() < 1e-9, "{all} of {array}");
        for member in &mirror.members {
            let amplified = member.write_amplification.expect("an SSD that was written");
            let nand = member.nand_bytes.expect("an SSD's") as f64;
            assert!((nand / member.written_bytes as f64 / amplified - 1.0).abs() < 1e-9);
        }
        // A drive that is one has none.
        let profile = fourcorners_catalogue::built_in("crucial-m4-64gb", &[]).expect("built in");
        let alone = written(&mut Drive::from_profile(&profile), Pattern::Random, 4096, 64);
        assert_eq!(alone.members, []);
    }

    #[test]
    fn parity_is_written_to_each_in_turn() {
        let name = "raid5:4xcrucial-m4-64gb:64k";
        // A small write is one of data and one of parity: two of four drives. Over four stripes of three chunks each
        // drive has three chunks of data, and the parity of three.
        let chunks = written(&mut drive(name, &[]), Pattern::Sequential, CHUNK, 1200);
        assert_eq!(shares(&chunks), [0.5; 4]);
        // At random each drive has a half in the mean, and all together two exactly.
        let random = shares(&written(&mut drive(name, &[]), Pattern::Random, 4096, 4096));
        assert_eq!(random.iter().sum::<f64>(), 2.0);
        assert!(random.iter().all(|it| (it - 0.5).abs() < 5.0 * 0.5 / 64.0), "{random:?}");
        // Control: a whole stripe is parity for three chunks, a third to each drive.
        let whole = written(&mut drive(name, &[]), Pattern::Sequential, 3 * CHUNK, 400);
        assert!(shares(&whole).iter().all(|it| *it == 400.0 / 1200.0), "{:?}", shares(&whole));
        // One that is gone has nothing of it, and the others have what is theirs.
        let gone = format!("{name}:failed=2");
        let gone = written(&mut drive(&gone, &[]), Pattern::Sequential, CHUNK, 1200);
        assert_eq!(shares(&gone), [0.5, 0.0, 0.5, 0.5]);
        assert!(gone.members.iter().map(|it| it.failed).eq([false, true, false, false]));
        assert!(chunks.members.iter().all(|it| !it.failed));
        // The old data and its parity are read before; what is gone has none.
        assert!(gone.members[1].read_bytes == 0 && chunks.members[1].read_bytes > 0);
        assert!(sentence(&gone.members).contains("; drive 2 read 0 bytes and wrote 0 bytes, "));
    }

    #[test]
    fn the_drives_of_a_cache_are_written_as_its_mode_says() {
        let of = |mode: &str| {
            let name = format!("cache:crucial-m4-64gb+wd-velociraptor-300gb:{mode}");
            let outcome = written(&mut drive(&name, &[]), Pattern::Random, 4096, 2048);
            let bytes = outcome.measured.bytes as f64;
            let members = outcome.cache.expect("what a cache did").members;
            assert_eq!(members[1].nand_bytes, None, "a disk has none");
            [0, 1].map(|at| members[at].written_bytes as f64 / bytes)
        };
        assert_eq!(of("write-through"), [1.0, 1.0]);
        let [ssd, disk] = of("write-back");
        assert!(ssd == 1.0 && disk < 0.2, "{ssd} {disk}");
        let [ssd, disk] = of("read-only");
        assert!(ssd == 0.0 && disk == 1.0, "{ssd} {disk}");
    }

    #[test]
    fn each_drive_wears_by_what_it_was_written() {
        // With spare area enough that what collection moves does not depend on what comes just before what.
        let small = ["nand.blocks_per_plane=64", "capacity.sectors=2400000"];
        let wears =
            ["endurance_cycles=3000", "endurance_sigma_percent=0", "seed=1", "levelling=none"];
        let unused = ["threshold_cycles=1", "interval_blocks=1"];
        let wears = wears.iter().chain(&unused).map(|it| format!("wear.{it}"));
        let set: Vec<String> = small.iter().map(ToString::to_string).chain(wears).collect();
        let mut array = drive("raid5:3xcrucial-m4-64gb:failed=2", &set);
        let outcome = written(&mut array, Pattern::Sequential, CHUNK, 100_000);
        let used = |it: &MemberUse| it.wear.map(|wear| wear.endurance_used);
        let used: Vec<f64> = outcome.members.iter().filter_map(used).collect();
        let [one, gone, other] = used[..] else { panic!("three that wear out: {used:?}") };
        assert!(gone == 0.0 && one > 0.0 && (other / one - 1.0).abs() < 0.1, "{used:?}");
        // Control: without [wear] nothing is said of it.
        let mut unworn = drive("raid5:3xcrucial-m4-64gb", &[]);
        let outcome = written(&mut unworn, Pattern::Sequential, CHUNK, 64);
        assert!(outcome.members.iter().all(|it| it.wear.is_none()));
    }
}
