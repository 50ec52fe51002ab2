//! A choice for a terminal.

use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, presets,
};
use fourcorners_record::{Choice, RankedDrive};
use fourcorners_words::{counted, three_digits};

use super::super::paste::{self, Pasted};
use super::super::table::plain;
use super::{BAND, COSTS, Column, TIMES, known};

/// The place of the column of names.
const NAME: usize = 1;
/// Columns that a name that is broken over lines has at least.
const SHORTEST_NAME: usize = 12;

/// The work, the answer in sentences, and the ranking, no wider than `width` columns.
pub fn choice_table(choice: &Choice, width: u16) -> String {
    let mut blocks = vec![paragraph(&about(choice), width)];
    blocks.extend(replay_words(choice).map(|words| paragraph(&words, width)));
    blocks.push(paragraph(&choice.sentences().join(" "), width));
    // Side by side they would not fit 80 columns.
    for columns in [known(choice, &TIMES), known(choice, &COSTS)] {
        if !columns.is_empty() {
            blocks.push(lines(&ranking(choice, &columns, width)));
        }
    }
    let mut rest = remarks(choice);
    rest.extend(hint(choice));
    blocks.push(rest.iter().map(|text| paragraph(text, width)).collect::<Vec<_>>().join("\n"));
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n\n")
}

/// The same as Markdown or BBCode, to paste: all that is known of a drive in one row.
pub fn choice_pasted(choice: &Choice, form: Pasted) -> String {
    let said = |text: &str| {
        let mut lines = Table::new();
        lines.add_row([plain(text)]);
        paste::table(&lines, form)
    };
    let columns: Vec<&Column> =
        [known(choice, &TIMES), known(choice, &COSTS)].into_iter().flatten().collect();
    let mut blocks = vec![said(&about(choice))];
    blocks.extend(replay_words(choice).map(|words| said(&words)));
    blocks.push(said(&choice.sentences().join(" ")));
    blocks.push(paste::table(&ranking(choice, &columns, u16::MAX), form));
    blocks.extend(remarks(choice).iter().map(|remark| said(remark)));
    blocks.join("\n")
}

/// The work and the state of the drives before it.
fn about(choice: &Choice) -> String {
    let work = &choice.work;
    format!(
        "{}: {}, {}, {}; {}",
        work.name,
        counted(work.ios, "I/O"),
        moved(work.read_gb, "read"),
        moved(work.written_gb, "written"),
        state_words(&choice.state)
    )
}

/// How much the work moves.
pub(super) fn moved(gb: f64, how: &str) -> String {
    match gb {
        0.0 => format!("nothing {how}"),
        ..0.001 => format!("{} kB {how}", three_digits(gb * 1e6)),
        _ => format!("{} GB {how}", three_digits(gb)),
    }
}

/// What has to be known of the ranking, and which drives are not in it.
fn remarks(choice: &Choice) -> Vec<String> {
    let left_out = choice.left_out.iter().map(|it| format!("Left out: {}: {}", it.drive, it.why));
    choice.notes.iter().cloned().chain(left_out).collect()
}

/// What was done to the drives before the work.
pub(super) fn state_words(state: &str) -> String {
    match state {
        "written" => "the data it touches was written first".into(),
        "used" => "drives were filled and overwritten before".into(),
        "full" => "drives were filled before".into(),
        "empty" => "drives were new and empty".into(),
        other => format!("drives are {other}"),
    }
}

/// How a recording was replayed, where that was not as for every choice.
pub(super) fn replay_words(choice: &Choice) -> Option<String> {
    let replay = choice.replay.as_ref()?;
    let pace = match replay.pace.as_str() {
        "recorded" => "at the recorded times".to_string(),
        "fast" => "as fast as the queue takes it".to_string(),
        _ => match replay.idle_cap_ms {
            Some(0.0) => "without its think time".to_string(),
            Some(cap) => {
                format!("after its think time, at most {} ms of it each time", three_digits(cap))
            }
            None => "after its think time".to_string(),
        },
    };
    let host = match replay.host.as_str() {
        "0" => {
            "; the host in front of each drive takes no time ([host] is 0), as while a drive is served"
        }
        _ => "",
    };
    Some(format!("Replayed {pace}, at most {} in flight{host}.", replay.queue_depth))
}

/// What was not asked for and would say more.
fn hint(choice: &Choice) -> Option<String> {
    // A replay has no such option.
    (choice.gb_per_day.is_none() && choice.replay.is_none()).then(|| {
        "--gb-per-day N gives years of flash, and with --have DRIVE hours a year.".to_string()
    })
}

