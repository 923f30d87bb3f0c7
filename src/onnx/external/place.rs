//! Where external data are, and whether they are there.

use std::fs;
use std::path::{Component, Path, PathBuf};

use rustc_hash::FxHashMap;

use crate::diagnostics::Code;
use crate::onnx::model::{StringEntry, TensorProto};
use crate::onnx::protobuf::texts;
use crate::onnx::types::{ElementType, Storage};

/// The description of external data, which is consistent in itself.
pub(super) struct DataLocation {
    /// The name of the tensor.
    name: Box<str>,
    /// The path of the file, relative to the folder of the model.
    pub(super) location: String,
    offset: u64,
    /// The number of bytes; unknown if neither the description nor the type states it.
    length: Option<u64>,
}

/// What is wrong with external data.
#[derive(Clone)]
pub(super) struct Wrong {
    pub(super) code: Code,
    pub(super) message: String,
}

/// The keys of descriptions: those of the standard, and what onnx's own library writes.
const KEYS: &[&str] = &["location", "offset", "length", "checksum", "basepath"];

/// What keys of onnxruntime begin with.
const PREPACKED: &str = "prepacked";

fn wrong<T>(message: String) -> Result<T, Wrong> {
    Err(Wrong { code: Code::OnnxExternalFile, message })
}

fn outside<T>(message: String) -> Result<T, Wrong> {
    Err(Wrong { code: Code::OnnxExternal, message })
}

/// The place of the data of a tensor; none if they are in the model.
pub(super) fn of(tensor: &TensorProto, name: &str) -> Option<Result<DataLocation, Wrong>> {
    // Readers differ in which of several locations they use, and in whether they need `data_location`.
    let locations = tensor.external.iter().filter(|entry| entry.key.as_deref() == Some("location"));
    for location in locations.filter_map(|entry| entry.value.as_deref()) {
        if leads_out(location) {
            return Some(outside(format!("the data of `{name}` are at `{location}`, outside the folder of the model")));
        }
    }
    tensor.is_external().then(|| place(tensor, name))
}

fn place(tensor: &TensorProto, name: &str) -> Result<DataLocation, Wrong> {
    let entries = &tensor.external;
    let keys = entries.iter().map(|entry| entry.key.as_deref().unwrap_or_default());
    if let Some(key) = keys.into_iter().find(|key| !KEYS.contains(key) && !key.starts_with(PREPACKED)) {
        return wrong(format!("the place of the data of `{name}` has an unknown key `{key}`"));
    }
    let Some(location) = value(entries, "location", name)?.filter(|location| !location.is_empty()) else {
        return wrong(format!("the file with the data of `{name}` is not named: `location` is missing"));
    };
    let offset = number(entries, "offset", name)?.unwrap_or(0);
    // Readers take a length of 0 as none.
    let given = number(entries, "length", name)?.filter(|length| *length > 0);
    let element = tensor.data_type.and_then(ElementType::numbered);
    if element.is_some_and(|element| element.storage == Storage::String) {
        return wrong(format!("the strings of `{name}` are in `{location}`: only the model can have strings"));
    }
    let wanted = tensor.external_bytes();
    if element.is_some() && wanted.is_none() {
        return wrong(format!("the shape {:?} of `{name}` is not valid", &tensor.dims[..]));
    }
    if let (Some(given), Some(wanted)) = (given, wanted)
        && given != wanted
    {
        let message = format!("the data of `{name}` in `{location}` have {given} bytes, type and shape need {wanted}");
        return wrong(message);
    }
    Ok(DataLocation { name: name.into(), location: location.to_owned(), offset, length: wanted.or(given) })
}

/// The value of a key, which is given once.
fn value<'e>(entries: &'e [StringEntry], key: &str, name: &str) -> Result<Option<&'e str>, Wrong> {
    let mut values = entries.iter().filter(|entry| entry.key.as_deref() == Some(key));
    let first = values.next().map(|entry| entry.value.as_deref().unwrap_or_default());
    match values.any(|entry| entry.value.as_deref() != first) {
        true => wrong(format!("`{key}` of the data of `{name}` is given twice")),
        false => Ok(first),
    }
}

fn number(entries: &[StringEntry], key: &str, name: &str) -> Result<Option<u64>, Wrong> {
    let Some(text) = value(entries, key, name)? else { return Ok(None) };
    match text.trim().parse() {
        Ok(number) => Ok(Some(number)),
        Err(_) => wrong(format!("`{key}` of the data of `{name}` is `{text}`, not a number of bytes")),
    }
}

