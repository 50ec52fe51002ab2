//! A reader of OpenMetrics 1.0 that takes nothing on trust: it stops at what the specification forbids.

use std::collections::{BTreeMap, BTreeSet};

/// Samples by name and sorted labels, as they are written: `a_total{b="c"}`.
pub(crate) type Samples = BTreeMap<String, f64>;

/// What a family said of itself.
#[derive(Default)]
struct Family {
    name: String,
    kind: String,
    unit: Option<String>,
    has_help: bool,
    /// Each sample: what is behind the family's name, labels, value.
    samples: Vec<(String, BTreeMap<String, String>, f64)>,
}

/// Reads a text.
///
/// # Errors
/// The first line that is wrong, and why.
pub(crate) fn read(text: &str) -> Result<Samples, String> {
    let body = text.strip_suffix("# EOF\n").ok_or("it does not end with # EOF")?;
    let mut families: Vec<Family> = Vec::new();
    for line in body.lines() {
        let wrong = |why: &str| format!("{why}: {line}");
        if let Some(rest) = line.strip_prefix("# ") {
            let mut words = rest.splitn(3, ' ');
            let what = words.next().unwrap_or_default();
            let name = words.next().ok_or_else(|| wrong("no name"))?;
            let said = words.next().ok_or_else(|| wrong("nothing is said"))?;
            if families.last().is_none_or(|family| family.name != name) {
                if families.iter().any(|family| family.name == name) {
                    return Err(wrong("a family that ended goes on"));
                }
                families.push(Family { name: name.into(), ..Family::default() });
            }
            let Some(family) = families.last_mut() else { return Err(wrong("no family")) };
            if !family.samples.is_empty() {
                return Err(wrong("what a family is comes before its samples"));
            }
            match what {
                "TYPE" if family.kind.is_empty() => family.kind = said.into(),
                "UNIT" if family.unit.is_none() => family.unit = Some(said.into()),
                "HELP" if !family.has_help => family.has_help = unescaped(said).is_some(),
                _ => return Err(wrong("said twice, or not known")),
            }
            continue;
        }
        let Some(family) = families.last_mut() else { return Err(wrong("no family")) };
        let sample = sample(line, &family.name).map_err(|why| wrong(&why))?;
        family.samples.push(sample);
    }
    let mut samples = Samples::new();
    for family in &families {
        check(family).map_err(|why| format!("{}: {why}", family.name))?;
        for (suffix, labels, value) in &family.samples {
            let labels: Vec<String> =
                labels.iter().map(|(label, of)| format!("{label}={of:?}")).collect();
            let braces =
                if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
            let key = format!("{}{suffix}{braces}", family.name);
            if samples.insert(key.clone(), *value).is_some() {
                return Err(format!("{key} is there twice"));
            }
        }
    }
    Ok(samples)
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A text between quotes; `None` if a quote or a backslash stands alone.
fn unescaped(text: &str) -> Option<String> {
    let (mut out, mut chars) = (String::new(), text.chars());
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.push(match chars.next()? {
                '\\' => '\\',
                'n' => '\n',
                '"' => '"',
                _ => return None,
            }),
            '"' | '\n' => return None,
            c => out.push(c),
        }
    }
    Some(out)
}

