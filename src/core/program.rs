//! Compiled bodies: instructions for a stack machine.
//!
//! Everything that is the same for each run of a body is decided when it is compiled: names become slots, arguments
//! are in the order of the parameters, and an operator is either an operation on tensors or arithmetic.

use std::num::NonZeroU32;

use smallvec::SmallVec;

use super::unit::UnitId;
use super::value::Value;
use super::wanted::WantedNumbers;
use crate::graph::names::NameId;
use crate::graph::operators::{BinaryOp, Builtin, UnaryOp};
use crate::graph::{Key, Primitive};
use crate::room::position_id;
use crate::source::Span;
use crate::source::names::Name;

/// An instruction. It pops its operands from the value stack, where the last operand is on top.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Instr {
    /// Push a constant.
    Const(u32),
    /// Push the value of a slot. If the slot belongs to a deferred block that was not run yet, run that block first.
    Load(u32),
    /// Pop into a slot.
    Store(u32),
    /// Apply a unary operator to a compile-time value.
    Unary(UnaryOp),
    /// Apply a binary operator to compile-time values.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Whether it joins or repeats arrays: then a tensor in the place of one is refused.
        arrays: bool,
    },
    /// Jump to an instruction.
    Jump(u32),
    /// Pop a logical; jump to an instruction if it is false.
    JumpUnless(u32),
    /// Jump if the logical on top of the stack equals `on`; otherwise pop it.
    JumpIf {
        /// The value for which it jumps.
        on: bool,
        /// The target of the jump.
        to: u32,
    },
    /// Pop `count` items and push an array or a tuple of them.
    Collect {
        /// The number of items.
        count: u32,
        /// Whether it is a tuple.
        tuple: bool,
    },
    /// Pop an index and the value that it subscripts; push the item.
    Index,
    /// Pop the specified bounds and the value that they subscript; push the part between them.
    Slice {
        /// Whether the first bound is specified.
        begin: bool,
        /// Whether the second bound is specified.
        end: bool,
    },
    /// Apply a built-in function.
    Builtin(Builtin),
    /// Run the body of the unit that a site calls.
    Call(u32),
    /// Add the operation of a site to the graph. Its result goes to the slot of the site, or else is pushed.
    Emit(u32),
    /// Pop the arguments of a repeated call and start it. A call whose steps are not expanded is added to the graph as
    /// an operation, and the next instruction is skipped.
    Repeat(u32),
    /// Start the next step of a repeated call, or end it and push its results.
    Step,
    /// Pop an array or tuple with this number of items and push the items, the first one on top.
    Unpack(u32),
    /// Pop the count, the arrays and the initial values of a loop and start it.
    LoopBegin(u32),
    /// Start a trip: store its items and its number in the slots of the loop. If there are no more trips, jump
    /// to the exit.
    LoopNext(u32),
    /// Pop the condition of a loop; if it is false, jump to the exit.
    LoopWhile(u32),
    /// End a trip: pop its values, pass recurrences to the next trip and collect the other values.
    LoopTurn(u32),
    /// Push the results of a loop.
    LoopEnd,
    /// Replace an array of numbers on top of the stack by a constant tensor.
    AsTensor,
    /// Convert the value on top of the stack, by an entry of [`Program::conversions`].
    Conform(u32),
    /// Mark the slots of a deferred block: the first [`Instr::Load`] of one of them runs the block.
    Defer(u32),
    /// End of a deferred block: return to the [`Instr::Load`] that needed it.
    EndOfBlock,
    /// Start of a statement of the graph. This name is the prefix of the generated names of its tensors.
    Statement(NameId),
    /// Pop a value and bind a name of the graph to it, by an entry of [`Program::bindings`].
    Bind(u32),
    /// End of the body.
    Return,
    /// End of a body with one result, whose value is on the stack and not yet in this slot.
    ReturnTop(u32),
}

/// The target of an expression, which determines the names of the tensors that it produces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Hint {
    /// No name.
    None,
    /// A local of a fragment.
    Local(Name),
    /// A result of the fragment.
    Result(u32),
    /// A tensor of the graph.
    Named(NameId),
    /// A name of the graph that the document assigns, in [`Program::bindings`].
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

/// A site: a place in a body that calls a fragment or emits an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    /// The called unit; none for an operation that is not declared.
    pub(crate) unit: Option<UnitId>,
    /// Its name.
    pub(crate) name: Name,
    /// The call in the source.
    pub(crate) span: Span,
    /// The type argument; `?` stands for the type argument of the running fragment.
    pub(crate) generic: Option<Primitive>,
    /// Whether the source specifies the type argument.
    pub(crate) explicit: bool,
    /// The target of the results.
    pub(crate) hint: Hint,
    /// The number of this call among calls of the same name that have no target, for generated names.
    pub(crate) ordinal: u32,
    /// The parameters of the arguments: first index and number of entries in [`Program::keys`].
    pub(crate) keys: (u32, u32),
    /// The first argument in [`Program::operands`]; none if the arguments are on the stack.
    pub(crate) operands: Option<FirstOperand>,
    /// One more than the slot for the result; none if the result is pushed.
    pub(crate) slot: Option<NonZeroU32>,
    /// Whether no slot of the caller is read after this call; see [`super::tail_call`].
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

