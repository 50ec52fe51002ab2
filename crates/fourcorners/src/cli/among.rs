//! What a drive that is alone on its page stands among.

use std::path::PathBuf;

use fourcorners_record::Record;
use fourcorners_report::References;

use super::args::WhichReferences;
use super::named;
use super::outcome::Failure;
use super::results::failure;

/// The references that were asked for; `db` is the database they come from if they are the reader's own.
pub(super) fn references(
    which: Option<WhichReferences>,
    db: Option<&PathBuf>,
) -> Result<References, Failure> {
    match which.unwrap_or(WhichReferences::Catalogue) {
        WhichReferences::Catalogue => Ok(References::built_in().clone()),
        WhichReferences::None => Ok(References::none()),
        WhichReferences::Mine => {
            let Some(store) = named::store(db)? else {
                let why = "--references mine: there is no database yet; review some drives first";
                return Err(Failure::Usage(why.into()));
            };
            let mut records: Vec<Record> = Vec::new();
            for drive in store.drives().map_err(failure)? {
                let latest = store.latest(&drive).map_err(failure)?;
                records.extend(latest.into_iter().filter_map(|repeats| repeats.into_iter().next()));
            }
            Ok(References::of(&records, "drives of the database, by their latest results"))
        }
    }
}
