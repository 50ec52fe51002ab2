//! Results by what they are called on the command line: a file, or a folder that a review or a replay
//! has written.

use std::path::Path;

use crate::record::{Document, Record};
use crate::report;

/// The documents in a folder of results.
const NAMES: [&str; 2] = ["review.json", "replay.json"];
/// The longest document that is read: a review of a hundred drives is a tenth of it.
const MOST_BYTES: u64 = 1 << 30;

/// The records of all of these in one document, in the order they are named. A record that is there
/// twice is taken once.
pub(super) fn read_all(names: &[String]) -> Result<Document, String> {
    let mut records: Vec<Record> = Vec::new();
    for name in names {
        for record in read(name)? {
            if records.iter().all(|known| known.id != record.id) {
                records.push(record);
            }
        }
    }
    if records.is_empty() {
        return Err(format!("{}: no records in there", names.join(", ")));
    }
    Ok(Document::new(records))
}

/// The records of one. What else a record may be called by, an id in a database, is looked up here.
fn read(name: &str) -> Result<Vec<Record>, String> {
    let path = Path::new(name);
    let metadata = path.metadata().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => format!(
            "{name}: there is no such file or folder; name what `fourcorners review` has written, \
             for example fourcorners-results/*"
        ),
        _ => format!("{name}: {error}"),
    })?;
    if !metadata.is_dir() {
        return document(path);
    }
    let found: Vec<_> =
        NAMES.iter().map(|name| path.join(name)).filter(|path| path.is_file()).collect();
    if found.is_empty() {
        return Err(format!("{name}: there is no {} in this folder", NAMES.join(" and no ")));
    }
    let documents = found.iter().map(|path| document(path)).collect::<Result<Vec<_>, _>>()?;
    Ok(documents.concat())
}

fn document(path: &Path) -> Result<Vec<Record>, String> {
    let place = path.display();
    let metadata = path.metadata().map_err(|error| format!("{place}: {error}"))?;
    let kind = metadata.file_type();
    use std::os::unix::fs::FileTypeExt;
    if !kind.is_file() && !kind.is_fifo() {
        return Err(format!("{place}: this is not a file; a result is one"));
    }
    if metadata.len() > MOST_BYTES {
        return Err(format!("{place}: {} bytes is too long for a result", metadata.len()));
    }
    let text = std::fs::read_to_string(path).map_err(|error| format!("{place}: {error}"))?;
    let document = report::from_json(&text).map_err(|error| format!("{place}: {error}"))?;
    Ok(document.records)
}
