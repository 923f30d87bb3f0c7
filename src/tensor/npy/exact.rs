//! NumPy arrays with the types of their items kept, complex numbers and text included.

use std::sync::Arc;

use super::{HeaderFields, bits, encode, fields, split_text, unknown};
use crate::tensor::{DType, Data, NarrowFloat, SmallInt, Tensor, TensorError, dat, volume};

/// The types of items: code without byte order, and the type. Text has its length in characters after the code.
const ITEMS: &[(&str, DType)] = &[
    ("f2", DType::Narrow(NarrowFloat::Float16)),
    ("f4", DType::Float32),
    ("f8", DType::Float64),
    ("i1", DType::Small(SmallInt::Int8)),
    ("i2", DType::Small(SmallInt::Int16)),
    ("i4", DType::Int32),
    ("i8", DType::Int64),
    ("u1", DType::Small(SmallInt::Uint8)),
    ("u2", DType::Small(SmallInt::Uint16)),
    ("u4", DType::Uint32),
    ("u8", DType::Uint64),
    ("b1", DType::Bool),
    ("c8", DType::Complex64),
    ("c16", DType::Complex128),
];

/// The bytes of a character of text.
const CHARACTER: usize = 4;

/// The type of the items of a header, and their bytes.
fn item_type(header: &HeaderFields) -> Result<(DType, usize), TensorError> {
    let unknown = || unknown(header.descr);
    if let Some(length) = header.item.strip_prefix('U') {
        let length: usize = length.parse().map_err(|_| unknown())?;
        return Ok((DType::Text, length.checked_mul(CHARACTER).ok_or_else(unknown)?));
    }
    let (code, dtype) = ITEMS.iter().find(|(code, _)| *code == header.item).ok_or_else(unknown)?;
    Ok((*dtype, code[1..].parse().unwrap_or(1)))
}

/// The extents of a header, if as many bytes as given are that many items.
fn extents(header: &HeaderFields, width: usize, length: u64) -> Result<Vec<usize>, TensorError> {
    let extents: Option<Vec<usize>> = header.extents.iter().map(|&extent| usize::try_from(extent).ok()).collect();
    let extents = extents.filter(|extents| {
        let bytes = volume(extents).and_then(|count| count.checked_mul(width));
        bytes.is_some_and(|bytes| bytes as u64 == length)
    });
    let misfit = || TensorError::new(format!("items of {width} bytes do not fill {length} bytes of the array"));
    extents.ok_or_else(misfit)
}

/// Checks that a file has as many bytes as its header describes, as [`super::check_length`] does.
pub(in crate::tensor) fn check_length(head: &[u8], length: u64) -> Result<(), TensorError> {
    let (text, data) = split_text(head)?;
    let header = fields(&text)?;
    let before = head.len() - data.len();
    extents(&header, item_type(&header)?.1, length.saturating_sub(before as u64)).map(|_| ())
}

impl Tensor {
    /// Reads a `.npy` file without changing the types of its items, which may be complex numbers and text, too.
    ///
    /// # Errors
    ///
    /// Those of [`Tensor::from_npy`].
    pub fn from_typed_npy(bytes: &[u8]) -> Result<Tensor, TensorError> {
        read(bytes)
    }
}

/// Reads a file without changing the types of its items.
///
/// # Errors
///
/// The bytes are not a NumPy array, end too early, or have items of an unsupported type.
pub(crate) fn read(bytes: &[u8]) -> Result<Tensor, TensorError> {
    let (text, data) = split_text(bytes)?;
    let header = fields(&text)?;
    let (dtype, width) = item_type(&header)?;
    let extents = extents(&header, width, data.len() as u64)?;
    let items = items(dtype, data, width, header.order == ">", volume(&extents).unwrap_or(0))?;
    let tensor = Tensor::with(&extents, items)?;
    if header.layout == crate::tensor::Layout::row_major(extents.len()) {
        return Ok(tensor);
    }
    // The items are in the order of the reversed axes.
    let reversed: Vec<usize> = extents.iter().rev().copied().collect();
    let order: Vec<usize> = (0..extents.len()).rev().collect();
    Ok(tensor.reshaped(&reversed)?.transposed(&order))
}

