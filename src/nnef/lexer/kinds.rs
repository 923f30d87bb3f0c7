//! The kinds of tokens, with the patterns by which the lexer finds them.

use logos::Logos;

use crate::graph::Primitive;
use crate::source::names::{Name, Names};

macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $(#[token($token:literal)])? $(#[regex($($regex:tt)*)])? $name:ident $text:literal,)*) => {
        /// The kind of a token.
        #[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[logos(skip r"[ \t\x0B\x0C\r\n]+")]
        #[repr(u8)]
        pub(crate) enum Kind {
            $($(#[doc = $doc])* $(#[token($token)])? $(#[regex($($regex)*)])? $name,)*
        }

        impl Kind {
            /// What messages call it.
            pub(crate) fn text(self) -> &'static str {
                match self {
                    $(Kind::$name => $text,)*
                }
            }
        }

        /// The tokens of which there is one spelling, which comes first.
        pub(crate) const SPELLED: &[(&str, Kind)] = &[$($(($token, Kind::$name),)?)*];
    };
}

kinds! {
    /// An identifier.
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
    Ident "identifier",
    /// A number without fraction and exponent.
    #[regex(r"[0-9]+", priority = 10)]
    Int "integer literal",
    /// A number with a fraction, an exponent or both.
    #[regex(r"[0-9]+(\.[0-9]*([eE][+\-]?[0-9]+)?|[eE][+\-]?[0-9]+)", priority = 10)]
    Real "scalar literal",
    /// A string with its quotes.
    #[regex("['\"]")]
    Str "string literal",
    /// A literal that could not be read; reported already.
    #[regex(r"[0-9]([0-9A-Za-z_.]|[eE][+\-])*", priority = 5)]
    Bad "malformed literal",
    /// A character that does not belong here; reported already.
    Stray "unexpected character",
    /// A comment; kept apart from the tokens.
    #[regex(r"#[^\n\r\x0C]*", allow_greedy = true)]
    Comment "comment",
    /// Two slashes; reported and skipped with the rest of the line.
    #[token("//")]
    Slashes "`//`",
    /// A word with characters that identifiers cannot have; becomes an identifier or stray.
    #[regex(r"[A-Za-z0-9_]*[$[^\x00-\x7F]][A-Za-z0-9_$[^\x00-\x7F]]*")]
    BadWord "malformed identifier",
    /// `&` alone; becomes `&&`.
    #[token("&")]
    Ampersand "`&`",
    /// `|` alone; becomes `||`.
    #[token("|")]
    Pipe "`|`",
    /// `version`
    #[token("version")]
    Version "`version`",
    /// `extension`
    #[token("extension")]
    Extension "`extension`",
    /// `graph`
    #[token("graph")]
    Graph "`graph`",
    /// `fragment`
    #[token("fragment")]
    Fragment "`fragment`",
    /// `tensor`
    #[token("tensor")]
    Tensor "`tensor`",
    /// `integer` (draft: `extent`)
    #[token("integer")]
    Integer "`integer`",
    /// `scalar`
    #[token("scalar")]
    Scalar "`scalar`",
    /// `logical`
    #[token("logical")]
    Logical "`logical`",
    /// `string`
    #[token("string")]
    String "`string`",
    /// `shape_of`
    #[token("shape_of")]
    ShapeOf "`shape_of`",
    /// `length_of`
    #[token("length_of")]
    LengthOf "`length_of`",
    /// `range_of`
    #[token("range_of")]
    RangeOf "`range_of`",
    /// `for`
    #[token("for")]
    For "`for`",
    /// `in`
    #[token("in")]
    In "`in`",
    /// `yield`
    #[token("yield")]
    Yield "`yield`",
    /// `if`
    #[token("if")]
    If "`if`",
    /// `else`
    #[token("else")]
    Else "`else`",
    /// `true`
    #[token("true")]
    True "`true`",
    /// `false`
    #[token("false")]
    False "`false`",
    /// `(`
    #[token("(")]
    LParen "`(`",
    /// `)`
    #[token(")")]
    RParen "`)`",
    /// `[`
    #[token("[")]
    LBracket "`[`",
    /// `]`
    #[token("]")]
    RBracket "`]`",
    /// `{`
    #[token("{")]
    LBrace "`{`",
    /// `}`
    #[token("}")]
    RBrace "`}`",
    /// `,`
    #[token(",")]
    Comma "`,`",
    /// `;`
    #[token(";")]
    Semicolon "`;`",
    /// `:`
    #[token(":")]
    Colon "`:`",
    /// `=`
    #[token("=")]
    Assign "`=`",
    /// `->`
    #[token("->")]
    Arrow "`->`",
    /// `?`
    #[token("?")]
    Question "`?`",
    /// `+`
    #[token("+")]
    Plus "`+`",
    /// `-`
    #[token("-")]
    Minus "`-`",
    /// `*`
    #[token("*")]
    Star "`*`",
    /// `/`
    #[token("/")]
    Slash "`/`",
    /// `^`
    #[token("^")]
    Caret "`^`",
    /// `!`
    #[token("!")]
    Bang "`!`",
    /// `&&`
    #[token("&&")]
    And "`&&`",
    /// `||`
    #[token("||")]
    Or "`||`",
    /// `<`
    #[token("<")]
    Lt "`<`",
    /// `<=`
    #[token("<=")]
    Le "`<=`",
    /// `>`
    #[token(">")]
    Gt "`>`",
    /// `>=`
    #[token(">=")]
    Ge "`>=`",
    /// `==`
    #[token("==")]
    EqEq "`==`",
    /// `!=`
    #[token("!=")]
    NotEq "`!=`",
    /// `..`, where loops are enabled.
    #[token("..")]
    Dots "`..`",
    /// The word `with`, where loops are enabled.
    With "`with`",
    /// The word `while`, where loops are enabled.
    While "`while`",
    /// The word `do`, where loops are enabled.
    Do "`do`",
    /// The word `unroll`, where loops are enabled.
    Unroll "`unroll`",
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.text())
    }
}

