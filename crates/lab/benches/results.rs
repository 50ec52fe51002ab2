//! A database of 100,000 results: listing them with filters is to take less than 0.2 s, comparing ten
//! drives less than 1 s, as a user waits for it (the binary is run).
//!
//! Making the database takes a minute or two and is not measured.

#[path = "../tests/fixture/mod.rs"]
mod fixture;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use divan::Bencher;
use fourcorners::record::Record;
use fourcorners::store::Store;

const RECORDS: u64 = 100_000;
const DRIVES: u64 = 10;
const METHODS: [&str; 12] = [
    "four-corners",
    "toms",
    "consistency",
    "lba-pass",
    "trim",
    "used-state",
    "compressible",
    "fill-level",
    "trim-under-load",
    "trim-reaches",
    "endurance",
    "power",
];

/// Its folder; what is static is never dropped, so `main` removes it.
static DATABASE: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a temporary folder").keep();
    let store = Store::open(&folder.join("results.db")).expect("it can be made");
    // Most are small, so that a laptop's disk has room for them; what is listed is as large as ever.
    for chunk in 0..RECORDS / 1000 {
        let records: Vec<Record> = (0..1000).map(|it| one_of_many(chunk * 1000 + it)).collect();
        store.add_all(&records).expect("they are kept");
    }
    // And ten drives with full reviews.
    for drive in 0..DRIVES {
        let records: Vec<Record> = METHODS.iter().map(|method| of_drive(drive, method)).collect();
        store.add_all(&records).expect("they are kept");
    }
    let bytes = store.path().metadata().map_or(0, |it| it.len());
    println!("{RECORDS} results and ten reviews, {} MB", bytes / 1_000_000);
    folder
});

fn one_of_many(number: u64) -> Record {
    static FIRST: LazyLock<Record> = LazyLock::new(|| fixture::small(0));
    let mut record = FIRST.clone();
    record.seed = number;
    record.method = METHODS[number as usize % METHODS.len()].into();
    record.target.name = format!("drive-{}", number % 500);
    record.target.title = format!("Drive {} of many", number % 500);
    record.target.firmware = Some(format!("{:04}", number % 7));
    let (day, hour) = (1 + number / 24 % 28, number % 24);
    record.started_at = format!("2026-{:02}-{day:02}T{hour:02}:00:00Z", 1 + number / 700 % 12);
    record.seal();
    record
}

fn of_drive(drive: u64, method: &str) -> Record {
    let mut record = fixture::m4_of_seed(42);
    record.method = method.into();
    record.target.name = format!("reviewed-{drive}");
    record.target.title = format!("Reviewed drive {drive}");
    record.seal();
    record
}

fn run(folder: &Path, args: &[&str]) {
    let ran = Command::new(env!("CARGO_BIN_EXE_fourcorners"))
        .args(args)
        .args(["--db", "results.db"])
        .current_dir(folder)
        .stdout(Stdio::null())
        .status();
    assert!(ran.expect("the binary is there").success(), "{args:?}");
}

#[divan::bench(args = [
    "--drive drive-77",
    "--method toms --firmware 0003",
    "--since 2026-06-01 --until 2026-06-03 --clock virtual",
    "--drive nowhere",
    "--limit 1000",
])]
fn list(bencher: Bencher, filters: &str) {
    let folder: &Path = &DATABASE;
    let mut args = vec!["results", "list"];
    args.extend(filters.split(' '));
    bencher.bench(|| run(folder, &args));
}

#[divan::bench]
fn list_all_as_json(bencher: Bencher) {
    bencher.bench(|| run(&DATABASE, &["results", "list", "--json"]));
}

#[divan::bench]
fn compare_ten_drives(bencher: Bencher) {
    let folder: &Path = &DATABASE;
    let names: Vec<String> = (0..DRIVES).map(|drive| format!("reviewed-{drive}")).collect();
    let mut args = vec!["compare"];
    args.extend(names.iter().map(String::as_str));
    bencher.bench(|| run(folder, &args));
}

#[divan::bench]
fn add_a_full_record(bencher: Bencher) {
    let store = Store::open(&DATABASE.join("results.db")).expect("it is there");
    let mut seed = 1000;
    bencher
        .with_inputs(|| {
            seed += 1;
            fixture::m4_of_seed(seed)
        })
        .bench_local_values(|record| store.add(&record).expect("it is kept"));
}

fn main() {
    divan::main();
    if let Some(folder) = LazyLock::get(&DATABASE) {
        std::fs::remove_dir_all(folder).expect("it is ours");
    }
}
