//! Whether this process is the command: in another program, signals and memory belong to that.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static COMMAND: AtomicBool = AtomicBool::new(false);

/// Tells that this process is the command.
pub(super) fn begin() {
    COMMAND.store(true, Relaxed);
}

/// Whether this process is the command.
pub(super) fn is_command() -> bool {
    COMMAND.load(Relaxed)
}

/// Is done with something large, shortly before the command ends: freeing it piece by piece would only take time.
pub(super) fn leave<T>(value: T) {
    if is_command() {
        std::mem::forget(value);
    }
}
