//! Element-wise operators: comparisons, operations on truth values and bits, choices, bounds.

use std::borrow::Cow;

use super::LoweringRule::{By, With};
use super::terms::whole;
use super::{Line, Lowered, LoweringRow, Refusal};
use crate::dictionary::{self, InNnef, Vocabulary};
use crate::graph::{Primitive, TensorId, Value};
use crate::library::assembly::Assembly;
use crate::pnnx::expression_table::Op;
use crate::pnnx::item::ExpandedItem;
use crate::pnnx::parse::{Reading, parse};
use crate::pnnx::tokens::Literal;

pub(super) const ROWS: &[LoweringRow] = &[
    (&["torch.eq"], By(|line| compare(line, "eq(@0,@1)"))),
    (&["torch.ne"], By(|line| compare(line, "ne(@0,@1)"))),
    (&["torch.lt"], By(|line| compare(line, "lt(@0,@1)"))),
    (&["torch.le"], By(|line| compare(line, "le(@0,@1)"))),
    (&["torch.gt"], By(|line| compare(line, "gt(@0,@1)"))),
    (&["torch.ge"], By(|line| compare(line, "ge(@0,@1)"))),
    (&["torch.isnan"], With("ne(@0,@0)", &[])),
    (&["torch.isinf"], With("and(eq(mul(@0,0.5),@0),ne(@0,0.0))", &[])),
    (&["torch.isposinf"], With("and(eq(mul(@0,0.5),@0),gt(@0,0.0))", &[])),
    (&["torch.isneginf"], With("and(eq(mul(@0,0.5),@0),lt(@0,0.0))", &[])),
    (&["torch.isfinite"], With("eq(mul(@0,0.0),0.0)", &[])),
    (&["torch.logical_not"], By(logical_not)),
    (&["torch.logical_and"], By(|line| logical(line, "and(@0,@1)"))),
    (&["torch.logical_or"], By(|line| logical(line, "or(@0,@1)"))),
    (&["torch.logical_xor"], By(|line| logical(line, "xor(@0,@1)"))),
    (&["torch.bitwise_and"], By(|line| bits(line, "and(@0,@1)"))),
    (&["torch.bitwise_or"], By(|line| bits(line, "or(@0,@1)"))),
    (&["torch.bitwise_xor"], By(|line| bits(line, "xor(@0,@1)"))),
    (&["torch.bitwise_not"], By(complement)),
    (&["torch.bitwise_left_shift"], By(shift_left)),
    (&["torch.bitwise_right_shift"], By(shift_right)),
    (&["torch.where"], By(choose)),
    (&["Tensor.masked_fill", "torch.masked_fill"], By(masked_fill)),
    (&["torch.clamp", "torch.clip"], By(|line| clamp(line, ["min", "max"], [None, None]))),
    (&["torch.clamp_min"], By(|line| clamp(line, ["min", "none"], [None, None]))),
    (&["torch.clamp_max"], By(|line| clamp(line, ["none", "max"], [None, None]))),
    (&["torch.lerp"], By(lerp)),
    (&["torch.addcmul"], By(|line| added(line, "mul(@1,@2)"))),
    (&["torch.addcdiv"], By(|line| added(line, "div(@1,@2)"))),
];

