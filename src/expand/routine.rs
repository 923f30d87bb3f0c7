//! Statements of the graph that are like earlier ones: compiled to one instruction, and run
//! without a stack.

use super::arithmetic::Outcome;
use super::code::{Instr, Operand, RoutineCall};
use super::compile::Compiler;
use super::constant;
use super::emission::element;
use super::list::List;
use super::machine::{Machine, Slot};
use super::value::Value;
use crate::graph::Primitive;
use crate::graph::{Common, Key, OriginId, SignatureId};
use crate::nnef::ast::{Assignment, Expr, ExprId};
use crate::nnef::check::Ref;
use crate::nnef::check::forms::{FormOperand, FormRoutine, Known};
use crate::nnef::check::routine::{Application, RoutineId};
use crate::nnef::statements::{FormId, Like, Word};
use crate::source::names::Name;
use crate::source::{Location, Span};

/// What the graph has of a kind of statements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prepared {
    signature: SignatureId,
    /// Whether the result may share its shape with the arguments.
    by_item: bool,
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
        self.call_routine(routine, first, (name, slot), application.span);
    }

    /// Compiles a statement of a form about which all is known, with the slots of its names.
    pub(super) fn like(&mut self, like: &Like, words: &[Word], slots: &mut impl Iterator<Item = u32>) {
        match self.checked.forms.get(like.form) {
            Some(Known::Routine(form)) => self.like_routine(form, like, words, slots),
            Some(Known::Compound(compound)) => self.like_compound(compound, like, words, slots),
            // The checks left no nodes out of others.
            None => {}
        }
    }

    fn like_routine(&mut self, form: &FormRoutine, like: &Like, words: &[Word], slots: &mut impl Iterator<Item = u32>) {
        // The checks found a slot for the target and for every operand.
        let Some(slot) = slots.next() else { return };
        let checked = self.checked;
        let first = self.program.operands.len() as u32;
        for operand in &form.operands {
            let operand = match operand {
                FormOperand::Name(..) => Operand::Slot(slots.next().unwrap_or(slot)),
                FormOperand::Label(hole) => {
                    let label = List::from_text(checked.text(words[*hole as usize].name), None);
                    self.program.constants.push(Value::String(label));
                    Operand::Const(self.program.constants.len() as u32 - 1)
                }
                FormOperand::Constant(node) => Operand::Shared(like.form, *node),
            };
            self.program.operands.push(operand);
        }
        let span = form.place.span(like.start, words);
        self.call_routine(form.routine, first, (words[0].name, slot), span);
    }

    /// Adds the operation of a statement whose operands are those from `operands` on.
    fn call_routine(&mut self, routine: RoutineId, operands: u32, (target, slot): (Name, u32), span: Span) {
        let id = self.new_graph_name(target, slot);
        self.program.routines.push(RoutineCall { routine, operands, slot, id, span });
        self.emit(Instr::Routine(self.program.routines.len() as u32 - 1), span);
    }
}

impl Machine<'_, '_> {
    /// Adds the operation of a statement that is like an earlier one.
    pub(super) fn routine(&mut self, index: u32) -> Outcome<()> {
        self.check_operations()?;
        let call = self.program.routines[index as usize];
        let checked = self.checked;
        let routine = checked.routines.get(call.routine);
        let mut common = Common::default();
        self.push_operands(call.operands, routine.order.len() as u32, &mut common)?;
        let known = self.prepared(call.routine);
        let source = (Location::new(self.file, call.span), OriginId::NONE);
        let result = (call.id, known.element);
        let shape = common.shape().filter(|_| known.by_item);
        let tensor = self.add_single((known.signature, shape), routine.generic, source, result);
        self.slots[call.slot as usize] = Slot::Ready(Value::Tensor(tensor));
        Ok(())
    }

    /// Adds a constant that all statements of a form have to the operation that is finished next.
    pub(super) fn push_shared(&mut self, form: FormId, node: ExprId, common: &mut Common) -> Outcome<()> {
        if let Some(kept) = self.shared.get(&(form, node)) {
            self.graph.push_again(*kept, common);
            return Ok(());
        }
        let checked = self.checked;
        let Some(Known::Routine(routine)) = checked.forms.get(form) else { return Ok(()) };
        let value = constant(checked, &routine.tree, node).freeze(&self.space)?;
        let kept = self.graph.push_operand(value, common);
        self.shared.insert((form, node), kept);
        Ok(())
    }

    fn prepared(&mut self, id: RoutineId) -> Prepared {
        if let Some(Some(known)) = self.routines.get(id.index()) {
            return *known;
        }
        let checked = self.checked;
        let routine = checked.routines.get(id);
        let kind = self.declared_kind(routine.fragment);
        let keys: Vec<Key> = routine.order.iter().map(|(param, _)| Key::Param(*param)).collect();
        let signature = self.graph.signature(kind, &keys, 1);
        let result = checked.fragment(routine.fragment).results[0];
        let by_item = self.is_by_item(kind);
        let known = Prepared { signature, by_item, element: element(result.ty, routine.generic.0) };
        if self.routines.len() <= id.index() {
            self.routines.resize(id.index() + 1, None);
        }
        self.routines[id.index()] = Some(known);
        known
    }
}
