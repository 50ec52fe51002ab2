use fourcorners_drive::Geometry;

use super::*;
use crate::review::{Medium, Protocol, plans};

pub(super) fn scope(bytes: u64, quick: bool) -> Scope {
    let geometry = Geometry { sectors: bytes / 512, logical_block_bytes: 512, queue_depth: 32 };
    Scope { geometry, spare_percent: 0.0, quick, seed: 7, medium: Medium::Ssd, most_ios: None }
}

fn plan(text: &str) -> PlanFile {
    PlanFile::parse("mine.toml", text).unwrap_or_else(|error| panic!("{error}"))
}

/// A plan with one phase more than a measurement.
fn with(more: &str) -> String {
    format!(
        "name = \"mine\"\n[[phase]]\ndo = \"measure\"\npattern = \"random\"\nread_percent = 100\n\
         seconds = 1\n{more}\n"
    )
}

fn refused(text: &str) -> String {
    match PlanFile::parse("mine.toml", text) {
        Ok(plan) => panic!("it was taken: {plan:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_examples_are_the_methods_they_say_they_are() {
    for (text, method) in [
        (include_str!("../../../../../plans/queue-depth.toml"), Method::Toms),
        (include_str!("../../../../../plans/new-and-used.toml"), Method::UsedState),
    ] {
        let written = Protocol::Plan(std::sync::Arc::new(plan(text)));
        for bytes in [32 << 20, 2_000_000_000, 64_023_257_088, 256_060_514_304] {
            for quick in [false, true] {
                for spare_percent in [0.0, 7.0, 25.0] {
                    // A plan file says nothing of media; ours leaves the used state of a hard disk out.
                    let disk = (method == Method::Toms).then_some(Medium::HardDisk);
                    for medium in
                        [Medium::Ssd, Medium::Device, Medium::File].into_iter().chain(disk)
                    {
                        for seed in [1, 7] {
                            let scope =
                                Scope { spare_percent, medium, seed, ..scope(bytes, quick) };
                            let of = |protocol: Protocol| {
                                plans(&[protocol], &scope).expect("it fits").remove(0)
                            };
                            let (theirs, ours) = (of(written.clone()), of(method.into()));
                            assert_eq!(theirs, ours, "{} on {scope:?}", method.name());
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn every_kind_of_phase_becomes_what_it_says() {
    let text = r#"
name = "all-kinds"
[[phase]]
do = "purge"
[[phase]]
do = "fill"
times = 2
state = "filled twice"
[[phase]]
do = "torture"
seconds = 100
[[phase]]
do = "prepare"
state = "hot"
pattern = "random"
read_percent = 30
start = "10 %"
end = "20 %"
amount = "5 GB"
[[phase]]
do = "idle"
seconds = 60
[[phase]]
do = "trim"
start = "50 %"
[[phase]]
do = "measure"
pattern = "random"
read_percent = [100, 30]
block = ["4 KiB", 512]
depth = [1, 4]
data = 46
figure = "r{read_percent}_b{block}_q{depth}_{data}"
span = "1 GB"
seconds = 60
fua = true
[[phase]]
do = "pass"
read_percent = 100
places = 50
suffix = "pass"
[[phase]]
do = "measure-beside-trim"
pattern = "random"
read_percent = 100
depth = 1
seconds = 10
span = "50 %"
suffix = "trimmed"
[[phase.trim]]
start = "50 %"
[[phase]]
do = "probe-trim"
span = "1 GB"
[[phase]]
do = "rounds"
most = 25
tracked = "steady_0_4k"
[[phase.test]]
pattern = "random"
read_percent = [0, 65]
block = ["4 KiB", "128 KiB"]
figure = "steady_{read_percent}_{block}"
seconds = 60
[[phase]]
do = "measure"
pattern = "sequential"
read_percent = 100
seconds = 10
quick = false
random = "other"
"#;
    let whole = 64_000_000_000;
    let scope = scope(whole, false);
    let usable = scope.usable_bytes();
    let phases = plan(text).phases(&scope).expect("it fits");
    let words: Vec<String> = phases.iter().map(Phase::words).collect();
    let measured: Vec<&str> = words[6..14].iter().map(String::as_str).collect();
    assert_eq!(measured[0], "r100_b4k_q1_compressible46");
    assert_eq!(measured[7], "r30_b512_q4_compressible46");
    let job = |index: usize| phases[index].job().expect("it has one");
    use fourcorners_record::{Data, Pattern, Until};
    assert_eq!(job(1).until, Until::Bytes(2 * usable));
    assert_eq!(job(2).until, Until::Seconds(100));
    assert_eq!(job(3).until, Until::Bytes(5_000_000_000));
    let tenth = crate::review::scope::whole_blocks(usable / 10);
    assert_eq!(job(3).span_start_bytes, tenth);
    assert_eq!((job(3).read_percent, job(3).seed), (30, 7));
    assert_eq!(phases[4], Phase::Idle { seconds: 60 });
    let Phase::Trim { range } = phases[5] else { panic!("{:?}", phases[5]) };
    assert_eq!(range.start_bytes + range.bytes, usable);
    assert!(job(6).fua && job(6).data == Data::Compressible(46));
    assert_eq!(job(6).span_bytes, scope.span(1_000_000_000));
    let Phase::Pass { figure, job: pass, points: 50 } = &phases[14] else { panic!("{words:?}") };
    assert_eq!(
        (figure.as_str(), pass.until),
        ("sequential_read_128k_qd32_pass", Until::Bytes(usable))
    );
    let Phase::BesideTrim { range, .. } = &phases[15] else { panic!("{words:?}") };
    assert_eq!(range.start_bytes, crate::review::scope::whole_blocks(usable / 2));
    assert!(matches!(phases[16], Phase::ProbeTrim { .. }));
    let Phase::Rounds { most: 25, tests, .. } = &phases[17] else { panic!("{words:?}") };
    assert_eq!(tests.len(), 4);
    assert_eq!(
        (job(18).pattern, job(18).seed),
        (Pattern::Sequential, { scope.seeded("other", job(18).clone()).seed })
    );

    // Quick: seconds are cut, percents are of 8 GB, and what is not to be done says so.
    let quick = Scope { quick: true, ..scope };
    let phases = plan(text).phases(&quick).expect("it fits");
    assert_eq!(phases[2].job().map(|job| job.until), Some(Until::Seconds(5)));
    assert_eq!(phases[1].job().map(|job| job.span_bytes), Some(quick.span(8_000_000_000)));
    assert!(matches!(phases[18], Phase::LeftOut { .. }));
}

#[test]
fn what_is_wrong_has_its_line_and_what_to_do() {
    for (text, told) in [
        ("", "line 1: name is missing in a plan"),
        ("name = \"mine\"", "nothing is measured"),
        ("name = \"toms\"", "line 1: name = \"toms\" is a method of fourcorners"),
        ("name = \"Mine!\"", "must be a small letter"),
        ("name = 5", "line 1: name = 5 must be a text"),
        ("name = \"mine\"\nnme = 1\n", "nothing is measured"),
        ("name = \"mine\nx", "line 1:"),
        ("name = \"mine\"\nphase = 3", "line 2: phase = 3 must be a list of tables"),
        ("name = \"mine\"\n[[phase]]\ndo = \"mesure\"", "line 3: do = \"mesure\": there are"),
        ("name = \"mine\"\n[[phase]]\ndo = \"mesure\"", "did you mean \"measure\"?"),
        ("name = \"mine\"\n\n[[phase]]\nspan = \"1 GB\"", "line 3: do is missing in a [[phase]]"),
        (&with("dept = 3"), "line 7: a [[phase]] has no key \"dept\"; did you mean depth?"),
        (&with("[[chekc]]"), "line 7: a plan has no key \"chekc\"; did you mean check?"),
        (&with("depth = 0"), "line 7: depth = 0 must be 1 to 1024"),
        (&with("depth = [1, 2, 1]"), "depth has 1 twice"),
        (&with("depth = []"), "depth = [] is empty"),
        (&with("depth = [1, 2]\nfigure = \"same\""), "two of its figures are called same"),
        (&with("figure = \"No Name\""), "a figure's name is"),
        (&with("figure = \"a\"\nsuffix = \"b\""), "leave suffix out"),
        (&with("block = \"5 KB\""), "block = \"5 KB\" must be a block of whole 512 bytes"),
        (&with("block = \"4 MiB\"\ndepth = 1024"), "1 GiB or less"),
        (&with("span = \"101 %\""), "must be 0 % to 100 %"),
        (&with("span = \"4 KiB\""), "128 KiB or more"),
        (&with("span = \"1 GB\"\nend = \"2 GB\""), "leave one out"),
        (&with("span = 5"), "must be a size such as"),
        (&with("data = \"zeroes\""), "must be \"incompressible\""),
        (&with("pattern = \"random\""), "line 7: "),
        (&with("fua = \"yes\""), "must be true or false"),
        (&with("times = 0"), "times = 0 must be a number"),
        (&with("times = nan"), "times = nan must be a number"),
        (&with("amount = \"1 GB\"\ntimes = 1"), "leave one out"),
        (&with("seconds = 9"), "line 7:"),
        (
            &with(
                "[[phase]]\ndo = \"measure\"\npattern = \"random\"\nread_percent = 100\nseconds = 1",
            ),
            "is measured twice",
        ),
        (&with("[[phase]]\ndo = \"idle\""), "line 7: seconds is missing"),
        (
            &with("[[phase]]\ndo = \"idle\"\nseconds = 9999999999999"),
            "whole number from 1 to 2592000",
        ),
        (
            &with(
                "[[phase]]\ndo = \"prepare\"\nstate = \"s\"\npattern = \"random\"\nread_percent = 0",
            ),
            "it has no end",
        ),
        (&with("[[phase]]\ndo = \"fill\"\ndepth = [1, 2]"), "write a phase for each"),
        (&with("[[phase]]\ndo = \"pass\"\nread_percent = 0\nseconds = 3"), "leave seconds out"),
        (
            &with("[[phase]]\ndo = \"rounds\"\nmost = 5\ntracked = \"x\""),
            "figure of no [[phase.test]]",
        ),
        (
            &with("[[check]]\nof = \"random_read_4k_qd3\""),
            "line 8: no phase measures a figure \"random_read_4k_qd3\"; did you mean \"random_read_4k_qd32\"?",
        ),
        (
            &with("[[verdict]]\nof = \"random_read_4k_qd32\"\nvalue = \"iop\""),
            "did you mean \"iops\"?",
        ),
        (
            &with("[[check]]\nof = \"random_read_4k_qd32\"\nat_least = 5\nat_most = 1"),
            "at_least = 5 and at_most = 1: no number keeps both",
        ),
        (
            &with("[[verdict]]\nof = \"random_read_4k_qd32\"\ntext = \"{over}\""),
            "{over} is not known",
        ),
        (
            &with("[[curve]]\nname = \"c\"\nx = \"x\"\npoints = [[1, \"random_read_4k_qd32\"]]"),
            "two points or more",
        ),
        (&with("[[curve]]\nname = \"c\"\nx = \"x\"\npoints = [1]"), "a list of pairs"),
    ] {
        let error = refused(text);
        assert!(error.starts_with("mine.toml, line ") && error.contains(told), "{text}\n{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn what_does_not_fit_a_target_is_told_with_its_line() {
    let plan = plan(&with("start = \"8 GB\""));
    assert!(plan.phases(&scope(9_000_000_000, false)).is_ok());
    let error = plan.phases(&scope(7_000_000_000, false)).expect_err("there is nothing there");
    assert!(error.to_string().starts_with("mine.toml, line 7: nothing is left"), "{error}");
    let plan = self::plan(&with("block = 512"));
    let mut large = scope(1 << 30, false);
    large.geometry.logical_block_bytes = 4096;
    let error = plan.phases(&large).expect_err("its blocks are larger");
    assert!(error.to_string().contains("logical block of 4096"), "{error}");
}

mod hostile {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        // Whatever a file holds, reading it ends with a plan or with an error of one line.
        #[test]
        fn no_text_is_too_strange(text in "\\PC*") {
            if let Err(error) = PlanFile::parse("p", &text) {
                prop_assert_eq!(error.to_string().lines().count(), 1);
            }
        }

        // One byte of a good plan is another.
        #[test]
        fn a_slip_is_a_plan_or_an_error(at in 0usize..2000, byte in 9u8..127) {
            let mut text = include_str!("../../../../../plans/spare-area.toml").as_bytes().to_vec();
            let at = at % text.len();
            text[at] = byte;
            // A slip within a letter of two bytes is no text, and is refused before.
            let Ok(text) = String::from_utf8(text) else { return Ok(()) };
            match PlanFile::parse("p", &text) {
                Ok(plan) => {
                    // It may ask for more than there is, but says so.
                    let _ = plan.phases(&scope(32 << 20, true));
                }
                Err(error) => prop_assert_eq!(error.to_string().lines().count(), 1),
            }
        }
    }
}
