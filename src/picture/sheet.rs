//! Text of a picture on its way out.

use std::io::{self, Write};

/// How much text comes together before it is written.
const SIZE: usize = 1 << 16;

/// Text that is written when it is much.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    pub(crate) text: String,
}

impl Sheet {
    /// Writes what has come together, when that is much.
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

/// What stands for a character that has a meaning in XML and HTML.
pub(super) fn entity(c: char) -> Option<&'static str> {
    match c {
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '&' => Some("&amp;"),
        '"' => Some("&quot;"),
        _ => None,
    }
}
