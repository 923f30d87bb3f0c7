//! Goes through the nodes of a model and adds their counterparts.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::control::CONTROL;
use super::emit::{EMPTY, Emitter};
use super::item::{FlatTensor, KnownItems, KnownTensor, NnefItem, NnefOutcome, primitive};
use super::line::{NodeLine, NodeResults};
use super::lowering_table;
use super::refusal::{Lowered, NodeRefusal};
use crate::Options;
use crate::diagnostics::{Code, Diagnostics};
use crate::eval::Budget;
use crate::graph::names::NameId;
use crate::graph::{Note, OperationId};
use crate::library::label::label_of_path;
use crate::onnx::edit::is_function;
use crate::onnx::elements::LongConstant;
use crate::onnx::functions::{Imports, NodeFinding};
use crate::onnx::model::{Extent, GraphProto, ModelNames, ModelProto, NodeProto, TensorProto, TypeForm, ValueInfo};
use crate::onnx::places::Places;
use crate::onnx::run::{Holdings, NodeAttributes, Stores, dtype_of, evaluate_node, sparse_constants, tensor_of};
use crate::onnx::scopes::{NodeScope, NodeScopes};
use crate::source::{FileId, Location, Span};
use crate::tensor::Tensor;

/// The number of items up to which results that are known are computed here, if they have more items than the operands.
const LARGE: usize = 1 << 20;

/// What a model is read with.
#[derive(Clone, Copy)]
pub(super) struct ImportRun<'m> {
    pub(super) file: FileId,
    pub(super) places: &'m Places,
    pub(super) stores: &'m Stores,
    pub(super) budget: &'m Budget,
}

/// What was known of a name: its value, its constant, and its name in the graph.
pub(super) type Hidden<'m> = (Option<NnefItem>, Option<&'m TensorProto>, Option<NameId>);

/// The translation of the graph of a model.
pub(super) struct Import<'m> {
    model: &'m ModelProto,
    reading: ImportRun<'m>,
    imports: Imports,
    pub(super) emit: Emitter<'m>,
    /// Constants that were not read yet.
    stored: FxHashMap<NameId, &'m TensorProto>,
    held: FxHashMap<NameId, NnefItem>,
    /// What held values take.
    holdings: Holdings<'m>,
    /// The names of values in the graph.
    names: FxHashMap<NameId, NameId>,
    /// What metadata tell about nodes.
    scopes: NodeScopes,
    pub(super) found: Diagnostics,
    /// Whether a node was refused that an operation of a registry computes.
    pub(super) wants_registries: bool,
    /// The failures that were reported.
    failed: Vec<Code>,
}

impl<'m> Import<'m> {
    pub(super) fn new(model: &'m ModelProto, reading: ImportRun<'m>, registries: bool, options: &'m Options) -> Self {
        Import {
            model,
            reading,
            imports: Imports::new(&model.names, &model.opsets),
            emit: Emitter::new(registries, reading.budget, options),
            holdings: Holdings::new(reading.budget),
            stored: FxHashMap::default(),
            held: FxHashMap::default(),
            names: FxHashMap::default(),
            scopes: NodeScopes::default(),
            found: Diagnostics::of(options.policy()),
            wants_registries: false,
            failed: Vec::new(),
        }
    }

    /// Translates a graph: its inputs, nodes and outputs.
    pub(super) fn graph(&mut self, graph: &'m GraphProto) {
        self.constants(graph);
        // Inputs and outputs get their names first, so that these change least.
        let boundary = graph.inputs.iter().chain(&graph.outputs).filter_map(|value| value.name);
        boundary.for_each(|name| _ = self.name(name));
        graph.inputs.iter().for_each(|input| self.input(input));
        graph.nodes.iter().for_each(|node| self.node(node));
        for output in &graph.outputs {
            let name = output.name.unwrap_or(NameId::ROOT);
            self.output(name).unwrap_or_else(|refusal| {
                let what = format!("the output `{}`", self.text(name));
                self.report(refusal, Code::NnefMeaning, 0, &what);
            });
        }
    }

    /// Makes the constants of a graph known.
    pub(super) fn constants(&mut self, graph: &'m GraphProto) {
        let constants = graph.initializers.iter().filter_map(|constant| Some((constant.name?, constant)));
        self.stored.extend(constants);
        let ImportRun { stores, budget, .. } = self.reading;
        match sparse_constants(&self.model.names, graph, stores, budget) {
            Ok(constants) => constants.into_iter().for_each(|(name, tensor)| {
                self.hold(name, KnownItems::Held(Arc::new(tensor)));
            }),
            Err(error) => self.report(error.into(), Code::NnefMeaning, 0, "a sparse constant"),
        }
    }

