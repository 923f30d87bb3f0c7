//! Writing models into folders.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::super::error::ModelError;
use super::super::{DATA, GRAPH, QUANT};
use super::{Content, copy, parent, real};

/// A temporary folder beside the target, with the new files, and the old ones while they are
/// replaced.
struct Stage {
    folder: TempDir,
}

impl Stage {
    fn beside(target: &Path) -> io::Result<Self> {
        // Gives a better message than the failure to make a folder.
        fs::metadata(parent(target))?;
        let made = tempfile::Builder::new().prefix(".nnef-flatten-").tempdir_in(parent(target));
        let folder = made.map_err(|error| io::Error::from(error.kind()))?;
        fs::create_dir(folder.path().join("new"))?;
        Ok(Stage { folder })
    }

    fn new_files(&self) -> PathBuf {
        self.folder.path().join("new")
    }

    /// Replaces the target by the new files.
    fn finish(self, target: &Path) -> io::Result<()> {
        let (new, old) = (self.new_files(), self.folder.path().join("old"));
        let replaces = target.exists();
        if replaces {
            fs::set_permissions(&new, fs::metadata(target)?.permissions())?;
            fs::rename(target, &old)?;
        }
        let moved = fs::rename(&new, target);
        if moved.is_err() && replaces {
            fs::rename(&old, target)?;
        }
        moved
    }
}

/// Writes a model into a folder.
pub(crate) fn write(path: &Path, content: &mut Content) -> Result<(), ModelError> {
    let fail = |error| ModelError::io(path, error);
    let target = real(path).map_err(fail)?;
    replaceable(path, &target, content)?;
    let stage = Stage::beside(&target).map_err(fail)?;
    let files = stage.new_files();
    let mut text = || -> io::Result<()> {
        let mut graph = BufWriter::with_capacity(1 << 16, File::create_new(files.join(GRAPH))?);
        (content.graph)(&mut graph)?;
        graph.flush()?;
        match content.quant {
            Some(quant) => fs::write(files.join(QUANT), quant),
            None => Ok(()),
        }
    };
    text().map_err(fail)?;
    let wanted = content.copied();
    if let Some(model) = content.files {
        let mut progress = |bytes| content.progress.iter_mut().for_each(|progress| progress(bytes));
        model.each(wanted, |file, bytes| {
            let to = files.join(file.path());
            let fail = |error| ModelError::io(&path.join(file.path()), error);
            if let Some(folder) = to.parent() {
                fs::create_dir_all(folder).map_err(fail)?;
            }
            // A hard link needs no copy; where none can be made, the bytes are copied.
            if file.on_disk().is_some_and(|from| fs::hard_link(from, &to).is_ok()) {
                progress(file.size());
                return Ok(());
            }
            let mut out = File::create_new(&to).map_err(fail)?;
            copy(bytes, &mut out, file.size(), &mut progress).map_err(fail)
        })?;
    }
    stage.finish(&target).map_err(fail)
}

/// Refuses a target with files that would be lost: all but those of a model, and those that the new
/// model has, too. The working folder is not replaced, either.
fn replaceable(path: &Path, target: &Path, content: &Content) -> Result<(), ModelError> {
    let fail = |error| ModelError::io(path, error);
    match fs::metadata(target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(fail(error)),
        Ok(metadata) if !metadata.is_dir() => return Err(fail(io::ErrorKind::NotADirectory.into())),
        Ok(_) => {}
    }
    // Processes that work in it would be left without a folder.
    if std::env::current_dir().and_then(fs::canonicalize).is_ok_and(|working| working.starts_with(target)) {
        let message = format!("{}: the output would replace the working folder; choose another folder", path.display());
        return Err(ModelError::Target(message));
    }
    let model = target.join(GRAPH).is_file();
    let mut open = vec![(String::new(), target.to_owned())];
    while let Some((prefix, folder)) = open.pop() {
        for entry in fs::read_dir(&folder).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.file_type().map_err(fail)?.is_dir() {
                open.push((format!("{name}/"), entry.path()));
            } else if !content.has(&name) && !(model && (name == QUANT || name.ends_with(DATA))) {
                let path = path.display();
                let message = format!("{path}: the folder has `{name}`, which would be lost; choose another folder");
                return Err(ModelError::Target(message));
            }
        }
    }
    Ok(())
}
