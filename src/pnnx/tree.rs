//! Expression trees: nodes are stored in reverse Polish notation, so that operands precede their operation and no
//! function is recursive.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::expression_table::{Op, SIGN};
use super::tokens::Literal;
use crate::room::position_id;
use crate::source::Span;
use crate::source::literals::{push_int, push_scalar};

position_id! {
    /// Identifies a node of an [`Expression`].
    NodeId
}

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Term {
    /// The operand with this number.
    Argument(u64),
    /// A literal.
    Literal(Literal),
    /// An operation on the operands of the node.
    Call(Op),
    /// A list of the operands of the node.
    List,
}

/// A node: an operand, a literal, or an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TreeNode {
    /// Its kind.
    pub(crate) term: Term,
    /// Its location in the text: for an operation, that of the name; for a list, that of the opening bracket.
    pub(crate) span: Span,
    /// The index of its first operand in [`Expression::operands`], and the number of operands.
    first: u32,
    count: u32,
}

/// An expression.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expression {
    nodes: Vec<TreeNode>,
    operands: Vec<NodeId>,
}

impl Expression {
    /// An empty expression with memory reserved for a number of nodes.
    pub(crate) fn with_capacity(nodes: usize) -> Self {
        Expression { nodes: Vec::with_capacity(nodes), operands: Vec::with_capacity(nodes) }
    }

    /// Adds a node after its operands. The last node is the root.
    pub(crate) fn push(&mut self, term: Term, span: Span, operands: &[NodeId]) -> NodeId {
        let first = self.operands.len() as u32;
        self.operands.extend_from_slice(operands);
        self.nodes.push(TreeNode { term, span, first, count: operands.len() as u32 });
        NodeId::at(self.nodes.len() - 1)
    }

    /// All nodes in reverse Polish notation.
    pub(crate) fn nodes(&self) -> impl DoubleEndedIterator<Item = (NodeId, &TreeNode)> + ExactSizeIterator {
        self.nodes.iter().enumerate().map(|(i, node)| (NodeId::at(i), node))
    }

    /// The number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// A node.
    pub(crate) fn node(&self, id: NodeId) -> &TreeNode {
        &self.nodes[id.index()]
    }

    /// The operands of a node.
    pub(crate) fn operands(&self, node: &TreeNode) -> &[NodeId] {
        &self.operands[node.first as usize..(node.first + node.count) as usize]
    }

    /// The root; none for an expression without nodes.
    pub(crate) fn root(&self) -> Option<&TreeNode> {
        self.nodes.last()
    }

    /// The numbers of the operands, by first use from the left.
    pub(crate) fn argument_order(&self) -> Vec<u64> {
        let mut order = indexmap::IndexSet::new();
        order.extend(self.nodes.iter().filter_map(|node| match node.term {
            Term::Argument(number) => Some(number),
            _ => None,
        }));
        order.into_iter().collect()
    }

    /// Whether it has a complex literal.
    pub(crate) fn has_complex(&self) -> bool {
        self.nodes.iter().any(|node| matches!(node.term, Term::Literal(Literal::Complex(..))))
    }

    /// The expression with operands numbered by first use.
    pub(crate) fn renumbered(&self) -> Expression {
        let places: FxHashMap<u64, u64> = self.argument_order().into_iter().zip(0..).collect();
        let mut changed = self.clone();
        for node in &mut changed.nodes {
            if let Term::Argument(number) = &mut node.term {
                *number = places.get(number).copied().unwrap_or(*number);
            }
        }
        changed
    }

    /// The expression with its operands replaced by terms.
    pub(crate) fn with_operands(&self, terms: &[Term]) -> Expression {
        let mut changed = self.clone();
        for node in &mut changed.nodes {
            if let Term::Argument(number) = node.term
                && let Some(term) = usize::try_from(number).ok().and_then(|number| terms.get(number))
            {
                node.term = *term;
            }
        }
        changed
    }

    /// The number of operations and lists.
    pub(crate) fn operations(&self) -> usize {
        self.nodes.iter().filter(|node| node.term.is_operation()).count()
    }

