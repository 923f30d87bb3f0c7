//! Lowers operations of layers to operations of NNEF 1.0.
//!
//! Layers broadcast with the last axes aligned, NNEF with the first: the operand with fewer axes gets leading axes
//! of extent 1.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod formula;

use std::sync::Arc;

use super::emit::{Flat, integers};
use super::ops::{Attributes, Lowering, Op, Section, axis_of, order, reduced_axes, sections};
use super::site::{ComputationError, Computed, Site};
use super::symbols::{Sym, Symbols};
use crate::diagnostics::Code;
use crate::dictionary::{InNnef, Kernel, Row};
use crate::graph::Primitive;
use crate::graph::Value;
use crate::graph::constant::{primitive, scalar};
use crate::tensor::{DType, Dims, Tensor};

/// The maximum size of constants that are tested for equal items.
const SPLAT: usize = 4096;

/// The operation to lower and its site.
struct Lower<'a, 'n> {
    symbols: &'a mut Symbols<'n>,
    site: &'a Site<'a>,
    op: Op,
    attributes: &'a Attributes,
    inputs: &'a [&'a Sym],
    /// The type of the result.
    dtype: DType,
    shape: Dims,
}

/// Emits an operation with at least one operand that is not known.
pub(crate) fn operation(
    symbols: &mut Symbols,
    site: &Site,
    (op, attributes): (Op, &Attributes),
    inputs: &[&Sym],
    (dtype, shape): (DType, Dims),
) -> Computed<Sym> {
    let mut call = Lower { symbols, site, op, attributes, inputs, dtype, shape };
    match op.spec().lowering {
        Lowering::Alias => call.input(0).cloned(),
        Lowering::ByItem(row) => call.by_item(row),
        Lowering::Reduce(name) => call.reduce(name),
        Lowering::Own => own(&mut call),
    }
}

/// Calls the lowering function of an operation with [`Lowering::Own`].
fn own(call: &mut Lower) -> Computed<Sym> {
    match call.op.name() {
        "select" => select(call),
        "matmul" => matmul(call),
        "gather" => gather(call),
        "softmax" => softmax(call),
        "reshape" => reshape(call),
        "transpose" => transpose(call),
        "squeeze" => squeeze(call),
        "unsqueeze" => unsqueeze(call),
        "slice" => slice(call),
        "concat" => call.join("concat"),
        "stack" => call.join("stack"),
        "cast" => cast(call),
        "clamp" => clamp(call),
        "leaky_relu" => leaky_relu(call),
        _ => Err(call.blocked("has no counterpart in NNEF 1.0")),
    }
}

