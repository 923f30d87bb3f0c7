//! Lowers operators of torch to operations of NNEF, by a table that maps kinds to rules.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod activations;
mod aten;
mod attention;
mod bags;
mod bits;
mod complex;
mod diagonals;
mod encoder;
mod fills;
mod fourier;
mod grids;
mod indexing;
mod lengths;
mod line;
mod linear;
mod logic;
mod losses;
mod moves;
mod norms;
mod order;
mod patches;
mod pools;
mod recurrent;
mod reductions;
mod resample;
mod resize;
mod running;
mod sampling;
mod scatter;
mod settings;
mod shaping;
mod special;
mod spectra;
mod steps;
mod terms;
mod vectors;
pub(crate) mod windows;

use std::cell::Cell;

use crate::diagnostics::suggest;
use crate::dictionary;
use crate::graph::operators::exact_quotient;
use crate::graph::{TensorId, Value};
use crate::library::recurrent::RecurrentKind;
use crate::parts::TRANSLATION;
use crate::pnnx::item::ExpandedItem;
use crate::pnnx::model::{Operator, OperatorParam, Role};

use super::expression_table::Op;
use crate::library::assembly::integers;
pub(crate) use line::Line;
pub(super) use line::Operand;
use line::{LoweringRow, LoweringRule, extent_of, in_groups, product};
pub(crate) use settings::{Lowered, Refusal};

use crate::library::assembly::Assembly;
use LoweringRule::{By, With};
pub(super) use complex::computed;

/// The rules, by families. Functions of the elements of one tensor are in the dictionary.
const FAMILIES: &[&[LoweringRow]] = &[
    TABLE,
    logic::ROWS,
    fills::ROWS,
    indexing::ROWS,
    scatter::ROWS,
    order::ROWS,
    running::ROWS,
    moves::ROWS,
    diagonals::ROWS,
    lengths::ROWS,
    losses::ROWS,
    vectors::ROWS,
    fourier::WHOLE,
    fourier::HALVES,
    fourier::REAL,
    spectra::ROWS,
    special::ROWS,
    bags::ROWS,
    encoder::ROWS,
    complex::ROWS,
];

fn table() -> impl Iterator<Item = &'static LoweringRow> {
    FAMILIES.iter().copied().flatten()
}

/// The kinds that have rules. Also builds without translation know them, to tell what is misspelt: this copy, which the
/// compiler makes, does not bring the rules along.
static KINDS: [&[&str]; number_of_rules()] = kinds();

const fn number_of_rules() -> usize {
    let (mut families, mut number) = (FAMILIES, 0usize);
    while let Some((rows, others)) = families.split_first() {
        number = number.saturating_add(rows.len());
        families = others;
    }
    number
}

const fn kinds() -> [&'static [&'static str]; number_of_rules()] {
    let mut found: [&[&str]; number_of_rules()] = [&[]; number_of_rules()];
    let (mut families, mut rows, mut places): (_, &[LoweringRow], &mut [&[&str]]) = (FAMILIES, &[], &mut found);
    loop {
        if let Some((row, rest)) = rows.split_first() {
            let Some((place, behind)) = places.split_first_mut() else { break };
            *place = row.0;
            (rows, places) = (rest, behind);
        } else if let Some((family, others)) = families.split_first() {
            (rows, families) = (*family, others);
        } else {
            break;
        }
    }
    found
}

