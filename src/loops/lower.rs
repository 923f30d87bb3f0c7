//! Operations of layers as operations of NNEF 1.0.
//!
//! Layers repeat operands along last axes, NNEF along first ones: the operand with fewer axes gets
//! axes of extent 1 at its front.

use super::domain::{Site, Slot};
use super::emit::{Flat, primitive, scalar};
use super::ops::{Attributes, Lowering, Op, Special, axis_of, reduced_axes, sections};
use super::symbols::{Sym, Symbols};
use crate::diagnostics::Code;
use crate::graph::Primitive;
use crate::graph::Value;
use crate::tensor::{DType, Dims, Tensor};

/// What is lowered, and where.
struct Lower<'a, 'n> {
    symbols: &'a mut Symbols<'n>,
    site: &'a Site<'a>,
    op: Op,
    attributes: &'a Attributes,
    inputs: &'a [&'a Sym],
    dtype: DType,
    shape: Dims,
}

/// Constants up to this size are looked at for being one number everywhere.
const SPLAT: usize = 4096;

/// Emits an operation of which not all operands are known.
pub(crate) fn operation(
    symbols: &mut Symbols,
    site: &Site,
    (op, attributes): (Op, &Attributes),
    inputs: &[&Sym],
    (dtype, shape): (DType, Dims),
) -> Slot<Sym> {
    let mut lower = Lower { symbols, site, op, attributes, inputs, dtype, shape };
    match op.spec().lowering {
        Lowering::Alias => Ok(inputs[0].clone()),
        Lowering::Scalars(name) => lower.elementwise(name, Primitive::Scalar),
        Lowering::Logicals(name) => lower.elementwise(name, Primitive::Logical),
        Lowering::Reduce(name) => lower.reduce(name),
        Lowering::Special(special) => lower.special(special),
        Lowering::Nothing => Err(lower.blocked("has no counterpart in NNEF 1.0".to_owned())),
    }
}

impl Lower<'_, '_> {
    /// The failure of an operation that NNEF 1.0 cannot express.
    fn blocked(&self, why: String) -> std::sync::Arc<super::domain::Failure> {
        self.site.fail(Code::NotFlattenable, format!("`{}` of `{}` {why}", self.op.name(), self.site.name()))
    }

    /// Fails unless all operands are of the type that the operation of NNEF 1.0 takes.
    fn only(&self, wanted: Primitive, inputs: &[&Sym]) -> Slot<()> {
        match inputs.iter().find(|input| primitive(input.dtype()) != wanted) {
            None => Ok(()),
            Some(other) => {
                Err(self.blocked(format!("is on {} tensors, for which NNEF 1.0 does not have it", other.dtype())))
            }
        }
    }

    fn result(&self) -> (DType, Dims) {
        (self.dtype, self.shape.clone())
    }