impl<'a> Lower<'a, '_> {
    /// An operand; the type rule of the operation has checked how many there are.
    fn input(&self, place: usize) -> Computed<&'a Sym> {
        self.inputs.get(place).copied().ok_or_else(|| self.blocked("has too few operands"))
    }

    /// The failure of an operation that NNEF 1.0 cannot express.
    fn blocked(&self, why: impl std::fmt::Display) -> Arc<ComputationError> {
        self.site.fail(Code::NotFlattenable, format!("`{}` of `{}` {why}", self.op.name(), self.site.name()))
    }

    /// Fails unless all operands have the primitive type that the NNEF 1.0 operation takes.
    fn only(&self, wanted: Primitive) -> Computed<()> {
        let other = self.inputs.iter().map(|input| input.dtype()).find(|dtype| primitive(*dtype) != wanted);
        other.map_or(Ok(()), |dtype| {
            Err(self.blocked(format!("is on {dtype} tensors, for which NNEF 1.0 does not have it")))
        })
    }

    /// Emits the operation whose result is the result of the layer.
    fn give(
        &mut self,
        operation: &'static str,
        arguments: impl IntoIterator<Item = impl Into<Option<Value>>>,
    ) -> Computed<Sym> {
        self.symbols.emit(self.site, operation, arguments, (self.dtype, &self.shape), "").map(Sym::Flat)
    }

    /// Emits an operation with an intermediate result that has the type and shape of the layer's result.
    fn step(
        &mut self,
        operation: &'static str,
        arguments: impl IntoIterator<Item = Value>,
        word: &str,
    ) -> Computed<Value> {
        let flat = self.symbols.emit(self.site, operation, arguments, (self.dtype, &self.shape), word)?;
        Ok(Value::from(&flat))
    }

    /// A value as an argument.
    fn tensor(&mut self, value: &Sym) -> Computed<Value> {
        Ok(Value::from(&self.symbols.tensor(self.site, value)?))
    }

    /// The first operand as an argument.
    fn first(&mut self) -> Computed<Value> {
        self.tensor(self.input(0)?)
    }

    /// An operand with as many leading axes of extent 1 as it needs to have at least `rank` axes.
    fn widened(&mut self, value: &Sym, rank: usize) -> Computed<Value> {
        let missing = rank.saturating_sub(value.shape().len());
        match value {
            Sym::Known(known) => self.constant(known, known.shape(), missing),
            Sym::Flat(flat) if missing == 0 => Ok(Value::from(flat)),
            Sym::Flat(flat) => Ok(Value::from(&self.symbols.widened(self.site, flat, missing)?)),
        }
    }

    /// The items of a known tensor as a constant of a shape, with `missing` leading axes of extent 1.
    fn constant(&mut self, known: &Arc<Tensor>, shape: &[usize], missing: usize) -> Computed<Value> {
        let mut wide = Dims::from_elem(1, missing);
        wide.extend_from_slice(shape);
        Ok(Value::from(&self.symbols.constant(self.site, known, &wide)?))
    }

    /// An operand of an element-wise operation: a literal if all items of a constant are equal and `literals` is set
    /// (another operand has the shape of the result).
    fn operand(&mut self, value: &Sym, rank: usize, literals: bool) -> Computed<Value> {
        if let Sym::Known(known) = value
            && literals
            && let Some(literal) = splat(known)
        {
            return Ok(literal);
        }
        self.widened(value, rank)
    }

    /// Whether an operand is a tensor of the graph with the shape of the result.
    fn shapes_result(&self, value: &Sym) -> bool {
        matches!(value, Sym::Flat(_)) && value.shape() == self.shape.as_slice()
    }

    /// The operands of an element-wise operation, with as many axes as the result.
    fn aligned(&mut self) -> Computed<Vec<Value>> {
        let inputs = self.inputs;
        let rank = inputs.iter().map(|input| input.shape().len()).max().unwrap_or(0);
        let literals = inputs.iter().any(|input| self.shapes_result(input));
        inputs.iter().map(|input| self.operand(input, rank, literals)).collect()
    }

    fn by_item(&mut self, row: &'static Row) -> Computed<Sym> {
        let logical = matches!(row.kernel, Some(Kernel::Logic(_) | Kernel::Not));
        self.only(if logical { Primitive::Logical } else { Primitive::Scalar })?;
        match (row.nnef, row.if_positive(), self.input(0)?) {
            (_, Some(name), Sym::Flat(flat)) if self.symbols.never_negative(flat) => {
                let arguments = self.aligned()?;
                self.give(name, arguments)
            }
            (InNnef::Operation(name), ..) => {
                let arguments = self.aligned()?;
                self.give(name, arguments)
            }
            (InNnef::Formula(_), ..) => formula::emit(self, row),
            (InNnef::Missing, ..) => Err(self.blocked("has no counterpart in NNEF 1.0")),
        }
    }

    fn reduce(&mut self, name: &'static str) -> Computed<Sym> {
        let x = self.input(0)?;
        self.only(if self.dtype == DType::Bool { Primitive::Logical } else { Primitive::Scalar })?;
        let single = matches!(name, "argmax_reduce" | "argmin_reduce");
        let given = self.attributes.any_axes().or(single.then(|| vec![0]));
        let axes = reduced_axes(given, x.shape().len()).map_err(|message| self.blocked(message))?;
        if axes.is_empty() {
            return Ok(x.clone());
        }
        let arguments = [self.first()?, integers(&axes)];
        if self.attributes.keep_dims {
            return self.give(name, arguments);
        }
        let mut kept = Dims::from(x.shape());
        for axis in &axes {
            kept.get_mut(*axis).into_iter().for_each(|extent| *extent = 1);
        }
        let reduced = self.symbols.emit(self.site, name, arguments, (self.dtype, &kept), "reduced")?;
        self.give("squeeze", [Value::from(&reduced), integers(&axes)])
    }

    /// Axes counted from the front.
    fn counted(&self, axes: &[i64], rank: usize) -> Computed<Vec<usize>> {
        let counted = axes.iter().map(|&axis| axis_of(axis, rank)).collect::<Result<_, _>>();
        counted.map_err(|message| self.blocked(message))
    }

    /// The axis that the attributes name, by default the first one.
    fn axis(&self, rank: usize) -> Computed<usize> {
        axis_of(self.attributes.axis.unwrap_or(0), rank).map_err(|message| self.blocked(message))
    }

    /// Emits an operation on one tensor and on axes in any order.
    fn along(&mut self, operation: &'static str, axes: &[i64], rank: usize) -> Computed<Sym> {
        let mut axes = self.counted(axes, rank)?;
        axes.sort_unstable();
        if axes.is_empty() {
            return self.input(0).cloned();
        }
        let arguments = [self.first()?, integers(&axes)];
        self.give(operation, arguments)
    }

    /// Emits `concat` or `stack` along an axis.
    fn join(&mut self, operation: &'static str) -> Computed<Sym> {
        let axis = self.axis(self.shape.len())?;
        let values: Computed<Vec<Value>> = self.inputs.iter().map(|input| self.tensor(input)).collect();
        self.give(operation, [Value::Array(values?.into()), Value::Int(axis as i64)])
    }

    /// An operand of a matrix product; a vector becomes a matrix by a new axis of extent 1.
    fn matrix(&mut self, value: &Sym, axis: usize, word: &str, rank: usize) -> Computed<Value> {
        if value.shape().len() > 1 {
            return self.widened(value, rank);
        }
        let mut shape = Dims::from(value.shape());
        shape.insert(axis, 1);
        let matrix = match value {
            Sym::Known(known) => return self.constant(known, &shape, rank.saturating_sub(shape.len())),
            Sym::Flat(flat) => {
                let arguments = [Value::from(flat), integers(&[axis])];
                Sym::Flat(self.symbols.emit(self.site, "unsqueeze", arguments, (flat.dtype, &shape), word)?)
            }
        };
        self.widened(&matrix, rank)
    }
}

