//! Going through all of a database.

use super::packed::unpack;
use super::{Filter, Store, StoreError};

/// What going through a database found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checked {
    /// Records that are what was kept.
    pub whole: u64,
    /// What is damaged, a line each.
    pub damage: Vec<String>,
}

impl Store {
    /// Reads everything: how the database is built, and whether each record is the one its id is the
    /// hash of.
    ///
    /// # Errors
    ///
    /// What the database says of another kind than damage, which is in [`Checked`].
    pub fn check(&self) -> Result<Checked, StoreError> {
        let mut damage: Vec<String> = Vec::new();
        match self.structure() {
            Ok(found) => damage.extend(found),
            Err(error) if error.is_damage() => damage.push(error.to_string()),
            Err(error) => return Err(error),
        }
        let listed = match self.list(&Filter::default()) {
            Err(error) if error.is_damage() => {
                damage.push(error.to_string());
                Vec::new()
            }
            listed => listed?,
        };
        let mut whole = 0;
        for it in &listed {
            match self.packed(&it.id).and_then(|packed| self.is_its_id(&it.id, &packed)) {
                Ok(()) => whole += 1,
                // A record without content.
                Err(error @ (StoreError::Damaged { .. } | StoreError::Unknown { .. })) => {
                    damage.push(error.to_string());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Checked { whole, damage })
    }

    fn is_its_id(&self, id: &str, packed: &[u8]) -> Result<(), StoreError> {
        let record = unpack(packed).map_err(|why| self.damaged(id, why))?;
        match record.id == id && record.is_as_sealed() {
            true => Ok(()),
            false => Err(self.damaged(id, "its content has another id")),
        }
    }
}
