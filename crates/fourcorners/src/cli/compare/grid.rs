//! Lines of a name and numbers below headings, in a width.

use fourcorners_report::shortened;

/// Least room for a name.
const LEAST_LABEL: usize = 12;

/// Least room for what is left of it beside what is said of it.
const LEAST_NAME: usize = 6;

/// How wide the columns are.
pub(super) struct Grid {
    room: usize,
    widths: Vec<usize>,
}

impl Grid {
    /// For these headings and all the rows beneath them, no wider than `width` unless names would have no
    /// room at all.
    pub(super) fn new<'a>(
        headings: &[String],
        rows: impl Iterator<Item = &'a Vec<String>>,
        width: usize,
    ) -> Grid {
        let mut widths: Vec<usize> = headings.iter().map(|text| text.chars().count()).collect();
        for row in rows {
            for (width, text) in widths.iter_mut().zip(row) {
                *width = (*width).max(text.chars().count());
            }
        }
        let taken: usize = widths.iter().map(|width| width + 2).sum();
        Grid { room: width.saturating_sub(taken).max(LEAST_LABEL), widths }
    }

    /// A line: a name, of which the middle is left out where it has no room, what is said of it, and the
    /// numbers.
    pub(super) fn line(&self, name: &str, said: &str, numbers: &[String]) -> String {
        let room = self.room;
        let name = shortened(name, room.saturating_sub(said.chars().count()).max(LEAST_NAME));
        let mut line = format!("{:room$}", shortened(&format!("{name}{said}"), room));
        for (number, width) in numbers.iter().zip(&self.widths) {
            line += &format!("  {number:>width$}");
        }
        format!("{}\n", line.trim_end())
    }
}