    /// The class number of each node, where nodes with equal text are in one class, and the number of classes of
    /// operations and lists.
    pub(crate) fn classes(&self) -> (Vec<u32>, usize) {
        let mut known: FxHashMap<(ClassKey, SmallVec<[u32; 4]>), u32> = FxHashMap::default();
        let mut classes: Vec<u32> = Vec::with_capacity(self.nodes.len());
        let mut operations = 0;
        for node in &self.nodes {
            let operands = self.operands(node).iter().map(|id| classes[id.index()]).collect();
            let next = known.len() as u32;
            let class = *known.entry((ClassKey::of(node.term), operands)).or_insert_with(|| {
                operations += usize::from(node.term.is_operation());
                next
            });
            classes.push(class);
        }
        (classes, operations)
    }

    /// The canonical text: without blanks, and with literals in canonical spelling.
    pub(crate) fn canonical(&self) -> String {
        let mut out = String::with_capacity(self.nodes.len() * 6);
        self.walk(&mut out, &mut |term, step, out| match step {
            TraversalStep::Before => match term {
                Term::Call(op) => {
                    out.push_str(op.row().name);
                    out.push('(');
                }
                Term::List => out.push('['),
                leaf => push_leaf(out, leaf),
            },
            TraversalStep::Operand(0) => {}
            TraversalStep::Operand(_) => out.push(','),
            TraversalStep::After if term == Term::List => out.push(']'),
            TraversalStep::After if term.is_operation() => out.push(')'),
            TraversalStep::After => {}
        });
        out
    }

    /// Traverses the tree from the root: calls a function before and after each node and before each of its
    /// operands.
    pub(crate) fn walk(&self, out: &mut String, each: &mut dyn FnMut(Term, TraversalStep, &mut String)) {
        let Some(last) = self.nodes.len().checked_sub(1) else { return };
        let mut open: Vec<(u32, u32)> = vec![(last as u32, 0)];
        while let Some((id, next)) = open.last_mut() {
            let node = &self.nodes[*id as usize];
            if *next == 0 {
                each(node.term, TraversalStep::Before, out);
            }
            if *next < node.count {
                each(node.term, TraversalStep::Operand(*next), out);
                let operand = self.operands[(node.first + *next) as usize];
                *next += 1;
                open.push((operand.index() as u32, 0));
            } else {
                each(node.term, TraversalStep::After, out);
                open.pop();
            }
        }
    }

    /// The infix text: with operators where possible, and with the minimum of brackets.
    pub(crate) fn infix(&self) -> String {
        let mut out = String::new();
        // The context of the operands of each open operation.
        let mut open: Vec<Surroundings> = Vec::new();
        self.walk(&mut out, &mut |term, step, out| match step {
            TraversalStep::Before => {
                let inside = Surroundings::of(term, open.last().copied());
                out.push_str(if inside.bracketed { "(" } else { "" });
                match (term, inside.symbol) {
                    (Term::Call(op), None) => out.push_str(&[op.row().name, "("].concat()),
                    (Term::Call(op), Some(symbol)) if op.row().arity.0 == 1 => out.push_str(symbol),
                    (Term::List, _) => out.push('['),
                    (Term::Call(_), Some(_)) => {}
                    (leaf, _) => {
                        let at = out.len();
                        push_leaf(out, leaf);
                        // A sign would be joined with the operator, or have a lower precedence than a power.
                        if inside.signed && out[at..].starts_with('-') {
                            out.insert(at, '(');
                            out.push(')');
                        }
                    }
                }
                open.push(inside);
            }
            TraversalStep::Operand(0) => {}
            TraversalStep::Operand(_) => {
                let inside = open.last_mut();
                match inside.as_ref().and_then(|inside| inside.symbol) {
                    Some(symbol) => out.push_str(&[" ", symbol, " "].concat()),
                    None => out.push_str(", "),
                }
                if let Some(inside) = inside {
                    inside.right = true;
                }
            }
            TraversalStep::After => {
                let inside = open.pop();
                out.push_str(match term {
                    Term::List => "]",
                    Term::Call(_) if inside.is_none_or(|inside| inside.symbol.is_none()) => ")",
                    _ => "",
                });
                out.push_str(if inside.is_some_and(|inside| inside.bracketed) { ")" } else { "" });
            }
        });
        out
    }

