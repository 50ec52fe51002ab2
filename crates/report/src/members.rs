//! The drives of an array or a cache: what each did, in a table of the page and of the terminal.

use comfy_table::{Attribute, Cell, CellAlignment, LineStyle, Table};
use fourcorners_record::{MemberUse, Record};
use maud::{Markup, html};

use super::entries::Entry;
use super::table::plain;
use super::words::{NO_VALUE, bytes, method_words, percent, ratio};

/// What the tables are of.
const CAPTION: &str = "Its drives";

/// A column beyond those of all, if one of the drives has something for it.
struct Column {
    heading: &'static str,
    value: fn(&MemberUse) -> Option<String>,
}

const COLUMNS: [Column; 6] = [
    Column { heading: "Read", value: |it| Some(bytes(it.read_bytes)) },
    Column { heading: "Written", value: |it| Some(bytes(it.written_bytes)) },
    Column { heading: "To NAND", value: |it| it.nand_bytes.map(bytes) },
    Column { heading: "Write ampl.", value: |it| it.write_amplification.map(ratio) },
    Column { heading: "Energy", value: |it| it.joules.map(joules) },
    Column {
        heading: "Endurance used",
        value: |it| it.wear.map(|wear| percent(wear.endurance_used)),
    },
];

/// What each drive of a record did, as rows under headings.
struct Members {
    headings: Vec<&'static str>,
    rows: Vec<(String, Vec<String>)>,
}

impl Members {
    /// `None` of a single drive.
    fn of(record: &Record) -> Option<Members> {
        let members = record.members();
        let has = |column: &&Column| members.iter().any(|it| (column.value)(it).is_some());
        let columns: Vec<&Column> = COLUMNS.iter().filter(has).collect();
        let row = |(at, member): (usize, &MemberUse)| {
            let value = |column: &&Column| (column.value)(member);
            let values = columns.iter().map(|it| value(it).unwrap_or_else(|| NO_VALUE.into()));
            (name(record, at, member), values.collect())
        };
        let rows: Vec<(String, Vec<String>)> = members.iter().enumerate().map(row).collect();
        let headings = columns.iter().map(|column| column.heading).collect();
        (!rows.is_empty()).then_some(Members { headings, rows })
    }
}

/// "Drive 2: Crucial m4 256 GB", and what became of it.
fn name(record: &Record, at: usize, member: &MemberUse) -> String {
    let role = match member.role.as_str() {
        "ssd" => "SSD".into(),
        "disk" => "Disk".into(),
        _ => format!("Drive {}", at + 1),
    };
    let title = record.target.drives.get(at).map_or_else(String::new, |it| format!(": {it}"));
    let worn = member.wear.is_some_and(|wear| wear.read_only);
    let state = match (member.failed, worn) {
        (true, _) => " (failed)",
        (false, true) => " (worn out)",
        (false, false) => "",
    };
    format!("{role}{title}{state}")
}

/// Energy in the unit that suits it.
fn joules(joules: f64) -> String {
    match joules.abs() {
        size if !size.is_finite() => NO_VALUE.into(),
        1e6.. => format!("{:.2} MJ", joules / 1e6),
        1e3.. => format!("{:.2} kJ", joules / 1e3),
        _ => format!("{joules:.1} J"),
    }
}

/// For the page; `None` of a single drive.
pub(super) fn markup(entry: &Entry) -> Option<Markup> {
    let Members { headings, rows } = Members::of(entry.record)?;
    let label = format!("Drives of {}, {}", entry.label, method_words(&entry.record.method));
    Some(html! {
        div.wide tabindex="0" role="region" aria-label=(label) {
            table {
                caption { span { (CAPTION) } }
                thead { tr {
                    th scope="col" { "Drive" }
                    @for heading in &headings { th scope="col" { (heading) } }
                } }
                tbody { @for (name, values) in &rows { tr {
                    th scope="row" { (name) }
                    @for value in values { td { (value) } }
                } } }
            }
        }
        p.note {
            "All figures together: what the drives were asked for, copies, parity and a rebuild included. A fill or a torture between the "
            "figures is in their endurance only."
        }
    })
}

/// For a terminal, in an empty table; `None` of a single drive.
pub(super) fn table(record: &Record, mut table: Table) -> Option<Table> {
    let Members { headings, rows } = Members::of(record)?;
    table.style_mut().header_separator = LineStyle::none().fill('─').junction('─');
    let right = |text: &str| Cell::new(text).set_alignment(CellAlignment::Right);
    let headings = headings.iter().map(|heading| right(heading).add_attribute(Attribute::Bold));
    table.set_header(std::iter::once(Cell::new(CAPTION)).chain(headings));
    for (name, values) in &rows {
        let values = values.iter().map(|value| right(value));
        table.add_row(std::iter::once(Cell::new(plain(name))).chain(values));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_padding((1, 0));
    }
    Some(table)
}
