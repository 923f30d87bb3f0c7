//! Sums of products by the names of axes.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::eval::EvalError;
use crate::onnx::run::call::{KernelResult, NodeCall, floats, one};
use crate::onnx::run::kernels::elementwise::wide;
use crate::tensor::{Data, Tensor, spread};

/// An axis: a letter, or the position of an axis of the ellipsis counted from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum EinsumAxis {
    Ellipsis(usize),
    Letter(char),
}

/// The axes of a term; `wide` is the number of axes that an ellipsis stands for.
fn labels(call: &NodeCall, term: &str, wide: usize) -> Result<Vec<EinsumAxis>, EvalError> {
    let mut labels = Vec::new();
    let mut rest = term;
    while let Some(letter) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("...") {
            labels.extend((0..wide).rev().map(EinsumAxis::Ellipsis));
            rest = after;
            continue;
        }
        if !letter.is_ascii_alphabetic() {
            return Err(call.refused(format!("the equation has `{letter}`")));
        }
        labels.push(EinsumAxis::Letter(letter));
        rest = &rest[1..];
    }
    Ok(labels)
}

/// An equation: the axes of the operands and of the result.
struct Equation {
    terms: Vec<Vec<EinsumAxis>>,
    result: Vec<EinsumAxis>,
}

impl Equation {
    fn new(call: &NodeCall, operands: &[&Arc<Tensor>]) -> Result<Self, EvalError> {
        let text: String = call.text_or("equation", "")?.chars().filter(|letter| *letter != ' ').collect();
        let (left, right) = match text.split_once("->") {
            Some((left, right)) => (left, Some(right)),
            None => (text.as_str(), None),
        };
        let parts: Vec<&str> = left.split(',').collect();
        if parts.len() != operands.len() {
            return Err(call.misfit(format!("the equation has {} terms", parts.len())));
        }
        let mut terms = Vec::new();
        for (part, operand) in parts.iter().zip(operands) {
            let letters = part.chars().filter(|letter| *letter != '.').count();
            let misfit = || call.misfit(format!("the term `{part}` does not fit a rank of {}", operand.rank()));
            let wide = operand.rank().checked_sub(letters).ok_or_else(misfit)?;
            let term = labels(call, part, wide)?;
            if term.len() != operand.rank() {
                return Err(misfit());
            }
            terms.push(term);
        }
        let wide = terms.iter().flatten().filter_map(|label| match label {
            EinsumAxis::Ellipsis(at) => Some(at + 1),
            EinsumAxis::Letter(_) => None,
        });
        let wide = wide.max().unwrap_or(0);
        let result = match right {
            Some(right) => labels(call, right, wide)?,
            None => {
                let mut letters: Vec<EinsumAxis> = terms.iter().flatten().copied().collect();
                letters.sort_unstable();
                let once = |label: &&EinsumAxis| letters.iter().filter(|other| other == label).count() == 1;
                let single = letters.iter().filter(|label| matches!(label, EinsumAxis::Letter(_))).filter(once);
                (0..wide).rev().map(EinsumAxis::Ellipsis).chain(single.copied()).collect()
            }
        };
        Ok(Equation { terms, result })
    }

    /// The extents of all axes.
    fn extents(&self, call: &NodeCall, operands: &[&Arc<Tensor>]) -> Result<BTreeMap<EinsumAxis, usize>, EvalError> {
        let mut extents = BTreeMap::new();
        for (term, operand) in self.terms.iter().zip(operands) {
            for (label, &extent) in term.iter().zip(operand.shape()) {
                let known = extents.entry(*label).or_insert(extent);
                if *known == 1 {
                    *known = extent;
                }
                if *known != extent && extent != 1 {
                    return Err(call.misfit(format!("an axis has extents {known} and {extent}")));
                }
            }
        }
        match self
            .result
            .iter()
            .enumerate()
            .find(|(i, label)| !extents.contains_key(label) || self.result[..*i].contains(label))
        {
            Some(_) => Err(call.refused("the result of the equation has an axis that no term has, or one twice")),
            None => Ok(extents),
        }
    }
}

