//! What a report must hold, whatever its records hold.

use std::path::Path;

use fourcorners_record::{
    Document, Ended, Figure, Job, Latency, Record, from_json, json_schema, to_json,
};
use fourcorners_report::{Pasted, comparison_page, comparison_pasted, page, pictures, table};
use fourcorners_results::compare::{Comparison, document, sides};

#[test]
fn a_review_of_two_drives_is_one_small_page() {
    let html = page(&Document::new(vec![crate::fixture::m4(), crate::fixture::momentus()]));
    assert!(html.len() < 1_500_000, "{} bytes", html.len());
    assert!(html.contains("4 KiB random write, QD 3, incompressible, used state"));
}

#[test]
fn power_is_shown_where_it_is_known() {
    let without = Document::new(vec![crate::fixture::m4()]);
    let with = Document::new(vec![crate::fixture::momentus()]);
    assert!(page(&with).contains(">Power</th>") && page(&with).contains("<td>2.31 W</td>"));
    assert!(!page(&without).contains(">Power</th>"));
    assert!(table(&with, 80, false).contains("2.31 W"));
    assert!(!table(&without, 80, false).contains(" W\n"));
    assert!(to_json(&with).contains("\"mean_power_w\":2.31"));
    let json = to_json(&without);
    for key in ["mean_power_w", "joules_per_gb", "energy_j"] {
        assert!(!json.contains(key), "{key} of a drive whose energy is not known");
    }
}

#[test]
fn several_drives_have_their_ratios_beneath_each_other() {
    let one = page(&Document::new(vec![crate::fixture::m4(), crate::fixture::sweep()]));
    assert!(!one.contains("id=\"compared\""), "there is nothing to compare with");
    let repeats: Vec<Record> = (42..47).map(crate::fixture::m4_of_seed).collect();
    let mut other = crate::fixture::momentus();
    other.target.title = "<b>other</b>".into();
    let found = sides(vec![repeats, vec![other]]);
    let html = comparison_page(&document(&found), &found, &Comparison::of(&found));
    // Its charts lack the repeats that its ranking averages; those of a page of all records do not.
    let of_the_first = "Charts and figures further below are of the first repeat.";
    let means = "means of the repeats";
    assert!(html.contains(means) && html.contains(of_the_first));
    let every = found.iter().flat_map(|side| side.records.clone()).collect();
    let of_all = page(&Document::new(every));
    assert!(of_all.contains(means) && !of_all.contains(of_the_first));
    let part =
        html.split("id=\"compared\"").nth(1).and_then(|rest| rest.split("</section>").next());
    let part = part.expect("a section");
    // 0.81 of 205.2 MB/s, of five that are 0 to 4 thousandths above it; how far that is to be trusted.
    for needle in [
        "Ratios are to <strong>Crucial m4 256 GB</strong>",
        ": all 9 data rates are lower.",
        "5 times",
        "± 0.20 %",
        "1/25",
        "&lt;b&gt;other",
        "or of the ratio (95 %)",
    ] {
        assert!(part.contains(needle), "no {needle:?}: {part}");
    }
    let mut near = crate::fixture::m4_of_seed(43);
    near.target.title = "A part in a thousand faster".into();
    let html = page(&Document::new(vec![crate::fixture::m4(), near]));
    assert!(
        html.contains(": all 9 data rates are no different.")
            && html.matches("≈ 1.00").count() >= 9
    );
}

#[test]
fn a_steady_state_is_drawn_by_block_size_mix_and_round() {
    let mut records = crate::fixture::everything().records;
    records.retain(|record| record.method == "snia");
    let drawn = pictures(&Document::new(records.clone()));
    let names: Vec<&str> = drawn.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names.len(), 6, "three charts of each drive: {names:?}");
    let mixes = &drawn[0].svg;
    for needle in ["100 % reads", "65 % reads", "0 % reads", "4 KiB", "1 MiB", "Block size"] {
        assert!(mixes.contains(needle), "no {needle}: {mixes}");
    }
    assert_eq!(mixes.matches("<circle").count(), 7 * 4, "a dot for each mix and size");
    let rounds = &drawn[1].svg;
    for needle in ["mean of the last five", "10 % above and below it", "least-squares line"] {
        assert!(rounds.contains(needle), "no {needle}: {rounds}");
    }
    // Four rounds are no window; a record without rounds has the other charts.
    records.truncate(1);
    records[0].curves[0].points.truncate(4);
    let drawn = pictures(&Document::new(records.clone()));
    assert!(drawn.len() == 3 && !drawn[1].svg.contains("last five"));
    records[0].curves.clear();
    records[0].series.clear();
    assert_eq!(pictures(&Document::new(records)).len(), 1);
}

