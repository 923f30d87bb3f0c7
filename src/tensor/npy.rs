//! NumPy arrays: `.npy` files, and the members of `.npz` archives.
//!
//! The format is a magic number, a version, the length of the header, the header, which is a Python dictionary, and the
//! items. Numbers and truth values are supported, in both byte orders and both axis orders; complex numbers, strings
//! and objects are not.

pub(crate) mod exact;

use super::{ArrayShape, Buffer, Data, Element, ElementType, Layout, Tensor, TensorError, dat, volume};

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// The maximum length of a header in bytes.
const MAX_HEADER: usize = 1 << 16;

/// Whether bytes begin with the magic number of `.npy` files.
pub(crate) fn is_npy(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// The item types in headers, without byte order, and the names of their element types.
const ITEMS: &[(&str, &str)] = &[
    ("f2", "f16"),
    ("f4", "f32"),
    ("f8", "f64"),
    ("i1", "s8"),
    ("i2", "s16"),
    ("i4", "s32"),
    ("i8", "s64"),
    ("u1", "u8"),
    ("u2", "u16"),
    ("u4", "u32"),
    ("u8", "u64"),
    ("b1", "pred"),
];

/// The contents of a header.
#[derive(Debug, PartialEq, Eq)]
struct NpyHeader {
    kind: u8,
    big_endian: bool,
    /// The shape and layout of the items after the header, row-major or column-major.
    array: ArrayShape,
}

fn fail<T>(message: impl Into<String>) -> Result<T, TensorError> {
    Err(TensorError::new(message))
}

impl Tensor {
    /// Reads a `.npy` file.
    ///
    /// # Errors
    ///
    /// The bytes are not a NumPy array, end too early, or have items of an unsupported type.
    pub fn from_npy(bytes: &[u8]) -> Result<Tensor, TensorError> {
        Buffer::from_npy(bytes).map(Buffer::into_tensor)
    }

    /// The bytes of a `.npy` file: scalars as float32, integers as int64, logicals as bool.
    pub fn to_npy(&self) -> Vec<u8> {
        write(self)
    }
}

impl Buffer {
    /// Reads a `.npy` file without rearranging: an array in Fortran order has the layout [`Layout::column_major`].
    ///
    /// # Errors
    ///
    /// Those of [`Tensor::from_npy`].
    pub fn from_npy(bytes: &[u8]) -> Result<Buffer, TensorError> {
        let (header, data) = split(bytes)?;
        // The length is checked before anything is allocated.
        header.check_data(data.len() as u64)?;
        let items = data.chunks_exact(header.width());
        match header.kind {
            b'f' => header.buffer::<f64>(items.map(|item| header.float(item)).collect()),
            b'b' => header.buffer::<bool>(items.map(|item| item[0] != 0).collect()),
            _ => header.buffer::<i64>(items.map(|item| header.integer(item)).collect::<Result<_, _>>()?),
        }
    }
}

/// The number of bytes at the start of a file that contain its whole header.
pub(super) const HEAD: u64 = MAX_HEADER as u64 + 12;

/// Checks that a file has as many bytes as its header describes. `head` is the first [`HEAD`] bytes of the file, or the
/// whole file if it is shorter.
pub(super) fn check_length(head: &[u8], length: u64) -> Result<(), TensorError> {
    let (header, data) = split(head)?;
    let before = head.len() - data.len();
    header.check_data(length.saturating_sub(before as u64))
}

/// The fields of a header.
pub(super) struct HeaderFields<'h> {
    /// The type of the items, as it is written.
    pub(super) descr: &'h str,
    /// The byte order, a character of it.
    pub(super) order: &'h str,
    /// The type of the items after that.
    pub(super) item: &'h str,
    /// The order of the axes.
    pub(super) layout: Layout,
    pub(super) extents: Vec<u64>,
}

/// The bits of an item in a byte order.
pub(super) fn bits(item: &[u8], big_endian: bool) -> u64 {
    let byte = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
    if big_endian { item.iter().fold(0, byte) } else { item.iter().rev().fold(0, byte) }
}

