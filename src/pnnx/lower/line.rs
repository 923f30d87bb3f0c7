//! An operator that is being lowered: what its rule reads, and what it adds.

use std::borrow::Cow;
use std::cell::Cell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::Options;
use crate::diagnostics::Diagnostics;
use crate::graph::names::NameId;
use crate::graph::operators::exact_quotient;
#[cfg(feature = "input")]
use crate::graph::standard::EXTERNAL;
use crate::graph::{Extent, Primitive, Shape, TensorId, Value};
use crate::library::assembly::Assembly;
use crate::library::build::{Builder, Results};
use crate::pnnx::elements;
use crate::pnnx::expand::expand_items;
use crate::pnnx::item::ExpandedItem;
use crate::pnnx::model::{Operator, OperatorParam};
use crate::pnnx::parse::{Reading, parse};
use crate::pnnx::tree::Expression;
use crate::source::{FileId, Location};

use super::settings::{Lowered, Refusal};

/// The argument that is the operand of most operators.
pub(super) const INPUT: &str = "input";

/// An operand of an operator that is being lowered.
pub(in crate::pnnx) struct Operand {
    /// The name of its argument.
    pub(super) name: String,
    pub(super) item: ExpandedItem,
    /// Whether a rule has read it.
    pub(super) used: Cell<bool>,
}

impl Operand {
    /// An operand that no rule has read.
    pub(in crate::pnnx) fn new(name: &str, item: &ExpandedItem) -> Operand {
        Operand { name: name.to_owned(), item: item.clone(), used: Cell::new(false) }
    }
}

/// An operator that is being lowered.
pub(crate) struct Line<'a> {
    pub(in crate::pnnx) builder: &'a mut Builder,
    pub(in crate::pnnx) operator: &'a Operator,
    /// The kind whose rule applies: that of the operator, or one of torch that it stands for.
    pub(in crate::pnnx) kind: String,
    pub(in crate::pnnx) operands: Vec<Operand>,
    /// The parameters, and whether a rule has read them.
    pub(in crate::pnnx) params: Vec<(&'a OperatorParam, Cell<bool>)>,
    /// The stored data.
    pub(in crate::pnnx) data: &'a [(String, TensorId)],
    /// The name of the result.
    pub(in crate::pnnx) name: NameId,
    pub(in crate::pnnx) file: FileId,
    pub(in crate::pnnx) options: &'a Options,
    pub(in crate::pnnx) found: &'a mut Diagnostics,
    pub(in crate::pnnx) counts: FxHashMap<&'static str, u32>,
    /// How many results are needed: nothing reads those behind them.
    pub(in crate::pnnx) needed: usize,
    /// Tensors of complex numbers, whose last axis has their real and imaginary parts.
    pub(in crate::pnnx) complex: &'a mut FxHashSet<TensorId>,
}

