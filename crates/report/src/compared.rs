//! The sides of a comparison on the page: numbers beneath each other, with ratios, how sure they are, and
//! which make no difference.

use fourcorners_results::compare::{
    About, Cell, Comparison, CourseCell, CurveCell, CurveRow, Measure,
};
use maud::{Markup, html};

use super::chart::count_tick;
use super::table::plain;
use super::tables::clock_badge;
use super::words::{
    against, curve_words, figure_words, iops, method_words, micros, percent, rate, spread,
};

/// The section; nothing where the sides have nothing in common.
pub(super) fn section(comparison: &Comparison) -> Option<Markup> {
    // Conclusions have a section of their own.
    let methods = comparison.methods().into_iter().filter(|it| comparison.has_numbers_of(it));
    let first = comparison.sides.first()?;
    (!comparison.is_empty()).then(|| {
        html! {
            section #compared aria-labelledby="compared-heading" {
                h2 #compared-heading { "Side by side" }
                p {
                    "Ratios are to " strong { (first.label) } ". ≈ marks a difference that does not matter: \
                     it is within " (whole_percent(comparison.no_matter)) ", or within the scatter of repeats."
                    @if repeated(comparison) {
                        " ± is the confidence interval of the mean of the repeats, or of the ratio ("
                        (whole_percent(comparison.confidence)) ")."
                    }
                    @if comparison.mixed_clocks {
                        " Virtual time comes from a model, wall time from hardware."
                    }
                    @if has_other_jobs(comparison) {
                        " Numbers that were not measured with the same job (time, span or data) are marked."
                    }
                }
                ul { @for said in comparison_sentences(comparison) { li { (said) } } }
                details {
                    summary { "Numbers and ratios, method by method" }
                    @for method in methods {
                        details {
                            summary { (method_words(method)) }
                            (figures(comparison, method))
                            (curves(comparison, method))
                            (courses(comparison, method))
                        }
                    }
                }
            }
        }
    })
}

/// A sentence for each side but the first: how many of its data rates are higher or lower than those of
/// the first side, how many no different, and how many of another job. Of the two that which is quick is named so then.
pub fn comparison_sentences(comparison: &Comparison) -> Vec<String> {
    let Some(first) = comparison.sides.first() else { return Vec::new() };
    let sides = comparison.sides.iter().enumerate().skip(1);
    let said = sides.filter_map(|(place, side)| {
        let counts = Counts::of(comparison, place);
        let label = |about: &About| {
            let is_told = about.quick && side.quick != first.quick && counts.other_job > 0;
            format!("{}{}", about.label, if is_told { " (quick)" } else { "" })
        };
        (counts.all() > 0)
            .then(|| format!("{} against {}: {}", label(side), label(first), counts.words()))
    });
    said.collect()
}

/// What stands before a ratio that makes no difference.
const NO_MATTER: &str = "≈";

/// A ratio, and whether it matters.
pub fn ratio(measure: &Measure) -> String {
    let Some(ratio) = measure.ratio else { return String::new() };
    match measure.matters {
        Some(false) => format!("{NO_MATTER} {}", against(ratio)),
        _ => against(ratio),
    }
}

/// What is to be known about the numbers of a comparison as text, a line each; `*` is the mark of a figure of another job.
/// Marks that are not in the text are not explained.
pub fn comparison_notes(comparison: &Comparison, text: &str) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(first) = comparison.sides.first() {
        notes.push(format!("Ratios are to {}.", plain(&first.label)));
    }
    if text.contains(NO_MATTER) {
        notes.push(format!(
            "{NO_MATTER}: the difference does not matter (within {:.0} %, or the scatter of repeats).",
            comparison.no_matter * 100.0
        ));
    }
    // Conclusions may have the sign in their words.
    if text.contains('±') && repeated(comparison) {
        notes.push(format!(
            "±: confidence interval of the mean of the repeats, {:.0} %.",
            comparison.confidence * 100.0
        ));
    }
    if has_other_jobs(comparison) {
        notes.push("*: not the same job (time, span or data).".into());
    }
    if comparison.mixed_clocks {
        notes.push("Virtual time comes from a model, wall time from hardware.".into());
    }
    if comparison.alone > 0 {
        notes.push(match comparison.alone {
            1 => "One figure that only one side has is left out.".into(),
            alone => format!("{alone} figures that only one side has are left out."),
        });
    }
    notes
}

