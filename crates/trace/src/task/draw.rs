//! A task drawn into I/Os, as a plain drive would have recorded them.

use std::collections::VecDeque;

use fourcorners_drive::{Nanos, Op};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::{Step, Task, UNIT};
use crate::io::{IoFlags, TraceIo};

/// Of the recording drive, which takes one command after the other: what each takes, and each byte.
const COMMAND_NS: u64 = 60_000;
const BYTE_NS: u64 = 4;

/// How many I/Os of each size are still to come: sizes are drawn without putting them back, so that a
/// task moves the bytes its file says, whatever the seed.
#[derive(Clone, Debug)]
pub(super) struct Quota {
    sizes: Vec<(u64, u64)>,
    left: u64,
}

impl Quota {
    pub(super) fn new(sizes_kib: &[(u32, f64)], ios: u64) -> Quota {
        let (mut share, mut before) = (0.0, 0);
        let last = sizes_kib.len().saturating_sub(1);
        let sizes = sizes_kib.iter().enumerate().map(|(index, &(kib, percent))| {
            share += percent / 100.0;
            // The last takes what rounding has left.
            let up_to = if index == last { ios } else { (share * ios as f64).round() as u64 };
            let count = up_to.min(ios) - before;
            before += count;
            (u64::from(kib) * 1024, count)
        });
        Quota { sizes: sizes.collect(), left: ios }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.sizes.iter().map(|(bytes, count)| bytes * count).sum()
    }

    fn draw(&mut self, random: &mut Xoshiro256PlusPlus) -> u64 {
        let mut at = below(random, self.left);
        self.left -= 1;
        for (bytes, count) in &mut self.sizes {
            if at < *count {
                *count -= 1;
                return *bytes;
            }
            at -= *count;
        }
        unreachable!("the counts add up to what is left")
    }
}

/// A task as a stream of I/Os.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    threads: Vec<Thread>,
    /// When the recording drive is free.
    free_at: u64,
}

/// Steps that follow each other.
#[derive(Clone, Debug)]
struct Thread {
    steps: VecDeque<Step>,
    running: Option<Running>,
    /// Of its own, so that what a thread does is the same beside any others.
    random: Xoshiro256PlusPlus,
    /// When its next I/O is issued.
    at: u64,
    /// When those in flight are done, in order.
    in_flight: VecDeque<u64>,
    /// Where its last read and its last write ended.
    ends: [u64; 2],
    flush_next: bool,
}

#[derive(Clone, Debug)]
struct Running {
    step: Step,
    left: u64,
    reads: Quota,
    writes: Quota,
    burst_left: u64,
    unflushed: u64,
}

impl Drawn {
    /// The task with the random numbers of this seed.
    pub(crate) fn new(task: &Task, seed: u64) -> Drawn {
        let mut names: Vec<&str> = Vec::new();
        for step in &task.steps {
            if !names.contains(&step.thread.as_str()) {
                names.push(&step.thread);
            }
        }
        let threads = names.iter().enumerate().map(|(index, name)| {
            let steps = task.steps.iter().filter(|step| step.thread == *name).cloned().collect();
            let seed = seed.wrapping_add((index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let mut thread = Thread {
                steps,
                running: None,
                random: Xoshiro256PlusPlus::seed_from_u64(seed),
                at: 0,
                in_flight: VecDeque::new(),
                ends: [u64::MAX; 2],
                flush_next: false,
            };
            thread.prepare();
            thread
        });
        Drawn { threads: threads.collect(), free_at: 0 }
    }
}

impl Iterator for Drawn {
    type Item = TraceIo;

    fn next(&mut self) -> Option<TraceIo> {
        let waiting = self.threads.iter_mut().filter(|thread| thread.running.is_some());
        let thread = waiting.min_by_key(|thread| thread.at)?;
        let at = thread.at;
        let (op, offset_bytes, bytes, flags) = thread.take();
        self.free_at = self.free_at.max(at) + COMMAND_NS + bytes * BYTE_NS;
        thread.in_flight.push_back(self.free_at);
        if op == Op::Flush {
            thread.at = self.free_at;
        }
        thread.prepare();
        let duration = Some(Nanos(self.free_at - at));
        Some(TraceIo { at: Nanos(at), op, offset_bytes, bytes, duration, device: 0, flags })
    }
}

impl Thread {
    /// What is issued next.
    fn take(&mut self) -> (Op, u64, u64, IoFlags) {
        if std::mem::take(&mut self.flush_next) {
            return (Op::Flush, 0, 0, IoFlags::default());
        }
        let running = self.running.as_mut().expect("only a thread with something left is asked");
        let read = below(&mut self.random, running.left) < running.reads.left;
        running.left -= 1;
        running.burst_left -= 1;
        let (op, side, quota) = match read {
            true => (Op::Read, 0, &mut running.reads),
            false => (Op::Write, 1, &mut running.writes),
        };
        let bytes = quota.draw(&mut self.random);
        let offset = place(&mut self.random, &running.step, (op, bytes), self.ends[side]);
        self.ends[side] = offset + bytes;
        let step = &running.step;
        if !read && step.flush_every > 0 {
            running.unflushed += 1;
            if running.unflushed == step.flush_every {
                (running.unflushed, self.flush_next) = (0, true);
            }
        }
        let compressible_percent = if read { 0 } else { step.compressible_percent };
        (op, offset, bytes, IoFlags { compressible_percent, ..IoFlags::default() })
    }

    /// Finds out when the next one is issued; nothing is running when there is none.
    fn prepare(&mut self) {
        let all_done = self.in_flight.back().copied().unwrap_or(0);
        if self.flush_next {
            return self.at = self.at.max(all_done);
        }
        if self.running.as_ref().is_none_or(|running| running.left == 0) {
            self.running = self.steps.pop_front().map(|step| Running {
                left: step.ios,
                reads: step.read_quota(),
                writes: step.write_quota(),
                burst_left: 0,
                unflushed: 0,
                step,
            });
        }
        let Some(running) = &mut self.running else { return };
        if running.burst_left == 0 {
            running.burst_left = running.step.burst().min(running.left);
            // From 0 to 1, never 0.
            let uniform = ((self.random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
            let think = -libm::log(uniform) * running.step.think_us * 1e3;
            self.at = self.at.max(all_done) + think as u64;
        }
        while self.in_flight.front().is_some_and(|&end| end <= self.at) {
            self.in_flight.pop_front();
        }
        if self.in_flight.len() >= running.step.depth as usize {
            // They are done in order, so this many must be before there is a place.
            let first = self.in_flight.len() - running.step.depth as usize;
            self.at = self.in_flight[first];
            self.in_flight.drain(..=first);
        }
    }
}

fn place(
    random: &mut Xoshiro256PlusPlus,
    step: &Step,
    (op, bytes): (Op, u64),
    last_end: u64,
) -> u64 {
    let (start, end) = step.area();
    let from = match op {
        _ if (start..=end).contains(&last_end) => last_end,
        Op::Read => start,
        // Not on top of what is read beside it.
        _ => start + (end - start) / 2 / UNIT * UNIT,
    };
    let percent = below(random, 1 << 32) as f64 / (1u64 << 32) as f64 * 100.0;
    if percent < step.sequential_percent(op) {
        return if from + bytes <= end { from } else { start };
    }
    start + below(random, (end - start - bytes) / UNIT + 1) * UNIT
}

fn below(random: &mut Xoshiro256PlusPlus, bound: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(bound)) >> 64) as u64
}
