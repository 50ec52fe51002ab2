//! What a choice comes to, in a few sentences.

use fourcorners_record::{Choice, RankedDrive};
use fourcorners_words::{count, three_digits};

use super::{band, drives, seconds, signed};

/// Drives that a sentence names before it counts them.
const MOST_NAMED: usize = 4;

/// The answer, with its figures: which drives, how sure, and what that is against the drive one has.
pub fn choice_sentences(choice: &Choice) -> Vec<String> {
    let Some(first) = choice.ranking.first() else {
        return vec!["No drive could do the work.".into()];
    };
    let mut said = vec![fastest(choice, first), tier(choice)];
    said.extend(had(choice, first));
    said.extend(value(choice));
    if choice.rescaled {
        let number = choice.ranking.iter().filter(|drive| drive.rescaled).count();
        said.push(format!(
            "The work's addresses were changed to fit {}, which are marked *: what lies where is not as \
             it was there.",
            drives(number)
        ));
    }
    said
}

fn fastest(choice: &Choice, first: &RankedDrive) -> String {
    let equal = choice.ranking.iter().filter(|drive| drive.rank == 1).skip(1);
    let names: Vec<&str> = equal.map(|drive| drive.drive.as_str()).collect();
    let sure = match names[..] {
        [] => "no other is within its band".to_string(),
        _ => format!("the model cannot tell it from {}", listed(&names)),
    };
    format!(
        "The work waits least for {}: {} ({}); {sure}.",
        first.drive,
        seconds(first.waited_s),
        band(first)
    )
}

fn tier(choice: &Choice) -> String {
    let tier = choice.ranking.iter().filter(|drive| drive.tier == 1);
    let names: Vec<&str> = tier.map(|drive| drive.drive.as_str()).collect();
    // Those of the first rank were named.
    let is_told = choice.ranking.iter().all(|it| (it.tier == 1) == (it.rank == 1));
    if names.len() > 1 && is_told {
        return "You would not notice a difference between them: they are within 10 %.".into();
    }
    match names[..] {
        [only] if choice.ranking.len() > 1 => {
            let second = &choice.ranking[1];
            let first = choice.ranking[0].waited_s;
            let longer = match second.waited_s / first {
                ratio if ratio.is_finite() => format!("{} times as long", three_digits(ratio)),
                _ => seconds(second.waited_s),
            };
            format!(
                "You would notice a difference between {only} and the next, {}: {longer}.",
                second.drive
            )
        }
        [only] => format!("There is only {only} to choose."),
        _ => format!("No difference you would notice, within 10 %: {}.", listed(&names)),
    }
}

fn had(choice: &Choice, first: &RankedDrive) -> Option<String> {
    let name = choice.have.as_ref()?;
    let Some(had) = choice.ranking.iter().find(|drive| drive.drive == *name) else {
        return Some(format!("Your {name} could not do the work."));
    };
    let place = format!("Your {name} has rank {} of {}", had.rank, drives(choice.ranking.len()));
    if had.rank == first.rank {
        return Some(format!("{place}: the model cannot tell any from it that is faster."));
    }
    let hours = first.hours_a_year_vs_have.map_or_else(
        || "--gb-per-day N says how many hours a year that is".to_string(),
        |hours| format!("{} would save {} hours a year", first.drive, signed(hours)),
    );
    Some(format!("{place}: the work waits {} for it; {hours}.", seconds(had.waited_s)))
}

/// The best performance for its price.
fn value(choice: &Choice) -> Option<String> {
    let priced = || choice.ranking.iter().filter_map(|it| Some((it, it.price_per_performance?)));
    let (best, _) = priced().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let price = best.price?;
    Some(format!(
        "Of {} with a price, {} has the most performance for it: {price:.2} and {}.",
        count(priced().count() as f64),
        best.drive,
        seconds(best.waited_s)
    ))
}

/// "a, b and c", and how many more where there are many.
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).into(),
        _ if names.len() > MOST_NAMED => {
            let more = names.len() - MOST_NAMED + 1;
            format!("{} and {more} more", names[..MOST_NAMED - 1].join(", "))
        }
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{choice, drive};
    use super::*;

    #[test]
    fn the_fastest_is_named_with_those_that_it_cannot_be_told_from() {
        let alone = choice(vec![drive("a", 1, 1, 1.0), drive("b", 2, 2, 2.0)]);
        let said = choice_sentences(&alone).join(" ");
        assert!(said.contains("waits least for a: 1.00 s (0.800 to 1.25 s); no other"), "{said}");
        assert!(said.contains("between a and the next, b: 2.00 times as long"), "{said}");
        let equal = choice(vec![drive("a", 1, 1, 1.0), drive("b", 1, 1, 1.05)]);
        let said = choice_sentences(&equal).join(" ");
        assert!(said.contains("cannot tell it from b"), "{said}");
        assert!(said.contains("You would not notice a difference between them"), "{said}");
        let near = choice(vec![drive("a", 1, 1, 1.0), drive("b", 2, 1, 1.05)]);
        let said = choice_sentences(&near).join(" ");
        assert!(said.contains("No difference you would notice, within 10 %: a and b."), "{said}");
        assert_eq!(choice_sentences(&choice(Vec::new())).len(), 1);
        assert_eq!(listed(&["a", "b", "c", "d", "e"]), "a, b, c and 2 more");
    }

    #[test]
    fn the_drive_one_has_is_told_apart_from_a_better_one_only_if_it_can_be() {
        let mut told = choice(vec![drive("a", 1, 1, 1.0), drive("b", 2, 2, 2.0)]);
        told.have = Some("b".into());
        assert!(choice_sentences(&told).join(" ").contains("--gb-per-day N says"));
        told.ranking[0].hours_a_year_vs_have = Some(12.0);
        let said = choice_sentences(&told).join(" ");
        assert!(said.contains("rank 2 of 2 drives") && said.contains("a would save 12.0 hours"));
        told.ranking[1].rank = 1;
        assert!(choice_sentences(&told).join(" ").contains("cannot tell any from it"));
        told.have = Some("c".into());
        assert!(choice_sentences(&told).join(" ").contains("Your c could not do the work"));
    }
}
