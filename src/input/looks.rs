//! How the first bytes of the input notations look. A function is true only if the notation is certain.

use crate::pnnx::notation::layer_of_ncnn;
use crate::source::without_mark;

/// What JSON is that is in none of the notations; malformed networks with loops are that, too.
pub(super) const JSON: &str = "JSON, and not a network with loops";
/// What protobuf is that is in none of the notations; malformed models of ONNX are that, too.
pub(super) const PROTOBUF: &str = "protobuf, and not a model of ONNX";

/// The first bytes of an input.
pub(crate) struct Start<'b> {
    bytes: &'b [u8],
    /// The bytes as text up to the first that is not UTF-8, without blanks at its start.
    text: &'b str,
    /// Whether these are all bytes of the input.
    whole: bool,
}

impl<'b> Start<'b> {
    pub(crate) fn new(bytes: &'b [u8], whole: bool) -> Self {
        let valid = |end| std::str::from_utf8(bytes.get(..end).unwrap_or_default());
        let valid = valid(bytes.len()).or_else(|error| valid(error.valid_up_to())).unwrap_or_default();
        Start { bytes, text: without_mark(valid).trim_start(), whole }
    }

    pub(crate) fn bytes(&self) -> &'b [u8] {
        self.bytes
    }

    pub(super) fn text(&self) -> &'b str {
        self.text
    }

    /// Whether the bytes are certainly no text: they have zeros, and others that are not UTF-8.
    pub(crate) fn is_binary(&self) -> bool {
        let control = |byte: &&u8| **byte < b' ' && !b"\t\n\r\x0c\x1b".contains(*byte);
        let controls = self.bytes.iter().filter(control).count();
        let invalid = std::str::from_utf8(self.bytes).is_err_and(|error| error.error_len().is_some());
        controls * 10 > self.bytes.len() || self.bytes.contains(&0) && invalid
    }

    /// The text after comments that begin with `#`.
    pub(super) fn after_comments(&self) -> &'b str {
        let mut text = self.text;
        while text.starts_with('#') {
            text = text.split_once('\n').map_or("", |(_, rest)| rest.trim_start());
        }
        text
    }
}

/// A notation that only `--from` or the version line specifies.
pub(super) fn nothing(_: &Start) -> bool {
    false
}

/// `version 1.0`, after comments.
pub(super) fn nnef(start: &Start) -> bool {
    let Some(rest) = start.after_comments().strip_prefix("version") else { return false };
    let version = rest.trim_start();
    version.len() < rest.len() && version.starts_with(|c: char| c.is_ascii_digit())
}

/// An object whose `inputs` are an object, or that has `layers`: in other JSON of graphs, `inputs` is an array.
pub(super) fn loops(start: &Start) -> bool {
    let member = |name: &str| {
        let (_, rest) = start.text.split_once(name)?;
        Some(rest.trim_start().strip_prefix(':')?.trim_start())
    };
    let inside = start.text.strip_prefix('{').map(str::trim_start);
    inside.is_some_and(|inside| inside.starts_with('"'))
        && (member("\"inputs\"").is_some_and(|value| value.starts_with('{'))
            || member("\"layers\"").is_some_and(|value| value.starts_with('[')))
}

/// The header `<ir_version: 8, …>`, or a graph, `g (float[2] x) => (…) {`.
pub(super) fn onnxtxt(start: &Start) -> bool {
    let text = start.after_comments();
    if let Some(header) = text.strip_prefix('<') {
        let key = header.trim_start();
        let rest = key.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        // Names of XML have colons, too.
        let value = rest.trim_start().strip_prefix(':').map(str::trim_start);
        return key.len() > rest.len()
            && value.is_some_and(|value| value.starts_with(|c: char| c.is_ascii_digit() || "\"[-".contains(c)));
    }
    let rest = text.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "_.".contains(c)).trim_start();
    rest.len() < text.len()
        && rest
            .strip_prefix('(')
            .and_then(|inside| inside.split_once(')'))
            .is_some_and(|(_, after)| after.trim_start().starts_with("=>"))
}

/// The first line of files of PNNX, and of those of ncnn.
const PARAM_MAGIC: &str = "7767517";

/// A file of PNNX.
pub(super) fn pnnx(start: &Start) -> bool {
    operators(start).is_some() && !ncnn(start)
}

/// The lines of operators that are seen whole.
fn operators<'b>(start: &Start<'b>) -> Option<impl Iterator<Item = &'b str>> {
    let rest = start.text.strip_prefix(PARAM_MAGIC)?;
    rest.starts_with(['\n', '\r', ' ']).then_some(())?;
    let end = if start.whole { rest.len() } else { rest.rfind('\n').unwrap_or(0) };
    Some(rest[..end].trim_start().lines().skip(1))
}

