//! The elements of constant tensors, whichever field they are stored in.

mod long;

use bytes::Bytes;

use super::model::{EncodedField, TensorProto, Wire};
use super::protobuf::fields::tensor;
use super::types::{ElementType, Storage};
pub(crate) use long::LongConstant;

/// The elements of a tensor as in a text: complex numbers are two elements each, small floats are their bits.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Elements {
    Floats(Vec<f32>),
    Doubles(Vec<f64>),
    Ints(Vec<i64>),
    Unsigned(Vec<u64>),
    Strings(Vec<Bytes>),
}

/// The error of elements that do not match the type and the shape of their tensor, or are not in the model. The document
/// tells when its file cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unread;

impl From<std::io::Error> for Unread {
    fn from(_: std::io::Error) -> Self {
        Unread
    }
}

impl Elements {
    /// Reads the elements of a tensor whose data are in the model.
    pub(crate) fn of(tensor: &TensorProto) -> Result<Elements, Unread> {
        let element = tensor.data_type.and_then(ElementType::numbered).ok_or(Unread)?;
        let count = count(tensor, element).ok_or(Unread)?;
        let fields = tensor.rest.iter().flat_map(|fields| fields.iter());
        let raw = raw_data(tensor);
        let elements = match raw {
            Some(raw) => from_raw(&raw.bytes.load()?, element, count)?,
            None => from_fields(fields.filter(|field| field.number == element.storage.field()), element, count)?,
        };
        if elements.len() == count { Ok(elements) } else { Err(Unread) }
    }

    /// The elements of raw data.
    pub(crate) fn of_raw(raw: &[u8], element: &ElementType, count: usize) -> Result<Elements, Unread> {
        from_raw(raw, element, count)
    }

    fn len(&self) -> usize {
        match self {
            Elements::Floats(all) => all.len(),
            Elements::Doubles(all) => all.len(),
            Elements::Ints(all) => all.len(),
            Elements::Unsigned(all) => all.len(),
            Elements::Strings(all) => all.len(),
        }
    }
}

/// Whether the number of elements of a tensor matches its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// The number matches, or the data are not in the model, or the type is unknown.
    Right,
    /// The number does not match.
    Wrong { expected: usize, found: usize },
    /// The data end within an element, or the shape is not valid.
    Broken,
}

/// Counts the elements of a tensor without reading them.
pub(crate) fn length(of: &TensorProto) -> Length {
    let fields = || of.rest.iter().flat_map(|fields| fields.iter());
    let Some(element) = of.data_type.and_then(ElementType::numbered) else { return Length::Right };
    if of.is_external() {
        return Length::Right;
    }
    let Some(expected) = count(of, element) else { return Length::Broken };
    // Elements of few bits share bytes, so that bytes are counted.
    let packed = |count: usize, is_raw: bool| match element.bits {
        6 if !is_raw => Some(count),
        2..8 => count.checked_mul(element.bits as usize).map(|bits| bits.div_ceil(8)),
        _ => Some(count),
    };
    let raw = raw_data(of);
    let (expected, found) = match raw {
        Some(_) if element.storage == Storage::String => return Length::Broken,
        Some(raw) => {
            let width = raw_bytes(element);
            if !raw.bytes.len().is_multiple_of(width) {
                return Length::Broken;
            }
            (packed(expected, true), raw.bytes.len() / width)
        }
        None => {
            let stored = fields().filter(|field| field.number == element.storage.field());
            let Some(found) = stored.map(|field| stored_count(field, element)).sum::<Option<usize>>() else {
                return Length::Broken;
            };
            (packed(expected, false), found)
        }
    };
    let Some(expected) = expected else { return Length::Broken };
    if expected == found { Length::Right } else { Length::Wrong { expected, found } }
}

/// The field with raw data. Of a field that occurs several times the last one counts.
pub(super) fn raw_data(of: &TensorProto) -> Option<&EncodedField> {
    let mut fields = of.rest.iter().flat_map(|fields| fields.iter()).rev();
    fields.find(|field| field.number == tensor::RAW_DATA && field.wire == Wire::Bytes)
}

/// The field with the elements one after another, each in its own width: raw data, or a single field of floats.
pub(super) fn fixed_data<'t>(of: &'t TensorProto, element: &ElementType) -> Option<&'t EncodedField> {
    let floats = || {
        let fields = of.rest.iter().flat_map(|fields| fields.iter());
        let mut fields = fields.filter(|field| field.number == element.storage.field());
        fields.next().filter(|field| field.wire == Wire::Bytes && fields.next().is_none())
    };
    let fixed = matches!(element.storage, Storage::Float | Storage::Double);
    raw_data(of).or_else(|| fixed.then(floats).flatten())
}

impl TensorProto {
    /// Whether the elements are in another file.
    pub(crate) fn is_external(&self) -> bool {
        let mut fields = self.rest.iter().flat_map(|fields| fields.iter()).rev();
        let location = fields.find(|field| field.number == tensor::DATA_LOCATION && field.wire == Wire::Varint);
        location.is_some_and(|field| field.bytes.number() == EXTERNAL)
    }

