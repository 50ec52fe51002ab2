//! `fourcorners web`, over its socket.

#[path = "../../results/tests/fixture/mod.rs"]
mod fixture;
#[path = "openmetrics/mod.rs"]
mod openmetrics;
#[path = "web/results.rs"]
mod results;
#[path = "web/server.rs"]
mod server;
#[path = "browser/tools.rs"]
mod tools;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use fourcorners_record::{Ended, Record};
use fourcorners_results::store::Store;
use serde_json::{Value, json};
use server::{PATIENCE, Server, command, has_ended};
use tempfile::TempDir;
use tools::{folder as scripts, node_and_browser};

const M4: &str = "crucial-m4-64gb";

#[test]
fn it_serves_its_page_and_nothing_else() {
    let server = Server::start(&[]);
    let (status, page) = server.get("/");
    assert_eq!(status, 200);
    let page = page.as_str().expect("text");
    // All that the page names is there, and nothing of it is elsewhere.
    for attribute in ["src=\"", "href=\""] {
        for name in page.split(attribute).skip(1).filter_map(|rest| rest.split('"').next()) {
            if name.starts_with('#') || name == "data:," {
                continue;
            }
            assert!(name.starts_with("/assets/"), "{name}");
            assert_eq!(server.get(name).0, 200, "{name}");
        }
    }
    for module in ["common.js", "part.js", "live.js", "plot.js"] {
        assert_eq!(server.get(&format!("/assets/{module}")).0, 200, "{module}");
    }
    let (_, head, _) = server.send(&format!("GET / HTTP/1.0\r\nHost: {}\r\n\r\n", server.address));
    assert!(head.contains("content-security-policy: default-src 'none'; script-src 'self';"));
    assert!(head.contains("x-frame-options: deny"), "{head}");
    assert_eq!(server.get("/api/records"), (200, json!({"total": 0, "records": []})));
    let (_, drives) = server.get("/api/drives");
    assert!(drives.as_array().expect("a list").len() > 40, "{drives}");
    for path in [
        "/assets/../Cargo.toml",
        "/assets/..%2f..%2fCargo.toml",
        "/assets/%2e%2e/%2e%2e/etc/passwd",
        "/assets//etc/passwd",
        "//etc/passwd",
        "/..",
        "/api",
        "/api/records/../reviews",
        "/api/records/%00",
        "/api/records/..%2fx",
        "/api/records/nosuch",
        "/report?id=0123456789abcdef",
        "/api/reviews/1",
        "/results.db",
    ] {
        let (status, answer) = server.get(path);
        assert_eq!(status, 404, "{path}: {answer}");
        assert!(answer["error"].is_string(), "{path}: {answer}");
    }
    for path in [
        "/report",
        "/report?id=",
        "/api/records?nosuch=1",
        "/api/records?limit=x",
        "/api/reviews/x",
    ] {
        let (status, answer) = server.get(path);
        assert!(matches!(status, 400 | 404), "{path}: {status} {answer}");
        assert!(answer["error"].is_string(), "{path}: {answer}");
    }
    server.end();
}

