//! The clock of processor time.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A time that the process has used processors for.
pub struct ProcessTime(Duration);

impl ProcessTime {
    /// What the process used until now.
    pub fn now() -> Self {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        let (seconds, nanoseconds) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
        ProcessTime(Duration::new(seconds.unwrap_or_default(), nanoseconds.unwrap_or_default()))
    }

    /// What the process used since then.
    pub fn elapsed(&self) -> Duration {
        ProcessTime::now().0.saturating_sub(self.0)
    }
}