fn items(dtype: DType, data: &[u8], width: usize, big_endian: bool, count: usize) -> Result<Data, TensorError> {
    let bits = |item: &[u8]| bits(item, big_endian);
    // Text without characters has no bytes.
    let chunks = data.chunks_exact(width.max(1));
    let number = |item: &[u8]| dat::float(bits(item), 8 * item.len() as u32);
    let pair = |item: &[u8]| {
        let (real, imaginary) = item.split_at(width / 2);
        [number(real), number(imaginary)]
    };
    Ok(match dtype {
        DType::Text if width == 0 => Data::Text(vec![Arc::from(""); count]),
        DType::Text => {
            let text = |item: &[u8]| -> Option<Arc<str>> {
                let characters = item.chunks_exact(CHARACTER).map(|item| bits(item) as u32);
                let text: Option<String> = characters.map(char::from_u32).collect();
                Some(text?.trim_end_matches('\0').into())
            };
            let all: Option<Vec<_>> = chunks.map(text).collect();
            Data::Text(all.ok_or_else(|| TensorError::new("text has a number that is not a character"))?)
        }
        DType::Complex64 => Data::Complex64(chunks.map(|item| pair(item).map(|part| part as f32)).collect()),
        DType::Complex128 => Data::Complex128(chunks.map(pair).collect()),
        DType::Uint64 => Data::Uint64(chunks.map(bits).collect()),
        DType::Bool => Data::Bool(chunks.map(|item| bits(item) != 0).collect()),
        _ if dtype.is_float() => Data::from_floats(dtype, chunks.map(number)),
        // Unsigned numbers wrap to their values.
        _ => Data::from_wide(dtype, chunks.map(|item| dat::signed(bits(item), 8 * width as u32).into())),
    })
}

/// The bytes of a file. Types that NumPy lacks are written in wider ones: floats in 32 bits, integers in 8.
pub(crate) fn write(tensor: &Tensor) -> Vec<u8> {
    let of_bytes = |items: &[i32]| items.iter().map(|&item| item as u8).collect();
    let of_pairs = |items: &[i32]| items.iter().flat_map(|&item| (item as u16).to_le_bytes()).collect();
    let all = tensor.data();
    let (descr, data) = match all {
        Data::Float32(_) => ("<f4", all.le_bytes()),
        Data::Float64(_) => ("<f8", all.le_bytes()),
        Data::Int32(_) => ("<i4", all.le_bytes()),
        Data::Int64(_) => ("<i8", all.le_bytes()),
        Data::Bool(_) => ("|b1", all.le_bytes()),
        Data::Uint32(_) => ("<u4", all.le_bytes()),
        Data::Uint64(_) => ("<u8", all.le_bytes()),
        Data::Narrow(format @ NarrowFloat::Float16, items) => {
            ("<f2", items.iter().flat_map(|&item| (format.encode(item) as u16).to_le_bytes()).collect())
        }
        Data::Narrow(..) => ("<f4", all.le_bytes()),
        Data::Small(integer, items) => match (integer.bits(), integer.is_signed()) {
            (16, true) => ("<i2", of_pairs(items)),
            (16, false) => ("<u2", of_pairs(items)),
            (_, true) => ("|i1", of_bytes(items)),
            (_, false) => ("|u1", of_bytes(items)),
        },
        Data::Complex64(_) => ("<c8", all.le_bytes()),
        Data::Complex128(_) => ("<c16", all.le_bytes()),
        Data::Text(items) => return text(tensor.shape(), items),
    };
    encode(descr, tensor.shape(), &data)
}

/// Text is padded to the longest item.
fn text(shape: &[usize], items: &[Arc<str>]) -> Vec<u8> {
    let length = items.iter().map(|item| item.chars().count()).max().unwrap_or(0).max(1);
    let characters = |item: &Arc<str>| {
        let padded: Vec<char> = item.chars().chain(std::iter::repeat('\0')).take(length).collect();
        padded.into_iter().flat_map(|character| u32::from(character).to_le_bytes())
    };
    let data: Vec<u8> = items.iter().flat_map(characters).collect();
    encode(&format!("<U{length}"), shape, &data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_types_come_back() {
        let text: Vec<Arc<str>> = vec!["a".into(), "ß \"".into()];
        for data in [
            Data::Float32(vec![0.1, f32::NEG_INFINITY]),
            Data::Float64(vec![0.1, 1e300]),
            Data::Narrow(NarrowFloat::Float16, vec![1.5, 65504.0]),
            Data::Small(SmallInt::Int8, vec![-128, 127]),
            Data::Small(SmallInt::Uint16, vec![0, 65535]),
            Data::Uint32(vec![u32::MAX, 1]),
            Data::Uint64(vec![u64::MAX, 3]),
            Data::Int64(vec![i64::MIN, 3]),
            Data::Bool(vec![true, false]),
            Data::Complex64(vec![[1.0, 2.0], [0.0, -1.0]]),
            Data::Complex128(vec![[1.0, 2.0], [0.0, -1.0]]),
            Data::Text(text),
        ] {
            let tensor = Tensor::new(&[2, 1], data).unwrap();
            let bytes = write(&tensor);
            assert_eq!(read(&bytes).unwrap(), tensor);
            assert!(read(&bytes[..bytes.len() - 1]).is_err());
        }
    }

    #[test]
    fn types_that_numpy_lacks_are_wider() {
        let tensor = |data| Tensor::new(&[1], data).unwrap();
        let wide = |data| read(&write(&tensor(data))).unwrap().dtype();
        assert_eq!(wide(Data::Narrow(NarrowFloat::BFloat16, vec![1.5])), DType::Float32);
        assert_eq!(wide(Data::Small(SmallInt::Int4, vec![-8])), DType::INT8);
        assert_eq!(wide(Data::Small(SmallInt::Uint2, vec![3])), DType::UINT8);
    }
}
