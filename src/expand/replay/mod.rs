//! Lists of what a call or a statement adds to the graph, replayed.
//!
//! What runs straight through adds the same whenever it is run: names, calls and operations differ
//! in what they are relative to, and that is the call or the statement. So they are noted as a
//! list, and from then on added one after the other, without running anything. There are two ways to
//! come by a list: that of a body is read off its code ([`note`]), that of a statement off what the
//! graph has after it was run ([`record`]). A list is played only where nothing can be refused on
//! the way: there is room in all budgets, and no rule of shapes is broken. Where one is, all that was
//! added is taken back, and it is run after all, by which messages know where they are.

mod note;
mod record;

use smallvec::SmallVec;

use super::calls::{Given, Naming};
use super::emission::Emission;
use super::frame::Frame;
use super::machine::{MAX_SLOTS, Machine};
use super::shapes::Shapes;
use super::value::Value;
use crate::graph::Primitive;
use crate::graph::names::NameId;
use crate::graph::shapes::ShapeError;
use crate::graph::{Graph, Kept, Marks, OriginId, ShapeId, TensorId};
use crate::nnef::check::forms::Anchor;
use crate::nnef::statements::Word;
use crate::source::names::Name;
use crate::source::{FileId, Location};
pub(super) use record::{Before, Recorded};

/// The most operations in all lists, which are kept as long as the expansion lasts.
const MAX_LISTED: usize = 1 << 16;
/// Operations of most lists.
const SOME: usize = 64;

/// The shorter ways to do what a body does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shortcut {
    /// It is no more than the operation of this site.
    Only(u32),
    /// It was called so many times.
    Unknown(u32),
    /// Its list.
    Replay(ListId),
    /// There is none.
    None,
}

/// Identifies a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListId(u32);

/// The lists of bodies and statements.
#[derive(Debug, Default)]
pub(super) struct Replays {
    lists: Vec<Replay>,
    /// How many operations they have in all.
    operations: usize,
    /// The shortcuts of fragments that are told by their spelling, by their positions among these:
    /// they have places and calls of their own.
    of_alike: Vec<Shortcut>,
    /// What is known of statements of forms.
    statements: Vec<Recorded>,
}

impl Replays {
    /// The shortcut for a fragment that is like one with this shortcut.
    #[inline]
    pub(super) fn of_alike(&self, alike: usize, model: Shortcut) -> Shortcut {
        match model {
            Shortcut::Only(_) => model,
            _ => self.of_alike.get(alike).copied().unwrap_or(Shortcut::Unknown(0)),
        }
    }

    /// Whether there is room for another list of so many operations.
    fn has_room(&self, operations: usize) -> bool {
        self.operations + operations <= MAX_LISTED
    }

    /// The place for what will be known of the statements of a form.
    pub(super) fn new_form(&mut self) -> u32 {
        self.statements.push(Recorded::default());
        self.statements.len() as u32 - 1
    }

    fn add(&mut self, replay: Replay) -> ListId {
        self.operations += replay.operations.len();
        self.lists.push(replay);
        ListId(self.lists.len() as u32 - 1)
    }
}

/// What a call or a statement adds. Of names and calls, the first numbers are those of the setting
/// ([`Setting::names`], [`Setting::call`]), others follow in the order of the lists.
#[derive(Debug, Default)]
struct Replay {
    names: Vec<PathStep>,
    calls: Vec<CallStep>,
    operations: Vec<Step>,
    operands: Vec<Source>,
    /// The operation that gives the result of a body.
    result: u32,
    /// How deep calls are within each other, and how many slots they have in all.
    depth: usize,
    slots: usize,
    /// How many steps it counts for.
    steps: u64,
    /// The parameters that are used. The first so many parameters have bits.
    used: u32,
    latest: Latest,
    /// Whether a rule of shapes was broken. It will be again.
    is_refused: bool,
}

/// The shapes that came out last. They depend on nothing but the shapes of what is given, and on
/// what else is given.
#[derive(Debug, Default)]
struct Latest {
    /// For each of what was given the number of its shape; for what is no tensor, which it was.
    given: SmallVec<[u32; 4]>,
    /// The shapes of all results.
    results: Vec<Option<ShapeId>>,
}

