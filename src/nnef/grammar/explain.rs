//! From a failed slice to a diagnostic: which rule is broken, what was found, what was expected.

use super::ParserRun;
use crate::diagnostics::{Code, Diagnostic};
use crate::nnef::lexer::TokenKind;
use crate::source::Location;

/// The name of the end of a slice in messages.
pub(super) const END: &str = "end of statement";

/// Where a grammar failed, and what it would have accepted.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    /// The token found.
    pub(crate) at: usize,
    /// What was expected.
    pub(crate) expected: Vec<&'static str>,
}

impl Problem {
    fn expects(&self, what: TokenKind) -> bool {
        self.expected.contains(&what.text())
    }
}

impl ParserRun<'_> {
    /// The description of a token for messages.
    pub(super) fn found(&self, at: usize) -> String {
        match self.kind(at) {
            None => "the end of the text".to_owned(),
            Some(kind @ (TokenKind::Ident | TokenKind::Int | TokenKind::Real | TokenKind::Str)) => {
                let text = self.token_text(at);
                let what = if kind == TokenKind::Ident { "" } else { "the " };
                match text.chars().count() {
                    0..=40 => format!("{what}{} `{text}`", kind.text()),
                    _ => format!("{what}{}", kind.text()),
                }
            }
            Some(kind) if kind.is_keyword() => format!("`{}`", self.token_text(at)),
            Some(kind) => kind.text().to_owned(),
        }
    }

    /// Whether the lexer reported an error in the tokens from `start` to `at`.
    pub(super) fn is_marred(&self, start: usize, at: usize) -> bool {
        let end = (at + 1).min(self.kinds().len());
        self.kinds()[start.min(end)..end].iter().any(|kind| matches!(kind, TokenKind::Stray | TokenKind::Bad))
    }

    /// Reports why an assignment could not be parsed.
    pub(super) fn explain_statement(&mut self, start: usize, end: usize, problem: &Problem) {
        if self.is_marred(start, problem.at) {
            return;
        }
        let verdict = self.judge_statement(start, end, problem);
        let open = self.enclosing(start, problem.at);
        self.pronounce(verdict, problem, open);
    }

    /// Reports why the header of a fragment or graph could not be parsed.
    pub(super) fn explain_header(&mut self, start: usize, end: usize, problem: &Problem) {
        if self.is_marred(start, problem.at) {
            return;
        }
        let graph = self.kind(start) == Some(TokenKind::Graph);
        let verdict = match self.misplaced_keyword(problem) {
            Some(verdict) => verdict,
            None if graph => self.judge_graph(problem),
            None => self.judge_fragment(start, problem),
        };
        if verdict.code == Code::BadType && self.type_is_missing(problem.at) {
            // The type is missing, so the location is right after the previous token.
            let at = Location::new(self.module.file, self.span(problem.at - 1).after());
            return self.diagnostics.report(Diagnostic { at, ..verdict }.label("the type is incomplete"));
        }
        let open = if problem.at >= end { self.enclosing(start, problem.at) } else { None };
        self.pronounce(verdict, problem, open);
    }

    /// Reports a diagnostic, with the bracket that is open there, if any.
    fn pronounce(&mut self, mut finding: Diagnostic, problem: &Problem, open: Option<usize>) {
        let written = [(TokenKind::LBrace, "["), (TokenKind::RBrace, "]")];
        if let Some((_, bracket)) = written.iter().find(|(brace, _)| self.kind(problem.at) == Some(*brace))
            && open.is_some()
        {
            finding = finding.help(format!("an array is written in brackets: `{bracket}`"));
        }
        if let Some(open) = open
            && (problem.expects(TokenKind::RParen) || problem.expects(TokenKind::RBracket))
        {
            let name = self.kind(open).map_or("", TokenKind::text);
            finding = finding.see(self.location(open), format!("this {name} is not closed yet"));
        }
        self.diagnostics.report(finding);
    }

    /// The diagnostic for a rule that is broken at a token.
    fn fault(&self, code: Code, at: usize, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, self.location(at), message)
    }

    /// The diagnostic for a rule that is broken at a token that it does not allow.
    pub(super) fn surprise(&self, code: Code, at: usize, message: impl Into<String>) -> Diagnostic {
        let label = match self.kind(at) {
            Some(_) => format!("unexpected {}", self.found(at)),
            None => "the text ends".to_owned(),
        };
        self.fault(code, at, message).label(label)
    }

    /// The diagnostic for a rule that is broken by an unexpected token.
    fn unexpected(&self, code: Code, problem: &Problem) -> Diagnostic {
        self.surprise(code, problem.at, self.expectation(problem))
    }

    /// "expected `,` or `)`, found `;`"
    fn expectation(&self, problem: &Problem) -> String {
        let mut expected = problem.expected.clone();
        expected.sort_unstable();
        expected.dedup();
        if expected.contains(&"expression") {
            let operand = |what: &&str| matches!(*what, "identifier" | "operator" | "`(`" | "`[`" | "`for`");
            expected.retain(|what| !operand(what));
        }
        // Tokens that continue an expression are listed only if nothing else is expected.
        let minor = |what: &&str| matches!(*what, "operator" | "`(`" | "`[`" | "`<`" | "`if`" | "`-`" | "`+`");
        if expected.iter().any(|what| !minor(what)) {
            expected.retain(|what| !minor(what));
        }
        if self.state.rules.semicolons {
            for what in &mut expected {
                if *what == END {
                    *what = "`;`";
                }
            }
        }
        let found = self.found(problem.at);
        match expected.split_last() {
            None => format!("unexpected {found}"),
            Some((last, [])) => format!("expected {last}, found {found}"),
            Some((last, rest)) => format!("expected {} or {last}, found {found}", rest.join(", ")),
        }
    }

    /// The diagnostic for a keyword where a name is expected.
    fn misplaced_keyword(&self, problem: &Problem) -> Option<Diagnostic> {
        let at = problem.at;
        let verdict = |at: usize| {
            let word = self.token_text(at);
            let message = format!("`{word}` is a keyword and cannot be used as a name");
            Some(self.fault(Code::KeywordAsName, at, message))
        };
        let kind = self.kind(at);
        let name_expected = problem.expects(TokenKind::Ident) || problem.expected.contains(&"expression");
        let type_argument = self.kind(at + 1) == Some(TokenKind::Gt);
        let clause = type_argument
            || matches!(
                kind,
                Some(TokenKind::In | TokenKind::If | TokenKind::Else | TokenKind::Yield | TokenKind::For)
            );
        let named = matches!(
            self.kind(at + 1),
            Some(TokenKind::Assign | TokenKind::Colon | TokenKind::Comma | TokenKind::RParen)
        );
        if kind.is_some_and(TokenKind::is_keyword) && name_expected && (!clause || named) {
            return verdict(at);
        }
        let before = at.checked_sub(1)?;
        let builtin = self.kind(before).is_some_and(TokenKind::is_builtin);
        (builtin && problem.expected == [TokenKind::LParen.text()]).then(|| verdict(before)).flatten()
    }

    fn judge_statement(&self, start: usize, end: usize, problem: &Problem) -> Diagnostic {
        let at = problem.at;
        if let Some(verdict) = self.misplaced_keyword(problem) {
            let clause =
                matches!(self.kind(at), Some(TokenKind::In | TokenKind::If | TokenKind::Yield | TokenKind::For));
            if clause && self.comprehension_header(start, at) {
                return self.unexpected(Code::BadComprehension, problem);
            }
            return verdict;
        }
        let kinds = self.kinds();
        let equals = (start..end).find(|token| kinds[*token] == TokenKind::Assign);
        let open = self.enclosing(start, at);
        if equals.is_none_or(|equals| at <= equals) {
            let complete = equals.is_some_and(|equals| self.enclosing(start, equals).is_none());
            if complete && at < end {
                let message = "only names, and arrays and tuples of names, can be assigned";
                return self.fault(Code::BadTarget, start, message);
            }
            return self.unexpected(Code::BadAssignment, problem);
        }
        let merged = at < end && self.starts_line(at) && self.statement_starts(at);
        if at >= end || merged {
            return self.judge_end(at, open, problem);
        }
        match open {
            None => self.judge_open(at, problem),
            Some(open) if kinds[open] == TokenKind::LParen => self.judge_parens(open, at, problem),
            Some(open) => self.judge_brackets(open, at, problem),
        }
    }

    /// The diagnostic for a statement that ends too early.
    fn judge_end(&self, at: usize, open: Option<usize>, problem: &Problem) -> Diagnostic {
        let before = self.kinds()[at - 1];
        let code = match open {
            None if problem.expects(TokenKind::Else) => Code::SelectWithoutElse,
            None if !before.ends_expression() && before != TokenKind::Assign => Code::BadExpression,
            _ => Code::BadAssignment,
        };
        self.unexpected(code, problem)
    }

    /// The diagnostic for an error outside brackets.
    fn judge_open(&self, at: usize, problem: &Problem) -> Diagnostic {
        let before = self.kinds()[at - 1];
        let code = match self.kinds()[at] {
            TokenKind::Assign => return self.surprise(Code::BadAssignment, at, "an assignment has only one `=`"),
            _ if problem.expects(TokenKind::Else) => Code::SelectWithoutElse,
            TokenKind::Comma if before.ends_expression() => {
                return self
                    .surprise(Code::BareTuple, at, "a tuple of values needs parentheses")
                    .help("write `(a, b)`");
            }
            kind if before.ends_expression() && (kind == TokenKind::Ident || !kind.is_operator()) => {
                Code::BadAssignment
            }
            _ => Code::BadExpression,
        };
        self.unexpected(code, problem)
    }

    /// The diagnostic for an error in parentheses.
    fn judge_parens(&self, open: usize, at: usize, problem: &Problem) -> Diagnostic {
        let kinds = self.kinds();
        let callee = open.checked_sub(1).map(|before| kinds[before]);
        if callee.is_some_and(TokenKind::is_builtin) && (at == open + 1 || !problem.expected.contains(&"expression")) {
            let name = self.token_text(open - 1);
            let message = format!("`{name}` takes exactly one argument, without a name");
            return self.surprise(Code::BadBuiltinCall, at, message);
        }
        let call = matches!(callee, Some(TokenKind::Ident | TokenKind::Gt));
        let (found, before) = (kinds[at], kinds[at - 1]);
        let separated = call && before.ends_expression();
        let code = match found {
            _ if problem.expects(TokenKind::Else) => Code::SelectWithoutElse,
            TokenKind::RParen if before == TokenKind::Comma => Code::BadList,
            TokenKind::Comma if call && matches!(before, TokenKind::Comma | TokenKind::LParen) => Code::BadList,
            _ if separated && !found.is_operator() && found != TokenKind::Assign => Code::BadList,
            _ => Code::BadExpression,
        };
        self.unexpected(code, problem)
    }

    /// The diagnostic for an error in square brackets.
    fn judge_brackets(&self, open: usize, at: usize, problem: &Problem) -> Diagnostic {
        let kinds = self.kinds();
        let found = kinds[at];
        let subscript = open.checked_sub(1).is_some_and(|before| kinds[before].ends_expression());
        if subscript {
            return self.unexpected(Code::BadExpression, problem);
        }
        let looped = found == TokenKind::For || self.has_between(TokenKind::For, open + 1, at);
        let operand = problem.expected.contains(&"expression");
        let dangling =
            operand && !matches!(kinds[at - 1], TokenKind::In | TokenKind::If | TokenKind::Yield | TokenKind::For);
        if looped && !dangling {
            let form = match self.state.rules.postfix_comprehension {
                true => "a comprehension is written `[item for i in array if condition]`, with one iterator",
                false => "a comprehension is written `[for i in array if condition yield item]`",
            };
            return self.unexpected(Code::BadComprehension, problem).help(form);
        }
        let code = match found {
            _ if problem.expects(TokenKind::Else) => Code::SelectWithoutElse,
            TokenKind::RBracket if kinds[at - 1] == TokenKind::Comma => Code::BadList,
            _ => Code::BadExpression,
        };
        self.unexpected(code, problem)
    }

    /// Whether a token is between `for` and `yield` of a comprehension.
    fn comprehension_header(&self, start: usize, at: usize) -> bool {
        let Some(open) = self.enclosing(start, at) else { return false };
        let looped = self.has_between(TokenKind::For, open + 1, at);
        looped && !self.has_between(TokenKind::Yield, open + 1, at)
    }

    fn judge_graph(&self, problem: &Problem) -> Diagnostic {
        let at = problem.at;
        match self.kind(at) {
            Some(TokenKind::Colon | TokenKind::Assign) => self.surprise(
                Code::TypedGraphParameter,
                at,
                "parameters and results of a graph have neither type nor default value",
            ),
            _ => self.unexpected(Code::BadList, problem),
        }
    }

    fn judge_fragment(&self, start: usize, problem: &Problem) -> Diagnostic {
        let at = problem.at;
        let kinds = self.kinds();
        // The outermost bracket holds the parameters; in it, the last comma precedes the current parameter.
        let Some(&part) = self.open(start, at).first() else {
            let generic = self.has_between(TokenKind::Lt, start, at) || self.kind(at) == Some(TokenKind::Lt);
            return self.unexpected(if generic { Code::BadType } else { Code::BadList }, problem);
        };
        let separators = self.unnested(part + 1, at);
        let separators =
            separators.filter(|kind| matches!(kind, TokenKind::Comma | TokenKind::Colon | TokenKind::Assign));
        let state = separators.last().unwrap_or(TokenKind::Comma);
        match state {
            TokenKind::Assign => {
                let message = format!("a default value is a literal, and cannot contain {}", self.found(at));
                self.surprise(Code::BadDefault, at, message)
            }
            TokenKind::Colon => self.judge_type(problem),
            _ if kinds[at - 1] == TokenKind::Ident => self.unexpected(Code::BadType, problem),
            _ => self.unexpected(Code::BadList, problem),
        }
    }

    fn judge_type(&self, problem: &Problem) -> Diagnostic {
        let at = problem.at;
        if self.is_element(at) {
            return self.fault(Code::BadElementType, at, "the elements of a tensor are of a primitive type");
        }
        let verdict = self.unexpected(Code::BadType, problem);
        let word = if self.kind(at) == Some(TokenKind::Ident) { self.token_text(at) } else { "" };
        let meant = match word {
            "extent" => "integer",
            "integer" => "extent",
            "float" | "real" | "double" => "scalar",
            "int" if self.state.rules.own_words.is_empty() => "integer",
            "int" => "extent",
            "bool" | "boolean" => "logical",
            "str" => "string",
            _ => return verdict,
        };
        verdict.help(format!("write `{meant}`")).fix(self.span(at), meant)
    }

    /// Whether a token makes the element type of a tensor other than a primitive type.
    fn is_element(&self, at: usize) -> bool {
        let back = |n: usize| at.checked_sub(n).and_then(|before| self.kind(before));
        match self.kind(at) {
            Some(TokenKind::Tensor | TokenKind::LParen) => {
                back(1) == Some(TokenKind::Lt) && back(2) == Some(TokenKind::Tensor)
            }
            Some(TokenKind::LBracket) => back(2) == Some(TokenKind::Lt) && back(3) == Some(TokenKind::Tensor),
            _ => false,
        }
    }

    /// Whether a type is missing or incomplete: after the name of a parameter, or after a bare `tensor`.
    fn type_is_missing(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.kind(before));
        let ended = matches!(
            self.kind(at),
            Some(TokenKind::Comma | TokenKind::RParen | TokenKind::Assign | TokenKind::LBracket)
        );
        ended && matches!(before, Some(TokenKind::Ident | TokenKind::Tensor))
    }
}
