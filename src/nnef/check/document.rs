//! Rules on the document as a whole: extensions (S3), and features that must be enabled (S4, S5).

use smallvec::SmallVec;

use super::Checker;
use crate::diagnostics::suggest::{did_you_mean, misspelt, nearest};
use crate::diagnostics::{Code, Diagnostic};
use crate::graph::Dialect;
use crate::graph::standard::{FLATTEN_LOOPS, FRAGMENT_DEFINITIONS, OPERATOR_EXPRESSIONS, SYMBOL_EXTENSIONS, Symbols};
use crate::library::registries::{ALL, is_known};
use crate::nnef::ast::{Assignment, Ast, Expr, ExprId, Fragment, Ident, UnaryOp};
use crate::nnef::registries::{self, KNOWN_EXTENSIONS, REGISTRY_EXTENSION};
use crate::source::{Location, Span};

/// The extensions that documents of a dialect name.
fn known_extensions(dialect: Dialect) -> impl Iterator<Item = &'static str> {
    let standard = [FRAGMENT_DEFINITIONS, OPERATOR_EXPRESSIONS];
    let symbols = SYMBOL_EXTENSIONS.iter().map(|(name, _)| *name);
    let others = [FLATTEN_LOOPS, REGISTRY_EXTENSION].into_iter().chain(symbols).chain(KNOWN_EXTENSIONS.iter().copied());
    standard.into_iter().chain(others.filter(move |_| dialect == Dialect::V1))
}

