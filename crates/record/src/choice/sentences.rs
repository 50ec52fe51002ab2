//! What a choice comes to, in a few sentences.

use fourcorners_words::{count, counted, three_digits, time};

use super::{Choice, RankedDrive};

/// Drives that a sentence names before it counts them.
const MOST_NAMED: usize = 4;

impl Choice {
    /// The answer, with its figures: which drives, how sure, and what that is against the drive one has.
    pub fn sentences(&self) -> Vec<String> {
        let Some(first) = self.ranking.first() else {
            return vec!["No drive could do the work.".into()];
        };
        let mut said = vec![fastest(self, first), tier(self)];
        said.extend(had(self, first));
        said.extend(value(self));
        if self.rescaled {
            let number = self.ranking.iter().filter(|drive| drive.rescaled).count();
            said.push(format!(
                "The work's addresses were changed to fit {}, marked *: distances between its I/Os are not those \
                 of the original there.",
                drives(number)
            ));
        }
        said
    }
}

impl RankedDrive {
    /// The ends of the band, in one unit.
    pub fn band_words(&self) -> String {
        let [low, high] = self.band_s;
        let (factor, unit) = match high {
            1.0.. => (1.0, "s"),
            1e-3.. => (1e3, "ms"),
            _ => (1e6, "µs"),
        };
        format!("{} to {} {unit}", three_digits(low * factor), three_digits(high * factor))
    }

    /// The hours of waiting that it saves in a year, where they are known.
    pub fn hours_words(&self) -> Option<String> {
        let hours = self.hours_a_year_vs_have?;
        let size = three_digits(hours.abs());
        Some(if hours < 0.0 { format!("-{size}") } else { size })
    }
}

fn seconds(seconds: f64) -> String {
    time(seconds * 1e6)
}

fn drives(number: usize) -> String {
    counted(number as u64, "drive")
}

fn fastest(choice: &Choice, first: &RankedDrive) -> String {
    let equal = choice.ranking.iter().filter(|drive| drive.rank == 1).skip(1);
    let names: Vec<&str> = equal.map(|drive| drive.drive.as_str()).collect();
    let sure = match names[..] {
        [] if choice.ranking.len() == 1 => String::new(),
        [] => match one_sided(choice, first) {
            Some(said) => format!("; {said}"),
            None => "; no other is within its band".into(),
        },
        _ => format!("; the model cannot tell it from {}", listed(&names)),
    };
    format!(
        "The work waits least for {}: {} ({}){sure}.",
        first.drive,
        seconds(first.waited_s),
        first.band_words()
    )
}

/// What there is to say where no other has the rank of the first: which drives lie within its band although it does not lie
/// within theirs, or the other way about.
fn one_sided(choice: &Choice, first: &RankedDrive) -> Option<String> {
    let named = |is: &dyn Fn(&RankedDrive) -> bool| {
        let some = choice.ranking[1..].iter().filter(|it| is(it));
        some.map(|it| it.drive.as_str()).collect::<Vec<&str>>()
    };
    let within = named(&|it| it.waited_s <= first.band_s[1]);
    let around = named(&|it| it.band_s[0] <= first.waited_s);
    let lie = |names: &[&str]| if names.len() == 1 { "lies" } else { "lie" };
    match (&within[..], &around[..]) {
        ([], []) => None,
        ([], around) => Some(format!("it lies within the band of {}", listed(around))),
        (within, _) => Some(format!("{} {} within its band", listed(within), lie(within))),
    }
}

/// What is over within this time was there at once to a person who waits: the limit is Miller's ("Response time in man-computer
/// conversational transactions", 1968).
const PERCEIVED_S: f64 = 0.1;

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
            // One within the other's band is enough for doubt.
            let ahead = &choice.ranking[0];
            let unsure = second.waited_s <= ahead.band_s[1] || second.band_s[0] <= ahead.waited_s;
            match unsure {
                _ if second.waited_s < PERCEIVED_S => format!(
                    "You would notice neither: of {only} and the next, {}, the work waits for less than {} s in all.",
                    second.drive, PERCEIVED_S
                ),
                true => format!(
                    "Waiting {longer}, as for {}, is noticed, but the model may be off by as much.",
                    second.drive
                ),
                false => format!(
                    "You would notice a difference between {only} and the next, {}: {longer}.",
                    second.drive
                ),
            }
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
    let hours = first.hours_words().map_or_else(
        || "--gb-per-day N says how many hours a year that is".to_string(),
        |hours| format!("{} would save {hours} hours a year", first.drive),
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
    fourcorners_words::listed(names, MOST_NAMED, MOST_NAMED - 1)
}

#[cfg(test)]
mod tests {
    use super::super::{CHOICE_SCHEMA, ChosenWork, LeftOut};
    use super::*;

