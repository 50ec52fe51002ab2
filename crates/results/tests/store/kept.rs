//! What goes in comes out, and is found by what it is.

use fourcorners_record::{ClockName, Document, Record, from_json, to_json};
use fourcorners_results::store::{Added, Filter, Imported, Store, StoreError, read_document};

use crate::fixture;

/// A database in a folder of its own.
pub(crate) fn new() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::open(&folder.path().join("deep/er/results.db")).expect("it can be made");
    (folder, store)
}

/// The records of three drives, two of them on a clock of their own.
fn three() -> Vec<Record> {
    vec![fixture::m4(), fixture::momentus(), fixture::file()]
}

#[test]
fn what_goes_in_comes_out_to_the_bit() {
    let (_folder, store) = new();
    for record in three() {
        assert_eq!(store.add(&record).expect("it is kept"), Added::New);
        assert_eq!(store.add(&record).expect("it is known"), Added::Known);
        let back = store.get(&record.id).expect("it is there");
        assert_eq!(back, record);
        let json = |record: &Record| serde_json::to_string(record).expect("it is JSON");
        assert_eq!(json(&back), json(&record));
    }
    assert_eq!(store.count(&Filter::default()).expect("it can be counted"), 3);
    let checked = store.check().expect("it can be read");
    assert_eq!((checked.whole, &checked.damage[..]), (3, &[][..]));
}

#[test]
fn another_process_finds_what_one_has_kept() {
    let (_folder, store) = new();
    store.add_all(&three()).expect("they are kept");
    for other in [Store::open(store.path()), Store::open_read_only(store.path())] {
        let other = other.expect("it can be opened");
        assert_eq!(other.list(&Filter::default()).expect("it can be listed").len(), 3);
    }
    let read_only = Store::open_read_only(store.path()).expect("it can be opened");
    let refused = read_only.add(&fixture::m4_of_seed(7)).expect_err("it is read-only");
    assert!(refused.to_string().contains("cannot be written"), "{refused}");
}

#[test]
fn filters_find_by_drive_method_firmware_date_and_clock() {
    let (_folder, store) = new();
    let mut later = fixture::m4_of_seed(2);
    later.started_at = "2026-03-05T10:00:00Z".into();
    let mut device = fixture::file();
    device.target.firmware = Some("0009".into());
    device.target.serial = Some("S1D5NS".into());
    device.method = "toms".into();
    device.seal();
    store
        .add_all(&[fixture::m4(), fixture::momentus(), device.clone(), later.clone()])
        .expect("they are kept");
    let ids = |filter: Filter| -> Vec<String> {
        let listed = store.list(&filter).expect("it can be listed");
        assert_eq!(store.count(&filter).ok(), Some(listed.len() as u64), "{filter:?}");
        listed.into_iter().map(|it| it.id).collect()
    };
    let all = Filter::default;
    assert_eq!(ids(all()).len(), 4);
    assert_eq!(ids(all())[0], later.id, "the latest first");
    let text = |text: &str| Some(text.to_string());
    assert_eq!(ids(Filter { drive: text("M4"), ..all() }), [later.id.clone(), fixture::m4().id]);
    assert_eq!(ids(Filter { drive: text("s1d5"), ..all() }), [device.id.clone()]);
    assert_eq!(ids(Filter { drive: text("'; --"), ..all() }), [""; 0]);
    assert_eq!(ids(Filter { name: text("crucial-m4"), ..all() }), [""; 0]);
    assert_eq!(ids(Filter { name: text("crucial-m4-256gb"), ..all() }).len(), 2);
    assert_eq!(ids(Filter { method: text("toms"), ..all() }), [device.id.clone()]);
    assert_eq!(ids(Filter { firmware: text("0009"), ..all() }), [device.id.clone()]);
    assert_eq!(ids(Filter { clock: Some(ClockName::Wall), ..all() }), [device.id]);
    let noon: i64 = 1_772_704_800;
    assert_eq!(ids(Filter { since: Some(noon), ..all() }), [later.id.clone()], "2026-03-05T10:00");
    assert_eq!(ids(Filter { since: Some(noon + 1), ..all() }), [""; 0]);
    assert_eq!(ids(Filter { until: Some(noon), ..all() }).len(), 3);
    let listed = store.list(&Filter { limit: Some(1), ..all() }).expect("it can be listed");
    assert_eq!(listed.iter().map(|it| &it.id).collect::<Vec<_>>(), [&later.id]);
}

