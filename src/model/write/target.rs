//! Where and in which form a model is written.

use std::path::{Path, PathBuf};

use super::apart::apart;
use super::content::Content;
use super::{archive, folder};
use crate::model::error::ModelError;
use crate::model::recognize::has_archive_name;
use crate::model::stored_model::Model;

/// The path and the form in which a model is written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Target {
    /// Files in a folder.
    Folder(PathBuf),
    /// A tar archive.
    Tar(PathBuf),
    /// A tar archive compressed with gzip.
    TarGz(PathBuf),
}

impl Target {
    /// The target for a path: a folder if it ends in a slash or is a folder, an archive if it has the extension
    /// of one; otherwise none.
    ///
    /// ```
    /// use nnef_flatten::model::Target;
    ///
    /// assert_eq!(Target::of("flat/".as_ref()), Some(Target::Folder("flat/".into())));
    /// assert_eq!(Target::of("flat.tgz".as_ref()), Some(Target::TarGz("flat.tgz".into())));
    /// assert_eq!(Target::of("flat.nnef".as_ref()), None);
    /// ```
    pub fn of(path: &Path) -> Option<Self> {
        let text = path.as_os_str().as_encoded_bytes();
        let slash = text.ends_with(b"/") || cfg!(windows) && text.ends_with(b"\\");
        if slash || path.is_dir() {
            Some(Target::Folder(path.to_owned()))
        } else if has_archive_name(path) {
            let plain = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("tar"));
            Some(if plain { Target::Tar(path.to_owned()) } else { Target::TarGz(path.to_owned()) })
        } else {
            None
        }
    }

    /// The path.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Target::Folder(path) | Target::Tar(path) | Target::TarGz(path) => path,
        }
    }
}

impl Target {
    /// Writes a model. An existing folder or archive is replaced at the end; it is not changed if anything fails
    /// before.
    ///
    /// # Errors
    ///
    /// Reading or writing failed, or the existing target cannot be replaced: it is the model that is read,
    /// contains it or is inside it, or is a folder with files that the new model does not have.
    pub fn write(&self, content: &mut Content) -> Result<(), ModelError> {
        for source in content.files.iter().flat_map(|model| model.sources()) {
            apart(self.path(), source)?;
        }
        match self {
            Target::Folder(path) => folder::write(path, content),
            Target::Tar(path) => archive::write(path, false, content),
            Target::TarGz(path) => archive::write(path, true, content),
        }
    }
}

/// Replaces the archive that a model was read from.
///
/// # Errors
///
/// Reading or writing failed.
pub(crate) fn rewrite(model: &Model, content: &mut Content) -> Result<(), ModelError> {
    archive::write(model.name(), model.is_compressed(), content)
}
