//! The formatter: whole modules, with their comments.

use super::{ListLayout, Printer};
use crate::graph::Dialect;
use crate::nnef::ast::{
    Assignment, Expr, ExprId, Extension, Fragment, Generic, GraphDecl, Ident, Module, Param, TopLevelItem,
};
use crate::nnef::dialect::Rules;
use crate::source::Span;
use crate::source::names::Names;

/// The width from which lists are broken into lines.
const WIDTH: usize = 100;
pub(super) const INDENT: &str = "    ";
/// The layout of a list in a statement with one item on each line.
const BROKEN: ListLayout = ListLayout { before: "\n        ", between: ",\n        ", behind: "\n    " };

/// Prints a module in canonical form: one assignment on a line, four spaces of indentation, long lists
/// one item on a line. `text` is the source of the module, from which comments and blank lines between
/// assignments (at most one) are kept.
pub(crate) fn print_module(module: &Module, names: &Names, text: &str, dialect: Dialect) -> String {
    let mut writer = Writer {
        module,
        names,
        rules: dialect.rules(),
        text,
        out: String::with_capacity(text.len() + text.len() / 8),
        comment: 0,
        last: 0,
        fresh: true,
    };
    writer.module();
    writer.out
}

/// Prints a fragment of a module as [`print_module`] does, without what stands around it.
pub(crate) fn print_fragment(
    module: &Module,
    names: &Names,
    text: &str,
    dialect: Dialect,
    fragment: &Fragment,
) -> String {
    let start = with_comments(&module.comments, text, fragment.span.start);
    let mut writer = Writer::of_part(module, names, text, dialect, Span { start, ..fragment.span });
    writer.fragment(fragment, false);
    writer.out.truncate(writer.out.trim_end().len());
    writer.out
}

/// Where the comments begin that are right before a place, each on its own lines.
fn with_comments(comments: &[Span], text: &str, place: u32) -> u32 {
    let before = &comments[..comments.partition_point(|comment| comment.start < place)];
    let mut start = place;
    for comment in before.iter().rev() {
        let gap = text.get(comment.end as usize..start as usize).unwrap_or_default();
        let line = text.get(..comment.start as usize).unwrap_or_default();
        let alone = line.rsplit(['\n', '\r', '\x0C']).next().is_some_and(|line| line.trim().is_empty());
        if !alone || !gap.trim().is_empty() || gap.matches('\n').count() > 1 {
            break;
        }
        start = comment.start;
    }
    start
}

/// The text between `extension` and `;`, as [`print_module`] writes it.
pub(crate) fn print_extension(
    module: &Module,
    names: &Names,
    text: &str,
    dialect: Dialect,
    extension: &Extension,
) -> String {
    Writer::of_part(module, names, text, dialect, extension.span).extension_text(extension)
}

pub(super) struct Writer<'a> {
    pub(super) module: &'a Module,
    pub(super) names: &'a Names,
    rules: &'static Rules,
    text: &'a str,
    pub(super) out: String,
    /// The next comment to print.
    comment: usize,
    /// The end in the source text of the part that was printed last.
    last: u32,
    /// Whether nothing was printed yet in this block, which does not start with a blank line.
    fresh: bool,
}

impl<'a> Writer<'a> {
    /// A writer of a part of a module, without what stands around it.
    fn of_part(module: &'a Module, names: &'a Names, text: &'a str, dialect: Dialect, part: Span) -> Self {
        Writer {
            module,
            names,
            rules: dialect.rules(),
            text: text.get(..part.end as usize).unwrap_or(text),
            out: String::new(),
            comment: module.comments.partition_point(|comment| comment.start < part.start),
            last: part.start,
            fresh: true,
        }
    }
}

