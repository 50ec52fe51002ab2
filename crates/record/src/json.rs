//! The JSON document and the schema it follows.

use schemars::schema_for;
use serde::Deserialize;
use thiserror::Error;

use crate::first_form::{self, FirstDocument, FirstRecord};
use crate::{Document, Record, SCHEMA};

/// Why a text is not a document of this version.
#[derive(Debug, Error)]
pub enum ReadError {
    /// Another kind of document, or one of another version.
    #[error("it is a {found:?} document; this version reads {SCHEMA:?}")]
    OtherSchema {
        /// Its `schema`.
        found: String,
    },
    /// Not JSON, or not of the schema's form.
    #[error("it is not a {SCHEMA:?} document: {0}")]
    NotADocument(#[from] serde_json::Error),
}

/// The document as one line of JSON.
///
/// Numbers come back exactly as they were. JSON has no infinity and no NaN: they are written as
/// `null`, which [`from_json`] refuses, so records are to hold finite numbers only.
pub fn to_json(document: &Document) -> String {
    serde_json::to_string(document).expect("a document has only string keys")
}

/// Reads a document back.
///
/// # Errors
///
/// [`ReadError`], with the line and column of what is wrong.
pub fn from_json(text: &str) -> Result<Document, ReadError> {
    #[derive(Deserialize)]
    struct Head {
        schema: String,
    }
    // The version first: what a later form lacks or adds is no use to a reader of the message.
    let head: Head = serde_json::from_str(text)?;
    match head.schema.as_str() {
        SCHEMA => Ok(serde_json::from_str(text)?),
        first_form::SCHEMA => {
            let document: FirstDocument = serde_json::from_str(text)?;
            Ok(Document::new(document.records.into_iter().map(Record::from).collect()))
        }
        _ => Err(ReadError::OtherSchema { found: head.schema }),
    }
}

/// Reads one record back, of today's form or of the first.
///
/// # Errors
///
/// What is wrong with it, with line and column.
pub fn record_from_json(json: &[u8]) -> Result<Record, serde_json::Error> {
    serde_json::from_slice(json).or_else(|today| {
        let first: FirstRecord = serde_json::from_slice(json).map_err(|_| today)?;
        Ok(first.into())
    })
}

/// The JSON Schema of the document, as committed in `docs/review.schema.json`.
pub fn json_schema() -> String {
    let mut schema = schema_for!(Document);
    schema.insert("title".into(), SCHEMA.into());
    if let Some(version) = schema.pointer_mut("/properties/schema") {
        version["const"] = SCHEMA.into();
    }
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema has only string keys");
    text.push('\n');
    text
}
