//! A buffered writer for the text of pictures.

use std::io::{self, Write};

use crate::diagnostics::visible::is_harmful;

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

/// The character that is shown for a character of a text: a replacement character for one that XML cannot represent,
/// or that changes how others are shown.
pub(super) fn shown(c: char) -> char {
    if is_harmful(c) || matches!(c, '\u{fffe}' | '\u{ffff}') { char::REPLACEMENT_CHARACTER } else { c }
}

/// Adds text to XML or HTML.
pub(super) fn escape(out: &mut String, text: &str) {
    for c in text.chars().map(shown) {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_shown_is_replaced() {
        let mut text = String::new();
        escape(&mut text, "a<b>&\"\0\u{1b}\u{202e}\u{85}\n\u{ffff}é");
        assert_eq!(text, "a&lt;b&gt;&amp;&quot;\u{fffd}\u{fffd}\u{fffd}\u{fffd}\n\u{fffd}é");
    }
}
