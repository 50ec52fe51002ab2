//! Records as people read them: one HTML page, pictures, a terminal table.
//!
//! Everything here works from records alone, never from a target, so that a result measured long
//! ago, or on a machine that no longer has the drive, renders as on the day it was measured.
//!
//! A page is a single file with its style, script and data inside. It names no address to load anything
//! from, and a content security policy in its head forbids the rest.
//!
//! A chapter (`chapter.rs`) is a list of parts. A chart among them is data (`chart/`), from which its drawing
//! on the page, the SVG and PNG of `report --svg` and `--png`, its table and its words are made, so they
//! cannot differ. A new method gets its charts by a file with `parts(&Entries) -> Vec<Part>` and a line in
//! `contents.rs`; an unknown method is drawn from what it has: bars, curves, seconds. Colours are in
//! `style.css` alone. A line of more than 4,000 points is drawn by the lowest and highest of equal parts.
//! The charts of a page are drawn without a script, as HTML and SVG that fit their place; `charts.js` adds
//! values under the pointer, the other axis and files. PNG is the SVG through resvg, with a font that is in
//! the binary.
//!
//! A drive that stands alone is shown among reference drives (`references.rs`). What is inside a drive has a page of its
//! own (`diagnosis/`).
//!
//! ```
//! use fourcorners_record::Document;
//!
//! let page = fourcorners_report::page(&Document::new(Vec::new()));
//! assert!(page.starts_with("<!DOCTYPE html>") && page.contains("Content-Security-Policy"));
//! ```

#![forbid(unsafe_code)]

mod access_sizes;
mod bench;
mod card;
mod chapter;
mod chart;
mod choice;
mod compared;
mod compared_pasted;
mod conclusions;
mod consistency;
mod contents;
mod curves;
mod diagnosis;
mod endurance;
mod entries;
mod latency;
mod lengths;
mod members;
mod page;
mod paste;
mod pictures;
mod placing;
mod plot;
mod power;
mod provenance;
mod ranking;
mod references;
mod replay;
mod seconds;
mod snia;
mod speed;
mod standings;
mod sweep;
mod sync_writes;
mod table;
mod tables;
mod tasks;
mod trim;
mod used;
mod variation;
mod words;

pub use card::{card, card_among};
pub use choice::{choice_page, choice_pasted, choice_table};
pub use compared::{comparison_notes, comparison_sentences, curve_heading, ratio};
pub use compared_pasted::comparison_pasted;
pub use diagnosis::{diagnosis_page, finding_words, property_words};
pub use entries::shortened;
pub use page::{comparison_page, page, page_among, part};
pub use paste::Pasted;
pub use pictures::{HAS_PNG, Picture, PictureError, pictures, pictures_among};
pub use references::{ReferenceError, References};
pub use table::{pasted, plain, standings_pasted, standings_table, table};
pub use words::{
    against, clock_words, figure_words, iops, method_words, micros, percent, rate, spread, wrapped,
    wrapped_between_words,
};

/// The style sheet of a page, for pages that are no reports.
pub fn style_sheet() -> &'static str {
    STYLE
}

/// The script of a [`part`]: it declares `fourcornersPart(element)`, to be called once for each.
pub fn part_script() -> &'static str {
    page::PART_SCRIPT
}

/// The style sheet of the page, which has the colours of all charts.
const STYLE: &str = include_str!("style.css");
