//! The review as a table for a terminal.

use comfy_table::presets::NOTHING;
use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, LineStyle, Table};
use fourcorners_record::{Document, disagreements};
use fourcorners_results::compare::Side;
use fourcorners_words::steers_a_terminal;

use super::entries::{DriveRecords, Entries, Entry, drives_of};
use super::lengths::why_unranked;
use super::members;
use super::paste::{self, Pasted};
use super::plot::plots;
use super::replay;
use super::standings::{Column, Standings};
use super::tasks;
use super::variation;
use super::words::{
    NO_VALUE, bytes, clock_words, ended_words, figure_words, iops, kind_words, method_words,
    micros, rate, watts,
};

/// Each record as a table no wider than `width` columns, with what it concludes beneath; of several drives
/// the ranking comes last.
///
/// At 80 columns every figure has MB/s (10^6 bytes per second), IOPS, and its latency: mean,
/// 99 %, 99.9 % and the longest. With `colour`, headings are bold and what is not complete is
/// yellow; the words are the same without. Control characters in names are replaced, so that a
/// record cannot drive the terminal.
pub fn table(document: &Document, width: usize, colour: bool) -> String {
    text(document, Page { colour, ..Page::of(width) })
}

/// The same tables and sentences as Markdown or BBCode, to paste.
pub fn pasted(document: &Document, form: Pasted) -> String {
    text(document, Page { form: Some(form), ..Page::of(0) })
}

fn text(document: &Document, page: Page) -> String {
    let all = Entries::of(document);
    if all.all.is_empty() {
        return "No records.\n".into();
    }
    let mut blocks: Vec<String> = all.all.iter().map(|entry| page.block(entry)).collect();
    for (heading, table) in tasks::compared(&all, || page.text()) {
        let mut about = page.text();
        about.add_row([Cell::new(plain(&heading)).add_attribute(Attribute::Bold)]);
        blocks.push(format!("{}\n{}", page.print(about), page.print(table)));
    }
    for found in disagreements(&document.records) {
        let mut table = page.text();
        table.add_row([
            Cell::new(plain(&format!("{}: verdicts differ", found.target))).fg(Color::Yellow)
        ]);
        table.add_row([Cell::new(plain(&found.text))]);
        blocks.push(page.print(table));
    }
    if let Some(sentence) = variation::sentence(&document.records) {
        let mut table = page.text();
        table.add_row([Cell::new(plain(&sentence))]);
        blocks.push(page.print(table));
    }
    blocks.extend(page.ranking(&all.drives));
    blocks.join("\n")
}

/// The ranking of several drives: one table no wider than `width` columns and at most three sentences;
/// why there is none where their measures are of unlike work; empty if no measure is of two drives.
pub fn standings_table(sides: &[Side], width: usize, colour: bool) -> String {
    standings(sides, Page { colour, ..Page::of(width) })
}

/// The same as Markdown or BBCode, to paste.
pub fn standings_pasted(sides: &[Side], form: Pasted) -> String {
    standings(sides, Page { form: Some(form), ..Page::of(0) })
}

fn standings(sides: &[Side], page: Page) -> String {
    page.ranking(&drives_of(sides)).unwrap_or_default()
}

/// What all tables are set on.
#[derive(Clone, Copy)]
struct Page {
    width: u16,
    colour: bool,
    /// What it is pasted as; for a terminal if it is not.
    form: Option<Pasted>,
}

impl Page {
    fn of(width: usize) -> Page {
        let width = u16::try_from(width).unwrap_or(u16::MAX).max(1);
        Page { width, colour: false, form: None }
    }

    fn block(self, entry: &Entry) -> String {
        let record = entry.record;
        let mut heading = self.text();
        heading.add_row([Cell::new(plain(&entry.label)).add_attribute(Attribute::Bold)]);
        let about = format!(
            "{} {}, {}, {}{}",
            bytes(record.target.capacity_bytes),
            kind_words(record.target.kind),
            clock_words(record.clock),
            method_words(&record.method),
            if record.quick { ", quick" } else { "" }
        );
        heading.add_row([Cell::new(plain(&about))]);
        if let Some(how) = ended_words(&record.ended) {
            heading.add_row([Cell::new(plain(&how)).fg(Color::Yellow)]);
        }
        let mut blocks = vec![self.print(heading)];
        if !record.figures.is_empty() {
            blocks.push(self.print(self.figures(entry)));
        }
        if tasks::are_tasks(record) && !record.replays.is_empty() {
            blocks.push(self.print(tasks::task_table(record, self.text())));
        }
        let bench = record.replays.values().filter(|_| !tasks::are_tasks(record));
        for replay in record.replay.iter().chain(bench) {
            let mut about = self.text();
            about.add_row([Cell::new(plain(&replay::about(replay)))]);
            blocks.push(self.print(about));
            if !replay.figures.is_empty() {
                blocks.push(self.print(replay::figures(replay, self.text())));
            }
        }
        if let Some(drives) = members::table(record, self.text()) {
            blocks.push(self.print(drives));
        }
        // Braille and blocks are for a terminal.
        if self.form.is_none() {
            blocks.extend(plots(entry, usize::from(self.width)));
        }
        let conclusions = record.conclusions();
        if !conclusions.is_empty() {
            let mut lines = self.text();
            for concluded in &conclusions {
                lines.add_row([Cell::new(plain(&concluded.text))]);
            }
            blocks.push(self.print(lines));
        }
        blocks.join("\n")
    }