impl Latest {
    /// Whether these are the shapes for what is given now. If not, it is to be noted what comes out.
    fn holds_for(&mut self, graph: &Graph, given: &[Kept]) -> bool {
        let numbers = || given.iter().map(|&kept| graph.shape_number(kept));
        let holds = !self.results.is_empty() && numbers().eq(self.given.iter().copied());
        if !holds {
            self.results.clear();
            self.given = numbers().collect();
        }
        holds
    }
}

/// A name under another one.
#[derive(Clone, Copy, Debug)]
struct PathStep {
    parent: u32,
    segment: Name,
    ordinal: u32,
    inner: bool,
}

/// A call within another one.
#[derive(Clone, Copy, Debug)]
struct CallStep {
    around: u32,
    place: CallPlace,
}

/// The place of a call in the graph.
#[derive(Clone, Copy, Debug)]
enum CallPlace {
    Known(u32),
    /// Each statement has one of its own: what is called, and where.
    OfStatement(Name, Anchor),
}

/// An operation.
#[derive(Clone, Copy, Debug)]
struct Step {
    emission: Emission,
    at: Place,
    name: u32,
    call: u32,
    /// Where its operands end.
    operands: u32,
}

/// A place in the source.
#[derive(Clone, Copy, Debug)]
enum Place {
    Fixed(Location),
    /// Within the statement.
    OfStatement(Anchor),
}

/// Where an operand comes from.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// An argument of the call, or a name of the statement.
    Given(u32),
    /// An operation of the list.
    Made(u32),
    /// A constant, which the graph has.
    Kept(Kept),
    /// The array of the next so many tensors.
    Array(u32),
}

/// What the entries of a list are relative to.
struct Setting<'s> {
    /// The names that others are under.
    names: &'s [NameId],
    /// Whether names are those of parts of a standard operation.
    inner: bool,
    call: OriginId,
    /// The type argument.
    generic: Option<Primitive>,
    given: &'s [Kept],
    /// Where the statement begins, and its names.
    statement: Option<Statement<'s>>,
}

/// A statement of the graph.
#[derive(Clone, Copy)]
struct Statement<'s> {
    file: FileId,
    start: u32,
    words: &'s [Word],
}

impl Setting<'_> {
    fn location(&self, anchor: Anchor) -> Location {
        let place = |statement: Statement| Location::new(statement.file, anchor.span(statement.start, statement.words));
        self.statement.map(place).unwrap_or_default()
    }
}

impl Replay {
    /// Adds all of it to a graph. Returns the first tensor, from which the others count on; or
    /// nothing where a rule of shapes is broken, and then all behind the marks is taken back.
    fn play(&mut self, graph: &mut Graph, shapes: &mut Shapes, setting: &Setting, marks: Marks) -> Option<TensorId> {
        let first = TensorId(graph.tensors.len() as u32);
        self.is_refused = self.add_to(graph, shapes, setting).is_err();
        if self.is_refused {
            self.latest.results.clear();
            graph.rewind(marks);
        }
        (!self.is_refused).then_some(first)
    }

    fn add_to(&mut self, graph: &mut Graph, shapes: &mut Shapes, setting: &Setting) -> Result<(), ShapeError> {
        let mut names: SmallVec<[NameId; SOME]> = SmallVec::from_slice(setting.names);
        for name in &self.names {
            let parent = names[name.parent as usize];
            names.push(graph.names.child(parent, name.segment, name.ordinal, setting.inner || name.inner));
        }
        let mut calls: SmallVec<[OriginId; SOME]> = smallvec::smallvec![setting.call];
        for CallStep { around, place } in &self.calls {
            let place = match *place {
                CallPlace::Known(place) => place,
                CallPlace::OfStatement(name, anchor) => graph.add_call_place(name, setting.location(anchor)),
            };
            calls.push(graph.add_origin(calls[*around as usize], place));
        }
        let first = graph.tensors.len() as u32;
        let is_known = self.latest.holds_for(graph, setting.given);
        let mut at = 0;
        for (i, step) in self.operations.iter().enumerate() {
            let end = step.operands as usize;
            push_sources(graph, &self.operands[at..end], setting.given, first);
            at = end;
            let shape = if is_known { self.latest.results[i] } else { None };
            let place = match step.at {
                Place::Fixed(location) => location,
                Place::OfStatement(anchor) => setting.location(anchor),
            };
            let source = (place, calls[step.call as usize]);
            let (dtype, element) = step.emission.types(setting.generic);
            let result = (names[step.name as usize], element);
            let (operation, _) = graph.add_single(step.emission.signature, dtype, source, result, shape);
            if !is_known {
                shapes.infer(graph, operation)?;
                self.latest.results.push(graph.shape_of_result(operation));
            }
        }
        Ok(())
    }
}

