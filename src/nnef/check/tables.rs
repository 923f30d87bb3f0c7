//! Side tables with the results of the checks for nodes of a tree.

use std::ops::{Index, IndexMut, Range};

use crate::core::unit::UnitId;
use crate::graph::Primitive;
use crate::nnef::ast::ExprId;
use crate::nnef::types::Type;

/// What an identifier, call, comprehension or loop refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ref {
    /// Not resolved, not checked, or an expression of another kind.
    None,
    /// A slot of the body. For comprehensions and loops, that of their first variable: the order is
    /// recurrences, iterators, the number of the trip.
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
    /// The fragment; `None` for an undeclared operation.
    pub(crate) fragment: Option<UnitId>,
    /// The position of the arguments, in the order of the parameters, in [`ModuleInfo::bound`].
    pub(crate) bound: u32,
    /// The type argument, explicit or inferred; `?` refers to that of the enclosing fragment.
    pub(crate) generic: Option<Primitive>,
}

/// A table with an entry for each node of a range.
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

/// The type and referent of an expression.
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
    /// The type and referent of each expression.
    pub(crate) nodes: NodeTable<NodeInfo>,
    /// The calls in bodies that were checked.
    pub(crate) calls: Vec<CallInfo>,
    /// Arguments of calls by parameter; `None` where the default applies.
    pub(crate) bound: Vec<Option<ExprId>>,
}

impl ModuleInfo {
    /// Resets the tables to a range of nodes without information.
    pub(super) fn reset(&mut self, nodes: Range<usize>) {
        self.nodes.reset(nodes, NodeInfo { ty: Type::Unknown, referent: Ref::None });
        self.calls.clear();
        self.bound.clear();
    }

    /// What a call refers to; `None` in a body that was not checked.
    #[inline]
    pub(crate) fn call(&self, id: ExprId) -> Option<CallInfo> {
        match self.nodes[id].referent {
            Ref::Call(index) => self.calls.get(index as usize).copied(),
            _ => None,
        }
    }
}
