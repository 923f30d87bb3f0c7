//! Statements of the graph that are like earlier ones: compiled to one instruction, and run
//! without a stack.

use super::arithmetic::Outcome;
use super::code::{Instr, Operand, RoutineCall};
use super::compile::Compiler;
use super::emission::element;
use super::machine::{Machine, Slot};
use super::simple_literal;
use super::value::Value;
use crate::graph::{Key, OriginId, Output, SignatureId};
use crate::nnef::ast::{Assignment, Ast, Expr, Primitive};
use crate::nnef::check::Ref;
use crate::nnef::check::routine::{Application, FormOperand, RoutineId};
use crate::nnef::statements::{Like, Word};
use crate::source::Location;

/// What the graph has of a kind of statements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    signature: SignatureId,
    /// The elements of the result.
    element: Option<Primitive>,
}

impl Compiler<'_, '_> {
    /// Compiles a statement that is like an earlier one.
    pub(super) fn routine(&mut self, assignment: &Assignment, routine: RoutineId) {
        let target = self.ast.expr(assignment.target);
        let referent = self.info.refs.get(assignment.target);
        let (Expr::Name(name), Ref::Slot(slot)) = (target, referent) else { return };
        let Some(application) = Application::of(self.ast, assignment.value) else { return };
        let first = self.program.operands.len() as u32;
        let checked = self.checked;
        for (_, place) in &checked.routines.get(routine).order {
            let (_, id) = application.operands[*place as usize];
            let operand = match (self.literal(self.ast.expr(id)), self.info.refs.get(id)) {
                (Some(value), _) => {
                    self.program.constants.push(value);
                    Operand::Const(self.program.constants.len() as u32 - 1)
                }
                (None, Ref::Slot(slot)) => Operand::Slot(slot),
                // The checks found a slot for every name.
                (None, _) => continue,
            };
            self.program.operands.push(operand);
        }
        let (id, span) = (self.new_graph_name(name, slot), application.span);
        self.program.routines.push(RoutineCall { routine, operands: first, slot, id, span });
        self.emit(Instr::Routine(self.program.routines.len() as u32 - 1), span);
    }
}

impl Compiler<'_, '_> {
    /// Compiles a statement of a form about which all is known, with the slots of its names.
    pub(super) fn like(&mut self, like: &Like, words: &[Word], slots: &mut impl Iterator<Item = u32>) {
        let checked = self.checked;
        // The checks found a slot for the target and for every operand.
        let (Some(form), Some(slot)) = (checked.routines.form(like.form), slots.next()) else { return };
        let first = self.program.operands.len() as u32;
        for operand in &form.operands {
            let operand = match operand {
                FormOperand::Name(..) => Operand::Slot(slots.next().unwrap_or(slot)),
                FormOperand::Label(hole) => self.constant_operand(Expr::String(words[*hole as usize].name), &form.tree),
                FormOperand::Literal(id) => self.constant_operand(form.tree.expr(*id), &form.tree),
            };
            self.program.operands.push(operand);
        }
        let (id, span) = (self.new_graph_name(words[0].name, slot), form.span(like, words));
        self.program.routines.push(RoutineCall { routine: form.routine, operands: first, slot, id, span });
        self.emit(Instr::Routine(self.program.routines.len() as u32 - 1), span);
    }

    /// A literal as an operand.
    fn constant_operand(&mut self, literal: Expr, tree: &Ast) -> Operand {
        self.program.constants.extend(simple_literal(self.checked, tree, literal));
        Operand::Const(self.program.constants.len() as u32 - 1)
    }
}

impl Machine<'_, '_> {
    /// Adds the operation of a statement that is like an earlier one.
    pub(super) fn routine(&mut self, index: u32) -> Outcome<()> {
        self.check_operations()?;
        let call = self.program.routines[index as usize];
        let checked = self.checked;
        let routine = checked.routines.get(call.routine);
        self.push_operands(call.operands, routine.order.len() as u32)?;
        let known = self.known(call.routine);
        let tensor = self.graph.add_tensor(call.id, known.element);
        self.graph.push_output(Output::Tensor(&tensor));
        self.slots[call.slot as usize] = Slot::Ready(Value::Tensor(tensor));
        let source = (Location::new(self.frame().file, call.span), OriginId::NONE);
        let operation = self.graph.finish_operation(known.signature, routine.generic, source);
        self.infer_shapes(operation);
        Ok(())
    }

    fn known(&mut self, id: RoutineId) -> Known {
        if let Some(Some(known)) = self.routines.get(id.index()) {
            return *known;
        }
        let checked = self.checked;
        let routine = checked.routines.get(id);
        let kind = self.declared_kind(routine.fragment);
        let keys: Vec<Key> = routine.order.iter().map(|(param, _)| Key::Param(*param)).collect();
        let signature = self.graph.signature(kind, &keys, 1);
        let result = checked.fragment(routine.fragment).results[0];
        let known = Known { signature, element: element(result.ty, routine.generic.0) };
        if self.routines.len() <= id.index() {
            self.routines.resize(id.index() + 1, None);
        }
        self.routines[id.index()] = Some(known);
        known
    }
}