fn has_other_jobs(comparison: &Comparison) -> bool {
    comparison.figures.iter().flat_map(|row| row.sides.iter().flatten()).any(|it| !it.same_job)
}

fn repeated(comparison: &Comparison) -> bool {
    let cells = comparison.figures.iter().flat_map(|row| row.sides.iter().flatten());
    let curves = comparison.curves.iter().flat_map(|row| row.sides.iter().flatten());
    let courses = comparison.courses.iter().flat_map(|row| row.sides.iter().flatten());
    let repeats = cells.map(|it| it.repeats).chain(curves.map(|it| it.repeats));
    repeats.chain(courses.map(|it| it.repeats)).any(|repeats| repeats > 1)
}

/// How the data rates of a side stand to those of the first.
#[derive(Default, PartialEq, Debug)]
struct Counts {
    higher: usize,
    same: usize,
    lower: usize,
    /// How many of all are not of the job of the first side.
    other_job: usize,
}

impl Counts {
    fn of(comparison: &Comparison, place: usize) -> Counts {
        let mut counts = Counts::default();
        for cell in comparison.figures.iter().filter_map(|row| row.sides[place].as_ref()) {
            match (cell.mb_per_s.ratio, cell.mb_per_s.matters) {
                (Some(_), Some(false)) => counts.same += 1,
                (Some(ratio), _) if ratio > 1.0 => counts.higher += 1,
                (Some(_), _) => counts.lower += 1,
                (None, _) => continue,
            }
            counts.other_job += usize::from(!cell.same_job);
        }
        counts
    }

    fn all(&self) -> usize {
        self.higher + self.same + self.lower
    }

    fn words(&self) -> String {
        let Counts { higher, same, lower, .. } = *self;
        let mut parts = vec![(higher, "higher"), (lower, "lower"), (same, "no different")];
        parts.retain(|(number, _)| *number > 0);
        let counted = match parts[..] {
            [(1, how)] => format!("the data rate is {how}."),
            [(all, how)] => format!("all {all} data rates are {how}."),
            _ => {
                let said = parts.iter().map(|(number, how)| {
                    format!("{number} {} {how}", if *number == 1 { "is" } else { "are" })
                });
                let said: Vec<String> = said.collect();
                format!("of {} data rates {}.", self.all(), said.join(", "))
            }
        };
        counted + &self.jobs()
    }

    /// How many are not of the same job, as a sentence.
    fn jobs(&self) -> String {
        let job = "measured with the same job (time, span or data).";
        match (self.other_job, self.all()) {
            (0, _) => String::new(),
            (1, 1) => format!(" It was not {job}"),
            (other, all) if other == all => format!(" None of them was {job}"),
            (1, _) => format!(" One of them was not {job}"),
            (other, _) => format!(" {other} of them were not {job}"),
        }
    }
}

/// What a number is, and how it stands to the first side's.
fn numbers(measure: &Measure, say: fn(f64) -> String) -> Markup {
    html! {
        td {
            (say(measure.value))
            @if let Some((_, high)) = measure.interval {
                br; small { "± " (spread(high / measure.value)) }
            }
        }
        (ratio_cell(measure))
    }
}

fn ratio_cell(measure: &Measure) -> Markup {
    html! {
        @match measure.ratio {
            None => td {},
            Some(of_first) => td.main[measure.matters == Some(true)] {
                (ratio(measure))
                @if let Some((_, high)) = measure.ratio_interval {
                    br; small { "± " (spread(high / of_first)) }
                }
            },
        }
    }
}

