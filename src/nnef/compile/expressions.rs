//! Compiles expressions.
//!
//! Nested expressions are compiled without recursion, which would touch new stack memory: a list holds
//! the partly compiled expressions, each with its progress.

use smallvec::SmallVec;

use super::Compiler;
use super::constants::simple_literal;
use crate::core::arithmetic;
use crate::core::list::List;
use crate::core::program::{CompiledLoop, Hint, Instr, Program, Site};
use crate::core::unit::UnitId;
use crate::core::value::Value;
use crate::graph::Key;
use crate::graph::operators::Class;
use crate::nnef::ast::{BinaryOp, ComprehensionId, Expr, ExprId, ListRange, UnaryOp};
use crate::nnef::types::Type;
use crate::room::with_stack;
use crate::source::Span;

/// The subexpression to be compiled next, and where its value goes.
pub(super) type Below = (ExprId, Hint);

/// A partly compiled expression.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) id: ExprId,
    pub(super) hint: Hint,
    /// The number of subexpressions that were begun; for a call, of parameters.
    pub(super) begun: u32,
    /// Its first instruction.
    start: u32,
    /// A jump whose target is set when the code it skips is compiled.
    jump: usize,
    /// Whether it is a call whose body is expanded.
    pub(super) inlined: bool,
}

impl Open {
    fn new(id: ExprId, hint: Hint, start: u32) -> Self {
        Open { id, hint, begun: 0, start, jump: 0, inlined: false }
    }
}

impl Compiler<'_, '_> {
    /// Compiles an expression; its value is left on the stack.
    pub(super) fn expr(&mut self, id: ExprId, hint: Hint) {
        let Some((id, hint)) = self.unless_leaf(id, hint) else { return };
        let bottom = self.scratch.open.len();
        let mut open = Open::new(id, hint, self.here());
        loop {
            if let Some((id, hint)) = self.next_below(&mut open) {
                let above = std::mem::replace(&mut open, Open::new(id, hint, self.here()));
                self.scratch.open.push(above);
            } else if self.scratch.open.len() > bottom
                && let Some(above) = self.scratch.open.pop()
            {
                open = above;
            } else {
                return;
            }
        }
    }

    /// Compiles a name or a literal; returns any other expression.
    pub(super) fn unless_leaf(&mut self, id: ExprId, hint: Hint) -> Option<Below> {
        match self.ast.expr(id) {
            Expr::Name(name) => self.name(id, name),
            Expr::Error => {}
            expr => match simple_literal(self.checked, self.ast, expr) {
                Some(value) => self.constant(value, self.ast.span(id)),
                None => return Some((id, hint)),
            },
        }
        None
    }

    /// Compiles an expression up to its next subexpression that is not a leaf, or to its end.
    fn next_below(&mut self, open: &mut Open) -> Option<Below> {
        loop {
            let done = open.begun;
            open.begun += 1;
            let (id, hint) = match self.ast.expr(open.id) {
                Expr::Binary { .. } | Expr::Index { .. } | Expr::Slice { .. } => self.next_of_spine(open, done)?,
                Expr::Call(call) => self.next_argument(call, open, done)?,
                expr @ (Expr::Array(items) | Expr::Tuple(items)) => match self.ast.items(items).get(done as usize) {
                    Some(&item) => (item, self.item_hint(open.hint, done)),
                    None => {
                        self.collect(items, open.start, matches!(expr, Expr::Tuple(_)), self.ast.span(open.id));
                        return None;
                    }
                },
                Expr::Select { condition, yes, no } => self.next_of_select(open, done, [condition, yes, no])?,
                Expr::Unary { operand, .. } if done == 0 => (operand, Hint::None),
                Expr::Unary { op, operand } => {
                    self.unary(op, operand, open);
                    return None;
                }
                Expr::Builtin { argument, .. } if done == 0 => (argument, Hint::None),
                Expr::Builtin { function, .. } => {
                    self.emit(Instr::Builtin(function), self.ast.span(open.id));
                    return None;
                }
                Expr::Comprehension(of) => return self.with_stack(|compiler| compiler.comprehension(open.id, of)),
                Expr::Loop(of) => return self.with_stack(|compiler| compiler.looping(open.id, of, open.hint)),
                _ => return None,
            };
            if let Some(below) = self.unless_leaf(id, hint) {
                return Some(below);
            }
        }
    }

    /// Compiles comprehensions and loops, by recursion.
    fn with_stack(&mut self, compile: impl FnOnce(&mut Self)) -> Option<Below> {
        with_stack(|| compile(self));
        None
    }