/// The lowering of an operator.
#[derive(Clone, Copy)]
pub(super) enum LoweringRule {
    /// A formula of the operand with numeric parameters: `%name` is replaced by the value or the default of each.
    With(&'static str, &'static [(&'static str, f64)]),
    /// A function that adds operations.
    By(fn(&mut Line) -> Lowered<Vec<TensorId>>),
}

impl LoweringRule {
    /// The results for an operator.
    pub(super) fn apply(&self, line: &mut Line) -> Lowered<Vec<TensorId>> {
        match self {
            LoweringRule::With(text, params) => Ok(vec![line.text_with(text, params)?]),
            LoweringRule::By(function) => function(line),
        }
    }
}

/// A rule with the kinds of operators that it applies to.
pub(super) type LoweringRow = (&'static [&'static str], LoweringRule);

/// The extent of an axis.
pub(super) fn extent_of(extents: &[i64], axis: i64) -> Lowered<i64> {
    usize::try_from(axis).ok().and_then(|axis| extents.get(axis)).copied().ok_or(Refusal::UNFIT)
}

/// A product of extents.
pub(super) fn product(factors: &[i64]) -> Lowered<i64> {
    factors.iter().try_fold(1i64, |all, factor| all.checked_mul(*factor)).ok_or(Refusal::UNFIT)
}

/// The extents of a tensor whose channels, the second axis, are split into groups. None if there are other channels
/// left, or no items.
pub(super) fn in_groups(extents: &[i64], groups: i64) -> Option<Vec<i64>> {
    let [batch, channels, inner @ ..] = extents else { return None };
    let each = exact_quotient(*channels, groups).filter(|_| !extents.contains(&0))?;
    Some([&[*batch, groups, each], inner].concat())
}

#[cfg(feature = "input")]
impl<'a> Line<'a> {
    /// A line with which other notations add operations: an operator without operands and parameters. They have no
    /// complex numbers.
    pub(crate) fn bare(
        builder: &'a mut Builder,
        operator: &'a Operator,
        name: NameId,
        file: FileId,
        options: &'a Options,
        found: &'a mut Diagnostics,
        complex: &'a mut FxHashSet<TensorId>,
    ) -> Self {
        let (operands, params, counts) = (Vec::new(), Vec::new(), FxHashMap::default());
        let kind = operator.kind.clone();
        let needed = operator.outputs.len();
        Line {
            builder,
            operator,
            kind,
            operands,
            params,
            data: &[],
            name,
            file,
            options,
            found,
            counts,
            needed,
            complex,
        }
    }

    /// Whether a tensor is an input of the graph.
    pub(crate) fn is_input(&self, tensor: TensorId) -> bool {
        self.builder.graph.producer(tensor).is_some_and(|maker| maker.name() == EXTERNAL)
    }
}

impl Line<'_> {
    /// The tensor for an argument; if operands have no argument names, the first one is `input`.
    pub(super) fn tensor(&self, name: &str) -> Lowered<TensorId> {
        let sole = || self.sole().filter(|_| name == INPUT && self.data.is_empty());
        match self.operand(name).or_else(sole) {
            Some(Operand { item: ExpandedItem::Tensor(tensor), used, .. }) => {
                used.set(true);
                Ok(*tensor)
            }
            _ => Err(Refusal::Because(format!("it has no operand `{name}` that is a tensor").into())),
        }
    }

    /// The first operand, the axis that `dim` names, and the extent along it.
    pub(super) fn along_axis(&self, default: Option<i64>) -> Lowered<(TensorId, i64, i64)> {
        let x = self.tensor(INPUT)?;
        let extents = self.extents(x)?;
        let axis = self.axis("dim", extents.len() as i64, default)?;
        Ok((x, axis, extent_of(&extents, axis)?))
    }

    /// Stored data with a name.
    pub(super) fn stored(&self, name: &str) -> Option<TensorId> {
        self.data.iter().find(|(known, _)| known == name).map(|(_, tensor)| *tensor)
    }

    /// The extents of a tensor; all have to be known.
    pub(crate) fn extents(&self, tensor: TensorId) -> Lowered<Vec<i64>> {
        self.builder.graph.shape(tensor).and_then(Shape::known).ok_or(Refusal::SHAPE)
    }

    /// The extents of a tensor as far as they are known.
    pub(crate) fn shape(&self, tensor: TensorId) -> Lowered<Vec<Option<i64>>> {
        let shape = self.builder.graph.shape(tensor).ok_or(Refusal::SHAPE)?;
        Ok(shape.extents().iter().map(Extent::known).collect())
    }

    pub(crate) fn rank(&self, tensor: TensorId) -> Lowered<i64> {
        self.builder.graph.shape(tensor).map(|shape| shape.rank() as i64).ok_or(Refusal::SHAPE)
    }

    /// Adds an operation and infers the shape of its result, whose elements follow from the operands.
    pub(crate) fn add(&mut self, nnef: &'static str, arguments: Vec<Value>) -> Lowered<TensorId> {
        let of = elements::of_result(&self.builder.graph, nnef, &arguments);
        self.add_of(nnef, of, arguments)
    }

    /// Adds an operation whose result has elements of a type: by default, what it declares.
    pub(super) fn add_of(
        &mut self,
        nnef: &'static str,
        of: Option<Primitive>,
        arguments: Vec<Value>,
    ) -> Lowered<TensorId> {
        self.allows(1)?;
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
    pub(crate) fn add_array(
        &mut self,
        nnef: &'static str,
        arguments: Vec<Value>,
        count: usize,
    ) -> Lowered<Vec<TensorId>> {
        self.allows(1)?;
        self.has_room_for_results(count)?;
        let results: Vec<_> = (0..count).map(|_| (self.fresh(nnef), None)).collect();
        let of = elements::of_result(&self.builder.graph, nnef, &arguments);
        let added = self.builder.add(nnef, of, arguments, Results::Array(&results));
        let tensors = added.map_err(|_| Refusal::UNFIT)?;
        self.builder.infer(*tensors.first().ok_or(Refusal::UNFIT)?).map_err(|_| Refusal::UNFIT)?;
        Ok(tensors.into_vec())
    }

    pub(super) fn fresh(&mut self, nnef: &'static str) -> NameId {
        let count = self.counts.entry(nnef).or_default();
        *count = count.saturating_add(1);
        self.builder.numbered(self.name, nnef, *count)
    }

    /// Adds an expression of the operands by number.
    pub(super) fn text_of(&mut self, text: &str) -> Lowered<TensorId> {
        for (number, operand) in self.operands.iter().enumerate() {
            if text.contains(&format!("@{number}")) {
                operand.used.set(true);
            }
        }
        let items: Vec<ExpandedItem> = self.operands.iter().map(|operand| operand.item.clone()).collect();
        self.text(text, &items)
    }

    /// Adds a formula with names of the dictionary.
    pub(crate) fn text(&mut self, text: &str, operands: &[ExpandedItem]) -> Lowered<TensorId> {
        self.read(text, operands, Reading { template: true, ..Reading::default() })
    }

    /// Adds an expression with the names that files have.
    pub(crate) fn spelled(&mut self, text: &str, operands: &[ExpandedItem]) -> Lowered<TensorId> {
        self.read(text, operands, Reading::default())
    }

    pub(super) fn read(&mut self, text: &str, operands: &[ExpandedItem], reading: Reading) -> Lowered<TensorId> {
        const NONE: Refusal =
            Refusal::Because(Cow::Borrowed("an expression of its operands has no counterpart in NNEF"));
        let parsed = parse(text, self.file, 0, reading).map_err(|_| NONE)?.0;
        match self.expression(&parsed.expression, operands) {
            ExpandedItem::Tensor(tensor) => Ok(tensor),
            _ => Err(NONE),
        }
    }

    /// Adds an expression, which may be a list.
    pub(super) fn expression(&mut self, expression: &Expression, operands: &[ExpandedItem]) -> ExpandedItem {
        let name = self.fresh("expr");
        let at = (self.file, Some(Location::new(self.file, self.operator.span)));
        expand_items(self.builder, expression, operands, name, at, self.options, self.found)
    }

    /// A formula in which numeric parameters have their values, or defaults.
    pub(super) fn with_settings(&self, text: &str, params: &[(&str, f64)]) -> Lowered<String> {
        let mut text = text.to_owned();
        for (key, default) in params {
            let number = self.setting_or(key, *default)?;
            text = text.replace(&format!("%{key}"), &format!("{number:?}"));
        }
        Ok(text)
    }

    /// Adds an expression of the operand with numeric parameters.
    pub(super) fn text_with(&mut self, text: &str, params: &[(&str, f64)]) -> Lowered<TensorId> {
        let text = self.with_settings(text, params)?;
        let x = self.tensor("input")?;
        self.text(&text, &[ExpandedItem::Tensor(x)])
    }

    /// A tensor times the factor that a setting is.
    pub(super) fn times_setting(&mut self, x: TensorId, key: &str) -> Lowered<TensorId> {
        let factor: f64 = self.setting_or(key, 1.0)?;
        if factor == 1.0 { Ok(x) } else { self.add("mul", vec![Value::Tensor(x), Value::Scalar(factor)]) }
    }

    /// Adds an operation on one tensor and a number.
    pub(super) fn with_number(&mut self, nnef: &'static str, key: &str, default: f64) -> Lowered<Vec<TensorId>> {
        let number = self.setting_or(key, default)?;
        let x = self.tensor("input")?;
        Ok(vec![self.add(nnef, vec![Value::Tensor(x), Value::Scalar(number)])?])
    }

    /// Adds leading axes of extent 1 to a tensor up to a rank.
    pub(super) fn with_rank(&mut self, tensor: TensorId, rank: i64) -> Lowered<TensorId> {
        let more = rank.saturating_sub(self.rank(tensor)?);
        self.with_axes(tensor, 0..more)
    }
}
