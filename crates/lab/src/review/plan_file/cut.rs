//! What `--quick` takes from a plan: the preparations that it shortens or leaves out, and how much less long it measures.

use std::collections::BTreeMap;

use fourcorners_record::{Job, Until};
use fourcorners_words::{count, size};

use super::steps::Step;
use crate::review::{Phase, Scope};

/// Of one figure.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Cut {
    /// What first since the last purge did not lead to where it leads in full, and by how much less.
    pub(super) preparation: Option<String>,
    /// How much of its own time it was measured for, where that is less.
    pub(super) measured: Option<String>,
}

/// By figure, what a quick review of this scope takes from the steps of a plan; nothing from a full one.
pub(super) fn cuts(steps: &[Step], scope: &Scope) -> BTreeMap<String, Cut> {
    let [full, quick] = [false, true].map(|quick| Scope { quick, ..*scope });
    let mut cuts = BTreeMap::new();
    let mut preparation = None;
    for step in steps.iter().filter(|_| scope.quick) {
        // What does not fit the target was refused before it was run.
        let (Ok(in_full), Ok(in_quick)) = (step.on(&full), step.on(&quick)) else { continue };
        for (full, quick) in in_full.into_iter().zip(in_quick) {
            match &full {
                Phase::Purge if quick == full => preparation = None,
                _ if preparation.is_none() => preparation = missed(&full, &quick),
                _ => {}
            }
            for (name, job) in measured(&full) {
                let quick = measured(&quick).into_iter().find(|(quick, _)| *quick == name);
                let measured = quick.and_then(|(_, quick)| shorter(job.until, quick.until));
                cuts.insert(name.into(), Cut { preparation: preparation.clone(), measured });
            }
        }
    }
    cuts
}

/// What a phase that leads to a state lacks, in words; `None` where it is whole.
fn missed(full: &Phase, quick: &Phase) -> Option<String> {
    match (full, quick) {
        (Phase::Prepare { state, job }, quick) => less(state, job, quick.job()),
        (full, quick) if full == quick => None,
        // Left out, it leaves the drive as it was.
        (Phase::Purge, _) => Some("the purge was left out".into()),
        (Phase::Idle { seconds: full }, Phase::Idle { seconds: quick }) => {
            let [full, quick] = [full, quick].map(|seconds| count(*seconds as f64));
            Some(format!("the idle time is {quick} of {full} s"))
        }
        (Phase::Idle { .. }, _) => Some("the idle time was left out".into()),
        (Phase::Trim { .. }, Phase::Trim { .. }) => Some("less is trimmed".into()),
        (Phase::Trim { .. }, _) => Some("the TRIM was left out".into()),
        _ => None,
    }
}

/// The figures of a phase, with their jobs.
fn measured(phase: &Phase) -> Vec<(&str, &Job)> {
    match phase {
        Phase::Measure { figure, job }
        | Phase::Pass { figure, job, .. }
        | Phase::BesideTrim { figure, job, .. } => vec![(figure, job)],
        Phase::Rounds { tests, .. } => {
            tests.iter().map(|(name, job)| (name.as_str(), job)).collect()
        }
        _ => Vec::new(),
    }
}

/// What a preparation lacks, in words; `None` where it is whole.
fn less(state: &str, full: &Job, quick: Option<&Job>) -> Option<String> {
    let Some(quick) = quick else {
        return Some(format!("the preparation \"{state}\" was left out"));
    };
    if quick == full {
        return None;
    }
    let amount = shorter(full.until, quick.until)
        .unwrap_or_else(|| format!("{} of {}", size(quick.span_bytes), size(full.span_bytes)));
    Some(format!("the preparation \"{state}\" is shortened to {amount}"))
}

/// How much of the whole is done; `None` where it is all.
fn shorter(full: Until, quick: Until) -> Option<String> {
    match (full.seconds(), quick.seconds()) {
        (Some(full), Some(quick)) if quick < full => {
            Some(format!("{} of {} s", count(quick as f64), count(full as f64)))
        }
        _ if quick.bytes() < full.bytes() => {
            Some(format!("{} of {}", size(quick.bytes()), size(full.bytes())))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::PlanFile;
    use crate::review::plan_file::tests::scope;

    /// Of the figure of the plan `new-and-used` that is measured in the used state, and of the fresh one.
    fn of(text: &str, bytes: u64, quick: bool) -> [Option<Cut>; 2] {
        let plan = PlanFile::parse("mine.toml", text).expect("it is a plan");
        let mut cuts = cuts(&plan.steps, &scope(bytes, quick));
        ["random_write_4k_qd3_incompressible_used", "random_write_4k_qd3_incompressible"]
            .map(|name| cuts.remove(name))
    }

    #[test]
    fn a_preparation_is_cut_where_it_is_shorter_and_its_figures_until_the_next_purge() {
        const PLAN: &str = include_str!("../../../../../plans/new-and-used.toml");
        let measured = Some("5 of 180 s".to_string());
        let fresh = Some(Cut { preparation: None, measured: measured.clone() });
        let [used, control] = of(PLAN, 64_000_000_000, true);
        let preparation =
            "the preparation \"filled\" is shortened to 8.0 GB of 64.0 GB".to_string();
        assert_eq!(used, Some(Cut { preparation: Some(preparation), measured: measured.clone() }));
        assert_eq!(control, fresh, "it needs none");
        // A drive that a quick review fills whole is in the state, and so is each in full.
        assert_eq!(of(PLAN, 8_000_000_000, true), [fresh.clone(), fresh.clone()]);
        assert_eq!(of(PLAN, 64_000_000_000, false), [None, None]);
        let left_out = PLAN.replace("do = \"fill\"", "do = \"fill\"\nquick = false");
        let [used, _] = of(&left_out, 8_000_000_000, true);
        let left_out = "the preparation \"filled\" was left out".to_string();
        assert_eq!(used, Some(Cut { preparation: Some(left_out), measured }));
        let purged = PLAN.replacen(
            "[[phase]]\ndo = \"measure\"",
            "[[phase]]\ndo = \"fill\"\n[[phase]]\ndo = \"purge\"\n[[phase]]\ndo = \"measure\"",
            1,
        );
        assert_eq!(
            of(&purged, 64_000_000_000, true)[1],
            fresh,
            "what a purge undoes is not missed"
        );
        // A purge, idle time and a TRIM that are left out or cut are missed, too.
        let with = |phase: &str| {
            let used = PLAN.rfind("[[phase]]").expect("its last phase");
            let text = format!("{}[[phase]]\n{phase}\n{}", &PLAN[..used], &PLAN[used..]);
            of(&text, 8_000_000_000, true)[0].clone().and_then(|cut| cut.preparation)
        };
        assert_eq!(with("do = \"idle\"\nseconds = 5"), None);
        for (phase, told) in [
            ("do = \"purge\"\nquick = false", "the purge was left out"),
            ("do = \"idle\"\nseconds = 1800", "the idle time is 5 of 1,800 s"),
            ("do = \"idle\"\nseconds = 5\nquick = false", "the idle time was left out"),
            ("do = \"trim\"\nspan = \"50 %\"\nquick = false", "the TRIM was left out"),
        ] {
            assert_eq!(with(phase).as_deref(), Some(told), "{phase}");
        }
    }
}
