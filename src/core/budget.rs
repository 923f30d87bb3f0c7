//! What an expansion may take: instructions, memory, operations, open calls, lengths.

use std::cell::Cell;
use std::rc::Rc;

use crate::diagnostics::Code;

/// The most items of an array or string.
const MAX_LENGTH: usize = 10_000_000;
/// The most bytes of live values, open calls and names.
const MAX_BYTES: u64 = 768 << 20;
/// How many instructions are allowed in any case, for each operation that may be emitted.
const FUEL_PER_OPERATION: u64 = 8;
/// How many more are allowed for each operation that is emitted.
pub(super) const FUEL_OF_EMISSION: u64 = 40;
/// What a call takes of the budget beyond its instructions: names, a frame, slots.
pub(super) const FUEL_OF_CALL: u64 = 3;
/// How many cells of arrays and strings may be made or compared for each operation that may be
/// emitted.
const CELLS_PER_OPERATION: u64 = 80;
/// How many of them are allowed in any case.
const MIN_CELLS: u64 = 100_000_000;
/// The most slots of open calls, whatever the options say: they are counted in 32 bits.
const MAX_SLOTS: usize = 1 << 28;

/// What went wrong, without a place. Always in a box, so that what may fail gives no more than it
/// would give otherwise.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failure {
    /// Which rule.
    pub(crate) code: Code,
    /// The sentence.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) help: Option<String>,
}

impl Failure {
    /// A failure without advice.
    #[cold]
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Box<Self> {
        Box::new(Failure { code, message: message.into(), help: None })
    }

    /// Adds advice.
    pub(crate) fn help(mut self: Box<Self>, help: impl Into<String>) -> Box<Self> {
        self.help = Some(help.into());
        self
    }
}

/// What an evaluation gives.
pub(crate) type Outcome<T> = Result<T, Box<Failure>>;

/// The limits of an expansion, and what it took so far.
#[derive(Debug)]
pub(crate) struct Budget {
    /// Counts live cells.
    pub(crate) meter: Rc<Meter>,
    /// The most items of a list.
    max_len: usize,
    /// The most bytes of all that is alive.
    max_bytes: u64,
    /// The most cells that may be made or compared.
    max_work: u64,
    /// The most open calls.
    max_depth: u64,
    /// The most operations.
    max_ops: u64,
    /// The instructions that are left.
    pub(super) fuel: u64,
}

/// What open calls take.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenCalls {
    pub(super) frames: usize,
    pub(super) slots: usize,
    /// The bytes of frames, slots, values on the stack, and names.
    pub(super) bytes: u64,
}

impl Budget {
    /// For so many operations, and calls nested so deep.
    pub(super) fn new(max_ops: u64, max_depth: u64) -> Self {
        Budget {
            meter: Rc::new(Meter::default()),
            max_len: MAX_LENGTH,
            max_bytes: MAX_BYTES,
            max_work: max_ops.saturating_mul(CELLS_PER_OPERATION).max(MIN_CELLS),
            max_depth,
            max_ops,
            fuel: max_ops.saturating_mul(FUEL_PER_OPERATION),
        }
    }

    /// Without limits, for the literals of declarations: the parser bounds these.
    pub(crate) fn unlimited() -> Self {
        Budget { max_len: usize::MAX, max_bytes: u64::MAX, ..Budget::new(u64::MAX, u64::MAX) }
    }

    /// Refuses a list that would be too long, or one that no memory is left for.
    pub(crate) fn allow(&self, len: usize, bytes: u64) -> Outcome<()> {
        if len > self.max_len {
            let message = format!("an array or string of {len} items is more than the limit of {}", self.max_len);
            return Err(Failure::new(Code::LengthBudget, message));
        }
        if self.meter.live().saturating_add(bytes) > self.max_bytes {
            let message = format!("arrays and strings take more than {} MB while expanding", self.max_bytes >> 20);
            return Err(Failure::new(Code::MemoryBudget, message));
        }
        self.check_work()
    }

    /// Notes that so many items are looked at, and refuses to look at too many.
    pub(crate) fn spend(&self, items: usize) -> Outcome<()> {
        self.meter.spend(items as u64);
        self.check_work()
    }

    fn check_work(&self) -> Outcome<()> {
        if self.meter.work() <= self.max_work {
            return Ok(());
        }
        let message = "the expansion takes too many steps on arrays and strings";
        Err(Failure::new(Code::StepBudget, message).help("raise the limit with --max-ops"))
    }

    /// Takes instructions off the budget.
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

    /// Refuses calls nested too deep, or open calls that no memory is left for.
    #[inline]
    pub(super) fn check_calls(&self, open: OpenCalls) -> Outcome<()> {
        let fits = self.meter.live().saturating_add(open.bytes) <= self.max_bytes;
        if open.frames as u64 <= self.max_depth && open.slots < MAX_SLOTS && fits {
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
        let message = format!(
            "{depth} open calls, their locals and names take more than {} MB while expanding",
            self.max_bytes >> 20
        );
        Failure::new(Code::MemoryBudget, message)
    }

    /// Refuses another operation beside so many.
    #[inline]
    pub(super) fn check_operations(&self, operations: usize) -> Outcome<()> {
        if (operations as u64) < self.max_ops {
            return Ok(());
        }
        let message = format!("the flat graph has more than {} operations", self.max_ops);
        Err(Failure::new(Code::OperationBudget, message).help("raise the limit with --max-ops"))
    }
}

#[cold]
pub(super) fn out_of_fuel() -> Box<Failure> {
    let message = "the expansion takes too many steps";
    Failure::new(Code::StepBudget, message).help("raise the limit with --max-ops")
}

/// Counts the bytes of live cells, and the cells that were ever made or compared.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    live: Cell<u64>,
    work: Cell<u64>,
}

impl Meter {
    /// The bytes of all live cells.
    pub(crate) fn live(&self) -> u64 {
        self.live.get()
    }

    /// The cells that were made or looked at by operations that take time for each.
    pub(crate) fn work(&self) -> u64 {
        self.work.get()
    }

    /// Counts bytes that stay alive, as those of the flat graph.
    pub(crate) fn keep(&self, bytes: u64) {
        self.live.set(self.live.get().saturating_add(bytes));
    }

    /// Counts cells that are looked at.
    pub(crate) fn spend(&self, cells: u64) {
        self.work.set(self.work.get().saturating_add(cells));
    }

    pub(super) fn add(&self, cells: u64, weight: u64) {
        self.keep(cells * weight);
        self.spend(cells);
    }

    pub(super) fn remove(&self, bytes: u64) {
        self.live.set(self.live.get().saturating_sub(bytes));
    }
}