/// A table with a group of rows for each of `rows`: its heading, and a line for each side that has it.
fn table<'r, Row: 'r, Of: 'r>(
    comparison: &Comparison,
    caption: &str,
    headings: &[&str],
    rows: impl Iterator<Item = (String, &'r Row)>,
    sides: impl Fn(&'r Row) -> &'r [Option<Of>],
    line: impl Fn(&About, &Of) -> (Markup, Markup),
) -> Markup {
    let rows: Vec<(String, &Row)> = rows.collect();
    html! {
        @if !rows.is_empty() {
            div.wide.compared tabindex="0" role="region" aria-label=(caption) {
                table {
                    caption { span { (caption) } }
                    thead { tr {
                        th scope="col" { "Drive" }
                        @for heading in headings { th scope="col" { (heading) } }
                    } }
                    @for (heading, row) in rows {
                        tbody {
                            tr { th.group scope="rowgroup" colspan=(headings.len() + 1) { span { (heading) } } }
                            @for (about, cell) in comparison.sides.iter().zip(sides(row)) {
                                @if let Some(cell) = cell {
                                    @let (marks, numbers) = line(about, cell);
                                    tr {
                                        th scope="row" {
                                            (about.label)
                                            @if comparison.mixed_clocks { " " (clock_badge(about.clock)) }
                                            (marks)
                                        }
                                        (numbers)
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn figures(comparison: &Comparison, method: &str) -> Markup {
    let of_method = comparison.figures.iter().filter(|row| row.method == method);
    let caption = format!("{}: data rate and latency", method_words(method));
    let headings = ["MB/s", "ratio", "mean latency", "ratio", "99.9 %", "ratio", "max"];
    let rows = of_method.map(|row| (figure_words(&row.figure), row));
    table(
        comparison,
        &caption,
        &headings,
        rows,
        |row| &row.sides,
        |_, cell: &Cell| {
            let marks = html! {
                (times(cell.repeats))
                @if !cell.complete { " " span.badge.warn { "incomplete" } }
                @if !cell.same_job { " " span.badge.warn { "not the same job" } }
            };
            let numbers = html! {
                (numbers(&cell.mb_per_s, rate))
                (numbers(&cell.latency_mean_us, micros))
                (numbers(&cell.latency_p999_us, micros))
                td { (micros(cell.latency_max_us)) }
            };
            (marks, numbers)
        },
    )
}

/// What a curve is, and the part of it that all sides have.
pub fn curve_heading(row: &CurveRow) -> String {
    let (from, to) = row.over;
    let over = format!("{} to {} {}", count_tick(from.round()), count_tick(to.round()), row.x);
    format!("{}: {} over {over}", curve_words(&row.curve), row.y)
}

fn curves(comparison: &Comparison, method: &str) -> Markup {
    let of_method = comparison.curves.iter().filter(|row| row.method == method);
    let caption = format!("{}: curves, as far as all of them reach", method_words(method));
    let headings = ["mean along it", "ratio", "lowest", "highest", "lowest ratio", "highest ratio"];
    let rows = of_method.map(|row| (curve_heading(row), row));
    table(
        comparison,
        &caption,
        &headings,
        rows,
        |row| &row.sides,
        |_, cell: &CurveCell| {
            let at = |it: fourcorners_results::compare::Against| {
                html! { (against(it.ratio)) br; small { "at " (count_tick(it.at.round())) } }
            };
            let numbers = html! {
                (numbers(&cell.mean, rate))
                td { (rate(cell.low)) }
                td { (rate(cell.high)) }
                td { @if let Some((low, _)) = cell.against { (at(low)) } }
                td { @if let Some((_, high)) = cell.against { (at(high)) } }
            };
            (times(cell.repeats), numbers)
        },
    )
}

fn courses(comparison: &Comparison, method: &str) -> Markup {
    let of_method = comparison.courses.iter().filter(|row| row.method == method);
    let caption = format!("{}: second by second, IOPS", method_words(method));
    let headings = [
        "first tenth",
        "ratio",
        "last tenth",
        "ratio",
        "worst 1 %",
        "ratio",
        "variation",
        "below half",
    ];
    let rows = of_method.filter(|row| !row.is_flat()).map(|row| (figure_words(&row.figure), row));
    table(
        comparison,
        &caption,
        &headings,
        rows,
        |row| &row.sides,
        |_, cell: &CourseCell| {
            let whole = |value: f64| iops(value.round());
            let numbers = html! {
                (numbers(&cell.begin, whole))
                (numbers(&cell.end, whole))
                (numbers(&cell.p1, whole))
                td { (percent(cell.variation)) }
                td { (percent(cell.share_below_half)) }
            };
            (times(cell.repeats), numbers)
        },
    )
}

fn whole_percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn times(repeats: usize) -> Markup {
    html! { @if repeats > 1 { " " small { (repeats) " times" } } }
}
