//! A plan whose data is verified: run, then read back.

use fourcorners_drive::Nanos;

use super::run::run_told;
use super::source::Source;
use super::steady::Steady;
use super::{Direction, Measure, Plan, RunResult, Stream, StreamResult};
use crate::observer::Observer;
use crate::verify::{Contents, Spec, Verifying, Wanted};

/// Runs a plan as [`super::run`] does, with what it writes stamped and what it reads checked, and
/// then reads back what each stream wrote last, as far as the specification asks for it.
///
/// With [`Spec::only`] nothing is run: what is there is held to what the same plan would have left.
/// The caller has checked that the order of its writes is known without running it, then.
pub fn run_verified<T: Contents>(
    target: &mut T,
    plan: &Plan,
    spec: &Spec,
    observer: &mut dyn Observer,
) -> RunResult {
    let mut verifying = Verifying::new(target, spec.clone(), plan.changes());
    let mut result = match spec.only {
        false => run_told(&mut verifying, plan, observer, Verifying::is_of),
        true => {
            for (stream, described) in (0..).zip(&plan.streams) {
                note_all(&mut verifying, stream, described);
            }
            verifying.adopt_run();
            nothing_run(plan)
        }
    };
    for (index, stream) in plan.streams.iter().enumerate() {
        let verified = spec.wanted.get(index).copied().unwrap_or(false);
        if !verified {
            continue;
        }
        let did = &mut result.streams[index];
        let spoiled = spec.fatal && did.failed.is_some();
        if spec.read_back && stream.writes() && !result.interrupted && !spoiled {
            let wanted = Wanted {
                stream: index,
                start_bytes: stream.span_start_bytes,
                end_bytes: stream.span_start_bytes + stream.span_bytes,
                depth: stream.depth,
                most_bytes: u64::from(stream.largest_block()),
            };
            // How far it is was said already: only an interrupt is looked for.
            let back = verifying.read_back(wanted, &mut Quiet(observer));
            result.interrupted |= back.interrupted;
            did.failed = did.failed.or(back.failed);
            did.verified = Some(back);
        }
        did.failed = did.failed.or(verifying.failed(index));
    }
    result.findings = Some(verifying.into_findings());
    result
}

/// Notes all that a stream would write.
fn note_all<T: Contents>(verifying: &mut Verifying<'_, T>, index: u32, stream: &Stream) {
    if !stream.operations.has(Direction::Write) && !stream.operations.has(Direction::Trim) {
        return;
    }
    let mut source = Source::new(stream);
    source.begin(Nanos::ZERO);
    let (mut ios, mut bytes) = (0u64, 0u64);
    loop {
        let io = source.next(Nanos::ZERO).io;
        // As the loop that runs it ends it.
        if ios >= stream.limits.ios || bytes + io.bytes() > stream.limits.bytes {
            return;
        }
        ios += 1;
        bytes += io.bytes();
        verifying.note(index, io);
    }
}

fn nothing_run(plan: &Plan) -> RunResult {
    let nothing = |stream: &Stream| StreamResult {
        measure: Measure::new(stream),
        began: Nanos::ZERO,
        ended: Nanos::ZERO,
        elapsed: Nanos::ZERO,
        failed: None,
        depth_found: None,
        verified: None,
    };
    RunResult {
        streams: plan.streams.iter().map(nothing).collect(),
        steady: plan.steady.iter().map(|spec| Steady::new(spec.clone()).finish()).collect(),
        interrupted: false,
        findings: None,
    }
}

/// Asks an observer whether to go on, and says nothing.
struct Quiet<'a>(&'a mut dyn Observer);

impl Observer for Quiet<'_> {
    fn go_on(&mut self, _part_done: f64) -> bool {
        self.0.go_on(1.0)
    }
}
