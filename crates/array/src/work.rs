//! What an I/O of the array asks of its members.

use fourcorners_drive::{Io, Lba, Op};

use crate::layout::{Layout, Level, Piece};

/// I/Os of members that belong together: those of `then` wait for all of `first`.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Job {
    pub(crate) first: Vec<Part>,
    pub(crate) then: Vec<Part>,
    /// The stripe that nobody else may write meanwhile.
    pub(crate) stripe: Option<u64>,
}

/// An I/O of a member.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Part {
    pub(crate) member: usize,
    pub(crate) io: Io,
}

/// What is known of the members when an I/O comes.
pub(crate) struct Members<'a> {
    pub(crate) layout: &'a Layout,
    /// Which cannot be used at this sector of theirs.
    pub(crate) missing: &'a dyn Fn(usize, u64) -> bool,
    /// Which of two or more is to read, all of them there.
    pub(crate) reader: &'a mut dyn FnMut(&[usize]) -> usize,
}

impl Members<'_> {
    /// The jobs of an I/O that fits; `None` when a member that it needs is missing.
    pub(crate) fn jobs(&mut self, io: Io) -> Option<Vec<Job>> {
        let layout = self.layout;
        match (io.op, layout.level()) {
            (Op::Flush, _) => {
                let there = (0..layout.members()).filter(|&member| !(self.missing)(member, 0));
                let first = there.map(|member| Part { member, io: Io::FLUSH }).collect();
                Some(vec![Job { first, ..Job::default() }])
            }
            (Op::Trim, Level::Raid0 | Level::Raid5 | Level::Raid10) => self.trim(io),
            (Op::Read, Level::Raid5) => self.read_with_parity(io),
            (Op::Write, Level::Raid5) => self.write_with_parity(io),
            _ => {
                let mut first = Vec::new();
                for piece in layout.pieces(io.lba.0, io.sectors.into()) {
                    self.simple(io, piece, &mut first)?;
                }
                Some(vec![Job { first, ..Job::default() }])
            }
        }
    }

    /// A piece without parity: one of its copies is read, and all are written.
    fn simple(&mut self, io: Io, piece: Piece, parts: &mut Vec<Part>) -> Option<()> {
        let mut there: Vec<usize> = self.layout.copies(piece.on).collect();
        there.retain(|&member| !(self.missing)(member, piece.lba));
        match io.op {
            Op::Read if there.len() > 1 => {
                let member = (self.reader)(&there);
                parts.push(part(member, io, piece));
            }
            _ if there.is_empty() => return None,
            _ => parts.extend(there.into_iter().map(|member| part(member, io, piece))),
        }
        Some(())
    }

    /// A TRIM: whole stripes of each member in one piece; what is left of stripes at both ends only where there is no
    /// parity, which a member that answers what it likes for trimmed sectors would make wrong.
    fn trim(&mut self, io: Io) -> Option<Vec<Job>> {
        let layout = self.layout;
        let (from, end) = (io.lba.0, io.end());
        let whole = layout.whole_stripes(from, io.sectors.into());
        let stripe = layout.chunk() * layout.width();
        let (begin, stop) = (whole.start * stripe, whole.end * stripe);
        let mut pieces: Vec<Piece> = Vec::new();
        let mut first = Vec::new();
        if whole.is_empty() {
            if layout.level() != Level::Raid5 {
                pieces = layout.pieces(from, end - from);
            }
        } else {
            let of_each = match layout.level() {
                Level::Raid5 => layout.members(),
                _ => layout.width() as usize,
            };
            let (lba, sectors) =
                (whole.start * layout.chunk(), (whole.end - whole.start) * layout.chunk());
            if layout.level() != Level::Raid5 {
                pieces.extend(layout.pieces(from, begin - from));
            }
            pieces.extend((0..of_each).map(|on| Piece { on, lba, sectors }));
            if layout.level() != Level::Raid5 {
                pieces.extend(layout.pieces(stop, end - stop));
            }
        }
        for piece in pieces {
            match layout.level() {
                // What a member is not there to forget is forgotten all the same.
                Level::Raid5 if (self.missing)(piece.on, piece.lba) => {}
                _ => self.simple(io, piece, &mut first)?,
            }
        }
        Some(vec![Job { first, ..Job::default() }])
    }

    /// A read of a member that is missing is one of all others, whose sum it is.
    fn read_with_parity(&mut self, io: Io) -> Option<Vec<Job>> {
        let mut first = Vec::new();
        for piece in self.layout.pieces(io.lba.0, io.sectors.into()) {
            if !(self.missing)(piece.on, piece.lba) {
                first.push(part(piece.on, io, piece));
                continue;
            }
            for member in (0..self.layout.members()).filter(|&member| member != piece.on) {
                if (self.missing)(member, piece.lba) {
                    return None;
                }
                first.push(part(member, io, piece));
            }
        }
        Some(vec![Job { first, ..Job::default() }])
    }

    /// A write, stripe by stripe.
    fn write_with_parity(&mut self, io: Io) -> Option<Vec<Job>> {
        let layout = self.layout;
        let stripe_sectors = layout.chunk() * layout.width();
        let mut jobs = Vec::new();
        let mut at = io.lba.0;
        while at < io.end() {
            let stripe = at / stripe_sectors;
            let end = io.end().min((stripe + 1) * stripe_sectors);
            jobs.push(self.write_stripe(io, stripe, at - stripe * stripe_sectors, end - at)?);
            at = end;
        }
        Some(jobs)
    }

    /// `sectors` from `from` on of a stripe's data. Parity is of the same place in each chunk, so the chunk is cut
    /// where the members that are written change, and for each part what costs fewer reads is read: the old data
    /// and its parity, or the data that stays.
    fn write_stripe(&mut self, io: Io, stripe: u64, from: u64, sectors: u64) -> Option<Job> {
        let layout = self.layout;
        let (chunk, width) = (layout.chunk(), layout.width());
        let end = from + sectors;
        // What is written of chunk `number`, as places in it.
        let written = |number: u64| {
            let begins = number * chunk;
            (
                from.clamp(begins, begins + chunk) - begins,
                end.clamp(begins, begins + chunk) - begins,
            )
        };
        let mut cuts: Vec<u64> =
            (0..width).flat_map(|number| <[u64; 2]>::from(written(number))).collect();
        cuts.extend([0, chunk]);
        cuts.sort_unstable();
        cuts.dedup();
        let base = stripe * chunk;
        let parity = layout.parity_of(stripe);
        let gone = |member: usize| (self.missing)(member, base);
        if (0..layout.members()).filter(|&member| gone(member)).count() > 1 {
            return None;
        }
        let mut job = Job { stripe: Some(stripe), ..Job::default() };
        for cut in cuts.windows(2) {
            let (low, high) = (cut[0], cut[1]);
            let (touched, untouched): (Vec<u64>, Vec<u64>) = (0..width).partition(|&number| {
                let (begins, ends) = written(number);
                begins <= low && high <= ends && begins < ends
            });
            if touched.is_empty() {
                continue;
            }
            let holders = |numbers: &[u64]| -> Vec<usize> {
                numbers.iter().map(|&number| layout.holder(stripe, number)).collect()
            };
            let (touched, untouched) = (holders(&touched), holders(&untouched));
            let piece = |on: usize| Piece { on, lba: base + low, sectors: high - low };
            let lost = |members: &[usize]| members.iter().any(|&member| gone(member));
            // The reads: none where the parity is lost or all is written.
            let by_rest = match (lost(&touched), lost(&untouched)) {
                (true, _) => true,
                (_, true) => false,
                _ => untouched.len() < touched.len() + 1,
            };
            let reads: Vec<usize> = match by_rest {
                _ if gone(parity) => Vec::new(),
                true => untouched,
                false => touched.iter().copied().chain([parity]).collect(),
            };
            let read = Io::read(Lba(0), 1);
            job.first.extend(reads.into_iter().map(|member| part(member, read, piece(member))));
            let writes = touched.into_iter().chain([parity]).filter(|&member| !gone(member));
            job.then.extend(writes.map(|member| part(member, io, piece(member))));
        }
        merge(&mut job.first);
        merge(&mut job.then);
        if job.first.is_empty() {
            job.first = std::mem::take(&mut job.then);
        }
        Some(job)
    }
}

/// The I/O of a piece, of the kind that the array's is.
fn part(member: usize, io: Io, piece: Piece) -> Part {
    // A piece is no longer than the array's I/O, or than what its sectors make of a member.
    let sectors = u32::try_from(piece.sectors).unwrap_or(u32::MAX);
    Part { member, io: Io { lba: Lba(piece.lba), sectors, ..io } }
}

/// Parts that follow each other on a member become one.
fn merge(parts: &mut Vec<Part>) {
    parts.sort_by_key(|part| (part.member, part.io.lba.0));
    parts.dedup_by(|next, before| {
        let follows = next.member == before.member && before.io.end() == next.io.lba.0;
        if follows {
            before.io.sectors += next.io.sectors;
        }
        follows
    });
}

#[cfg(test)]
mod tests;
