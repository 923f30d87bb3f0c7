//! Inference of operators that are nothing but their bodies, in the body of the call.

use std::borrow::Cow;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::contradictions::Contradictions;
use super::engine::{InferFrame, Inference, ResultTypes};
use super::facts::ValueType;
use super::graphs::KnownResults;
use super::infer_call::Known;
use super::merge::unified;
use super::scope::TypeScope;
use super::seen::SeenCalls;
use super::tables::InnerTable;
use crate::graph::names::NameId;
use crate::onnx::functions::{Functions, Imports};
use crate::onnx::model::{AttributeProto, FunctionProto, ModelProto, NodeProto};
use crate::onnx::standard::{OperandTypes, apart, called};

impl OperandTypes for TypeScope<'_> {
    fn of_value(&self, value: NameId) -> Option<&ValueType> {
        Some(&self.get(value)?.ty)
    }
}

impl<'m> Inference<'m> {
    /// The results of a node from its body; those that the schema tells, if the body is not known.
    pub(super) fn in_own_body(&mut self, node: &'m NodeProto, version: i64, told: ResultTypes) -> ResultTypes {
        if !self.budget.has_visits(self.model) || !self.budget.has_depth() {
            return told;
        }
        let names = &self.model.names;
        let base = self.frame.imports.version(names, None);
        let plain = self.without_references(node);
        let Some(model) = apart(names, &plain, &self.scope, version, base) else { return told };
        let Some(body) = model.functions.first() else { return told };
        let operand = |input: &NameId| if *input == NameId::ROOT { None } else { self.scope.get(*input).cloned() };
        let operands = plain.inputs.iter().map(operand).collect();
        let found = self.results_apart(&model, body, operands, node);
        let mut found = found.into_iter();
        told.into_iter().map(|told| unified(found.next().unwrap_or_default(), told)).collect()
    }

    /// The types of the results of a body of another model.
    fn results_apart(
        &mut self,
        model: &ModelProto,
        body: &FunctionProto,
        operands: Vec<Option<Known>>,
        node: &NodeProto,
    ) -> Vec<ValueType> {
        let imports = Rc::new(Imports::new(&model.names, &model.opsets));
        let mut inner = Inference {
            model,
            functions: Functions::default(),
            operators: FxHashMap::default(),
            scope: TypeScope::default(),
            frame: InferFrame { imports, ..InferFrame::default() },
            imports: Vec::new(),
            symbols: self.symbols.lend(),
            budget: std::mem::take(&mut self.budget),
            seen: SeenCalls::default(),
            contradictions: Contradictions::default(),
            wanted: self.wanted,
            bodies: None,
            mistaken: FxHashSet::default(),
        };
        inner.budget.depth -= 1;
        for (formal, operand) in body.inputs.iter().zip(operands) {
            operand.into_iter().for_each(|operand| inner.scope.define(*formal, operand));
        }
        inner.nodes(&body.nodes, &KnownResults::default(), &mut InnerTable::default());
        inner.budget.depth += 1;
        let results = body.outputs.iter().map(|output| inner.scope.type_of(*output)).collect();
        let Inference { symbols, budget, contradictions, .. } = inner;
        self.symbols.take_back(symbols.numbers());
        self.budget = budget;
        let operator = self.model.names.operator(node).1;
        for found in contradictions.finish().into_iter().take(1) {
            self.contradictions.add(found.code, node.at, format!("`{operator}`: in its body, {}", found.message));
        }
        results
    }

    /// The node as it is in the call of the function around it.
    fn without_references(&self, node: &'m NodeProto) -> Cow<'m, NodeProto> {
        let given = |attribute: &AttributeProto| {
            let given = self.frame.bindings.get(&attribute.reference?)?;
            Some(AttributeProto::clone(given))
        };
        called(node, |_, input| self.frame.absent.contains(&input), given)
    }
}