    fn next_of_select(&mut self, open: &mut Open, done: u32, [condition, yes, no]: [ExprId; 3]) -> Option<Below> {
        match done {
            0 => Some((condition, Hint::None)),
            1 => {
                open.jump = self.emit(Instr::JumpUnless(0), self.ast.span(condition));
                Some((yes, open.hint))
            }
            2 => {
                let end = self.emit(Instr::Jump(0), self.ast.span(open.id));
                self.patch(std::mem::replace(&mut open.jump, end));
                Some((no, open.hint))
            }
            _ => {
                self.patch(open.jump);
                None
            }
        }
    }

    /// Compiles operators and subscripts from the innermost left operand outwards: a chain of a million
    /// is one partly compiled expression.
    fn next_of_spine(&mut self, open: &mut Open, done: u32) -> Option<Below> {
        if done == 0 {
            let (above, leaf) = self.ast.left_spine(open.id);
            self.scratch.spines.extend(above);
            return Some((leaf, Hint::None));
        }
        let mut done = done;
        loop {
            // Its left operand and `done - 1` of its other operands are compiled.
            let node = *self.scratch.spines.last()?;
            let expr = self.ast.expr(node);
            let next = match (expr, done) {
                (Expr::Binary { op, lhs, rhs, at }, 1) => {
                    self.left_side(op, lhs, rhs, at, open);
                    Some(rhs)
                }
                (Expr::Index { index, .. }, 1) => Some(index),
                (Expr::Slice { begin: Some(bound), .. } | Expr::Slice { end: Some(bound), .. }, 1) => Some(bound),
                (Expr::Slice { begin: Some(_), end: Some(end), .. }, 2) => Some(end),
                _ => None,
            };
            open.begun = done + 1;
            if let Some(next) = next {
                if let Some(below) = self.unless_leaf(next, Hint::None) {
                    return Some(below);
                }
                done += 1;
                continue;
            }
            self.end_of_spine(node, expr, open);
            self.scratch.spines.pop();
            if node == open.id {
                return None;
            }
            done = 1;
        }
    }

    /// Emits the code between the operands of an operator.
    fn left_side(&mut self, op: BinaryOp, lhs: ExprId, rhs: ExprId, at: u32, open: &mut Open) {
        if self.on_tensors(op, lhs, rhs) {
            // A literal array becomes a tensor if the other operand is one.
            self.as_tensor(lhs);
        } else if op.info().class == Class::Logic {
            let jump = Instr::JumpIf { on: op == BinaryOp::Or, to: 0 };
            open.jump = self.emit(jump, operator_span(op, at));
        }
    }

    /// Emits the code after the operands of an operator or subscript.
    fn end_of_spine(&mut self, node: ExprId, expr: Expr, open: &Open) {
        match expr {
            Expr::Binary { op, lhs, rhs, at } => {
                let at = operator_span(op, at);
                if self.on_tensors(op, lhs, rhs) {
                    self.as_tensor(rhs);
                    let hint = if node == open.id { open.hint } else { Hint::None };
                    self.operator(self.lowering.binary[op as usize], 2, at, hint);
                } else if op.info().class == Class::Logic {
                    self.patch(open.jump);
                } else {
                    self.arithmetic(op, lhs, rhs, at);
                }
            }
            Expr::Index { index, .. } => {
                self.emit(Instr::Index, self.ast.span(index));
            }
            Expr::Slice { begin, end, .. } => {
                let at = self.ast.span(begin.or(end).unwrap_or(node));
                self.emit(Instr::Slice { begin: begin.is_some(), end: end.is_some() }, at);
            }
            _ => {}
        }
    }

    /// Emits an operator on the values just pushed. An operator on two constant numbers is evaluated now,
    /// unless it fails: the error is reported when the instruction runs.
    fn arithmetic(&mut self, op: BinaryOp, lhs: ExprId, rhs: ExprId, at: Span) {
        match self.pushed_constants().and_then(|[left, right]| arithmetic::of_numbers(op, left, right)) {
            Some(value) => self.replace(2, value, at),
            None => {
                let arrays = self.joins(op, lhs, rhs);
                self.emit(Instr::Binary { op, arrays }, at);
            }
        }
    }

    /// Whether an operator joins or repeats arrays, by the static types of its operands.
    fn joins(&self, op: BinaryOp, lhs: ExprId, rhs: ExprId) -> bool {
        let array = |id: ExprId| matches!(self.info.nodes[id].ty, Type::Array(_) | Type::EmptyArray);
        matches!(op, BinaryOp::Add | BinaryOp::Mul) && (array(lhs) || array(rhs)) && self.by_static_type(self.module)
    }

    /// Whether an operator is an operation on tensors.
    fn on_tensors(&self, op: BinaryOp, lhs: ExprId, rhs: ExprId) -> bool {
        op.info().tensor.is_some() && (self.is_tensor(lhs) || self.is_tensor(rhs))
    }

    pub(super) fn is_tensor(&self, id: ExprId) -> bool {
        self.info.nodes[id].ty.is_tensor()
    }

