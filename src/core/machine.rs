//! The state of the interpreter: a stack machine whose stacks are on the heap, so that only the budget limits
//! the depth of recursion. [`super::run`] runs its instructions.

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::budget::{Budget, ExpansionLimits, Failure, OpenCalls, Outcome};
use super::frame::{CallChain, Calls, Frame};
use super::iteration::Iterations;
use super::program::{Body, Instr, Program};
use super::repetition::Planner;
use super::shapes::Shapes;
use super::sites::Sites;
use super::slots::{Slot, Slots};
use super::unit::{UnitId, Units};
use super::value::Value;
use crate::diagnostics::{Diagnostic, Policy, trace};
use crate::graph::names::NameId;
use crate::graph::{Extent, Graph, OriginId, TensorId};
use crate::source::names::Name;
use crate::source::{FileId, Location, Span};

/// The settings of an expansion.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    /// How what is found is judged.
    pub(crate) policy: Policy,
    /// Whether operations have no type arguments.
    pub(crate) untyped: bool,
    /// Whether each shape is implicitly extended by axes of extent 1.
    pub(crate) implicit_axes: bool,
    /// The minimum number of extents that `shape_of` returns.
    pub(crate) least_rank: usize,
    /// Reads the arguments of repeated calls; without it, they stay operations.
    pub(crate) planner: Option<Planner>,
    /// Whether repeated calls are expanded.
    pub(crate) unroll: bool,
    /// Whether all loops are expanded, not only those that the document marks with `unroll`.
    pub(crate) expand_loops: bool,
    /// Whether a repeated call that is not expanded is an error.
    pub(crate) flat: bool,
    /// The trip limit of loops that end by a condition.
    pub(crate) max_trips: Option<u64>,
    /// The limits of the expansion.
    pub(crate) limits: ExpansionLimits,
    /// Units that are never expanded, not even as the body of a repeated call.
    pub(crate) kept: Vec<UnitId>,
    /// Shapes that replace those of externals.
    pub(crate) input_shapes: FxHashMap<Name, Arc<[Extent]>>,
}

/// The state of an expansion.
pub(crate) struct Machine {
    pub(crate) units: Rc<Units>,
    pub(crate) settings: Settings,
    pub(crate) program: Program,
    pub(crate) graph: Graph,
    pub(super) stack: Vec<Value>,
    pub(super) slots: Slots,
    pub(super) frames: Vec<Frame>,
    /// The next instruction of the innermost frame.
    pub(super) pc: u32,
    /// The file that contains the source of the outermost frame.
    pub(super) file: FileId,
    /// For each running deferred block, the return address and the name prefix there.
    pub(super) forces: Vec<(u32, NameId)>,
    pub(super) calls: Calls,
    pub(super) iterations: Iterations,
    pub(super) sites: Sites,
    pub(crate) shapes: Shapes,
    pub(super) budget: Budget,
}

impl Machine {
    /// A machine that adds operations to a graph.
    pub(crate) fn new(units: Rc<Units>, settings: Settings, graph: Graph) -> Self {
        let count = units.len();
        Machine {
            units,
            program: Program::default(),
            graph,
            stack: Vec::new(),
            slots: Slots::default(),
            frames: Vec::new(),
            pc: 0,
            file: FileId::default(),
            forces: Vec::new(),
            calls: Calls::new(count),
            iterations: Iterations::default(),
            sites: Sites::new(count),
            shapes: Shapes::new(settings.implicit_axes, settings.policy),
            budget: Budget::new(settings.limits),
            settings,
        }
    }

    /// Ends the run when there are more operations than a picture shows.
    pub(crate) fn show(&mut self, most: usize) {
        self.budget.show(most);
    }

    /// Sets the body of a unit.
    pub(crate) fn define(&mut self, id: UnitId, body: Body) {
        self.calls.bodies[id.index()] = Some(body);
    }

    /// Whether the body of a unit is set.
    pub(crate) fn is_defined(&self, id: UnitId) -> bool {
        self.calls.bodies[id.index()].is_some()
    }

    /// The current number of slots of the outermost frame.
    pub(crate) fn slot_count(&self) -> usize {
        self.slots.len()
    }

    /// Removes the cached properties of the sites from `from` on.
    pub(crate) fn forget_sites(&mut self, from: usize) {
        self.sites.reached.truncate(from);
    }

    /// Starts a graph: its frame, with its parameters in the first slots.
    pub(crate) fn start(&mut self, file: FileId, params: Vec<Value>) {
        self.file = file;
        self.slots.extend(params.len());
        for (slot, value) in self.slots.from(0).iter_mut().zip(params) {
            slot.set(Slot::Ready(value));
        }
        self.frames.push(Frame {
            pc: 0,
            slots: 0,
            unit: None,
            site: u32::MAX,
            path: NameId::ROOT,
            result: NameId::ROOT,
            dtype: None,
            inner: false,
            origin: CallChain::new(OriginId::NONE),
        });
    }

