//! The names of a document: operations, parameters, tensors and other locals, with their scopes.

use rustc_hash::FxHashMap;

use super::declaration::{Declaration, declarations};
use crate::Document;
use crate::graph::scan;
use crate::graph::standard::SYMBOL;
use crate::lsp::symbols::{Home, Symbol, SymbolId, SymbolIndex, SymbolKind};
use crate::nnef::ast::{Ast, Body, Call, Expr, ExprId, Fragment, GraphDecl, Ident, ListRange};
use crate::nnef::document::ModuleId;
use crate::source::Span;
use crate::source::names::Name;

/// The names of a document, and what stands at them.
#[derive(Debug, Default)]
pub(super) struct NnefIndex {
    pub(super) symbols: SymbolIndex,
    /// The calls, by the starts of the names of the operations.
    pub(super) calls: FxHashMap<u32, ExprId>,
    /// The values that are assigned to names, by the starts of these names.
    pub(super) values: FxHashMap<u32, ExprId>,
}

/// Finds all names of the text of a document.
pub(super) fn index(document: &Document) -> NnefIndex {
    let main = document.main();
    let mut builder = NnefNames {
        document,
        ast: &main.ast,
        declared: declarations(document),
        index: NnefIndex::default(),
        operations: FxHashMap::default(),
        params: FxHashMap::default(),
        locals: FxHashMap::default(),
        nested: Vec::new(),
        body: 0,
    };
    builder.extents();
    // The parameters of all fragments are known before any call.
    for (i, fragment) in main.fragments.iter().enumerate() {
        builder.head(i as u32, fragment);
    }
    for (i, fragment) in main.fragments.iter().enumerate() {
        builder.body = i as u32;
        fragment.body.iter().for_each(|body| builder.assignments(body));
    }
    // The bodies of graphs come after those of fragments.
    for (i, graph) in main.graphs.iter().enumerate() {
        builder.graph((main.fragments.len() + i) as u32, graph);
    }
    let NnefIndex { symbols, calls, values } = builder.index;
    NnefIndex { symbols: symbols.complete(), calls, values }
}

/// The names of a comprehension or a loop, and the scope around it.
struct Nested {
    names: FxHashMap<Name, SymbolId>,
    around: Option<usize>,
}

struct NnefNames<'d> {
    document: &'d Document,
    ast: &'d Ast,
    declared: FxHashMap<Name, Declaration<'d>>,
    index: NnefIndex,
    operations: FxHashMap<Name, Option<SymbolId>>,
    /// The parameters of operations of libraries.
    params: FxHashMap<(ModuleId, u32, Name), SymbolId>,
    /// The names of the body, and extents.
    locals: FxHashMap<(Option<u32>, Name), SymbolId>,
    nested: Vec<Nested>,
    body: u32,
}

const NO_EXTENT: &str = "conditions on it are any text";

impl<'d> NnefNames<'d> {
    fn text(&self, name: Name) -> String {
        self.document.names().text(name).to_owned()
    }

    fn local(&mut self, name: Name, kind: SymbolKind) -> SymbolId {
        if let Some(known) = self.locals.get(&(Some(self.body), name)) {
            return *known;
        }
        let id = self.unscoped(name, kind);
        self.locals.insert((Some(self.body), name), id);
        id
    }

    /// A new symbol of the body that is not known in all of it.
    fn unscoped(&mut self, name: Name, kind: SymbolKind) -> SymbolId {
        let symbol = Symbol { name: self.text(name), kind, home: Home::Here, body: Some(self.body), fixed: None };
        self.index.symbols.add(symbol)
    }

    /// The dimension symbols that directives declare.
    fn extents(&mut self) {
        for extension in &self.document.main().extensions {
            let declares = |name: &&str| *name == SYMBOL;
            let first = extension.words.first().map(|word| self.document.names().text(word.name));
            if first.filter(declares).is_none() {
                continue;
            }
            for word in extension.words.get(1..).unwrap_or_default() {
                let symbol = Symbol {
                    name: self.text(word.name),
                    kind: SymbolKind::Extent,
                    home: Home::Here,
                    body: None,
                    fixed: Some(NO_EXTENT),
                };
                let id = self.index.symbols.add(symbol);
                let id = *self.locals.entry((None, word.name)).or_insert(id);
                self.index.symbols.occurs(id, word.span, true);
            }
        }
    }

