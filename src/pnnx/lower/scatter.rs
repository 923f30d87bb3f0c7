//! Operators that put items at indices: comparisons of the indices with all places along the axis.

use super::LoweringRule::By;
use super::indexing::places;
use super::{Line, Lowered, LoweringRow, Refusal, extent_of, integers, product};
use crate::graph::{Primitive, TensorId, Value};
use crate::library::assembly::Assembly;
use crate::pnnx::item::ExpandedItem;
use crate::pnnx::tokens::Literal;

pub(super) const ROWS: &[LoweringRow] = &[
    (&["torch.scatter"], By(scatter)),
    (&["torch.scatter_add"], By(|line| scattered(line, Combination::Sum.into()))),
    (&["torch.scatter_reduce"], By(scatter_reduce)),
    (&["torch.index_reduce"], By(index_reduce)),
    (&["torch.index_add"], By(|line| index_scattered(line, Combination::Sum.into()))),
    (&["torch.index_copy"], By(|line| index_scattered(line, Combination::Last.into()))),
    (&["torch.index_fill"], By(index_fill)),
    (&["Tensor.index_put", "torch.index_put"], By(index_put)),
];

/// What becomes of several items that are put at one place.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Combination {
    /// They are added to the item there.
    Sum,
    /// The last one replaces it.
    Last,
    /// They are multiplied with the item there.
    Product,
    /// The mean of them and the item there.
    Mean,
    /// The largest one of them and the item there.
    Largest,
    /// The smallest one of them and the item there.
    Smallest,
}

/// The words of `reduce`.
const REDUCTIONS: &[(&str, Combination)] = &[
    ("sum", Combination::Sum),
    ("prod", Combination::Product),
    ("mean", Combination::Mean),
    ("amax", Combination::Largest),
    ("amin", Combination::Smallest),
];

/// How items are put, and whether the item at their place takes part.
#[derive(Clone, Copy)]
struct PutMode {
    combination: Combination,
    included: bool,
}

impl From<Combination> for PutMode {
    fn from(combination: Combination) -> PutMode {
        PutMode { combination, included: true }
    }
}

fn scatter(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let words = [("add", Combination::Sum), ("sum", Combination::Sum), ("multiply", Combination::Product)];
    let combination = match line.optional::<String>("reduce")? {
        None => Combination::Last,
        Some(_) => line.choice("reduce", &words, None)?,
    };
    scattered(line, combination.into())
}

/// How a setting says that items are put.
fn putting(line: &Line) -> Lowered<PutMode> {
    let combination = line.choice("reduce", REDUCTIONS, None)?;
    Ok(PutMode { combination, included: line.optional("include_self")?.unwrap_or(true) })
}

fn scatter_reduce(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let putting = putting(line)?;
    scattered(line, putting)
}

fn index_reduce(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let putting = putting(line)?;
    index_scattered(line, putting)
}

/// Puts items at the indices along an axis, and at the places of the indices along the others.
fn scattered(line: &mut Line, putting: PutMode) -> Lowered<Vec<TensorId>> {
    let (x, indices) = (line.tensor("input")?, line.indices("index")?);
    let axis = line.axis("dim", line.rank(x)?, None)?;
    let key = line.key_of(&["src", "value"]);
    let of = line.primitive(x)?;
    let source = match line.term(key)? {
        ExpandedItem::Tensor(source) if key == "src" => {
            // Items beyond the indices are not read.
            let mut source = line.cast(source, of)?;
            let shape = line.extents(indices)?;
            for (count, other) in shape.iter().zip(0..) {
                source = line.part_of(source, other, 0..*count)?;
            }
            ExpandedItem::Tensor(source)
        }
        source => source,
    };
    line.scatter(x, axis, indices, source, putting).map(|y| vec![y])
}

/// Puts slices at indices along an axis.
fn index_scattered(line: &mut Line, putting: PutMode) -> Lowered<Vec<TensorId>> {
    let (x, indices) = (line.tensor("input")?, line.indices("index")?);
    let axis = line.axis("dim", line.rank(x)?, None)?;
    let source = line.tensor(line.key_of(&["source", "tensor", "src"]))?;
    let source = line.cast(source, line.primitive(x)?)?;
    let source = line.times_setting(source, "alpha")?;
    let indices = line.along(indices, axis, line.rank(x)?)?;
    let shape = line.extents(source)?;
    let indices = line.expanded(indices, &shape)?;
    line.scatter(x, axis, indices, ExpandedItem::Tensor(source), putting).map(|y| vec![y])
}

