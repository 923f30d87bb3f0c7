//! The compiler of a body: statements, names, and the sites of operations.

use std::num::NonZeroU32;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

use super::demand::{self, Demand};
use super::expressions::Open;
use super::lowering::Lowering;
use crate::core::program::{Binding, Block, Body, FirstOperand, Head, Hint, ImmediateOperand, Instr, Program, Site};
use crate::core::unit::UnitId;
use crate::core::value::Value;
use crate::graph::Key;
use crate::graph::names::{NameId, TensorNames};
use crate::nnef::ast::{self, Assignment, Ast, Expr, ExprId};
use crate::nnef::check::positions::Positions;
use crate::nnef::check::{Checked, ModuleInfo, Ref, ResultInfo};
use crate::nnef::document::ModuleId;
use crate::nnef::types::{Type, TypePart};
use crate::room;
use crate::source::Span;
use crate::source::names::Name;

/// How a body is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// As a fragment that is called.
    Fragment,
    /// As a separate graph: its names are names of tensors.
    Graph,
}

/// Memory that is reused from one body to the next; there can be as many bodies as operations.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// The partly compiled expressions around the current one, innermost last.
    pub(super) open: Vec<Open>,
    /// The operators and subscripts of their left spines that are not compiled yet.
    pub(super) spines: Vec<ExprId>,
}

/// The inputs and outputs of the compilation of a body.
pub(crate) struct Compiler<'a, 'd> {
    pub(super) checked: &'a Checked<'d>,
    pub(super) lowering: &'a Lowering,
    pub(super) program: &'a mut Program,
    pub(super) scratch: &'a mut Scratch,
    pub(super) names: &'a mut TensorNames,
    pub(super) module: ModuleId,
    pub(super) ast: &'a Ast,
    pub(super) info: &'a ModuleInfo,
    mode: Mode,
    /// The number of enclosing loops.
    pub(super) loops: u32,
    results: &'a [ResultInfo],
    /// Finds results by their names.
    positions: Positions,
    /// Whether each slot is evaluated on demand, up to the last one that is.
    lazy: Vec<bool>,
    /// Locals that are assigned to a result, by slot, with the position of the result.
    aliases: FxHashMap<u32, u32>,
    /// The number of calls whose result is not assigned to a name, by operation.
    unnamed: FxHashMap<Name, u32>,
    /// Slots of a graph whose name is assigned again later.
    superseded: FxHashSet<u32>,
    /// The bindings of a graph by slot, from `first_slot` on; `u32::MAX` where there is none yet.
    bindings: Vec<u32>,
    first_slot: u32,
    /// The last jump target so far: instructions before it may belong to another path.
    pub(super) barrier: u32,
}

impl<'a, 'd> Compiler<'a, 'd> {
    /// A compiler for bodies of one module.
    pub(crate) fn new(
        checked: &'a Checked<'d>,
        lowering: &'a Lowering,
        program: &'a mut Program,
        scratch: &'a mut Scratch,
        names: &'a mut TensorNames,
        module: ModuleId,
        mode: Mode,
    ) -> Self {
        Compiler {
            checked,
            lowering,
            program,
            scratch,
            names,
            module,
            ast: &checked.module(module).ast,
            info: &checked.modules[module.index()],
            mode,
            loops: 0,
            results: &[],
            positions: Positions::default(),
            lazy: Vec::new(),
            aliases: FxHashMap::default(),
            unnamed: FxHashMap::default(),
            superseded: FxHashSet::default(),
            bindings: Vec::new(),
            first_slot: 0,
            barrier: 0,
        }
    }

    /// A compiler for statements of the graph, which have separate side tables.
    pub(crate) fn of_graph(
        checked: &'a Checked<'d>,
        lowering: &'a Lowering,
        program: (&'a mut Program, &'a mut Scratch),
        names: &'a mut TensorNames,
    ) -> Self {
        let main = checked.document.main_id();
        Compiler {
            info: &checked.statements,
            ..Compiler::new(checked, lowering, program.0, program.1, names, main, Mode::Graph)
        }
    }

    /// Compiles statements of the graph, whose names have the slots from `first_slot` on, and returns
    /// their first instruction. `left` has the names with several assignments, and the number of
    /// assignments still to come.
    pub(crate) fn graph(mut self, statements: &[Assignment], first_slot: u32, left: &mut FxHashMap<Name, u32>) -> u32 {
        let entry = self.here();
        self.first_slot = first_slot;
        if !left.is_empty() {
            self.note_assigned_later(statements, left);
        }
        statements.iter().for_each(|statement| self.statement(statement));
        self.emit(Instr::Return, Span::default());
        entry
    }

