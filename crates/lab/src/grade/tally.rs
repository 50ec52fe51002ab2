//! Right, wrong and undetermined, verdict by verdict.

use std::collections::BTreeMap;

use fourcorners_record::{Outcome, Verdict};
use serde::Serialize;

use super::population::{draw, method_list};
use super::truth::Truth;
use super::{Condition, Options};

/// The mistakes that are told of a verdict at most.
const MOST_TOLD: usize = 3;

/// The verdicts of a drive, each with what it had to be.
#[derive(Clone, Debug)]
pub(super) struct Graded {
    pub(super) index: usize,
    pub(super) verdicts: Vec<(Verdict, Truth)>,
}

/// How all verdicts did.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Grades {
    /// `fourcorners.grade/1`.
    pub schema: &'static str,
    /// The noise level.
    pub noise: &'static str,
    /// Its size: the mean share of a rate that was lost.
    pub noise_size: f64,
    /// Whether the reviews were quick ones.
    pub quick: bool,
    /// How many drives were drawn.
    pub drives: usize,
    /// What they were drawn with.
    pub seed: u64,
    /// The command that does the same again.
    pub command: String,
    /// Whether it was stopped before all drives were done.
    pub stopped: bool,
    /// By verdict.
    pub verdicts: Vec<Grade>,
}

/// How a verdict did.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Grade {
    /// Which.
    pub id: String,
    /// On how many drives it was given.
    pub drives: usize,
    /// On how many of them the truth can be found out.
    pub identifiable: usize,
    /// On how many of those it was right,
    pub right: usize,
    /// wrong,
    pub wrong: usize,
    /// or undetermined.
    pub undetermined: usize,
    /// Of the identifiable, the share on which it was one or the other.
    pub coverage: Option<f64>,
    /// On how many the effect is more than three times the noise,
    pub strong: usize,
    /// and of those, on how many it was undetermined.
    pub strong_undetermined: usize,
    /// What it said, by what is true.
    pub by_truth: BTreeMap<String, BTreeMap<&'static str, usize>>,
    /// Commands that show where it was wrong.
    pub worst: Vec<String>,
}

pub(super) fn tally(
    options: &Options,
    condition: Condition,
    all: Vec<Graded>,
    stopped: bool,
) -> Grades {
    let mut grades: BTreeMap<String, Grade> = BTreeMap::new();
    for Graded { index, verdicts } in all {
        for (verdict, truth) in verdicts {
            let grade = grades.entry(verdict.id.clone()).or_default();
            grade.id.clone_from(&verdict.id);
            grade.add(verdict.outcome, &truth, || mistake(options, condition, index));
        }
    }
    let mut verdicts: Vec<Grade> = grades.into_values().collect();
    for grade in &mut verdicts {
        let told = (grade.right + grade.wrong) as f64 / grade.identifiable as f64;
        grade.coverage = (grade.identifiable > 0).then_some(told);
    }
    Grades {
        schema: "fourcorners.grade/1",
        noise: condition.noise.name(),
        noise_size: condition.noise.size(),
        quick: condition.quick,
        drives: options.drives,
        seed: options.seed,
        command: command(options, condition, options.only),
        stopped,
        verdicts,
    }
}

impl Grade {
    fn add(&mut self, outcome: Outcome, truth: &Truth, mistake: impl Fn() -> String) {
        self.drives += 1;
        let said = self.by_truth.entry(truth.label.clone()).or_default();
        *said.entry(outcome.word()).or_default() += 1;
        if truth.right.is_empty() {
            return;
        }
        self.identifiable += 1;
        self.strong += usize::from(truth.strong);
        match outcome {
            Outcome::Undetermined => {
                self.undetermined += 1;
                self.strong_undetermined += usize::from(truth.strong);
            }
            outcome if wrong(outcome, truth) => {
                self.wrong += 1;
                if self.worst.len() < MOST_TOLD {
                    self.worst.push(mistake());
                }
            }
            _ => self.right += 1,
        }
    }
}

