//! Operators that become operations of NNEF, or one operation of their own.

use std::cell::Cell;

use rustc_hash::FxHashMap;

use super::{Import, is_complex, primitive, shape_of};
use crate::Lower;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::names::NameId;
use crate::graph::{Shape, TensorId};
use crate::library::build::{Results, declared};
use crate::library::declared::Declared;
use crate::library::identifier::identifier;
use crate::pnnx::arguments::arguments;
use crate::pnnx::item::{ExpandedItem, List};
use crate::pnnx::lower::{self, Line, Lowered, Operand, Refusal};
use crate::pnnx::model::{Operator, OperatorParam, Role, Typed};
use crate::pnnx::standard;
use crate::pnnx::tokens::Literal;
use crate::source::Location;

impl<'a> Import<'a> {
    /// Adds an operation for an operator, or equivalent operations of NNEF.
    pub(super) fn other(&mut self, operator: &'a Operator) {
        if operator.outputs.is_empty() {
            // Operations of NNEF have results.
            return self.passed(operator, &Refusal::Because("it has no results and is omitted".into()));
        }
        let operands: Vec<ExpandedItem> = self.operands(operator).split_off(operator.repeated);
        if operands.contains(&ExpandedItem::Refused) {
            return self.hold(operator, vec![ExpandedItem::Refused; operator.outputs.len()]);
        }
        let names: Vec<NameId> = operator.outputs.iter().map(|output| self.name(output)).collect();
        let mut data = Vec::new();
        for param in operator.params(Role::Data) {
            let text = identifier(&format!("{}_{}", operator.name, param.key));
            let name = self.distinct(text);
            if let Some(tensor) = self.variable(operator, param, name) {
                data.push((param.key.clone(), tensor));
            }
        }
        if let Some(nnef) = operator.kind.strip_prefix(standard::PREFIX).and_then(declared)
            && data.is_empty()
            && self.standard(operator, nnef, &names, &operands)
        {
            return;
        }
        if self.options.lower == Lower::All {
            if let Some(count) = self.number_of_items(operator, &operands) {
                return self.hold(operator, vec![count]);
            }
            let told = operator.shapes();
            let (keys, _) = operator.argument_names();
            let named = keys.iter().zip(&operands).map(|(key, item)| Operand::new(key, item)).collect();
            let lowered = self.lowered(operator, &names, named, &data, &told);
            match lowered {
                Ok(results) => {
                    let items: Vec<ExpandedItem> = results.into_iter().map(ExpandedItem::Tensor).collect();
                    let tuple = if items.len() > operator.outputs.len() { List::new(&items) } else { None };
                    return self.hold(operator, tuple.map_or(items, |tuple| vec![ExpandedItem::List(tuple)]));
                }
                Err(refusal) => self.passed(operator, &refusal),
            }
        } else if self.unknown.meant(&operator.kind, lower::misspelt).is_some() {
            self.passed(operator, &Refusal::Because("it is not a known operator".into()));
        }
        self.pass(operator, names, data, &operands);
    }

    /// The number of items of an operand, if that is what an operator gives and the extents are known.
    fn number_of_items(&self, operator: &Operator, operands: &[ExpandedItem]) -> Option<ExpandedItem> {
        let ("aten::numel" | "torch.numel", [ExpandedItem::Tensor(tensor)]) = (operator.kind.as_str(), operands) else {
            return None;
        };
        let extents = self.builder.graph.shape(*tensor)?.known()?;
        let count = extents.iter().try_fold(1i64, |count, extent| count.checked_mul(*extent))?;
        Some(ExpandedItem::Literal(Literal::Int(count)))
    }

    /// Adds the operation of NNEF that an operator stands for. Returns whether its arguments fit.
    fn standard(
        &mut self,
        operator: &'a Operator,
        nnef: &'static Declared,
        names: &[NameId],
        operands: &[ExpandedItem],
    ) -> bool {
        let given = standard::arguments(nnef, operator, operands);
        let Some((arguments, is_array)) = given else { return false };
        let told = operator.shapes();
        let typed = |output: &String| told.get(output.as_str()).and_then(|param| param.typed());
        let typed: Vec<Option<Typed>> = operator.outputs.iter().map(typed).collect();
        let of = typed.first().and_then(|typed| primitive(&typed.as_ref()?.element));
        let results: Vec<(NameId, Option<Shape>)> = names.iter().map(|name| (*name, None)).collect();
        let results = if is_array { Results::Array(&results) } else { Results::Each(&results) };
        let Ok(tensors) = self.builder.add(nnef.name, of, arguments, results) else { return false };
        for (tensor, typed) in tensors.iter().zip(&typed) {
            if let Some(of) = typed.as_ref().and_then(|typed| primitive(&typed.element)) {
                self.builder.graph.tensors[tensor.index()].dtype = Some(of);
            }
            self.note_element(*tensor, typed.as_ref());
        }
        if let Some(tensor) = tensors.first() {
            // What cannot be inferred is in the file.
            let _ = self.builder.infer(*tensor);
        }
        let items: Vec<ExpandedItem> = tensors.into_iter().map(ExpandedItem::Tensor).collect();
        for (output, item) in operator.outputs.iter().zip(&items) {
            self.check(operator, told.get(output.as_str()).copied(), item);
        }
        self.hold(operator, items);
        true
    }

