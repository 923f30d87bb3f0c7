//! Error recovery.

use super::parser::{MAX_ERRORS, TextParser};

impl TextParser<'_> {
    /// Skips a node that could not be read, to the start of the next node or to the closing brace. Returns false
    /// if there is neither, or the maximum number of errors was reached.
    pub(super) fn recover(&mut self) -> bool {
        if self.diagnostics.iter().count() >= MAX_ERRORS {
            return false;
        }
        let mut open = 0_u32;
        while !self.cursor.at_end() {
            match self.cursor.byte() {
                b'"' => self.skip_string(),
                b'#' => self.cursor.skip_line(),
                b'}' if open == 0 => return true,
                byte => {
                    match byte {
                        b'{' => open += 1,
                        b'}' => open -= 1,
                        _ => {}
                    }
                    self.cursor.at += 1;
                    if byte == b'\n' && open == 0 && starts_node(&self.cursor.text()[self.cursor.at..]) {
                        return true;
                    }
                }
            }
        }
        false
    }

    fn skip_string(&mut self) {
        let rest = &self.cursor.text().as_bytes()[self.cursor.at + 1..];
        let mut escaped = false;
        let end = rest.iter().position(|&byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        });
        self.cursor.at += 1 + end.map_or(rest.len(), |end| end + 1);
    }
}

/// Whether the first line of a text starts like a node: an optional label, names and `=`.
pub(crate) fn starts_node(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default().trim_start();
    let line = match line.strip_prefix('[').and_then(|line| line.split_once(']')) {
        Some((_, behind_label)) => behind_label.trim_start(),
        None => line,
    };
    let Some((names, rest)) = line.split_once('=') else { return false };
    let is_name = |name: &str| name.trim().chars().all(|c| c.is_alphanumeric() || "_\"./-:".contains(c));
    !rest.starts_with('>') && names.split(',').all(is_name)
}
