//! From a failed slice to a diagnostic: which rule is broken, what was found, what was expected.

use super::Run;
use crate::diagnostics::{Code, Diagnostic};
use crate::nnef::lexer::Kind;
use crate::source::Location;

/// How messages call the end of a slice.
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
    fn expects(&self, what: Kind) -> bool {
        self.expected.contains(&what.text())
    }
}

/// A verdict: the rule, the token to show, and perhaps advice.
struct Verdict {
    code: Code,
    at: usize,
    message: Option<String>,
    help: Option<String>,
}

impl Verdict {
    fn new(code: Code, at: usize) -> Self {
        Verdict { code, at, message: None, help: None }
    }

    fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl Run<'_> {
    /// What stands at a token, for messages.
    pub(super) fn found(&self, at: usize) -> String {
        match self.kind(at) {
            None => "the end of the text".to_owned(),
            Some(kind @ (Kind::Ident | Kind::Int | Kind::Real | Kind::Str)) => {
                let text = self.token_text(at);
                let what = if kind == Kind::Ident { "" } else { "the " };
                match text.chars().count() {
                    0..=40 => format!("{what}{} `{text}`", kind.text()),
                    _ => format!("{what}{}", kind.text()),
                }
            }
            Some(kind) if kind.is_keyword() => format!("`{}`", self.token_text(at)),
            Some(kind) => kind.text().to_owned(),
        }
    }

    /// Whether what is wrong here was found wrong by the lexer already.
    pub(super) fn is_marred(&self, start: usize, at: usize) -> bool {
        let end = (at + 1).min(self.kinds().len());
        self.kinds()[start.min(end)..end].iter().any(|kind| matches!(kind, Kind::Stray | Kind::Bad))
    }

    /// Reports why an assignment could not be read.
    pub(super) fn explain_statement(&mut self, start: usize, end: usize, problem: &Problem) {
        if self.is_marred(start, problem.at) {
            return;
        }
        let verdict = self.judge_statement(start, end, problem);
        let open = self.enclosing(start, problem.at);
        self.pronounce(verdict, problem, open);
    }

    /// Reports why the header of a fragment or graph could not be read.
    pub(super) fn explain_header(&mut self, start: usize, end: usize, problem: &Problem) {
        if self.is_marred(start, problem.at) {
            return;
        }
        let graph = self.kind(start) == Some(Kind::Graph);
        let verdict = match self.misplaced_keyword(problem) {
            Some(verdict) => verdict,
            None if graph => self.judge_graph(problem),
            None => self.judge_fragment(start, problem),
        };
        let missing_type = verdict.code == Code::BadType && self.type_is_missing(verdict.at);
        let open = if problem.at >= end { self.enclosing(start, problem.at) } else { None };
        if missing_type {
            // Nothing stands where the type should: the place is right behind what came before.
            let at = Location::new(self.module.file, self.span(verdict.at - 1).after());
            let message = self.expectation(problem);
            let finding = Diagnostic::new(verdict.code, at, message).label("the type is incomplete");
            self.diagnostics.report(finding.help_if(verdict.help));
            return;
        }
        self.pronounce(verdict, problem, open);
    }