    /// The version of the operator set that a node is of.
    pub(super) fn version(&self, node: &NodeProto) -> i64 {
        self.imports.version_read(&self.model.names, node.domain)
    }

    pub(super) fn names_of_model(&self) -> &'m ModelNames {
        &self.model.names
    }

    /// Removes what is known of names, before a graph defines them.
    pub(super) fn hide(&mut self, names: &[NameId]) -> Vec<Hidden<'m>> {
        let hidden =
            names.iter().map(|name| (self.held.remove(name), self.stored.remove(name), self.names.remove(name)));
        hidden.collect()
    }

    /// Brings back what was known of names.
    pub(super) fn restore(&mut self, names: &[NameId], hidden: Vec<Hidden<'m>>) {
        self.hide(names);
        for (name, (held, stored, new)) in names.iter().zip(hidden) {
            self.held.extend(held.map(|held| (*name, held)));
            self.stored.extend(stored.map(|stored| (*name, stored)));
            self.names.extend(new.map(|new| (*name, new)));
        }
    }

    /// Holds a value under a name.
    pub(super) fn hold_item(&mut self, name: NameId, item: NnefItem) {
        match item {
            NnefItem::Loose(items) => _ = self.hold(name, items),
            item => _ = self.held.insert(name, item),
        }
    }

    /// Begins the operations of a node: with its name and its place.
    pub(super) fn begin(&mut self, node: &NodeProto) {
        let scope = node.outputs.iter().find(|name| **name != NameId::ROOT).copied();
        let scope = scope.map_or(NameId::ROOT, |name| self.name(name));
        self.emit.begin(scope, Location::new(self.reading.file, Span::new(node.at, node.at)));
    }

    fn text(&self, name: NameId) -> String {
        self.model.names.spelled(name)
    }

    /// The name of a value in the graph.
    fn name(&mut self, name: NameId) -> NameId {
        if let Some(known) = self.names.get(&name) {
            return *known;
        }
        let text = self.text(name);
        let new = self.emit.named(&text);
        self.names.insert(name, new);
        new
    }

    /// Reports what has no counterpart. A limit that stops one node stops others, too, and is told once.
    fn report(&mut self, refusal: NodeRefusal, code: Code, at: u32, what: &str) {
        let (code, message) = match refusal {
            NodeRefusal::Operand => return,
            NodeRefusal::Failed(code, _) if self.failed.contains(&code) => return,
            NodeRefusal::Failed(code, reason) => {
                self.failed.push(code);
                (code, format!("{what} is not translated: {reason}"))
            }
            NodeRefusal::Registry(_) | NodeRefusal::Because(_) => {
                self.wants_registries |= matches!(refusal, NodeRefusal::Registry(_));
                (code, format!("{what} has no counterpart in NNEF: {refusal}"))
            }
        };
        let ImportRun { file, places, .. } = self.reading;
        NodeFinding::new(code, at, message).report(file, places, &mut self.found);
    }

    /// Adds an input of the graph. One with a constant of the same name has this value.
    fn input(&mut self, input: &ValueInfo) {
        let Some(name) = input.name.filter(|name| !self.stored.contains_key(name)) else { return };
        let item = self.external(input, name).unwrap_or_else(|refusal| {
            let what = format!("the input `{}`", self.text(name));
            self.report(refusal, Code::OpenExtent, 0, &what);
            NnefItem::Refused
        });
        self.held.insert(name, item);
    }

    fn external(&mut self, input: &ValueInfo, name: NameId) -> Lowered<NnefItem> {
        let Some(TypeForm::Tensor(ty)) = input.ty.as_ref().map(|ty| &ty.form) else {
            return Err(NodeRefusal::because("it is not a tensor"));
        };
        let extent = |extent: Extent| if let Extent::Value(value) = extent { Some(value) } else { None };
        let extents = ty.shape.as_ref().and_then(|shape| shape.dims.iter().map(|dim| extent(dim.extent)).collect());
        let open = || {
            let dims = ty.shape.iter().flat_map(|shape| &shape.dims);
            let symbols =
                dims.filter_map(|dim| if let Extent::Symbol(symbol) = dim.extent { Some(symbol) } else { None });
            let mut sets: Vec<String> =
                symbols.map(|symbol| format!(" `--set {}=…`", self.model.names.texts.text(symbol))).collect();
            sets.dedup();
            let or = if sets.is_empty() { "" } else { " or" };
            let given = format!("`--input-shape {}=…`{or}{}", self.text(name), sets.concat());
            NodeRefusal::from(format!("its extents are not known; give them: {given}"))
        };
        let extents: Vec<i64> = extents.ok_or_else(open)?;
        let dtype = ty.element.and_then(dtype_of).ok_or(NodeRefusal::because("its element type is not known"))?;
        let of = primitive(dtype).ok_or(NodeRefusal::because("NNEF has no texts and no complex numbers"))?;
        if extents.contains(&0) {
            return Err(EMPTY);
        }
        let new = self.name(name);
        let id = self.emit.builder.input(of, new, &extents).map_err(|_| NodeRefusal::UNFIT)?;
        Ok(NnefItem::FlatTensor(FlatTensor { id, dtype }))
    }

    fn output(&mut self, name: NameId) -> Lowered<()> {
        let new = self.name(name);
        let item = self.item(name)?;
        let flat = self.emit.flat(&item)?;
        let graph = &mut self.emit.builder.graph;
        if !graph.inputs.contains(&flat.id) && !graph.outputs.contains(&flat.id) {
            graph.tensors[flat.id.index()].name = new;
        }
        self.emit.builder.output(flat.id, new, false).map_err(|_| NodeRefusal::UNFIT)
    }

    /// The value with a name. A constant is read when it is used first, a long one when a rule asks for its items.
    pub(super) fn item(&mut self, name: NameId) -> Lowered<NnefItem> {
        if let Some(item) = self.held.get(&name) {
            return Ok(item.clone());
        }
        let stored = self.stored.get(&name).copied();
        let stored = stored.ok_or_else(|| NodeRefusal::from(format!("`{}` is not defined", self.text(name))))?;
        let ImportRun { stores, budget, .. } = self.reading;
        let items = match LongConstant::of(stored, stores)? {
            Some(long) => KnownItems::Long(long),
            None => KnownItems::Held(Arc::new(budget.operation(|| tensor_of(stored, stores, budget))?)),
        };
        Ok(self.hold(name, items))
    }

    /// Holds a known value.
    fn hold(&mut self, name: NameId, items: KnownItems) -> NnefItem {
        let new = self.name(name);
        if let Some(tensor) = items.held() {
            self.holdings.hold(&tensor.clone().into());
        }
        let label = label_of_path(&self.text(name)).into();
        let item = NnefItem::Known(Rc::new(KnownTensor { items, name: new, label, stored: RefCell::default() }));
        self.held.insert(name, item.clone());
        item
    }

    /// Adds the counterpart of a node, or reports why there is none.
    pub(super) fn node(&mut self, node: &'m NodeProto) {
        let (domain, operator) = self.model.names.operator(node);
        let first = self.emit.builder.graph.operations.len();
        let results = self.results(node, domain, operator);
        self.note(node, first);
        if let Err(refusal) = results {
            let called = if domain.is_empty() { operator.to_owned() } else { format!("{domain}.{operator}") };
            let first = node.outputs.first().map_or_else(String::new, |name| self.text(*name));
            self.report(refusal, Code::NnefMeaning, node.at, &format!("`{called}` of `{first}`"));
            node.outputs.iter().for_each(|name| _ = self.held.insert(*name, NnefItem::Refused));
        }
    }

    /// Notes what the model tells about a node at the operations from an index on, which are its counterpart.
    fn note(&mut self, node: &NodeProto, first: usize) {
        let graph = &mut self.emit.builder.graph;
        if first >= graph.operations.len() {
            return;
        }
        let scope = self.scopes.of(&node.rest);
        let name = node.name.filter(|name| *name != NameId::ROOT).map(|name| self.model.names.spelled(name));
        let module = scope.module.clone().or_else(|| NodeScope::module_of_name(&name?));
        let note = Note { node: None, module, source: scope.source.clone() };
        if note.is_empty() {
            return;
        }
        for id in (first..graph.operations.len()).map(OperationId::at) {
            // Nodes of graphs in attributes have notes of their own.
            if graph.note(id).is_none() {
                graph.add_note(id, note.clone());
            }
        }
    }

    /// Adds the counterpart of a node and holds its results.
    fn results(&mut self, node: &'m NodeProto, domain: &'m str, operator: &'m str) -> Lowered<()> {
        let mut operands = Vec::with_capacity(node.inputs.len());
        for name in &node.inputs {
            operands.push(if *name == NameId::ROOT { None } else { Some(self.item(*name)?) });
        }
        if operands.iter().any(|operand| matches!(operand, Some(NnefItem::Refused))) {
            return Err(NodeRefusal::Operand);
        }
        let version = self.version(node);
        if let Some(results) = self.computed(node, domain, operator, version, &operands) {
            for (name, tensor) in node.outputs.iter().zip(results).filter(|(name, _)| **name != NameId::ROOT) {
                self.hold(*name, KnownItems::Held(tensor));
            }
            return Ok(());
        }
        if domain.is_empty() && CONTROL.contains(&operator) {
            let results = self.control(node, operator, &operands)?;
            if results.len() < node.outputs.len() {
                return Err(NodeRefusal::UNFIT);
            }
            for (name, item) in node.outputs.iter().zip(results).filter(|(name, _)| **name != NameId::ROOT) {
                self.hold_item(*name, item);
            }
            return Ok(());
        }
        let row = lowering_table::find(domain, operator).ok_or(NodeRefusal::because("there is no rule for it"))?;
        self.begin(node);
        let mark = self.emit.builder.graph.tensors.len();
        let attributes = NodeAttributes { names: &self.model.names, node, bound: None };
        let computing = (self.reading.stores, self.reading.budget);
        let mut line = NodeLine { emit: &mut self.emit, attributes, operator, version, operands: &operands, computing };
        // What the rule makes of extents counts until it ends, what it keeps as long as the graph.
        let outcomes = self.reading.budget.operation(|| (row.rule)(&mut line));
        self.hold_results(node, outcomes, &operands, mark)
    }

    fn hold_results(
        &mut self,
        node: &'m NodeProto,
        outcomes: NodeResults,
        operands: &[Option<NnefItem>],
        mark: usize,
    ) -> Lowered<()> {
        let outcomes = outcomes?;
        if outcomes.len() < node.outputs.len() {
            return Err(NodeRefusal::from(format!("its result {} is used", outcomes.len())));
        }
        for (name, outcome) in node.outputs.iter().zip(outcomes).filter(|(name, _)| **name != NameId::ROOT) {
            let item = match outcome {
                NnefOutcome::FlatTensor(flat) => {
                    // The result of some operators is an operand.
                    if flat.id.index() >= mark {
                        let new = self.name(*name);
                        self.emit.builder.graph.tensors[flat.id.index()].name = new;
                    }
                    NnefItem::FlatTensor(flat)
                }
                NnefOutcome::Known(tensor) => NnefItem::Loose(KnownItems::Held(tensor)),
                NnefOutcome::Operand(i) => operands.get(i).cloned().flatten().ok_or(NodeRefusal::UNFIT)?,
                NnefOutcome::Held(item) => item,
            };
            self.hold_item(*name, item);
        }
        Ok(())
    }

    /// The results of a node whose operands are known, if they can be computed within limits.
    fn computed(
        &mut self,
        node: &NodeProto,
        domain: &str,
        operator: &str,
        version: i64,
        operands: &[Option<NnefItem>],
    ) -> Option<Vec<Arc<Tensor>>> {
        if !domain.is_empty() || !is_function(operator, node.inputs.len()) || node.has_graphs() {
            return None;
        }
        let mut known = Vec::with_capacity(operands.len());
        for operand in operands {
            known.push(match operand {
                None => None,
                Some(item) => Some(item.known()?),
            });
        }
        let given: usize = known.iter().flatten().map(|items| items.len()).sum();
        let ImportRun { stores, budget, .. } = self.reading;
        let results = budget.operation(|| {
            let read = |items: &Option<&KnownItems>| items.map(|items| items.tensor(budget)).transpose().ok();
            let values = known.iter().map(read).collect::<Option<Vec<_>>>()?;
            evaluate_node(&self.model.names, node, version, &values, stores, budget).ok()
        });
        budget.forgive();
        let results = results?;
        let made: usize = results.iter().map(|result| result.len()).sum();
        (results.len() >= node.outputs.len() && made <= LARGE.max(given)).then_some(results)
    }
}
