//! Where a position of a text is, by the brackets around it.

/// Where a position is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
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
struct Open {
    bracket: u8,
    at: usize,
    operator: (usize, usize),
}

/// The place of the end of a text, without the word that ends there; and the start of this word.
pub(super) fn place(text: &str) -> (Place, usize) {
    let word = text.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).map_or(0, |at| at + 1);
    // The character before the word has one byte if it is one that matters here.
    let word = (word..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let Some((open, last)) = brackets(&text.as_bytes()[..word]) else { return (Place::Other, word) };
    let in_node = open.iter().any(|open| open.bracket == b'{');
    let place = match open.last() {
        Some(Open { bracket: b'{', .. }) if matches!(last, b'=' | b'.') => Place::Operator,
        Some(Open { bracket: b'(', .. }) if in_node && matches!(last, b'(' | b',') => Place::Operand,
        Some(Open { bracket: b'<', operator, .. }) if in_node && matches!(last, b'<' | b',') => {
            Place::Attribute(text.get(operator.0..operator.1).unwrap_or_default().to_owned())
        }
        _ => Place::Other,
    };
    (place, word)
}

/// The open brackets at the end of some bytes, and the last byte that is not blank; none in a string or a comment.
fn brackets(bytes: &[u8]) -> Option<(Vec<Open>, u8)> {
    let mut open: Vec<Open> = Vec::new();
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
                open.push(Open { bracket: byte, at, operator });
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
    open.iter_mut().for_each(|open| open.at = open.at.min(bytes.len()));
    Some((open, last))
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
            ("y = Ad", Place::Operator),
            ("y = local.", Place::Operator),
            ("y = Conv <", Place::Attribute("Conv".into())),
            ("y = Conv <group = 1, di", Place::Attribute("Conv".into())),
            ("y = a.b.Conv (x, w) <st", Place::Attribute("a.b.Conv".into())),
            ("y = If (c) <then_branch = g () => (z) { z = Neg (x) }, el", Place::Attribute("If".into())),
            ("y = If (c) <then_branch = g () => (z) { z = Neg (x", Place::Operand),
            ("y = Conv <group = ", Place::Other),
            ("y = Add (x, ", Place::Operand),
            ("y = Add (x, \"a", Place::Other),
            ("y = Add # (x, ", Place::Other),
            ("", Place::Other),
        ] {
            assert_eq!(place(&format!("{head}{end}")).0, wanted, "{end}");
        }
        assert_eq!(place("<ir_version: 1").0, Place::Other);
    }
}
