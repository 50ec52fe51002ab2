//! Defaults for what a publication leaves open, and refusals.

use super::*;
use crate::validate::names::Names;

fn figure(json: &str) -> Figure {
    let figure = format!(r#"{{"id":"x","drive":"Crucial m4","metric":"MB/s",{json}}}"#);
    serde_json::from_str(&figure).expect("a figure")
}

fn read(json: &str) -> Result<Test, String> {
    let names = Names::new();
    test_on(json, names.find("Crucial m4 256", None).expect("it is there"))
}

/// The test of a figure whose words are read, on a drive.
fn test_on(json: &str, found: Found<'_>) -> Result<Test, String> {
    let figure = figure(json);
    test(&figure, &figure.read(&Names::new())?, found)
}

#[test]
fn a_test_that_is_published_whole_is_run_as_published() {
    let test = read(
        r#""interface":"SATA 3Gbps","test":{"pattern":"random write","block_size":4096,
           "queue_depth":3,"span_gb":8,"data":"incompressible","state":"used","duration_s":180}"#,
    );
    let test = test.expect("it can be run");
    assert_eq!(test.set, ["link.gbps=3"]);
    assert_eq!(test.state, State::Used { seconds: 1200, once: true });
    let job = test.job;
    assert_eq!((job.pattern, job.read_percent, job.block_bytes), (Pattern::Random, 0, 4096));
    assert_eq!((job.queue_depth, job.span_bytes), (3, 8_000_000_000));
    assert_eq!((job.data, job.until), (Data::Incompressible, Until::Seconds(180)));
}

