//! Texts of pictures: short texts of shapes and values, and the width of texts.

use crate::graph::{Graph, Note, Operand, Shape, TensorId, Value};
use crate::source::literals::{push_int, push_scalar, push_string};

use super::sheet::shown;

/// What a model tells about an operation, by what that is. Files are named without their folders.
pub(crate) fn told(graph: &Graph, note: &Note) -> Vec<(&'static str, String)> {
    let parts = note.parts(graph).into_iter();
    let named = |key, text: String| match text.rfind(['/', '\\']).filter(|_| key == "source") {
        Some(at) => text[at + 1..].to_owned(),
        None => text,
    };
    parts.filter_map(|(key, text)| Some((key, named(key, text?)))).collect()
}

/// The maximum number of extents of a shape that are shown.
const EXTENTS: usize = 16;

/// The text of a shape, such as `1×64×56×56` or `(S+1)×64`; empty if the rank is not known. That of one extent has brackets, so that it
/// does not look like a number.
pub(crate) fn shape(graph: &Graph, tensor: TensorId) -> String {
    graph.shape(tensor).map_or_else(String::new, extents)
}

fn extents(shape: &Shape) -> String {
    if shape.rank() == 0 {
        return "scalar".to_owned();
    }
    let is_sum = |text: &str| shape.rank() > 1 && text.contains(['+', '-', ' ']);
    let part = |text: String| if is_sum(&text) { format!("({text})") } else { text };
    let mut parts: Vec<String> = shape.extents().iter().take(EXTENTS).map(|extent| part(extent.to_string())).collect();
    if shape.rank() > EXTENTS {
        parts.push(format!("… {} more", shape.rank() - EXTENTS));
    }
    if shape.rank() == 1 { format!("[{}]", parts.concat()) } else { parts.join("×") }
}

/// A count with three digits and a letter for thousands, millions, and so on; small ones as they are.
pub(crate) fn rounded(count: u64) -> String {
    const LETTERS: [&str; 6] = ["k", "M", "G", "T", "P", "E"];
    if count < 1000 {
        return count.to_string();
    }
    let mut value = count as f64 / 1000.0;
    let mut letters = LETTERS.into_iter();
    let mut letter = letters.next().unwrap_or_default();
    while value >= 999.5
        && let Some(next) = letters.next()
    {
        (value, letter) = (value / 1000.0, next);
    }
    let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.digits$} {letter}")
}

/// A text on one line of at most `most` characters; the middle of a longer one is omitted.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    let shown = |c: char| if matches!(c, '\n' | '\t') { ' ' } else { shown(c) };
    let count = text.chars().count();
    if count <= most {
        return text.chars().map(shown).collect();
    }
    let tail = most.saturating_sub(1) / 3;
    let head = most.saturating_sub(1) - tail;
    text.chars().take(head).chain(std::iter::once('…')).chain(text.chars().skip(count - tail)).map(shown).collect()
}

/// The width of a bold text at font size 1.
pub(crate) fn bold_width(text: &str) -> f64 {
    width(text) * 1.12
}

/// The width of a text at font size 1, as in DejaVu Sans, which is wider than most sans-serif fonts.
pub(crate) fn width(text: &str) -> f64 {
    text.chars().map(char_width).sum()
}

fn char_width(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' => 0.36,
        'f' | 'r' | 't' | ' ' | '(' | ')' | '[' | ']' | '-' | '/' | '\\' | '"' | '!' => 0.44,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 1.0,
        'A'..='Z' | '&' => 0.78,
        '#' | '+' | '<' | '>' | '=' | '~' | '^' | '×' => 0.84,
        '_' => 0.56,
        '\u{0}'..='\u{2ff}' => 0.64,
        _ => 1.05,
    }
}

/// The text of an argument in a box; scalars have six digits.
pub(crate) fn short_operand(graph: &Graph, value: Operand) -> String {
    match value {
        Operand::Value(Value::Scalar(scalar)) => {
            let rounded = format!("{scalar:.5e}").parse().unwrap_or(*scalar);
            let mut text = String::new();
            push_scalar(&mut text, rounded);
            text
        }
        value => operand(graph, value, 64),
    }
}

/// The maximum nesting depth; deeper values are omitted.
const MAX_DEPTH: u32 = 16;

/// Writes values with a limited number of bytes; a longer text is truncated and ends with `…`.
pub(crate) struct Spelling<'g> {
    graph: &'g Graph,
    most: usize,
    text: String,
}

