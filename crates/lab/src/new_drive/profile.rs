//! The profile of a new drive: its capacity, and what each of its values stands on.

use std::collections::BTreeMap;

use fourcorners_catalogue::{self as catalogue, Model, Profile, ProfileValue, Standing};
use fourcorners_drive::config::SsdConfig;

use super::{DataSheet, NewDriveError, SheetFigure};

/// Keys of sources.
const SHEET: &str = "sheet";
const LIKE: &str = "like";

pub(super) fn check(sheet: &DataSheet, like: &str) -> Result<(), NewDriveError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
    let name = sheet.name.clone();
    if name.is_empty() || !name.chars().all(plain) || name.starts_with(['-', '.']) {
        return Err(NewDriveError::Name { name });
    }
    if catalogue::names().contains(&name) {
        return Err(NewDriveError::Taken { name });
    }
    let wrong = sheet.wanted.iter().find(|(_, value)| !(value.is_finite() && *value > 0.0));
    if let Some(&(figure, value)) = wrong {
        return Err(NewDriveError::Figure { figure, value });
    }
    ssd(like).map(|_| ())
}

/// The values of the SSD that a new one is like.
pub(super) fn ssd(like: &str) -> Result<Box<SsdConfig>, NewDriveError> {
    match catalogue::built_in(like, &[])?.model {
        Model::Ssd(ssd) => Ok(ssd),
        Model::Hdd(_) => Err(NewDriveError::NoSsd { name: like.into() }),
    }
}

/// Settings that give a drive its capacity: dies in the proportion of the other drive, in whole channels, and
/// blocks for the rest, so that its spare area is that of the other.
pub(super) fn capacity(
    sheet: &DataSheet,
    like: &str,
) -> Result<Vec<(String, String)>, NewDriveError> {
    let ssd = ssd(like)?;
    let sectors = sectors(sheet.capacity_bytes);
    let ratio = sectors as f64 / ssd.capacity.sectors as f64;
    let dies = f64::from(ssd.nand.dies) * ratio;
    // Half as many dies with blocks for twice as much is another drive; a few percent are none.
    let step = f64::from(ssd.nand.channels);
    let dies = ((dies / step).round() * step).max(1.0);
    let blocks = f64::from(ssd.nand.blocks_per_plane) * ratio * f64::from(ssd.nand.dies) / dies;
    let buffer = f64::from(ssd.buffer.write_kib) * dies / f64::from(ssd.nand.dies);
    Ok(vec![
        ("capacity.sectors".into(), sectors.to_string()),
        ("nand.dies".into(), format!("{dies:.0}")),
        ("nand.blocks_per_plane".into(), format!("{:.0}", blocks.ceil())),
        ("buffer.write_kib".into(), format!("{:.0}", buffer.ceil())),
    ])
}

/// The sectors of a capacity: of whole gigabytes, what drives of that size have (IDEMA LBA1-03).
fn sectors(bytes: u64) -> u64 {
    const GB: u64 = 1_000_000_000;
    match bytes.is_multiple_of(GB) && bytes >= 50 * GB {
        true => 97_696_368 + 1_953_504 * (bytes / GB - 50),
        false => bytes / 4096 * 8,
    }
}

/// The profile with what was solved, and with a standing and a source of its own for every value.
pub(super) fn written(
    sheet: &DataSheet,
    like: &str,
    solved: &[(String, String)],
) -> Result<Profile, NewDriveError> {
    let set: Vec<String> = solved.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let mut profile = catalogue::built_in(like, &set)?;
    let of_sheet = sheet
        .source
        .clone()
        .map_or_else(|| figures(sheet), |source| format!("{source}: {}", figures(sheet)));
    let of_like = format!(
        "taken over from the profile of another drive, {like}: nothing says it of this one"
    );
    profile.name.clone_from(&sheet.name);
    profile.title.clone_from(&sheet.title);
    profile.set = Vec::new();
    profile.sources = BTreeMap::from([
        (SHEET.to_string(), of_sheet.clone()),
        (LIKE.to_string(), of_like.clone()),
    ]);
    for value in &mut profile.values {
        let is_solved = solved.iter().any(|(key, _)| *key == value.key);
        let (standing, key, source) = match (is_solved, value.key.as_str()) {
            (true, "capacity.sectors") => (Standing::Datasheet, SHEET, &of_sheet),
            (true, _) => (Standing::Fitted, SHEET, &of_sheet),
            (false, _) => (Standing::Assumed, LIKE, &of_like),
        };
        *value = ProfileValue {
            key: value.key.clone(),
            value: value.value.clone(),
            standing,
            source: source.clone(),
            source_key: key.into(),
            note: is_solved.then(|| note(&value.key)).flatten(),
        };
    }
    Ok(profile)
}

fn figures(sheet: &DataSheet) -> String {
    let gigabytes = sheet.capacity_bytes as f64 / 1e9;
    let figures = sheet.wanted.iter().map(|(figure, value)| {
        let shown = match figure {
            SheetFigure::ReadLatency => format!("{} {value} us", figure.name()),
            SheetFigure::Read | SheetFigure::Write => format!("{} {value} MB/s", figure.name()),
            SheetFigure::ReadIops | SheetFigure::WriteIops => format!("{value} {}", figure.name()),
        };
        format!(", {shown}")
    });
    format!("data sheet: {gigabytes:.0} GB{}", figures.collect::<String>())
}

/// How a value was concluded.
fn note(key: &str) -> Option<String> {
    let text = match key {
        "capacity.sectors" => return None,
        "nand.dies" | "nand.blocks_per_plane" | "buffer.write_kib" => {
            "in proportion to the capacity, from the other drive"
        }
        _ => "moved until runs of this profile meet the sheet",
    };
    Some(text.into())
}
