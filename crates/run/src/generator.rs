//! Detects whether the load generator, our own loop, limited a run.

/// A loop that used at least this part of a CPU's time was what limited a run, rather than its target.
const BUSY: f64 = 0.95;

/// Whether the one thread that submits and completes was the limit: so many CPU seconds in so many of
/// the clock.
pub fn generator_was_the_limit(cpu_seconds: f64, seconds: f64) -> bool {
    seconds > 0.0 && cpu_seconds / seconds >= BUSY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_that_was_busy_nearly_all_the_time_was_the_limit() {
        assert!(generator_was_the_limit(0.99, 1.0));
        assert!(!generator_was_the_limit(0.5, 1.0) && !generator_was_the_limit(0.0, 0.0));
    }
}
