//! `fourcorners web`: serves the page over the database.

use std::io::{Write, stdout};

use super::args::WebArgs;
use super::outcome::{End, Failure};
use super::results::database;
use crate::web::{Options, WebError, serve};

pub(super) fn run(args: WebArgs) -> Result<End, Failure> {
    let database = database(args.db.as_ref())?;
    let options = Options {
        listen: args.listen,
        database,
        read_only: args.read_only,
        names: args.name,
        program: std::env::current_exe()?,
    };
    let served = serve(options, |address| {
        // Nobody reading it is no reason not to serve.
        let _ = writeln!(stdout().lock(), "http://{address}/ (Ctrl-C ends it)");
    });
    match served {
        Ok(()) => Ok(End::Done),
        Err(error @ (WebError::Listen { .. } | WebError::Open(_) | WebError::Files(_))) => {
            Err(Failure::Usage(error.to_string()))
        }
        Err(error) => Err(Failure::Failed(error.into())),
    }
}
