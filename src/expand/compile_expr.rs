//! Compiles expressions.

use smallvec::SmallVec;

use super::arithmetic;
use super::code::{Hint, Instr, Loop, Site};
use super::columns::is_arithmetic;
use super::compile::Compiler;
use super::list::List;
use super::value::Value;
use crate::graph::{Key, scan};
use crate::nnef::ast::{BinaryOp, Call, CallId, ComprehensionId, Expr, ExprId, UnaryOp};
use crate::nnef::check::FragmentId;
use crate::nnef::check::routine::converts;
use crate::nnef::document::ModuleId;
use crate::nnef::operators::Class;
use crate::nnef::types::Type;
use crate::source::Span;

impl Compiler<'_, '_> {
    /// Compiles an expression; its value is left on the stack.
    pub(super) fn expr(&mut self, id: ExprId, hint: Hint) {
        let expr = self.ast.expr(id);
        if expr.is_leaf() {
            return self.leaf(id, hint);
        }
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match expr.continues_left() {
            true => self.spine(id, hint),
            false => self.leaf(id, hint),
        });
    }

    /// Chains of operators and subscripts are walked in a loop, as in the checker.
    fn spine(&mut self, id: ExprId, hint: Hint) {
        let (mut above, leaf) = self.ast.left_spine(id);
        self.leaf(leaf, if above.is_empty() { hint } else { Hint::None });
        while let Some(node) = above.pop() {
            let hint = if above.is_empty() { hint } else { Hint::None };
            let span = self.ast.span(node);
            match self.ast.expr(node) {
                Expr::Binary { op, lhs, rhs, at } => {
                    let span = Span::new(at, at + op.info().text.len() as u32);
                    self.binary(op, lhs, rhs, span, hint);
                }
                Expr::Index { index, .. } => {
                    self.expr(index, Hint::None);
                    self.emit(Instr::Index, self.ast.span(index));
                }
                Expr::Slice { begin, end, .. } => {
                    let at = begin.or(end).map_or(span, |bound| self.ast.span(bound));
                    begin.into_iter().chain(end).for_each(|bound| self.expr(bound, Hint::None));
                    self.emit(Instr::Slice { begin: begin.is_some(), end: end.is_some() }, at);
                }
                _ => {}
            }
        }
    }

    /// The value of a literal that has no parts.
    pub(super) fn literal(&self, expr: Expr) -> Option<Value> {
        super::simple_literal(self.checked, self.ast, expr)
    }

    fn leaf(&mut self, id: ExprId, hint: Hint) {
        let span = self.ast.span(id);
        if let Some(value) = self.literal(self.ast.expr(id)) {
            return self.constant(value, span);
        }
        match self.ast.expr(id) {
            Expr::Name(name) => self.name(id, name),
            expr @ (Expr::Array(items) | Expr::Tuple(items)) => {
                let start = self.here();
                for (i, &item) in self.ast.items(items).iter().enumerate() {
                    let hint = self.item_hint(hint, i as u32);
                    self.expr(item, hint);
                }
                self.collect(items, start, matches!(expr, Expr::Tuple(_)), span);
            }
            Expr::Unary { op, operand } => self.unary(op, operand, span, hint),
            Expr::Select { condition, yes, no } => {
                self.expr(condition, Hint::None);
                let unless = self.emit(Instr::JumpUnless(0), self.ast.span(condition));
                self.expr(yes, hint);
                let end = self.emit(Instr::Jump(0), span);
                self.patch(unless);
                self.expr(no, hint);
                self.patch(end);
            }
            Expr::Comprehension(comprehension) => self.comprehension(comprehension, span),
            Expr::Loop(id) => self.looping(id, span, hint),
            Expr::Builtin { function, argument } => {
                self.expr(argument, Hint::None);
                self.emit(Instr::Builtin(function), span);
            }
            Expr::Call(call) => self.call(call, hint),
            _ => {}
        }
    }

    pub(super) fn is_tensor(&self, id: ExprId) -> bool {
        self.info.types[id.index()].is_tensor()
    }

    fn unary(&mut self, op: UnaryOp, operand: ExprId, span: Span, hint: Hint) {
        let start = self.here();
        self.expr(operand, Hint::None);
        let at = Span::new(span.start, span.start + 1);
        if self.is_tensor(operand) {
            self.operator(op.info().tensor, 1, at, hint);
            return;
        }
        match self.pushed_constants(start) {
            Some([value]) if let Ok(folded) = arithmetic::unary(op, value) => self.replace(start, folded, at),
            _ => {
                self.emit(Instr::Unary(op), at);
            }
        }
    }

    fn binary(&mut self, op: BinaryOp, lhs: ExprId, rhs: ExprId, at: Span, hint: Hint) {
        let info = op.info();
        if let Some(name) = info.tensor
            && (self.is_tensor(lhs) || self.is_tensor(rhs))
        {
            // A literal array beside a tensor becomes one.
            self.as_tensor(lhs);
            self.expr(rhs, Hint::None);
            self.as_tensor(rhs);
            self.operator(name, 2, at, hint);
            return;
        }
        if info.class == Class::Logic {
            let jump = if op == BinaryOp::And { Instr::AndJump(0) } else { Instr::OrJump(0) };
            let jump = self.emit(jump, at);
            self.expr(rhs, Hint::None);
            self.patch(jump);
            return;
        }
        self.expr(rhs, Hint::None);
        self.emit(Instr::Binary(op), at);
    }

    /// The constants pushed since `start`, if nothing else was.
    fn pushed_constants<const N: usize>(&self, start: u32) -> Option<[&Value; N]> {
        let pushed = self.program.instrs.get(start as usize..)?;
        let values: Vec<&Value> = pushed
            .iter()
            .map_while(|instr| match instr {
                Instr::Const(i) => self.program.constants.get(*i as usize),
                _ => None,
            })
            .collect();
        (pushed.len() == N).then(|| values.try_into().ok())?
    }

    fn replace(&mut self, start: u32, value: Value, span: Span) {
        self.program.instrs.truncate(start as usize);
        self.program.spans.truncate(start as usize);
        self.constant(value, span);
    }

    /// Turns an array of numbers just pushed into a constant tensor.
    pub(super) fn as_tensor(&mut self, id: ExprId) {
        if matches!(self.info.types[id.index()], Type::Array(_) | Type::EmptyArray) {
            self.emit(Instr::AsTensor, self.ast.span(id));
        }
    }

    /// The operation of an operator on tensors.
    fn operator(&mut self, name: &str, operands: u32, span: Span, hint: Hint) {
        let Some(fragment) = self.checked.standard(name) else { return };
        let keys: SmallVec<[Key; 2]> = (0..operands).map(Key::Param).collect();
        let site = Site::new(Some(fragment), self.checked.fragment(fragment).name, span, hint);
        self.emit_site(site, &keys);
    }

    fn comprehension(&mut self, id: ComprehensionId, span: Span) {
        let comprehension = self.ast.comprehensions[id.index()];
        let iterators = &self.ast.iterators[comprehension.iterators.range()];
        iterators.iter().for_each(|iterator| self.expr(iterator.iterable, Hint::None));
        let count = iterators.len() as u32;
        let at = iterators.first().map_or(span, |iterator| self.ast.span(iterator.iterable));
        self.emit(Instr::IterBegin(count), at);
        let slot = self.checked_iterator_slot(id);
        let index = self.program.loops.len() as u32;
        self.program.loops.push(Loop { slot, exit: 0, arithmetic: false });
        let next = self.emit(Instr::IterNext(index), span) as u32;
        self.barrier();
        let skip = comprehension.filter.map(|filter| {
            self.expr(filter, Hint::None);
            self.emit(Instr::JumpUnless(next), self.ast.span(filter))
        });
        debug_assert!(skip.is_none_or(|skip| skip as u32 > next));
        self.expr(comprehension.item, Hint::None);
        self.emit(Instr::Yield, span);
        self.emit(Instr::Jump(next), span);
        let turn = &self.program.instrs[next as usize + 1..self.here() as usize - 2];
        let arithmetic = turn.iter().all(|instr| is_arithmetic(*instr));
        let exit = self.here();
        self.program.loops[index as usize] = Loop { slot, exit, arithmetic };
        self.emit(Instr::IterEnd, span);
    }

    fn checked_iterator_slot(&self, id: ComprehensionId) -> u32 {
        self.info.iterator_slots[id.index()]
    }

    fn call(&mut self, id: CallId, hint: Hint) {
        let call = *self.ast.call(id);
        let Some(info) = self.info.calls[id.index()] else { return };
        let (generic, explicit) = (info.generic, call.generic.is_some());
        let site = Site { generic, explicit, ..Site::new(info.fragment, call.name.name, call.name.span, hint) };
        match info.fragment {
            None => self.undeclared_call(&call, site),
            Some(fragment) if self.lowering.expands(self.checked, fragment, matches!(hint, Hint::Items { .. })) => {
                self.inlined_call(info.bound, fragment, site);
            }
            Some(fragment) => self.kept_call(info.bound, fragment, site),
        }
    }

    fn undeclared_call(&mut self, call: &Call, site: Site) {
        let args = self.ast.arguments(call);
        let keys: Vec<Key> =
            args.iter().map(|arg| arg.name.map_or(Key::Positional, |ident| Key::Named(ident.name))).collect();
        // The order of evaluation is that of the text.
        args.iter().for_each(|arg| self.expr(arg.value, Hint::None));
        self.operation(site, &keys);
    }

    /// Pushes one argument, turned into what the parameter takes.
    fn argument(&mut self, value: ExprId, formal: Type) {
        self.expr(value, Hint::None);
        if formal.is_tensor() {
            self.as_tensor(value);
            return;
        }
        if converts(self.checked, formal, self.info.types[value.index()]) {
            self.program.types.push(formal);
            self.emit(Instr::Conform(self.program.types.len() as u32 - 1), self.ast.span(value));
        }
    }

    pub(super) fn bound(&self, start: u32, i: usize) -> Option<ExprId> {
        self.info.bound.get(start as usize + i).copied().flatten()
    }

    fn kept_call(&mut self, bound: u32, fragment: FragmentId, site: Site) {
        let info = self.checked.fragment(fragment);
        let mut keys: SmallVec<[Key; 8]> = SmallVec::new();
        for (i, param) in info.params.iter().enumerate() {
            if let Some(value) = self.bound(bound, i) {
                self.argument(value, param.ty);
                keys.push(Key::Param(i as u32));
            }
        }
        self.operation(site, &keys);
    }

    /// An operation that stays, its arguments pushed. Scans may be unrolled after all.
    fn operation(&mut self, site: Site, keys: &[Key]) {
        let loops = self.lowering.unroll || self.lowering.flat;
        if loops && self.checked.text(site.name) == scan::NAME {
            let (span, site) = (site.span, self.site(site, keys));
            self.emit(Instr::Scan(site), span);
            self.emit(Instr::Trip, span);
        } else {
            self.emit_site(site, keys);
        }
    }

    fn inlined_call(&mut self, bound: u32, fragment: FragmentId, site: Site) {
        let info = self.checked.fragment(fragment);
        for (i, param) in info.params.iter().enumerate() {
            match (self.bound(bound, i), param.default) {
                (Some(value), _) => self.argument(value, param.ty),
                (None, Some(default)) => {
                    let value = self.default(info.module, default);
                    self.constant(value, site.span);
                }
                (None, None) => self.constant(Value::Array(List::from_values(Vec::new(), None)), site.span),
            }
        }
        let span = site.span;
        let site = self.site(site, &[]);
        let taken = self.take_operands(site, info.params.len());
        self.emit(if taken { Instr::CallWith(site) } else { Instr::Call(site) }, span);
    }

    /// The value of a default, a literal of the module that declares it.
    pub(super) fn default(&self, module: ModuleId, id: ExprId) -> Value {
        super::literal(self.checked, module, id)
    }
}
