//! What is temporary: files and folders with names, which are removed when they are not needed any
//! more, or when the run is interrupted.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tempfile::{Builder, NamedTempFile, TempDir};

use super::parent;

/// How the names begin.
const PREFIX: &str = ".nnef-flatten-";

/// The names of all that is there now, in this process: a signal comes to the process, not to the run
/// that makes something, and whoever waits for it has to know what to remove.
static NAMES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Keeps an interruption waiting, and everything that makes something temporary.
pub(crate) fn hold() -> Held {
    Held(NAMES.lock().unwrap_or_else(PoisonError::into_inner))
}

/// While it lives, nothing temporary is made, and none is removed by an interruption.
pub(crate) struct Held(MutexGuard<'static, Vec<PathBuf>>);

/// Removes all that is temporary. As long as the result lives nothing new is made, so that a process
/// which ends meanwhile leaves nothing behind.
pub(crate) fn remove_all() -> Held {
    let held = hold();
    for name in held.0.iter() {
        // The run goes on until it notices that the folder is gone.
        for _ in 0..100 {
            let removed = if name.is_dir() { fs::remove_dir_all(name) } else { fs::remove_file(name) };
            if removed.is_ok() || !name.exists() {
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
    held
}

/// The entry of a name, until it is dropped.
#[derive(Debug)]
struct Entry(PathBuf);

impl Drop for Entry {
    fn drop(&mut self) {
        hold().0.retain(|name| *name != self.0);
    }
}

/// Makes something beside a target, and notes its name.
fn made<T>(
    target: &Path,
    make: impl FnOnce(&Builder, &Path) -> io::Result<T>,
    name: impl FnOnce(&T) -> &Path,
) -> io::Result<(T, Entry)> {
    // Gives a better message than the failure to make something temporary.
    fs::metadata(parent(target))?;
    let mut builder = Builder::new();
    builder.prefix(PREFIX);
    let mut held = hold();
    // A message does not show the temporary name.
    let made = make(&builder, parent(target)).map_err(|error| io::Error::from(error.kind()))?;
    let entry = Entry(name(&made).to_owned());
    held.0.push(entry.0.clone());
    Ok((made, entry))
}

/// A temporary file. It is removed before its entry is.
#[derive(Debug)]
pub(crate) struct File {
    file: NamedTempFile,
    _entry: Entry,
}

impl File {
    /// A file beside a target, with the usual permissions of new files.
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

    /// Gives it its name for good.
    pub(crate) fn persist(self, target: &Path) -> io::Result<()> {
        self.file.persist(target).map(drop).map_err(|error| error.error)
    }
}

/// A temporary folder. It is removed before its entry is.
#[derive(Debug)]
pub(crate) struct Folder {
    folder: TempDir,
    _entry: Entry,
}

impl Folder {
    /// A folder beside a target.
    pub(crate) fn beside(target: &Path) -> io::Result<Folder> {
        let (folder, _entry) = made(target, |builder, folder| builder.tempdir_in(folder), |folder| folder.path())?;
        Ok(Folder { folder, _entry })
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}
