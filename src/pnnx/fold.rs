//! Constant folding: replaces operations on literals by their results.

use std::borrow::Cow;

use super::expression_table::Op;
use super::number::{self, Meaning, Number};
use super::tokens::Literal;
use super::tree::{Expression, NodeId, Term, TreeNode};

impl Literal {
    /// The number, unless it is complex or `None`.
    pub(crate) fn number(self) -> Option<Number> {
        match self {
            Literal::Int(int) => Some(Number::Int(int)),
            Literal::Float(float) => Some(Number::Float(float)),
            Literal::Bool(truth) => Some(Number::Bool(truth)),
            Literal::Complex(..) | Literal::None => None,
        }
    }
}

impl From<Number> for Literal {
    fn from(number: Number) -> Self {
        match number {
            Number::Int(int) => Literal::Int(int),
            Number::Float(float) => Literal::Float(float),
            Number::Bool(truth) => Literal::Bool(truth),
        }
    }
}

/// The extents of operands by number, for `size` in an expression.
pub(crate) type Extents<'a> = &'a dyn Fn(u64) -> Option<Vec<Option<i64>>>;

/// Extents for operands of unknown shape.
#[cfg(test)]
pub(crate) fn no_extents(_: u64) -> Option<Vec<Option<i64>>> {
    None
}

impl Expression {
    /// The expression with operations on literals replaced by their results. Operations without a result, such
    /// as a division by zero of an integer, are kept. Sizes are replaced if the extents are known.
    pub(crate) fn folded(&self, extents: Extents) -> Cow<'_, Expression> {
        if !self.nodes().any(|(_, node)| self.may_fold(node)) {
            return Cow::Borrowed(self);
        }
        let mut folded = Expression::with_capacity(self.len());
        // The replacement of each node: a literal, which is added only if it is an operand of an operation
        // that is kept, or a node.
        let mut became: Vec<Result<Literal, NodeId>> = Vec::with_capacity(self.len());
        let mut operands: Vec<NodeId> = Vec::new();
        for (_, node) in self.nodes() {
            let result = match node.term {
                Term::Literal(literal) => Some(literal),
                Term::Call(op) => self.result(op, node, &became, extents),
                Term::Argument(_) | Term::List => None,
            };
            if let Some(literal) = result {
                became.push(Ok(literal));
                continue;
            }
            became.push(Err(NodeId::at(0)));
            operands.clear();
            for id in self.operands(node) {
                operands.push(match became[id.index()] {
                    Err(node) => node,
                    Ok(literal) => folded.push(Term::Literal(literal), self.node(*id).span, &[]),
                });
            }
            let id = folded.push(node.term, node.span, &operands);
            if let Some(last) = became.last_mut() {
                *last = Err(id);
            }
        }
        if let (Some(Ok(literal)), Some(root)) = (became.last(), self.root()) {
            folded.push(Term::Literal(*literal), root.span, &[]);
        }
        Cow::Owned(folded.in_order())
    }

    /// Whether an operation may be folded without folding its operands first.
    fn may_fold(&self, node: &TreeNode) -> bool {
        let literal = |id: &NodeId| matches!(self.node(*id).term, Term::Literal(_));
        match node.term {
            Term::Call(op) if matches!(op.meaning(), Meaning::Size) => true,
            Term::Call(_) => self.operands(node).iter().all(literal),
            _ => false,
        }
    }

    /// The result of an operation whose operands are literals.
    fn result(&self, op: Op, node: &TreeNode, became: &[Result<Literal, NodeId>], extents: Extents) -> Option<Literal> {
        let ids = self.operands(node);
        if matches!(op.meaning(), Meaning::Size) {
            let [operand, axis] = ids else { return None };
            let (Term::Argument(number), Ok(Literal::Int(axis))) = (self.node(*operand).term, became[axis.index()])
            else {
                return None;
            };
            return extent(&extents(number)?, axis).map(Literal::Int);
        }
        let mut numbers = [Number::Int(0); 3];
        for (slot, id) in numbers.iter_mut().zip(ids) {
            *slot = became[id.index()].ok()?.number()?;
        }
        number::apply(op.meaning(), numbers.get(..ids.len())?).map(Literal::from)
    }

    /// Restores reverse Polish notation: folding may add literals after operands on their right.
    pub(super) fn in_order(self) -> Expression {
        let Some(last) = self.len().checked_sub(1) else { return self };
        let mut ordered = Expression::with_capacity(self.len());
        let mut open: Vec<(NodeId, usize)> = vec![(NodeId::at(last), 0)];
        let mut done: Vec<NodeId> = Vec::new();
        while let Some((id, next)) = open.last_mut() {
            let node = self.node(*id);
            let operands = self.operands(node);
            if let Some(operand) = operands.get(*next) {
                *next += 1;
                open.push((*operand, 0));
                continue;
            }
            let first = done.len() - operands.len();
            let id = ordered.push(node.term, node.span, &done[first..]);
            done.truncate(first);
            done.push(id);
            open.pop();
        }
        ordered
    }
}

/// The extent of an axis; a negative axis counts from the end.
pub(crate) fn extent(extents: &[Option<i64>], axis: i64) -> Option<i64> {
    let rank = extents.len() as i64;
    let axis = if axis < 0 { axis + rank } else { axis };
    *extents.get(usize::try_from(axis).ok()?)?
}
