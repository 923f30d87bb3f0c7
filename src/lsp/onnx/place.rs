//! Where a position of a text is, by the brackets around it.

use crate::onnx::text::starts_node;

/// Where a position is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ModelPlace {
    /// Before the operator of a node.
    Operator,
    /// Among the attributes of an operator.
    Attribute(String),
    /// Among the operands of a node.
    Operand,
    /// In a header, a type, a string or a comment.
    Other,
}

/// A bracket that is open, with the operator before it.
struct OpenBracket {
    bracket: u8,
    operator: (usize, usize),
}

/// The place of the end of a text, without the word that ends there; and the start of this word.
pub(super) fn place(text: &str) -> (ModelPlace, usize) {
    let word = text.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).map_or(0, |at| at + 1);
    // The character before the word has one byte if it is one that matters here.
    let word = (word..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let Some((open, last)) = text.get(..word).and_then(brackets) else { return (ModelPlace::Other, word) };
    let in_node = open.iter().any(|open| open.bracket == b'{');
    let place = match open.last() {
        Some(OpenBracket { bracket: b'{', .. }) if matches!(last, b'=' | b'.') => ModelPlace::Operator,
        Some(OpenBracket { bracket: b'(', .. }) if in_node && matches!(last, b'(' | b',') => ModelPlace::Operand,
        Some(OpenBracket { bracket: b'<', operator, .. }) if in_node && matches!(last, b'<' | b',') => {
            ModelPlace::Attribute(text.get(operator.0..operator.1).unwrap_or_default().to_owned())
        }
        _ => ModelPlace::Other,
    };
    (place, word)
}

/// The open brackets at the end of a text, and the last byte that is not blank; none in a string or a comment. Nodes that
/// are not finished end where the next one starts.
fn brackets(text: &str) -> Option<(Vec<OpenBracket>, u8)> {
    let bytes = text.as_bytes();
    let mut open: Vec<OpenBracket> = Vec::new();
    let (mut at, mut last, mut word) = (0, b' ', (0, 0));
    let mut operator = (0, 0);
    while let Some(byte) = bytes.get(at).copied() {
        match byte {
            b'"' => {
                at = string_end(bytes, at)?;
                last = b'"';
                continue;
            }
            b'#' => {
                at += bytes.get(at..)?.iter().position(|byte| *byte == b'\n')?;
                continue;
            }
            b'=' if bytes.get(at + 1) == Some(&b'>') => {
                at += 2;
                last = b'>';
                continue;
            }
            b'(' | b'<' | b'[' | b'{' => {
                if word.1 > word.0 && matches!(byte, b'(' | b'<') && last.is_ascii_alphanumeric() | (last == b'_') {
                    operator = word;
                }
                open.push(OpenBracket { bracket: byte, operator });
            }
            b'\n' if text.get(at + 1..).is_some_and(next_node) => {
                let body = open.iter().rposition(|open| open.bracket == b'{').map_or(0, |body| body + 1);
                open.truncate(body);
            }
            b')' | b'>' | b']' | b'}' => operator = open.pop().map_or((0, 0), |open| open.operator),
            byte if byte.is_ascii_alphanumeric() || byte == b'_' => {
                let continues = at > 0 && word.1 == at || last == b'.';
                word = if continues { (word.0, at + 1) } else { (at, at + 1) };
            }
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            last = byte;
        }
        at += 1;
    }
    Some((open, last))
}

/// Whether a node starts a line: not an attribute with a number, a string or a list.
fn next_node(text: &str) -> bool {
    let value = text.lines().next().and_then(|line| line.split_once('=')).map_or("", |(_, value)| value.trim_start());
    starts_node(text) && value.chars().next().is_none_or(|c| c.is_ascii_alphabetic() || c == '_')
}

/// The byte after a string that starts at a position; none if it does not end.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut escaped = false;
    let end = bytes.get(start + 1..)?.iter().position(|byte| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    })?;
    Some(start + 1 + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_tell_where_a_position_is() {
        let head = "<ir_version: 10, opset_import: [\"\" : 21]> g (float[2] x) => (float[2] y) <int64[1] a = {1}> {\n";
        for (end, wanted) in [
            ("y = Ad", ModelPlace::Operator),
            ("y = local.", ModelPlace::Operator),
            ("y = Conv <", ModelPlace::Attribute("Conv".into())),
            ("y = Conv <group = 1, di", ModelPlace::Attribute("Conv".into())),
            ("y = a.b.Conv (x, w) <st", ModelPlace::Attribute("a.b.Conv".into())),
            ("y = If (c) <then_branch = g () => (z) { z = Neg (x) }, el", ModelPlace::Attribute("If".into())),
            ("y = If (c) <then_branch = g () => (z) { z = Neg (x", ModelPlace::Operand),
            ("y = Conv <group = ", ModelPlace::Other),
            ("y = Add (x, ", ModelPlace::Operand),
            ("y = Conv <group = 1 (x,\nz = Ad", ModelPlace::Operator),
            ("y = Conv <group = 1,\n  axis = 1, di", ModelPlace::Attribute("Conv".into())),
            ("y = Add (x, \"a", ModelPlace::Other),
            ("y = Add # (x, ", ModelPlace::Other),
            ("", ModelPlace::Other),
        ] {
            assert_eq!(place(&format!("{head}{end}")).0, wanted, "{end}");
        }
        assert_eq!(place("<ir_version: 1").0, ModelPlace::Other);
    }
}