    /// The number of bytes of the elements in another file; `None` if the type is not known or has no such form, or
    /// the shape is not valid.
    pub(crate) fn external_bytes(&self) -> Option<u64> {
        let element = self.data_type.and_then(ElementType::numbered)?;
        let extents = self.dims.iter().map(|&extent| u64::try_from(extent).ok());
        let bits = extents.into_iter().try_fold(u64::from(element.bits), |bits, extent| bits.checked_mul(extent?))?;
        match element.bits {
            0 => None,
            // A truth value is a byte.
            1 => Some(bits),
            _ => Some(bits.div_ceil(8)),
        }
    }
}

/// The value of `data_location` for data in another file.
const EXTERNAL: u64 = 1;

/// The number of bytes of a number in raw data.
pub(crate) fn raw_bytes(element: &ElementType) -> usize {
    let parts = if is_complex(element) { 2 } else { 1 };
    (element.bits as usize).div_ceil(8) / parts
}

/// The number of numbers in a field that is not raw data.
fn stored_count(field: &EncodedField, element: &ElementType) -> Option<usize> {
    let width = match element.storage {
        Storage::Float => 4,
        Storage::Double => 8,
        Storage::String => return Some(1),
        _ if field.wire != Wire::Bytes => return Some(1),
        _ => {
            let (mut count, mut is_whole) = (0, true);
            let each = |piece: &[u8]| {
                count += piece.iter().filter(|byte| **byte < 0x80).count();
                is_whole = piece.last().map_or(is_whole, |last| *last < 0x80);
            };
            return field.bytes.pieces(each).ok().and(is_whole.then_some(count));
        }
    };
    field.bytes.len().is_multiple_of(width).then_some(field.bytes.len() / width)
}

fn is_complex(element: &ElementType) -> bool {
    matches!(element.name, "complex64" | "complex128")
}

/// The number of numbers of a tensor: two for each complex element.
fn count(tensor: &TensorProto, element: &ElementType) -> Option<usize> {
    let parts = if is_complex(element) { 2 } else { 1 };
    let extents = tensor.dims.iter().map(|&extent| usize::try_from(extent).ok());
    extents.into_iter().try_fold(parts, |count: usize, extent| count.checked_mul(extent?))
}

fn from_raw(raw: &[u8], element: &ElementType, count: usize) -> Result<Elements, Unread> {
    Ok(match element.storage {
        Storage::Float => Elements::Floats(chunks(raw, f32::from_le_bytes)?),
        Storage::Double => Elements::Doubles(chunks(raw, f64::from_le_bytes)?),
        Storage::Int64 => Elements::Ints(chunks(raw, i64::from_le_bytes)?),
        Storage::Uint64 if element.bits == 32 => {
            Elements::Unsigned(chunks(raw, |bytes| u64::from(u32::from_le_bytes(bytes)))?)
        }
        Storage::Uint64 => Elements::Unsigned(chunks(raw, u64::from_le_bytes)?),
        Storage::String => return Err(Unread),
        Storage::Signed | Storage::Unsigned => {
            let all = match element.bits {
                32 => chunks(raw, |bytes| i64::from(i32::from_le_bytes(bytes)))?,
                16 => chunks(raw, |bytes| i64::from(u16::from_le_bytes(bytes)))?,
                6 => unpack_sixes(raw, count),
                bits @ (2 | 4) => unpack(raw.iter().map(|byte| i64::from(*byte)), bits, count),
                _ => raw.iter().map(|byte| i64::from(*byte)).collect(),
            };
            Elements::Ints(all.into_iter().map(|value| narrowed(value, element)).collect())
        }
    })
}

fn from_fields<'f>(
    fields: impl Iterator<Item = &'f EncodedField>,
    element: &ElementType,
    count: usize,
) -> Result<Elements, Unread> {
    let mut found = match element.storage {
        Storage::Float => Elements::Floats(Vec::new()),
        Storage::Double => Elements::Doubles(Vec::new()),
        Storage::Uint64 => Elements::Unsigned(Vec::new()),
        Storage::String => Elements::Strings(Vec::new()),
        Storage::Int64 | Storage::Signed | Storage::Unsigned => Elements::Ints(Vec::new()),
    };
    for field in fields {
        match &mut found {
            Elements::Floats(all) => all.extend(chunks(&field.bytes.load()?, f32::from_le_bytes)?),
            Elements::Doubles(all) => all.extend(chunks(&field.bytes.load()?, f64::from_le_bytes)?),
            Elements::Strings(all) => all.push(field.bytes.load()?),
            Elements::Ints(all) => varints(field, |number| all.push(number as i64))?,
            Elements::Unsigned(all) => varints(field, |number| all.push(number))?,
        }
    }
    if let Elements::Ints(all) = &mut found
        && matches!(element.bits, 2 | 4)
    {
        *all = unpack(all.iter().copied(), element.bits, count);
    }
    match &mut found {
        Elements::Ints(all) => all.iter_mut().for_each(|value| *value = narrowed(*value, element)),
        Elements::Unsigned(all) if element.bits == 32 => all.iter_mut().for_each(|value| *value &= 0xFFFF_FFFF),
        _ => {}
    }
    Ok(found)
}

