//! Where a position of a text is, by the brackets around it.

use std::collections::BTreeSet;

use super::scan::{Piece, pieces};
use crate::onnx::text::starts_node;

/// Where a position is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ModelPlace<'t> {
    /// Before the operator of a node.
    Operator,
    /// Among the attributes of an operator, with the names of those before it.
    Attribute(&'t str, BTreeSet<&'t str>),
    /// Among the operands of a node.
    Operand,
    /// In the value of an attribute, before the name of an attribute of the function around it.
    Reference,
    /// In a header, a type, a string or a comment.
    Other,
}

/// A node around a position, among whose operands or attributes it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OpenNode<'t> {
    /// The operator with its domain.
    pub(super) operator: &'t str,
    /// How many operands there are before it; none among attributes.
    pub(super) operands: Option<usize>,
}

/// A bracket that is open, with the operator before it.
struct OpenBracket {
    bracket: u8,
    operator: (usize, usize),
    /// The starts of the words that follow it or a comma.
    names: Vec<usize>,
    commas: usize,
}

/// The identifier at the start of a text.
fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// The place of the end of a text, without the word that ends there; and the start of this word.
pub(super) fn place(text: &str) -> (ModelPlace<'_>, usize) {
    let word = text.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).map_or(0, |at| at + 1);
    // The character before the word has one byte if it is one that matters here.
    let word = (word..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let Some((open, last)) = text.get(..word).and_then(brackets) else { return (ModelPlace::Other, word) };
    let in_node = open.iter().any(|open| open.bracket == b'{');
    let place = match open.last() {
        Some(OpenBracket { bracket: b'{', .. }) if matches!(last, b'=' | b'.') => ModelPlace::Operator,
        Some(OpenBracket { bracket: b'(', .. }) if in_node && matches!(last, b'(' | b',') => ModelPlace::Operand,
        Some(OpenBracket { bracket: b'<', operator, names, .. }) if in_node && matches!(last, b'<' | b',') => {
            let names = names.iter().map(|at| identifier(text.get(*at..).unwrap_or_default())).collect();
            ModelPlace::Attribute(text.get(operator.0..operator.1).unwrap_or_default(), names)
        }
        Some(OpenBracket { bracket: b'<', .. }) if in_node && last == b'@' => ModelPlace::Reference,
        _ => ModelPlace::Other,
    };
    (place, word)
}

/// The node among whose operands or attributes the end of a text is.
pub(super) fn node(text: &str) -> Option<OpenNode<'_>> {
    let (open, _) = brackets(text)?;
    let in_body = open.iter().rposition(|open| open.bracket == b'{')? + 1;
    let around = open.get(in_body..)?.iter().find(|open| open.operator.1 > open.operator.0)?;
    let operands = (around.bracket == b'(').then_some(around.commas);
    Some(OpenNode { operator: text.get(around.operator.0..around.operator.1)?, operands })
}

/// The names of the attributes that follow a position among attributes, up to the closing bracket. The word that goes on
/// there is none of them.
pub(super) fn attributes_after(text: &str) -> BTreeSet<&str> {
    let (mut depth, mut comma, mut found) = (0_u32, false, BTreeSet::new());
    for (span, piece) in pieces(text) {
        match piece {
            Piece::Byte(b'(' | b'<' | b'[' | b'{') => depth += 1,
            Piece::Byte(b')' | b'>' | b']' | b'}') if depth == 0 => break,
            Piece::Byte(b')' | b'>' | b']' | b'}') => depth -= 1,
            Piece::Byte(b',') if depth == 0 => comma = true,
            Piece::Byte(byte) if comma && !byte.is_ascii_whitespace() => {
                found.insert(identifier(text.get(span.start as usize..).unwrap_or_default()));
                comma = false;
            }
            _ => {}
        }
    }
    found
}

