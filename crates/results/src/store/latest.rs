//! The results that stand for a drive: of each method the latest, with its repeats.

use fourcorners_record::Record;
use rusqlite::types::Value;

use super::{Filter, Store, StoreError, Summary};

/// Most repeats that are taken together.
const MOST_REPEATS: usize = 64;

impl Store {
    /// The latest result of each method on a drive, each with its repeats, the latest first; empty if
    /// the drive has none. A drive is named by its name, its title or its serial number; of several that were at one
    /// path that of the latest result is meant.
    ///
    /// A result that was cut short, of `--quick`, or of a drive that was set up otherwise, stands for
    /// it only where there is no other. Repeats are results of the same drive, set up the same way
    /// and tested by the same version, with other seeds; on a real drive those from the latest on until a
    /// seed comes again, which another review began with.
    ///
    /// # Errors
    ///
    /// What the database says, and [`StoreError::Damaged`].
    pub fn latest(&self, drive: &str) -> Result<Vec<Vec<Record>>, StoreError> {
        Ok(self.latest_alike(&[drive])?.remove(0))
    }

    /// Of each of these drives what [`Store::latest`] gives of it alone, but that a method of which
    /// one has results of `--quick` only stands with those of all, if all have such: a quick result
    /// and a full one are of different jobs.
    ///
    /// # Errors
    ///
    /// Those of [`Store::latest`].
    pub fn latest_alike(&self, drives: &[&str]) -> Result<Vec<Vec<Vec<Record>>>, StoreError> {
        let of_each = drives.iter().map(|it| self.of_drive(it)).collect::<Result<Vec<_>, _>>()?;
        let get = |group: Vec<Summary>| group.iter().map(|it| self.get(&it.id)).collect();
        let records = |of_one| latest_of(of_one, &of_each).into_iter().map(get).collect();
        of_each.iter().map(|of_one| records(of_one)).collect()
    }

    /// The ids of what [`Store::latest_alike`] gives for one method, drive by drive, without reading the records.
    ///
    /// # Errors
    ///
    /// What the database says.
    pub fn latest_ids_alike(
        &self,
        drives: &[&str],
        method: &str,
    ) -> Result<Vec<Vec<String>>, StoreError> {
        let of_each = drives.iter().map(|it| self.of_drive(it)).collect::<Result<Vec<_>, _>>()?;
        let ids = |of_one: &Vec<Summary>| {
            let mut groups = latest_of(of_one, &of_each).into_iter();
            let own = groups.find(|group| group.iter().any(|it| it.method == method));
            own.into_iter().flatten().map(|it| it.id).collect()
        };
        Ok(of_each.iter().map(ids).collect())
    }

    /// All names of drives that have results, in order.
    ///
    /// # Errors
    ///
    /// What the database says.
    pub fn drives(&self) -> Result<Vec<String>, StoreError> {
        self.rows("SELECT DISTINCT drive FROM records ORDER BY drive", Vec::new(), |row| row.get(0))
    }

    /// All names of methods that have results, in order.
    ///
    /// # Errors
    ///
    /// What the database says.
    pub fn methods(&self) -> Result<Vec<String>, StoreError> {
        let query = "SELECT DISTINCT method FROM records ORDER BY method";
        self.rows(query, Vec::new(), |row| row.get(0))
    }

