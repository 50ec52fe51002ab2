//! `serve --web`: whom it answers, and that it shows what the events say.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::nbd::Client;
use super::{fourcorners, temporary};

pub(super) struct Served {
    child: Child,
    pub(super) address: String,
    pub(super) events: Box<dyn Iterator<Item = Value>>,
    pub(super) dir: tempfile::TempDir,
}

impl Served {
    fn start() -> Served {
        Served::of("crucial-m4-256gb", &[])
    }

    pub(super) fn of(drive: &str, more: &[&str]) -> Served {
        let dir = temporary();
        let args = ["serve", drive, "--at", "unix:s", "--door", "0", "--web=0"];
        let mut command = fourcorners(&dir, &[&args[..], &["--progress", "json"], more].concat());
        let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().expect("it runs");
        let told = BufReader::new(child.stderr.take().expect("it is piped")).lines();
        let address = told.map(|line| line.expect("text")).find_map(|line| {
            Some(line.strip_prefix("page: http://")?.trim_end_matches('/').into())
        });
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let events = lines.map(|line| serde_json::from_str(&line.expect("text")).expect("JSON"));
        Served { child, address: address.expect("it says where"), events: Box::new(events), dir }
    }

    /// Status, head and content.
    pub(super) fn send(&self, method: &str, path: &str, host: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        write!(stream, "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
            .expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("text");
        let (head, content) = answer.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        (status.expect("a status"), head.to_ascii_lowercase(), content.into())
    }

    /// The next event, and what the page is given right after it.
    fn both(&mut self) -> (Value, Value) {
        let event = self.events.next().expect("it goes on");
        let (status, _, content) = self.send("GET", "/api/served", &self.address.clone());
        assert_eq!(status, 200);
        (event, serde_json::from_str(&content).expect("JSON"))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn only_who_may_ask_is_answered_and_nothing_can_be_changed() {
    let served = Served::start();
    let own = served.address.as_str();
    for (method, path, host, status) in [
        ("GET", "/", own, 200),
        ("GET", "/api/served", "localhost:1", 200),
        ("GET", "/assets/served.js", own, 200),
        ("GET", "/api/served", "evil.example", 403),
        ("GET", "/", "localhost.evil.example:80", 403),
        ("POST", "/api/served", own, 403),
        ("DELETE", "/", own, 403),
        ("GET", "/api/reviews", own, 404),
        ("GET", "/../Cargo.toml", own, 404),
    ] {
        let (got, head, content) = served.send(method, path, host);
        assert_eq!(got, status, "{method} {path} {host}: {content}");
        assert!(head.contains("x-frame-options: deny"), "{head}");
    }
    let (_, head, page) = served.send("GET", "/", own);
    assert!(head.contains("content-security-policy: default-src 'none'"), "{head}");
    // Nothing of another machine is asked for.
    for file in
        ["/", "/assets/served.js", "/assets/plot.js", "/assets/common.js", "/assets/app.css"]
    {
        let (_, _, text) = served.send("GET", file, own);
        let text = text.replace("http://www.w3.org/2000/svg", "");
        assert!(!text.contains("http://") && !text.contains("https://"), "{file}");
    }
    assert!(page.contains("/assets/served.js"));
}

#[test]
fn the_page_shows_what_the_events_say() {
    let mut served = Served::start();
    let mut client = Client::connect(&served.dir.path().join("s"));
    let (event, given) = served.both();
    assert!(
        event["operations"] == Value::Array(Vec::new())
            && given["drive"]["name"] == "crucial-m4-256gb"
    );
    (0..300).for_each(|n| client.write(n << 20, 1));
    // The event of the second after it, and the one that the page has, unless the next has come meanwhile.
    let (event, given) = loop {
        let (event, given) = served.both();
        if event["operations"][0]["ios"] == 300 && event["seconds"] == given["report"]["seconds"] {
            break (event, given);
        }
    };
    assert_eq!(event, given["report"]);
    let seconds = given["seconds"].as_array().expect("seconds");
    let sums = seconds.windows(2).map(|two| {
        let elapsed = two[1]["at_s"].as_f64().zip(two[0]["at_s"].as_f64()).map(|(b, a)| b - a);
        let iops = two[1]["iops"][0][1].as_f64().unwrap_or(0.0);
        let mb = two[1]["mb_per_s"].as_f64().expect("a number");
        (iops * elapsed.expect("numbers"), mb * elapsed.expect("numbers"))
    });
    let first = &seconds[0];
    let at = first["at_s"].as_f64().expect("a number");
    let begun = (
        first["iops"][0][1].as_f64().unwrap_or(0.0) * at,
        first["mb_per_s"].as_f64().expect("a number") * at,
    );
    let (ios, mb) = sums.fold(begun, |(a, b), (c, d)| (a + c, b + d));
    assert!((ios - 300.0).abs() < 0.01 && (mb - 300.0 * 0.004_096).abs() < 1e-6, "{ios}, {mb}");
    let Ok(browser) = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000"])
        .arg(format!("--user-data-dir={}", served.dir.path().join("browser").display()))
        .args(["--dump-dom", &format!("http://{}/", served.address)])
        .output()
    else {
        return fourcorners_testing::skipped("chromium", "there is no chromium");
    };
    let dom = String::from_utf8_lossy(&browser.stdout);
    let shown = |key: &str| -> f64 {
        let at = dom.find(&format!("data-figure=\"{key}\">"));
        let rest = &dom[at.unwrap_or_else(|| panic!("no {key} in {dom}"))..];
        let text = rest.split(['>', '<']).nth(1).expect("a text");
        text.split(' ').next().unwrap_or("").replace(',', "").parse().expect(text)
    };
    let write = &event["operations"][0];
    for (key, value) in [
        ("operations.write.ios", write["ios"].as_f64()),
        ("operations.write.bytes", write["bytes"].as_f64().map(|bytes| bytes / 1e6)),
        ("operations.write.p50", write["latency_us"]["p50"].as_f64()),
        ("operations.write.p99", write["latency_us"]["p99"].as_f64()),
        ("operations.write.max", write["latency_us"]["max"].as_f64()),
        ("lateness_us.p99", event["lateness_us"]["p99"].as_f64()),
        ("below_floor", event["below_floor"].as_f64().map(|share| share * 100.0)),
        ("write_amplification", event["write_amplification"].as_f64()),
        ("drive.host_bytes", event["drive"]["host_bytes"].as_f64().map(|bytes| bytes / 1e6)),
        ("ledger.bytes", event["ledger"]["bytes"].as_f64().map(|bytes| bytes / 1e6)),
    ] {
        let value = value.unwrap_or_else(|| panic!("{key} in {event}"));
        // Three digits are shown.
        assert!((shown(key) - value).abs() <= value.abs() * 0.006, "{key}: {value}");
    }
}