/// The error of items of a type that is not read.
pub(super) fn unknown(descr: &str) -> TensorError {
    TensorError::new(format!("items of type {descr} are neither numbers nor truth values"))
}

/// Parses the text of a header.
pub(super) fn fields(text: &str) -> Result<HeaderFields<'_>, TensorError> {
    let value = |key: &str| {
        let (_, rest) = text.split_once(&format!("'{key}':"))?;
        Some(rest.trim_start())
    };
    let (Some(descr), Some(fortran), Some(shape)) = (value("descr"), value("fortran_order"), value("shape")) else {
        return fail("the header of the numpy array lacks descr, fortran_order or shape");
    };
    let descr = descr.strip_prefix('\'').and_then(|rest| rest.split('\'').next()).unwrap_or(descr);
    let (order, item) = match descr.split_at_checked(1) {
        Some((order @ ("<" | ">" | "|" | "="), item)) => (order, item),
        _ => return Err(unknown(descr)),
    };
    let extents = shape.strip_prefix('(').and_then(|rest| rest.split(')').next());
    let extent = |text: &str| text.trim().trim_end_matches('L').parse::<u64>().ok();
    let parts = extents.into_iter().flat_map(|extents| extents.split(',')).filter(|part| !part.trim().is_empty());
    let Some(extents) = extents.and_then(|_| parts.map(extent).collect::<Option<Vec<_>>>()) else {
        return fail("the header of the numpy array has no valid shape");
    };
    let layout = match (fortran.starts_with("True"), fortran.starts_with("False")) {
        (true, _) => Layout::column_major,
        (_, true) => Layout::row_major,
        _ => return fail("fortran_order in the header of the numpy array is neither True nor False"),
    };
    Ok(HeaderFields { descr, order, item, layout: layout(extents.len()), extents })
}

/// The header of a file and the bytes after it.
fn split(bytes: &[u8]) -> Result<(NpyHeader, &[u8]), TensorError> {
    let (text, data) = split_text(bytes)?;
    Ok((NpyHeader::parse(&text)?, data))
}

