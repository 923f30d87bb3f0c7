//! What an evaluation may take: steps, and memory at a time.

use std::cell::Cell;

/// What has been used of two limits. Whoever asks says in which unit memory counts.
#[derive(Debug)]
pub(crate) struct Usage {
    /// The most steps.
    pub max_steps: u64,
    /// The most that is alive at a time.
    pub max_alive: u64,
    steps: Cell<u64>,
    alive: Cell<u64>,
}

impl Usage {
    /// The whole of two limits.
    pub(crate) fn new(max_steps: u64, max_alive: u64) -> Self {
        Usage { max_steps, max_alive, steps: Cell::new(0), alive: Cell::new(0) }
    }

    /// Counts steps. Whether the limit allows them.
    pub(crate) fn spend(&self, steps: u64) -> bool {
        self.steps.set(self.steps.get().saturating_add(steps));
        self.steps.get() <= self.max_steps
    }

    /// Whether there is room for more.
    pub(crate) fn fits(&self, more: u64) -> bool {
        self.alive.get().saturating_add(more) <= self.max_alive
    }

    /// Notes that something is kept.
    pub(crate) fn hold(&self, more: u64) {
        self.alive.set(self.alive.get().saturating_add(more));
    }

    /// Notes that something is no longer kept.
    pub(crate) fn release(&self, less: u64) {
        self.alive.set(self.alive.get().saturating_sub(less));
    }
}
