//! Reads the file of a model except for its long constants.
//!
//! Only the messages on the ways to constants are looked into. What is malformed is read whole, so that the decoder
//! finds the fault.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};

use bytes::Bytes;

use super::disk::DiskFile;
use super::held::{Contents, Gap};
use crate::onnx::protobuf::{MAX_DEPTH, Message, inner, stays_in_file};
use crate::progress::{self, Phase};

/// The fewest bytes of a payload that stays in the file: reading fewer takes as long as skipping them.
const LONG: usize = 1 << 10;

/// The bytes that are read at once. Most are skipped after a constant.
const BUFFER: usize = 1 << 13;

/// Why a file was not read.
#[derive(Debug)]
pub(crate) enum ScanError {
    /// Values of more bytes than the limit are not constants.
    TooLarge,
    Io(io::Error),
}

impl From<io::Error> for ScanError {
    fn from(error: io::Error) -> Self {
        ScanError::Io(error)
    }
}

/// Reads a file from its start, with at most `limit` bytes in memory.
///
/// # Errors
///
/// The file cannot be read, changes meanwhile, or has more than `limit` bytes besides constants.
pub(crate) fn scan(disk: DiskFile, limit: u64) -> Result<Contents, ScanError> {
    progress::enter(Phase::Reading);
    let len = usize::try_from(disk.len()).map_err(|_| ScanError::TooLarge)?;
    let mut input = BufReader::with_capacity(BUFFER, disk.file());
    input.rewind()?;
    let mut scan = Scan { input, at: 0, held: Vec::new(), gaps: Vec::new(), limit };
    scan.message(Message::Model, len, 0)?;
    let Scan { held, gaps, .. } = scan;
    disk.unchanged()?;
    Ok(Contents::new(Bytes::from(held), disk, gaps))
}

struct Scan<'f> {
    input: BufReader<&'f File>,
    /// The offset of the next byte.
    at: usize,
    held: Vec<u8>,
    gaps: Vec<Gap>,
    limit: u64,
}

impl Scan<'_> {
    /// Reads a message up to its end.
    fn message(&mut self, kind: Message, end: usize, depth: u32) -> Result<(), ScanError> {
        while self.at < end {
            progress::reached(self.at as u64);
            let Some(()) = self.field(kind, end, depth)? else { return self.hold(end) };
        }
        Ok(())
    }

    /// Reads a field; none if it is malformed, or has an encoding that is not looked into.
    fn field(&mut self, kind: Message, end: usize, depth: u32) -> Result<Option<()>, ScanError> {
        let Some(key) = self.varint(end)? else { return Ok(None) };
        let skipped = match key & 7 {
            0 => return Ok(self.varint(end)?.map(drop)),
            1 => 8,
            5 => 4,
            2 => {
                let Some(len) = self.varint(end)? else { return Ok(None) };
                let Ok(len) = usize::try_from(len) else { return Ok(None) };
                len
            }
            _ => return Ok(None),
        };
        let Some(payload_end) = self.at.checked_add(skipped).filter(|payload_end| *payload_end <= end) else {
            return Ok(None);
        };
        if skipped >= LONG {
            let number = u32::try_from(key >> 3).unwrap_or_default();
            if stays_in_file(kind, number) {
                return self.skip(payload_end).map(Some);
            }
            if let Some(inner) = inner(kind, number).filter(|_| depth + 1 < MAX_DEPTH) {
                return self.message(inner, payload_end, depth + 1).map(Some);
            }
        }
        self.hold(payload_end).map(Some)
    }

    /// Reads a number; none if it is malformed.
    fn varint(&mut self, end: usize) -> Result<Option<u64>, ScanError> {
        let mut number = 0;
        for i in 0..10 {
            if self.at >= end {
                return Ok(None);
            }
            let Some(&byte) = self.input.fill_buf()?.first() else {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            };
            self.input.consume(1);
            self.at += 1;
            self.keep(&[byte])?;
            number |= u64::from(byte & 0x7F) << (7 * i);
            if byte < 0x80 {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), ScanError> {
        self.held.extend_from_slice(bytes);
        if self.held.len() as u64 > self.limit { Err(ScanError::TooLarge) } else { Ok(()) }
    }

    /// Reads bytes up to an offset into memory.
    fn hold(&mut self, end: usize) -> Result<(), ScanError> {
        let count = end.saturating_sub(self.at);
        if self.held.len() as u64 + count as u64 > self.limit {
            return Err(ScanError::TooLarge);
        }
        let read = self.input.by_ref().take(count as u64).read_to_end(&mut self.held)?;
        self.at += read;
        if read < count { Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()) } else { Ok(()) }
    }

    /// Leaves bytes up to an offset in the file.
    fn skip(&mut self, end: usize) -> Result<(), ScanError> {
        let count = end - self.at;
        let before = self.gaps.last().map_or(0, |gap| gap.total);
        self.gaps.push(Gap { start: self.at, end, total: before + count });
        self.input.seek_relative(i64::try_from(count).map_err(|_| ScanError::TooLarge)?)?;
        self.at = end;
        Ok(())
    }
}
