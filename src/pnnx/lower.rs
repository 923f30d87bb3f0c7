//! Lowers operators of torch to operations of NNEF, by a table that maps kinds to rules.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod activations;
mod aten;
mod attention;
mod diagonals;
mod fills;
mod fourier;
mod grids;
mod indexing;
mod lengths;
mod linear;
mod logic;
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
mod scatter;
mod settings;
mod shaping;
mod steps;
mod terms;
mod vectors;
mod windows;

use std::borrow::Cow;
use std::cell::Cell;

use rustc_hash::FxHashMap;

use super::elements;
use super::import::expand_items;
use super::item::ExpandedItem;
use super::model::{Operator, OperatorParam};
use super::parse::{Reading, parse};
use super::tree::Expression;
use crate::Options;
use crate::diagnostics::{Diagnostics, too_many};
use crate::graph::names::NameId;
use crate::graph::operators::exact_quotient;
use crate::graph::{Extent, Primitive, Shape, TensorId, Value};
use crate::library::assembly::recurrent::RecurrentKind;
use crate::library::build::{Builder, Results};
use crate::source::{FileId, Location};

pub(super) use settings::{Lowered, Refusal};

/// The argument that is the operand of most operators.
const INPUT: &str = "input";

/// An operand of an operator that is being lowered.
pub(super) struct Operand {
    /// The name of its argument.
    name: String,
    item: ExpandedItem,
    /// Whether a rule has read it.
    used: Cell<bool>,
}

impl Operand {
    /// An operand that no rule has read.
    pub(super) fn new(name: &str, item: &ExpandedItem) -> Operand {
        Operand { name: name.to_owned(), item: item.clone(), used: Cell::new(false) }
    }
}

/// An operator that is being lowered.
pub(super) struct Line<'a> {
    pub(super) builder: &'a mut Builder,
    pub(super) operator: &'a Operator,
    pub(super) operands: Vec<Operand>,
    /// The parameters, and whether a rule has read them.
    pub(super) params: Vec<(&'a OperatorParam, Cell<bool>)>,
    /// The stored data.
    pub(super) data: &'a [(String, TensorId)],
    /// The name of the result.
    pub(super) name: NameId,
    pub(super) file: FileId,
    pub(super) options: &'a Options,
    pub(super) found: &'a mut Diagnostics,
    pub(super) counts: FxHashMap<&'static str, u32>,
}