    fn unary(&mut self, op: UnaryOp, operand: ExprId, open: &Open) {
        let span = self.ast.span(open.id);
        let at = Span::new(span.start, span.start + 1);
        if self.is_tensor(operand) {
            self.operator(self.lowering.unary[op as usize], 1, at, open.hint);
            return;
        }
        if let Some([value]) = self.pushed_constants()
            && let Ok(folded) = arithmetic::unary(op, value)
        {
            return self.replace(1, folded, at);
        }
        self.emit(Instr::Unary(op), at);
    }

    /// The values pushed last, if they are constants on every path to this point.
    fn pushed_constants<const N: usize>(&self) -> Option<[&Value; N]> {
        let pushed = self.program.instrs.get(self.barrier as usize..)?.last_chunk::<N>()?;
        let mut values = [&Value::Logical(false); N];
        for (value, instr) in values.iter_mut().zip(pushed) {
            let Instr::Const(constant) = *instr else { return None };
            *value = self.program.constants.get(constant as usize)?;
        }
        Some(values)
    }

    /// Replaces the constants pushed last by another one.
    fn replace(&mut self, count: u32, value: Value, span: Span) {
        let start = (self.here() - count) as usize;
        let Program { instrs, spans, constants, .. } = &mut *self.program;
        let Instr::Const(first) = instrs[start] else { return };
        constants.truncate(first as usize + 1);
        constants[first as usize] = value;
        instrs.truncate(start + 1);
        spans.truncate(start + 1);
        spans[start] = span;
    }

    /// Turns an array of numbers just pushed into a constant tensor.
    pub(super) fn as_tensor(&mut self, id: ExprId) {
        if matches!(self.info.nodes[id].ty, Type::Array(_) | Type::EmptyArray) {
            self.emit(Instr::AsTensor, self.ast.span(id));
        }
    }

    /// Emits the operation of an operator on tensors.
    fn operator(&mut self, operation: Option<UnitId>, operands: u32, span: Span, hint: Hint) {
        let Some(fragment) = operation else { return };
        let keys: SmallVec<[Key; 2]> = (0..operands).map(Key::Param).collect();
        let site = Site::new(Some(fragment), self.checked.fragment(fragment).name, span, hint);
        self.emit_site(site, &keys);
    }

    /// The hint for an item of an array or tuple.
    pub(super) fn item_hint(&self, hint: Hint, i: u32) -> Hint {
        match hint {
            Hint::Items { start, len, .. } if i < len => self.program.hints[(start + i) as usize],
            _ => Hint::None,
        }
    }

    /// Makes an array or tuple of the items just pushed: a constant if all of them are constants.
    fn collect(&mut self, items: ListRange, start: u32, tuple: bool, span: Span) {
        let pushed = &self.program.instrs[start as usize..];
        let constant = |instr: &Instr| match instr {
            Instr::Const(i) => Some(self.program.constants[*i as usize].clone()),
            _ => None,
        };
        let values: Option<Vec<Value>> = pushed.iter().map(constant).collect();
        match values {
            Some(values) if values.len() == items.len as usize => {
                self.program.instrs.truncate(start as usize);
                self.program.spans.truncate(start as usize);
                let list = List::from_values(values, None);
                self.constant(if tuple { Value::Tuple(list) } else { Value::Array(list) }, span);
            }
            _ => {
                self.emit(Instr::Collect { count: items.len, tuple }, span);
            }
        }
    }

    fn comprehension(&mut self, id: ExprId, of: ComprehensionId) {
        let (comprehension, span) = (self.ast.comprehensions[of.index()], self.ast.span(id));
        let iterators = &self.ast.iterators[comprehension.iterators.range()];
        iterators.iter().for_each(|iterator| self.expr(iterator.iterable, Hint::None));
        let at = iterators.first().map_or(span, |iterator| self.ast.span(iterator.iterable));
        let index = self.program.loops.len() as u32;
        self.program.loops.push(CompiledLoop {
            comprehension: true,
            slot: self.first_slot(id),
            recurrences: 0,
            reversed: smallvec::smallvec![false; iterators.len()],
            index: false,
            counted: false,
            results: 1,
            unroll: true,
            exit: 0,
            hint: Hint::None,
        });
        self.emit(Instr::LoopBegin(index), at);
        let next = self.emit(Instr::LoopNext(index), span) as u32;
        self.barrier();
        if let Some(filter) = comprehension.filter {
            self.expr(filter, Hint::None);
            self.emit(Instr::JumpUnless(next), self.ast.span(filter));
        }
        self.expr(comprehension.item, Hint::None);
        self.emit(Instr::LoopTurn(index), span);
        self.emit(Instr::Jump(next), span);
        self.program.loops[index as usize].exit = self.here();
        self.emit(Instr::LoopEnd, span);
    }
}

/// The span of an operator at a byte offset.
fn operator_span(op: BinaryOp, at: u32) -> Span {
    Span::new(at, at + op.info().text.len() as u32)
}