#[test]
fn what_is_left_open_is_filled_in() {
    let job = |json| read(json).expect("it can be run").job;
    let random = job(r#""test":{"pattern":"random read"}"#);
    assert_eq!((random.block_bytes, random.queue_depth), (4096, 32));
    assert_eq!((random.span_bytes, random.until), (8_000_000_000, Until::Seconds(20)));
    let pass = job(r#""test":{"pattern":"sequential write","span_gb":"full"}"#);
    assert_eq!((pass.block_bytes, pass.queue_depth), (131_072, 1));
    assert_eq!(pass.until, Until::Bytes(pass.span_bytes));
    let spare = job(r#""test":{"pattern":"random write","span_gb":"full","extra_op":"25%"}"#);
    assert!((spare.span_bytes as f64 / 256_060_514_304.0 - 0.75).abs() < 1e-6);
    let deepest = job(r#""test":{"pattern":"sequential read","queue_depth":"1-16"}"#);
    assert_eq!(deepest.queue_depth, 16);
}

#[test]
fn states_are_read_from_the_words_for_them() {
    let state = |state: &str, before: &str| {
        let test = format!(
            r#""test":{{"pattern":"random write","state":"{state}","precondition":"{before}"}}"#
        );
        read(&test).map(|test| test.state)
    };
    let used = |seconds| Ok(State::Used { seconds, once: false });
    assert_eq!(state("used", "fill, then random write 30 min"), used(1800));
    assert_eq!(state("used", "1 h 4K random write QD64"), used(3600));
    assert_eq!(state("used", "as tortured, no TRIM"), used(1200));
    assert_eq!(state("trimmed", "4KB random write 30 min"), Ok(State::Trimmed { seconds: 1800 }));
    assert_eq!(state("steady", ""), Ok(State::Steady));
    assert!(state("used", "as above then 1 h idle").is_err());
    assert!(state("molten", "").is_err());
}

#[test]
fn an_slc_buffer_decides_where_a_test_ends_and_begins() {
    let names = Names::new();
    let found = names.find("Samsung 840 EVO 120", None).expect("it is there");
    let held = slc_bytes(found).expect("it has a buffer");
    assert!((3.0e9..3.02e9).contains(&(held as f64)), "{held}");
    let job = |json| test_on(json, found).expect("it can be run");
    let maker = job(r#""kind":"spec","test":{"pattern":"sequential write"}"#);
    assert_eq!(maker.job.until, Until::SecondsOrBytes(20, held));
    let random = job(r#""kind":"spec","test":{"pattern":"random write"}"#);
    assert_eq!(random.job.until, Until::Seconds(20));
    for json in [
        r#""kind":"spec","test":{"pattern":"sequential write after cache"}"#,
        r#""test":{"pattern":"sequential write","state":"SLC cache exhausted"}"#,
    ] {
        let after = job(json);
        let State::BufferFull { bytes } = after.state else { panic!("{:?}", after.state) };
        assert!(bytes >= held && after.job.span_start_bytes == bytes);
        assert!(bytes + after.job.span_bytes <= after.usable_bytes);
        assert_eq!(after.job.until, Until::Seconds(20));
        assert!(read(json).expect_err("the m4 has none").contains("[slc_buffer]"));
    }
}

#[test]
fn a_host_controller_that_is_known_is_put_before_the_drive() {
    let test = read(
        r#""interface":"HighPoint Rocket 620 / Marvell 88SE9128",
           "test":{"pattern":"random read"}"#,
    );
    let test = test.expect("it can be run");
    assert_eq!((test.host, test.set), (Some("marvell-9128"), Vec::new()));
}

#[test]
fn an_article_says_what_its_figures_do_not() {
    let of = |source: &str, test: &str| {
        let test = read(&format!(r#""source":"{source}","test":{{{test}}}"#));
        test.expect("it can be run")
    };
    let toms = "Tom's Hardware: Crucial's m4 SSD tested at 64 GB";
    let swept = State::Swept { seconds: 50, span_bytes: 16_000_000_000 };
    for pattern in ["random write", "random read", "sequential read", "sequential write"] {
        let test = of(toms, &format!(r#""pattern":"{pattern}""#));
        assert_eq!(test.state, swept, "{pattern}");
    }
    let names = Names::new();
    let largest = names.find("m4 512", None).expect("it is there");
    let read = format!(r#""source":"{toms}","test":{{"pattern":"random read"}}"#);
    let read = test_on(&read, largest).expect("it can be run");
    assert_eq!(read.state, State::Begun { bytes: 2_000_000_000 });
    let diaries = "https://a.page/the-ssd-diaries-crucials-realssd-c300.html";
    assert_eq!(of(diaries, r#""pattern":"sequential read""#).set, ["link.gbps=3"]);
    let consistency = "AnandTech: Crucial M550 review, 2014, performance consistency page";
    let steady = of(consistency, r#""pattern":"random write""#);
    assert_eq!((steady.state, steady.job.data), (State::Steady, Data::Incompressible));
    assert!(steady.job.span_bytes > 250_000_000_000);
    let part = of(consistency, r#""pattern":"random write","span_gb":8"#);
    assert_eq!((part.state, part.job.span_bytes), (State::Fresh, 8_000_000_000));
}

#[test]
fn with_the_write_cache_off_every_write_is_forced() {
    let job = |json: &str| {
        let test = format!(r#""test":{{"pattern":"sequential write","block_size":4096,{json}}}"#);
        read(&test).map(|test| test.job)
    };
    let sync =
        job(r#""queue_depth":1,"jobs":5,"sync":true,"duration_s":60"#).expect("it can be run");
    assert_eq!((sync.fua, sync.flush, sync.jobs, sync.queue_depth), (true, false, 5, 1));
    assert_eq!((sync.until, sync.in_flight()), (Until::Seconds(60), 5));
    let cached = job(r#""queue_depth":1"#).expect("it can be run");
    assert_eq!((cached.fua, cached.jobs), (false, 1));
    for jobs in ["0", "100000"] {
        let why = job(&format!(r#""jobs":{jobs},"sync":true"#)).expect_err("nobody has so many");
        assert!(why.contains("jobs at a time"), "{why}");
    }
}

#[test]
fn hd_tach_writes_data_of_its_own() {
    let data = |tool: &str| {
        let test = r#""pattern":"sequential write","data":"incompressible","state":"used""#;
        read(&format!(r#""test":{{{test},"tool":"{tool}"}}"#)).expect("it can be run").job.data
    };
    assert_eq!(data("HD Tach"), Data::Repeating);
    assert_eq!(data("AS SSD"), Data::Incompressible);
}

#[test]
fn what_is_not_clear_or_not_modelled_is_said() {
    for (json, told) in [
        (r#""test":{"pattern":"boot"}"#, "the test \"boot\""),
        (r#""test":{"pattern":"random read","queue_depth":"deep"}"#, "queue depth"),
        (r#""test":{"pattern":"random read","queue_depth":0}"#, "queue depth"),
        (r#""test":{"pattern":"random read","span_gb":"some"}"#, "span"),
        (r#""test":{"pattern":"random read","span_gb":-3}"#, "span"),
        (r#""test":{"pattern":"random read","block_size":100}"#, "100 bytes"),
        (r#""test":{"pattern":"random read","duration_s":-1}"#, "a run of -1 s"),
        (r#""test":{"pattern":"random write","extra_op":"lots"}"#, "spare"),
        (r#""interface":"JMicron JMB362","test":{"pattern":"random read"}"#, "JMicron"),
    ] {
        let why = read(json).expect_err(json);
        assert!(why.contains(told), "{json}: {why}");
    }
}