    /// Returns to the outermost body after a failure: what was running is over. The values of its slots stay.
    pub(crate) fn unwind(&mut self) {
        while self.frames.len() > 1 {
            self.leave();
        }
        self.stack.clear();
        self.forces.clear();
        self.slots.trim();
        self.iterations = Iterations::default();
        self.calls.targets.clear();
        self.calls.targeted.clear();
    }

    /// Whether a slot of the graph has a value.
    pub(crate) fn has_value(&self, slot: u32) -> bool {
        matches!(self.slots.own().get(slot as usize), Some(Slot::Ready(_)))
    }

    /// The graph.
    pub(crate) fn into_graph(self) -> Graph {
        self.graph
    }

    /// The file that contains the source of a fragment, or that of the graph.
    #[inline]
    pub(super) fn file_of(&self, unit: Option<UnitId>) -> FileId {
        unit.map_or(self.file, |id| self.units.get(id).file)
    }

    /// The location of a span in a fragment, or in the graph.
    #[inline]
    pub(super) fn location_in(&self, unit: Option<UnitId>, span: Span) -> Location {
        Location::new(self.file_of(unit), span)
    }

    /// The source span of the running instruction.
    pub(super) fn here(&self) -> Span {
        let pc = (self.pc as usize).saturating_sub(1);
        self.program.spans.get(pc).copied().unwrap_or_default()
    }

    /// Turns a failure into a diagnostic at the running instruction, with the open calls.
    pub(super) fn diagnose(&self, failure: Failure) -> Diagnostic {
        let frame = self.frames.last();
        let at = frame.map_or(Location::default(), |frame| Location::new(self.file_of(frame.unit), self.here()));
        self.diagnose_at(at, failure)
    }

    /// Turns a failure into a diagnostic at a location, with the open calls.
    pub(super) fn diagnose_at(&self, at: Location, failure: Failure) -> Diagnostic {
        let mut diagnostic = Diagnostic::new(failure.code, at, failure.message);
        diagnostic.label = failure.label.or(diagnostic.label);
        diagnostic.help = failure.help;
        trace::attach(&mut diagnostic, self.frames.len().saturating_sub(1), |depth| {
            // The innermost frame has depth 0; the location of its call is in the frame before it.
            let i = self.frames.len() - 1 - depth;
            let (frame, caller) = (&self.frames[i], &self.frames[i - 1]);
            let span = self.program.sites.get(frame.site as usize).map_or(Span::default(), |site| site.span);
            let name = frame.unit.map_or("", |id| self.units.text(self.units.get(id).name));
            (name.to_string(), self.location_in(caller.unit, span))
        });
        diagnostic
    }

    /// The tensor in a slot of the graph.
    pub(crate) fn tensor_in(&self, slot: u32) -> Option<TensorId> {
        match self.slots.own().get(slot as usize) {
            Some(Slot::Ready(Value::Tensor(tensor))) => Some(*tensor),
            _ => self.sites.bound.get(&slot).copied(),
        }
    }

    #[inline]
    pub(super) fn frame(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Value {
        // Unreachable: the compiler balances pushes and pops.
        match self.stack.pop() {
            Some(value) => value,
            None => Value::Logical(false),
        }
    }

    /// Drops the value on top.
    #[inline]
    pub(super) fn drop_top(&mut self) {
        match self.stack.last().is_some_and(Value::is_plain) {
            true => std::mem::forget(self.stack.pop()),
            false => drop(self.stack.pop()),
        }
    }

    /// Replaces the top `count` values, which must be plain ([`Value::is_plain`]), by one value.
    #[inline]
    pub(super) fn replace_top(&mut self, count: usize, value: Value) {
        for _ in 1..count {
            std::mem::forget(self.stack.pop());
        }
        if let Some(top) = self.stack.last_mut() {
            std::mem::forget(std::mem::replace(top, value));
        }
    }

    /// Drops the values above the first `len` on the stack.
    #[inline]
    pub(super) fn drop_stack(&mut self, len: usize) {
        while self.stack.len() > len {
            self.drop_top();
        }
    }

    /// Pushes a value; if the next instruction would store it in a slot, stores it there and skips that instruction.
    #[inline]
    pub(super) fn give(&mut self, value: Value) {
        if let Instr::Store(slot) = self.program.instrs[self.pc as usize] {
            self.pc += 1;
            self.put(slot, value);
        } else {
            self.stack.push(value);
        }
    }

    /// Stores a value in a slot.
    #[inline]
    pub(super) fn put(&mut self, slot: u32, value: Value) {
        self.slots.get(slot).set(Slot::Ready(value));
    }

    /// Fails if calls are nested deeper than the budget allows, or their memory exceeds the limit.
    #[inline]
    pub(super) fn check_depth(&self) -> Outcome<()> {
        let (frames, slots) = (self.frames.len(), self.slots.len());
        let bytes = frames * size_of::<Frame>()
            + slots * size_of::<Slot>()
            + self.stack.len() * size_of::<Value>()
            + self.graph.names.bytes();
        self.budget.check_calls(OpenCalls { frames, slots, bytes: bytes as u64 })
    }
}
