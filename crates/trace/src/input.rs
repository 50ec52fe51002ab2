//! The bytes of a trace through a window of fixed size, by record or by line.

use std::io::{self, Read};

/// Bytes of the window. A record or a line is never longer than it.
const WINDOW_BYTES: usize = 256 << 10;

/// Bytes a line may have: a path has up to 4096, and everything else is numbers.
pub(super) const MOST_LINE_BYTES: usize = 64 << 10;

/// A trace as bytes.
pub(super) struct Input {
    source: Box<dyn Read + Send>,
    window: Box<[u8]>,
    start: usize,
    end: usize,
    /// Where in the trace the window's start is.
    offset: u64,
    ended: bool,
    /// Why there is no more, if that is for a reason, to be told when more is asked for.
    failed: Option<io::Error>,
    /// The line that was read last, from 1.
    line: u64,
    /// Whether the rest of that line is still to be passed over.
    within_line: bool,
}

/// The next line of a trace.
pub(super) enum Line<'a> {
    /// Without its end.
    Whole(&'a [u8]),
    /// It was too long. It is passed over when the next is asked for: it may have no end.
    TooLong,
    /// There is none.
    End,
}

impl Input {
    pub(super) fn new(source: Box<dyn Read + Send>) -> Input {
        let window = vec![0; WINDOW_BYTES].into_boxed_slice();
        Input {
            source,
            window,
            start: 0,
            end: 0,
            offset: 0,
            ended: false,
            failed: None,
            line: 0,
            within_line: false,
        }
    }

    /// Where the next record begins.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// The line that was read last.
    pub(super) fn line_number(&self) -> u64 {
        self.line
    }

    /// What the trace begins with: `count` bytes or more, or what can be had.
    pub(super) fn head(&mut self, count: usize) -> &[u8] {
        if let Err(error) = self.look(count) {
            self.failed = Some(error);
        }
        &self.window[self.start..self.end]
    }

    /// What comes next: `count` bytes or more, fewer only at the end.
    #[inline]
    pub(super) fn look(&mut self, count: usize) -> io::Result<&[u8]> {
        if self.end - self.start < count {
            self.fill(count)?;
        }
        Ok(&self.window[self.start..self.end])
    }

    #[cold]
    fn fill(&mut self, count: usize) -> io::Result<()> {
        debug_assert!(count <= WINDOW_BYTES);
        self.window.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        while self.end < count && !self.ended {
            match self.source.read(&mut self.window[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(bytes) => self.end += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Passes over `count` bytes that were looked at.
    #[inline]
    pub(super) fn pass(&mut self, count: usize) {
        debug_assert!(count <= self.end - self.start);
        self.start += count;
        self.offset += count as u64;
    }

    /// Passes over `count` bytes, looked at or not; how many there were.
    pub(super) fn pass_over(&mut self, count: u64) -> io::Result<u64> {
        let mut left = count;
        while left > 0 {
            let here = self.look(1)?.len() as u64;
            if here == 0 {
                break;
            }
            let some = here.min(left);
            self.pass(some as usize);
            left -= some;
        }
        Ok(count - left)
    }

    /// The next line.
    pub(super) fn line(&mut self) -> io::Result<Line<'_>> {
        if std::mem::take(&mut self.within_line) {
            self.pass_line()?;
        }
        let mut searched = 0;
        loop {
            let here = &self.window[self.start + searched..self.end];
            if let Some(end) = memchr(here) {
                let length = searched + end;
                let from = self.start;
                self.pass(length + 1);
                self.line += 1;
                if length > MOST_LINE_BYTES {
                    return Ok(Line::TooLong);
                }
                return Ok(Line::Whole(without_return(&self.window[from..from + length])));
            }
            searched = self.end - self.start;
            if searched > MOST_LINE_BYTES {
                self.within_line = true;
                self.line += 1;
                return Ok(Line::TooLong);
            }
            if self.ended {
                if searched == 0 {
                    return Ok(Line::End);
                }
                let from = self.start;
                self.pass(searched);
                self.line += 1;
                return Ok(Line::Whole(without_return(&self.window[from..from + searched])));
            }
            self.fill(searched + 1)?;
        }
    }

    /// Passes over the rest of a line, however long.
    fn pass_line(&mut self) -> io::Result<()> {
        loop {
            let here = self.look(1)?;
            let (count, found) = match memchr(here) {
                Some(end) => (end + 1, true),
                None => (here.len(), here.is_empty()),
            };
            self.pass(count);
            if found {
                return Ok(());
            }
        }
    }
}

fn memchr(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|&byte| byte == b'\n')
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