/// The lowering of an operator.
#[derive(Clone, Copy)]
enum LoweringRule {
    /// A formula of the operand with numeric parameters: `%name` is replaced by the value or the default of each.
    With(&'static str, &'static [(&'static str, f64)]),
    /// A function that adds operations.
    By(fn(&mut Line) -> Lowered<Vec<TensorId>>),
}

use LoweringRule::{By, With};

/// A rule with the kinds of operators that it applies to.
type LoweringRow = (&'static [&'static str], LoweringRule);

/// The rules. Functions of the elements of one tensor are in the dictionary.
fn table() -> impl Iterator<Item = &'static LoweringRow> {
    let families = [
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
        vectors::ROWS,
        fourier::ROWS,
    ];
    families.into_iter().flatten()
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
    (&["nn.RReLU", "F.rrelu"], By(activations::randomized)),
    (&["nn.ELU", "F.elu"], By(|line| line.with_number("elu", "alpha", 1.0))),
    (&["nn.Hardtanh", "F.hardtanh"], By(|line| logic::clamp(line, ["min_val", "max_val"], [Some(-1.0), Some(1.0)]))),
    (&["nn.PReLU", "F.prelu"], By(prelu)),
    (&["nn.GLU", "F.glu"], By(shaping::gated)),
    (
        &[
            "nn.Dropout",
            "nn.Dropout2d",
            "nn.Identity",
            "F.dropout",
            "torch.clone",
            "torch.positive",
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
    (&["torch.chunk", "torch.split", "torch.tensor_split"], By(shaping::split)),
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
    let kind = aten::kind(line);
    let rule = table().find(|(kinds, _)| kinds.contains(&kind.as_str())).map(|(_, rule)| rule);
    let results = match rule {
        Some(With(text, params)) => vec![line.text_with(text, params)?],
        Some(By(function)) => function(line)?,
        None => vec![line.by_item(&kind)?],
    };
    if let Some(refusal) = line.unread() {
        return Err(refusal);
    }
    let wanted = line.operator.outputs.len();
    match results.len() {
        // One result may be the tuple of all.
        found if found == wanted || wanted == 1 && found > 1 => Ok(results),
        found => Err(Refusal::Because(format!("NNEF gives {found} results instead of {wanted}").into())),
    }
}

/// The extent of an axis.
fn extent_of(extents: &[i64], axis: i64) -> Lowered<i64> {
    usize::try_from(axis).ok().and_then(|axis| extents.get(axis)).copied().ok_or(Refusal::UNFIT)
}

/// A product of extents.
fn product(factors: &[i64]) -> Lowered<i64> {
    factors.iter().try_fold(1i64, |all, factor| all.checked_mul(*factor)).ok_or(Refusal::UNFIT)
}

/// The extents of a tensor whose channels, the second axis, are split into groups. None if there are other channels
/// left, or no items.
fn in_groups(extents: &[i64], groups: i64) -> Option<Vec<i64>> {
    let [batch, channels, inner @ ..] = extents else { return None };
    let each = exact_quotient(*channels, groups).filter(|_| !extents.contains(&0))?;
    Some([&[*batch, groups, each], inner].concat())
}

/// Integers as an attribute.
fn integers(items: impl IntoIterator<Item = i64>) -> Value {
    Value::Integers(items.into_iter().collect())
}

impl Line<'_> {
    /// The tensor for an argument; if operands have no argument names, the first one is `input`.
    fn tensor(&self, name: &str) -> Lowered<TensorId> {
        let sole = || self.sole().filter(|_| name == INPUT && self.data.is_empty());
        match self.operand(name).or_else(sole) {
            Some(Operand { item: ExpandedItem::Tensor(tensor), used, .. }) => {
                used.set(true);
                Ok(*tensor)
            }
            _ => Err(Refusal::Because(format!("it has no operand `{name}` that is a tensor").into())),
        }
    }

    /// Stored data with a name.
    fn stored(&self, name: &str) -> Option<TensorId> {
        self.data.iter().find(|(known, _)| known == name).map(|(_, tensor)| *tensor)
    }

    /// The extents of a tensor; all have to be known.
    fn extents(&self, tensor: TensorId) -> Lowered<Vec<i64>> {
        self.builder.graph.shape(tensor).and_then(Shape::known).ok_or(Refusal::SHAPE)
    }

    /// The extents of a tensor as far as they are known.
    fn shape(&self, tensor: TensorId) -> Lowered<Vec<Option<i64>>> {
        let shape = self.builder.graph.shape(tensor).ok_or(Refusal::SHAPE)?;
        Ok(shape.extents().iter().map(Extent::known).collect())
    }

    fn rank(&self, tensor: TensorId) -> Lowered<i64> {
        self.builder.graph.shape(tensor).map(|shape| shape.rank() as i64).ok_or(Refusal::SHAPE)
    }

    /// Adds an operation and infers the shape of its result, whose elements follow from the operands.
    fn add(&mut self, nnef: &'static str, arguments: Vec<Value>) -> Lowered<TensorId> {
        let of = elements::of_result(&self.builder.graph, nnef, &arguments);
        self.add_of(nnef, of, arguments)
    }

    /// Adds an operation whose result has elements of a type: by default, what it declares.
    fn add_of(&mut self, nnef: &'static str, of: Option<Primitive>, arguments: Vec<Value>) -> Lowered<TensorId> {
        if self.builder.graph.operations().len() as u64 >= self.options.max_ops {
            return Err(Refusal::Because(too_many("the graph", self.options.max_ops, "operations").into()));
        }
        if arguments.iter().any(|value| matches!(value, Value::Scalar(scalar) if !scalar.is_finite())) {
            return Err(Refusal::Because(
                format!("`{nnef}` would have an argument that is not a finite number").into(),
            ));
        }
        let name = self.fresh(nnef);
        let added = self.builder.add(nnef, of, arguments, Results::Each(&[(name, None)]));
        let tensor = added.ok().and_then(|tensors| tensors.first().copied()).ok_or(Refusal::UNFIT)?;
        self.builder.infer(tensor).map_err(|_| Refusal::UNFIT)?;
        Ok(tensor)
    }

    /// Adds an operation whose result is an array of tensors.
    fn add_array(&mut self, nnef: &'static str, arguments: Vec<Value>, count: usize) -> Lowered<Vec<TensorId>> {
        let results: Vec<_> = (0..count).map(|_| (self.fresh(nnef), None)).collect();
        let of = elements::of_result(&self.builder.graph, nnef, &arguments);
        let added = self.builder.add(nnef, of, arguments, Results::Array(&results));
        let tensors = added.map_err(|_| Refusal::UNFIT)?;
        self.builder.infer(*tensors.first().ok_or(Refusal::UNFIT)?).map_err(|_| Refusal::UNFIT)?;
        Ok(tensors.into_vec())
    }

    fn fresh(&mut self, nnef: &'static str) -> NameId {
        let count = self.counts.entry(nnef).or_default();
        *count = count.saturating_add(1);
        self.builder.numbered(self.name, nnef, *count)
    }

    /// Adds an expression of the operands by number.
    fn text_of(&mut self, text: &str) -> Lowered<TensorId> {
        for (number, operand) in self.operands.iter().enumerate() {
            if text.contains(&format!("@{number}")) {
                operand.used.set(true);
            }
        }
        let items: Vec<ExpandedItem> = self.operands.iter().map(|operand| operand.item.clone()).collect();
        self.text(text, &items)
    }

    /// Adds a formula with names of the dictionary.
    fn text(&mut self, text: &str, operands: &[ExpandedItem]) -> Lowered<TensorId> {
        self.read(text, operands, Reading { template: true, ..Reading::default() })
    }

    /// Adds an expression with the names that files have.
    fn spelled(&mut self, text: &str, operands: &[ExpandedItem]) -> Lowered<TensorId> {
        self.read(text, operands, Reading::default())
    }

    fn read(&mut self, text: &str, operands: &[ExpandedItem], reading: Reading) -> Lowered<TensorId> {
        const NONE: Refusal =
            Refusal::Because(Cow::Borrowed("an expression of its operands has no counterpart in NNEF"));
        let parsed = parse(text, (self.file, 0), reading).map_err(|_| NONE)?.0;
        match self.expression(&parsed.expression, operands) {
            ExpandedItem::Tensor(tensor) => Ok(tensor),
            _ => Err(NONE),
        }
    }

    /// Adds an expression, which may be a list.
    fn expression(&mut self, expression: &Expression, operands: &[ExpandedItem]) -> ExpandedItem {
        let name = self.fresh("expr");
        let at = (self.file, Some(Location::new(self.file, self.operator.span)));
        expand_items(self.builder, expression, operands, name, at, self.options, self.found)
    }

    /// Adds an expression of the operand with numeric parameters.
    fn text_with(&mut self, text: &str, params: &[(&str, f64)]) -> Lowered<TensorId> {
        let mut text = text.to_owned();
        for (key, default) in params {
            let number = self.setting_or(key, *default)?;
            text = text.replace(&format!("%{key}"), &format!("{number:?}"));
        }
        let x = self.tensor("input")?;
        self.text(&text, &[ExpandedItem::Tensor(x)])
    }

    /// Adds an operation on one tensor and a number.
    fn with_number(&mut self, nnef: &'static str, key: &str, default: f64) -> Lowered<Vec<TensorId>> {
        let number = self.setting_or(key, default)?;
        let x = self.tensor("input")?;
        Ok(vec![self.add(nnef, vec![Value::Tensor(x), Value::Scalar(number)])?])
    }

    /// Adds axes of extent 1 to a tensor.
    fn with_axes(&mut self, tensor: TensorId, axes: Vec<i64>) -> Lowered<TensorId> {
        if axes.is_empty() {
            return Ok(tensor);
        }
        self.add("unsqueeze", vec![Value::Tensor(tensor), integers(axes)])
    }

    /// Adds leading axes of extent 1 to a tensor up to a rank.
    fn with_rank(&mut self, tensor: TensorId, rank: i64) -> Lowered<TensorId> {
        let more = rank.saturating_sub(self.rank(tensor)?);
        self.with_axes(tensor, (0..more).collect())
    }
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
