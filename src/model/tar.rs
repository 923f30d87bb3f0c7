//! The entries of a tar archive. Only regular files and folders with names that do not lead out of the archive are
//! accepted.
//!
//! The crate `tar` decodes single headers; the sequence of entries is read here, since the sizes of long names and
//! extended headers must be limited.

use std::io::{self, Read};

use tar::{EntryType, Header, PaxExtensions};

use super::input::{ArchiveSource, GZIP};
use super::path::{MAX_PATH, clean};
use crate::diagnostics::Code;

const BLOCK: u64 = 512;
/// The maximum size of an extended header in bytes; only a name and a size are used.
const MAX_EXTENDED: u64 = 1 << 16;

/// The error of an entry that cannot be read.
#[derive(Debug)]
pub(crate) enum EntryError {
    /// Reading failed, or the compressed data are damaged.
    Io(io::Error),
    /// The entry is refused.
    Refused(Code, String),
}

impl From<io::Error> for EntryError {
    fn from(error: io::Error) -> Self {
        EntryError::Io(error)
    }
}

type Result<T> = std::result::Result<T, EntryError>;

fn refuse<T>(code: Code, message: impl Into<String>) -> Result<T> {
    Err(EntryError::Refused(code, message.into()))
}

/// An entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TarEntry {
    /// Its name, without `./` and empty parts.
    pub(crate) path: String,
    /// The number of bytes.
    pub(crate) size: u64,
    /// Their offset in the decompressed archive.
    pub(crate) offset: u64,
    /// Whether it is a folder.
    pub(crate) folder: bool,
}

/// The contents of extended headers, which apply to the next entry.
#[derive(Default, PartialEq)]
struct Extended {
    path: Option<Vec<u8>>,
    size: Option<u64>,
}

/// Reads entries one after the other.
pub(crate) struct Entries<I> {
    input: I,
    /// The bytes of the current entry that have not been read.
    left: u64,
    /// The number of bytes between its end and the next header.
    padding: u64,
    seen: u64,
}

impl<I: ArchiveSource> Entries<I> {
    /// A reader that starts at the first entry.
    pub(crate) fn new(input: I) -> Self {
        Entries { input, left: 0, padding: 0, seen: 0 }
    }

    /// Advances to the next entry, whose bytes can then be read.
    pub(crate) fn next(&mut self) -> Result<Option<TarEntry>> {
        let mut extended = Extended::default();
        loop {
            self.finish()?;
            let Some(header) = self.header()? else {
                return if extended == Extended::default() { Ok(None) } else { truncated() };
            };
            let kind = header.entry_type();
            let size = header.entry_size().or_else(|_| refuse(Code::ModelArchive, "an entry has no valid size"))?;
            self.start(size);
            match kind {
                EntryType::GNULongName => extended.path = Some(self.extended(MAX_PATH as u64 + 1)?),
                EntryType::XHeader => self.pax(&mut extended)?,
                // A global extended header applies to all entries and has no name of a single one.
                EntryType::XGlobalHeader | EntryType::GNULongLink => drop(self.extended(MAX_EXTENDED)?),
                _ => return self.entry(&header, extended).map(Some),
            }
        }
    }

    /// Reads the rest of the archive to check that it is not damaged.
    pub(crate) fn drain(mut self) -> Result<()> {
        while self.input.advance(1 << 30)? > 0 {}
        Ok(())
    }

    fn start(&mut self, size: u64) {
        (self.left, self.padding) = (size, (BLOCK - size % BLOCK) % BLOCK);
        self.seen += 1;
    }

    /// Advances to the end of the current entry.
    fn finish(&mut self) -> Result<()> {
        let skipped = self.input.advance(self.left)?;
        if skipped < self.left {
            return truncated();
        }
        // The padding of the last entry may be missing.
        self.input.advance(self.padding)?;
        (self.left, self.padding) = (0, 0);
        Ok(())
    }

    /// The next header; none at the end.
    fn header(&mut self) -> Result<Option<Header>> {
        let mut header = Header::new_old();
        let block = header.as_mut_bytes();
        let mut filled = 0;
        while filled < block.len() {
            match self.input.read(&mut block[filled..])? {
                0 => break,
                count => filled += count,
            }
        }
        let first = self.seen == 0;
        match filled {
            0 if !first => return Ok(None),
            0 => return refuse(Code::ModelArchive, "the archive is empty"),
            filled if first && filled >= 2 && block[..2] == GZIP => {
                return refuse(Code::ModelArchive, "the gzip data contain gzip data again, not a tar archive");
            }
            filled if filled < block.len() && first => return not_tar(),
            filled if filled < block.len() => return truncated(),
            _ => {}
        }
        if block.iter().all(|&byte| byte == 0) {
            return Ok(None);
        }
        let sum = |range: std::ops::Range<usize>| block[range].iter().map(|&byte| u32::from(byte)).sum::<u32>();
        let sum = sum(0..148) + 8 * u32::from(b' ') + sum(156..512);
        match header.cksum() {
            Ok(wanted) if wanted == sum => Ok(Some(header)),
            _ if first => not_tar(),
            _ => refuse(Code::ModelArchive, "the archive is damaged: the header of an entry has a wrong checksum"),
        }
    }

    /// The content of an extended header.
    fn extended(&mut self, limit: u64) -> Result<Vec<u8>> {
        if self.left > limit {
            return refuse(
                Code::ModelLimit,
                format!("an extended header has {} bytes, at most {limit} are read", self.left),
            );
        }
        let mut content = Vec::new();
        let wanted = self.left;
        self.read_to_end(&mut content)?;
        if (content.len() as u64) < wanted {
            return truncated();
        }
        Ok(content)
    }

