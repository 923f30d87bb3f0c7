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
use crate::nnef::check::{CallInfo, Checked, ResultInfo};
use crate::nnef::document::ModuleId;
use crate::nnef::types::{Fit, Type, TypePart};

/// Whether an argument must be converted for a parameter that is not a tensor; `known` if tensors become their items.
fn converts(checked: &Checked, formal: Type, actual: Type, known: bool) -> bool {
    if formal == actual {
        return false;
    }
    let fit = checked.types.fit(formal, actual, &mut None);
    fit == Fit::Structure
        || known && fit == Fit::TensorAsAttribute
        || (formal == Type::SCALAR && actual == Type::INTEGER)
}

impl Compiler<'_, '_> {
    /// Compiles a call, of which `done` parameters are compiled, up to the next argument that is not a
    /// leaf, in the order of the parameters. Returns `None` when the call is complete.
    pub(super) fn next_argument(&mut self, call: CallId, open: &mut Open, done: u32) -> Option<Below> {
        let info = self.info.call(open.id)?;
        let call = self.ast.call(call);
        let Some(fragment) = info.fragment else { return self.next_undeclared(&call, info, open, done) };
        let declared = self.checked.fragment(fragment);
        let done = done as usize;
        let by_static_type = self.by_static_type(declared.module);
        if done == 0 {
            open.inlined = self.lowering.expands(fragment, self.takes_apart(open.hint, &declared.results))
                || self.module == self.checked.document.main_id()
                    && self.lowering.expands_only(self.checked, fragment, call.name.span.start);
        } else if let Some(value) = self.bound(info.bound, done - 1) {
            self.conform(value, declared.params[done - 1].ty, by_static_type && open.inlined);
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
            self.conform(value, param.ty, by_static_type && open.inlined);
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

    /// Compiles a call of an undeclared operation up to its next argument, in source order.
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

    /// Whether a left side has a name for each tensor of the results that are arrays.
    fn takes_apart(&self, hint: Hint, results: &[ResultInfo]) -> bool {
        let is_items = |hint| matches!(hint, Hint::Items { .. });
        let is_array = |(_, result): &(u32, &ResultInfo)| matches!(result.ty, Type::Array(_));
        match results {
            [_] => is_items(hint),
            several => (0..).zip(several).filter(is_array).all(|(i, _)| is_items(self.item_hint(hint, i))),
        }
    }

    /// Whether the static type decides what is an array in the bodies of a module: in documents with registries,
    /// fragments that are not of the standard compute with tensors in the place of arrays.
    pub(super) fn by_static_type(&self, module: ModuleId) -> bool {
        module == ModuleId::STANDARD || !self.checked.document.of_practice()
    }

    /// Converts the argument that was just pushed to the type of its parameter; `known` if tensors become their items.
    fn conform(&mut self, value: ExprId, formal: Type, known: bool) {
        if formal.is_tensor() {
            self.as_tensor(value);
            return;
        }
        let actual = self.info.nodes[value].ty;
        if converts(self.checked, formal, actual, known) {
            let mut conversion = self.conversion(formal);
            if known && self.checked.types.has(actual, TypePart::Tensor) {
                let numbers = self.checked.types.numbers(formal);
                conversion = Conversion::Known(numbers, self.conversions(conversion));
            }
            let index = self.conversions(conversion);
            self.emit(Instr::Conform(index), self.ast.span(value));
        }
    }

    /// The conversion of arguments for a parameter of a type.
    pub(super) fn conversion(&mut self, formal: Type) -> Conversion {
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

    pub(super) fn conversions(&mut self, conversion: Conversion) -> u32 {
        self.program.conversions.push(conversion);
        self.program.conversions.len() as u32 - 1
    }

    pub(super) fn bound(&self, start: u32, i: usize) -> Option<ExprId> {
        self.info.bound.get(start as usize + i).copied().flatten()
    }

    /// Emits an operation that is not expanded, after its arguments. Scans may still be unrolled.
    fn operation(&mut self, site: Site, keys: &[Key]) {
        let loops = self.lowering.unroll || self.lowering.flat;
        if loops && self.checked.text(site.name) == scan::NAME {
            let (span, site) = (site.span, self.site(site, keys));
            self.emit(Instr::Repeat(site), span);
            self.emit(Instr::Step, span);
        } else {
            self.emit_site(site, keys);
        }
    }
}