#[test]
fn the_beginning_of_an_id_will_do_while_no_other_begins_so() {
    let (_folder, store) = new();
    let records: Vec<Record> = (0..40).map(fixture::small).collect();
    store.add_all(&records).expect("they are kept");
    for record in &records {
        let short = store.abbreviated(&record.id).expect("it is there");
        assert!(short.len() >= 7 && record.id.starts_with(&short));
        assert_eq!(store.get(&short.to_uppercase()).expect("it is one").id, record.id);
    }
    // Of 40 ids, some begin alike: there are 16 digits.
    let first = |digit: &str| records.iter().filter(|it| it.id.starts_with(digit)).count();
    let alike = "0123456789abcdef".chars().find(|digit| first(&digit.to_string()) > 1);
    let alike = alike.expect("two of forty begin alike").to_string();
    let Err(StoreError::Ambiguous { found, .. }) = store.get(&alike) else {
        panic!("{alike} is several");
    };
    assert!(found.len() > 1 && found.iter().all(|id| id.starts_with(&alike)));
    for unknown in ["", "xyz", "0123456789abcdef0", "%", "é"] {
        assert!(matches!(store.get(unknown), Err(StoreError::Unknown { .. })), "{unknown}");
    }
}

#[test]
fn what_is_removed_is_gone_with_its_figures_and_the_others_stay() {
    let (_folder, store) = new();
    let all = three();
    store.add_all(&all).expect("they are kept");
    let wrong = store.remove(&[all[0].id.as_str(), "ffffffffffffffff"]);
    assert!(matches!(wrong, Err(StoreError::Unknown { .. })));
    assert_eq!(store.count(&Filter::default()).ok(), Some(3), "all or none");
    assert_eq!(store.remove(&[&all[0].id]).expect("it is there"), 1);
    assert!(matches!(store.get(&all[0].id), Err(StoreError::Unknown { .. })));
    let figures = store.figures(&Filter::default()).expect("they can be listed");
    assert_eq!(figures.len(), all[1].figures.len() + all[2].figures.len());
    assert_eq!(store.add(&all[0]).expect("it is new again"), Added::New);
}

#[test]
fn the_figures_are_those_of_the_records() {
    let (_folder, store) = new();
    let record = fixture::m4();
    store.add(&record).expect("it is kept");
    let rows = store.figures(&Filter::default()).expect("they can be listed");
    assert_eq!(rows.len(), record.figures.len());
    for (row, (name, figure)) in rows.iter().zip(&record.figures) {
        let latency = figure.latency_us;
        assert_eq!((&row.figure, row.mb_per_s, row.iops), (name, figure.mb_per_s, figure.iops));
        assert_eq!(
            (row.mean_us, row.p99_us, row.p999_us, row.max_us),
            (latency.mean, latency.p99, latency.p999, latency.max)
        );
        assert_eq!((&row.id, row.complete), (&record.id, figure.complete));
    }
}

#[test]
fn what_is_not_a_whole_record_is_refused_and_nothing_of_its_company_kept() {
    let (folder, store) = new();
    let refused = |record: Record, told: &str| {
        let error = store.add_all(&[fixture::momentus(), record]).expect_err(told);
        assert!(error.to_string().contains(told), "{error}");
        assert_eq!(store.count(&Filter::default()).ok(), Some(0));
    };
    let mut changed = fixture::m4();
    changed.figures[0].mb_per_s *= 2.0;
    refused(changed, "its content has the id");
    let mut infinite = fixture::m4();
    infinite.figures[0].mb_per_s = f64::INFINITY;
    infinite.seal();
    refused(infinite, "infinite");
    let mut timeless = fixture::m4();
    timeless.started_at = "yesterday".into();
    refused(timeless.clone(), "\"yesterday\" is no time");
    // Nor is a document read that has one; its id is that of the same result at any other time.
    assert!(timeless.is_as_sealed());
    let path = folder.path().join("timeless.json");
    for (record, is_read) in [(fixture::m4(), true), (timeless, false)] {
        std::fs::write(&path, to_json(&Document::new(vec![record]))).expect("it can be written");
        let read = read_document(&path).map_err(|error| error.to_string());
        assert_eq!(read.is_ok(), is_read, "{read:?}");
        assert!(is_read || read.is_err_and(|why| why.contains("is no time: it has to be like")));
    }
}

