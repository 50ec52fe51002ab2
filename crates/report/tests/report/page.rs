//! The page in a browser: it draws what it says, complains of nothing and asks for nothing.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fourcorners_machine::save::write_atomically;
use fourcorners_record::Document;
use fourcorners_report::page;
use fourcorners_testing::skipped;

/// A headless browser where one is installed.
fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let named = |folder: PathBuf| {
        ["chromium", "chromium-browser", "google-chrome"].map(|name| folder.join(name))
    };
    std::env::split_paths(&path).flat_map(named).find(|program| program.is_file())
}

/// What the browser made of a page.
struct Opened {
    /// The document after its scripts ran.
    dom: String,
    /// Lines of the console.
    console: Vec<String>,
    /// The addresses that were asked for.
    requests: Vec<String>,
}

/// Opens the page of a document; `None`, and a word about it, without a browser.
fn open(name: &str, document: &Document) -> Option<Opened> {
    open_html(name, &page(document))
}

fn open_html(name: &str, html: &str) -> Option<Opened> {
    let Some(browser) = chromium() else {
        skipped("chromium", "chromium is not installed");
        return None;
    };
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    write_atomically(&path, html.as_bytes()).expect("the page can be saved");
    let profile = tempfile::tempdir().expect("a temporary folder");
    let net_log = profile.path().join("net-log.json");
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--disable-dev-shm-usage", "--window-size=1280,2000", "--enable-logging=stderr"])
        // A test is to reach no one, even where the page would.
        .arg("--host-resolver-rules=MAP * ~NOTFOUND")
        // Virtual time ends the run once the page is idle, however slow the machine is.
        .args(["--virtual-time-budget=60000", "--timeout=240000", "--dump-dom"])
        .arg(switch("--user-data-dir=", profile.path()))
        .arg(switch("--log-net-log=", &net_log))
        .arg(format!("file://{}", path.display()))
        .output()
        .expect("chromium starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "chromium failed: {errors}");
    let log = fs::read_to_string(&net_log).expect("chromium writes its net log");
    Some(Opened {
        dom: String::from_utf8_lossy(&output.stdout).into_owned(),
        console: errors.lines().filter(|line| line.contains("CONSOLE")).map(Into::into).collect(),
        requests: requested(&log),
    })
}

fn switch(name: &str, path: &Path) -> OsString {
    let mut switch = OsString::from(name);
    switch.push(path);
    switch
}

/// Every address in a net log that a page asked for. The browser's own services (updates, the
/// time of day) ask for more, in the name of no origin.
fn requested(log: &str) -> Vec<String> {
    let event = |line: &str| serde_json::from_str(line.trim_end_matches(',')).ok();
    let address = |event: serde_json::Value| {
        let params = event.get("params")?;
        let by = params.get("initiator")?.as_str()?;
        (by != "not an origin").then_some(params.get("url")?.as_str()?.to_string())
    };
    log.lines().filter_map(event).filter_map(address).collect()
}

/// What the script leaves when it has run.
const READY: &str = "data-ready=\"yes\"";

/// The requests that need a network.
fn left_the_page(opened: &Opened) -> Vec<&str> {
    let local = ["file:", "data:", "blob:", "chrome:", "chrome-extension:", "about:"];
    let stays = |url: &&str| !local.iter().any(|scheme| url.starts_with(scheme));
    opened.requests.iter().map(String::as_str).filter(stays).collect()
}

#[test]
fn a_request_or_an_error_would_be_noticed() {
    let html = "<!DOCTYPE html><link rel=icon href=data:,><img src=http://example.invalid/image>\
        <script>fetch('https://example.invalid/data').catch(() => 0); console.error('so')</script>";
    let Some(opened) = open_html("control.html", html) else { return };
    let away = left_the_page(&opened);
    for url in ["http://example.invalid/image", "https://example.invalid/data"] {
        assert!(away.contains(&url), "{url} was not noticed: {away:?}");
    }
    assert!(opened.console.iter().any(|line| line.contains("so")), "{:?}", opened.console);
}

#[test]
fn the_page_draws_its_charts_and_asks_for_nothing() {
    let document = crate::fixture::review();
    let Some(opened) = open("review.html", &document) else { return };
    assert_eq!(opened.console, Vec::<String>::new(), "the console is silent");
    assert_eq!(left_the_page(&opened), Vec::<&str>::new());

    let dom = &opened.dom;
    assert!(dom.contains(READY), "the script ran to its end");
    let charts = dom.matches("class=\"chart ").count();
    let bars = dom.matches("class=\"chart bars\"").count();
    let plots = dom.matches("<div class=\"plot").count();
    // Six figures differ, three are the same with any data. Of each there are bars of its rate, its mean and
    // its longest latency, a curve of percentiles and a series; and there are two sweeps.
    assert_eq!((bars, plots), (6 * 3, 6 * 2 + 2));
    assert_eq!(bars + plots, charts);
    let inside = dom.split("<div class=\"plot").skip(1);
    let drawn =
        inside.filter(|rest| rest.split("</svg>").next().is_some_and(|it| it.contains("d=\"M")));
    assert_eq!(drawn.count(), plots, "there is a line in each");
    assert!(dom.matches("<div class=\"row").count() >= 2 * bars, "no chart has one bar");
}

#[test]
fn hostile_names_are_only_text() {
    let mut record = crate::fixture::momentus();
    let hostile = "</script><script>console.error('in')</script><img src=http://example.invalid/x>";
    record.target.title = hostile.into();
    record.target.name = hostile.into();
    let document = Document::new(vec![record, crate::fixture::m4()]);
    let Some(opened) = open("hostile.html", &document) else { return };
    assert_eq!(opened.console, Vec::<String>::new());
    assert_eq!(left_the_page(&opened), Vec::<&str>::new());
    assert!(opened.dom.contains(READY));
}

#[test]
fn one_drive_alone_and_nothing_at_all() {
    let Some(alone) = open("alone.html", &Document::new(vec![crate::fixture::m4()])) else {
        return;
    };
    assert_eq!(alone.console, Vec::<String>::new());
    let alone_at = alone.dom.find("<h3>Alone</h3>").expect("it is shown alone");
    let own = alone.dom[alone_at..].split("</figure>").next().unwrap_or_default();
    assert_eq!(own.matches("<div class=\"row tested\">").count(), 6, "a bar for each figure");
    assert!(alone.dom.contains("<div class=\"row reference\">"), "and others in grey");
    let Some(empty) = open("empty.html", &Document::new(Vec::new())) else { return };
    assert_eq!(empty.console, Vec::<String>::new());
    assert!(empty.dom.contains("holds no records"));
}
