//! Writing models into folders.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::content::{Content, Staged};
use super::copy::copy;
use crate::files::{self, real, temporary};
use crate::model::error::ModelError;
use crate::model::names::{DATA, GRAPH, QUANT};

/// Creates the folders in a file's name, or all of a name that ends in a slash, within an existing folder.
fn make_folders(within: &Path, file: &str) -> io::Result<()> {
    for (at, _) in file.match_indices('/') {
        match fs::create_dir(within.join(&file[..at])) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Writes a model into a folder.
pub(crate) fn write(path: &Path, content: &mut Content) -> Result<(), ModelError> {
    let fail = |error| ModelError::io(path, error);
    let target = real(path).map_err(fail)?;
    replaceable(path, &target, content)?;
    let stage = temporary::Folder::beside(&target).map_err(fail)?;
    let files = stage.path().join("new");
    fs::create_dir(&files).map_err(fail)?;
    let mut text = || -> io::Result<()> {
        let mut graph = BufWriter::with_capacity(1 << 16, File::create_new(files.join(content.document))?);
        (content.graph)(&mut graph)?;
        graph.flush()?;
        match content.quant {
            Some(quant) => fs::write(files.join(QUANT), quant),
            None => Ok(()),
        }
    };
    text().map_err(fail)?;
    let (wanted, linked) = (content.copied(), content.linked);
    if let Some(model) = content.files {
        for folder in model.bare_folders() {
            make_folders(&files, &format!("{folder}/")).map_err(fail)?;
        }
        let mut progress = |bytes| content.progress.iter_mut().for_each(|progress| progress(bytes));
        model.each(wanted, |file, bytes| {
            let to = files.join(file.path());
            let fail = |error| ModelError::io(&path.join(file.path()), error);
            make_folders(&files, file.path()).map_err(fail)?;
            // The bytes are copied if no hard link can be created.
            if linked && file.on_disk().is_some_and(|from| fs::hard_link(from, &to).is_ok()) {
                progress(file.size());
                return Ok(());
            }
            let mut out = File::create_new(&to).map_err(fail)?;
            copy(bytes, &mut out, file.size(), &mut progress).map_err(fail)
        })?;
    }
    if let Some(look) = &mut content.look {
        look(Staged::Folder(&files)).map_err(fail)?;
    }
    finish(&files, &target, &stage.path().join("old"), content.size()).map_err(fail)
}

/// Replaces the target by the new files, so many bytes beside the texts.
fn finish(new: &Path, target: &Path, old: &Path, bytes: u64) -> io::Result<()> {
    let replaced = fs::metadata(target);
    if files::is_synced(bytes, replaced.is_ok()) {
        files::sync(new)?;
    }
    if let Ok(replaced) = replaced {
        fs::set_permissions(new, replaced.permissions())?;
    }
    files::replace_folder(new, target, old)?;
    files::sync_folder(files::parent(target));
    Ok(())
}

/// Refuses a target with files that would be lost, except for those of a model and those that the new model also has.
/// Also refuses a target that contains the working folder.
fn replaceable(path: &Path, target: &Path, content: &Content) -> Result<(), ModelError> {
    let fail = |error| ModelError::io(path, error);
    match fs::metadata(target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(fail(error)),
        Ok(metadata) if !metadata.is_dir() => return Err(fail(io::ErrorKind::NotADirectory.into())),
        Ok(_) => {}
    }
    // A process in this folder would lose its working folder.
    if std::env::current_dir().and_then(fs::canonicalize).is_ok_and(|working| working.starts_with(target)) {
        let message = format!("{}: the output would replace the working folder; choose another folder", path.display());
        return Err(ModelError::Target(message));
    }
    let model = content.is_nnef() && target.join(GRAPH).is_file();
    let mut open = vec![(String::new(), target.to_owned())];
    while let Some((prefix, folder)) = open.pop() {
        for entry in fs::read_dir(&folder).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.file_type().map_err(fail)?.is_dir() {
                open.push((format!("{name}/"), entry.path()));
            } else if !content.has(&name) && !(model && (name == QUANT || name.ends_with(DATA))) {
                let path = path.display();
                let message = format!("{path}: the folder has `{name}`, which would be deleted; choose another folder");
                return Err(ModelError::Target(message));
            }
        }
    }
    Ok(())
}
