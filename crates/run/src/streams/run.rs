//! Several streams on one target as work for the loop of [`crate::paced`].
//!
//! They wait for paces, pauses, beginnings and ends of others. Nothing is looked at twice without need: a
//! completion concerns its own stream only, and all streams are gone through when one has ended or when the
//! earliest of their times has come.

use std::collections::VecDeque;

use fourcorners_drive::{Done, Fault, Io, Nanos, Tag, Target};

use super::log::Completed;
use super::running::{Flight, Phase, Running, Watch};
use super::steady::{Steady, Totals};
use super::{Direction, Plan, RunResult, Stream, TakesAlong};
use crate::observer::Observer;
use crate::paced::{Work, carry_out};

/// A stream that survives errors ends after so many in a row: a virtual drive that refuses everything
/// does so in no time, for ever.
const MOST_FAILURES: u32 = 10_000;

/// Runs all streams of a plan on `target` until the last has ended.
///
/// Streams that have more in flight together than the target takes wait in line for it, as in a
/// kernel's queue, and that is in their latencies. The caller has checked that the spans fit the
/// target, that blocks are whole logical blocks, and that no stream waits for itself or a later one.
pub fn run<T: Target>(target: &mut T, plan: &Plan, observer: &mut dyn Observer) -> RunResult {
    run_told(target, plan, observer, |_, _| {})
}

/// The same; `tell` says to the target, before each I/O, whose it is: the stream's place in the plan.
pub fn run_told<T: Target>(
    target: &mut T,
    plan: &Plan,
    observer: &mut dyn Observer,
    tell: fn(&mut T, u32),
) -> RunResult {
    let origin = target.now();
    let slots = usize::try_from(plan.depth()).unwrap_or(usize::MAX);
    let tags = slots.min(target.geometry().queue_depth as usize);
    let mut engine = Engine {
        origin,
        streams: plan.streams.iter().map(|stream| Running::new(stream.clone())).collect(),
        steady: plan.steady.iter().map(|spec| Watch::new(Steady::new(spec.clone()))).collect(),
        flights: vec![Flight::NONE; slots],
        free_slots: (0..slots as u32).rev().collect(),
        free_tags: (0..tags as u32).rev().map(Tag).collect(),
        by_tag: vec![0; tags],
        line: VecDeque::with_capacity(slots),
        wake: Nanos::MAX,
        look_at_all: false,
        flowing: plan.streams.iter().any(|stream| stream.flow.is_some()),
        ended: 0,
        interrupted: false,
        tell,
    };
    carry_out(target, &mut engine, observer);
    let streams = engine.streams.into_iter().map(|running| running.result(origin)).collect();
    let steady = engine.steady.into_iter().map(|watch| watch.steady.finish()).collect();
    RunResult { streams, steady, interrupted: engine.interrupted, findings: None }
}

struct Engine<T> {
    origin: Nanos,
    streams: Vec<Running>,
    steady: Vec<Watch>,
    flights: Vec<Flight>,
    free_slots: Vec<u32>,
    free_tags: Vec<Tag>,
    by_tag: Vec<u32>,
    /// Slots whose I/O the target has no tag for yet.
    line: VecDeque<u32>,
    /// The earliest time at which a stream has something to do that no completion brings about.
    wake: Nanos,
    /// A stream has ended, which others may have waited for.
    look_at_all: bool,
    /// Streams wait for each other's progress.
    flowing: bool,
    ended: usize,
    interrupted: bool,
    /// Says to the target whose the next I/O is.
    tell: fn(&mut T, u32),
}

impl<T: Target> Work<T> for Engine<T> {
    fn begin(&mut self, target: &mut T) {
        self.go_through_all(target);
    }

    fn is_over(&self) -> bool {
        self.ended == self.streams.len()
    }

    fn wake(&self) -> Nanos {
        self.wake
    }

    #[inline]
    fn completed(&mut self, target: &mut T, done: Done) {
        let stream = self.complete(done.tag, done.at);
        self.next_in_line(target, done.tag);
        self.pump(target, stream);
    }

    fn failed(&mut self, target: &mut T, fault: Fault) {
        let stream = self.fail(fault);
        self.next_in_line(target, fault.tag);
        self.pump(target, stream);
    }

    #[inline]
    fn go_on(&mut self, target: &mut T) {
        if self.look_at_all || self.flowing || target.now() >= self.wake {
            self.go_through_all(target);
        }
    }

    fn is_to_go_on(&self, now: Nanos, observer: &mut dyn Observer) -> bool {
        let parts = self.streams.iter().map(|stream| stream.part_done(now)).sum::<f64>();
        observer.go_on(parts / self.streams.len().max(1) as f64)
    }

    fn stop(&mut self, target: &mut T) {
        self.interrupted = true;
        self.stop_all(target.now(), |_| true);
        self.go_through_all(target);
    }
}