    fn drive(name: &str, rank: usize, tier: usize, waited_s: f64) -> RankedDrive {
        RankedDrive {
            drive: name.into(),
            title: format!("The {name}"),
            capacity_gb: 256.0,
            rank,
            tier,
            waited_s,
            busy_s: waited_s,
            band_s: [waited_s / 1.25, waited_s * 1.25],
            band_standing: "family".into(),
            rank_p99: rank,
            p99_us: 812.0,
            hours_a_year_vs_have: None,
            write_amplification: None,
            years: None,
            energy_wh: None,
            price: None,
            price_per_performance: None,
            rescaled: false,
        }
    }

    fn choice(ranking: Vec<RankedDrive>) -> Choice {
        Choice {
            schema: CHOICE_SCHEMA.into(),
            work: ChosenWork {
                name: "task:boot".into(),
                kind: "task".into(),
                ios: 20_000,
                read_gb: 0.5,
                written_gb: 0.1,
                extent_gb: Some(60.0),
                duration_s: Some(21.0),
            },
            state: "written".into(),
            have: None,
            gb_per_day: None,
            rescaled: ranking.iter().any(|drive| drive.rescaled),
            replay: None,
            ranking,
            left_out: vec![LeftOut { drive: "small".into(), why: "it is <small>".into() }],
            notes: vec!["A remark.".into()],
        }
    }

    #[test]
    fn the_fastest_is_named_with_those_that_it_cannot_be_told_from() {
        let only = choice(vec![drive("a", 1, 1, 1.0)]);
        let said = only.sentences().join(" ");
        assert!(said.contains("(0.800 to 1.25 s). There is only a to choose."), "{said}");
        let alone = choice(vec![drive("a", 1, 1, 1.0), drive("b", 2, 2, 2.0)]);
        let said = alone.sentences().join(" ");
        assert!(said.contains("waits least for a: 1.00 s (0.800 to 1.25 s); no other"), "{said}");
        assert!(said.contains("between a and the next, b: 2.00 times as long"), "{said}");
        let short = choice(vec![drive("a", 1, 1, 0.02), drive("b", 2, 2, 0.09)]);
        let said = short.sentences().join(" ");
        assert!(
            said.contains(
                "You would notice neither: of a and the next, b, the work waits for less than 0.1 s"
            ),
            "{said}"
        );
        let equal = choice(vec![drive("a", 1, 1, 1.0), drive("b", 1, 1, 1.05)]);
        let said = equal.sentences().join(" ");
        assert!(said.contains("cannot tell it from b"), "{said}");
        assert!(said.contains("You would not notice a difference between them"), "{said}");
        let unsure = choice(vec![drive("a", 1, 1, 1.0), drive("b", 1, 2, 1.2)]);
        let said = unsure.sentences().join(" ");
        assert!(said.contains("cannot tell it from b") && !said.contains("You would"), "{said}");
        assert!(said.contains("Waiting 1.20 times as long, as for b, is noticed, but"), "{said}");
        // One drive has a wide band, the other a narrow one.
        let mut wide = choice(vec![drive("a", 1, 1, 1.0), drive("b", 2, 2, 1.3)]);
        (wide.ranking[0].band_s, wide.ranking[1].band_s) = ([0.5, 2.0], [1.25, 1.35]);
        let said = wide.sentences().join(" ");
        assert!(said.contains("b lies within its band") && !said.contains("You would"), "{said}");
        (wide.ranking[0].band_s, wide.ranking[1].band_s) = ([0.95, 1.05], [0.65, 2.6]);
        let said = wide.sentences().join(" ");
        assert!(said.contains("it lies within the band of b"), "{said}");
        let near = choice(vec![drive("a", 1, 1, 1.0), drive("b", 2, 1, 1.05)]);
        let said = near.sentences().join(" ");
        assert!(said.contains("No difference you would notice, within 10 %: a and b."), "{said}");
        assert_eq!(choice(Vec::new()).sentences().len(), 1);
        assert_eq!(listed(&["a", "b", "c", "d", "e"]), "a, b, c and 2 more");
        let mut one = drive("a", 1, 1, 0.5);
        one.hours_a_year_vs_have = Some(-3.0);
        assert_eq!(
            (one.band_words(), one.hours_words()),
            ("400 to 625 ms".into(), Some("-3.00".into()))
        );
    }

    #[test]
    fn the_drive_one_has_is_told_apart_from_a_better_one_only_if_it_can_be() {
        let mut told = choice(vec![drive("a", 1, 1, 1.0), drive("b", 2, 2, 2.0)]);
        told.have = Some("b".into());
        assert!(told.sentences().join(" ").contains("--gb-per-day N says"));
        told.ranking[0].hours_a_year_vs_have = Some(12.0);
        let said = told.sentences().join(" ");
        assert!(said.contains("rank 2 of 2 drives") && said.contains("a would save 12.0 hours"));
        told.ranking[1].rank = 1;
        assert!(told.sentences().join(" ").contains("cannot tell any from it"));
        told.have = Some("c".into());
        assert!(told.sentences().join(" ").contains("Your c could not do the work"));
    }
}
