//! The `fourcorners` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    fourcorners::cli::main()
}
