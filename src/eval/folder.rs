//! Data of variables in a model folder: `<label>.dat` (5.1).

use std::fs::File;
use std::path::{Component, PathBuf};

use super::Variables;
use crate::tensor::dat::read_from;
use crate::tensor::{DType, Tensor, TensorError};

/// A folder with tensor files named after the labels of variables.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The files of a folder.
    pub(crate) fn new(path: impl Into<PathBuf>) -> Self {
        Folder { path: path.into() }
    }

    /// The file of a label; none for labels that lead out of the folder. Exporters on Windows
    /// separate folders by a backslash.
    fn file(&self, label: &str) -> Option<PathBuf> {
        // Some exporters write labels with a leading slash, but file names without it.
        let label = label.replace('\\', "/");
        let relative = PathBuf::from(format!("{}.dat", label.trim_start_matches('/')));
        let inside = relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        inside.then(|| self.path.join(relative))
    }
}

impl Variables for Folder {
    fn load(&self, label: &str, _: &[usize], of: Option<DType>) -> Result<Option<Tensor>, TensorError> {
        let Some(path) = self.file(label) else {
            return Err(TensorError::new("the label leads out of the folder of the model"));
        };
        if !path.is_file() {
            return Ok(None);
        }
        let fail = |error: std::io::Error| TensorError::new(format!("{}: {error}", path.display()));
        let mut file = File::open(&path).map_err(fail)?;
        let length = file.metadata().map_err(fail)?.len();
        read_from(&mut file, length, of).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_stay_within_the_folder() {
        let folder = Folder::new("model");
        assert_eq!(folder.file("a/b.c"), Some(PathBuf::from("model/a/b.c.dat")));
        assert_eq!(folder.file("/a"), Some(PathBuf::from("model/a.dat")));
        assert_eq!(folder.file(r"a\b"), Some(PathBuf::from("model/a/b.dat")));
        for label in [r"..\a", "../a", "a/../../b", "/../a"] {
            assert!(folder.file(label).is_none(), "{label}");
        }
        assert!(folder.load("../a", &[], None).is_err());
        assert_eq!(folder.load("missing", &[], None), Ok(None));
    }
}
