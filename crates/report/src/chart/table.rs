//! The numbers of a chart as a table: all of them where they are few, else those of equal parts.

use maud::{Markup, html};

use super::Line;

/// Rows up to which every point has its own.
const MOST_ROWS: usize = 40;
/// Parts of a longer line.
const PARTS: usize = 20;

/// A table with one heading for each column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DataTable {
    /// The columns' headings; the first is that of the rows' names.
    pub(crate) head: Vec<String>,
    /// Rows: a name and a value for each other column.
    pub(crate) rows: Vec<(String, Vec<String>)>,
}

impl DataTable {
    /// The points of lines, a row for each place. Lines with many places are told by the lowest and
    /// the highest value of equal parts.
    pub(crate) fn of_lines(
        across: &str,
        lines: &[Line],
        place: impl Fn(f64) -> String,
        value: impl Fn(f64) -> String,
    ) -> DataTable {
        let mut head = vec![across.to_string()];
        head.extend(lines.iter().map(|line| line.label.clone()));
        let mut places: Vec<f64> =
            lines.iter().flat_map(|line| line.points.iter().map(|&(x, _)| x)).collect();
        places.sort_unstable_by(f64::total_cmp);
        places.dedup();
        let rows = if places.len() <= MOST_ROWS {
            let at = |line: &Line, x: f64| {
                let found = line.points.iter().find(|point| point.0 == x);
                found.map_or_else(|| "–".to_string(), |&(_, y)| value(y))
            };
            let row = |&x: &f64| (place(x), lines.iter().map(|line| at(line, x)).collect());
            places.iter().map(row).collect()
        } else {
            let row = |part: &[f64]| {
                let (from, to) = (part[0], part[part.len() - 1]);
                let values = lines.iter().map(|line| within(line, from, to, &value)).collect();
                (format!("{} to {}", place(from), place(to)), values)
            };
            places.chunks(places.len().div_ceil(PARTS)).map(row).collect()
        };
        DataTable { head, rows }
    }

    /// The table, named for those who hear it.
    pub(super) fn markup(&self, title: &str) -> Markup {
        html! {
            div.wide tabindex="0" role="region" aria-label=(format!("Table: {title}")) {
                table {
                    thead { tr { @for heading in &self.head { th scope="col" { (heading) } } } }
                    tbody { @for (name, values) in &self.rows { tr {
                        th scope="row" { (name) }
                        @for value in values { td { (value) } }
                    } } }
                }
            }
        }
    }
}

/// "lowest – highest" of a line between two places; one number where they are the same.
fn within(line: &Line, from: f64, to: f64, say: impl Fn(f64) -> String) -> String {
    let inside = || {
        let part = line.points.iter().filter(|(x, y)| (from..=to).contains(x) && y.is_finite());
        part.map(|&(_, y)| y)
    };
    match inside().reduce(f64::min).zip(inside().reduce(f64::max)) {
        None => "–".into(),
        Some((low, high)) => match (say(low), say(high)) {
            (low, high) if low == high => low,
            (low, high) => format!("{low} – {high}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::Marks;
    use super::*;

    #[test]
    fn few_points_have_rows_and_many_have_parts() {
        let line = |points: Vec<(f64, f64)>| Line {
            label: "a".into(),
            style: 0,
            points,
            marks: Marks::None,
            says: Vec::new(),
        };
        let text = |value: f64| value.to_string();
        let few = [line(vec![(1.0, 5.0), (2.0, 6.0)]), line(vec![(2.0, 7.0)])];
        let table = DataTable::of_lines("QD", &few, text, text);
        assert_eq!(table.head, ["QD", "a", "a"]);
        let rows = [
            ("1".to_string(), vec!["5".to_string(), "–".to_string()]),
            ("2".to_string(), vec!["6".to_string(), "7".to_string()]),
        ];
        assert_eq!(table.rows, rows);
        let many = [line((1..=2000).map(|x| (f64::from(x), f64::from(x % 100))).collect())];
        let table = DataTable::of_lines("s", &many, text, text);
        assert_eq!(table.rows.len(), PARTS);
        assert_eq!(table.rows[0], ("1 to 100".to_string(), vec!["0 – 99".to_string()]));
        assert_eq!(table.rows[19].0, "1901 to 2000");
    }
}
