//! Constant tensors of a model as tensors, and the reverse.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Take};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use smallvec::SmallVec;

use super::element::{dtype, element_of, is_bits};
use super::patterns::Patterns;
use crate::diagnostics::Code;
use crate::eval::{Budget, EvalError, Limits};
use crate::graph::names::NameId;
use crate::onnx::elements::{Elements, raw_data};
use crate::onnx::external::Folder;
use crate::onnx::model::{EncodedField, TensorProto, Wire};
use crate::onnx::protobuf::fields::tensor;
use crate::onnx::types::ElementType;
use crate::tensor::{Data, Tensor};

/// How many bytes of a file are read at once.
const PIECE: u64 = 1 << 20;

/// What constants of a model are computed with.
#[derive(Clone, Copy)]
pub(crate) struct Computing<'s> {
    pub(crate) stores: &'s Stores,
    pub(crate) limits: Limits,
}

/// What kernels have beside their operands: where the elements of constants are that are not in the model, and the
/// patterns that were compiled.
pub(crate) struct Stores {
    folder: Option<RefCell<Folder>>,
    pub(super) patterns: Patterns,
}

pub(super) fn unread(message: impl Into<String>) -> EvalError {
    EvalError::new(Code::EvalVariable, message)
}

impl Stores {
    /// The folder of a model; without one, external data cannot be read.
    pub(crate) fn new(folder: Option<&Path>) -> Self {
        Stores { folder: folder.and_then(Folder::new).map(RefCell::new), patterns: Patterns::default() }
    }

    /// The file with the external data of a tensor, up to their end, and its path.
    fn opened(&self, of: &TensorProto) -> Result<(Take<File>, PathBuf), EvalError> {
        let (path, offset, length) = external(of, self)?;
        let mut file = File::open(&path).map_err(|error| failed(&path, &error))?;
        file.seek(SeekFrom::Start(offset)).map_err(|error| failed(&path, &error))?;
        Ok((file.take(length), path))
    }

    /// Gives the external data of a tensor to a function, in pieces.
    fn pieces(&self, of: &TensorProto, take: &mut dyn FnMut(&[u8])) -> Result<(), EvalError> {
        let (mut rest, path) = self.opened(of)?;
        let mut piece = Vec::new();
        loop {
            piece.clear();
            (&mut rest).take(PIECE).read_to_end(&mut piece).map_err(|error| failed(&path, &error))?;
            if piece.is_empty() {
                return Ok(());
            }
            take(&piece);
        }
    }

    /// The tensor with its external data as raw data.
    fn loaded(&self, of: &TensorProto) -> Result<TensorProto, EvalError> {
        let (mut file, path) = self.opened(of)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|error| failed(&path, &error))?;
        let raw = EncodedField { number: tensor::RAW_DATA, wire: Wire::Bytes, bytes: bytes.into() };
        Ok(TensorProto { external: Vec::new(), rest: Some(Box::new(vec![raw])), ..of.clone() })
    }
}

/// The file with the external data of a tensor, where they begin in it, and how many bytes they are.
pub(super) fn external(of: &TensorProto, stores: &Stores) -> Result<(PathBuf, u64, u64), EvalError> {
    let Some(folder) = &stores.folder else {
        return Err(unread("the data of a constant are in another file, and the folder of the model is not known"));
    };
    folder.borrow_mut().range(of).map_err(unread)
}

/// The failure to read a file.
pub(super) fn failed(path: &Path, error: &io::Error) -> EvalError {
    unread(format!("{}: {error}", path.display()))
}

/// The shape of a constant, if its extents are valid.
pub(super) fn shape(of: &TensorProto) -> Result<Vec<usize>, EvalError> {
    let extents: Option<Vec<usize>> = of.dims.iter().map(|&extent| usize::try_from(extent).ok()).collect();
    extents.ok_or_else(|| unread(format!("a constant has the shape {:?}", &of.dims[..])))
}

