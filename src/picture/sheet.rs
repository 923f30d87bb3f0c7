//! A buffered writer for the text of pictures.

use std::io::{self, Write};

/// The size of the buffer at which it is written.
const SIZE: usize = 1 << 16;

/// A text buffer that is written whenever it exceeds a size.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    pub(crate) text: String,
}

impl Sheet {
    /// Writes the buffer if it exceeds the size.
    pub(crate) fn flush(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.text.len() > SIZE {
            out.write_all(self.text.as_bytes())?;
            self.text.clear();
        }
        Ok(())
    }

    pub(crate) fn push(&mut self, parts: &[&str]) {
        parts.iter().for_each(|part| self.text.push_str(part));
    }
}

/// The escape of a special character of XML and HTML.
pub(super) fn entity(c: char) -> Option<&'static str> {
    match c {
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '&' => Some("&amp;"),
        '"' => Some("&quot;"),
        _ => None,
    }
}
