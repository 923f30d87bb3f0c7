//! The dialects of the language, as data.

use super::lexer::TokenKind;
use crate::graph::Dialect;
use crate::source::without_mark;

impl Dialect {
    /// The differences, as a table row.
    pub(crate) fn rules(self) -> &'static Rules {
        match self {
            Dialect::V1 => &V1,
            Dialect::Draft => &DRAFT,
        }
    }
}

/// The syntactic differences between dialects.
#[derive(Debug)]
pub(crate) struct Rules {
    /// Keywords of the lexer that are identifiers in this dialect.
    pub(crate) not_keywords: &'static [&'static str],
    /// Words that this dialect has instead of words of 1.0, with these and their tokens.
    pub(crate) own_words: &'static [(&'static str, &'static str, TokenKind)],
    /// Whether an assignment must end with a semicolon.
    pub(crate) semicolons: bool,
    /// Whether `tensor` is written without angle brackets.
    pub(crate) untyped_tensors: bool,
    /// Whether a tuple on the right side may be written without parentheses.
    pub(crate) bare_tuples: bool,
    /// Whether comprehensions are written `[e for i in a]` instead of `[for i in a yield e]`.
    pub(crate) postfix_comprehension: bool,
    /// Whether `in` is a binary operator.
    pub(crate) in_operator: bool,
    /// Whether fragments can be generic, and calls carry a type argument.
    pub(crate) generics: bool,
    /// Whether default values can have a sign.
    pub(crate) signed_defaults: bool,
}

static V1: Rules = Rules {
    not_keywords: &[],
    own_words: &[],
    semicolons: true,
    untyped_tensors: false,
    bare_tuples: false,
    postfix_comprehension: false,
    in_operator: true,
    generics: true,
    signed_defaults: true,
};

static DRAFT: Rules = Rules {
    not_keywords: &["version", "extension", "yield", "integer"],
    own_words: &[("extent", "integer", TokenKind::Integer)],
    semicolons: false,
    untyped_tensors: true,
    bare_tuples: true,
    postfix_comprehension: true,
    in_operator: false,
    generics: false,
    signed_defaults: false,
};

/// The dialect of a document, by the semicolon after its version.
///
/// `version 1.0;` is 1.0, and so is everything that does not start with a version; `version 1.0`
/// without a semicolon is the draft.
pub(crate) fn detect(text: &str) -> Dialect {
    let text = without_mark(text);
    let Some(rest) = skip_trivia(text).strip_prefix("version") else { return Dialect::V1 };
    let rest = skip_trivia(rest);
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.')).unwrap_or(rest.len());
    let (number, rest) = rest.split_at(end);
    if number.is_empty() || skip_trivia(rest).starts_with(';') { Dialect::V1 } else { Dialect::Draft }
}

/// The text after whitespace and comments.
pub(super) fn skip_trivia(mut text: &str) -> &str {
    loop {
        text = text.trim_start_matches([' ', '\t', '\x0B', '\x0C', '\r', '\n']);
        let Some(comment) = text.strip_prefix('#') else { return text };
        text = comment.find(['\n', '\r', '\x0C']).map_or("", |end| &comment[end..]);
    }
}

#[cfg(test)]
mod tests;