/// Puts a number in the slices at indices along an axis.
fn index_fill(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, indices) = (line.tensor("input")?, line.indices("index")?);
    let axis = line.axis("dim", line.rank(x)?, None)?;
    let value = line.term("value")?;
    let indices = line.along(indices, axis, line.rank(x)?)?;
    let mut shape = line.extents(x)?;
    let count = extent_of(&line.extents(indices)?, axis)?;
    shape.iter_mut().zip(0..).filter(|(_, other)| *other == axis).for_each(|(extent, _)| *extent = count);
    let indices = line.expanded(indices, &shape)?;
    line.scatter(x, axis, indices, value, Combination::Last.into()).map(|y| vec![y])
}

/// Puts items at indices of the first axes.
fn index_put(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let extents = line.extents(x)?;
    let combination = if line.flag("accumulate")? { Combination::Sum } else { Combination::Last };
    let whole = || Refusal::Because("its indices are not tensors of integers for the first axes".into());
    let given = line.operand("indices").or_else(|| line.operand("input1")).ok_or_else(whole)?;
    given.used.set(true);
    let items = match &given.item {
        ExpandedItem::List(items) => items.to_vec(),
        item => vec![item.clone()],
    };
    let mut indices = Vec::new();
    for (item, extent) in items.iter().zip(&extents) {
        let ExpandedItem::Tensor(tensor) = item else { return Err(whole()) };
        if !line.is_integer(*tensor) {
            return Err(whole());
        }
        indices.push(line.counted_from_start(*tensor, *extent)?);
    }
    let inner = extents.get(items.len()..).ok_or(Refusal::UNFIT)?.to_vec();
    let outer = extents.get(..items.len()).ok_or(Refusal::UNFIT)?.to_vec();
    let shape = line.broadcast(&indices)?;
    let places = places(line, &indices, &outer)?;
    let count = product(&shape)?;
    let rank = inner.len() as i64;
    let flat = [&[product(&outer)?], &inner[..]].concat();
    let x = line.reshaped(x, &flat)?;
    let places = line.reshaped(places, &[count])?;
    let places = line.along(places, 0, rank.saturating_add(1))?;
    let places = line.expanded(places, &[&[count], &inner[..]].concat())?;
    let value = line.tensor(line.key_of(&["values", "value", "input2"]))?;
    let value = line.cast(value, line.primitive(x)?)?;
    let value = line.expanded(value, &[&shape[..], &inner[..]].concat())?;
    let value = line.reshaped(value, &[&[count], &inner[..]].concat())?;
    let y = line.scatter(x, 0, places, ExpandedItem::Tensor(value), combination.into())?;
    Ok(vec![line.reshaped(y, &extents)?])
}

