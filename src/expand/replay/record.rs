//! Lists read off the graph after a statement was run.
//!
//! Statements of one form whose names are those of tensors differ in nothing that decides what they
//! do, as long as nobody asks for a shape. So what one of them adds to the graph, all others add
//! with their own tensors, names and places: comprehensions, calls of any depth, choices
//! between constants. One of them is run and looked at ([`Machine::record`]), others are not run
//! ([`Machine::has_replayed`]).

use smallvec::SmallVec;

use super::super::code::{self, Binding, CompoundCall};
use super::super::compound::CompoundCode;
use super::super::emission::Emission;
use super::super::frame::Slot;
use super::super::machine::Machine;
use super::super::value::Value;
use super::{CallPlace, CallStep, ListId, PathStep, Place, Replay, Setting, Source, Statement, Step};
use crate::graph::Primitive;
use crate::graph::names::NameId;
use crate::graph::{Graph, Kept, Marks, Operand, OriginId, Output, Tensor, TensorId};
use crate::nnef::check::forms::Anchor;
use crate::source::Location;
use crate::source::names::Name;

/// The most operations of a statement that is replayed.
const MAX_OPERATIONS: usize = 4096;
/// How often a statement is run before it is recorded: then its code knows all that it learns.
const RUNS: u32 = 2;
/// How often statements of a form are looked at before it is clear that there is nothing to see.
const TRIES: u32 = 4;

/// Whether statements of a form are replayed.
#[derive(Debug)]
pub(in crate::expand) enum Recorded {
    /// They were run so often.
    Not(u32),
    /// What they add.
    As(Box<Record>),
}

/// What the statements of a form add to the graph.
#[derive(Debug)]
pub(in crate::expand) struct Record {
    list: ListId,
    /// How often statements of the form were run before.
    runs: u32,
    /// The data types of the tensors that they are given, and the first one that is the same.
    given: SmallVec<[(Option<Primitive>, u32); 4]>,
    /// The fragments that they call, of those that may be others in each.
    called: SmallVec<[Name; 1]>,
    /// For each name on the left side the operation that gives its value.
    results: SmallVec<[u32; 1]>,
    /// The bytes of values that the graph keeps, and the cells that are made on the way.
    bytes: u64,
    work: u64,
}

/// What there was before a statement that is recorded.
#[derive(Clone, Copy, Debug)]
pub(in crate::expand) struct Before {
    marks: Marks,
    steps: u64,
    bytes: u64,
    work: u64,
    /// What was found about shapes so far.
    findings: (usize, usize),
}

impl Machine<'_, '_> {
    /// Does what a statement does, if that is known; false if it has to be run.
    pub(in crate::expand) fn has_replayed(&mut self, call: &CompoundCall, code: &CompoundCode) -> bool {
        let record = match std::mem::take(&mut self.replays.statements[code.recorded as usize]) {
            Recorded::Not(runs) => {
                self.replays.statements[code.recorded as usize] = Recorded::Not(runs.saturating_add(1));
                self.recording = self.before(runs);
                return false;
            }
            Recorded::As(record) => record,
        };
        let words = &self.program.words[call.words as usize..];
        let calls_them = code.called_by(words).eq(record.called.iter().copied());
        let given = calls_them.then(|| self.given(call, code)).flatten();
        let given = given.filter(|given| record.fits(given, &self.graph));
        let (is_done, recorded) = match given {
            Some(given) => (self.replay_statement(call, code, &given, &record), Recorded::As(record)),
            // It may be that another one tells more.
            None if record.runs < RUNS + TRIES => {
                self.recording = self.before(record.runs);
                (false, Recorded::Not(record.runs + 1))
            }
            None => (false, Recorded::As(record)),
        };
        self.replays.statements[code.recorded as usize] = recorded;
        is_done
    }

    /// What there is before a statement, if it is to be recorded. Others were run so often.
    fn before(&mut self, runs: u32) -> Option<Before> {
        if !(RUNS..RUNS + TRIES).contains(&runs) || !self.input_shapes.is_empty() {
            return None;
        }
        self.shapes.forget_questions();
        let (bytes, work) = (self.space.meter.live(), self.space.meter.work());
        let (marks, findings) = (self.graph.marks(), self.shapes.findings());
        Some(Before { marks, steps: self.steps, bytes, work, findings })
    }

    /// Looks at what a statement added, which has come to its end, if it is one to be recorded.
    pub(in crate::expand) fn record(&mut self, call: &CompoundCall, code: &CompoundCode) {
        let Some(before) = self.recording.take() else { return };
        let Recorded::Not(runs) = self.replays.statements[code.recorded as usize] else { return };
        if let Some(record) = self.recorded(call, code, &before, runs) {
            self.replays.statements[code.recorded as usize] = Recorded::As(Box::new(record));
        }
    }

