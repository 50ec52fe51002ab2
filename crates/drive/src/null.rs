//! The smallest complete drive: every I/O takes the same time. It measures our own overhead and
//! stands in for a drive wherever a test is about the code around it.

use crate::queue::Queue;
use crate::{Clock, Done, Fault, Geometry, Io, Nanos, Tag, Target};

/// A virtual drive that answers every I/O after a fixed time, however many are in flight.
#[derive(Debug, Clone)]
pub struct Null {
    geometry: Geometry,
    latency: Nanos,
    queue: Queue,
}

impl Null {
    /// A drive of `sectors` sectors of 512 bytes that answers after `latency`, at most 1024 at once.
    pub fn new(sectors: u64, latency: Nanos) -> Null {
        let geometry = Geometry { sectors, logical_block_bytes: 512, queue_depth: 1024 };
        Null { geometry, latency, queue: Queue::with_depth(geometry.queue_depth) }
    }
}

impl Target for Null {
    const CLOCK: Clock = Clock::Virtual;

    fn geometry(&self) -> Geometry {
        self.geometry
    }

    fn now(&self) -> Nanos {
        self.queue.now()
    }

    fn submit(&mut self, tag: Tag, io: Io) {
        match self.geometry.refuses(io) {
            Some(cause) => self.queue.refuse(tag, io, cause),
            None => self.queue.finish(tag, self.queue.now() + self.latency),
        }
    }

    fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
        self.queue.reap(until)
    }

    fn due(&mut self) -> Option<Nanos> {
        self.queue.due()
    }
}
