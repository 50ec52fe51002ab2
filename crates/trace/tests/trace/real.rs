//! Real traces of others, where they are at hand: in the folder that FOURCORNERS_TRACES names, or
//! beside the repository. They are not committed.

use std::path::Path;

use fourcorners_record::Card;
use fourcorners_trace::{Options, card, open};

use crate::common::{MSSQL, VSCSI, WEBSERVER, trace};

fn card_of(path: &Path) -> Card {
    let trace = open(path, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    card(trace, &mut || true).unwrap_or_else(|error| panic!("{error}")).expect("not stopped")
}

#[test]
fn a_web_server() {
    let Some(path) = trace(WEBSERVER) else { return };
    let card = card_of(&path);
    assert_eq!((card.ios, card.reads, card.writes), (269_007, 149_018, 119_989));
    assert_eq!((card.read_bytes + 5_000_000) / 10_000_000, 358, "3.58 GB");
    assert_eq!((card.write_bytes + 5_000_000) / 10_000_000, 112, "1.12 GB");
    assert_eq!((card.format.as_str(), card.skipped), ("blkreplay", 0));
}

#[test]
fn a_database() {
    let Some(path) = trace(MSSQL) else { return };
    assert_eq!(card_of(&path).ios, 42_976);
}

#[test]
fn a_virtual_machine() {
    let Some(path) = trace(VSCSI) else { return };
    let card = card_of(&path);
    assert_eq!((card.writes, card.reads, card.format.as_str()), (66_898, 46_974, "vscsi"));
}
