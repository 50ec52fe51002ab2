//! What is inside a drive as one HTML page: a picture, a row for each finding, and the samples as charts.

use fourcorners_record::diagnosis::{Diagnosis, Evidence, Finding, Standing};
use fourcorners_words::capitalised;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::super::chart::{Chart, legend};
use super::super::page::{PART_SCRIPT, POLICY, SCRIPT, head, in_order, made_by};
use super::super::provenance::unbroken;
use super::super::words::NO_VALUE;
use super::parts::Parts;
use super::picture::{self, picture};
use super::signals::charts;
use super::words::{
    NOT_KNOWN, amount, interval_words, property_words, repeated_by, standing_words, value_words,
};

const DIAGNOSIS_STYLE: &str = include_str!("page.css");

/// A detector's samples, and what is drawn of them.
type Signal<'a> = (&'a Evidence, Vec<Chart>);

/// The page of a diagnosis. Text from the document is escaped wherever it stands.
pub fn diagnosis_page(diagnosis: &Diagnosis) -> String {
    let title = format!("What is inside {}", diagnosis.target);
    let all = diagnosis.evidence.iter().map(|it| (it, charts(diagnosis, it)));
    let drawn: Vec<Signal> = all.filter(|(_, charts)| !charts.is_empty()).collect();
    in_order(html! {
        (DOCTYPE)
        html lang="en" {
            (head(&format!("{title} – drive diagnosis"), POLICY, DIAGNOSIS_STYLE))
            body {
                a.skip href="#content" { "Skip to the picture" }
                header.masthead {
                    p.kicker { "fourcorners" span { " drive diagnosis" } }
                    h1 { (title) }
                    p.lede { (summary(diagnosis)) }
                }
                main #content tabindex="-1" {
                    section aria-labelledby="picture-heading" {
                        h2 #picture-heading { "What the times tell" }
                        p {
                            "Drawn from findings alone, and not to scale: only the share that the map reaches, the number of dies (64 \
                             at most) and that of pages in a row are as found."
                        }
                        (picture(&Parts::of(diagnosis)))
                        (picture::legend())
                    }
                    (findings(diagnosis, &drawn))
                    (signals(diagnosis, &drawn))
                    (trust())
                }
                footer { p { (made_by()) } }
                script { (PreEscaped(PART_SCRIPT)) (PreEscaped(SCRIPT)) }
            }
        }
    })
}

/// How much is known, and what that cost.
fn summary(diagnosis: &Diagnosis) -> String {
    let of = |standing| diagnosis.findings.iter().filter(|it| it.standing == standing).count();
    let cost = diagnosis.cost();
    let region =
        if diagnosis.has_a_region() { "; before them a region was written in order" } else { "" };
    format!(
        "Properties: {} determined, {} with a bound, {} not known. The detectors wrote {} GB and read {} GB in {} min of \
         the drive's time{region}.",
        of(Standing::Determined),
        of(Standing::Bound),
        of(Standing::Undetermined),
        amount(cost.gb),
        amount(cost.read_gb),
        amount(cost.minutes),
    )
}

fn findings(diagnosis: &Diagnosis, drawn: &[Signal]) -> Markup {
    html! {
        section aria-labelledby="findings-heading" {
            h2 #findings-heading { "All findings" }
            p.about {
                "Below each finding are the reason for it, or why there is none, and the command that repeats it. A property leads to its \
                 signal. Findings of one detector share its cost. Add the options that were given, such as "
                code { "--set" } ". A real drive needs " code { "--destroy" } ", which overwrites what is on it, and more than \
                 a twentieth of its size " code { "--budget" } "."
            }
            @if diagnosis.findings.is_empty() { p.empty { "This diagnosis has no findings." } }
            @else {
                div.wide.found tabindex="0" role="region" aria-label="All findings" { table {
                    thead { tr {
                        th scope="col" { "Property" }
                        th.text scope="col" { "Found" }
                        th.text scope="col" { "Interval" }
                        th.text scope="col" { "How sure" }
                        th scope="col" { "GB written" }
                        th scope="col" { "GB read" }
                        th scope="col" { "Minutes" }
                    } }
                    tbody { @for finding in &diagnosis.findings { (row(diagnosis, finding, drawn)) } }
                } }
            }
        }
    }
}

fn row(diagnosis: &Diagnosis, finding: &Finding, drawn: &[Signal]) -> Markup {
    let signal = drawn.iter().position(|(evidence, _)| evidence.detector == finding.evidence);
    let property = capitalised(&property_words(&finding.key));
    let interval = interval_words(finding);
    html! {
        tr.unknown[finding.standing == Standing::Undetermined] {
            th scope="row" {
                @match signal {
                    Some(at) => a href=(format!("#signal-{at}")) { (property) },
                    None => (property),
                }
            }
            td.text { (value_words(finding).unwrap_or_else(|| NOT_KNOWN.into())) }
            td.text.interval { (if interval.is_empty() { NO_VALUE } else { &interval }) }
            td.text { (standing_words(finding.standing)) }
            td { (amount(finding.cost.gb)) }
            td { (amount(finding.cost.read_gb)) }
            td { (amount(finding.cost.minutes)) }
        }
        tr.why { td.text colspan="7" { div {
            p { (finding.reason) }
            @if !finding.evidence.is_empty() { (repeated(diagnosis, finding, &property)) }
        } } }
    }
}

