//! Anything as a task file: steps or an error, never a panic.
#![no_main]

use fourcorners_trace::Task;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(task) = Task::parse(text) {
        let (read, written) = task.bytes();
        assert!(task.ios() > 0 && read.checked_add(written).is_some() && task.think_s() >= 0.0);
    }
});
