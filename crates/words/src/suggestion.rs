//! Suggestions for a mistyped name.

/// Longest name that is looked for among those there are.
pub const LONGEST_NAME: usize = 64;

/// The nearest of `names` to a slip, if one is near.
pub fn nearest<'a>(slip: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // What is longer than any name is no slip, and the distance takes time and memory by length.
    if slip.len() > LONGEST_NAME {
        return None;
    }
    let near = |name: &&str| strsim::damerau_levenshtein(slip, name);
    let nearest = names.min_by_key(near)?;
    (near(&nearest) <= 1 + slip.len() / 3).then_some(nearest)
}
