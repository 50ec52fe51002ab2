//! Records as people read them: one HTML page, pictures, a terminal table.
//!
//! Everything here works from records alone, never from a target, so that a result measured long
//! ago, or on a machine that no longer has the drive, renders as on the day it was measured.
//!
//! A page is a single file with its style, script, data and chart library inside. It names no
//! address to load anything from, and a content security policy in its head forbids the rest.
//!
//! A chapter (`chapter.rs`) is a list of parts. A chart among them is data (`chart/`), from which the
//! page's plotly JSON, the SVG and PNG of `report --svg` and `--png`, its table and its words are made, so
//! they cannot differ. A new method gets its charts by a file with `parts(&Entries) -> Vec<Part>` and a
//! line in `contents.rs`; an unknown method is drawn from what it has: bars, curves, seconds. Colours are in
//! `style.css` alone. A line of more than 4,000 points is drawn by the lowest and highest of equal parts.
//! PNG is the SVG through resvg, with a font that is in the binary. A chart is drawn when it comes near the
//! window, otherwise in idle time, and a hidden chart when a button shows it; until then its table holds
//! the same data.
//!
//! ```
//! use fourcorners_record::Document;
//!
//! let page = fourcorners_report::page(&Document::new(Vec::new()));
//! assert!(page.starts_with("<!DOCTYPE html>") && page.contains("Content-Security-Policy"));
//! ```

#![forbid(unsafe_code)]

mod bench;
mod chapter;
mod chart;
mod choice;
mod compared;
mod conclusions;
mod consistency;
mod contents;
mod curves;
mod endurance;
mod entries;
mod latency;
mod page;
mod pictures;
mod plot;
mod power;
mod provenance;
mod ranking;
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

pub use choice::{choice_page, choice_sentences, choice_table};
pub use compared::{comparison_sentences, curve_heading};
pub use entries::shortened;
pub use page::{comparison_page, page};
pub use pictures::{HAS_PNG, Picture, PictureError, pictures};
pub use table::{plain, standings_table, table};
pub use words::{
    against, clock_words, figure_words, iops, method_words, micros, percent, rate, spread, wrapped,
};

/// The script element of the chart library, for pages that are no reports.
pub fn chart_library() -> &'static str {
    chart::library()
}

/// The style sheet of the page, which has the colours of all charts.
const STYLE: &str = include_str!("style.css");