#[test]
fn synchronous_writes_are_a_table_by_what_makes_them_durable() {
    let mut record = crate::fixture::m4();
    record.method = "sync-writes".into();
    let (_, mut figure) = record.figures.shift_remove_index(0).expect("a figure");
    record.figures.clear();
    record.series.clear();
    for (name, jobs, flush, fua) in [
        ("sequential_write_4k_qd1", 1, false, false),
        ("sequential_write_4k_qd1_flush_jobs5", 5, true, false),
        ("sequential_write_4k_qd1_fua_jobs10", 10, false, true),
    ] {
        figure.job = Job { jobs, flush, fua, ..figure.job.clone() };
        record.figures.insert(name.into(), figure.clone());
    }
    let html = page(&Document::new(vec![record.clone()]));
    let (_, chapter) = html.split_once("id=\"sync\"").expect("it has a chapter");
    for needle in
        [">not made durable<", ">a flush after each<", ">FUA<", "<td>5</td>", "<td>10</td>"]
    {
        assert!(chapter.contains(needle), "no {needle}: {chapter}");
    }
    // What was run says the same in words.
    for needle in [
        "QD 3 in each of 5 jobs, repeating data, a flush after each write",
        "QD 3 in each of 10 jobs, repeating data, each write durable (FUA)",
    ] {
        assert!(html.contains(needle), "no {needle}");
    }
    assert!(!page(&crate::fixture::review()).contains("id=\"sync\""), "no chapter of nothing");
}

#[test]
fn names_are_never_markup() {
    let hostile = "/tmp/<script>alert(1)</script><img src=x onerror=alert(2)>\"'&";
    let mut record = crate::fixture::m4();
    record.target.name = hostile.into();
    record.target.title = hostile.into();
    record.target.model = Some(hostile.into());
    record.target.set = vec![hostile.into()];
    record.ended = Ended::Failed(hostile.into());
    record.method = hostile.into();
    let (_, mut figure) = record.figures.shift_remove_index(0).expect("a figure");
    figure.fio = hostile.into();
    figure.state = hostile.into();
    record.figures.insert(hostile.into(), figure);
    record.notes[0].about = hostile.into();
    record.notes[0].text = hostile.into();
    let mut other = crate::fixture::momentus();
    other.target.title = "</script><script>alert(3)</script>".into();
    let html = page(&Document::new(vec![record, other]));
    assert!(html.contains("&lt;script&gt;alert(1)"));
    for forbidden in ["<script>alert", "<img src=x", "</script><script>alert"] {
        assert!(!html.contains(forbidden), "{forbidden} got through");
    }
    // The page's own script, and nothing but data besides.
    let scripts = html.matches("<script").count();
    assert_eq!(scripts, html.matches("<script type=\"application/json\">").count() + 1);
}

#[test]
fn a_name_cannot_turn_the_text_of_a_page_round() {
    let mut record = crate::fixture::m4();
    record.target.title = "Drive \u{202e}dlrow".into();
    let document = Document::new(vec![record]);
    let shown = page(&document);
    assert!(!shown.contains('\u{202e}') && shown.contains("Drive \u{fffd}dlrow"), "{shown}");
    let drawn: String = pictures(&document).into_iter().map(|it| it.svg).collect();
    assert!(!drawn.contains('\u{202e}') && drawn.contains("Drive \u{fffd}dlrow"), "{drawn}");
    // Control: letters that are written from right to left are a name.
    let mut record = crate::fixture::m4();
    record.target.title = "כונן".into();
    assert!(page(&Document::new(vec![record])).contains("כונן"));
}

#[test]
fn marks_are_explained_where_they_stand() {
    // Their data rates differ, the other numbers of them do not.
    let mut fast = crate::fixture::m4();
    fast.figures.values_mut().for_each(|figure| figure.mb_per_s *= 2.0);
    fast.target.title = "Fast".into();
    let notes = |other: Record| {
        let sides = sides(vec![vec![crate::fixture::m4()], vec![other]]);
        comparison_pasted(&Comparison::of(&sides), Pasted::Markdown)
    };
    let text = notes(fast);
    assert!(
        text.contains("(≈ 1.00)") && text.contains("≈: the difference does not matter"),
        "{text}"
    );
    // Control: where nothing is marked, nothing is explained.
    let text = notes(crate::fixture::momentus());
    assert!(!text.contains('≈'), "{text}");
}

#[test]
fn marks_what_is_not_whole_and_which_clock() {
    let html = page(&crate::fixture::review());
    let text = table(&crate::fixture::review(), 80, false);
    for needle in ["interrupted before it was complete", "wall time", "virtual time", "incomplete"]
    {
        assert!(html.contains(needle), "page without {needle:?}");
        assert!(text.contains(needle), "table without {needle:?}");
    }
    assert!(html.contains("/var/tmp/fourcorners.test · wall time"));
}