/// Adds the operands of an operation.
#[inline]
fn push_sources(graph: &mut Graph, mut sources: &[Source], given: &[Kept], first: u32) {
    let kept = |source: Source| match source {
        Source::Given(place) => given[place as usize],
        Source::Kept(kept) => kept,
        // Nothing is made of arrays but operands.
        Source::Made(operation) | Source::Array(operation) => Kept::tensor(TensorId(first + operation)),
    };
    while let Some((&source, rest)) = sources.split_first() {
        sources = rest;
        if let Source::Array(len) = source {
            let (items, rest) = sources.split_at(len as usize);
            sources = rest;
            // They are all tensors.
            graph.push_tensors(items.iter().map(|&item| kept(item).as_tensor().unwrap_or(TensorId(first))));
        } else {
            graph.push_kept(kept(source));
        }
    }
}

impl Machine<'_, '_> {
    /// Adds what a body adds. Returns its result, or nothing if the body has to be run.
    #[inline(never)]
    pub(super) fn replay(
        &mut self,
        list: ListId,
        (index, given): (u32, Given),
        params: u32,
        naming: Naming,
        generic: Option<Primitive>,
    ) -> Option<TensorId> {
        if naming.result == NameId::ROOT || !self.has_room(list) {
            return None;
        }
        let arguments = self.arguments(list, (index, given), params)?;
        let around = self.origin();
        let marks = self.graph.marks();
        let Frame { fragment, inner, .. } = *self.frame();
        let call = self.call_origin(around, index, fragment);
        let names = &[naming.result];
        let setting = Setting { names, inner, call, generic, given: &arguments, statement: None };
        let Machine { graph, shapes, replays, .. } = self;
        let replay = &mut replays.lists[list.0 as usize];
        let first = replay.play(graph, shapes, &setting, marks)?;
        self.steps -= replay.steps;
        let result = TensorId(first.0 + replay.result);
        if given == Given::Pushed {
            self.drop_stack(self.stack.len() - params as usize);
        }
        Some(result)
    }

    /// The arguments of a call as far as they are used, as the graph has them.
    #[inline]
    fn arguments(&mut self, list: ListId, (index, given): (u32, Given), params: u32) -> Option<SmallVec<[Kept; 4]>> {
        let used = self.replays.lists[list.0 as usize].used;
        let mut arguments: SmallVec<[Kept; 4]> = SmallVec::new();
        for param in 0..params {
            arguments.push(match self.argument(index, given, params, param)? {
                _ if used >> param & 1 == 0 => Kept::tensor(TensorId(0)),
                Value::Tensor(tensor) => Kept::tensor(*tensor),
                value => {
                    let frozen = value.freeze(&self.space).ok()?;
                    self.graph.keep(frozen)
                }
            });
        }
        Some(arguments)
    }

    /// Whether no budget ends while a list is played.
    fn has_room(&self, list: ListId) -> bool {
        let replay = &self.replays.lists[list.0 as usize];
        !replay.is_refused
            && replay.steps <= self.steps
            && (self.graph.operations.len() + replay.operations.len()) as u64 <= self.max_ops
            && (self.frames.len() + replay.depth) as u64 <= self.max_depth
            && self.slots.len() + replay.slots < MAX_SLOTS
    }
}
