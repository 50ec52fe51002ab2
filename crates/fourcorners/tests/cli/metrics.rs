//! `review --metrics`: how far a review is, as monitoring systems read it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::bench::{M4, command, folder, listing, refused, run, wait_for};
use crate::openmetrics::{Samples, read};

/// A review that is measuring, and where its metrics are.
struct Reviewed {
    child: Child,
    address: String,
    /// What it says, a line each.
    told: Box<dyn Iterator<Item = String>>,
}

impl Reviewed {
    fn start(folder: &std::path::Path, more: &[&str]) -> Reviewed {
        let args = [&["review", M4, "--no-db", "--metrics", "0"], more].concat();
        let mut command = command(folder, &args);
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary is there");
        let told = BufReader::new(child.stderr.take().expect("it is piped")).lines();
        let mut told = told.map(|line| line.expect("text"));
        let address = told.find_map(|line| {
            Some(line.strip_prefix("metrics: http://")?.strip_suffix("/metrics")?.to_string())
        });
        Reviewed { child, address: address.expect("it says where"), told: Box::new(told) }
    }

    /// Status and content.
    fn get(&self, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            self.address
        )
        .expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("text");
        let (head, content) = answer.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        (status.expect("a status"), content.into())
    }

    fn metrics(&self) -> Samples {
        let (status, text) = self.get("/metrics");
        assert_eq!(status, 200, "{text}");
        read(&text).unwrap_or_else(|why| panic!("{why}\n{text}"))
    }

    /// Stops it, and returns its exit code and what it said since.
    fn stop(mut self) -> (Option<i32>, Vec<String>) {
        kill_process(Pid::from_child(&self.child), Signal::INT).expect("a child can be signalled");
        let told = self.told.by_ref().collect();
        (self.child.wait().expect("it is our child").code(), told)
    }
}

#[test]
fn the_metrics_say_how_far_the_review_is() {
    let dir = folder();
    let review = Reviewed::start(dir.path(), &["--repeat", "1000", "--methods", "toms,trim"]);
    // A thousand reviews, of which two are done soon.
    let metrics = wait_for("two methods that are done", || {
        let metrics = review.metrics();
        let done = |key: &&String| key.contains("phase=\"done\"");
        (metrics.keys().filter(done).count() >= 2).then_some(metrics)
    });
    let of = |key: &str| metrics.get(key).copied().unwrap_or_else(|| panic!("{key}: {metrics:#?}"));
    let running = "fourcorners_review_state{fourcorners_review_state=\"running\",review=\"1\"}";
    assert_eq!(of(running), 1.0);
    let done = of("fourcorners_review_done_ratio{review=\"1\"}");
    assert!(done > 0.0 && done < 0.5, "{done}");
    assert!(of("fourcorners_review_figures_total{review=\"1\"}") >= 1.0);
    let parts =
        metrics.keys().filter(|key| key.starts_with("fourcorners_review_method_planned_seconds{"));
    assert_eq!(parts.count(), 2000);
    // There is nothing else, and nobody else is answered.
    assert_eq!(review.get("/").0, 404);
    assert_eq!(review.get("/api/reviews").0, 404);
    assert_eq!(review.stop().0, Some(1));
}

#[test]
fn the_metrics_stand_beside_the_events() {
    let dir = folder();
    let review = Reviewed::start(
        dir.path(),
        &["--repeat", "1000", "--methods", "trim", "--progress", "json"],
    );
    review.metrics();
    let (code, told) = review.stop();
    assert_eq!(code, Some(1));
    let planned = told.iter().filter(|line| line.starts_with(r#"{"event":"planned","#));
    assert_eq!(planned.count(), 1000);
    // Each has a name of its own.
    let named = |seed: u32| format!(r#""target":"{M4}, seed {seed}""#);
    for seed in [1, 2, 1000] {
        let planned = |line: &&String| line.contains("planned") && line.contains(&named(seed));
        assert_eq!(told.iter().filter(planned).count(), 1, "{seed}");
    }
}

#[test]
fn what_was_done_before_a_review_is_resumed_counts_as_done() {
    let dir = folder();
    let args = ["--repeat", "1000", "--methods", "trim", "--progress", "json"];
    let ended = |line: &String| line.starts_with(r#"{"event":"ended","#);
    let mut review = Reviewed::start(dir.path(), &[&args[..], &["-o", "r"]].concat());
    assert!(review.told.by_ref().filter(ended).nth(1).is_some(), "two have ended");
    let at_once = |mut review: Reviewed| {
        let before = review.told.by_ref().take_while(|line| !line.contains(r#""event":"phase""#));
        let count = before.filter(ended).count();
        review.stop();
        count
    };
    review.stop();
    let resumed = Reviewed::start(dir.path(), &[&args[..], &["--resume", "r"]].concat());
    assert!(at_once(resumed) >= 2);
    // Control: a new one has done nothing when it begins.
    assert_eq!(at_once(Reviewed::start(dir.path(), &[&args[..], &["-o", "n"]].concat())), 0);
}

#[test]
fn where_it_cannot_listen_nothing_is_measured() {
    let dir = folder();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let taken = taken.local_addr().expect("it has an address").to_string();
    for (address, why) in [
        ("0.0.0.0:0", "can be reached by other machines"),
        (&taken, "choose another address, or port 0 for any"),
        ("nowhere", "give a port, for example"),
    ] {
        let args = ["review", M4, "--quick", "--no-db", "--metrics", address];
        let said = refused(dir.path(), &args);
        assert!(said.contains(why) && said.contains("--metrics"), "{said}");
        assert!(listing(dir.path()).is_empty(), "{address}");
    }
    // Control: without it, the same review is done, and says nothing of metrics.
    let ran = run(dir.path(), &["review", M4, "--quick", "--no-db", "-o", "r"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(!ran.stderr.contains("metrics"), "{}", ran.stderr);
}
