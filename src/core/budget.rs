//! The limits of an expansion: instructions, memory, operations, open calls, lengths.

use std::cell::Cell;
use std::rc::Rc;

use crate::cancel;
use crate::diagnostics::{Code, memory_text, too_many};
use crate::graph::BYTES_OF_OPERATION;
use crate::live::Held;

/// The initial number of instructions, for each operation of the operation limit.
const FUEL_PER_OPERATION: u64 = 8;
/// The number of additional instructions for each operation that is emitted.
pub(super) const FUEL_OF_EMISSION: u64 = 40;
/// The cost of a call in instructions, for its names, frame and slots.
pub(super) const FUEL_OF_CALL: u64 = 3;
/// The number of cells of arrays and strings that can be created or compared, for each operation of the
/// operation limit.
const CELLS_PER_OPERATION: u64 = 80;
/// The minimum of that number.
const MIN_CELLS: u64 = 100_000_000;
/// The maximum number of slots of open calls, regardless of the options: their positions are 32-bit numbers.
const MAX_SLOTS: usize = 1 << 28;

/// An error without a location. It is always boxed, so that results of fallible functions stay small.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failure {
    /// The violated rule.
    pub(crate) code: Code,
    /// The message.
    pub(crate) message: String,
    /// What is found at the location, if it is more than the code says.
    pub(crate) label: Option<String>,
    /// Advice on how to resolve it.
    pub(crate) help: Option<String>,
}

impl Failure {
    /// A failure without advice.
    #[cold]
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Box<Self> {
        Box::new(Failure { code, message: message.into(), label: None, help: None })
    }

    /// Adds what is found at the location.
    pub(crate) fn label(mut self: Box<Self>, label: impl Into<String>) -> Box<Self> {
        self.label = Some(label.into());
        self
    }

    /// Adds advice.
    pub(crate) fn help(mut self: Box<Self>, help: impl Into<String>) -> Box<Self> {
        self.help = Some(help.into());
        self
    }
}

/// The result of an evaluation.
pub(crate) type Outcome<T> = Result<T, Box<Failure>>;

/// The limits of an expansion.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ExpansionLimits {
    /// The maximum number of operations.
    pub(crate) max_ops: u64,
    /// The maximum number of open calls.
    pub(crate) max_depth: u64,
    /// The maximum number of items of an array or string.
    pub(crate) max_length: usize,
    /// The maximum number of bytes of live values, open calls and names.
    pub(crate) max_memory: u64,
}

/// The limits of an expansion, and what was used so far.
#[derive(Debug)]
pub(crate) struct Budget {
    /// Counts cells of arrays and strings.
    pub(crate) meter: Rc<Meter>,
    limits: ExpansionLimits,
    /// The maximum number of cells that can be created or compared.
    max_work: u64,
    /// The number of remaining instructions.
    pub(super) fuel: u64,
    /// The maximum number of operations: that of the limits, or as many as a picture shows.
    operations: u64,
}

/// The memory of open calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenCalls {
    pub(super) frames: usize,
    pub(super) slots: usize,
    /// The bytes of frames, slots, values on the stack, and names.
    pub(super) bytes: u64,
}

impl Budget {
    /// A budget with limits.
    pub(super) fn new(limits: ExpansionLimits) -> Self {
        Budget {
            meter: Rc::new(Meter::default()),
            limits,
            max_work: limits.max_ops.saturating_mul(CELLS_PER_OPERATION).max(MIN_CELLS),
            fuel: limits.max_ops.saturating_mul(FUEL_PER_OPERATION),
            operations: limits.max_ops,
        }
    }

    /// Limits the operations to those that a picture shows.
    pub(super) fn show(&mut self, most: usize) {
        self.operations = self.limits.max_ops.min(most as u64);
    }

    /// A budget without limits, for literals in declarations: the parser limits these.
    pub(crate) fn unlimited() -> Self {
        let (most, max_length) = (u64::MAX, usize::MAX);
        Budget::new(ExpansionLimits { max_ops: most, max_depth: most, max_length, max_memory: most })
    }

    /// Fails if a new list would exceed the maximum length, or its memory the limit.
    pub(crate) fn allow(&self, len: usize, bytes: u64) -> Outcome<()> {
        if len > self.limits.max_length {
            let limit = self.limits.max_length;
            let message = format!("an array or string of {len} items is more than the limit of {limit}");
            return Err(Failure::new(Code::LengthBudget, message).help("raise the limit with --max-length"));
        }
        if !self.meter.live.fits(bytes, self.limits.max_memory) {
            let limit = self.exceeded(bytes);
            return Err(out_of_memory(format!("arrays and strings take more than {limit} while expanding")));
        }
        self.check_work()
    }

    /// The limit that does not allow further bytes, for messages.
    fn exceeded(&self, more: u64) -> String {
        memory_text(self.meter.live.exceeded(more, self.limits.max_memory))
    }

    /// Counts the memory of an expression on symbols. It counts until the end of the run, since expressions are short
    /// and few, and fails if the limit is exceeded.
    pub(super) fn keep_text(&self, len: usize) -> Outcome<()> {
        self.meter.keep(len as u64);
        self.allow(0, 0)
    }

    /// Counts items that are read, and fails if too many were.
    pub(crate) fn spend(&self, items: usize) -> Outcome<()> {
        self.meter.spend(items as u64);
        self.check_work()
    }

