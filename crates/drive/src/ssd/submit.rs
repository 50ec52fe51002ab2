//! What every command passes: the host and the link to the drive, what it asks for, and the answer back.

use super::Ssd;
use crate::{FaultCause, Io, Lba, Nanos, Op, Tag};

impl Ssd {
    /// [`Target::submit`] of any command. Apart from [`Ssd::submit_write`] and [`Ssd::submit_read`], so that those
    /// need no room for what it keeps.
    #[inline(never)]
    pub(super) fn submit_any(&mut self, tag: Tag, io: Io) {
        if let Some(cause) = self.geometry.refuses(io) {
            return self.queue.refuse(tag, io, cause);
        }
        if io.op == Op::Trim && !self.trim.supported {
            return self.queue.refuse(tag, io, FaultCause::Unsupported);
        }
        let arrives = self.arrival(io.op);
        if self.deferred.is_some() {
            self.forget_what_is_due(io, arrives);
        }
        if let (Op::Write, Some(persistence)) = (io.op, &mut self.persistence) {
            persistence.begin_write();
        }
        let answered = match io.op {
            Op::Flush => Ok(self.flush(arrives)),
            Op::Write | Op::Trim if self.is_read_only() => Err(FaultCause::WornOut),
            Op::Read | Op::Write => self.transfer(io, arrives).ok_or(FaultCause::WornOut),
            Op::Trim => Ok(self.trim(io, arrives)),
        };
        match answered {
            Ok(answered) => {
                let moves_data = matches!(io.op, Op::Read | Op::Write);
                let bytes = if moves_data { io.bytes() } else { 0 };
                self.answer(tag, (io.op, bytes), arrives, answered);
            }
            Err(cause) => self.queue.refuse(tag, io, cause),
        }
    }

    /// When a read or a write is done, in one command or in as many as it takes. `None` when the drive wore out.
    fn transfer(&mut self, io: Io, arrives: Nanos) -> Option<Nanos> {
        let mut arrives = arrives;
        let mut answered = Nanos::ZERO;
        let mut rest = io;
        loop {
            let part = Io { sectors: rest.sectors.min(self.most_sectors), ..rest };
            let done = match io.op {
                Op::Read => self.read(part, arrives),
                _ => self.write(part, arrives)?,
            };
            answered = answered.max(done);
            rest.sectors -= part.sectors;
            if rest.sectors == 0 {
                return Some(answered);
            }
            rest.lba = Lba(part.end());
            arrives = self.link.request(arrives);
        }
    }

    /// When a command that is submitted now is in the drive, which has used its time until then.
    #[inline(always)]
    pub(super) fn arrival(&mut self, op: Op) -> Nanos {
        let host = self.host[op as usize];
        let submitted = match &mut self.processes {
            None => self.queue.now(),
            Some(processes) => processes.submit(self.queue.now()),
        };
        let mut arrives = (submitted + host.before).max(self.blocked_until);
        if let Some(slots) = &mut self.command_slots {
            arrives = slots.take(arrives);
        }
        let mut arrives = self.link.request(arrives);
        if self.heat.is_some() {
            arrives = self.warm_up(arrives);
        } else if let Some(idle) = self.idle {
            self.work_while_idle(idle, arrives);
        }
        if let Some(variation) = &self.variation
            && variation.is_due(arrives)
        {
            self.vary(arrives);
        }
        arrives
    }

    /// Begins another run of a drive whose times vary: their slow part has another course, and a part that stays
    /// for the whole run, so that runs differ as those of a real drive do. Run 0 is that of a new drive. A saved
    /// state does not say which run it is of.
    pub fn begin_run(&mut self, run: u64) {
        if let Some(variation) = &mut self.variation {
            variation.begin(run);
        }
    }

    /// The firmware does what it does by itself, and everything takes longer or shorter from now on.
    #[cold]
    fn vary(&mut self, arrives: Nanos) {
        let Some(variation) = &mut self.variation else { return };
        let (tick, drift) = variation.at(arrives);
        self.nand.drifts(drift);
        if let Some(limit) = &mut self.write_limit {
            limit.drifts(drift);
        }
        if let Some(processes) = &mut self.processes {
            processes.drifts(drift);
        }
        if let Some((begins, takes)) = tick {
            self.controller.serve(begins, takes);
        }
    }

    /// Answers a command at `answered`, which arrived at `arrives` and moved `bytes`.
    #[inline(always)]
    pub(super) fn answer(
        &mut self,
        tag: Tag,
        (op, bytes): (Op, u64),
        arrives: Nanos,
        answered: Nanos,
    ) {
        let mut answered = answered;
        match op {
            Op::Read => {
                if let Some(limit) = &self.write_limit {
                    answered += limit.read_waits(arrives);
                }
            }
            Op::Write => self.nand.note_write(arrives, answered),
            Op::Flush | Op::Trim => {}
        }
        if let Some(slots) = &mut self.command_slots {
            slots.answer(answered);
        }
        if let Some(meter) = &mut self.power {
            meter.command(arrives, answered, bytes);
        }
        self.answered_until = self.answered_until.max(answered);
        if let Some(idle) = &mut self.idle {
            idle.answered(answered);
        }
        let host = self.host[op as usize];
        let noticed = match &mut self.variation {
            None => answered + host.after,
            Some(variation) => variation.noticed(answered, host.whole()),
        };
        self.queue.finish(tag, noticed);
    }
}