/// Rules of layers, and of other operators that are older than the families.
const TABLE: &[LoweringRow] = &[
    (&["nn.CELU", "F.celu"], With(CELU, &[("alpha", 1.0)])),
    (
        &["nn.Threshold", "F.threshold"],
        With("select(gt(@0,%threshold),@0,%value)", &[("threshold", 0.0), ("value", 0.0)]),
    ),
    (&["nn.Hardshrink", "F.hardshrink"], With("select(gt(abs(@0),%lambd),@0,0.0)", &[("lambd", 0.5)])),
    (&["nn.Softshrink", "F.softshrink"], With("mul(sign(@0),maximum(sub(abs(@0),%lambd),0.0))", &[("lambd", 0.5)])),
    (&["nn.Softplus", "F.softplus"], With(SOFTPLUS, &[("beta", 1.0), ("threshold", 20.0)])),
    (&["nn.GELU", "F.gelu"], By(activations::gelu)),
    (&["nn.LeakyReLU", "F.leaky_relu"], By(|line| line.with_number("leaky_relu", "negative_slope", 0.01))),
    (&["torch.erf"], By(activations::erf)),
    (&["torch.lgamma", "torch.special.gammaln"], By(activations::log_gamma)),
    (&["nn.RReLU", "F.rrelu"], By(activations::randomized)),
    (&["nn.ELU", "F.elu"], By(activations::elu)),
    (&["nn.Hardtanh", "F.hardtanh"], By(|line| logic::clamp(line, ["min_val", "max_val"], [Some(-1.0), Some(1.0)]))),
    (&["nn.PReLU", "F.prelu"], By(prelu)),
    (&["nn.GLU", "F.glu"], By(shaping::gated)),
    (
        &[
            "nn.Dropout",
            "nn.Dropout2d",
            "nn.Dropout3d",
            "nn.AlphaDropout",
            "nn.FeatureAlphaDropout",
            "nn.Identity",
            "F.dropout",
            "F.dropout2d",
            "F.dropout3d",
            "F.alpha_dropout",
            "F.feature_alpha_dropout",
            "torch.clone",
            "torch.positive",
            "torch.real",
            "torch.conj",
            "Tensor.clone",
            "Tensor.contiguous",
            "Tensor.detach",
        ],
        By(identity),
    ),
    (&["nn.Linear", "F.linear"], By(linear::linear)),
    (&["torch.addmm"], By(linear::addmm)),
    (&["nn.Embedding", "F.embedding"], By(linear::embedding)),
    (&["F.scaled_dot_product_attention"], By(attention::scaled)),
    (&["nn.MultiheadAttention"], By(attention::multihead)),
    (&["torch.einsum"], By(linear::einsum)),
    (&["nn.LSTM"], By(|line| recurrent::layers(line, RecurrentKind::Lstm))),
    (&["nn.GRU"], By(|line| recurrent::layers(line, RecurrentKind::Gru))),
    (&["nn.RNN"], By(|line| recurrent::layers(line, RecurrentKind::Rnn))),
    (&["nn.Conv1d", "nn.Conv2d", "nn.Conv3d", "F.conv1d", "F.conv2d", "F.conv3d"], By(windows::conv)),
    (
        &[
            "nn.ConvTranspose1d",
            "nn.ConvTranspose2d",
            "nn.ConvTranspose3d",
            "F.conv_transpose1d",
            "F.conv_transpose2d",
            "F.conv_transpose3d",
        ],
        By(windows::deconv),
    ),
    (
        &["nn.MaxPool1d", "nn.MaxPool2d", "nn.MaxPool3d", "F.max_pool1d", "F.max_pool2d", "F.max_pool3d"],
        By(windows::max_pool),
    ),
    (
        &["nn.AvgPool1d", "nn.AvgPool2d", "nn.AvgPool3d", "F.avg_pool1d", "F.avg_pool2d", "F.avg_pool3d"],
        By(windows::avg_pool),
    ),
    (
        &[
            "nn.AdaptiveAvgPool1d",
            "nn.AdaptiveAvgPool2d",
            "nn.AdaptiveAvgPool3d",
            "F.adaptive_avg_pool1d",
            "F.adaptive_avg_pool2d",
            "F.adaptive_avg_pool3d",
        ],
        By(pools::adaptive_mean),
    ),
    (
        &[
            "nn.AdaptiveMaxPool1d",
            "nn.AdaptiveMaxPool2d",
            "nn.AdaptiveMaxPool3d",
            "F.adaptive_max_pool1d",
            "F.adaptive_max_pool2d",
            "F.adaptive_max_pool3d",
        ],
        By(pools::adaptive_max),
    ),
    (&["nn.BatchNorm1d", "nn.BatchNorm2d", "nn.BatchNorm3d", "F.batch_norm"], By(norms::batch_norm)),
    (&["nn.LayerNorm", "F.layer_norm"], By(norms::layer_norm)),
    (&["nn.RMSNorm", "F.rms_norm"], By(norms::rms_norm)),
    (&["nn.GroupNorm", "F.group_norm"], By(norms::group_norm)),
    (&["nn.InstanceNorm1d", "nn.InstanceNorm2d", "nn.InstanceNorm3d", "F.instance_norm"], By(norms::instance_norm)),
    (&["nn.LocalResponseNorm", "F.local_response_norm"], By(norms::local_response)),
    (&["nn.Softmax", "F.softmax"], By(reductions::softmax)),
    (&["nn.Softmin", "F.softmin"], By(reductions::softmin)),
    (&["nn.Softmax2d"], By(reductions::softmax_of_channels)),
    (&["nn.LogSoftmax", "F.log_softmax"], By(reductions::log_softmax)),
    (&["torch.sum"], By(|line| reductions::reduce(line, "sum_reduce"))),
    (&["torch.mean"], By(|line| reductions::reduce(line, "mean_reduce"))),
    (&["torch.amax"], By(|line| reductions::reduce(line, "max_reduce"))),
    (&["torch.amin"], By(|line| reductions::reduce(line, "min_reduce"))),
    (&["torch.max"], By(|line| reductions::extreme(line, ["maximum", "max_reduce", "argmax_reduce"]))),
    (&["torch.min"], By(|line| reductions::extreme(line, ["minimum", "min_reduce", "argmin_reduce"]))),
    (&["torch.aminmax"], By(reductions::extremes)),
    (&["torch.count_nonzero"], By(reductions::count)),
    (&["torch.var"], By(|line| reductions::variance(line, false))),
    (&["torch.std"], By(|line| reductions::variance(line, true))),
    (&["torch.logsumexp"], By(reductions::log_sum_exp)),
    (&["torch.transpose"], By(shaping::transpose)),
    (&["torch.permute", "Tensor.permute"], By(shaping::permute)),
    (&["torch.t"], By(shaping::turn)),
    (&["Tensor.reshape", "Tensor.view", "torch.reshape"], By(shaping::reshape)),
    (&["torch.flatten"], By(shaping::flatten)),
    (&["torch.squeeze"], By(shaping::squeeze)),
    (&["torch.unsqueeze"], By(shaping::unsqueeze)),
    (&["torch.cat"], By(shaping::cat)),
    (&["torch.stack"], By(shaping::stack)),
    (&["torch.vstack"], By(|line| shaping::beside(line, 0))),
    (&["torch.hstack"], By(|line| shaping::beside(line, 1))),
    (&["torch.dstack"], By(|line| shaping::beside(line, 2))),
    (
        &["torch.chunk", "torch.unsafe_chunk", "torch.split", "torch.unsafe_split", "torch.tensor_split"],
        By(shaping::split),
    ),
    (&["torch.unbind"], By(shaping::unbind)),
    (&["Tensor.select"], By(shaping::select)),
    (&["Tensor.slice"], By(shaping::slice)),
    (&["Tensor.repeat", "torch.tile"], By(shaping::repeat)),
    (&["F.pad"], By(resample::pad)),
    (
        &["nn.ZeroPad1d", "nn.ZeroPad2d", "nn.ZeroPad3d", "nn.ConstantPad1d", "nn.ConstantPad2d", "nn.ConstantPad3d"],
        By(|line| resample::pad_with(line, "constant")),
    ),
    (
        &["nn.CircularPad1d", "nn.CircularPad2d", "nn.CircularPad3d"],
        By(|line| resample::pad_with(line, resample::CIRCULAR)),
    ),
    (
        &["nn.ReflectionPad1d", "nn.ReflectionPad2d", "nn.ReflectionPad3d"],
        By(|line| resample::pad_with(line, "reflect")),
    ),
    (
        &["nn.ReplicationPad1d", "nn.ReplicationPad2d", "nn.ReplicationPad3d"],
        By(|line| resample::pad_with(line, "replicate")),
    ),
    (
        &[
            "nn.Upsample",
            "nn.UpsamplingNearest2d",
            "nn.UpsamplingBilinear2d",
            "F.interpolate",
            "F.upsample",
            "F.upsample_nearest",
            "F.upsample_bilinear",
        ],
        By(resize::interpolate),
    ),
    (&["nn.LPPool1d", "nn.LPPool2d", "nn.LPPool3d", "F.lp_pool1d", "F.lp_pool2d", "F.lp_pool3d"], By(pools::norms)),
    (&["nn.Unfold", "F.unfold"], By(patches::unfold)),
    (&["nn.Fold", "F.fold"], By(patches::fold)),
    (&["F.affine_grid"], By(grids::affine)),
    (&["F.grid_sample"], By(sampling::grid)),
    (&["torchvision.ops.DeformConv2d"], By(sampling::deformed)),
    (&["torchvision.ops.RoIAlign"], By(sampling::aligned_regions)),
    (&["nn.PixelShuffle", "F.pixel_shuffle"], By(resample::pixel_shuffle)),
    (&["nn.PixelUnshuffle", "F.pixel_unshuffle"], By(resample::pixel_unshuffle)),
    (&["nn.ChannelShuffle", "F.channel_shuffle"], By(resample::channel_shuffle)),
];