    /// The drives with the title that a reader knows each by: that of its latest result.
    ///
    /// # Errors
    ///
    /// What the database says.
    pub fn titled_drives(&self) -> Result<Vec<(String, String)>, StoreError> {
        // Beside a maximum SQLite gives the other columns of its row.
        let query = "SELECT drive, title, MAX(number) FROM records GROUP BY drive ORDER BY drive";
        self.rows(query, Vec::new(), |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// The results of a drive, the latest first.
    fn of_drive(&self, drive: &str) -> Result<Vec<Summary>, StoreError> {
        let of_name =
            |name: &str| self.list(&Filter { name: Some(name.into()), ..Filter::default() });
        let named = of_name(drive)?;
        if let Some(latest) = named.first().cloned() {
            return Ok(of_one(named, &latest));
        }
        // A path may have been spelled otherwise, and only one of the drives called so is meant.
        let found: Vec<(String, String)> = self.rows(
            "SELECT drive, id FROM records WHERE serial = ?1 OR title = ?1 COLLATE NOCASE
             ORDER BY started_s DESC, number DESC LIMIT 1",
            vec![Value::from(drive.to_string())],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        let Some((name, id)) = found.first() else { return Ok(Vec::new()) };
        let named = of_name(name)?;
        let latest = named.iter().find(|it| it.id == *id).cloned();
        Ok(latest.map(|latest| of_one(named, &latest)).unwrap_or_default())
    }
}

/// Of results at one name those of the drive that one of them is of: at a path there may be another drive every day.
fn of_one(mut named: Vec<Summary>, one: &Summary) -> Vec<Summary> {
    named.retain(|it| match (&one.serial, one.kind.as_str()) {
        _ if it.kind != one.kind => false,
        (_, "virtual") => true,
        (Some(serial), _) => it.serial.as_ref() == Some(serial),
        // What tells no serial number.
        (None, _) => it.serial.is_none() && it.title == one.title,
    });
    named
}

/// The latest results of a drive, by method, each with its repeats, the drive being one of those that are compared.
fn latest_of(of_one: &[Summary], of_each: &[Vec<Summary>]) -> Vec<Vec<Summary>> {
    let mut all = of_one.to_vec();
    // Stable: among equals the latest stays first.
    all.sort_by_key(|it| {
        let other_job = it.quick != is_quick_of_all(&it.method, of_each);
        (it.ended != "complete", !it.set_up.is_empty(), other_job)
    });
    let mut methods: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for first in &all {
        if methods.contains(&first.method.as_str()) {
            continue;
        }
        methods.push(&first.method);
        found.push(repeats(first, &all).into_iter().cloned().collect());
    }
    found
}

/// Whether of all drives that have complete results of a method each has a quick one, and one has no
/// other.
fn is_quick_of_all(method: &str, of_each: &[Vec<Summary>]) -> bool {
    let mut all_full = true;
    let mut all_quick = true;
    for of_one in of_each {
        let has = |quick: bool| {
            let is = |it: &Summary| it.method == method && it.ended == "complete";
            of_one.iter().any(|it| is(it) && it.quick == quick)
        };
        if has(true) || has(false) {
            all_full &= has(false);
            all_quick &= has(true);
        }
    }
    all_quick && !all_full
}

/// A result and its repeats among all of its drive.
fn repeats<'a>(first: &'a Summary, all: &'a [Summary]) -> Vec<&'a Summary> {
    let like = |it: &&Summary| {
        let Summary { kind, capacity_bytes, serial, firmware, profile_hash, set_up, .. } = it;
        let Summary { clock, method, quick, ended, version, .. } = it;
        (kind, capacity_bytes, serial, firmware, profile_hash, set_up)
            == (
                &first.kind,
                &first.capacity_bytes,
                &first.serial,
                &first.firmware,
                &first.profile_hash,
                &first.set_up,
            )
            && (clock, method, quick, ended, version)
                == (&first.clock, &first.method, &first.quick, &first.ended, &first.version)
    };
    let mut seeds: Vec<u64> = Vec::new();
    let mut found: Vec<&Summary> = Vec::new();
    for it in all.iter().filter(like).take(MOST_REPEATS) {
        match (seeds.contains(&it.seed), it.kind.as_str()) {
            (false, _) => {
                seeds.push(it.seed);
                found.push(it);
            }
            // The same seed and another result: its plan was another (`--spare`).
            (true, "virtual") => {}
            (true, _) => break,
        }
    }
    found
}
