//! Hot and cold data: how a unit's temperature is told, and which stream has more than its share of
//! the spare.

use super::die::DieSpace;
use super::shape::LogicalUnit;
use super::stream::{STREAMS, Stream};
use crate::config::{SsdConfig, StreamVictims, StreamsSection};
use crate::divide::Divider;

/// Set beside a region's counter while it is hot.
const HOT: u32 = 1 << 31;

/// The temperatures of a drive's regions, and how its spare is shared.
#[derive(Clone, Debug)]
pub(super) struct Streams {
    by_region: Divider,
    /// By region: units written, halved every period, and [`HOT`].
    counters: Vec<u32>,
    hot_factor: f64,
    period_units: u64,
    /// Units until temperatures are told anew.
    left: u64,
    /// By stream: units written, halved every period.
    written: [u64; STREAMS],
    hot_spare: Option<f64>,
    cool_turns: f64,
    victims: StreamVictims,
}

impl Streams {
    /// `config` has passed its check.
    pub(super) fn new(config: &SsdConfig, section: &StreamsSection) -> Streams {
        let user_bytes = config.capacity.sectors * 512;
        let region_bytes = u64::from(section.region_kib) * 1024;
        let user_units = config.user_units();
        let period_units = (user_units * u64::from(section.period_percent) / 100).max(1);
        let hot_spare = section.hot_spare_percent.unwrap_or(0);
        Streams {
            by_region: Divider::new((region_bytes / u64::from(config.unit_bytes())) as u32),
            counters: vec![0; user_bytes.div_ceil(region_bytes) as usize],
            hot_factor: section.hot_factor,
            period_units,
            left: period_units,
            written: [0; STREAMS],
            hot_spare: (hot_spare > 0).then(|| f64::from(hot_spare) / 100.0),
            cool_turns: section.cool_turns,
            victims: section.victims,
        }
    }

    /// Takes all for cold again.
    pub(super) fn forget(&mut self) {
        self.counters.fill(0);
        self.left = self.period_units;
        self.written = [0; STREAMS];
    }

    /// The stream of a unit that the host writes now.
    #[inline]
    pub(super) fn stream_for(&mut self, unit: LogicalUnit) -> Stream {
        if self.left == 0 {
            self.tell_temperatures();
        }
        self.left -= 1;
        let counter = &mut self.counters[self.by_region.quotient(unit) as usize];
        // A counter at its most stays there.
        *counter += u32::from(*counter & !HOT != !HOT);
        let stream = if *counter & HOT == 0 { Stream::Cold } else { Stream::Hot };
        self.written[stream.index()] += 1;
        stream
    }

    /// Ends a period. What was written in it counts, not what is being written: a drive that is
    /// filled in order would else take for hot whatever it fills.
    #[cold]
    fn tell_temperatures(&mut self) {
        let sum: u64 = self.counters.iter().map(|&counter| u64::from(counter & !HOT)).sum();
        let least = self.hot_factor * sum as f64 / self.counters.len() as f64;
        for counter in &mut self.counters {
            let count = *counter & !HOT;
            let mark = if f64::from(count) > least { HOT } else { 0 };
            *counter = (count / 2) | mark;
        }
        self.written = self.written.map(|units| units / 2);
        self.left = self.period_units;
    }

    /// Where to look for a die's next victim, if it matters.
    pub(super) fn over_share(&self, space: &Space) -> Option<Stream> {
        if self.victims == StreamVictims::Any {
            return None;
        }
        let dead = space.dead.iter().sum::<u64>() as f64;
        let over = space.dead[Stream::Hot.index()] as f64 > self.hot_share(space) * dead;
        Some(if over { Stream::Hot } else { Stream::Cold })
    }

    /// The hot stream's share of the spare. With spares s and sizes r over the user's space, and
    /// shares f of the writes, write amplification is the sum of f A(1 + s/r); for A(a) =
    /// a / 2(a - 1) (Agarwal and Marrow 2010) it is least where s is as the root of f r, and for
    /// the exact forms that is within some tenths of a percent of the least.
    fn hot_share(&self, space: &Space) -> f64 {
        if let Some(share) = self.hot_spare {
            return share;
        }
        let weight = |stream: Stream| {
            let (size, writes) = (space.live[stream.index()], self.written[stream.index()]);
            (size as f64 * writes as f64).sqrt()
        };
        let [cold, hot] = Stream::BY_TEMPERATURE.map(weight);
        if hot > 0.0 { hot / (hot + cold) } else { 0.0 }
    }

