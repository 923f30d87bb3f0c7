//! Operands of attention: vectors for each batch, head and place.

use super::reals::Reals;
use crate::eval::EvalError;
use crate::eval::kernels::exchanged;
use crate::onnx::run::node_call::NodeCall;
use crate::tensor::{DType, Tensor};

/// Vectors with the axes batch, head, place, and item.
pub(super) struct Heads {
    pub(super) items: Vec<f64>,
    pub(super) batch: usize,
    pub(super) heads: usize,
    pub(super) places: usize,
    pub(super) size: usize,
    pub(super) dtype: DType,
}

impl Heads {
    /// An operand of rank 4 with these axes, or of rank 3 with the axes batch, place, and items of all heads, whose
    /// number is an attribute.
    ///
    /// # Errors
    ///
    /// The shape is another one, or the heads do not divide the items.
    pub(super) fn read(call: &NodeCall, i: usize, heads: &str) -> Result<Self, EvalError> {
        let x = Reals::of(call, i)?;
        let dtype = x.dtype;
        match *x.shape {
            [batch, heads, places, size] => {
                Ok(Heads { items: x.items.into_owned(), batch, heads, places, size, dtype })
            }
            [batch, places, all] => {
                let found = call.int(heads)?.and_then(|n| usize::try_from(n).ok()).filter(|&n| n > 0 && all % n == 0);
                let heads = found.ok_or_else(|| call.refused(format!("`{heads}` does not divide {all} items")))?;
                let items = exchanged(&x.items, [batch, places, heads, all / heads]);
                Ok(Heads { items, batch, heads, places, size: all / heads, dtype })
            }
            _ => Err(call.misfit(format!("an operand has the shape {:?}", x.shape))),
        }
    }

    /// The vectors of a head.
    pub(super) fn head(&self, batch: usize, head: usize) -> &[f64] {
        let count = self.places * self.size;
        &self.items[(batch * self.heads + head) * count..][..count]
    }

    /// A vector.
    pub(super) fn vector(&self, batch: usize, head: usize, place: usize) -> &[f64] {
        &self.head(batch, head)[place * self.size..][..self.size]
    }

    /// These vectors after those of an operand that may be left out, for each head.
    pub(super) fn after(self, call: &NodeCall, past: usize) -> Result<(Self, usize), EvalError> {
        let Some(first) = Reals::optional(call, past)? else { return Ok((self, 0)) };
        let Heads { batch, heads, places, size, dtype, .. } = self;
        let before = match *first.shape {
            [b, h, before, s] if (b, h, s) == (batch, heads, size) => before,
            _ => return Err(call.misfit(format!("a state has the shape {:?}", first.shape))),
        };
        let mut items = Vec::with_capacity(call.budget.room(&[batch, heads, before + places, size])?);
        for head in 0..batch * heads {
            items.extend_from_slice(&first.items[head * before * size..][..before * size]);
            items.extend_from_slice(&self.items[head * places * size..][..places * size]);
        }
        Ok((Heads { items, batch, heads, places: before + places, size, dtype }, before))
    }

    /// The tensor with these vectors, of rank 4 or packed to rank 3.
    pub(super) fn tensor(&self, call: &NodeCall, packed: bool) -> Result<Tensor, EvalError> {
        let Heads { batch, heads, places, size, .. } = *self;
        match packed {
            false => call.rounded(self.dtype, &[batch, heads, places, size], self.items.iter().copied()),
            true => {
                let items = exchanged(&self.items, [batch, heads, places, size]);
                call.rounded(self.dtype, &[batch, places, heads * size], items)
            }
        }
    }
}
