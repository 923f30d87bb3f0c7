//! Reading of whole inputs within limits, and of bytes as text.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::Refusal;
use crate::diagnostics::{Code, Diagnostic, ReadLimit};
use crate::progress::{self, Metered, Phase};
use crate::source::{Location, Span, without_mark};

/// The number of bytes that a message shows from the first one that is not UTF-8.
const SHOWN: usize = 200;

/// A text that was read.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    /// The name for messages.
    pub(crate) name: String,
    /// The text.
    pub(crate) text: String,
}

/// Reads a text of at most `limit` bytes from a file.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Text, Refusal> {
    let (name, bytes) = read_bytes(path, limit)?;
    text(name, bytes)
}

/// Reads at most `limit` bytes from a file. Returns the name for messages, and the bytes.
pub(crate) fn read_bytes(path: &Path, limit: impl Into<ReadLimit>) -> Result<(String, Vec<u8>), Refusal> {
    let name = path.display().to_string();
    let mut file = File::open(path).map_err(|error| Refusal::io(&name, error))?;
    let size = file.metadata().map_err(|error| Refusal::io(&name, error))?.len();
    let bytes = read_all(&name, size, limit, &mut file)?;
    Ok((name, bytes))
}

/// Reads a stream to its end, which is expected after `size` bytes, and refuses more than `limit`.
pub(crate) fn read_all(
    name: &str,
    size: u64,
    limit: impl Into<ReadLimit>,
    stream: &mut dyn Read,
) -> Result<Vec<u8>, Refusal> {
    let limit = limit.into();
    let mut bytes = Vec::new();
    if size <= limit.bytes {
        bytes.reserve(size as usize);
        progress::enter(Phase::Reading);
        let read = Metered(stream.take(limit.bytes.saturating_add(1))).read_to_end(&mut bytes);
        read.map_err(|error| Refusal::io(name, error))?;
    }
    if size.max(bytes.len() as u64) > limit.bytes {
        return Err(too_large(name, limit));
    }
    Ok(bytes)
}

/// The refusal of more bytes than a limit.
pub(crate) fn too_large(name: &str, limit: impl Into<ReadLimit>) -> Refusal {
    Refusal::of(name.to_owned(), String::new(), |at| Diagnostic::too_large(at, limit))
}

/// Decodes bytes as a text.
pub(crate) fn text(name: String, bytes: Vec<u8>) -> Result<Text, Refusal> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Text { name, text }),
        Err(error) => Err(not_utf8(name, error.utf8_error().valid_up_to(), error.into_bytes())),
    }
}

/// Refuses bytes that are not UTF-8. The message shows only the line of the first wrong byte.
fn not_utf8(name: String, at: usize, mut bytes: Vec<u8>) -> Refusal {
    let byte = bytes.get(at).copied().unwrap_or_default();
    let rest = &bytes[at.min(bytes.len())..];
    let shown = rest.iter().take(SHOWN).take_while(|byte| **byte != b'\n').count();
    let rest = String::from_utf8_lossy(&rest[..shown]).into_owned();
    bytes.truncate(at);
    let text = String::from_utf8(bytes).unwrap_or_default() + &rest;
    let message = format!("the byte 0x{byte:02X} at offset {at} is not UTF-8");
    // In the lossy text the replacement character has this position.
    let start = at - (text.len() - without_mark(&text).len()).min(at);
    let span = Span::new(start as u32, (start + char::REPLACEMENT_CHARACTER.len_utf8()) as u32);
    Refusal::of(name, text, |file| Diagnostic::new(Code::NotUtf8, Location { span, ..file }, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_byte_has_a_position() {
        for (bytes, at, wanted) in [(&b"a\n\xc3\xa9\xffb"[..], 4, (2, 2)), (b"\xef\xbb\xbfa\xffb", 4, (1, 2))] {
            let Refusal::Found(found) = not_utf8("t".into(), at, bytes.to_vec()) else { panic!() };
            let at = found.diagnostics.iter().next().unwrap().at;
            let position = found.sources.start(at);
            assert_eq!((position.line, position.column), wanted);
            assert_eq!(found.sources.text(at), "\u{fffd}");
        }
    }
}
