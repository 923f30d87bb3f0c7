//! What lists take, in memory and in time.

use std::cell::Cell;

/// Counts the bytes of live cells, and the cells that were ever made or compared.
#[derive(Debug, Default)]
pub struct Meter {
    live: Cell<u64>,
    work: Cell<u64>,
}

impl Meter {
    /// The bytes of all live cells.
    pub fn live(&self) -> u64 {
        self.live.get()
    }

    /// The cells that were made or looked at by operations that take time for each.
    pub fn work(&self) -> u64 {
        self.work.get()
    }

    /// Counts bytes that stay alive, as those of the flat graph.
    pub fn keep(&self, bytes: u64) {
        self.live.set(self.live.get().saturating_add(bytes));
    }

    /// Counts cells that are looked at.
    pub fn spend(&self, cells: u64) {
        self.work.set(self.work.get().saturating_add(cells));
    }

    pub(super) fn add(&self, cells: u64, weight: u64) {
        self.keep(cells * weight);
        self.spend(cells);
    }

    pub(super) fn remove(&self, bytes: u64) {
        self.live.set(self.live.get().saturating_sub(bytes));
    }
}
