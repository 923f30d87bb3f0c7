//! Compiles and runs the bodies of a document: the statements of its graph in groups, and fragments
//! when they are called for the first time.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::scan;
use crate::core::budget::ExpansionLimits;
use crate::core::machine::{Machine, Settings};
use crate::core::program::{Body, Instr};
use crate::core::unit::{UnitId, Units};
use crate::core::value::Value;
use crate::diagnostics::Diagnostic;
use crate::graph::{Conventions, Dialect, Extent, Graph};
use crate::nnef::ast::Assignment;
use crate::nnef::check::Checked;
use crate::nnef::compile::entry::EntryCall;
use crate::nnef::compile::lowering::Lowering;
use crate::nnef::compile::{Compiler, Mode, Scratch, units};
use crate::options::Options;
use crate::source::names::Name;

/// A machine, and the state for compiling its code.
pub(super) struct Expander {
    pub(super) machine: Machine,
    lowering: Lowering,
    scratch: Scratch,
}

/// The minimum number of extents that `shape_of` returns in the draft.
const DRAFT_RANK: usize = 2;

/// The settings of the machine that follow from the options.
fn settings(checked: &Checked, options: &Options, lowering: &Lowering) -> Settings {
    // The draft has data-types instead of type arguments, and a shape has at least two extents.
    let draft = checked.document.dialect() == Dialect::Draft;
    Settings {
        policy: options.policy(),
        untyped: draft,
        implicit_axes: draft,
        least_rank: if draft { DRAFT_RANK } else { 0 },
        planner: Some(scan::plan),
        unroll: lowering.unroll,
        expand_loops: options.unroll || options.expand_loops,
        flat: options.flat,
        max_trips: options.max_trips,
        limits: ExpansionLimits {
            max_ops: options.max_ops,
            max_depth: options.max_depth,
            max_length: options.max_length,
            max_memory: options.max_memory,
        },
        kept: lowering.kept.clone(),
        input_shapes: FxHashMap::default(),
    }
}

/// Compiles the body of a fragment.
fn compile(
    machine: &mut Machine,
    lowering: &Lowering,
    scratch: &mut Scratch,
    checked: &Checked,
    unit: UnitId,
    mode: Mode,
) -> Body {
    let module = checked.fragment(unit).module;
    let Machine { program, graph, .. } = machine;
    Compiler::new(checked, lowering, program, scratch, &mut graph.names, module, mode).fragment(unit)
}

impl Expander {
    /// An expander that adds to a graph; `more` are standard compounds to be expanded whatever the
    /// options say.
    pub(super) fn new(checked: &Checked, units: Rc<Units>, options: &Options, more: &[String], graph: Graph) -> Self {
        let lowering = Lowering::new(checked, options, more);
        let machine = Machine::new(units, settings(checked, options, &lowering), graph);
        Expander { machine, lowering, scratch: Scratch::default() }
    }

    /// An expander for the graph of a document; the flat graph is empty.
    pub(super) fn of_graph(checked: &Checked, options: &Options, more: &[String], name: Name) -> Self {
        let mut graph = Graph::new(name, Arc::clone(checked.document.shared_names()));
        graph.dialect = checked.document.dialect();
        let follows = checked.document.of_practice();
        graph.conventions = Conventions { follows, deviates: follows, ..Conventions::default() };
        let mut expander = Expander::new(checked, Rc::new(units::of(checked)), options, more, graph);
        let names = checked.document.names();
        let shape = |(name, shape): &(String, Vec<Extent>)| Some((names.get(name)?, Arc::from(shape.as_slice())));
        expander.machine.settings.input_shapes = checked.given.inputs.iter().filter_map(shape).collect();
        if let Some(most) = options.internal.shown {
            expander.machine.show(most);
        }
        expander.machine.start(checked.document.main().file, Vec::new());
        expander
    }

    /// Compiles the body of a fragment unless it is compiled already.
    fn define(&mut self, checked: &Checked, unit: UnitId) {
        if !self.machine.is_defined(unit) {
            let body = compile(&mut self.machine, &self.lowering, &mut self.scratch, checked, unit, Mode::Fragment);
            self.machine.define(unit, body);
        }
    }

    /// Runs code of the outermost body, which has `slots` slots so far.
    fn run(&mut self, checked: &Checked, entry: u32, slots: usize) -> Result<(), Box<Diagnostic>> {
        let Expander { machine, lowering, scratch } = self;
        machine.run(entry, slots, &mut |machine, unit| {
            let body = compile(machine, lowering, scratch, checked, unit, Mode::Fragment);
            machine.define(unit, body);
        })
    }

    /// Runs the body of a fragment as a separate graph, with these values as parameters.
    pub(super) fn run_as_graph(
        &mut self,
        checked: &Checked,
        unit: UnitId,
        params: Vec<Value>,
    ) -> Result<(), Box<Diagnostic>> {
        let Expander { machine, lowering, scratch } = self;
        let Body { head, .. } = compile(machine, lowering, scratch, checked, unit, Mode::Graph);
        self.machine.start(checked.file_of(unit), params);
        self.run(checked, head.entry, head.slots as usize)
    }

    /// Whether calls of a fragment whose results are taken apart are expanded.
    pub(super) fn expands(&self, unit: UnitId) -> bool {
        self.lowering.expands(unit, true)
    }

    /// Compiles and runs a call as the only statement of the graph.
    pub(super) fn run_call(&mut self, checked: &Checked, call: EntryCall) -> Result<(), Box<Diagnostic>> {
        let slots = call.names.len();
        let Machine { program, graph, .. } = &mut self.machine;
        let code = (program, &mut self.scratch);
        let entry = Compiler::of_graph(checked, &self.lowering, code, &mut graph.names).entry(call);
        self.run(checked, entry, slots)
    }

    /// Compiles and runs the next statements of the graph, and drops their code. `slots` are those of their group. `left`
    /// has the names with several assignments, and the number of assignments still to come. After a failure the machine
    /// is where it was before the statement that failed.
    pub(super) fn run_statements(
        &mut self,
        checked: &Checked,
        statements: &[Assignment],
        slots: Range<usize>,
        left: &mut FxHashMap<Name, u32>,
    ) -> Result<(), Box<Diagnostic>> {
        let before = self.machine.program.marks();
        let Machine { program, graph, .. } = &mut self.machine;
        let code = (program, &mut self.scratch);
        let compiler = Compiler::of_graph(checked, &self.lowering, code, &mut graph.names);
        let entry = compiler.graph(statements, slots.start as u32, left);
        let after = self.machine.program.marks();
        let ran = self.run(checked, entry, slots.end);
        if ran.is_err() {
            self.machine.unwind();
        }
        // Code of a fragment that was compiled during the run stays, and so does all code before it.
        if self.machine.program.marks() == after {
            self.machine.program.truncate(before);
            self.machine.forget_sites(before.sites);
        }
        ran
    }

    /// Compiles the bodies that the statements of a group call, and those that these call, so that code that stays
    /// precedes code that is dropped.
    pub(super) fn compile_callees(&mut self, checked: &Checked) {
        let mut at = self.machine.program.instrs.len();
        for fragment in checked.statements.calls.iter().filter_map(|call| call.fragment) {
            if self.lowering.expands(fragment, false) {
                self.define(checked, fragment);
            }
        }
        while let Some(instr) = self.machine.program.instrs.get(at) {
            if let Instr::Call(site) = instr
                && let Some(unit) = self.machine.program.sites[*site as usize].unit
            {
                self.define(checked, unit);
            }
            at += 1;
        }
    }
}