#[test]
fn only_who_may_ask_is_answered() {
    let server = Server::start(&["--name", "lab.example"]);
    let get = |host: &str| {
        server.send(&format!("GET /api/drives HTTP/1.1\r\n{host}Connection: close\r\n\r\n")).0
    };
    assert_eq!(get(&format!("Host: {}\r\n", server.address)), 200);
    assert_eq!(get("Host: localhost\r\n"), 200);
    assert_eq!(get("Host: LAB.example:99\r\n"), 200);
    assert_eq!(get("Host: evil.example\r\n"), 403);
    assert_eq!(get("Host: evil.example\r\nHost: localhost\r\n"), 400);
    assert_eq!(get(""), 400);
    let wanted = json!({"drives": [M4], "quick": true}).to_string();
    let form = "Content-Type: application/json\r\n";
    for (more, expected) in [
        (format!("{form}Origin: http://evil.example\r\n"), 403),
        (format!("{form}Origin: null\r\n"), 403),
        (format!("{form}Origin: http://{0}\r\nOrigin: http://{0}\r\n", server.address), 403),
        (format!("{form}Sec-Fetch-Site: cross-site\r\n"), 403),
        ("Content-Type: text/plain\r\n".into(), 415),
        (String::new(), 415),
    ] {
        let (status, answer) = server.ask("POST", "/api/reviews", &more, &wanted);
        assert_eq!(status, expected, "{more}: {answer}");
    }
    for wanted in [
        json!({"drives": ["/dev/sda"]}),
        json!({"drives": ["./x.toml"]}),
        json!({"drives": [M4], "destroy": ["/dev/sda"]}),
        json!({"drives": [M4], "methods": ["four-corners --destroy"]}),
        json!({"drives": []}),
        json!([]),
        json!({"drives": [M4], "seed": -1}),
        json!({"drives": [M4], "padding": "x".repeat(1 << 17)}),
    ] {
        let (status, answer) = server.review(&wanted);
        assert!(matches!(status, 400 | 413), "{status} {answer}");
        assert!(answer["error"].is_string(), "{answer}");
    }
    let (_, reviews) = server.get("/api/reviews");
    assert_eq!(reviews, json!({"read_only": false, "reviews": []}), "nothing was started");
    server.end();
}

#[test]
fn a_review_is_started_watched_and_kept() {
    let server = Server::start(&[]);
    let wanted = json!({"drives": [M4], "methods": ["four-corners"], "quick": true, "seed": 7});
    let (status, started) = server.review(&wanted);
    assert_eq!((status, &started["number"]), (201, &json!(1)), "{started}");
    let (status, answer) = server.review(&wanted);
    assert_eq!(status, 409, "one at a time: {answer}");
    let measuring = |review: &Value| {
        let part = &review["parts"][0];
        has_ended(review) || part["iops"].as_array().is_some_and(|iops| !iops.is_empty())
    };
    let under_way = server.until(1, measuring);
    assert_eq!(under_way["parts"][0]["target"], M4);
    let done = server.until(1, has_ended);
    assert_eq!((&done["state"], &done["done"]), (&json!("done"), &json!(1.0)), "{done}");
    let id = done["parts"][0]["record"].as_str().expect("an id");
    let (_, listed) = server.get(&format!("/api/records?name={M4}&method=four-corners"));
    assert_eq!((&listed["total"], &listed["records"][0]["id"]), (&json!(1), &json!(id)));
    let (_, shown) = server.get(&format!("/api/records/{id}"));
    assert_eq!(shown["record"]["seed"], 7);
    let figures = shown["record"]["figures"].as_object().expect("figures");
    assert_eq!(done["figures"].as_array().map(Vec::len), Some(figures.len()));
    assert_eq!(shown["words"]["random_read_4k_qd3"], "4 KiB random read, QD 3");
    let (status, page) = server.get(&format!("/report?id={id}"));
    assert!(status == 200 && page.as_str().is_some_and(|page| page.contains("Crucial m4 64 GB")));
    let (_, drives) = server.get("/api/drives");
    let drives = drives.as_array().expect("a list");
    assert!(drives.iter().any(|drive| drive["name"] == M4 && drive["measured"] == true));

    // What was measured is there for the next server, which shows it and starts nothing.
    let server = Server::over(server.end(), &["--read-only"]);
    assert_eq!(server.get("/api/records").1["total"], 1);
    let (status, answer) = server.review(&wanted);
    assert_eq!(status, 403, "{answer}");
    server.end();
}