#[test]
fn documents_and_databases_go_in_and_out() {
    let (folder, store) = new();
    let all = fixture::review();
    let path = folder.path().join("review.json");
    std::fs::write(&path, to_json(&all)).expect("it can be written");
    let imported = |new, known| Imported { new, known, lost: 0 };
    assert_eq!(store.import(&path).expect("a document"), imported(all.records.len() as u64, 0));
    assert_eq!(
        store.import(folder.path()).expect("its folder"),
        imported(0, all.records.len() as u64)
    );

    let ids: Vec<&str> = all.records.iter().map(|record| record.id.as_str()).collect();
    let mut json = Vec::new();
    store.export_json(&ids, &mut json).expect("it is written");
    let text = String::from_utf8(json).expect("it is text");
    assert_eq!(from_json(&text).expect("a document"), all);

    let mut csv = Vec::new();
    store.export_csv(&ids, &mut csv).expect("it is written");
    let mut table = csv::Reader::from_reader(&csv[..]);
    let columns = table.headers().expect("names").clone();
    let at = |name: &str| columns.iter().position(|it| it == name).expect("a column");
    let rows: Vec<csv::StringRecord> = table.records().map(|it| it.expect("a row")).collect();
    let figures = all.records.iter().flat_map(|it| it.figures.iter().map(move |f| (it, f)));
    assert_eq!(rows.len(), figures.clone().count());
    for (row, (record, (name, figure))) in rows.iter().zip(figures) {
        assert_eq!((&row[at("id")], &row[at("figure")]), (&*record.id, &**name));
        assert_eq!(row[at("mb_per_s")].parse(), Ok(figure.mb_per_s));
        assert_eq!(row[at("latency_max_us")].parse(), Ok(figure.latency_us.max));
        assert_eq!(row[at("complete")], *figure.complete.to_string());
    }

    let (_other_folder, other) = new();
    assert_eq!(other.import(store.path()).expect("a database"), imported(ids.len() as u64, 0));
    assert_eq!(other.get(ids[0]).ok(), store.get(ids[0]).ok());
}

/// A replay of so many I/Os that was busy for half a second of ten.
fn replay(ios: u64) -> fourcorners_record::Replay {
    let latency = serde_json::json!({
        "min": 1.0, "mean": 25.0, "p50": 20.0, "p90": 30.0, "p99": 40.0, "p999": 50.0, "p9999": 60.0, "max": 70.0
    });
    let part = serde_json::json!({
        "ios": ios, "bytes": 4096 * ios, "mb_per_s": 81.92, "service_us": 25.0, "latency_us": latency,
        "over_1_ms": 0.0, "over_10_ms": 0.0, "over_100_ms": 0.0
    });
    let spread = serde_json::json!({
        "count": 0, "mean": 0.0, "p50": 0.0, "p90": 0.0, "p99": 0.0, "max": 0.0, "sum_s": 0.0
    });
    let share = serde_json::json!({ "reads": 0.0, "writes": 0.0, "all": 0.0 });
    let replay = serde_json::json!({
        "card": {
            "trace": "web.csv", "format": "csv", "ios": ios, "reads": ios, "writes": 0, "trims": 0, "flushes": 0,
            "read_bytes": 4096 * ios, "write_bytes": 0, "trim_bytes": 0, "duration_s": 10.0, "extent_bytes": 1 << 30,
            "largest_bytes": 4096, "devices": 1, "sizes": [], "sequential": share, "aligned_4k": share,
            "aligned_512": share, "think_us": spread, "out_of_order": 0, "skipped": 0
        },
        "pace": "recorded", "queue_depth": 32, "addresses": "as_recorded", "widened": 0,
        "figures": { "storage_bench_empty": {
            "state": "fresh", "mb_per_s": 81.92, "busy_s": 0.5, "elapsed_s": 10.0, "mean_queue_depth": 0.5,
            "waited_s": 0.0, "all": part, "reads": part, "writes": part, "complete": true
        } }
    });
    serde_json::from_value(replay).expect("it is a replay")
}

