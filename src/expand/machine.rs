//! The lazy interpreter: a stack machine whose stacks are on the heap, so that recursion is as deep
//! as the budget allows and no deeper.

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::arithmetic::{Failure, Outcome, Space};
use super::calls::{Callee, Given, Target};
use super::code::{Body, Head, Instr, Program};
use super::compile::{Compiler, Mode};
use super::compound::CompoundCode;
use super::emission::{Applied, Emission};
pub(super) use super::frame::{Active, Frame, Origin, Reached, Running, Slot, Targeted};
use super::list::Meter;
use super::looping::LoopRun;
use super::lowering::Lowering;
use super::replay::{Before, Replays};
use super::routine::Prepared;
use super::scan::Unrolling;
use super::shapes::Shapes;
use super::trace;
use super::value::Value;
use crate::diagnostics::{Code, Diagnostic};
use crate::graph::names::NameId;
use crate::graph::{Graph, Kept, KindId, OriginId, TensorId};
use crate::nnef::ast::ExprId;
use crate::nnef::check::{Checked, FragmentId};
use crate::nnef::statements::FormId;
use crate::options::Options;
use crate::source::names::Name;
use crate::source::{FileId, Location, Span};

/// The most items of an array or string.
const MAX_LENGTH: usize = 10_000_000;
/// The most bytes of live arrays and strings.
const MAX_BYTES: u64 = 1 << 30;
/// How many calls and loop turns are allowed for each operation that may be emitted.
const STEPS_PER_OPERATION: u64 = 20;
/// How many cells of arrays and strings may be made or compared for each such operation.
const CELLS_PER_OPERATION: u64 = 80;
/// How many of them are allowed in any case.
const MIN_CELLS: u64 = 100_000_000;
/// The most open calls that hold slots, whatever the options say: slots are counted in 32 bits.
pub(super) const MAX_SLOTS: usize = 1 << 28;