#[test]
fn curves_pass_through_the_percentiles_beside_them() {
    let record = crate::fixture::m4();
    let html = page(&Document::new(vec![record.clone()]));
    // Of two kinds of data one is drawn.
    let drawn = record.figures.keys().zip(record.figures.values());
    for (_, figure) in drawn.filter(|(name, _)| !name.ends_with("repeating")) {
        // A sentence of the curve is rounded to three digits.
        let Latency { p99, .. } = figure.latency_us;
        let drawn = html.split("\"99 % within ").skip(1).filter_map(|rest| {
            let (number, unit) = rest.split('"').next()?.split_once(' ')?;
            let scale = if unit == "ms" { 1e3 } else { 1.0 };
            Some(number.parse::<f64>().ok()? * scale)
        });
        let mut near = drawn.filter(|us| (us / p99 - 1.0).abs() < 0.005);
        assert!(near.next().is_some(), "no curve passes {p99} µs at 99 %");
    }
}

#[test]
fn nothing_in_a_record_panics() {
    let mut documents = vec![Document::new(Vec::new())];
    let mut bare = crate::fixture::m4();
    bare.figures.clear();
    bare.series.clear();
    bare.target.title = String::new();
    documents.push(Document::new(vec![bare.clone(), bare]));
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, 5e-324] {
        let mut record = crate::fixture::m4();
        for figure in record.figures.values_mut() {
            ruin(figure, value);
        }
        for series in record.series.values_mut() {
            series.mb_per_s.fill(value);
        }
        let mut sweep = crate::fixture::sweep();
        sweep.figures.values_mut().for_each(|figure| ruin(figure, value));
        let same = record.clone();
        documents.push(Document::new(vec![record, sweep, same]));
    }
    let mut everything = crate::fixture::everything();
    for record in &mut everything.records {
        record.figures.values_mut().for_each(|figure| ruin(figure, f64::NAN));
        record.curves.values_mut().for_each(|curve| curve.points.fill((f64::INFINITY, f64::NAN)));
        record.series.values_mut().for_each(|series| series.iops.truncate(1));
    }
    documents.push(everything);
    let mut odd = crate::fixture::m4();
    let (_, mut figure) = odd.figures.shift_remove_index(0).expect("a figure");
    figure.latency_bins_ns = vec![(u64::MAX, u64::MAX), (0, u64::MAX), (5, 0)];
    for name in ["", "_", "random_read_é_qd1", "random_read_4k_qd99999999999", "ü_ä_ö_qd1"] {
        odd.figures.insert(name.into(), figure.clone());
    }
    odd.target.capacity_bytes = u64::MAX;
    odd.target.title = "ü".repeat(500);
    documents.push(Document::new(vec![odd]));
    for document in &documents {
        assert!(page(document).starts_with("<!DOCTYPE html>"));
        let pictures = pictures(document);
        if let Some(picture) = pictures.first() {
            assert!(picture.png().is_ok(), "{}", picture.svg);
        }
        for width in [0, 1, 20, 80, 1_000_000] {
            table(document, width, true);
        }
        to_json(document);
    }
}

/// Every number of a figure at once.
fn ruin(figure: &mut Figure, value: f64) {
    figure.mb_per_s = value;
    figure.iops = value;
    figure.duration_s = value;
    figure.mean_queue_depth = value;
    figure.write_amplification = Some(value);
    figure.effective_op = Some(value);
    figure.nameplate_op = Some(value);
    figure.cpu_us_per_io = Some(value);
    figure.latency_us = Latency {
        min: value,
        mean: value,
        p50: value,
        p90: value,
        p99: value,
        p999: value,
        p9999: value,
        max: value,
    };
    figure.latency_bins_ns.clear();
}

#[test]
fn every_chart_of_the_page_is_a_picture() {
    let document = crate::fixture::everything();
    let html = page(&document);
    let pictures = pictures(&document);
    assert_eq!(pictures.len(), html.matches("class=\"chart ").count());
    let mut names: Vec<&str> = pictures.iter().map(|picture| picture.name.as_str()).collect();
    names.dedup();
    assert_eq!(names.len(), pictures.len());
    for picture in &pictures {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(picture.name.chars().all(plain), "{}", picture.name);
        assert!(picture.svg.contains("<title>") && !picture.svg.contains("NaN"), "{}", picture.svg);
    }
    // The drive under test is picked out, its values are there, and both clocks are told apart.
    let write = &pictures[0].svg;
    for needle in ["#c2410c", "205.2", "font-weight=\"700\"", "wall time", "url(#wall)", "MB/s"] {
        assert!(write.contains(needle), "{needle} is not in {write}");
    }
    let png = pictures[0].png().expect("it can be drawn");
    assert!(png.starts_with(b"\x89PNG") && png[16..20] == 1600_u32.to_be_bytes());
    // Letters have been drawn: the same picture without them has fewer bytes.
    let mute = fourcorners_report::Picture { svg: without_texts(write), ..pictures[0].clone() };
    assert!(mute.png().expect("it can be drawn").len() * 3 < png.len() * 2);
}

