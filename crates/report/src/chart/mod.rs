//! A chart as data. The page, a picture and a table are made of the same one, so that they say the
//! same.

mod figure;
mod inline;
#[cfg(feature = "png")]
mod png;
mod scale;
mod svg;
mod table;
mod thin;

pub(super) use figure::legend;
#[cfg(feature = "png")]
pub(super) use png::png;
pub(crate) use scale::count_tick;
pub(super) use scale::{Scale, Up, time_tick};
pub(super) use svg::{colour, of_xml, svg};
pub(super) use table::DataTable;
pub(super) use thin::{four_digits, of_seconds, seven_digits, thinned};

/// Height of one bar with its label above it.
const BAR_ROW_PX: usize = 48;
/// Share of that height the bar itself takes.
const BAR_SHARE: f64 = 0.38;
/// Line colours the style sheet defines, `--line-0` upwards.
const LINE_COLOURS: usize = 8;
/// Lengths of strokes and gaps of the lines, in turn; none is a solid line. Colour alone would not
/// tell them apart on paper, nor to everybody.
const DASHES: [&str; 5] = ["", "9 5", "2 4", "9 4 2 4", "14 6"];

/// A chart and what it says, for those who cannot see it.
pub(super) struct Chart {
    /// What a file with it is called, without the ending: small letters, digits and hyphens.
    pub(super) name: String,
    /// What it belongs to, where the page says that above it and a picture has to say it itself; may
    /// be empty.
    pub(super) context: String,
    /// Its heading.
    pub(super) title: String,
    /// What is drawn against what; may be empty.
    pub(super) about: String,
    /// What is not whole; may be empty.
    pub(super) note: String,
    /// What is drawn.
    pub(super) plot: Plot,
    /// What it shows, in a sentence with its numbers.
    pub(super) description: String,
    /// The numbers.
    pub(super) table: DataTable,
}

/// What is drawn.
pub(super) enum Plot {
    /// Horizontal bars, the best first.
    Bars(Bars),
    /// Lines or dots between two axes.
    Lines(Box<Lines>),
}

/// Horizontal bars in the order they are drawn, each with its label above and its value at its end.
pub(super) struct Bars {
    /// One for each drive or figure.
    pub(super) rows: Vec<BarRow>,
    /// The length that fills the width: charts that share it can be compared.
    pub(super) longest: f64,
    /// What is measured, and which end is the good one.
    pub(super) what: String,
}

/// One bar.
#[derive(Clone, Default)]
pub(super) struct BarRow {
    /// What it is of.
    pub(super) label: String,
    /// Its length.
    pub(super) value: f64,
    /// That in words.
    pub(super) text: String,
    /// Whether it is the drive under test.
    pub(super) under_test: bool,
    /// Whether it is in wall time beside others in virtual time; hatched, and said in its label.
    pub(super) hatched: bool,
    /// Whether it is of a reference drive: grey, behind the drives of the review.
    pub(super) reference: bool,
}

impl BarRow {
    /// The bar's length: none for what is not a number.
    pub(super) fn length(&self) -> f64 {
        if self.value.is_finite() { self.value.max(0.0) } else { 0.0 }
    }
}

/// Which end of a scale is the good one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Best {
    /// Data rates.
    Highest,
    /// Times.
    Lowest,
}

impl Bars {
    /// Sorts the best first; what is not a number is last and has no length.
    pub(super) fn sorted(mut rows: Vec<BarRow>, longest: f64, best: Best) -> Bars {
        rows.sort_by(|left, right| {
            let order = match best {
                Best::Highest => right.value.total_cmp(&left.value),
                Best::Lowest => left.value.total_cmp(&right.value),
            };
            (!left.value.is_finite()).cmp(&!right.value.is_finite()).then(order)
        });
        Bars { rows, longest, what: String::new() }
    }

