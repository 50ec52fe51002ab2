//! The database that results go into as soon as they are finished.

use std::path::PathBuf;
use std::sync::Mutex;

use fourcorners_record::{Ended, Record};
use fourcorners_results::store::{self, Store, StoreError};

use super::args::KeepArgs;
use super::terminal::say;

/// Keeps records in a database, and says so once where it cannot: whatever becomes of the database, a
/// measurement goes on, and its results are printed and saved as files.
pub(super) struct Keeper {
    /// None where results are kept in no database, or the one there was is lost.
    store: Mutex<Option<Store>>,
}

impl Keeper {
    /// Opens the database before anything is measured.
    ///
    /// # Errors
    ///
    /// A database that was asked for with `--db` and cannot be used. The one that nobody named may be
    /// missing: then that is said, and nothing else.
    pub(super) fn open(args: &KeepArgs) -> Result<Keeper, String> {
        let keeper = Keeper::opened(args)?;
        // Only now: a refusal is one line.
        args.say_note();
        Ok(keeper)
    }

    fn opened(args: &KeepArgs) -> Result<Keeper, String> {
        let nowhere = Keeper { store: Mutex::new(None) };
        if args.no_db {
            return Ok(nowhere);
        }
        match (path(args.db.as_ref()), &args.db) {
            (Some(path), named) => match store::open_or_begin_anew(&path) {
                Ok((store, aside)) => {
                    tell_aside(aside);
                    Ok(Keeper { store: Mutex::new(Some(store)) })
                }
                Err(error) if named.is_some() => Err(format!("--db: {error}")),
                Err(error) => {
                    say(&format!("fourcorners: the results go into no database: {error}"));
                    Ok(nowhere)
                }
            },
            (None, _) => {
                say("fourcorners: the results go into no database: there is no home folder; \
                     --db FILE names one");
                Ok(nowhere)
            }
        }
    }

    /// Keeps a record, unless nothing was measured of it.
    pub(super) fn add(&self, record: &Record) {
        if !is_kept(record) {
            return;
        }
        let mut place = self.store.lock().expect("no holder panics");
        let Some(store) = place.take() else { return };
        let failed = match store.add(record) {
            Ok(_) => {
                *place = Some(store);
                return;
            }
            Err(damage) if damage.is_damage() => match anew(store, &damage, record) {
                Ok(store) => {
                    *place = Some(store);
                    return;
                }
                Err(why) => why,
            },
            Err(why) => {
                // The next record may be taken, or may find room.
                *place = Some(store);
                why
            }
        };
        let (drive, method) = (&record.target.name, &record.method);
        say(&format!(
            "fourcorners: {drive}, {method}, is not in the database: {failed}; `fourcorners results \
             import` takes the files of a review later"
        ));
    }
}

/// Whether a record is one to keep: one of a method that was stopped before anything was measured says nothing.
pub(super) fn is_kept(record: &Record) -> bool {
    let nothing = record.figure_count() == 0 && record.curves.is_empty();
    !(nothing && record.ended == Ended::Interrupted)
}

/// Sets a database aside that turned out to be damaged, and keeps the record in a new one.
fn anew(damaged: Store, damage: &StoreError, record: &Record) -> Result<Store, StoreError> {
    let (store, aside) = damaged.begin_anew(damage)?;
    tell_aside(aside);
    store.add(record)?;
    Ok(store)
}

fn tell_aside(aside: Option<PathBuf>) {
    if let Some(aside) = aside {
        let aside = aside.display();
        say(&format!(
            "fourcorners: the database was damaged: it is {aside} now, and a new one was begun; \
             `fourcorners results import {aside}` takes over what can be read of it"
        ));
    }
}

/// The database that is meant.
pub(super) fn path(named: Option<&PathBuf>) -> Option<PathBuf> {
    named.cloned().or_else(store::default_path)
}
