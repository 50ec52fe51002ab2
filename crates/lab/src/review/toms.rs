//! Tom's Hardware's 4 KiB random page: a 16 GB span, queue depth 1 as the headline, and the sweep
//! 1, 2, 4, 8, 16, 32. The page does not say how long a point lasts; here it is a minute.

use super::{Phase, Scope};

const SPAN_BYTES: u64 = 16_000_000_000;
const SECONDS: u64 = 60;
const QUICK_SECONDS: u64 = 5;
const DEPTHS: [u32; 6] = [1, 2, 4, 8, 16, 32];

pub(super) fn plan(scope: &Scope) -> Vec<Phase> {
    let span = scope.span(SPAN_BYTES);
    let seconds = if scope.quick { QUICK_SECONDS } else { SECONDS };
    let mut phases = vec![Phase::Purge, scope.fill("span written", span)];
    for (name, read_percent) in [("read", 100), ("write", 0)] {
        for depth in DEPTHS {
            let job = scope.random(read_percent, depth, span, seconds);
            let figure = match read_percent {
                100 => format!("random_{name}_4k_qd{depth}"),
                _ => format!("random_{name}_4k_qd{depth}_incompressible"),
            };
            phases.push(scope.measure(figure, job));
        }
    }
    phases
}
