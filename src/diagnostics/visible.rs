//! Texts that are safe to show on a terminal: characters that control it are written as escapes.

use std::borrow::Cow;

/// Whether a character changes the order in which others are shown, or breaks lines in some programs.
pub(crate) fn is_directional(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character controls a terminal instead of being shown. Line ends and tabs are harmless.
pub(crate) fn is_harmful(c: char) -> bool {
    !matches!(c, '\n' | '\t') && (c.is_control() || is_directional(c))
}

/// A message, name or path that is safe to show, on one line.
pub(crate) fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => clean.push(' '),
            c if is_harmful(c) => clean.extend(c.escape_default()),
            c => clean.push(c),
        }
    }
    clean
}

/// A text as a word of a shell.
pub(crate) fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,=:@%".contains(c);
    if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// A text of several lines in which each harmful character is written as four hexadecimal digits,
/// `\u001b`. In JSON this is an escape for the same character, so JSON keeps its meaning.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if is_harmful(c) => escaped.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_controls_a_terminal_is_escaped() {
        assert_eq!(clean("a\n\u{1b}[0m\u{202e}\u{61c}"), "a \\u{1b}[0m\\u{202e}\\u{61c}");
        assert_eq!([shell_word("a/b=1,2"), shell_word("it's 1")], ["a/b=1,2", r"'it'\''s 1'"]);
        assert_eq!(escaped("a\n\t\u{1b}[0m\u{9b}\u{7f}\ré"), "a\n\t\\u001b[0m\\u009b\\u007f\\u000dé");
        assert!(matches!(escaped("é\n\t"), Cow::Borrowed(_)));
    }
}
