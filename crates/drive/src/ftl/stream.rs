//! Data that is kept apart: what is written in turn to blocks of its own.

/// Data that is kept apart from other data. A drive without streams or SLC buffer has the first only.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Stream {
    #[default]
    Cold,
    Hot,
    /// Of either temperature, in the blocks of an SLC buffer.
    Slc,
}

/// How many there are by temperature.
pub(crate) const STREAMS: usize = 2;

/// How many there are in all.
pub(crate) const FRONTS: usize = 3;

impl Stream {
    pub(crate) const ALL: [Stream; FRONTS] = [Stream::Cold, Stream::Hot, Stream::Slc];

    /// Those of the main blocks.
    pub(crate) const BY_TEMPERATURE: [Stream; STREAMS] = [Stream::Cold, Stream::Hot];

    #[inline]
    pub(crate) fn index(self) -> usize {
        self as usize
    }

    pub(super) fn other(self) -> Stream {
        match self {
            Stream::Cold => Stream::Hot,
            Stream::Hot | Stream::Slc => Stream::Cold,
        }
    }
}
