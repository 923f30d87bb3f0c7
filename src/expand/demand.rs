//! Which statements of a fragment are needed: always, perhaps, or never (law 7).

use crate::nnef::ast::{Ast, Body, Expr, ExprId};
use crate::nnef::check::Ref;
use crate::nnef::names::Name;
use crate::nnef::operators::Class;

/// When a statement is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Demand {
    /// Nothing refers to it.
    Never,
    /// When the branch that refers to it is taken.
    Perhaps,
    /// In any case, so in its place.
    Always,
}

/// The demand for each statement of a body. `all` asks for everything.
pub fn analyse(
    ast: &Ast,
    refs: &[Ref],
    body: &Body,
    params: u32,
    slots: u32,
    results: &[u32],
    all: bool,
) -> Vec<Demand> {
    let count = body.assignments.len();
    if all {
        return vec![Demand::Always; count];
    }
    let mut owner: Vec<Option<usize>> = vec![None; slots as usize];
    for (i, assignment) in body.assignments.iter().enumerate() {
        each_target(ast, refs, assignment.target, &mut |_, slot| owner[slot as usize] = Some(i));
    }
    let mut demand = vec![Demand::Never; count];
    for &result in results {
        if let Some(i) = owner[result as usize] {
            demand[i] = Demand::Always;
        }
    }
    for i in (0..count).rev() {
        let level = demand[i];
        if level == Demand::Never {
            continue;
        }
        each_reference(ast, refs, body.assignments[i].value, &mut |slot, conditional| {
            if slot >= params
                && let Some(j) = owner[slot as usize]
            {
                let wanted = if conditional { Demand::Perhaps } else { level };
                demand[j] = demand[j].max(wanted);
            }
        });
    }
    demand
}

/// The names of a left side, and the slots that it fills.
pub fn each_target(ast: &Ast, refs: &[Ref], target: ExprId, f: &mut impl FnMut(Name, u32)) {
    ast.each_target(target, |id, name| {
        if let Ref::Slot(slot) = refs[id.index()] {
            f(name, slot);
        }
    });
}

/// The slots that an expression refers to, and whether only under a condition.
fn each_reference(ast: &Ast, refs: &[Ref], root: ExprId, f: &mut impl FnMut(u32, bool)) {
    let mut open = vec![(root, false)];
    while let Some((id, conditional)) = open.pop() {
        let same = |id| (id, conditional);
        match ast.expr(id) {
            Expr::Name(_) => {
                if let Ref::Slot(slot) = refs[id.index()] {
                    f(slot, conditional);
                }
            }
            Expr::Array(items) | Expr::Tuple(items) => open.extend(ast.items(items).iter().copied().map(same)),
            Expr::Unary { operand, .. } => open.push(same(operand)),
            Expr::Binary { op, lhs, rhs, .. } => {
                open.push(same(lhs));
                open.push((rhs, conditional || op.info().class == Class::Logic));
            }
            Expr::Select { condition, yes, no } => open.extend([same(condition), (yes, true), (no, true)]),
            Expr::Index { base, index } => open.extend([same(base), same(index)]),
            Expr::Slice { base, begin, end } => {
                open.push(same(base));
                open.extend(begin.into_iter().chain(end).map(same));
            }
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
            Expr::Builtin { argument, .. } => open.push(same(argument)),
            Expr::Call(call) => open.extend(ast.arguments(ast.call(call)).iter().map(|arg| same(arg.value))),
            _ => {}
        }
    }
}
