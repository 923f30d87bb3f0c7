//! Literal arrays of numbers.
//!
//! The numbers of short arrays are in tables of the tree. Those of long arrays are in blocks that the
//! tree, values and graph attributes share, so that megabytes of weights are copied only once.

use std::sync::Arc;

use super::{Ast, Expr, ListRange, NumbersId};
pub(crate) use crate::graph::value::Numbers;

/// The length from which the numbers of an array are shared.
pub(crate) const MANY: usize = 1024;

impl Ast {
    /// Makes an array of the integers from a position in [`Ast::ints`] to its end.
    pub(crate) fn int_array(&mut self, start: usize) -> Expr {
        match take_many(&mut self.ints, start) {
            Ok(range) => Expr::IntArray(range),
            Err(items) => self.shared_array(Numbers::Ints(items)),
        }
    }

    /// Makes an array of the scalars from a position in [`Ast::scalars`] to its end.
    pub(crate) fn scalar_array(&mut self, start: usize) -> Expr {
        match take_many(&mut self.scalars, start) {
            Ok(range) => Expr::ScalarArray(range),
            Err(items) => self.shared_array(Numbers::Scalars(items)),
        }
    }

    /// Adds an array whose numbers are a shared block.
    pub(crate) fn shared_array(&mut self, numbers: Numbers) -> Expr {
        self.numbers.push(numbers);
        Expr::Numbers(NumbersId(self.numbers.len() as u32 - 1))
    }
}

/// The range of the numbers from `start` to the end; if they are [`MANY`], they are moved to a shared block.
fn take_many<T: Copy>(table: &mut Vec<T>, start: usize) -> Result<ListRange, Arc<[T]>> {
    let len = table.len() - start;
    if len < MANY {
        return Ok(ListRange { start: start as u32, len: len as u32 });
    }
    let items = table[start..].into();
    table.truncate(start);
    Err(items)
}

#[cfg(test)]
mod tests;
