//! Standard output on a terminal: characters that control the terminal are shown as escapes.

use std::io::{self, Write};

use crate::diagnostics::visible::escaped;

/// Replaces characters that control a terminal by escapes, and invalid UTF-8 by replacement characters.
pub(super) struct Visible<W: Write> {
    out: W,
    /// The first bytes of a character whose other bytes are not written yet.
    rest: Vec<u8>,
}

impl<W: Write> Visible<W> {
    /// Writes to a terminal.
    pub(super) fn new(out: W) -> Self {
        Visible { out, rest: Vec::new() }
    }
}

impl<W: Write> Write for Visible<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut text = std::mem::take(&mut self.rest);
        text.extend_from_slice(bytes);
        for chunk in text.utf8_chunks() {
            self.out.write_all(escaped(chunk.valid()).as_bytes())?;
            let invalid = chunk.invalid();
            let at_end = invalid.as_ptr_range().end == text.as_ptr_range().end;
            if at_end && std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none()) {
                self.rest = invalid.to_vec();
            } else if !invalid.is_empty() {
                self.out.write_all("\u{fffd}".as_bytes())?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_may_be_cut_anywhere() {
        let text = "a\u{1b}]0;é\u{9b}\n\t€".as_bytes();
        for cut in 0..text.len() {
            let mut out = Visible::new(Vec::new());
            out.write_all(&text[..cut]).unwrap();
            out.write_all(&text[cut..]).unwrap();
            assert_eq!(String::from_utf8(out.out).unwrap(), "a\\u001b]0;é\\u009b\n\t€", "{cut}");
        }
        let mut out = Visible::new(Vec::new());
        out.write_all(b"a\xff\xc3b\xc3").unwrap();
        assert_eq!(String::from_utf8(out.out).unwrap(), "a\u{fffd}\u{fffd}b");
    }
}
