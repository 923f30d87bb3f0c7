//! Kernels of the operations of registries, with the semantics of tract 0.23.9.

mod arrange;
mod attention;
mod einsum;
mod items;
mod recurrent;
mod resample;
mod signal;
#[cfg(test)]
mod tests;

use ndarray::ArrayD;

use super::array::pack;
use super::call::{Call, KernelResult};
use super::error::EvalError;
use super::table::Function;
use super::{selection, sources};
use crate::tensor::{DType, Tensor};

/// The kernels.
pub(super) const TABLE: &[(&str, Function)] = &[
    ("recip", items::recip),
    ("square", items::square),
    ("tract_core_external", sources::external),
    ("tract_core_cast", items::cast),
    ("tract_core_shape_of", arrange::shape_of),
    ("tract_core_range", arrange::range),
    ("tract_core_round_even", items::round_even),
    ("tract_core_hard_swish", items::hard_swish),
    ("tract_core_silu", items::silu),
    ("tract_transformers_silu", items::silu),
    ("tract_core_gelu_approx", items::gelu_approx),
    ("tract_transformers_gelu_approx", items::gelu_approx),
    ("tract_core_pow_const", items::pow_const),
    ("tract_core_is_nan", items::is_nan),
    ("tract_core_is_inf", items::is_inf),
    ("tract_core_xor", items::xor),
    ("tract_core_bitand", |call| items::bits(call, |x, y| Some(x & y))),
    ("tract_core_bitor", |call| items::bits(call, |x, y| Some(x | y))),
    ("tract_core_bitxor", |call| items::bits(call, |x, y| Some(x ^ y))),
    ("tract_core_bitnot", items::bitnot),
    ("tract_shl", |call| items::bits(call, |x, y| x.checked_shl(u32::try_from(y).ok()?))),
    ("tract_shr", |call| items::bits(call, |x, y| x.checked_shr(u32::try_from(y).ok()?))),
    ("tract_core_broadcast", arrange::broadcast),
    ("tract_core_downsample", arrange::downsample),
    ("tract_core_dyn_slice", arrange::dyn_slice),
    ("tract_core_gather", selection::gather_wrapped),
    ("tract_core_gather_elements", arrange::gather_elements),
    ("tract_core_gather_nd", arrange::gather_nd),
    ("tract_core_scatter_elements", arrange::scatter_elements),
    ("tract_core_scatter_nd", arrange::scatter_nd),
    ("tract_core_one_hot", arrange::one_hot),
    ("tract_core_trilu", arrange::trilu),
    ("tract_core_topk", arrange::topk),
    ("tract_core_argmax_reduce_last", |call| items::last_extreme(call, |a, b| a >= b, |a, b| a >= b)),
    ("tract_core_argmin_reduce_last", |call| items::last_extreme(call, |a, b| a <= b, |a, b| a <= b)),
    ("tract_core_product_reduce", items::product_reduce),
    ("tract_core_rms_norm", items::rms_norm),
    ("tract_transformers_rms_norm", items::rms_norm),
    ("tract_core_einsum", einsum::einsum),
    ("tract_core_matmul", einsum::product),
    ("tract_core_fft", signal::fft),
    ("tract_core_stft", signal::stft),
    ("tract_core_resize", resample::resize),
    ("tract_core_grid_sample", resample::grid_sample),
    ("tract_onnx_grid_sample", resample::grid_sample),
    ("tract_onnx_resize", resample::resize),
    ("tract_onnx_non_zero", arrange::non_zero),
    ("tract_onnx_lrn", items::lrn),
    ("tract_core_gru_epilogue", recurrent::gru),
    ("tract_core_lstm_epilogue", recurrent::lstm),
    ("tract_transformers_causal_conv1d_update", recurrent::causal_conv),
    ("tract_qwen35_causal_conv1d_update", recurrent::causal_conv),
    ("tract_transformers_gdn_recurrent", recurrent::gated_delta),
    ("tract_qwen35_gdn_recurrent", recurrent::gated_delta),
    ("tract_extra_exp_unit_norm", recurrent::unit_norm),
    ("tract_extra_exp_mean_norm", recurrent::mean_norm),
    ("tract_transformers_apply_rope", attention::apply_rope),
    ("tract_transformers_scaled_masked_softmax", attention::scaled_masked_softmax),
    ("tract_transformers_sdpa", attention::sdpa),
];

/// Converts an array to a tensor of an element type.
fn like(array: ArrayD<f64>, other: DType) -> Result<Tensor, EvalError> {
    if other == DType::Bool {
        let items = array.iter().map(|item| *item != 0.0).collect();
        return Ok(Tensor::logicals(array.shape(), items)?);
    }
    let tensor = pack(array)?;
    if tensor.dtype() == other {
        Ok(tensor)
    } else {
        tensor.into_type(other).map_err(|error| EvalError::value(error.0))
    }
}

/// The only result of an operation.
fn one(array: ArrayD<f64>) -> KernelResult {
    Ok(vec![pack(array)?])
}

/// An optional number.
fn number_or(call: &Call, name: &str, default: f64) -> Result<f64, EvalError> {
    if call.value(name).is_some() { call.number(name) } else { Ok(default) }
}

/// A non-negative integer, such as an extent or a number of items.
fn natural(call: &Call, name: &str) -> Result<usize, EvalError> {
    let value = call.int(name)?;
    usize::try_from(value).map_err(|_| EvalError::argument(format!("`{name}` of `{}` is {value}", call.name())))
}

/// The error of operands with incompatible shapes.
fn unfit(call: &Call, shapes: &[&[usize]]) -> EvalError {
    let shapes: Vec<String> = shapes.iter().map(|shape| format!("{shape:?}")).collect();
    EvalError::shapes(format!("`{}` of operands of shapes {}", call.name(), shapes.join(" and ")))
}