/// Softplus, which torch replaces by the operand from a threshold on.
const SOFTPLUS: &str = "select(gt(mul(@0,%beta),%threshold),@0,div(logaddexp(mul(@0,%beta),0.0),%beta))";
/// CELU.
const CELU: &str = "add(maximum(@0,0.0),mul(%alpha,expm1(div(minimum(@0,0.0),%alpha))))";

/// Lowers an operator and returns its results.
///
/// # Errors
///
/// The table has no rule for it, the rule does not support its operands or settings, or it does not use all of them.
pub(super) fn lower(line: &mut Line) -> Lowered<Vec<TensorId>> {
    if let Some(part) = TRANSLATION.missing() {
        return Err(Refusal::Because(part.reason().into()));
    }
    let kind = aten::kind(line);
    line.kind.clone_from(&kind);
    let results = if line.has_complex() { complex::lowered(line, &kind)? } else { by_rule(line, &kind)? };
    if let Some(refusal) = line.unread() {
        return Err(refusal);
    }
    let wanted = line.operator.outputs.len();
    match results.len() {
        // Nothing reads the results behind those that are needed.
        found if found < wanted && found >= line.needed => Ok(results),
        // One result may be the tuple of all.
        found if found == wanted || wanted == 1 && found > 1 => Ok(results),
        found => Err(Refusal::Because(format!("NNEF gives {found} results instead of {wanted}").into())),
    }
}

