//! How long the flash lasts: write amplification as measured, the days and drive writes a day that
//! follow from it, and how long data stays on flash that is worn out, by temperature.
//!
//! Days = user capacity x P/E cycles / (host GB a day x write amplification). Cycles, what the maker
//! promises and how long data is kept are the profile's, each with its source (`[flash]`); where it says nothing,
//! nothing is said here either. From the temperature that a retention is rated at, Arrhenius' law with its
//! activation energy leads to others; the readers' rule of thumb, half for every 9 degrees, stands beside it.

use fourcorners_record::note::{finished, note};
use fourcorners_record::{Curve, Note, Record, Retention, Until};
use fourcorners_words::{count, three_digits};

use super::{Medium, Phase, Scope};

pub(super) const METHOD: &str = "endurance";

const RANDOM: &str = "random_write_4k_qd32_incompressible_used";
const ORDERED: &str = "sequential_write_128k_qd32_incompressible";
const SECONDS: u64 = 300;
const QUICK_SECONDS: u64 = 5;

/// What a client drive's host writes a day (JESD219's client workload is of this order).
const HOST_GB_A_DAY: f64 = 20.0;
/// Years of a client drive's warranty, for drive writes a day.
const YEARS: f64 = 5.0;

const BOLTZMANN_EV_PER_K: f64 = 8.617_333e-5;
const KELVIN: f64 = 273.15;
/// A warm room without air conditioning.
const WARM_CELSIUS: f64 = 40.0;

pub(super) fn plan(scope: &Scope) -> Vec<Phase> {
    if let Some(left_out) = scope.without_flash("Endurance") {
        return vec![left_out];
    }
    if scope.medium != Medium::Ssd {
        return vec![Phase::LeftOut {
            why:
                "Endurance was left out: how much is written to the flash of this target is not known."
                    .into(),
        }];
    }
    let whole = scope.whole();
    let seconds = scope.either(SECONDS, QUICK_SECONDS);
    vec![
        Phase::Purge,
        scope.fill("filled", whole),
        scope.measure(ORDERED, scope.sequential(0, 32, whole, Until::Seconds(seconds))),
        Phase::Purge,
        scope.fill("filled", whole),
        scope.torture(whole),
        scope.measure(RANDOM, scope.random(0, 32, whole, seconds)),
    ]
}

pub(super) fn conclude(record: &mut Record) {
    let amplification =
        |name: &str| finished(record, name).and_then(|figure| figure.write_amplification);
    if let (Some(random), Some(ordered)) = (amplification(RANDOM), amplification(ORDERED)) {
        let flash = record.target.flash.as_ref();
        let capacity_gb = record.target.capacity_bytes as f64 / 1e9;
        let retention = flash.and_then(|flash| flash.retention);
        let mut said = match (&record.target.drives[..], record.target.rated_cycles) {
            ([], Some(_)) if record.quick => vec![undetermined(OF_SECONDS, random, ordered)],
            ([], cycles) => lifetime(capacity_gb, cycles, random, ordered),
            (members, _) => vec![of_members(members.len(), random, ordered)],
        };
        if record.target.drives.is_empty() {
            said.extend(promised(capacity_gb, flash.and_then(|flash| flash.rated_tb)));
            said.push(kept(retention, flash.map(|flash| flash.cells.as_str())));
        }
        record.notes.extend(said);
        if let Some(retention) = retention {
            let curve = |days: fn(Retention, f64) -> f64| Curve {
                x: "°C, without power".into(),
                y: "days that data is kept".into(),
                points: (20..=60)
                    .step_by(5)
                    .map(|c| (f64::from(c), days(retention, f64::from(c))))
                    .collect(),
            };
            record.curves.insert("retention_by_arrhenius".into(), curve(arrhenius_days));
            record.curves.insert("retention_by_nine_degrees".into(), curve(nine_degrees_days));
        }
    }
}

/// What a quick review leaves open.
const OF_SECONDS: &str = "How long the flash lasts is undetermined: a quick review writes too little to bring a drive into its used state, and \
     it is there that writes cost the flash most. The write amplification so far";

/// What is not known, which ends with whose write amplification follows.
fn undetermined(why: &str, random: f64, ordered: f64) -> Note {
    let text = format!(
        "{why} is {} for random and {} for sequential writes.",
        three_digits(random),
        three_digits(ordered),
    );
    Note { about: "endurance".into(), text, value: None }
}

/// Why an array has no lifetime of its own.
fn of_members(members: usize, random: f64, ordered: f64) -> Note {
    let why = format!(
        "How long the flash lasts, and how long it keeps data, is undetermined: each of the {members} drives has a lifetime \
         of its own, which a review of that drive tells. The write amplification of all together"
    );
    undetermined(&why, random, ordered)
}

