//! Archives of numpy arrays: `.npz` files, which are ZIP archives of `.npy` files.

use std::io::{Cursor, Read, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::{Tensor, TensorError, npy};

/// The most bytes that the members of an archive may have in all once they are inflated.
pub(crate) const MAX_INFLATED: u64 = 4 << 30;

/// Whether bytes begin like an archive.
pub(crate) fn is_npz(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06")
}

impl Tensor {
    /// Reads a `.npz` archive: names and tensors in the order of the archive.
    ///
    /// # Errors
    ///
    /// The bytes are not an archive, a member is not an array of numpy, or the members are larger than
    /// 4 GiB in all.
    pub fn from_npz(bytes: &[u8]) -> Result<Vec<(String, Tensor)>, TensorError> {
        read(bytes)
    }

    /// The bytes of a `.npz` archive of tensors, not compressed, as `numpy.savez` writes it.
    ///
    /// # Errors
    ///
    /// Two tensors have the same name.
    pub fn to_npz<'a>(tensors: impl IntoIterator<Item = (&'a str, &'a Tensor)>) -> Result<Vec<u8>, TensorError> {
        write(tensors)
    }
}

fn read(bytes: &[u8]) -> Result<Vec<(String, Tensor)>, TensorError> {
    let broken = |error: &dyn std::fmt::Display| TensorError::new(format!("the archive cannot be read: {error}"));
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| broken(&error))?;
    let mut tensors = Vec::new();
    let mut left = MAX_INFLATED;
    for i in 0..archive.len() {
        let member = archive.by_index(i).map_err(|error| broken(&error))?;
        let name = member.name().map_err(|error| broken(&error))?.trim_end_matches(".npy").to_string();
        let mut content = Vec::new();
        // The size that the archive states may be wrong, so memory is allocated as bytes are read.
        member.take(left + 1).read_to_end(&mut content).map_err(|error| broken(&error))?;
        let Some(rest) = left.checked_sub(content.len() as u64) else {
            return Err(TensorError::new(format!("the archive holds more than {} GiB", MAX_INFLATED >> 30)));
        };
        left = rest;
        let tensor = npy::read(&content).map_err(|error| TensorError::new(format!("member `{name}`: {error}")))?;
        tensors.push((name, tensor));
    }
    Ok(tensors)
}

fn write<'a>(tensors: impl IntoIterator<Item = (&'a str, &'a Tensor)>) -> Result<Vec<u8>, TensorError> {
    let fail = |error: &dyn std::fmt::Display| TensorError::new(format!("the archive cannot be written: {error}"));
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    // A fixed time, so that the same tensors give the same bytes.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(zip::DateTime::default())
        .large_file(true);
    for (name, tensor) in tensors {
        writer.start_file(format!("{name}.npy"), options).map_err(|error| fail(&error))?;
        writer.write_all(&npy::write(tensor)).map_err(|error| fail(&error))?;
    }
    Ok(writer.finish().map_err(|error| fail(&error))?.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let a = Tensor::scalars(&[2, 2], vec![1.0, 2.0, 3.0, 4.5]).unwrap();
        let b = Tensor::logicals(&[1], vec![true]).unwrap();
        let bytes = write([("a", &a), ("b", &b)]).unwrap();
        assert!(is_npz(&bytes));
        assert_eq!(bytes, write([("a", &a), ("b", &b)]).unwrap());
        assert_eq!(read(&bytes).unwrap(), [("a".to_string(), a), ("b".to_string(), b)]);
    }

    #[test]
    fn wrong_archives_are_refused() {
        let bytes = write([("a", &Tensor::number(1.0))]).unwrap();
        for length in 0..bytes.len() {
            assert!(read(&bytes[..length]).is_err(), "{length} bytes");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0xFF;
            let _ = read(&changed);
        }
    }
}
