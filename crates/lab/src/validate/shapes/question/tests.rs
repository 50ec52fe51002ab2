//! Entries as they are asked.

use super::super::built_in;
use super::without_flash::put_in;
use super::*;

fn streams(id: &str) -> (State, Streams) {
    let entries = built_in();
    let entry = entries.iter().find(|entry| entry.id == id).expect(id);
    let question = Question::of(entry, &entries).expect(id);
    let Work::Streams(streams) = question.work else { panic!("{id}") };
    (question.state, streams)
}

#[test]
fn runs_of_their_own_draw_the_same_numbers_one_after_the_other_and_jobs_of_one_do_not() {
    let seeds = |streams: &Streams| -> Vec<u64> {
        let specs = streams.streams.iter().enumerate();
        specs.map(|(number, spec)| spec.stream(number, streams, 1 << 30).seed).collect()
    };
    let (state, beside) = streams("980pro-x8-fig11a-n4");
    assert_eq!(state, State::Written { block_bytes: 8192, drive_writes: 1 });
    assert_eq!(seeds(&beside), [1; 5]);
    let delays: Vec<u64> = beside.streams.iter().map(|spec| spec.delay.0 / 1_000_000).collect();
    assert_eq!(delays, [80, 0, 20, 40, 60]);
    let (state, jobs) = streams("980pro-rr4k-j4-q64");
    assert_eq!((state, seeds(&jobs)), (State::Filled, vec![1, 2, 3, 4]));
    assert!(jobs.streams.iter().all(|spec| spec.delay == Nanos::ZERO));
}

#[test]
fn records_of_act_are_read_one_by_one_and_written_twice_in_blocks() {
    let entries = built_in();
    let of = |id: &str| {
        let entry = entries.iter().find(|entry| entry.id == id).expect(id);
        Question::of(entry, &entries).expect(id)
    };
    // 1,000 records of 1.5 KiB a second are 11.7 blocks, and as many again are what is left of others.
    let whole = of("act-845dcpro-001");
    assert_eq!(whole.state, State::Written { block_bytes: 128 << 10, drive_writes: 1 }, "in a day");
    let Work::Streams(streams) = &whole.work else { panic!("no streams") };
    let told: Vec<_> =
        streams.streams.iter().map(|it| (it.read_percent, it.block_bytes, it.pace)).collect();
    let large = Some((24, false));
    assert_eq!(
        told,
        [(100, 1536, Some((2000, false))), (100, 128 << 10, large), (0, 128 << 10, large)]
    );
    assert_eq!((streams.probes, whole.used), (1, Used::default()));
    // 294.4 GiB of 400 GB are 79 %; two days at six times the pace.
    let part = of("act-845dcpro-013");
    assert_eq!(part.used.bytes_of(400 << 30), 339_416_711_168);
    assert_eq!(part.state, State::Written { block_bytes: 128 << 10, drive_writes: 3 });
    assert_eq!(Used::default().bytes_of(12_345), 12_345);
    let mut lacking = entries.iter().find(|entry| entry.kind == "act-tail").expect("one").clone();
    lacking.test.reads_per_s = None;
    let why = Question::of(&lacking, &entries).expect_err("it does not say").to_string();
    assert_eq!(why, "the records read a second are not told");
}

#[test]
fn the_share_of_reads_without_flash_is_the_state_of_the_drive_and_is_not_compared() {
    let entries = built_in();
    let of = |entry: &Entry| Question::of(entry, &entries).expect(&entry.id).state;
    let entry = |id: &str| entries.iter().find(|entry| entry.id == id).expect(id);
    // 8.33 %.
    assert_eq!(of(entry("980pro-jobs4-q1")), State::FilledInPart { parts: 9167 });
    assert_eq!(of(entry("980pro-rr4k-j4-q64")), State::Filled, "its share is not told");
    // A drive in use, whose reads may be fast for what was just written.
    assert!(matches!(of(entry("980pro-x8-fig11c-n0")), State::Written { .. }));
    let base = Question::of_base(entry("980pro-jobs1-q1")).expect("it can be asked");
    assert_eq!(base.state, State::FilledInPart { parts: 6790 });
    // Not of a part of a drive, nor of a drive that has no time for such reads.
    let mut part = entry("980pro-jobs4-q1").clone();
    part.test.span = "372 GiB of the drive".into();
    assert_eq!(of(&part), State::Filled);
    let on = |drive: &str| {
        let model = fourcorners_catalogue::built_in(drive, &[]).expect(drive).model;
        let question = Question::of(entry("980pro-jobs4-q1"), &entries).expect("it can be asked");
        question.of_drive(&model, Some(entry("980pro-jobs1-q1")))
    };
    let (own, other) = (on("samsung-980-pro-1000gb"), on("intel-optane-p4800x-375gb"));
    assert_eq!((own.state, own.notes.len()), (State::FilledInPart { parts: 9167 }, 2));
    assert_eq!((other.state, other.notes.len()), (State::Filled, 1));
    assert!(own.notes[1].starts_with("its share, and that of what it is relative to, of reads"));
    let part = put_in(State::Filled, Some(State::FilledInPart { parts: 1 })).expect("of the other");
    assert!(part.starts_with("the share of what it is relative to of reads"), "{part}");
    assert_eq!(put_in(State::Filled, None), None);
    for share in [-1.0, 101.0] {
        let mut impossible = entry("980pro-jobs4-q1").clone();
        impossible.result.insert(SHARE_WITHOUT_FLASH.into(), share.into());
        assert_eq!(of(&impossible), State::Filled);
    }
}
