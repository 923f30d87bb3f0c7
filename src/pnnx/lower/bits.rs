//! Operations on the bits of integers, whose digits NNEF has only as remainders of divisions.
//!
//! A number that is negative has the complement of the digits of the number below its absolute value, so that all
//! divisions are of numbers that are not negative.

use super::{Line, Lowered, Refusal};
use crate::graph::{TensorId, Value};
use crate::library::assembly::Assembly;
use crate::pnnx::item::ExpandedItem;
use crate::pnnx::tokens::Literal;

/// The digits of an integer, which are truth values: whether it is negative, and the others along a new last axis.
struct BitDigits {
    sign: TensorId,
    rest: TensorId,
}

/// The number of digits without the sign, by the element type; 63 for types that are not known.
pub(super) fn width(element: Option<&str>) -> i64 {
    match element {
        Some("int8") => 7,
        Some("uint8") => 8,
        Some("int16") => 15,
        Some("uint16") => 16,
        Some("int32") => 31,
        Some("uint32") => 32,
        _ => 63,
    }
}

impl Line<'_> {
    /// The integer whose bits are those of two operands, combined by a formula of truth values.
    pub(super) fn on_bits(&mut self, of_truths: &str, operands: [ExpandedItem; 2]) -> Lowered<TensorId> {
        let mut tensors = Vec::with_capacity(2);
        let mut most = 0;
        for item in operands {
            tensors.push(match item {
                ExpandedItem::Tensor(tensor) if self.is_integer(tensor) => {
                    most = most.max(width(self.builder.graph.element_type(tensor)));
                    tensor
                }
                ExpandedItem::Literal(Literal::Int(number)) => {
                    most = most.max(64i64.saturating_sub(i64::from((number ^ (number >> 63)).leading_zeros())));
                    self.constant(&[], Value::Integers([number].into()))?
                }
                _ => return Err(Refusal::Because("its operands are not known to be integers".into())),
            });
        }
        let powers: Vec<i64> = (0..most).map(|at| 1i64.checked_shl(at as u32).unwrap_or(i64::MAX)).collect();
        let powers = self.constant(&[most], Value::Integers(powers.into()))?;
        let mut digits = Vec::with_capacity(2);
        for tensor in tensors {
            digits.push(self.digits(tensor, powers)?);
        }
        let [a, b] = &digits[..] else { return Err(Refusal::UNFIT) };
        let sign = self.formula_of(of_truths, &[a.sign, b.sign])?;
        let rest = self.formula_of(of_truths, &[a.rest, b.rest])?;
        self.number_of(sign, rest, powers)
    }

    /// The digits of integers.
    fn digits(&mut self, x: TensorId, powers: TensorId) -> Lowered<BitDigits> {
        let sign = self.add("lt", vec![Value::Tensor(x), Value::Int(0)])?;
        let below = self.add("sub", vec![Value::Int(-1), Value::Tensor(x)])?;
        let size = self.add("select", vec![Value::Tensor(sign), Value::Tensor(below), Value::Tensor(x)])?;
        let last = self.rank(x)?;
        let (size, signs) = (self.with_axes(size, [last])?, self.with_axes(sign, [last])?);
        let powers = self.with_rank(powers, last.saturating_add(1))?;
        let quotient = self.add("div", vec![Value::Tensor(size), Value::Tensor(powers)])?;
        let half = self.add("div", vec![Value::Tensor(quotient), Value::Int(2)])?;
        let even = self.add("mul", vec![Value::Tensor(half), Value::Int(2)])?;
        let is_set = self.add("ne", vec![Value::Tensor(quotient), Value::Tensor(even)])?;
        let rest = self.formula_of("xor(@0,@1)", &[is_set, signs])?;
        Ok(BitDigits { sign, rest })
    }

    /// The integers with some digits.
    fn number_of(&mut self, sign: TensorId, rest: TensorId, powers: TensorId) -> Lowered<TensorId> {
        let last = self.rank(sign)?;
        let signs = self.with_axes(sign, [last])?;
        let digits = self.formula_of("xor(@0,@1)", &[rest, signs])?;
        let powers = self.with_rank(powers, last.saturating_add(1))?;
        let parts = self.add("select", vec![Value::Tensor(digits), Value::Tensor(powers), Value::Int(0)])?;
        // Reductions of other programs round sums of more than 53 bits.
        let size = self.joined_halves(parts, last, "add")?;
        let size = self.without_axes(size, &[last])?;
        let below = self.add("sub", vec![Value::Int(-1), Value::Tensor(size)])?;
        self.add("select", vec![Value::Tensor(sign), Value::Tensor(below), Value::Tensor(size)])
    }

    /// An integer as one of a type of few bits, which keeps its last ones.
    pub(super) fn wrapped(&mut self, x: TensorId, bits: u32, signed: bool) -> Lowered<TensorId> {
        let count = 1i64.checked_shl(bits).ok_or(Refusal::UNFIT)?;
        let shift = if signed { count / 2 } else { 0 };
        let up = if shift == 0 { x } else { self.add("add", vec![Value::Tensor(x), Value::Int(shift)])? };
        let turns = self.add("div", vec![Value::Tensor(up), Value::Int(count)])?;
        let turns = self.add("mul", vec![Value::Tensor(turns), Value::Int(count)])?;
        let rest = self.add("sub", vec![Value::Tensor(up), Value::Tensor(turns)])?;
        // Quotients are truncated, so that the rest of a negative number is negative.
        let is_negative = self.add("lt", vec![Value::Tensor(rest), Value::Int(0)])?;
        let more = self.add("add", vec![Value::Tensor(rest), Value::Int(count)])?;
        let rest = self.add("select", vec![Value::Tensor(is_negative), Value::Tensor(more), Value::Tensor(rest)])?;
        if shift == 0 { Ok(rest) } else { self.add("sub", vec![Value::Tensor(rest), Value::Int(shift)]) }
    }
}