/// A line for each wrong verdict of a drive, with the command that shows it again.
pub(super) fn mistakes(
    options: &Options,
    condition: Condition,
    graded: &Graded,
) -> impl Iterator<Item = String> {
    graded.verdicts.iter().filter(|(verdict, truth)| wrong(verdict.outcome, truth)).map(
        move |(verdict, truth)| {
            let right: Vec<&str> = truth.right.iter().map(|outcome| outcome.word()).collect();
            format!(
                "{} is {} where {} is right ({}): {}",
                verdict.id,
                verdict.outcome.word(),
                right.join(" or "),
                truth.label,
                mistake(options, condition, graded.index)
            )
        },
    )
}

fn wrong(outcome: Outcome, truth: &Truth) -> bool {
    let known = !truth.right.is_empty() && outcome != Outcome::Undetermined;
    known && !truth.right.contains(&outcome)
}

/// The command that shows a drive's verdicts again.
fn mistake(options: &Options, condition: Condition, index: usize) -> String {
    let quick = if condition.quick { " --quick" } else { "" };
    match condition.noise {
        super::NoiseLevel::None => {
            format!("fourcorners review {}{quick}", draw(options.seed, index).arguments())
        }
        _ => command(options, condition, Some(index)),
    }
}

/// The command that grades under one condition: all drives, or one of them.
fn command(options: &Options, condition: Condition, only: Option<usize>) -> String {
    let methods = match &options.methods[..] {
        [] => String::new(),
        methods => format!(" --methods {}", method_list(methods)),
    };
    format!(
        "fourcorners grade --noise {}{} --drives {} --seed {}{methods}{}",
        condition.noise.name(),
        if condition.quick { " --quick" } else { "" },
        options.drives,
        options.seed,
        only.map_or(String::new(), |index| format!(" --only {index}"))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_has_all_that_it_takes_to_repeat_it() {
        use super::super::NoiseLevel;
        use crate::review::Method;
        let condition = Condition { noise: NoiseLevel::Lab, quick: true };
        let all = Options {
            conditions: vec![condition],
            drives: 30,
            seed: 7,
            only: None,
            methods: Vec::new(),
            workers: 1,
        };
        let plain = "fourcorners grade --noise lab --quick --drives 30 --seed 7";
        assert_eq!(command(&all, condition, all.only), plain);
        let some = Options { methods: vec![Method::Trim, Method::TrimReaches], ..all };
        let of_some = format!("{plain} --methods trim,trim-reaches");
        assert_eq!(command(&some, condition, None), of_some);
        assert_eq!(mistake(&some, condition, 3), format!("{of_some} --only 3"));
    }

    #[test]
    fn a_wrong_verdict_is_counted_and_one_that_nobody_can_know_is_not() {
        let truth = |right: &[Outcome], strong| Truth {
            label: "slow".into(),
            right: right.to_vec(),
            strong,
            effect: None,
        };
        let mut grade = Grade::default();
        let mistake = || "command".to_string();
        grade.add(Outcome::Yes, &truth(&[Outcome::Yes], true), mistake);
        grade.add(Outcome::No, &truth(&[Outcome::Yes], true), mistake);
        grade.add(Outcome::Undetermined, &truth(&[Outcome::Yes], true), mistake);
        grade.add(Outcome::Undetermined, &truth(&[Outcome::Yes], false), mistake);
        grade.add(Outcome::No, &truth(&[], false), mistake);
        let Grade { drives, identifiable, right, wrong, undetermined, .. } = grade;
        assert_eq!((drives, identifiable, right, wrong, undetermined), (5, 4, 1, 1, 2));
        assert_eq!((grade.strong, grade.strong_undetermined), (3, 1));
        assert_eq!(grade.worst, ["command"]);
        assert_eq!(grade.by_truth["slow"]["no"], 2);
    }
}
