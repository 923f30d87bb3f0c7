//! Merges: arithmetic with constants behind a product, or before it, goes into its weights. Results are rounded in other
//! places then, so that these rules are not used unless they are asked for.

use super::row::RuleChange;
use super::step::{SimplifyStep, given};
use crate::eval::{Budget, Limits};
use crate::graph::names::NameId;
use crate::onnx::model::{NodeProto, TensorProto, Values};
use crate::onnx::run::{Stores, tensor_of, tensor_proto};
use crate::tensor::{Data, Tensor};

/// The bytes up to which a constant that other nodes use, too, is said again.
const SHARED: u64 = 1024;

/// The first version of `Add` and its kin that broadcast as numpy does, and of `BatchNormalization` with one number for each
/// channel.
const BROADCAST: i64 = 7;
const BY_CHANNEL: i64 = 9;

/// The default of `epsilon`.
const EPSILON: f32 = 1e-5;

/// The operators whose weights are constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProductKind {
    Conv,
    ConvTranspose,
    Gemm,
    MatMul,
}

/// A product with weights, for which there is one use.
struct WeightedProduct<'s> {
    node: &'s NodeProto,
    kind: ProductKind,
    weights: Tensor,
    groups: usize,
    /// Whether the weights of a `Gemm` are transposed.
    transposed: bool,
    /// The number of channels of its result, and the axis that they have, counted from the last one.
    channels: usize,
    from_last: usize,
}

/// A factor and an offset for each channel; one number is for all.
struct ChannelLine {
    factors: Vec<f64>,
    offsets: Vec<f64>,
}

impl ChannelLine {
    fn is_scale(&self) -> bool {
        self.offsets.iter().all(|offset| *offset == 0.0)
    }
}

fn at(list: &[f64], channel: usize) -> f64 {
    list.get(if list.len() == 1 { 0 } else { channel }).copied().unwrap_or(f64::NAN)
}

/// A constant of floats in the model that only this node uses, or that is small.
fn floats(step: &SimplifyStep, name: NameId) -> Option<Tensor> {
    let constant = step.scope.constant(name).filter(|constant| !constant.is_external())?;
    let tensor = tensor_of(constant, &Stores::new(None), &Budget::new(Limits::default())).ok()?;
    let is_own = step.uses_of(name) == 1 || tensor.bytes() <= SHARED;
    (is_own && tensor.dtype().is_float() && !tensor.is_empty()).then_some(tensor)
}

/// The product that a value comes from, in the graph of this node, if nothing else uses the value.
fn product<'s>(step: &SimplifyStep<'s, '_>, value: NameId) -> Option<WeightedProduct<'s>> {
    let node = step.own(value).filter(|node| step.uses_of(value) == 1 && node.outputs.len() == 1)?;
    weighted(step, node)
}

fn weighted<'s>(step: &SimplifyStep<'s, '_>, node: &'s NodeProto) -> Option<WeightedProduct<'s>> {
    let kind = match step.operator(node) {
        "Conv" => ProductKind::Conv,
        "ConvTranspose" => ProductKind::ConvTranspose,
        "Gemm" => ProductKind::Gemm,
        "MatMul" => ProductKind::MatMul,
        _ => return None,
    };
    let weights = floats(step, given(node, 1)?)?;
    let shape = weights.shape();
    let groups = usize::try_from(step.int(node, "group", 1)?).ok().filter(|groups| *groups > 0)?;
    let transposed = step.int(node, "transB", 0)? != 0;
    let from_last = if kind == ProductKind::Conv || kind == ProductKind::ConvTranspose {
        shape.len() - 2.min(shape.len())
    } else {
        0
    };
    let channels = match (kind, shape) {
        (ProductKind::Conv, [channels, _, _, ..]) => *channels,
        (ProductKind::ConvTranspose, [_, each, _, ..]) => each.checked_mul(groups)?,
        (ProductKind::Gemm, [channels, _]) if transposed => *channels,
        (ProductKind::Gemm, [_, channels]) => *channels,
        (ProductKind::MatMul, [.., _, channels]) => *channels,
        _ => return None,
    };
    Some(WeightedProduct { node, kind, weights, groups, transposed, channels, from_last })
}

