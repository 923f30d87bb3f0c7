//! Statements of the graph that are like earlier ones.
//!
//! A flat text has millions of statements and few kinds of them: the same operation, called with
//! operands of the same types in the same order. What the checks found out about the first of a
//! kind, if there was nothing to say about it, holds for all others. They need no more than their
//! names looked up, and are not compiled one by one either. Where even the spelling is known
//! (`forms.rs`), they need no nodes.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::bodies::BodyCheck;
use super::labels::label_problem;
use super::state::Place;
use super::{Checked, FragmentId, Ref, Words};
use crate::graph::Dialect;
use crate::graph::Primitive;
use crate::nnef::ast::{Assignment, Ast, BinaryOp, Expr, ExprId, UnaryOp};
use crate::nnef::statements::{Chunk, Like, Statement, Word};
use crate::nnef::types::{Fit, Type};
use crate::room;
use crate::source::Span;
use crate::source::names::Name;

/// The most kinds of statements kept for one operation: each is compared with.
const KINDS_PER_OPERATION: usize = 8;

/// Identifies a [`Routine`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoutineId(u32);

impl RoutineId {
    /// The position in [`Routines::list`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What is applied to the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Applied {
    Operation(Name, Option<Primitive>),
    Operator(BinaryOp),
}

/// An operand: the argument's name, and the type.
pub(super) type Operand = (Option<Name>, Type);

/// A kind of statements: a name of the graph is assigned the one tensor that an operation without
/// a body gives, applied to names and constants that need no conversion.
#[derive(Clone, Debug, PartialEq)]
pub struct Routine {
    /// The operation.
    pub fragment: FragmentId,
    /// The type argument, and whether it was written.
    pub generic: (Option<Primitive>, bool),
    /// For the operands in the order of the parameters: the parameter, and the place in the text.
    pub order: SmallVec<[(u32, u32); 4]>,
    pub(super) operands: SmallVec<[Operand; 4]>,
    pub(super) result: Type,
    /// For variables the place of the label in the text.
    label: Option<u32>,
}

/// The kinds of statements met so far.
#[derive(Debug, Default)]
pub struct Routines {
    list: Vec<Routine>,
    of: FxHashMap<Applied, SmallVec<[RoutineId; 2]>>,
}

impl Routines {
    /// A kind.
    pub fn get(&self, id: RoutineId) -> &Routine {
        &self.list[id.index()]
    }

    fn add(&mut self, applied: Applied, routine: Routine) -> Option<RoutineId> {
        let known = self.of.entry(applied).or_default();
        if let Some(known) = known.iter().find(|known| self.list[known.index()] == routine) {
            return Some(*known);
        }
        if known.len() >= KINDS_PER_OPERATION {
            return None;
        }
        let id = RoutineId(self.list.len() as u32);
        known.push(id);
        self.list.push(routine);
        Some(id)
    }
}

/// The right side of a statement as far as it could be routine: what is applied, where an error of
/// it would be, and the operands as they stand.
pub(crate) struct Application {
    applied: Applied,
    /// The place that the operation comes from.
    pub span: Span,
    /// The operands: their names, and what they are.
    pub operands: SmallVec<[(Option<Name>, ExprId); 4]>,
}

impl Application {
    /// Of an expression whose operands are names and constants.
    pub fn of(ast: &Ast, value: ExprId) -> Option<Self> {
        let mut operands = SmallVec::new();
        let (applied, span) = match ast.expr(value) {
            Expr::Call(call) => {
                let call = ast.call(call);
                for arg in ast.arguments(call) {
                    operands.push((arg.name.map(|name| name.name), arg.value));
                }
                let generic = call.generic.map(|(primitive, _)| primitive);
                (Applied::Operation(call.name.name, generic), call.name.span)
            }
            Expr::Binary { op, lhs, rhs, at } => {
                operands.extend([(None, lhs), (None, rhs)]);
                (Applied::Operator(op), Span::new(at, at + op.info().text.len() as u32))
            }
            _ => return None,
        };
        let known = |id| matches!(ast.expr(id), Expr::Name(_)) || is_constant(ast, id, MAX_CONSTANT_DEPTH);
        operands.iter().all(|(_, operand)| known(*operand)).then_some(Application { applied, span, operands })
    }
}

/// How deep the lists are nested of what counts as a constant operand.
const MAX_CONSTANT_DEPTH: u32 = 8;

/// Whether an expression consists of literals, of lists of such, and of their signs.
fn is_constant(ast: &Ast, id: ExprId, depth: u32) -> bool {
    let below = |id: &ExprId| depth > 0 && is_constant(ast, *id, depth - 1);
    match ast.expr(id) {
        Expr::Name(_) | Expr::Error => false,
        Expr::Array(items) | Expr::Tuple(items) => ast.items(items).iter().all(below),
        Expr::Unary { op: UnaryOp::Minus | UnaryOp::Plus, operand } => below(&operand),
        literal => literal.is_leaf(),
    }
}

impl BodyCheck<'_, '_> {
    /// Checks statements of the graph; tells at which one its nodes are missing.
    pub(super) fn graph_statements(&mut self, chunk: &Chunk, from: usize) -> Option<usize> {
        debug_assert_eq!(self.place, Place::Graph);
        let mut at = from;
        loop {
            match chunk.statements.get(at)? {
                Statement::Whole(assignment, like) => {
                    let like = like.map(|like| (like, chunk.words_of(&like)));
                    self.graph_statement(assignment, like);
                    at += 1;
                }
                Statement::Like(_) => match self.like_statements(chunk, at) {
                    0 => return Some(at),
                    checked => at += checked,
                },
            }
        }
    }

