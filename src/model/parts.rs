//! Models that are made of a document and of files that it names: models of ONNX with external data.

use std::fs;
use std::path::{Component, Path};

use super::index::{ByteLocation, Index, ModelFile};
use super::path::clean;
use super::stored_model::Model;
use super::{Limits, ModelError};
use crate::diagnostics::Code;
use crate::files::Beside;

impl Model {
    /// A document with its name in the model, and the files at the paths that the document has for them.
    ///
    /// # Errors
    ///
    /// A name is not allowed in a model, denotes two files, or for a file and a folder; there are more files than
    /// the limits allow; or a file cannot be read.
    pub(crate) fn of_files(document: &Path, name: &str, files: &[Beside], limits: &Limits) -> Result<Self, ModelError> {
        let refuse = |(code, message): (Code, String)| ModelError::refused(code, document, message);
        let mut index = Index::default();
        clean(name).map_err(|why| refuse(wrong_name(Path::new(name), why)))?;
        // The bytes of the document are written apart; here it occupies its name.
        index.add(ModelFile::new(name.to_owned(), 0, ByteLocation::Kept(Box::default()))).map_err(refuse)?;
        for Beside { source, at } in files {
            let (file, passed) = plain(at).map_err(|why| refuse(wrong_name(at, why)))?;
            passed.iter().try_for_each(|folder| index.add_bare(folder)).map_err(refuse)?;
            match index.find(&file).map(ModelFile::on_disk) {
                Some(Some(known)) if known == source => continue,
                Some(Some(known)) => {
                    let (known, source) = (known.display(), source.display());
                    return Err(refuse((
                        Code::ModelDuplicate,
                        format!("`{file}` denotes two files, {known} and {source}"),
                    )));
                }
                Some(None) => {
                    let message = format!("`{file}` is the name of the model and of its external data");
                    let help = "write the model to a file with another name: -o FOLDER/NAME.onnx";
                    return Err(refuse((Code::ModelDuplicate, message)).help(help));
                }
                None => {}
            }
            let size = fs::metadata(source).map_err(|error| ModelError::io(source, error))?.len();
            index.add(ModelFile::new(file, size, ByteLocation::Disk(source.clone()))).map_err(refuse)?;
        }
        if index.exceeds(limits) {
            let entries = limits.entries;
            let message = format!("the model has more than {entries} files and folders, or names that are too long");
            return Err(refuse((Code::ModelLimit, message)));
        }
        Ok(Model { name: document.to_owned(), index, archive: None, limits: limits.clone() })
    }
}

fn wrong_name(name: &Path, why: &str) -> (Code, String) {
    (Code::ModelPath, format!("the name `{}` {why}", name.to_string_lossy().escape_debug()))
}

/// The name of a path within a model, and the folders that the path enters and leaves again: they have to exist for
/// the path to be followed.
fn plain(path: &Path) -> Result<(String, Vec<String>), &'static str> {
    let (mut parts, mut passed, mut entered) = (Vec::new(), Vec::new(), false);
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::Normal(part) => {
                parts.push(part.to_str().ok_or("is not UTF-8")?);
                entered = true;
            }
            Component::ParentDir if !parts.is_empty() => {
                if entered {
                    passed.push(clean(&parts.join("/"))?);
                }
                parts.pop();
                entered = false;
            }
            _ => return Err("leads outside the model"),
        }
    }
    Ok((clean(&parts.join("/"))?, passed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn paths_have_one_name() {
        let folders: [(&str, &str, &[&str]); 6] = [
            ("w", "w", &[]),
            ("./a//b/./w", "a/b/w", &[]),
            ("a/../w", "w", &["a"]),
            ("a/b/../../w", "w", &["a/b"]),
            ("a/b/../c/../w", "a/w", &["a/b", "a/c"]),
            ("a/..b", "a/..b", &[]),
        ];
        for (path, name, passed) in folders {
            let passed = passed.iter().map(|folder| (*folder).to_owned()).collect();
            assert_eq!(plain(Path::new(path)), Ok((name.to_owned(), passed)));
        }
        for path in ["", ".", "a/..", "../w", "a/../../w", "/w", "a\nb/../w", "a\\b", "w\x1b"] {
            assert!(plain(Path::new(path)).is_err(), "{path:?}");
        }
    }

    #[test]
    fn a_name_stands_for_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let source = |name: &str| {
            let path = folder.path().join(name);
            fs::write(&path, name).unwrap();
            path
        };
        let (w, v) = (source("w"), source("v"));
        let of = |files: &[(&PathBuf, &str)], limits: &Limits| {
            let files: Vec<Beside> =
                files.iter().map(|(source, at)| Beside { source: (*source).clone(), at: at.into() }).collect();
            let made = Model::of_files(Path::new("m"), "m.onnx", &files, limits);
            made.map(|model| model.files().map(|file| file.path().to_owned()).collect::<Vec<_>>()).map_err(|error| {
                let ModelError::Refused { code, .. } = error else { panic!("{error}") };
                code
            })
        };
        let all = Limits::default();
        assert_eq!(of(&[(&w, "w"), (&v, "a/v"), (&w, "b/../w")], &all).unwrap(), ["m.onnx", "w", "a/v"]);
        assert_eq!(of(&[(&w, "w"), (&v, "./w")], &all), Err(Code::ModelDuplicate));
        assert_eq!(of(&[(&w, "w"), (&v, "w/v")], &all), Err(Code::ModelDuplicate));
        assert_eq!(of(&[(&w, "w"), (&v, "w/../v")], &all), Err(Code::ModelDuplicate));
        assert_eq!(of(&[(&w, "m.onnx")], &all), Err(Code::ModelDuplicate));
        assert_eq!(of(&[(&w, "m.onnx/w")], &all), Err(Code::ModelDuplicate));
        assert_eq!(of(&[(&w, "a\tb")], &all), Err(Code::ModelPath));
        assert_eq!(of(&[(&w, "w"), (&v, "v")], &Limits { entries: 2, ..all }), Err(Code::ModelLimit));
    }
}
