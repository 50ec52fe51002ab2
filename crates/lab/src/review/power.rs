//! Power: idle, at work, and what a task costs. A drive that draws more may need less: it is idle
//! again sooner.

use fourcorners_linux::device::Meter;
use fourcorners_record::note::{finished, note};
use fourcorners_record::{ClockName, Note, Record, Until};
use fourcorners_words::three_digits;

use super::{Medium, Phase, Scope};
use crate::drive::IdlePower;

pub(super) const METHOD: &str = "power";

const SPAN_BYTES: u64 = 8_000_000_000;
const SECONDS: u64 = 30;
const QUICK_SECONDS: u64 = 5;
const IDLE_SECONDS: u64 = 60;
const IDLE: &str = "idle-power";
/// What it does by itself then: joules.
const IDLE_WORK: &str = "idle-work";
/// What a drive draws that is still at work at the end: watts, its work included.
const UNSETTLED: &str = "idle-power-with-work";
/// What the processors draw; not to be taken for the drive.
pub(super) const MACHINE: &str = "machine-power";

const FIGURES: [(&str, &str); 4] = [
    ("sequential_read_128k_qd1", "sequential reads"),
    ("random_read_4k_qd32", "random reads"),
    ("random_write_4k_qd32_incompressible", "random writes"),
    ("sequential_write_128k_qd1_incompressible", "sequential writes"),
];

pub(super) fn plan(scope: &Scope) -> Vec<Phase> {
    // No drive has a standard way to tell; where the machine does not either, nothing is written.
    if matches!(scope.medium, Medium::Device | Medium::File)
        && let Err(machine) = Meter::find()
    {
        let why = format!("Power is not available: the drive does not report it, and {machine}.");
        return vec![Phase::LeftOut { why }];
    }
    let span = scope.span(SPAN_BYTES);
    let seconds = scope.either(SECONDS, QUICK_SECONDS);
    let sequential = |read| scope.sequential(read, 1, span, Until::Seconds(seconds));
    let random = |read| scope.random(read, 32, span, seconds);
    let jobs = [sequential(100), random(100), random(0), sequential(0)];
    let mut phases =
        vec![Phase::Purge, scope.fill("span written", span), Phase::Idle { seconds: IDLE_SECONDS }];
    phases.extend(FIGURES.iter().zip(jobs).map(|((name, _), job)| scope.measure(*name, job)));
    phases
}

/// What is said of a virtual drive that was left alone for so many seconds.
pub(super) fn idle(drawn: IdlePower, seconds: u64) -> Vec<Note> {
    /// Of what it draws anyway, from when on it is said: a cache that is emptied takes less.
    const LEAST_SHARE: f64 = 0.01;
    let mean = three_digits(drawn.mean_w);
    let Some(settled) = drawn.settled_w else {
        let text = format!(
            "Left alone for {seconds} s, the drive draws {mean} W: it moves what it holds, and had not done so at the end."
        );
        return vec![note(UNSETTLED, text, drawn.mean_w)];
    };
    let text = format!("Idle, the drive draws {} W.", three_digits(settled));
    let mut notes = vec![note(IDLE, text, settled)];
    let work = (drawn.mean_w - settled) * seconds as f64;
    if drawn.mean_w > settled * (1.0 + LEAST_SHARE) {
        let text = format!(
            "Left alone for {seconds} s, it also moves what it holds, which takes {} J: {mean} W on average.",
            three_digits(work)
        );
        notes.push(note(IDLE_WORK, text, work));
    }
    notes
}

