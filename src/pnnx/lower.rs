//! Operators of torch as operations of NNEF: a table from kinds to what computes the same.

mod shaping;
mod windows;

use rustc_hash::FxHashMap;

use super::expand::Item;
use super::import::expand_items;
use super::model::{Operator, Setting};
use super::parse::{Reading, parse};
use crate::Options;
use crate::diagnostics::Diagnostics;
use crate::graph::names::NameId;
use crate::graph::{TensorId, Value};
use crate::nnef::build::{Builder, Results};
use crate::source::{FileId, Location};

/// An operator that is to become operations of NNEF.
pub(super) struct Line<'a, 'd> {
    pub(super) builder: &'a mut Builder<'d>,
    pub(super) operator: &'a Operator,
    /// The operands with the names of their arguments.
    pub(super) operands: Vec<(String, Item)>,
    /// The stored data.
    pub(super) data: &'a [(String, TensorId)],
    /// The name of the result.
    pub(super) name: NameId,
    pub(super) file: FileId,
    pub(super) options: &'a Options,
    pub(super) found: &'a mut Diagnostics,
    pub(super) counts: FxHashMap<&'static str, u32>,
}

/// How an operator is written in NNEF.
#[derive(Clone, Copy)]
enum Rule {
    /// An operation on the operands alone.
    Same(&'static str),
    /// An expression of the operands.
    Text(&'static str),
    /// The operand itself.
    Operand,
    /// What a function adds; none where the parameters ask for something else.
    By(fn(&mut Line) -> Option<Vec<TensorId>>),
}

use Rule::{By, Same, Text};

/// The operators, each rule with the kinds that it is for.
const TABLE: &[(&[&str], Rule)] = &[
    (&["nn.ReLU", "F.relu", "torch.relu"], Same("relu")),
    (&["nn.Sigmoid", "F.sigmoid", "torch.sigmoid"], Same("sigmoid")),
    (&["nn.Tanh", "F.tanh", "torch.tanh"], Same("tanh")),
    (&["nn.SiLU", "F.silu"], Text("div(@0,add(exp(neg(@0)),1.0))")),
    (&["nn.Mish", "F.mish"], Text("mul(@0,tanh(logaddexp(@0,0.0)))")),
    (&["nn.Softsign", "F.softsign"], Text("div(@0,add(abs(@0),1.0))")),
    (&["nn.LogSigmoid", "F.logsigmoid"], Text("neg(logaddexp(neg(@0),0.0))")),
    (&["nn.Hardsigmoid", "F.hardsigmoid"], Text("div(min(max(add(@0,3.0),0.0),6.0),6.0)")),
    (&["nn.Hardswish", "F.hardswish"], Text("div(mul(@0,min(max(add(@0,3.0),0.0),6.0)),6.0)")),
    (&["nn.ReLU6", "F.relu6"], Text("min(max(@0,0.0),6.0)")),
    (&["nn.Tanhshrink", "F.tanhshrink"], Text("sub(@0,tanh(@0))")),
    (&["nn.Softplus", "F.softplus"], By(softplus)),
    (&["nn.GELU", "F.gelu"], By(gelu)),
    (&["nn.LeakyReLU", "F.leaky_relu"], By(|line| line.with_number("leaky_relu", "negative_slope", 0.01))),
    (&["nn.ELU", "F.elu"], By(|line| line.with_number("elu", "alpha", 1.0))),
    (&["nn.Hardtanh", "F.hardtanh"], By(|line| clamp(line, ["min_val", "max_val"], [Some(-1.0), Some(1.0)]))),
    (&["torch.clamp"], By(|line| clamp(line, ["min", "max"], [None, None]))),
    (&["nn.PReLU", "F.prelu"], By(prelu)),
    (&["nn.Dropout", "nn.Dropout2d", "nn.Identity", "F.dropout", "torch.clone", "Tensor.contiguous"], Rule::Operand),
    (&["torch.eq"], By(|line| compare(line, "eq"))),
    (&["torch.ne"], By(|line| compare(line, "ne"))),
    (&["torch.lt"], By(|line| compare(line, "lt"))),
    (&["torch.le"], By(|line| compare(line, "le"))),
    (&["torch.gt"], By(|line| compare(line, "gt"))),
    (&["torch.ge"], By(|line| compare(line, "ge"))),
    (&["nn.Linear"], By(linear)),
    (&["torch.matmul", "torch.bmm", "torch.mm"], By(matmul)),
    (&["nn.Conv1d", "nn.Conv2d", "nn.Conv3d"], By(windows::conv)),
    (&["nn.ConvTranspose1d", "nn.ConvTranspose2d", "nn.ConvTranspose3d"], By(windows::deconv)),
    (&["nn.MaxPool1d", "nn.MaxPool2d", "F.max_pool1d", "F.max_pool2d"], By(windows::max_pool)),
    (&["nn.AvgPool1d", "nn.AvgPool2d", "F.avg_pool1d", "F.avg_pool2d"], By(windows::avg_pool)),
    (&["nn.AdaptiveAvgPool2d", "F.adaptive_avg_pool2d"], By(windows::global_pool)),
    (&["nn.BatchNorm1d", "nn.BatchNorm2d", "nn.BatchNorm3d"], By(windows::batch_norm)),
    (&["nn.LayerNorm"], By(windows::layer_norm)),
    (&["nn.Softmax", "F.softmax"], By(softmax)),
    (&["nn.LogSoftmax", "F.log_softmax"], By(log_softmax)),
    (&["torch.sum"], By(|line| reduce(line, "sum_reduce"))),
    (&["torch.mean"], By(|line| reduce(line, "mean_reduce"))),
    (&["torch.amax"], By(|line| reduce(line, "max_reduce"))),
    (&["torch.amin"], By(|line| reduce(line, "min_reduce"))),
    (&["torch.norm"], By(norm)),
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
    (&["Tensor.expand"], By(shaping::expand)),
];

/// The operations of an operator; none if the table has no row for it, or the row not for its parameters.
pub(super) fn lower(line: &mut Line) -> Option<Vec<TensorId>> {
    let kind = line.operator.kind.as_str();
    let (_, rule) = TABLE.iter().find(|(kinds, _)| kinds.contains(&kind))?;
    let results = match rule {
        Same(nnef) => {
            let x = line.tensor("input")?;
            vec![line.add(nnef, vec![Value::Tensor(x)])?]
        }
        Text(text) => vec![line.text(text, &line.items())?],
        Rule::Operand => vec![line.tensor("input")?],
        By(function) => function(line)?,
    };
    (results.len() == line.operator.outputs.len()).then_some(results)
}

/// Integers as an attribute.
fn integers(items: impl IntoIterator<Item = i64>) -> Value {
    Value::Integers(items.into_iter().collect())
}

impl Line<'_, '_> {
    fn items(&self) -> Vec<Item> {
        self.operands.iter().map(|(_, item)| item.clone()).collect()
    }

    /// The tensor for an argument; of operators without names of arguments, the first one is `input`.
    fn tensor(&self, name: &str) -> Option<TensorId> {
        match self.operands.iter().find(|(known, _)| known == name)? {
            (_, Item::Tensor(tensor)) => Some(*tensor),
            _ => None,
        }
    }

    /// Stored data.
    fn stored(&self, name: &str) -> Option<TensorId> {
        self.data.iter().find(|(known, _)| known == name).map(|(_, tensor)| *tensor)
    }

    /// A parameter, or an operand that is a number or a list of numbers.
    fn setting(&self, name: &str) -> Option<Setting> {
        fn of(item: &Item) -> Option<Setting> {
            match item {
                Item::Literal(literal) => Some(Setting::Literal(*literal)),
                Item::List(items) => items.iter().map(of).collect::<Option<_>>().map(Setting::List),
                Item::Tensor(_) | Item::Refused => None,
            }
        }
        let operand = self.operands.iter().find(|(known, _)| known == name).and_then(|(_, item)| of(item));
        operand.or_else(|| self.operator.setting(name))
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.setting(name)?.float()
    }

    fn integer(&self, name: &str) -> Option<i64> {
        self.setting(name)?.integer()
    }

    fn flag(&self, name: &str) -> bool {
        self.setting(name) == Some(Setting::Literal(super::tokens::Literal::Bool(true)))
    }

    fn word(&self, name: &str) -> Option<String> {
        match self.setting(name)? {
            Setting::Word(word) => Some(word),
            _ => None,
        }
    }

    /// The extents of a tensor, all of which are known.
    fn extents(&self, tensor: TensorId) -> Option<Vec<i64>> {
        self.builder.graph.shape(tensor)?.known()
    }

    fn rank(&self, tensor: TensorId) -> Option<i64> {
        self.builder.graph.shape(tensor).map(|shape| shape.rank() as i64)
    }

    /// An axis, counted from the first one.
    fn axis(&self, axis: i64, rank: i64) -> Option<i64> {
        let axis = if axis < 0 { axis + rank } else { axis };
        (0..rank).contains(&axis).then_some(axis)
    }

    /// The axes of a parameter, counted from the first one; all axes without it.
    fn axes(&self, name: &str, rank: i64) -> Option<Vec<i64>> {
        match self.setting(name) {
            None | Some(Setting::Literal(super::tokens::Literal::None)) => Some((0..rank).collect()),
            Some(setting) => setting.integers()?.into_iter().map(|axis| self.axis(axis, rank)).collect(),
        }
    }

    /// Adds an operation and infers the shape of its result.
    fn add(&mut self, nnef: &'static str, arguments: Vec<Value>) -> Option<TensorId> {
        let name = self.fresh(nnef);
        let tensor = self.builder.emit(nnef, arguments, name, None).ok()?;
        self.builder.infer(tensor).ok()?;
        Some(tensor)
    }

    /// Adds an operation with an array of tensors as result.
    fn add_array(&mut self, nnef: &'static str, arguments: Vec<Value>, count: usize) -> Option<Vec<TensorId>> {
        let results: Vec<_> = (0..count).map(|_| (self.fresh(nnef), None)).collect();
        let tensors = self.builder.emit_all(nnef, arguments, Results::Array(&results)).ok()?;
        self.builder.infer(*tensors.first()?).ok()?;
        Some(tensors)
    }

    fn fresh(&mut self, nnef: &'static str) -> NameId {
        let count = self.counts.entry(nnef).or_default();
        *count += 1;
        self.builder.numbered(self.name, nnef, *count)
    }

    /// Adds an expression.
    fn text(&mut self, text: &str, operands: &[Item]) -> Option<TensorId> {
        let parsed = parse(text, (self.file, 0), Reading { template: true, ..Reading::default() }).ok()?.0;
        let name = self.fresh("expr");
        let at = (self.file, Some(Location::new(self.file, self.operator.span)));
        let item = expand_items(self.builder, &parsed.expression, operands, name, at, self.options, self.found);
        match item {
            Item::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// An operation on one tensor with a number.
    fn with_number(&mut self, nnef: &'static str, key: &str, default: f64) -> Option<Vec<TensorId>> {
        let number = match self.setting(key) {
            Some(setting) => setting.float()?,
            None => default,
        };
        let x = self.tensor("input")?;
        Some(vec![self.add(nnef, vec![Value::Tensor(x), Value::Scalar(number)])?])
    }

    /// A tensor with axes of extent 1 at some places.
    fn with_axes(&mut self, tensor: TensorId, axes: Vec<i64>) -> Option<TensorId> {
        if axes.is_empty() {
            return Some(tensor);
        }
        self.add("unsqueeze", vec![Value::Tensor(tensor), integers(axes)])
    }
}

fn softplus(line: &mut Line) -> Option<Vec<TensorId>> {
    let beta = line.setting("beta").map_or(Some(1.0), |beta| beta.float())?;
    let text = format!("div(logaddexp(mul(@0,{beta:?}),0.0),{beta:?})");
    let text = if beta == 1.0 { "logaddexp(@0,0.0)" } else { &text };
    Some(vec![line.text(text, &line.items())?])
}

/// Only the form with a tangent: there is no error function.
fn gelu(line: &mut Line) -> Option<Vec<TensorId>> {
    (line.word("approximate")? == "tanh").then_some(())?;
    let text = "mul(mul(@0,0.5),add(tanh(mul(mul(@0,add(mul(mul(@0,@0),0.044715),1.0)),0.7978845608028654)),1.0))";
    Some(vec![line.text(text, &line.items())?])
}

fn clamp(line: &mut Line, keys: [&str; 2], defaults: [Option<f64>; 2]) -> Option<Vec<TensorId>> {
    let [least, most] = [0, 1].map(|i| line.number(keys[i]).or(defaults[i]));
    let x = line.tensor("input")?;
    let arguments = |y: f64| vec![Value::Tensor(x), Value::Scalar(y)];
    Some(vec![match (least, most) {
        (Some(least), Some(most)) => line.add("clamp", [arguments(least), vec![Value::Scalar(most)]].concat())?,
        (Some(least), None) => line.add("max", arguments(least))?,
        (None, Some(most)) => line.add("min", arguments(most))?,
        (None, None) => return None,
    }])
}

fn prelu(line: &mut Line) -> Option<Vec<TensorId>> {
    let (x, weight) = (line.tensor("input")?, line.stored("weight").or_else(|| line.tensor("weight"))?);
    let weight = line.with_axes(weight, vec![0])?;
    Some(vec![line.add("prelu", vec![Value::Tensor(x), Value::Tensor(weight)])?])
}

fn compare(line: &mut Line, nnef: &'static str) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let y = match line.tensor("other") {
        Some(y) if line.rank(x)? == line.rank(y)? => Value::Tensor(y),
        Some(_) => return None,
        None => Value::Scalar(line.number("other")?),
    };
    Some(vec![line.add(nnef, vec![Value::Tensor(x), y])?])
}

/// The product with a matrix of weights, transposed, for each vector along the last axis.
fn linear(line: &mut Line) -> Option<Vec<TensorId>> {
    let (x, weight, bias) = (line.tensor("input")?, line.stored("weight")?, line.stored("bias"));
    let rank = line.rank(x).filter(|rank| *rank > 0)?;
    let matrix = if rank == 1 { line.with_axes(x, vec![0])? } else { x };
    let wide = rank.max(2);
    let weight = line.with_axes(weight, (0..wide - 2).collect())?;
    let [no, yes] = [false, true].map(Value::Logical);
    let mut y = line.add("matmul", vec![Value::Tensor(matrix), Value::Tensor(weight), no, yes])?;
    if let Some(bias) = bias {
        let bias = line.with_axes(bias, (0..wide - 1).collect())?;
        y = line.add("add", vec![Value::Tensor(y), Value::Tensor(bias)])?;
    }
    if rank == 1 {
        y = line.add("squeeze", vec![Value::Tensor(y), integers([0])])?;
    }
    Some(vec![y])
}

fn matmul(line: &mut Line) -> Option<Vec<TensorId>> {
    let second = ["other", "mat2"].into_iter().find_map(|name| line.tensor(name));
    let (a, b) = (line.tensor("input")?, second?);
    let (m, n) = (line.rank(a)?, line.rank(b)?);
    // Products with vectors are matrices with an axis less.
    (m > 1 && n > 1).then_some(())?;
    let rank = m.max(n);
    let a = line.with_axes(a, (0..rank - m).collect())?;
    let b = line.with_axes(b, (0..rank - n).collect())?;
    Some(vec![line.add("matmul", vec![Value::Tensor(a), Value::Tensor(b)])?])
}

fn softmax(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axis = line.axis(line.integer("dim")?, line.rank(x)?)?;
    Some(vec![line.add("softmax", vec![Value::Tensor(x), integers([axis])])?])
}

/// The operand less its largest item, and less the logarithm of the sum of the exponentials of that.
fn log_softmax(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axis = line.axis(line.integer("dim")?, line.rank(x)?)?;
    let largest = line.add("max_reduce", vec![Value::Tensor(x), integers([axis])])?;
    let less = line.add("sub", vec![Value::Tensor(x), Value::Tensor(largest)])?;
    let exponential = line.add("exp", vec![Value::Tensor(less)])?;
    let sum = line.add("sum_reduce", vec![Value::Tensor(exponential), integers([axis])])?;
    let log = line.add("log", vec![Value::Tensor(sum)])?;
    Some(vec![line.add("sub", vec![Value::Tensor(less), Value::Tensor(log)])?])
}

/// A reduction along axes, which stay or go.
fn reduce(line: &mut Line, nnef: &'static str) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axes = line.axes("dim", line.rank(x)?)?;
    let y = line.add(nnef, vec![Value::Tensor(x), integers(axes.iter().copied())])?;
    drop_axes(line, y, axes).map(|y| vec![y])
}

/// Drops the axes of a reduction, unless they are to be kept.
fn drop_axes(line: &mut Line, tensor: TensorId, axes: Vec<i64>) -> Option<TensorId> {
    if line.flag("keepdim") || axes.is_empty() {
        return Some(tensor);
    }
    line.add("squeeze", vec![Value::Tensor(tensor), integers(axes)])
}

/// The norms of order 1 and 2.
fn norm(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axes = line.axes("dim", line.rank(x)?)?;
    let order = line.setting("p").map_or(Some(2.0), |p| p.float())?;
    let (before, after) = match order {
        1.0 => ("abs", None),
        2.0 => ("sqr", Some("sqrt")),
        _ => return None,
    };
    let items = line.add(before, vec![Value::Tensor(x)])?;
    let mut y = line.add("sum_reduce", vec![Value::Tensor(items), integers(axes.iter().copied())])?;
    if let Some(after) = after {
        y = line.add(after, vec![Value::Tensor(y)])?;
    }
    drop_axes(line, y, axes).map(|y| vec![y])
}

#[cfg(test)]
mod tests {
    use super::TABLE;

    #[test]
    fn the_documentation_has_all_operators() {
        let page = include_str!("../../docs/pnnx.md");
        for kind in TABLE.iter().flat_map(|(kinds, _)| *kinds) {
            assert!(page.contains(&format!("`{kind}`")), "docs/pnnx.md lacks {kind}");
        }
    }
}
