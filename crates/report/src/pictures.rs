//! The charts of a page as files of their own, without a browser.

use fourcorners_record::Document;
use thiserror::Error;

#[cfg(feature = "png")]
use super::chart::png;
use super::chart::svg;
use super::contents::chapters;
use super::entries::Entries;
use super::references::References;

/// Whether this program draws pictures as PNG: its feature `png`.
pub const HAS_PNG: bool = cfg!(feature = "png");

/// A picture that could not be made.
#[derive(Debug, Error)]
pub enum PictureError {
    /// What the drawing library says.
    #[error("the picture cannot be drawn: {0}")]
    Drawing(String),
    /// [`HAS_PNG`] is false.
    #[error("this program was built without PNG (its feature `png`): save the pictures as SVG")]
    LeftOut,
}

/// A chart as a picture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Picture {
    /// What its file is called, without the ending: a number for the order of the page, the chapter
    /// and the chart. No two of a document are called the same.
    pub name: String,
    /// The picture, 800 units wide, in the light colours of the page.
    pub svg: String,
}

impl Picture {
    /// The same picture as a PNG, 1600 pixels wide. Its font is within this program.
    ///
    /// # Errors
    /// What the drawing library says; a chart of thousands of bars may be too large for it. Every picture where
    /// [`HAS_PNG`] is false.
    pub fn png(&self) -> Result<Vec<u8>, PictureError> {
        #[cfg(feature = "png")]
        let drawn = png(&self.svg);
        #[cfg(not(feature = "png"))]
        let drawn = Err(PictureError::LeftOut);
        drawn
    }
}

/// Every chart of the page of a document, in its order. A drive that stands alone is shown among those of the catalogue.
pub fn pictures(document: &Document) -> Vec<Picture> {
    pictures_among(document, References::built_in())
}

/// The same, with other reference drives, or none.
pub fn pictures_among(document: &Document, references: &References) -> Vec<Picture> {
    let all = Entries::among(document, references);
    let chapters = chapters(&all);
    let charts =
        chapters.iter().flat_map(|chapter| chapter.charts().map(move |chart| (chapter.id, chart)));
    let made_by = format!("fourcorners {}", env!("CARGO_PKG_VERSION"));
    charts
        .enumerate()
        .map(|(index, (chapter, chart))| Picture {
            name: named(index, chapter, &chart.name),
            svg: svg(chart, &made_by),
        })
        .collect()
}

fn named(index: usize, chapter: &str, chart: &str) -> String {
    let chart = chart.strip_prefix(chapter).unwrap_or(chart).trim_start_matches('-');
    format!("{:03}-{chapter}-{chart}", index + 1).trim_end_matches('-').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chapter_is_named_once() {
        assert_eq!(named(0, "latency", "latency-4-kib"), "001-latency-4-kib");
        assert_eq!(named(9, "speed", "4-kib"), "010-speed-4-kib");
        assert_eq!(named(9, "speed", ""), "010-speed");
    }
}
