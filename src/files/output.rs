//! Output files: written beside their place, then renamed.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::beside::Beside;
use super::disk::sync_folder;
use super::paths::{parent, real};
use super::{beside, temporary};

/// The bytes from which on a new file is not synchronized to disk: that takes several times as long as a copy of it, and
/// if the power fails, nothing is lost that was there before. A file that is replaced must not be lost.
const LARGE: u64 = 64 << 20;

/// Whether output of so many bytes is synchronized to disk before it gets its name.
pub(crate) fn is_synced(bytes: u64, replaces: bool) -> bool {
    replaces || bytes < LARGE
}

/// Writes a temporary file in the same folder and renames it. Devices and pipes are written directly,
/// and links are kept: their targets are replaced.
///
/// # Errors
///
/// Errors of `fill`, and errors of the system, converted by `fail`.
pub(crate) fn write<E>(
    path: &Path,
    fail: impl Fn(io::Error) -> E,
    fill: impl FnOnce(&File) -> Result<(), E>,
) -> Result<(), E> {
    write_beside(path, &[], fail, fill)
}

/// Writes a file as [`write`] does, and copies others beside it: all of them, or none. Nothing is copied beside devices
/// and pipes.
///
/// # Errors
///
/// Those of [`write`]; a file cannot be copied; or there is another file with its name, which is not replaced.
pub(crate) fn write_beside<E>(
    path: &Path,
    others: &[Beside],
    fail: impl Fn(io::Error) -> E,
    fill: impl FnOnce(&File) -> Result<(), E>,
) -> Result<(), E> {
    let target = real(path).map_err(&fail)?;
    let permissions = match fs::metadata(&target) {
        Ok(metadata) if metadata.is_dir() => return Err(fail(io::ErrorKind::IsADirectory.into())),
        Ok(metadata) if metadata.is_file() => Some(metadata.permissions()),
        Ok(_) => return fill(&File::options().write(true).open(&target).map_err(&fail)?),
        Err(_) => None,
    };
    let staged = beside::Staged::new(&target, others).map_err(&fail)?;
    let file = temporary::File::beside(&target).map_err(&fail)?;
    fill(file.as_file())?;
    let replaces = permissions.is_some();
    let finish = || {
        if let Some(permissions) = permissions {
            file.as_file().set_permissions(permissions)?;
        }
        if is_synced(file.as_file().metadata()?.len(), replaces) {
            file.as_file().sync_all()?;
        }
        staged.persist(file, &target)?;
        sync_folder(parent(&target));
        Ok(())
    };
    finish().map_err(fail)
}
