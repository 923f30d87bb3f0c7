//! Signals that end the run: what is temporary is removed, and the process ends by the signal, so that
//! whoever started it knows why.

use crate::files::temporary::{self, Held};

/// Waits for signals from now on, in a thread of its own. Only what makes files needs that: until then
/// signals end the process as they always do, and a thread takes addresses that may be few.
#[cfg(unix)]
pub(super) fn watch() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(start);
}

#[cfg(unix)]
fn start() {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return };
    let wait = move || {
        if let Some(signal) = signals.forever().next() {
            let _held = temporary::remove_all();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    };
    // Without the thread signals would be lost, but a system that gives no thread gives little else.
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(wait);
}

#[cfg(not(unix))]
pub(super) fn watch() {}

/// Waits for an interruption that has begun, which does not come back: what the run says after its files
/// were taken away is no news. As long as the result lives, none begins.
pub(super) fn settle() -> Held {
    temporary::hold()
}
