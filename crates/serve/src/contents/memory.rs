//! Bytes in memory: pages of 4 KiB, sixteen to a group, and only those that were written.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

const PAGE: u64 = 4096;
const PAGES: u64 = 16;
const GROUP: u64 = PAGE * PAGES;

/// Shared with a copy of the contents until one of them writes to it.
type Page = Arc<[u8; PAGE as usize]>;
type Group = Box<[Option<Page>; PAGES as usize]>;

/// Contents in memory. They take what was written and about 1 % more, in whole pages of 4 KiB.
#[derive(Clone, Debug)]
pub struct Memory {
    groups: BTreeMap<u64, Group>,
    pages: u64,
    most_pages: u64,
}

impl Memory {
    /// Nothing, and no room for anything.
    pub(super) const NONE: Memory = Memory { groups: BTreeMap::new(), pages: 0, most_pages: 0 };

    /// Nothing yet, and never more than `most_bytes`.
    pub fn new(most_bytes: u64) -> Memory {
        Memory { groups: BTreeMap::new(), pages: 0, most_pages: most_bytes / PAGE }
    }

    /// Stores `data` at a place, but for pages of it that are zero, which need no space.
    ///
    /// # Errors
    /// When it would be more than there may be.
    pub fn store(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut at = offset;
        for page in data.chunks(PAGE as usize) {
            if page.iter().any(|byte| *byte != 0) {
                self.write(at, page)?;
            }
            at += page.len() as u64;
        }
        Ok(())
    }

    pub(crate) fn stored_bytes(&self) -> u64 {
        self.pages * PAGE
    }

    /// What is stored in a range, in whole pages, which both share until one of them is written to.
    pub(super) fn part(&self, offset: u64, length: u64) -> Memory {
        let end = offset + length;
        let mut part = Memory::new(u64::MAX);
        for (key, group) in self.groups.range(offset / GROUP..end.div_ceil(GROUP)) {
            let mut group = group.clone();
            for (index, place) in group.iter_mut().enumerate() {
                let begin = key * GROUP + index as u64 * PAGE;
                if begin + PAGE <= offset || end <= begin {
                    *place = None;
                }
            }
            let pages = group.iter().flatten().count() as u64;
            if pages > 0 {
                part.pages += pages;
                part.groups.insert(*key, group);
            }
        }
        part
    }

    pub(crate) fn read(&self, offset: u64, data: &mut [u8]) -> bool {
        let (mut at, end) = (offset, offset + data.len() as u64);
        let mut found = false;
        while at < end {
            let Some(group) = self.groups.get(&(at / GROUP)) else {
                at = (at / GROUP + 1) * GROUP;
                continue;
            };
            let until = end.min((at / PAGE + 1) * PAGE);
            if let Some(page) = &group[(at / PAGE % PAGES) as usize] {
                let from = (at % PAGE) as usize;
                let part = (at - offset) as usize..(until - offset) as usize;
                let length = part.len();
                data[part].copy_from_slice(&page[from..from + length]);
                found = true;
            }
            at = until;
        }
        found
    }

    pub(crate) fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        let (mut at, mut rest) = (offset, data);
        while !rest.is_empty() {
            let from = (at % PAGE) as usize;
            let (part, behind) = rest.split_at(rest.len().min(PAGE as usize - from));
            let group = self.groups.entry(at / GROUP).or_default();
            let place = &mut group[(at / PAGE % PAGES) as usize];
            if place.is_none() {
                if self.pages == self.most_pages {
                    let most = fourcorners_words::size(self.most_pages * PAGE);
                    return Err(io::Error::new(
                        io::ErrorKind::StorageFull,
                        format!("the contents in memory have reached {most}"),
                    ));
                }
                self.pages += 1;
            }
            let page = place.get_or_insert_with(|| Arc::new([0; PAGE as usize]));
            Arc::make_mut(page)[from..from + part.len()].copy_from_slice(part);
            at += part.len() as u64;
            rest = behind;
        }
        Ok(())
    }

    pub(crate) fn discard(&mut self, offset: u64, length: u64) {
        let end = offset + length;
        let touched = offset / GROUP..end.div_ceil(GROUP);
        let keys: Vec<u64> = self.groups.range(touched).map(|(key, _)| *key).collect();
        for key in keys {
            let Some(group) = self.groups.get_mut(&key) else { continue };
            for (index, place) in group.iter_mut().enumerate() {
                let begin = key * GROUP + index as u64 * PAGE;
                let (from, to) = (begin.max(offset), (begin + PAGE).min(end));
                if from >= to {
                    continue;
                }
                if to - from == PAGE {
                    self.pages -= u64::from(place.take().is_some());
                } else if let Some(page) = place {
                    Arc::make_mut(page)[(from - begin) as usize..(to - begin) as usize].fill(0);
                }
            }
            if group.iter().all(Option::is_none) {
                self.groups.remove(&key);
            }
        }
    }

    /// Whether `at` is a hole, and until where, `end` at most, all is like it.
    pub(crate) fn alike(&self, at: u64, end: u64) -> (bool, u64) {
        match self.groups.get(&(at / GROUP)) {
            None => {
                let next = self.groups.range(at / GROUP..).next();
                (true, next.map_or(end, |(key, _)| key * GROUP).min(end))
            }
            Some(group) => {
                let hole = group[(at / PAGE % PAGES) as usize].is_none();
                (hole, (at / PAGE + 1) * PAGE)
            }
        }
    }
}
