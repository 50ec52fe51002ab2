//! A resource that serves one thing at a time, as the time until which it is busy.

use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::state::LATEST;

/// A shared resource: the link, the controller's processor, a channel.
///
/// It is charged in the order commands are issued, and a command waits for the backlog it finds
/// then. A command that will need the lane later (a read whose page is not there yet) does not
/// hold it from then on: reserving lanes at future times would let a slow command block the faster
/// ones behind it, in a queue that real drives complete out of order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Lane {
    busy_until: Nanos,
}

impl Lane {
    /// Takes the lane for `service` from `at` on, or from when it is free. Returns when it is done.
    #[inline]
    pub(crate) fn serve(&mut self, at: Nanos, service: Nanos) -> Nanos {
        self.busy_until = self.busy_until.max(at) + service;
        self.busy_until
    }

    /// When what it has been given by `at` is done.
    #[inline]
    pub(crate) fn backlog_ends(&self, at: Nanos) -> Nanos {
        self.busy_until.max(at)
    }

    /// Whether its time is one that can be reckoned with.
    pub(crate) fn is_sane(self) -> bool {
        self.busy_until <= LATEST
    }

    /// Adds `service` to the backlog at `at` for work that is `ready` only later. Returns when it
    /// is done: after the backlog and after it is ready.
    #[inline]
    pub(crate) fn serve_when_ready(&mut self, at: Nanos, ready: Nanos, service: Nanos) -> Nanos {
        let backlog_ends = self.busy_until.max(at);
        self.busy_until = backlog_ends + service;
        backlog_ends.max(ready) + service
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_at_a_time() {
        let mut lane = Lane::default();
        assert_eq!(lane.serve(Nanos(10), Nanos(5)), Nanos(15));
        assert_eq!(lane.serve(Nanos(12), Nanos(5)), Nanos(20));
        assert_eq!(lane.serve(Nanos(30), Nanos(5)), Nanos(35));
    }

    #[test]
    fn waiting_for_data_holds_nobody_up_but_its_work_counts() {
        let mut lane = Lane::default();
        assert_eq!(lane.serve_when_ready(Nanos(0), Nanos(1000), Nanos(5)), Nanos(1005));
        assert_eq!(lane.serve(Nanos(0), Nanos(5)), Nanos(10));
    }
}
