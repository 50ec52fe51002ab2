//! `/metrics` of `serve --web`: OpenMetrics that says what the events say.

use serde_json::Value;

use super::nbd::Client;
use super::page::Served;
use crate::openmetrics::{Samples, read};

/// The metrics now.
fn metrics(served: &Served) -> Samples {
    let (status, head, text) = served.send("GET", "/metrics", &served.address);
    assert_eq!(status, 200);
    let form = "content-type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n";
    assert!(head.contains(form), "{head}");
    read(&text).unwrap_or_else(|why| panic!("{why}\n{text}"))
}

/// An event and the metrics of the same second.
fn both(served: &mut Served, done: impl Fn(&Value) -> bool) -> (Value, Samples) {
    loop {
        let event = served.events.next().expect("it goes on");
        let metrics = metrics(served);
        let same =
            metrics.get("fourcorners_serve_uptime_seconds").copied() == event["seconds"].as_f64();
        if same && done(&event) {
            return (event, metrics);
        }
    }
}

#[test]
fn the_metrics_are_the_numbers_of_the_events() {
    let faults = ["--fault", "eio-write@n=7", "--fault", "latency=+1ms@n=9"];
    let mut served = Served::of("crucial-m4-256gb", &faults);
    let mut client = Client::connect(&served.dir.path().join("s"));
    let (_, before) = both(&mut served, |_| true);
    assert!(!before.keys().any(|key| key.starts_with("fourcorners_serve_requests_total")));
    let failed = (0..300).filter(|n| client.write_or_fail(n << 20, 1) != 0).count();
    assert_eq!(failed, 1);
    let (event, metrics) = both(&mut served, |event| event["operations"][0]["ios"] == 300);
    let of = |key: &str| *metrics.get(key).unwrap_or_else(|| panic!("no {key} in {metrics:#?}"));
    let (write, drive) = (&event["operations"][0], &event["drive"]);
    for (key, value) in [
        ("requests_total{operation=\"write\"}", &write["ios"]),
        ("transferred_bytes_total{operation=\"write\"}", &write["bytes"]),
        ("latency_seconds_count{operation=\"write\"}", &write["ios"]),
        ("latency_seconds_bucket{le=\"+Inf\",operation=\"write\"}", &write["ios"]),
        ("lateness_seconds_count", &write["ios"]),
        ("failed_requests_total", &event["failed"]),
        ("backlog_most", &event["backlog_most"]),
        ("below_floor_ratio", &event["below_floor"]),
        ("connections_total", &event["connections"]["all"]),
        ("open_connections", &event["connections"]["open"]),
        ("ended_connections_total{why=\"refused\"}", &event["connections"]["refused"]),
        ("power_cuts_total", &event["power_cuts"]),
        ("stored_bytes", &event["stored_bytes"]),
        ("volatile_writes", &event["ledger"]["writes"]),
        ("volatile_bytes", &event["ledger"]["bytes"]),
        ("write_amplification_ratio", &event["write_amplification"]),
        ("host_written_bytes_total", &drive["host_bytes"]),
        ("nand_written_bytes_total", &drive["nand_bytes"]),
        ("erased_blocks_total", &drive["blocks_erased"]),
        ("retired_blocks", &drive["blocks_retired"]),
        ("power_on_seconds", &drive["power_on_s"]),
        ("faulted_requests_total{fault=\"eio-write@n=7\"}", &1.into()),
        ("faulted_requests_total{fault=\"latency=+1ms@n=9\"}", &1.into()),
    ] {
        let value = value.as_f64().unwrap_or_else(|| panic!("{key} in {event}"));
        assert_eq!(of(&format!("fourcorners_serve_{key}")), value, "{key}");
    }
    assert_eq!(of("fourcorners_serve_failed_requests_total"), 1.0);
    assert_eq!(of("fourcorners_serve_capacity_bytes"), 256_060_514_304.0);
    // Half of the latencies are at most the median: so it is in its bucket, and not in the one below.
    let p50_s = write["latency_us"]["p50"].as_f64().expect("a number") / 1e6;
    let below = |bound: f64| {
        let count = metrics.iter().filter_map(|(key, count)| {
            let bucket = key.strip_prefix("fourcorners_serve_latency_seconds_bucket{le=\"")?;
            let le: f64 = bucket.split('"').next()?.parse().ok()?;
            (le < bound).then_some(*count)
        });
        count.fold(0.0, f64::max)
    };
    assert!(below(p50_s) < 150.0 && below(2.1 * p50_s) >= 150.0, "{p50_s}");
    // A drive without [heat] has no temperature, and one whose flash does not wear out no endurance.
    assert!(!metrics.contains_key("fourcorners_serve_temperature_celsius"), "{metrics:#?}");
}

#[test]
fn a_drive_with_heat_has_a_temperature_and_only_this_machine_is_answered() {
    let mut served = Served::of("crucial-m500-480gb", &[]);
    let (event, metrics) = both(&mut served, |_| true);
    let celsius = metrics["fourcorners_serve_temperature_celsius"];
    assert_eq!(Some(celsius), event["drive"]["temperature_c"].as_f64());
    assert!((15.0..60.0).contains(&celsius), "{celsius}");
    assert_eq!(served.send("GET", "/metrics", "evil.example").0, 403);
    assert_eq!(served.send("POST", "/metrics", &served.address).0, 403);
}
