//! The files of arrays and caches: all that a name can say, one thing a line.

use std::path::{Path, PathBuf};

use fourcorners_array::{ArrayConfig, CacheConfig, CacheMode, Level, MOST_MEMBERS, Replacement};
use fourcorners_catalogue::{self as catalogue, CatalogueError, HostController};
use fourcorners_words::nearest;
use toml::Table;
use toml::de::DeValue;

use super::cache_name::CACHE;
use super::makeup::{Drives, Makeup, Source};
use super::name::chunk_bytes;
use super::{ArrayKind, ArrayNameError, ArrayProfile};
use crate::strict_toml::{Expected, LineError, Section, Text};

/// What the `kind` of a drive's profile may be.
const OF_ONE: [&str; 2] = ["ssd", "hdd"];

/// A file that describes several drives as one, with the profiles that it names: all that makes the same
/// again, on another machine as well.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArrayFile {
    /// What errors call it.
    pub place: String,
    /// What is in it.
    pub text: String,
    /// Each profile that it names: as it is written there, and what is in it.
    pub profiles: Vec<(String, String)>,
}

impl ArrayFile {
    /// The file at a path, with the profiles that it names; `None` if it describes a single drive, or nothing
    /// that can be read: whoever reads drives says then what is wrong.
    ///
    /// # Errors
    /// [`ArrayNameError`], with the line: it describes several drives, and they make none.
    pub fn read(path: &Path) -> Option<Result<ArrayFile, ArrayNameError>> {
        let text = catalogue::read(path).ok()?;
        let folder = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        ArrayFile::of_text(text, &path.display().to_string(), &folder)
    }

    /// The same of a text that is called `place` and names profiles relative to `folder`.
    ///
    /// # Errors
    /// As [`read`](ArrayFile::read).
    pub fn of_text(
        text: String,
        place: &str,
        folder: &Path,
    ) -> Option<Result<ArrayFile, ArrayNameError>> {
        if !is_of_several(&text) {
            return None;
        }
        let mut profiles = Vec::new();
        let mut read = |written: &str| {
            let found = catalogue::read(&folder.join(written))?;
            profiles.push((written.to_string(), found.clone()));
            Ok(found)
        };
        let made = makeup(Text { place, text: &text }, &mut read).map(drop);
        Some(made.map(|()| ArrayFile { place: place.into(), text, profiles }))
    }

    /// The same of a text with the profiles that it names, each as it is written there; `None` if it describes a
    /// single drive.
    pub fn of_parts(text: &str, place: &str, profiles: &[(String, String)]) -> Option<ArrayFile> {
        is_of_several(text).then(|| ArrayFile {
            place: place.into(),
            text: text.into(),
            profiles: profiles.to_vec(),
        })
    }

    /// The drives as one, behind this host controller and with these values changed.
    ///
    /// # Errors
    /// [`ArrayNameError`]: they make none.
    pub fn profile(
        &self,
        host: Option<&HostController>,
        set: &[String],
    ) -> Result<ArrayProfile, ArrayNameError> {
        let mut read = |written: &str| {
            let known = self.profiles.iter().find(|(place, _)| place == written);
            known.map(|(_, text)| text.clone()).ok_or_else(|| CatalogueError::Form {
                place: written.into(),
                message: "the profile is not beside the text that names it".into(),
            })
        };
        makeup(Text { place: &self.place, text: &self.text }, &mut read)?.profile(host, set)
    }
}

/// Whether the `kind` in a text is that of several drives, or nearly: a slip is told as one.
fn is_of_several(text: &str) -> bool {
    let table: Option<Table> = text.parse().ok();
    let kind = table.as_ref().and_then(|table| table.get("kind")?.as_str());
    let of_several = || Level::ALL.iter().map(|level| level.name()).chain([CACHE]);
    kind.and_then(|kind| nearest(kind, OF_ONE.into_iter().chain(of_several())))
        .is_some_and(|near| !OF_ONE.contains(&near))
}

/// Finds the text of a profile as it is written in the file.
type Read<'r> = &'r mut dyn FnMut(&str) -> Result<String, CatalogueError>;

