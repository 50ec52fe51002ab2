//! Real traces of others, where they are at hand: in the folder that FOURCORNERS_TRACES names, or
//! beside the repository. They are not committed.

use std::path::{Path, PathBuf};

use fourcorners::trace::{Options, card, open};
use fourcorners_record::Card;

/// The trace of this name, or why there is none.
pub(crate) fn trace(name: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("FOURCORNERS_TRACES").map_or(beside, PathBuf::from);
    let path = folder.join(name);
    if !path.is_file() {
        println!("skipped: {name} is not in the folder that FOURCORNERS_TRACES names");
        return None;
    }
    Some(path)
}

pub(crate) const WEBSERVER: &str = "blkreplay-linux-webserver-2.load.gz";
pub(crate) const MSSQL: &str = "blkreplay-windows-mssql.load.gz";
pub(crate) const VSCSI: &str = "cloudPhysicsIO.vscsi";

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
