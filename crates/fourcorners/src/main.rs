//! The `fourcorners` command.

use std::process::ExitCode;

use fourcorners_linux::HugePages;

#[global_allocator]
static ALLOCATOR: HugePages = HugePages;

fn main() -> ExitCode {
    fourcorners::run(std::env::args_os())
}
