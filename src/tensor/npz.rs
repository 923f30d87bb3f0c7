//! Archives of NumPy arrays: `.npz` files, which are ZIP archives of `.npy` files.

use std::io::{Cursor, Read, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

#[cfg(target_family = "wasm")]
use super::no_zip as zip;
use super::{Tensor, TensorError, npy};

/// The maximum total size of the inflated members of an archive, in bytes.
pub(crate) const MAX_INFLATED: u64 = 4 << 30;

/// Whether bytes begin like a ZIP archive.
pub(crate) fn is_npz(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06")
}

impl Tensor {
    /// Reads a `.npz` archive: names and tensors in the order of the archive.
    ///
    /// # Errors
    ///
    /// The bytes are not an archive, a member is not a NumPy array, or the total size of the members is above
    /// 4 GiB.
    pub fn from_npz(bytes: &[u8]) -> Result<Vec<(String, Tensor)>, TensorError> {
        read(bytes)
    }

    /// The bytes of an uncompressed `.npz` archive of tensors, as `numpy.savez` writes it.
    ///
    /// # Errors
    ///
    /// Two tensors have the same name.
    pub fn to_npz<'a>(tensors: impl IntoIterator<Item = (&'a str, &'a Tensor)>) -> Result<Vec<u8>, TensorError> {
        write(tensors)
    }
}

fn read(bytes: &[u8]) -> Result<Vec<(String, Tensor)>, TensorError> {
    read_some(bytes, MAX_INFLATED, &mut |_| Ok(true))
}

/// Reads the wanted members of an archive; the others are not inflated. `limit` is the maximum total size of the
/// inflated members in bytes.
///
/// # Errors
///
/// Errors of `wanted` and of the archive.
pub(crate) fn read_some<E: From<TensorError>>(
    bytes: &[u8],
    limit: u64,
    wanted: &mut dyn FnMut(&str) -> Result<bool, E>,
) -> Result<Vec<(String, Tensor)>, E> {
    read_as(bytes, limit, wanted, npy::check_length, Tensor::from_npy)
}

/// Reads the wanted members of an archive without changing the types of their items, as [`read_some`].
pub(crate) fn read_exact<E: From<TensorError>>(
    bytes: &[u8],
    limit: u64,
    wanted: &mut dyn FnMut(&str) -> Result<bool, E>,
) -> Result<Vec<(String, Tensor)>, E> {
    read_as(bytes, limit, wanted, npy::exact::check_length, npy::exact::read)
}

/// Checks whether a file of a length begins with a header that describes it.
type CheckFile = fn(&[u8], u64) -> Result<(), TensorError>;

/// Reads a file.
type ReadFile = fn(&[u8]) -> Result<Tensor, TensorError>;

fn read_as<E: From<TensorError>>(
    bytes: &[u8],
    limit: u64,
    wanted: &mut dyn FnMut(&str) -> Result<bool, E>,
    check: CheckFile,
    read: ReadFile,
) -> Result<Vec<(String, Tensor)>, E> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| broken(&error))?;
    let mut tensors = Vec::new();
    let mut left = limit;
    for i in 0..archive.len() {
        let mut member = archive.by_index(i).map_err(|error| broken(&error))?;
        let name = member.name().map_err(|error| broken(&error))?;
        let name = name.strip_suffix(".npy").unwrap_or(&name).to_string();
        if !wanted(&name)? {
            continue;
        }
        let (size, mut content) = (member.size(), Vec::new());
        member.by_ref().take(npy::HEAD).read_to_end(&mut content).map_err(|error| broken(&error))?;
        // Checked before the member is inflated completely: a small archive can contain gigabytes of zeros.
        let misfit = |error| TensorError::new(format!("member `{name}`: {error}"));
        check(&content, size).map_err(misfit)?;
        if size > left {
            return Err(TensorError::new(format!("the arrays have more than {limit} bytes")).into());
        }
        // The size stated in the archive may be wrong, so memory is allocated as bytes are read.
        let rest = size.saturating_sub(content.len() as u64) + 1;
        member.take(rest).read_to_end(&mut content).map_err(|error| broken(&error))?;
        left = left.saturating_sub(content.len() as u64);
        let tensor = read(&content).map_err(misfit)?;
        tensors.push((name, tensor));
    }
    Ok(tensors)
}

fn broken(error: &dyn std::fmt::Display) -> TensorError {
    TensorError::new(format!("the archive cannot be read: {error}"))
}

fn write<'a>(tensors: impl IntoIterator<Item = (&'a str, &'a Tensor)>) -> Result<Vec<u8>, TensorError> {
    write_as(tensors, npy::write)
}

/// The bytes of an uncompressed archive of tensors whose files a function makes.
///
/// # Errors
///
/// Two tensors have the same name.
pub(crate) fn write_as<'a>(
    tensors: impl IntoIterator<Item = (&'a str, &'a Tensor)>,
    file: fn(&Tensor) -> Vec<u8>,
) -> Result<Vec<u8>, TensorError> {
    let fail = |error: &dyn std::fmt::Display| TensorError::new(format!("the archive cannot be written: {error}"));
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    // A fixed time, so that the output depends only on the tensors.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(zip::DateTime::default())
        .large_file(true);
    for (name, tensor) in tensors {
        writer.start_file(format!("{name}.npy"), options).map_err(|error| fail(&error))?;
        writer.write_all(&file(tensor)).map_err(|error| fail(&error))?;
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
        // NumPy reads members with this ending as arrays.
        assert!([b"a.npy", b"b.npy"].iter().all(|name| bytes.windows(name.len()).any(|part| part == *name)));
        assert_eq!(bytes, write([("a", &a), ("b", &b)]).unwrap());
        assert_eq!(read(&bytes).unwrap(), [("a".to_string(), a), ("b".to_string(), b)]);
    }

    /// A member that is longer than its header states is not inflated.
    #[test]
    fn a_member_that_is_longer_than_its_array_is_refused() {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        writer.start_file("x.npy", options).unwrap();
        writer.write_all(&npy::write(&Tensor::number(1.0))).unwrap();
        (0..64).for_each(|_| writer.write_all(&[0; 1 << 20]).unwrap());
        let bytes = writer.finish().unwrap().into_inner();
        assert!(bytes.len() < 1 << 20);
        let message = read(&bytes).unwrap_err().0;
        assert!(message.starts_with("member `x`: f32[] does not fit"), "{message}");
    }

    #[test]
    fn unused_members_are_not_inflated() {
        let [a, b] = [1.0, 2.0].map(Tensor::number);
        let bytes = write([("a", &a), ("b", &b)]).unwrap();
        // The checksum of a member is compared when it is inflated.
        let at = bytes.windows(4).position(|item| item == 1.0f32.to_le_bytes()).unwrap();
        let mut broken = bytes.clone();
        broken[at] ^= 1;
        let only = |name: &'static str| read_some(&broken, 1 << 10, &mut |member| Ok::<_, TensorError>(member == name));
        assert!(only("a").is_err());
        assert_eq!(only("b").unwrap(), [("b".to_string(), b)]);
        let message = read_some(&bytes, 200, &mut |_| Ok::<_, TensorError>(true)).unwrap_err().0;
        assert_eq!(message, "the arrays have more than 200 bytes");
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
