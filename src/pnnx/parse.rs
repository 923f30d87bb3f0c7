//! Parses expressions: strictly, or in compatibility mode only by the numbers of operands.
//!
//! One token of lookahead is sufficient, and chains of a million operations are nested a million deep; so the parser
//! is a loop over the tokens with an explicit stack.

use super::expression_table::Op;
use super::tokens::{self, Literal, Misread, Token, TokenKind, tokens};
use super::tree::{Expression, NodeId, Term};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, suggest};
use crate::source::{FileId, Location, Span};

/// The options of the parser.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading {
    /// The number of operands, if it is known.
    pub(crate) arity: Option<u64>,
    /// Whether texts with wrong brackets are parsed only by the numbers of operands.
    pub(crate) compat: bool,
    /// Whether operations that only templates may use are allowed.
    pub(crate) template: bool,
    /// Whether deviations from the grammar are errors.
    pub(crate) strict: bool,
}

/// An expression with its tokens.
#[derive(Clone, Debug)]
pub(crate) struct ParsedExpression {
    /// The tree.
    pub(crate) expression: Expression,
    /// The tokens of the text.
    pub(crate) tokens: Vec<Token>,
}

/// Parses an expression that starts at an offset of a file.
///
/// # Errors
///
/// All independent errors.
pub(crate) fn parse(
    text: &str,
    file: FileId,
    start: u32,
    reading: Reading,
) -> Result<(ParsedExpression, Diagnostics), Diagnostics> {
    let reader = |careless| ExpressionReader::new(text, (file, start), reading, careless);
    match reader(false).read(false) {
        Ok(parsed) => Ok((parsed, Diagnostics::new(reading.strict))),
        Err(errors) if !reading.compat || !is_balanced(text) => Err(errors),
        Err(errors) => {
            let mut found = Diagnostics::new(reading.strict);
            let at = Location::new(file, Span::new(start, start + text.len() as u32));
            let message = "the brackets of the expression do not match; it is read by the numbers of operands only";
            found.report(Diagnostic::new(Code::ExpressionBrackets, at, message));
            match reader(true).read(true) {
                Ok(parsed) if !found.has_errors() => Ok((parsed, found)),
                _ => Err(errors),
            }
        }
    }
}

/// Whether each bracket has its counterpart. Texts without are cut or damaged, in every notation.
fn is_balanced(text: &str) -> bool {
    let mut open: Vec<u8> = Vec::new();
    let closes = |open: &mut Vec<u8>, with: u8| open.pop() == Some(with);
    let balanced = text.bytes().all(|byte| match byte {
        b'(' | b'[' => {
            open.push(byte);
            true
        }
        b')' => closes(&mut open, b'('),
        b']' => closes(&mut open, b'['),
        _ => true,
    });
    balanced && open.is_empty()
}

/// Whether a text that is not an expression is a constant text, such as `ij` or `ij,jk->ik`, which pnnx writes as an
/// expression without operands. Operations and operands of expressions are not in it.
pub(crate) fn is_text(text: &str) -> bool {
    !text.is_empty() && !text.contains(['@', '(', ')', '[', ']', '%'])
}

/// An incomplete operation or list.
enum Open {
    /// An operation.
    Call(ParsedCall),
    /// A list: the span of its bracket, and the stack index of its first item.
    List(Span, usize),
}

#[derive(Clone, Copy)]
struct ParsedCall {
    /// The operation; none for an unknown name.
    op: Option<Op>,
    /// The span of its name.
    span: Span,
    /// The stack index of its first operand.
    first: usize,
    /// The number of open brackets around its operands.
    depth: usize,
}

struct ExpressionReader<'t> {
    text: &'t str,
    origin: (FileId, u32),
    reading: Reading,
    tokens: Vec<Token>,
    misread: Vec<Misread>,
    next: usize,
    expression: Expression,
    /// The nodes that have not been used as operands yet.
    pending: Vec<NodeId>,
    open: Vec<Open>,
    /// The number of open round brackets, in compatibility mode.
    depth: usize,
    found: Diagnostics,
}