fn select(call: &mut Lower) -> Computed<Sym> {
    let [condition, branches @ ..] = call.inputs else { return Err(call.blocked("has no operands")) };
    // A known condition that is equal for all elements needs no operation if the chosen branch has the result's shape.
    if let Sym::Known(condition) = condition
        && let Some(Value::Logical(chosen)) = splat(condition)
        && let Some(branch) = branches.get(usize::from(!chosen))
        && branch.shape() == call.shape.as_slice()
    {
        return Ok(Sym::clone(branch));
    }
    let rank = call.shape.len();
    let condition = call.widened(condition, if condition.shape().is_empty() { 0 } else { rank })?;
    let literals = branches.iter().any(|branch| call.shapes_result(branch));
    let branch = |branch: &&Sym| call.operand(branch, rank, literals && branch.dtype().is_float());
    let branches = branches.iter().map(branch).collect::<Computed<Vec<Value>>>()?;
    call.give("select", std::iter::once(condition).chain(branches))
}

fn matmul(call: &mut Lower) -> Computed<Sym> {
    call.only(Primitive::Scalar)?;
    let (a, b) = (call.input(0)?, call.input(1)?);
    let (row, column) = (a.shape().len() == 1, b.shape().len() == 1);
    let rank = a.shape().len().max(b.shape().len()).max(2);
    let left = call.matrix(a, 0, "row", rank)?;
    let right = call.matrix(b, 1, "column", rank)?;
    let transposed = |holds: bool| holds.then_some(Value::Logical(true));
    let (transpose_a, transpose_b) = (call.attributes.transpose_a && !row, call.attributes.transpose_b && !column);
    let arguments = [Some(left), Some(right), transposed(transpose_a), transposed(transpose_b)];
    if !row && !column {
        return call.give("matmul", arguments);
    }
    let mut full = call.shape.clone();
    let mut dropped = Vec::new();
    if column {
        full.push(1);
        dropped.push(rank.saturating_sub(1));
    }
    if row {
        let axis = rank.saturating_sub(2);
        full.insert(axis, 1);
        dropped.insert(0, axis);
    }
    let product = call.symbols.emit(call.site, "matmul", arguments, (call.dtype, &full), "product")?;
    call.give("squeeze", [Value::from(&product), integers(&dropped)])
}

/// A gather with known indices: one slice for each index.
fn gather(call: &mut Lower) -> Computed<Sym> {
    let Sym::Known(indices) = call.input(1)? else {
        return Err(call.blocked("is by an index that is known only at run time"));
    };
    let x = call.symbols.tensor(call.site, call.input(0)?)?;
    let axis = call.axis(x.shape.len())?;
    let extent = x.shape.get(axis).copied().unwrap_or(0);
    let places = indices.places_in(extent, true).map_err(|wanted| {
        let message = format!("`{}`: index {wanted} is outside an axis of {extent}", call.site.name());
        call.site.fail(Code::LayerOperands, message)
    })?;
    // Several parts are not the result itself.
    let word = if indices.rank() == 0 { "" } else { "part" };
    let part = |place| call.symbols.part(call.site, &x, axis, place, word);
    let parts = places.into_iter().map(part).collect::<Computed<Vec<Flat>>>()?;
    match (indices.rank(), parts.first()) {
        (0, Some(part)) => Ok(Sym::Flat(part.clone())),
        (1, Some(_)) => {
            let values = Value::Array(parts.iter().map(Value::from).collect());
            call.give("stack", [values, Value::Int(axis as i64)])
        }
        _ => Err(call.blocked("is by a matrix of indices")),
    }
}

