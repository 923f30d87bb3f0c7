//! The evaluator: limits, additional kernels and quantizations, and running graphs with them.

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::boundary::Boundary;
use super::budget::{Budget, Limits};
use super::definition::{self, Definition};
use super::error::EvalError;
use super::eval_call::{Call, Kernel, KernelResult};
use super::kernel_table;
use super::quantized::Quantizations;
use super::run::{Engine, Run, RunInput, RunInputs};
use super::variables::Variables;
use crate::diagnostics::{Code, suggest};
use crate::graph::{Graph, Kind, TensorId};
use crate::parts::KERNELS;
use crate::tensor::Tensor;

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
    pub(super) limits: Limits,
    pub(super) kernels: FxHashMap<String, Kernel>,
    /// The quantizations of the graph's tensors.
    pub(super) quantizations: Quantizations,
    /// The seed of random data for variables without data.
    seed: Option<u64>,
    /// Expanded definitions of compounds.
    definitions: RefCell<FxHashMap<Definition, Arc<Graph>>>,
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

    /// The quantizations of the evaluated graph.
    #[cfg(feature = "input")]
    pub(crate) fn quantizations(&self) -> &Quantizations {
        &self.quantizations
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
        if let Some(part) = KERNELS.missing() {
            return Err(EvalError::missing(part));
        }
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
    /// changes, except that scalars are rounded.
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
    pub(super) fn run_beside<'t>(
        &self,
        graph: &Graph,
        inputs: impl Iterator<Item = (&'t str, &'t Tensor)> + Clone,
        variables: &dyn Variables,
        beside: usize,
    ) -> Result<Evaluation, EvalError> {
        if let Some(part) = KERNELS.missing() {
            return Err(EvalError::missing(part));
        }
        let budget = Budget::new(self.limits);
        budget.hold(beside);
        // The caller holds the inputs.
        for (_, tensor) in inputs.clone() {
            budget.memory(tensor.weight(), "the inputs")?;
        }
        let inputs = bind(graph, inputs)?;
        let run = Run::new(graph, graph, self, &budget, variables, inputs).quantized(&self.quantizations);
        let tensors = run.tensors(&graph.outputs)?;
        let names = graph.outputs.iter().map(|output| graph.tensor_name(*output));
        Ok(Evaluation { outputs: names.zip(tensors).collect(), updates: run.updates.take() })
    }
}

impl Engine for Evaluator {
    fn kernel(&self, graph: &Graph, kind: &Kind) -> Option<Kernel> {
        let name = graph.text_of(kind.name);
        if let Some(kernel) = self.kernels.get(name) {
            return Some(Arc::clone(kernel));
        }
        let known = graph.meaning(kind).and_then(kernel_table::function);
        if let Some(known) = known {
            return Some(Arc::new(known));
        }
        kind.standard.then(|| Arc::new(definition::by_definition) as Kernel)
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn seed(&self) -> Option<u64> {
        self.seed
    }

    fn definitions(&self) -> &RefCell<FxHashMap<Definition, Arc<Graph>>> {
        &self.definitions
    }
}

/// Binds tensors to the graph inputs with their names. Tensors with the name of an output are ignored, since
/// recordings contain outputs too.
fn bind<'t>(graph: &Graph, given: impl Iterator<Item = (&'t str, &'t Tensor)>) -> Result<RunInputs<'t>, EvalError> {
    let boundary = Boundary::new(graph);
    let mut bound = FxHashMap::default();
    for (name, tensor) in given {
        if let Some(i) = boundary.input(name)? {
            let before = bound.insert(graph.inputs[i], RunInput::Given(tensor));
            if before.is_some() {
                return Err(EvalError::new(Code::EvalInput, suggest::given_twice(name)));
            }
        }
    }
    Ok(bound)
}
