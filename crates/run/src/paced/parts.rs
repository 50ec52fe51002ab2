//! What is measured of paced I/Os beyond what every job has: reads and writes apart, the time the
//! target was busy, and how long I/Os were in it.

use fourcorners_drive::{Io, Nanos, Op};

use crate::histogram::Histogram;

/// An I/O that takes longer than one of these is counted: 1, 10 and 100 ms.
pub const SLOW: [Nanos; 3] = [Nanos(1_000_000), Nanos(10_000_000), Nanos(100_000_000)];

/// The I/Os of a paced job.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Paced {
    /// Reads.
    pub reads: PacedPart,
    /// Writes.
    pub writes: PacedPart,
    /// TRIMs and flushes.
    pub others: PacedPart,
    /// Time with something in flight.
    pub busy: Nanos,
}

/// Some of the I/Os.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PacedPart {
    /// Bytes moved; none for TRIMs and flushes.
    pub bytes: u64,
    /// Latency of each.
    pub latency: Histogram,
    /// Sum of the times from submission to completion.
    pub service_ns: u128,
    /// How many took longer than each of [`SLOW`].
    pub slow: [u64; 3],
}

impl Paced {
    /// An I/O was completed, so long after it was due and after it was submitted.
    #[inline]
    pub(crate) fn completed(&mut self, io: Io, latency: Nanos, service: Nanos) {
        let (part, bytes) = match io.op {
            Op::Read => (&mut self.reads, io.bytes()),
            Op::Write => (&mut self.writes, io.bytes()),
            Op::Trim | Op::Flush => (&mut self.others, 0),
        };
        part.bytes += bytes;
        part.latency.record(latency.0);
        part.service_ns += u128::from(service.0);
        for (count, limit) in part.slow.iter_mut().zip(SLOW) {
            *count += u64::from(latency > limit);
        }
    }
}

#[cfg(test)]
mod tests {
    use fourcorners_drive::{Lba, Null};

    use super::*;
    use crate::measured::{JobEnd, Measured};
    use crate::observer::{Observer, Unobserved};
    use crate::paced::{Due, Source, run_source};

    /// I/Os as they are listed.
    struct List(std::vec::IntoIter<(Io, Due)>);

    impl Source for List {
        const PACED: bool = true;
        fn next(&mut self) -> Option<(Io, Due)> {
            self.0.next()
        }
    }

    fn io(op: Op) -> Io {
        Io { op, lba: Lba(0), sectors: 8, ..Io::FLUSH }
    }

    /// Runs reads that are due like this on a drive that takes 100 µs for each.
    fn ran(due: Vec<Due>, depth: u32) -> Measured {
        let mut drive = Null::new(1 << 21, Nanos(100_000));
        let list = due.into_iter().map(|due| (io(Op::Read), due)).collect::<Vec<_>>();
        let measured = run_source(&mut drive, List(list.into_iter()), (depth, 1), &mut Unobserved);
        assert_eq!(measured.in_flight_ns, measured.latency.sum(), "Little's law");
        assert_eq!(measured.ended, JobEnd::Complete);
        measured
    }

    fn paced(measured: &Measured) -> &Paced {
        measured.paced.as_deref().expect("it was paced")
    }

    #[test]
    fn latency_counts_from_when_an_io_was_due() {
        let at = |us: u64| Due::At(Nanos(us * 1000));
        // One at a time: the second waits 100 µs, the third 150, the fourth not at all.
        let measured = ran(vec![at(0), at(0), at(50), at(900)], 1);
        let latencies: Vec<u64> = [100u64, 200, 250, 100].map(|us| us * 1000).into();
        assert_eq!(measured.latency.sum(), u128::from(latencies.iter().sum::<u64>()));
        assert_eq!(measured.latency.max(), 250_000);
        assert_eq!(measured.elapsed, Nanos(1_000_000));
        let paced = paced(&measured);
        assert_eq!((paced.busy, paced.reads.service_ns), (Nanos(400_000), 400_000));
        // With room for both the second waits for nobody.
        assert_eq!(ran(vec![at(0), at(0), at(50), at(900)], 4).latency.max(), 100_000);
    }

    #[test]
    fn think_time_begins_when_few_enough_are_in_flight() {
        let after = |us: u64, in_flight| Due::After { think: Nanos(us * 1000), in_flight };
        // Two together, then one 30 µs after both, then one 10 µs after that was submitted.
        let dues = vec![after(0, 0), after(20, 1), after(30, 0), after(10, 1)];
        let measured = ran(dues, 4);
        // 0, 20, 150 and 160 µs.
        assert_eq!(measured.elapsed, Nanos(260_000));
        assert_eq!(paced(&measured).busy, Nanos(230_000));
        // The last two gaps count from submissions, whatever is in flight.
        let gaps = vec![Due::Now, Due::AfterSubmit(Nanos(40_000)), Due::AfterSubmit(Nanos(40_000))];
        assert_eq!(ran(gaps, 4).elapsed, Nanos(180_000));
    }

    #[test]
    fn operations_are_counted_apart_and_a_trim_moves_nothing() {
        let mut drive = Null::new(1 << 21, Nanos(2_000_000));
        let ops = [Op::Read, Op::Write, Op::Write, Op::Trim, Op::Flush];
        let list: Vec<_> = ops.into_iter().map(|op| (io(op), Due::Now)).collect();
        let measured = run_source(&mut drive, List(list.into_iter()), (2, 5), &mut Unobserved);
        let paced = paced(&measured);
        let counts = [&paced.reads, &paced.writes, &paced.others].map(|part| part.latency.count());
        assert_eq!((counts, measured.bytes), ([1, 2, 2], 3 * 4096));
        assert_eq!((paced.reads.slow, paced.writes.slow), ([1, 0, 0], [2, 0, 0]));
    }

    #[test]
    fn years_without_an_io_take_no_memory() {
        let year = Nanos::from_secs(365 * 86_400);
        let measured = ran(vec![Due::Now, Due::At(Nanos(year.0 * 70))], 1);
        assert_eq!(measured.latency.count(), 2);
        assert_eq!(measured.seconds.len(), 1 << 20);
    }

    #[test]
    fn it_stops_while_it_waits() {
        struct Never;
        impl Observer for Never {
            fn go_on(&mut self, _part_done: f64) -> bool {
                false
            }
        }
        let mut drive = Null::new(1 << 21, Nanos(1000));
        let list = vec![(io(Op::Read), Due::AfterSubmit(Nanos(1000))); 20_000];
        let measured = run_source(&mut drive, List(list.into_iter()), (4, 20_000), &mut Never);
        assert_eq!(measured.ended, JobEnd::Interrupted);
        assert!(measured.latency.count() < 20_000);
    }
}