fn makeup(text: Text<'_>, read: Read<'_>) -> Result<Makeup, ArrayNameError> {
    let mut top = text.parse("an array or a cache")?;
    let kinds: Vec<(&str, Option<Level>)> = Level::ALL
        .iter()
        .map(|&level| (level.name(), Some(level)))
        .chain([(CACHE, None)])
        .collect();
    let kind = top.word("kind", &kinds)?;
    let kind = kind.ok_or_else(|| top.error("kind is missing, for example kind = \"raid5\""))?;
    let name = top.text("name")?.map(|it| it.value);
    let title = top.text("title")?.map(|it| it.value);
    // What the name of the same would be.
    let mut said = String::new();
    let (kind, drives) = match kind {
        Some(level) => {
            let config = array(&mut top, level, &mut said)?;
            let sections = top.sections("drive", "a [[drive]]")?;
            let drives =
                sections.into_iter().map(|section| drives(section, text, &mut *read, true));
            (ArrayKind::Array(config), drives.collect::<Result<Vec<Drives>, _>>()?)
        }
        None => {
            let config = cache(&mut top, &mut said)?;
            let mut one = |key, what| {
                let section = top.table(key, what)?;
                let such_as =
                    format!("{what} is missing, for example name = \"crucial-m4-64gb\" under it");
                drives(section.ok_or_else(|| top.error(such_as))?, text, &mut *read, false)
            };
            let both = vec![one("ssd", "the table [ssd]")?, one("disk", "the table [disk]")?];
            (ArrayKind::Cache(config), both)
        }
    };
    if drives.is_empty() {
        let such_as = "[[drive]] is missing, for example [[drive]] and under it name = \
                       \"crucial-m4-64gb\" and number = 2";
        return Err(top.error(such_as).into());
    }
    let is_named = |it: &Drives| matches!(it.source, Source::Catalogue(_));
    if name.is_none() && !drives.iter().all(is_named) {
        let why = "name is missing: results go by it, and a drive of a file has none that says all; \
                   for example name = \"my-array\"";
        return Err(top.error(why).into());
    }
    top.finish()?;
    let name = name.unwrap_or_else(|| as_a_name(&kind, &drives, &said));
    Ok(Makeup { place: text.place.into(), name, title, kind, drives })
}

/// What an array is but for its drives; what is not usual is added to `said` as it is in a name.
fn array(top: &mut Section<'_>, level: Level, said: &mut String) -> Result<ArrayConfig, LineError> {
    let mut config = ArrayConfig { level, ..ArrayConfig::default() };
    let chunk = |value: &DeValue<'_>| bytes(value, (4096, 16 << 20), "\"4 KiB\" to \"16 MiB\"");
    if let Some(chunk) = top.one("chunk", chunk)? {
        config.chunk_bytes = chunk.value;
        *said += &format!(":{}", short(chunk.value));
    }
    config.trim = trim(top, said)?;
    if let Some(failed) = top.whole("failed", 1..=MOST_MEMBERS as u64)? {
        config.failed = Some(failed as usize - 1);
        *said += &format!(":failed={failed}");
    }
    let rate = |value: &DeValue<'_>| {
        let rate = value.as_str().and_then(|text| text.strip_suffix("MB/s")?.trim().parse().ok());
        let rate = rate.filter(|rate: &f64| (0.001..=1e5).contains(rate));
        rate.ok_or(Expected::from("a rate from \"0.001 MB/s\" to \"100000 MB/s\""))
    };
    if let Some(rate) = top.one("rebuild", rate)? {
        if config.failed.is_none() {
            let why = "rebuild is that of a failed drive: say which, for example failed = 1";
            return Err(top.error_at(rate.line, why));
        }
        config.rebuild_mb_per_s = Some(rate.value);
        *said += &format!(":rebuild={}", rate.value);
    }
    Ok(config)
}

