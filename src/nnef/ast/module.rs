//! The contents of a file: fragments, the graph, and their statements. Expressions are nodes of
//! the syntax tree.

use std::ops::Range;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Ast, Expr, ExprId, Ident, TypeSpecId};
use crate::graph::Primitive;
use crate::source::names::Name;
use crate::source::{FileId, Span};

/// `target = value;`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Assignment {
    /// The left side: names, arrays and tuples of names.
    pub(crate) target: ExprId,
    /// The right side.
    pub(crate) value: ExprId,
    /// From the first token to the semicolon.
    pub(crate) span: Span,
}

/// The statements of a body. Bodies are many and mostly short.
pub(crate) type Assignments = SmallVec<[Assignment; 2]>;

/// The parameters of a fragment.
pub(crate) type Params = SmallVec<[Param; 1]>;

/// The results of a fragment.
pub(crate) type Results = SmallVec<[ResultDecl; 1]>;

/// `{ assignments }`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Body {
    /// The assignments in order.
    pub(crate) assignments: Assignments,
    /// From brace to brace.
    pub(crate) span: Span,
}

/// The minimum number of nodes in a group of statements; the last group may have fewer.
const GROUP: usize = 3 << 10;

/// Consecutive statements, and their nodes.
#[derive(Clone, Debug)]
pub(crate) struct Group<'s> {
    /// The statements.
    pub(crate) statements: &'s [Assignment],
    /// The positions of the nodes of exactly these statements.
    pub(crate) nodes: Range<usize>,
}

impl Body {
    /// The statements in groups: the side tables of one group are dropped before the next one, and
    /// fit into the cache of the processor.
    pub(crate) fn groups<'s>(&'s self, ast: &'s Ast) -> impl Iterator<Item = Group<'s>> {
        let mut left = &self.assignments[..];
        std::iter::from_fn(move || {
            let start = ast.first_node(left.first()?.target).index();
            let end = |statement: &Assignment| statement.value.max(statement.target).index() + 1;
            let enough = left.iter().position(|statement| end(statement) >= start + GROUP);
            let (statements, rest) = left.split_at(enough.map_or(left.len(), |last| last + 1));
            left = rest;
            Some(Group { statements, nodes: start..statements.last().map_or(start, end) })
        })
    }
}

impl Ast {
    /// The first node of a left side.
    pub(crate) fn first_node(&self, target: ExprId) -> ExprId {
        let mut first = target;
        while let Expr::Array(items) | Expr::Tuple(items) = self.expr(first)
            && let Some(&item) = self.items(items).first()
        {
            first = item;
        }
        first
    }
}

/// The names that the statements of a graph assign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Targets {
    /// All of them, as a bit set.
    assigned: Vec<u64>,
    /// The number of assignments of each name with more than one.
    pub(crate) reassigned: FxHashMap<Name, u32>,
}

impl Targets {
    /// Records an assignment of a name.
    #[inline]
    pub(crate) fn assign(&mut self, name: Name) {
        let (word, bit) = (name.index() / 64, 1u64 << (name.index() % 64));
        if self.assigned.len() <= word {
            self.assigned.resize(word + 1, 0);
        }
        if self.assigned[word] & bit != 0 {
            *self.reassigned.entry(name).or_insert(1) += 1;
        }
        self.assigned[word] |= bit;
    }
}

/// A formal parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Param {
    /// Its name.
    pub(crate) name: Ident,
    /// Its type.
    pub(crate) ty: TypeSpecId,
    /// Its default.
    pub(crate) default: Option<ExprId>,
}

/// A declared result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ResultDecl {
    /// Its name.
    pub(crate) name: Ident,
    /// Its type.
    pub(crate) ty: TypeSpecId,
}

/// `fragment f<? = scalar>( .. ) -> ( .. )`, with a body or without.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fragment {
    /// Its name.
    pub(crate) name: Ident,
    /// Whether it is generic.
    pub(crate) generic: Generic,
    /// Parameters in order.
    pub(crate) params: Params,
    /// Results in order.
    pub(crate) results: Results,
    /// The body; `None` for a primitive.
    pub(crate) body: Option<Body>,
    /// From `fragment` to the end of the body or the semicolon.
    pub(crate) span: Span,
}

/// Whether a fragment is generic, and its default type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Generic {
    /// No `<?>`.
    No,
    /// `<?>`, or `<? = type>`.
    Yes(Option<Primitive>),
}

/// `graph g( .. ) -> ( .. ) { .. }`
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GraphDecl {
    /// Its name.
    pub(crate) name: Ident,
    /// Inputs.
    pub(crate) params: Vec<Ident>,
    /// Outputs.
    pub(crate) results: Vec<Ident>,
    /// The body.
    pub(crate) body: Body,
    /// The number of assignments of each name with more than one.
    pub(crate) reassigned: FxHashMap<Name, u32>,
    /// From `graph` to the closing brace.
    pub(crate) span: Span,
}

/// `extension NAME anything;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extension {
    /// All identifiers if the directive consists of identifiers only, otherwise just the first one.
    pub(crate) words: Vec<Ident>,
    /// Everything between `extension` and `;`, trimmed, as written.
    pub(crate) text: Span,
    /// The whole directive.
    pub(crate) span: Span,
}

/// The order of the top-level items, for printing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TopLevelItem {
    /// The version directive.
    Version,
    /// Index into [`Module::extensions`].
    Extension(u32),
    /// Index into [`Module::fragments`].
    Fragment(u32),
    /// Index into [`Module::graphs`].
    Graph(u32),
}

/// One parsed file: a document, or a library of declarations.
#[derive(Clone, Debug)]
pub(crate) struct Module {
    /// The file it was parsed from.
    pub(crate) file: FileId,
    /// Its nodes.
    pub(crate) ast: Ast,
    /// The version directive, `version 1.0;`.
    pub(crate) version: Option<Span>,
    /// Extension directives in order.
    pub(crate) extensions: Vec<Extension>,
    /// Fragments in order.
    pub(crate) fragments: Vec<Fragment>,
    /// Graphs in order; a valid document has one, a library none.
    pub(crate) graphs: Vec<GraphDecl>,
    /// Names of fragments whose headers could not be read.
    pub(crate) broken: Vec<Name>,
    /// All items in source order.
    pub(crate) items: Vec<TopLevelItem>,
    /// The spans of all comments, with `#` and without the line end.
    pub(crate) comments: Vec<Span>,
}

impl Module {
    /// An upper bound of the positions of all nodes outside graphs.
    pub(crate) fn fragment_nodes(&self) -> usize {
        // Fragments can follow the graph, but usually do not.
        let mut end = self.ast.len();
        if let [graph] = &self.graphs[..]
            && self.fragments.iter().all(|fragment| fragment.span.start < graph.span.start)
            && let Some(first) = graph.body.assignments.first()
        {
            end = self.ast.first_node(first.target).index();
        }
        end
    }

    /// An empty module.
    pub(crate) fn empty(file: FileId) -> Self {
        Module {
            file,
            ast: Ast::default(),
            version: None,
            extensions: Vec::new(),
            fragments: Vec::new(),
            graphs: Vec::new(),
            broken: Vec::new(),
            items: Vec::new(),
            comments: Vec::new(),
        }
    }
}
