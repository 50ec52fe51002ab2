//! Records as people and programs read them: one HTML page, a terminal table, the JSON document.
//!
//! Everything here works from records alone, never from a target, so that a result measured long
//! ago, or on a machine that no longer has the drive, renders as on the day it was measured.
//!
//! A page is a single file with its style, script, data and chart library inside. It names no
//! address to load anything from, and a content security policy in its head forbids the rest.

mod against;
mod charts;
mod consistency;
mod curves;
mod entries;
mod json;
mod page;
mod provenance;
mod replay;
mod sweep;
mod table;
mod tables;
mod tasks;
mod words;

pub(crate) use crate::save::is_a_sink;
pub use crate::save::write_atomically;
pub(crate) use crate::save::write_atomically_by;
pub use json::{ReadError, from_json, json_schema, to_json};
pub use page::page;
pub use table::table;
pub use words::figure_words;
