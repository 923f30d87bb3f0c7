//! Demand analysis: which statements of a fragment are needed always, perhaps, or never (law 7 of `tests/laws`).

use smallvec::{SmallVec, smallvec};

use crate::graph::operators::Class;
use crate::nnef::ast::{Ast, Body, Expr, ExprId};
use crate::nnef::check::{NodeInfo, NodeTable, Ref};
use crate::source::names::Name;

/// When a statement is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Demand {
    /// Nothing refers to it.
    Never,
    /// When the branch that refers to it is taken.
    Perhaps,
    /// Always, so in the order of the statements.
    Always,
}

/// The owner of a slot that no statement assigns.
const NO_STATEMENT: u32 = u32::MAX;

/// Computes the demand for each statement of a body.
pub(crate) fn of_body(
    ast: &Ast,
    info: &NodeTable<NodeInfo>,
    body: &Body,
    params: u32,
    slots: u32,
    results: &[Option<u32>],
) -> SmallVec<[Demand; 16]> {
    // The statement that assigns each slot.
    let mut owner: SmallVec<[u32; 16]> = smallvec![NO_STATEMENT; slots as usize];
    for (i, assignment) in body.assignments.iter().enumerate() {
        each_target(ast, info, assignment.target, &mut |_, slot| owner[slot as usize] = i as u32);
    }
    let mut demand = smallvec![Demand::Never; body.assignments.len()];
    for &result in results.iter().flatten() {
        if let Some(demand) = demand.get_mut(owner[result as usize] as usize) {
            *demand = Demand::Always;
        }
    }
    for i in (0..body.assignments.len()).rev() {
        let level = demand[i];
        if level == Demand::Never {
            continue;
        }
        each_reference(ast, info, body.assignments[i].value, &mut |slot, conditional| {
            let owner = owner[slot as usize] as usize;
            if slot >= params
                && let Some(demand) = demand.get_mut(owner)
            {
                *demand = (*demand).max(if conditional { Demand::Perhaps } else { level });
            }
        });
    }
    demand
}

/// Calls a function with each name of a left side and its slot.
pub(crate) fn each_target(ast: &Ast, info: &NodeTable<NodeInfo>, target: ExprId, f: &mut impl FnMut(Name, u32)) {
    ast.each_target(target, |id, name| {
        if let Ref::Slot(slot) = info[id].referent {
            f(name, slot);
        }
    });
}

/// Calls a function with each slot that an expression refers to, and whether only under a condition.
pub(crate) fn each_reference(ast: &Ast, info: &NodeTable<NodeInfo>, root: ExprId, f: &mut impl FnMut(u32, bool)) {
    let mut open: SmallVec<[(ExprId, bool); 16]> = smallvec![(root, false)];
    while let Some((id, conditional)) = open.pop() {
        let same = |id| (id, conditional);
        match ast.expr(id) {
            Expr::Name(_) => {
                if let Ref::Slot(slot) = info[id].referent {
                    f(slot, conditional);
                }
            }
            Expr::Binary { op, lhs, rhs, .. } if op.info().class == Class::Logic => {
                open.extend([same(lhs), (rhs, true)]);
            }
            Expr::Select { condition, yes, no } => open.extend([same(condition), (yes, true), (no, true)]),
            Expr::Comprehension(id) => {
                let comprehension = ast.comprehensions[id.index()];
                let iterators = &ast.iterators[comprehension.iterators.range()];
                open.extend(iterators.iter().map(|iterator| same(iterator.iterable)));
                open.extend(comprehension.filter.map(|filter| (filter, true)));
                open.push((comprehension.item, true));
            }
            Expr::Loop(id) => {
                let of = ast.loops[id.index()];
                open.extend(ast.recurrences[of.recurrences.range()].iter().map(|of| same(of.initial)));
                open.extend(ast.iterators[of.iterators.range()].iter().map(|of| same(of.iterable)));
                open.extend(of.count.map(same));
                open.extend(of.before.into_iter().chain(of.after).map(|condition| (condition, true)));
                open.extend(ast.loop_statements(&of).map(|(_, value)| (value, true)));
                open.extend(ast.items(of.results).iter().map(|&result| (result, true)));
            }
            _ => ast.each_operand(id, |id| open.push(same(id))),
        }
    }
}
