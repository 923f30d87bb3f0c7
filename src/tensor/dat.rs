//! Tensor files of NNEF: `<label>.dat` (5.2 of the 1.0.5 text).
//!
//! A header of 128 bytes is followed by the items as a stream of bits, all little-endian. [`Header::parse`] reads the
//! header, [`decode`] the bytes after it.

mod blocks;
mod header;
mod made;

use std::io::Read;

use super::{DType, Tensor, TensorError, volume};
pub(crate) use blocks::{BLOCK, CodedBlocks};
pub(crate) use header::{HEADER_LENGTH, Header, ItemType};
pub(crate) use made::{ItemSource, MadeFile};

fn fail<T>(message: impl Into<String>) -> Result<T, TensorError> {
    Err(TensorError::new(message))
}

impl Tensor {
    /// Reads a tensor file of NNEF (`.dat`).
    ///
    /// # Errors
    ///
    /// The file is too short or too long, its header is not valid, or its items cannot be read.
    pub fn from_dat(bytes: &[u8]) -> Result<Tensor, TensorError> {
        read_from(&mut &*bytes, bytes.len() as u64, (None, None))
    }

    /// The bytes of a tensor file of NNEF (`.dat`): scalars have 32 bits, integers 64, logicals 8.
    ///
    /// # Errors
    ///
    /// The rank is above 8, or the number of items does not fit into the header.
    pub fn to_dat(&self) -> Result<Vec<u8>, TensorError> {
        let mut bytes = Header::of(self.dtype(), self.shape())?.write().to_vec();
        bytes.extend(self.data().stored());
        Ok(bytes)
    }
}

/// Decodes the bytes after a header to a tensor.
///
/// Items of floating-point and quantized types become scalars, others integers or logicals. Quantized items need
/// the deprecated parameters `min` and `max` of the header.
///
/// # Errors
///
/// The number of bytes differs from that in the header, an integer does not fit into 64 bits with sign, or quantized
/// items have no parameters.
pub(crate) fn decode(header: &Header, data: &[u8]) -> Result<Tensor, TensorError> {
    // The header has been checked, so this also limits the memory that is allocated below.
    if data.len() as u64 != u64::from(header.data_length) {
        return fail(format!("the header says {} bytes of items, the file has {}", header.data_length, data.len()));
    }
    let shape = header.shape();
    let Some(count) = volume(&shape) else { return fail(format!("shape {shape:?} is too large")) };
    let raw = (0..count).map(|i| item_bits(data, i, header.bits));
    match header.item_type {
        // Nearly all weights, which are read without looking for bits.
        ItemType::Float if header.bits == 32 => {
            let items = data.as_chunks::<4>().0.iter().take(count);
            Tensor::scalars(&shape, items.map(|bytes| f64::from(f32::from_le_bytes(*bytes))).collect())
        }
        ItemType::Float => Tensor::scalars(&shape, raw.map(|bits| float(bits, header.bits)).collect()),
        ItemType::Bool => Tensor::logicals(&shape, raw.map(|bits| bits != 0).collect()),
        ItemType::Signed => Tensor::integers(&shape, raw.map(|bits| signed(bits, header.bits)).collect()),
        ItemType::Unsigned if u32::from_le_bytes(header.parameter(0)) != 0 => {
            Tensor::integers(&shape, raw.map(|bits| signed(bits, header.bits)).collect())
        }
        ItemType::Unsigned => {
            let fits = |bits: u64| i64::try_from(bits).map_err(|_| TensorError::new(format!("{bits} is too large")));
            Tensor::integers(&shape, raw.map(fits).collect::<Result<_, _>>()?)
        }
        ItemType::QuantizedUnsigned => Tensor::scalars(&shape, dequantize(header, raw)?),
        ItemType::QuantizedSigned => fail("the items are quantized codes, whose values only graph.quant defines"),
        ItemType::Vendor { vendor, code } => match header.block() {
            Some(packing) => Tensor::scalars(&shape, CodedBlocks::read(packing, data).items()),
            None => fail(format!("item type {code} of vendor {vendor} is not known")),
        },
    }
}