impl Line<'_> {
    /// Adds an element-wise operator: a function of the dictionary, or an operation of expressions.
    pub(super) fn by_item(&mut self, kind: &str) -> Lowered<TensorId> {
        let row = dictionary::find(Vocabulary::Torch, kind).filter(|row| row.function().is_some());
        match row.map(|row| row.nnef) {
            Some(InNnef::Operation(nnef)) => {
                let x = self.tensor("input")?;
                self.add(nnef, vec![Value::Tensor(x)])
            }
            Some(InNnef::Formula(text)) => self.text_of(text),
            Some(InNnef::Missing) => Err(MISSING),
            None => self.operation(kind),
        }
    }

    /// Adds an operator with the name of an operation of expressions, such as `torch.mul`.
    fn operation(&mut self, kind: &str) -> Lowered<TensorId> {
        let name = ["torch.", "Tensor.", "aten::"].iter().find_map(|prefix| kind.strip_prefix(prefix));
        let op = name.and_then(Op::named).filter(|op| op.row().row.is_some()).ok_or(MISSING)?;
        let name = op.row().name;
        let Some(second) = (op.row().arity.1 > 1).then(|| self.key_of(&["other", "exponent", "input1"])) else {
            let x = ExpandedItem::Tensor(self.tensor("input")?);
            return self.call(&format!("{name}(@0)"), &[x]);
        };
        let items = [self.term("input")?, self.term(second)?];
        let factor: f64 = if ["add", "sub"].contains(&name) { self.setting_or("alpha", 1.0)? } else { 1.0 };
        let text = match factor {
            1.0 => format!("{name}(@0,@1)"),
            factor => format!("{name}(@0,mul(@1,{factor:?}))"),
        };
        self.call(&text, &items)
    }

    /// Adds operations with the semantics of expressions in files.
    fn call(&mut self, text: &str, items: &[ExpandedItem]) -> Lowered<TensorId> {
        match self.valued(text, items)? {
            ExpandedItem::Tensor(tensor) => Ok(tensor),
            _ => Err(Refusal::UNFIT),
        }
    }

    /// The value of an expression in files, which may be a literal.
    fn valued(&mut self, text: &str, items: &[ExpandedItem]) -> Lowered<ExpandedItem> {
        let parsed = parse(text, self.file, 0, Reading::default()).map_err(|_| MISSING)?.0;
        match self.expression(&parsed.expression, items) {
            ExpandedItem::Refused => Err(MISSING),
            item => Ok(item),
        }
    }

    /// The value of an operation of expressions, also one on the bits of integers.
    pub(super) fn call_of(&mut self, op: Op, items: Vec<ExpandedItem>) -> Lowered<ExpandedItem> {
        let name = op.row().name;
        let is_truth = |item: &ExpandedItem| match item {
            ExpandedItem::Tensor(tensor) => self.is_logical(*tensor),
            item => matches!(item, ExpandedItem::Literal(Literal::Bool(_))),
        };
        let has_tensor = items.iter().any(|item| matches!(item, ExpandedItem::Tensor(_)));
        let by_bits = has_tensor && !items.iter().all(is_truth);
        let formula = match name {
            "and" => Some("and(@0,@1)"),
            "or" => Some("or(@0,@1)"),
            "xor" => Some("xor(@0,@1)"),
            _ => None,
        };
        if let (Some(formula), true, Ok(operands)) = (formula, by_bits, <[ExpandedItem; 2]>::try_from(items.clone())) {
            return self.on_bits(formula, operands).map(ExpandedItem::Tensor);
        }
        if let ("lshift" | "rshift", true, [ExpandedItem::Tensor(x), by]) = (name, has_tensor, &items[..]) {
            let (x, power) = self.shifted(*x, by)?;
            let shift = if name == "lshift" { to_left } else { to_right };
            return shift(self, x, power).map(ExpandedItem::Tensor);
        }
        let places: Vec<String> = (0..items.len()).map(|at| format!("@{at}")).collect();
        self.valued(&format!("{name}({})", places.join(",")), &items)
    }
}

const MISSING: Refusal = Refusal::Because(Cow::Borrowed("NNEF has no counterpart"));

/// The second operand: a tensor or a finite number.
fn other(line: &mut Line) -> Lowered<ExpandedItem> {
    let key = line.key_of(&["other", "input1"]);
    if line.has_tensor(key) {
        return line.tensor(key).map(ExpandedItem::Tensor);
    }
    line.required::<f64>(key)?;
    line.term(key)
}

fn compare(line: &mut Line, text: &str) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let y = other(line)?;
    Ok(vec![line.text(text, &[ExpandedItem::Tensor(x), y])?])
}

