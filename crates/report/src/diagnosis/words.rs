//! A finding in words: what it is about, its value, its interval, how sure it is, and what repeats it.

use fourcorners_record::diagnosis::{Diagnosis, Finding, Standing, Value};
use fourcorners_words::{shell_word, three_digits};

/// Of a property that is not known.
pub(super) const NOT_KNOWN: &str = "not known";
/// The detector whose finding decides whether others are looked for.
const KIND: &str = "kind";

/// What a key is about, without its unit, which stands at the value.
pub fn property_words(key: &str) -> String {
    const UNITS: [&str; 6] = ["_bytes", "_kib", "_mib", "_gib", "_percent", "_us"];
    let about = UNITS.iter().find_map(|unit| key.strip_suffix(unit)).unwrap_or(key);
    let words = about.replace('_', " ");
    let abbreviated = ["slc", "trim"].iter().find_map(|it| Some((it, words.strip_prefix(it)?)));
    abbreviated.map_or(words.clone(), |(it, rest)| format!("{}{rest}", it.to_uppercase()))
}

/// The value of a finding, and its interval where that is more than the value.
pub fn finding_words(finding: &Finding) -> (String, String) {
    let value = value_words(finding).unwrap_or_else(|| "undetermined".into());
    let interval = match finding.interval {
        Some([low, high]) if low < high => format!("{} to {}", short(low), short(high)),
        _ => String::new(),
    };
    (value, interval)
}

/// The value, if anything is known.
pub(super) fn value_words(finding: &Finding) -> Option<String> {
    let unit = finding.unit.as_deref().map(|unit| format!(" {unit}")).unwrap_or_default();
    match (finding.value.as_ref()?, finding.standing) {
        (_, Standing::Undetermined) => None,
        (Value::Class(class), _) => Some(class.clone()),
        // Rounded up, it would be more than was found.
        (Value::Number(value), Standing::Bound) => {
            Some(format!("at least {}{unit}", short(rounded_down(*value))))
        }
        (Value::Number(value), Standing::Determined) => Some(format!("{}{unit}", short(*value))),
    }
}

/// The interval with its probability; nothing of a class, a bound or what is not known.
pub(super) fn interval_words(finding: &Finding) -> String {
    let Some([low, high]) = finding.interval.filter(|_| finding.standing == Standing::Determined)
    else {
        return String::new();
    };
    let level = finding.level.map(|level| format!(" ({} %)", short(level * 100.0)));
    let level = level.unwrap_or_default();
    match low < high {
        true => format!("{} to {}{level}", short(low), short(high)),
        false => format!("exactly{level}"),
    }
}

/// How sure it is.
pub(super) fn standing_words(standing: Standing) -> &'static str {
    match standing {
        Standing::Determined => "determined",
        Standing::Bound => "a bound",
        Standing::Undetermined => NOT_KNOWN,
    }
}

/// A number without places that say nothing.
pub(super) fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 1e15 => format!("{value:.2e}"),
        size if value.fract() == 0.0 || size >= 100.0 => format!("{value:.0}"),
        _ => format!("{value:.2}"),
    }
}

/// What something cost: thousandths at most.
pub(super) fn amount(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        little if little < 0.0005 => "< 0.001".into(),
        small if small < 0.1 => format!("{small:.3}"),
        _ => three_digits(value),
    }
}

/// The largest number with as many places as are shown that is no larger.
fn rounded_down(value: f64) -> f64 {
    if value >= 100.0 { value.floor() } else { (value * 100.0).floor() / 100.0 }
}

/// The command that repeats a detector: the kind is looked for first where it was, because what is no SSD has no flash.
pub(super) fn repeated_by(diagnosis: &Diagnosis, detector: &str) -> String {
    let knows_kind = diagnosis.evidence.iter().any(|it| it.detector == KIND);
    let only = match knows_kind && detector != KIND {
        true => format!("{KIND},{detector}"),
        false => detector.to_string(),
    };
    let seed = match diagnosis.seed {
        1 => String::new(),
        seed => format!(" --seed {seed}"),
    };
    format!(
        "fourcorners diagnose {} --only {}{seed}",
        shell_word(&diagnosis.target),
        shell_word(&only)
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::{diagnosis, evidence};
    use super::*;

    #[test]
    fn a_bound_says_so_and_what_is_not_known_has_no_value() {
        let number = Finding::number("write_buffer_kib", 496.0, "KiB", [496.0, 512.0]);
        assert_eq!(finding_words(&number), ("496 KiB".into(), "496 to 512".into()));
        assert_eq!(interval_words(&number), "496 to 512 (95 %)");
        let page = Finding::number("page_bytes", 8192.0, "bytes", [8192.0, 8192.0]);
        assert_eq!(interval_words(&page), "exactly (95 %)");
        let bound = Finding::at_least("map_reach_gib", 0.519, "GiB", "");
        assert_eq!(finding_words(&bound), ("at least 0.51 GiB".into(), String::new()));
        // A value that is left in what is not known is not said.
        let left = Finding { standing: Standing::Undetermined, ..number };
        assert_eq!((value_words(&left), interval_words(&left)), (None, String::new()));
        let words =
            ["write_buffer_kib", "slc_cache_mib", "trim_holds_up_reads"].map(property_words);
        assert_eq!(words, ["write buffer", "SLC cache", "TRIM holds up reads"]);
        assert_eq!([0.0, 0.0001, 0.0123, 250.0].map(amount), ["0", "< 0.001", "0.012", "250"]);
    }

    #[test]
    fn a_command_repeats_a_finding_with_its_kind_and_seed() {
        let mut it = diagnosis(Vec::new());
        assert_eq!(repeated_by(&it, "row"), "fourcorners diagnose a-drive --only row");
        it.evidence.push(evidence("kind", Vec::new()));
        (it.seed, it.target) = (7, "my drive".into());
        let repeated = "fourcorners diagnose 'my drive' --only kind,row --seed 7";
        assert_eq!(repeated_by(&it, "row"), repeated);
        assert!(repeated_by(&it, "kind").contains("--only kind "));
    }
}