/// What a file is read for: the type of the elements and the shape, if they are known.
pub(crate) type Wanted<'s> = (Option<DType>, Option<&'s [usize]>);

/// Reads a file of a known length, whatever length its header states. If integers are wanted, the codes of quantized
/// items are read as integers: tract writes integers in this way. tract stores blocks as a matrix, which gets the shape
/// that is wanted if it has as many items.
///
/// # Errors
///
/// Those of [`Tensor::from_dat`], and a failure to read.
pub(crate) fn read_from(file: &mut dyn Read, length: u64, wanted: Wanted) -> Result<Tensor, TensorError> {
    let (header, data) = parts_from(file, length, wanted)?;
    decode(&header, &data)
}

/// The elements of a tensor file in the form of other files: scalars have 32 bits, integers 64, logicals 8,
/// little-endian.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Raw {
    /// The extents.
    pub(crate) shape: Vec<usize>,
    /// The type of the elements.
    pub(crate) dtype: DType,
    /// The elements.
    pub(crate) bytes: Vec<u8>,
}

/// Reads the elements of a file; they are not decoded if the file has them in this form already.
///
/// # Errors
///
/// Those of [`read_from`].
pub(crate) fn raw_from(file: &mut dyn Read, length: u64, wanted: Wanted) -> Result<Raw, TensorError> {
    let (header, data) = parts_from(file, length, wanted)?;
    let (of, _) = wanted;
    let dtype = match (header.item_type, header.bits) {
        (ItemType::Float, 32) => Some(DType::Float32),
        (ItemType::Signed, 64) => Some(DType::Int64),
        _ => None,
    };
    let same = of.zip(dtype).is_none_or(|(of, dtype)| of.keyword() == dtype.keyword());
    if let Some(dtype) = dtype.filter(|_| same && header.needed() == Some(data.len() as u64)) {
        return Ok(Raw { shape: header.shape(), dtype, bytes: data });
    }
    let tensor = decode(&header, &data)?;
    let tensor = match of {
        Some(of) => tensor.into_type(of)?,
        None => tensor,
    };
    Ok(Raw { shape: tensor.shape().to_vec(), dtype: tensor.dtype(), bytes: tensor.data().stored() })
}

/// The blocks of a file; none if its items are not packed in blocks, or are not as many as wanted.
///
/// # Errors
///
/// Those of [`read_from`].
pub(crate) fn blocks_from(
    file: &mut dyn Read,
    length: u64,
    shape: &[usize],
) -> Result<Option<CodedBlocks>, TensorError> {
    let header = header_from(file, length)?;
    let Some(packing) = header.block().filter(|_| volume(shape) == volume(&header.shape())) else { return Ok(None) };
    let data = data_from(&header, file, length)?;
    // Checks the length.
    if header.needed() != Some(data.len() as u64) {
        return fail(format!("the header says {} bytes of items, the file has {}", header.data_length, data.len()));
    }
    Ok(Some(CodedBlocks::read(packing, &data)))
}

/// How many bytes of a file are read at once.
const PIECE: usize = 1 << 20;

/// Gives the items of a file of 32-bit floats to a function, in pieces. Returns whether it is one.
///
/// # Errors
///
/// The file cannot be read, or does not have data of this shape.
pub(crate) fn pieces_from(
    file: &mut dyn Read,
    length: u64,
    shape: &[usize],
    take: &mut dyn FnMut(&[u8]),
) -> Result<bool, TensorError> {
    let header = header_from(file, length)?;
    let bytes = length - HEADER_LENGTH as u64;
    let is_plain = header.item_type == ItemType::Float && header.bits == 32;
    if !is_plain || header.shape() != shape || header.needed() != Some(bytes) {
        return Ok(false);
    }
    let mut piece = vec![0; PIECE.min(usize::try_from(bytes).unwrap_or(PIECE))];
    let mut rest = bytes;
    while rest > 0 {
        let count = PIECE.min(usize::try_from(rest).unwrap_or(PIECE));
        let piece = &mut piece[..count];
        file.read_exact(piece).map_err(|error| TensorError::new(error.to_string()))?;
        take(piece);
        rest -= count as u64;
    }
    Ok(true)
}