#[test]
fn a_review_is_stopped_and_ends_with_the_server() {
    let server = Server::start(&[]);
    let long = json!({"drives": ["intel-320-300gb"], "methods": ["consistency", "four-corners"]});
    assert_eq!(server.review(&long).0, 201);
    server.until(1, |review| review["parts"][0]["words"] != "waiting");
    let (status, _) = server.ask("DELETE", "/api/reviews/1", "", "");
    assert_eq!(status, 202);
    let stopped = server.until(1, has_ended);
    assert_eq!(stopped["state"], "stopped", "{stopped}");
    // Asked again, nothing more happens.
    assert_eq!(server.ask("DELETE", "/api/reviews/1", "", "").0, 202);

    assert_eq!(server.review(&long).0, 201);
    let began = server.until(2, |review| review["parts"][0]["words"] != "waiting");
    assert_eq!(began["state"], "running");
    let children = format!("/proc/{}/task/{0}/children", server.child.id());
    let child = std::fs::read_to_string(children)
        .ok()
        .and_then(|ids| ids.split_whitespace().next().and_then(|id| id.parse::<i32>().ok()));
    server.end();
    if let Some(child) = child {
        let gone = !Path::new(&format!("/proc/{child}/status")).exists();
        assert!(gone, "the review goes on without its server");
    }
}

#[test]
fn what_stands_for_a_drive_is_what_compare_takes() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(&folder.path().join("results.db")).expect("a database");
    let add = |change: &dyn Fn(&mut Record)| {
        let mut record = fixture::small(1);
        change(&mut record);
        record.seal();
        store.add(&record).expect("it has room");
        record
    };
    let whole = add(&|_| {});
    // Both are later, and neither stands for the drive as long as there is another.
    let later = |record: &mut Record| record.started_at = "2026-03-09T00:00:00Z".into();
    let set = add(&|record| {
        later(record);
        record.target.set = vec!["link.gbps=3".into()];
    });
    add(&|record| {
        later(record);
        record.ended = Ended::Interrupted;
    });
    let other = add(&|record| record.target.name = "another".into());
    drop(store);
    let server = Server::over(folder, &["--read-only"]);
    let (method, name) = (&whole.method, &whole.target.name);
    let ask = |drives: &str| server.get(&format!("/api/latest?method={method}{drives}"));
    let both = ask(&format!("&drive={name}&drive=another&drive=nobody"));
    assert_eq!(both, (200, json!([[whole.id], [other.id], []])));
    assert_ne!(whole.id, set.id);
    for query in ["", "&drive=", "&method=toms&drive=a", "&colour=red&drive=a"] {
        let (status, answer) = ask(query);
        assert!(status == 400 || answer == json!([[]]), "{query}: {status} {answer}");
    }
    server.end();
}

/// A database with a result of a drive that tells its firmware, begun on 1 March 2026.
fn with_firmware() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut record = fixture::small(1);
    record.target.firmware = Some("0309".into());
    record.seal();
    let store = Store::open(&folder.path().join("results.db")).expect("a database");
    store.add(&record).expect("it has room");
    folder
}

#[test]
fn results_are_found_by_firmware_and_date() {
    let server = Server::over(with_firmware(), &["--read-only"]);
    for (query, found) in [
        ("firmware=0309", 1),
        ("firmware=030", 0),
        ("firmware=+0309+", 1),
        ("firmware=", 1),
        ("since=2026-03-01", 1),
        ("since=2026-03-02", 0),
        ("until=2026-02-28", 0),
        ("until=2026-03-01", 1),
        ("since=2026-03-01T11:00:00Z", 0),
        ("since=2026-03-01&until=2026-03-01&firmware=0309&clock=virtual", 1),
    ] {
        let (status, answer) = server.get(&format!("/api/records?{query}"));
        assert_eq!((status, &answer["total"]), (200, &json!(found)), "{query}: {answer}");
    }
    for (query, named) in [("since=2026-02-30", "since"), ("until=soon", "until")] {
        let (status, answer) = server.get(&format!("/api/records?{query}"));
        let why = answer["error"].as_str().unwrap_or_default();
        assert!(status == 400 && why.starts_with(named), "{query}: {status} {answer}");
    }
    server.end();
}

