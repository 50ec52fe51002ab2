//! Compressed traces, recognised by their first bytes: gzip, zstd and LZ4 frames.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use lz4_flex::frame::FrameDecoder as Lz4;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder as Zstd};

/// Bytes read from a file at a time.
const READ_BYTES: usize = 256 << 10;

/// RFC 1952, RFC 8878 and the LZ4 frame format 1.6.
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const LZ4: &[u8] = &[0x04, 0x22, 0x4d, 0x18];

/// The largest window a zstd frame may ask for: what `zstd --long=27` makes and `zstd -d` reads
/// without being asked.
const MOST_WINDOW_BYTES: u64 = 128 << 20;

/// What `source` holds, unpacked if it is packed.
pub(super) fn unpacked(source: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let mut source = BufReader::with_capacity(READ_BYTES, source);
    let head = loop {
        match source.fill_buf() {
            Ok(head) => break head,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    };
    Ok(match head {
        head if head.starts_with(GZIP) => Box::new(MultiGzDecoder::new(source)),
        head if head.starts_with(ZSTD) => Box::new(ZstdFrames::new(source)),
        head if head.starts_with(LZ4) => Box::new(Lz4Frames(Lz4::new(source))),
        _ => Box::new(source),
    })
}

/// Zstd frames one after the other, as `pzstd` and `cat` make them.
struct ZstdFrames<R> {
    source: R,
    frame: Zstd,
    within: bool,
}

impl<R: BufRead> ZstdFrames<R> {
    fn new(source: R) -> ZstdFrames<R> {
        let mut frame = Zstd::new();
        frame.set_max_window_size(MOST_WINDOW_BYTES);
        ZstdFrames { source, frame, within: false }
    }

    /// Begins the next frame that holds data; `false` at the end of the file.
    fn begin(&mut self) -> io::Result<bool> {
        loop {
            if self.source.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.frame.reset(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let skipped = (&mut self.source).take(u64::from(length));
                    io::copy(&mut { skipped }, &mut io::sink())?;
                }
                Err(error) => return Err(damaged(error)),
            }
        }
    }

    fn end(&mut self) -> io::Result<()> {
        self.within = false;
        match (self.frame.get_checksum_from_data(), self.frame.get_calculated_checksum()) {
            (Some(written), Some(found)) if written != found => {
                Err(damaged("the checksum of a zstd frame does not match its content"))
            }
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if to.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.within {
                if !self.begin()? {
                    return Ok(0);
                }
                self.within = true;
            }
            while self.frame.can_collect() == 0 && !self.frame.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.frame.decode_blocks(&mut self.source, one).map_err(damaged)?;
            }
            match self.frame.read(to)? {
                0 => self.end()?,
                bytes => return Ok(bytes),
            }
        }
    }
}

/// LZ4 frames one after the other. The decoder answers the end of each with nothing.
struct Lz4Frames<R: BufRead>(Lz4<R>);

impl<R: BufRead> Read for Lz4Frames<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(to)? {
                0 if !to.is_empty() && !self.0.get_mut().fill_buf()?.is_empty() => {}
                bytes => return Ok(bytes),
            }
        }
    }
}

fn damaged(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