/// The header of a file and the bytes after it.
fn parts_from(file: &mut dyn Read, length: u64, (of, shape): Wanted) -> Result<(Header, Vec<u8>), TensorError> {
    let mut header = header_from(file, length)?;
    let plain = of == Some(DType::Int64) && header.parameters == [0; 32];
    header.item_type = match header.item_type {
        ItemType::QuantizedUnsigned if plain => ItemType::Unsigned,
        ItemType::QuantizedSigned if plain => ItemType::Signed,
        other => other,
    };
    if let Some(shape) = shape.filter(|shape| header.block().is_some() && volume(shape) == volume(&header.shape())) {
        header.extents = shape.iter().map(|extent| u32::try_from(*extent).unwrap_or(u32::MAX)).collect();
    }
    let data = data_from(&header, file, length)?;
    Ok((header, data))
}

/// The header of a file.
fn header_from(file: &mut dyn Read, length: u64) -> Result<Header, TensorError> {
    let io = |error: std::io::Error| TensorError::new(error.to_string());
    if length < HEADER_LENGTH as u64 {
        return fail(format!("the file has {length} bytes, the header alone has {HEADER_LENGTH}"));
    }
    let mut bytes = [0; HEADER_LENGTH];
    file.read_exact(&mut bytes).map_err(io)?;
    Header::parse(&bytes)
}

/// The bytes after a header.
fn data_from(header: &Header, file: &mut dyn Read, length: u64) -> Result<Vec<u8>, TensorError> {
    let io = |error: std::io::Error| TensorError::new(error.to_string());
    // One more byte than needed, to detect a file that is too long.
    let room = u64::from(header.data_length).min(length) + 1;
    let mut data = Vec::with_capacity(usize::try_from(room).unwrap_or(0));
    file.take(u64::from(header.data_length) + 1).read_to_end(&mut data).map_err(io)?;
    Ok(data)
}

/// Decodes linear quantization with the deprecated parameters.
fn dequantize(header: &Header, raw: impl Iterator<Item = u64>) -> Result<Vec<f64>, TensorError> {
    let [min, max] = [0, 1].map(|i| f64::from(f32::from_le_bytes(header.parameter(i))));
    let range = max - min;
    if !(range > 0.0 && range.is_finite()) {
        return fail("the items are quantized codes, and the header has no range for them: see graph.quant");
    }
    let levels = (u64::MAX >> (64 - header.bits)) as f64;
    Ok(raw.map(|code| code as f64 / levels * range + min).collect())
}

/// The bits of the `i`th item. The length of the bytes has been checked.
fn item_bits(data: &[u8], i: usize, bits: u32) -> u64 {
    let bits = bits as usize;
    let first = i * bits;
    if first.is_multiple_of(8) && bits.is_multiple_of(8) {
        let mut bytes = [0; 8];
        bytes[..bits / 8].copy_from_slice(&data[first / 8..(first + bits) / 8]);
        return u64::from_le_bytes(bytes);
    }
    // The stream begins with the highest bit of the first byte, as in numpy's `packbits`.
    let bit = |at: usize| u64::from(data[at / 8] >> (7 - at % 8) & 1);
    (0..bits).fold(0, |value, k| value << 1 | bit(first + k))
}

/// The value of a signed integer of some bits.
pub(super) fn signed(bits: u64, width: u32) -> i64 {
    let unused = 64 - width;
    ((bits << unused) as i64) >> unused
}

