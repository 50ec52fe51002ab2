//! Entries as they are asked.

use super::super::built_in;
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
    assert_eq!(state, State::Written { block_bytes: 4096, drive_writes: 1 });
    assert_eq!(seeds(&beside), [1; 5]);
    let delays: Vec<u64> = beside.streams.iter().map(|spec| spec.delay.0 / 1_000_000).collect();
    assert_eq!(delays, [80, 0, 20, 40, 60]);
    let (state, jobs) = streams("980pro-rr4k-j4-q64");
    assert_eq!((state, seeds(&jobs)), (State::Filled, vec![1, 2, 3, 4]));
    assert!(jobs.streams.iter().all(|spec| spec.delay == Nanos::ZERO));
}
