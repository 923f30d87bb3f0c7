//! Two limits of an evaluation: steps, and memory in use at the same time.

use std::cell::Cell;

/// Two limits and their current usage. The caller chooses the unit of memory.
#[derive(Debug)]
pub(crate) struct Usage {
    /// The maximum number of steps.
    pub max_steps: u64,
    /// The maximum memory in use at the same time.
    pub max_alive: u64,
    steps: Cell<u64>,
    /// The steps that the limit allowed.
    allowed: Cell<u64>,
    alive: Cell<u64>,
}

impl Usage {
    /// Limits with a usage of 0.
    pub(crate) fn new(max_steps: u64, max_alive: u64) -> Self {
        Usage { max_steps, max_alive, steps: Cell::new(0), allowed: Cell::new(0), alive: Cell::new(0) }
    }

    /// Counts steps, and returns whether the limit allows them.
    pub(crate) fn spend(&self, steps: u64) -> bool {
        self.steps.set(self.steps.get().saturating_add(steps));
        let fits = self.steps.get() <= self.max_steps;
        if fits {
            self.allowed.set(self.steps.get());
        }
        fits
    }

    /// Takes back the steps that the limit did not allow, for a caller that continues without them.
    pub(crate) fn forgive(&self) {
        self.steps.set(self.allowed.get());
    }

    /// Whether the limit allows this much more memory.
    pub(crate) fn fits(&self, more: u64) -> bool {
        self.alive.get().saturating_add(more) <= self.max_alive
    }

    /// Adds memory to the usage.
    pub(crate) fn hold(&self, more: u64) {
        self.alive.set(self.alive.get().saturating_add(more));
    }

    /// Sets the usage of memory to nothing.
    pub(crate) fn clear(&self) {
        self.alive.set(0);
    }

    /// Subtracts memory from the usage.
    pub(crate) fn release(&self, less: u64) {
        self.alive.set(self.alive.get().saturating_sub(less));
    }
}
