//! What the checks find out about nodes of a tree.

use std::ops::{Index, IndexMut, Range};

use crate::core::unit::UnitId;
use crate::graph::Primitive;
use crate::nnef::ast::ExprId;
use crate::nnef::types::Type;

/// What an identifier, call, comprehension or loop stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ref {
    /// Nothing known; reported, not checked, or nothing of these at all.
    None,
    /// A slot of the body; that of the first variable for comprehensions (their iterators) and loops
    /// (recurrences, iterators, the number of the trip).
    Slot(u32),
    /// A call, as an index into [`ModuleInfo::calls`].
    Call(u32),
    /// A dimension symbol.
    Symbol,
    /// The literal `inf`.
    Infinity,
    /// The literal `nan`.
    NotANumber,
}

/// What a call refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallInfo {
    /// The fragment; none for an operation that is not declared.
    pub(crate) fragment: Option<UnitId>,
    /// The arguments in the order of the parameters, in [`ModuleInfo::bound`].
    pub(crate) bound: u32,
    /// The type argument, given or deduced; `?` is that of the enclosing fragment.
    pub(crate) generic: Option<Primitive>,
}

/// An entry for each of some consecutive nodes.
#[derive(Debug)]
pub(crate) struct NodeTable<T> {
    first: usize,
    entries: Vec<T>,
}

impl<T: Copy> NodeTable<T> {
    fn reset(&mut self, nodes: Range<usize>, entry: T) {
        self.first = nodes.start;
        self.entries.clear();
        self.entries.resize(nodes.len(), entry);
    }
}

impl<T> Default for NodeTable<T> {
    fn default() -> Self {
        NodeTable { first: 0, entries: Vec::new() }
    }
}

impl<T> Index<ExprId> for NodeTable<T> {
    type Output = T;

    #[inline]
    fn index(&self, id: ExprId) -> &T {
        &self.entries[id.index() - self.first]
    }
}

impl<T> IndexMut<ExprId> for NodeTable<T> {
    #[inline]
    fn index_mut(&mut self, id: ExprId) -> &mut T {
        &mut self.entries[id.index() - self.first]
    }
}

/// What is known of an expression.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeInfo {
    /// Its type.
    pub(crate) ty: Type,
    /// What it refers to.
    pub(crate) referent: Ref,
}

/// The side tables of the fragments of one module, or of some statements of a graph.
#[derive(Debug, Default)]
pub(crate) struct ModuleInfo {
    /// What is known of each expression.
    pub(crate) nodes: NodeTable<NodeInfo>,
    /// The calls in bodies that were checked.
    pub(crate) calls: Vec<CallInfo>,
    /// Arguments of calls by parameter; none where the default applies.
    pub(crate) bound: Vec<Option<ExprId>>,
}

impl ModuleInfo {
    /// Empty tables for some nodes.
    pub(super) fn reset(&mut self, nodes: Range<usize>) {
        self.nodes.reset(nodes, NodeInfo { ty: Type::Unknown, referent: Ref::None });
        self.calls.clear();
        self.bound.clear();
    }

    /// What a call refers to; none in a body that was not checked.
    #[inline]
    pub(crate) fn call(&self, id: ExprId) -> Option<CallInfo> {
        match self.nodes[id].referent {
            Ref::Call(index) => self.calls.get(index as usize).copied(),
            _ => None,
        }
    }
}