    /// The symbol of an operation that is declared anywhere.
    fn operation(&mut self, name: Name) -> Option<SymbolId> {
        if let Some(known) = self.operations.get(&name) {
            return *known;
        }
        let declared = self.declared.get(&name).copied();
        let id = declared.map(|declared| {
            let home = declared.home(declared.fragment.name.span);
            let symbol = Symbol { name: self.text(name), kind: SymbolKind::Operation, home, body: None, fixed: None };
            self.index.symbols.add(symbol)
        });
        self.operations.insert(name, id);
        id
    }

    /// The symbol of a parameter of the operation that a call refers to.
    fn param(&mut self, call: &Call, name: Name) -> Option<SymbolId> {
        let declared = *self.declared.get(&call.name.name)?;
        if declared.is_here() {
            let id = *self.locals.get(&(Some(declared.position), name))?;
            let symbol = self.index.symbols.symbol(id)?;
            return (symbol.kind == SymbolKind::Parameter).then_some(id);
        }
        let key = (declared.module, declared.position, name);
        if let Some(known) = self.params.get(&key) {
            return Some(*known);
        }
        let param = declared.fragment.params.iter().find(|param| param.name.name == name)?;
        let home = declared.home(param.name.span);
        let body = Some(u32::MAX);
        let symbol = Symbol { name: self.text(name), kind: SymbolKind::Parameter, home, body, fixed: None };
        let id = self.index.symbols.add(symbol);
        self.params.insert(key, id);
        Some(id)
    }

    fn head(&mut self, body: u32, fragment: &Fragment) {
        self.body = body;
        if let Some(id) = self.operation(fragment.name.name) {
            self.index.symbols.occurs(id, fragment.name.span, true);
        }
        for param in &fragment.params {
            let id = self.local(param.name.name, SymbolKind::Parameter);
            self.index.symbols.occurs(id, param.name.span, true);
        }
        for result in &fragment.results {
            let id = self.local(result.name.name, SymbolKind::Local);
            // A result is defined where it is assigned.
            self.index.symbols.occurs(id, result.name.span, fragment.body.is_none());
        }
    }

    fn graph(&mut self, body: u32, graph: &GraphDecl) {
        self.body = body;
        let (name, kind) = (self.text(graph.name.name), SymbolKind::Graph);
        let id = self.index.symbols.add(Symbol { name, kind, home: Home::Here, body: None, fixed: None });
        self.index.symbols.occurs(id, graph.name.span, true);
        for ident in graph.params.iter().chain(&graph.results) {
            let id = self.local(ident.name, SymbolKind::Local);
            self.index.symbols.occurs(id, ident.span, false);
        }
        self.assignments(&graph.body);
    }

    fn assignments(&mut self, body: &Body) {
        for assignment in &body.assignments {
            self.targets(assignment.target, assignment.value);
        }
        let mut open = Vec::new();
        for assignment in &body.assignments {
            open.push((assignment.value, None));
            self.expressions(&mut open);
        }
    }

    /// The names of a left side.
    fn targets(&mut self, target: ExprId, value: ExprId) {
        let mut named = Vec::new();
        self.ast.each_target(target, |id, name| named.push((self.ast.span(id), name)));
        for (span, name) in named {
            let id = self.local(name, SymbolKind::Local);
            self.index.symbols.occurs(id, span, true);
            self.index.values.insert(span.start, value);
        }
    }

