//! What was written over a file since a snapshot: pieces of 64 KiB in memory, in front of the file.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use super::ContentsFile;

/// Bytes of a piece.
const PIECE: u64 = 64 << 10;

/// A piece, shared with the snapshots that have it, too.
#[derive(Clone, Debug)]
enum Piece {
    Data(Arc<[u8; PIECE as usize]>),
    /// It was discarded.
    Zero,
}

/// The pieces that are other than the file's, by their numbers. A copy shares what neither has written since.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces(BTreeMap<u64, Piece>);

/// A file that stays as it is, and what was written over it.
#[derive(Debug)]
pub struct Layer {
    file: ContentsFile,
    pieces: Pieces,
    most_pieces: u64,
}

/// A part of a range that is in one piece: its number, where it begins in it, its length.
fn parts(offset: u64, length: u64) -> impl Iterator<Item = (u64, usize, usize)> {
    let end = offset + length;
    let mut at = offset;
    std::iter::from_fn(move || {
        (at < end).then(|| {
            let (piece, from) = (at / PIECE, at % PIECE);
            let length = (PIECE - from).min(end - at);
            at += length;
            (piece, from as usize, length as usize)
        })
    })
}

impl Layer {
    /// Nothing over this file yet, and never more than `most_bytes`.
    pub(super) fn over(file: ContentsFile, most_bytes: u64) -> Layer {
        Layer { file, pieces: Pieces::default(), most_pieces: most_bytes / PIECE }
    }

    /// What is over the file now.
    pub(super) fn pieces(&self) -> Pieces {
        self.pieces.clone()
    }

    /// Goes on with what was over it once.
    pub(super) fn restore(&mut self, pieces: &Pieces) {
        self.pieces = pieces.clone();
    }

    /// Stores all of it in the file.
    pub(super) fn commit(&mut self) -> io::Result<()> {
        while let Some((&number, piece)) = self.pieces.0.first_key_value() {
            let at = number * PIECE;
            let length = PIECE.min(self.file.bytes() - at);
            match piece {
                Piece::Data(data) => self.file.write(at, &data[..length as usize])?,
                Piece::Zero => self.file.discard(at, length)?,
            }
            self.pieces.0.pop_first();
        }
        Ok(())
    }

    /// The file, once nothing is over it.
    pub(super) fn into_file(self) -> ContentsFile {
        self.file
    }

    pub(super) fn read(&self, offset: u64, data: &mut [u8]) -> io::Result<bool> {
        let (mut rest, mut found) = (data, false);
        for (number, from, length) in parts(offset, rest.len() as u64) {
            let (part, behind) = rest.split_at_mut(length);
            rest = behind;
            match self.pieces.0.get(&number) {
                None => found |= self.file.read(number * PIECE + from as u64, part)?,
                Some(Piece::Data(piece)) => {
                    part.copy_from_slice(&piece[from..from + length]);
                    found = true;
                }
                Some(Piece::Zero) => part.fill(0),
            }
        }
        Ok(found)
    }

    pub(super) fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut rest = data;
        for (number, from, length) in parts(offset, data.len() as u64) {
            let (part, behind) = rest.split_at(length);
            rest = behind;
            self.piece(number)?[from..from + length].copy_from_slice(part);
        }
        Ok(())
    }

    pub(super) fn discard(&mut self, offset: u64, length: u64) -> io::Result<()> {
        for (number, from, length) in parts(offset, length) {
            let whole = length as u64 == PIECE.min(self.file.bytes() - number * PIECE);
            if from == 0 && whole {
                self.pieces.0.insert(number, Piece::Zero);
            } else if !matches!(self.pieces.0.get(&number), Some(Piece::Zero)) {
                self.piece(number)?[from..from + length].fill(0);
            }
        }
        Ok(())
    }

    /// A piece to be written to, with what is there.
    fn piece(&mut self, number: u64) -> io::Result<&mut [u8; PIECE as usize]> {
        if !matches!(self.pieces.0.get(&number), Some(Piece::Data(_))) {
            if self.pieces.0.len() as u64 >= self.most_pieces {
                let most = fourcorners_words::size(self.most_pieces * PIECE);
                return Err(io::Error::new(
                    io::ErrorKind::StorageFull,
                    format!(
                        "what was written since the first snapshot has reached {most}: commit it"
                    ),
                ));
            }
            let mut data = Arc::new([0; PIECE as usize]);
            if !self.pieces.0.contains_key(&number) {
                let at = number * PIECE;
                let length = PIECE.min(self.file.bytes() - at) as usize;
                self.file.read(at, &mut Arc::make_mut(&mut data)[..length])?;
            }
            self.pieces.0.insert(number, Piece::Data(data));
        }
        match self.pieces.0.get_mut(&number) {
            Some(Piece::Data(data)) => Ok(Arc::make_mut(data)),
            // It was put there.
            Some(Piece::Zero) | None => Err(io::ErrorKind::Other.into()),
        }
    }

    /// Whether `at` is a hole, and until where all is like it.
    pub(super) fn alike(&self, at: u64, end: u64) -> io::Result<(bool, u64)> {
        let next = (at / PIECE + 1) * PIECE;
        match self.pieces.0.get(&(at / PIECE)) {
            Some(piece) => Ok((matches!(piece, Piece::Zero), next.min(end))),
            None => {
                let over = self.pieces.0.range(at / PIECE..).next();
                self.file.alike(at, over.map_or(end, |(number, _)| (number * PIECE).min(end)))
            }
        }
    }

    pub(super) fn stored_bytes(&self) -> u64 {
        let data = self.pieces.0.values().filter(|piece| matches!(piece, Piece::Data(_))).count();
        self.file.stored_bytes() + data as u64 * PIECE
    }
}
