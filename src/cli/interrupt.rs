//! Signals that end the run: temporary files are removed, and the process ends by the signal, so that
//! its parent process sees the reason.

use crate::files::temporary::{self, Held};

/// Starts a thread that waits for signals. It is needed only if files are written: without it, signals
/// end the process by default, and a thread takes address space, which may be limited.
#[cfg(unix)]
pub(super) fn watch() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(start);
}

#[cfg(unix)]
fn start() {
    use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;

    // Without a handler a file that becomes too large ends the process; with one, writing fails.
    let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return };
    let wait = move || {
        if let Some(signal) = signals.forever().next() {
            let _held = temporary::remove_all();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    };
    // If the thread cannot be started, signals are ignored; a system that short of resources is not supported.
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(wait);
}

#[cfg(not(unix))]
pub(super) fn watch() {}

/// Blocks until the process ends if an interruption has begun: errors about files that it removed are
/// not reported. While the result lives, no interruption begins.
pub(super) fn settle() -> Held {
    temporary::hold()
}
