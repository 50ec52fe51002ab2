//! `fourcorners drives`: the catalogue.

use std::io::{Write, stdout};
use std::path::Path;

use comfy_table::{ColumnConstraint, ContentArrangement, LineStyle, Table, Width, presets};
use fourcorners_catalogue::{
    self as catalogue, Family, HostController, Profile, ProfileValue, Standing,
};
use fourcorners_drive::config::PortTrim;
use fourcorners_lab::array::ArrayProfile;
use fourcorners_lab::validate::ErrorTable;
use serde_json::json;

use super::args::{DrivesArgs, DrivesCommand};
use super::new_drive;
use super::outcome::{End, Failure};
use super::terminal::{columns, paragraph};

pub(super) fn run(args: &DrivesArgs) -> Result<End, Failure> {
    if let Some(DrivesCommand::New(args)) = &args.command {
        return new_drive::run(args);
    }
    let text = match (&args.name, args.hosts) {
        (Some(name), false) if args.toml => find(name)?.to_toml().trim_end().into(),
        (Some(name), false) => one(&Printed::drive(&find(name)?), args.json)?,
        (Some(name), true) => one(&Printed::host(&find_host(name)?), args.json)?,
        (None, false) => all(args)?,
        (None, true) => all_hosts(args.json)?,
    };
    writeln!(stdout().lock(), "{text}")?;
    Ok(End::Done)
}

fn find(name: &str) -> Result<Profile, Failure> {
    if let Some(array) = ArrayProfile::find(name, None, &[]) {
        let array = array.map_err(|error| Failure::Usage(error.to_string()))?;
        let title = array.title;
        let why = format!("{name} is several drives ({title}): name one of them");
        return Err(Failure::Usage(why));
    }
    let profile = match name.ends_with(".toml") {
        true => catalogue::from_file(Path::new(name), &[]),
        false => catalogue::built_in(name, &[]),
    };
    profile.map_err(|error| Failure::Usage(error.to_string()))
}

fn find_host(name: &str) -> Result<HostController, Failure> {
    catalogue::host(name).map_err(|error| Failure::Usage(error.to_string()))
}

/// A drive as it is listed.
struct Listed {
    profile: Profile,
    interface: String,
    year: Option<u16>,
    /// What is searched, in small letters.
    text: String,
    /// Published figures of its model, and how far off they are in the middle.
    figures: usize,
    median: Option<f64>,
}

impl Listed {
    fn of(name: &str, fidelity: &Fidelity) -> Result<Listed, Failure> {
        let profile = find(name)?;
        let family = fidelity.families.iter().find(|it| it.drives.iter().any(|it| it == name));
        let year = family.and_then(|family| family.published.year);
        let names = family.map_or(String::new(), |family| family.published.names.join(" "));
        let interface = profile.interface();
        let (kind, said) = (profile.model.kind(), year.map(|it| it.to_string()));
        let words = [name, &profile.title, &names, kind, &interface, &said.unwrap_or_default()];
        let text = words.join(" ").to_lowercase();
        let (figures, median) = fidelity.of(name);
        Ok(Listed { profile, interface, year, text, figures, median })
    }
}

/// Whether a text in small letters has a word: anywhere in it, or a number as one, alone or before GB.
fn has(text: &str, word: &str) -> bool {
    if !word.bytes().all(|it| it.is_ascii_digit()) {
        return text.contains(word);
    }
    text.split(|c: char| !c.is_alphanumeric())
        .any(|part| part.strip_prefix(word).is_some_and(|rest| ["", "gb"].contains(&rest)))
}

/// The first and the last of the years that are asked for.
fn years(text: &str) -> Result<[u16; 2], Failure> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.trim().parse(), last.trim().parse()) {
        (Ok(first), Ok(last)) if first <= last => Ok([first, last]),
        _ => {
            Err(Failure::Usage(format!("--year {text} must be a year, or two of them: 2008-2012")))
        }
    }
}