pub(super) fn conclude(record: &mut Record) {
    let known: Vec<(&str, f64, f64, f64)> = FIGURES
        .iter()
        .filter_map(|(name, what)| {
            let figure = finished(record, name)?;
            Some((*what, figure.mean_power_w?, figure.mb_per_s, figure.joules_per_gb?))
        })
        .collect();
    if known.is_empty() {
        // Of one that was stopped in its first figure nothing is known.
        if FIGURES.iter().any(|(name, _)| finished(record, name).is_some()) {
            let text = match record.clock {
                ClockName::Virtual => "Power is not available: the drive's profile has no [power].",
                ClockName::Wall => {
                    "The drive's own power is not available: the drive does not report it."
                }
            };
            let text = text.into();
            record.notes.push(Note { about: METHOD.into(), text, value: None });
        }
        return;
    }
    for &(what, watts, mb_per_s, joules_per_gb) in &known {
        let text = format!(
            "At {} MB/s of {what}, the drive draws {} W: {} MB/s per watt, {} J per GB.",
            three_digits(mb_per_s),
            three_digits(watts),
            three_digits(mb_per_s / watts),
            three_digits(joules_per_gb),
        );
        record.notes.push(note(METHOD, text, watts));
    }
    let idle = record.notes.iter().find(|it| it.about == IDLE).and_then(|it| it.value);
    if let (Some(idle), Some(&(what, watts, mb_per_s, _))) = (idle, known.last()) {
        // 4 GB and then nothing, within a minute or as long as it takes.
        const TASK_MB: f64 = 4000.0;
        const TASK_SECONDS: f64 = 60.0;
        let busy = TASK_MB / mb_per_s;
        let rest = (TASK_SECONDS - busy).max(0.0);
        let joules = watts * busy + idle * rest;
        let moves = record.notes.iter().any(|it| it.about == IDLE_WORK);
        let [joules_said, busy, idle] = [joules, busy, idle].map(three_digits);
        let then = if moves { "; what it moves by itself then comes on top" } else { "" };
        let text = match rest > 0.0 {
            true => format!(
                "4 GB of {what} and the rest of a minute idle take {joules_said} J: {busy} s at work, and {} s idle at {idle} \
                 W{then}.",
                three_digits(rest)
            ),
            false => format!("4 GB of {what} take {joules_said} J: {busy} s at work{then}."),
        };
        record.notes.push(note("race-to-idle", text, joules));
    }
}

#[cfg(test)]
mod tests {
    use fourcorners_record::{Figure, TargetInfo, TargetKind};

    use super::super::figure;
    use super::*;

    fn said(mean_w: f64, settled_w: Option<f64>) -> Vec<(String, f64)> {
        let notes = idle(IdlePower { mean_w, settled_w }, 60);
        notes.into_iter().map(|it| (it.about, it.value.expect("each has a figure"))).collect()
    }

    #[test]
    fn what_a_drive_moves_by_itself_is_not_what_it_draws_idle() {
        assert_eq!(said(0.5, Some(0.5)), [(IDLE.into(), 0.5)]);
        assert_eq!(said(0.5005, Some(0.5)), [(IDLE.into(), 0.5)]);
        assert_eq!(said(1.0, Some(0.5)), [(IDLE.into(), 0.5), (IDLE_WORK.into(), 30.0)]);
        assert_eq!(said(1.0, None), [(UNSETTLED.into(), 1.0)]);
    }

    /// What is said of a task on a drive of this rate that was measured at work and idle, with these notes.
    fn race(mb_per_s: f64, notes: Vec<Note>) -> Option<String> {
        let target = TargetInfo::new("a".into(), TargetKind::Virtual, 1 << 30, 512);
        let mut record = Record::begun(target, ClockName::Virtual, METHOD, 1, None);
        for (name, _) in FIGURES {
            let (mean_power_w, joules_per_gb) = (Some(2.0), Some(10.0));
            let figure = Figure { mb_per_s, mean_power_w, joules_per_gb, ..figure::example() };
            record.figures.insert(name.into(), figure);
        }
        record.notes = notes;
        conclude(&mut record);
        record.notes.into_iter().find(|it| it.about == "race-to-idle").map(|it| it.text)
    }

    #[test]
    fn what_a_drive_moves_after_a_task_is_said_not_to_be_in_its_joules() {
        let of = |settled_w| race(200.0, idle(IdlePower { mean_w: 1.0, settled_w }, 60));
        let works = of(Some(0.5)).expect("it is known what it draws idle");
        // 20 s at 2 W and 40 s at 0.5 W.
        assert!(
            works.contains("take 60.0 J: 20.0 s at work, and 40.0 s idle at 0.500 W"),
            "{works}"
        );
        assert!(works.ends_with("; what it moves by itself then comes on top."), "{works}");
        let rests = of(Some(1.0)).expect("it is known what it draws idle");
        assert!(rests.ends_with("idle at 1.00 W."), "{rests}");
        // It was never seen idle.
        assert_eq!(of(None), None);
    }

    #[test]
    fn a_task_of_more_than_a_minute_leaves_no_rest_of_it() {
        let drawn = IdlePower { mean_w: 0.5, settled_w: Some(0.5) };
        let slow = race(40.0, idle(drawn, 60)).expect("it is known what it draws");
        assert_eq!(slow, "4 GB of sequential writes take 200 J: 100 s at work.");
        let fast = race(80.0, idle(drawn, 60)).expect("it is known what it draws");
        assert!(fast.contains("the rest of a minute idle"), "{fast}");
    }
}
