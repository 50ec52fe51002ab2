//! Tasks: what a person waits for, in seconds. The tasks of tasks/ are replayed one after the other on
//! a full drive, with all of their think time, because that is what they are waited for with. A quick
//! review cuts it.

use fourcorners_drive::Nanos;
use fourcorners_record::note::note;
use fourcorners_record::{Record, ReplayFigure};
use fourcorners_trace::{TASK_NAMES, Task};
use fourcorners_words::three_digits;

use super::replayed::fill;
use super::{ASSUMED_BYTES_PER_SECOND, Phase, Replayed, Scope};

pub(super) const METHOD: &str = "tasks";

const FIGURE: &str = "task";
/// Longest think time of a quick review.
const QUICK_IDLE_CAP: Nanos = Nanos(1_000_000);

pub(super) fn plan(scope: &Scope) -> Vec<Phase> {
    let whole = scope.whole();
    let mut phases = fill(scope);
    phases.extend(TASK_NAMES.into_iter().map(|name| task(scope, name, whole)));
    phases
}

fn task(scope: &Scope, name: &str, space_bytes: u64) -> Phase {
    let task = match Task::named(name) {
        Ok(task) => task,
        Err(why) => return Phase::LeftOut { why: format!("{name} was left out: {why}") },
    };
    let (read, written) = task.bytes();
    let moved = (read + written) as f64 / ASSUMED_BYTES_PER_SECOND;
    Phase::Replay(Box::new(Replayed {
        name: name.into(),
        expected: (written, task.think_s() + moved),
        title: task.title,
        figure: FIGURE,
        trace: format!("task:{name}"),
        ios: None,
        seed: scope.seed,
        idle_cap: scope.either(Nanos::MAX, QUICK_IDLE_CAP),
        space_bytes,
    }))
}

pub(super) fn conclude(record: &mut Record) {
    let done: Vec<(&str, &ReplayFigure)> = record
        .replays
        .values()
        .filter_map(|replay| {
            let figure = replay.figures.get(FIGURE).filter(|figure| figure.complete)?;
            Some((replay.title.as_deref().unwrap_or_default(), figure))
        })
        .collect();
    let sum = |of: fn(&ReplayFigure) -> f64| done.iter().map(|(_, figure)| of(figure)).sum::<f64>();
    let share = |figure: &ReplayFigure| figure.busy_s / figure.elapsed_s.max(1e-9);
    let by_share =
        |a: &&(&str, &ReplayFigure), b: &&(&str, &ReplayFigure)| share(a.1).total_cmp(&share(b.1));
    let ends = done.iter().min_by(by_share).zip(done.iter().max_by(by_share));
    let Some(((least, rarely), (most, often))) = ends else { return };
    let (seconds, busy) = (sum(|it| it.elapsed_s), sum(|it| it.busy_s));
    let gb = sum(|it| it.all.bytes as f64 / 1e9);
    let text = format!(
        "{} tasks take {} s and move {} GB; the drive is busy for {} s, the rest is think time.",
        done.len(),
        three_digits(seconds),
        three_digits(gb),
        three_digits(busy),
    );
    let matters = format!(
        "The drive matters most for \"{most}\", busy for {:.0} % of {} s, and least for \"{least}\", \
         {:.0} % of {} s.",
        share(often) * 100.0,
        three_digits(often.elapsed_s),
        share(rarely) * 100.0,
        three_digits(rarely.elapsed_s),
    );
    let all = [note(METHOD, text, seconds), note("drive-share", matters, busy / seconds)];
    record.notes.extend(all);
    if record.quick {
        let cap = QUICK_IDLE_CAP.as_micros() / 1e3;
        let text = format!(
            "Quick: think times were cut to {cap} ms or less, which makes the drive's share larger."
        );
        record.notes.push(note("think-time", text, cap));
    }
}
