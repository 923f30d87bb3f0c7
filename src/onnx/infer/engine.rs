//! The state of inference, and the step for one node.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::bodies::FunctionTypes;
use super::budget::InferBudget;
use super::compare::Mistaken;
use super::contradictions::Contradictions;
use super::facts::ValueType;
use super::graphs::KnownResults;
use super::infer_call::{Bindings, InferCall, Known};
use super::merge::unified;
use super::operator::{ConstantSource, Operator};
use super::rules::arithmetic::by_meaning;
use super::scope::TypeScope;
use super::seen::SeenCalls;
use super::symbols::FreshSymbols;
use super::tables::{GraphTypes, InnerPlace, ModelTypes};
use crate::Options;
use crate::diagnostics::Code;
use crate::graph::names::NameId;
use crate::onnx::functions::{Functions, Imports};
use crate::onnx::model::{ModelProto, NodeProto, TensorProto};
use crate::room::with_stack;
use crate::source::names::Name;

/// Infers the types of all values of a model.
pub(crate) fn infer(model: &ModelProto, options: &Options) -> ModelTypes {
    infer_all(model, options, usize::MAX, InferGoal::All, None, FxHashSet::default())
}

/// [`infer`], which also compares what is found with what the model declares. What follows from declarations that are
/// mistaken is not known.
pub(crate) fn infer_checked(model: &ModelProto, options: &Options, mistaken: FxHashSet<Mistaken>) -> ModelTypes {
    infer_all(model, options, usize::MAX, InferGoal::Checked, None, mistaken)
}

/// [`infer_checked`], with only what follows without computing items of tensors: what other programs know, too.
pub(crate) fn infer_told(model: &ModelProto, options: &Options) -> ModelTypes {
    infer_all(model, options, usize::MAX, InferGoal::Told, None, FxHashSet::default())
}

/// What is wanted of the types of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InferGoal {
    /// The types of their elements; shapes and items only as far as these depend on them.
    Elements,
    /// All that can be known.
    All,
    /// The same, and where it is not as declared.
    Checked,
    /// As other programs that infer shapes know it: items of tensors are those of constants. And where it is not as
    /// declared.
    Told,
}

impl InferGoal {
    /// Whether what is found is compared with what is declared.
    pub(super) fn compares(self) -> bool {
        matches!(self, InferGoal::Checked | InferGoal::Told)
    }
}

/// Infers the types of the values that the first nodes of the graph of a model produce, those in functions included.
pub(crate) fn infer_functions(model: &ModelProto, options: &Options, nodes: usize, wanted: InferGoal) -> ModelTypes {
    infer_all(model, options, nodes, wanted, Some(FunctionTypes::default()), FxHashSet::default())
}

fn infer_all(
    model: &ModelProto,
    options: &Options,
    nodes: usize,
    wanted: InferGoal,
    bodies: Option<FunctionTypes>,
    mistaken: FxHashSet<Mistaken>,
) -> ModelTypes {
    let mut inference = Inference {
        model,
        functions: Functions::of_calls(&model.names, &model.functions),
        operators: FxHashMap::default(),
        scope: TypeScope::default(),
        frame: InferFrame { imports: Rc::new(Imports::new(&model.names, &model.opsets)), ..InferFrame::default() },
        imports: vec![None; model.functions.len()],
        symbols: FreshSymbols::new(&model.names.texts),
        budget: InferBudget::new(options),
        seen: SeenCalls::default(),
        contradictions: Contradictions::default(),
        mistaken,
        wanted,
        bodies,
    };
    let main = model.graph.as_ref().map(|graph| inference.first_nodes(graph, &[], nodes).0).unwrap_or_default();
    let bodies = inference.bodies.map(|bodies| bodies.complete(model, &inference.functions));
    let (bytes, contradictions) = (inference.budget.used(), inference.contradictions.finish());
    ModelTypes { main, functions: bodies.unwrap_or_default(), contradictions, bytes }
}

/// The domain, the operator and the version of the operator set.
type OperatorKey = (Option<Name>, Option<Name>, i64);

/// The results of a node.
pub(super) type ResultTypes = SmallVec<[ValueType; 2]>;

/// The graphs of a node with the types of their values.
pub(super) type InnerTypes = Vec<(InnerPlace, GraphTypes)>;

/// What the nodes of a graph or of the body of a function share.
#[derive(Debug, Default)]
pub(super) struct InferFrame<'m> {
    pub(super) imports: Rc<Imports>,
    /// The attributes of the call, if it is a function.
    pub(super) bindings: Bindings<'m>,
    /// The inputs of the function that the call omits.
    pub(super) absent: FxHashSet<NameId>,
}

/// The state of inference.
pub(super) struct Inference<'m> {
    pub(super) model: &'m ModelProto,
    pub(super) functions: Functions,
    pub(super) operators: FxHashMap<OperatorKey, Operator>,
    pub(super) scope: TypeScope<'m>,
    pub(super) frame: InferFrame<'m>,
    pub(super) symbols: FreshSymbols<'m>,
    pub(super) budget: InferBudget,
    /// The imports of the functions that were looked at.
    pub(super) imports: Vec<Option<Rc<Imports>>>,
    /// The calls that were looked at.
    pub(super) seen: SeenCalls<'m>,
    pub(super) contradictions: Contradictions,
    /// The values whose declarations are known to be wrong.
    pub(super) mistaken: FxHashSet<Mistaken>,
    pub(super) wanted: InferGoal,
    /// The types in functions, if they are wanted.
    pub(super) bodies: Option<FunctionTypes>,
}