    /// Checks a statement, with less work where it is like an earlier one.
    fn graph_statement(&mut self, assignment: &Assignment, like: Option<(Like, &[Word])>) {
        let application = match self.ast.expr(assignment.target) {
            Expr::Name(_) if !self.draft() => Application::of(self.ast, assignment.value),
            _ => None,
        };
        let found = self.findings();
        let routine = match application.as_ref().and_then(|application| self.find_routine(application)) {
            Some((id, ty)) => {
                room::push(&mut self.checker.checked.statements.routines, Some(id));
                self.assign(assignment.target, ty, assignment.value);
                Some(id)
            }
            None => {
                room::push(&mut self.checker.checked.statements.routines, None);
                self.assignment(assignment);
                let application = application.filter(|_| self.findings() == found);
                application.and_then(|application| self.learn_routine(assignment.value, &application))
            }
        };
        if let Some((like, words)) = like.filter(|_| self.findings() == found) {
            self.learn_form(assignment, like.form, words, routine);
        }
    }

    pub(super) fn findings(&self) -> usize {
        self.checker.findings()
    }

    /// The kind that a statement is of, and the type of its result. Its names are looked up.
    fn find_routine(&mut self, application: &Application) -> Option<(RoutineId, Type)> {
        let known = self.checker.checked.routines.of.get(&application.applied)?;
        let known: SmallVec<[RoutineId; KINDS_PER_OPERATION]> = known.iter().copied().collect();
        let mut operands: SmallVec<[Operand; 4]> = SmallVec::new();
        for (name, id) in &application.operands {
            operands.push((*name, self.operand_type(*id)?));
        }
        let routines = &self.checker.checked.routines;
        let id = known.into_iter().find(|id| routines.get(*id).operands == operands)?;
        let Routine { result, label, .. } = *routines.get(id);
        let label = label.map(|place| self.ast.expr(application.operands[place as usize].1));
        let is_right = match label {
            Some(Expr::String(label)) => is_right_label(self.checker.checked.text(label)),
            Some(_) => false,
            None => true,
        };
        is_right.then_some((id, result))
    }

    /// The type of a literal without parts, or of a name that has a value.
    fn operand_type(&mut self, id: ExprId) -> Option<Type> {
        match self.ast.expr(id) {
            Expr::Name(name) => {
                let slot = self.scope.get(name)?;
                self.set_ref(id, Ref::Slot(slot));
                Some(self.slots[slot as usize].ty)
            }
            literal => self.checker.simple_literal(self.ast, literal),
        }
    }

    /// Notes what the checks found out about a statement, if that is all there is to it.
    fn learn_routine(&mut self, value: ExprId, application: &Application) -> Option<RoutineId> {
        let routine = routine(&self.checker.checked, self.ast, value, application)?;
        self.checker.checked.routines.add(application.applied, routine)
    }
}

/// The kind of a statement that was checked, if it is one.
fn routine(checked: &Checked, ast: &Ast, value: ExprId, application: &Application) -> Option<Routine> {
    let tables = &checked.statements;
    let ty = |id: ExprId| tables.types[id.index()];
    let (fragment, generic, arguments) = match ast.expr(value) {
        Expr::Call(call) => {
            let info = tables.calls[call.index()]?;
            let fragment = info.fragment?;
            let count = checked.fragment(fragment).params.len();
            let bound = tables.bound.get(info.bound as usize..info.bound as usize + count)?;
            (fragment, (info.generic, ast.call(call).generic.is_some()), bound.to_vec())
        }
        Expr::Binary { op, lhs, rhs, .. } if ty(lhs).is_tensor() || ty(rhs).is_tensor() => {
            (checked.standard(op.info().tensor?)?, (None, false), vec![Some(lhs), Some(rhs)])
        }
        _ => return None,
    };
    let info = checked.fragment(fragment);
    let one_tensor = matches!(info.results[..], [result] if result.ty.is_tensor());
    let Words { external, update, variable, .. } = checked.words;
    let by_graph_alone = [external, update].contains(&Some(info.name));
    if info.has_body || info.open_results || !one_tensor || by_graph_alone {
        return None;
    }
    let mut label = None;
    let mut order = SmallVec::new();
    for (i, argument) in arguments.iter().enumerate() {
        let Some(argument) = *argument else { continue };
        let (formal, actual) = (info.params.get(i)?.ty, ty(argument));
        if converts(checked, formal, actual) {
            return None;
        }
        let place = application.operands.iter().position(|(_, operand)| *operand == argument)?;
        order.push((i as u32, place as u32));
        if Some(info.name) == variable && formal == Type::STRING {
            label = Some(place as u32);
        }
    }
    let operands: SmallVec<[Operand; 4]> = application.operands.iter().map(|(name, id)| (*name, ty(*id))).collect();
    let complete = order.len() == operands.len() && ty(value).is_tensor() && checked.document.dialect() == Dialect::V1;
    complete.then(|| Routine { fragment, generic, order, operands, result: ty(value), label })
}

/// Whether nothing is wrong with the label of a variable.
pub(super) fn is_right_label(label: &str) -> bool {
    label_problem(label, Dialect::V1).is_none()
}

/// Whether a value is turned into something else when it is given for a parameter.
pub(crate) fn converts(checked: &Checked, formal: Type, actual: Type) -> bool {
    match formal.is_tensor() {
        true => matches!(actual, Type::Array(_) | Type::EmptyArray),
        false => {
            let fit = checked.types.fit(formal, actual, &mut None);
            fit == Fit::Structure || (formal == Type::SCALAR && actual == Type::INTEGER)
        }
    }
}
