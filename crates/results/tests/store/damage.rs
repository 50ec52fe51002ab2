//! A damaged database is found, said and set aside; what can be read of it is taken over.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use fourcorners_record::Record;
use fourcorners_results::store::{Filter, Imported, Store, StoreError, open_or_begin_anew};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::fixture;
use crate::kept::new;

/// A database with records in it, nobody at it, and the records.
fn filled(count: u64) -> (tempfile::TempDir, std::path::PathBuf, Vec<Record>) {
    let (folder, store) = new();
    let records: Vec<Record> = (0..count).map(fixture::small).collect();
    store.add_all(&records).expect("they are kept");
    let path = store.path().to_path_buf();
    drop(store);
    (folder, path, records)
}

fn spoil(path: &Path, at: u64, bytes: &[u8]) {
    let file = OpenOptions::new().write(true).open(path).expect("it is there");
    file.write_all_at(bytes, at).expect("it can be written");
}

#[test]
fn a_file_of_somebody_else_is_left_as_it_is() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("theirs");
    let other = rusqlite::Connection::open(folder.path().join("other.db")).expect("a database");
    other
        .execute_batch("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1);")
        .expect("a table");
    drop(other);
    let sqlite = fs::read(folder.path().join("other.db")).expect("it can be read");
    for content in [&b"notes\n"[..], &[0; 4096], &sqlite, b"SQLite format 3\0"] {
        fs::write(&path, content).expect("it can be written");
        for opened in [Store::open(&path), Store::open_read_only(&path)] {
            assert!(matches!(opened, Err(StoreError::Foreign { .. })), "{opened:?}");
        }
        assert!(matches!(open_or_begin_anew(&path), Err(StoreError::Foreign { .. })));
        assert_eq!(fs::read(&path).expect("it is there"), content);
    }
    assert!(matches!(Store::open(folder.path()), Err(StoreError::Foreign { .. })));
    assert!(matches!(Store::open(Path::new("/dev/null")), Err(StoreError::Foreign { .. })));
    let below = path.join("no/folder.db");
    assert!(matches!(Store::open(&below), Err(StoreError::Unreachable { .. })));
    let missing = folder.path().join("none.db");
    assert!(matches!(Store::open_read_only(&missing), Err(StoreError::Missing { .. })));
    assert!(!missing.exists());
    // A new file that nothing was written to yet is nobody's.
    fs::write(&missing, "").expect("it can be written");
    assert!(matches!(Store::open_read_only(&missing), Err(StoreError::Missing { .. })));
    // Nor is one whose first commit was undone, since whoever made it was killed.
    let begun = rusqlite::Connection::open(&missing).expect("it can be opened");
    begun
        .execute_batch("PRAGMA application_id = 0x34636e72; CREATE TABLE t (x); DROP TABLE t;")
        .expect("it can be written");
    drop(begun);
    assert!(missing.metadata().is_ok_and(|it| it.len() > 0));
    assert!(matches!(Store::open_read_only(&missing), Err(StoreError::Missing { .. })));
    assert_eq!(
        Store::open(&missing).expect("it is ours now").list(&Filter::default()).ok(),
        Some(vec![])
    );
}

#[test]
fn one_of_a_later_version_is_refused_by_its_number() {
    let (_folder, path, _) = filled(1);
    let connection = rusqlite::Connection::open(&path).expect("a database");
    connection.pragma_update(None, "user_version", 99).expect("it can be changed");
    drop(connection);
    for opened in [Store::open(&path), Store::open_read_only(&path)] {
        let error = opened.expect_err("it is newer").to_string();
        assert!(error.contains("has form 99") && error.contains("up to 1"), "{error}");
    }
    assert!(matches!(open_or_begin_anew(&path), Err(StoreError::Newer { .. })));
}

