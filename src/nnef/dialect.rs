//! The dialects of the language, as data.

use super::ast::{Primitive, Builtin};

/// Which text of the specification a document follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// NNEF 1.0.5.
    #[default]
    V1,
    /// The provisional text of 2017: `extent`, optional semicolons, untyped tensors.
    Draft,
}

impl Dialect {
    /// The differences, as a table row.
    pub fn rules(self) -> &'static Rules {
        match self {
            Dialect::V1 => &V1,
            Dialect::Draft => &DRAFT,
        }
    }
}

/// What differs between dialects before types come into play.
#[derive(Debug)]
pub struct Rules {
    /// The name on the command line.
    pub name: &'static str,
    /// Words that the lexer takes as keywords but this dialect as identifiers.
    pub not_keywords: &'static [&'static str],
    /// Words that this dialect adds as type names, with their meaning.
    pub extra_types: &'static [(&'static str, Primitive, Builtin)],
    /// Whether an assignment must end with a semicolon.
    pub semicolons: bool,
    /// Whether `tensor` stands without angle brackets.
    pub untyped_tensors: bool,
    /// Whether a tuple on the right side may stand without parentheses.
    pub bare_tuples: bool,
    /// Whether comprehensions are written `[e for i in a]` instead of `[for i in a yield e]`.
    pub postfix_comprehension: bool,
    /// Whether `in` is a binary operator.
    pub in_operator: bool,
}

static V1: Rules = Rules {
    name: "nnef",
    not_keywords: &[],
    extra_types: &[],
    semicolons: true,
    untyped_tensors: false,
    bare_tuples: false,
    postfix_comprehension: false,
    in_operator: true,
};

static DRAFT: Rules = Rules {
    name: "nnef-draft",
    not_keywords: &["version", "extension", "yield", "integer"],
    extra_types: &[("extent", Primitive::Integer, Builtin::Integer)],
    semicolons: false,
    untyped_tensors: true,
    bare_tuples: true,
    postfix_comprehension: true,
    in_operator: false,
};
