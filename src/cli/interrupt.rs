//! Signals that end the run: temporary files are removed, and the process ends by the signal, so that
//! its parent process sees the reason.

use crate::files::temporary::{self, Held};

#[cfg(unix)]
use super::process;

/// Starts a thread that waits for signals, in the command. It is needed only if files are written: without it, signals
/// end the process by default, and a thread takes address space, which may be limited.
#[cfg(unix)]
pub(super) fn watch() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    if process::is_command() {
        ONCE.call_once(start);
    }
}

#[cfg(unix)]
fn start() {
    use signal_hook::consts::SIGXFSZ;
    use signal_hook::iterator::Signals;

    // Without a handler a file that becomes too large ends the process; with one, writing fails.
    let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
    let Ok(mut signals) = Signals::new(ending(ignored())) else { return };
    let wait = move || {
        if let Some(signal) = signals.forever().next() {
            let _held = temporary::remove_all();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    };
    // If the thread cannot be started, signals are ignored; a system that short of resources is not supported.
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(wait);
}

/// The signals that end the run, without those that whoever started it had it ignore: `nohup` does so with SIGHUP, and a
/// shell with SIGINT for what runs in the background. A handler would end that. Where the system does not tell what is
/// ignored, the end of a terminal ends the run as it always does, and leaves temporary files.
#[cfg(unix)]
fn ending(ignored: Option<u64>) -> Vec<i32> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let is_ignored = |signal: i32, mask: u64| mask >> (signal - 1) & 1 == 1;
    match ignored {
        Some(mask) => [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal, mask)).collect(),
        None => vec![SIGINT, SIGTERM],
    }
}

/// The mask of the signals that are ignored, where the system tells it.
#[cfg(unix)]
fn ignored() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

#[cfg(not(unix))]
pub(super) fn watch() {}

/// Blocks until the process ends if an interruption has begun: errors about files that it removed are
/// not reported. While the result lives, no interruption begins.
pub(super) fn settle() -> Held {
    temporary::hold()
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    #[test]
    fn what_is_ignored_stays_ignored() {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

        let ending = super::ending;
        assert_eq!(ending(Some(0)), [SIGINT, SIGTERM, SIGHUP]);
        assert_eq!(ending(Some(1)), [SIGINT, SIGTERM], "the first bit is that of SIGHUP");
        assert_eq!(ending(Some(2)), [SIGTERM, SIGHUP]);
        assert_eq!(ending(None), [SIGINT, SIGTERM]);
    }
}
