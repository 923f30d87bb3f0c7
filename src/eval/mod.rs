//! The reference evaluator: computes the outputs of a flat graph.
//!
//! A table has the kernel of each operation: a function of a [`Call`], which contains operands and attributes.
//! Kernels follow the formulas of the specification; speed is secondary. Compounds without a kernel are evaluated by
//! their definitions. `docs/evaluation.md` has the decisions where the specification is silent.
//!
//! ```
//! use nnef_flatten::eval::Evaluator;
//! use nnef_flatten::tensor::Tensor;
//! use nnef_flatten::{Options, expand, parse};
//! use std::collections::BTreeMap;
//!
//! let text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = softmax(x, axes = [0]); }";
//! let parsed = parse("example", text.to_string(), &Options::default());
//! let graph = expand(&parsed.document, &Options::default()).expect("a valid document").graph;
//! let x = Tensor::scalars(&[2], vec![0.5, 0.5])?;
//! let outputs = Evaluator::default().run(&graph, &[("x".to_string(), x)], &BTreeMap::new())?.outputs;
//! assert_eq!(*outputs[0].1, Tensor::scalars(&[2], vec![0.5, 0.5])?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arrange;
mod array;
mod boundary;
mod broadcast;
mod budget;
mod call;
mod conv;
mod definition;
mod elementwise;
mod error;
mod fold;
mod matmul;
mod pool;
mod quantized;
mod reduce;
mod registry;
mod resize;
mod roi;
mod run;
mod scan;
mod sections;
mod selection;
mod sources;
mod stored;
mod table;
#[cfg(test)]
mod tests;
mod vendor;
mod verify;
mod window;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

pub(crate) use boundary::Boundary;
pub(crate) use budget::Budget;
pub use budget::Limits;
pub use call::Call;
pub(crate) use call::KernelResult;
use definition::Definition;
pub use error::EvalError;
pub use quantized::Quantizations;
use run::Run;
pub use verify::Difference;

use crate::diagnostics::Code;
use crate::graph::{Graph, Kind, TensorId};
use crate::tensor::{DType, Tensor, TensorError};

/// The maximum rank of tensors that can be evaluated.
pub(crate) const MAX_RANK: usize = crate::tensor::MAX_RANK;

/// Computes the results of an operation.
pub(crate) type Kernel = Arc<dyn Fn(&Call) -> KernelResult>;

/// A source of the data of variables.
pub trait Variables {
    /// The data of the variable with a label, if there are any. `shape` and `of` are the shape and, if known,
    /// the element type of the variable; the evaluator checks both.
    ///
    /// # Errors
    ///
    /// The data exist but cannot be read.
    fn load(&self, label: &str, shape: &[usize], of: Option<DType>) -> Result<Option<Tensor>, TensorError>;
}

impl Variables for BTreeMap<String, Tensor> {
    fn load(&self, label: &str, _: &[usize], _: Option<DType>) -> Result<Option<Tensor>, TensorError> {
        Ok(self.get(label).cloned())
    }
}

/// The result of an evaluation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Evaluation {
    /// The outputs of the graph, in order.
    pub outputs: Vec<(String, Arc<Tensor>)>,
    /// The new values of variables, by label.
    pub updates: Vec<(String, Arc<Tensor>)>,
}

/// Evaluates graphs within limits, with kernels for standard and additional operations.
#[derive(Default)]
pub struct Evaluator {
    limits: Limits,
    kernels: FxHashMap<String, Kernel>,
    /// The quantizations of the graph's tensors.
    quantizations: Quantizations,
    /// The seed of random data for variables without data.
    pub(in crate::eval) seed: Option<u64>,
    /// Expanded definitions of compounds.
    pub(in crate::eval) definitions: RefCell<FxHashMap<Definition, Arc<Graph>>>,
}

impl Evaluator {
    /// An evaluator with other limits.
    pub fn with_limits(limits: Limits) -> Self {
        Evaluator { limits, ..Evaluator::default() }
    }

