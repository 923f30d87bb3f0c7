//! What bodies are compiled to: instructions for a stack machine.
//!
//! Everything that can be decided once per body is decided here: names are slots, arguments stand
//! in the order of the parameters, operators are either operations on tensors or arithmetic.

use std::num::NonZeroU32;

use smallvec::SmallVec;

use super::unit::UnitId;
use super::value::Value;
use crate::graph::names::NameId;
use crate::graph::operators::{BinaryOp, Builtin, UnaryOp};
use crate::graph::{Key, Primitive};
use crate::room::position_id;
use crate::source::Span;
use crate::source::names::Name;

/// One step. Operands are on the value stack, the last one on top.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Instr {
    /// Push a constant.
    Const(u32),
    /// Push a slot; where its statement is evaluated on demand and was not yet, evaluate it first.
    Load(u32),
    /// Pop into a slot.
    Store(u32),
    /// Apply an operator to compile-time values.
    Unary(UnaryOp),
    /// Apply an operator to compile-time values.
    Binary(BinaryOp),
    /// Go on there.
    Jump(u32),
    /// Pop a logical; go on there unless it holds.
    JumpUnless(u32),
    /// Go on there if the logical on top is this one, else pop it.
    JumpIf {
        /// The logical that decides.
        on: bool,
        /// The next instruction, then.
        to: u32,
    },
    /// Pop so many items and push their array or tuple.
    Collect {
        /// The number of items.
        count: u32,
        /// Whether it is a tuple.
        tuple: bool,
    },
    /// Pop an index and what it subscripts.
    Index,
    /// Pop the bounds that are given and what they subscript.
    Slice {
        /// Whether the begin is given.
        begin: bool,
        /// Whether the end is given.
        end: bool,
    },
    /// Apply a built-in function.
    Builtin(Builtin),
    /// Run the body of the unit of a site.
    Call(u32),
    /// Add the operation of a site to the graph; put its one result into the site's slot, or push
    /// its results.
    Emit(u32),
    /// Pop the arguments of a site and start the scan that it is, or add it to the graph as it is
    /// and leave out the next instruction.
    Scan(u32),
    /// Start the next step of a scan, or end it and push its results.
    Trip,
    /// Pop an array or tuple of so many items and push them, the first one on top.
    Unpack(u32),
    /// Pop the count, the arrays and the initial values of a loop and start it.
    LoopBegin(u32),
    /// Put the next items and the number of the trip into the slots of a loop, or leave it.
    LoopNext(u32),
    /// Pop the condition of a loop and leave it where that does not hold.
    LoopWhile(u32),
    /// Pop what a trip gave and hand it on.
    LoopTurn(u32),
    /// Push the results of a loop.
    LoopEnd,
    /// Turn an array of numbers on top into a constant tensor.
    AsTensor,
    /// Turn single values into arrays and arrays into tuples, as [`Program::conversions`] say.
    Conform(u32),
    /// Note that the slots of a deferred statement are evaluated by its block.
    Defer(u32),
    /// End of a deferred block: back to the [`Instr::Load`] that needed it.
    EndOfBlock,
    /// Start of a statement of a graph: names of what it makes start with this one.
    Statement(NameId),
    /// Pop the value of a name of the graph.
    Bind(u32),
    /// End of the body.
    Return,
    /// End of the body of one result, whose value is on the stack; the slot is that of the result.
    ReturnTop(u32),
}

/// Where the value of an expression goes, as far as its name tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Hint {
    /// Nowhere by name.
    None,
    /// A local of a fragment.
    Local(Name),
    /// A result of the fragment.
    Result(u32),
    /// A tensor of the graph.
    Named(NameId),
    /// What a name of the graph stands for, in [`Program::bindings`].
    Bound(u32),
    /// Items of an array or a tuple, in [`Program::hints`].
    Items {
        /// First item.
        start: u32,
        /// Number of items.
        len: u32,
        /// Whether it is a tuple.
        tuple: bool,
    },
}

/// A place that calls an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    /// What is called; none for an operation that is not declared.
    pub(crate) unit: Option<UnitId>,
    /// Its name.
    pub(crate) name: Name,
    /// The call in the source.
    pub(crate) span: Span,
    /// The type argument; `?` is that of the running fragment.
    pub(crate) generic: Option<Primitive>,
    /// Whether the type argument was written.
    pub(crate) explicit: bool,
    /// Where the results go.
    pub(crate) hint: Hint,
    /// Which of the calls without a name it is, for its name.
    pub(crate) ordinal: u32,
    /// The parameters of the arguments, in [`Program::keys`].
    pub(crate) keys: (u32, u32),
    /// The first argument in [`Program::operands`]; none where arguments are popped.
    pub(crate) operands: Option<FirstOperand>,
    /// The slot of the one tensor that it gives; none where it is pushed.
    pub(crate) slot: Option<NonZeroU32>,
    /// Whether nothing reads the caller's slots after this call; see [`super::tail_call`].
    pub(crate) releases: bool,
}