/// The sum of the products of the items of operands whose axes of the same name have the same index.
pub(in crate::onnx) fn einsum(call: &NodeCall) -> KernelResult {
    let operands = call.tensors()?;
    let equation = Equation::new(call, &operands)?;
    let extents = equation.extents(call, &operands)?;
    let Some(first) = operands.first() else { return Err(call.refused("there are no operands")) };
    let dtype = first.dtype();
    if operands.iter().any(|operand| operand.dtype() != dtype) {
        return Err(call.refused("the operands have different types"));
    }
    let summed: Vec<EinsumAxis> = extents.keys().filter(|label| !equation.result.contains(label)).copied().collect();
    let order: Vec<EinsumAxis> = equation.result.iter().chain(&summed).copied().collect();
    let shape: Vec<usize> = equation.result.iter().map(|label| extents[label]).collect();
    let inner: Vec<usize> = summed.iter().map(|label| extents[label]).collect();
    let (count, group) = (call.room(&shape)?, call.room(&inner)?);
    // The places of each operand, and its items in the type of the sum.
    let places = count.saturating_add(group).saturating_mul(operands.len());
    let items = operands.iter().map(|operand| operand.len()).fold(0usize, usize::saturating_add);
    let words = if dtype.is_integer() { 2 } else { 1 };
    call.budget.memory(places.saturating_add(items.saturating_mul(words)), "the places of the operands of `Einsum`")?;
    call.budget.product(count, group.saturating_mul(operands.len() + 1))?;
    let steps: Vec<Vec<usize>> = equation
        .terms
        .iter()
        .zip(&operands)
        .map(|(term, operand)| {
            let mut of = vec![0; order.len()];
            let mut step = 1;
            for (label, &extent) in term.iter().zip(operand.shape()).rev() {
                if extent != 1
                    && let Some(at) = order.iter().position(|other| other == label)
                {
                    of[at] += step;
                }
                step *= extent;
            }
            of
        })
        .collect();
    let places = |steps: &[usize], extents: &[usize]| spread(extents.iter().copied().zip(steps.iter().copied()));
    let split = shape.len();
    let outer: Vec<Vec<usize>> = steps.iter().map(|steps| places(&steps[..split], &shape)).collect();
    let within: Vec<Vec<usize>> = steps.iter().map(|steps| places(&steps[split..], &inner)).collect();
    let data = if dtype.is_integer() {
        let items: Vec<Vec<i128>> = operands.iter().map(|operand| wide(operand).collect()).collect();
        Data::from_wide(
            dtype,
            sums(&items, (&outer, &within), 1i128, i128::wrapping_mul, i128::wrapping_add).into_iter(),
        )
    } else {
        let items = operands.iter().map(|operand| Ok(floats(operand)?.into_owned()));
        let items = items.collect::<Result<Vec<Vec<f64>>, EvalError>>()?;
        Data::from_floats(dtype, sums(&items, (&outer, &within), 1.0, |a, b| a * b, |a, b| a + b).into_iter())
    };
    one(Tensor::with(&shape, data)?)
}

/// The sums of products of items at the places of each operand.
fn sums<T: Copy + Default>(
    items: &[Vec<T>],
    (outer, inner): (&[Vec<usize>], &[Vec<usize>]),
    unit: T,
    multiply: impl Fn(T, T) -> T,
    add: impl Fn(T, T) -> T,
) -> Vec<T> {
    let (count, group) = (outer.first().map_or(0, Vec::len), inner.first().map_or(0, Vec::len));
    let sum = |at: usize| {
        (0..group).fold(T::default(), |sum, k| {
            let factors = items.iter().enumerate().map(|(i, items)| items[outer[i][at] + inner[i][k]]);
            add(sum, factors.fold(unit, &multiply))
        })
    };
    (0..count).map(sum).collect()
}
