//! The sides of a comparison.

use fourcorners_record::{Record, TargetInfo};

use super::{About, is_repeat};

/// The first seven digits of an id, which a result is named by, as in lists of the database.
pub fn short_id(id: &str) -> &str {
    id.get(..7).unwrap_or(id)
}

/// One side of a comparison: results of one drive, set up one way, on one clock.
#[derive(Clone, PartialEq, Debug)]
pub struct Side {
    /// What it is called.
    pub label: String,
    /// Its records, at least one. Several of one method are repeats; the first of them stands for it.
    pub records: Vec<Record>,
}

impl Side {
    /// Of each method the record that stands for the side, and those that repeat it: one of another job has figures,
    /// seconds and curves of the same names, and is no repeat.
    pub(super) fn standing(&self) -> impl Iterator<Item = &Record> {
        self.records.iter().filter(|record| {
            let first = self.records.iter().find(|it| it.method == record.method);
            first.is_none_or(|first| std::ptr::eq(first, *record) || is_repeat(first, record))
        })
    }

    pub(super) fn about(&self) -> About {
        // Those without records are left out before.
        let first = &self.records[0];
        About {
            label: self.label.clone(),
            drive: first.target.name.clone(),
            clock: first.clock,
            quick: self.records.iter().any(|record| record.quick),
            ids: self.records.iter().map(|record| record.id.clone()).collect(),
        }
    }
}

/// The sides that records are of, in the order they first come: records of one drive that is set up
/// the same way, on the same clock, are one side. `groups` are never joined: who names two
/// documents of one drive wants to compare them. [`distinct`] leaves out those that say nothing new.
pub fn sides(groups: Vec<Vec<Record>>) -> Vec<Side> {
    let mut sides: Vec<Side> = Vec::new();
    for group in groups {
        let first = sides.len();
        for record in group {
            let like = |side: &&mut Side| {
                let other = &side.records[0];
                (&other.target, other.clock, &other.version)
                    == (&record.target, record.clock, &record.version)
            };
            match sides[first..].iter_mut().find(like) {
                Some(side) => side.records.push(record),
                None => {
                    let label = String::new();
                    sides.push(Side { label, records: vec![record] });
                }
            }
        }
    }
    name(&mut sides);
    sides
}

/// Parts the sides into those that are compared and those that repeat one: all of their results are among those of one
/// earlier side.
pub fn distinct(sides: Vec<Side>) -> (Vec<Side>, Vec<Side>) {
    let (mut kept, mut again): (Vec<Side>, Vec<Side>) = (Vec::new(), Vec::new());
    for side in sides {
        let is_in = |other: &Side| {
            let has = |record: &Record| other.records.iter().any(|it| it.is_same_result(record));
            side.records.iter().all(has)
        };
        match kept.iter().any(is_in) {
            true => again.push(side),
            false => kept.push(Side { label: String::new(), ..side }),
        }
    }
    name(&mut kept);
    (kept, again)
}

/// Pairs of sides that have results in common, by their places, and the ids of those: each of these is compared with itself.
pub fn shared(sides: &[Side]) -> Vec<([usize; 2], Vec<&str>)> {
    let mut pairs = Vec::new();
    for (place, side) in sides.iter().enumerate() {
        for (before, other) in sides[..place].iter().enumerate() {
            let is_in_both = |it: &&Record| other.records.iter().any(|its| its.is_same_result(it));
            let both = side.records.iter().filter(is_in_both);
            let ids: Vec<&str> = both.map(|record| record.id.as_str()).collect();
            if !ids.is_empty() {
                pairs.push(([before, place], ids));
            }
        }
    }
    pairs
}

/// Gives each side its drive's title, and as much more as it takes to tell it from the others.
fn name(sides: &mut [Side]) {
    let title = TargetInfo::title_as_set_up;
    let set_up = |record: &Record| record.target.changes().join(", ");
    type More<'m> = &'m dyn Fn(&Record) -> String;
    let more: [More<'_>; 4] =
        [&|_| String::new(), &set_up, &|record| record.target.name.clone(), &|record| {
            record.version.clone()
        }];
    for more in more {
        let labels: Vec<String> = sides.iter().map(|side| side.label.clone()).collect();
        let several = |label: &String| labels.iter().filter(|it| *it == label).count() > 1;
        for (side, label) in sides.iter_mut().zip(&labels) {
            let record = &side.records[0];
            let more = more(record);
            let is_new = !more.is_empty() && !label.ends_with(&format!("({more})"));
            side.label = match (label.is_empty(), several(label) && is_new) {
                (true, _) => title(&record.target),
                (false, true) if more == set_up(record) => {
                    format!("{} ({more})", record.target.title_or_name())
                }
                (false, true) => format!("{} ({more})", title(&record.target)),
                (false, false) => label.clone(),
            };
        }
    }
    name_by_results(sides);
    // What has no result of its own, nor another number of them.
    let labels: Vec<String> = sides.iter().map(|side| side.label.clone()).collect();
    for (place, side) in sides.iter_mut().enumerate() {
        let before = labels[..place].iter().filter(|it| **it == side.label).count();
        if before > 0 {
            side.label += &format!(", again {before}");
        }
    }
}

/// Tells sides that are called the same apart: by the id of a result that no other of them has, for the first result of a
/// side may be that of another, too; where all of a side's are in others, by how many there are.
fn name_by_results(sides: &mut [Side]) {
    let labels: Vec<String> = sides.iter().map(|side| side.label.clone()).collect();
    for (place, label) in labels.iter().enumerate() {
        let is_alike = |it: &usize| *it != place && labels[*it] == *label;
        let alike: Vec<usize> = (0..sides.len()).filter(is_alike).collect();
        if alike.is_empty() {
            continue;
        }
        let is_elsewhere = |record: &Record| {
            let mut others = alike.iter().flat_map(|it| &sides[*it].records);
            others.any(|other| other.id == record.id)
        };
        let records = &sides[place].records;
        let what = match (records.iter().find(|it| !is_elsewhere(it)), records.len()) {
            (Some(own), _) => short_id(&own.id).to_string(),
            (None, 1) => "1 result".to_string(),
            (None, number) => format!("{number} results"),
        };
        let label = format!("{} ({what})", records[0].target.title_as_set_up());
        sides[place].label = label;
    }
}
