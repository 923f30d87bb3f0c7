//! The stored data of operators: an archive whose members `OPERATOR.NAME` are raw bytes.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::io::{Cursor, Read, Write};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::model::{PnnxModel, Role, Typed};
use crate::eval::Variables;
use crate::graph::stats::bytes_of;
use crate::tensor::dat::half;
#[cfg(target_family = "wasm")]
use crate::tensor::no_zip as zip;
use crate::tensor::{DType, Data, Tensor, TensorError, volume};

/// An element type: its name, its size in bytes, and the decoding of an element.
type ElementRow = (&'static str, usize, fn(&[u8]) -> DataElement);

/// The element types.
const ELEMENTS: &[ElementRow] = &[
    ("f32", 4, |bytes| DataElement::Float(f64::from(f32::from_le_bytes(fixed(bytes))))),
    ("f64", 8, |bytes| DataElement::Float(f64::from_le_bytes(fixed(bytes)))),
    ("f16", 2, |bytes| DataElement::Float(half(u16::from_le_bytes(fixed(bytes))))),
    ("bf16", 2, |bytes| {
        DataElement::Float(f64::from(f32::from_bits(u32::from(u16::from_le_bytes(fixed(bytes))) << 16)))
    }),
    ("i8", 1, |bytes| DataElement::Int(i64::from(i8::from_le_bytes(fixed(bytes))))),
    ("u8", 1, |bytes| DataElement::Int(i64::from(u8::from_le_bytes(fixed(bytes))))),
    ("i16", 2, |bytes| DataElement::Int(i64::from(i16::from_le_bytes(fixed(bytes))))),
    ("i32", 4, |bytes| DataElement::Int(i64::from(i32::from_le_bytes(fixed(bytes))))),
    ("i64", 8, |bytes| DataElement::Int(i64::from_le_bytes(fixed(bytes)))),
    ("bool", 1, |bytes| DataElement::Bool(bytes.first() != Some(&0))),
];

/// An element.
#[derive(Clone, Copy)]
enum DataElement {
    Float(f64),
    Int(i64),
    Bool(bool),
}

fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().unwrap_or([0; N])
}

/// The data of a model's operators, with a directory that is read once.
#[derive(Clone, Debug)]
pub(crate) struct Archive {
    bytes: Shared,
    directory: Opened,
}