fn chunks<const N: usize, T>(bytes: &[u8], read: impl Fn([u8; N]) -> T) -> Result<Vec<T>, Unread> {
    let (chunks, rest) = bytes.as_chunks::<N>();
    if rest.is_empty() { Ok(chunks.iter().map(|bytes| read(*bytes)).collect()) } else { Err(Unread) }
}

/// Reads the numbers of an integer field, packed or not.
fn varints(field: &EncodedField, mut add: impl FnMut(u64)) -> Result<(), Unread> {
    if field.wire != Wire::Bytes {
        add(field.bytes.number());
        return Ok(());
    }
    let (mut number, mut shift) = (0_u64, 0);
    for byte in &field.bytes.load()? {
        if shift > 63 {
            return Err(Unread);
        }
        number |= u64::from(byte & 0x7F) << shift;
        shift += 7;
        if *byte < 0x80 {
            add(number);
            (number, shift) = (0, 0);
        }
    }
    if shift == 0 { Ok(()) } else { Err(Unread) }
}

/// Unpacks elements of few bits that share a byte, the first one in the lowest bits.
fn unpack(bytes: impl Iterator<Item = i64>, bits: u32, count: usize) -> Vec<i64> {
    let places = (0..8).step_by(bits as usize);
    bytes.flat_map(|byte| places.clone().map(move |place| byte >> place & ((1 << bits) - 1))).take(count).collect()
}

/// Unpacks elements of six bits: four in three bytes, the first one in the lowest bits.
fn unpack_sixes(raw: &[u8], count: usize) -> Vec<i64> {
    let group = |bytes: &[u8]| bytes.iter().rev().fold(0, |bits, byte| bits << 8 | i64::from(*byte));
    let items = raw.chunks(3).flat_map(|bytes| [0, 6, 12, 18].map(|place| group(bytes) >> place & 0x3F));
    items.take(count).collect()
}

/// The value of an element of an integer type: the bits that the type has. Any number but 0 is true.
fn narrowed(value: i64, element: &ElementType) -> i64 {
    let unused = 64 - element.bits;
    match element.storage {
        Storage::Signed => value << unused >> unused,
        Storage::Unsigned if element.bits == 1 => i64::from(value != 0),
        Storage::Unsigned => value & ((1 << element.bits) - 1),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(dims: &[i64], number: u32, bytes: &[u8]) -> TensorProto {
        let field = EncodedField { number, wire: Wire::Bytes, bytes: bytes.to_vec().into() };
        TensorProto {
            dims: dims.into(),
            data_type: Some(27),
            rest: Some(Box::new(vec![field])),
            ..TensorProto::default()
        }
    }

    #[test]
    fn four_elements_of_six_bits_are_three_bytes_of_raw_data() {
        // 1, 2, 3, 63 and 5.
        let raw = [0b1000_0001, 0b0011_0000, 0b1111_1100, 5];
        let of_raw = tensor(&[5], tensor::RAW_DATA, &raw);
        assert_eq!(length(&of_raw), Length::Right);
        assert_eq!(Elements::of(&of_raw), Ok(Elements::Ints(vec![1, 2, 3, 63, 5])));
        assert_eq!(length(&tensor(&[6], tensor::RAW_DATA, &raw)), Length::Wrong { expected: 5, found: 4 });
        let of_field = tensor(&[5], tensor::INT32_DATA, &[1, 2, 3, 63, 5]);
        assert_eq!(length(&of_field), Length::Right);
        assert_eq!(Elements::of(&of_field), Ok(Elements::Ints(vec![1, 2, 3, 63, 5])));
    }

    /// Fields have more bits than elements of small types.
    #[test]
    fn elements_have_the_bits_of_their_type() {
        for (number, bytes, wanted) in [(2, [0xAC, 2], 44), (3, [0xAC, 2], 44), (3, [0xC8, 1], -56), (9, [0xAC, 2], 1)]
        {
            let of = TensorProto { data_type: Some(number), ..tensor(&[1], tensor::INT32_DATA, &bytes) };
            assert_eq!(Elements::of(&of), Ok(Elements::Ints(vec![wanted])), "{number}");
        }
        let of = TensorProto { data_type: Some(9), ..tensor(&[2], tensor::RAW_DATA, &[2, 0]) };
        assert_eq!(Elements::of(&of), Ok(Elements::Ints(vec![1, 0])));
        let of =
            TensorProto { data_type: Some(12), ..tensor(&[1], tensor::UINT64_DATA, &[0x81, 0x80, 0x80, 0x80, 0x10]) };
        assert_eq!(Elements::of(&of), Ok(Elements::Unsigned(vec![1])));
    }

    #[test]
    fn shapes_with_too_many_bits_are_broken() {
        assert_eq!(length(&tensor(&[i64::MAX], tensor::RAW_DATA, &[0])), Length::Broken);
    }
}