#[test]
fn what_cannot_be_served_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = |args: &[&str]| {
        let ran = Command::new(env!("CARGO_BIN_EXE_fourcorners"))
            .arg("web")
            .args(args)
            .env("FOURCORNERS_CONFIG", "/dev/null")
            .current_dir(folder.path())
            .output()
            .expect("the binary is there");
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!((ran.status.code(), said.lines().count()), (Some(2), 1), "{args:?}: {said}");
        said
    };
    let few = Command::new("sh")
        .args(["-c", "ulimit -n 24 && exec \"$0\" web --db x.db --listen 127.0.0.1:0"])
        .arg(env!("CARGO_BIN_EXE_fourcorners"))
        .env("FOURCORNERS_CONFIG", "/dev/null")
        .current_dir(folder.path())
        .output()
        .expect("there is a shell");
    let said = String::from_utf8_lossy(&few.stderr);
    assert!(few.status.code() == Some(2) && said.contains("24 open files"), "{said}");
    let server = Server::start(&[]);
    let taken = server.address.to_string();
    assert!(refused(&["--db", "x.db", "--listen", &taken]).contains(&taken));
    assert!(refused(&["--db", "x.db", "--listen", "0.0.0.0:0"]).contains("--read-only"));
    assert!(refused(&["--db", "x.db", "--listen", "nowhere"]).contains("nowhere"));
    server.end();
}

/// The most memory that a process has had, MB.
fn most_memory(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).expect("it runs");
    let line = status.lines().find(|line| line.starts_with("VmHWM")).expect("it is there");
    let kib = line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok());
    kib.expect("a number") / 1024
}

#[test]
fn who_asks_slowly_or_for_much_does_not_lock_others_out() {
    let server = Server::over(with_firmware(), &["--read-only"]);
    let id = server.get("/api/records").1["records"][0]["id"].as_str().expect("an id").to_owned();
    let connect = || TcpStream::connect(server.address).expect("it listens");
    let slow: Vec<TcpStream> = (0..400)
        .map(|number| {
            let mut stream = connect();
            let begun = if number % 2 == 0 { "GET / HTTP/1.1\r\nHost: loc" } else { "" };
            stream.write_all(begun.as_bytes()).expect("it reads");
            stream
        })
        .collect();
    // Reports that nobody takes, of as many records as are allowed.
    let ids = vec![format!("id={id}"); 64].join("&");
    let untaken: Vec<TcpStream> = (0..200)
        .map(|_| {
            let mut stream = connect();
            let head = format!("GET /report?{ids} HTTP/1.1\r\nHost: localhost\r\n\r\n");
            stream.write_all(head.as_bytes()).expect("it reads");
            stream
        })
        .collect();
    let began = Instant::now();
    assert_eq!(server.get("/").0, 200);
    assert_eq!(server.get("/api/records").0, 200);
    println!("others are answered in {:?}", began.elapsed());
    // Some get theirs, the others are told to come again.
    let mut busy = 0;
    for mut stream in untaken {
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let mut head = [0; 256];
        let read = stream.read(&mut head).expect("it answers");
        let head = String::from_utf8_lossy(&head[..read]).to_ascii_lowercase();
        if head.starts_with("http/1.1 503 ") {
            assert!(head.contains("retry-after: "), "{head}");
            busy += 1;
        } else {
            assert!(head.starts_with("http/1.1 200 "), "{head}");
        }
    }
    println!("{busy} of 200 were told to come again");
    let memory = most_memory(&server.child);
    assert!(memory < 300, "{memory} MB");
    assert_eq!(server.get(&format!("/report?id={id}")).0, 200);
    drop(slow);
    server.end();
}

