//! A review as one small picture, to post: the ranking of several drives, or where one stands.

use fourcorners_record::{ClockName, Document};
use fourcorners_words::MADE_BY;
use maud::{Markup, html};

use super::chart::{colour, of_xml};
use super::entries::{Entries, shortened};
use super::pictures::Picture;
use super::placing::{self, Strip};
use super::references::References;
use super::standings::Standings;
use super::words::{NO_VALUE, rate, wrapped};

/// Its size: what sites show beside a link.
const WIDTH: f64 = 1200.0;
const HEIGHT: f64 = 630.0;
const EDGE: f64 = 56.0;
/// Drives that have room.
const MOST_DRIVES: usize = 9;
/// Lines of sentences that have room.
const MOST_LINES: usize = 5;
/// Letters of a sentence that fit a line.
const LINE_CHARS: usize = 112;

/// The card of a document; `None` where nothing in it can be compared. A drive that stands alone is placed among those of
/// the catalogue.
pub fn card(document: &Document) -> Option<Picture> {
    card_among(document, References::built_in())
}

/// The same, with other reference drives, or none.
pub fn card_among(document: &Document, references: &References) -> Option<Picture> {
    let all = Entries::among(document, references);
    let title = all.drives.first()?.label.clone();
    let (heading, said, drawing) = match Standings::of(&all) {
        Some(standings) => {
            let heading = format!("{} drives", standings.drives.len());
            (heading, standings.sentences(), ranking(&standings))
        }
        None => {
            let strips = placing::strips(&all);
            let most = strips.iter().map(|strip| strip.others()).max()?;
            let among = format!("Place among {} drives", most + 1);
            (title, vec![placing::sentence(&strips)], places(&strips, &among))
        }
    };
    let lines = that_fit(&said);
    let svg = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(WIDTH) height=(HEIGHT)
            viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) font-family="Noto Sans, sans-serif"
        {
            metadata { (MADE_BY) }
            rect width="100%" height="100%" fill=(colour("--paper")) {}
            rect width="12" height="100%" fill=(colour("--accent")) {}
            text x=(EDGE) y="64" font-size="20" font-weight="700" fill=(colour("--accent"))
                { "fourcorners" tspan dx="10" font-weight="400" fill=(colour("--quiet")) { (measured(&all)) } }
            text x=(EDGE) y="118" font-size="44" font-weight="700" fill=(colour("--ink"))
                { (shortened(&heading, 44)) }
            @for (row, line) in lines.iter().enumerate() {
                text x=(EDGE) y=(156 + 26 * row) font-size="19" fill=(colour("--quiet")) { (line) }
            }
            (drawing)
        }
    };
    let svg: String = svg.into_string().chars().map(of_xml).collect();
    Some(Picture { name: "card".into(), svg })
}

/// The lines of those sentences that have room as wholes; of a first one that is longer, its beginning.
fn that_fit(said: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for sentence in said {
        let more = wrapped(sentence, LINE_CHARS);
        if lines.is_empty() && more.len() > MOST_LINES {
            lines.extend(more.into_iter().take(MOST_LINES));
            lines[MOST_LINES - 1].push_str(" …");
            break;
        }
        if lines.len() + more.len() > MOST_LINES {
            break;
        }
        lines.extend(more);
    }
    lines
}

/// What was measured and whether seconds stand for minutes: "virtual drive, quick".
fn measured(all: &Entries) -> String {
    let several = Standings::of(all).is_some();
    let clocks = |clock| all.all.iter().all(|entry| entry.record.clock == clock);
    let what = match (clocks(ClockName::Virtual), clocks(ClockName::Wall)) {
        (true, _) => "virtual drive",
        (_, true) => "real drive",
        _ => "virtual and real drive",
    };
    let are_quick = || all.all.iter().map(|entry| entry.record.quick);
    let quick = match (are_quick().any(|quick| quick), are_quick().all(|quick| quick)) {
        (true, true) => ", quick",
        (true, false) => ", some quick",
        (false, _) => "",
    };
    format!("{what}{}{quick}", if several { "s" } else { "" })
}

fn ranking(standings: &Standings) -> Markup {
    let top = 330.0;
    let left = 400.0;
    let width = (WIDTH - EDGE - left) / standings.columns.len() as f64;
    let drives = standings.drives.len();
    // The last row stays above the line at the foot.
    let row_height = (220.0 / drives.min(MOST_DRIVES).saturating_sub(1).max(1) as f64).min(40.0);
    let letters = if standings.columns.len() > 7 { 15 } else { 18 };
    let right = |column: usize| left + width * (column as f64 + 1.0);
    html! {
        @for (at, column) in standings.columns.iter().enumerate() {
            @for (line, word) in column.measure.heading.iter().enumerate() {
                text x=(right(at)) y=(top - 28.0 + 20.0 * line as f64) font-size="16" text-anchor="end"
                    fill=(colour("--quiet")) { (word) }
            }
        }
        @for (drive, label) in standings.drives.iter().take(MOST_DRIVES).enumerate() {
            @let y = top + 34.0 + row_height * drive as f64;
            text x=(EDGE) y=(y) font-size="20" fill=(colour("--ink"))
                font-weight=(if standings.under_test == Some(drive) { "700" } else { "400" })
            {
                (standings.ranks[drive].map_or(NO_VALUE.into(), |rank| rank.to_string())) " "
                (shortened(label, 28))
            }
            @for (at, column) in standings.columns.iter().enumerate() {
                @let leads = column.is_first_alone(drive);
                text x=(right(at)) y=(y) font-size=(letters) text-anchor="end" fill=(colour("--ink"))
                    font-weight=(if leads { "700" } else { "400" })
                    { (column.values[drive].map_or(NO_VALUE.into(), |value| column.measure.value(value))) }
                @if let Some(share) = column.share(drive) {
                    rect x=(right(at) - width + 12.0) y=(y + 7.0) height="5"
                        width=(format!("{:.1}", (share * (width - 12.0)).max(1.0)))
                        fill=(colour(if leads { "--accent" } else { "--other" })) {}
                }
            }
        }
        text x=(EDGE) y=(HEIGHT - 20.0) font-size="15" fill=(colour("--quiet"))
            {
                "By mean place. " (standings.units()) "."
                @if drives > MOST_DRIVES { " The first " (MOST_DRIVES) " of " (drives) "." }
            }
    }
}

