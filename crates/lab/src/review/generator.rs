//! Checks whether the drive limited a figure, or the program that made the I/Os.

use fourcorners_record::{Note, Record};
use fourcorners_run::generator_was_the_limit;

/// Names the figures of a real target in which our one loop was busy all the time.
pub(super) fn conclude(record: &mut Record) {
    let share = |name: &String| {
        let figure = &record.figures[name];
        let cpu_seconds = figure.cpu_us_per_io? * figure.ios as f64 / 1e6;
        generator_was_the_limit(cpu_seconds, figure.duration_s)
            .then(|| cpu_seconds / figure.duration_s)
    };
    let busy: Vec<(String, f64)> =
        record.figures.keys().filter_map(|name| Some((name.clone(), share(name)?))).collect();
    let Some(least) = busy.iter().map(|(_, share)| *share).reduce(f64::min) else { return };
    let names: Vec<&str> = busy.iter().map(|(name, _)| name.as_str()).collect();
    let text = format!(
        "This machine, not the drive, was the limit in {}: the I/O loop was busy for {:.0} % of the time \
         or more.",
        names.join(", "),
        least * 100.0
    );
    record.notes.push(Note { about: "generator".into(), text, value: Some(least) });
}