#[test]
fn the_rates_of_a_csv_are_over_its_busy_s_and_of_no_io_there_is_no_latency() {
    let (_folder, store) = new();
    let mut ids = Vec::new();
    for ios in [10_000, 0] {
        let mut record = fixture::m4();
        record.replay = Some(replay(ios));
        record.seal();
        store.add(&record).expect("it is kept");
        ids.push(record.id);
    }
    let mut csv = Vec::new();
    store.export_csv(&ids, &mut csv).expect("it is written");
    let text = String::from_utf8(csv).expect("it is text");
    // What earlier versions wrote is still known as ours.
    assert!(text.starts_with(&fourcorners_results::store::csv_header()));
    assert_eq!(text.lines().next().map(|line| line.ends_with(",complete,busy_s")), Some(true));
    let mut table = csv::Reader::from_reader(text.as_bytes());
    let columns = table.headers().expect("names").clone();
    let at = |name: &str| columns.iter().position(|it| it == name).expect("a column");
    let rows: Vec<csv::StringRecord> = table.records().map(|it| it.expect("a row")).collect();
    let number = |row: &csv::StringRecord, name: &str| row[at(name)].parse::<f64>().ok();
    let (replays, jobs): (Vec<_>, Vec<_>) =
        rows.iter().partition(|row| &row[at("figure")] == "storage_bench_empty");
    let [busy, idle] = replays[..] else { panic!("{} replays", replays.len()) };
    assert_eq!((number(busy, "busy_s"), number(busy, "duration_s")), (Some(0.5), Some(10.0)));
    assert_eq!(number(busy, "iops"), Some(10_000.0 / 0.5));
    assert_eq!(number(busy, "latency_p99_us"), Some(40.0));
    assert_eq!((number(idle, "ios"), number(idle, "latency_p99_us")), (Some(0.0), None));
    // Control: of a job it is all of the time.
    assert!(!jobs.is_empty());
    for row in jobs {
        assert_eq!(row[at("busy_s")], row[at("duration_s")]);
    }
}

#[test]
fn what_is_no_document_is_refused_by_name() {
    let (folder, store) = new();
    let path = folder.path().join("some.json");
    let record = serde_json::to_string(&fixture::m4()).expect("it is JSON");
    let doubled = record.replacen("\"mb_per_s\":", "\"mb_per_s\":1", 1);
    let changed =
        format!("{{\"schema\":\"fourcorners.review/2\",\"records\":[{record},{doubled}]}}");
    for (text, told) in [
        ("", "some.json: it is not a"),
        ("{}", "some.json: it is not a"),
        ("{\"schema\":\"fourcorners.review/9\"}", "this version reads \"fourcorners.review/2\""),
        (&record, "some.json: it is not a"),
        (&changed, "cannot be kept: its content has the id"),
        ("\u{0}\u{1}", "some.json"),
    ] {
        std::fs::write(&path, text).expect("it can be written");
        let error = store.import(&path).expect_err(told).to_string();
        assert!(error.contains(told), "{error}");
    }
    std::fs::write(&path, [0xff, 0xfe]).expect("it can be written");
    for missing in [path.as_path(), folder.path(), &folder.path().join("none")] {
        let error = store.import(missing).expect_err("none").to_string();
        assert!(error.starts_with("cannot read "), "{error}");
    }
    assert_eq!(store.count(&Filter::default()).ok(), Some(0));
}