#[test]
fn damage_anywhere_is_no_panic_and_never_another_record() {
    let (_folder, path, records) = filled(60);
    let whole = fs::read(&path).expect("it is there");
    let seed = 20_260_301;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut set_aside_times, mut seen) = (0, 0);
    for trial in 0..150 {
        let place = format!("seed {seed}, trial {trial}");
        let mut spoiled = whole.clone();
        match trial % 3 {
            // A stretch of something else, as a failing disk leaves it.
            0 => {
                let at = 100 + random.next_u64() as usize % (spoiled.len() - 4196);
                spoiled[at..at + 4096].fill(random.next_u64() as u8);
            }
            1 => spoiled.truncate(100 + random.next_u64() as usize % (whole.len() - 100)),
            _ => {
                for _ in 0..20 {
                    let at = 100 + random.next_u64() as usize % (spoiled.len() - 100);
                    spoiled[at] = random.next_u64() as u8;
                }
            }
        }
        fs::write(&path, &spoiled).expect("it can be written");
        if let Ok(store) = Store::open_read_only(&path) {
            let checked = store.check();
            seen += usize::from(checked.is_ok_and(|it| !it.damage.is_empty()));
            let _ = store.list(&Filter::default());
            for record in &records {
                if let Ok(read) = store.get(&record.id) {
                    assert_eq!(read, *record, "{place}");
                }
            }
        }
        let (store, aside) = open_or_begin_anew(&path).expect(&place);
        if let Some(aside) = aside {
            set_aside_times += 1;
            assert_eq!(fs::read(&aside).expect("it is there"), spoiled, "{place}: as it was");
            assert_eq!(store.count(&Filter::default()).ok(), Some(0), "{place}");
            if let Ok(imported) = store.import(&aside) {
                assert!(imported.new <= records.len() as u64, "{place}");
                assert_eq!(store.count(&Filter::default()).ok(), Some(imported.new), "{place}");
            }
            fs::remove_file(aside).expect("it is there");
        }
        drop(store);
        fs::remove_file(&path).expect("it is there");
    }
    assert!(set_aside_times > 75 && seen > 50, "{set_aside_times} of 150, {seen} seen");
}

#[test]
fn what_can_be_read_of_a_damaged_one_is_taken_over() {
    let (_folder, path, records) = filled(60);
    // Two of the pages with records, the first and one further on.
    let pages: Vec<u64> = {
        let connection = rusqlite::Connection::open(&path).expect("a database");
        let leaves = "SELECT pageno FROM dbstat WHERE name = 'contents' AND pagetype = 'leaf'";
        let mut query = connection.prepare(leaves).expect("it is SQL");
        let pages = query.query_map([], |row| row.get(0)).expect("they can be listed");
        pages.collect::<Result<_, _>>().expect("numbers")
    };
    for page in [pages[0], pages[pages.len() / 2]] {
        spoil(&path, (page - 1) * 4096, &[0xa5; 4096]);
    }
    let (store, aside) = open_or_begin_anew(&path).expect("a new one is begun");
    let aside = aside.expect("the other is set aside");
    assert_eq!(aside, Path::new(&format!("{}.damaged-1", path.display())));
    let Imported { new, lost, .. } = store.import(&aside).expect("it can be opened");
    assert!(new >= 40 && lost > 1 && new + lost == 60, "{new} of 60, {lost} lost");
    let listed = store.list(&Filter::default()).expect("it is whole");
    assert!(listed.iter().all(|it| records.iter().any(|record| record.id == it.id)));
    assert_eq!(store.check().expect("it can be read").damage, [""; 0]);
}

#[test]
fn of_one_without_its_last_page_the_rest_is_taken_over() {
    let (folder, path, records) = filled(60);
    let whole = fs::read(&path).expect("it is there");
    fs::write(&path, &whole[..whole.len() - 4096]).expect("it can be written");
    let (store, aside) = open_or_begin_anew(&path).expect("a new one is begun");
    let aside = aside.expect("the other is set aside");
    assert!(Store::open_read_only(&aside).is_err_and(|error| error.is_damage()));
    let before = fs::read(&aside).expect("it is there");
    let Imported { new, lost, .. } = store.import(&aside).expect("what is left is read");
    // The last page may be one of an index, of which nothing is needed.
    assert!(new >= 40 && new + lost == 60, "{new} of 60, {lost} lost");
    let listed = store.list(&Filter::default()).expect("it is whole");
    assert!(listed.iter().all(|it| records.iter().any(|record| record.id == it.id)));
    assert_eq!(store.check().expect("it can be read").damage, [""; 0]);
    assert_eq!(fs::read(&aside).expect("it is there"), before, "it is as it was");
    // Of one that has its first page only nothing is left, which is no empty database.
    let stump = folder.path().join("stump.db");
    fs::write(&stump, &whole[..4096]).expect("it can be written");
    let error = store.import(&stump).expect_err("nothing is left");
    assert!(matches!(error, StoreError::Lost { .. }) && !error.is_damage(), "{error}");
    // Control: the whole one loses nothing.
    let copy = folder.path().join("copy.db");
    fs::write(&copy, &whole).expect("it can be written");
    let imported = store.import(&copy).expect("it is whole");
    assert_eq!((imported.new + imported.known, imported.known, imported.lost), (60, new, 0));
}

