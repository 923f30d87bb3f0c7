//! Models in folders.

use std::fs::{self, File, FileType};
use std::io;
use std::path::{Path, PathBuf};

use super::error::ModelError;
use super::index::{ByteLocation, Index, ModelFile};
use super::limits::Limits;
use super::path::clean;
use crate::diagnostics::Code;

/// Lists the files of a folder and its subfolders, sorted by name. Names that begin with a dot are ignored.
pub(super) fn list(folder: &Path, limits: &Limits) -> Result<Index, ModelError> {
    let fail = |path: &Path, error| ModelError::io(path, error);
    let root = fs::canonicalize(folder).map_err(|error| fail(folder, error))?;
    let mut found: Vec<(String, PathBuf, u64)> = Vec::new();
    let mut open = vec![(String::new(), root.clone())];
    let (mut seen, mut bytes) = (0, 0);
    while let Some((prefix, path)) = open.pop() {
        for entry in fs::read_dir(&path).map_err(|error| fail(&path, error))? {
            let entry = entry.map_err(|error| fail(&path, error))?;
            seen += 1;
            bytes += prefix.len() + entry.file_name().len();
            if seen > limits.entries || bytes > limits.names {
                let entries = limits.entries;
                let message =
                    format!("the folder has more than {entries} files and folders, or names that are too long");
                return Err(ModelError::refused(Code::ModelLimit, folder, message));
            }
            let name = entry.file_name();
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let Some(name) = name.to_str() else {
                let message = format!("the name `{}` is not UTF-8", name.to_string_lossy().escape_debug());
                return Err(ModelError::refused(Code::ModelPath, folder, message));
            };
            let name = clean(&format!("{prefix}{name}")).map_err(|why| {
                let message = format!("the name `{prefix}{}` {why}", name.escape_debug());
                ModelError::refused(Code::ModelPath, folder, message)
            })?;
            let kind = entry.file_type().map_err(|error| fail(&path, error))?;
            let file = resolve(folder, &root, &name, entry.path(), kind)?;
            if kind.is_dir() {
                open.push((format!("{name}/"), file));
            } else {
                let size = fs::metadata(&file).map_err(|error| fail(&file, error))?.len();
                found.push((name, file, size));
            }
        }
    }
    found.sort_unstable();
    let mut index = Index::default();
    for (name, path, size) in found {
        let added = index.add(ModelFile::new(name, size, ByteLocation::Disk(path)));
        added.map_err(|(code, message)| ModelError::refused(code, folder, message))?;
    }
    Ok(index)
}

/// The file with a valid name in a folder, by the rules of [`list`], if it exists. Other files are not checked, so the
/// folder may contain other things than a model.
pub(super) fn find(folder: &Path, name: &str) -> Result<Option<ModelFile>, ModelError> {
    let root = fs::canonicalize(folder).map_err(|error| ModelError::io(folder, error))?;
    let ends = name.match_indices('/').map(|(at, _)| at).chain([name.len()]);
    for end in ends {
        let path = root.join(&name[..end]);
        let metadata = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(ModelError::io(&path, error)),
        };
        let kind = metadata.file_type();
        let file = resolve(folder, &root, &name[..end], path, kind)?;
        if end < name.len() {
            continue;
        }
        if kind.is_dir() {
            return Err(ModelError::refused(Code::ModelEntry, folder, format!("`{name}` is a folder, not a file")));
        }
        let size = fs::metadata(&file).map_err(|error| ModelError::io(&file, error))?.len();
        return Ok(Some(ModelFile::new(name.to_owned(), size, ByteLocation::Disk(file))));
    }
    Ok(None)
}

/// Opens a file that was found before. If it has been replaced by something that is not a file, it is refused: opening
/// a pipe would wait for its writer.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags((OFlags::NONBLOCK | OFlags::NOFOLLOW).bits() as i32);
    }
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("this is a device, pipe or socket, not a file"));
    }
    Ok(file)
}

/// The path of an entry, after following links within the model.
fn resolve(folder: &Path, root: &Path, name: &str, path: PathBuf, kind: FileType) -> Result<PathBuf, ModelError> {
    if kind.is_dir() || kind.is_file() {
        return Ok(path);
    }
    if !kind.is_symlink() {
        let message = format!("`{name}` is a device, pipe or socket, not a file");
        return Err(ModelError::refused(Code::ModelEntry, folder, message));
    }
    let target = fs::canonicalize(&path).map_err(|error| ModelError::io(&path, error))?;
    if !target.starts_with(root) {
        let message = format!("`{name}` is a link that points outside the model");
        let refused = ModelError::refused(Code::ModelPath, folder, message);
        return Err(refused.help("replace it by the file itself"));
    }
    if !fs::metadata(&target).is_ok_and(|metadata| metadata.is_file()) {
        let message = format!("`{name}` is a link that does not point to a file");
        return Err(ModelError::refused(Code::ModelEntry, folder, message));
    }
    Ok(target)
}