    fn recorded(&mut self, call: &CompoundCall, code: &CompoundCode, before: &Before, runs: u32) -> Option<Record> {
        let count = self.graph.operations.len() - before.marks.operations;
        let is_plain = !self.shapes.was_asked() && self.shapes.findings() == before.findings;
        if !is_plain || count > MAX_OPERATIONS || !self.replays.has_room(count) {
            return None;
        }
        let tensors = self.given(call, code)?;
        let targets = code.bindings_of(call, &self.program).iter().map(|binding| binding.id).collect();
        let recorder = Recorder { machine: self, code, marks: &before.marks, tensors: &tensors, targets };
        let (mut replay, results) = (recorder.replay()?, recorder.results(call)?);
        replay.steps = before.steps - self.steps;
        let given = tensors.iter().map(|tensor| {
            let first = tensors.iter().position(|other| other == tensor).unwrap_or(0) as u32;
            (self.graph.dtype_of(*tensor), first)
        });
        let (given, meter) = (given.collect(), &self.space.meter);
        let (bytes, work) = (meter.live().saturating_sub(before.bytes), meter.work() - before.work);
        let called = code.called_by(&self.program.words[call.words as usize..]).collect();
        Some(Record { list: self.replays.add(replay), runs, given, called, results, bytes, work })
    }

    /// The tensors that a statement is given; none if it is given something else.
    #[inline]
    fn given(&self, call: &CompoundCall, code: &CompoundCode) -> Option<SmallVec<[Kept; 4]>> {
        let operands = &self.program.operands[call.operands as usize..][..code.operands()];
        let tensor = |operand: &code::Operand| match operand {
            code::Operand::Slot(slot) => match self.slots.get(*slot as usize)? {
                Slot::Ready(Value::Tensor(tensor)) => Some(Kept::tensor(*tensor)),
                _ => None,
            },
            code::Operand::Const(_) | code::Operand::Shared(..) => None,
        };
        let mut tensors = SmallVec::new();
        for operand in operands {
            tensors.push(tensor(operand)?);
        }
        Some(tensors)
    }

    /// Adds what a statement adds, and gives its names their values; false if it has to be run.
    fn replay_statement(&mut self, call: &CompoundCall, code: &CompoundCode, given: &[Kept], record: &Record) -> bool {
        let meter = &self.space.meter;
        let has_space = meter.live().saturating_add(record.bytes) <= self.space.max_bytes
            && meter.work().saturating_add(record.work) <= self.space.max_work;
        if !has_space || !self.has_room(record.list) {
            return false;
        }
        let (marks, file) = (self.graph.marks(), self.file);
        let Machine { graph, shapes, replays, program, slots, space, .. } = self;
        let bindings = code.bindings_of(call, program);
        let names: SmallVec<[NameId; 1]> = bindings.iter().map(|binding| binding.id).collect();
        let words = &program.words[call.words as usize..];
        let statement = Some(Statement { file, start: call.like.start, words });
        let (call, generic, inner) = (OriginId::NONE, None, false);
        let setting = Setting { names: &names, inner, call, generic, given, statement };
        let replay = &mut replays.lists[record.list.0 as usize];
        let Some(first) = replay.play(graph, shapes, &setting, marks) else { return false };
        for (binding, result) in bindings.iter().zip(&record.results) {
            slots[binding.slot as usize].set(Slot::Ready(Value::Tensor(TensorId(first.0 + result))));
        }
        space.meter.keep(record.bytes);
        space.meter.spend(record.work);
        self.steps -= replay.steps;
        true
    }
}

impl Default for Recorded {
    fn default() -> Self {
        Recorded::Not(0)
    }
}

impl Record {
    /// Whether it holds for a statement that is given these tensors.
    fn fits(&self, tensors: &[Kept], graph: &Graph) -> bool {
        self.given
            .iter()
            .zip(tensors)
            .all(|((dtype, first), tensor)| graph.dtype_of(*tensor) == *dtype && tensors[*first as usize] == *tensor)
    }
}

/// What is looked at: a statement with the tensors that it was given and the names on its left
/// side, and the graph with what it added behind the marks.
struct Recorder<'r, 'c, 'd> {
    machine: &'r Machine<'c, 'd>,
    code: &'r CompoundCode,
    marks: &'r Marks,
    tensors: &'r [Kept],
    targets: SmallVec<[NameId; 1]>,
}

