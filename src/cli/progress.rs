//! A progress bar for long work, on a terminal.

use std::io::{self, Write};
use std::time::{Duration, Instant};

/// The time before the bar is shown.
const PATIENCE: Duration = Duration::from_millis(500);
/// The time between updates.
const INTERVAL: Duration = Duration::from_millis(100);
/// The width of the bar.
const WIDTH: u64 = 30;

/// A line that is updated in place and removed at the end.
pub(crate) struct Progress {
    total: u64,
    done: u64,
    next: Option<Instant>,
    drawn: bool,
}

impl Progress {
    /// Starts work on a number of bytes.
    pub(crate) fn new(shown: bool, total: u64) -> Self {
        Progress { total, done: 0, next: shown.then(|| Instant::now() + PATIENCE), drawn: false }
    }

    /// Counts bytes that are done.
    pub(crate) fn add(&mut self, bytes: u64) {
        self.done += bytes;
        let now = Instant::now();
        if self.next.is_some_and(|next| now >= next) {
            self.next = Some(now + INTERVAL);
            self.drawn = true;
            let _ = write!(io::stderr(), "\r{}", line(self.done, self.total));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.drawn {
            let _ = write!(io::stderr(), "\r{:1$}\r", "", line(self.done, self.total).len());
        }
    }
}

/// `copying [=====     ]  1.2 / 20.0 GB`
fn line(done: u64, total: u64) -> String {
    let filled = done.saturating_mul(WIDTH).checked_div(total).unwrap_or(WIDTH).min(WIDTH) as usize;
    let (bar, width) = ("=".repeat(filled), WIDTH as usize);
    let giga = |bytes: u64| bytes as f64 / 1e9;
    format!("copying [{bar:width$}] {:6.1} / {:.1} GB", giga(done), giga(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_one_width() {
        assert_eq!(line(0, 20_000_000_000), format!("copying [{:30}]    0.0 / 20.0 GB", ""));
        assert_eq!(line(10_000_000_000, 20_000_000_000), format!("copying [{:30}]   10.0 / 20.0 GB", "=".repeat(15)));
        assert_eq!(line(0, 0).len(), line(7, 7).len());
    }

    #[test]
    fn short_work_shows_nothing() {
        let mut progress = Progress::new(true, 10);
        progress.add(10);
        assert!(!progress.drawn);
    }
}
