//! Output files and folders: they are written completely or not at all, synchronized to disk before they
//! get their names, and leave nothing behind if a run is interrupted.

mod beside;
pub(crate) mod temporary;

pub(crate) use beside::Beside;

use std::fs::{self, File};
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
    let finish = || {
        if let Some(permissions) = permissions {
            file.as_file().set_permissions(permissions)?;
        }
        file.as_file().sync_all()?;
        staged.persist(file, &target)?;
        sync_folder(parent(&target));
        Ok(())
    };
    finish().map_err(fail)
}

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

/// Replaces the folder `target` by `new`; `old` is a name next to `new` for the previous folder. If the
/// system can exchange two names in one step, `target` exists at any time.
///
/// # Errors
///
/// The folder is not replaced.
pub(crate) fn replace_folder(new: &Path, target: &Path, old: &Path) -> io::Result<()> {
    // Between the two steps the old folder is in a temporary folder, which must not be removed then.
    let _held = temporary::hold();
    if !target.exists() {
        return fs::rename(new, target);
    }
    if exchange(new, target)? {
        return Ok(());
    }
    fs::rename(target, old)?;
    let moved = fs::rename(new, target);
    if moved.is_err() {
        fs::rename(old, target)?;
    }
    moved
}

/// Exchanges two names in one step. Returns false if the system or the file system cannot do that.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn exchange(a: &Path, b: &Path) -> io::Result<bool> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn exchange(_: &Path, _: &Path) -> io::Result<bool> {
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_file_is_written_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let text = |text: &'static str| move |mut file: &File| file.write_all(text.as_bytes());
        write(&path, |error| error, text("one")).unwrap();
        let failed = write(&path, |error| error, |file| text("two")(file).and(Err(io::Error::other("no more"))));
        assert_eq!(failed.unwrap_err().to_string(), "no more");
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        write(&path, |error| error, text("three")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("real"), folder.path().join("link"));
        symlink(&path, &link).unwrap();
        let text = |text: &'static str| move |mut file: &File| file.write_all(text.as_bytes());
        let dangling = write(&link, |error| error, text("one")).unwrap_err();
        assert!(dangling.to_string().contains("a link that leads to nothing") && !path.exists());
        fs::write(&path, "one").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        write(&link, |error| error, text("two")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[cfg(unix)]
    #[test]
    fn temporary_folders_are_removed_whatever_their_permissions() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let stage = temporary::Folder::beside(&folder.path().join("out")).unwrap();
        let locked = stage.path().join("locked");
        fs::create_dir_all(locked.join("inner")).unwrap();
        fs::write(locked.join("inner/text"), "").unwrap();
        for path in [locked.join("inner"), locked] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o500)).unwrap();
        }
        drop(stage);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn folders_are_exchanged_or_moved_in_two_steps() {
        let folder = tempfile::tempdir().unwrap();
        let [new, target, old] = ["new", "target", "old"].map(|name| folder.path().join(name));
        for text in ["first", "second"] {
            fs::create_dir(&new).unwrap();
            fs::write(new.join("text"), text).unwrap();
            sync(&new).unwrap();
            replace_folder(&new, &target, &old).unwrap();
            assert_eq!(fs::read_to_string(target.join("text")).unwrap(), text);
        }
        let left = if new.exists() { new } else { old };
        assert_eq!(fs::read_to_string(left.join("text")).unwrap(), "first");
    }
}
