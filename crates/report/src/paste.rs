//! Tables as text to paste into a forum or a README: Markdown and BBCode.

use comfy_table::{Row, Table};

/// What tables are written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pasted {
    /// As on GitHub and in most forums of today.
    Markdown,
    /// As in older forums.
    BbCode,
}

/// A table, or its lines where it has no heading.
pub(super) fn table(table: &Table, form: Pasted) -> String {
    let cells = |row: &Row| -> Vec<String> {
        row.cell_iter()
            .map(|cell| cell.content().split_whitespace().collect::<Vec<_>>().join(" "))
            .collect()
    };
    let rows: Vec<Vec<String>> = table.row_iter().map(cells).collect();
    match table.header().map(cells) {
        None => rows.iter().map(|row| format!("{}\n", form.text(&row.join(" ")))).collect(),
        Some(head) => form.table(&head, &rows),
    }
}

impl Pasted {
    /// Words that the form reads nothing into.
    fn text(self, words: &str) -> String {
        match self {
            Pasted::Markdown => {
                words.replace('\\', "\\\\").replace('|', "\\|").replace('<', "&lt;")
            }
            // BBCode has no escapes.
            Pasted::BbCode => words.replace('[', "(").replace(']', ")"),
        }
    }

    fn table(self, head: &[String], rows: &[Vec<String>]) -> String {
        let told =
            |row: &[String]| -> Vec<String> { row.iter().map(|cell| self.text(cell)).collect() };
        match self {
            Pasted::Markdown => {
                let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
                // Names stand at the left, numbers at the right.
                let rule =
                    head.iter().enumerate().map(|(at, _)| if at == 0 { "---" } else { "---:" });
                let rule = line(rule.map(String::from).collect());
                let rows: String = rows.iter().map(|row| line(told(row))).collect();
                line(told(head)) + &rule + &rows
            }
            Pasted::BbCode => {
                let line = |cells: Vec<String>, tag: &str| {
                    let cells: String =
                        cells.iter().map(|cell| format!("[{tag}]{cell}[/{tag}]")).collect();
                    format!("[tr]{cells}[/tr]\n")
                };
                let rows: String = rows.iter().map(|row| line(told(row), "td")).collect();
                format!("[table]\n{}{rows}[/table]\n", line(told(head), "th"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_rows_between_bars_or_tags() {
        let mut of = Table::new();
        of.set_header(["", "MB/s\nmean"]);
        of.add_row(["a|b [i]", "1.5"]);
        assert_eq!(
            table(&of, Pasted::Markdown),
            "|  | MB/s mean |\n| --- | ---: |\n| a\\|b [i] | 1.5 |\n"
        );
        let bb = "[table]\n[tr][th][/th][th]MB/s mean[/th][/tr]\n[tr][td]a|b (i)[/td][td]1.5[/td][/tr]\n[/table]\n";
        assert_eq!(table(&of, Pasted::BbCode), bb);
        let mut words = Table::new();
        words.add_row(["<b> said"]);
        assert_eq!(table(&words, Pasted::Markdown), "&lt;b> said\n");
    }
}