    /// Adds an operation for an operator that NNEF does not have.
    pub(super) fn pass(
        &mut self,
        operator: &'a Operator,
        names: Vec<NameId>,
        data: Vec<(String, TensorId)>,
        operands: &[ExpandedItem],
    ) {
        let (keys, _) = operator.argument_names();
        let told = operator.shapes();
        let arguments = arguments(operator, &keys, operands, &data);
        let kind = operator.kind.strip_prefix(standard::PREFIX).unwrap_or(&operator.kind);
        let typed = |output: &String| told.get(output.as_str()).and_then(|param| param.typed());
        let typed: Vec<Option<Typed>> = operator.outputs.iter().map(typed).collect();
        let pairs = self.pairs();
        let shape = |typed: &Typed| match pairs && is_complex(&typed.element) {
            true => shape_of(&typed.parts()),
            false => shape_of(typed),
        };
        let shapes = typed.iter().map(|typed| typed.as_ref().map(shape));
        let results: Vec<(NameId, Option<Shape>)> = names.into_iter().zip(shapes).collect();
        let tensors = self.builder.pass(&identifier(kind), arguments, Results::Each(&results));
        for (tensor, typed) in tensors.iter().zip(&typed) {
            let of = typed.as_ref().and_then(|typed| primitive(&typed.element));
            self.builder.graph.tensors[tensor.index()].dtype = of;
            self.note_element(*tensor, typed.as_ref());
            if typed.as_ref().is_some_and(|typed| is_complex(&typed.element)) {
                self.complex.insert(*tensor);
            }
        }
        self.hold(operator, tensors.into_iter().map(ExpandedItem::Tensor).collect());
    }

    /// Reports that an operator is not lowered.
    pub(super) fn passed(&mut self, operator: &'a Operator, refusal: &Refusal) {
        let at = Location::new(self.file, operator.span);
        let message = format!("`{}` is passed through: {refusal}", operator.kind);
        let mut diagnostic = Diagnostic::new(Code::PnnxPassed, at, message);
        if let Refusal::Setting { key, .. } = refusal
            && let Some(param) = operator.param(Role::Value, key)
        {
            diagnostic = diagnostic.see(Location::new(self.file, param.span), "the setting");
        }
        let shaped = |name: &String| match self.held.get(name.as_str()) {
            Some(ExpandedItem::Tensor(tensor)) => self.builder.graph.shape(*tensor).is_some(),
            _ => true,
        };
        if self.options.lower != Lower::All && !operator.inputs.iter().all(shaped) {
            diagnostic = diagnostic.help("`--lower all` finds the shapes of operands that the file does not have");
        }
        let meant = self.unknown.meant(&operator.kind, lower::misspelt).map(|meant| format!("did you mean `{meant}`?"));
        self.found.report(diagnostic.help_if(meant));
    }

    /// Lowers an operator to operations of NNEF and returns their results. If that is not possible, no operations are
    /// added.
    fn lowered(
        &mut self,
        operator: &Operator,
        names: &[NameId],
        operands: Vec<Operand>,
        data: &[(String, TensorId)],
        told: &FxHashMap<&str, &OperatorParam>,
    ) -> Lowered<Vec<TensorId>> {
        let before = self.builder.graph.tensors.len();
        let results = self.attempt(operator, names, operands, data, |line| {
            let results = lower::lower(line)?;
            let complex = |(output, tensor): (&String, &TensorId)| {
                let typed = told.get(output.as_str()).and_then(|param| param.typed());
                typed.is_none_or(|typed| is_complex(&typed.element) == line.complex.contains(tensor))
            };
            match operator.outputs.iter().zip(&results).all(complex) {
                true => Ok(results),
                false => Err(Refusal::Because("it computes with complex numbers, which NNEF does not have".into())),
            }
        })?;
        for ((output, name), tensor) in operator.outputs.iter().zip(names).zip(&results) {
            // The result of some operators is an operand.
            if tensor.index() >= before {
                self.builder.graph.tensors[tensor.index()].name = *name;
            }
            self.check(operator, told.get(output.as_str()).copied(), &ExpandedItem::Tensor(*tensor));
        }
        Ok(results)
    }

    /// Adds the operations of a rule. If it refuses the operator, none are added.
    pub(super) fn attempt<T>(
        &mut self,
        operator: &Operator,
        names: &[NameId],
        operands: Vec<Operand>,
        data: &[(String, TensorId)],
        rule: impl FnOnce(&mut Line) -> Lowered<T>,
    ) -> Lowered<T> {
        let mark = self.builder.graph.mark();
        let before = self.builder.graph.tensors.len();
        let mut found = Diagnostics::of(self.options.policy());
        let last = operator.outputs.iter().rposition(|output| self.read.contains(output.as_str()));
        let mut line = Line {
            needed: last.map_or(1, |last| last + 1),
            builder: &mut self.builder,
            operator,
            kind: operator.kind.clone(),
            operands,
            params: operator.params(Role::Value).map(|param| (param, Cell::new(false))).collect(),
            data,
            name: names.first().copied().unwrap_or(NameId::ROOT),
            file: self.file,
            options: self.options,
            found: &mut found,
            counts: FxHashMap::default(),
            complex: &mut self.complex,
        };
        match rule(&mut line) {
            Ok(made) => {
                self.found.extend(found);
                Ok(made)
            }
            Err(refusal) => {
                // The findings of the attempt are dropped with its operations.
                self.builder.graph.rewind(mark);
                self.complex.retain(|tensor| tensor.index() < before);
                Err(refusal)
            }
        }
    }
}