/// Declares the machine, and its state without what it reads: between the statements of a graph
/// the checks go on with that.
macro_rules! machine {
    ($($(#[$doc:meta])* $field:ident: $ty:ty,)*) => {
        /// The state of an expansion, and what it reads.
        pub(super) struct Machine<'c, 'd> {
            pub(super) checked: &'c Checked<'d>,
            $($(#[$doc])* pub(super) $field: $ty,)*
        }

        /// The state of an expansion.
        pub(super) struct State {
            $($field: $ty,)*
        }

        impl<'c, 'd> Machine<'c, 'd> {
            /// Goes on from a state.
            pub(super) fn resume(checked: &'c Checked<'d>, state: State) -> Self {
                Machine { checked, $($field: state.$field,)* }
            }

            /// The state to go on from.
            pub(super) fn pause(self) -> State {
                State { $($field: self.$field,)* }
            }
        }
    };
}

machine! {
    lowering: Lowering,
    program: Program,
    bodies: Vec<Option<Body>>,
    graph: Graph,
    stack: Vec<Value>,
    slots: Vec<Slot>,
    frames: Vec<Frame>,
    /// The next instruction of the innermost frame.
    pc: u32,
    /// The first slot of the innermost frame.
    base: u32,
    /// The file that spans of the outermost frame are of.
    file: FileId,
    targets: Vec<Target>,
    /// Which open calls have targets.
    targeted: Vec<Targeted>,
    active: Vec<Active>,
    /// What is known of the fragments that were called.
    callees: Vec<Option<Callee>>,
    /// The bodies that are replayed.
    replays: Replays,
    loops: Vec<Running>,
    scans: Vec<Unrolling>,
    looping: Vec<LoopRun>,
    /// The most trips of a loop that ends by a condition.
    max_trips: Option<u64>,
    forces: Vec<u32>,
    space: Space,
    kinds: Vec<Option<KindId>>,
    /// What is known of the sites that were reached, by their numbers.
    reached: Vec<Reached>,
    /// What is known of the site that was reached last, as long as its keys are there.
    latest: Option<(Applied, Emission)>,
    /// What the graph has of kinds of statements, by their numbers.
    routines: Vec<Option<Prepared>>,
    /// Code for statements of forms, by their forms.
    compounds: FxHashMap<FormId, Rc<CompoundCode>>,
    /// The statement of a form that is running, in [`Program::compounds`], and where it goes on after it.
    running: Option<(u32, u32)>,
    /// What there was before it, if it is looked at what it does.
    recording: Option<Before>,
    /// The constants that statements of forms have in common, where the graph has them.
    shared: FxHashMap<(FormId, ExprId), Kept>,
    undeclared: FxHashMap<Name, KindId>,
    /// Constant tensors made of named literal arrays.
    literals: FxHashMap<(usize, i32, u32), (Value, TensorId)>,
    /// The tensors of names of the graph that stand for constants, by slot.
    bound: FxHashMap<u32, TensorId>,
    /// Shapes that replace those of externals.
    input_shapes: FxHashMap<Name, Arc<[i64]>>,
    shapes: Shapes,
    max_depth: u64,
    max_ops: u64,
    steps: u64,
}

impl<'c, 'd> Machine<'c, 'd> {
    pub(super) fn new(checked: &'c Checked<'d>, options: &Options, more: &[String], graph: Graph) -> Self {
        let names = checked.document.names();
        let input_shapes = options
            .input_shapes
            .iter()
            .filter_map(|(name, shape)| Some((names.get(name)?, shape.as_slice().into())))
            .collect();
        Machine {
            checked,
            lowering: Lowering::new(checked, options, more),
            program: Program::default(),
            bodies: vec![None; checked.fragments.len()],
            graph,
            stack: Vec::new(),
            slots: Vec::new(),
            frames: Vec::new(),
            pc: 0,
            base: 0,
            file: FileId::default(),
            targets: Vec::new(),
            targeted: Vec::new(),
            active: vec![Active::default(); checked.fragment_count()],
            callees: vec![None; checked.fragments.len()],
            replays: Replays::default(),
            loops: Vec::new(),
            scans: Vec::new(),
            looping: Vec::new(),
            max_trips: options.max_trips,
            forces: Vec::new(),
            space: Space {
                meter: Rc::new(Meter::default()),
                max_len: MAX_LENGTH,
                max_bytes: MAX_BYTES,
                max_work: options.max_ops.saturating_mul(CELLS_PER_OPERATION).max(MIN_CELLS),
            },
            kinds: vec![None; checked.fragments.len()],
            reached: Vec::new(),
            latest: None,
            routines: Vec::new(),
            compounds: FxHashMap::default(),
            running: None,
            recording: None,
            shared: FxHashMap::default(),
            undeclared: FxHashMap::default(),
            literals: FxHashMap::default(),
            bound: FxHashMap::default(),
            input_shapes,
            shapes: Shapes::new(checked, options),
            max_depth: options.max_depth,
            max_ops: options.max_ops,
            steps: options.max_ops.saturating_mul(STEPS_PER_OPERATION),
        }
    }

    /// What a call of a fragment needs to know; compiles its body when it is called first. Of
    /// fragments that are alike the first one is compiled.
    pub(super) fn head(&mut self, id: FragmentId) -> Head {
        let declared = self.checked.declared(id);
        if let Some(body) = &self.bodies[declared] {
            return body.head;
        }
        let module = self.checked.fragment(id).module;
        let compiler = Compiler::new(
            self.checked,
            &self.lowering,
            &mut self.program,
            &mut self.graph.names,
            module,
            Mode::Fragment,
        );
        let body = compiler.fragment(id);
        let head = body.head;
        self.bodies[declared] = Some(body);
        head
    }

    /// Starts a graph: its frame, with its parameters in the first slots.
    pub(super) fn start(&mut self, file: FileId, params: Vec<Value>) {
        self.file = file;
        self.slots.extend(params.into_iter().map(Slot::Ready));
        self.frames.push(Frame {
            pc: 0,
            slots: 0,
            fragment: None,
            site: u32::MAX,
            path: NameId::ROOT,
            result: NameId::ROOT,
            dtype: None,
            inner: false,
            origin: Origin::new(OriginId::NONE),
        });
    }

    /// The graph.
    pub(super) fn into_graph(self) -> Graph {
        self.graph
    }

    /// Runs code of the graph, which has so many slots by now.
    pub(super) fn run(&mut self, entry: u32, slots: usize) -> Result<(), Box<Diagnostic>> {
        self.slots.resize(slots, Slot::Empty);
        (self.pc, self.base) = (entry, 0);
        self.steps().map_err(|failure| Box::new(self.diagnose(failure)))
    }

    /// The file that spans of a fragment are of, or those of the graph.
    #[inline]
    pub(super) fn file_of(&self, fragment: Option<FragmentId>) -> FileId {
        fragment.map_or(self.file, |id| self.checked.file_of(id))
    }

    /// A place in a fragment, which may be told by its spelling, or in the graph.
    #[inline]
    pub(super) fn location_in(&self, fragment: Option<FragmentId>, span: Span) -> Location {
        Location::new(self.file_of(fragment), self.checked.place_in(fragment, span))
    }

    /// Attaches the place and the calls around it to a failure.
    fn diagnose(&self, failure: Failure) -> Diagnostic {
        let frame = self.frames.last();
        let at = frame.map_or(Location::default(), |frame| Location::new(self.file_of(frame.fragment), self.here()));
        self.diagnose_at(at, failure)
    }

    /// Attaches a place and the calls around it to a failure.
    pub(super) fn diagnose_at(&self, at: Location, failure: Failure) -> Diagnostic {
        let mut diagnostic = Diagnostic::new(failure.code, at, failure.message);
        diagnostic.help = failure.help;
        trace::attach(&mut diagnostic, self.frames.len().saturating_sub(1), |depth| {
            // The innermost frame is depth 0; the call of a frame stands in the one below it.
            let i = self.frames.len() - 1 - depth;
            let (frame, caller) = (&self.frames[i], &self.frames[i - 1]);
            let span = self.program.sites.get(frame.site as usize).map_or(Span::default(), |site| site.span);
            let name = frame.fragment.map_or("", |id| self.checked.text(self.checked.fragment_name(id)));
            (name.to_string(), self.location_in(caller.fragment, span))
        });
        diagnostic
    }

    /// The tensor in a slot of the graph.
    pub(super) fn tensor_in(&self, slot: u32) -> Option<TensorId> {
        match self.slots.get(slot as usize) {
            Some(Slot::Ready(Value::Tensor(tensor))) => Some(*tensor),
            _ => self.bound.get(&slot).copied(),
        }
    }

    /// What is known of a site.
    #[inline]
    pub(super) fn reached(&mut self, site: u32) -> &mut Reached {
        if self.reached.len() <= site as usize {
            self.reached.resize(self.program.sites.len(), Reached::default());
        }
        &mut self.reached[site as usize]
    }

    #[inline]
    pub(super) fn frame(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Value {
        // The compiler balances the stack.
        self.stack.pop().unwrap_or(Value::Logical(false))
    }

    /// Drops the value on top.
    #[inline]
    pub(super) fn drop_top(&mut self) {
        match self.stack.last().is_some_and(Value::is_plain) {
            true => std::mem::forget(self.stack.pop()),
            false => drop(self.stack.pop()),
        }
    }

    /// Replaces so many values on top, of which none needs dropping, by another one.
    #[inline]
    pub(super) fn replace_top(&mut self, count: usize, value: Value) {
        for _ in 1..count {
            std::mem::forget(self.stack.pop());
        }
        if let Some(top) = self.stack.last_mut() {
            std::mem::forget(std::mem::replace(top, value));
        }
    }

    /// Drops what is on the stack above so many values.
    #[inline]
    pub(super) fn drop_stack(&mut self, len: usize) {
        while self.stack.len() > len {
            self.drop_top();
        }
    }

    /// Drops all slots but so many.
    #[inline]
    pub(super) fn drop_slots(&mut self, len: usize) {
        while self.slots.len() > len {
            match self.slots.last().is_some_and(Slot::is_plain) {
                true => std::mem::forget(self.slots.pop()),
                false => drop(self.slots.pop()),
            }
        }
    }

    /// Pushes a value, or puts it where the next instruction would.
    #[inline]
    pub(super) fn give(&mut self, value: Value) {
        if let Instr::Store(slot) = self.program.instrs[self.pc as usize] {
            self.pc += 1;
            self.put(slot, value);
        } else {
            self.stack.push(value);
        }
    }

    /// Gives a slot its value.
    #[inline]
    pub(super) fn put(&mut self, slot: u32, value: Value) {
        self.slot(slot).set(Slot::Ready(value));
    }

    #[inline]
    pub(super) fn slot(&mut self, slot: u32) -> &mut Slot {
        &mut self.slots[(self.base + slot) as usize]
    }

    /// Counts a call or a turn of a loop.
    #[inline]
    pub(super) fn step(&mut self) -> Outcome<()> {
        if self.steps == 0 {
            let message = "the expansion takes too many steps";
            return Err(Failure::new(Code::StepBudget, message).help("raise the limit with --max-ops"));
        }
        self.steps -= 1;
        Ok(())
    }

    /// Refuses calls nested deeper than the budget.
    #[inline]
    pub(super) fn check_depth(&self) -> Outcome<()> {
        if self.frames.len() as u64 <= self.max_depth && self.slots.len() < MAX_SLOTS {
            return Ok(());
        }
        let message =
            format!("calls are nested deeper than {}: the recursion does not seem to end", self.frames.len() - 1);
        Err(Failure::new(Code::EndlessRecursion, message).help("raise the limit with --max-depth"))
    }

    fn steps(&mut self) -> Outcome<()> {
        loop {
            let pc = self.pc as usize;
            self.pc += 1;
            match self.program.instrs[pc] {
                Instr::Const(i) => self.stack.push(self.program.constants[i as usize].clone()),
                Instr::Load(slot) => self.load(slot),
                Instr::Force(slot) => self.force(slot),
                Instr::Store(slot) => {
                    let value = self.pop();
                    self.put(slot, value);
                }
                Instr::Unary(op) => self.unary(op)?,
                Instr::Binary(op) => self.binary(op)?,
                Instr::Jump(to) => self.pc = to,
                Instr::JumpUnless(to) => {
                    if !self.condition(true)? {
                        self.pc = to;
                    }
                }
                Instr::AndJump(to) => self.short_circuit(to, false)?,
                Instr::OrJump(to) => self.short_circuit(to, true)?,
                Instr::Array(count) => {
                    let list = self.collect(count)?;
                    self.stack.push(Value::Array(list));
                }
                Instr::Locals(index) => {
                    let list = self.locals(index)?;
                    self.stack.push(Value::Array(list));
                }
                Instr::Tuple(count) => {
                    let list = self.collect(count)?;
                    self.stack.push(Value::Tuple(list));
                }
                Instr::Index => self.index()?,
                Instr::Slice { begin, end } => self.slice(begin, end)?,
                Instr::Builtin(function) => self.builtin(function)?,
                Instr::Call(site) => self.call(site, Given::Pushed)?,
                Instr::CallWith(site) => self.call(site, Given::Operands)?,
                Instr::Emit(site) => self.emit(site)?,
                Instr::Apply(site) => self.apply(site)?,
                Instr::Scan(site) => self.scan(site)?,
                Instr::Trip => self.trip()?,
                Instr::Unpack(count) => self.unpack(count)?,
                Instr::IterBegin(count) => self.iter_begin(count)?,
                Instr::IterNext(index) => self.iter_next(index)?,
                Instr::Yield => {
                    let value = self.pop();
                    if let Some(running) = self.loops.last_mut() {
                        running.items.push(value);
                    }
                }
                Instr::IterEnd => self.iter_end()?,
                Instr::LoopBegin(index) => self.loop_begin(index)?,
                Instr::LoopNext(index) => self.loop_next(index)?,
                Instr::LoopWhile(index) => self.loop_while(index)?,
                Instr::LoopTurn(index) => self.loop_turn(index)?,
                Instr::LoopEnd => self.loop_end()?,
                Instr::AsTensor => self.as_tensor()?,
                Instr::Conform(ty) => {
                    let value = self.pop();
                    let value = self.conform(value, self.program.types[ty as usize])?;
                    self.stack.push(value);
                }
                Instr::Defer(block) => {
                    for i in 0..self.program.blocks[block as usize].slots.len() {
                        let slot = self.program.blocks[block as usize].slots[i];
                        *self.slot(slot) = Slot::Deferred(block);
                    }
                }
                Instr::ForceReturn => {
                    if let Some(pc) = self.forces.pop() {
                        self.pc = pc;
                    }
                }
                Instr::Statement(name) => self.frame().path = name,
                Instr::Bind(binding) => self.bind(binding)?,
                Instr::Routine(call) => self.routine(call)?,
                Instr::Compound(call) => self.compound(call),
                Instr::CompoundEnd => self.end_compound(),
                Instr::Return => {
                    if self.frames.len() == 1 {
                        return Ok(());
                    }
                    self.finish_call();
                }
                Instr::Fused(fused) => self.run_fused(fused),
            }
        }
    }
}
