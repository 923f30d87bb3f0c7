//! Runs nodes: those of the main graph, of functions and of inner graphs.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::attributes::{CallAttributes, NodeAttributes};
use super::body::RunBody;
use super::control::{CONTROL, Control};
use super::failure::RunFailure;
use super::holdings::Holdings;
use super::node_call::{NodeCall, NodeKernel};
use super::own_body;
use super::scope::{Around, RunScope};
use super::stored::Stores;
use crate::Options;
use crate::diagnostics::Code;
use crate::eval::{Budget, EvalError};
use crate::graph::names::NameId;
use crate::onnx::functions::{Functions, Imports};
use crate::onnx::model::{FunctionProto, GraphProto, ModelNames, ModelProto, NodeProto};
use crate::onnx::operators::row_of;
use crate::onnx::standard::is_its_body;
use crate::parts::KERNELS;
use crate::progress;
use crate::room::with_stack;
use crate::tensor::Tensor;
use crate::tensor::value::RunValue;

/// The steps that a node counts for besides those of its kernel: looking its operands up takes as long.
const STEPS: u64 = 256;

/// What runs a model.
pub(crate) struct Interpreter<'m> {
    pub(super) model: &'m ModelProto,
    pub(super) budget: &'m Budget,
    holdings: Holdings<'m>,
    pub(super) stores: &'m Stores,
    functions: Functions,
    imports: Imports,
    of_functions: Vec<Imports>,
    /// The bodies of graphs and functions that have run, by their addresses.
    bodies: RefCell<FxHashMap<usize, Rc<RunBody<'m>>>>,
}

/// What nodes take from the function that they are in.
#[derive(Clone, Copy)]
pub(super) struct RunFrame<'f, 'm> {
    imports: &'f Imports,
    bound: Option<&'f CallAttributes<'m>>,
}

/// Computes the results of a node of a standard operator, or of one that is its body, whose operands are known.
///
/// # Errors
///
/// There is no kernel, the operands do not fit, or a limit is exceeded.
pub(crate) fn evaluate_node(
    names: &ModelNames,
    node: &NodeProto,
    version: i64,
    operands: &[Option<Arc<Tensor>>],
    stores: &Stores,
    budget: &Budget,
) -> Result<Vec<Arc<Tensor>>, EvalError> {
    if let Some(part) = KERNELS.missing() {
        return Err(EvalError::missing(part));
    }
    let (domain, name) = names.operator(node);
    let operands: Vec<_> = operands.iter().map(|operand| operand.clone().map(RunValue::Tensor)).collect();
    let attributes = NodeAttributes { names, node, bound: None };
    let call = NodeCall { attributes, version, operands: &operands, budget, stores };
    let tensor = |value| match value {
        RunValue::Tensor(tensor) => Ok(tensor),
        other => Err(EvalError::argument(format!("a result of `{name}` is {}", other.kind()))),
    };
    let results = match is_its_body(domain, name) {
        // What a body computes is the same in all versions.
        true => budget.operation(|| own_body::results(&call, None)).map_err(|failure| failure.error)?,
        false => {
            let kernel = kernel(domain, name)?;
            budget.operation(|| kernel.run(&call))?
        }
    };
    results.into_iter().map(tensor).collect()
}

/// The kernel of an operator.
fn kernel(domain: &str, name: &str) -> Result<NodeKernel, EvalError> {
    row_of(domain, name).and_then(|row| row.kernel).ok_or_else(|| unknown(domain, name))
}

pub(super) fn unknown(domain: &str, name: &str) -> EvalError {
    let domain = if domain.is_empty() { "ai.onnx" } else { domain };
    EvalError::new(Code::NotEvaluated, format!("the operator `{domain}.{name}` cannot be evaluated"))
}