impl<T: Target> Engine<T> {
    /// Begins what is to begin, submits what is due, and finds out when the next thing is.
    fn go_through_all(&mut self, target: &mut T) {
        loop {
            self.look_at_all = false;
            self.wake = Nanos::MAX;
            let now = target.now();
            for index in 0..self.streams.len() {
                if self.streams[index].phase == Phase::Waiting
                    && let Some(start) = self.start_of(index)
                {
                    match start <= now {
                        true => self.streams[index].begin(now),
                        false => self.wake = self.wake.min(start),
                    }
                }
                self.pump(target, index);
            }
            self.watch_steady(now);
            // A stream without anything to do ends as soon as it begins; others may wait for it.
            if !self.look_at_all {
                return;
            }
        }
    }

    /// When a stream may begin; `None` while others are in its way.
    fn start_of(&self, index: usize) -> Option<Nanos> {
        let start = &self.streams[index].stream.start;
        let free = start.after.iter().all(|&other| self.streams[other].phase == Phase::Ended);
        free.then(|| self.origin.saturating_add(start.delay))
    }

    /// Submits all that a stream has to submit now.
    #[inline]
    fn pump(&mut self, target: &mut T, index: usize) {
        loop {
            let now = target.now();
            let stream = &mut self.streams[index];
            if stream.phase != Phase::Running {
                break;
            }
            if stream.is_over(now) {
                let deadline = stream.deadline;
                stream.stop(deadline);
                break;
            }
            if stream.flying >= stream.most_flying {
                // The end of its time is noticed when the next I/O comes back.
                return;
            }
            if stream.thinks_until > now {
                self.wake = self.wake.min(stream.thinks_until).min(stream.latest(now));
                return;
            }
            let flushes = stream.stream.flushes;
            if flushes.every > 0 && stream.writes_since_flush >= flushes.every {
                stream.writes_since_flush = 0;
                self.issue(target, index, Io::FLUSH, None, now);
                continue;
            }
            let next = stream.peek(now);
            if stream.at_limit(next.io.bytes() as u32) {
                stream.stop(now);
                break;
            }
            let due = next.due.unwrap_or(now);
            if due > now {
                self.wake = self.wake.min(due).min(stream.latest(now));
                return;
            }
            if self.flowing && !self.may_flow(index) {
                self.wake = self.wake.min(self.streams[index].latest(now));
                return;
            }
            let stream = &mut self.streams[index];
            stream.next = None;
            stream.issued_bytes += next.io.bytes();
            stream.issued_ios += 1;
            stream.writes_since_flush += u64::from(next.direction == Some(Direction::Write));
            if let Some(think) = stream.stream.think
                && stream.issued_ios.is_multiple_of(think.every.max(1))
            {
                stream.thinks_until = Nanos::MAX;
            }
            self.issue(target, index, next.io, next.direction, due);
        }
        self.maybe_end(target, index);
    }

    /// Whether a stream is not ahead of its share of what all that flow with it have done.
    fn may_flow(&self, index: usize) -> bool {
        let Some((id, weight)) = self.streams[index].stream.flow else { return true };
        let (mut ios, mut weights) = (0u128, 0u128);
        for other in &self.streams {
            if let Some((other_id, weight)) = other.stream.flow
                && other_id == id
                && other.phase == Phase::Running
            {
                ios += u128::from(other.issued_ios);
                weights += u128::from(weight);
            }
        }
        u128::from(self.streams[index].issued_ios) * weights <= ios * u128::from(weight)
    }

    #[inline]
    fn issue(
        &mut self,
        target: &mut T,
        index: usize,
        io: Io,
        direction: Option<Direction>,
        since: Nanos,
    ) {
        let slot = self.free_slots.pop().expect("each stream stays within its depth");
        self.flights[slot as usize] = Flight { stream: index as u32, io, direction, since };
        let stream = &mut self.streams[index];
        stream.flying += 1;
        if direction.is_some() {
            stream.measure.issued(target.now(), stream.flying);
        }
        match self.free_tags.pop() {
            Some(tag) => self.hand_over(target, tag, slot),
            None => self.line.push_back(slot),
        }
    }

    /// `tag` is free: it goes to who waits longest.
    #[inline]
    fn next_in_line(&mut self, target: &mut T, tag: Tag) {
        match self.line.pop_front() {
            Some(slot) => self.hand_over(target, tag, slot),
            None => self.free_tags.push(tag),
        }
    }

    #[inline]
    fn hand_over(&mut self, target: &mut T, tag: Tag, slot: u32) {
        self.by_tag[tag.0 as usize] = slot;
        let Flight { stream, io, .. } = self.flights[slot as usize];
        (self.tell)(target, stream);
        target.submit(tag, io);
    }