fn all(args: &DrivesArgs) -> Result<String, Failure> {
    let words = args.search.iter().flat_map(|text| text.split_whitespace());
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    let years = args.year.as_deref().map(years).transpose()?;
    let fidelity = Fidelity::built_in();
    let listed: Vec<Listed> = catalogue::names()
        .iter()
        .map(|name| Listed::of(name, &fidelity))
        .collect::<Result<_, Failure>>()?;
    let is_asked_for = |it: &&Listed| {
        let in_years =
            years.is_none_or(|[first, last]| it.year.is_some_and(|it| first <= it && it <= last));
        words.iter().all(|word| has(&it.text, word))
            && args.kind.as_deref().is_none_or(|kind| kind == it.profile.model.kind())
            && in_years
    };
    let listed: Vec<&Listed> = listed.iter().filter(is_asked_for).collect();
    if listed.is_empty() {
        let asked = [
            (!words.is_empty()).then(|| format!("--search {}", words.join(" "))),
            args.kind.as_ref().map(|kind| format!("--kind {kind}")),
            args.year.as_ref().map(|year| format!("--year {year}")),
        ];
        let asked: Vec<String> = asked.into_iter().flatten().collect();
        let why = format!("{}: no drive of the catalogue has all of that", asked.join(" "));
        return Err(Failure::Usage(why));
    }
    if args.json {
        let drives = listed.iter().map(|it| {
            let Listed { profile, interface, year, figures, median, .. } = it;
            json!({"name": profile.name, "title": profile.title, "kind": profile.model.kind(),
                   "interface": interface, "year": year,
                   "capacity_bytes": profile.capacity_bytes(), "fitted": profile.fitted(),
                   "published_figures": figures, "median_error": median})
        });
        let document =
            json!({"schema": "fourcorners.drives/1", "drives": drives.collect::<Vec<_>>()});
        return Ok(serde_json::to_string_pretty(&document)?);
    }
    let longest = listed.iter().map(|it| it.profile.name.len()).max().unwrap_or(0);
    let mut text =
        format!("{:<longest$}  kind  capacity  interface    year  figures  error\n", "name");
    for Listed { profile, interface, year, figures, median, .. } in listed {
        let median = median.map_or("-".into(), |error| format!("{:.0} %", error * 100.0));
        text += &format!(
            "{:<longest$}  {:<4}{:>7.0} GB  {interface:<11}{:>6}{figures:>9}{median:>7}\n",
            profile.name,
            profile.model.kind(),
            profile.capacity_bytes() as f64 / 1e9,
            year.map_or("-".into(), |year| year.to_string())
        );
    }
    let hint = "figures: published rates and latencies of the model, of all its capacities; error: the median of how far \
                its virtual drives are off (docs/FIDELITY.md has power and the like besides). `fourcorners drives NAME` prints a drive with \
                the source of every value, `fourcorners drives new` makes one from a data sheet.";
    Ok(format!("{text}\n{}", paragraph(hint)))
}

/// How well the drives of a file of the catalogue meet published figures.
struct Fidelity {
    errors: ErrorTable,
    families: Vec<Family>,
}

impl Fidelity {
    fn built_in() -> Fidelity {
        Fidelity { errors: ErrorTable::built_in(), families: catalogue::families() }
    }

    /// How many figures of its file were run, and their median error.
    fn of(&self, drive: &str) -> (usize, Option<f64>) {
        let family = self.families.iter().find(|family| family.drives.iter().any(|it| it == drive));
        family.map_or((0, None), |family| self.errors.of_family(&family.name))
    }
}

fn all_hosts(json: bool) -> Result<String, Failure> {
    let hosts: Vec<HostController> =
        catalogue::host_names().into_iter().map(find_host).collect::<Result<_, _>>()?;
    if json {
        let hosts: Vec<_> =
            hosts.iter().map(|host| json!({"name": host.name, "title": host.title})).collect();
        let document = json!({"schema": "fourcorners.hosts/1", "hosts": hosts});
        return Ok(serde_json::to_string_pretty(&document)?);
    }
    let mut table = table();
    table.set_header(["name", "host", "ports", "us", "k I/Os/s", "TRIM"]);
    for host in &hosts {
        let model = &host.model;
        let host_us = |by: Option<f64>| by.unwrap_or(model.host.command_us);
        let (read_us, write_us) =
            (host_us(model.host.read_command_us), host_us(model.host.write_command_us));
        table.add_row([
            host.name.clone(),
            host.title.clone(),
            model.ports.as_ref().map_or("any".into(), |ports| format!("{} Gb/s", ports.max_gbps)),
            if read_us == write_us {
                read_us.to_string()
            } else {
                format!("{read_us}, {write_us}")
            },
            match model.host.process_us {
                Some(us) if us > 0.0 => format!("{:.0}", 1000.0 / us),
                _ => "any".into(),
            },
            trim(model.trim()).into(),
        ]);
    }
    // What is looked for as it stands here.
    [0, 2, 3, 4, 5].into_iter().for_each(|column| keep_whole(&mut table, column));
    let hint = "us: microseconds that a command takes of the host (of a read, and of a write where it differs). k I/Os/s: \
                what one process reaches, thousands a second; `--set host.processes=N` has more of them. `fourcorners review DRIVE --host NAME` puts a virtual drive behind one, `fourcorners \
                drives --hosts NAME` prints it with the source of every value.";
    Ok(format!("{table}\n{}", paragraph(hint)))
}

