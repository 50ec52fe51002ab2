//! Several drives of one model behind one loop, and processes that take processor time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use fourcorners_drive::{Clock, Done, Fault, Geometry, Io, Nanos, Ssd, Tag, Target};

/// For so long a host is as fast: 134 ms, as a drive is.
const STEADY_BITS: u32 = 27;
const OCTAVES: u64 = 6;
/// By how much a host is slower and faster, one standard deviation: half-seconds of one process at its limit differ by 0.2
/// to 0.4 % (980pro-x8-fig12a-n0, 980pro-x8-fig12a-n1, 980pro-x8-fig12b-n0).
const DRIFT: f64 = 0.003;

/// Drives of one host. A process uses them in turn, as fio does with a job of several files, and each of its
/// I/Os takes processor time before the drive has it. Addresses are those of one drive, and so is the number of commands
/// that all take at once, which is no limit over NVMe.
pub(super) struct Rig {
    drives: Vec<Ssd>,
    /// Processors, which processes share in turn.
    cpus: usize,
    /// By process: until when it works on what it submitted.
    busy: Vec<Nanos>,
    /// What an I/O takes of a processor on average, and what it takes until a time.
    process: Nanos,
    now_takes: Nanos,
    steady_until: Nanos,
    /// By process: I/Os so far.
    submitted: Vec<usize>,
    /// The process whose I/O comes next.
    process_of_next: usize,
    /// I/Os that a processor works on, by when the drive has them.
    on_their_way: BinaryHeap<Reverse<Submission>>,
    /// I/Os so far, so that those of one time keep their order.
    count: u64,
    /// Commands that a drive takes out of its queues at most before it answers one, if that is limited.
    slots: Option<usize>,
    /// By drive.
    queues: Vec<Queues>,
    now: Nanos,
}

/// The queues of a drive, one for each processor, out of which it takes commands in turn (NVMe's round robin).
#[derive(Clone, Debug, Default)]
struct Queues {
    /// By processor.
    waiting: Vec<VecDeque<(Tag, Io)>>,
    /// The one whose turn is next.
    turn: usize,
    /// Commands that were taken and are not answered.
    taken: usize,
}

impl Queues {
    /// The next command that is taken.
    fn take(&mut self) -> Option<(Tag, Io)> {
        let count = self.waiting.len();
        let next = (self.turn..self.turn + count).map(|place| place % count);
        let place = next.into_iter().find(|&place| !self.waiting[place].is_empty())?;
        self.turn = (place + 1) % count;
        self.waiting[place].pop_front()
    }
}

/// An I/O that a drive will have at a time.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Submission {
    at: Nanos,
    number: u64,
    drive: usize,
    cpu: usize,
    tag: Tag,
    io: Io,
}