/// The negation of truth values; of numbers, whether they are 0.
fn logical_not(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let (name, rest) = if line.is_logical(x) { ("not", None) } else { ("eq", Some(Value::Scalar(0.0))) };
    Ok(vec![line.add(name, std::iter::once(Value::Tensor(x)).chain(rest).collect())?])
}

/// An operation on truth values: numbers other than 0 are true.
fn logical(line: &mut Line, text: &str) -> Lowered<Vec<TensorId>> {
    let (x, y) = (line.tensor("input")?, line.tensor(line.key_of(&["other", "input1"]))?);
    let (x, y) = (line.truth(x)?, line.truth(y)?);
    Ok(vec![line.formula_of(text, &[x, y])?])
}

/// An operation on bits, or on truth values.
fn bits(line: &mut Line, text: &str) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let key = line.key_of(&["other", "input1"]);
    let other = match line.has_tensor(key) {
        true => ExpandedItem::Tensor(line.tensor(key)?),
        false => ExpandedItem::Literal(line.required::<Literal>(key)?),
    };
    let is_truth = |item: &ExpandedItem| match item {
        ExpandedItem::Tensor(tensor) => line.is_logical(*tensor),
        item => matches!(item, ExpandedItem::Literal(Literal::Bool(_))),
    };
    if !line.is_logical(x) || !is_truth(&other) {
        return Ok(vec![line.on_bits(text, [ExpandedItem::Tensor(x), other])?]);
    }
    let other = match other {
        ExpandedItem::Tensor(tensor) => tensor,
        item => line.filled(&[], item, Primitive::Logical)?,
    };
    Ok(vec![line.formula_of(text, &[x, other])?])
}

/// The complement of the bits of integers, or the negation of truth values.
fn complement(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    match line.primitive(x)? {
        Primitive::Logical => Ok(vec![line.add("not", vec![Value::Tensor(x)])?]),
        Primitive::Integer => {
            let highest = if line.is_unsigned(x) { 255 } else { -1 };
            Ok(vec![line.add("sub", vec![Value::Int(highest), Value::Tensor(x)])?])
        }
        _ => Err(Refusal::Because("its operand has no bits".into())),
    }
}

/// The operands of an operator that shifts.
fn shifts(line: &mut Line) -> Lowered<(TensorId, ExpandedItem)> {
    let x = line.tensor("input")?;
    let key = line.key_of(&["other", "input1"]);
    let by = match line.has_tensor(key) {
        true => ExpandedItem::Tensor(line.tensor(key)?),
        false => ExpandedItem::Literal(Literal::Int(line.required(key)?)),
    };
    if let ExpandedItem::Literal(Literal::Int(by)) = by {
        line.require(key, (0..=62).contains(&by), "an integer from 0 to 62")?;
    }
    Ok((x, by))
}

impl Line<'_> {
    /// The operand of a shift, and the power of two by which it is multiplied or divided.
    fn shifted(&mut self, x: TensorId, by: &ExpandedItem) -> Lowered<(TensorId, Value)> {
        const INTEGERS: Refusal = Refusal::Because(Cow::Borrowed("its operands are not known to be integers"));
        match by {
            _ if !self.is_integer(x) => Err(INTEGERS),
            ExpandedItem::Literal(Literal::Int(by)) => {
                let power = u32::try_from(*by).ok().and_then(|by| 1i64.checked_shl(by)).filter(|power| *power > 0);
                Ok((x, Value::Int(power.ok_or(Refusal::UNFIT)?)))
            }
            ExpandedItem::Tensor(by) if self.is_integer(*by) => {
                let rank = self.rank(x)?.max(self.rank(*by)?);
                let (x, by) = (self.with_rank(x, rank)?, self.with_rank(*by, rank)?);
                let power = self.add_of("pow", Some(Primitive::Integer), vec![Value::Int(2), Value::Tensor(by)])?;
                Ok((x, Value::Tensor(power)))
            }
            _ => Err(INTEGERS),
        }
    }
}

