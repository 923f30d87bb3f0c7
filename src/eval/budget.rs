//! Limits of an evaluation: tensor items that exist at the same time, and elementary steps.

use std::cell::Cell;

use super::error::EvalError;
use crate::diagnostics::{Code, memory_text};
use crate::live::Held;
use crate::options::{Options, Profile};
use crate::tensor::MAX_RANK;
use crate::tensor::usage::Usage;

/// The limits of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The maximum number of items of all tensors that exist at the same time; an item takes up to 8 bytes.
    pub max_items: u64,
    /// The maximum number of elementary steps, such as computing an item or adding a product.
    pub max_work: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { max_items: 64 << 20, max_work: 200_000_000_000 }
    }
}

impl Limits {
    /// The limits for untrusted graphs, such as those that a service evaluates.
    pub fn untrusted() -> Self {
        Limits { max_items: 12 << 20, max_work: 100_000_000 }
    }

    /// The limits that belong to options.
    pub(crate) fn of(options: &Options) -> Self {
        let mut limits = match options.internal.profile {
            Profile::Trusted => Limits::default(),
            Profile::Untrusted => Limits::untrusted(),
        };
        limits.max_items = limits.max_items.min(Self::items_of(options.max_memory));
        limits
    }

    /// Lets the run have the memory of so many items in any case: those of a large model.
    pub(crate) fn allow(&self) {
        Held::default().allow(self.max_items.saturating_mul(UNIT));
    }

    /// The items that so many bytes have room for: one takes 8 bytes, and lists of indices take half as much beside it.
    pub(crate) fn items_of(bytes: u64) -> u64 {
        bytes / 12
    }

    /// These limits for what is computed before anything runs, which takes time that is linear in what is stored: a small
    /// text may ask for any work.
    pub(crate) fn folding(self, stored: u64) -> Limits {
        let most = FOLDING.saturating_add(stored.saturating_mul(FOLDING_OF_BYTE));
        Limits { max_work: self.max_work.min(most), ..self }
    }
}

/// The memory of an item in bytes.
const UNIT: u64 = 8;

/// The steps that folding may take whatever is stored, and those for each stored byte.
const FOLDING: u64 = 100_000_000;
const FOLDING_OF_BYTE: u64 = 128;

/// A shape for messages, which may have very many axes.
fn shown(shape: &[usize]) -> String {
    match shape.len() {
        0..=16 => format!("{shape:?}"),
        rank => format!("with {rank} axes"),
    }
}

/// The limits of an evaluation, and how much of them has been used.
#[derive(Debug)]
pub(crate) struct Budget {
    usage: Usage,
    /// The items that the current operation has allocated.
    allocated: Cell<u64>,
}

impl Budget {
    /// The budget of a new evaluation.
    pub(crate) fn new(limits: Limits) -> Self {
        Budget { usage: Usage::new(limits.max_work, limits.max_items, UNIT), allocated: Cell::new(0) }
    }

    /// What is stored, which stays in use after the evaluation.
    pub(crate) fn into_held(self) -> Held {
        self.usage.into_held()
    }

    /// Checks before its allocation that the limits allow a tensor of a shape, and counts the steps of computing
    /// it. The tensor counts until the end of the operation. Returns the number of its items. Operations have lists and
    /// loops along single axes, so a tensor without items takes the steps of its other extents, and these have to fit.
    ///
    /// # Errors
    ///
    /// A limit would be exceeded.
    pub(crate) fn room(&self, shape: &[usize]) -> Result<usize, EvalError> {
        let is_empty = shape.contains(&0);
        let others = shape.iter().filter(|extent| **extent != 0);
        let places = others.copied().try_fold(1, usize::checked_mul);
        let Some(places) = places.filter(|&places| self.usage.fits(places as u64)) else {
            let of = if is_empty { "the indices of a tensor" } else { "a tensor" };
            let more = places.map_or(u64::MAX, |places| places as u64);
            return Err(self.too_large(more, &format!("{of} of shape {}", shown(shape))));
        };
        self.work(places as u64)?;
        let count = if is_empty { 0 } else { places };
        self.allocate(count);
        Ok(count)
    }

