//! Literal arrays of numbers.
//!
//! The numbers of short ones stand in the tables of the tree. Those of long ones are shared by all
//! that is made of them – the tree, values, attributes of the graph –
//! so that megabytes of weights are copied once.

use std::sync::Arc;

use super::{Ast, Expr, ListRange, NumbersId};
pub(crate) use crate::graph::value::Numbers;

/// From so many numbers on they are shared.
pub(crate) const MANY: usize = 1024;

impl Ast {
    /// The array of the integers that were added last, from a place in [`Ast::ints`] on.
    pub(crate) fn int_array(&mut self, start: usize) -> Expr {
        match take_many(&mut self.ints, start) {
            Ok(range) => Expr::IntArray(range),
            Err(items) => self.shared_array(Numbers::Ints(items)),
        }
    }

    /// The array of the scalars that were added last, from a place in [`Ast::scalars`] on.
    pub(crate) fn scalar_array(&mut self, start: usize) -> Expr {
        match take_many(&mut self.scalars, start) {
            Ok(range) => Expr::ScalarArray(range),
            Err(items) => self.shared_array(Numbers::Scalars(items)),
        }
    }

    /// An array of numbers that others have, too.
    pub(crate) fn shared_array(&mut self, numbers: Numbers) -> Expr {
        self.numbers.push(numbers);
        Expr::Numbers(NumbersId(self.numbers.len() as u32 - 1))
    }
}

/// The place of the last numbers of a table, or these numbers if they are many; then they are taken out.
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
