//! The first thing on a page of several drives: how they rank, in sentences and one table.

use maud::{Markup, html};

use super::entries::Entries;
use super::lengths::why_unranked;
use super::standings::Standings;
use super::tables::clocks_note;
use super::words::NO_VALUE;

/// The section; why there is no ranking where drives have measures of unlike work; nothing where they have none.
pub(super) fn section(all: &Entries) -> Option<Markup> {
    let Some(standings) = Standings::of(all) else {
        let why = why_unranked(&all.drives, false)?;
        return Some(html! {
            section.ranking #unranked aria-labelledby="unranked-heading" {
                h2 #unranked-heading { "All drives" }
                p { (why) }
            }
        });
    };
    Some(html! {
        section.ranking #ranking aria-labelledby="ranking-heading" {
            h2 #ranking-heading { "All drives" }
            @for sentence in standings.sentences() { p { (sentence) } }
            @if let Some(why) = why_unranked(&all.drives, true) { p { (why) } }
            div.wide tabindex="0" role="region" aria-label="All drives, ranked" {
                table {
                    caption { span {
                        "By mean place. " (standings.units()) "." (clocks_note(all))
                        @if standings.of_repeats() && all.leaves_repeats_out() { " Charts and figures further below are of the first repeat." }
                    } }
                    thead { tr {
                        th scope="col" { "Drive" }
                        @for column in &standings.columns {
                            @let [first, second] = column.measure.heading;
                            th scope="col" { (first) br; (second) }
                        }
                    } }
                    tbody { @for (drive, label) in standings.drives.iter().enumerate() { tr {
                        th scope="row" {
                            @match standings.ranks[drive] {
                                Some(rank) => (rank),
                                None => (NO_VALUE),
                            }
                            " "
                            @if standings.under_test == Some(drive) { strong { (label) } }
                            @else { (label) }
                        }
                        @for column in &standings.columns {
                            td.main[column.is_first_alone(drive)]
                                style=[column.share(drive).map(|share| format!("--share:{share:.3}"))]
                            {
                                @match column.values[drive] {
                                    Some(value) => (column.measure.value(value)),
                                    None => (NO_VALUE),
                                }
                            }
                        }
                    } } }
                }
            }
        }
    })
}