impl Line<'_> {
    /// One axis of items, as that axis of a tensor whose other axes have extent 1.
    pub(super) fn along(&mut self, x: TensorId, axis: i64, rank: i64) -> Lowered<TensorId> {
        let count = product(&self.extents(x)?)?;
        let shape: Vec<i64> = (0..rank).map(|other| if other == axis { count } else { 1 }).collect();
        self.reshaped(x, &shape)
    }

    /// Puts items, whose indices along an axis have a shape, into a tensor. The indices get a new axis of all places
    /// behind that axis.
    fn scatter(
        &mut self,
        x: TensorId,
        axis: i64,
        indices: TensorId,
        source: ExpandedItem,
        PutMode { combination, included }: PutMode,
    ) -> Lowered<TensorId> {
        let (extents, shape) = (self.extents(x)?, self.extents(indices)?);
        let rank = extents.len() as i64;
        let others = || extents.iter().zip(&shape).zip(0..).filter(|(_, other)| *other != axis);
        if shape.len() != extents.len() || others().any(|((own, count), _)| count > own) {
            return Err(Refusal::UNFIT);
        }
        let inner = axis.saturating_add(1);
        let more = rank.saturating_add(1);
        let indices = self.with_axes(indices, [inner])?;
        let all = self.counting((more, inner), extent_of(&extents, axis)?)?;
        let mut hot = self.add("eq", vec![Value::Tensor(indices), Value::Tensor(all)])?;
        let source = match source {
            ExpandedItem::Tensor(source) if self.rank(source)? > 0 => {
                ExpandedItem::Tensor(self.with_axes(source, [inner])?)
            }
            source => source,
        };
        let of = self.primitive(x)?;
        let mut last = None;
        if combination == Combination::Last {
            let places = self.spaced(more, axis, 1, 1, extent_of(&shape, axis)?)?;
            let none = ExpandedItem::Literal(Literal::Int(0));
            let found = self.select_as(Primitive::Integer, hot, [ExpandedItem::Tensor(places), none])?;
            let found = self.add("max_reduce", vec![Value::Tensor(found), integers([axis])])?;
            hot = self.add("eq", vec![Value::Tensor(places), Value::Tensor(found)])?;
            last = Some(self.without_axes(found, &[axis])?);
        }
        let number = if of == Primitive::Logical { Primitive::Integer } else { of };
        let neutral = self.neutral(combination, number)?;
        let put = self.select_as(number, hot, [source, neutral])?;
        let put = match combination {
            Combination::Product => self.product_of(put, axis)?,
            Combination::Largest => self.add("max_reduce", vec![Value::Tensor(put), integers([axis])])?,
            Combination::Smallest => self.add("min_reduce", vec![Value::Tensor(put), integers([axis])])?,
            _ => self.add("sum_reduce", vec![Value::Tensor(put), integers([axis])])?,
        };
        let put = self.without_axes(put, &[axis])?;
        let put = self.with_zeros(put, &extents)?;
        if let Some(last) = last {
            let last = self.with_zeros(last, &extents)?;
            let is_put = self.add("gt", vec![Value::Tensor(last), Value::Int(0)])?;
            return self.select_as(of, is_put, [ExpandedItem::Tensor(put), ExpandedItem::Tensor(x)]);
        }
        self.combined(x, put, hot, axis, PutMode { combination, included })
    }

    /// A tensor with what is put into it, where something is: `hot` says which items are, along an axis.
    fn combined(
        &mut self,
        x: TensorId,
        put: TensorId,
        hot: TensorId,
        axis: i64,
        PutMode { combination, included }: PutMode,
    ) -> Lowered<TensorId> {
        let (of, extents) = (self.primitive(x)?, self.extents(x)?);
        if combination == Combination::Sum && included {
            return self.add("add", vec![Value::Tensor(x), Value::Tensor(put)]);
        }
        let hot = self.cast(hot, Primitive::Integer)?;
        let count = self.add("sum_reduce", vec![Value::Tensor(hot), integers([axis])])?;
        let count = self.without_axes(count, &[axis])?;
        let count = self.with_zeros(count, &extents)?;
        let is_put = self.add("gt", vec![Value::Tensor(count), Value::Int(0)])?;
        let joined = match combination {
            Combination::Sum | Combination::Last => put,
            Combination::Mean if of != Primitive::Scalar => {
                return Err(Refusal::Because("the means of its integers are rounded".into()));
            }
            Combination::Mean => {
                let count = self.cast(count, Primitive::Scalar)?;
                match included {
                    true => self.formula_of("div(add(@0,@1),add(@2,1.0))", &[x, put, count])?,
                    // Where nothing is put, the quotient is not used.
                    false => self.formula_of("div(@0,max(@1,1.0))", &[put, count])?,
                }
            }
            _ if !included => put,
            Combination::Product => self.formula_of("mul(@0,@1)", &[x, put])?,
            Combination::Largest => self.formula_of("maximum(@0,@1)", &[x, put])?,
            Combination::Smallest => self.formula_of("minimum(@0,@1)", &[x, put])?,
        };
        self.select_as(of, is_put, [ExpandedItem::Tensor(joined), ExpandedItem::Tensor(x)])
    }

    /// What stands for items that are not put.
    fn neutral(&mut self, combination: Combination, of: Primitive) -> Lowered<ExpandedItem> {
        let extreme =
            |float: f64, int: i64| if of == Primitive::Integer { Literal::Int(int) } else { Literal::Float(float) };
        match combination {
            Combination::Sum | Combination::Last | Combination::Mean => Ok(ExpandedItem::Literal(Literal::Int(0))),
            Combination::Product => Ok(ExpandedItem::Literal(Literal::Int(1))),
            Combination::Largest => self.number(extreme(f64::NEG_INFINITY, i64::MIN.saturating_add(1))),
            Combination::Smallest => self.number(extreme(f64::INFINITY, i64::MAX)),
        }
    }

    /// Puts zeros behind the items of each axis up to a shape.
    fn with_zeros(&mut self, mut x: TensorId, to: &[i64]) -> Lowered<TensorId> {
        for (extent, axis) in to.iter().zip(0..) {
            let mut shape = self.extents(x)?;
            let more = extent.saturating_sub(extent_of(&shape, axis)?);
            if more > 0 {
                shape.iter_mut().zip(0..).filter(|(_, other)| *other == axis).for_each(|(extent, _)| *extent = more);
                let zeros = match self.is_integer(x) {
                    true => self.constant(&shape, Value::Integers([0].into()))?,
                    false => self.constant(&shape, Value::Scalars([0.0].into()))?,
                };
                x = self.concatenated(&[x, zeros], axis)?;
            }
        }
        Ok(x)
    }
}