/// A loop or a comprehension.
#[derive(Clone, Debug)]
pub(crate) struct CompiledLoop {
    /// Whether it is a comprehension: each trip produces at most one item, and generated names do not mention
    /// the trip.
    pub(crate) comprehension: bool,
    /// The first slot of its variables: recurrences, then iterators, then the number of the trip.
    pub(crate) slot: u32,
    /// The number of recurrences.
    pub(crate) recurrences: u32,
    /// For each iterator, whether it starts at the last item.
    pub(crate) reversed: SmallVec<[bool; 4]>,
    /// Whether the body reads the number of the trip.
    pub(crate) index: bool,
    /// Whether it has a trip count.
    pub(crate) counted: bool,
    /// The number of values that each trip produces, recurrences included.
    pub(crate) results: u32,
    /// Whether it is expanded regardless of the options.
    pub(crate) unroll: bool,
    /// The instruction after the last trip.
    pub(crate) exit: u32,
    /// The target of the results.
    pub(crate) hint: Hint,
}

/// A deferred block: the code of a statement that is run when one of its slots is needed.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Its first instruction.
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
pub(crate) enum ImmediateOperand {
    /// The value of a slot.
    Slot(u32),
    /// A constant.
    Const(u32),
}

/// The conversion of an argument to the type of a parameter that is not a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conversion {
    /// An integer becomes a scalar.
    Scalar,
    /// A single value becomes an array. The items of an array are converted by another conversion, if there is one.
    Array(Option<u32>),
    /// An array becomes a tuple with this number of items.
    Tuple(u32),
    /// Tensors with known items become these numbers, which another conversion then converts.
    Known(WantedNumbers, u32),
    /// No conversion.
    Same,
}

/// A compiled body.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    /// The properties that a call needs.
    pub(crate) head: Head,
    /// The slots of its results.
    pub(crate) results: SmallVec<[u32; 2]>,
}

/// The properties of a body that a call needs.
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
    /// One more than the slot of its result, if it has exactly one.
    pub(crate) result: Option<NonZeroU32>,
    /// Whether the types of its results contain tensors.
    pub(crate) makes_tensors: bool,
    /// Whether it belongs to the standard library.
    pub(crate) standard: bool,
    /// Whether it has a type argument.
    pub(crate) generic: bool,
}

/// Declares [`Program`] as a set of tables, and [`Marks`] with the length of each.
macro_rules! tables {
    ($($(#[$doc:meta])* $table:ident: $item:ty,)*) => {
        /// All code of a run.
        #[derive(Debug, Default)]
        pub(crate) struct Program {
            $($(#[$doc])* pub(crate) $table: Vec<$item>,)*
        }

        /// The lengths of the tables of a program at some time.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) struct Marks {
            $(pub(crate) $table: usize,)*
        }

        impl Program {
            /// The current lengths of the tables.
            pub(crate) fn marks(&self) -> Marks {
                Marks { $($table: self.$table.len(),)* }
            }

            /// Removes all entries that were added after `marks`.
            pub(crate) fn truncate(&mut self, marks: Marks) {
                $(self.$table.truncate(marks.$table);)*
            }
        }
    };
}

tables! {
    /// The instructions of all bodies.
    instrs: Instr,
    /// The source span of each instruction.
    spans: Span,
    /// Calls.
    sites: Site,
    /// Parameters of the arguments at sites.
    keys: Key,
    /// Items of [`Hint::Items`].
    hints: Hint,
    /// Loops and comprehensions.
    loops: CompiledLoop,
    /// Deferred statements.
    blocks: Block,
    /// Names of graphs.
    bindings: Binding,
    /// Conversions of [`Instr::Conform`].
    conversions: Conversion,
    /// Constants.
    constants: Value,
    /// Operands that are not on the stack.
    operands: ImmediateOperand,
}

impl Program {
    /// The parameters that the arguments of a site are for.
    pub(crate) fn keys_of(&self, site: &Site) -> &[Key] {
        let (start, count) = site.keys;
        &self.keys[start as usize..(start + count) as usize]
    }

    /// The items of a hint; a hint that is not [`Hint::Items`] is its own only item.
    pub(super) fn items_of<'a>(&'a self, hint: &'a Hint) -> &'a [Hint] {
        match *hint {
            Hint::Items { start, len, .. } => &self.hints[start as usize..(start + len) as usize],
            _ => std::slice::from_ref(hint),
        }
    }
}