fn to_left(line: &mut Line, x: TensorId, power: Value) -> Lowered<TensorId> {
    line.add("mul", vec![Value::Tensor(x), power])
}

/// Quotients of integers are truncated, those of shifts are rounded down: one less if the product is larger.
fn to_right(line: &mut Line, x: TensorId, power: Value) -> Lowered<TensorId> {
    let quotient = line.add("div", vec![Value::Tensor(x), power.clone()])?;
    let product = line.add("mul", vec![Value::Tensor(quotient), power])?;
    let is_larger = line.add("gt", vec![Value::Tensor(product), Value::Tensor(x)])?;
    let less = line.add("sub", vec![Value::Tensor(quotient), Value::Int(1)])?;
    line.add("select", vec![Value::Tensor(is_larger), Value::Tensor(less), Value::Tensor(quotient)])
}

fn shift_left(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, by) = shifts(line)?;
    let (x, power) = line.shifted(x, &by)?;
    to_left(line, x, power).map(|y| vec![y])
}

fn shift_right(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, by) = shifts(line)?;
    let (x, power) = line.shifted(x, &by)?;
    to_right(line, x, power).map(|y| vec![y])
}

impl Line<'_> {
    /// One of two operands, by a condition. The result has the wider type of both.
    pub(super) fn select(&mut self, condition: TensorId, branches: [ExpandedItem; 2]) -> Lowered<TensorId> {
        let of = |item: &ExpandedItem| match item {
            ExpandedItem::Tensor(tensor) => self.primitive(*tensor),
            ExpandedItem::Literal(Literal::Int(_)) => Ok(Primitive::Integer),
            ExpandedItem::Literal(Literal::Float(_)) => Ok(Primitive::Scalar),
            ExpandedItem::Literal(Literal::Bool(_)) => Ok(Primitive::Logical),
            _ => Err(Refusal::UNFIT),
        };
        let types = [of(&branches[0])?, of(&branches[1])?];
        let widest = Primitive::wider(Some(types[0]), Some(types[1])).ok_or(Refusal::UNFIT)?;
        self.select_as(widest, condition, branches)
    }

    /// One of two operands, which are converted to a type.
    pub(super) fn select_as(
        &mut self,
        of: Primitive,
        condition: TensorId,
        branches: [ExpandedItem; 2],
    ) -> Lowered<TensorId> {
        let mut rank = self.rank(condition)?;
        for item in &branches {
            if let ExpandedItem::Tensor(tensor) = item {
                rank = rank.max(self.rank(*tensor)?);
            }
        }
        let condition = self.truth(condition)?;
        if of == Primitive::Logical {
            return self.select_truth(condition, branches);
        }
        let mut values = vec![Value::Tensor(self.raised(condition, rank)?)];
        for item in branches {
            values.push(match item {
                ExpandedItem::Tensor(tensor) => {
                    let tensor = self.cast(tensor, of)?;
                    Value::Tensor(self.raised(tensor, rank)?)
                }
                ExpandedItem::Literal(literal) => value_of(literal, of).ok_or(Refusal::UNFIT)?,
                _ => return Err(Refusal::UNFIT),
            });
        }
        self.add_of("select", Some(of), values)
    }

    /// One of two truth values. A selection would do, but readers of ONNX lack that of truth values.
    fn select_truth(&mut self, condition: TensorId, branches: [ExpandedItem; 2]) -> Lowered<TensorId> {
        let mut items = vec![condition];
        for item in branches {
            items.push(match item {
                ExpandedItem::Tensor(tensor) => self.cast(tensor, Primitive::Logical)?,
                item => self.filled(&[], item, Primitive::Logical)?,
            });
        }
        self.formula_of("or(and(@0,@1),and(not(@0),@2))", &items)
    }

    /// Adds leading axes unless the tensor has none: tensors of rank 0 are broadcast to any shape.
    fn raised(&mut self, tensor: TensorId, rank: i64) -> Lowered<TensorId> {
        if self.rank(tensor)? == 0 { Ok(tensor) } else { self.with_rank(tensor, rank) }
    }
}

