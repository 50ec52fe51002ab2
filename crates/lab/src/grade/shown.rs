//! Grades as a page of the documentation.

use std::collections::BTreeMap;
use std::fmt::Write;

use fourcorners_record::Outcome;

use super::{Grade, Grades, declared};

/// The grades of one seed at several noise levels, as Markdown.
pub fn markdown(all: &[Grades]) -> String {
    let mut text = String::from(HEAD);
    for grades in all {
        let reviews = if grades.quick { "Quick reviews" } else { "Reviews at full length" };
        let _ = write!(
            text,
            "\n## {reviews}, noise: {} ({} of a rate)\n\n`{}`\n\n{TABLE}",
            grades.noise,
            percent(grades.noise_size),
            grades.command
        );
        grades.verdicts.iter().for_each(|grade| text.push_str(&row(grade)));
        text.push_str(
            "\nWhat was said, by what is true:\n\n| verdict | truth | said |\n|---|---|---|\n",
        );
        for grade in &grades.verdicts {
            for (truth, said) in &grade.by_truth {
                let said: Vec<String> =
                    said.iter().map(|(outcome, count)| format!("{outcome} {count}")).collect();
                let _ = writeln!(text, "| `{}` | {truth} | {} |", grade.id, said.join(", "));
            }
        }
        let worst: Vec<&String> = grades.verdicts.iter().flat_map(|grade| &grade.worst).collect();
        if !worst.is_empty() {
            text.push_str("\nMistakes, by the command that repeats them:\n\n");
            worst.iter().for_each(|command| text.push_str(&format!("- `{command}`\n")));
        }
    }
    text.push_str(&outcomes(all));
    text
}

/// How often each outcome was given, of those that a verdict has.
fn outcomes(all: &[Grades]) -> String {
    let mut counts: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for grade in all.iter().flat_map(|grades| &grades.verdicts) {
        let of_verdict = counts.entry(&grade.id).or_default();
        for (outcome, count) in grade.by_truth.values().flatten() {
            *of_verdict.entry(outcome).or_default() += count;
        }
    }
    let mut text = String::from(OUTCOMES);
    for (id, counts) in counts {
        let _ = write!(text, "| `{id}` |");
        for outcome in [Outcome::Yes, Outcome::No, Outcome::Partly, Outcome::Undetermined] {
            let _ = match declared(id).contains(&outcome) {
                true => write!(text, " {} |", counts.get(outcome.word()).unwrap_or(&0)),
                false => write!(text, " - |"),
            };
        }
        text.push('\n');
    }
    text
}

const HEAD: &str = "\
# How often verdicts are right

Made by `scripts/evidence verdicts`. Drives are drawn from the catalogue with settings whose truth is known
(what a TRIM does, spare area, collection), put on a machine that is as noisy as stated, and reviewed by
the methods that a user runs, at full length and quick. A verdict is held against what the profile says of TRIM and
compression, and otherwise against what the same drive does on a quiet machine at full length with other random
numbers; consistency and the fill level are looked at twice. A TRIM holds others up where the profile has the drive
stand still for it, whatever the drive was drawn as. Where collection takes blocks at random, or the best of a few, a
TRIM that frees all may restore little of the speed: what counts there is what comes back on the quiet machine. Not
identifiable is what no review can find out: what a TRIM restores where the torture left no mark, what lies near a
threshold, and what settles in one way or another by chance. Strong is an effect of more than three times the noise,
the machine's or what two looks at the same drive differ by. A quick review leaves open what seconds cannot tell.

Not graded: `steady-state` of `snia`, which takes a day of the drive's time.
";

const TABLE: &str = "\
| verdict | drives | identifiable | right | wrong | undetermined | strong | strong, undetermined |
|---|---|---|---|---|---|---|---|
";

const OUTCOMES: &str = "
## Each outcome

How often each was given, under all conditions together; `-` is one that a verdict does not have.

| verdict | yes | no | partly | undetermined |
|---|---|---|---|---|
";

fn row(grade: &Grade) -> String {
    format!(
        "| `{}` | {} | {} | {} | {} | {} | {} | {} |\n",
        grade.id,
        grade.drives,
        grade.identifiable,
        grade.right,
        grade.wrong,
        grade.undetermined,
        grade.strong,
        grade.strong_undetermined
    )
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_that_was_never_given_stands_there_with_0() {
        let said = BTreeMap::from([("yes", 3), ("undetermined", 1)]);
        let of = |id: &str| Grade {
            id: id.into(),
            by_truth: BTreeMap::from([
                ("slow".into(), said.clone()),
                ("fast".into(), said.clone()),
            ]),
            ..Grade::default()
        };
        let grades = Grades {
            schema: "fourcorners.grade/1",
            noise: "none",
            noise_size: 0.0,
            quick: false,
            drives: 8,
            seed: 1,
            command: "fourcorners grade".into(),
            stopped: false,
            verdicts: vec![of("too-full"), of("trim-works")],
        };
        let text = outcomes(&[grades.clone(), grades]);
        assert!(text.contains("| `too-full` | 12 | 0 | - | 4 |\n"), "{text}");
        assert!(text.contains("| `trim-works` | 12 | 0 | 0 | 4 |\n"), "{text}");
    }
}
