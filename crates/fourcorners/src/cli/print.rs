//! Results on stdout. A reader that closed the pipe has seen enough.

use std::io::{self, ErrorKind, IsTerminal, Write, stdout};

use anyhow::Context;
use fourcorners_record::{Document, to_json};
use fourcorners_report::{self as report, Pasted};

use super::terminal::{colours, columns};

/// A document as JSON, as text to paste, or as tables that fit what stdout is.
pub(super) fn text_of(document: &Document, json: bool, pasted: Option<Pasted>) -> String {
    match (json, pasted) {
        (true, _) => to_json(document),
        (false, Some(form)) => report::pasted(document, form),
        (false, None) => {
            let colour = stdout().is_terminal() && colours();
            report::table(document, usize::from(columns()), colour)
        }
    }
}

/// Prints a document.
pub(super) fn document(
    document: &Document,
    json: bool,
    pasted: Option<Pasted>,
) -> anyhow::Result<()> {
    let text = text_of(document, json, pasted);
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