    /// How old data is that counts as cold wherever it lies, in units that the host wrote to the die.
    ///
    /// The hot stream takes live / (share of the writes) of them to be overwritten once. When it
    /// is written no more than other data is, it is not hot; it is given the time of all data.
    pub(super) fn cold_age(&self, space: &Space) -> f64 {
        let written = self.written.map(|units| units as f64);
        let live = space.live.map(|units| units as f64);
        let all = live[0] + live[1];
        let share = written[Stream::Hot.index()] / (written[0] + written[1]);
        let turn = live[Stream::Hot.index()] / share;
        // Not a number when nothing was written.
        self.cool_turns * if turn < all { turn } else { all }
    }
}

/// What the streams of a die hold, in units.
#[derive(Clone, Copy, Debug)]
pub(super) struct Space {
    /// By stream: valid.
    live: [u64; STREAMS],
    /// By stream: written and no longer valid.
    dead: [u64; STREAMS],
}

impl Space {
    /// Of a die that has no victim.
    pub(super) fn of(die: &DieSpace, units_per_block: u32) -> Space {
        let mut space = Space { live: [0; STREAMS], dead: [0; STREAMS] };
        let mut add = |stream: Stream, written: u32, valid: u32| {
            space.live[stream.index()] += u64::from(valid);
            space.dead[stream.index()] += u64::from(written - valid);
        };
        for block in die.blocks.closed() {
            add(die.stream_of(block), units_per_block, die.blocks.valid(block));
        }
        for stream in Stream::BY_TEMPERATURE {
            let fronts = &die.fronts[stream.index()];
            for front in [fronts.host, fronts.moves].iter().filter(|front| front.is_opened()) {
                add(stream, front.filled, die.blocks.valid(front.block));
            }
        }
        space
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streams(regions: usize, hot_factor: f64) -> Streams {
        Streams {
            by_region: Divider::new(4),
            counters: vec![0; regions],
            hot_factor,
            period_units: 100,
            left: 100,
            written: [0; STREAMS],
            hot_spare: None,
            cool_turns: 4.0,
            victims: StreamVictims::OverShare,
        }
    }

    #[test]
    fn what_was_written_most_in_the_period_before_is_hot() {
        let mut streams = streams(10, 2.0);
        // The mean is 10; 21 is above twice that, 20 is not.
        let counts = [21, 20, 7, 7, 7, 7, 7, 8, 8, 8];
        for (region, &count) in counts.iter().enumerate() {
            for _ in 0..count {
                assert_eq!(streams.stream_for(region as u32 * 4 + 3), Stream::Cold);
            }
        }
        assert_eq!(streams.stream_for(4), Stream::Cold);
        assert_eq!(streams.stream_for(0), Stream::Hot);
        // Counters are halved, and go on.
        assert_eq!(streams.counters[..3], [HOT | 11, 11, 3]);
        // 99 more to region 1: 10 + 100 of a sum of 149.
        for _ in 0..98 {
            streams.stream_for(4);
        }
        assert_eq!((streams.stream_for(0), streams.stream_for(4)), (Stream::Cold, Stream::Hot));
        streams.forget();
        assert_eq!(streams.stream_for(4), Stream::Cold);
    }

    #[test]
    fn the_spare_goes_as_the_root_of_size_and_writes() {
        let mut streams = streams(1, 2.0);
        streams.written = [1, 4];
        let mut space = Space { live: [4, 1], dead: [5, 5] };
        assert_eq!(streams.hot_share(&space), 0.5);
        // Half is not more than half.
        assert_eq!(streams.over_share(&space), Some(Stream::Cold));
        space.dead[1] += 1;
        assert_eq!(streams.over_share(&space), Some(Stream::Hot));
        space.live = [16, 1];
        assert_eq!(streams.hot_share(&space), 1.0 / 3.0);
        streams.hot_spare = Some(0.6);
        assert_eq!(streams.over_share(&space), Some(Stream::Cold));
        streams.victims = StreamVictims::Any;
        assert_eq!(streams.over_share(&space), None);
    }

    #[test]
    fn data_is_cold_after_so_many_turns_of_the_hot_stream() {
        let mut streams = streams(1, 2.0);
        let space = Space { live: [90, 10], dead: [0, 0] };
        // Nothing written yet: turns of all data.
        assert_eq!(streams.cold_age(&space), 400.0);
        streams.written = [1, 4];
        assert_eq!(streams.cold_age(&space), 50.0);
        // Written less than other data.
        streams.written = [100, 1];
        assert_eq!(streams.cold_age(&space), 400.0);
    }
}
