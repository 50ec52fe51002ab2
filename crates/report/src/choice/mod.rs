//! A choice of drives for people: sentences, a terminal table and a page, from the document alone.

mod page;
mod table;

use fourcorners_record::{Choice, RankedDrive};
use fourcorners_words::{three_digits, time};

pub use page::choice_page;
pub use table::{choice_pasted, choice_table};

use super::words::NO_VALUE;

/// A column of the table: its heading, a shorter one for a terminal, and what a drive has in it.
struct Column {
    heading: &'static str,
    short: &'static str,
    value: fn(&RankedDrive) -> Option<String>,
}

const BAND: &str = "band";

/// How long the work waits, and how sure that is.
const TIMES: [Column; 5] = [
    Column { heading: "waits", short: "waits", value: |drive| Some(seconds(drive.waited_s)) },
    Column {
        heading: BAND,
        short: BAND,
        value: |drive| Some(drive.band_words().replace(" to ", "–")),
    },
    Column { heading: "tier", short: "tier", value: |drive| Some(drive.tier.to_string()) },
    Column { heading: "p99", short: "p99", value: |drive| Some(time(drive.p99_us)) },
    Column {
        heading: "rank by p99",
        short: "by p99",
        value: |drive| Some(drive.rank_p99.to_string()),
    },
];

/// What that is in a year, and what it costs.
const COSTS: [Column; 6] = [
    Column { heading: "hours a year saved", short: "h/year", value: |drive| drive.hours_words() },
    Column {
        heading: "write amplification",
        short: "WA",
        value: |drive| drive.write_amplification.map(three_digits),
    },
    Column { heading: "years of flash", short: "years", value: |drive| drive.years.map(years) },
    Column { heading: "Wh", short: "Wh", value: |drive| drive.energy_wh.map(three_digits) },
    Column {
        heading: "price",
        short: "price",
        value: |drive| drive.price.map(|price| format!("{price:.2}")),
    },
    Column {
        heading: "price x seconds",
        short: "price x s",
        value: |drive| drive.price_per_performance.map(three_digits),
    },
];

/// Those of some columns in which any of the drives has something.
fn known(choice: &Choice, columns: &'static [Column]) -> Vec<&'static Column> {
    let is_known = |column: &&Column| choice.ranking.iter().any(|it| (column.value)(it).is_some());
    columns.iter().filter(is_known).collect()
}

impl Column {
    fn of(&self, drive: &RankedDrive) -> String {
        (self.value)(drive).unwrap_or_else(|| NO_VALUE.into())
    }
}

fn seconds(seconds: f64) -> String {
    time(seconds * 1e6)
}

/// A number of years; beyond a century the digits say nothing.
fn years(years: f64) -> String {
    if years > 100.0 { "over 100".into() } else { three_digits(years) }
}

#[cfg(test)]
pub(super) mod tests {
    use fourcorners_record::{CHOICE_SCHEMA, ChosenWork, LeftOut};

    use super::*;

    pub(in crate::choice) fn drive(
        name: &str,
        rank: usize,
        tier: usize,
        waited_s: f64,
    ) -> RankedDrive {
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

    pub(in crate::choice) fn choice(ranking: Vec<RankedDrive>) -> Choice {
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
    fn only_columns_with_a_value_are_shown_and_units_are_shared() {
        let mut one = drive("a", 1, 1, 0.5);
        let heads = |choice: &Choice| -> Vec<&str> {
            known(choice, &COSTS).iter().map(|column| column.heading).collect()
        };
        let without = choice(vec![one.clone()]);
        assert_eq!(heads(&without), [""; 0]);
        assert_eq!(known(&without, &TIMES).len(), TIMES.len());
        one.years = Some(1234.0);
        let with = choice(vec![drive("b", 1, 1, 0.4), one.clone()]);
        assert_eq!(heads(&with), ["years of flash"]);
        let last = known(&with, &COSTS)[0];
        assert_eq!((last.of(&one), last.of(&with.ranking[0])), ("over 100".into(), "–".into()));
    }
}
