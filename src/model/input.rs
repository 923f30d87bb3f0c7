//! The bytes of an archive, which is decompressed within limits if necessary.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use flate2::bufread::MultiGzDecoder;

use super::limits::Limits;

/// The first bytes of gzip files.
pub(crate) const GZIP: [u8; 2] = [0x1F, 0x8B];

/// A source of bytes from which the entries of an archive are read.
pub(crate) trait ArchiveSource: Read {
    /// Skips bytes, and returns how many were skipped.
    fn advance(&mut self, count: u64) -> io::Result<u64>;

    /// The number of bytes that have been read or skipped.
    fn position(&self) -> u64;
}

/// An archive that is not compressed: bytes are skipped without reading them.
pub(crate) struct Plain<'f> {
    reader: BufReader<&'f File>,
    position: u64,
    length: u64,
}

impl<'f> Plain<'f> {
    /// Reads from the start of a file.
    pub(crate) fn new(mut file: &'f File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(0))?;
        Ok(Plain { reader: BufReader::new(file), position: 0, length })
    }
}

impl Read for Plain<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.position += count as u64;
        Ok(count)
    }
}

impl ArchiveSource for Plain<'_> {
    fn advance(&mut self, count: u64) -> io::Result<u64> {
        let count = count.min(self.length.saturating_sub(self.position));
        self.reader.seek_relative(i64::try_from(count).map_err(io::Error::other)?)?;
        self.position += count;
        Ok(count)
    }

    fn position(&self) -> u64 {
        self.position
    }
}

/// The message for an archive that decompresses to too many bytes.
pub(crate) const BOMB: &str = "the archive unpacks to more than is allowed for its size";

/// Counts the bytes that are read.
struct Counted<'f, 'c> {
    file: &'f File,
    count: &'c Cell<u64>,
}

impl Read for Counted<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.count.set(self.count.get() + count as u64);
        Ok(count)
    }
}

/// A compressed archive.
pub(crate) struct Packed<'f, 'c> {
    decoder: MultiGzDecoder<BufReader<Counted<'f, 'c>>>,
    packed: &'c Cell<u64>,
    position: u64,
    limits: &'c Limits,
}

impl<'f, 'c> Packed<'f, 'c> {
    /// Decompresses from the start of a file; `packed` counts the compressed bytes.
    pub(crate) fn new(mut file: &'f File, packed: &'c Cell<u64>, limits: &'c Limits) -> io::Result<Self> {
        file.seek(SeekFrom::Start(0))?;
        packed.set(0);
        let decoder = MultiGzDecoder::new(BufReader::with_capacity(1 << 16, Counted { file, count: packed }));
        Ok(Packed { decoder, packed, position: 0, limits })
    }
}

impl Read for Packed<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.decoder.read(buffer)?;
        self.position += count as u64;
        let allowed = self.limits.inflated(self.limits.unpacked, self.packed.get());
        if self.position > allowed {
            return Err(io::Error::new(io::ErrorKind::QuotaExceeded, BOMB));
        }
        Ok(count)
    }
}

impl ArchiveSource for Packed<'_, '_> {
    fn advance(&mut self, count: u64) -> io::Result<u64> {
        let mut buffer = vec![0; 1 << 16];
        let mut left = count;
        while left > 0 {
            let wanted = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            match self.read(&mut buffer[..wanted])? {
                0 => break,
                read => left -= read as u64,
            }
        }
        Ok(count - left)
    }

    fn position(&self) -> u64 {
        self.position
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn packed(content: &[u8]) -> File {
        let mut encoder = flate2::write::GzEncoder::new(tempfile::tempfile().unwrap(), flate2::Compression::fast());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn unpacking_ends_at_the_limit() {
        let file = packed(&[0; 200_000]);
        let count = Cell::new(0);
        let read = |limits: &Limits| io::copy(&mut Packed::new(&file, &count, limits).unwrap(), &mut io::sink());
        assert_eq!(read(&Limits::default()).unwrap(), 200_000);
        let strict = Limits { unpacked: 100_000, ratio: 1, ..Limits::default() };
        assert_eq!(read(&strict).unwrap_err().kind(), io::ErrorKind::QuotaExceeded);
        assert_eq!(read(&Limits { ratio: 10_000, ..strict }).unwrap(), 200_000);
    }

    #[test]
    fn no_more_is_passed_over_than_is_there() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"abcdef").unwrap();
        let mut plain = Plain::new(&file).unwrap();
        assert_eq!((plain.advance(2).unwrap(), plain.position()), (2, 2));
        let mut next = [0];
        plain.read_exact(&mut next).unwrap();
        assert_eq!(next, *b"c");
        assert_eq!((plain.advance(u64::MAX).unwrap(), plain.position()), (3, 6));
        let (file, count, limits) = (packed(b"abcdef"), Cell::new(0), Limits::default());
        let mut unpacked = Packed::new(&file, &count, &limits).unwrap();
        assert_eq!((unpacked.advance(4).unwrap(), unpacked.advance(9).unwrap(), unpacked.position()), (4, 2, 6));
    }
}
