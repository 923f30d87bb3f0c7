//! Compiles calls.

use smallvec::SmallVec;

use super::Compiler;
use super::constants::literal;
use super::expressions::{Below, Open};
use crate::core::list::List;
use crate::core::program::{Conversion, Hint, Instr, Site};
use crate::core::value::Value;
use crate::graph::{Key, scan};
use crate::nnef::ast::{Call, CallId, ExprId};
use crate::nnef::check::{CallInfo, Checked};
use crate::nnef::types::{Fit, Type};

/// Whether a value is turned into something else when it is given for a parameter that is no tensor.
fn converts(checked: &Checked, formal: Type, actual: Type) -> bool {
    if formal == actual {
        return false;
    }
    let fit = checked.types.fit(formal, actual, &mut None);
    fit == Fit::Structure || (formal == Type::SCALAR && actual == Type::INTEGER)
}

impl Compiler<'_, '_> {
    /// The next argument of a call that is no leaf, in the order of the parameters; none where all
    /// of the call is compiled. `done` parameters are.
    pub(super) fn next_argument(&mut self, call: CallId, open: &mut Open, done: u32) -> Option<Below> {
        let info = self.info.call(open.id)?;
        let call = self.ast.call(call);
        let Some(fragment) = info.fragment else { return self.next_undeclared(&call, info, open, done) };
        let declared = self.checked.fragment(fragment);
        let done = done as usize;
        if done == 0 {
            let taken_apart = matches!(open.hint, Hint::Items { .. });
            open.inlined = self.lowering.expands(fragment, taken_apart);
        } else if let Some(value) = self.bound(info.bound, done - 1) {
            self.conform(value, declared.params[done - 1].ty);
        }
        for (i, param) in declared.params.iter().enumerate().skip(done) {
            let Some(value) = self.bound(info.bound, i) else {
                if open.inlined {
                    let absent = || Value::Array(List::from_values(Vec::new(), None));
                    let value =
                        param.default.map_or_else(absent, |default| literal(self.checked, declared.module, default));
                    self.constant(value, call.name.span);
                }
                continue;
            };
            if let Some(below) = self.unless_leaf(value, Hint::None) {
                open.begun = i as u32 + 1;
                return Some(below);
            }
            self.conform(value, param.ty);
        }
        let site = self.call_site(&call, info, open.hint);
        if open.inlined {
            let (span, site) = (site.span, self.site(site, &[]));
            self.take_operands(site, declared.params.len());
            self.emit(Instr::Call(site), span);
        } else {
            let params = 0..declared.params.len();
            let keys: SmallVec<[Key; 8]> =
                params.filter(|&i| self.bound(info.bound, i).is_some()).map(|i| Key::Param(i as u32)).collect();
            self.operation(site, &keys);
        }
        None
    }

    /// The next argument of a call of something that nobody declares. The order is that of the text.
    fn next_undeclared(&mut self, call: &Call, info: CallInfo, open: &Open, done: u32) -> Option<Below> {
        let args = self.ast.arguments(call);
        if let Some(arg) = args.get(done as usize) {
            return Some((arg.value, Hint::None));
        }
        let keys: Vec<Key> =
            args.iter().map(|arg| arg.name.map_or(Key::Positional, |ident| Key::Named(ident.name))).collect();
        let site = self.call_site(call, info, open.hint);
        self.operation(site, &keys);
        None
    }

    fn call_site(&self, call: &Call, info: CallInfo, hint: Hint) -> Site {
        let (generic, explicit) = (info.generic, call.generic.is_some());
        Site { generic, explicit, ..Site::new(info.fragment, call.name.name, call.name.span, hint) }
    }

    /// Turns an argument that was just pushed into what the parameter takes.
    fn conform(&mut self, value: ExprId, formal: Type) {
        if formal.is_tensor() {
            self.as_tensor(value);
            return;
        }
        if converts(self.checked, formal, self.info.nodes[value].ty) {
            let conversion = self.conversion(formal);
            let index = self.conversions(conversion);
            self.emit(Instr::Conform(index), self.ast.span(value));
        }
    }

    /// What a parameter of a type makes of values.
    fn conversion(&mut self, formal: Type) -> Conversion {
        match formal {
            Type::SCALAR => Conversion::Scalar,
            Type::Array(array) => match self.checked.types.item(array) {
                item @ (Type::Array(_) | Type::Tuple(_)) => {
                    let of_items = self.conversion(item);
                    Conversion::Array(Some(self.conversions(of_items)))
                }
                _ => Conversion::Array(None),
            },
            Type::Tuple(tuple) => Conversion::Tuple(self.checked.types.items(tuple).len() as u32),
            _ => Conversion::Same,
        }
    }

    fn conversions(&mut self, conversion: Conversion) -> u32 {
        self.program.conversions.push(conversion);
        self.program.conversions.len() as u32 - 1
    }

    pub(super) fn bound(&self, start: u32, i: usize) -> Option<ExprId> {
        self.info.bound.get(start as usize + i).copied().flatten()
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
}
