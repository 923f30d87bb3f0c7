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
pub struct Assignment {
    /// The left side: names, arrays and tuples of names.
    pub target: ExprId,
    /// The right side.
    pub value: ExprId,
    /// From the first token to the semicolon.
    pub span: Span,
}

/// The statements of a fragment's body. Most bodies are short, and there are many of them.
pub type Assignments = SmallVec<[Assignment; 2]>;

/// The parameters of a fragment.
pub type Params = SmallVec<[Param; 1]>;

/// The results of a fragment.
pub type Results = SmallVec<[ResultDecl; 1]>;

/// `{ assignments }`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// The assignments in order.
    pub assignments: Assignments,
    /// From brace to brace.
    pub span: Span,
}

/// A formal parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub ty: TypeSpecId,
    /// Its default.
    pub default: Option<ExprId>,
}

/// A declared result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultDecl {
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub ty: TypeSpecId,
}

/// `fragment f<? = scalar>( .. ) -> ( .. )`, with a body or without.
#[derive(Clone, Debug, PartialEq)]
pub struct Fragment {
    /// Its name.
    pub name: Ident,
    /// `<?>`, with the default type if one is given.
    pub generic: Option<GenericDecl>,
    /// Parameters in order.
    pub params: Params,
    /// Results in order.
    pub results: Results,
    /// The body; none for a primitive.
    pub body: Option<Body>,
    /// From `fragment` to the end of the body or the semicolon.
    pub span: Span,
}

/// `<?>` or `<? = scalar>` after a fragment's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GenericDecl {
    /// The default type.
    pub default: Option<Primitive>,
    /// Angle brackets included.
    pub span: Span,
}

/// `graph g( .. ) -> ( .. ) { .. }`
#[derive(Clone, Debug, PartialEq)]
pub struct GraphDecl {
    /// Its name.
    pub name: Ident,
    /// Inputs.
    pub params: Vec<Ident>,
    /// Outputs.
    pub results: Vec<Ident>,
    /// The body, whose nodes are not those of the module.
    pub body: Statements,
    /// From `graph` to the closing brace.
    pub span: Span,
}

/// `version 1.0;`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// Major number.
    pub major: u32,
    /// Minor number.
    pub minor: u32,
    /// The whole directive.
    pub span: Span,
}

/// `extension NAME anything;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// The identifiers when the directive is nothing but identifiers, else the first one alone.
    pub words: Vec<Ident>,
    /// Everything between `extension` and `;`, trimmed, as written.
    pub text: Span,
    /// The whole directive.
    pub span: Span,
}

/// The order of the top-level items, for printing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
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
pub struct Module {
    /// Where it comes from.
    pub file: FileId,
    /// Its nodes.
    pub ast: Ast,
    /// The version directive.
    pub version: Option<Version>,
    /// Extension directives in order.
    pub extensions: Vec<Extension>,
    /// Fragments in order.
    pub fragments: Vec<Fragment>,
    /// Graphs in order; a valid document has one, a library none.
    pub graphs: Vec<GraphDecl>,
    /// Names of fragments whose headers could not be read.
    pub broken: Vec<Name>,
    /// All of these in the order of the text.
    pub items: Vec<Item>,
    /// The spans of all comments, `#` included, line end not.
    pub comments: Vec<Span>,
}

impl Module {
    /// A module without anything in it.
    pub fn empty(file: FileId) -> Self {
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