/// The same of a cache.
fn cache(top: &mut Section<'_>, said: &mut String) -> Result<CacheConfig, LineError> {
    let mut config = CacheConfig::default();
    if let Some(mode) = top.word("mode", &CacheMode::ALL.map(|it| (it.name(), it)))? {
        config.mode = mode;
        *said += &format!(":{}", mode.name());
    }
    let replacements = Replacement::ALL.map(|it| (it.name(), it));
    if let Some(replacement) = top.word("replacement", &replacements)? {
        config.replacement = replacement;
        *said += &format!(":{}", replacement.name());
    }
    let block = |value: &DeValue<'_>| bytes(value, (4096, 256 << 10), "\"4 KiB\" to \"256 KiB\"");
    if let Some(block) = top.one("block", block)? {
        config.block_bytes = block.value;
        *said += &format!(":{}", short(block.value));
    }
    let share = |value: &DeValue<'_>| {
        let percent = value.as_str().and_then(|text| text.strip_suffix('%')?.trim().parse().ok());
        let percent = percent.filter(|it: &f64| (0.0..=100.0).contains(it));
        percent.ok_or(Expected::from("a share of the SSD from \"0 %\" to \"100 %\""))
    };
    if let Some(dirty) = top.one("dirty", share)? {
        config.dirty_share = dirty.value / 100.0;
        *said += &format!(":dirty={}%", dirty.value);
    }
    let bypass = |value: &DeValue<'_>| match value.as_str() {
        Some("off") => Ok(0),
        text => text
            .and_then(chunk_bytes)
            .ok_or(Expected::from("a length such as \"4 MiB\", or \"off\"")),
    };
    if let Some(bypass) = top.one("bypass", bypass)? {
        config.bypass_bytes = bypass.value;
        let shown = if bypass.value == 0 { "off".into() } else { short(bypass.value) };
        *said += &format!(":bypass={shown}");
    }
    if let Some(warm) = top.word("start", &[("cold", false), ("warm", true)])? {
        config.warm = warm;
        *said += if warm { ":warm" } else { ":cold" };
    }
    config.trim = trim(top, said)?;
    Ok(config)
}

/// Whether a TRIM goes on.
fn trim(top: &mut Section<'_>, said: &mut String) -> Result<bool, LineError> {
    let trim = top.flag("trim")?.unwrap_or(true);
    if !trim {
        *said += ":no-trim";
    }
    Ok(trim)
}

/// A drive of a cache, or one or more of an array.
fn drives(
    mut section: Section<'_>,
    text: Text<'_>,
    read: Read<'_>,
    several: bool,
) -> Result<Drives, ArrayNameError> {
    let (name, file) = (section.text("name")?, section.text("file")?);
    let number = match several {
        true => section.whole("number", 1..=MOST_MEMBERS as u64)?.unwrap_or(1) as usize,
        false => 1,
    };
    let (source, line) = match (name, file) {
        (Some(name), None) => (Source::Catalogue(name.value), name.line),
        (None, Some(file)) => {
            let found = read(&file.value).map_err(|error| text.error(file.line, error))?;
            if is_of_several(&found) {
                let why = format!("file = {:?} is several drives: name single ones", file.value);
                return Err(text.error(file.line, why).into());
            }
            (Source::Profile { place: file.value, text: found }, file.line)
        }
        _ => {
            let either = "a drive has a name of the catalogue or a file with its profile: give one of \
                          both, for example name = \"crucial-m4-64gb\"";
            return Err(section.error(either).into());
        }
    };
    section.finish()?;
    Ok(Drives { number, source, line: Some(line) })
}

/// What has the same name, as it is typed.
fn as_a_name(kind: &ArrayKind, drives: &[Drives], said: &str) -> String {
    let kind = match kind {
        ArrayKind::Array(config) => config.level.name(),
        ArrayKind::Cache(_) => CACHE,
    };
    let named = |it: &Drives| match (&it.source, it.number) {
        (Source::Catalogue(name), 1) => name.clone(),
        (Source::Catalogue(name), number) => format!("{number}x{name}"),
        (Source::Profile { place, .. }, _) => place.clone(),
    };
    let drives: Vec<String> = drives.iter().map(named).collect();
    format!("{kind}:{}{said}", drives.join("+"))
}

/// A power of two of bytes, with its unit.
fn bytes(value: &DeValue<'_>, (least, most): (u64, u64), range: &str) -> Result<u64, Expected> {
    let bytes = value.as_str().and_then(chunk_bytes);
    let fits = bytes.filter(|it| it.is_power_of_two() && (least..=most).contains(it));
    fits.ok_or_else(|| format!("a power of two from {range}").into())
}

/// Bytes as they are in a name: 64k.
fn short(bytes: u64) -> String {
    match (bytes % (1 << 20), bytes % (1 << 10)) {
        (0, _) => format!("{}m", bytes >> 20),
        (_, 0) => format!("{}k", bytes >> 10),
        _ => bytes.to_string(),
    }
}

#[cfg(test)]
mod tests;