/// The kind that one of the same module for which there is no rule probably misspells.
pub(super) fn misspelt(kind: &str) -> Option<&'static str> {
    let known = || {
        let in_dictionary = dictionary::all().flat_map(|row| row.torch.split_ascii_whitespace());
        KINDS.iter().flat_map(|kinds| kinds.iter().copied()).chain(in_dictionary)
    };
    let (module, name) = kind.rsplit_once('.')?;
    if known().any(|known| known == kind) || Op::named(name).is_some() {
        return None;
    }
    // Torch has many names without a rule, which differ in a letter or two from those with one.
    let meant =
        |known: &&str| known.rsplit_once('.').is_some_and(|(of, known)| of == module && suggest::anagram(name, known));
    known().find(meant)
}

/// The results of the rule for a kind of operators.
fn by_rule(line: &mut Line, kind: &str) -> Lowered<Vec<TensorId>> {
    match table().find(|(kinds, _)| kinds.contains(&kind)).map(|(_, rule)| rule) {
        Some(rule) => rule.apply(line),
        None => Ok(vec![line.by_item(kind)?]),
    }
}

/// Adds the operations of an operator of torch with these operands and parameters, in a line of another notation.
///
/// # Errors
///
/// It has no counterpart in NNEF.
pub(crate) fn torch(
    line: &mut Line,
    kind: &str,
    operands: &[(&str, TensorId)],
    parameters: &[(&str, String)],
) -> Lowered<TensorId> {
    let params = parameters.iter().map(|(key, text)| OperatorParam::new(Role::Value, key, text.as_str())).collect();
    let operator = Operator {
        kind: kind.to_owned(),
        params,
        outputs: vec![String::new()],
        span: line.operator.span,
        ..Operator::default()
    };
    let operand = |(key, tensor): &(&str, TensorId)| Operand::new(key, &ExpandedItem::Tensor(*tensor));
    let mut inner = Line {
        builder: line.builder,
        operator: &operator,
        kind: operator.kind.clone(),
        operands: operands.iter().map(operand).collect(),
        params: operator.params.iter().map(|param| (param, Cell::new(false))).collect(),
        data: &[],
        name: line.name,
        file: line.file,
        options: line.options,
        found: line.found,
        complex: line.complex,
        counts: std::mem::take(&mut line.counts),
        needed: 1,
    };
    let results = lower(&mut inner);
    line.counts = inner.counts;
    results?.first().copied().ok_or(Refusal::UNFIT)
}

/// The operand itself: copies, and what does something only in training.
fn identity(line: &mut Line) -> Lowered<Vec<TensorId>> {
    line.off("training")?;
    ["p", "memory_format"].iter().for_each(|key| line.ignore(key));
    Ok(vec![line.tensor("input")?])
}

fn prelu(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let weight = line.data("weight")?;
    line.agrees("num_parameters", &line.shape(weight)?)?;
    // Channels are the second axis.
    let weight = if line.rank(x)? > 1 { line.with_axes(weight, vec![0])? } else { weight };
    Ok(vec![line.add("prelu", vec![Value::Tensor(x), Value::Tensor(weight)])?])
}

#[cfg(test)]
mod tests;