#[test]
fn idle_connections_make_room_for_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let plain = command(folder.path(), &[]);
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -n 128 && exec \"$0\" \"$@\""]).arg(plain.get_program());
    shell.args(plain.get_args()).current_dir(folder.path());
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let server = Server::from(shell, folder);
    let idle: Vec<TcpStream> =
        (0..300).map(|_| TcpStream::connect(server.address).expect("it listens")).collect();
    for _ in 0..3 {
        assert_eq!(server.get("/api/methods").0, 200);
    }
    drop(idle);
    server.end();
}

#[test]
fn every_control_of_the_page_does_what_it_says() {
    let Some((node, browser)) = node_and_browser() else { return };
    let folder = with_firmware();
    let store = Store::open(&folder.path().join("results.db")).expect("a database");
    // All figures, and those of a plan file.
    for method in ["four-corners", "queue-depth"] {
        let mut record = fixture::m4();
        (record.method, record.started_at) = (method.into(), "2026-03-05T00:00:00Z".into());
        record.seal();
        store.add(&record).expect("it has room");
    }
    drop(store);
    let server = Server::over(folder, &[]);
    for (drive, seed) in [(M4, 1), ("crucial-m4-128gb", 2)] {
        let wanted = json!({"drives": [drive], "methods": ["consistency", "lba-pass"],
                            "quick": true, "seed": seed});
        let (status, started) = server.review(&wanted);
        assert_eq!(status, 201, "{started}");
        server.until(started["number"].as_u64().expect("a number"), has_ended);
    }
    let ran = Command::new(node)
        .arg(scripts().join("web.mjs"))
        .arg(browser)
        .arg(format!("http://{}/", server.address))
        .output()
        .expect("node starts");
    let (told, errors) =
        (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{told}{errors}");
    server.end();
}

#[test]
fn the_metrics_of_reviews_are_what_the_page_shows_of_them() {
    let server = Server::start(&[]);
    let metrics = || {
        let (status, text) = server.get("/metrics");
        let text = text.as_str().expect("text").to_string();
        assert_eq!(status, 200, "{text}");
        openmetrics::read(&text).unwrap_or_else(|why| panic!("{why}\n{text}"))
    };
    // Control: there is none yet.
    assert!(metrics().is_empty());
    let wanted = json!({"drives": [M4], "methods": ["lba-pass", "trim"], "quick": true});
    assert_eq!(server.review(&wanted).0, 201);
    // While it runs, too, it is OpenMetrics.
    assert_eq!(
        metrics()["fourcorners_review_state{fourcorners_review_state=\"failed\",review=\"1\"}"],
        0.0
    );
    let review = server.until(1, has_ended);
    let metrics = metrics();
    let of = |key: &str| metrics.get(key).copied().unwrap_or_else(|| panic!("{key}: {metrics:#?}"));
    assert_eq!(of("fourcorners_review_state{fourcorners_review_state=\"done\",review=\"1\"}"), 1.0);
    assert_eq!(of("fourcorners_review_done_ratio{review=\"1\"}"), 1.0);
    let figures = review["figures"].as_array().expect("figures").len();
    assert!(figures > 0);
    assert_eq!(of("fourcorners_review_figures_total{review=\"1\"}"), figures as f64);
    for part in review["parts"].as_array().expect("parts") {
        let (drive, method) = (part["target"].as_str(), part["method"].as_str());
        let labels =
            format!("drive={:?},method={:?}", drive.expect("a drive"), method.expect("a method"));
        for (name, value) in [("planned_seconds", "seconds"), ("done_ratio", "done")] {
            let key = format!("fourcorners_review_method_{name}{{{labels},review=\"1\"}}");
            assert_eq!(Some(of(&key)), part[value].as_f64(), "{key}");
        }
        let phase =
            format!("fourcorners_review_method_phase_info{{{labels},phase=\"done\",review=\"1\"}}");
        assert_eq!(of(&phase), 1.0);
    }
    server.end();
}
