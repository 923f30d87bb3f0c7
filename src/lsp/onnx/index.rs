//! The names of a model's text: values, functions, and attributes.

use rustc_hash::FxHashMap;

use crate::lsp::symbols::{Home, Symbol, SymbolId, SymbolIndex, SymbolKind};
use crate::onnx::text::{Marked, NameRole, TextMarks};

const OF_ONNX: &str = "it is an operator of ONNX";
const OF_OPERATOR: &str = "it is an attribute of an operator of ONNX";

/// Finds what each name stands for. Functions are known everywhere, values in their graph and in the graphs in it.
pub(super) fn index(marks: &TextMarks) -> SymbolIndex {
    let mut builder = OnnxNames::new(marks);
    for mark in &marks.names {
        match mark.role {
            NameRole::Definition => {
                builder.local(mark.scope, mark);
            }
            NameRole::Function => {
                let id = builder.symbol(mark, SymbolKind::Operation, None, None);
                builder.functions.entry((&mark.domain, &mark.text)).or_insert((id, mark.scope));
            }
            NameRole::Parameter => {
                let id = builder.symbol(mark, SymbolKind::Parameter, Some(u32::MAX - mark.scope as u32), None);
                builder.parameters.entry((mark.scope, &mark.text)).or_insert(id);
            }
            NameRole::Use | NameRole::Operator | NameRole::Attribute | NameRole::Reference => {}
        }
    }
    for mark in &marks.names {
        if let Some((id, defines)) = builder.meaning(mark) {
            builder.symbols.occurs(id, mark.span, defines);
        }
    }
    builder.symbols.complete()
}

struct OnnxNames<'m> {
    marks: &'m TextMarks,
    symbols: SymbolIndex,
    values: FxHashMap<(usize, &'m str), SymbolId>,
    /// The functions, each with its scope.
    functions: FxHashMap<(&'m str, &'m str), (SymbolId, usize)>,
    /// The attributes of functions, by their scopes.
    parameters: FxHashMap<(usize, &'m str), SymbolId>,
    /// The operators of the standard, and their attributes.
    operators: FxHashMap<(&'m str, &'m str), SymbolId>,
    attributes: FxHashMap<(&'m str, &'m str, &'m str), SymbolId>,
}

impl<'m> OnnxNames<'m> {
    fn new(marks: &'m TextMarks) -> Self {
        OnnxNames {
            marks,
            symbols: SymbolIndex::default(),
            values: FxHashMap::default(),
            functions: FxHashMap::default(),
            parameters: FxHashMap::default(),
            operators: FxHashMap::default(),
            attributes: FxHashMap::default(),
        }
    }

    fn symbol(&mut self, mark: &Marked, kind: SymbolKind, body: Option<u32>, fixed: Option<&'static str>) -> SymbolId {
        self.symbols.add(Symbol { name: mark.text.clone(), kind, home: Home::Here, body, fixed })
    }

    /// The outermost graph or function around a scope: names in it differ.
    fn body(&self, scope: usize) -> u32 {
        self.marks.outermost(scope) as u32
    }

    fn local(&mut self, scope: usize, mark: &'m Marked) -> SymbolId {
        if let Some(known) = self.values.get(&(scope, mark.text.as_str())) {
            return *known;
        }
        let id = self.symbol(mark, SymbolKind::Local, Some(self.body(scope)), None);
        self.values.insert((scope, &mark.text), id);
        id
    }

    /// The value with a name in a scope or around it.
    fn value(&self, mark: &'m Marked) -> Option<SymbolId> {
        let mut scope = Some(mark.scope);
        while let Some(at) = scope {
            if let Some(id) = self.values.get(&(at, mark.text.as_str())) {
                return Some(*id);
            }
            scope = self.marks.scopes.get(at)?.around;
        }
        None
    }

    /// The function around a scope.
    fn function(&self, mark: &Marked) -> usize {
        self.body(mark.scope) as usize
    }

    /// What a name stands for, and whether it is defined there.
    fn meaning(&mut self, mark: &'m Marked) -> Option<(SymbolId, bool)> {
        Some(match mark.role {
            NameRole::Definition => (self.value(mark)?, true),
            NameRole::Use => (self.value(mark)?, false),
            NameRole::Function => (self.functions.get(&(mark.domain.as_str(), mark.text.as_str()))?.0, true),
            NameRole::Parameter => (*self.parameters.get(&(mark.scope, mark.text.as_str()))?, true),
            NameRole::Reference => (*self.parameters.get(&(self.function(mark), mark.text.as_str()))?, false),
            NameRole::Operator => (self.operator(mark), false),
            NameRole::Attribute => (self.attribute(mark)?, false),
        })
    }

    fn operator(&mut self, mark: &'m Marked) -> SymbolId {
        let key = (mark.domain.as_str(), mark.text.as_str());
        if let Some((id, _)) = self.functions.get(&key) {
            return *id;
        }
        if let Some(id) = self.operators.get(&key) {
            return *id;
        }
        let id = self.symbol(mark, SymbolKind::Operation, None, Some(OF_ONNX));
        self.operators.insert(key, id);
        id
    }

    fn attribute(&mut self, mark: &'m Marked) -> Option<SymbolId> {
        let node = self.marks.operator(mark.node?)?;
        let key = (node.domain.as_str(), node.text.as_str());
        if let Some((_, scope)) = self.functions.get(&key) {
            return self.parameters.get(&(*scope, mark.text.as_str())).copied();
        }
        let key = (key.0, key.1, mark.text.as_str());
        if let Some(id) = self.attributes.get(&key) {
            return Some(*id);
        }
        let id = self.symbol(mark, SymbolKind::Parameter, Some(u32::MAX), Some(OF_OPERATOR));
        self.attributes.insert(key, id);
        Some(id)
    }
}