/// The open brackets at the end of a text, and the last byte that is not blank; none in a string or a comment. Nodes that
/// are not finished end where the next one starts.
fn brackets(text: &str) -> Option<(Vec<OpenBracket>, u8)> {
    let mut open: Vec<OpenBracket> = Vec::new();
    let (mut last, mut word, mut operator) = (b' ', (0, 0), (0, 0));
    for (span, piece) in pieces(text) {
        let at = span.start as usize;
        let byte = match piece {
            Piece::String(true) => b'"',
            Piece::Arrow => b'>',
            Piece::Comment(true) => continue,
            Piece::String(false) | Piece::Comment(false) => return None,
            Piece::Byte(byte) => byte,
        };
        match piece {
            Piece::Byte(b'(' | b'<' | b'[' | b'{') => {
                if word.1 > word.0 && matches!(byte, b'(' | b'<') && last.is_ascii_alphanumeric() | (last == b'_') {
                    operator = word;
                }
                open.push(OpenBracket { bracket: byte, operator, names: Vec::new(), commas: 0 });
            }
            Piece::Byte(b'\n') if text.get(at + 1..).is_some_and(next_node) => {
                let body = open.iter().rposition(|open| open.bracket == b'{').map_or(0, |body| body + 1);
                open.truncate(body);
                operator = (0, 0);
            }
            Piece::Byte(b')' | b'>' | b']' | b'}') => operator = open.pop().map_or((0, 0), |open| open.operator),
            Piece::Byte(b',') => open.last_mut().into_iter().for_each(|open| open.commas += 1),
            Piece::Byte(_) if byte.is_ascii_alphanumeric() || byte == b'_' => {
                let continues = at > 0 && word.1 == at || last == b'.';
                if !continues && let Some(open) = open.last_mut().filter(|_| matches!(last, b'<' | b',')) {
                    open.names.push(at);
                }
                word = if continues { (word.0, at + 1) } else { (at, at + 1) };
            }
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            last = byte;
        }
    }
    Some((open, last))
}

/// Whether a node starts a line: not an attribute with a number, a string or a list.
fn next_node(text: &str) -> bool {
    let value = text.lines().next().and_then(|line| line.split_once('=')).map_or("", |(_, value)| value.trim_start());
    starts_node(text) && value.chars().next().is_none_or(|c| c.is_ascii_alphabetic() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str =
        "<ir_version: 10, opset_import: [\"\" : 21]> g (float[2] x) => (float[2] y) <int64[1] a = {1}> {\n";

    #[test]
    fn brackets_tell_where_a_position_is() {
        let attribute = |operator: &'static str, before: &[&'static str]| {
            ModelPlace::Attribute(operator, before.iter().copied().collect())
        };
        for (end, wanted) in [
            ("y = Ad", ModelPlace::Operator),
            ("y = local.", ModelPlace::Operator),
            ("y = Conv <", attribute("Conv", &[])),
            ("y = Conv <group = 1, di", attribute("Conv", &["group"])),
            ("y = Conv <group = 1, pads : ints = [1, b], di", attribute("Conv", &["group", "pads"])),
            ("y = a.b.Conv (x, w) <st", attribute("a.b.Conv", &[])),
            ("y = If (c) <then_branch = g () => (z) { z = Neg (x) }, el", attribute("If", &["then_branch"])),
            ("y = If (c) <then_branch = g () => (z) { z = Neg (x", ModelPlace::Operand),
            ("y = Conv <group = ", ModelPlace::Other),
            ("y = Add (x, ", ModelPlace::Operand),
            ("y = Constant <value_float: float = @b", ModelPlace::Reference),
            ("y = Conv <group = 1 (x,\nz = Ad", ModelPlace::Operator),
            ("y = Conv <group = 1,\n  axis = 1, di", attribute("Conv", &["axis", "group"])),
            ("y = Add (x, \"a", ModelPlace::Other),
            ("y = Add # (x, ", ModelPlace::Other),
            ("", ModelPlace::Other),
        ] {
            assert_eq!(place(&format!("{HEAD}{end}")).0, wanted, "{end}");
        }
        assert_eq!(place("<ir_version: 1").0, ModelPlace::Other);
        let after = attributes_after(
            "lations = [1, b], pads : ints = [1], t = g () => (z) { z = N <q = 1> (x) }, w = 2> (x, k)",
        );
        assert_eq!(after.into_iter().collect::<Vec<_>>(), ["pads", "t", "w"]);
    }

    #[test]
    fn brackets_tell_the_node_around_a_position() {
        for (end, wanted) in [
            ("y = Add (x, b", Some(("Add", Some(1)))),
            ("y = a.B (", Some(("a.B", Some(0)))),
            ("y = Conv <group = 1, pads = [1, 2", Some(("Conv", None))),
            ("y = Conv <group = 1> (x, \"a,b\", ", Some(("Conv", Some(2)))),
            ("y = If (c) <then_branch = g () => (z) { z = Neg (x", Some(("Neg", Some(0)))),
            ("y = If (c) <then_branch = g () => (z) { z = Neg (x)\n", None),
            ("y = Add (x, y)", None),
            ("y", None),
        ] {
            let text = format!("{HEAD}{end}");
            let found = node(&text).map(|node| (node.operator, node.operands));
            assert_eq!(found, wanted, "{end}");
        }
        assert_eq!(node("<ir_version: 1, opset_import: ["), None);
    }
}