/// Parsing ends here; the error has been reported.
struct Stop;

impl<'t> ExpressionReader<'t> {
    fn new(text: &'t str, origin: (FileId, u32), reading: Reading, careless: bool) -> Self {
        let (tokens, misread) = tokens(text, careless);
        ExpressionReader {
            text,
            origin,
            reading,
            expression: Expression::with_capacity(tokens.len() / 2 + 1),
            tokens,
            misread,
            next: 0,
            pending: Vec::new(),
            open: Vec::new(),
            depth: 0,
            found: Diagnostics::new(reading.strict),
        }
    }

    fn read(mut self, prefix: bool) -> Result<ParsedExpression, Diagnostics> {
        for i in 0..self.misread.len() {
            self.misread(self.misread[i]);
        }
        if self.found.has_errors() {
            return Err(self.found);
        }
        let read = match (self.tokens.is_empty(), prefix) {
            (true, _) => {
                let message = "the expression is empty";
                self.error(Code::ExpressionEmpty, Span::new(0, self.text.len() as u32), message.to_owned());
                Err(Stop)
            }
            (false, true) => self.prefix(),
            (false, false) => self.strict(),
        };
        match read {
            Ok(()) if !self.found.has_errors() => {
                Ok(ParsedExpression { expression: self.expression, tokens: self.tokens })
            }
            _ => Err(self.found),
        }
    }

    fn at(&self, span: Span) -> Location {
        let (file, start) = self.origin;
        Location::new(file, Span::new(span.start + start, span.end + start))
    }

    fn error(&mut self, code: Code, span: Span, message: String) {
        let at = self.at(span);
        self.found.report(Diagnostic::new(code, at, message));
    }

    fn misread(&mut self, misread: Misread) {
        if self.found.only_counts(Code::ExpressionCharacter) {
            return self.error(Code::ExpressionCharacter, misread.span, String::new());
        }
        let word = self.text_of(misread.span);
        let message = match word.as_bytes() {
            _ if misread.too_large => format!("the integer `{word}` has more than 64 bits"),
            [b'@', ..] => format!("`{word}` is not an operand; operands are written @0, @1, @2"),
            [b'%', ..] => "a variable of a pattern requires a name".to_owned(),
            [first, ..] if first.is_ascii_digit() || matches!(first, b'-' | b'+' | b'.') => {
                format!("`{word}` is not a number")
            }
            _ => format!("`{word}` cannot occur in an expression"),
        };
        self.error(Code::ExpressionCharacter, misread.span, message);
    }

