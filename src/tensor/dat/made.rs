//! Tensor files that are made while they are read: their items are elsewhere.

use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;

use super::header::{HEADER_LENGTH, Header};
use crate::tensor::{DType, Tensor, TensorError};

/// The items of a tensor file, wherever they are.
pub(crate) trait ItemSource: fmt::Debug + Send + Sync {
    /// Fills a buffer with the bytes of whole items of the file, from the item at a place on.
    ///
    /// # Errors
    ///
    /// They cannot be read.
    fn fill(&self, first: usize, bytes: &mut [u8]) -> io::Result<()>;
}

impl ItemSource for Tensor {
    fn fill(&self, first: usize, bytes: &mut [u8]) -> io::Result<()> {
        self.data().fill_stored(first, bytes);
        Ok(())
    }
}

/// A tensor file with its header and the source of its items. Copies share the source.
#[derive(Clone, Debug)]
pub(crate) struct MadeFile {
    header: [u8; HEADER_LENGTH],
    /// The bytes of an item.
    item: usize,
    /// The bytes of all items.
    length: u64,
    items: Arc<dyn ItemSource>,
}

impl MadeFile {
    /// The file of a tensor of a type and a shape with items from a source.
    ///
    /// # Errors
    ///
    /// Files have no such items or shapes.
    pub(crate) fn new(dtype: DType, shape: &[usize], items: Arc<dyn ItemSource>) -> Result<Self, TensorError> {
        let header = Header::of(dtype, shape)?;
        let (item, length) = (header.bits as usize / 8, u64::from(header.data_length));
        Ok(MadeFile { header: header.write(), item, length, items })
    }

    /// The number of bytes.
    pub(crate) fn size(&self) -> u64 {
        HEADER_LENGTH as u64 + self.length
    }

    /// The bytes of the header.
    pub(crate) fn head(&self) -> &[u8; HEADER_LENGTH] {
        &self.header
    }

    /// The bytes from the start on.
    pub(crate) fn open(&self) -> MadeReader<'_> {
        MadeReader { file: self, at: 0 }
    }
}

/// Reads a file from its start.
pub(crate) struct MadeReader<'f> {
    file: &'f MadeFile,
    at: u64,
}

impl Read for MadeReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let MadeFile { header, item, length, items } = self.file;
        let count = match self.at.checked_sub(HEADER_LENGTH as u64) {
            None => (&header[self.at as usize..]).read(buffer)?,
            Some(done) => {
                let room = usize::try_from(length - done).unwrap_or(usize::MAX).min(buffer.len());
                let (first, within) = ((done / *item as u64) as usize, (done % *item as u64) as usize);
                let whole = room - room % item;
                if within == 0 && whole > 0 {
                    items.fill(first, &mut buffer[..whole])?;
                    whole
                } else if room > 0 {
                    let mut single = [0; size_of::<u64>()];
                    items.fill(first, &mut single[..*item])?;
                    (&single[within..*item]).read(&mut buffer[..room])?
                } else {
                    0
                }
            }
        };
        self.at += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Data;

    /// Reads with buffers of a length.
    fn read(file: &MadeFile, len: usize) -> Vec<u8> {
        let (mut all, mut buffer, mut reader) = (Vec::new(), vec![0; len], file.open());
        loop {
            match reader.read(&mut buffer).unwrap() {
                0 => return all,
                count => all.extend(&buffer[..count]),
            }
        }
    }

    #[test]
    fn made_files_are_those_of_tensors() {
        let values = [
            Data::Float32(vec![0.1, f32::NAN, -0.0, 4.0, 1e-40]),
            Data::Float64(vec![0.1, 1e300, -2.0, 0.5, 7.0]),
            Data::Int64(vec![i64::MIN, 0, 1, -1, i64::MAX]),
            Data::Int32(vec![i32::MIN, 0, 1, -1, i32::MAX]),
            Data::Bool(vec![true, false, false, true, true]),
        ];
        for data in values {
            let tensor = Tensor::new(&[5, 1], data).unwrap();
            let made = MadeFile::new(tensor.dtype(), tensor.shape(), Arc::new(tensor.clone())).unwrap();
            let wanted = tensor.to_dat().unwrap();
            assert_eq!((made.size(), &made.head()[..]), (wanted.len() as u64, &wanted[..HEADER_LENGTH]));
            for len in [1, 3, 7, 8, 13, 128, 200, 1000] {
                assert_eq!(read(&made, len), wanted, "{} by {len}", tensor.dtype());
            }
        }
    }
}