impl<'m> Inference<'m> {
    /// Infers the types of the results of a node and defines them.
    pub(super) fn node(&mut self, node: &'m NodeProto, of: &KnownResults<'m>) -> InnerTypes {
        self.budget.visit();
        let mut inner = InnerTypes::new();
        let (mut results, constant) = match self.functions.called(&self.model.names, node) {
            Ok(Some(function)) => (with_stack(|| self.function_call(node, function)), None),
            _ => {
                let operator = self.operator(node);
                (self.operation(node, &operator, &mut inner), self.constant(node, &operator))
            }
        };
        results.resize(node.outputs.len(), ValueType::Unknown);
        for (output, ty) in node.outputs.iter().zip(results) {
            let known = match of.noted(*output) {
                Some(noted) => self.stored(noted),
                None => {
                    let mistake = self.compare(&ty, *output, of, node.at);
                    let settled = self.settled(ty, *output, of);
                    match mistake {
                        Some(mistake) => Known::new(mistake.leaves(&settled), None),
                        None => Known::new(settled, constant),
                    }
                }
            };
            self.scope.define(*output, known);
        }
        inner
    }

    /// What is known of a tensor, as far as there is memory.
    pub(super) fn stored(&mut self, constant: &'m TensorProto) -> Known<'m> {
        let mut known = Known::of_constant(constant);
        self.budget.allows(&mut known.ty);
        known
    }

    /// The type of a value, from what was found and what is declared, without unknown extents.
    pub(super) fn settled(&mut self, found: ValueType, name: NameId, of: &KnownResults<'m>) -> ValueType {
        let ty = match of.declared(name) {
            Some(declared) => unified(found, super::declared::declared(&self.model.names, declared)),
            None => found,
        };
        self.completed(ty)
    }

    /// A type with new symbols for extents that nothing determines, as far as there is memory.
    pub(super) fn completed(&mut self, ty: ValueType) -> ValueType {
        let mut ty = ty.within_limits();
        if self.budget.allows(&mut ty) {
            self.symbols.complete(&mut ty);
        }
        ty
    }

    /// The tensor of a node `Constant`, and of nodes that pass a constant on.
    fn constant(&self, node: &'m NodeProto, operator: &Operator) -> Option<&'m TensorProto> {
        match operator.constant()? {
            ConstantSource::Attribute => self.call(node, operator.version, ResultTypes::new()).tensor("value"),
            ConstantSource::Operand => self.scope.get(*node.inputs.first()?)?.constant,
        }
    }

    /// The operator of a node.
    pub(super) fn operator(&mut self, node: &NodeProto) -> Operator {
        let names = &self.model.names;
        let version = self.frame.imports.version_read(names, node.domain);
        let key = (node.domain, node.op_type, version);
        if let Some(operator) = self.operators.get(&key) {
            return *operator;
        }
        let (domain, name) = names.operator(node);
        let operator = Operator::find(domain, name, version);
        self.operators.insert(key, operator);
        operator
    }

    pub(super) fn call(&self, node: &'m NodeProto, version: i64, results: ResultTypes) -> InferCall<'_, 'm> {
        InferCall {
            names: &self.model.names,
            node,
            version,
            operands: node.inputs.iter().map(|input| self.scope.get(*input)).collect(),
            absent: &self.frame.absent,
            bindings: &self.frame.bindings,
            results,
            tells: self.wanted.compares(),
        }
    }

    /// The results of a node that is not a call.
    fn operation(&mut self, node: &'m NodeProto, operator: &Operator, inner: &mut InnerTypes) -> ResultTypes {
        let mut results: ResultTypes = SmallVec::new();
        for i in 0..node.outputs.len() {
            let operand = |operand: usize| self.operand_type(node, operator, operand);
            results.push(operator.result(i, operand));
        }
        if node.has_graphs() {
            with_stack(|| self.with_graphs(node, operator, &mut results, inner));
        }
        if self.wanted == InferGoal::Elements && results.iter().all(|result| result.element().is_some()) {
            return results;
        }
        if operator.is_its_body() {
            return with_stack(|| self.in_own_body(node, operator.version, results));
        }
        let Some(row) = operator.row() else { return results };
        let mut call = self.call(node, operator.version, results);
        let _ = (row.types)(&mut call);
        let computes = self.wanted != InferGoal::Told || operator.constant().is_some();
        let _ = match row.values {
            _ if !computes => None,
            Some(values) => values(&mut call),
            None => row.followed().and_then(|meaning| by_meaning(&mut call, meaning)),
        };
        if self.wanted == InferGoal::Told {
            super::compare::forget(&mut call, row.name);
        }
        let misfit = row.misfits.and_then(|misfits| misfits(&call));
        if misfit.is_some() && self.wanted.compares() {
            // What follows from a mistake is not told as another one.
            call.results.iter_mut().for_each(super::compare::forget_shape);
        }
        let results = std::mem::take(&mut call.results);
        drop(call);
        if let Some(what) = misfit {
            let message = if self.wanted.compares() { format!("`{}`: {what}", row.name) } else { String::new() };
            self.contradictions.add(Code::OnnxShapes, node.at, message);
        }
        results
    }

    /// The type of an operand of the schema; of an operand that stands for several, the first known type.
    fn operand_type(&self, node: &NodeProto, operator: &Operator, operand: usize) -> Option<&ValueType> {
        let ty = |name: &NameId| self.scope.get(*name).map(|known| &known.ty);
        if operand + 1 == operator.inputs() {
            let rest = node.inputs.get(operand..)?;
            return rest.iter().find_map(|name| ty(name).filter(|ty| **ty != ValueType::Unknown));
        }
        ty(node.inputs.get(operand)?)
    }
}
