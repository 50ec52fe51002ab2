//! A file of the catalogue: one drive, or a family of drives that differ in little.
//!
//! The capacities of a model share a file. What all of them have stands in sections as in a file of
//! one drive; what differs stands under the drive's name and takes the place of the common value,
//! key by key:
//!
//! ```toml
//! kind = "ssd"
//! [nand]
//! planes = { value = 2, standing = "datasheet", source = "l74a" }
//!
//! [variant."crucial-m4-512gb"]
//! title = "Crucial m4 512 GB"
//! nand.dies = { value = 64, standing = "inferred", source = "toms" }
//! ```
//!
//! With `like = "crucial-m4-512gb"` a variant has what that one has, and states only where it differs from it.

use toml::{Table, Value};

use super::error::CatalogueError;
use super::like::overlay;

/// What publications call the drives of a file.
#[derive(Clone, PartialEq, Eq, Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The year in which it was first sold.
    pub year: Option<u16>,
    /// Names of the model besides the file's own: `"RealSSD C300"`.
    #[serde(default)]
    pub names: Vec<String>,
    /// The drive that is meant where a publication names no capacity.
    pub usual: Option<String>,
    /// The firmware that the common values describe, as publications write it.
    #[serde(default)]
    pub firmware: Vec<String>,
}

/// Takes `[published]` out of a file's table.
pub(super) fn take_published(table: &mut Table, place: &str) -> Result<Published, CatalogueError> {
    match table.remove("published") {
        Some(published) => published.try_into().map_err(|error: toml::de::Error| {
            let message = format!("published: {}", error.message());
            CatalogueError::Form { place: place.into(), message }
        }),
        None => Ok(Published::default()),
    }
}

/// The drives in a file's table: their names and what `name`, `title` and sections each has.
pub(super) fn drives_of(mut table: Table, place: &str) -> Result<Vec<Table>, CatalogueError> {
    let form = |message: String| CatalogueError::Form { place: place.into(), message };
    let variants = match table.remove("variant") {
        None => return Ok(vec![table]),
        Some(Value::Table(variants)) if !variants.is_empty() => variants,
        Some(_) => return Err(form("variant must be tables, each under its drive's name".into())),
    };
    if let Some(key) = ["name", "title"].into_iter().find(|key| table.contains_key(*key)) {
        return Err(form(format!("{key} of a family is that of each variant: leave it out here")));
    }
    let mut drives = Vec::new();
    for (name, own) in &variants {
        let Value::Table(own) = own else {
            return Err(form(format!("variant.{name} = {own} must be a table")));
        };
        if let Some(key) = ["name", "kind"].into_iter().find(|key| own.contains_key(*key)) {
            return Err(form(format!(
                "variant.{name}.{key} belongs above the variants, if anywhere"
            )));
        }
        let mut drive = table.clone();
        for part in inherited(&variants, name, &form)? {
            for (section, content) in part {
                overlay(&mut drive, section.clone(), content.clone());
            }
        }
        drive.remove("like");
        // What a drive is called is its own.
        if !own.contains_key("title") {
            drive.remove("title");
        }
        drive.insert("name".into(), Value::String(name.clone()));
        drives.push(drive);
    }
    Ok(drives)
}

/// What a variant consists of: the variant that it is like, if any, and that one's, the farthest first, itself last.
fn inherited<'a>(
    variants: &'a Table,
    name: &'a str,
    form: &impl Fn(String) -> CatalogueError,
) -> Result<Vec<&'a Table>, CatalogueError> {
    let mut parts: Vec<&Table> = Vec::new();
    let (mut name, mut asked_by) = (name, None);
    loop {
        let Some(own) = variants.get(name).and_then(Value::as_table) else {
            let by = asked_by.unwrap_or(name);
            return Err(form(format!(
                "variant.{by}.like = \"{name}\" is no other variant of this file"
            )));
        };
        if parts.len() == variants.len() {
            return Err(form(format!("variant.{name}.like goes round in a circle")));
        }
        parts.push(own);
        match own.get("like") {
            None => break,
            Some(Value::String(like)) => (name, asked_by) = (like, Some(name)),
            Some(other) => {
                let message =
                    format!("variant.{name}.like = {other} must be another variant's name");
                return Err(form(message));
            }
        }
    }
    parts.reverse();
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drives(text: &str) -> Result<Vec<Table>, CatalogueError> {
        drives_of(text.parse().expect("TOML"), "mine.toml")
    }

    #[test]
    fn a_variant_has_what_is_common_and_what_is_its_own() {
        let text = "kind = \"ssd\"\n[nand]\ndies = 1\nplanes = 2\n[sources]\na = \"A\"\n\
                    [variant.x]\ntitle = \"X\"\nnand.dies = 8\ngc.seed = 3\nsources.b = \"B\"\n\
                    [variant.y]\ntitle = \"Y\"\n";
        let found = drives(text).expect("a family");
        let x: Table =
            "kind = \"ssd\"\nname = \"x\"\ntitle = \"X\"\nnand = { dies = 8, planes = 2 }\n\
                        gc = { seed = 3 }\nsources = { a = \"A\", b = \"B\" }"
                .parse()
                .expect("TOML");
        assert_eq!(found[0], x);
        assert_eq!(found[1]["nand"]["dies"].as_integer(), Some(1));
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn a_variant_that_is_like_another_has_its_values_and_those_of_whom_that_one_is_like() {
        let text = "kind = \"ssd\"\n[nand]\ndies = 1\nplanes = 2\n\
                    [variant.z]\nlike = \"y\"\ntitle = \"Z\"\ngc.seed = 3\n\
                    [variant.x]\ntitle = \"X\"\nnand.dies = 8\ngc.seed = 1\n\
                    [variant.y]\nlike = \"x\"\ntitle = \"Y\"\nnand.planes = 4\n";
        let found = drives(text).expect("a family");
        let z =
            found.iter().find(|drive| drive["name"].as_str() == Some("z")).expect("it is there");
        let number = |section: &str, key: &str| z[section][key].as_integer();
        assert_eq!((number("nand", "dies"), number("nand", "planes")), (Some(8), Some(4)));
        assert_eq!((number("gc", "seed"), z["title"].as_str()), (Some(3), Some("Z")));
        assert!(!z.contains_key("like"));
    }

    #[test]
    fn a_family_that_is_none_is_refused_by_file_key_and_value() {
        for (text, told) in [
            ("variant = 3", "mine.toml: variant must be tables"),
            ("[variant]", "mine.toml: variant must be tables"),
            ("[variant]\nx = 3", "mine.toml: variant.x = 3 must be a table"),
            ("name = \"a\"\n[variant.x]\ntitle = \"X\"", "mine.toml: name of a family"),
            ("[variant.x]\nkind = \"hdd\"", "mine.toml: variant.x.kind belongs above"),
            ("[variant.x]\nlike = \"y\"", "mine.toml: variant.x.like = \"y\" is no other variant"),
            (
                "[variant.x]\nlike = 3",
                "mine.toml: variant.x.like = 3 must be another variant's name",
            ),
            ("[variant.x]\nlike = \"x\"", "mine.toml: variant.x.like goes round in a circle"),
            (
                "[variant.x]\nlike = \"y\"\n[variant.y]\nlike = \"x\"",
                "mine.toml: variant.x.like goes round in a circle",
            ),
        ] {
            let error = drives(text).expect_err(text).to_string();
            assert!(error.starts_with(told), "{text}: {error}");
        }
    }
}
