//! How an archive is recognized.

use std::path::Path;

use super::input::GZIP;

/// Whether bytes are the start of a gzip file or a tar archive. At least 512 bytes are needed to recognize a tar
/// archive.
pub(crate) fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(&GZIP) || bytes.get(257..262) == Some(b"ustar")
}

/// The endings of archives.
pub(crate) const ARCHIVES: [&str; 3] = [".tar", ".tar.gz", ".tgz"];

/// Whether a file name has the extension of an archive.
pub(crate) fn has_archive_name(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    ARCHIVES.iter().any(|extension| name.ends_with(extension))
}