    /// Notes the slots of names that are assigned again.
    fn note_assigned_later(&mut self, statements: &[Assignment], left: &mut FxHashMap<Name, u32>) {
        let mut targets = Vec::new();
        for assignment in statements {
            let mut note = |name, slot| targets.push((slot, name));
            demand::each_target(self.ast, &self.info.nodes, assignment.target, &mut note);
        }
        targets.sort_unstable();
        for (slot, name) in targets {
            if let Some(left) = left.get_mut(&name) {
                *left = left.saturating_sub(1);
                if *left > 0 {
                    self.superseded.insert(slot);
                }
            }
        }
    }

    /// Compiles a fragment's body.
    pub(crate) fn fragment(mut self, id: UnitId) -> Body {
        let info = self.checked.fragment(id);
        let empty = ast::Body::default();
        let body = self.checked.declaration(info).body.as_ref().unwrap_or(&empty);
        self.results = &info.results;
        self.positions = Positions::new(info.results.iter().map(|result| result.name), body.assignments.len());
        let (entry, params) = (self.here(), info.params.len() as u32);
        let names = self.checked.slot_names(id);
        let slots = names.len() as u32;
        let results = self.checked.result_slots(id);
        let demand = match self.mode == Mode::Graph || self.lowering.demand_all {
            true => smallvec![Demand::Always; body.assignments.len()],
            false => demand::of_body(self.ast, &self.info.nodes, body, params, slots, results),
        };
        match self.mode {
            Mode::Graph => self.note_superseded(names),
            Mode::Fragment => self.note_aliases(body),
        }
        let mut deferred = Vec::new();
        for (assignment, demand) in body.assignments.iter().zip(demand) {
            match demand {
                Demand::Never => {}
                Demand::Always => self.statement(assignment),
                Demand::Perhaps => deferred.push((self.defer(assignment), assignment)),
            }
        }
        let end = self.emit(Instr::Return, body.span);
        for (block, assignment) in deferred {
            self.program.blocks[block as usize].entry = self.program.instrs.len() as u32;
            self.statement(assignment);
            self.emit(Instr::EndOfBlock, assignment.span);
        }
        let results: SmallVec<[u32; 2]> = results.iter().copied().flatten().collect();
        if self.mode == Mode::Fragment {
            self.program.finish_body(entry, end, &results);
        }
        let head = Head {
            entry,
            slots,
            params,
            results: info.results.len() as u32,
            makes_tensors: info.results.iter().any(|result| self.checked.types.has(result.ty, TypePart::Tensor)),
            standard: self.module == ModuleId::STANDARD,
            generic: info.generic != ast::Generic::No,
            result: match results[..] {
                [result] => NonZeroU32::new(result + 1),
                _ => None,
            },
        };
        Body { head, results }
    }

    /// Adds a block for a statement that is evaluated on demand.
    fn defer(&mut self, assignment: &ast::Assignment) -> u32 {
        let block = self.program.blocks.len() as u32;
        let mut slots = Vec::new();
        demand::each_target(self.ast, &self.info.nodes, assignment.target, &mut |_, slot| slots.push(slot));
        let end = slots.iter().max().map_or(0, |&last| last as usize + 1);
        self.lazy.resize(self.lazy.len().max(end), false);
        slots.iter().for_each(|&slot| self.lazy[slot as usize] = true);
        self.program.blocks.push(Block { entry: 0, slots });
        self.emit(Instr::Defer(block), assignment.span);
        block
    }

    fn note_superseded(&mut self, names: &[Name]) {
        let mut last = FxHashMap::default();
        self.superseded.extend(names.iter().zip(0..).filter_map(|(name, slot)| last.insert(name, slot)));
    }

    /// The position of a result.
    fn result(&self, name: Name) -> Option<usize> {
        self.positions.find(self.results.iter().map(|result| result.name), name)
    }