    /// Whether this bar is longer than there is room for, and so drawn shorter than it is.
    fn cuts(&self, row: &BarRow) -> bool {
        row.length() > self.longest
    }

    /// Whether there are other drives to pick the one under test out from.
    fn compared(&self) -> bool {
        self.rows.iter().any(|row| !row.under_test)
    }
}

/// Lines or dots between two axes.
pub(super) struct Lines {
    /// The axis from left to right.
    pub(super) across: Scale,
    /// The axis of the values, in one or two ways.
    pub(super) up: Up,
    /// What is drawn.
    pub(super) lines: Vec<Line>,
}

/// One line.
pub(super) struct Line {
    /// What it is of.
    pub(super) label: String,
    /// Its colour and strokes; 0 is the drive under test's.
    pub(super) style: usize,
    /// Where it goes, from left to right.
    pub(super) points: Vec<(f64, f64)>,
    /// Which of its points are marked.
    pub(super) marks: Marks,
    /// What each point says when it is pointed at; its two numbers where there is nothing here.
    pub(super) says: Vec<String>,
}

/// Which points of a line are marked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Marks {
    /// None: a line alone.
    None,
    /// Each.
    Each,
    /// The last one.
    Last,
    /// Each, and there is no line between them.
    Alone,
}

impl Chart {
    /// Its heading where nothing is said above it.
    pub(super) fn full_title(&self) -> String {
        match self.context.as_str() {
            "" => self.title.clone(),
            context => format!("{context}: {}", self.title),
        }
    }

    /// Whether it has dots alone, which need little room.
    pub(super) fn is_dots(&self) -> bool {
        matches!(&self.plot, Plot::Lines(lines) if lines.lines.iter().all(|it| it.marks == Marks::Alone))
    }

    /// Whether there is something to compare: one bar says no more than its number.
    pub(super) fn has_several_bars(&self) -> bool {
        match &self.plot {
            Plot::Bars(bars) => bars.rows.len() > 1,
            Plot::Lines(_) => true,
        }
    }
}

/// The style of the line of a reference drive: grey, behind the drives of the review.
pub(super) const REFERENCE_STYLE: usize = usize::MAX;

/// The style sheet's name of a line's colour.
fn line_colour_name(style: usize) -> String {
    match style {
        REFERENCE_STYLE => "--reference".into(),
        style => format!("--line-{}", style % LINE_COLOURS),
    }
}

/// The strokes of a line; none for a solid one.
fn dashes(style: usize) -> Option<&'static str> {
    let dashes = match style {
        REFERENCE_STYLE => "",
        style => DASHES[style % DASHES.len()],
    };
    Some(dashes).filter(|dashes| !dashes.is_empty())
}

/// A name for a file: small letters, digits and hyphens.
pub(super) fn file_name(words: &str) -> String {
    let mut name = String::new();
    for c in words.chars() {
        if c.is_ascii_alphanumeric() {
            name.push(c.to_ascii_lowercase());
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
    }
    // What comes from a record may be long; a file's name may not.
    name.truncate(80);
    name.trim_end_matches('-').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_sorted_and_what_is_no_number_is_last() {
        let row = |label: &str, value| BarRow { label: label.into(), value, ..BarRow::default() };
        let rows = vec![row("a", 1.0), row("b", f64::NAN), row("c", 30.0), row("d", 0.0)];
        let order = |best| -> String {
            Bars::sorted(rows.clone(), 30.0, best)
                .rows
                .iter()
                .map(|row| row.label.as_str())
                .collect()
        };
        assert_eq!(order(Best::Highest), "cadb");
        assert_eq!(order(Best::Lowest), "dacb");
    }

    #[test]
    fn file_names_are_plain() {
        assert_eq!(file_name("../4 KiB random write, QD 3 – ü"), "4-kib-random-write-qd-3");
        assert_eq!(file_name("ü"), "");
        assert_eq!(file_name(&"a".repeat(300)).len(), 80);
    }
}
