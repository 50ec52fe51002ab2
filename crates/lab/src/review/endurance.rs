//! How long the flash lasts: write amplification as measured, the days and drive writes a day that
//! follow from it, and how long data stays on flash that is worn out, by temperature.
//!
//! Days = user capacity x P/E cycles / (host GB a day x write amplification). Retention follows
//! Arrhenius' law with an activation energy of 1.1 eV from JEDEC's client requirement (JESD218: 52
//! weeks at 30 degrees C, powered off, after the last rated cycle); the readers' rule of thumb, half
//! for every 9 degrees, stands beside it.

use fourcorners_record::note::{finished, note};
use fourcorners_record::{Curve, Record, Until};
use fourcorners_words::{count, three_digits};

use super::{Medium, Phase, Scope};

pub(super) const METHOD: &str = "endurance";

const RANDOM: &str = "random_write_4k_qd32_incompressible_used";
const ORDERED: &str = "sequential_write_128k_qd32_incompressible";
const SECONDS: u64 = 300;
const QUICK_SECONDS: u64 = 5;

/// What a profile that does not say is taken for: MLC flash of 25 nm (its makers' figure).
const ASSUMED_CYCLES: u32 = 3000;
/// What a client drive's host writes a day (JESD219's client workload is of this order).
const HOST_GB_A_DAY: f64 = 20.0;
/// Years of a client drive's warranty, for drive writes a day.
const YEARS: f64 = 5.0;

const ACTIVATION_EV: f64 = 1.1;
const BOLTZMANN_EV_PER_K: f64 = 8.617_333e-5;
const RATED_DAYS: f64 = 52.0 * 7.0;
const RATED_CELSIUS: f64 = 30.0;

pub(super) fn plan(scope: &Scope) -> Vec<Phase> {
    if scope.medium != Medium::Ssd {
        return vec![Phase::LeftOut {
            why:
                "Endurance was left out: what is written to the flash of this target is not known."
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
    let (Some(random), Some(ordered)) = (amplification(RANDOM), amplification(ORDERED)) else {
        return;
    };
    let (cycles, whose) = match record.target.rated_cycles {
        Some(cycles) => (cycles, "rated"),
        None => (ASSUMED_CYCLES, "assumed"),
    };
    let capacity_gb = record.target.capacity_bytes as f64 / 1e9;
    let host_gb = |amplification: f64| capacity_gb * f64::from(cycles) / amplification;
    let days = |amplification: f64| host_gb(amplification) / HOST_GB_A_DAY;
    let a_day = |amplification: f64| host_gb(amplification) / capacity_gb / (YEARS * 365.25);
    let text = format!(
        "With {HOST_GB_A_DAY:.0} GB a day and {} {whose} cycles it lasts {} days ({} years) written at \
         random, at a measured write amplification of {}, and {} days in order, at {}.",
        count(f64::from(cycles)),
        count(days(random)),
        three_digits(days(random) / 365.25),
        three_digits(random),
        count(days(ordered)),
        three_digits(ordered),
    );
    let writes = format!(
        "For {YEARS:.0} years it bears {} drive writes a day at random and {} in order.",
        three_digits(a_day(random)),
        three_digits(a_day(ordered)),
    );
    let hot = 40.0;
    let retention = format!(
        "Worn out and without power it keeps data for {} days at {RATED_CELSIUS:.0} °C as required \
         (JESD218), {} at {hot:.0} °C by Arrhenius' law (Ea {ACTIVATION_EV} eV) and {} by the rule of \
         half for every 9 °C.",
        count(RATED_DAYS),
        count(arrhenius_days(hot)),
        count(nine_degrees_days(hot)),
    );
    record.notes.push(note("endurance", text, days(random)));
    record.notes.push(note("drive-writes", writes, a_day(random)));
    record.notes.push(note("retention", retention, arrhenius_days(hot)));
    let curve = |days: fn(f64) -> f64| Curve {
        x: "°C, without power".into(),
        y: "days that data is kept".into(),
        points: (20..=60).step_by(5).map(|c| (f64::from(c), days(f64::from(c)))).collect(),
    };
    record.curves.insert("retention_by_arrhenius".into(), curve(arrhenius_days));
    record.curves.insert("retention_by_nine_degrees".into(), curve(nine_degrees_days));
}

/// k T: a reaction of energy Ea goes as exp(-Ea / kT), so time goes with the inverse.
fn arrhenius_days(celsius: f64) -> f64 {
    let inverse = |celsius: f64| 1.0 / (BOLTZMANN_EV_PER_K * (celsius + 273.15));
    RATED_DAYS * (ACTIVATION_EV * (inverse(celsius) - inverse(RATED_CELSIUS))).exp()
}

fn nine_degrees_days(celsius: f64) -> f64 {
    RATED_DAYS * 0.5_f64.powf((celsius - RATED_CELSIUS) / 9.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retention_follows_its_laws() {
        assert!((arrhenius_days(30.0) - 364.0).abs() < 1e-9);
        assert!((nine_degrees_days(39.0) - 182.0).abs() < 1e-9);
        // 1.1 eV between 30 and 55 degrees is a factor of 24.7: exp(1.1 / k (1/303.15 - 1/328.15)).
        let factor = arrhenius_days(30.0) / arrhenius_days(55.0);
        assert!((factor / 24.7 - 1.0).abs() < 0.01, "{factor}");
    }
}
