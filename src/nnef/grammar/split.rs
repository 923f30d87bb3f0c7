//! The starts and ends of items and statements.
//!
//! An expression contains neither semicolons nor braces, so both can be found without parsing, and
//! each statement is parsed separately. The bodies of loops contain both, but within their own braces.

use super::ParserRun;
use crate::nnef::lexer::TokenKind;

impl ParserRun<'_> {
    /// The kinds of the current tokens.
    pub(super) fn kinds(&self) -> &[TokenKind] {
        &self.state.tokens.kinds
    }

    pub(super) fn kind(&self, at: usize) -> Option<TokenKind> {
        self.kinds().get(at).copied()
    }

    /// Whether an item starts here: a keyword that is not a misplaced name.
    pub(super) fn item_starts(&self, at: usize) -> bool {
        use TokenKind::*;
        let before = at.checked_sub(1).and_then(|before| self.kind(before));
        if matches!(before, Some(Graph | Fragment | LParen | Comma)) {
            return false;
        }
        match self.kinds().get(at..).unwrap_or_default() {
            [Graph | Fragment, Ident, LParen | Lt, ..] => true,
            [Version, Real | Int, ..] => true,
            [Extension, Ident, ..] => matches!(before, Some(Semicolon | RBrace)),
            _ => false,
        }
    }

    /// The end of the header that starts here: its brace, its semicolon, the next item, or the end of the text.
    pub(super) fn header_end(&self, start: usize) -> usize {
        let ends = |at: &usize| match self.kinds()[*at] {
            TokenKind::LBrace | TokenKind::RBrace | TokenKind::Semicolon => true,
            TokenKind::Graph | TokenKind::Fragment | TokenKind::Version | TokenKind::Extension => self.item_starts(*at),
            _ => false,
        };
        (start + 1..self.kinds().len()).find(ends).unwrap_or(self.kinds().len())
    }

    /// The next token from here at which skipping can stop: an item's keyword.
    pub(super) fn next_item(&self, start: usize) -> usize {
        use TokenKind::*;
        let starts = |at: &usize| matches!(self.kinds()[*at], Version | Extension | Graph | Fragment);
        (start..self.kinds().len()).find(starts).unwrap_or(self.kinds().len())
    }

    /// The end of the statement that starts here: its semicolon, the body's brace, the start of the next
    /// statement if the dialect has no semicolons, the next item, or the end of the text.
    pub(super) fn statement_end(&self, start: usize) -> usize {
        let mut depth = 0usize;
        let mut braces = 0usize;
        // The brackets that are open, and how far was looked ahead: braces can be written for brackets.
        let (mut open, mut ahead, mut closed) = (0usize, start, start);
        let mut at = start;
        while let Some(kind) = self.kind(at) {
            match kind {
                TokenKind::LParen | TokenKind::LBracket => open += 1,
                TokenKind::RParen | TokenKind::RBracket => open = open.saturating_sub(1),
                _ => {}
            }
            match kind {
                TokenKind::LBrace
                    if self.state.tokens.loops || self.comes_first(at, TokenKind::RBrace, &mut closed) =>
                {
                    braces += 1;
                }
                TokenKind::RBrace if braces > 0 => braces -= 1,
                TokenKind::Semicolon if braces > 0 => {}
                TokenKind::LBrace | TokenKind::RBrace
                    if open > 0 && self.comes_first(at, TokenKind::RParen, &mut ahead) => {}
                TokenKind::Semicolon | TokenKind::RBrace => return at,
                TokenKind::Graph | TokenKind::Fragment | TokenKind::Version | TokenKind::Extension
                    if self.item_starts(at) =>
                {
                    return at;
                }
                _ if self.state.rules.semicolons => {}
                _ => {
                    if depth == 0 && at > start && self.statement_starts(at) {
                        return at;
                    }
                    depth = kind.depth_after(depth);
                }
            }
            at += 1;
        }
        at
    }

    /// Whether a token of a kind comes after this one in the same statement. `ahead` is where one was found before.
    fn comes_first(&self, at: usize, wanted: TokenKind, ahead: &mut usize) -> bool {
        use TokenKind::*;
        if *ahead <= at {
            let ends = |kind: TokenKind| kind == wanted || matches!(kind, Semicolon | Graph | Fragment);
            let len = self.kinds().len();
            *ahead = (at + 1..len).find(|token| ends(self.kinds()[*token])).unwrap_or(len);
        }
        self.kind(*ahead) == Some(wanted)
    }

    /// Whether an assignment can start here: the end of an expression precedes it, and left sides and `=`
    /// follow.
    pub(super) fn statement_starts(&self, at: usize) -> bool {
        let behind = at.checked_sub(1).and_then(|before| self.kind(before));
        behind.is_some_and(TokenKind::ends_expression) && (self.assigns(at) || self.compares(at))
    }

    /// Whether a name that begins a line is compared: two operands do not follow each other, so that it is assigned by the
    /// wrong operator.
    fn compares(&self, at: usize) -> bool {
        use TokenKind::{EqEq, Ge, Ident, Le, NotEq};
        let [name, operator] = [at, at + 1].map(|at| self.kind(at));
        name == Some(Ident) && matches!(operator, Some(EqEq | NotEq | Le | Ge)) && self.starts_line(at)
    }

    /// Whether left sides followed by `=` start here.
    pub(super) fn assigns(&self, mut at: usize) -> bool {
        let mut depth = 0usize;
        let mut operand = false;
        while let Some(kind) = self.kind(at) {
            match kind {
                TokenKind::Ident if !operand => operand = true,
                TokenKind::LParen | TokenKind::LBracket if !operand => depth += 1,
                TokenKind::RParen | TokenKind::RBracket if operand && depth > 0 => depth -= 1,
                TokenKind::Comma if operand => operand = false,
                TokenKind::Assign => return operand && depth == 0,
                _ => return false,
            }
            at += 1;
        }
        false
    }

    /// The innermost bracket between `start` and `at` that is still open, if any.
    pub(super) fn enclosing(&self, start: usize, at: usize) -> Option<usize> {
        self.open(start, at).pop()
    }

    /// The brackets between `start` and `at` that are still open, the outermost first.
    pub(super) fn open(&self, start: usize, at: usize) -> Vec<usize> {
        let mut open = Vec::new();
        for token in start..at.min(self.kinds().len()) {
            if self.kinds()[token].opens() {
                open.push(token);
            } else if self.kinds()[token].closes() {
                open.pop();
            }
        }
        open
    }

    /// Whether a token of a kind is between two others, outside nested brackets.
    pub(super) fn has_between(&self, kind: TokenKind, start: usize, end: usize) -> bool {
        self.unnested(start, end).any(|found| found == kind)
    }

    /// The kinds of the tokens between two others, outside nested brackets.
    pub(super) fn unnested(&self, start: usize, end: usize) -> impl Iterator<Item = TokenKind> {
        let mut depth = 0usize;
        self.kinds()[start..end].iter().copied().filter(move |kind| {
            depth = kind.depth_after(depth);
            depth == 0
        })
    }
}
