//! Writing models into archives.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

use super::super::error::ModelError;
use super::super::{GRAPH, QUANT};
use super::{Content, copy, parent};

/// The time of all entries, so that the same model gives the same bytes: 1980, the earliest time that
/// all programs can represent.
const TIME: u64 = 315_532_800;
/// The level of compression: weights hardly compress at any level.
const EFFORT: u32 = 3;

/// Writes a model into an archive: into a temporary file beside it, which then takes its name.
/// Devices and pipes are written directly.
pub(crate) fn write(path: &Path, compressed: bool, content: &mut Content) -> Result<(), ModelError> {
    let fail = |error| ModelError::io(path, error);
    // A link is kept: its target is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let permissions = match fs::metadata(&target) {
        Ok(metadata) if metadata.is_dir() => return Err(fail(io::ErrorKind::IsADirectory.into())),
        Ok(metadata) if metadata.is_file() => Some(metadata.permissions()),
        Ok(_) => {
            let file = File::options().write(true).open(&target).map_err(fail)?;
            return fill(file, path, compressed, content);
        }
        Err(_) => None,
    };
    fs::metadata(parent(&target)).map_err(fail)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".nnef-flatten-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(parent(&target)).map_err(|error| fail(error.kind().into()))?;
    fill(file.as_file(), path, compressed, content)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions).map_err(fail)?;
    }
    file.persist(&target).map_err(|error| fail(error.error))?;
    Ok(())
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
    // The header with the length of the text precedes it.
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
    append(&mut archive, GRAPH, length, &mut BufReader::new(text), &mut |_| {}).map_err(fail)?;
    if let Some(mut quant) = content.quant {
        append(&mut archive, QUANT, quant.len() as u64, &mut quant, &mut |_| {}).map_err(fail)?;
    }
    let wanted = content.copied();
    if let Some(model) = content.files {
        let mut progress = |bytes| content.progress.iter_mut().for_each(|progress| progress(bytes));
        model.each(wanted, |file, bytes| {
            append(&mut archive, file.path(), file.size(), bytes, &mut progress).map_err(fail)
        })?;
    }
    archive.finish().map_err(fail)
}

/// Adds a file. Long names get a header of their own.
fn append(
    archive: &mut Builder<&mut dyn Write>,
    name: &str,
    size: u64,
    content: &mut dyn Read,
    progress: &mut dyn FnMut(u64),
) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_size(size);
    header.set_mode(0o644);
    header.set_mtime(TIME);
    archive.append_data(&mut header, name, io::empty())?;
    let out = archive.get_mut();
    copy(content, out, size, progress)?;
    let padding = size.next_multiple_of(512) - size;
    out.write_all(&[0; 512][..padding as usize])
}