fn softmax(call: &mut Lower) -> Computed<Sym> {
    let axes = call.attributes.any_axes().unwrap_or_else(|| vec![-1]);
    call.along("softmax", &axes, call.shape.len())
}

fn reshape(call: &mut Lower) -> Computed<Sym> {
    let arguments = [call.first()?, integers(&call.shape)];
    call.give("reshape", arguments)
}

fn transpose(call: &mut Lower) -> Computed<Sym> {
    let axes = order(call.attributes.axes.as_ref(), call.shape.len()).map_err(|message| call.blocked(message))?;
    if axes.is_empty() {
        return call.input(0).cloned();
    }
    let arguments = [call.first()?, integers(&axes)];
    call.give("transpose", arguments)
}

fn squeeze(call: &mut Lower) -> Computed<Sym> {
    let shape = call.input(0)?.shape();
    let ones = || (0i64..).zip(shape).filter(|(_, extent)| **extent == 1).map(|(axis, _)| axis).collect();
    call.along("squeeze", &call.attributes.any_axes().unwrap_or_else(ones), shape.len())
}

fn unsqueeze(call: &mut Lower) -> Computed<Sym> {
    call.along("unsqueeze", &call.attributes.any_axes().unwrap_or_default(), call.shape.len())
}

fn slice(call: &mut Lower) -> Computed<Sym> {
    let x = call.input(0)?;
    let found = sections(call.attributes, &x.ty().dims).map_err(|message| call.blocked(message))?;
    if found.iter().any(|section| section.stride < 0) {
        return Err(call.blocked("runs backwards, for which NNEF 1.0 has no slice"));
    }
    if call.shape.as_slice() == x.shape() {
        return Ok(x.clone());
    }
    let each = |field: fn(&Section) -> i64| Some(Value::Integers(found.iter().map(field).collect()));
    let [axes, begin, end] = [each(|of| of.axis as i64), each(|of| of.begin), each(|of| of.end)];
    let stride = if found.iter().any(|of| of.stride != 1) { each(|of| of.stride) } else { None };
    let x = call.first()?;
    call.give("slice", [Some(x), axes, begin, end, stride])
}

fn cast(call: &mut Lower) -> Computed<Sym> {
    let (x, dtype) = (call.input(0)?, call.dtype);
    match (primitive(x.dtype()), primitive(dtype)) {
        _ if x.dtype() == dtype => Ok(x.clone()),
        (Primitive::Scalar, Primitive::Scalar) => Ok(Sym::Flat(Flat { dtype, ..call.symbols.tensor(call.site, x)? })),
        (Primitive::Logical, Primitive::Scalar) => {
            let condition = call.first()?;
            call.give("select", [condition, Value::Scalar(1.0), Value::Scalar(0.0)])
        }
        (Primitive::Scalar, Primitive::Logical) => {
            let x = call.first()?;
            call.give("ne", [x, Value::Scalar(0.0)])
        }
        _ => Err(call.blocked(format!("makes {dtype} of {}, for which NNEF 1.0 has no operation", x.dtype()))),
    }
}

fn clamp(call: &mut Lower) -> Computed<Sym> {
    call.only(Primitive::Scalar)?;
    let x = call.first()?;
    // NaN stays if it is the second operand, which it is not in the `clamp` of NNEF.
    match (call.attributes.low.map(Value::Scalar), call.attributes.high.map(Value::Scalar)) {
        (Some(low), Some(high)) => {
            let most = call.step("min", [high, x], "most")?;
            call.give("max", [low, most])
        }
        (Some(low), None) => call.give("max", [low, x]),
        (None, Some(high)) => call.give("min", [high, x]),
        (None, None) => call.input(0).cloned(),
    }
}

fn leaky_relu(call: &mut Lower) -> Computed<Sym> {
    let arguments = [call.first()?, Value::Scalar(call.attributes.alpha.unwrap_or(0.01))];
    call.give("leaky_relu", arguments)
}

/// The literal that all items of a constant are equal to, if there is one and NNEF can express it.
fn splat(known: &Tensor) -> Option<Value> {
    let data = known.data();
    let len = data.len();
    if len == 0 || len > SPLAT || (1..len).any(|i| data.float(i).to_bits() != data.float(0).to_bits()) {
        return None;
    }
    match primitive(known.dtype()) {
        Primitive::Logical => Some(Value::Logical(data.float(0) != 0.0)),
        Primitive::Scalar if data.float(0).is_finite() => Some(Value::Scalar(scalar(data, 0))),
        _ => None,
    }
}
