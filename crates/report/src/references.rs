//! What a drive that stands alone on a page is held against: figures of other drives, those of the catalogue
//! that come with the program, or the reader's own results.
//!
//! The built-in ones are reviews of the usual drive of each family of the catalogue. They are made by
//! `scripts/evidence reference` and carry the hash of the catalogue; a test fails when that is another, and
//! repeats some of them. A figure is held against one of the same method: of the same length if there is
//! one, else of the other. The built-in ones are quick; docs/RESULTS.md says by how much that matters. The used
//! state is held against full length alone, be it of four corners or of the method of its own.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use fourcorners_record::{Ended, Figure, Record, TargetKind};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::entries::has_bars;
use super::used;

/// The name and version of the file's form.
const SCHEMA: &str = "fourcorners.reference/1";
/// Drives that are most like the one under test, on its charts.
const NEAREST: usize = 3;

/// The figures that drives are told alike by.
const CORNERS: [&str; 4] = [
    "random_read_4k_qd3",
    "random_write_4k_qd3_incompressible",
    "sequential_read_128k_qd1",
    "sequential_write_128k_qd1_incompressible",
];

static BUILT_IN: LazyLock<References> = LazyLock::new(|| {
    References::from_json(include_str!("reference.json")).expect("the built-in references are some")
});

/// Why a file holds no references.
#[derive(Debug, Error)]
pub enum ReferenceError {
    /// It is not of this form.
    #[error("these are no reference results: {0}")]
    Form(#[from] serde_json::Error),
    /// It is of another version.
    #[error("these are reference results of the form {0:?}; this program reads {SCHEMA:?}")]
    Schema(String),
}

/// Other drives and their figures.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct References {
    schema: String,
    /// What they are, in words that follow "Grey: ".
    about: String,
    /// Hash of the catalogue whose drives they are of; empty of results of the reader's.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    catalogue: String,
    drives: Vec<Reference>,
}

/// A drive and its figures.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Reference {
    name: String,
    title: String,
    /// Whether it is a hard disk; `None` where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rotational: Option<bool>,
    /// By [`work`], then by the name of the figure.
    works: BTreeMap<String, BTreeMap<String, ReferenceFigure>>,
}

/// What is kept of a figure: MB/s, mean and longest latency in µs, and mean power in W where it is known.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct ReferenceFigure(
    pub(super) f64,
    pub(super) f64,
    pub(super) f64,
    pub(super) Option<f64>,
);

/// A method, and whether it was shortened.
fn work(method: &str, quick: bool) -> String {
    if quick { format!("{method}, quick") } else { method.into() }
}

/// Why a reference drive is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// Its corners are most like those of the drive under test.
    Near,
    /// It is the fastest of all.
    Fastest,
    /// It is the slowest of all; in the catalogue a hard disk.
    Slowest,
}

