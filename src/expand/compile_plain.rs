//! Compiles statements of fragments as most are: an operation that stays, applied to tensors that
//! have names, and a name for its result. Each is one instruction.

use std::num::NonZeroU32;

use smallvec::SmallVec;

use super::code::{Instr, Operand, Site};
use super::compile::Compiler;
use crate::graph::{Key, scan};
use crate::nnef::ast::{Assignment, Expr, ExprId};
use crate::nnef::check::Ref;
use crate::room;

impl Compiler<'_, '_> {
    /// Compiles such a statement. Says whether it was one; else nothing came of it.
    pub(super) fn plain_statement(&mut self, assignment: &Assignment) -> bool {
        let (Expr::Name(_), Expr::Call(id)) = (self.ast.expr(assignment.target), self.ast.expr(assignment.value))
        else {
            return false;
        };
        let (Some(call), Ref::Slot(slot)) = (self.info.calls[id.index()], self.info.refs.get(assignment.target)) else {
            return false;
        };
        let stays = |id: &_| !self.lowering.expands(self.checked, *id, false);
        let Some(fragment) = call.fragment.filter(stays) else { return false };
        let (info, of) = (self.checked.fragment(fragment), self.ast.call(id));
        let (generic, explicit) = (call.generic, of.generic.is_some());
        let hint = self.hint(assignment.target);
        let site = Site { generic, explicit, ..Site::new(call.fragment, of.name.name, of.name.span, hint) };
        let may_unroll = self.lowering.unroll || self.lowering.flat;
        if !self.gives_one_tensor(&site) || (may_unroll && self.checked.text(site.name) == scan::NAME) {
            return false;
        }
        let first = self.program.operands.len();
        for (i, param) in info.params.iter().enumerate() {
            let operand = self.bound(call.bound, i).filter(|_| param.ty.is_tensor());
            match operand.and_then(|value| self.local_tensor(value)) {
                Some(slot) => room::push(&mut self.program.operands, Operand::Slot(slot)),
                None => {
                    self.program.operands.truncate(first);
                    return false;
                }
            }
        }
        let keys: SmallVec<[Key; 4]> = (0..info.params.len() as u32).map(Key::Param).collect();
        let index = self.site(site, &keys);
        let added = &mut self.program.sites[index as usize];
        (added.operands, added.slot) = (first as u32, NonZeroU32::new(slot + 1));
        self.emit(Instr::Apply(index), site.span);
        true
    }

    /// The slot of a name that stands for a tensor, and has its value when it is asked for.
    fn local_tensor(&self, value: ExprId) -> Option<u32> {
        match (self.ast.expr(value), self.info.refs.get(value)) {
            (Expr::Name(_), Ref::Slot(slot)) => Some(slot).filter(|_| self.is_tensor(value) && !self.is_lazy(slot)),
            _ => None,
        }
    }
}
