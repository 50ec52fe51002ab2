//! A database of 100,000 results: listing them with filters is to take less than 0.2 s, comparing ten
//! drives less than 1 s, their page less than 2 s, as a user waits for it (the binary is run, and a
//! browser where there is one).
//!
//! Making the database takes a minute or two and is not measured. `cargo bench --bench results -- page`
//! runs what has "page" in its name.

#[path = "../../results/tests/fixture/mod.rs"]
mod fixture;
#[path = "../tests/browser/tools.rs"]
mod tools;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use divan::Bencher;
use fourcorners_record::{Document, Record};
use fourcorners_results::store::Store;

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

/// A record of every kind there is.
static EVERYTHING: LazyLock<Document> = LazyLock::new(fixture::everything);

fn of_drive(drive: u64, method: &str) -> Record {
    let mut record = fixture::m4_of_seed(42);
    if method != METHODS[0] {
        // As the page draws it: without bars, curves and seconds of each figure.
        let of_method = EVERYTHING.records.iter().find(|it| it.method == method);
        record = of_method.cloned().unwrap_or(record);
    }
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
        .env("FOURCORNERS_CONFIG", "/dev/null")
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
    let names = drives(DRIVES);
    let mut args = vec!["compare"];
    args.extend(names.iter().map(String::as_str));
    bencher.bench(|| run(folder, &args));
}

/// What is compared and shown: the drives by their names.
fn drives(count: u64) -> Vec<String> {
    (0..count).map(|drive| format!("reviewed-{drive}")).collect()
}

#[divan::bench(args = [2, 10])]
fn page_of_drives(bencher: Bencher, count: u64) {
    let names = drives(count);
    let mut args = vec!["report", "-o", "page.html"];
    args.extend(names.iter().map(String::as_str));
    bencher.bench(|| run(&DATABASE, &args));
}

#[divan::bench(args = [2, 10])]
fn page_of_a_comparison(bencher: Bencher, count: u64) {
    let names = drives(count);
    let mut args = vec!["compare", "-o", "compared.html"];
    args.extend(names.iter().map(String::as_str));
    bencher.bench(|| run(&DATABASE, &args));
}

/// Prints how long the pages take in a browser, if there is one.
fn in_a_browser(folder: &Path) {
    let Some((node, browser)) = tools::node_and_browser() else { return };
    run(folder, &["report", "-o", "two.html", "reviewed-0", "reviewed-1"]);
    let mut server = Command::new(env!("CARGO_BIN_EXE_fourcorners"))
        .args(["web", "--listen", "127.0.0.1:0", "--db", "results.db"])
        .env("FOURCORNERS_CONFIG", "/dev/null")
        .current_dir(folder)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary is there");
    let mut line = String::new();
    let stdout = server.stdout.take().expect("a pipe");
    BufReader::new(stdout).read_line(&mut line).expect("it says its address");
    let address = line.split_whitespace().next().unwrap_or_default();
    let timed = Command::new(node)
        .arg(tools::folder().join("timing.mjs"))
        .arg(browser)
        .arg(address)
        .arg(folder.join("two.html"))
        .args(drives(2))
        .status();
    server.kill().expect("it is ours");
    server.wait().expect("it ends");
    assert!(timed.expect("node starts").success());
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
        in_a_browser(folder);
        std::fs::remove_dir_all(folder).expect("it is ours");
    }
}