    /// For `y = t;` with a result `y`, notes that the value of `t` gets the name of `y`.
    fn note_aliases(&mut self, body: &ast::Body) {
        for assignment in &body.assignments {
            let (Expr::Name(target), Expr::Name(_)) =
                (self.ast.expr(assignment.target), self.ast.expr(assignment.value))
            else {
                continue;
            };
            let result = self.result(target);
            if let (Some(result), Ref::Slot(slot)) = (result, self.info.nodes[assignment.value].referent) {
                self.aliases.entry(slot).or_insert(result as u32);
            }
        }
    }

    fn statement(&mut self, assignment: &ast::Assignment) {
        if self.mode == Mode::Graph {
            self.unnamed.clear();
            // The first name represents a left side.
            let first = self.ast.first_node(assignment.target);
            let hint = self.hint(first);
            let id = match hint {
                Hint::Bound(binding) => self.program.bindings[binding as usize].id,
                _ => NameId::ROOT,
            };
            self.emit(Instr::Statement(id), assignment.span);
            if first == assignment.target {
                self.expr(assignment.value, hint);
                return self.bind(hint, assignment.target);
            }
        }
        let hint = self.hint(assignment.target);
        self.expr(assignment.value, hint);
        if let Expr::Name(name) = self.ast.expr(assignment.target)
            && self.result(name).is_some_and(|result| self.results[result].ty.is_tensor())
        {
            self.as_tensor(assignment.value);
        }
        self.store(assignment.target, self.ast.span(assignment.value));
    }

    /// Assigns the value pushed last to a name of the graph.
    fn bind(&mut self, hint: Hint, target: ExprId) {
        if let Hint::Bound(binding) = hint {
            self.emit(Instr::Bind(binding), self.ast.span(target));
        }
    }

    /// The binding of a name of the graph. Of several assignments the last one keeps the name.
    fn binding(&mut self, target: ExprId, name: Name) -> Option<u32> {
        let Ref::Slot(slot) = self.info.nodes[target].referent else { return None };
        let index = (slot - self.first_slot) as usize;
        if self.bindings.len() <= index {
            self.bindings.resize(index + 1, u32::MAX);
        }
        if self.bindings[index] == u32::MAX {
            let id = match self.superseded.contains(&slot) {
                true => self.names.child(NameId::ROOT, name, 1, false),
                false => self.names.user(name),
            };
            self.bindings[index] = self.program.bindings.len() as u32;
            self.program.bindings.push(Binding { slot, id, name });
        }
        Some(self.bindings[index])
    }

    pub(super) fn hint(&mut self, target: ExprId) -> Hint {
        match self.ast.expr(target) {
            Expr::Name(name) => {
                if self.loops > 0 {
                    return Hint::Local(name);
                }
                if self.mode == Mode::Graph {
                    return self.binding(target, name).map_or(Hint::None, Hint::Bound);
                }
                if let Some(result) = self.result(name) {
                    return Hint::Result(result as u32);
                }
                match self.info.nodes[target].referent {
                    Ref::Slot(slot) if self.aliases.contains_key(&slot) => Hint::Result(self.aliases[&slot]),
                    _ => Hint::Local(name),
                }
            }
            expr @ (Expr::Array(items) | Expr::Tuple(items)) => {
                let hints: Vec<Hint> = self.ast.items(items).iter().map(|&item| self.hint(item)).collect();
                let start = self.program.hints.len() as u32;
                self.program.hints.extend(hints);
                Hint::Items { start, len: items.len, tuple: matches!(expr, Expr::Tuple(_)) }
            }
            _ => Hint::None,
        }
    }

    pub(super) fn store(&mut self, target: ExprId, span: Span) {
        let Expr::Name(name) = self.ast.expr(target) else {
            if let Expr::Array(items) | Expr::Tuple(items) = self.ast.expr(target) {
                self.emit(Instr::Unpack(items.len), self.ast.span(target));
                self.ast.items(items).iter().for_each(|&item| self.store(item, span));
            }
            return;
        };
        if self.mode == Mode::Graph && self.loops == 0 {
            let hint = self.binding(target, name).map_or(Hint::None, Hint::Bound);
            self.bind(hint, target);
        } else if let Ref::Slot(slot) = self.info.nodes[target].referent {
            self.store_in(slot, span);
        }
    }

    /// Stores the value pushed last in a slot. The emission of one tensor stores its result itself.
    fn store_in(&mut self, slot: u32, span: Span) {
        if let Some(Instr::Emit(site)) = self.program.instrs.last()
            && self.barrier < self.here()
            && let site = &mut self.program.sites[*site as usize]
            && site.operands.is_some()
        {
            site.slot = NonZeroU32::new(slot + 1);
        } else {
            self.emit(Instr::Store(slot), span);
        }
    }