impl WeightedProduct<'_> {
    /// The channel of the result that an item of the weights belongs to.
    fn channel(&self, item: usize) -> usize {
        let shape = self.weights.shape();
        let behind = |axis: usize| shape.iter().skip(axis + 1).product::<usize>().max(1);
        match self.kind {
            ProductKind::Conv => item / behind(0),
            ProductKind::ConvTranspose => {
                let (inputs, each) = (shape[0], shape[1]);
                let (input, own) = (item / behind(0), item / behind(1) % each);
                input / (inputs / self.groups).max(1) * each + own
            }
            ProductKind::Gemm if self.transposed => item / behind(0),
            ProductKind::Gemm | ProductKind::MatMul => item % self.channels,
        }
    }

    /// The number of channels of the operand, if an item of the weights belongs to one of them.
    fn inputs(&self) -> Option<usize> {
        match (self.kind, self.weights.shape()) {
            (ProductKind::Conv, [_, inputs, ..]) if self.groups == 1 => Some(*inputs),
            (ProductKind::ConvTranspose, [inputs, ..]) => Some(*inputs),
            (ProductKind::Gemm, [_, inputs]) if self.transposed => Some(*inputs),
            (ProductKind::Gemm, [inputs, _]) | (ProductKind::MatMul, [.., inputs, _]) => Some(*inputs),
            _ => None,
        }
    }

    /// The channel of the operand that an item of the weights belongs to.
    fn input(&self, item: usize) -> usize {
        let shape = self.weights.shape();
        let behind = |axis: usize| shape.iter().skip(axis + 1).product::<usize>().max(1);
        match self.kind {
            ProductKind::Conv => item / behind(1) % shape[1],
            ProductKind::ConvTranspose => item / behind(0),
            ProductKind::Gemm if self.transposed => item % shape[1],
            ProductKind::Gemm => item / shape[1],
            ProductKind::MatMul => item / self.channels % shape[shape.len() - 2],
        }
    }

    /// The weights, each multiplied by a number; none if a product is not finite.
    fn scaled(&self, factor: impl Fn(usize) -> f64) -> Option<TensorProto> {
        let data = self.weights.data();
        let items = (0..data.len()).map(|item| data.float(item) * factor(item));
        made(self.weights.shape(), Data::from_floats(self.weights.dtype(), items))
    }

    /// The bias, multiplied and with offsets; none within if there is none and none is needed.
    fn bias(&self, step: &SimplifyStep, line: &ChannelLine) -> Option<Option<TensorProto>> {
        let old = match given(self.node, 2) {
            Some(name) => {
                let old = floats(step, name)?;
                let is_by_channel = old.len() == self.channels && old.shape().last() == Some(&self.channels);
                (old.len() == 1 || is_by_channel).then_some(old.to_scalars())?
            }
            None if line.is_scale() => return Some(None),
            None => vec![0.0],
        };
        let item = |channel: usize| at(&old, channel) * at(&line.factors, channel) + at(&line.offsets, channel);
        made(&[self.channels], Data::from_floats(self.weights.dtype(), (0..self.channels).map(item))).map(Some)
    }

    /// Whether the bias is added as it is.
    fn has_plain_bias(&self, step: &SimplifyStep) -> bool {
        step.read(self.node, "beta", 1.0f32) == Some(1.0)
    }
}

/// A constant, if all items are finite.
fn made(shape: &[usize], data: Data) -> Option<TensorProto> {
    let is_finite = (0..data.len()).all(|item| data.float(item).is_finite());
    is_finite.then(|| Some(tensor_proto(&Tensor::new(shape, data)?, None)))?
}

/// The product with a line for each channel in its weights and its bias.
fn merged(step: &SimplifyStep, product: &WeightedProduct, line: &ChannelLine) -> Option<RuleChange> {
    let fits = |list: &[f64]| list.len() == 1 || list.len() == product.channels;
    if !fits(&line.factors) || !fits(&line.offsets) {
        return None;
    }
    let mut constants = Vec::new();
    if line.factors.iter().any(|factor| *factor != 1.0) {
        constants.push((1, product.scaled(|item| at(&line.factors, product.channel(item)))?));
    }
    let mut operator = None;
    if let Some(bias) = product.bias(step, line)? {
        match product.kind {
            ProductKind::MatMul => {
                let is_matrix = product.weights.rank() == 2 && step.rank(given(product.node, 0)?)? == 2;
                operator = is_matrix.then_some("Gemm").map(Some)?;
            }
            ProductKind::Gemm if !line.is_scale() && !product.has_plain_bias(step) => return None,
            _ => {}
        }
        constants.push((2, bias));
    }
    let outputs = Values::from_slice(&[step.result()?]);
    RuleChange::new(NodeProto { outputs, ..product.node.clone() }, operator, constants)
}

