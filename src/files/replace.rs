//! A folder is replaced by another.

use std::fs;
use std::io;
use std::path::Path;

use super::temporary;

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
