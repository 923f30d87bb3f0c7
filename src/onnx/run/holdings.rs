//! The memory of values that are kept: a value with several names counts once.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::eval::Budget;
use crate::tensor::value::RunValue;

/// How often each value is held, by its address. Values are shared, so that aliases and branches take nothing.
pub(crate) struct Holdings<'b> {
    pub(crate) budget: &'b Budget,
    counts: RefCell<FxHashMap<usize, u32>>,
}

impl<'b> Holdings<'b> {
    /// Holdings that count in a budget.
    pub(crate) fn new(budget: &'b Budget) -> Self {
        Holdings { budget, counts: RefCell::default() }
    }

    /// Counts a value that is kept from now on under one more name.
    pub(crate) fn hold(&self, value: &RunValue) {
        if let RunValue::Optional(Some(inner)) = value {
            return self.hold(inner);
        }
        let Some(address) = value.address() else { return self.budget.hold(value.weight()) };
        let first = {
            let mut counts = self.counts.borrow_mut();
            let count = counts.entry(address).or_insert(0);
            *count = count.saturating_add(1);
            *count == 1
        };
        if first {
            self.parts(value, &|part| self.hold(part));
            self.budget.hold(value.weight());
        }
    }

    /// Counts a value that is no longer kept under a name.
    pub(crate) fn release(&self, value: &RunValue) {
        if let RunValue::Optional(Some(inner)) = value {
            return self.release(inner);
        }
        let Some(address) = value.address() else { return self.budget.release(value.weight()) };
        let last = {
            let mut counts = self.counts.borrow_mut();
            match counts.get_mut(&address) {
                Some(count) if *count > 1 => {
                    *count -= 1;
                    false
                }
                known => known.is_some() && counts.remove(&address).is_some(),
            }
        };
        if last {
            self.parts(value, &|part| self.release(part));
            self.budget.release(value.weight());
        }
    }

    /// Visits what a value is made of.
    fn parts(&self, value: &RunValue, visit: &dyn Fn(&RunValue)) {
        if let RunValue::Sequence(items) = value {
            items.iter().for_each(visit);
        }
    }
}