/// The numbers of a constant operand for the channels of a product, if the result keeps its shape.
fn by_channel(step: &SimplifyStep, name: NameId, product: &WeightedProduct) -> Option<Vec<f64>> {
    let tensor = floats(step, name)?;
    let shape = tensor.shape();
    let rank = match product.kind {
        ProductKind::MatMul => step.rank(step.result()?)?,
        _ => product.weights.rank(),
    };
    let place = shape.len().checked_sub(product.from_last + 1);
    let is_by_channel = tensor.len() == product.channels && place.is_some_and(|place| shape[place] == product.channels);
    (shape.len() <= rank && (tensor.len() == 1 || is_by_channel)).then(|| tensor.to_scalars())
}

/// The operand that is a product, the numbers of the other one, and which one the product is.
fn beside<'s>(step: &SimplifyStep<'s, '_>) -> Option<(WeightedProduct<'s>, Vec<f64>, usize)> {
    if step.version < BROADCAST {
        return None;
    }
    [(0, 1), (1, 0)].into_iter().find_map(|(value, other)| {
        let product = product(step, step.operand(value)?)?;
        let numbers = by_channel(step, step.operand(other)?, &product)?;
        Some((product, numbers, value))
    })
}

/// `BatchNormalization` of a product
pub(super) fn batch_norm(step: &SimplifyStep) -> Option<RuleChange> {
    let product = product(step, step.operand(0)?)?;
    let trains = step.int(step.node, "training_mode", 0)? != 0 || !step.has_one_result();
    // The channels are those of axis 1.
    let is_second = product.from_last + 2 == step.rank(step.operand(0)?)?;
    if step.version < BY_CHANNEL || trains || !is_second {
        return None;
    }
    let epsilon = step.read(step.node, "epsilon", EPSILON)?;
    let list = |place: usize| {
        let tensor = floats(step, step.operand(place)?)?;
        (tensor.shape() == [product.channels]).then(|| tensor.to_scalars())
    };
    let (scale, bias, mean, variance) = (list(1)?, list(2)?, list(3)?, list(4)?);
    let factors: Vec<f64> =
        scale.iter().zip(&variance).map(|(scale, v)| scale / (v + f64::from(epsilon)).sqrt()).collect();
    let offset = |channel: usize| bias[channel] - mean[channel] * factors[channel];
    let offsets = (0..product.channels).map(offset).collect();
    merged(step, &product, &ChannelLine { factors, offsets })
}

/// `Mul` of a product, and `Div` of one
pub(super) fn scale(step: &SimplifyStep) -> Option<RuleChange> {
    let (product, mut factors, value) = beside(step)?;
    if step.operator(step.node) == "Div" {
        if value != 0 {
            return None;
        }
        factors.iter_mut().for_each(|factor| *factor = factor.recip());
    }
    merged(step, &product, &ChannelLine { factors, offsets: vec![0.0] })
}

/// `Add` to a product, and `Sub` with one
pub(super) fn bias(step: &SimplifyStep) -> Option<RuleChange> {
    let (product, mut offsets, value) = beside(step)?;
    let is_sub = step.operator(step.node) == "Sub";
    if is_sub && value == 0 {
        offsets.iter_mut().for_each(|offset| *offset = -*offset);
    }
    let factor = if is_sub && value == 1 { -1.0 } else { 1.0 };
    merged(step, &product, &ChannelLine { factors: vec![factor], offsets })
}

