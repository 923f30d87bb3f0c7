//! Random inputs, and the comparison of the outputs of two graphs.

use super::sources::source_type;
use super::{Boundary, Budget, EvalError, Evaluator, Limits, Random, Variables};
use crate::diagnostics::{Code, Diagnostic};
use crate::graph::{Extent, Graph};
use crate::tensor::{DType, Data, Tensor};
use rustc_hash::FxHashSet;
use std::sync::Arc;

impl Graph {
    /// The given inputs, and random tensors for the other inputs of the graph.
    ///
    /// # Errors
    ///
    /// The shape of another input is not known.
    pub fn random_inputs(&self, given: &[(String, Tensor)], seed: u64) -> Result<Vec<(String, Tensor)>, EvalError> {
        self.random_inputs_within(Limits::default(), given, seed)
    }

    /// [`Graph::random_inputs`] within the limits of an evaluation.
    ///
    /// # Errors
    ///
    /// Those of [`Graph::random_inputs`], or the limits are exceeded.
    pub(crate) fn random_inputs_within(
        &self,
        limits: Limits,
        given: &[(String, Tensor)],
        seed: u64,
    ) -> Result<Vec<(String, Tensor)>, EvalError> {
        let budget = Budget::new(limits);
        let mut inputs = given.to_vec();
        let given: FxHashSet<&str> = given.iter().map(|(name, _)| name.as_str()).collect();
        for (i, input) in self.inputs.iter().enumerate() {
            let name = self.tensor_name(*input);
            if given.contains(name.as_str()) {
                continue;
            }
            let operation = self.tensors[input.index()].producer;
            let fail = |message: String| EvalError { operation, ..EvalError::new(Code::EvalInput, message) };
            let known = self.shape(*input).and_then(|shape| extents(shape.extents()));
            let unknown = || fail(format!("the shape of input `{name}` is not known: give the input"));
            let shape = known.ok_or_else(unknown)?;
            budget.room(&shape).map_err(|error| EvalError { operation, ..error })?;
            let mut random = Random::of_input(seed, i);
            let made = random.tensor(source_type(self, *input).unwrap_or(DType::Float64), &shape);
            inputs.push((name, made.map_err(|error| fail(error.0))?));
        }
        Ok(inputs)
    }
}

fn extents(shape: &[Extent]) -> Option<Vec<usize>> {
    shape.iter().map(|extent| usize::try_from(extent.known()?).ok()).collect()
}

/// The largest difference between the outputs of two graphs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Difference {
    /// The largest difference of two numbers, relative to the larger magnitude if that is above 1.
    pub largest: f64,
    /// The output with this difference.
    pub output: String,
    /// The number of items compared.
    pub items: usize,
}

/// The largest difference of two values of a type that rounding explains, relative to the larger of their magnitude and 1:
/// that of the order of additions, and two units in the last place of narrow types. Only floats may differ.
pub(crate) fn tolerance(of: DType) -> f64 {
    match of {
        DType::Float64 | DType::Complex128 => 1e-9,
        DType::Float32 | DType::Complex64 => 1e-5,
        DType::Narrow(format) => 2.0 * format.unit(),
        _ => 0.0,
    }
}

/// The type in which values of two types are compared: the coarser one of floats. Notations have integers of different
/// lengths. None if the types are of different kinds.
fn common(a: DType, b: DType) -> Option<DType> {
    let alike = [DType::is_float, DType::is_complex].iter().any(|is| is(a) && is(b));
    match (a, b) {
        (a, b) if a == b => Some(a),
        (a, b) if a.is_integer() && b.is_integer() => Some(DType::Int64),
        (a, b) if alike => Some(if tolerance(a) >= tolerance(b) { a } else { b }),
        _ => None,
    }
}