impl Recorder<'_, '_, '_> {
    /// All that was added, as a list.
    fn replay(&self) -> Option<Replay> {
        let graph = &self.machine.graph;
        let mut replay = Replay::default();
        for name in self.marks.names..graph.names.len() {
            let (parent, segment, ordinal, inner) = graph.names.path(name)?;
            replay.names.push(PathStep { parent: self.name(parent)?, segment, ordinal, inner });
        }
        for call in self.marks.origins..graph.origin_count() {
            replay.calls.push(self.call_step(call)?);
        }
        for operation in self.marks.operations..graph.operations.len() {
            self.operation(operation, &mut replay)?;
        }
        // There is a tensor for each operation.
        (graph.tensors.len() == self.marks.tensors + replay.operations.len()).then_some(replay)
    }

    /// For each name on the left side the operation that gives its value.
    fn results(&self, call: &CompoundCall) -> Option<SmallVec<[u32; 1]>> {
        let Machine { graph, program, slots, .. } = self.machine;
        let bindings = self.code.bindings_of(call, program).iter();
        let result = |binding: &Binding| match slots[binding.slot as usize] {
            Slot::Ready(Value::Tensor(tensor)) if graph.tensors[tensor.index()].name == binding.id => {
                Some(tensor.index().checked_sub(self.marks.tensors)? as u32)
            }
            _ => None,
        };
        bindings.map(result).collect()
    }

    fn call_step(&self, call: usize) -> Option<CallStep> {
        let graph = &self.machine.graph;
        let (around, place) = graph.call(call);
        let around = self.call(around)?;
        let place = match around {
            0 if place as usize >= self.marks.call_places => {
                let (fragment, at) = graph.call_place(place);
                CallPlace::OfStatement(fragment, self.anchor(at)?)
            }
            // Each statement has its own, so this was no call.
            0 => return None,
            _ => CallPlace::Known(place),
        };
        Some(CallStep { around, place })
    }

    fn operation(&self, index: usize, replay: &mut Replay) -> Option<()> {
        let graph = &self.machine.graph;
        let operation = &graph.operations[index];
        let mut outputs = graph.outputs_of(operation);
        let (Some(Output::Tensor(&tensor)), None) = (outputs.next(), outputs.next()) else { return None };
        if tensor.index() != self.marks.tensors + replay.operations.len() {
            return None;
        }
        for (kept, argument) in graph.kept_of(operation) {
            self.operand(kept, argument, &mut replay.operands)?;
        }
        let call = self.call(operation.origin)?;
        let at = if call == 0 { Place::OfStatement(self.anchor(operation.at)?) } else { Place::Fixed(operation.at) };
        let Tensor { name, dtype, .. } = graph.tensors[tensor.index()];
        let by_item = self.machine.shapes.is_by_item(graph.kind_id(operation));
        let emission = Emission::new(operation.signature(), by_item, dtype, operation.type_argument());
        let operands = replay.operands.len() as u32;
        replay.operations.push(Step { emission, at, name: self.name(name)?, call, operands });
        Some(())
    }

    fn operand(&self, kept: Kept, argument: Operand, operands: &mut Vec<Source>) -> Option<()> {
        match argument {
            Operand::Tensor(tensor) => operands.push(self.tensor(tensor)?),
            Operand::Tensors(tensors) => {
                operands.push(Source::Array(tensors.len() as u32));
                for &tensor in tensors {
                    operands.push(self.tensor(tensor)?);
                }
            }
            Operand::Value(value) => operands.push((!value.has_tensor()).then_some(Source::Kept(kept))?),
        }
        Some(())
    }

    fn tensor(&self, tensor: TensorId) -> Option<Source> {
        if let Some(made) = tensor.index().checked_sub(self.marks.tensors) {
            return Some(Source::Made(made as u32));
        }
        self.tensors.iter().position(|given| given.as_tensor() == Some(tensor)).map(|place| Source::Given(place as u32))
    }

    /// The number of a name in the list.
    fn name(&self, id: NameId) -> Option<u32> {
        let added = || Some(self.targets.len() + id.index().checked_sub(self.marks.names)?);
        let place = self.targets.iter().position(|target| *target == id).or_else(added)?;
        (id != NameId::ROOT).then_some(place as u32)
    }

    /// The number of a call in the list.
    fn call(&self, id: OriginId) -> Option<u32> {
        match id {
            OriginId::NONE => Some(0),
            id => Some(id.index().checked_sub(self.marks.origins)? as u32 + 1),
        }
    }

    /// Where in the statement a place is.
    fn anchor(&self, at: Location) -> Option<Anchor> {
        (self.machine.file == at.file).then(|| self.code.anchor_at(at.span, &self.machine.program)).flatten()
    }
}