/// The tensor of a constant.
///
/// # Errors
///
/// The data do not fit its type and shape, cannot be read, or exceed a limit.
pub(crate) fn tensor_of(of: &TensorProto, stores: &Stores, budget: &Budget) -> Result<Tensor, EvalError> {
    let unknown = || unread("the element type of a constant is not known");
    let element = of.data_type.and_then(ElementType::numbered).ok_or_else(unknown)?;
    let shape = shape(of)?;
    budget.extents(&shape)?;
    let elements = match of.is_external() {
        true => Elements::of(&stores.loaded(of)?),
        false => Elements::of(of),
    };
    let elements = elements.map_err(|_| unread("the data of a constant do not fit its type and shape"))?;
    let data = data(element, elements).ok_or_else(unknown)?;
    Tensor::new(&shape, data).ok_or_else(|| unread("the data of a constant do not fit its shape"))
}

/// Gives the elements of a constant to a function as little-endian bytes, in pieces if they are in a file.
///
/// # Errors
///
/// Those of [`tensor_of`].
pub(crate) fn element_pieces(
    of: &TensorProto,
    stores: &Stores,
    budget: &Budget,
    take: &mut dyn FnMut(&[u8]),
) -> Result<(), EvalError> {
    if of.is_external() {
        return stores.pieces(of, take);
    }
    if let Some(field) = raw_data(of) {
        return field.bytes.pieces(take).map_err(|error| unread(error.to_string()));
    }
    match tensor_of(of, stores, budget)?.data() {
        Data::Text(items) => items.iter().for_each(|text| {
            take(&(text.len() as u64).to_le_bytes());
            take(text.as_bytes());
        }),
        data => take(&raw(data)),
    }
    Ok(())
}

/// The elements of a constant that has them as numbers in fields of their own, as raw data has them; none if it has raw
/// data, texts or data in a file beside the model, or the numbers do not fit its type and shape.
pub(crate) fn numbers_as_raw(of: &TensorProto) -> Option<Vec<u8>> {
    if of.is_external() || raw_data(of).is_some() {
        return None;
    }
    match data(of.data_type.and_then(ElementType::numbered)?, Elements::of(of).ok()?)? {
        Data::Text(_) => None,
        numbers => Some(raw(&numbers)),
    }
}

fn pairs<T: Copy>(items: &[T]) -> Vec<[T; 2]> {
    items.as_chunks::<2>().0.to_vec()
}

pub(super) fn data(element: &ElementType, elements: Elements) -> Option<Data> {
    use crate::tensor::DType;
    let dtype = dtype(element)?;
    Some(match (elements, dtype) {
        (Elements::Floats(items), DType::Complex64) => Data::Complex64(pairs(&items)),
        (Elements::Floats(items), _) => Data::Float32(items),
        (Elements::Doubles(items), DType::Complex128) => Data::Complex128(pairs(&items)),
        (Elements::Doubles(items), _) => Data::Float64(items),
        (Elements::Strings(items), _) => {
            Data::Text(items.iter().map(|item| String::from_utf8_lossy(item).into()).collect())
        }
        (Elements::Unsigned(items), DType::Uint64) => Data::Uint64(items),
        (Elements::Unsigned(items), _) => Data::from_wide(dtype, items.into_iter().map(i128::from)),
        (Elements::Ints(items), DType::Int64) => Data::Int64(items),
        (Elements::Ints(items), DType::Narrow(format)) if is_bits(element) => {
            Data::Narrow(format, items.into_iter().map(|bits| format.decode(bits as u32)).collect())
        }
        (Elements::Ints(items), _) => Data::from_wide(dtype, items.into_iter().map(i128::from)),
    })
}

