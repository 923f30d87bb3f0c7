//! Halves of characters in JSON. JavaScript has texts with such halves, and writes them as escapes that JSON has, but
//! Unicode has not.

use std::borrow::Cow;

/// The escape of the character that stands for what is none.
const REPLACEMENT: &str = "\\ufffd";

/// The length of an escape of a number.
const ESCAPE: usize = 6;

/// The number of an escape such as `\ud83d` at the start of a text.
fn escape(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}

/// The text of JSON, in which escapes that are half of a character are replaced. Each is one unit of UTF-16, as before.
pub(super) fn replaced(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('\\')) {
        at += found;
        let rest = text.get(at..).unwrap_or_default();
        let is_pair =
            || escape(rest.get(ESCAPE..).unwrap_or_default()).is_some_and(|low| (0xDC00..0xE000).contains(&low));
        match escape(rest) {
            Some(0xD800..0xDC00) if is_pair() => at += 2 * ESCAPE,
            Some(0xD800..0xE000) => {
                out.push_str(text.get(copied..at).unwrap_or_default());
                out.push_str(REPLACEMENT);
                at += ESCAPE;
                copied = at;
            }
            Some(_) => at += ESCAPE,
            // The character after it has no meaning of its own.
            None => at += 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::replaced;

    #[test]
    fn halves_of_characters_are_replaced() {
        for (text, wanted) in [
            (r"a\ud83db", r"a\ufffdb"),
            (r"\ud83d\ude00\ude00", r"\ud83d\ude00\ufffd"),
            (r"\\ud83d\u00e9", r"\\ud83d\u00e9"),
            (r"\ud83d\ud83d\ude00\", r"\ufffd\ud83d\ude00\"),
            (r"\u12é\ud8", r"\u12é\ud8"),
        ] {
            assert_eq!(replaced(text), wanted);
        }
    }
}