fn sample(line: &str, family: &str) -> Result<(String, BTreeMap<String, String>, f64), String> {
    let rest = line.strip_prefix(family).ok_or("it is of no family that is open")?;
    let at = rest.find(['{', ' ']).ok_or("no value")?;
    let (suffix, mut rest) = rest.split_at(at);
    let mut labels = BTreeMap::new();
    if let Some(inner) = rest.strip_prefix('{') {
        rest = inner;
        loop {
            let (label, after) = rest.split_once("=\"").ok_or("no label")?;
            let mut escaped = false;
            let end = after.find(|c: char| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            let end = end.ok_or("a quote is open")?;
            let value = unescaped(&after[..end]).ok_or("a value is not escaped")?;
            if !is_name(label) || labels.insert(label.to_string(), value).is_some() {
                return Err(format!("label {label:?}"));
            }
            rest = &after[end + 1..];
            match rest.strip_prefix(',') {
                Some(more) => rest = more,
                None => break,
            }
        }
        rest = rest.strip_prefix('}').ok_or("no end of the labels")?;
    }
    let value = rest.strip_prefix(' ').ok_or("no value")?;
    if value.is_empty() || value.contains(' ') {
        return Err("a value, and nothing behind it".into());
    }
    Ok((suffix.into(), labels, value.parse().map_err(|_| format!("value {value:?}"))?))
}

/// The rules of a kind.
fn check(family: &Family) -> Result<(), String> {
    if !is_name(&family.name) || !family.has_help || family.samples.is_empty() {
        return Err("no name, no help or no samples".into());
    }
    if let Some(unit) = &family.unit
        && !family.name.ends_with(&format!("_{unit}"))
    {
        return Err(format!("its name does not end with its unit {unit}"));
    }
    let allowed: &[&str] = match family.kind.as_str() {
        "counter" => &["_total"],
        "gauge" | "stateset" => &[""],
        "info" => &["_info"],
        "histogram" => &["_bucket", "_count", "_sum"],
        other => return Err(format!("kind {other:?}")),
    };
    for (suffix, labels, value) in &family.samples {
        let fits = match family.kind.as_str() {
            "counter" => *value >= 0.0,
            "info" => *value == 1.0,
            "stateset" => [0.0, 1.0].contains(value) && labels.contains_key(&family.name),
            "histogram" => *value >= 0.0 && labels.contains_key("le") == (suffix == "_bucket"),
            _ => !value.is_nan(),
        };
        if !fits || !allowed.contains(&suffix.as_str()) {
            return Err(format!("{suffix} {labels:?} {value}"));
        }
    }
    if family.kind == "histogram" { check_buckets(family) } else { Ok(()) }
}

/// Bounds ascend, so do counts, and the last is that of all.
fn check_buckets(family: &Family) -> Result<(), String> {
    let without = |labels: &BTreeMap<String, String>| {
        let mut labels = labels.clone();
        labels.remove("le");
        labels
    };
    let series: BTreeSet<_> = family.samples.iter().map(|(_, labels, _)| without(labels)).collect();
    for labels in series {
        let (wanted, samples) = (&labels, &family.samples);
        let of = |name: &str| -> Vec<&(String, BTreeMap<String, String>, f64)> {
            samples
                .iter()
                .filter(|(suffix, of, _)| suffix == name && without(of) == *wanted)
                .collect()
        };
        let buckets: Option<Vec<(f64, f64)>> = of("_bucket")
            .iter()
            .map(|(_, of, count)| Some((of["le"].parse().ok()?, *count)))
            .collect();
        let buckets = buckets.ok_or("a bound is no number")?;
        let ascends = buckets.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 <= two[1].1);
        let (count, sum) = (of("_count"), of("_sum"));
        let last = buckets.last().copied().unwrap_or_default();
        if !ascends || count.len() != 1 || sum.len() != 1 || last != (f64::INFINITY, count[0].2) {
            return Err("its buckets are no histogram".into());
        }
    }
    Ok(())
}

#[test]
fn what_the_specification_forbids_is_found() {
    let head = "# TYPE a counter\n# HELP a x\n";
    let good = format!("{head}a_total{{b=\"c\\\\ \\\"\\n\"}} 1\n# EOF\n");
    assert_eq!(read(&good).expect("it is right").len(), 1);
    let histogram = "# TYPE h histogram\n# HELP h x\nh_bucket{le=\"1\"} 1\nh_bucket{le=\"+Inf\"} 2\nh_count 2\nh_sum 3\n# EOF\n";
    assert_eq!(read(histogram).expect("it is right").len(), 4);
    for wrong in [
        &good.replace("# EOF\n", ""),
        &good.replace("a_total", "a"),
        &good.replace("a_total", "b_total"),
        &good.replace("} 1", "} -1"),
        &good.replace("} 1", "} one"),
        &good.replace("} 1", "}  1"),
        &good.replace("\\\"", "\""),
        &good.replace("counter", "counters"),
        &good.replace("# HELP a x\n", "# HELP a x\n# UNIT a bytes\n"),
        &good.replace("# HELP a x\n", ""),
        &good.replace("# EOF", "a_total{b=\"c\\\\ \\\"\\n\"} 1\n# EOF"),
        &good.replace("# EOF", "# TYPE c gauge\n# HELP c x\nc 1\n# TYPE a counter\n# EOF"),
        &histogram.replace("h_count 2", "h_count 3"),
        &histogram.replace("le=\"1\"} 1", "le=\"1\"} 3"),
        &histogram.replace("le=\"1\"", "le=\"x\""),
        &histogram.replace("h_sum 3\n", ""),
    ] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}
