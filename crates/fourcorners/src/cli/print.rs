//! Results on stdout. A reader that closed the pipe has seen enough.

use std::io::{self, ErrorKind, IsTerminal, Write, stdout};

use anyhow::Context;
use fourcorners_record::{Document, to_json};
use fourcorners_report as report;

use super::terminal::{colours, columns};

/// A document as JSON, or as tables that fit what stdout is.
pub(super) fn text_of(document: &Document, json: bool) -> String {
    match json {
        true => to_json(document),
        false => {
            let colour = stdout().is_terminal() && colours();
            report::table(document, usize::from(columns()), colour)
        }
    }
}

/// Prints a document.
pub(super) fn document(document: &Document, json: bool) -> anyhow::Result<()> {
    let text = text_of(document, json);
    done(writeln!(stdout().lock(), "{}", text.trim_end()))
}

/// What came of printing.
pub(super) fn done(printed: io::Result<()>) -> anyhow::Result<()> {
    match printed {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("cannot print the result")
        }
        _ => Ok(()),
    }
}
