//! Writing models into archives.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

use super::content::{Content, Staged};
use super::copy::copy;
use crate::files::{self, parent};
use crate::model::error::ModelError;
use crate::model::names::QUANT;

/// The time of all entries, so that the output depends only on the model: 1980, the earliest time that all programs can
/// represent.
const TIME: u64 = 315_532_800;
/// The compression level: weights are hardly compressible at any level.
const EFFORT: u32 = 3;

/// Writes a model into an archive.
pub(crate) fn write(path: &Path, compressed: bool, content: &mut Content) -> Result<(), ModelError> {
    files::write(
        path,
        |error| ModelError::io(path, error),
        |file| {
            fill(file, path, compressed, content)?;
            match &mut content.look {
                Some(look) => look(Staged::Archive(file)).map_err(|error| ModelError::io(path, error)),
                None => Ok(()),
            }
        },
    )
}

fn fill(file: impl Write, path: &Path, compressed: bool, content: &mut Content) -> Result<(), ModelError> {
    let mut out = BufWriter::with_capacity(1 << 18, file);
    if compressed {
        let mut encoder = GzEncoder::new(&mut out, Compression::new(EFFORT));
        entries(&mut encoder, path, content)?;
        encoder.finish().map_err(|error| ModelError::io(path, error))?;
    } else {
        entries(&mut out, path, content)?;
    }
    out.flush().map_err(|error| ModelError::io(path, error))
}

fn entries(out: &mut dyn Write, path: &Path, content: &mut Content) -> Result<(), ModelError> {
    let fail = |error| ModelError::io(path, error);
    let mut archive = Builder::new(out);
    // The header, which contains the length of the text, precedes it.
    let mut text = || -> io::Result<File> {
        let file = tempfile::tempfile_in(parent(path)).or_else(|_| tempfile::tempfile())?;
        let mut file = BufWriter::with_capacity(1 << 16, file);
        (content.graph)(&mut file)?;
        let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        Ok(file)
    };
    let text = text().map_err(fail)?;
    let length = text.metadata().map_err(fail)?.len();
    append(&mut archive, content.document, length, &mut BufReader::new(text), &mut |_| {}).map_err(fail)?;
    if let Some(mut quant) = content.quant {
        append(&mut archive, QUANT, quant.len() as u64, &mut quant, &mut |_| {}).map_err(fail)?;
    }
    let wanted = content.copied();
    if let Some(model) = content.files {
        model.bare_folders().try_for_each(|folder| append_folder(&mut archive, folder)).map_err(fail)?;
        let mut progress = |bytes| content.progress.iter_mut().for_each(|progress| progress(bytes));
        model.each(wanted, |file, bytes| {
            append(&mut archive, file.path(), file.size(), bytes, &mut progress).map_err(fail)
        })?;
    }
    archive.finish().map_err(fail)
}

/// Adds a file. A long name is written in a separate header.
fn append(
    archive: &mut Builder<&mut dyn Write>,
    name: &str,
    size: u64,
    content: &mut dyn Read,
    progress: &mut dyn FnMut(u64),
) -> io::Result<()> {
    archive.append_data(&mut header(EntryType::Regular, size, 0o644), name, io::empty())?;
    let out = archive.get_mut();
    copy(content, out, size, progress)?;
    let padding = size.next_multiple_of(512) - size;
    out.write_all(&[0; 512][..padding as usize])
}

/// Adds a folder. Those of files need no entries.
fn append_folder(archive: &mut Builder<&mut dyn Write>, name: &str) -> io::Result<()> {
    archive.append_data(&mut header(EntryType::Directory, 0, 0o755), format!("{name}/"), io::empty())
}

/// The header of a file or folder with the time and owner that all have.
pub(in crate::model) fn header(kind: EntryType, size: u64, mode: u32) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(mode);
    header.set_mtime(TIME);
    header
}
