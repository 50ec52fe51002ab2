//! The results that stand for a drive: of each method the latest, with its repeats.

use fourcorners_record::Record;
use rusqlite::types::Value;

use super::{Filter, Store, StoreError, Summary};

/// Most repeats that are taken together.
const MOST_REPEATS: usize = 64;

impl Store {
    /// The latest result of each method on a drive, each with its repeats, the latest first; empty if
    /// the drive has none. A drive is named by its name, its title or its serial number.
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
        let mut all = self.of_drive(drive)?;
        // Stable: among equals the latest stays first.
        all.sort_by_key(|it| (it.ended != "complete", !it.set_up.is_empty(), it.quick));
        let mut methods: Vec<&str> = Vec::new();
        let mut found = Vec::new();
        for first in &all {
            if methods.contains(&first.method.as_str()) {
                continue;
            }
            methods.push(&first.method);
            let repeats = repeats(first, &all);
            let records = repeats.iter().map(|it| self.get(&it.id)).collect::<Result<_, _>>()?;
            found.push(records);
        }
        Ok(found)
    }

    /// All names of drives that have results, in order.
    ///
    /// # Errors
    ///
    /// What the database says.
    pub fn drives(&self) -> Result<Vec<String>, StoreError> {
        self.rows("SELECT DISTINCT drive FROM records ORDER BY drive", Vec::new(), |row| row.get(0))
    }

    /// The results of a drive, the latest first.
    fn of_drive(&self, drive: &str) -> Result<Vec<Summary>, StoreError> {
        let of_name = self.list(&Filter { name: Some(drive.into()), ..Filter::default() })?;
        if !of_name.is_empty() {
            return Ok(of_name);
        }
        // A path may have been spelled otherwise, and only one of the drives called so is meant.
        let names: Vec<String> = self.rows(
            "SELECT drive FROM records WHERE serial = ?1 OR title = ?1 COLLATE NOCASE
             ORDER BY started_s DESC, number DESC LIMIT 1",
            vec![Value::from(drive.to_string())],
            |row| row.get(0),
        )?;
        match names.first() {
            Some(name) => self.list(&Filter { name: Some(name.clone()), ..Filter::default() }),
            None => Ok(Vec::new()),
        }
    }
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
