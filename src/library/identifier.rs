//! Identifiers of NNEF 1.0.

/// The words that are not identifiers.
pub(crate) const RESERVED: &[&str] = &[
    "version",
    "extension",
    "graph",
    "fragment",
    "tensor",
    "integer",
    "scalar",
    "logical",
    "string",
    "shape_of",
    "length_of",
    "range_of",
    "for",
    "in",
    "yield",
    "if",
    "else",
    "true",
    "false",
];

/// A text as an identifier of 1.0: not a reserved word, and without characters that names do not have.
pub(crate) fn identifier(text: &str) -> String {
    let allowed = |c: char| c == '_' || c.is_ascii_alphanumeric();
    let mut text: String = text.chars().map(|c| if allowed(c) { c } else { '_' }).collect();
    if !text.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic()) {
        text.insert(0, '_');
    }
    if RESERVED.contains(&text.as_str()) {
        text.push('_');
    }
    text
}
