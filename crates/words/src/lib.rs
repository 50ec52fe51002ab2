//! Numbers, sizes and names as people read and type them.
//!
//! Every crate that speaks to a person spells a number the same way, takes `2GiB` for the same
//! bytes, and answers a slip with the nearest name it knows. Nothing else is in here, and it
//! depends on none of the other crates.
//!
//! It needs no Linux: it compiles for Windows and macOS, too (`scripts/other-systems`).
//!
//! ```
//! use fourcorners_words::{bytes_of, nearest, time};
//!
//! assert_eq!(time(4312.0), "4.31 ms");
//! assert_eq!(bytes_of("2GiB"), Some(2 << 30));
//! assert_eq!(nearest("consistancy", ["trim", "consistency"].into_iter()), Some("consistency"));
//! ```

#![forbid(unsafe_code)]

mod figures;
mod numbers;
mod shell;
mod sizes;
mod suggestion;
mod terminal;

/// What every picture says in its metadata, so that an earlier one is known as ours.
pub const MADE_BY: &str = "made by fourcorners";

pub use figures::{FigureName, figure_words, part_words};
pub use numbers::{capitalised, count, counted, hex, listed, percent, three_digits, time};
pub use shell::shell_word;
pub use sizes::{bytes_of, size};
pub use suggestion::{LONGEST_NAME, nearest};
pub use terminal::{reorders_text, steers_a_terminal};