/// How long it lasts at these write amplifications.
fn lifetime(capacity_gb: f64, cycles: Option<u32>, random: f64, ordered: f64) -> Vec<Note> {
    let Some(cycles) = cycles else {
        let why = "How long the flash lasts is undetermined: no source gives its rated cycles (set them by --set \
             flash.rated_cycles=...). The measured write amplification";
        return vec![undetermined(why, random, ordered)];
    };
    let host_gb = |amplification: f64| capacity_gb * f64::from(cycles) / amplification;
    let days = |amplification: f64| host_gb(amplification) / HOST_GB_A_DAY;
    let a_day = |amplification: f64| host_gb(amplification) / capacity_gb / (YEARS * 365.25);
    let text = format!(
        "At {HOST_GB_A_DAY:.0} GB a day and {} rated cycles, the flash lasts {} days ({} years) under random \
         writes, at a measured write amplification of {}, and {} days under sequential writes, at {}.",
        count(f64::from(cycles)),
        count(days(random)),
        three_digits(days(random) / 365.25),
        three_digits(random),
        count(days(ordered)),
        three_digits(ordered),
    );
    let writes = format!(
        "Over {YEARS:.0} years, the flash allows {} random or {} sequential drive writes a day.",
        three_digits(a_day(random)),
        three_digits(a_day(ordered)),
    );
    vec![note("endurance", text, days(random)), note("drive-writes", writes, a_day(random))]
}

/// What its maker promises.
fn promised(capacity_gb: f64, rated_tb: Option<f64>) -> Option<Note> {
    let rated_tb = rated_tb?;
    let years = rated_tb * 1000.0 / HOST_GB_A_DAY / 365.25;
    let text = format!(
        "The maker rates it for {} TB of host writes: {} years at {HOST_GB_A_DAY:.0} GB a day, or {} drive \
         writes a day for {YEARS:.0} years.",
        count(rated_tb),
        three_digits(years),
        three_digits(rated_tb * 1000.0 / capacity_gb / (YEARS * 365.25)),
    );
    Some(note("rated-writes", text, rated_tb))
}

/// How long it keeps data.
fn kept(retention: Option<Retention>, cells: Option<&str>) -> Note {
    let Some(retention) = retention else {
        let what =
            cells.map_or_else(|| "the flash".to_string(), |cells| format!("the {cells} flash"));
        let text = format!(
            "How long {what} keeps data without power is undetermined: no source says (set it by --set \
             flash.retention_days=..., flash.retention_celsius=... and flash.activation_ev=...)."
        );
        return Note { about: "retention".into(), text, value: None };
    };
    let text = format!(
        "Worn out and without power, the flash keeps data for {} days at {:.0} °C as rated; at \
         {WARM_CELSIUS:.0} °C, for {} days by Arrhenius' law (Ea {} eV), or {} days if every 9 °C halve the time.",
        count(retention.days),
        retention.celsius,
        count(arrhenius_days(retention, WARM_CELSIUS)),
        retention.activation_ev,
        count(nine_degrees_days(retention, WARM_CELSIUS)),
    );
    note("retention", text, arrhenius_days(retention, WARM_CELSIUS))
}

/// k T: a reaction of energy Ea goes as exp(-Ea / kT), so time goes with the inverse.
fn arrhenius_days(rated: Retention, celsius: f64) -> f64 {
    let inverse = |celsius: f64| 1.0 / (BOLTZMANN_EV_PER_K * (celsius + KELVIN));
    rated.days * (rated.activation_ev * (inverse(celsius) - inverse(rated.celsius))).exp()
}

fn nine_degrees_days(rated: Retention, celsius: f64) -> f64 {
    rated.days * 0.5_f64.powf((celsius - rated.celsius) / 9.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// JESD218's requirement of client drives.
    const CLIENT: Retention = Retention { days: 364.0, celsius: 30.0, activation_ev: 1.1 };

    #[test]
    fn retention_follows_its_laws() {
        assert!((arrhenius_days(CLIENT, 30.0) - 364.0).abs() < 1e-9);
        assert!((nine_degrees_days(CLIENT, 39.0) - 182.0).abs() < 1e-9);
        // 1.1 eV between 30 and 55 degrees is a factor of 24.7: exp(1.1 / k (1/303.15 - 1/328.15)).
        let factor = arrhenius_days(CLIENT, 30.0) / arrhenius_days(CLIENT, 55.0);
        assert!((factor / 24.7 - 1.0).abs() < 0.01, "{factor}");
        let indifferent = Retention { activation_ev: 0.0, ..CLIENT };
        assert_eq!(arrhenius_days(indifferent, 55.0), 364.0);
    }

    #[test]
    fn what_no_source_says_is_undetermined_and_what_one_says_is_worked_out() {
        let known = lifetime(80.0, Some(3000), 2.0, 1.0);
        // 80 GB x 3000 / 2 / 20 GB a day.
        assert_eq!(known[0].value, Some(6000.0));
        let unknown = lifetime(80.0, None, 2.0, 1.0);
        assert!(unknown[0].value.is_none() && unknown[0].text.contains("undetermined"));
        assert!(kept(None, None).value.is_none());
        assert!(kept(Some(CLIENT), None).value.is_some());
        assert!(promised(80.0, None).is_none());
        // 73.05 TB in 3652.5 days of 20 GB.
        let promised = promised(80.0, Some(73.05)).expect("it is known");
        assert!(promised.text.contains("10.0 years"), "{}", promised.text);
    }
}
