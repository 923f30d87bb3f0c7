//! Two limits of an evaluation: steps, and memory in use at the same time.

use std::cell::Cell;

use crate::cancel;
use crate::live::Held;

/// Two limits and their current usage. The caller chooses the unit of memory in bytes.
#[derive(Debug)]
pub(crate) struct Usage {
    /// The maximum number of steps.
    pub max_steps: u64,
    /// The maximum memory in use at the same time.
    pub max_alive: u64,
    steps: Cell<u64>,
    /// The steps that the limit allowed.
    allowed: Cell<u64>,
    alive: Held,
    unit: u64,
}

impl Usage {
    /// Limits with a usage of 0.
    pub(crate) fn new(max_steps: u64, max_alive: u64, unit: u64) -> Self {
        let (steps, allowed, alive) = (Cell::new(0), Cell::new(0), Held::default());
        Usage { max_steps, max_alive, steps, allowed, alive, unit }
    }

    /// The memory in use, which stays so.
    pub(crate) fn into_held(self) -> Held {
        self.alive
    }

    /// Counts steps, and returns whether the limit allows them.
    pub(crate) fn spend(&self, steps: u64) -> bool {
        cancel::look();
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
        self.alive.fits(more.saturating_mul(self.unit), self.max_alive.saturating_mul(self.unit))
    }

    /// The limit in bytes that does not allow this much more memory: its own, or that of the whole run.
    pub(crate) fn exceeded(&self, more: u64) -> u64 {
        self.alive.exceeded(more.saturating_mul(self.unit), self.max_alive.saturating_mul(self.unit))
    }

    /// Adds memory to the usage.
    pub(crate) fn hold(&self, more: u64) {
        self.alive.add(more.saturating_mul(self.unit));
    }

    /// Sets the usage of memory to nothing.
    pub(crate) fn clear(&self) {
        self.alive.set(0);
    }

    /// Subtracts memory from the usage.
    pub(crate) fn release(&self, less: u64) {
        self.alive.remove(less.saturating_mul(self.unit));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::LiveRun;

    #[test]
    fn limits_of_a_stage_hold_within_those_of_the_run() {
        let _run = LiveRun::within(1 << 20);
        let usage = Usage::new(1, 1 << 30, 8);
        assert!(usage.fits(1 << 16) && !usage.fits(1 << 18));
        assert!(!Held::default().fits(1 << 21, u64::MAX), "the limit of the run stays");
    }
}
