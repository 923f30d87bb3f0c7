//! The places of names in a text, for editors.

use super::parser::TextParser;
use crate::diagnostics::PlacePart;
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
    /// The node that it is a part of; none in the head of a graph or a function.
    pub(crate) node: Option<usize>,
    /// Which part it is; none for the name of an operator or a function, and for what only describes a value.
    pub(crate) part: Option<PlacePart>,
}

/// A graph or a function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarkedScope {
    /// The graph or function around it.
    pub(crate) around: Option<usize>,
    /// Its index among the functions, if it is one.
    pub(crate) function: Option<usize>,
    /// Its place in the node around it: the index of the node, that of the attribute, and the position in a list.
    pub(crate) place: (usize, usize, usize),
    /// Its name.
    pub(crate) name: Span,
    /// All of it, with its header; to where reading went on, or to the end of the text, if it could not be read.
    pub(crate) span: Span,
    /// The node around it.
    pub(crate) node: Option<usize>,
}

/// A node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarkedNode {
    /// All of it; to where reading went on if it could not be read.
    pub(crate) span: Span,
    /// Its operator, as its position among the names.
    pub(crate) operator: Option<usize>,
}

/// The names of a text in its order, and the nodes, graphs and functions that they are in.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextMarks {
    pub(crate) names: Vec<Marked>,
    /// In the order of their starts.
    pub(crate) nodes: Vec<MarkedNode>,
    pub(crate) scopes: Vec<MarkedScope>,
    functions: usize,
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
    /// The position of the node among all.
    own: usize,
}

impl TextMarks {
    fn add(&mut self, span: Span, (role, part): (NameRole, Option<PlacePart>), (domain, text): (&str, &str)) {
        let Some(&(scope, _)) = self.open.last() else { return };
        let node = self.node;
        let part = if role == NameRole::Reference { Some(PlacePart::Reference(self.place.1)) } else { part };
        if role == NameRole::Operator
            && let Some(node) = node.and_then(|node| self.nodes.get_mut(node))
        {
            node.operator = Some(self.names.len());
        }
        self.names.push(Marked { span, role, text: text.to_owned(), domain: domain.to_owned(), scope, node, part });
    }

    /// The operator of a node.
    #[cfg(feature = "lsp")]
    pub(crate) fn operator(&self, node: usize) -> Option<&Marked> {
        self.names.get(self.nodes.get(node)?.operator?)
    }

    /// The innermost graph or function around an offset.
    #[cfg(feature = "lsp")]
    pub(crate) fn scope_at(&self, offset: u32) -> Option<usize> {
        // Those that start later are in those that start before.
        self.scopes.iter().rposition(|scope| scope.span.start <= offset && offset <= scope.span.end)
    }

    /// The outermost graph or function around a graph.
    #[cfg(feature = "lsp")]
    pub(crate) fn outermost(&self, mut scope: usize) -> usize {
        while let Some(around) = self.scopes.get(scope).and_then(|mark| mark.around) {
            scope = around;
        }
        scope
    }

    /// The names in a span.
    #[cfg(feature = "lsp")]
    pub(crate) fn within(&self, span: Span) -> &[Marked] {
        let start = self.names.partition_point(|mark| mark.span.start < span.start);
        let end = self.names.partition_point(|mark| mark.span.start < span.end);
        self.names.get(start..end).unwrap_or_default()
    }
}

impl TextParser<'_> {
    /// Marks a name that ends at the current position, which is a part of a node, a graph or a function.
    #[inline]
    pub(super) fn mark(&mut self, start: u32, role: (NameRole, Option<PlacePart>), name: Name) {
        if self.marks.is_some() {
            self.mark_of(Span::new(start, self.cursor.at as u32), role, None, name);
        }
    }

    /// [`Self::mark`] for a name in a domain, in a span.
    pub(super) fn mark_of(
        &mut self,
        span: Span,
        role: (NameRole, Option<PlacePart>),
        domain: Option<Name>,
        name: Name,
    ) {
        let Some(marks) = &mut self.marks else { return };
        let text = |name: Name| self.names.texts.text(name);
        marks.add(span, role, (domain.map_or("", text), text(name)));
    }

    /// Gives the last name another role, when what follows it is known.
    pub(super) fn mark_again(&mut self, (role, part): (NameRole, Option<PlacePart>)) {
        if let Some(last) = self.marks.as_mut().and_then(|marks| marks.names.last_mut()) {
            (last.role, last.part) = (role, part);
        }
    }

    /// Changes the place at which a graph would be.
    pub(super) fn mark_place(&mut self, change: impl FnOnce(&mut (usize, usize, usize))) {
        if let Some(marks) = &mut self.marks {
            change(&mut marks.place);
        }
    }

    /// Marks the start of a node with an index.
    pub(super) fn mark_node(&mut self, index: usize) -> NodeMark {
        let (start, end) = (self.cursor.at as u32, self.cursor.text().len() as u32);
        let Some(marks) = &mut self.marks else { return NodeMark::default() };
        marks.place = (index, 0, 0);
        let before = NodeMark { open: marks.open.len(), node: marks.node, own: marks.nodes.len() };
        marks.node = Some(marks.nodes.len());
        marks.nodes.push(MarkedNode { span: Span::new(start, end), operator: None });
        before
    }

    /// Marks the end of a node, so far.
    pub(super) fn mark_node_end(&mut self) {
        let end = self.cursor.at as u32;
        let Some(marks) = &mut self.marks else { return };
        if let Some(node) = marks.node.and_then(|node| marks.nodes.get_mut(node)) {
            node.span.end = end;
        }
    }

    /// Leaves a node that was read.
    pub(super) fn mark_read(&mut self, before: NodeMark) {
        if let Some(marks) = &mut self.marks {
            marks.node = before.node;
        }
    }

    /// Closes a node that could not be read, and what it has opened: all this ends where reading goes on.
    pub(super) fn mark_failed(&mut self, before: NodeMark) {
        let end = self.cursor.at as u32;
        let Some(marks) = &mut self.marks else { return };
        for (scope, _) in marks.open.drain(before.open.min(marks.open.len())..) {
            if let Some(scope) = marks.scopes.get_mut(scope) {
                scope.span.end = end;
            }
        }
        marks.nodes.iter_mut().skip(before.own).for_each(|node| node.span.end = node.span.end.min(end));
        marks.node = before.node;
    }

    /// Marks the start of a graph or a function, whose name ends at the current position.
    pub(super) fn open_scope(&mut self, is_function: bool, start: u32, name: u32) {
        let (at, end) = (self.cursor.at as u32, self.cursor.text().len() as u32);
        let Some(marks) = &mut self.marks else { return };
        // After an error, graphs can be open that a function is not in.
        if is_function {
            marks.open.clear();
            marks.node = None;
        }
        let function = is_function.then_some(marks.functions);
        marks.functions += usize::from(is_function);
        let (around, place) = (marks.open.last().map(|(scope, _)| *scope), marks.place);
        let node = marks.node.take();
        marks.open.push((marks.scopes.len(), node));
        let (name, span) = (Span::new(name, at), Span::new(start, end));
        marks.scopes.push(MarkedScope { around, function, place, name, span, node });
    }

    /// Marks the end of a graph or a function.
    pub(super) fn close_scope(&mut self) {
        let end = self.cursor.at as u32;
        let Some(marks) = &mut self.marks else { return };
        let Some((scope, node)) = marks.open.pop() else { return };
        marks.node = node;
        if let Some(scope) = marks.scopes.get_mut(scope) {
            marks.place = scope.place;
            scope.span.end = end;
        }
    }
}