impl References {
    /// Those that come with the program.
    ///
    /// # Panics
    /// Never: the tests read them, and they are compiled in.
    pub fn built_in() -> &'static References {
        &BUILT_IN
    }

    /// None: a drive that stands alone is shown alone.
    pub fn none() -> References {
        References::of(&[], "")
    }

    /// Those of these records, a drive for each name, the first record of a method counts. `about` is what
    /// they are.
    pub fn of(records: &[Record], about: &str) -> References {
        let mut drives: Vec<Reference> = Vec::new();
        // A drive that was set up otherwise, behind another host or in another state, is not the one of its title.
        let whole = |record: &&Record| {
            record.ended == Ended::Complete && record.target.changes().is_empty()
        };
        for record in records.iter().filter(whole) {
            let name = &record.target.name;
            let place = drives.iter().position(|drive| drive.name == *name).unwrap_or_else(|| {
                drives.push(Reference {
                    name: name.clone(),
                    title: record.target.title.clone(),
                    rotational: rotational(record),
                    works: BTreeMap::new(),
                });
                drives.len() - 1
            });
            let figures = record.figures.iter().filter(|(_, figure)| figure.complete);
            let kept = figures.map(|(name, figure)| {
                let latency = &figure.latency_us;
                let values = [figure.mb_per_s, latency.mean, latency.max].map(five_digits);
                let watts = figure.mean_power_w.map(five_digits);
                (name.clone(), ReferenceFigure(values[0], values[1], values[2], watts))
            });
            let works = &mut drives[place].works;
            works.entry(work(&record.method, record.quick)).or_insert_with(|| kept.collect());
        }
        References { schema: SCHEMA.into(), about: about.into(), catalogue: String::new(), drives }
    }

    /// The same, made of the drives of the catalogue with this hash.
    pub fn of_catalogue(self, hash: &str) -> References {
        References { catalogue: hash.into(), ..self }
    }

    /// The references of a file.
    ///
    /// # Errors
    /// [`ReferenceError`] where it holds none.
    pub fn from_json(text: &str) -> Result<References, ReferenceError> {
        let found: References = serde_json::from_str(text)?;
        match found.schema == SCHEMA {
            true => Ok(found),
            false => Err(ReferenceError::Schema(found.schema)),
        }
    }

    /// As JSON, a drive a line.
    ///
    /// # Errors
    /// Never in practice: they have only strings and finite numbers.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let lines: Vec<String> =
            self.drives.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
        Ok(format!(
            "{{\n  \"schema\": \"{SCHEMA}\",\n  \"about\": {},\n  \"catalogue\": \"{}\",\n  \"drives\": [\n    {}\n  ]\n}}\n",
            serde_json::to_string(&self.about)?,
            self.catalogue,
            lines.join(",\n    ")
        ))
    }

    /// Hash of the catalogue that they were made of; empty where they are of none.
    pub fn catalogue(&self) -> &str {
        &self.catalogue
    }

    /// What they are.
    pub(super) fn about(&self) -> &str {
        &self.about
    }

    /// How many drives there are that did the work of this record, besides its own.
    pub(super) fn others<'r>(&'r self, record: &Record) -> Vec<&'r Reference> {
        let others = self.drives.iter().filter(|drive| !drive.is_of(record));
        others.filter(|drive| drive.figures(record).is_some()).collect()
    }

    /// The drives that a drive's charts show beside it, and why: those most like it by their four corners,
    /// the fastest and the slowest. None where it has no corners.
    pub(super) fn beside<'r>(&'r self, record: &Record) -> Vec<(&'r Reference, Role)> {
        let own: Vec<(&str, f64)> = CORNERS
            .into_iter()
            .filter_map(|name| Some((name, record.figures.get(name)?)))
            .filter(|(_, figure)| figure.complete && figure.mb_per_s > 0.0)
            .map(|(name, figure)| (name, figure.mb_per_s.ln()))
            .collect();
        if !has_bars(&record.method) || own.len() < 2 {
            return Vec::new();
        }
        // Of each drive with all of these corners: how far it is away, and how fast it is.
        let mut known: Vec<(&Reference, f64, f64)> = self
            .others(record)
            .into_iter()
            .filter_map(|drive| {
                let figures = drive.figures(record)?;
                let logs = own.iter().map(|(name, own)| {
                    let other = figures.get(*name).map(|figure| figure.0).filter(|it| *it > 0.0)?;
                    Some((other.ln() - own, other.ln()))
                });
                let logs: Vec<(f64, f64)> = logs.collect::<Option<_>>()?;
                let away = logs.iter().map(|(away, _)| away.abs()).sum::<f64>();
                Some((drive, away, logs.iter().map(|(_, log)| log).sum::<f64>()))
            })
            .collect();
        known.sort_by(|a, b| a.1.total_cmp(&b.1));
        let speed = |end: fn(f64, f64) -> bool| {
            let best = known.iter().copied().reduce(|a, b| if end(b.2, a.2) { b } else { a });
            best.map(|(drive, ..)| drive)
        };
        let ends = [(speed(|a, b| a > b), Role::Fastest), (speed(|a, b| a < b), Role::Slowest)];
        let mut shown: Vec<(&Reference, Role)> =
            known.iter().take(NEAREST).map(|(drive, ..)| (*drive, Role::Near)).collect();
        for (drive, role) in ends {
            let Some(drive) = drive else { continue };
            if shown.iter().all(|(other, _)| other.name != drive.name) {
                shown.push((drive, role));
            }
        }
        shown
    }
}

impl Reference {
    /// Its title without what stands in brackets, as of a model number.
    pub(super) fn short_title(&self) -> &str {
        self.title.split(" (").next().unwrap_or(&self.title)
    }

    /// Whether it is a hard disk; `None` where that is not known.
    pub(super) fn rotational(&self) -> Option<bool> {
        self.rotational
    }

    /// A figure of it, of the method of this record; the used state of four corners also of the method that measures it alone.
    pub(super) fn figure(&self, record: &Record, name: &str) -> Option<ReferenceFigure> {
        let own = self.figures(record).and_then(|figures| figures.get(name));
        own.or_else(|| self.used_state(record).filter(|_| name == used::USED)).copied()
    }

    fn used_state(&self, record: &Record) -> Option<&ReferenceFigure> {
        let works = self.works.get(&work(used::METHOD, false))?;
        works.get(used::USED).filter(|_| used::is_as_of_method(record))
    }

    /// Its figures of the method of this record.
    fn figures(&self, record: &Record) -> Option<&BTreeMap<String, ReferenceFigure>> {
        let of = |quick| self.works.get(&work(&record.method, quick));
        // A quick used state and a full one are not alike.
        let other = || of(!record.quick).filter(|_| record.method != used::METHOD);
        of(record.quick).or_else(other)
    }

    /// Whether it is the drive of a record.
    fn is_of(&self, record: &Record) -> bool {
        self.name == record.target.name || self.title == record.target.title
    }
}

