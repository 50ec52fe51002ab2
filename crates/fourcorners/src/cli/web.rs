//! `fourcorners web`: serves the page over the database.

use std::io::{Write, stdout};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::Args;

use super::address::address;
use super::outcome::{End, Failure};
use super::results::database;
use super::terminal::say;
use crate::web::{Options, WebError, serve};

#[derive(Debug, Args)]
pub(super) struct WebArgs {
    /// Address or port to listen on; port 0 takes any free port. Other machines are answered only with
    /// --read-only
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8642", value_parser = address)]
    pub(super) listen: SocketAddr,

    /// Open the page in this machine's browser (by xdg-open)
    #[arg(long)]
    pub(super) open: bool,

    /// Database of results [default: fourcorners/results.db in $XDG_DATA_HOME or ~/.local/share]
    #[arg(long, value_name = "FILE")]
    pub(super) db: Option<PathBuf>,

    /// Show results only; no review can be started
    #[arg(long)]
    pub(super) read_only: bool,

    /// Another host name under which browsers may reach this machine
    #[arg(long, value_name = "HOST")]
    pub(super) name: Vec<String>,
}

/// Opens the page in a browser, which runs on beside us. Where none can be opened, the address was printed.
fn open(page: &str) {
    let browser = Command::new("xdg-open")
        .arg(page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Err(error) = browser {
        say(&format!(
            "fourcorners: --open: xdg-open cannot be run ({error}): open {page} yourself"
        ));
    }
}

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
        if args.open {
            open(&format!("http://{address}/"));
        }
    });
    match served {
        Ok(()) => Ok(End::Done),
        Err(error @ (WebError::Listen { .. } | WebError::Open(_) | WebError::Files(_))) => {
            Err(Failure::Usage(error.to_string()))
        }
        Err(error) => Err(Failure::Failed(error.into())),
    }
}
