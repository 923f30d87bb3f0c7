//! The places of names in a text, for editors.

use super::parser::TextParser;
use crate::source::Span;
use crate::source::names::Name;

/// What a name is where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameRole {
    /// A value that is defined here: an input, an initializer, a result of a node.
    Definition,
    /// A value that is used or described here.
    Use,
    /// The operator of a node, or the function that it calls.
    Operator,
    /// A function that is defined here.
    Function,
    /// An attribute of a node.
    Attribute,
    /// An attribute that a function declares.
    Parameter,
    /// An attribute of the function around a node, to which the node refers.
    Reference,
}

/// A name in a text.
#[derive(Clone, Debug)]
pub(crate) struct Marked {
    pub(crate) span: Span,
    pub(crate) role: NameRole,
    pub(crate) text: String,
    /// The domain of an operator or a function.
    pub(crate) domain: String,
    /// The graph or function around it.
    pub(crate) scope: usize,
    /// The operator of the node around an attribute, as its position among the names.
    pub(crate) node: Option<usize>,
}

/// A graph or a function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarkedScope {
    /// The graph or function around it.
    pub(crate) around: Option<usize>,
    pub(crate) is_function: bool,
    /// Its place in the node around it: the index of the node, that of the attribute, and the position in a list.
    pub(crate) place: (usize, usize, usize),
}

/// The names of a text in its order, and the graphs and functions that they are in.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextMarks {
    pub(crate) names: Vec<Marked>,
    pub(crate) scopes: Vec<MarkedScope>,
    /// The open graphs and functions, each with the node around it.
    open: Vec<(usize, Option<usize>)>,
    place: (usize, usize, usize),
    node: Option<usize>,
}

/// The state before a node, to which marks return if it cannot be read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NodeMark {
    open: usize,
    node: Option<usize>,
}

impl TextMarks {
    fn add(&mut self, span: Span, role: NameRole, (domain, text): (&str, &str)) {
        let Some(&(scope, _)) = self.open.last() else { return };
        let node = self.node.filter(|_| role == NameRole::Attribute);
        if role == NameRole::Operator {
            self.node = Some(self.names.len());
        }
        self.names.push(Marked { span, role, text: text.to_owned(), domain: domain.to_owned(), scope, node });
    }
}

impl TextParser<'_> {
    /// TextMarks a name that ends at the current position.
    #[inline]
    pub(super) fn mark(&mut self, start: u32, role: NameRole, name: Name) {
        if self.marks.is_some() {
            self.mark_of(start, role, (None, name));
        }
    }

    /// [`Self::mark`] for a name in a domain.
    pub(super) fn mark_of(&mut self, start: u32, role: NameRole, (domain, name): (Option<Name>, Name)) {
        let Some(marks) = &mut self.marks else { return };
        let text = |name: Name| self.names.texts.text(name);
        marks.add(Span::new(start, self.cursor.at as u32), role, (domain.map_or("", text), text(name)));
    }

    /// Gives the last name another role, when what follows it is known.
    pub(super) fn mark_again(&mut self, role: NameRole) {
        if let Some(last) = self.marks.as_mut().and_then(|marks| marks.names.last_mut()) {
            last.role = role;
        }
    }

    /// Changes the place at which a graph would be.
    pub(super) fn mark_place(&mut self, change: impl FnOnce(&mut (usize, usize, usize))) {
        if let Some(marks) = &mut self.marks {
            change(&mut marks.place);
        }
    }

    /// TextMarks the start of a node with an index.
    pub(super) fn mark_node(&mut self, index: usize) -> NodeMark {
        let Some(marks) = &mut self.marks else { return NodeMark::default() };
        marks.place = (index, 0, 0);
        NodeMark { open: marks.open.len(), node: marks.node }
    }

    /// Closes what a node that could not be read has opened.
    pub(super) fn mark_failed(&mut self, before: NodeMark) {
        if let Some(marks) = &mut self.marks {
            marks.open.truncate(before.open);
            marks.node = before.node;
        }
    }

    /// TextMarks the start of a graph or a function.
    pub(super) fn open_scope(&mut self, is_function: bool) {
        let Some(marks) = &mut self.marks else { return };
        // After an error, graphs can be open that a function is not in.
        if is_function {
            marks.open.clear();
        }
        let (around, place) = (marks.open.last().map(|(scope, _)| *scope), marks.place);
        marks.open.push((marks.scopes.len(), marks.node.take()));
        marks.scopes.push(MarkedScope { around, is_function, place });
    }

    /// TextMarks the end of a graph or a function.
    pub(super) fn close_scope(&mut self) {
        let Some(marks) = &mut self.marks else { return };
        let Some((scope, node)) = marks.open.pop() else { return };
        marks.node = node;
        if let Some(scope) = marks.scopes.get(scope) {
            marks.place = scope.place;
        }
    }
}