/// The text of the header of a file and the bytes after it.
pub(super) fn split_text(bytes: &[u8]) -> Result<(std::borrow::Cow<'_, str>, &[u8]), TensorError> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else { return fail("the bytes are not an array of numpy") };
    let (length, rest) = match rest {
        [1, _, a, b, rest @ ..] => (usize::from(u16::from_le_bytes([*a, *b])), rest),
        [2 | 3, _, a, b, c, d, rest @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
        [version @ (0 | 4..), ..] => return fail(format!("version {version} of numpy's format is not known")),
        _ => return fail("the array of numpy ends within its header"),
    };
    if length > MAX_HEADER || length > rest.len() {
        return fail("the array of numpy ends within its header");
    }
    let (text, data) = rest.split_at(length);
    Ok((String::from_utf8_lossy(text), data))
}

impl NpyHeader {
    fn parse(text: &str) -> Result<Self, TensorError> {
        let HeaderFields { descr, order, item, layout, extents } = fields(text)?;
        let known = ITEMS.iter().find(|(code, _)| *code == item);
        let element = known.and_then(|(_, name)| ElementType::from_name(name)).ok_or_else(|| unknown(descr))?;
        let array = ArrayShape::new(element, &extents).with_layout(layout)?;
        Ok(NpyHeader { kind: item.as_bytes()[0], big_endian: order == ">", array })
    }

    /// The number of bytes of an item.
    fn width(&self) -> usize {
        self.array.element().bits() as usize / 8
    }

    /// The extents; none if one does not fit into a `usize`.
    fn extents(&self) -> Option<Vec<usize>> {
        self.array.sizes().ok()?.into_iter().map(|size| usize::try_from(size).ok()).collect()
    }

    /// Checks that the number of bytes of data is that of the items.
    fn check_data(&self, length: u64) -> Result<(), TensorError> {
        let fits = self.extents().is_some_and(|extents| volume(&extents).is_some());
        if fits && self.array.element_bytes() == Ok(length) {
            return Ok(());
        }
        fail(format!("{} does not fit the {length} bytes of the array", self.array))
    }

    /// The items in the order of the file.
    fn buffer<T: Element>(&self, items: Vec<T>) -> Result<Buffer, TensorError> {
        let data = T::pack(items);
        Buffer::new(self.array.clone().with_element(ElementType::from(data.dtype())), data)
    }

    fn float(&self, item: &[u8]) -> f64 {
        dat::float(bits(item, self.big_endian), 8 * self.width() as u32)
    }

    fn integer(&self, item: &[u8]) -> Result<i64, TensorError> {
        let bits = bits(item, self.big_endian);
        if self.kind == b'u' {
            return i64::try_from(bits).map_err(|_| TensorError::new(format!("{bits} is too large")));
        }
        Ok(dat::signed(bits, 8 * self.width() as u32))
    }
}

/// The bytes of a file: scalars in 32 bits, integers in 64, logicals in 8.
pub(crate) fn write(tensor: &Tensor) -> Vec<u8> {
    let data = tensor.data().stored();
    let descr = match tensor.data() {
        Data::Float32(_) | Data::Float64(_) => "<f4",
        Data::Int32(_) | Data::Int64(_) => "<i8",
        Data::Bool(_) => "|b1",
        // Numbers that are neither of NNEF nor of networks have files of their own, see `exact`.
        _ => return exact::write(tensor),
    };
    encode(descr, tensor.shape(), &data)
}

/// The bytes of a file with these items.
pub(super) fn encode(descr: &str, shape: &[usize], data: &[u8]) -> Vec<u8> {
    let extents: String = shape.iter().map(|extent| format!("{extent}, ")).collect();
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}), }}", extents.trim_end());
    // The items begin at a multiple of 64 bytes.
    let length = (10 + header.len() + 1).next_multiple_of(64) - 10;
    header.extend(std::iter::repeat_n(' ', length - header.len() - 1));
    header.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn what_is_written_reads_back() {
        for tensor in [
            Tensor::scalars(&[2, 3], vec![0.0, -1.5, 3.0, f64::INFINITY, 0.25, 7.0]).unwrap(),
            Tensor::integers(&[3], vec![i64::MIN, 0, i64::MAX]).unwrap(),
            Tensor::logicals(&[], vec![true]).unwrap(),
            Tensor::scalars(&[0, 3], vec![]).unwrap(),
        ] {
            let bytes = write(&tensor);
            assert_eq!(Tensor::from_npy(&bytes).unwrap(), tensor);
            for length in 0..bytes.len() {
                assert!(Tensor::from_npy(&bytes[..length]).is_err(), "{length} bytes");
            }
        }
    }

    #[test]
    fn byte_order_and_order_of_axes_are_heeded() {
        let header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 2), }";
        let found = Buffer::from_npy(&file(header, &[0, 1, 0, 2, 0, 3, 0xFF, 0xFF])).unwrap();
        assert_eq!(
            (found.shape().to_string().as_str(), found.data()),
            ("s64[2,2]{0,1}", &Data::Int64(vec![1, 2, 3, -1]))
        );
        assert_eq!(found.into_tensor(), Tensor::integers(&[2, 2], vec![1, 3, 2, -1]).unwrap());
        let found =
            Tensor::from_npy(&file("{'descr': '<f2', 'fortran_order': False, 'shape': (1,)}", &[0x00, 0xBC])).unwrap();
        assert_eq!(found, Tensor::scalars(&[1], vec![-1.0]).unwrap());
        let found = Tensor::from_npy(&file("{'descr': '|u1', 'fortran_order': False, 'shape': ()}", &[200])).unwrap();
        assert_eq!(found, Tensor::integers(&[], vec![200]).unwrap());
    }

    #[test]
    fn wrong_headers_are_refused() {
        for header in [
            "",
            "{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}",
            "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999, 9999999999, 9999999999)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 9999999999, 9999999999, 9999999999)}",
            "{'descr': '<f0', 'fortran_order': False, 'shape': (1,)}",
            "{'descr': '<f8', 'fortran_order': 1, 'shape': (1,)}",
        ] {
            assert!(Tensor::from_npy(&file(header, &[0; 8])).is_err(), "{header}");
        }
        let right = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}";
        assert!(Tensor::from_npy(&file(right, &[0; 8])).is_ok());
    }
}
