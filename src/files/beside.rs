//! Files that are copied beside an output, as the data of a model are: all of them and the output, or none.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use super::{parent, temporary};

/// A file that is copied.
#[derive(Clone, Debug)]
pub(crate) struct Beside {
    /// The file.
    pub(crate) source: PathBuf,
    /// The path of the copy, relative to the folder of the output, and not out of it.
    pub(crate) at: PathBuf,
}

/// Copies that have temporary names. New folders are removed if the copies do not get their names.
#[derive(Debug, Default)]
pub(super) struct Staged {
    files: Vec<(temporary::File, PathBuf)>,
    /// The files that are copied to paths, which may be spelled in several ways.
    sources: HashMap<PathBuf, PathBuf>,
    folders: Vec<PathBuf>,
    kept: bool,
}

impl Staged {
    /// Copies files beside an output. The system copies them, so that they are never in memory.
    ///
    /// # Errors
    ///
    /// A file cannot be copied, or there is another file with its name.
    pub(super) fn new(output: &Path, files: &[Beside]) -> io::Result<Self> {
        let mut staged = Staged::default();
        if files.is_empty() {
            return Ok(staged);
        }
        let folder = fs::canonicalize(parent(output))?;
        for Beside { source, at } in files {
            staged.copy(&folder, output, source, at).map_err(|error| named(at, &error))?;
        }
        Ok(staged)
    }

    fn copy(&mut self, folder: &Path, output: &Path, source: &Path, at: &Path) -> io::Result<()> {
        let target = self.place(folder, at)?;
        if target == *output {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "this is the name of the output"));
        }
        if let Some(known) = self.sources.get(&target) {
            return match same(known, source)? {
                true => Ok(()),
                false => Err(io::Error::new(io::ErrorKind::AlreadyExists, "another file would have this name, too")),
            };
        }
        if fs::symlink_metadata(&target).is_ok() {
            return match same(source, &target)? {
                true => Ok(()),
                false => {
                    let message = "the folder of the output has another file with this name";
                    Err(io::Error::new(io::ErrorKind::AlreadyExists, message))
                }
            };
        }
        let copy = temporary::File::beside(&target)?;
        let mut out = copy.as_file();
        io::copy(&mut File::open(source)?, &mut out)?;
        copy.as_file().sync_all()?;
        self.sources.insert(target.clone(), source.to_owned());
        self.files.push((copy, target));
        Ok(())
    }

    /// The path of a copy, whose folders are created.
    fn place(&mut self, folder: &Path, at: &Path) -> io::Result<PathBuf> {
        let mut path = folder.to_owned();
        let mut components = at.components().peekable();
        while let Some(component) = components.next() {
            match component {
                Component::CurDir => {}
                Component::ParentDir if path != *folder => drop(path.pop()),
                Component::Normal(name) => {
                    path.push(name);
                    if components.peek().is_some() && !path.is_dir() {
                        fs::create_dir(&path)?;
                        self.folders.push(path.clone());
                    }
                }
                _ => return Err(io::Error::new(io::ErrorKind::InvalidInput, "this path leads outside the folder")),
            }
        }
        // A folder of the output may be a link.
        match fs::canonicalize(parent(&path))?.starts_with(folder) {
            true => Ok(path),
            false => Err(io::Error::new(io::ErrorKind::InvalidInput, "a link points outside the folder of the output")),
        }
    }

    /// Gives the copies and the output their names.
    ///
    /// # Errors
    ///
    /// None of them has its name.
    pub(super) fn persist(mut self, output: temporary::File, target: &Path) -> io::Result<()> {
        let folders: Vec<PathBuf> = self.files.iter().map(|(_, path)| parent(path).to_owned()).collect();
        temporary::persist_all(std::mem::take(&mut self.files), output, target)?;
        self.kept = true;
        folders.iter().for_each(|folder| super::sync_folder(folder));
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        self.files.clear();
        if !self.kept {
            self.folders.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
        }
    }
}

fn named(at: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("the external data `{}`: {error}", at.display()))
}

