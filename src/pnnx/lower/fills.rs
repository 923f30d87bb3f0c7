//! Conversions of element types, and tensors whose items follow from settings.

use super::LoweringRule::By;
use super::logic::value_of;
use super::terms::whole;
use super::{Line, Lowered, LoweringRow, Refusal, extent_of, product};
use crate::graph::{Primitive, TensorId, Value};
use crate::library::assembly::Assembly;
use crate::pnnx::item::ExpandedItem;
use crate::pnnx::number::Number;
use crate::pnnx::tokens::Literal;

pub(super) const ROWS: &[LoweringRow] = &[
    (&["Tensor.to"], By(converted)),
    (&["Tensor.type_as"], By(type_as)),
    (&["Tensor.float", "Tensor.double"], By(|line| converted_to(line, Primitive::Scalar))),
    (&["Tensor.int", "Tensor.long"], By(|line| converted_to(line, Primitive::Integer))),
    (&["Tensor.bool"], By(|line| converted_to(line, Primitive::Logical))),
    (&["Tensor.fill", "torch.full_like"], By(|line| like(line, None))),
    (&["torch.zeros_like", "torch.empty_like", "Tensor.zero"], By(|line| like(line, Some(0)))),
    (&["torch.ones_like"], By(|line| like(line, Some(1)))),
    (&["torch.full", "Tensor.new_full"], By(|line| full(line, None))),
    // Memory that is not initialized may have any items.
    (&["torch.zeros", "torch.empty", "Tensor.new_zeros", "Tensor.new_empty"], By(|line| full(line, Some(0)))),
    (&["torch.ones", "Tensor.new_ones"], By(|line| full(line, Some(1)))),
    (&["torch.arange"], By(arange)),
    (&["torch.linspace"], By(linspace)),
    (&["torch.eye"], By(eye)),
    (&["torch.meshgrid"], By(meshgrid)),
];

/// The element types of torch, with the types that NNEF has for them.
const TYPES: &[(&str, Primitive)] = &[
    ("torch.float", Primitive::Scalar),
    ("torch.float32", Primitive::Scalar),
    ("torch.float64", Primitive::Scalar),
    ("torch.double", Primitive::Scalar),
    ("torch.float16", Primitive::Scalar),
    ("torch.half", Primitive::Scalar),
    ("torch.bfloat16", Primitive::Scalar),
    ("torch.int", Primitive::Integer),
    ("torch.int32", Primitive::Integer),
    ("torch.long", Primitive::Integer),
    ("torch.int64", Primitive::Integer),
    ("torch.bool", Primitive::Logical),
];

/// The types of integers of few bits: the number of bits, and whether there is a sign.
const FEW_BITS: &[(&str, (u32, bool))] = &[
    ("torch.uint8", (8, false)),
    ("torch.int8", (8, true)),
    ("torch.int16", (16, true)),
    ("torch.short", (16, true)),
    ("torch.uint16", (16, false)),
    ("torch.uint32", (32, false)),
];

/// Permits settings of where and how items are stored, which have no effect on them.
fn inert(line: &Line) {
    ["device", "layout", "memory_format", "pin_memory", "non_blocking", "copy", "requires_grad", "names", "out"]
        .iter()
        .for_each(|key| line.ignore(key));
}

/// The type that a setting names; none if it is not given.
fn element(line: &Line) -> Lowered<Option<Primitive>> {
    inert(line);
    match line.optional::<String>("dtype")? {
        None => Ok(None),
        Some(_) => line.choice("dtype", TYPES, None).map(Some),
    }
}

fn converted(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let word = line.optional::<String>("dtype").ok().flatten();
    if let Some((_, (bits, signed))) = FEW_BITS.iter().find(|(known, _)| Some(*known) == word.as_deref()) {
        inert(line);
        let x = line.cast(x, Primitive::Integer)?;
        return Ok(vec![line.wrapped(x, *bits, *signed)?]);
    }
    match element(line)? {
        Some(of) => Ok(vec![line.cast(x, of)?]),
        None => Ok(vec![x]),
    }
}

fn converted_to(line: &mut Line, of: Primitive) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    line.ignore("memory_format");
    Ok(vec![line.cast(x, of)?])
}

/// Converts the operand to the type of another one, which may have few bits.
fn type_as(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, other) = (line.tensor("input")?, line.tensor("other")?);
    let of = line.primitive(other)?;
    let element = line.builder.graph.element_type(other);
    let few = FEW_BITS.iter().find(|(word, _)| word.strip_prefix("torch.") == element);
    let y = line.cast(x, of)?;
    match few {
        Some((_, (bits, signed))) if line.builder.graph.element_type(x) != element => {
            Ok(vec![line.wrapped(y, *bits, *signed)?])
        }
        _ => Ok(vec![y]),
    }
}

/// The value of a filled tensor: a number of the kind of operator, or the setting.
fn fill_value(line: &mut Line, known: Option<i64>) -> Lowered<ExpandedItem> {
    match known {
        Some(known) => Ok(ExpandedItem::Literal(Literal::Int(known))),
        None => line.term(line.key_of(&["fill_value", "value"])),
    }
}

/// A tensor of one value with the shape of the operand, and its type unless another one is given.
fn like(line: &mut Line, known: Option<i64>) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let shape = line.extents(x)?;
    let of = match element(line)? {
        Some(of) => of,
        None => line.primitive(x)?,
    };
    let value = fill_value(line, known)?;
    Ok(vec![line.filled(&shape, value, of)?])
}