fn places(strips: &[Strip], among: &str) -> Markup {
    let (top, left, right) = (290.0, 400.0, 850.0);
    // The last row stays above the line at the foot.
    let apart = ((HEIGHT - 60.0 - top) / strips.len().max(1) as f64).min(46.0);
    html! {
        text x=(WIDTH - EDGE) y=(top - 26.0) font-size="16" text-anchor="end"
            fill=(colour("--quiet")) { (among) }
        @for (row, strip) in strips.iter().enumerate() {
            @let y = top + apart * row as f64;
            @let at = |share: f64| format!("{:.1}", left + share * (right - left));
            text x=(EDGE) y=(y + 6.0) font-size="20" fill=(colour("--ink")) { (strip.heading()) }
            line x1=(left) x2=(right) y1=(y) y2=(y) stroke=(colour("--rule")) {}
            @for share in strip.shares() {
                rect x=(at(share)) y=(y - 8.0) width="3" height="16" fill=(colour("--other")) opacity="0.6" {}
            }
            rect x=(at(strip.own_share())) y=(y - 14.0) width="8" height="28" rx="2"
                fill=(colour("--accent")) {}
            text x="1020" y=(y + 6.0) font-size="20" text-anchor="end" font-weight="700"
                fill=(colour("--ink")) { (rate(strip.own())) " MB/s" }
            text x=(WIDTH - EDGE) y=(y + 6.0) font-size="20" text-anchor="end" fill=(colour("--ink"))
                { (strip.place()) " of " (strip.others() + 1) }
        }
        text x=(EDGE) y=(HEIGHT - 20.0) font-size="15" fill=(colour("--quiet"))
            { "A mark for each drive, from the slowest to the fastest; equal distances are equal factors." }
    }
}

#[cfg(test)]
mod tests {
    use fourcorners_record::from_json;

    use super::*;

    #[test]
    fn sentences_are_whole_or_left_out() {
        let long = "word ".repeat(LINE_CHARS);
        let lines = that_fit(std::slice::from_ref(&long));
        assert!(lines.len() == MOST_LINES && lines[MOST_LINES - 1].ends_with(" …"), "{lines:?}");
        assert_eq!(that_fit(&["One.".into(), long, "Two.".into()]), ["One."]);
        assert_eq!(that_fit(&["One.".into(), "Two.".into()]), ["One.", "Two."]);
    }

    #[test]
    fn a_card_shows_one_drive_or_several_and_nothing_of_nothing() {
        let text = include_str!("../../results/tests/golden/review-1.json");
        let mut one = from_json(text).expect("an old document");
        let quick = card(&one).expect("it stands among the catalogue").svg;
        assert!(quick.contains("virtual drive, quick<"));
        one.records.iter_mut().for_each(|record| record.quick = false);
        let alone = card(&one).expect("it stands among the catalogue").svg;
        assert!(alone.contains("Place among ") && alone.contains("Crucial m4 256 GB"), "{alone}");
        let mut other = one.records[0].clone();
        other.target.name = "other".into();
        other.target.title = "The <other>".into();
        for figure in other.figures.values_mut() {
            figure.mb_per_s *= 2.0;
        }
        let both = Document::new(vec![one.records[0].clone(), other]);
        let both = card(&both).expect("two drives").svg;
        let measured = |svg: &str| svg.contains("virtual drive") && !svg.contains("quick");
        assert!(measured(&alone) && measured(&both));
        assert!(both.contains("2 drives") && both.contains("Fastest: The &lt;other&gt;"), "{both}");
        assert_eq!(card(&Document::new(Vec::new())), None);
        // Among no drives one alone has no place; two still have their ranking.
        assert_eq!(card_among(&one, &References::none()), None);
        let ranked = Document::new(vec![one.records[0].clone(), {
            let mut other = one.records[0].clone();
            (other.target.name, other.target.title) = ("other".into(), "The other".into());
            other
        }]);
        assert!(card_among(&ranked, &References::none()).is_some());
        assert!(!both.contains("The first "));
        // Of more than there is room for it says how many there are, and no row reaches the line at the foot.
        let records = (0..12).map(|at| {
            let mut record = one.records[0].clone();
            (record.target.name, record.target.title) = (format!("d{at}"), format!("Drive {at}"));
            record
        });
        let many = card(&Document::new(records.collect())).expect("several drives").svg;
        assert!(many.contains("12 drives") && many.contains("The first 9 of 12."), "{many}");
        let rows = many.split("font-size=\"20\"").skip(2).filter_map(|row| {
            let before = &many[..many.find(row)?];
            before.rsplit("y=\"").next()?.split('"').next()?.parse::<f64>().ok()
        });
        assert!(rows.clone().count() == 9 && rows.clone().all(|y| y < HEIGHT - 40.0), "{many}");
    }
}
