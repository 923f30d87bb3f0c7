//! The contents of a file with gaps where its long constants are.

use std::io;
use std::sync::Arc;

use bytes::Bytes;

use super::disk::DiskFile;
use super::field::FieldBytes;

/// A range of a file that is not in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    /// Its start in the file.
    pub(super) start: usize,
    /// Its exclusive end in the file.
    pub(super) end: usize,
    /// The number of bytes of all gaps up to this one, which is included.
    pub(super) total: usize,
}

/// A file with the ranges of it that are not in memory, in order.
#[derive(Debug)]
pub(super) struct GappedFile {
    pub(super) disk: DiskFile,
    pub(super) gaps: Vec<Gap>,
}

/// The contents of a file, or other bytes. Offsets are those in the file. Copies share the bytes.
#[derive(Clone, Debug)]
pub(crate) struct Contents {
    /// The bytes that are in memory, without those in the gaps.
    held: Bytes,
    file: Option<Arc<GappedFile>>,
}

impl From<Bytes> for Contents {
    fn from(held: Bytes) -> Self {
        Contents { held, file: None }
    }
}

/// Where an offset is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The number of bytes before it that are not in memory.
    pub(crate) missing: usize,
    /// The offset up to which bytes follow it in memory.
    pub(crate) until: usize,
}

impl Contents {
    pub(super) fn new(held: Bytes, disk: DiskFile, gaps: Vec<Gap>) -> Self {
        Contents { held, file: Some(Arc::new(GappedFile { disk, gaps })) }
    }

    fn gaps(&self) -> &[Gap] {
        self.file.as_ref().map_or(&[], |file| &file.gaps)
    }

    /// The number of bytes, with those that are not in memory.
    pub(crate) fn len(&self) -> usize {
        self.held.len() + self.gaps().last().map_or(0, |gap| gap.total)
    }

    /// Where an offset is in memory.
    pub(crate) fn place(&self, at: usize) -> Place {
        let gaps = self.gaps();
        let passed = gaps.partition_point(|gap| gap.end <= at);
        let missing = passed.checked_sub(1).and_then(|last| gaps.get(last)).map_or(0, |gap| gap.total);
        Place { missing, until: gaps.get(passed).map_or(usize::MAX, |gap| gap.start.max(at)) }
    }

    /// The bytes of a range at a place, if they are all in memory.
    #[inline]
    pub(crate) fn at(&self, place: Place, (start, end): (usize, usize)) -> Option<&[u8]> {
        if end > place.until {
            return None;
        }
        self.held.get(start.checked_sub(place.missing)?..end - place.missing)
    }

    /// The bytes from a place on that are in memory, up to the end of a range.
    #[inline]
    pub(crate) fn held_until(&self, place: Place, start: usize, end: usize) -> &[u8] {
        self.at(place, (start, end.min(place.until))).unwrap_or(&[])
    }

    /// The bytes of a range, if they are all in memory.
    pub(crate) fn slice(&self, (start, end): (usize, usize)) -> Option<&[u8]> {
        self.at(self.place(start), (start, end))
    }

    /// The bytes of a range: those that are not in memory stay in the file.
    pub(crate) fn field(&self, (start, end): (usize, usize)) -> FieldBytes {
        match (self.slice((start, end)), &self.file) {
            (None, Some(file)) => FieldBytes::in_file(Arc::clone(file), start as u64, end.saturating_sub(start)),
            (slice, _) => FieldBytes::from(slice.map_or_else(Bytes::new, |slice| self.held.slice_ref(slice))),
        }
    }

    /// Fails if the contents are those of a file that has changed since it was opened, or could not be read.
    pub(crate) fn unchanged(&self) -> io::Result<()> {
        self.file.as_ref().map_or(Ok(()), |file| file.disk.unchanged())
    }
}