impl Ord for Submission {
    fn cmp(&self, other: &Submission) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

impl PartialOrd for Submission {
    fn partial_cmp(&self, other: &Submission) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Rig {
    /// `drives`, at least one, have nothing in flight; processes are spread over `cpus`, at least one.
    pub(super) fn new(
        mut drives: Vec<Ssd>,
        (cpus, process): (usize, Nanos),
        processes: usize,
    ) -> Rig {
        let now = drives.iter().map(Target::now).max().unwrap_or(Nanos::ZERO);
        for drive in &mut drives {
            // Nothing is in flight, so nothing comes.
            let _ = drive.reap(now);
        }
        Rig {
            drives,
            cpus: cpus.max(1),
            busy: vec![now; processes.max(1)],
            process,
            now_takes: process,
            steady_until: Nanos::ZERO,
            submitted: (0..processes.max(1)).collect(),
            process_of_next: 0,
            on_their_way: BinaryHeap::new(),
            count: 0,
            slots: None,
            queues: Vec::new(),
            now,
        }
    }

    /// Has each drive take commands out of a queue for each processor, so many at most before it answers one.
    pub(super) fn with_slots(mut self, slots: Option<u32>) -> Rig {
        self.slots = slots.map(|slots| (slots as usize).max(1));
        let queues = Queues { waiting: vec![VecDeque::new(); self.cpus], ..Queues::default() };
        // Without a limit they are passed by, and nothing in them is counted.
        self.queues = vec![queues; self.slots.map_or(0, |_| self.drives.len())];
        self
    }

    /// Has all processes begin with the first drive, as runs of fio do that know nothing of each other.
    pub(super) fn all_begin_with_the_first(mut self) -> Rig {
        self.submitted.fill(0);
        self
    }

    /// Says whose the next I/O is.
    pub(super) fn is_of(&mut self, process: u32) {
        self.process_of_next = process as usize;
    }

    /// The drive with the earliest answer, and when that is.
    fn earliest(&mut self) -> Option<(Nanos, usize)> {
        let due = |(index, drive): (usize, &mut Ssd)| drive.due().map(|due| (due, index));
        self.drives.iter_mut().enumerate().filter_map(due).min()
    }

    /// Processes that have something to do on the processor of this one, itself among them. They share it evenly: one with little
    /// to do does not wait for all that another has.
    fn share_a_cpu(&self, process: usize) -> u64 {
        let there = (process % self.cpus..self.busy.len()).step_by(self.cpus);
        1 + there.filter(|&other| other != process && self.busy[other] > self.now).count() as u64
    }

    /// What an I/O takes of a processor now: hosts are slower and faster, too.
    fn process_takes(&mut self) -> Nanos {
        if self.now >= self.steady_until {
            let step = self.now.0 >> STEADY_BITS;
            self.steady_until = Nanos((step + 1) << STEADY_BITS);
            // As the slow part of a drive's variation: each term is constant for twice as long as the one before.
            let terms = (0..OCTAVES).map(|octave| {
                let mut numbers = SplitMix64::seed_from_u64(octave << 56 ^ step >> octave);
                (0..4)
                    .map(|_| (numbers.next_u64() >> 11) as f64 / (1u64 << 53) as f64 - 0.5)
                    .sum::<f64>()
            });
            // The sum of four uniform numbers has a deviation of the root of a third.
            let deviates = terms.sum::<f64>() * (3.0 / OCTAVES as f64).sqrt();
            self.now_takes =
                Nanos((self.process.0 as f64 * (1.0 + DRIFT * deviates)).round() as u64);
        }
        self.now_takes
    }

    fn hand_over(&mut self, Submission { at, drive, cpu, tag, io, .. }: Submission) {
        // What it has at that very time comes first, so this moves only its clock.
        let _ = self.drives[drive].reap(at);
        if self.slots.is_none() {
            self.drives[drive].submit(tag, io);
            return;
        }
        self.queues[drive].waiting[cpu].push_back((tag, io));
        self.take_commands(drive);
    }

    /// Has a drive take what it can out of its queues.
    fn take_commands(&mut self, drive: usize) {
        let Some(slots) = self.slots else { return };
        let queues = &mut self.queues[drive];
        while queues.taken < slots {
            let Some((tag, io)) = queues.take() else { return };
            queues.taken += 1;
            self.drives[drive].submit(tag, io);
        }
    }
}

impl Target for Rig {
    const CLOCK: Clock = Clock::Virtual;

    fn geometry(&self) -> Geometry {
        self.drives[0].geometry()
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn submit(&mut self, tag: Tag, io: Io) {
        let process = self.process_of_next % self.submitted.len();
        let drive = self.submitted[process] % self.drives.len();
        self.submitted[process] += 1;
        let at = self.busy[process].max(self.now)
            + Nanos(self.process_takes().0 * self.share_a_cpu(process));
        self.busy[process] = at;
        let cpu = process % self.cpus;
        let submission = Submission { at, number: self.count, drive, cpu, tag, io };
        self.count += 1;
        self.on_their_way.push(Reverse(submission));
    }

    fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
        loop {
            let due = self.earliest();
            let next = self.on_their_way.peek().map(|Reverse(submission)| submission.at);
            match (due, next) {
                (Some((at, drive)), next) if at <= until && next.is_none_or(|next| at <= next) => {
                    self.now = self.now.max(at);
                    if let Some(done) = self.drives[drive].reap(at)? {
                        if let Some(queues) = self.queues.get_mut(drive) {
                            queues.taken -= 1;
                            self.take_commands(drive);
                        }
                        return Ok(Some(done));
                    }
                }
                (_, Some(at)) if at <= until => {
                    if let Some(Reverse(submission)) = self.on_their_way.pop() {
                        self.now = self.now.max(at);
                        self.hand_over(submission);
                    }
                }
                _ => {
                    if until < Nanos::MAX {
                        self.now = self.now.max(until);
                    }
                    return Ok(None);
                }
            }
        }
    }