/// A constant with the elements of a tensor, as raw data where the type has them.
pub(crate) fn tensor_proto(of: &Tensor, name: Option<NameId>) -> TensorProto {
    let dims: SmallVec<[i64; 4]> = of.shape().iter().map(|&extent| extent as i64).collect();
    let fields = match of.data() {
        Data::Text(items) => {
            let field = |text: &std::sync::Arc<str>| EncodedField {
                number: tensor::STRING_DATA,
                wire: Wire::Bytes,
                bytes: Bytes::copy_from_slice(text.as_bytes()).into(),
            };
            items.iter().map(field).collect()
        }
        data => vec![EncodedField { number: tensor::RAW_DATA, wire: Wire::Bytes, bytes: raw(data).into() }],
    };
    let data_type = element_of(of.dtype()).map(|element| element.number);
    TensorProto { dims, data_type, name, external: Vec::new(), rest: Some(Box::new(fields)) }
}

/// The raw data of elements. Those of fewer than 8 bits share bytes, the first one in the lowest bits.
fn raw(data: &Data) -> Vec<u8> {
    match data {
        Data::Narrow(format, items) => packed(items.iter().map(|item| format.encode(*item)), format.bits()),
        Data::Small(integer, items) => packed(items.iter().map(|item| *item as u32), integer.bits()),
        other => other.le_bytes(),
    }
}

/// Numbers of equally many bits, one after another.
fn packed(items: impl Iterator<Item = u32>, bits: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let (mut held, mut filled) = (0u64, 0);
    let mask = (1u64 << bits) - 1;
    for item in items {
        held |= (u64::from(item) & mask) << filled;
        filled += bits;
        while filled >= 8 {
            bytes.push(held as u8);
            (held, filled) = (held >> 8, filled - 8);
        }
    }
    if filled > 0 {
        bytes.push(held as u8);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Limits;
    use crate::onnx::types::ELEMENTS;
    use crate::tensor::DType;

    /// Items of a type: fractions, negative numbers and large ones, where it has them.
    fn items(element: &ElementType) -> Data {
        let dtype = dtype(element).unwrap();
        match dtype {
            DType::Complex64 => Data::Complex64(vec![[1.0, -2.0], [0.5, 0.0]]),
            DType::Complex128 => Data::Complex128(vec![[1.0, -2.0], [0.5, 0.0]]),
            _ if element.name == "float8e8m0" => Data::from_floats(dtype, [1.0, 0.5, 2.0].into_iter()),
            _ if dtype.is_integer() => Data::from_floats(dtype, [1.0, -2.0, 1.8e19].into_iter()),
            _ => Data::from_floats(dtype, [1.0, 0.5, 0.0, -1.5].into_iter()),
        }
    }

    #[test]
    fn constants_of_all_types_come_back() {
        let budget = Budget::new(Limits::default());
        for element in ELEMENTS {
            let data = items(element);
            let tensor = Tensor::new(&[data.len()], data).unwrap();
            let proto = tensor_proto(&tensor, None);
            assert_eq!(tensor_of(&proto, &Stores::new(None), &budget).unwrap(), tensor, "{}", element.name);
        }
    }

    /// Other programs read the same numbers.
    #[test]
    fn raw_data_are_those_of_onnx() {
        for (name, items, bytes) in [
            ("bool", &[0.0, 1.0][..], &[0_u8, 1][..]),
            ("int16", &[1.0, -2.0], &[1, 0, 0xFE, 0xFF]),
            ("uint2", &[1.0, 2.0, 3.0], &[0x39]),
            ("int4", &[1.0, -2.0, 3.0], &[0xE1, 0x03]),
            ("float16", &[1.0, -2.0], &[0x00, 0x3C, 0x00, 0xC0]),
            ("bfloat16", &[1.0, -2.0], &[0x80, 0x3F, 0x00, 0xC0]),
            ("float8e8m0", &[1.0, 0.5], &[0x7F, 0x7E]),
            ("float4e2m1", &[0.5, -6.0], &[0xF1]),
        ] {
            let dtype = dtype(ElementType::named(name).unwrap()).unwrap();
            assert_eq!(raw(&Data::from_floats(dtype, items.iter().copied())), bytes, "{name}");
        }
    }
}
