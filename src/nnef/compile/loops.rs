//! Compiles loops.

use super::Compiler;
use crate::core::program::{self, Hint, Instr};
use crate::nnef::ast::{Call, ExprId, Loop, LoopId, TypeSpec};
use crate::nnef::check::{Ref, iterated};
use crate::nnef::types::Type;
use crate::source::Span;
use smallvec::SmallVec;

impl Compiler<'_, '_> {
    /// Compiles a loop: initial values, arrays and the count are evaluated once, then conditions and the
    /// body in each trip.
    pub(super) fn looping(&mut self, id: ExprId, of: LoopId, hint: Hint) {
        let ast = self.ast;
        let (of, span, slot) = (ast.loops[of.index()], ast.span(id), self.first_slot(id));
        for recurrence in &ast.recurrences[of.recurrences.range()] {
            self.expr(recurrence.initial, Hint::None);
            // A literal array becomes a tensor only if the recurrence is declared as one.
            if recurrence.ty.is_some_and(|ty| matches!(ast.type_spec(ty), TypeSpec::Tensor(_))) {
                self.as_tensor(recurrence.initial);
            }
        }
        let mut reversed = SmallVec::new();
        for iterator in &ast.iterators[of.iterators.range()] {
            let (checked, module) = (self.checked, self.module);
            let declared = |call: &Call| checked.find(module, call.name.name).is_some();
            let (iterable, reverse) = iterated(ast, checked.document.names(), declared, iterator.iterable);
            self.expr(iterable, Hint::None);
            reversed.push(reverse);
        }
        of.count.into_iter().for_each(|count| self.expr(count, Hint::None));
        let index = self.program.loops.len() as u32;
        self.program.loops.push(program::CompiledLoop {
            comprehension: false,
            slot,
            recurrences: of.recurrences.len,
            reversed,
            index: of.index.is_some(),
            counted: of.count.is_some(),
            results: self.loop_results(&of),
            unroll: of.unroll,
            exit: 0,
            hint,
        });
        self.emit(Instr::LoopBegin(index), span);
        let next = self.emit(Instr::LoopNext(index), span) as u32;
        self.loops += 1;
        self.loop_condition(of.before, index);
        self.loop_body(&of, span);
        self.emit(Instr::LoopTurn(index), span);
        self.loop_condition(of.after, index);
        self.loops -= 1;
        self.emit(Instr::Jump(next), span);
        self.program.loops[index as usize].exit = self.here();
        self.emit(Instr::LoopEnd, span);
    }

    /// The slot of the first variable of a comprehension or loop.
    pub(super) fn first_slot(&self, id: ExprId) -> u32 {
        if let Ref::Slot(slot) = self.info.nodes[id].referent { slot } else { 0 }
    }

    /// The number of results of a trip: a single call may have several.
    fn loop_results(&self, of: &Loop) -> u32 {
        match self.ast.items(of.results) {
            [single] => match self.info.nodes[*single].ty {
                Type::Tuple(tuple) => self.checked.types.items(tuple).len() as u32,
                _ => 1,
            },
            several => several.len() as u32,
        }
    }

    fn loop_condition(&mut self, condition: Option<ExprId>, index: u32) {
        if let Some(condition) = condition {
            self.expr(condition, Hint::None);
            self.emit(Instr::LoopWhile(index), self.ast.span(condition));
        }
    }

    /// Compiles the statements in order; the results of the trip are left on the stack as a tuple.
    fn loop_body(&mut self, of: &Loop, span: Span) {
        let ast = self.ast;
        for (target, value) in ast.loop_statements(of) {
            let hint = self.hint(target);
            self.expr(value, hint);
            self.store(target, ast.span(value));
        }
        let results = ast.items(of.results);
        let recurrences = &ast.recurrences[of.recurrences.range()];
        for (i, &result) in results.iter().enumerate() {
            self.expr(result, Hint::None);
            let declared = recurrences.get(i).and_then(|recurrence| recurrence.ty);
            if declared.is_some_and(|ty| matches!(ast.type_spec(ty), TypeSpec::Tensor(_))) {
                self.as_tensor(result);
            }
        }
        let tuple = matches!(results, [single] if matches!(self.info.nodes[*single].ty, Type::Tuple(_)));
        if !tuple {
            self.emit(Instr::Collect { count: results.len() as u32, tuple: true }, span);
        }
    }
}