    fn due(&mut self) -> Option<Nanos> {
        let next = self.on_their_way.peek().map(|Reverse(submission)| submission.at);
        let due = self.earliest().map(|(due, _)| due);
        // Before an I/O reaches the drive there is no answer to it, and after that the drive knows.
        [next, due].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use fourcorners_drive::config::SsdConfig;
    use fourcorners_run::Unobserved;
    use fourcorners_run::streams::{Plan, RunResult, run, run_told};

    use super::super::question::{StreamSpec, Streams};
    use super::*;

    fn drive() -> Ssd {
        whose_commands_take(1.0)
    }

    fn whose_commands_take(read_us: f64) -> Ssd {
        let mut config = SsdConfig::default();
        config.controller.read_command_us = read_us;
        config.nand.reads_unwritten = Some(true);
        Ssd::new(&config).expect("it works")
    }

    fn plan(jobs: usize, depth: u32) -> Plan {
        let spec = StreamSpec {
            read_percent: 100,
            sequential: false,
            block_bytes: 4096,
            depth,
            pace: None,
            delay: Nanos::ZERO,
            span_bytes: None,
        };
        let streams = Streams {
            streams: vec![spec; jobs],
            probes: jobs,
            seconds: 0.2,
            ramp: Nanos(10_000_000),
            by_direction: false,
            alike: false,
        };
        let bytes = drive().geometry().bytes();
        let numbered = streams.streams.iter().enumerate();
        let made = numbered.map(|(number, spec)| spec.stream(number, &streams, bytes));
        Plan { streams: made.collect(), ..Plan::default() }
    }

    fn ios(result: &RunResult) -> Vec<(u64, u128)> {
        let of = |latency: &fourcorners_run::Histogram| (latency.count(), latency.sum());
        result.streams.iter().map(|stream| of(&stream.measure.tallies[0].latency)).collect()
    }

    fn on_rig(drives: usize, host: (usize, Nanos), plan: &Plan) -> Vec<(u64, u128)> {
        let mut rig = Rig::new(vec![drive(); drives], host, plan.streams.len());
        ios(&run_told(&mut rig, plan, &mut Unobserved, Rig::is_of))
    }

    fn rate(drives: usize, host: (usize, Nanos), plan: &Plan) -> f64 {
        on_rig(drives, host, plan).iter().map(|(count, _)| *count as f64).sum::<f64>() / 0.2
    }

    #[test]
    fn one_drive_and_a_host_that_costs_nothing_is_the_drive() {
        let plan = plan(3, 4);
        let alone = ios(&run(&mut drive(), &plan, &mut Unobserved));
        assert_eq!(on_rig(1, (2, Nanos::ZERO), &plan), alone);
        assert_ne!(on_rig(1, (2, Nanos(500)), &plan), alone);
    }

    #[test]
    fn a_process_submits_no_faster_than_its_processor_and_two_on_one_no_faster_than_one() {
        let slow = Nanos(20_000);
        let near = |rate: f64, to: f64| assert!((rate / to - 1.0).abs() < 0.02, "{rate} {to}");
        near(rate(1, (4, slow), &plan(1, 32)), 50_000.0);
        near(rate(1, (4, slow), &plan(2, 16)), 100_000.0);
        near(rate(1, (1, slow), &plan(2, 16)), 50_000.0);
        // With little to do, one hardly waits for another with much.
        let [(few, _), (much, _)] = on_rig(1, (1, slow), &{
            let mut both = plan(2, 1);
            both.streams[1] = plan(2, 32).streams.remove(1);
            both
        })[..] else {
            panic!("two streams")
        };
        let alone_few = on_rig(1, (1, slow), &plan(1, 1))[0].0;
        assert!(few as f64 > 0.6 * alone_few as f64, "{few} of {alone_few}");
        assert!(much > 4 * few, "{much} and {few}");
        // At depth 1 there is time enough, and it is a part of the latency.
        let [(count, sum)] = on_rig(1, (1, slow), &plan(1, 1))[..] else { panic!("one stream") };
        let [(alone, alone_sum)] = on_rig(1, (1, Nanos::ZERO), &plan(1, 1))[..] else { panic!() };
        let (mean, mean_alone) = (sum / u128::from(count), alone_sum / u128::from(alone));
        assert!((mean - mean_alone).abs_diff(20_000) < 500, "{mean} {mean_alone}");
    }

    #[test]
    fn drives_behind_one_loop_add_up() {
        let free = (1, Nanos::ZERO);
        let (one, three) = (rate(1, free, &plan(1, 8)), rate(3, free, &plan(3, 8)));
        assert!((2.5..3.05).contains(&(three / one)), "{one} {three}");
        // As many on one drive wait for its dies.
        let crowded = rate(1, free, &plan(3, 8));
        assert!(crowded < 2.4 * one, "{one} {crowded}");
    }

    /// Mean latencies, us, of a process with one I/O in flight and one with 24, each on a processor of its own.
    fn means(slots: Option<u32>) -> [f64; 2] {
        let mut both = plan(2, 1);
        both.streams[1] = plan(2, 24).streams.remove(1);
        let drive = whose_commands_take(100.0);
        let mut rig = Rig::new(vec![drive], (2, Nanos(100)), 2).with_slots(slots);
        let told = run_told(&mut rig, &both, &mut Unobserved, Rig::is_of);
        let ios = ios(&told);
        [0, 1].map(|of| ios[of].1 as f64 / ios[of].0 as f64 / 1e3)
    }

    #[test]
    fn a_drive_takes_commands_out_of_its_queues_in_turn() {
        // Without a limit the drive has all of them at once, and one waits for those before it.
        let [few, many] = means(None);
        assert!(few > 2000.0 && many > 2000.0, "{few} {many}");
        // With four at a time it waits for those four, and for one of the other queue.
        let [few, many] = means(Some(4));
        assert!((300.0..1000.0).contains(&few) && many > 2000.0, "{few} {many}");
        // So many that they are no limit.
        assert_eq!(means(Some(1000)), means(None));
    }

    /// The median latency over the mean of three saturated drives, by the microseconds that a read takes each.
    fn median_over_mean(command_us: [f64; 3]) -> f64 {
        let plan = plan(3, 32);
        let drives = command_us.map(whose_commands_take).to_vec();
        let mut rig = Rig::new(drives, (3, Nanos(100)), 3);
        let told = run_told(&mut rig, &plan, &mut Unobserved, Rig::is_of);
        let mut latency = fourcorners_run::Histogram::new();
        told.streams.iter().for_each(|stream| latency.merge(&stream.measure.tallies[0].latency));
        let mean = latency.sum() as f64 / latency.count() as f64;
        latency.percentile(50.0) as f64 / mean
    }

    #[test]
    fn ios_gather_at_the_slower_of_several_drives() {
        let (equal, slower) =
            (median_over_mean([100.0; 3]), median_over_mean([100.0, 100.0, 105.0]));
        assert!((0.9..1.1).contains(&equal), "{equal}");
        assert!(slower < 0.8, "{slower}");
    }

    #[test]
    fn processes_begin_with_drives_of_their_own_or_all_with_the_first() {
        let plan = plan(3, 1);
        let first = |rig: Rig| rig.submitted;
        let rig = || Rig::new(vec![drive(); 3], (3, Nanos(0)), plan.streams.len());
        assert_eq!(first(rig()), [0, 1, 2]);
        assert_eq!(first(rig().all_begin_with_the_first()), [0; 3]);
    }
}
