//! Limits of an evaluation: items alive at a time, and elementary steps.

use super::error::EvalError;
use crate::diagnostics::Code;
use crate::tensor::usage::Usage;
use crate::tensor::volume;

/// The limits of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The most items that tensors may have at a time; an item takes up to 8 bytes.
    pub max_items: u64,
    /// The most elementary steps: items computed, products summed up.
    pub max_work: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { max_items: 1 << 29, max_work: 200_000_000_000 }
    }
}

/// What is left of the limits.
#[derive(Debug)]
pub(crate) struct Budget(Usage);

impl Budget {
    /// The whole of some limits.
    pub(crate) fn new(limits: Limits) -> Self {
        Budget(Usage::new(limits.max_work, limits.max_items))
    }

    /// Makes sure that a tensor of a shape may be made, before anything is allocated, and counts
    /// the work of making it. The number of its items.
    ///
    /// # Errors
    ///
    /// It would be too much.
    pub(crate) fn room(&self, shape: &[usize]) -> Result<usize, EvalError> {
        match volume(shape).filter(|&count| self.0.fits(count as u64)) {
            Some(count) => {
                self.work(count as u64)?;
                Ok(count)
            }
            None => {
                let limit = self.0.max_alive;
                let message = format!("a tensor of shape {shape:?} would exceed the limit of {limit} items at a time");
                Err(EvalError::new(Code::EvalMemory, message))
            }
        }
    }

    /// Counts steps, before they are made.
    ///
    /// # Errors
    ///
    /// It would be too many.
    pub(crate) fn work(&self, steps: u64) -> Result<(), EvalError> {
        if !self.0.spend(steps) {
            let limit = self.0.max_steps;
            return Err(EvalError::new(Code::EvalWork, format!("the evaluation takes more than {limit} steps")));
        }
        Ok(())
    }

    /// The product of two numbers of steps.
    ///
    /// # Errors
    ///
    /// It would be too many.
    pub(crate) fn product(&self, a: usize, b: usize) -> Result<(), EvalError> {
        self.work((a as u64).saturating_mul(b as u64))
    }

    /// Notes that items are kept, or no longer.
    pub(super) fn hold(&self, items: usize) {
        self.0.hold(items as u64);
    }

    pub(super) fn release(&self, items: usize) {
        self.0.release(items as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_hold_before_anything_is_allocated() {
        let budget = Budget::new(Limits { max_items: 10, max_work: 100 });
        assert_eq!(budget.room(&[2, 5]).unwrap(), 10);
        assert_eq!(budget.room(&[11]).unwrap_err().code, Code::EvalMemory);
        assert_eq!(budget.room(&[usize::MAX, usize::MAX]).unwrap_err().code, Code::EvalMemory);
        budget.hold(8);
        assert!(budget.room(&[3]).is_err());
        budget.release(8);
        assert!(budget.room(&[3]).is_ok());
        assert_eq!(budget.product(usize::MAX, 2).unwrap_err().code, Code::EvalWork);
    }
}