    /// Uses random data for variables without data; they depend on the seed and the label.
    pub fn random_variables(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Rounds tensors to the values that their codes represent, and decodes variables whose data are codes.
    /// The quantizations must be those of the evaluated graph.
    pub fn quantized(mut self, quantizations: Quantizations) -> Self {
        self.quantizations = quantizations;
        self
    }

    /// Adds a kernel for an operation of a document or a vendor; it replaces an existing kernel.
    ///
    /// ```
    /// use nnef_flatten::eval::Evaluator;
    ///
    /// let evaluator = Evaluator::default().operation("vendor_first", |call| {
    ///     Ok(vec![(*call.tensor("x")?).clone()])
    /// });
    /// ```
    pub fn operation(mut self, name: &str, kernel: impl Fn(&Call) -> KernelResult + 'static) -> Self {
        self.kernels.insert(name.to_string(), Arc::new(kernel));
        self
    }

    /// The kernel for operations of a kind.
    fn kernel(&self, graph: &Graph, kind: &Kind) -> Option<Kernel> {
        let name = graph.text_of(kind.name);
        if let Some(kernel) = self.kernels.get(name) {
            return Some(Arc::clone(kernel));
        }
        let known = graph.meaning(kind).and_then(table::function);
        if let Some(known) = known {
            return Some(Arc::new(known));
        }
        kind.standard.then(|| Arc::new(definition::by_definition) as Kernel)
    }

    /// The value of a variable: its data, decoded if they are codes of a quantized tensor.
    ///
    /// # Errors
    ///
    /// The data are missing or cannot be read or decoded.
    pub(crate) fn variable(
        &self,
        graph: &Graph,
        tensor: TensorId,
        variables: &dyn Variables,
    ) -> Result<Arc<Tensor>, EvalError> {
        let budget = Budget::new(self.limits);
        let run = Run::new(graph, graph, self, &budget, variables, FxHashMap::default());
        let run = run.quantized(&self.quantizations);
        if let Some(producer) = graph.tensors[tensor.index()].producer {
            let operation = &graph.operations[producer.index()];
            run.step(operation, self.kernel(graph, graph.kind(operation)).as_ref())?;
        }
        run.tensor(tensor)
    }

    /// Evaluates a graph on inputs, by name. Inputs of another element type are converted if no value
    /// changes.
    ///
    /// # Errors
    ///
    /// An input is missing or does not match, data of a variable are missing, an operation is unknown or
    /// not defined for its operands, or a limit is exceeded.
    pub fn run(
        &self,
        graph: &Graph,
        inputs: &[(String, Tensor)],
        variables: &dyn Variables,
    ) -> Result<Evaluation, EvalError> {
        let named = inputs.iter().map(|(name, tensor)| (name.as_str(), tensor));
        self.run_beside(graph, named, variables, 0)
    }

    /// [`Evaluator::run`] while as many items of other evaluations are in use.
    fn run_beside<'t>(
        &self,
        graph: &Graph,
        inputs: impl Iterator<Item = (&'t str, &'t Tensor)> + Clone,
        variables: &dyn Variables,
        beside: usize,
    ) -> Result<Evaluation, EvalError> {
        let budget = Budget::new(self.limits);
        budget.hold(beside);
        // The caller also holds the inputs, in addition to the bound ones.
        for (_, tensor) in inputs.clone() {
            budget.room(tensor.shape())?;
            budget.room(tensor.shape())?;
        }
        let inputs = bind(graph, inputs)?;
        let run = Run::new(graph, graph, self, &budget, variables, inputs).quantized(&self.quantizations);
        let tensors = run.tensors(&graph.outputs)?;
        let names = graph.outputs.iter().map(|output| graph.tensor_name(*output));
        Ok(Evaluation { outputs: names.zip(tensors).collect(), updates: run.updates.take() })
    }
}

/// Binds tensors to the graph inputs with their names. Tensors with the name of an output are ignored, since
/// recordings contain outputs too.
fn bind<'t>(
    graph: &Graph,
    given: impl Iterator<Item = (&'t str, &'t Tensor)>,
) -> Result<FxHashMap<TensorId, Arc<Tensor>>, EvalError> {
    let boundary = Boundary::new(graph);
    let mut bound = FxHashMap::default();
    for (name, tensor) in given {
        if let Some(i) = boundary.input(name)? {
            let before = bound.insert(graph.inputs[i], Arc::new(tensor.clone().widened()));
            if before.is_some() {
                return Err(EvalError::new(Code::EvalInput, format!("input `{name}` is given twice")));
            }
        }
    }
    Ok(bound)
}