    /// The ranking, or why there is none; nothing where there is nothing to rank.
    fn ranking(self, drives: &[DriveRecords]) -> Option<String> {
        let standings = Standings::of_drives(drives);
        let why = why_unranked(drives, standings.is_some());
        match standings {
            Some(standings) => Some(self.standings(&standings, why)),
            None => why.map(|why| self.sentences([why])),
        }
    }

    /// The drives in one table, the best first, and the sentences beneath; last why some are not ranked.
    fn standings(self, standings: &Standings, why_unranked: Option<String>) -> String {
        let mut heading = self.text();
        let title = format!("All drives by their mean place. {}", standings.units());
        heading.add_row([Cell::new(title).add_attribute(Attribute::Bold)]);
        if standings.mixed_clocks {
            let clocks = "Virtual time comes from a model, wall time from hardware.";
            heading.add_row([Cell::new(clocks)]);
        }
        let mut table = self.text();
        table.style_mut().header_separator = LineStyle::none().fill('─').junction('─');
        let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
        let headings = standings
            .columns
            .iter()
            .map(|column| right(column.measure.heading.join("\n")).add_attribute(Attribute::Bold));
        table.set_header(std::iter::once(Cell::new("")).chain(headings));
        for (drive, (label, rank)) in standings.drives.iter().zip(&standings.ranks).enumerate() {
            let cell = |column: &Column| {
                let value = column.values[drive].map(|value| column.measure.value(value));
                let cell = right(value.unwrap_or_else(|| NO_VALUE.into()));
                let leads = column.is_first_alone(drive);
                if leads { cell.add_attribute(Attribute::Bold) } else { cell }
            };
            let rank = rank.map_or_else(|| NO_VALUE.into(), |rank| rank.to_string());
            let name = std::iter::once(Cell::new(format!("{rank}\u{a0}{}", plain(label))));
            table.add_row(name.chain(standings.columns.iter().map(cell)));
        }
        for column in table.column_iter_mut().skip(1) {
            column.set_padding((1, 0));
        }
        let said = self.sentences(standings.sentences().into_iter().chain(why_unranked));
        [self.print(heading), self.print(table), said].join("\n")
    }

    fn sentences(self, said: impl IntoIterator<Item = String>) -> String {
        let mut sentences = self.text();
        for sentence in said {
            sentences.add_row([Cell::new(plain(&sentence))]);
        }
        self.print(sentences)
    }

    fn figures(self, entry: &Entry) -> Table {
        let mut table = self.text();
        table.style_mut().header_separator = LineStyle::none().fill('─').junction('─');
        let headings = ["", "MB/s", "IOPS", "latency\nmean", "\n99 %", "\n99.9 %", "\nmax"];
        // A column that most drives have nothing for.
        let powered = entry.record.figures.values().any(|figure| figure.mean_power_w.is_some());
        let headings = headings.into_iter().chain(powered.then_some("power"));
        table.set_header(headings.map(|heading| {
            Cell::new(heading).set_alignment(CellAlignment::Right).add_attribute(Attribute::Bold)
        }));
        for (name, figure) in &entry.record.figures {
            let latency = &figure.latency_us;
            // "QD" and its number stay on one line.
            let words = plain(&figure_words(name)).replace("QD ", "QD\u{a0}");
            let name = match figure.complete {
                true => Cell::new(words),
                false => Cell::new(format!("{words} (incomplete)")).fg(Color::Yellow),
            };
            let numbers = [
                rate(figure.mb_per_s),
                iops(figure.iops),
                micros(latency.mean),
                micros(latency.p99),
                micros(latency.p999),
                micros(latency.max),
            ];
            let power = powered.then(|| figure.mean_power_w.map_or_else(|| NO_VALUE.into(), watts));
            let numbers = numbers.into_iter().chain(power);
            let numbers = numbers.map(|text| Cell::new(text).set_alignment(CellAlignment::Right));
            table.add_row(std::iter::once(name).chain(numbers));
        }
        for column in table.column_iter_mut().skip(1) {
            column.set_padding((1, 0));
        }
        table
    }

    /// An empty table without lines, as wide as the page.
    fn text(self) -> Table {
        let mut table = Table::new();
        table
            .load_style(NOTHING)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(self.width);
        if self.colour {
            table.enforce_styling()
        } else {
            table.force_no_tty()
        };
        table
    }

    fn print(self, mut table: Table) -> String {
        if let Some(form) = self.form {
            return paste::table(&table, form);
        }
        if let Some(first) = table.column_mut(0) {
            first.set_padding((0, 0));
        }
        table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
    }
}

/// Text that cannot steer a terminal: no control characters, and none that reorder it.
pub fn plain(text: &str) -> String {
    text.chars().map(|c| if steers_a_terminal(c) { '\u{fffd}' } else { c }).collect()
}