    pub(super) fn emit(&mut self, instr: Instr, span: Span) -> usize {
        room::push(&mut self.program.instrs, instr);
        room::push(&mut self.program.spans, span);
        self.program.instrs.len() - 1
    }

    pub(super) fn here(&self) -> u32 {
        self.program.instrs.len() as u32
    }

    /// Sets the target of a jump to the next instruction.
    pub(super) fn patch(&mut self, at: usize) {
        let here = self.here();
        self.barrier();
        match &mut self.program.instrs[at] {
            Instr::Jump(to) | Instr::JumpUnless(to) | Instr::JumpIf { to, .. } => *to = here,
            _ => {}
        }
    }

    /// Notes that the next instruction is a jump target.
    pub(super) fn barrier(&mut self) {
        self.barrier = self.here();
    }

    pub(super) fn constant(&mut self, value: Value, span: Span) {
        self.program.constants.push(value);
        self.emit(Instr::Const(self.program.constants.len() as u32 - 1), span);
    }

    /// Pushes the value of a name.
    pub(super) fn name(&mut self, id: ExprId, name: Name) {
        let span = self.ast.span(id);
        match self.info.nodes[id].referent {
            Ref::Slot(slot) => {
                self.emit(Instr::Load(slot), span);
            }
            Ref::Infinity => self.constant(Value::Scalar(f64::INFINITY), span),
            Ref::NotANumber => self.constant(Value::Scalar(f64::NAN), span),
            Ref::Symbol | Ref::Call(_) | Ref::None => {
                let value = match self.checked.symbols.get(&name) {
                    Some(value) => Value::extent(value),
                    None => Value::symbol(self.checked.text(name)),
                };
                self.constant(value, span)
            }
        }
    }

    /// Adds a site that calls an operation.
    pub(super) fn site(&mut self, site: Site, keys: &[Key]) -> u32 {
        let mut site = Site { keys: (self.keys(keys), keys.len() as u32), ..site };
        if site.hint == Hint::None {
            let count = self.unnamed.entry(site.name).or_default();
            *count += 1;
            site.ordinal = *count;
        }
        room::push(&mut self.program.sites, site);
        self.program.sites.len() as u32 - 1
    }

    /// The position of these keys in the program. Most sites share the keys of the previous site.
    fn keys(&mut self, keys: &[Key]) -> u32 {
        let known = &mut self.program.keys;
        if !known.ends_with(keys) {
            known.extend_from_slice(keys);
        }
        (known.len() - keys.len()) as u32
    }

    /// Adds a site that adds an operation to the graph, after its arguments.
    pub(super) fn emit_site(&mut self, site: Site, keys: &[Key]) {
        let index = self.site(site, keys);
        if self.gives_one_tensor(&site) {
            self.take_operands(index, keys.len());
        }
        self.emit(Instr::Emit(index), site.span);
    }

    /// Turns the arguments just pushed into operands of their site, if all are locals or constants.
    pub(super) fn take_operands(&mut self, site: u32, count: usize) {
        let before_them = (self.here() as usize).checked_sub(count);
        let Some(first) = before_them.filter(|first| *first >= self.barrier as usize) else { return };
        let Program { instrs, spans, sites, operands, .. } = &mut *self.program;
        let before = operands.len();
        for instr in &instrs[first..] {
            operands.push(match instr {
                Instr::Load(slot) if !self.lazy.get(*slot as usize).is_some_and(|lazy| *lazy) => {
                    ImmediateOperand::Slot(*slot)
                }
                Instr::Const(constant) => ImmediateOperand::Const(*constant),
                _ => {
                    return operands.truncate(before);
                }
            });
        }
        sites[site as usize].operands = Some(FirstOperand::at(before));
        instrs.truncate(first);
        spans.truncate(first);
    }

    /// Whether the operation of a site is known to have one tensor as result.
    fn gives_one_tensor(&self, site: &Site) -> bool {
        let Some(info) = site.unit.map(|fragment| self.checked.fragment(fragment)) else { return false };
        // The shape of an external may be replaced.
        let plain = !info.open_results && Some(info.name) != self.checked.words.external;
        plain && matches!(info.results[..], [result] if !matches!(result.ty, Type::Array(_) | Type::Tuple(_)))
    }
}
