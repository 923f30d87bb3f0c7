//! The evaluation of a graph: one pass over its operations.

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::budget::{Budget, Limits};
use super::definition::Definition;
use super::error::EvalError;
use super::eval_call::{Call, Kernel};
use super::quantized::Quantizations;
use super::stored::Stored;
use super::variables::Variables;
use crate::diagnostics::Code;
use crate::graph::{Graph, Kind, Operation, OperationId, TensorId};
use crate::progress;
use crate::tensor::Tensor;

/// The maximum nesting depth of evaluations.
const MAX_DEPTH: u32 = 32;

/// The value of an input.
#[derive(Clone, Debug)]
pub(crate) enum RunInput<'a> {
    /// As the caller holds it: it is converted to numbers of 64 bits when the input is evaluated.
    Given(&'a Tensor),
    /// A tensor of another evaluation.
    Shared(Arc<Tensor>),
}

impl RunInput<'_> {
    /// The tensor, whose numbers may have fewer bits.
    pub(super) fn tensor(&self) -> &Tensor {
        match self {
            RunInput::Given(tensor) => tensor,
            RunInput::Shared(tensor) => tensor,
        }
    }

    /// The tensor with numbers of 64 bits.
    pub(super) fn widened(&self) -> Arc<Tensor> {
        match self {
            RunInput::Shared(tensor) => Arc::clone(tensor),
            RunInput::Given(tensor) => Arc::new(tensor.to_widened()),
        }
    }
}

/// The values of inputs.
pub(super) type RunInputs<'a> = FxHashMap<TensorId, RunInput<'a>>;

/// What all runs of an evaluator have in common.
pub(super) trait Engine {
    /// The kernel for operations of a kind.
    fn kernel(&self, graph: &Graph, kind: &Kind) -> Option<Kernel>;

    /// The limits of expansions of definitions.
    fn limits(&self) -> Limits;

    /// The seed of random data for variables without data.
    fn seed(&self) -> Option<u64>;

    /// Expanded definitions of compounds.
    fn definitions(&self) -> &RefCell<FxHashMap<Definition, Arc<Graph>>>;
}