    /// Emits the operation whose result is that of the layer.
    fn give(&mut self, operation: &'static str, arguments: Vec<(&'static str, Value)>) -> Slot<Sym> {
        let (dtype, shape) = self.result();
        self.symbols.emit(self.site, operation, arguments, (dtype, &shape), "").map(Sym::Flat)
    }

    /// Emits an operation with an intermediate result.
    fn step(
        &mut self,
        operation: &'static str,
        arguments: Vec<(&'static str, Value)>,
        result: (DType, &[usize]),
        word: &str,
    ) -> Slot<Flat> {
        self.symbols.emit(self.site, operation, arguments, result, word)
    }

    fn tensor(&mut self, value: &Sym) -> Slot<Flat> {
        self.symbols.tensor(self.site, value)
    }

    /// An operand with axes at its front as far as it needs them to have a number of axes.
    fn widened(&mut self, value: &Sym, rank: usize) -> Slot<Flat> {
        let missing = rank.saturating_sub(value.shape().len());
        let mut shape = Dims::from_elem(1, missing);
        shape.extend_from_slice(value.shape());
        let flat = match value {
            Sym::Known(known) => {
                let wide = Tensor::new(&shape, known.data().clone());
                let wide = wide.ok_or_else(|| self.blocked("has an operand that is too large".to_owned()))?;
                return self.tensor(&Sym::Known(std::sync::Arc::new(wide)));
            }
            Sym::Flat(flat) if missing == 0 => return Ok(flat.clone()),
            Sym::Flat(flat) => flat,
        };
        self.symbols.widened(self.site, flat, &shape)
    }

    /// An operand of an element-wise operation: a literal where a constant has one number
    /// everywhere and other operands have the shape of the result.
    fn operand(&mut self, value: &Sym, rank: usize, literals: bool) -> Slot<Value> {
        if literals
            && let Sym::Known(known) = value
            && let Some(literal) = splat(known)
        {
            return Ok(literal);
        }
        Ok(Value::Tensor(self.widened(value, rank)?.id))
    }

    /// Whether an operand alone has the shape of the result.
    fn shapes_result(&self, value: &Sym) -> bool {
        matches!(value, Sym::Flat(_)) && value.shape() == self.shape.as_slice()
    }

    fn elementwise(&mut self, name: &'static str, on: Primitive) -> Slot<Sym> {
        let inputs = self.inputs;
        self.only(on, inputs)?;
        let rank = inputs.iter().map(|input| input.shape().len()).max().unwrap_or(0);
        let literals = inputs.iter().any(|input| self.shapes_result(input));
        let mut arguments = Vec::with_capacity(inputs.len());
        for (parameter, input) in ["x", "y"].into_iter().zip(inputs) {
            arguments.push((parameter, self.operand(input, rank, literals)?));
        }
        self.give(name, arguments)
    }

    fn reduce(&mut self, name: &'static str) -> Slot<Sym> {
        let x = self.inputs[0];
        self.only(if self.dtype == DType::Bool { Primitive::Logical } else { Primitive::Scalar }, self.inputs)?;
        let single = matches!(name, "argmax_reduce" | "argmin_reduce");
        let given = self.attributes.any_axes().or(single.then(|| vec![0]));
        let axes = reduced_axes(given, x.shape().len()).map_err(|message| self.blocked(message))?;
        let mut kept = Dims::from(x.shape());
        axes.iter().for_each(|&axis| kept[axis] = 1);
        if axes.is_empty() {
            return Ok(x.clone());
        }
        let integers = Value::Integers(axes.iter().map(|&axis| axis as i64).collect());
        let input = Value::Tensor(self.tensor(x)?.id);
        let arguments = vec![("input", input), ("axes", integers.clone())];
        if self.attributes.keep_dims {
            return self.give(name, arguments);
        }
        let reduced = self.step(name, arguments, (self.dtype, &kept), "reduced")?;
        self.give("squeeze", vec![("input", Value::Tensor(reduced.id)), ("axes", integers)])
    }

    fn special(&mut self, special: Special) -> Slot<Sym> {
        match special {
            Special::Mod | Special::FloorDiv => self.floored(special == Special::Mod),
            Special::Xor => self.xor(),
            Special::Select => self.select(),
            Special::Matmul => self.matmul(),
            Special::Gather => self.gather(),
            Special::Softmax => {
                let rank = self.inputs[0].shape().len();
                let axes = self.attributes.any_axes().unwrap_or_else(|| vec![-1]);
                self.arranged("softmax", "x", "axes", self.counted(&axes, rank)?)
            }
            Special::Reshape => self.arranged("reshape", "input", "shape", extents(&self.shape)),
            Special::Transpose => {
                let rank = self.inputs[0].shape().len();
                let backwards: Vec<i64> = (0..rank as i64).rev().collect();
                let axes = self.attributes.axes.clone().unwrap_or(backwards);
                self.arranged("transpose", "input", "axes", self.counted(&axes, rank)?)
            }
            Special::Squeeze => {
                let shape = self.inputs[0].shape();
                let ones = || (0..shape.len() as i64).filter(|&axis| shape[axis as usize] == 1).collect();
                let axes = self.attributes.any_axes().unwrap_or_else(ones);
                self.arranged("squeeze", "input", "axes", self.counted(&axes, shape.len())?)
            }
            Special::Unsqueeze => {
                let axes = self.attributes.any_axes().unwrap_or_default();
                self.arranged("unsqueeze", "input", "axes", self.counted(&axes, self.shape.len())?)
            }
            Special::Slice => self.slice(),
            Special::Concat | Special::Stack => self.join(special == Special::Stack),
            Special::Cast => self.cast(),
            Special::Clamp => self.clamp(),
            Special::LeakyRelu => {
                self.only(Primitive::Scalar, self.inputs)?;
                let alpha = Value::Scalar(self.attributes.alpha.unwrap_or(0.01));
                let x = Value::Tensor(self.tensor(self.inputs[0])?.id);
                self.give("leaky_relu", vec![("x", x), ("alpha", alpha)])
            }
        }
    }

    /// Axes counted from the front; ascending where their order means nothing.
    fn counted(&self, axes: &[i64], rank: usize) -> Slot<Vec<i64>> {
        let counted =
            axes.iter().map(|&axis| axis_of(axis, rank).map(|axis| axis as i64)).collect::<Result<Vec<_>, _>>();
        let mut counted = counted.map_err(|message| self.blocked(message))?;
        if self.op.name() != "transpose" {
            counted.sort_unstable();
        }
        Ok(counted)
    }

    /// Emits an operation of one tensor and an attribute of integers.
    fn arranged(
        &mut self,
        operation: &'static str,
        input: &'static str,
        attribute: &'static str,
        integers: Vec<i64>,
    ) -> Slot<Sym> {
        if operation == "softmax" {
            self.only(Primitive::Scalar, self.inputs)?;
        }
        let tensor = self.tensor(self.inputs[0])?;
        if integers.is_empty() && operation != "reshape" {
            return Ok(Sym::Flat(tensor));
        }
        self.give(operation, vec![(input, Value::Tensor(tensor.id)), (attribute, Value::Integers(integers.into()))])
    }

    /// `floor(x / y)`, or `x - y * floor(x / y)`.
    fn floored(&mut self, rest: bool) -> Slot<Sym> {
        let inputs = self.inputs;
        self.only(Primitive::Scalar, inputs)?;
        let (dtype, shape) = self.result();
        let x = Value::Tensor(self.widened(inputs[0], shape.len())?.id);
        let y = Value::Tensor(self.widened(inputs[1], shape.len())?.id);
        let quotient = self.step("div", vec![("x", x.clone()), ("y", y.clone())], (dtype, &shape), "quotient")?;
        let whole = vec![("x", Value::Tensor(quotient.id))];
        if !rest {
            return self.give("floor", whole);
        }
        let floor = self.step("floor", whole, (dtype, &shape), "floor")?;
        let multiple = vec![("x", y), ("y", Value::Tensor(floor.id))];
        let multiple = self.step("mul", multiple, (dtype, &shape), "multiple")?;
        self.give("sub", vec![("x", x), ("y", Value::Tensor(multiple.id))])
    }

    /// One but not both.
    fn xor(&mut self) -> Slot<Sym> {
        let inputs = self.inputs;
        let (dtype, shape) = self.result();
        let x = Value::Tensor(self.widened(inputs[0], shape.len())?.id);
        let y = Value::Tensor(self.widened(inputs[1], shape.len())?.id);
        let pair = || vec![("x", x.clone()), ("y", y.clone())];
        let any = self.step("or", pair(), (dtype, &shape), "any")?;
        let both = self.step("and", pair(), (dtype, &shape), "both")?;
        let apart = self.step("not", vec![("x", Value::Tensor(both.id))], (dtype, &shape), "apart")?;
        self.give("and", vec![("x", Value::Tensor(any.id)), ("y", Value::Tensor(apart.id))])
    }

    fn select(&mut self) -> Slot<Sym> {
        let inputs = self.inputs;
        // A known condition for all elements needs no operation where the branch has the shape.
        if let Sym::Known(condition) = inputs[0]
            && let Some(Value::Logical(chosen)) = splat(condition)
        {
            let branch = if chosen { inputs[1] } else { inputs[2] };
            if branch.shape() == self.shape.as_slice() {
                return Ok(branch.clone());
            }
        }
        let rank = self.shape.len();
        let single = inputs[0].shape().is_empty();
        let condition = if single { self.tensor(inputs[0])? } else { self.widened(inputs[0], rank)? };
        let branches = [inputs[1], inputs[2]];
        let literals = branches.iter().any(|branch| self.shapes_result(branch));
        let mut arguments = vec![("condition", Value::Tensor(condition.id))];
        for (name, branch) in ["true_value", "false_value"].into_iter().zip(branches) {
            arguments.push((name, self.operand(branch, rank, literals && branch.dtype().is_float())?));
        }
        self.give("select", arguments)
    }

    fn matmul(&mut self) -> Slot<Sym> {
        let inputs = self.inputs;
        self.only(Primitive::Scalar, inputs)?;
        let (a, b) = (inputs[0], inputs[1]);
        let vectors = (a.shape().len() == 1, b.shape().len() == 1);
        let rank = a.shape().len().max(b.shape().len()).max(2);
        let left = if vectors.0 { self.reshaped(a, &[1, a.shape()[0]], "row")? } else { a.clone() };
        let right = if vectors.1 { self.reshaped(b, &[b.shape()[0], 1], "column")? } else { b.clone() };
        let left = self.widened(&left, rank)?;
        let right = self.widened(&right, rank)?;
        let mut arguments = vec![("A", Value::Tensor(left.id)), ("B", Value::Tensor(right.id))];
        if self.attributes.transpose_a && !vectors.0 {
            arguments.push(("transposeA", Value::Logical(true)));
        }
        if self.attributes.transpose_b && !vectors.1 {
            arguments.push(("transposeB", Value::Logical(true)));
        }
        if !vectors.0 && !vectors.1 {
            return self.give("matmul", arguments);
        }
        let mut full = self.shape.clone();
        let mut dropped = Vec::new();
        if vectors.1 {
            full.push(1);
            dropped.push(rank as i64 - 1);
        }
        if vectors.0 {
            full.insert(rank - 2, 1);
            dropped.insert(0, rank as i64 - 2);
        }
        let product = self.step("matmul", arguments, (self.dtype, &full), "product")?;
        self.give("squeeze", vec![("input", Value::Tensor(product.id)), ("axes", Value::Integers(dropped.into()))])
    }

    /// A vector as a matrix.
    fn reshaped(&mut self, value: &Sym, shape: &[usize], word: &str) -> Slot<Sym> {
        let axis = i64::from(shape[1] == 1 && word == "column");
        match value {
            Sym::Known(known) => {
                let matrix = Tensor::new(shape, known.data().clone());
                let matrix = matrix.ok_or_else(|| self.blocked("has an operand that is too large".to_owned()))?;
                Ok(Sym::Known(std::sync::Arc::new(matrix)))
            }
            Sym::Flat(flat) => {
                let arguments = vec![("input", Value::Tensor(flat.id)), ("axes", Value::Integers([axis].into()))];
                self.step("unsqueeze", arguments, (flat.dtype, shape), word).map(Sym::Flat)
            }
        }
    }

    /// Only indices that are known: a slice for each.
    fn gather(&mut self) -> Slot<Sym> {
        let (x, indices) = (self.inputs[0], self.inputs[1]);
        let Sym::Known(indices) = indices else {
            return Err(self.blocked("is by an index that is known only when the network runs".to_owned()));
        };
        let axis = self.attributes.axis.unwrap_or(0);
        let axis = axis_of(axis, x.shape().len()).map_err(|message| self.blocked(message))?;
        let extent = x.shape()[axis];
        let places = indices.places_in(extent, true);
        let places = places.map_err(|wanted| {
            let message = format!("`{}`: index {wanted} is outside an axis of {extent}", self.site.name());
            self.site.fail(Code::LayerOperands, message)
        })?;
        let x = self.tensor(x)?;
        let mut parts = Vec::with_capacity(places.len());
        for place in places {
            parts.push(self.symbols.part(self.site, &x, axis, place)?);
        }
        match (indices.shape().len(), parts.first()) {
            (0, Some(part)) => Ok(Sym::Flat(part.clone())),
            (1, Some(_)) => {
                let values = Value::Array(parts.iter().map(|part| Value::Tensor(part.id)).collect());
                self.give("stack", vec![("values", values), ("axis", Value::Int(axis as i64))])
            }
            _ => Err(self.blocked("is by a matrix of indices".to_owned())),
        }
    }

    fn slice(&mut self) -> Slot<Sym> {
        let x = self.tensor(self.inputs[0])?;
        let dims: Vec<Option<usize>> = x.shape.iter().map(|&extent| Some(extent)).collect();
        let found = sections(self.attributes, &dims).map_err(|message| self.blocked(message))?;
        if found.iter().any(|section| section.stride < 0) {
            return Err(self.blocked("runs backwards, which NNEF 1.0 has no slice for".to_owned()));
        }
        if self.shape == x.shape {
            return Ok(Sym::Flat(x));
        }
        let all = |of: fn(&super::ops::Section) -> i64| Value::Integers(found.iter().map(of).collect());
        let mut arguments = vec![
            ("input", Value::Tensor(x.id)),
            ("axes", all(|section| section.axis as i64)),
            ("begin", all(|section| section.begin)),
            ("end", all(|section| section.end)),
        ];
        if found.iter().any(|section| section.stride != 1) {
            arguments.push(("stride", all(|section| section.stride)));
        }
        self.give("slice", arguments)
    }

    fn join(&mut self, stack: bool) -> Slot<Sym> {
        let inputs = self.inputs;
        let axis = self.attributes.axis.unwrap_or(0);
        let axis = axis_of(axis, self.shape.len()).map_err(|message| self.blocked(message))?;
        let mut values = Vec::with_capacity(inputs.len());
        for input in inputs {
            values.push(Value::Tensor(self.tensor(input)?.id));
        }
        let arguments = vec![("values", Value::Array(values.into())), ("axis", Value::Int(axis as i64))];
        self.give(if stack { "stack" } else { "concat" }, arguments)
    }

    fn cast(&mut self) -> Slot<Sym> {
        let x = self.inputs[0];
        let input = self.tensor(x)?;
        match (primitive(x.dtype()), primitive(self.dtype)) {
            (from, to) if from == to && x.dtype() == self.dtype => Ok(x.clone()),
            (Primitive::Scalar, Primitive::Scalar) => Ok(Sym::Flat(Flat { dtype: self.dtype, ..input })),
            (Primitive::Logical, Primitive::Scalar) => {
                let arguments = vec![
                    ("condition", Value::Tensor(input.id)),
                    ("true_value", Value::Scalar(1.0)),
                    ("false_value", Value::Scalar(0.0)),
                ];
                self.give("select", arguments)
            }
            (Primitive::Scalar, Primitive::Logical) => {
                self.give("ne", vec![("x", Value::Tensor(input.id)), ("y", Value::Scalar(0.0))])
            }
            _ => {
                Err(self.blocked(format!("makes {} of {}, for which NNEF 1.0 has no operation", self.dtype, x.dtype())))
            }
        }
    }

    fn clamp(&mut self) -> Slot<Sym> {
        self.only(Primitive::Scalar, self.inputs)?;
        let x = Value::Tensor(self.tensor(self.inputs[0])?.id);
        match (self.attributes.low, self.attributes.high) {
            (Some(low), Some(high)) => {
                self.give("clamp", vec![("x", x), ("a", Value::Scalar(low)), ("b", Value::Scalar(high))])
            }
            (Some(low), None) => self.give("max", vec![("x", x), ("y", Value::Scalar(low))]),
            (None, Some(high)) => self.give("min", vec![("x", x), ("y", Value::Scalar(high))]),
            (None, None) => Ok(self.inputs[0].clone()),
        }
    }
}

fn extents(shape: &[usize]) -> Vec<i64> {
    shape.iter().map(|&extent| extent as i64).collect()
}

/// The literal that a constant is everywhere, if it is, and NNEF can write it.
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