/// A number as an argument of a type.
pub(super) fn value_of(literal: Literal, of: Primitive) -> Option<Value> {
    let number = literal.number()?;
    match of {
        Primitive::Integer => whole(number).map(Value::Int),
        Primitive::Logical => Some(Value::Logical(number.float() != 0.0)),
        _ => Some(Value::Scalar(number.float())),
    }
}

/// A choice between two operands, which may be numbers.
fn choose(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let keys = if line.operand("condition").is_some() {
        ["condition", "input", "other"]
    } else {
        ["input", "input1", "input2"]
    };
    let condition = line.tensor(keys[0])?;
    let branches = [line.term(keys[1])?, line.term(keys[2])?];
    Ok(vec![line.select(condition, branches)?])
}

/// A number in the places of a mask; the result has the type of the operand.
fn masked_fill(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, mask) = (line.tensor("input")?, line.tensor("mask")?);
    let value = line.term("value")?;
    let of = line.primitive(x)?;
    Ok(vec![line.select_as(of, mask, [value, ExpandedItem::Tensor(x)])?])
}

/// A bound that is missing or `None` is the default.
pub(super) fn clamp(line: &mut Line, keys: [&str; 2], defaults: [Option<f64>; 2]) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    if keys.iter().any(|key| line.has_tensor(key)) {
        return within(line, x, keys);
    }
    let least = line.optional(keys[0])?.or(defaults[0]);
    let most = line.optional(keys[1])?.or(defaults[1]);
    let is_integer = line.is_integer(x);
    let bound = |bound: f64| match bound {
        bound if is_integer && bound.trunc() == bound && bound.abs() < 9_007_199_254_740_992.0 => {
            Value::Int(bound as i64)
        }
        bound => Value::Scalar(bound),
    };
    let arguments = |y: f64| vec![Value::Tensor(x), bound(y)];
    Ok(vec![match (least, most) {
        (Some(least), Some(most)) => {
            // For contradictory bounds, torch and NNEF give different ones.
            line.require(keys[1], least <= most, &format!("a number of at least {least:?}"))?;
            line.add("clamp", [arguments(least), vec![bound(most)]].concat())?
        }
        (Some(least), None) => line.add("max", arguments(least))?,
        (None, Some(most)) => line.add("min", arguments(most))?,
        (None, None) => return Err(line.refuse(keys[0], "a finite number")),
    }])
}

/// Bounds of which one is a tensor.
fn within(line: &mut Line, x: TensorId, keys: [&str; 2]) -> Lowered<Vec<TensorId>> {
    let mut y = x;
    for (key, text) in keys.into_iter().zip(["maximum(@0,@1)", "minimum(@0,@1)"]) {
        let is_given = line.has_tensor(key) || line.optional::<f64>(key)?.is_some();
        if is_given {
            let bound = line.term(key)?;
            y = line.text(text, &[ExpandedItem::Tensor(y), bound])?;
        }
    }
    Ok(vec![y])
}

/// `input + weight * (end - input)`.
fn lerp(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, end) = (line.tensor("input")?, line.tensor("end")?);
    let weight = line.term("weight")?;
    let items = [ExpandedItem::Tensor(x), ExpandedItem::Tensor(end), weight];
    Ok(vec![line.text("add(@0,mul(@2,sub(@1,@0)))", &items)?])
}

/// `input + value * tensor1 ∘ tensor2`.
fn added(line: &mut Line, text: &str) -> Lowered<Vec<TensorId>> {
    let tensors = [line.tensor("input")?, line.tensor("tensor1")?, line.tensor("tensor2")?];
    let value: f64 = line.setting_or("value", 1.0)?;
    let text = if value == 1.0 { format!("add(@0,{text})") } else { format!("add(@0,mul({value:?},{text}))") };
    Ok(vec![line.formula_of(&text, &tensors)?])
}
