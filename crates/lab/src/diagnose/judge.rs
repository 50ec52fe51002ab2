//! What all evidence of a diagnosis says together: the findings of each detector, without those that another one contradicts.

use super::{Detector, Evidence, Finding, Series, Standing, Value};

/// What the evidence says: nothing else is asked.
pub fn judge(evidence: &[Evidence]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for evidence in evidence {
        let Some(detector) = Detector::named(&evidence.detector) else { continue };
        let undetermined = |why: &str| -> Vec<Finding> {
            let all = detector.keys().iter();
            all.map(|key| Finding::undetermined(key, format!("not measured: {why}"))).collect()
        };
        let of_it = match &evidence.stopped {
            Some(why) => undetermined(why),
            None if !evidence.series.iter().all(Series::can_be) => {
                undetermined("its samples are no places and times")
            }
            None => detector.estimate(&evidence.series),
        };
        let (name, cost) = (&evidence.detector, evidence.cost);
        findings.extend(of_it.into_iter().map(|it| Finding { evidence: name.clone(), cost, ..it }));
    }
    let findings = without_spare_of_trims_that_do_nothing(findings);
    let findings = without_stripes_of_other_rows(findings);
    without_what_is_the_unknown_s(without_what_is_not_an_ssd_s(findings))
}

/// What was measured for a finding, and cost, stays.
fn no_longer_determined(finding: Finding, reason: String) -> Finding {
    Finding {
        evidence: finding.evidence,
        cost: finding.cost,
        ..Finding::undetermined(&finding.key, reason)
    }
}

/// A drive is emptied by a TRIM before what is spare of it is looked for: if TRIMs are found to do nothing, one of the two is
/// wrong.
fn without_spare_of_trims_that_do_nothing(findings: Vec<Finding>) -> Vec<Finding> {
    let does_nothing = |it: &Finding| it.key == "trim" && it.as_class() == Some("does nothing");
    if !findings.iter().any(does_nothing) {
        return findings;
    }
    let without = |finding: Finding| match finding.key == "spare_percent" {
        true if finding.standing != Standing::Undetermined => {
            let reason = format!("{}, but its TRIMs are found to do nothing", finding.reason);
            no_longer_determined(finding, reason)
        }
        _ => finding,
    };
    findings.into_iter().map(without).collect()
}

/// A stripe is a row on each die: if rows are found to be of another size, one of the two is wrong.
fn without_stripes_of_other_rows(findings: Vec<Finding>) -> Vec<Finding> {
    let number = |key: &str| findings.iter().find(|it| it.key == key)?.determined();
    let both = number("row_bytes").zip(number("stripe_bytes").zip(number("dies")));
    let Some((row, (stripe, dies))) = both.filter(|(row, (stripe, dies))| row * dies != *stripe)
    else {
        return findings;
    };
    let reason = format!(
        "rows are found to be of {row:.0} bytes, and those of {dies:.0} dies of {:.0}",
        stripe / dies
    );
    let without = |finding: Finding| match Detector::Dies.keys().contains(&finding.key.as_str()) {
        true => no_longer_determined(finding, reason.clone()),
        false => finding,
    };
    findings.into_iter().map(without).collect()
}

/// Of a device whose kind was looked for and is not known, what is found may be of what lies before it, or of the kernel. A
/// bound says that no less was seen, which is so in any case; and that two reads wait for each other at certain distances and at no
/// others is of no kernel.
fn without_what_is_the_unknown_s(findings: Vec<Finding>) -> Vec<Finding> {
    let unknown = |it: &Finding| it.key == "kind" && it.as_class().is_none();
    if !findings.iter().any(unknown) {
        return findings;
    }
    let may_be_another_s = |finding: &Finding| {
        let is_of_dies = Detector::Dies.keys().contains(&finding.key.as_str());
        finding.standing == Standing::Determined && !is_of_dies
    };
    let without = |finding: Finding| match &finding.value {
        Some(value) if may_be_another_s(&finding) => {
            let value = match value {
                Value::Class(class) => class.clone(),
                Value::Number(number) => {
                    format!("{number} {}", finding.unit.as_deref().unwrap_or(""))
                }
            };
            let reason = format!(
                "{}: {}, but of what kind it is, is not known",
                finding.reason,
                value.trim_end()
            );
            no_longer_determined(finding, reason)
        }
        _ => finding,
    };
    findings.into_iter().map(without).collect()
}

/// What is no SSD has no pages and no cache of flash, whatever its times look like.
fn without_what_is_not_an_ssd_s(findings: Vec<Finding>) -> Vec<Finding> {
    let Some(reason) = findings.iter().find_map(excludes_flash) else { return findings };
    let is_a_disk = findings.iter().any(|it| it.key == "kind" && it.as_class() == Some(DISK));
    let of_flash = |finding: Finding| match finding.key.as_str() {
        "kind" => finding,
        // A hard disk may have these, too.
        "read_ahead" | "write_buffer_kib" if is_a_disk => {
            no_longer_determined(finding, "not looked for once a hard disk is found".into())
        }
        _ => no_longer_determined(finding, reason.clone()),
    };
    findings.into_iter().map(of_flash).collect()
}

/// The class of a kind that has no flash.
const DISK: &str = "disk";

/// If the kind found has no flash, or hides it: why nothing else is looked for.
pub(super) fn excludes_flash(finding: &Finding) -> Option<String> {
    match finding.as_class().filter(|_| finding.key == "kind")? {
        "ssd" => None,
        DISK => Some("a hard disk has no flash".into()),
        other => Some(format!("its kind is {other}: what lies behind is not seen")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(kind: Finding) -> Vec<Finding> {
        let mut reach = Finding::number("map_reach_gib", 3.0, "GiB", [3.0, 3.0]);
        reach.standing = Standing::Bound;
        let page = Finding::number("page_bytes", 4096.0, "bytes", [4096.0, 4096.0]);
        let dies = Finding::number("dies", 16.0, "", [16.0, 16.0]);
        vec![kind, page, Finding::class("read_ahead", "no", ""), dies, reach]
    }

    #[test]
    fn a_disk_is_said_to_lack_flash_and_not_what_it_may_have() {
        let judged = without_what_is_not_an_ssd_s(findings(Finding::class("kind", "disk", "")));
        let reason = |key: &str| {
            let found = judged.iter().find(|it| it.key == key).expect("it is there");
            assert_eq!(found.standing, Standing::Undetermined, "{key}");
            found.reason.as_str()
        };
        assert_eq!(reason("dies"), "a hard disk has no flash");
        assert_eq!(reason("read_ahead"), "not looked for once a hard disk is found");
        let ssd = findings(Finding::class("kind", "ssd", ""));
        assert_eq!(without_what_is_not_an_ssd_s(ssd.clone()), ssd);
    }

    #[test]
    fn of_the_unknown_only_dies_and_bounds_are_said() {
        let known = findings(Finding::class("kind", "ssd", ""));
        assert_eq!(without_what_is_the_unknown_s(known.clone()), known);
        let unknown = findings(Finding::undetermined("kind", "as quick as memory"));
        let left = without_what_is_the_unknown_s(unknown);
        let said = left.iter().filter(|it| it.standing != Standing::Undetermined);
        assert_eq!(said.map(|it| it.key.as_str()).collect::<Vec<_>>(), ["dies", "map_reach_gib"]);
        assert!(left[1].reason.contains("4096 bytes"), "{}", left[1].reason);
    }
}