    fn text_of(&self, span: Span) -> &'t str {
        self.text.get(span.range()).unwrap_or_default()
    }

    fn take(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.next).copied();
        self.next += usize::from(token.is_some());
        token
    }

    fn take_if(&mut self, kind: TokenKind) -> bool {
        let is = self.tokens.get(self.next).is_some_and(|token| token.kind == kind);
        self.next += usize::from(is);
        is
    }

    /// Reports that the last token, `found`, is not the expected one.
    fn expected<T>(&mut self, wanted: &str, found: Option<Token>) -> Result<T, Stop> {
        let (span, found, label) = match found {
            Some(token) => {
                let text = self.text_of(token.span);
                (token.span, format!("`{text}`"), format!("unexpected `{text}`"))
            }
            None => {
                let end = self.text.len() as u32;
                (Span::new(end, end), "the end of the text".to_owned(), "the text ends".to_owned())
            }
        };
        let message = format!("expected {wanted}, found {found}");
        self.found.report(Diagnostic::new(Code::ExpressionToken, self.at(span), message).label(label));
        Err(Stop)
    }

    /// Completes an operation.
    fn close(&mut self, ParsedCall { op, span, first, .. }: ParsedCall) {
        let Some(op) = op else {
            self.pending.truncate(first);
            return self.leaf(Term::Literal(Literal::None), span);
        };
        let (least, most) = op.row().arity;
        let count = self.pending.len() - first;
        if !(least..=most).contains(&count) {
            let wanted = match (least, most) {
                (1, 1) => "1 operand".to_owned(),
                (least, most) if least == most => format!("{least} operands"),
                (least, most) => format!("{least} or {most} operands"),
            };
            let message = format!("`{}` takes {wanted}, {count} are given", op.row().name);
            let message = if count == 1 { message.replace("1 are", "1 is") } else { message };
            self.error(Code::ExpressionArity, span, message);
        }
        self.add(Term::Call(op), span, first);
    }

    /// Adds a node whose operands are on the stack from `first` on.
    fn add(&mut self, term: Term, span: Span, first: usize) {
        let (file_start, end) = (self.origin.1, span.end);
        let span = Span::new(span.start + file_start, end + file_start);
        let node = self.expression.push(term, span, &self.pending[first..]);
        self.pending.truncate(first);
        self.pending.push(node);
    }

    fn leaf(&mut self, term: Term, span: Span) {
        self.add(term, span, self.pending.len());
    }

    /// The operation with a name.
    fn operation(&mut self, span: Span) -> Option<Op> {
        let name = self.text_of(span);
        let op = if self.reading.template { Op::of_formula(name) } else { Op::named(name) };
        if op.is_none() && self.found.only_counts(Code::ExpressionOperation) {
            self.error(Code::ExpressionOperation, span, String::new());
        } else if op.is_none() {
            let known = Op::all().map(|op| op.row().name);
            let at = self.at(span);
            let diagnostic = Diagnostic::new(Code::ExpressionOperation, at, format!("unknown operation `{name}`"));
            self.found.report(diagnostic.meant(span, suggest::nearest(name, known)));
        }
        op
    }

    fn argument(&mut self, number: Option<u64>, span: Span) {
        let (text, limit) = (self.text_of(span), self.reading.arity);
        match number {
            Some(number) if limit.is_none_or(|limit| number < limit) => {
                return self.leaf(Term::Argument(number), span);
            }
            _ => {}
        }
        let message = match limit {
            Some(0) => format!("unknown operand `{text}`: there are no operands"),
            Some(limit) => format!("unknown operand `{text}`: the last one is @{}", limit - 1),
            None => format!("the number of the operand `{text}` has more than 64 bits"),
        };
        self.error(Code::ExpressionArgument, span, message);
        self.leaf(Term::Argument(0), span);
    }

    /// Adds an operand that is a single token; none for other tokens.
    fn single(&mut self, token: Token) -> Option<()> {
        match token.kind {
            TokenKind::Argument => self.argument(tokens::argument(self.text_of(token.span)), token.span),
            TokenKind::Literal => {
                let literal = tokens::literal(self.text_of(token.span)).unwrap_or(Literal::None);
                self.leaf(Term::Literal(literal), token.span);
            }
            TokenKind::Pattern => {
                let name = self.text_of(token.span);
                let message =
                    format!("`{name}` is a variable of rewrite patterns, which expressions of models do not have");
                self.error(Code::ExpressionPattern, token.span, message);
                self.leaf(Term::Literal(Literal::None), token.span);
            }
            _ => return None,
        }
        Some(())
    }

    /// Parses the text by its grammar.
    fn strict(&mut self) -> Result<(), Stop> {
        loop {
            self.operand()?;
            // Tokens that may follow an operand.
            loop {
                let Some(open) = self.open.last() else { return self.end() };
                let list = matches!(open, Open::List(..));
                let token = self.take();
                match token.map(|token| token.kind) {
                    Some(TokenKind::Comma) => break,
                    Some(TokenKind::Close) if !list => self.close_last(),
                    Some(TokenKind::CloseList) if list => self.close_last(),
                    _ => return self.expected(if list { "`,` or `]`" } else { "`,` or `)`" }, token),
                }
            }
        }
    }

    /// Parses an operand until it, or the first complete operand in it, is complete.
    fn operand(&mut self) -> Result<(), Stop> {
        loop {
            let token = self.take();
            let Some(token) = token else { return self.expected("an operand", None) };
            match token.kind {
                TokenKind::Name => {
                    let op = self.operation(token.span);
                    if !self.take_if(TokenKind::Open) {
                        // For an unknown name, no further error is reported.
                        op.ok_or(Stop)?;
                        let next = self.take();
                        return self.expected("`(`", next);
                    }
                    self.begin(op, token.span);
                    if self.take_if(TokenKind::Close) {
                        self.close_last();
                        return Ok(());
                    }
                }
                TokenKind::OpenList => {
                    self.open.push(Open::List(token.span, self.pending.len()));
                    if self.take_if(TokenKind::CloseList) {
                        self.close_last();
                        return Ok(());
                    }
                }
                _ if self.single(token).is_some() => return Ok(()),
                _ => return self.expected("an operand", Some(token)),
            }
        }
    }

    fn begin(&mut self, op: Option<Op>, span: Span) {
        let bracket = self.tokens.get(self.next).is_some_and(|token| token.kind == TokenKind::Open);
        let depth = self.depth + usize::from(bracket);
        self.open.push(Open::Call(ParsedCall { op, span, first: self.pending.len(), depth }));
    }

    fn close_last(&mut self) {
        match self.open.pop() {
            Some(Open::Call(call)) => self.close(call),
            Some(Open::List(span, first)) => self.add(Term::List, span, first),
            None => {}
        }
    }

    /// Checks that nothing follows a complete expression.
    fn end(&mut self) -> Result<(), Stop> {
        let Some(token) = self.take() else { return Ok(()) };
        let message = format!("`{}` follows a complete expression", self.text_of(token.span));
        self.error(Code::ExpressionTrail, token.span, message);
        Err(Stop)
    }

    /// Parses the text as prefix notation: an operation takes its number of operands, whatever the brackets and
    /// commas. Only lists and operations with optional operands end at brackets.
    fn prefix(&mut self) -> Result<(), Stop> {
        while let Some(token) = self.take() {
            match token.kind {
                TokenKind::Comma => continue,
                TokenKind::Open => {
                    self.depth += 1;
                    continue;
                }
                TokenKind::Close => {
                    self.complete(Some(self.depth));
                    self.depth = self.depth.saturating_sub(1);
                    continue;
                }
                TokenKind::CloseList => {
                    self.complete(Some(0));
                    match self.open.last() {
                        Some(Open::List(..)) => self.close_last(),
                        _ => return self.expected("an operand", Some(token)),
                    }
                }
                _ if self.open.is_empty() && !self.pending.is_empty() => {
                    self.next -= 1;
                    return self.end();
                }
                TokenKind::Name => {
                    let op = self.operation(token.span).ok_or(Stop)?;
                    self.begin(Some(op), token.span);
                }
                TokenKind::OpenList => self.open.push(Open::List(token.span, self.pending.len())),
                _ => drop(self.single(token)),
            }
            self.complete(None);
        }
        self.complete(Some(0));
        if self.open.is_empty() && self.pending.len() == 1 { Ok(()) } else { self.expected("an operand", None) }
    }

    /// Completes the operations that have all their operands. At a closing bracket of this depth, also completes
    /// operations inside that have enough operands.
    fn complete(&mut self, closing: Option<usize>) {
        while let Some(Open::Call(call)) = self.open.last() {
            let (least, most) = call.op.map_or((0, 0), |op| op.row().arity);
            let count = self.pending.len() - call.first;
            let enough = closing.is_some_and(|depth| depth <= call.depth) && count >= least && least < most;
            if count < most && !enough {
                return;
            }
            self.close_last();
        }
    }
}

#[cfg(test)]
mod tests;