fn ranking(choice: &Choice, columns: &[&Column], width: u16) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.style_mut().header_separator = LineStyle::none().fill('─').junction('─');
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    let right = |text: &str| Cell::new(plain(text)).set_alignment(CellAlignment::Right);
    let mut head = vec![right("rank"), Cell::new("drive")];
    head.extend(columns.iter().map(|column| right(column.short)));
    table.set_header(head);
    for drive in &choice.ranking {
        let mut row =
            vec![right(&drive.rank.to_string()), Cell::new(plain(&marked(choice, drive)))];
        row.extend(columns.iter().map(|column| right(&column.of(drive))));
        table.add_row(row);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    // What is typed again is not broken over lines, nor is a number parted from its unit. A name that leaves no room for the
    // headings is broken, and they are not.
    let widths: Vec<usize> =
        table.column_max_content_widths().iter().map(|&it| usize::from(it)).collect();
    let all = widths.iter().map(|width| width + 1).sum::<usize>();
    let others = all - widths[NAME];
    let room = usize::from(width);
    let whole: Vec<usize> = match all > room && others + SHORTEST_NAME <= room {
        true => (0..widths.len()).filter(|&at| at != NAME).collect(),
        false => {
            let band = columns.iter().position(|column| column.heading == BAND).map(|at| at + 2);
            [Some(NAME), band].into_iter().flatten().collect()
        }
    };
    for whole in whole {
        if let Some(column) = table.column_mut(whole) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    table
}

/// A drive's name, with a mark if it is the one that the reader has or if addresses were changed.
pub(super) fn marked(choice: &Choice, drive: &RankedDrive) -> String {
    let star = if drive.rescaled { "*" } else { "" };
    let yours = if choice.have.as_ref() == Some(&drive.drive) { " (yours)" } else { "" };
    format!("{}{star}{yours}", drive.drive)
}

fn paragraph(text: &str, width: u16) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    table.add_row([plain(text)]);
    if let Some(column) = table.column_mut(0) {
        column.set_padding((0, 0));
    }
    lines(&table)
}

fn lines(table: &Table) -> String {
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::tests::{choice, drive};
    use super::*;

    #[test]
    fn the_table_has_the_answer_the_ranking_and_what_was_left_out() {
        let mut choice = choice(vec![drive("a\u{1b}[31m", 1, 1, 1.0), drive("b", 2, 2, 20.0)]);
        choice.have = Some("b".into());
        choice.ranking[1].rescaled = true;
        choice.rescaled = true;
        let text = choice_table(&choice, 80);
        for told in ["20,000 I/Os", "b* (yours)", "Left out: small: it is <small>", "A remark."] {
            assert!(text.contains(told), "{told}: {text}");
        }
        assert!(text.contains(" 0.500 GB read, 0.100 GB written;"), "{text}");
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for told in [
            "; the data it touches was written first",
            "changed to fit 1 drive, marked *: distances",
        ] {
            assert!(flat.contains(told), "{told}: {text}");
        }
        assert_eq!(state_words("full"), "drives were filled before");
        assert_eq!([0.0, 4.1e-5].map(|gb| moved(gb, "read")), ["nothing read", "41.0 kB read"]);
        assert!(!text.contains('\u{1b}'), "a name cannot steer the terminal");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        // A name as long as the longest of the catalogue leaves room for each number and its unit.
        let mut long =
            super::super::tests::choice(vec![drive("samsung-970-evo-plus-1000gb-x", 1, 1, 1.0)]);
        long.ranking[0].band_s = [0.0011, 0.0016];
        let text = choice_table(&long, 80);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains(" 1.10–1.60 ms "), "{text}");
    }

    #[test]
    fn a_long_name_is_broken_and_no_heading() {
        let name = "cache:crucial-m4-64gb:writethrough:cold+wd-velociraptor-300gb";
        let headings = |name: &str| {
            let mut choice = choice(vec![drive("b", 1, 1, 0.00012), drive(name, 2, 2, 123.0)]);
            choice.ranking[1].p99_us = 123_456.0;
            let text = choice_table(&choice, 80);
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
            let head = text.lines().find(|line| line.contains("drive ")).expect("a heading");
            (head.split_whitespace().map(str::to_owned).collect::<Vec<_>>(), text)
        };
        let whole = ["rank", "drive", "waits", "band", "tier", "p99", "by", "p99"];
        let (long, text) = headings(name);
        assert_eq!(long, whole, "{text}");
        // Rows are indented, sentences are not.
        let mut rows = text.lines().filter(|line| line.starts_with(' '));
        assert!(!rows.any(|line| line.contains(name)), "{text}");
        // One that has room is typed again as it stands.
        let (short, text) = headings("cache:crucial-m4-64gb+b");
        assert_eq!(short, whole, "{text}");
        assert!(text.contains("cache:crucial-m4-64gb+b "), "{text}");
    }

    #[test]
    fn to_paste_each_drive_is_a_row_with_all_that_is_known_of_it() {
        let mut choice = choice(vec![drive("a|b", 1, 1, 1.0), drive("b", 2, 2, 20.0)]);
        choice.ranking[0].energy_wh = Some(1.5);
        let text = choice_pasted(&choice, Pasted::Markdown);
        let rows = || text.lines().filter(|line| line.starts_with("| "));
        let row = |name: &str| rows().find(|line| line.contains(name)).expect(name);
        assert!(
            row("a\\|b").starts_with("| 1 | a\\|b | ") && row("a\\|b").contains("1.5"),
            "{text}"
        );
        assert!(row("| b |").starts_with("| 2 | b | "), "{text}");
        assert!(text.contains("Left out: small: it is &lt;small>"), "{text}");
        let text = choice_pasted(&choice, Pasted::BbCode);
        assert!(text.contains("[tr][td]1[/td][td]a|b[/td]"), "{text}");
    }
}
