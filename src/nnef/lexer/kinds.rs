//! The kinds of tokens, with the patterns by which the lexer finds them.

use logos::Logos;

use crate::graph::Primitive;
use crate::source::names::Name;
#[cfg(test)]
use crate::source::names::Names;

macro_rules! kinds {
    (
        patterns { $($(#[doc = $doc:literal])* $(#[regex($($regex:tt)*)])? $name:ident $text:literal,)* }
        spelled { $($spelled:ident $spelling:literal,)* }
        words_of_loops { $($word:ident $letters:literal,)* }
    ) => {
        /// The kind of a token.
        #[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[logos(skip r"[ \t\x0B\x0C\r\n]+")]
        #[repr(u8)]
        pub(crate) enum TokenKind {
            $($(#[doc = $doc])* $(#[regex($($regex)*)])? $name,)*
            $(#[doc = concat!("`", $spelling, "`")] #[token($spelling)] $spelled,)*
            $(#[doc = concat!("The word `", $letters, "`, where loops are enabled.")] $word,)*
        }

        impl TokenKind {
            /// Its name in messages.
            pub(crate) fn text(self) -> &'static str {
                match self {
                    $(TokenKind::$name => $text,)*
                    $(TokenKind::$spelled => concat!("`", $spelling, "`"),)*
                    $(TokenKind::$word => concat!("`", $letters, "`"),)*
                }
            }

            /// The keyword of a word if loops are enabled.
            pub(crate) fn of_loops(word: &str) -> Option<TokenKind> {
                match word {
                    $($letters => Some(TokenKind::$word),)*
                    _ => None,
                }
            }
        }

        /// The tokens that have a single spelling, with these spellings.
        pub(crate) const SPELLED: &[(&str, TokenKind)] = &[$(($spelling, TokenKind::$spelled),)*];
    };
}

kinds! {
    patterns {
        /// An identifier.
        #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
        Ident "identifier",
        /// A number without fraction and exponent.
        #[regex(r"[0-9]+", priority = 10)]
        Int "integer literal",
        /// A number with a fraction, an exponent or both.
        #[regex(r"[0-9]+\.[0-9]+", priority = 10)]
        Real "scalar literal",
        /// A number that has an exponent, or no digits after its point; becomes a scalar literal.
        #[regex(r"[0-9]+(\.|(\.[0-9]*)?[eE][+\-]?[0-9]+)", priority = 10)]
        OtherReal "scalar literal",
        /// A string with its quotes.
        #[regex("['\"]")]
        Str "string literal",
        /// A malformed literal, which is already reported.
        #[regex(r"[0-9]([0-9A-Za-z_.]|[eE][+\-])*", priority = 5)]
        Bad "malformed literal",
        /// A character that is not allowed, which is already reported.
        Stray "unexpected character",
        /// A comment, which is not stored among the tokens.
        #[regex(r"#[^\n\r\x0C]*", allow_greedy = true)]
        Comment "comment",
        /// A word with characters that identifiers cannot have; becomes an identifier or stray.
        #[regex(r"[A-Za-z0-9_]*[$[^\x00-\x7F]][A-Za-z0-9_$[^\x00-\x7F]]*")]
        BadWord "malformed identifier",
    }
    spelled {
        // Reported, and skipped with the rest of the line.
        Slashes "//",
        // Reported; becomes `&&`.
        Ampersand "&",
        // Reported; becomes `||`.
        Pipe "|",
        Version "version",
        Extension "extension",
        Graph "graph",
        Fragment "fragment",
        Tensor "tensor",
        // The draft writes `extent`.
        Integer "integer",
        Scalar "scalar",
        Logical "logical",
        String "string",
        ShapeOf "shape_of",
        LengthOf "length_of",
        RangeOf "range_of",
        For "for",
        In "in",
        Yield "yield",
        If "if",
        Else "else",
        True "true",
        False "false",
        LParen "(",
        RParen ")",
        LBracket "[",
        RBracket "]",
        LBrace "{",
        RBrace "}",
        Comma ",",
        Semicolon ";",
        Colon ":",
        Assign "=",
        Arrow "->",
        Question "?",
        Plus "+",
        Minus "-",
        Star "*",
        Slash "/",
        Caret "^",
        Bang "!",
        And "&&",
        Or "||",
        Lt "<",
        Le "<=",
        Gt ">",
        Ge ">=",
        EqEq "==",
        NotEq "!=",
        // Only where loops are enabled.
        Dots "..",
    }
    words_of_loops {
        With "with",
        While "while",
        Do "do",
        Unroll "unroll",
    }
}

impl TokenKind {
    /// Whether it is a reserved word.
    pub(crate) fn is_keyword(self) -> bool {
        (TokenKind::Version as u8..=TokenKind::False as u8).contains(&(self as u8))
    }

    /// Whether it is a literal.
    pub(crate) fn is_literal(self) -> bool {
        use TokenKind::*;
        matches!(self, Int | Real | Str | Bad | True | False)
    }

    /// Whether it can be the last token of an expression.
    pub(crate) fn ends_expression(self) -> bool {
        self.is_literal() || matches!(self, TokenKind::Ident | TokenKind::RParen | TokenKind::RBracket)
    }

    /// Whether it opens a bracket.
    pub(crate) fn opens(self) -> bool {
        matches!(self, TokenKind::LParen | TokenKind::LBracket)
    }

    /// Whether it closes a bracket.
    pub(crate) fn closes(self) -> bool {
        matches!(self, TokenKind::RParen | TokenKind::RBracket)
    }

    /// How many brackets are open after it, where so many are open before it.
    pub(crate) fn depth_after(self, depth: usize) -> usize {
        if self.opens() { depth + 1 } else { depth.saturating_sub(usize::from(self.closes())) }
    }

    /// The token of a name in a table made by [`reserved_names`]; `None` for an identifier.
    #[inline]
    pub(crate) fn named(name: Name) -> Option<TokenKind> {
        SPELLED.get(name.index()).map(|(_, kind)| *kind)
    }

    /// The primitive type that it names.
    pub(crate) fn primitive(self) -> Option<Primitive> {
        Some(match self {
            TokenKind::Integer => Primitive::Integer,
            TokenKind::Scalar => Primitive::Scalar,
            TokenKind::Logical => Primitive::Logical,
            TokenKind::String => Primitive::String,
            TokenKind::Question => Primitive::Generic,
            _ => return None,
        })
    }
}

/// A table of names that begins with the spellings of [`SPELLED`] in their order, so that the position
/// of a name shows whether it is a reserved word ([`TokenKind::named`]).
#[cfg(test)]
pub(crate) fn reserved_names() -> Names {
    let mut names = Names::new();
    SPELLED.iter().for_each(|(spelling, _)| {
        names.intern(spelling);
    });
    names
}