/// The command that repeats a finding.
fn repeated(diagnosis: &Diagnosis, finding: &Finding, property: &str) -> Markup {
    html! {
        div.command {
            pre { code { (unbroken(&repeated_by(diagnosis, &finding.evidence))) } }
            button type="button" hidden {
                span aria-live="polite" { "Copy" }
                span.unseen { " the command that repeats: " (property) }
            }
        }
    }
}

/// A chart for each detector whose samples make one.
fn signals(diagnosis: &Diagnosis, drawn: &[Signal]) -> Markup {
    html! {
        @if !drawn.is_empty() {
            section aria-labelledby="signals-heading" {
                h2 #signals-heading { "The signals" }
                p { "What the detectors measured. The findings were made of these samples and of nothing else." }
                div.grid {
                    @for (at, (evidence, charts)) in drawn.iter().enumerate() {
                        div.signal id=(format!("signal-{at}")) {
                            h3 { (capitalised(&property_words(&evidence.detector.replace('-', "_")))) }
                            @for said in said_of(diagnosis, evidence) { p { (said) } }
                            @for chart in charts {
                                (chart.figure(true)) (legend(std::slice::from_ref(chart)))
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What was concluded from some samples.
fn said_of(diagnosis: &Diagnosis, evidence: &Evidence) -> Vec<String> {
    let of_it = diagnosis.findings.iter().filter(|it| it.evidence == evidence.detector);
    let said = of_it.map(|it| {
        let value = value_words(it).unwrap_or_else(|| NOT_KNOWN.into());
        format!("{}: {value}. {}.", capitalised(&property_words(&it.key)), capitalised(&it.reason))
    });
    said.collect()
}

fn trust() -> Markup {
    html! {
        section aria-labelledby="trust-heading" {
            h2 #trust-heading { "How far to trust it" }
            p {
                "How often the detectors are right was counted on virtual drives that this project's own model draws. That is no \
                 proof for hardware: a real drive may have mechanisms that the model does not have. A finding needs the shape that \
                 its mechanism makes, and says \"not known\" where the times have another."
            }
            p {
                "The counts are in docs/DIAGNOSE.md. A diagnosis of a real drive whose inside is known would tell more, and is \
                 welcome."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{diagnosis, everything, evidence, nothing};
    use super::*;

    #[test]
    fn the_page_escapes_what_it_shows_and_loads_nothing() {
        let mut it = diagnosis(everything());
        it.target = "</title><script>alert(1)</script>".into();
        it.findings[0].reason = "<img src=x>".into();
        it.findings[1].key = "<b>".into();
        it.evidence.push(evidence("<i>", Vec::new()));
        let page = diagnosis_page(&it);
        assert!(page.starts_with("<!DOCTYPE html>") && page.contains(" – drive diagnosis</title>"));
        assert_eq!(page.matches("<script").count(), 1, "its own");
        for spoiled in ["<script>alert", "<img", "<b>", "<i>"] {
            assert!(!page.contains(spoiled), "{spoiled}");
        }
        // The script names the namespace of SVG, and the policy forbids it to load anything.
        let (shown, _) = page.split_once("<script").expect("a script at its end");
        assert!(!shown.contains("http://") && !shown.contains("https://"), "it loads nothing");
        assert!(shown.contains("default-src 'none'"));
    }

    #[test]
    fn every_finding_has_a_row_with_its_standing_and_its_command() {
        let page = diagnosis_page(&diagnosis(everything()));
        assert_eq!(page.matches("<th scope=\"row\"").count(), everything().len());
        assert!(page.contains("496 to 512 (95 %)") && page.contains(">a bound<"));
        assert!(page.contains("Properties: 19 determined, 1 with a bound, 2 not known. "));
        for word in ["fourcorners", "diagnose", "a-drive", "--only", "map-reach"] {
            assert!(page.contains(&format!("<span>{word}</span>")), "{word}");
        }
    }

    #[test]
    fn a_page_of_which_nothing_is_known_is_complete() {
        for findings in [nothing(), Vec::new()] {
            let page = diagnosis_page(&diagnosis(findings.clone()));
            assert!(page.ends_with("</html>") && page.contains("no proof for hardware"));
            assert_eq!(page.matches("<tr class=\"unknown\"").count(), findings.len());
            assert!(
                !page.contains("class=\"known\"><rect class=\"edge\"")
                    && page.contains("SLC cache: not known")
            );
            assert!(!page.contains("signals-heading"), "there are no samples");
        }
    }

    #[test]
    fn samples_are_drawn_with_what_was_concluded_from_them() {
        let mut it = diagnosis(everything());
        let reads = vec![[0.0, 50.0], [1.0, 60.0]];
        it.evidence.push(evidence("read-ahead", vec![reads.clone(), reads]));
        it.evidence.push(evidence("map-reach", Vec::new()));
        let page = diagnosis_page(&it);
        assert_eq!(page.matches("<div class=\"signal\" id=\"signal-0\">").count(), 1);
        // Only what has a signal leads to one.
        assert!(page.contains("<a href=\"#signal-0\">Read ahead</a>"));
        assert_eq!(page.matches("href=\"#signal-").count(), 1);
        assert!(page.contains("Read ahead: yes. The times say so."));
    }
}