/// The bytes of an archive, shared by its readers.
#[derive(Clone, Debug)]
struct Shared(Arc<Vec<u8>>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

type Opened = ZipArchive<Cursor<Shared>>;

fn broken(error: &dyn std::fmt::Display) -> TensorError {
    TensorError::new(format!("the archive cannot be read: {error}"))
}

impl Archive {
    /// Checks that bytes are an archive.
    ///
    /// # Errors
    ///
    /// The bytes are not an archive.
    pub(crate) fn new(bytes: Vec<u8>) -> Result<Archive, TensorError> {
        let bytes = Shared(Arc::new(bytes));
        let directory = ZipArchive::new(Cursor::new(bytes.clone())).map_err(|error| broken(&error))?;
        Ok(Archive { bytes, directory })
    }

    /// Creates an uncompressed archive, as pnnx does.
    ///
    /// # Errors
    ///
    /// A name is not valid for a member.
    pub(crate) fn of<'m>(members: impl IntoIterator<Item = (&'m str, &'m [u8])>) -> Result<Archive, TensorError> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        let cannot =
            |error: &dyn std::fmt::Display| TensorError::new(format!("the archive cannot be written: {error}"));
        for (name, bytes) in members {
            writer.start_file(name, options).map_err(|error| cannot(&error))?;
            writer.write_all(bytes).map_err(|error| cannot(&error))?;
        }
        let bytes = writer.finish().map_err(|error| cannot(&error))?.into_inner();
        Archive::new(bytes)
    }

    /// Returns the bytes.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        let Archive { bytes: Shared(bytes), directory } = self;
        drop(directory);
        Arc::unwrap_or_clone(bytes)
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// Reads a member as a tensor of a shape and type.
    ///
    /// # Errors
    ///
    /// The member is missing or has another length.
    pub(crate) fn tensor(&self, name: &str, typed: &Typed) -> Result<Tensor, TensorError> {
        tensor(&mut self.directory.clone(), name, typed)
    }

    /// Whether two members with a shape and type have the same bytes.
    pub(crate) fn same(&self, [a, b]: [&str; 2], typed: &Typed) -> bool {
        let bytes = |name: &str| {
            let mut archive = self.directory.clone();
            let length = length(Some(&typed.parts())).ok()?.0 as u64;
            let mut bytes = Vec::new();
            member(&mut archive, name, length).ok()?.take(length.saturating_add(1)).read_to_end(&mut bytes).ok()?;
            Some(bytes)
        };
        a == b || bytes(a).is_some_and(|found| Some(found) == bytes(b))
    }

    /// Checks the lengths of the members of a model without reading them.
    ///
    /// # Errors
    ///
    /// For each member that is missing or has another length: the operator, the key, and the message.
    pub(crate) fn check(&self, model: &PnnxModel) -> Vec<(usize, String, String)> {
        let mut archive = self.directory.clone();
        let mut wrong = Vec::new();
        for (at, operator) in model.operators.iter().enumerate() {
            for param in operator.params(Role::Data) {
                let name = format!("{}.{}", operator.name, param.key);
                let checked = length(param.typed().map(|typed| typed.parts()).as_ref())
                    .and_then(|(length, _)| member(&mut archive, &name, length as u64).map(drop));
                if let Err(error) = checked {
                    wrong.push((at, param.key.clone(), error.0));
                }
            }
        }
        wrong
    }
}

/// The number of bytes of data, and the row of its element type.
fn length(typed: Option<&Typed>) -> Result<(usize, &'static ElementRow), TensorError> {
    let typed = typed.ok_or_else(|| TensorError::new("the data have no shape"))?;
    let row = ELEMENTS.iter().find(|(name, ..)| *name == typed.element);
    let row = row.ok_or_else(|| TensorError::new(format!("data of type {} are not supported", typed.element)))?;
    let shape = shape(typed).ok_or_else(|| TensorError::new("the extents of the data are not known"))?;
    let count = volume(&shape).and_then(|count| count.checked_mul(row.1));
    Ok((count.ok_or_else(|| TensorError::new("the data are too large"))?, row))
}

fn shape(typed: &Typed) -> Option<Vec<usize>> {
    typed.extents.iter().map(|extent| extent.and_then(|extent| usize::try_from(extent).ok())).collect()
}

/// The member with a name; its length must be `length`.
fn member<'a>(
    archive: &'a mut Opened,
    name: &str,
    length: u64,
) -> Result<zip::read::ZipFile<'a, Cursor<Shared>>, TensorError> {
    let missing = |error| TensorError::new(format!("the archive has no member `{name}`: {error}"));
    let member = archive.by_name(name).map_err(missing)?;
    if member.size() != length {
        let size = member.size();
        return Err(TensorError::new(format!("the member `{name}` has {size} bytes, its shape needs {length}")));
    }
    Ok(member)
}

fn tensor(archive: &mut Opened, name: &str, typed: &Typed) -> Result<Tensor, TensorError> {
    let (length, (_, size, read)) = length(Some(typed))?;
    let mut bytes = Vec::new();
    let member = member(archive, name, length as u64)?;
    // The size stated in the archive may be wrong, so memory is allocated as bytes are read.
    member.take((length as u64).saturating_add(1)).read_to_end(&mut bytes).map_err(|error| broken(&error))?;
    if bytes.len() != length {
        return Err(TensorError::new(format!("the member `{name}` has {} bytes, not {length}", bytes.len())));
    }
    let items = bytes.chunks_exact(*size).map(read);
    let data = match typed.element.as_str() {
        "bool" => Data::Bool(items.map(|item| matches!(item, DataElement::Bool(true))).collect()),
        "f32" | "f64" | "f16" | "bf16" => Data::from_floats(
            DType::Float64,
            items.map(|item| if let DataElement::Float(float) = item { float } else { f64::NAN }),
        ),
        _ => Data::Int64(items.map(|item| if let DataElement::Int(int) = item { int } else { 0 }).collect()),
    };
    let shape = shape(typed).unwrap_or_default();
    Tensor::new(&shape, data).ok_or_else(|| TensorError::new("the data do not fill their shape"))
}