/// The state of an evaluation of a graph: the tensors that have been computed.
pub(crate) struct Run<'a> {
    pub(super) graph: &'a Graph,
    pub(super) engine: &'a dyn Engine,
    pub(super) budget: &'a Budget,
    pub(super) variables: &'a dyn Variables,
    /// The graph whose fragments are referred to by name.
    pub(super) outer: &'a Graph,
    pub(super) inputs: RunInputs<'a>,
    /// The values of dimension symbols.
    pub(super) symbols: FxHashMap<String, i64>,
    /// The quantizations of tensors; none if the graph is not part of a model.
    pub(super) quantizations: Option<&'a Quantizations>,
    /// The number of enclosing evaluations.
    depth: u32,
    values: RefCell<FxHashMap<TensorId, Stored>>,
    pub(super) updates: RefCell<Vec<(String, Arc<Tensor>)>>,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        graph: &'a Graph,
        outer: &'a Graph,
        engine: &'a dyn Engine,
        budget: &'a Budget,
        variables: &'a dyn Variables,
        inputs: RunInputs<'a>,
    ) -> Self {
        let values = RefCell::default();
        let symbols = symbols(graph, &inputs);
        let updates = RefCell::default();
        let quantizations = None;
        Run { graph, engine, budget, variables, outer, inputs, symbols, quantizations, depth: 0, values, updates }
    }

    /// Adds the quantizations of the graph.
    pub(super) fn quantized(self, quantizations: &'a Quantizations) -> Self {
        Run { quantizations: Some(quantizations), ..self }
    }

    /// A nested evaluation: of a graph that defines an operation of this graph.
    ///
    /// # Errors
    ///
    /// The nesting is too deep: for example, the body of a scan contains the scan itself.
    pub(super) fn inner<'b>(
        &'b self,
        graph: &'b Graph,
        outer: &'b Graph,
        inputs: FxHashMap<TensorId, Arc<Tensor>>,
    ) -> Result<Run<'b>, EvalError> {
        if self.depth >= MAX_DEPTH {
            return Err(EvalError::new(Code::EvalWork, format!("evaluations are nested more than {MAX_DEPTH} deep")));
        }
        let inputs = inputs.into_iter().map(|(input, tensor)| (input, RunInput::Shared(tensor))).collect();
        let run = Run::new(graph, outer, self.engine, self.budget, self.variables, inputs);
        let symbols = self.symbols.clone();
        Ok(Run { depth: self.depth + 1, symbols, ..run })
    }

    /// A tensor that has been computed.
    pub(super) fn tensor(&self, tensor: TensorId) -> Result<Arc<Tensor>, EvalError> {
        let values = self.values.borrow();
        let Some(value) = values.get(&tensor) else {
            return Err(EvalError::argument(format!("`{}` has no value", self.graph.tensor_name(tensor))));
        };
        value.tensor(self.budget)
    }

    fn store(&self, tensor: TensorId, value: Arc<Tensor>) -> Result<(), EvalError> {
        let value = match self.quantizations {
            Some(quantizations) => quantizations.rounded(self, tensor, value)?,
            None => value,
        };
        let value = Stored::new(value, self.graph.layout(tensor), self.budget)?;
        self.budget.hold(value.len());
        self.values.borrow_mut().insert(tensor, value);
        Ok(())
    }

    /// Drops a tensor that no later operation uses.
    pub(super) fn forget(&self, tensor: TensorId) {
        if let Some(value) = self.values.borrow_mut().remove(&tensor) {
            self.budget.release(value.len());
        }
    }

    /// Evaluates all operations, and returns the values of the wanted tensors in order.
    pub(super) fn tensors(&self, wanted: &[TensorId]) -> Result<Vec<Arc<Tensor>>, EvalError> {
        let graph = self.graph;
        for (tensor, value) in &self.inputs {
            if graph.tensors[tensor.index()].producer.is_none() {
                self.budget.operation(|| self.budget.room(value.tensor().shape()))?;
                self.store(*tensor, value.widened())?;
            }
        }
        let mut last = last_uses(graph, wanted).into_iter().peekable();
        let kernels: Vec<Option<Kernel>> = graph.kinds.iter().map(|kind| self.engine.kernel(graph, kind)).collect();
        for (i, operation) in graph.operations.iter().enumerate() {
            let id = OperationId::at(i);
            self.step(operation, kernels[graph.kind_id(operation).index()].as_ref())
                .map_err(|error| EvalError { operation: Some(id), ..error })?;
            while let Some((_, tensor)) = last.next_if(|(operation, _)| *operation == id) {
                self.forget(tensor);
            }
        }
        let all = wanted.iter().map(|tensor| self.tensor(*tensor)).collect::<Result<Vec<_>, _>>()?;
        // The remaining tensors, including results, no longer count against the limits.
        self.values.take().into_values().for_each(|value| self.budget.release(value.len()));
        Ok(all)
    }

    /// Evaluates one operation.
    pub(super) fn step(&self, operation: &Operation, kernel: Option<&Kernel>) -> Result<(), EvalError> {
        let call = Call { run: self, operation };
        progress::add(1);
        self.budget.work(1)?;
        let Some(kernel) = kernel else {
            let message = format!("the definition of `{}` is not known", call.name());
            return Err(EvalError::new(Code::NotEvaluated, message));
        };
        let results = self.budget.operation(|| kernel(&call))?;
        let outputs = call.outputs();
        if results.len() != outputs.len() {
            let (name, given, wanted) = (call.name(), results.len(), outputs.len());
            return Err(EvalError::argument(format!("`{name}` returns {given} tensors, the graph expects {wanted}")));
        }
        for (tensor, value) in outputs.into_iter().zip(results) {
            self.store(tensor, Arc::new(value))?;
        }
        Ok(())
    }
}

/// The values of dimension symbols, solved from the shapes of inputs.
fn symbols(graph: &Graph, inputs: &RunInputs) -> FxHashMap<String, i64> {
    let mut symbols = FxHashMap::default();
    // The first input with a symbol decides, so that the result does not depend on the order of a hash table.
    let mut ordered: Vec<(&TensorId, &RunInput)> = inputs.iter().collect();
    ordered.sort_unstable_by_key(|(input, _)| **input);
    for (input, value) in ordered {
        let tensor = value.tensor();
        let extents = graph.shape(*input).map_or(&[][..], |shape| shape.extents());
        for (extent, given) in extents.iter().zip(tensor.shape()) {
            let found = i64::try_from(*given).ok().and_then(|value| extent.dim().solved(value));
            if let Some((symbol, value)) = found {
                symbols.entry(symbol.to_string()).or_insert(value);
            }
        }
    }
    symbols
}

/// The tensors that are no longer used after an operation, with that operation, in the order of the operations.
fn last_uses(graph: &Graph, wanted: &[TensorId]) -> Vec<(OperationId, TensorId)> {
    let mut last: Vec<Option<OperationId>> = graph.tensors.iter().map(|tensor| tensor.producer).collect();
    for (i, operation) in graph.operations.iter().enumerate() {
        graph.each_operand_tensor(operation, |tensor| last[tensor.index()] = Some(OperationId::at(i)));
    }
    wanted.iter().for_each(|tensor| last[tensor.index()] = None);
    let used = last.into_iter().enumerate().filter_map(|(i, operation)| Some((operation?, TensorId(i as u32))));
    let mut by_operation: Vec<(OperationId, TensorId)> = used.collect();
    by_operation.sort_unstable();
    by_operation
}
