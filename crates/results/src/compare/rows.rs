//! Values of several sides under one name, in order of first appearance, by method.

use std::collections::HashMap;
use std::hash::Hash;

use fourcorners_record::Record;

use super::Side;

/// What sides have under one key.
pub(super) struct Shared<K, V> {
    /// The method's name.
    pub(super) method: String,
    /// What it is called.
    pub(super) key: K,
    /// Of each side, a value for each record that has it; the first stands for the side.
    pub(super) sides: Vec<Vec<V>>,
}

impl<K, V> Shared<K, V> {
    /// Whether there is something to compare.
    pub(super) fn by_several(&self) -> bool {
        self.sides.iter().filter(|values| !values.is_empty()).count() > 1
    }
}

/// Everything that the records of the sides have, the rows of a method together.
pub(super) fn gathered<'a, K, V, I>(
    sides: &[&'a Side],
    of: impl Fn(&'a Record) -> I,
) -> Vec<Shared<K, V>>
where
    K: Clone + Eq + Hash,
    I: IntoIterator<Item = (K, V)>,
{
    let mut rows: Vec<Shared<K, V>> = Vec::new();
    let mut places: HashMap<(&str, K), usize> = HashMap::new();
    let mut methods: Vec<&str> = Vec::new();
    for (side, of_side) in sides.iter().enumerate() {
        for record in of_side.standing() {
            let method = record.method.as_str();
            if !methods.contains(&method) {
                methods.push(method);
            }
            for (key, value) in of(record) {
                let row = *places.entry((method, key.clone())).or_insert_with(|| {
                    let sides = sides.iter().map(|_| Vec::new()).collect();
                    rows.push(Shared { method: method.into(), key, sides });
                    rows.len() - 1
                });
                rows[row].sides[side].push(value);
            }
        }
    }
    rows.sort_by_key(|row| methods.iter().position(|method| *method == row.method));
    rows
}