/// Whether two files are the same or have the same bytes.
fn same(a: &Path, b: &Path) -> io::Result<bool> {
    if fs::canonicalize(a)? == fs::canonicalize(b)? {
        return Ok(true);
    }
    let [sizes_a, sizes_b] = [fs::metadata(a)?, fs::metadata(b)?];
    if !sizes_b.is_file() || sizes_a.len() != sizes_b.len() {
        return Ok(false);
    }
    let (mut a, mut b) = (File::open(a)?, File::open(b)?);
    let (mut of_a, mut of_b) = (vec![0; PIECE], vec![0; PIECE]);
    loop {
        let count = full(&mut a, &mut of_a)?;
        if count != full(&mut b, &mut of_b)? || of_a[..count] != of_b[..count] {
            return Ok(false);
        }
        if count == 0 {
            return Ok(true);
        }
    }
}

/// The number of bytes that are compared at once.
const PIECE: usize = 1 << 16;

/// Reads until a buffer is full or the file ends.
fn full(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut count = 0;
    while count < buffer.len() {
        match file.read(&mut buffer[count..])? {
            0 => break,
            read => count += read,
        }
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::super::write_beside;
    use super::*;
    use std::io::Write;

    /// Writes an output `out` with copies; returns whether it was written.
    fn written(folder: &Path, files: &[Beside]) -> bool {
        let fill = |mut file: &File| file.write_all(b"model");
        write_beside(&folder.join("out"), files, |error| error, fill).is_ok()
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    /// A folder with the files `w` and `v`, and one for an output, in a temporary folder.
    fn folders() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let [source, output] = ["source", "output"].map(|name| folder.path().join(name));
        [&source, &output].iter().for_each(|folder| fs::create_dir(folder).unwrap());
        fs::write(source.join("w"), b"weights").unwrap();
        fs::write(source.join("v"), b"others").unwrap();
        (folder, source, output)
    }

    #[test]
    fn all_files_are_written_or_none() {
        let (_folder, source, output) = folders();
        let beside = |name: &str, at: &str| Beside { source: source.join(name), at: at.into() };
        // The second file is not there, leads out or is the output: nothing is written.
        for bad in [beside("gone", "u"), beside("v", "../v"), beside("v", "part/../../v"), beside("v", "out")] {
            assert!(!written(&output, &[beside("w", "part/w"), bad]));
            assert_eq!(names(&output), [""; 0]);
        }
        assert!(written(&output, &[beside("w", "part/w"), beside("v", "other/../v")]));
        assert_eq!(names(&output), ["other", "out", "part", "v"]);
        assert_eq!(fs::read(output.join("part/w")).unwrap(), b"weights");
        // The same bytes may be there already, other ones are not replaced.
        assert!(written(&output, &[beside("w", "part/w"), beside("v", "v")]));
        fs::write(source.join("v"), b"OTHERS").unwrap();
        assert!(!written(&output, &[beside("w", "new/w"), beside("v", "v")]));
        assert_eq!(names(&output), ["other", "out", "part", "v"]);
        assert_eq!(fs::read(output.join("v")).unwrap(), b"others");
    }

    #[test]
    fn paths_are_spelled_in_several_ways() {
        let (_folder, source, output) = folders();
        let beside = |name: &str, at: &str| Beside { source: source.join(name), at: at.into() };
        assert!(!written(&output, &[beside("w", "w"), beside("v", "./w")]));
        assert_eq!(names(&output), [""; 0]);
        assert!(written(&output, &[beside("w", "w"), beside("w", "./w"), beside("w", "part/../w")]));
        assert_eq!(names(&output), ["out", "part", "w"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_of_the_output_are_not_followed_out_of_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let [output, far] = ["output", "far"].map(|name| folder.path().join(name));
        [&output, &far].iter().for_each(|folder| fs::create_dir(folder).unwrap());
        fs::write(folder.path().join("w"), b"weights").unwrap();
        std::os::unix::fs::symlink(&far, output.join("part")).unwrap();
        assert!(!written(&output, &[Beside { source: folder.path().join("w"), at: "part/w".into() }]));
        assert_eq!((names(&far), names(&output)), (vec![], vec!["part".to_owned()]));
    }
}
