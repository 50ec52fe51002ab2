//! The form of a database, and how an older one becomes one of today.
//!
//! `user_version` counts the steps that were made. A step is never changed once it was released:
//! what is to be different is another step.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// "4cnr": which program an SQLite file is of (<https://www.sqlite.org/pragma.html#pragma_application_id>).
pub(super) const APPLICATION_ID: u32 = 0x3463_6e72;

/// Each takes a database from the form of its place to the next.
const STEPS: [&str; 1] = [
    // `words` is where a part of a drive's name is looked for: names, model and serial in lower case.
    // What is listed and filtered is apart from the records themselves, which are a thousand times as
    // large: going through all of `records` is to stay a matter of milliseconds.
    "CREATE TABLE records (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        drive TEXT NOT NULL,
        title TEXT NOT NULL,
        kind TEXT NOT NULL,
        capacity_bytes INTEGER NOT NULL,
        model TEXT,
        serial TEXT,
        firmware TEXT,
        profile_hash TEXT,
        set_up TEXT NOT NULL,
        words TEXT NOT NULL,
        clock TEXT NOT NULL,
        method TEXT NOT NULL,
        quick INTEGER NOT NULL,
        ended TEXT NOT NULL,
        figures INTEGER NOT NULL,
        seed TEXT NOT NULL,
        version TEXT NOT NULL,
        started_at TEXT NOT NULL,
        started_s INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX records_by_time ON records (started_s, number);
    CREATE INDEX records_by_drive ON records (drive, method, started_s);
    -- The record as its JSON, packed by zlib.
    CREATE TABLE contents (
        number INTEGER PRIMARY KEY REFERENCES records (number) ON DELETE CASCADE,
        packed BLOB NOT NULL
    ) STRICT;
    CREATE TABLE figures (
        number INTEGER NOT NULL REFERENCES records (number) ON DELETE CASCADE,
        place INTEGER NOT NULL,
        name TEXT NOT NULL,
        mb_per_s REAL NOT NULL,
        iops REAL NOT NULL,
        mean_us REAL NOT NULL,
        p99_us REAL NOT NULL,
        p999_us REAL NOT NULL,
        max_us REAL NOT NULL,
        complete INTEGER NOT NULL,
        PRIMARY KEY (number, place)
    ) STRICT, WITHOUT ROWID;",
];

/// The form of today.
pub(super) const FORM: i64 = STEPS.len() as i64;

/// The form of a database; 0 of one that is empty.
pub(super) fn form(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Whether there is not one table in it.
pub(super) fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))
}

/// Takes a database to the form of today, all the way or not at all. Of two that want to at the same
/// time, one waits for the other.
pub(super) fn migrate(connection: &Connection) -> rusqlite::Result<()> {
    if form(connection)? >= FORM {
        return Ok(());
    }
    let change = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let from = form(&change)?.clamp(0, FORM);
    for step in &STEPS[from as usize..] {
        change.execute_batch(step)?;
    }
    change.pragma_update(None, "application_id", APPLICATION_ID)?;
    change.pragma_update(None, "user_version", FORM)?;
    change.commit()
}