impl<'m> Interpreter<'m> {
    /// What runs a model.
    ///
    /// # Errors
    ///
    /// Functions of the model call each other in a cycle, or there are two with the same name.
    pub(crate) fn new(
        model: &'m ModelProto,
        stores: &'m Stores,
        budget: &'m Budget,
        options: &Options,
    ) -> Result<Self, RunFailure> {
        let names = &model.names;
        let functions = Functions::new(names, &model.functions, options).map_err(|found| {
            let finding = found.into_iter().next();
            let message = finding.map_or_else(String::new, |finding| finding.message().to_owned());
            RunFailure::new(Code::NotEvaluated, message)
        })?;
        let of_functions = model.functions.iter().map(|function| Imports::new(names, &function.opsets)).collect();
        let imports = Imports::new(names, &model.opsets);
        let holdings = Holdings::new(budget);
        Ok(Interpreter {
            model,
            budget,
            holdings,
            stores,
            functions,
            imports,
            of_functions,
            bodies: RefCell::default(),
        })
    }

    /// Runs the main graph on values of its inputs, by name. Inputs without a value have that of their initializer.
    ///
    /// # Errors
    ///
    /// A node cannot be evaluated.
    pub(crate) fn run(&self, inputs: Vec<(NameId, RunValue)>) -> Result<Vec<RunValue>, RunFailure> {
        let Some(graph) = &self.model.graph else { return Ok(Vec::new()) };
        let body = self.body_of(graph)?;
        let frame = RunFrame { imports: &self.imports, bound: None };
        let given = inputs.into_iter().map(|(name, value)| (name, Some(value))).collect();
        self.body(&body, given, Around::Nothing, frame)
    }