    /// The nodes as texts in reverse Polish notation; a list of n items is `[]n`.
    pub(crate) fn rpn(&self) -> impl Iterator<Item = String> + '_ {
        self.nodes.iter().map(|node| {
            let mut text = String::new();
            match node.term {
                Term::Call(op) => text.push_str(op.row().name),
                Term::List => {
                    text.push_str("[]");
                    push_int(&mut text, node.count.into());
                }
                leaf => push_leaf(&mut text, leaf),
            }
            text
        })
    }
}

impl Term {
    /// Whether it is an operation or a list.
    pub(crate) fn is_operation(self) -> bool {
        matches!(self, Term::Call(_) | Term::List)
    }
}

/// A step of a tree traversal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TraversalStep {
    /// Before the operands.
    Before,
    /// Before the operand with this index.
    Operand(u32),
    /// After the operands.
    After,
}

/// The context that determines whether an operand has brackets in infix notation.
#[derive(Clone, Copy)]
struct Surroundings {
    /// The symbol of the operation; none for one that is written as a call.
    symbol: Option<&'static str>,
    precedence: u8,
    /// Whether the operation is in brackets itself.
    bracketed: bool,
    /// Whether it is an operand where a sign must be in brackets.
    signed: bool,
    /// Whether its first operand has been written.
    right: bool,
}

impl Surroundings {
    fn of(term: Term, around: Option<Surroundings>) -> Self {
        let infix = match term {
            Term::Call(op) => op.row().infix,
            _ => None,
        };
        let outer = around.filter(|around| around.symbol.is_some());
        let power = |precedence: u8| precedence > SIGN;
        let bracketed = infix.zip(outer).is_some_and(|((_, own), outer)| {
            // All operators except the power are left-associative.
            let right = outer.right != power(outer.precedence);
            own < outer.precedence || own == outer.precedence && right && own != SIGN || own == SIGN && outer.right
        });
        Surroundings {
            symbol: infix.map(|(symbol, _)| symbol),
            precedence: infix.map_or(0, |(_, precedence)| precedence),
            bracketed,
            signed: outer.is_some_and(|outer| outer.right || outer.precedence >= SIGN),
            right: false,
        }
    }
}

/// The key of a node's class, in addition to its operands. Floats are compared by their bits.
#[derive(PartialEq, Eq, Hash)]
enum ClassKey {
    Argument(u64),
    Int(i64),
    Float(u64),
    Complex(u64, u64),
    Bool(bool),
    None,
    Call(Op),
    List,
}

impl ClassKey {
    fn of(term: Term) -> ClassKey {
        let bits = |value: f64| if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() };
        match term {
            Term::Argument(number) => ClassKey::Argument(number),
            Term::Literal(Literal::Int(value)) => ClassKey::Int(value),
            Term::Literal(Literal::Float(value)) => ClassKey::Float(bits(value)),
            Term::Literal(Literal::Complex(re, im)) => ClassKey::Complex(bits(re), bits(im)),
            Term::Literal(Literal::Bool(value)) => ClassKey::Bool(value),
            Term::Literal(Literal::None) => ClassKey::None,
            Term::Call(op) => ClassKey::Call(op),
            Term::List => ClassKey::List,
        }
    }
}

/// Appends the text of an operand or a literal.
pub(crate) fn push_leaf(out: &mut String, term: Term) {
    match term {
        Term::Argument(number) => {
            out.push('@');
            out.push_str(&number.to_string());
        }
        Term::Literal(Literal::Int(value)) => push_int(out, value),
        Term::Literal(Literal::Float(value)) => push_scalar(out, value),
        Term::Literal(Literal::Complex(re, im)) => {
            push_scalar(out, re);
            out.push_str(if im.is_sign_negative() { "" } else { "+" });
            push_scalar(out, im);
            out.push('j');
        }
        Term::Literal(Literal::Bool(value)) => out.push_str(if value { "True" } else { "False" }),
        Term::Literal(Literal::None) => out.push_str("None"),
        Term::Call(_) | Term::List => {}
    }
}