/// The text of an argument, truncated to about `most` bytes.
pub(crate) fn operand(graph: &Graph, operand: Operand, most: usize) -> String {
    let mut spelling = Spelling { graph, most, text: String::new() };
    match operand {
        Operand::Tensor(tensor) => spelling.text = graph.tensor_name(tensor),
        Operand::Tensors(tensors) => spelling.items("[]", tensors, |out, tensor| out.value(&Value::Tensor(*tensor), 1)),
        Operand::Value(value) => spelling.value(value, 0),
    }
    let mut text = spelling.text;
    if text.len() > most {
        text.truncate(start(&text, most).len());
        text.push('…');
    }
    text
}

/// The start of a text, of at most `most` bytes.
fn start(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

impl Spelling<'_> {
    fn value(&mut self, value: &Value, depth: u32) {
        match value {
            Value::Int(i) => push_int(&mut self.text, *i),
            Value::Scalar(s) => push_scalar(&mut self.text, *s),
            Value::Logical(b) => self.text.push_str(if *b { "true" } else { "false" }),
            Value::String(text) => push_string(&mut self.text, start(text, self.most)),
            Value::Tensor(tensor) => self.text.push_str(&self.graph.tensor_name(*tensor)),
            Value::Symbol(text) => self.text.push_str(text),
            Value::Integers(items) => self.items("[]", items, |out, i| push_int(&mut out.text, *i)),
            Value::Scalars(items) => self.items("[]", items, |out, s| push_scalar(&mut out.text, *s)),
            Value::Array(_) | Value::Tuple(_) if depth >= MAX_DEPTH => self.text.push('…'),
            Value::Array(items) => self.items("[]", items, |out, item| out.value(item, depth + 1)),
            Value::Tuple(items) => self.items("()", items, |out, item| out.value(item, depth + 1)),
        }
    }

    fn items<T>(&mut self, brackets: &str, items: &[T], each: impl Fn(&mut Self, &T)) {
        let (open, close) = brackets.split_at(1);
        self.text.push_str(open);
        for (i, item) in items.iter().enumerate() {
            if self.text.len() > self.most {
                return;
            }
            if i > 0 {
                self.text.push_str(", ");
            }
            each(self, item);
        }
        self.text.push_str(close);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Extent;

    #[test]
    fn long_texts_lose_their_middle() {
        assert_eq!(shorten("abcdefghij", 10), "abcdefghij");
        assert_eq!(shorten("abcdefghijk", 10), "abcdef…ijk");
        assert_eq!(shorten("äöüäöü", 4), "äö…ü");
        assert_eq!(shorten("a\nb\u{202e}c\u{1b}", 6), "a b\u{fffd}c\u{fffd}");
    }

    #[test]
    fn texts_are_at_least_as_wide_as_in_the_widest_font() {
        // The widths in DejaVu Sans Bold.
        for (text, bold) in [
            ("CONV_BN_DOWNSAMPLE_BLOCK_HOUGH", 22.86),
            ("bound_pooled_quad_unbounded", 18.08),
            ("WWWWWWWW", 8.8),
            ("mmmmwwww@%…", 10.84),
            ("model.layer:0.weight/1-2", 14.2),
            ("0123456789", 7.0),
        ] {
            assert!(bold_width(text) >= bold, "{text}: {}", bold_width(text));
        }
    }

    #[test]
    fn counts_have_three_digits() {
        let counts = [0, 999, 1000, 12_345, 999_499, 999_500, 25_557_032, u64::MAX];
        let wanted = ["0", "999", "1.00 k", "12.3 k", "999 k", "1.00 M", "25.6 M", "18.4 E"];
        assert_eq!(counts.map(rounded), wanted);
    }

    #[test]
    fn shapes_have_question_marks_where_nothing_is_known() {
        assert_eq!(extents(&Shape::of(&[1, 64, 56])), "1×64×56");
        assert_eq!(extents(&Shape::new(&[crate::graph::Extent::UNKNOWN, crate::graph::Extent::ONE])), "?×1");
        assert_eq!(extents(&Shape::default()), "scalar");
        assert_eq!(extents(&Shape::of(&[64])), "[64]");
        assert_eq!(extents(&Shape::of(&[1; 20])), format!("{}… 4 more", "1×".repeat(16)));
    }

    #[test]
    fn extents_that_are_sums_have_brackets() {
        let shape = |extents: &[&str]| extents.iter().map(|text| text.parse().unwrap()).collect::<Vec<Extent>>();
        let told = |of: &[&str]| extents(&Shape::new(&shape(of)));
        assert_eq!([told(&["S+1", "2*S", "64"]), told(&["S+1"])], ["(S+1)×2*S×64", "[S+1]"]);
    }
}