impl Kind {
    /// Whether it is a reserved word.
    pub(crate) fn is_keyword(self) -> bool {
        (Kind::Version as u8..=Kind::False as u8).contains(&(self as u8))
    }

    /// Whether it is a built-in function or a type name that serves as a cast.
    pub(crate) fn is_builtin(self) -> bool {
        (Kind::Integer as u8..=Kind::RangeOf as u8).contains(&(self as u8))
    }

    /// Whether it is a literal.
    pub(crate) fn is_literal(self) -> bool {
        use Kind::*;
        matches!(self, Int | Real | Str | Bad | True | False)
    }

    /// Whether it can be the last token of an expression.
    pub(crate) fn ends_expression(self) -> bool {
        self.is_literal() || matches!(self, Kind::Ident | Kind::RParen | Kind::RBracket)
    }

    /// Whether it opens a bracket.
    pub(crate) fn opens(self) -> bool {
        matches!(self, Kind::LParen | Kind::LBracket)
    }

    /// Whether it closes a bracket.
    pub(crate) fn closes(self) -> bool {
        matches!(self, Kind::RParen | Kind::RBracket)
    }

    /// The token that a name of a table made by [`reserved_names`] spells; none if that is an identifier.
    #[inline]
    pub(crate) fn named(name: Name) -> Option<Kind> {
        SPELLED.get(name.index()).map(|(_, kind)| *kind)
    }

    /// The keyword that a word is where loops are enabled.
    pub(crate) fn of_loops(word: &str) -> Option<Kind> {
        match word {
            "with" => Some(Kind::With),
            "while" => Some(Kind::While),
            "do" => Some(Kind::Do),
            "unroll" => Some(Kind::Unroll),
            _ => None,
        }
    }

    /// The type name of a primitive.
    pub(crate) fn of_primitive(primitive: Primitive) -> Kind {
        match primitive {
            Primitive::Integer => Kind::Integer,
            Primitive::Scalar => Kind::Scalar,
            Primitive::Logical => Kind::Logical,
            Primitive::String => Kind::String,
            Primitive::Generic => Kind::Question,
        }
    }
}

/// A table of names that begins with the tokens of one spelling, in the order of [`SPELLED`], so that
/// a name tells whether it is a reserved word ([`Kind::named`]).
pub(crate) fn reserved_names() -> Names {
    let mut names = Names::new();
    SPELLED.iter().for_each(|(spelling, _)| {
        names.intern(spelling);
    });
    names
}