    /// An I/O is done; the stream it was of.
    #[inline]
    fn complete(&mut self, tag: Tag, at: Nanos) -> usize {
        let flight = self.land(tag, at);
        let stream = &mut self.streams[flight.stream as usize];
        stream.failures_in_a_row = 0;
        let latency = at.since(flight.since);
        match flight.direction {
            Some(direction) => stream.measure.completed(Completed {
                direction,
                at,
                latency,
                bytes: flight.io.bytes(),
                offset_bytes: flight.io.lba.bytes(),
            }),
            None => stream.measure.flushed(at, latency),
        }
        stream.searches(at, flight.direction.map(|_| latency));
        flight.stream as usize
    }

    fn fail(&mut self, fault: Fault) -> usize {
        let flight = self.land(fault.tag, fault.at);
        let index = flight.stream as usize;
        let stream = &mut self.streams[index];
        let (_, count) = stream.failed.get_or_insert((fault, 0));
        *count += 1;
        stream.failures_in_a_row += 1;
        if !stream.stream.survives_errors || stream.failures_in_a_row >= MOST_FAILURES {
            stream.stop(fault.at);
        }
        stream.searches(fault.at, None);
        index
    }

    #[inline]
    fn land(&mut self, tag: Tag, at: Nanos) -> Flight {
        let slot = self.by_tag[tag.0 as usize];
        self.free_slots.push(slot);
        let flight = self.flights[slot as usize];
        let stream = &mut self.streams[flight.stream as usize];
        stream.flying -= 1;
        // A program thinks when it has its data.
        if let Some(think) = stream.stream.think
            && stream.thinks_until == Nanos::MAX
            && stream.flying == 0
        {
            stream.thinks_until = at.saturating_add(think.pause);
        }
        stream.last_done = at;
        if stream.phase == Phase::Draining {
            stream.end = stream.end.max(at);
        }
        flight
    }

    /// A stream with nothing more to do ends, after its last flush.
    fn maybe_end(&mut self, target: &mut T, index: usize) {
        let stream = &mut self.streams[index];
        if stream.flying > 0 {
            return;
        }
        let flushes =
            stream.stream.flushes.at_end && stream.failed.is_none() && stream.issued_ios > 0;
        match stream.phase {
            Phase::Draining if flushes => {
                stream.phase = Phase::Flushing;
                let now = target.now();
                self.issue(target, index, Io::FLUSH, None, now);
            }
            Phase::Draining | Phase::Flushing => self.end(index, target.now()),
            Phase::Waiting | Phase::Running => {}
            // It was stopped before it began.
            Phase::Ended => {}
        }
    }

    fn end(&mut self, index: usize, now: Nanos) {
        let stream = &mut self.streams[index];
        stream.phase = Phase::Ended;
        let end = stream.end;
        stream.measure.finish(end);
        self.ended += 1;
        self.look_at_all = true;
        let (group, wave) = (stream.stream.group, stream.stream.wave);
        match stream.stream.takes_along {
            None => {}
            Some(TakesAlong::Group) => self.stop_all(now, |other| other.group == group),
            Some(TakesAlong::Wave) => self.stop_all(now, |other| other.wave == wave),
            Some(TakesAlong::All) => self.stop_all(now, |_| true),
        }
    }

    fn stop_all(&mut self, now: Nanos, which: impl Fn(&Stream) -> bool) {
        for index in 0..self.streams.len() {
            if which(&self.streams[index].stream) {
                self.stop_one(index, now);
            }
        }
    }

    fn stop_one(&mut self, index: usize, now: Nanos) {
        let stream = &mut self.streams[index];
        self.ended += usize::from(stream.phase == Phase::Waiting);
        stream.stop(now);
        self.look_at_all = true;
    }

    /// Asks the steady groups at the end of their intervals.
    fn watch_steady(&mut self, now: Nanos) {
        for place in 0..self.steady.len() {
            let members = self.steady[place].steady.spec.members.clone();
            let running = members.iter().map(|&member| &self.streams[member]);
            let began = running.clone().map(|running| running.began).min().unwrap_or(Nanos::MAX);
            if began == Nanos::MAX || running.clone().all(|one| one.phase == Phase::Ended) {
                continue;
            }
            let none_yet = Totals { time: now, ..Totals::default() };
            let totals = running.fold(none_yet, |mut totals, running| {
                for tally in &running.measure.tallies {
                    totals.ios += tally.latency.count();
                    totals.bytes += tally.bytes;
                    totals.latency_ns += tally.latency.sum();
                }
                totals
            });
            let watch = &mut self.steady[place];
            let first = began.saturating_add(watch.steady.spec.ramp);
            let next = *watch.next.get_or_insert(first);
            let mut attained = false;
            if now >= next {
                match watch.begun {
                    true => attained = watch.steady.interval(totals),
                    false => watch.steady.begin(totals),
                }
                watch.begun = true;
                // From now, not from when it was to be: after a stall no interval is empty or short.
                watch.next = Some(now.saturating_add(watch.steady.spec.interval));
            }
            self.wake = self.wake.min(watch.next.unwrap_or(Nanos::MAX));
            if attained {
                members.into_iter().for_each(|member| self.stop_one(member, now));
            }
        }
    }
}