/// An SVG without what is written in it.
fn without_texts(svg: &str) -> String {
    let mut parts = svg.split("<text");
    let first = parts.next().unwrap_or_default().to_string();
    let rest = parts.map(|part| part.split_once("</text>").map_or("", |(_, rest)| rest));
    rest.fold(first, |text, part| text + part)
}

#[test]
fn a_table_stands_beside_every_chart() {
    let document = crate::fixture::everything();
    let html = page(&document);
    assert_eq!(
        html.matches("class=\"chart ").count(),
        html.matches("<details class=\"data\">").count()
    );
    assert!(html.len() < 4_000_000, "{} bytes", html.len());
}

#[test]
fn very_long_series_make_no_long_page() {
    let mut document = crate::fixture::everything();
    let before = page(&document).len();
    for record in &mut document.records {
        for series in record.series.values_mut() {
            series.iops = (0..200_000).map(|second| second % 977).collect();
            series.mb_per_s = (0..200_000).map(|second| f64::from(second % 977)).collect();
        }
    }
    // Ten days of seconds in each of some fifty series are drawn by their extremes.
    let after = page(&document).len();
    assert!(after < before + 6_000_000, "{before} bytes became {after}");
}

#[test]
fn the_terminal_shows_seconds_and_curves() {
    let text = table(&crate::fixture::everything(), 80, false);
    let plotted = text.chars().filter(|c| ('\u{2801}'..='\u{28ff}').contains(c)).count();
    assert!(plotted > 100 && text.contains("2,000 s") && text.contains('▇'), "{text}");
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
    }
}

#[test]
fn the_terminal_table_fits_eighty_columns() {
    let text = table(&crate::fixture::review(), 80, false);
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
    }
    assert!(!text.contains('\u{1b}'), "no colour was asked for");
    assert!(table(&crate::fixture::review(), 80, true).contains("\u{1b}["));
    let first = text.split("Seagate").next().unwrap_or("");
    insta::assert_snapshot!(first);
}

#[test]
fn a_name_cannot_steer_the_terminal() {
    let mut record = crate::fixture::momentus();
    record.target.title = "\u{1b}[2Jgone\u{202e}".into();
    let text = table(&Document::new(vec![record]), 80, false);
    assert!(text.starts_with("\u{fffd}[2Jgone\u{fffd}"), "{text:?}");
}

#[test]
fn json_comes_back_as_it_was() {
    let document = crate::fixture::review();
    assert_eq!(from_json(&to_json(&document)).expect("our own document"), document);
    let newer = r#"{"schema":"fourcorners.review/2","records":7}"#;
    let error = from_json(newer).expect_err("another version").to_string();
    assert!(error.contains("fourcorners.review/2"), "{error}");
    assert!(from_json("[]").is_err());
    assert!(
        from_json(&to_json(&document).replace("\"mb_per_s\":205.2", "\"mb_per_s\":null")).is_err()
    );
}

#[test]
fn the_committed_schema_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/review.schema.json");
    if std::env::var_os("FOURCORNERS_WRITE_SCHEMA").is_some() {
        std::fs::write(&path, json_schema()).expect("docs/ can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == json_schema(),
        "docs/review.schema.json is not what the code says; if the change is meant, \
         FOURCORNERS_WRITE_SCHEMA=1 cargo test -p fourcorners-report --test report schema"
    );
}

#[test]
fn documents_follow_the_schema() {
    let schema = serde_json::from_str(&json_schema()).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is a schema");
    let check = |document: &Document| {
        let json = serde_json::from_str(&to_json(document)).expect("a document is JSON");
        let errors: Vec<String> =
            validator.iter_errors(&json).map(|error| error.to_string()).collect();
        errors.join("\n")
    };
    assert_eq!(check(&crate::fixture::review()), "");
    assert_eq!(check(&Document::new(Vec::new())), "");
    let mut failed = crate::fixture::file();
    failed.ended = Ended::Failed("the device went away".into());
    assert_eq!(check(&Document::new(vec![failed])), "");
    let mut other = crate::fixture::review();
    other.schema = "fourcorners.review/0".into();
    assert_ne!(check(&other), "");
}
