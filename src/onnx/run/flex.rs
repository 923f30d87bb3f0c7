//! Attention whose scores and weights are changed by graphs.

use super::control::{Control, ControlResult};
use super::kernels::cast::converted;
use super::kernels::linear::product;
use super::node_call::{NodeCall, floats, one};
use crate::eval::EvalError;
use crate::tensor::kernels::soften;
use crate::tensor::value::RunValue;
use crate::tensor::{DType, Tensor};

/// A stack of matrices, one for each head of each batch.
struct HeadStack {
    tensor: Tensor,
}

impl HeadStack {
    fn read(call: &NodeCall, i: usize, precision: DType) -> Result<Self, EvalError> {
        let tensor = converted(call, call.tensor(i)?, precision)?;
        match tensor.rank() {
            4 => Ok(HeadStack { tensor }),
            rank => Err(call.misfit(format!("operand {i} has rank {rank}, not 4"))),
        }
    }

    fn count(&self) -> usize {
        self.tensor.shape()[1]
    }

    /// The heads, each as often as groups of queries share it.
    fn shared(&self, call: &NodeCall, count: usize) -> Result<Tensor, EvalError> {
        let own = self.count();
        if own == 0 || !count.is_multiple_of(own) {
            return Err(call.misfit(format!("{count} heads of queries share {own} heads of keys")));
        }
        let mut along = self.tensor.places();
        along[1] = (0..count).map(|head| Some(head / (count / own))).collect();
        call.room(&along.iter().map(Vec::len).collect::<Vec<_>>())?;
        Ok(self.tensor.taken(&along, 0.0))
    }
}

/// What a graph makes of a tensor; the tensor itself without such a graph.
fn modified<'c, 'm>(
    at: &Control<'c, 'm>,
    call: &NodeCall<'c, 'm>,
    name: &str,
    x: Tensor,
) -> Result<Tensor, super::RunFailure> {
    if !call.has_attribute(name) {
        return Ok(x);
    }
    let shape = x.shape().to_vec();
    let body = at.graph(call, name)?;
    match at.run(&body, vec![x.into()])?.pop() {
        Some(RunValue::Tensor(result)) if *result.shape() == *shape => Ok(std::sync::Arc::unwrap_or_clone(result)),
        _ => Err(call.misfit(format!("the graph of `{name}` does not keep the shape {shape:?}")).into()),
    }
}

/// Attention with the graphs `score_mod` and `prob_mod`.
pub(super) fn flex_attention<'c, 'm>(at: &Control<'c, 'm>, call: &NodeCall<'c, 'm>) -> ControlResult {
    let dtype = call.tensor(0)?.dtype();
    let default = if dtype == DType::Float64 { dtype } else { DType::Float32 };
    let precision = call.dtype_attribute("softmax_precision")?.unwrap_or(default);
    let (q, k, v) = (
        HeadStack::read(call, 0, precision)?,
        HeadStack::read(call, 1, precision)?,
        HeadStack::read(call, 2, precision)?,
    );
    let heads = q.count();
    let size = q.tensor.shape()[3];
    let scale = call.float("scale")?.unwrap_or(1.0 / (size as f64).sqrt());
    let products = product(call, &q.tensor, &k.shared(call, heads)?.transposed(&[0, 1, 3, 2]))?;
    let scaled = floats(&products)?.iter().map(|item| item * scale).collect::<Vec<_>>();
    let scores = modified(at, call, "score_mod", call.rounded(precision, products.shape(), scaled)?)?;
    let mut items = floats(&scores)?.into_owned();
    let keys = scores.shape()[3];
    items.chunks_exact_mut(keys.max(1)).for_each(soften);
    let weights = modified(at, call, "prob_mod", call.rounded(precision, scores.shape(), items)?)?;
    let result = product(call, &weights, &v.shared(call, heads)?)?;
    Ok(one(converted(call, &result, dtype)?)?)
}
