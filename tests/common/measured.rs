//! The memory of a call of the command, and the processor time of a part of a test.

use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// Runs a command; what it says, and the most memory that it has in use, in KiB.
pub fn measured(command: &mut Command) -> (Output, u64) {
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let (ended, peak) = (AtomicBool::new(false), AtomicU64::new(0));
    let watch = || {
        while !ended.load(Ordering::Relaxed) {
            let status = std::fs::read_to_string(&status).unwrap_or_default();
            let used = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let used = used.and_then(|used| used.trim().trim_end_matches(" kB").parse().ok());
            peak.fetch_max(used.unwrap_or(0), Ordering::Relaxed);
            thread::sleep(Duration::from_millis(2));
        }
    };
    let output = thread::scope(|scope| {
        scope.spawn(watch);
        let output = child.wait_with_output().unwrap();
        ended.store(true, Ordering::Relaxed);
        output
    });
    (output, peak.into_inner())
}

/// The processor time that this thread used until now; where the system does not tell it, time on the clock.
#[cfg(unix)]
pub fn thread_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};

    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap()
}

/// The processor time that this thread used until now; where the system does not tell it, time on the clock.
#[cfg(not(unix))]
pub fn thread_time() -> Duration {
    std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap()
}
