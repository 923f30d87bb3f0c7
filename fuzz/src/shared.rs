//! The bounds that each input has to keep, the limits of targets, and what their bytes choose.

use std::time::Duration;

use nnef_flatten::eval::{Evaluator, Limits};
use nnef_flatten::tensor::Tensor;
use nnef_flatten::{Graph, Options};
use rustix::time::{ClockId, clock_gettime};

use crate::tape::Tape;
use crate::{documents, mutants};

/// The most processor time of an input.
const TIME: Duration = Duration::from_secs(2);
/// The most memory of the process, in KiB.
const MEMORY: u64 = 1 << 20;

/// Runs a target on one input, which is a finding if it takes more than 2 s or 1 GiB.
pub fn bounded(run: impl FnOnce()) {
    let (took, ()) = cpu_time_of(run);
    assert!(took < TIME, "the input takes {took:?}");
    if let Some(peak) = peak() {
        assert!(peak < MEMORY, "the input takes {} MiB", peak >> 10);
    }
}

/// Runs a function, and returns the processor time that it took with its result.
pub fn cpu_time_of<T>(run: impl FnOnce() -> T) -> (Duration, T) {
    let start = thread_time();
    let result = run();
    (thread_time().saturating_sub(start), result)
}

/// The processor time that this thread used until now.
fn thread_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default()
}

/// The most memory that the process has had so far, in KiB, where the system tells it.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// The limits of a target whose inputs are run many times a second.
pub fn small() -> Options {
    Options::untrusted().with(|o| {
        o.max_ops = 20_000;
        o.max_depth = 2_000;
        o.max_steps = 200_000;
    })
}

/// An evaluator whose random variables and limits suit a target that is run many times a second.
pub fn evaluator() -> Evaluator {
    let mut limits = Limits::untrusted();
    (limits.max_items, limits.max_work) = (1 << 20, 10_000_000);
    Evaluator::with_limits(limits).random_variables(1)
}

/// Random inputs, unless they are large: the shapes are those of the text.
pub fn small_inputs(graph: &Graph) -> Option<Vec<(String, Tensor)>> {
    let small = |input: &_| {
        let shape = graph.shape(*input)?.known()?;
        let items = shape.iter().try_fold(1i64, |items, extent| items.checked_mul(*extent))?;
        (items <= 1 << 16).then_some(())
    };
    graph.inputs().iter().try_for_each(small)?;
    graph.random_inputs(&[], 1).ok()
}

/// The choices of a generator, which bytes decide.
pub fn choices(bytes: &[u8]) -> Tape {
    Tape::new(bytes.chunks(2).map(|pair| u16::from_le_bytes([pair[0], pair.get(1).copied().unwrap_or(0)])).collect())
}

/// A byte, and the text that follows: a generated document if the byte is even, or any text.
pub fn source(bytes: &[u8]) -> (u8, String) {
    let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let text = match first % 2 {
        0 => documents::document(&mut choices(rest)).text,
        _ => String::from_utf8_lossy(rest).into_owned(),
    };
    (*first, text)
}

/// The options of a run that a byte chooses, and the rest of the bytes.
pub fn chosen(bytes: &[u8]) -> (Options, &[u8]) {
    let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let mut all = mutants::all_options();
    let chosen = all.swap_remove(usize::from(*first) % all.len());
    let limits = small();
    (chosen.with(|o| (o.max_ops, o.max_depth) = (limits.max_ops, limits.max_depth)), rest)
}