    /// Reads a POSIX extended header.
    fn pax(&mut self, extended: &mut Extended) -> Result<()> {
        let content = self.extended(MAX_EXTENDED)?;
        for record in PaxExtensions::new(&content) {
            let Ok(record) = record else {
                return refuse(Code::ModelArchive, "the archive is damaged: an extended header is malformed");
            };
            match record.key_bytes() {
                b"path" => extended.path = Some(record.value_bytes().to_vec()),
                b"size" => {
                    let size = record.value().ok().and_then(|size| size.parse().ok());
                    let Some(size) = size else {
                        return refuse(
                            Code::ModelArchive,
                            "the archive is damaged: an extended header has no valid size",
                        );
                    };
                    extended.size = Some(size);
                }
                key if key.starts_with(b"GNU.sparse.") => return sparse(),
                _ => {}
            }
        }
        Ok(())
    }

    fn entry(&mut self, header: &Header, extended: Extended) -> Result<TarEntry> {
        let mut name = extended.path.unwrap_or_else(|| header.path_bytes().into_owned());
        if let Some(end) = name.iter().position(|&byte| byte == 0) {
            name.truncate(end);
        }
        let shown = String::from_utf8_lossy(&name).into_owned();
        let kind = header.entry_type();
        // Old archives have no type for folders; their names end in a slash.
        let folder = kind.is_dir() || kind.is_file() && name.ends_with(b"/");
        if kind == EntryType::GNUSparse {
            return sparse();
        }
        if !folder && !kind.is_file() && !kind.is_contiguous() {
            let what = match kind {
                EntryType::Symlink | EntryType::Link => "a link",
                EntryType::Char | EntryType::Block | EntryType::Fifo => "a device or pipe",
                _ => "of an unknown kind",
            };
            return refuse(Code::ModelEntry, format!("entry `{}` is {what}, not a file", shown.escape_debug()));
        }
        // The root folder, in archives made by `tar -C folder .`.
        let root = folder
            && name.split(|&byte| byte == b'/').all(|part| part.is_empty() || part == b".")
            && !name.starts_with(b"/");
        let path = match String::from_utf8(name) {
            Ok(_) if root => String::new(),
            Ok(name) => clean(&name).or_else(|why| bad_name(&shown, why))?,
            Err(_) => return bad_name(&shown, "is not UTF-8"),
        };
        let size = extended.size.unwrap_or(self.left);
        self.start(size);
        Ok(TarEntry { path, size, offset: self.input.position(), folder })
    }
}

impl<I: ArchiveSource> Read for Entries<I> {
    /// Reads from the current entry.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let count = self.input.read(&mut buffer[..wanted])?;
        self.left -= count as u64;
        Ok(count)
    }
}

pub(crate) fn truncated<T>() -> Result<T> {
    refuse(Code::ModelArchive, "the archive ends in the middle of an entry")
}

fn not_tar<T>() -> Result<T> {
    refuse(Code::ModelArchive, "the file is not a tar archive")
}

fn sparse<T>() -> Result<T> {
    refuse(Code::ModelEntry, "the archive has sparse entries: pack it without them")
}

fn bad_name<T>(name: &str, why: &str) -> Result<T> {
    refuse(Code::ModelPath, format!("the name of entry `{}` {why}", name.escape_debug()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An archive in memory.
    struct Memory<'b> {
        bytes: &'b [u8],
        position: u64,
    }

    impl Read for Memory<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.bytes.read(buffer)?;
            self.position += count as u64;
            Ok(count)
        }
    }

    impl ArchiveSource for Memory<'_> {
        fn advance(&mut self, count: u64) -> io::Result<u64> {
            io::copy(&mut self.take(count), &mut io::sink())
        }

        fn position(&self) -> u64 {
            self.position
        }
    }

    fn archive(entries: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, kind, content) in entries {
            let mut header = Header::new_gnu();
            header.set_entry_type(*kind);
            header.set_size(content.len() as u64);
            builder.append_data(&mut header, name, *content).unwrap();
        }
        builder.into_inner().unwrap()
    }

    #[test]
    fn entries_have_names_sizes_and_places() {
        let long = "n/".repeat(80) + "end";
        let bytes = archive(&[
            ("a/", EntryType::Directory, b""),
            ("./a/b", EntryType::Regular, b"first"),
            (&long, EntryType::Regular, &[7; 600]),
            ("c", EntryType::Regular, b""),
        ]);
        let mut entries = Entries::new(Memory { bytes: &bytes, position: 0 });
        let mut found = Vec::new();
        while let Some(entry) = entries.next().unwrap() {
            let at = entry.offset as usize;
            let mut content = Vec::new();
            // The rest of an entry is skipped.
            (&mut entries).take(300).read_to_end(&mut content).unwrap();
            assert_eq!(content, bytes[at..][..content.len()]);
            found.push((entry.path, entry.size, entry.folder));
        }
        let wanted = [("a", 0, true), ("a/b", 5, false), (long.as_str(), 600, false), ("c", 0, false)];
        assert_eq!(found, wanted.map(|(path, size, folder)| (path.to_string(), size, folder)));
        assert!(entries.drain().is_ok());
    }

    #[test]
    fn what_is_no_archive_is_refused() {
        for bytes in [&b""[..], b"short", &[1; 512], &[0x1F, 0x8B, 0], &[b'a'; 2000]] {
            let refused = Entries::new(Memory { bytes, position: 0 }).next();
            assert!(matches!(refused, Err(EntryError::Refused(Code::ModelArchive, _))), "{bytes:?}");
        }
        // A file of zeros is an empty archive.
        assert!(Entries::new(Memory { bytes: &[0; 1024], position: 0 }).next().unwrap().is_none());
    }
}