    fn check_work(&self) -> Outcome<()> {
        cancel::look();
        if self.meter.work() <= self.max_work {
            return Ok(());
        }
        let message = "the expansion takes too many steps on arrays and strings";
        Err(Failure::new(Code::StepBudget, message).help("raise the limit with --max-ops"))
    }

    /// Uses up a number of instructions.
    #[inline]
    pub(super) fn burn(&mut self, instructions: u64) -> Outcome<()> {
        match self.fuel.checked_sub(instructions) {
            Some(left) => {
                self.fuel = left;
                Ok(())
            }
            None => Err(out_of_fuel()),
        }
    }

    /// Fails if open calls exceed the limit of depth or memory.
    #[inline]
    pub(super) fn check_calls(&self, open: OpenCalls) -> Outcome<()> {
        cancel::look();
        let fits = self.meter.live.fits(open.bytes, self.limits.max_memory);
        if open.frames as u64 <= self.limits.max_depth && open.slots < MAX_SLOTS && fits {
            return Ok(());
        }
        Err(self.too_deep(open, fits))
    }

    #[cold]
    fn too_deep(&self, open: OpenCalls, fits: bool) -> Box<Failure> {
        let depth = open.frames.saturating_sub(1);
        if fits {
            let message = format!("calls are nested deeper than {depth}: the recursion does not seem to end");
            return Failure::new(Code::EndlessRecursion, message).help("raise the limit with --max-depth");
        }
        let limit = self.exceeded(open.bytes);
        out_of_memory(format!("{depth} open calls, their locals and names take more than {limit} while expanding"))
    }

    /// Fails if there are already as many operations as the limits allow; `shapes` are the bytes of the shapes of the
    /// graph.
    #[inline]
    pub(super) fn check_operations(&self, operations: usize, shapes: usize) -> Outcome<()> {
        if (operations as u64) < self.operations {
            let graph = (operations as u64 * BYTES_OF_OPERATION).saturating_add(shapes as u64);
            if self.meter.live.fits(graph, self.limits.max_memory) {
                return Ok(());
            }
            let limit = self.exceeded(graph);
            return Err(out_of_memory(format!("the flat graph takes more than {limit}")));
        }
        let message = too_many("the flat graph", self.operations, "operations");
        if self.operations < self.limits.max_ops {
            return Err(Failure::new(Code::PictureTooLarge, format!("{message}, which pictures do not show")));
        }
        Err(Failure::new(Code::OperationBudget, message).help("raise the limit with --max-ops"))
    }
}

/// The memory of a step after the expansion, such as a translation, within the same limit.
#[derive(Debug)]
pub(crate) struct Memory {
    live: Held,
    limit: u64,
    /// Bytes in the limit that are counted elsewhere.
    lent: u64,
}

impl Memory {
    /// A step that may take as many bytes.
    pub(crate) fn new(limit: u64) -> Self {
        Memory { live: Held::default(), limit, lent: 0 }
    }

    /// Counts bytes that are in use until the end of the step.
    #[inline]
    pub(crate) fn keep(&self, bytes: u64) {
        self.live.add(bytes);
    }

    /// Counts bytes in the limit of the step that are in use anyway, and counted elsewhere.
    pub(crate) fn lend(&mut self, bytes: u64) {
        self.lent = self.lent.saturating_add(bytes);
    }

    /// Fails if the step takes more memory than allowed; `what` says what takes it.
    pub(crate) fn check(&self, what: &str) -> Outcome<()> {
        self.check_with(0, what)
    }

    /// Fails if the step will take more memory than allowed once further bytes are in use.
    pub(crate) fn check_with(&self, more: u64, what: &str) -> Outcome<()> {
        let own = self.limit.saturating_sub(self.lent);
        if self.live.fits(more, own) {
            return Ok(());
        }
        let limit = self.live.exceeded(more, own);
        let limit = if limit == own { self.limit } else { limit };
        Err(out_of_memory(format!("{what} takes more than {}", memory_text(limit))))
    }
}

#[cold]
fn out_of_memory(message: String) -> Box<Failure> {
    Failure::new(Code::MemoryBudget, message).help("raise the limit with --max-memory")
}

#[cold]
pub(super) fn out_of_fuel() -> Box<Failure> {
    let message = "the expansion takes too many steps";
    Failure::new(Code::StepBudget, message).help("raise the limit with --max-ops")
}

/// Counts the bytes of live cells, and all cells that were ever created, read or compared.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    live: Held,
    work: Cell<u64>,
}

impl Meter {
    /// The bytes of all live cells.
    #[cfg(test)]
    pub(crate) fn live(&self) -> u64 {
        self.live.bytes()
    }

    /// The number of cells that were created or read by operations that take time for each cell.
    pub(crate) fn work(&self) -> u64 {
        self.work.get()
    }

    /// Counts bytes that live until the end, such as those of the flat graph.
    pub(crate) fn keep(&self, bytes: u64) {
        self.live.add(bytes);
    }

    /// Counts cells that are read.
    pub(crate) fn spend(&self, cells: u64) {
        self.work.set(self.work.get().saturating_add(cells));
    }

    pub(super) fn add(&self, cells: u64, weight: u64) {
        self.keep(cells * weight);
        self.spend(cells);
    }

    pub(super) fn remove(&self, bytes: u64) {
        self.live.remove(bytes);
    }
}
