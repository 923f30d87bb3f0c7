//! What a file consists of: fragments, the graph, and their statements. Expressions are nodes of
//! its tree.

use smallvec::SmallVec;

use super::{Ast, ExprId, Ident, TypeSpecId};
use crate::graph::Primitive;
use crate::nnef::statements::Statements;
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

/// The statements of a fragment's body. Most bodies are short, and there are many of them.
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
    /// The body; none for a primitive.
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
    /// The body, whose nodes are not those of the module.
    pub(crate) body: Statements,
    /// From `graph` to the closing brace.
    pub(crate) span: Span,
}

/// `extension NAME anything;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extension {
    /// The identifiers when the directive is nothing but identifiers, else the first one alone.
    pub(crate) words: Vec<Ident>,
    /// Everything between `extension` and `;`, trimmed, as written.
    pub(crate) text: Span,
    /// The whole directive.
    pub(crate) span: Span,
}

/// The order of the top-level items, for printing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
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
    /// Where it comes from.
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
    /// All of these in the order of the text.
    pub(crate) items: Vec<Item>,
    /// The spans of all comments, `#` included, line end not.
    pub(crate) comments: Vec<Span>,
}

impl Module {
    /// A module without anything in it.
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