impl Writer<'_> {
    fn module(&mut self) {
        let module = self.module;
        let mut apart = false;
        for item in &module.items {
            let block = match item {
                TopLevelItem::Version | TopLevelItem::Extension(_) => false,
                TopLevelItem::Fragment(index) => module.fragments[*index as usize].body.is_some(),
                TopLevelItem::Graph(_) => true,
            };
            let force = block || apart;
            apart = block;
            match item {
                TopLevelItem::Version => {
                    let Some(version) = module.version else { continue };
                    self.lead(version.end, version.start, "", force);
                    self.out.push_str("version 1.0");
                    self.out.push_str(if self.rules.semicolons { ";" } else { "" });
                    self.trail(version.end);
                }
                TopLevelItem::Extension(index) => self.extension(&module.extensions[*index as usize], force),
                TopLevelItem::Fragment(index) => self.fragment(&module.fragments[*index as usize], force),
                TopLevelItem::Graph(index) => self.graph(&module.graphs[*index as usize], force),
            }
        }
        let end = self.text.len() as u32;
        self.comments(end, "", apart);
    }

    /// Prints the comments before a part and within it up to `end`, the blank line before it, and its
    /// indentation.
    fn lead(&mut self, end: u32, start: u32, indent: &str, force: bool) {
        let force = self.comments(end, indent, force) && force;
        self.blank(start, force);
        self.out.push_str(indent);
    }

    /// Prints the comments before a byte offset, each on a line. Returns whether there were none.
    fn comments(&mut self, end: u32, indent: &str, force: bool) -> bool {
        let first = self.comment;
        while let Some(&span) = self.module.comments.get(self.comment)
            && span.start < end
        {
            self.blank(span.start, force && self.comment == first);
            self.out.push_str(indent);
            self.push_comment(span);
            self.out.push('\n');
            self.last = self.last.max(span.end);
            self.comment += 1;
        }
        self.comment == first
    }

    fn push_comment(&mut self, span: Span) {
        self.out.push_str(self.text.get(span.range()).unwrap_or("#").trim_end());
    }

    /// Prints a blank line if the text has one before a byte offset, or if `force` is set.
    fn blank(&mut self, start: u32, force: bool) {
        let gap = self.text.get(self.last as usize..start as usize).unwrap_or("");
        let mut lines = gap.split('\n').skip(1).peekable();
        let mut blank = false;
        while let Some(line) = lines.next() {
            blank |= lines.peek().is_some() && line.trim().is_empty();
        }
        if (blank || force) && !self.fresh {
            self.out.push('\n');
        }
        self.fresh = false;
    }

    /// Ends a line, with the comments that follow `end` on its line.
    fn trail(&mut self, end: u32) {
        self.last = self.last.max(end);
        while let Some(&span) = self.module.comments.get(self.comment)
            && let Some(gap) = self.text.get(self.last as usize..span.start as usize)
            && gap.chars().all(|c| matches!(c, ' ' | '\t' | ';'))
        {
            self.out.push_str("  ");
            self.push_comment(span);
            self.last = span.end;
            self.comment += 1;
        }
        self.out.push('\n');
    }

    pub(super) fn printer(&mut self) -> Printer<'_> {
        Printer { ast: &self.module.ast, names: self.names, rules: self.rules, out: &mut self.out }
    }

    /// `extension A B;`
    fn extension(&mut self, extension: &Extension, force: bool) {
        self.lead(extension.span.end, extension.span.start, "", force);
        self.out.push_str("extension ");
        let text = self.extension_text(extension);
        self.out.push_str(&text);
        self.out.push(';');
        self.trail(extension.span.end);
    }

    /// `A B`: identifiers separated by one space, other text as it is.
    fn extension_text(&self, extension: &Extension) -> String {
        let raw = self.raw(extension.text);
        let plain = raw.chars().all(|c| c == '_' || c == ',' || c.is_ascii_alphanumeric() || c.is_whitespace());
        if plain && extension.words.len() == raw.split([',', ' ', '\t']).filter(|word| !word.is_empty()).count() {
            let words: Vec<&str> = extension.words.iter().map(|word| self.names.text(word.name)).collect();
            return words.join(" ");
        }
        raw
    }

    /// A piece of the text on one line and without the comments in it.
    fn raw(&self, span: Span) -> String {
        let mut raw = String::new();
        let mut start = span.start;
        let inside = |comment: &&Span| comment.start >= span.start && comment.end <= span.end;
        let comments = self.module.comments.iter().filter(inside);
        for end in comments.chain([&Span { start: span.end, end: span.end }]) {
            raw.push_str(self.text.get(start as usize..end.start as usize).unwrap_or(""));
            start = end.end;
        }
        let lines: Vec<&str> = raw.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        lines.join(" ")
    }

    fn fragment(&mut self, fragment: &Fragment, force: bool) {
        let head_end = fragment.body.as_ref().map_or(fragment.span.end, |body| body.span.start);
        self.lead(head_end, fragment.span.start, "", force);
        let mut head = format!("fragment {}", self.names.text(fragment.name.name));
        if let Generic::Yes(default) = fragment.generic {
            head.push_str("<?");
            if let Some(default) = default {
                head.push_str(" = ");
                head.push_str(self.printer().word(default.text()));
            }
            head.push('>');
        }
        let params = fragment.params.iter().map(|param| self.param(param)).collect();
        let results = fragment.results.iter().map(|result| {
            let param = Param { name: result.name, ty: result.ty, default: None };
            self.param(&param)
        });
        let results = results.collect();
        let close = if fragment.body.is_some() { "" } else { ";" };
        self.head(head, [params, results], close, false);
        match &fragment.body {
            Some(body) => self.body(body.span, |writer| writer.assignments(&body.assignments)),
            None => self.trail(fragment.span.end),
        }
    }

    fn param(&self, param: &Param) -> String {
        let mut text = format!("{}: ", self.names.text(param.name.name));
        let mut printer = Printer { ast: &self.module.ast, names: self.names, rules: self.rules, out: &mut text };
        printer.spec(param.ty);
        if let Some(default) = param.default {
            printer.out.push_str(" = ");
            printer.expr(default, 0);
        }
        text
    }

    fn graph(&mut self, graph: &GraphDecl, force: bool) {
        self.lead(graph.body.span.start, graph.span.start, "", force);
        let texts = |idents: &[Ident]| idents.iter().map(|ident| self.names.text(ident.name).to_owned()).collect();
        let (params, results) = (texts(&graph.params), texts(&graph.results));
        let body = &graph.body;
        let stays = self.on_one_line(Span { start: graph.span.start, end: body.span.start });
        self.head(format!("graph {}", self.names.text(graph.name.name)), [params, results], "", stays);
        self.body(body.span, |writer| writer.assignments(&body.assignments));
    }

    /// `name(a, b) -> (c)`, on one line if it fits, or if it `stays` there.
    fn head(&mut self, name: String, [params, results]: [Vec<String>; 2], close: &str, stays: bool) {
        let list = |items: &[String], [before, between, behind]: [&str; 3]| match items {
            [] => "()".to_owned(),
            _ => format!("({before}{}{behind})", items.join(between)),
        };
        let flat = |items: &[String]| list(items, ["", ", ", ""]);
        let broken = |items: &[String]| list(items, ["\n    ", ",\n    ", "\n"]);
        let tail = format!(") -> {}{close}", flat(&results));
        let line = format!("{name}{} -> {}{close}", flat(&params), flat(&results));
        if line.len() <= WIDTH || stays {
            self.out.push_str(&line);
        } else {
            let results = if tail.len() <= WIDTH { flat(&results) } else { broken(&results) };
            self.out.push_str(&format!("{name}{} -> {results}{close}", broken(&params)));
        }
    }

    fn body(&mut self, span: Span, statements: impl FnOnce(&mut Self)) {
        self.out.push_str("\n{\n");
        self.last = self.last.max(span.start + 1);
        self.fresh = true;
        statements(self);
        self.comments(span.end, INDENT, false);
        self.fresh = false;
        self.out.push('}');
        self.trail(span.end);
    }

    /// Prints statements.
    fn assignments(&mut self, assignments: &[Assignment]) {
        assignments.iter().for_each(|assignment| self.assignment(assignment));
    }

    fn assignment(&mut self, assignment: &Assignment) {
        let ast = &self.module.ast;
        self.lead(assignment.span.end, assignment.span.start, INDENT, false);
        let line = self.out.len() - INDENT.len();
        self.target(assignment.target);
        self.out.push_str(" = ");
        if let Expr::Loop(id) = ast.expr(assignment.value) {
            self.looping(id, 1);
            self.out.push(';');
            return self.trail(assignment.span.end);
        }
        let value = self.out.len();
        let semicolon = if self.rules.semicolons { ";" } else { "" };
        self.printer().expr(assignment.value, 0);
        self.out.push_str(semicolon);
        let long = self.out.len() - line > WIDTH && self.breaks(assignment.value);
        if long && !(self.on_one_line(assignment.span) && self.printer().is_flat(assignment.value)) {
            self.out.truncate(value);
            self.printer().list(assignment.value, BROKEN);
            self.out.push_str(semicolon);
        }
        self.trail(assignment.span.end);
    }

    /// Whether a part of the text is on one line, but for spaces at its end. Flat statements and heads of graphs stay
    /// there, since programs write them so: one line for each operation.
    fn on_one_line(&self, span: Span) -> bool {
        self.text.get(span.range()).is_some_and(|text| !text.trim_end().contains('\n'))
    }

    /// Prints a left side; the outermost tuple keeps its parentheses, or has none.
    pub(super) fn target(&mut self, id: ExprId) {
        let ast = &self.module.ast;
        let Expr::Tuple(range) = ast.expr(id) else { return self.printer().expr(id, 0) };
        let start = ast.span(id).start;
        let inner = ast.items(range).first().map_or(start, |item| ast.span(*item).start);
        if self.text.as_bytes().get(start as usize) == Some(&b'(') && inner > start {
            return self.printer().expr(id, 0);
        }
        for (index, item) in ast.items(range).iter().enumerate() {
            let mut printer = self.printer();
            printer.separate(index);
            printer.expr(*item, 0);
        }
    }

    /// Whether a value is a list that can be broken into lines; packed arrays stay on a line.
    fn breaks(&mut self, id: ExprId) -> bool {
        let ast = &self.module.ast;
        let list = matches!(ast.expr(id), Expr::Call(_) | Expr::Array(_) | Expr::Tuple(_));
        list && self.printer().count(id) > 0
    }
}
