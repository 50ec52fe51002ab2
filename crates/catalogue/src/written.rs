//! A profile written out as a file of one drive: what a profile of one's own begins with.

use std::fmt::Write;

use super::profile::{Profile, ProfileValue};

impl Profile {
    /// The profile as TOML, in the form that a profile is read in; a family's common values and
    /// the drive's own are in it alike.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        let mut line = |line: String| {
            text.push_str(&line);
            text.push('\n');
        };
        line(format!("name = {}", quoted(&self.name)));
        line(format!("title = {}", quoted(&self.title)));
        line(format!("kind = {}\n\n[sources]", quoted(self.model.kind())));
        for (key, citation) in &self.sources {
            // A key of a host controller's source has a slash in it: not every key stands bare.
            let source = [(key.clone(), toml::Value::String(citation.clone()))];
            line(toml::Table::from_iter(source).to_string().trim_end().into());
        }
        let mut section = "";
        for value in &self.values {
            let (its_section, key) = value.key.split_once('.').unwrap_or(("", &value.key));
            if its_section != section {
                section = its_section;
                line(format!("\n[{section}]"));
            }
            line(format!("{key} = {}", written(value)));
        }
        text
    }
}

fn written(value: &ProfileValue) -> String {
    let mut text = format!("{{ value = {}, standing = \"", value.value);
    // Writing into a String does not fail.
    let standing = format!("{:?}", value.standing).to_lowercase();
    let _ = write!(text, "{standing}\", source = {}", quoted(&value.source_key));
    if let Some(note) = &value.note {
        let _ = write!(text, ", note = {}", quoted(note));
    }
    text + " }"
}

/// A text as TOML writes it.
fn quoted(text: &str) -> String {
    toml::Value::String(text.into()).to_string()
}
