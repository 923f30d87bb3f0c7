//! Files and folders are synchronized to disk.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Synchronizes a folder and its contents to disk.
///
/// # Errors
///
/// A file could not be written.
pub(crate) fn sync(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync(&entry.path())?;
            continue;
        }
        match File::open(entry.path()).and_then(|file| file.sync_all()) {
            // The target of a link may be a file that this process must not read.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            result => result?,
        }
    }
    sync_folder(folder);
    Ok(())
}

/// Synchronizes the names in a folder to disk, on systems that support it.
pub(crate) fn sync_folder(folder: &Path) {
    if cfg!(unix) {
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}