    fn pronounce(&mut self, verdict: Verdict, problem: &Problem, open: Option<usize>) {
        let message = verdict.message.unwrap_or_else(|| self.expectation(problem));
        let mut finding = Diagnostic::new(verdict.code, self.location(verdict.at), message).help_if(verdict.help);
        if let Some(open) = open
            && (problem.expects(Kind::RParen) || problem.expects(Kind::RBracket))
        {
            let name = self.kind(open).map_or("", Kind::text);
            finding = finding.see(self.location(open), format!("{name} is opened here"));
        }
        self.diagnostics.report(finding);
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
        // What continues an expression is worth saying only where nothing else is expected.
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

    /// A keyword where a name is needed.
    fn misplaced_keyword(&self, problem: &Problem) -> Option<Verdict> {
        let at = problem.at;
        let verdict = |at: usize| {
            let word = self.token_text(at);
            let message = format!("`{word}` is a keyword and cannot be used as a name");
            Some(Verdict::new(Code::KeywordAsName, at).message(message))
        };
        let kind = self.kind(at);
        let name_expected = problem.expects(Kind::Ident) || problem.expected.contains(&"expression");
        let type_argument = self.kind(at + 1) == Some(Kind::Gt);
        let clause = type_argument || matches!(kind, Some(Kind::In | Kind::If | Kind::Else | Kind::Yield | Kind::For));
        let named = matches!(self.kind(at + 1), Some(Kind::Assign | Kind::Colon | Kind::Comma | Kind::RParen));
        if kind.is_some_and(Kind::is_keyword) && name_expected && (!clause || named) {
            return verdict(at);
        }
        let before = at.checked_sub(1)?;
        let builtin = self.kind(before).is_some_and(Kind::is_builtin);
        (builtin && problem.expected == [Kind::LParen.text()]).then(|| verdict(before)).flatten()
    }

    fn judge_statement(&self, start: usize, end: usize, problem: &Problem) -> Verdict {
        let at = problem.at;
        if let Some(verdict) = self.misplaced_keyword(problem) {
            if self.comprehension_header(start, at) && self.kind(at) != Some(Kind::Ident) {
                let clause = matches!(self.kind(at), Some(Kind::In | Kind::If | Kind::Yield | Kind::For));
                if clause {
                    return Verdict::new(Code::BadComprehension, at);
                }
            }
            return verdict;
        }
        let kinds = self.kinds();
        let equals = (start..end).find(|token| kinds[*token] == Kind::Assign);
        let open = self.enclosing(start, at);
        if equals.is_none_or(|equals| at <= equals) {
            let complete = equals.is_some_and(|equals| self.enclosing(start, equals).is_none());
            if complete && at < end {
                let message = "only names, and arrays and tuples of names, can be assigned";
                return Verdict::new(Code::BadTarget, start).message(message);
            }
            return Verdict::new(Code::BadAssignment, at);
        }
        let merged = at < end && self.starts_line(at) && self.statement_starts(at);
        if at >= end || merged {
            return self.judge_end(at, open, problem);
        }
        match open {
            None => self.judge_open(at, problem),
            Some(open) if kinds[open] == Kind::LParen => self.judge_parens(open, at, problem),
            Some(open) => self.judge_brackets(open, at, problem),
        }
    }

    /// The statement ends too early.
    fn judge_end(&self, at: usize, open: Option<usize>, problem: &Problem) -> Verdict {
        let dangling = !self.kinds()[at - 1].ends_expression();
        match open {
            None if problem.expects(Kind::Else) => Verdict::new(Code::SelectWithoutElse, at),
            None if dangling && self.kinds()[at - 1] != Kind::Assign => Verdict::new(Code::BadExpression, at),
            _ => Verdict::new(Code::BadAssignment, at),
        }
    }

    /// Something is wrong outside of brackets.
    fn judge_open(&self, at: usize, problem: &Problem) -> Verdict {
        let before = self.kinds()[at - 1];
        match self.kinds()[at] {
            Kind::Assign => Verdict::new(Code::BadAssignment, at).message("an assignment has one `=`"),
            Kind::Comma if problem.expects(Kind::Else) => Verdict::new(Code::SelectWithoutElse, at),
            Kind::Comma if before.ends_expression() => {
                Verdict::new(Code::BareTuple, at).message("a tuple of values needs parentheses").help("write `(a, b)`")
            }
            _ if problem.expects(Kind::Else) => Verdict::new(Code::SelectWithoutElse, at),
            kind if before.ends_expression() && (kind == Kind::Ident || !kind.is_operator()) => {
                Verdict::new(Code::BadAssignment, at)
            }
            _ => Verdict::new(Code::BadExpression, at),
        }
    }

    /// Something is wrong in parentheses.
    fn judge_parens(&self, open: usize, at: usize, problem: &Problem) -> Verdict {
        let kinds = self.kinds();
        let callee = open.checked_sub(1).map(|before| kinds[before]);
        if callee.is_some_and(Kind::is_builtin) && (at == open + 1 || !problem.expected.contains(&"expression")) {
            let name = self.token_text(open - 1);
            let message = format!("`{name}` takes exactly one argument, without a name");
            return Verdict::new(Code::BadBuiltinCall, at).message(message);
        }
        let call = matches!(callee, Some(Kind::Ident | Kind::Gt));
        match kinds[at] {
            _ if problem.expects(Kind::Else) => Verdict::new(Code::SelectWithoutElse, at),
            Kind::RParen if kinds[at - 1] == Kind::Comma => Verdict::new(Code::BadList, at),
            Kind::Comma if call && matches!(kinds[at - 1], Kind::Comma | Kind::LParen) => {
                Verdict::new(Code::BadList, at)
            }
            kind if call && kinds[at - 1].ends_expression() && !kind.is_operator() && kind != Kind::Assign => {
                Verdict::new(Code::BadList, at)
            }
            _ => Verdict::new(Code::BadExpression, at),
        }
    }

    /// Something is wrong in square brackets.
    fn judge_brackets(&self, open: usize, at: usize, problem: &Problem) -> Verdict {
        let kinds = self.kinds();
        let found = kinds[at];
        let subscript = open.checked_sub(1).is_some_and(|before| kinds[before].ends_expression());
        if subscript {
            return Verdict::new(Code::BadExpression, at);
        }
        let looped = found == Kind::For || self.has_between(Kind::For, open + 1, at);
        let operand = problem.expected.contains(&"expression");
        let dangling = operand && !matches!(kinds[at - 1], Kind::In | Kind::If | Kind::Yield | Kind::For);
        if looped && !dangling {
            let form = match self.state.rules.postfix_comprehension {
                true => "a comprehension is written `[item for i in array if condition]`, with one iterator",
                false => "a comprehension is written `[for i in array if condition yield item]`",
            };
            return Verdict::new(Code::BadComprehension, at).help(form);
        }
        match found {
            _ if problem.expects(Kind::Else) => Verdict::new(Code::SelectWithoutElse, at),
            Kind::RBracket if kinds[at - 1] == Kind::Comma => Verdict::new(Code::BadList, at),
            _ => Verdict::new(Code::BadExpression, at),
        }
    }

    /// Whether a token stands between `for` and `yield` of a comprehension.
    fn comprehension_header(&self, start: usize, at: usize) -> bool {
        let Some(open) = self.enclosing(start, at) else { return false };
        let looped = self.has_between(Kind::For, open + 1, at);
        looped && !self.has_between(Kind::Yield, open + 1, at)
    }

    fn judge_graph(&self, problem: &Problem) -> Verdict {
        let at = problem.at;
        match self.kind(at) {
            Some(Kind::Colon | Kind::Assign) => Verdict::new(Code::TypedGraphParameter, at)
                .message("parameters and results of a graph have neither type nor default value"),
            _ => Verdict::new(Code::BadList, at),
        }
    }

    fn judge_fragment(&self, start: usize, problem: &Problem) -> Verdict {
        let at = problem.at;
        let kinds = self.kinds();
        // The outermost bracket holds the parameters; in it, the last comma starts this one.
        let Some(&part) = self.open(start, at).first() else {
            let generic = self.has_between(Kind::Lt, start, at) || self.kind(at) == Some(Kind::Lt);
            return Verdict::new(if generic { Code::BadType } else { Code::BadList }, at);
        };
        let mut depth = 0usize;
        let mut state = Kind::Comma;
        for &kind in &kinds[part + 1..at] {
            if kind.opens() {
                depth += 1;
            } else if kind.closes() {
                depth = depth.saturating_sub(1);
            } else if depth == 0 && matches!(kind, Kind::Comma | Kind::Colon | Kind::Assign) {
                state = kind;
            }
        }
        match state {
            Kind::Assign => Verdict::new(Code::BadDefault, at)
                .message(format!("a default value is a literal, and cannot contain {}", self.found(at))),
            Kind::Colon => self.judge_type(at),
            _ if kinds[at - 1] == Kind::Ident => Verdict::new(Code::BadType, at),
            _ => Verdict::new(Code::BadList, at),
        }
    }

    fn judge_type(&self, at: usize) -> Verdict {
        if self.is_element(at) {
            return Verdict::new(Code::BadElementType, at).message("the elements of a tensor are of a primitive type");
        }
        let verdict = Verdict::new(Code::BadType, at);
        let word = if self.kind(at) == Some(Kind::Ident) { self.token_text(at) } else { "" };
        match word {
            "extent" => verdict.help("write `integer`"),
            "integer" => verdict.help("write `extent`"),
            "float" | "real" | "double" => verdict.help("write `scalar`"),
            "int" => {
                verdict.help(if self.state.rules.own_words.is_empty() { "write `integer`" } else { "write `extent`" })
            }
            "bool" | "boolean" => verdict.help("write `logical`"),
            "str" => verdict.help("write `string`"),
            _ => verdict,
        }
    }

    /// Whether a token belongs to the element type of a tensor, and makes more than a primitive.
    fn is_element(&self, at: usize) -> bool {
        let back = |n: usize| at.checked_sub(n).and_then(|before| self.kind(before));
        match self.kind(at) {
            Some(Kind::Tensor | Kind::LParen) => back(1) == Some(Kind::Lt) && back(2) == Some(Kind::Tensor),
            Some(Kind::LBracket) => back(2) == Some(Kind::Lt) && back(3) == Some(Kind::Tensor),
            _ => false,
        }
    }

    /// Whether a type breaks off: after the name of a parameter, or after a bare `tensor`.
    fn type_is_missing(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.kind(before));
        let ended = matches!(self.kind(at), Some(Kind::Comma | Kind::RParen | Kind::Assign | Kind::LBracket));
        ended && matches!(before, Some(Kind::Ident | Kind::Tensor))
    }
}