#[test]
fn a_content_that_was_exchanged_is_found() {
    let (_folder, path, records) = filled(2);
    let connection = rusqlite::Connection::open(&path).expect("a database");
    let changed = connection.execute(
        "UPDATE contents SET packed = (SELECT packed FROM contents WHERE number = 2) \
         WHERE number = 1",
        [],
    );
    assert_eq!(changed.expect("it can be changed"), 1);
    let store = Store::open(&path).expect("its structure is whole");
    let error = store.get(&records[0].id).expect_err("it is another's");
    assert!(error.is_damage(), "{error}");
    let checked = store.check().expect("it can be read");
    assert_eq!((checked.whole, checked.damage.len()), (1, 1));
}

#[test]
fn a_second_that_found_the_damage_does_not_set_aside_the_new_one() {
    let (_folder, path, _) = filled(3);
    spoil(&path, 4096, &[0xff; 4096]);
    // Two have it open, and both find the damage in the middle of their work.
    let [first, second] = [(); 2].map(|()| Store::open(&path).expect("its first page is whole"));
    let damage = first.list(&Filter::default()).expect_err("it is damaged");
    assert!(damage.is_damage(), "{damage}");
    let (new, aside) = first.begin_anew(&damage).expect("it can be renamed");
    let aside = aside.expect("it was the first");
    new.add(&fixture::m4()).expect("it is kept");
    let (same, none) = second.begin_anew(&damage).expect("the new one is there");
    assert_eq!(none, None, "the new database is not set aside");
    assert_eq!(same.get(&fixture::m4().id).expect("it is there"), fixture::m4());
    drop((new, same));
    assert_eq!(Store::open(&path).expect("whole").check().expect("it can be read").whole, 1);
    // As the two find it at the same time: many threads, and one of them sets it aside.
    fs::copy(&aside, &path).expect("damaged again");
    let asides: Vec<_> = std::thread::scope(|scope| {
        let both: Vec<_> = (0..8).map(|_| scope.spawn(|| open_or_begin_anew(&path))).collect();
        let opened = both.into_iter().map(|it| it.join().expect("no panic").expect("it opens"));
        opened.filter_map(|(_, aside)| aside).collect()
    });
    assert_eq!(asides, [Path::new(&format!("{}.damaged-2", path.display()))]);
    assert_eq!(
        Store::open(&path).expect("the new one").list(&Filter::default()).ok(),
        Some(vec![])
    );
}

#[test]
fn nobody_opens_one_while_it_is_set_aside() {
    let (folder, path, records) = filled(1);
    let held = fs::File::open(folder.path().join("deep/er")).expect("its folder");
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).expect("a lock");
    let readers = [Store::open as fn(&Path) -> _, Store::open_read_only];
    let path = path.as_path();
    std::thread::scope(|scope| {
        let waiting = readers.map(|open| scope.spawn(move || open(path).expect("it opens later")));
        // What is done meanwhile is done before they look.
        let aside = path.with_extension("aside");
        fs::rename(path, &aside).expect("it can be renamed");
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert!(waiting.iter().all(|it| !it.is_finished()), "it was opened all the same");
        assert!(!path.exists(), "and a new one made");
        fs::rename(&aside, path).expect("back");
        drop(held);
        for it in waiting {
            let found = it.join().expect("no panic").get(&records[0].id);
            assert_eq!(found.expect("it is there"), records[0]);
        }
    });
}