impl Checker<'_> {
    pub(super) fn document_rules(&mut self) {
        let document = self.checked.document;
        let main = self.checked.document.main();
        let words = || main.extensions.iter().flat_map(|e| &e.words).map(|word| document.names().text(word.name));
        let enabled = |name: &str| words().any(|word| word == name);
        let (fragments, operators) = (enabled(FRAGMENT_DEFINITIONS), enabled(OPERATOR_EXPRESSIONS));
        // A directive that is misspelt is told as such, and not as missing, too.
        let is_told =
            |name: &str| words().any(|word| misspelt(word, known_extensions(document.dialect())) == Some(name));
        self.extensions();
        if document.dialect() == Dialect::V1 {
            if !fragments
                && !is_told(FRAGMENT_DEFINITIONS)
                && let Some(fragment) = main.fragments.first()
            {
                let start = fragment.span.start;
                let at = self.at(document.main_id(), Span::new(start, start + "fragment".len() as u32));
                let finding = Diagnostic::new(Code::FragmentsNotEnabled, at, "fragments are used but not enabled");
                let finding = self.enabling(finding, &format!("extension {FRAGMENT_DEFINITIONS};"), true);
                self.diagnostics.report(finding);
            }
            self.operators_reported = is_told(OPERATOR_EXPRESSIONS);
            if !operators {
                let bodies = main.fragments.iter().flat_map(|fragment| &fragment.body);
                bodies.for_each(|body| self.flat_statements(&main.ast, &body.assignments));
            }
            self.flat_graph = !operators;
        } else {
            self.flat_graph = true;
            main.fragments.iter().filter(|fragment| fragment.body.is_none()).for_each(|f| self.without_body(f));
        }
    }

    /// A finding of the main document with the directive that solves its problem.
    pub(super) fn enabling(&self, finding: Diagnostic, directive: &str, certain: bool) -> Diagnostic {
        let main = self.checked.document.main();
        let finding = finding.help(format!("add `{directive}` after the version"));
        let after = main.version.filter(|_| finding.at.file == main.file).map(Span::after);
        let Some(after) = after else { return finding };
        let directive = format!("\n{directive}");
        if certain { finding.fix(after, directive) } else { finding.propose(after, Some(directive)) }
    }

    /// S4 in the draft: every declared fragment has a body.
    fn without_body(&mut self, fragment: &Fragment) {
        let document = self.checked.document;
        let end = Span::new(fragment.span.end.saturating_sub(1), fragment.span.end);
        let name = document.names().text(fragment.name.name);
        let at = self.at(document.main_id(), end);
        let diagnostic = Diagnostic::new(Code::FragmentWithoutBody, at, format!("fragment `{name}` has no body"));
        let help = "declare operations that your reader supports in a separate file, for `--fragments`";
        self.diagnostics.report(diagnostic.help(help));
    }

    fn extensions(&mut self) {
        let document = self.checked.document;
        for extension in &self.checked.document.main().extensions {
            let mut unknown = None;
            for (i, word) in extension.words.iter().enumerate() {
                let text = document.names().text(word.name);
                let row = SYMBOL_EXTENSIONS.iter().find(|(name, _)| *name == text);
                match row {
                    Some((_, Symbols::Arguments)) if i == 0 => {
                        self.symbols.extend(extension.words[1..].iter().map(|word| word.name));
                    }
                    Some((_, Symbols::Fixed(symbol))) => self.symbols.extend(document.names().get(symbol)),
                    _ => {}
                }
                let v1 = document.dialect() == Dialect::V1 && !self.diagnostics.strict();
                let ours = v1 && text == FLATTEN_LOOPS;
                if i == 0 && v1 && registries::is_extension(text) {
                    self.registry(text, &extension.words);
                    break;
                }
                if text != FRAGMENT_DEFINITIONS && text != OPERATOR_EXPRESSIONS && !ours && unknown.is_none() {
                    unknown = Some((*word, text));
                }
            }
            if let Some((word, text)) = unknown {
                let at = self.at(document.main_id(), word.span);
                let message = match self.diagnostics.strict() {
                    true => format!("the standard has no extension `{text}`"),
                    false => format!("extension `{text}` is not known; it is kept as it is"),
                };
                let mut finding = Diagnostic::new(Code::UnknownExtension, at, message);
                if let Some(meant) = misspelt(text, known_extensions(document.dialect())) {
                    finding = finding.help(format!("write `{meant}`")).fix(word.span, meant);
                }
                self.diagnostics.report(finding);
            }
        }
    }

    /// Reports a registry that is not known.
    fn registry(&mut self, extension: &str, words: &[Ident]) {
        let document = self.checked.document;
        let Some(word) = words.get(1).filter(|_| extension == REGISTRY_EXTENSION) else { return };
        let name = document.names().text(word.name);
        if !is_known(name) {
            let known: Vec<&str> = ALL.iter().map(|registry| registry.name).collect();
            let at = self.at(document.main_id(), word.span);
            let message = format!("registry `{name}` is not known: its operations are not declared");
            let help = did_you_mean(name, known.iter().copied());
            let help = help.unwrap_or_else(|| format!("the known ones are {}", known.join(", ")));
            let finding = Diagnostic::new(Code::UnknownExtension, at, message).help(help);
            self.diagnostics.report(finding.propose(word.span, nearest(name, known)));
        }
    }

    /// S5: every right side is an invocation whose arguments are flat.
    pub(super) fn flat_statements(&mut self, ast: &Ast, assignments: &[Assignment]) {
        let main = self.checked.document.main_id();
        let v1 = self.checked.document.dialect() == Dialect::V1;
        for assignment in assignments {
            // The expression that is not allowed.
            let offender = match ast.expr(assignment.value) {
                Expr::Call(call) => {
                    ast.arguments(&ast.call(call)).iter().find_map(|arg| self.first_compound(ast, arg.value))
                }
                Expr::Error | Expr::Loop(_) => None,
                _ => Some(assignment.value),
            };
            let Some(offender) = offender else { continue };
            // In 1.0 one directive is missing. In the draft each expression has to be moved.
            if self.operators_reported && (v1 || !self.diagnostics.strict()) {
                return;
            }
            // `f(a == 1)` is told as a mistake of `=`.
            let within = ast.span(offender).range();
            let is_told = |found: &Diagnostic| {
                found.code == Code::BadExpression && within.contains(&(found.at.span.start as usize))
            };
            if self.diagnostics.iter().any(is_told) {
                continue;
            }
            self.operators_reported = true;
            let span = ast.span(offender);
            let at = match ast.expr(offender) {
                Expr::Binary { op, at, .. } => self.at(main, Span::new(at, at + op.info().text.len() as u32)),
                array if array.is_number_array() => self.at(main, self.first_sign(span).unwrap_or(span)),
                _ => self.at(main, span),
            };
            let message = "only calls with names and literals as arguments are allowed here";
            let finding = Diagnostic::new(Code::OperatorsNotEnabled, at, message);
            let finding = match self.checked.document.dialect() {
                Dialect::V1 => self.enabling(finding, &format!("extension {OPERATOR_EXPRESSIONS};"), true),
                Dialect::Draft => finding.help("move the expression into a fragment"),
            };
            self.diagnostics.report(finding);
        }
    }

    /// The first sign among the numbers of an array; not that of an exponent.
    fn first_sign(&self, span: Span) -> Option<Span> {
        let document = self.checked.document;
        let text = document.sources().text(Location::new(self.checked.document.main().file, span)).as_bytes();
        let mut at = 0;
        while at < text.len() {
            match text[at] {
                b'#' => at += text[at..].iter().take_while(|byte| !b"\r\n\x0C".contains(byte)).count(),
                b'-' | b'+' if at == 0 || !text[at - 1].eq_ignore_ascii_case(&b'e') => {
                    let start = span.start + at as u32;
                    return Some(Span::new(start, start + 1));
                }
                _ => at += 1,
            }
        }
        None
    }

    /// The first part of an argument that the flat syntax does not allow.
    fn first_compound(&self, ast: &Ast, root: ExprId) -> Option<ExprId> {
        let mut open: SmallVec<[ExprId; 8]> = smallvec::smallvec![root];
        while let Some(id) = open.pop() {
            match ast.expr(id) {
                Expr::Array(items) | Expr::Tuple(items) => open.extend(ast.items(items).iter().rev().copied()),
                Expr::Unary { op: UnaryOp::Minus, operand }
                    if matches!(ast.expr(operand), Expr::Int(_) | Expr::Scalar(_))
                        && self.checked.document.dialect() == Dialect::V1 => {}
                array
                    if array.is_number_array()
                        && self.checked.document.dialect() == Dialect::Draft
                        && self.first_sign(ast.span(id)).is_some() =>
                {
                    return Some(id);
                }
                leaf if leaf.is_leaf() => {}
                _ => return Some(id),
            }
        }
        None
    }
}