/// A text of ncnn, which has the same first line as PNNX.
pub(super) fn ncnn(start: &Start) -> bool {
    operators(start).and_then(layer_of_ncnn).is_some()
}

/// The fields of a model of ONNX: number, and whether its value is a number, a text, or a message.
const MODEL: &[(u64, Field)] = &[
    (1, Field::Number),
    (2, Field::Text),
    (3, Field::Text),
    (4, Field::Text),
    (5, Field::Number),
    (6, Field::Text),
    (7, Field::Message),
    (8, Field::Message),
    (14, Field::Message),
    (20, Field::Message),
    (25, Field::Message),
    (26, Field::Message),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Number,
    Text,
    Message,
}

/// Protobuf whose fields are those of a model, with its graph, its operator sets, or its version and another field.
pub(super) fn onnx(start: &Start) -> bool {
    let (mut rest, mut seen) = (start.bytes, Vec::new());
    while !rest.is_empty() {
        // The last field may be cut.
        let cut = !start.whole && rest.len() < 20;
        let Some((key, after)) = varint(rest) else { return cut && seen.len() > 1 };
        let field = MODEL.iter().find(|(number, _)| *number == key >> 3).map(|(_, field)| *field);
        let Some(field) = field else { return false };
        let Some((value, after)) = varint(after) else { return cut && seen.len() > 1 };
        let length = match (field, key & 7) {
            (Field::Number, 0) => 0,
            (Field::Text | Field::Message, 2) => value,
            _ => return false,
        };
        let shown = after.len().min(usize::try_from(length).unwrap_or(usize::MAX));
        if field == Field::Text && after[..shown].iter().any(|byte| *byte < b' ' && !b"\t\n\r".contains(byte)) {
            return false;
        }
        if start.whole && (shown as u64) < length {
            return false;
        }
        seen.push(key >> 3);
        rest = &after[shown..];
    }
    // A version alone is the start of other formats, too.
    seen.contains(&7) || seen.contains(&8) || seen.contains(&1) && seen.len() > 1
}

/// A field of protobuf that has a length: its number, and its bytes as far as they are seen.
fn delimited(bytes: &[u8]) -> Option<(u64, &[u8], &[u8])> {
    let (key, after) = varint(bytes).filter(|(key, _)| key & 7 == 2)?;
    let (length, after) = varint(after)?;
    let (inside, rest) = after.split_at(after.len().min(usize::try_from(length).unwrap_or(usize::MAX)));
    Some((key >> 3, inside, rest))
}

/// A module of HLO: its name, the name of its entry computation, and computations, which have names and instructions.
/// Dumps have the module as their first field.
pub(super) fn hlo(start: &Start) -> bool {
    let module = |bytes: &[u8]| {
        let is_name = |bytes: &[u8]| !bytes.is_empty() && bytes.iter().all(u8::is_ascii_graphic);
        let (1, name, rest) = delimited(bytes)? else { return None };
        let (2, entry, rest) = delimited(rest)? else { return None };
        let (3, computation, _) = delimited(rest)? else { return None };
        let (1, of, rest) = delimited(computation)? else { return None };
        let (2, instruction, _) = delimited(rest)? else { return None };
        let (1, of_instruction, _) = delimited(instruction)? else { return None };
        [name, entry, of, of_instruction].iter().all(|name| is_name(name)).then_some(())
    };
    let inside = delimited(start.bytes).filter(|(number, ..)| *number == 1).map(|(_, inside, _)| inside);
    module(start.bytes).or_else(|| module(inside?)).is_some()
}

/// Whether bytes are fields of protobuf, one after the other.
pub(super) fn protobuf(start: &Start) -> bool {
    let (mut rest, mut count) = (start.bytes, 0);
    while !rest.is_empty() {
        let Some((key, after)) = varint(rest).filter(|(key, _)| (1..1 << 20).contains(&(key >> 3))) else {
            return false;
        };
        let skip = match key & 7 {
            0 => varint(after).map(|(_, rest)| (after.len() - rest.len()) as u64),
            1 => Some(8),
            2 => varint(after).map(|(length, rest)| length.saturating_add((after.len() - rest.len()) as u64)),
            5 => Some(4),
            _ => None,
        };
        let Some(skip) = skip else { return false };
        if start.whole && skip > after.len() as u64 {
            return false;
        }
        rest = after.get(usize::try_from(skip).unwrap_or(usize::MAX)..).unwrap_or(&[]);
        count += 1;
    }
    // Short texts may look like a field or two.
    count > 0 && start.is_binary()
}

fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (i, byte) in bytes.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7F) << (7 * i).min(63);
        if byte & 0x80 == 0 {
            return Some((value, &bytes[i + 1..]));
        }
    }
    None
}
