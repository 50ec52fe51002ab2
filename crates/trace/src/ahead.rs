//! A trace read ahead on a thread of its own, so that unpacking and parsing take no time between
//! the I/Os that are measured.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::error::TraceError;
use super::io::TraceIo;

/// I/Os handed over at a time: the loop that replays them meets the other thread this rarely.
const BATCH: usize = 4096;
/// Batches that are ready before they are asked for.
const READY: usize = 4;

/// The I/Os of a trace, read ahead.
pub struct Ahead {
    /// `None` once it has ended.
    ready: Option<Receiver<Batch>>,
    used: SyncSender<Vec<TraceIo>>,
    thread: Option<JoinHandle<()>>,
    batch: Vec<TraceIo>,
    at: usize,
    error: Option<TraceError>,
}

struct Batch {
    ios: Vec<TraceIo>,
    /// What came after them instead of another I/O.
    error: Option<TraceError>,
}

impl Ahead {
    /// Begins to read.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub fn of(
        trace: impl Iterator<Item = Result<TraceIo, TraceError>> + Send + 'static,
    ) -> std::io::Result<Ahead> {
        let (to, ready) = sync_channel(READY);
        let (used, again) = sync_channel(READY + 2);
        let thread = std::thread::Builder::new()
            .name("trace".into())
            .spawn(move || read(trace, &to, &again))?;
        let thread = Some(thread);
        Ok(Ahead { ready: Some(ready), used, thread, batch: Vec::new(), at: 0, error: None })
    }

    /// Why it ended before its end, if it did.
    pub fn error(&mut self) -> Option<TraceError> {
        self.error.take()
    }

    /// Takes the next batch; `false` when there is none.
    #[cold]
    fn refill(&mut self) -> bool {
        let Some(ready) = &self.ready else { return false };
        // The other side drops its end when the trace has ended.
        let Ok(Batch { ios, error }) = ready.recv() else {
            self.ready = None;
            return false;
        };
        let used = std::mem::replace(&mut self.batch, ios);
        // Nobody takes it back when the trace has ended, and then it is not needed.
        let _ = self.used.try_send(used);
        self.at = 0;
        if error.is_some() {
            (self.error, self.ready) = (error, None);
        }
        !self.batch.is_empty()
    }
}

impl Iterator for Ahead {
    type Item = TraceIo;

    #[inline]
    fn next(&mut self) -> Option<TraceIo> {
        if self.at == self.batch.len() && !self.refill() {
            return None;
        }
        let io = self.batch[self.at];
        self.at += 1;
        Some(io)
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        // Without a receiver the thread ends at its next batch.
        self.ready = None;
        if let Some(thread) = self.thread.take() {
            // It has nothing to tell.
            let _ = thread.join();
        }
    }
}

fn read(
    mut trace: impl Iterator<Item = Result<TraceIo, TraceError>>,
    to: &SyncSender<Batch>,
    again: &Receiver<Vec<TraceIo>>,
) {
    loop {
        let mut ios = again.try_recv().unwrap_or_default();
        ios.clear();
        ios.reserve(BATCH);
        let mut error = None;
        while ios.len() < BATCH && error.is_none() {
            match trace.next() {
                Some(Ok(io)) => ios.push(io),
                Some(Err(wrong)) => error = Some(wrong),
                None => break,
            }
        }
        let last = ios.len() < BATCH;
        if (ios.is_empty() && error.is_none()) || to.send(Batch { ios, error }).is_err() || last {
            return;
        }
    }
}