    /// The names in expressions, each with the innermost scope around it. Chains can be as long as the text, so that
    /// this is a loop with a stack.
    fn expressions(&mut self, open: &mut Vec<(ExprId, Option<usize>)>) {
        while let Some((id, scope)) = open.pop() {
            match self.ast.expr(id) {
                Expr::Name(name) => self.name(name, self.ast.span(id), scope),
                Expr::Call(call) => {
                    let call = self.ast.call(call);
                    self.call(id, &call);
                    open.extend(self.ast.arguments(&call).iter().map(|argument| (argument.value, scope)));
                }
                Expr::Comprehension(of) => {
                    let of = self.ast.comprehensions[of.index()];
                    let inner = self.iterated(of.iterators, scope, open);
                    let within = of.filter.into_iter().chain([of.item]);
                    open.extend(within.map(|id| (id, Some(inner))));
                }
                Expr::Loop(of) => self.looping(&self.ast.loops[of.index()].clone(), scope, open),
                _ => self.ast.each_operand(id, |operand| open.push((operand, scope))),
            }
        }
    }

    fn name(&mut self, name: Name, span: Span, mut scope: Option<usize>) {
        while let Some(nested) = scope.and_then(|scope| self.nested.get(scope)) {
            if let Some(id) = nested.names.get(&name) {
                return self.index.symbols.occurs(*id, span, false);
            }
            scope = nested.around;
        }
        let known = self.locals.get(&(Some(self.body), name)).or_else(|| self.locals.get(&(None, name)));
        if let Some(id) = known {
            self.index.symbols.occurs(*id, span, false);
        }
    }

    fn call(&mut self, id: ExprId, call: &Call) {
        self.index.calls.insert(call.name.span.start, id);
        if let Some(id) = self.operation(call.name.name) {
            self.index.symbols.occurs(id, call.name.span, false);
        }
        let is_scan = self.document.names().text(call.name.name) == scan::NAME;
        for argument in self.ast.arguments(call).iter() {
            if let Some(name) = argument.name
                && let Some(id) = self.param(call, name.name)
            {
                self.index.symbols.occurs(id, name.span, false);
            }
            // The body of a scan is a fragment that is named in quotes.
            if is_scan
                && let Expr::String(name) = self.ast.expr(argument.value)
                && let Some(id) = self.operation(name)
            {
                let Span { start, end } = self.ast.span(argument.value);
                self.index.symbols.occurs(id, Span::new(start + 1, end.saturating_sub(1)), false);
            }
        }
    }

    /// A scope with the variables of iterators; the arrays stand outside of it.
    fn iterated(&mut self, of: ListRange, around: Option<usize>, open: &mut Vec<(ExprId, Option<usize>)>) -> usize {
        let iterators = self.ast.iterators[of.range()].to_vec();
        open.extend(iterators.iter().map(|iterator| (iterator.iterable, around)));
        let names = iterators.iter().map(|iterator| iterator.name).collect::<Vec<_>>();
        self.scope(&names, around)
    }

    fn scope(&mut self, names: &[Ident], around: Option<usize>) -> usize {
        let mut known: FxHashMap<Name, SymbolId> = FxHashMap::default();
        for ident in names {
            let id = known.get(&ident.name).copied().unwrap_or_else(|| self.unscoped(ident.name, SymbolKind::Local));
            self.index.symbols.occurs(id, ident.span, true);
            known.insert(ident.name, id);
        }
        self.nested.push(Nested { names: known, around });
        self.nested.len() - 1
    }

    fn looping(&mut self, of: &crate::nnef::ast::Loop, around: Option<usize>, open: &mut Vec<(ExprId, Option<usize>)>) {
        let inner = self.iterated(of.iterators, around, open);
        let recurrences = self.ast.recurrences[of.recurrences.range()].to_vec();
        open.extend(recurrences.iter().map(|recurrence| (recurrence.initial, around)));
        open.extend(of.count.map(|count| (count, around)));
        let names: Vec<Ident> = recurrences.iter().map(|recurrence| recurrence.name).chain(of.index).collect();
        let inner = self.scope(&names, Some(inner));
        let mut assigned = Vec::new();
        for (target, _) in self.ast.loop_statements(of) {
            self.ast.each_target(target, |id, name| assigned.push(Ident { name, span: self.ast.span(id) }));
        }
        let inner = self.scope(&assigned, Some(inner));
        let parts = self.ast.loop_statements(of).map(|(_, value)| value).chain(self.ast.items(of.results).to_vec());
        open.extend(parts.chain(of.before).chain(of.after).map(|id| (id, Some(inner))));
    }
}
