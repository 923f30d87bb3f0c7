//! Two limits of an evaluation: steps, and memory in use at a time.

use std::cell::Cell;

/// The use of two limits. Callers choose the unit of memory.
#[derive(Debug)]
pub(crate) struct Usage {
    /// The most steps.
    pub max_steps: u64,
    /// The most memory in use at a time.
    pub max_alive: u64,
    steps: Cell<u64>,
    alive: Cell<u64>,
}

impl Usage {
    /// Limits of which nothing has been used.
    pub(crate) fn new(max_steps: u64, max_alive: u64) -> Self {
        Usage { max_steps, max_alive, steps: Cell::new(0), alive: Cell::new(0) }
    }

    /// Counts steps, and tells whether the limit allows them.
    pub(crate) fn spend(&self, steps: u64) -> bool {
        self.steps.set(self.steps.get().saturating_add(steps));
        self.steps.get() <= self.max_steps
    }

    /// Whether there is room for more.
    pub(crate) fn fits(&self, more: u64) -> bool {
        self.alive.get().saturating_add(more) <= self.max_alive
    }

    /// Counts memory that is in use from now on.
    pub(crate) fn hold(&self, more: u64) {
        self.alive.set(self.alive.get().saturating_add(more));
    }

    /// Counts memory that is no longer in use.
    pub(crate) fn release(&self, less: u64) {
        self.alive.set(self.alive.get().saturating_sub(less));
    }
}
