//! What the page is told of results: the methods there are results of, and errors as a reader sees them.

use fourcorners_results::store::Store;
use serde_json::json;

use crate::fixture;
use crate::server::Server;

#[test]
fn methods_of_plan_files_are_listed_where_there_are_results_of_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::over(folder, &["--read-only"]);
    assert_eq!(server.get("/api/methods/measured"), (200, json!([])), "there is no database");
    let folder = server.end();
    let store = Store::open(&folder.path().join("results.db")).expect("a database");
    for method in ["queue-depth", "four-corners"] {
        let mut record = fixture::small(1);
        record.method = method.into();
        record.seal();
        store.add(&record).expect("it has room");
    }
    drop(store);
    let server = Server::over(folder, &["--read-only"]);
    let measured = json!([
        {"name": "four-corners", "words": "Four corners"},
        {"name": "queue-depth", "words": "queue depth"},
    ]);
    assert_eq!(server.get("/api/methods/measured"), (200, measured));
    // Those that can be started are the same as ever.
    let (_, methods) = server.get("/api/methods");
    let names = || methods.as_array().into_iter().flatten().map(|method| &method["name"]);
    assert!(
        names().any(|name| name == "four-corners") && names().all(|name| name != "queue-depth")
    );
    server.end();
}

#[test]
fn a_stale_link_is_answered_with_a_page_and_a_program_with_json() {
    let server = Server::start(&["--read-only"]);
    let host = server.address;
    let ask = |path: &str, accept: &str| {
        let (status, head, content) = server.send(&format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{accept}\r\n"
        ));
        (status, head.contains("content-type: text/html"), content)
    };
    // As chromium has it.
    let browser = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n";
    for (path, expected) in
        [("/report?id=deadbeefdeadbeef", 404), ("/report", 400), ("/nosuch", 404)]
    {
        let (status, is_page, page) = ask(path, browser);
        assert!((status, is_page) == (expected, true), "{path}: {status} {page}");
        assert!(page.contains("<a href=\"/#results\">") && !page.contains("{\"error\""), "{page}");
        for accept in ["", "Accept: */*\r\n", "Accept: application/json\r\n"] {
            let (status, is_page, content) = ask(path, accept);
            assert!((status, is_page) == (expected, false), "{path}: {content}");
            assert!(content.starts_with("{\"error\":"), "{path}: {content}");
        }
    }
    let (_, _, page) = ask("/report?id=deadbeefdeadbeef", browser);
    assert!(
        page.contains("there is no result &quot;deadbeef")
            || page.contains("there is no result \"deadbeef"),
        "{page}"
    );
    // What is asked for is told, and is never markup.
    let (_, _, page) = ask("/%3Cscript%3E", browser);
    let (_, _, hostile) = ask("/report?id=<script>", browser);
    for page in [page, hostile] {
        assert!(!page.contains("<script"), "{page}");
    }
    let (status, is_page, _) = ask("/api/nosuch", browser);
    assert_eq!((status, is_page), (404, false), "the interface has no pages");
    server.end();
}