/// Whether a record is of a hard disk. It is told from a virtual drive's figures: those of an SSD, of a cache and of an
/// array of SSDs say what the flash has to spare or was written. `None` of a real drive, whose record does not say.
pub(super) fn rotational(record: &Record) -> Option<bool> {
    let of_flash = |figure: &Figure| {
        figure.nameplate_op.is_some()
            || figure.write_amplification.is_some()
            || figure.cache.is_some()
    };
    let figures = &record.figures;
    let is_told = record.target.kind == TargetKind::Virtual && !figures.is_empty();
    is_told.then(|| !figures.values().any(of_flash))
}

/// A number that is the same on any machine and takes no more room than its error is worth.
fn five_digits(value: f64) -> f64 {
    if value.is_finite() { format!("{value:.4e}").parse().unwrap_or(value) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use fourcorners_record::from_json;

    use super::*;

    fn record(name: &str, factor: f64) -> Record {
        let text = include_str!("../../results/tests/golden/review-1.json");
        let mut record = from_json(text).expect("an old document").records.swap_remove(0);
        (record.target.name, record.target.title) = (name.into(), name.to_uppercase());
        for figure in record.figures.values_mut() {
            figure.mb_per_s *= factor;
        }
        record
    }

    #[test]
    fn the_drives_beside_one_are_the_nearest_the_fastest_and_the_slowest() {
        let records: Vec<Record> = [0.01, 0.5, 0.9, 1.0, 1.2, 3.0, 9.0]
            .iter()
            .enumerate()
            .map(|(index, factor)| record(&format!("d{index}"), *factor))
            .collect();
        let references = References::of(&records, "drives");
        let beside = |factor| -> Vec<(String, Role)> {
            let own = record("own", factor);
            let shown = references.beside(&own);
            shown.into_iter().map(|(drive, role)| (drive.name.clone(), role)).collect()
        };
        let named = |names: [(&str, Role); 5]| names.map(|(name, role)| (name.to_string(), role));
        let near = |name| (name, Role::Near);
        let ends = [("d6", Role::Fastest), ("d0", Role::Slowest)];
        assert_eq!(beside(1.01), named([near("d3"), near("d2"), near("d4"), ends[0], ends[1]]));
        assert_eq!(beside(0.6), named([near("d1"), near("d2"), near("d3"), ends[0], ends[1]]));
        // The fastest may be near, and is named once.
        assert_eq!(beside(8.0).len(), 4);
        // A drive is not beside itself, and another method is not the same work.
        assert!(references.beside(&record("d3", 1.0)).iter().all(|(drive, _)| drive.name != "d3"));
        // One behind another host is not the drive of its title.
        let mut set_up = record("set-up", 1.01);
        set_up.target.host_controller = Some("intel-ich10r-3gbps".into());
        let of_both = References::of(&[set_up, records[3].clone()], "drives");
        let beside = of_both.beside(&record("own", 1.0));
        let names: Vec<&str> = beside.iter().map(|(drive, _)| drive.name.as_str()).collect();
        assert_eq!(names, ["d3"]);
        let other = Record { method: "mine".into(), ..record("own", 1.0) };
        assert!(
            references.beside(&other).is_empty()
                && References::none().beside(&records[0]).is_empty()
        );
        // A full run is beside full ones of a drive that has both.
        let of = |factor, quick| Record { quick, ..record("d", factor) };
        let both = [of(5.0, true), of(7.0, false)];
        let references = References::of(&both, "drives");
        let value = |record: &Record| {
            references.others(record)[0].figure(record, CORNERS[0]).map(|it| it.0)
        };
        assert!(
            value(&Record { target: record("own", 1.0).target, ..of(1.0, false) })
                > value(&Record { target: record("own", 1.0).target, ..of(1.0, true) })
        );
    }

    #[test]
    fn what_turns_is_told_of_virtual_drives_and_not_of_real_ones() {
        let ssd = record("ssd", 1.0);
        let mut disk = ssd.clone();
        for figure in disk.figures.values_mut() {
            (figure.write_amplification, figure.effective_op, figure.nameplate_op) =
                (None, None, None);
        }
        let mut real = disk.clone();
        real.target.kind = TargetKind::Device;
        let mut nothing = disk.clone();
        nothing.figures.clear();
        let told = [&ssd, &disk, &real, &nothing].map(rotational);
        assert_eq!(told, [Some(false), Some(true), None, None]);
    }

    #[test]
    fn references_come_back_from_their_file() {
        let references = References::of(&[record("a", 1.0)], "drives").of_catalogue("00ff");
        let text = references.to_json().expect("JSON");
        assert_eq!(References::from_json(&text).expect("our own"), references);
        let newer = text.replace("reference/1", "reference/9");
        let error = References::from_json(&newer).expect_err("another version").to_string();
        assert!(error.contains("reference/9"), "{error}");
        assert!(References::from_json("[]").is_err());
        // What was cut short or changed by hand is no reference.
        let changed = |change: fn(&mut Record)| {
            let mut record = record("a", 1.0);
            change(&mut record);
            References::of(&[record], "").drives.len()
        };
        assert_eq!(changed(|_| {}), 1);
        assert_eq!(changed(|record| record.ended = Ended::Interrupted), 0);
        assert_eq!(changed(|record| record.target.set = vec!["link.gbps=3".into()]), 0);
    }
}