/// Whether a location is outside the folder of the model. Windows paths are on all systems, since models are moved
/// between systems.
fn leads_out(location: &str) -> bool {
    let windows = location.contains('\\') || location.as_bytes().get(1) == Some(&b':');
    let mut depth = 0_i64;
    let leaves = |component: Component| {
        depth += match component {
            Component::Normal(_) => 1,
            Component::CurDir => 0,
            Component::ParentDir => -1,
            Component::RootDir | Component::Prefix(_) => return true,
        };
        depth < 0
    };
    windows || Path::new(location).components().any(leaves)
}

/// The path of a location.
pub(in crate::onnx) fn path_of(location: &str) -> PathBuf {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        PathBuf::from(std::ffi::OsStr::from_bytes(&texts::encode(location)))
    }
    #[cfg(not(unix))]
    PathBuf::from(&*texts::written(location).unwrap_or_default())
}

/// The folder of a model, in which files are looked up once.
pub(in crate::onnx) struct Folder {
    root: PathBuf,
    known: FxHashMap<String, Result<(PathBuf, u64), Wrong>>,
}

impl Folder {
    /// The folder with a path; none if it cannot be found.
    pub(in crate::onnx) fn new(path: &Path) -> Option<Self> {
        Some(Folder { root: fs::canonicalize(path).ok()?, known: FxHashMap::default() })
    }

    /// The file at a location, if it is one in this folder.
    pub(in crate::onnx) fn file(&mut self, location: &str) -> Option<PathBuf> {
        self.find(location).ok().map(|(path, _)| path)
    }

    /// The path and the size of the file at a location. It is not opened: it may be a pipe.
    fn find(&mut self, location: &str) -> Result<(PathBuf, u64), Wrong> {
        if let Some(known) = self.known.get(location) {
            return known.clone();
        }
        let found = self.look_up(location);
        self.known.insert(location.to_owned(), found.clone());
        found
    }

    fn look_up(&self, location: &str) -> Result<(PathBuf, u64), Wrong> {
        let cannot = |error: std::io::Error| {
            let why = match error.kind() {
                std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
                kind => kind.to_string(),
            };
            Wrong { code: Code::OnnxExternalFile, message: format!("the external data `{location}`: {why}") }
        };
        let path = fs::canonicalize(self.root.join(path_of(location))).map_err(cannot)?;
        if !path.starts_with(&self.root) {
            return outside(format!("the external data `{location}`: a link points outside the folder of the model"));
        }
        let metadata = fs::metadata(&path).map_err(cannot)?;
        match metadata.is_file() {
            true => Ok((path, metadata.len())),
            false => wrong(format!("the external data `{location}`: this is not a regular file")),
        }
    }

    /// The file of the data of a tensor, where they begin in it, and how many bytes they are.
    ///
    /// # Errors
    ///
    /// The description is not consistent, or the file does not have the bytes.
    pub(in crate::onnx) fn range(&mut self, tensor: &TensorProto) -> Result<(PathBuf, u64, u64), String> {
        let unnamed = || "the data of a constant are not in the model".to_owned();
        let place = of(tensor, "a constant").ok_or_else(unnamed)?.map_err(|wrong| wrong.message)?;
        self.check(&place).map_err(|wrong| wrong.message)?;
        let (path, _) = self.find(&place.location).map_err(|wrong| wrong.message)?;
        Ok((path, place.offset, place.length.unwrap_or(0)))
    }

    /// Checks that the file of data exists and has as many bytes as it needs.
    pub(super) fn check(&mut self, place: &DataLocation) -> Result<(), Wrong> {
        let DataLocation { name, location, offset, length } = place;
        let (_, size) = self.find(location).map_err(|Wrong { code, message }| {
            let message = format!("{message}; it has the data of `{name}`");
            Wrong { code, message }
        })?;
        let end = offset.checked_add(length.unwrap_or(0));
        if end.is_some_and(|end| end <= size) {
            return Ok(());
        }
        let range = match length {
            Some(length) => format!("the {length} bytes of `{name}` at offset {offset}"),
            None => format!("the data of `{name}` at offset {offset}"),
        };
        wrong(format!("`{location}` ends after {size} bytes, before the end of {range}"))
    }
}