    /// The body of a graph. It is kept: graphs in loops run many times.
    pub(super) fn body_of(&self, graph: &'m GraphProto) -> Result<Rc<RunBody<'m>>, RunFailure> {
        let key = std::ptr::from_ref(graph) as usize;
        if let Some(body) = self.bodies.borrow().get(&key) {
            return Ok(body.clone());
        }
        let body = Rc::new(RunBody::of_graph(&self.model.names, graph, self.stores, &self.holdings)?);
        self.bodies.borrow_mut().insert(key, body.clone());
        Ok(body)
    }

    /// The body of a function of the model.
    fn body_of_function(&self, function: &'m FunctionProto) -> Rc<RunBody<'m>> {
        let key = std::ptr::from_ref(function) as usize;
        let mut bodies = self.bodies.borrow_mut();
        bodies.entry(key).or_insert_with(|| Rc::new(RunBody::of_function(function))).clone()
    }

    /// Runs a body on values, which replace its constants of the same name.
    pub(super) fn body(
        &self,
        body: &RunBody<'m>,
        given: Vec<(NameId, Option<RunValue>)>,
        around: Around,
        frame: RunFrame<'_, 'm>,
    ) -> Result<Vec<RunValue>, RunFailure> {
        let mut scope = RunScope::new(&body.constants, around, &self.holdings);
        given.into_iter().for_each(|(name, value)| scope.define(name, value));
        for (node, dead) in body.nodes.iter().zip(&body.dead) {
            let results = self.budget.operation(|| with_stack(|| self.node(node, &scope, frame)));
            let results = results.map_err(|failure| self.described(failure, node))?;
            for (i, name) in node.outputs.iter().enumerate().filter(|(_, name)| **name != NameId::ROOT) {
                let value = results.get(i).cloned().ok_or_else(|| {
                    let message = format!("the node has {} results, the operator {}", i + 1, results.len());
                    RunFailure::new(Code::EvalArgument, message).at(node.at)
                })?;
                scope.define(*name, Some(value));
            }
            dead.iter().for_each(|name| scope.remove(*name));
        }
        let output = |name: &NameId| {
            let left_out = || RunFailure::new(Code::EvalArgument, "a result is an operand that is left out");
            self.value(*name, &scope)?.ok_or_else(left_out)
        };
        body.outputs.iter().map(output).collect()
    }

    /// The failure with the node in which it is.
    fn described(&self, failure: RunFailure, node: &NodeProto) -> RunFailure {
        if failure.at.is_some() {
            return failure;
        }
        let (domain, name) = self.model.names.operator(node);
        let label = node.name.or_else(|| node.outputs.first().copied());
        let label = label.map_or(String::new(), |id| self.model.names.spelled(id));
        let dot = if domain.is_empty() { "" } else { "." };
        let EvalError { code, message, .. } = failure.error;
        RunFailure::new(code, format!("{message}; in `{label}`, {domain}{dot}{name}")).at(node.at)
    }

    /// The value with a name; none if it is an operand that the call of the function leaves out.
    fn value(&self, name: NameId, scope: &RunScope) -> Result<Option<RunValue>, RunFailure> {
        let missing = || {
            let text = self.model.names.spelled(name);
            RunFailure::new(Code::EvalArgument, format!("the value `{text}` is not known where it is used"))
        };
        scope.get(name).map(|value| value.cloned()).ok_or_else(missing)
    }

    /// The results of a node.
    fn node(
        &self,
        node: &'m NodeProto,
        scope: &RunScope,
        frame: RunFrame<'_, 'm>,
    ) -> Result<Vec<RunValue>, RunFailure> {
        let names = &self.model.names;
        progress::add(1);
        self.budget.work(STEPS)?;
        let operand = |name: &NameId| match *name {
            NameId::ROOT => Ok(None),
            name => self.value(name, scope),
        };
        let operands = node.inputs.iter().map(operand).collect::<Result<Vec<_>, _>>()?;
        let attributes = NodeAttributes { names, node, bound: frame.bound };
        match self.functions.called(names, node) {
            Ok(Some(function)) => return self.function(function, node, operands, scope, frame),
            Ok(None) => {}
            Err(found) => return Err(RunFailure::new(Code::NotEvaluated, found.message())),
        }
        let version = frame.imports.version_read(names, node.domain);
        let (budget, stores) = (self.budget, self.stores);
        let call = NodeCall { attributes, version, operands: &operands, budget, stores };
        let (domain, name) = names.operator(node);
        if let Some((.., control)) = CONTROL.iter().find(|row| (row.0, row.1) == (domain, name)) {
            return control(&Control { interpreter: self, scope, frame }, &call);
        }
        if is_its_body(domain, name) {
            let base = frame.imports.version(names, None);
            return own_body::results(&call, base);
        }
        Ok(kernel(domain, name)?.run(&call)?)
    }

    /// What runs the nodes of a model without a graph.
    pub(super) fn of_nodes(model: &'m ModelProto, stores: &'m Stores, budget: &'m Budget) -> Self {
        let imports = Imports::new(&model.names, &model.opsets);
        Interpreter {
            model,
            budget,
            holdings: Holdings::new(budget),
            stores,
            functions: Functions::default(),
            imports,
            of_functions: Vec::new(),
            bodies: RefCell::default(),
        }
    }

    /// Runs a body outside a function.
    pub(super) fn run_body(
        &self,
        body: &RunBody<'m>,
        given: Vec<(NameId, Option<RunValue>)>,
    ) -> Result<Vec<RunValue>, RunFailure> {
        self.body(body, given, Around::Nothing, RunFrame { imports: &self.imports, bound: None })
    }

    /// The results of a call of a function of the model.
    fn function(
        &self,
        index: usize,
        node: &'m NodeProto,
        operands: Vec<Option<RunValue>>,
        scope: &RunScope,
        frame: RunFrame<'_, 'm>,
    ) -> Result<Vec<RunValue>, RunFailure> {
        let function = &self.model.functions[index];
        let bound = CallAttributes::of_call(function, node, frame.bound);
        let body = self.body_of_function(function);
        if operands.len() > function.inputs.len() {
            return Err(RunFailure::new(Code::EvalArgument, "the call has more operands than the function"));
        }
        let operands = operands.into_iter().chain(std::iter::repeat(None));
        let given = function.inputs.iter().copied().zip(operands).collect();
        let frame = RunFrame { imports: &self.of_functions[index], bound: Some(&bound) };
        // A graph that the call gives sees what the function does not define itself.
        self.body(&body, given, Around::Function(scope), frame)
    }
}
