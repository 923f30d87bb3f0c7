//! Temporary files and folders, which are removed when they are dropped or the run is interrupted.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{Builder, NamedTempFile, TempDir};

use super::parent;

/// The prefix of their names.
const PREFIX: &str = ".nnef-flatten-";

/// The paths of all temporary files and folders of this process: a signal is sent to the process, so the
/// thread that waits for it has to know what to remove.
static NAMES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Blocks interruptions and the creation of temporary files and folders, while the result lives.
pub(crate) fn hold() -> Held {
    Held(NAMES.lock().unwrap_or_else(PoisonError::into_inner))
}

/// While it lives, no temporary file or folder is created, and none is removed by an interruption.
pub(crate) struct Held(MutexGuard<'static, Vec<PathBuf>>);

/// Removes all temporary files and folders. While the result lives none is created, so that a process
/// which ends meanwhile leaves nothing behind.
#[cfg(unix)] // Elsewhere no signals are waited for.
pub(crate) fn remove_all() -> Held {
    let held = hold();
    for name in held.0.iter() {
        // Other threads may still write into a folder, so its removal can fail at first.
        for _ in 0..100 {
            let removed = if name.is_dir() { remove(name) } else { fs::remove_file(name) };
            if removed.is_ok() || !name.exists() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
    held
}

/// Removes a folder with all that is in it, also if some of its folders may not be changed: it may be an output that
/// has been replaced.
fn remove(folder: &Path) -> io::Result<()> {
    fs::remove_dir_all(folder).or_else(|_| {
        unlock(folder)?;
        fs::remove_dir_all(folder)
    })
}

/// Permits this process to change a folder and the folders in it.
fn unlock(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            unlock(&entry.path())?;
        }
    }
    Ok(())
}

/// A path in [`NAMES`], which is removed from there on drop.
#[derive(Debug)]
struct TemporaryPath(PathBuf);

impl Drop for TemporaryPath {
    fn drop(&mut self) {
        hold().0.retain(|name| *name != self.0);
    }
}

/// Creates a temporary file or folder in the folder of a target, and registers its path.
fn made<T>(
    target: &Path,
    make: impl FnOnce(&Builder, &Path) -> io::Result<T>,
    name: impl FnOnce(&T) -> &Path,
) -> io::Result<(T, TemporaryPath)> {
    // Fails with a better message if the folder does not exist.
    fs::metadata(parent(target))?;
    let mut builder = Builder::new();
    builder.prefix(PREFIX);
    let mut held = hold();
    // The message must not contain the temporary name.
    let made = make(&builder, parent(target)).map_err(|error| io::Error::from(error.kind()))?;
    let entry = TemporaryPath(name(&made).to_owned());
    held.0.push(entry.0.clone());
    Ok((made, entry))
}

/// A temporary file. It is removed before its entry is.
#[derive(Debug)]
pub(crate) struct File {
    file: NamedTempFile,
    _entry: TemporaryPath,
}

impl File {
    /// A file in the folder of a target, with the usual permissions of new files.
    pub(crate) fn beside(target: &Path) -> io::Result<File> {
        let make = |builder: &Builder, folder: &Path| {
            #[cfg(unix)]
            let mut builder = builder.clone();
            #[cfg(unix)]
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
            builder.tempfile_in(folder)
        };
        let (file, _entry) = made(target, make, |file| file.path())?;
        Ok(File { file, _entry })
    }

    /// The open file.
    pub(crate) fn as_file(&self) -> &fs::File {
        self.file.as_file()
    }
}

/// Renames files to their final names, and one file more, which may replace another. No interruption falls in between.
///
/// # Errors
///
/// No file has its name: one of them exists already, or cannot be renamed.
pub(crate) fn persist_all(files: Vec<(File, PathBuf)>, last: File, target: &Path) -> io::Result<()> {
    // The entries of the files are dropped after the lock, which they take.
    let mut entries = Vec::new();
    let held = hold();
    let mut done: Vec<PathBuf> = Vec::new();
    let mut result = Ok(());
    for (File { file, _entry }, path) in files {
        entries.push(_entry);
        // After a failure, the other files are dropped.
        if result.is_ok() {
            result = file.persist_noclobber(&path).map(drop).map_err(|error| error.error);
            done.extend(result.is_ok().then_some(path));
        }
    }
    entries.push(last._entry);
    let result = result.and_then(|()| last.file.persist(target).map(drop).map_err(|error| error.error));
    if result.is_err() {
        done.iter().for_each(|path| drop(fs::remove_file(path)));
    }
    drop(held);
    result
}

/// A temporary folder. It is removed before its entry is.
#[derive(Debug)]
pub(crate) struct Folder {
    folder: TempDir,
    _entry: TemporaryPath,
}

impl Folder {
    /// A folder in the folder of a target.
    pub(crate) fn beside(target: &Path) -> io::Result<Folder> {
        let (folder, _entry) = made(target, |builder, folder| builder.tempdir_in(folder), |folder| folder.path())?;
        Ok(Folder { folder, _entry })
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = remove(self.folder.path());
    }
}