    /// Checks before its allocation that the limits allow memory beside that of tensors of numbers, in units of 8 bytes,
    /// and counts the steps of writing it. It counts until the end of the operation; `what` takes it.
    ///
    /// # Errors
    ///
    /// A limit would be exceeded.
    pub(crate) fn memory(&self, units: usize, what: &str) -> Result<(), EvalError> {
        if !self.usage.fits(units as u64) {
            return Err(self.too_large(units as u64, what));
        }
        self.work(units as u64)?;
        self.allocate(units);
        Ok(())
    }

    #[cold]
    fn too_large(&self, more: u64, what: &str) -> EvalError {
        let limit = memory_text(self.usage.exceeded(more));
        let options = "--max-memory, or --max-items where it is given";
        let message = format!("{what} would exceed the limit of {limit} of memory; raise it with {options}");
        EvalError::new(Code::EvalMemory, message)
    }

    /// [`Self::room`] for a shape whose number of axes is bounded, too.
    ///
    /// # Errors
    ///
    /// A limit would be exceeded, or there are too many axes.
    pub(crate) fn extents(&self, shape: &[usize]) -> Result<usize, EvalError> {
        if shape.len() > MAX_RANK {
            let message = format!("a tensor of shape {} has more than {MAX_RANK} axes", shown(shape));
            return Err(EvalError::new(Code::EvalMemory, message));
        }
        self.room(shape)
    }

    /// Counts steps before they are executed.
    ///
    /// # Errors
    ///
    /// The limit would be exceeded.
    pub(crate) fn work(&self, steps: u64) -> Result<(), EvalError> {
        if !self.usage.spend(steps) {
            let limit = self.usage.max_steps;
            return Err(EvalError::new(Code::EvalWork, format!("the evaluation takes more than {limit} steps")));
        }
        Ok(())
    }

    /// Takes back the steps that exceeded the limit, so that less expensive work may follow.
    pub(crate) fn forgive(&self) {
        self.usage.forgive();
    }

    /// Counts `a * b` steps.
    ///
    /// # Errors
    ///
    /// The limit would be exceeded.
    pub(crate) fn product(&self, a: usize, b: usize) -> Result<(), EvalError> {
        self.work((a as u64).saturating_mul(b as u64))
    }

    /// Counts nothing as stored any more.
    pub(crate) fn clear(&self) {
        self.usage.clear();
    }

    fn allocate(&self, items: usize) {
        self.usage.hold(items as u64);
        self.allocated.set(self.allocated.get().saturating_add(items as u64));
    }

    /// Runs an operation. What it allocates no longer counts at its end, when its results are stored.
    pub(crate) fn operation<T>(&self, run: impl FnOnce() -> T) -> T {
        let outer = self.allocated.replace(0);
        let result = run();
        self.usage.release(self.allocated.replace(outer));
        result
    }

    /// Counts items that are stored from now on, if the limits allow it.
    pub(crate) fn keeps(&self, items: usize) -> bool {
        let fits = self.usage.fits(items as u64);
        if fits {
            self.hold(items);
        }
        fits
    }

    /// Counts items that are stored from now on.
    pub(crate) fn hold(&self, items: usize) {
        self.usage.hold(items as u64);
    }

    /// Counts items that are no longer stored.
    pub(crate) fn release(&self, items: usize) {
        self.usage.release(items as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_hold_before_anything_is_allocated() {
        let budget = Budget::new(Limits { max_items: 10, max_work: 100 });
        assert_eq!(budget.operation(|| budget.room(&[2, 5])).unwrap(), 10);
        assert_eq!(budget.room(&[11]).unwrap_err().code, Code::EvalMemory);
        assert_eq!(budget.room(&[usize::MAX, usize::MAX]).unwrap_err().code, Code::EvalMemory);
        // What has no items has indices.
        assert_eq!(budget.operation(|| budget.room(&[0, 9])).unwrap(), 0);
        assert_eq!(budget.room(&[0, 11]).unwrap_err().code, Code::EvalMemory);
        budget.hold(8);
        assert!(budget.room(&[3]).is_err());
        budget.release(8);
        assert!(budget.room(&[3]).is_ok() && budget.room(&[7]).is_ok() && budget.room(&[1]).is_err());
        assert_eq!(budget.product(usize::MAX, 2).unwrap_err().code, Code::EvalWork);
        assert!(budget.work(1).is_err());
        budget.forgive();
        assert!(budget.work(1).is_ok());
    }
}