impl Site {
    /// A call without arguments so far.
    pub(crate) fn new(unit: Option<UnitId>, name: Name, span: Span, hint: Hint) -> Self {
        Site {
            unit,
            name,
            span,
            generic: None,
            explicit: false,
            hint,
            ordinal: 0,
            keys: (0, 0),
            operands: None,
            slot: None,
            releases: false,
        }
    }
}

position_id! {
    /// A position in [`Program::operands`].
    FirstOperand
}

/// What runs a part of a body again and again: a loop, or a comprehension.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    /// Whether it is a comprehension: what makes names does not know its trips, each of which gives
    /// one item or none.
    pub(crate) comprehension: bool,
    /// The slot of its first variable: recurrences, iterators, the number of the trip.
    pub(crate) slot: u32,
    /// The number of recurrences.
    pub(crate) recurrences: u32,
    /// For each iterator whether it begins with the last item.
    pub(crate) reversed: SmallVec<[bool; 4]>,
    /// Whether the number of the trip is asked for.
    pub(crate) index: bool,
    /// Whether there is a count.
    pub(crate) counted: bool,
    /// How many values each trip gives.
    pub(crate) results: u32,
    /// Whether it is expanded whatever the options say.
    pub(crate) unroll: bool,
    /// Where to go at the end.
    pub(crate) exit: u32,
    /// Where the results go.
    pub(crate) hint: Hint,
}

/// A statement that is evaluated when one of its slots is needed.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Its code.
    pub(crate) entry: u32,
    /// The slots that it fills.
    pub(crate) slots: Vec<u32>,
}

/// A name of a graph and the slot of its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binding {
    /// The slot.
    pub(crate) slot: u32,
    /// The tensor's name.
    pub(crate) id: NameId,
    /// The name in the document.
    pub(crate) name: Name,
}

/// An argument that is not on the stack.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operand {
    /// What a slot has.
    Slot(u32),
    /// A constant.
    Const(u32),
}

/// What a parameter that is no tensor makes of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conversion {
    /// A scalar of an integer.
    Scalar,
    /// An array of a single value; the items of an array are converted, too, where another
    /// conversion is given for them.
    Array(Option<u32>),
    /// A tuple of so many items of an array.
    Tuple(u32),
    /// What it is.
    Same,
}

/// A compiled body.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    /// What a call needs to know.
    pub(crate) head: Head,
    /// The slots of its results.
    pub(crate) results: SmallVec<[u32; 2]>,
}

/// What a call needs to know of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    /// Its first instruction.
    pub(crate) entry: u32,
    /// The number of its slots.
    pub(crate) slots: u32,
    /// The number of its parameters, which are its first slots.
    pub(crate) params: u32,
    /// The number of its results.
    pub(crate) results: u32,
    /// One more than the slot of its result, if it has one.
    pub(crate) result: Option<NonZeroU32>,
    /// Whether tensors occur in its results.
    pub(crate) makes_tensors: bool,
    /// Whether it belongs to the standard library.
    pub(crate) standard: bool,
}

/// Declares the tables of a program, and how long each is.
macro_rules! tables {
    ($($(#[$doc:meta])* $table:ident: $item:ty,)*) => {
        /// All code of a run.
        #[derive(Debug, Default)]
        pub(crate) struct Program {
            $($(#[$doc])* pub(crate) $table: Vec<$item>,)*
        }

        /// How much code there is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) struct Marks {
            $(pub(crate) $table: usize,)*
        }

        impl Program {
            /// How much there is.
            pub(crate) fn marks(&self) -> Marks {
                Marks { $($table: self.$table.len(),)* }
            }

            /// Forgets what came later.
            pub(crate) fn truncate(&mut self, marks: Marks) {
                $(self.$table.truncate(marks.$table);)*
            }
        }
    };
}

tables! {
    /// The instructions of all bodies.
    instrs: Instr,
    /// The place in the source of each instruction.
    spans: Span,
    /// Calls.
    sites: Site,
    /// Parameters of the arguments at sites.
    keys: Key,
    /// Items of [`Hint::Items`].
    hints: Hint,
    /// Loops and comprehensions.
    loops: Loop,
    /// Deferred statements.
    blocks: Block,
    /// Names of graphs.
    bindings: Binding,
    /// What [`Instr::Conform`] makes of values.
    conversions: Conversion,
    /// Constants.
    constants: Value,
    /// Operands that are not on the stack.
    operands: Operand,
}

impl Program {
    /// For what the arguments of a site are.
    pub(crate) fn keys_of(&self, site: &Site) -> &[Key] {
        let (start, count) = site.keys;
        &self.keys[start as usize..(start + count) as usize]
    }

    /// The items of a hint; one without items stands for itself.
    pub(super) fn items_of<'a>(&'a self, hint: &'a Hint) -> &'a [Hint] {
        match *hint {
            Hint::Items { start, len, .. } => &self.hints[start as usize..(start + len) as usize],
            _ => std::slice::from_ref(hint),
        }
    }
}