/// The largest difference of the items of two tensors of one shape, relative to the larger magnitude if that is above 1.
fn apart(a: &Tensor, b: &Tensor, of: DType) -> f64 {
    let (a, b) = (a.data(), b.data());
    let float = |x: f64, y: f64| match x == y || (x.is_nan() && y.is_nan()) {
        true => 0.0,
        false if x.is_finite() && y.is_finite() => (x - y).abs() / x.abs().max(y.abs()).max(1.0),
        false => f64::INFINITY,
    };
    let rounded = |x: f64| match of {
        DType::Float32 => f64::from(x as f32),
        DType::Narrow(format) => f64::from(format.round(x)),
        _ => x,
    };
    // Integers above 2^53 are not exact as floats.
    let integer = |x: i128, y: i128| x.abs_diff(y) as f64 / x.unsigned_abs().max(y.unsigned_abs()).max(1) as f64;
    let item = |at: usize| match of {
        of if of.is_integer() => integer(a.wide(at), b.wide(at)),
        of if of.is_complex() => {
            let ([re, im], [other_re, other_im]) = (a.complex(at), b.complex(at));
            float(re, other_re).max(float(im, other_im))
        }
        _ => float(rounded(a.float(at)), rounded(b.float(at))),
    };
    match (a, b) {
        (Data::Text(a), Data::Text(b)) if a == b => 0.0,
        (Data::Text(_), Data::Text(_)) => f64::INFINITY,
        _ => (0..a.len()).map(item).fold(0.0, f64::max),
    }
}

impl Tensor {
    /// The largest difference of two items, relative to the larger magnitude if that is above 1; none if the
    /// shapes or types of the tensors differ.
    pub fn difference(&self, other: &Tensor) -> Option<f64> {
        let same = self.shape() == other.shape() && self.dtype() == other.dtype();
        same.then(|| apart(self, other, self.dtype()))
    }
}

/// Outputs by name.
type NamedOutputs = [(String, Arc<Tensor>)];

/// The largest difference of outputs, which are matched by position. Notations may name them in different ways.
///
/// # Errors
///
/// An output differs in shape or in the kind of its type, or more than its type allows; the text tells which.
pub(crate) fn compare(
    wanted: &NamedOutputs,
    found: &NamedOutputs,
    allowed: fn(DType) -> f64,
) -> Result<Difference, String> {
    if wanted.len() != found.len() {
        return Err(format!("there are {} outputs, the source has {}", found.len(), wanted.len()));
    }
    let mut largest = Difference { largest: 0.0, output: String::new(), items: 0 };
    for ((name, wanted), (_, found)) in wanted.iter().zip(found) {
        let of = common(wanted.dtype(), found.dtype()).filter(|_| wanted.shape() == found.shape());
        let Some(of) = of else {
            let tell = |tensor: &Tensor| format!("{} items of shape {:?}", tensor.dtype().keyword(), tensor.shape());
            return Err(format!("output `{name}` has {}, the source has {}", tell(found), tell(wanted)));
        };
        let apart = apart(wanted, found, of);
        if apart > allowed(of) {
            return Err(format!("output `{name}` differs by {apart:e} from what the source computes"));
        }
        largest.items += wanted.len();
        if largest.output.is_empty() || apart > largest.largest {
            (largest.largest, largest.output) = (apart, name.clone());
        }
    }
    Ok(largest)
}

impl Evaluator {
    /// Evaluates two graphs on the same inputs and compares their outputs.
    ///
    /// # Errors
    ///
    /// One of the graphs cannot be evaluated, or an output differs in shape or type.
    pub fn compare(
        &self,
        graphs: [&Graph; 2],
        inputs: &[(String, Tensor)],
        variables: &dyn Variables,
    ) -> Result<Difference, Box<Diagnostic>> {
        let fail = |message| Err(Box::new(EvalError::new(Code::VerifyDifference, message).diagnostic(graphs[0])));
        // Names can change when a document is migrated, so inputs are matched by position.
        let [source, flat] = graphs;
        let boundary = Boundary::new(source);
        let name_in_flat = |name: &String| {
            let place = boundary.input(name).ok().flatten();
            place.and_then(|i| flat.inputs.get(i)).map_or_else(|| name.clone(), |input| flat.tensor_name(*input))
        };
        let run = |graph: &Graph, names: &[String], beside: usize| {
            let named = names.iter().zip(inputs).map(|(name, (_, tensor))| (name.as_str(), tensor));
            let outputs = self.run_beside(graph, named, variables, beside).map(|evaluation| evaluation.outputs);
            outputs.map_err(|error| Box::new(error.diagnostic(graph)))
        };
        let names: Vec<String> = inputs.iter().map(|(name, _)| name.clone()).collect();
        let first = run(source, &names, 0)?;
        let held = first.iter().map(|(_, tensor)| tensor.len()).sum();
        let names: Vec<String> = names.iter().map(name_in_flat).collect();
        let second = run(flat, &names, held)?;
        compare(&first, &second, |_| f64::INFINITY).or_else(fail)
    }
}
