//! The clock of processor time.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A time that the process has used processors for.
pub struct ProcessTime(Duration);

impl ProcessTime {
    /// What the process used until now.
    pub fn now() -> Self {
        ProcessTime(clock_gettime(ClockId::ProcessCPUTime).try_into().unwrap_or_default())
    }

    /// What the process used since then.
    pub fn elapsed(&self) -> Duration {
        ProcessTime::now().0.saturating_sub(self.0)
    }
}
