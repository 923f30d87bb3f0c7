//! Element-wise operations that NNEF computes by a formula of others.

use std::sync::Arc;

use super::Lower;
use crate::dictionary::formula::{self, Part};
use crate::dictionary::{InNnef, Kernel, Row};
use crate::graph::Value;
use crate::loops::emit::Flat;
use crate::loops::site::{ComputationError, Computed};
use crate::loops::symbols::Sym;
use crate::tensor::{DType, Dims};

/// The value of a part of a formula.
#[derive(Clone)]
enum FormulaValue {
    Number(f64),
    Tensor(Flat),
}

/// Emits the formula of the operation's meaning.
pub(super) fn emit(call: &mut Lower, row: &'static Row) -> Computed<Sym> {
    let rank = call.shape.len();
    let mut operands = Vec::new();
    for (value, input) in call.aligned()?.into_iter().zip(call.inputs) {
        operands.push(match value {
            Value::Scalar(number) => FormulaValue::Number(number),
            Value::Logical(truth) => FormulaValue::Number(f64::from(truth)),
            Value::Tensor(id) => {
                let mut shape = Dims::from_elem(1, rank.saturating_sub(input.shape().len()));
                shape.extend_from_slice(input.shape());
                FormulaValue::Tensor(Flat { id, dtype: input.dtype(), shape })
            }
            _ => return Err(call.blocked("has an operand that is not a tensor")),
        });
    }
    // A number as the second operand is not NaN, so that one operation is sufficient.
    if row.is_extreme() && matches!(operands.first(), Some(FormulaValue::Number(_))) {
        operands.reverse();
    }
    match apply(call, row, &operands, true)? {
        FormulaValue::Tensor(flat) => Ok(Sym::Flat(flat)),
        FormulaValue::Number(_) => Err(call.blocked("has a result that is known")),
    }
}

/// Applies a meaning to operands. The last one of a formula gives the operation's result.
fn apply(call: &mut Lower, row: &'static Row, operands: &[FormulaValue], last: bool) -> Computed<FormulaValue> {
    let numbers: Option<Vec<f64>> = operands
        .iter()
        .map(|operand| match operand {
            FormulaValue::Number(number) => Some(*number),
            FormulaValue::Tensor(_) => None,
        })
        .collect();
    if let Some(number) = numbers.and_then(|numbers| row.kernel?.of_floats(&numbers)) {
        return Ok(FormulaValue::Number(number));
    }
    let name = match row.nnef {
        InNnef::Operation(name) => name,
        InNnef::Formula(_) => {
            let parts = formula::of(row).map(Vec::as_slice).unwrap_or_default();
            let mut all = Parts { parts, operands, items: vec![None; parts.len()] };
            return all.part(call, parts.len().saturating_sub(1), last);
        }
        InNnef::Missing => return Err(call.blocked("has no counterpart in NNEF 1.0")),
    };
    let (mut shape, mut dtype) = (Dims::new(), call.dtype);
    let mut arguments = Vec::new();
    for operand in operands {
        match operand {
            FormulaValue::Number(number) => arguments.push(Value::Scalar(*number)),
            FormulaValue::Tensor(flat) => {
                broadcast(&mut shape, &flat.shape);
                arguments.push(Value::from(flat));
            }
        }
    }
    if matches!(row.kernel, Some(Kernel::Compare(_) | Kernel::Logic(_) | Kernel::Not)) {
        dtype = DType::Bool;
    }
    let word = if last { "" } else { row.name };
    call.symbols.emit(call.site, name, arguments, (dtype, &shape), word).map(FormulaValue::Tensor)
}

/// Extends a shape so that another one of the same rank can be broadcast to it.
fn broadcast(shape: &mut Dims, other: &[usize]) {
    if shape.is_empty() {
        shape.extend_from_slice(other);
    }
    for (extent, other) in shape.iter_mut().zip(other).filter(|(extent, _)| **extent == 1) {
        *extent = *other;
    }
}

/// Emits a formula on operands.
struct Parts<'f> {
    parts: &'f [Part],
    operands: &'f [FormulaValue],
    /// What has been emitted.
    items: Vec<Option<FormulaValue>>,
}

impl Parts<'_> {
    /// Emits a part, and those that it is made of. Of a select whose condition is known, that is the chosen branch only.
    fn part(&mut self, call: &mut Lower, at: usize, last: bool) -> Computed<FormulaValue> {
        if let Some(Some(item)) = self.items.get(at) {
            return Ok(item.clone());
        }
        let item = match self.parts.get(at) {
            Some(Part::Operand(place)) => self.operands.get(*place).cloned().ok_or_else(|| broken(call))?,
            Some(Part::Number(number)) => FormulaValue::Number(*number),
            Some(Part::Apply(row, of)) => {
                if let (Some(Kernel::Select), [condition, yes, no]) = (row.kernel, &of[..])
                    && let FormulaValue::Number(condition) = self.part(call, *condition, false)?
                {
                    return self.part(call, if condition == 0.0 { *no } else { *yes }, last);
                }
                let of: Computed<Vec<FormulaValue>> = of.iter().map(|at| self.part(call, *at, false)).collect();
                apply(call, row, &of?, last)?
            }
            None => return Err(broken(call)),
        };
        if let Some(place) = self.items.get_mut(at) {
            *place = Some(item.clone());
        }
        Ok(item)
    }
}

fn broken(call: &Lower) -> Arc<ComputationError> {
    call.blocked("has a formula with too few operands")
}