/// The value of a floating point number of 16, 32 or 64 bits.
pub(super) fn float(bits: u64, width: u32) -> f64 {
    match width {
        16 => half(bits as u16),
        32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

/// The value of a 16-bit floating point number.
pub(crate) fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1F), f64::from(bits & 0x3FF));
    match exponent {
        0 => sign * fraction * 2f64.powi(-24),
        0x1F if fraction == 0.0 => sign * f64::INFINITY,
        0x1F => f64::NAN,
        _ => sign * (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::header::{NO_BITS, TRACT};
    use super::*;

    fn file(item_type: ItemType, bits: u32, extents: &[u32], data: &[u8]) -> Vec<u8> {
        let header = Header {
            version: (1, 0),
            data_length: data.len() as u32,
            extents: extents.to_vec(),
            bits,
            item_type,
            parameters: [0; 32],
        };
        let mut bytes = header.write().to_vec();
        bytes.extend(data);
        bytes
    }

    #[test]
    fn what_is_written_reads_back() {
        for tensor in [
            Tensor::scalars(&[2, 3], vec![0.0, -1.5, 1e10f32 as f64, f64::INFINITY, 0.25, 7.0]).unwrap(),
            Tensor::integers(&[3], vec![i64::MIN, 0, i64::MAX]).unwrap(),
            Tensor::logicals(&[], vec![true]).unwrap(),
        ] {
            assert_eq!(Tensor::from_dat(&tensor.to_dat().unwrap()).unwrap(), tensor);
        }
    }

    #[test]
    fn items_of_every_type_are_read() {
        let scalars = |bytes: &[u8]| Tensor::from_dat(bytes).unwrap().to_scalars();
        assert_eq!(
            scalars(&file(ItemType::Float, 16, &[3], &[0x00, 0x3C, 0x00, 0xC0, 0x01, 0x00])),
            [1.0, -2.0, 2f64.powi(-24)]
        );
        assert_eq!(scalars(&file(ItemType::Float, 64, &[], &0.1f64.to_le_bytes())), [0.1]);
        assert_eq!(scalars(&file(ItemType::Signed, 4, &[3], &[0x1F, 0x70])), [1.0, -1.0, 7.0]);
        assert_eq!(scalars(&file(ItemType::Unsigned, 12, &[2], &[0xFF, 0xF0, 0x01])), [4095.0, 1.0]);
        assert_eq!(scalars(&file(ItemType::Bool, 1, &[9], &[0b1010_0000, 0x80])), [1., 0., 1., 0., 0., 0., 0., 0., 1.]);
        assert_eq!(scalars(&file(ItemType::Signed, 8, &[2], &[0x80, 0x7F])), [-128.0, 127.0]);
    }

    #[test]
    fn deprecated_parameters_count() {
        let mut bytes = file(ItemType::Unsigned, 8, &[1], &[0xFF]);
        bytes[52] = 1;
        assert_eq!(Tensor::from_dat(&bytes).unwrap(), Tensor::integers(&[1], vec![-1]).unwrap());
        let mut bytes = file(ItemType::QuantizedUnsigned, 8, &[3], &[0, 51, 255]);
        assert!(Tensor::from_dat(&bytes).unwrap_err().0.contains("graph.quant"));
        bytes[52..56].copy_from_slice(&(-1f32).to_le_bytes());
        for wrong in [-1f32, f32::NAN, f32::INFINITY] {
            bytes[56..60].copy_from_slice(&wrong.to_le_bytes());
            assert!(Tensor::from_dat(&bytes).is_err(), "{wrong}");
        }
        bytes[56..60].copy_from_slice(&4f32.to_le_bytes());
        assert_eq!(Tensor::from_dat(&bytes).unwrap(), Tensor::scalars(&[3], vec![-1.0, 0.0, 4.0]).unwrap());
    }

    #[test]
    fn codes_are_integers_where_integers_are_wanted() {
        let bytes = file(ItemType::QuantizedSigned, 8, &[2], &[0xFF, 2]);
        let read = |of| read_from(&mut &bytes[..], bytes.len() as u64, (of, None));
        assert_eq!(read(Some(DType::Int64)), Tensor::integers(&[2], vec![-1, 2]));
        assert!(read(Some(DType::Float64)).is_err() && read(None).is_err());
        assert!(read_from(&mut &bytes[..], 20, (None, None)).unwrap_err().0.contains("20 bytes"));
    }

    #[test]
    fn headers_of_vendors_are_read() {
        let header = |code, bits, extents: &[u32], data_length| {
            let item_type = ItemType::Vendor { vendor: TRACT, code };
            let extents = extents.to_vec();
            Header { version: (1, 0), data_length, extents, bits, item_type, parameters: [0; 32] }
        };
        // The scale is 3C3C as a float of 16 bits; 3C has the codes 12 - 8 and 3 - 8 of four bits, or is one of eight bits.
        let scale = 1.0 + 60.0 / 1024.0;
        for (good, first) in [
            (header(0x2040, NO_BITS, &[2, 32], 36), Some([4.0, -5.0])),
            (header(0x3040, NO_BITS, &[2, 32], 36), Some([4.0, 4.0])),
            (header(0x3080, NO_BITS, &[2, 32], 72), Some([60.0, 60.0])),
            (header(0x3081, NO_BITS, &[2, 32], 72), Some([60.0, 60.0])),
            (header(0x1000, NO_BITS, &[3], 1000), None),
            (header(0, 64, &[3], 24), None),
        ] {
            assert_eq!(Header::parse(&good.write()).as_ref(), Ok(&good));
            let decoded = decode(&good, &vec![0x3C; good.data_length as usize]).ok();
            let found = decoded.map(|tensor| (tensor.shape().to_vec(), tensor.to_scalars()[..2].to_vec()));
            assert_eq!(found, first.map(|codes| (vec![2, 32], codes.map(|code| code * scale).to_vec())), "{good:?}");
        }
        let block = header(0x3040, NO_BITS, &[2, 32], 36);
        let file = [&block.write()[..], &[0x3C; 36]].concat();
        let read = |shape: &[usize]| {
            let found = read_from(&mut &file[..], file.len() as u64, (None, Some(shape)));
            found.map(|tensor| tensor.shape().to_vec())
        };
        assert_eq!((read(&[4, 2, 8]), read(&[3])), (Ok(vec![4, 2, 8]), Ok(vec![2, 32])));
        let blocks = |length, shape: &[usize]| blocks_from(&mut &file[..length], length as u64, shape);
        assert!(blocks(file.len(), &[3]).is_ok_and(|found| found.is_none()));
        assert!(blocks(file.len(), &[64]).is_ok_and(|found| found.is_some_and(|found| found.scales.len() == 2)));
        assert!(blocks(file.len() - 1, &[64]).is_err());
        for bad in [header(0x3040, NO_BITS, &[2, 32], 35), header(0x2040, NO_BITS, &[33], 18), header(0, 64, &[3], 25)]
        {
            assert!(Header::parse(&bad.write()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn wrong_files_are_refused() {
        let good = Tensor::scalars(&[2], vec![1.0, 2.0]).unwrap().to_dat().unwrap();
        for length in 0..good.len() {
            assert!(Tensor::from_dat(&good[..length]).is_err(), "{length} bytes");
        }
        let change = |at: usize, value: u8| {
            let mut bytes = good.clone();
            bytes[at] = value;
            Tensor::from_dat(&bytes).unwrap_err().0
        };
        assert!(change(0, 0).contains("4E EF"));
        assert!(change(2, 2).contains("version"));
        assert!(change(8, 9).contains("rank"));
        assert!(change(15, 0xFF).contains("needs"));
        assert!(change(44, 31).contains("31 bits"));
        assert!(change(48, 6).contains("item type 6"));
        assert!(change(50, 1).contains("vendor 1"));
        assert!(Tensor::from_dat(&[good.clone(), vec![0]].concat()).unwrap_err().0.contains("the file has 9"));
    }
}
