//! The code of a single call whose arguments are values, not expressions of a text.

use super::Compiler;
use crate::core::program::{Binding, Conversion, Hint, Instr, Site};
use crate::core::unit::UnitId;
use crate::core::value::Value;
use crate::graph::Primitive;
use crate::graph::names::NameId;
use crate::source::Span;
use crate::source::names::Name;

/// A call of a fragment with values.
pub(crate) struct EntryCall {
    /// The fragment.
    pub(crate) unit: UnitId,
    /// The type argument.
    pub(crate) generic: Option<Primitive>,
    /// An argument for each parameter.
    pub(crate) arguments: Vec<Value>,
    /// The names of the tensors of the results.
    pub(crate) names: Vec<Name>,
    /// For each result, the number of its tensors if it is an array.
    pub(crate) results: Vec<Option<usize>>,
}

/// The tensors of a result: the bindings of their names.
#[derive(Clone, Copy)]
struct BoundResult {
    first: u32,
    /// Their number, if they are an array.
    array: Option<u32>,
}

impl Compiler<'_, '_> {
    /// Compiles a call as the only statement of a graph, and returns its first instruction. The tensors of its results
    /// get the slots from 0 on.
    pub(crate) fn entry(mut self, call: EntryCall) -> u32 {
        let (entry, span) = (self.here(), Span::default());
        let results = self.bind_results(&call);
        let first = call.names.first().map_or(NameId::ROOT, |name| self.names.user(*name));
        self.emit(Instr::Statement(first), span);
        let info = self.checked.fragment(call.unit);
        for (value, param) in call.arguments.into_iter().zip(&info.params) {
            let is_array = matches!(value, Value::Array(_));
            self.constant(value, span);
            if param.ty.is_tensor() {
                if is_array {
                    self.emit(Instr::AsTensor, span);
                }
                continue;
            }
            match self.conversion(param.ty) {
                Conversion::Same => {}
                conversion => {
                    let index = self.conversions(conversion);
                    self.emit(Instr::Conform(index), span);
                }
            }
        }
        let hints: Vec<Hint> = results.iter().map(|result| self.hint_of(*result)).collect();
        let hint = match hints[..] {
            [hint] => hint,
            _ => self.items(hints, true),
        };
        let explicit = call.generic.is_some();
        let site = Site { generic: call.generic, explicit, ..Site::new(Some(call.unit), info.name, span, hint) };
        let site = self.site(site, &[]);
        self.emit(Instr::Call(site), span);
        if results.len() > 1 {
            self.emit(Instr::Unpack(results.len() as u32), span);
        }
        for BoundResult { first, array } in results {
            if let Some(count) = array {
                self.emit(Instr::Unpack(count), span);
            }
            for binding in first..first + array.unwrap_or(1) {
                self.emit(Instr::Bind(binding), span);
            }
        }
        self.emit(Instr::Return, span);
        entry
    }

    /// Adds a binding for each tensor of the results.
    fn bind_results(&mut self, call: &EntryCall) -> Vec<BoundResult> {
        let before = self.program.bindings.len() as u32;
        for (slot, name) in (0..).zip(&call.names) {
            let id = self.names.user(*name);
            self.program.bindings.push(Binding { slot, id, name: *name });
        }
        let mut first = before;
        let bound = |array: &Option<usize>| {
            let array = array.map(|count| count as u32);
            let bound = BoundResult { first, array };
            first += array.unwrap_or(1);
            bound
        };
        call.results.iter().map(bound).collect()
    }

    fn hint_of(&mut self, BoundResult { first, array }: BoundResult) -> Hint {
        match array {
            None => Hint::Bound(first),
            Some(count) => self.items((first..first + count).map(Hint::Bound).collect(), false),
        }
    }

    fn items(&mut self, hints: Vec<Hint>, tuple: bool) -> Hint {
        let (start, len) = (self.program.hints.len() as u32, hints.len() as u32);
        self.program.hints.extend(hints);
        Hint::Items { start, len, tuple }
    }
}
