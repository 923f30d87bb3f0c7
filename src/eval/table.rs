//! The table of standard operations, of both dialects.

use super::call::{Call, KernelResult};
use super::{arrange, conv, elementwise, matmul, pool, reduce, resize, roi, sections, selection, sources};

/// A function that evaluates an operation.
pub(crate) type Function = fn(&Call) -> KernelResult;

/// The kernels of standard operations, except for element-wise functions. Compounds without a kernel
/// are evaluated by their definitions.
pub(crate) const OPERATIONS: &[(&str, Function)] = &[
    // Sources, 4.1 and 4.8.
    ("external", sources::external),
    ("constant", sources::constant),
    ("variable", sources::variable),
    ("update", sources::update),
    // Element-wise operations, 4.2; `idn` is the draft's `copy`.
    ("copy", elementwise::copy),
    ("idn", elementwise::copy),
    ("select", elementwise::select),
    ("cast", elementwise::cast),
    // Windows, 4.3.
    ("conv", conv::conv),
    ("deconv", conv::deconv),
    ("box", pool::box_filter),
    ("debox", pool::debox),
    ("avg_pool", pool::avg_pool),
    ("max_pool", pool::max_pool),
    ("max_pool_with_index", pool::max_pool_with_index),
    ("argmax_pool", pool::argmax_pool),
    ("sample", pool::sample),
    ("desample", pool::desample),
    ("multilinear_upsample", resize::multilinear_upsample),
    // Reductions, 4.4.
    ("sum_reduce", reduce::sum_reduce),
    ("mean_reduce", reduce::mean_reduce),
    ("max_reduce", reduce::max_reduce),
    ("min_reduce", reduce::min_reduce),
    ("argmax_reduce", reduce::argmax_reduce),
    ("argmin_reduce", reduce::argmin_reduce),
    ("any_reduce", reduce::any_reduce),
    ("all_reduce", reduce::all_reduce),
    ("softmax", reduce::softmax),
    // Shapes, 4.5.
    ("reshape", arrange::reshape),
    ("squeeze", arrange::squeeze),
    ("unsqueeze", arrange::unsqueeze),
    ("transpose", arrange::transpose),
    ("split", sections::split),
    ("concat", sections::concat),
    ("stack", sections::stack),
    ("unstack", sections::unstack),
    ("slice", selection::slice),
    ("pad", selection::pad),
    ("tile", selection::tile),
    ("gather", selection::gather),
    // Regions of interest, 4.6.
    ("avg_roi_pool", roi::avg_roi_pool),
    ("max_roi_pool", roi::max_roi_pool),
    ("roi_resample", roi::roi_resample),
    ("avg_roi_align", roi::avg_roi_align),
    ("max_roi_align", roi::max_roi_align),
    // Matrices, 4.7 and 4.9.2.
    ("matmul", matmul::matmul),
    ("linear", matmul::linear),
];

/// The kernel of a standard operation, if there is one.
pub(crate) fn standard(name: &str) -> Option<Function> {
    let row = OPERATIONS.iter().find(|(known, _)| *known == name);
    let known = || elementwise::find(name).map(|_| elementwise::elementwise as Function);
    row.map(|(_, function)| *function).or_else(known)
}