fn trim(port: PortTrim) -> &'static str {
    match port {
        PortTrim::Passed => "passed",
        PortTrim::Dropped => "dropped",
        PortTrim::Refused => "refused",
        PortTrim::Unknown => "unknown",
    }
}

/// What is printed of a drive or a host controller.
struct Printed<'a> {
    schema: &'static str,
    name: &'a str,
    title: &'a str,
    kind: &'static str,
    /// A drive's.
    hash: Option<String>,
    values: &'a [ProfileValue],
}

impl<'a> Printed<'a> {
    fn drive(profile: &'a Profile) -> Printed<'a> {
        Printed {
            schema: "fourcorners.drive/1",
            name: &profile.name,
            title: &profile.title,
            kind: profile.model.kind(),
            hash: Some(profile.hash()),
            values: &profile.values,
        }
    }

    fn host(host: &'a HostController) -> Printed<'a> {
        Printed {
            schema: "fourcorners.host/1",
            name: &host.name,
            title: &host.title,
            kind: "host",
            hash: None,
            values: &host.values,
        }
    }
}

fn one(profile: &Printed<'_>, json: bool) -> Result<String, Failure> {
    if json {
        let mut document = json!({
            "schema": profile.schema, "name": profile.name, "title": profile.title,
            "kind": profile.kind, "values": profile.values,
        });
        if let Some(hash) = &profile.hash {
            document["hash"] = hash.as_str().into();
        }
        return Ok(serde_json::to_string_pretty(&document)?);
    }
    // Many values share a source: each is written out once, below.
    let mut sources: Vec<&str> = Vec::new();
    let mut table = table();
    let mut notes: Vec<String> = Vec::new();
    table.set_header(["parameter", "value", "standing", "source"]);
    for value in profile.values {
        let known = sources.iter().position(|source| *source == value.source);
        let number = known.unwrap_or_else(|| {
            sources.push(&value.source);
            sources.len() - 1
        });
        table.add_row([
            value.key.clone(),
            value.value.to_string(),
            format!("{:?}", value.standing).to_lowercase(),
            format!("[{}]", number + 1),
        ]);
        notes.extend(value.note.iter().map(|note| paragraph(&format!("{}: {note}", value.key))));
    }
    keep_whole(&mut table, 0);
    keep_words(&mut table, 1, profile.values.iter().map(|value| value.value.to_string()));
    // The longest names and values of the catalogue fit beside one another in 80 columns.
    table.column_iter_mut().for_each(|column| {
        column.set_padding((0, 0));
    });
    let sources: Vec<String> = (1..)
        .zip(&sources)
        .map(|(number, source)| paragraph(&format!("[{number}] {source}")))
        .collect();
    let fitted: Vec<&str> = profile
        .values
        .iter()
        .filter(|value| value.standing == Standing::Fitted)
        .map(|value| value.key.as_str())
        .collect();
    let fitted = match fitted.len() {
        0 => "Nothing in it was fitted to measurements.".into(),
        count => format!(
            "{count} of {} values were fitted: {}.",
            profile.values.len(),
            fitted.join(", ")
        ),
    };
    let heading = format!("{} ({}, {})", profile.title, profile.name, profile.kind);
    let (heading, fitted) = (paragraph(&heading), paragraph(&fitted));
    let (notes, sources) = (notes.join("\n"), sources.join("\n"));
    Ok(format!("{heading}\n\n{table}\n\n{notes}\n\n{sources}\n\n{fitted}"))
}

/// Nor is a word of these cells, which may be copied: the others' columns are narrower instead.
fn keep_words(table: &mut Table, column: usize, cells: impl Iterator<Item = String>) {
    let longest = cells.map(|cell| longest_word(&cell)).max().unwrap_or(0);
    let width = u16::try_from(longest).unwrap_or(u16::MAX);
    if let Some(column) = table.column_mut(column) {
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(width)));
    }
}

/// Columns of the longest word of a text.
fn longest_word(text: &str) -> usize {
    text.split_whitespace().map(|word| word.chars().count()).max().unwrap_or(0)
}

/// What is typed again is not broken over lines.
fn keep_whole(table: &mut Table, column: usize) {
    if let Some(column) = table.column_mut(column) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
}

fn table() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.style_mut().header_separator = LineStyle::none().fill('─').junction('─');
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns());
    table
}
