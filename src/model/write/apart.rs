//! The target of a model is not its source.

use std::fs;
use std::io::{self};
use std::path::{Path, PathBuf};

use crate::files::{parent, real};
use crate::model::error::ModelError;

/// Refuses a target that is the source, is inside it, or contains it.
pub(super) fn apart(target: &Path, source: &Path) -> Result<(), ModelError> {
    let (Ok(link), Ok(real)) = (unresolved(source), real(target)) else { return Ok(()) };
    let Ok(source) = fs::canonicalize(source) else { return Ok(()) };
    let relation = if real == source {
        "is the model that is read"
    } else if real.starts_with(&source) {
        "is within the model that is read"
    } else if source.starts_with(&real) || link.starts_with(&real) {
        "holds the model that is read"
    } else {
        return Ok(());
    };
    Err(ModelError::Target(format!("{}: the output {relation}; choose another place", target.display())))
}

/// The path of a file or a link to it, in its real folder.
fn unresolved(path: &Path) -> io::Result<PathBuf> {
    let folder = fs::canonicalize(parent(path))?;
    Ok(path.file_name().map_or(folder.clone(), |name| folder.join(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_apart_from_its_source() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("m");
        fs::create_dir(&source).unwrap();
        for (target, fine) in [("m", false), ("m/x", false), ("", false), ("n", true), ("mm", true), ("no/such", true)]
        {
            assert_eq!(apart(&folder.path().join(target), &source).is_ok(), fine, "{target}");
        }
    }
}
