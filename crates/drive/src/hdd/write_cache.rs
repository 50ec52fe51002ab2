//! Writes that were answered and are not on the media yet.

use std::collections::VecDeque;

use crate::Nanos;
use crate::config::HddCacheSection;

use super::layout::{Layout, Place};
use super::mechanics::Aim;

/// A run of cached sectors.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub(super) first: u64,
    /// The sector after the last.
    pub(super) end: u64,
    pub(super) aim: Aim,
    /// How many flushes came before it. A flush waits for those of earlier epochs.
    pub(super) epoch: u64,
}

/// What the arm is writing out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Destage {
    pub(super) first: u64,
    pub(super) end: u64,
    pub(super) place: Place,
    pub(super) epoch: u64,
}

/// A write on its way into the cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arriving {
    pub(super) first: u64,
    pub(super) end: u64,
    /// When it was taken in and when its first data are there.
    pub(super) at: Nanos,
    pub(super) ready: Nanos,
}

/// The write cache: segments, and the run that is being written out.
///
/// The arm picks from a window of the oldest segments. Sectors under the head still take room
/// until they are on the media.
#[derive(Clone, Debug)]
pub(super) struct WriteCache {
    /// The oldest segments, in no order.
    window: Vec<Segment>,
    most_in_window: usize,
    /// Those after them, oldest first; empty unless the window is full.
    behind: VecDeque<Segment>,
    most_segments: usize,
    capacity_sectors: u64,
    dirty_sectors: u64,
    destaging: Option<Destage>,
    epoch: u64,
}

impl WriteCache {
    /// An empty cache for `capacity_sectors`; of 0 it takes nothing.
    pub(super) fn new(capacity_sectors: u64, section: &HddCacheSection) -> WriteCache {
        let most_segments = section.write_segments as usize;
        let most_in_window = most_segments.min(section.reorder_segments as usize);
        WriteCache {
            window: Vec::with_capacity(most_in_window),
            most_in_window,
            behind: VecDeque::with_capacity(most_segments - most_in_window),
            most_segments,
            capacity_sectors,
            dirty_sectors: 0,
            destaging: None,
            epoch: 0,
        }
    }

    /// Whether a write of so many sectors fits when nothing else is there.
    pub(super) fn could_hold(&self, sectors: u64) -> bool {
        sectors <= self.capacity_sectors
    }

    pub(super) fn dirty_sectors(&self) -> u64 {
        self.dirty_sectors
    }

    /// At most half full, by sectors and by segments.
    pub(super) fn is_half_empty(&self) -> bool {
        self.dirty_sectors * 2 <= self.capacity_sectors && self.segments() * 2 <= self.most_segments
    }

    fn segments(&self) -> usize {
        self.window.len() + self.behind.len()
    }

    /// What can be written out: the segments of the window of an epoch before `epoch`. An
    /// older segment is of no later epoch, so that the window holds one if there is any.
    pub(super) fn aims(&self, epoch: u64) -> impl Iterator<Item = (usize, &Aim)> {
        self.window
            .iter()
            .enumerate()
            .filter(move |(_, segment)| segment.epoch < epoch)
            .map(|(index, segment)| (index, &segment.aim))
    }

    /// Where the segment `index` of the window begins.
    pub(super) fn aim(&self, index: usize) -> &Aim {
        &self.window[index].aim
    }

    /// Whether any segment waits.
    pub(super) fn has_segments(&self) -> bool {
        !self.window.is_empty()
    }

    /// Whether all of these sectors are here, so that a read needs no media.
    pub(super) fn holds(&self, first: u64, end: u64) -> bool {
        let within = |from: u64, to: u64| from <= first && end <= to;
        self.destaging.is_some_and(|run| within(run.first, run.end))
            || self
                .window
                .iter()
                .chain(&self.behind)
                .any(|segment| within(segment.first, segment.end))
    }

    /// Takes a write in, or says that there is no room.
    ///
    /// A write that touches or overlaps a segment joins it, so that a sequential stream is one
    /// segment and one streaming transfer. It does not join one that a flush waits for, which
    /// would otherwise never end.
    pub(super) fn take(&mut self, write: Arriving, layout: &Layout) -> bool {
        let epoch = self.epoch;
        let joins = |segment: &&mut Segment| {
            write.first <= segment.end && segment.first <= write.end && segment.epoch == epoch
        };
        // Slice by slice: this scan is half of the cost of a scattered write.
        let (older, newer) = self.behind.as_mut_slices();
        let joined = (self.window.iter_mut().find(joins))
            .or_else(|| older.iter_mut().find(joins))
            .or_else(|| newer.iter_mut().find(joins));
        if let Some(segment) = joined {
            let (first, end) = (segment.first.min(write.first), segment.end.max(write.end));
            let more = (end - first) - (segment.end - segment.first);
            if self.dirty_sectors + more > self.capacity_sectors {
                return false;
            }
            self.dirty_sectors += more;
            if first < segment.first {
                segment.first = first;
                segment.aim.head_for(&layout.place(first));
                segment.aim.ready = segment.aim.ready.max(write.ready);
            }
            segment.end = end;
            return true;
        }
        let sectors = write.end - write.first;
        let slots = self.segments() + usize::from(self.destaging.is_some());
        if slots >= self.most_segments || self.dirty_sectors + sectors > self.capacity_sectors {
            return false;
        }
        self.dirty_sectors += sectors;
        let place = layout.place(write.first);
        let segment = Segment {
            first: write.first,
            end: write.end,
            aim: Aim {
                track: place.track,
                angle: place.angle,
                write: true,
                ready: write.ready,
                since: write.at,
            },
            epoch,
        };
        if self.window.len() < self.most_in_window {
            self.window.push(segment);
        } else {
            self.behind.push_back(segment);
        }
        true
    }

    /// Begins to write out a segment, at most `most` sectors of it; the rest stays a segment.
    pub(super) fn begin(&mut self, index: usize, most: u64, layout: &Layout) -> Destage {
        let segment = &mut self.window[index];
        let end = segment.end.min(segment.first.saturating_add(most));
        let run = Destage {
            first: segment.first,
            end,
            place: layout.place(segment.first),
            epoch: segment.epoch,
        };
        if end == segment.end {
            self.window.swap_remove(index);
            self.window.extend(self.behind.pop_front());
        } else {
            segment.first = end;
            segment.aim.head_for(&layout.place(end));
        }
        self.destaging = Some(run);
        run
    }

    /// The run is on the media.
    pub(super) fn end(&mut self) {
        if let Some(run) = self.destaging.take() {
            self.dirty_sectors -= run.end - run.first;
        }
    }

    /// Marks all that is cached now as what a flush waits for: returns the epoch that everything
    /// after it belongs to.
    pub(super) fn seal(&mut self) -> u64 {
        self.epoch += 1;
        self.epoch
    }

    /// Whether everything of an epoch before `epoch` is on the media.
    pub(super) fn is_clean_before(&self, epoch: u64) -> bool {
        self.destaging.is_none_or(|run| run.epoch >= epoch)
            && self.window.iter().chain(&self.behind).all(|segment| segment.epoch >= epoch)
    }
}
