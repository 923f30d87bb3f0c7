//! The paths of outputs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder that a path is in.
pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The path of an output with links resolved, because their targets are written. Its last part need not
/// exist yet.
///
/// # Errors
///
/// Its folder does not exist, or it is a dangling link.
pub(crate) fn real(path: &Path) -> io::Result<PathBuf> {
    match fs::metadata(path) {
        // Links to open files of the process (`/proc/self/fd`) may have a target without a path.
        Ok(_) => Ok(fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let name = path.file_name().ok_or(error)?;
            let real = fs::canonicalize(parent(path))?.join(name);
            if fs::symlink_metadata(&real).is_ok_and(|metadata| metadata.is_symlink()) {
                return Err(io::Error::new(io::ErrorKind::NotFound, "this is a link that leads to nothing"));
            }
            Ok(real)
        }
        Err(error) => Err(error),
    }
}