/// A product of a `Mul` or a `Div` by a constant
pub(super) fn operand(step: &SimplifyStep) -> Option<RuleChange> {
    let value = step.operand(0)?;
    let inner = step.own(value).filter(|_| step.uses_of(value) == 1)?;
    let is_div = match step.operator(inner) {
        "Mul" => false,
        "Div" => true,
        _ => return None,
    };
    let product = weighted(step, step.node).filter(|_| step.version >= BROADCAST)?;
    let is_turned = product.kind == ProductKind::Gemm && step.int(step.node, "transA", 0)? != 0;
    let (x, mut factors) =
        [(0, 1), (1, 0)].into_iter().filter(|places| !is_div || *places == (0, 1)).find_map(|(x, other)| {
            let (x, factors) = (given(inner, x)?, floats(step, given(inner, other)?)?);
            let place = factors.rank().checked_sub(product.from_last + 1);
            let is_listed = !is_turned
                && Some(factors.len()) == product.inputs()
                && place.is_some_and(|place| factors.shape()[place] == factors.len());
            let fits = (factors.len() == 1 || is_listed) && step.same_shape(x, value);
            fits.then(|| (x, factors.to_scalars()))
        })?;
    if is_div {
        factors.iter_mut().for_each(|factor| *factor = factor.recip());
    }
    let weights = product.scaled(|item| at(&factors, if factors.len() == 1 { 0 } else { product.input(item) }))?;
    let mut inputs = step.node.inputs.clone();
    *inputs.first_mut()? = x;
    RuleChange::new(NodeProto { inputs, ..step.node.clone() }, None, vec![(1, weights)])
}

/// `Add` to a `MatMul` of matrices
pub(super) fn gemm(step: &SimplifyStep) -> Option<RuleChange> {
    if step.version < BROADCAST {
        return None;
    }
    let result = step.result()?;
    let is_float = step.element(result).is_some_and(|element| !element.is_whole());
    [(0, 1), (1, 0)].into_iter().filter(|_| is_float).find_map(|(value, other)| {
        let (value, added) = (step.operand(value)?, step.operand(other)?);
        let inner = step.own(value).filter(|node| step.operator(node) == "MatMul" && step.uses_of(value) == 1)?;
        let (a, b) = (given(inner, 0)?, given(inner, 1)?);
        let are_matrices = [a, b, value].into_iter().all(|name| step.rank(name) == Some(2));
        let fits = are_matrices && step.rank(added)? <= 2 && step.same_shape(value, result);
        let outputs = Values::from_slice(&[result]);
        let node = NodeProto { inputs: Values::from_slice(&[a, b, added]), outputs, ..inner.clone() };
        if fits { RuleChange::new(node, Some("Gemm"), Vec::new()) } else { None }
    })
}

/// `Mul` of a `Mul` by constants, `Add` of an `Add`
pub(super) fn joined(step: &SimplifyStep) -> Option<RuleChange> {
    if step.version < BROADCAST {
        return None;
    }
    let operator = step.operator(step.node);
    let split = |node: &NodeProto| {
        let place =
            |(value, other): (usize, usize)| Some((given(node, value)?, floats(step, given(node, other)?)?, other));
        [(0, 1), (1, 0)].into_iter().find_map(place)
    };
    let (value, outer, _) = split(step.node)?;
    let inner = step.own(value).filter(|node| step.operator(node) == operator && step.uses_of(value) == 1)?;
    let (x, first, place) = split(inner)?;
    let (a, b) = (outer.data(), first.data());
    let (shape, count) = match () {
        () if outer.shape() == first.shape() => (outer.shape(), a.len()),
        () if first.len() == 1 && first.rank() <= outer.rank() => (outer.shape(), a.len()),
        () if outer.len() == 1 && outer.rank() <= first.rank() => (first.shape(), b.len()),
        () => return None,
    };
    let pick = |data: &Data, item: usize| data.float(if data.len() == 1 { 0 } else { item });
    let item = |item: usize| match operator {
        "Mul" => pick(a, item) * pick(b, item),
        _ => pick(a, item) + pick(b, item),
    };
    let constant = made(shape, Data::from_floats(outer.dtype(), (0..count).map(item)))?;
    let mut inputs = Values::from_slice(&[x, x]);
    *inputs.get_mut(place)? = given(inner, place)?;
    let node = NodeProto { inputs, ..step.node.clone() };
    RuleChange::new(node, None, vec![(place, constant)])
}
