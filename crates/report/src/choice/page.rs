//! A choice as one HTML page that opens from a file and asks nothing of a network: the answer, bars of
//! the time waited with their bands, the table, and how it was measured. It needs no script.

use fourcorners_record::{Choice, RankedDrive};
use fourcorners_words::{capitalised, counted};
use maud::{DOCTYPE, Markup, html};

use super::super::page::{head, in_order, made_by};
use super::table::{marked, moved, replay_words, state_words};
use super::{COSTS, TIMES, known, seconds};

/// Nothing but what is in the file may load, and nothing runs.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
    form-action 'none'";

/// What a page of this kind is called after its work.
const KIND: &str = "which drive";

/// A bar of more than this many times the median is cut: a hard disk would make all others a line.
const MOST_MEDIANS: f64 = 4.0;

const CHOICE_STYLE: &str = include_str!("page.css");

/// The page of a choice. Text from the document is escaped wherever it stands.
pub fn choice_page(choice: &Choice) -> String {
    let work = &choice.work;
    in_order(html! {
        (DOCTYPE)
        html lang="en" {
            (head(&format!("{} – {KIND}", work.name), POLICY, CHOICE_STYLE))
            body {
                a.skip href="#content" { "Skip to the ranking" }
                header.masthead {
                    p.kicker { "fourcorners" span { " " (KIND) } }
                    h1 { (work.name) }
                    p.lede {
                        (counted(work.ios, "I/O")) ", " (moved(work.read_gb, "read")) ", "
                        (moved(work.written_gb, "written")) ", on virtual drives: "
                        (state_words(&choice.state)) "."
                    }
                    div.answer { @for said in choice.sentences() { p { (said) } } }
                }
                main #content tabindex="-1" {
                    (bars(choice))
                    (table(choice))
                    (rest(choice))
                    (method(choice))
                }
                footer {
                    p { (made_by()) }
                }
            }
        }
    })
}

/// Time waited, the shortest first.
fn bars(choice: &Choice) -> Markup {
    let scale = scale(&choice.ranking);
    let share = |time: f64| (time / scale).clamp(0.0, 1.0) * 100.0;
    html! {
        section aria-labelledby="bars-heading" {
            h2 #bars-heading { "Time waited for the drive" }
            p.note {
                "Shorter is better. The line through a bar's end is where the real drive is expected. \
                 Drives of one rank cannot be told apart."
            }
            ol.bars { @for drive in &choice.ranking {
                li.yours[choice.have.as_ref() == Some(&drive.drive)].first[drive.tier == 1] {
                    span.rank { (drive.rank) }
                    span.name title=(drive.title) { (marked(choice, drive)) }
                    span.track aria-hidden="true" {
                        span.bar.cut[drive.waited_s > scale]
                            style=(format!("width:{:.2}%", share(drive.waited_s))) {}
                        @if drive.band_s[0] < scale {
                            span.band style=(format!(
                                "left:{:.2}%;width:{:.2}%",
                                share(drive.band_s[0]),
                                share(drive.band_s[1]) - share(drive.band_s[0])
                            )) {}
                        }
                    }
                    span.value { (seconds(drive.waited_s)) }
                }
            } }
            @if choice.ranking.iter().any(|drive| drive.waited_s > scale) {
                p.note { "Bars that fade out are cut: they would be longer than the page is wide." }
            }
        }
    }
}

/// The time at which a bar is as wide as the page, seconds.
fn scale(ranking: &[RankedDrive]) -> f64 {
    let highest = ranking.iter().map(|drive| drive.band_s[1]).fold(0.0, f64::max);
    // They are sorted.
    let median = ranking.get(ranking.len() / 2).map_or(0.0, |drive| drive.waited_s);
    let scale = highest.min(median * MOST_MEDIANS);
    if scale > 0.0 { scale } else { 1.0 }
}

fn table(choice: &Choice) -> Markup {
    let columns = [known(choice, &TIMES), known(choice, &COSTS)].concat();
    html! {
        section aria-labelledby="table-heading" {
            h2 #table-heading { "All figures" }
            div.wide tabindex="0" role="region" aria-label="All figures" { table {
                thead { tr {
                    th scope="col" { "Drive" }
                    th scope="col" { "Rank" }
                    @for column in &columns { th scope="col" { (capitalised(column.heading)) } }
                } }
                tbody { @for drive in &choice.ranking { tr {
                    th scope="row" { (marked(choice, drive)) }
                    td.main { (drive.rank) }
                    @for column in &columns { td { (column.of(drive)) } }
                } } }
            } }
        }
    }
}

fn rest(choice: &Choice) -> Markup {
    html! {
        @if !choice.left_out.is_empty() || !choice.notes.is_empty() {
            section aria-labelledby="rest-heading" {
                h2 #rest-heading { "Remarks" }
                ul {
                    @for note in &choice.notes { li { (note) } }
                    @for left in &choice.left_out { li { "Left out: " (left.drive) ": " (left.why) } }
                }
            }
        }
    }
}

fn method(choice: &Choice) -> Markup {
    html! {
        section aria-labelledby="method-heading" {
            h2 #method-heading { "How it was measured" }
            p {
                "Each drive is a model of the real one and does the work in its own time; it "
                @match choice.state.as_str() {
                    "used" => { "was filled in order and then overwritten at random before." }
                    "full" => { "was filled in order before." }
                    "empty" => { "was new and empty." }
                    _ => { "was new, and what the work touches was written before." }
                }
                @if let Some(words) = replay_words(choice) { " " (words) }
                " The time waited is the time with at least one I/O in the drive."
            }
            p {
                "The band is the 90th percentile of the model's errors in published figures of the kinds \
                 that the work is made of: those of the drive's family where there are enough, of the \
                 whole catalogue elsewhere. A drive has the rank of the \
                 one before it if it and the first of that rank lie within each other's band. Drives of a tier are within 10 % \
                 of its fastest."
            }
            p {
                "Years are until the rated cycles are used up at the measured write amplification. What \
                 no source says is left empty."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{choice, drive};
    use super::*;

    #[test]
    fn the_page_escapes_what_it_shows_and_loads_nothing() {
        let mut choice = choice(vec![drive("<b>a</b>", 1, 1, 1.0), drive("b", 2, 2, 90.0)]);
        choice.work.name = "</title><script>alert(1)</script>".into();
        let page = choice_page(&choice);
        assert!(page.starts_with("<!DOCTYPE html>") && page.contains(" – which drive</title>"));
        assert!(!page.contains("<script") && !page.contains("<b>a"), "it is escaped");
        assert!(!page.contains("http://") && !page.contains("https://"), "it loads nothing");
        assert!(page.len() < 100_000, "{} bytes", page.len());
    }

    #[test]
    fn a_hard_disk_does_not_make_all_others_a_line() {
        let ranking: Vec<RankedDrive> =
            [1.0, 1.1, 1.2, 500.0].map(|time| drive("a", 1, 1, time)).into();
        assert_eq!(scale(&ranking), 1.2 * MOST_MEDIANS);
        assert_eq!(scale(&ranking[..3]), 1.2 * 1.25);
        assert_eq!(scale(&[drive("a", 1, 1, 0.0)]), 1.0);
        let page = choice_page(&choice(ranking));
        assert_eq!(page.matches("bar cut").count(), 1);
        assert!(page.contains("Bars that fade out"));
    }
}
