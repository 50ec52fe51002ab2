//! The `fourcorners` command.

use std::process::ExitCode;

use fourcorners::huge_pages::HugePages;

#[global_allocator]
static ALLOCATOR: HugePages = HugePages;

fn main() -> ExitCode {
    fourcorners::cli::main()
}