/// The variables of a graph by their labels: member of the archive, shape and type.
pub(crate) type Members = FxHashMap<String, (String, Typed)>;

/// The data of a graph's variables.
#[derive(Debug, Default)]
pub(crate) struct Weights {
    /// The archive, if there is one.
    pub(crate) archive: Option<Archive>,
    /// The variables.
    pub(crate) members: Members,
}

impl Weights {
    /// The number of bytes of the data of a variable, by its declared type.
    pub(crate) fn bytes(&self, label: &str) -> Option<u64> {
        let (_, typed) = self.members.get(label)?;
        let items = typed.extents.iter().map(|extent| u64::try_from((*extent)?).ok());
        let items = items.collect::<Option<Vec<u64>>>()?.into_iter().fold(1, u64::saturating_mul);
        bytes_of(&typed.element, items)
    }
}

impl Variables for Weights {
    fn load(&self, label: &str, _: &[usize], _: Option<DType>) -> Result<Option<Tensor>, TensorError> {
        let Some(archive) = &self.archive else { return Ok(None) };
        match self.members.get(label) {
            Some((member, typed)) => archive.tensor(member, typed).map(|tensor| Some(tensor.widened())),
            None => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

    use super::*;

    fn archive<'a>(members: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Archive {
        Archive::of(members).unwrap()
    }

    fn typed(extents: &[i64], element: &str) -> Typed {
        Typed { extents: extents.iter().map(|&extent| Some(extent)).collect(), element: element.into() }
    }

    #[test]
    fn members_are_read_by_their_types() {
        let f32s: Vec<u8> = [1.0f32, -2.5].iter().flat_map(|x| x.to_le_bytes()).collect();
        let f16s: Vec<u8> = [0x3c00u16, 0xc000, 0x0001, 0x7c00].iter().flat_map(|x| x.to_le_bytes()).collect();
        let members = [("a.data", &f32s[..]), ("b.w", &[1u8, 0][..]), ("c.h", &f16s[..])];
        let archive = archive(members);
        assert_eq!(archive.tensor("a.data", &typed(&[2], "f32")), Ok(Tensor::scalars(&[2], vec![1.0, -2.5]).unwrap()));
        assert_eq!(
            archive.tensor("b.w", &typed(&[2, 1], "bool")),
            Ok(Tensor::logicals(&[2, 1], vec![true, false]).unwrap())
        );
        let halves = archive.tensor("c.h", &typed(&[4], "f16")).unwrap();
        assert_eq!(halves.to_scalars(), [1.0, -2.0, 2f64.powi(-24), f64::INFINITY]);
        for (name, typed) in [
            ("a.data", typed(&[3], "f32")),
            ("a.data", typed(&[1 << 40, 1 << 40], "f32")),
            ("a.data", typed(&[1], "c64")),
            ("x", typed(&[2], "f32")),
        ] {
            assert!(archive.tensor(name, &typed).is_err(), "{name} {typed:?}");
        }
    }

    #[test]
    fn broken_archives_are_refused() {
        let bytes = archive([("a", &[1u8, 2, 3, 4][..])]).into_bytes();
        for length in 0..bytes.len() {
            assert!(Archive::new(bytes[..length].to_vec()).is_err(), "{length} bytes");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0xff;
            let _ = Archive::new(changed).map(|archive| archive.tensor("a", &typed(&[1], "f32")));
        }
    }
}