/// A tensor of one value with a shape. New tensors have the type of the operand, others that of the value.
fn full(line: &mut Line, known: Option<i64>) -> Lowered<Vec<TensorId>> {
    let shape: Vec<i64> = line.required("size")?;
    let of = element(line)?;
    let value = fill_value(line, known)?;
    let of = match (of, &value) {
        (Some(of), _) => of,
        (None, _) if line.has_tensor("input") => {
            let x = line.tensor("input")?;
            line.primitive(x)?
        }
        (None, _) if known.is_some() => Primitive::Scalar,
        (None, ExpandedItem::Tensor(tensor)) => line.primitive(*tensor)?,
        (None, ExpandedItem::Literal(Literal::Int(_))) => Primitive::Integer,
        (None, ExpandedItem::Literal(Literal::Bool(_))) => Primitive::Logical,
        (None, _) => Primitive::Scalar,
    };
    Ok(vec![line.filled(&shape, value, of)?])
}

impl Line<'_> {
    /// A tensor of one value.
    pub(super) fn filled(&mut self, shape: &[i64], value: ExpandedItem, of: Primitive) -> Lowered<TensorId> {
        if shape.iter().any(|extent| *extent < 1) {
            return Err(Refusal::Because("NNEF has no tensors without items".into()));
        }
        match value {
            ExpandedItem::Literal(literal) => match value_of(literal, of).ok_or(Refusal::UNFIT)? {
                Value::Int(value) => self.constant(shape, Value::Integers([value].into())),
                Value::Scalar(value) => self.constant(shape, Value::Scalars([value].into())),
                value => self.constant(shape, Value::Array([value].into())),
            },
            ExpandedItem::Tensor(tensor) => {
                let count = product(&self.extents(tensor)?)?;
                let single = self.reshaped(tensor, if count == 1 { &[] } else { return Err(Refusal::UNFIT) })?;
                let single = self.cast(single, of)?;
                self.expanded(single, shape)
            }
            _ => Err(Refusal::UNFIT),
        }
    }
}

/// The number of items from `start` to `end`.
fn steps(start: f64, end: f64, step: f64) -> Option<i64> {
    let count = ((end - start) / step).ceil();
    (1.0..9_007_199_254_740_992.0).contains(&count).then_some(count as i64)
}

/// Equally spaced numbers: integers if all settings are, and no other type is given.
fn arange(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let of = element(line)?;
    let number = |line: &Line, key: &str, default: i64| -> Lowered<Number> {
        line.optional::<f64>(key)?;
        let literal = line.optional::<Literal>(key)?.unwrap_or(Literal::Int(default));
        literal.number().ok_or_else(|| line.refuse(key, "a finite number"))
    };
    let end = line.required::<f64>("end").and(number(line, "end", 0))?;
    let (start, step) = (number(line, "start", 0)?, number(line, "step", 1)?);
    let is_whole = [start, end, step].iter().all(|number| number.whole().is_some());
    let of = of.unwrap_or(if is_whole { Primitive::Integer } else { Primitive::Scalar });
    let count = steps(start.float(), end.float(), step.float());
    let count = count.ok_or_else(|| line.refuse("end", "a number that is reached from `start`"))?;
    let tensor = match (of, whole(start), whole(step)) {
        (Primitive::Integer, Some(first), Some(by)) if is_whole => line.spaced(1, 0, first, by, count)?,
        (Primitive::Scalar, ..) => {
            let items = line.items(count, |place| Some(start.float() + place as f64 * step.float()))?;
            line.constant(&[count], Value::Scalars(items.into()))?
        }
        _ => return Err(line.refuse("dtype", "a type of floats")),
    };
    Ok(vec![tensor])
}

fn linspace(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (start, end): (f64, f64) = (line.required("start")?, line.required("end")?);
    let count = line.at_least("steps", 1, None)?;
    let of = element(line)?;
    line.require("dtype", of.is_none_or(|of| of == Primitive::Scalar), "a type of floats")?;
    let last = count.saturating_sub(1).max(1) as f64;
    let items = line.items(count, |place| Some(start + (end - start) * (place as f64 / last)))?;
    Ok(vec![line.constant(&[count], Value::Scalars(items.into()))?])
}

/// Ones on the diagonal.
fn eye(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let rows = line.at_least("n", 1, None)?;
    let columns = line.at_least("m", 1, Some(rows))?;
    let of = element(line)?.unwrap_or(Primitive::Scalar);
    let (row, column) = (line.counting((2, 0), rows)?, line.counting((2, 1), columns)?);
    let diagonal = line.add("eq", vec![Value::Tensor(row), Value::Tensor(column)])?;
    Ok(vec![line.cast(diagonal, of)?])
}

/// Each operand along an axis of its own, repeated along the others.
fn meshgrid(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let of_columns = line.choice("indexing", &[("ij", false), ("xy", true)], Some(false))?;
    let tensors = super::shaping::tensors(line)?;
    let count = tensors.len() as i64;
    let mut counts = Vec::new();
    for tensor in &tensors {
        counts.push(product(&line.extents(*tensor)?)?);
    }
    // The first two axes are those of columns and rows.
    let axis = |place: i64| match place {
        0 | 1 if of_columns && count > 1 => 1i64.saturating_sub(place),
        place => place,
    };
    let shape = (0..count).map(|place| extent_of(&counts, axis(place))).collect::<Lowered<Vec<i64>>>()?;
    let mut results = Vec::new();
    for (place, tensor) in (0..count).zip(tensors) {
        let along = axis(place);
        let own = (0..count).map(|other| if other == along { extent_of(&shape, other) } else { Ok(1) });
        let own = own.collect::<Lowered<Vec<i64>>>()?;
        let tensor = line.reshaped(tensor, &own)?;
        results.push(line.expanded(tensor, &shape)?);
    }
    Ok(results)
}
