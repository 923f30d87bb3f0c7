//! Computes what is known before a model runs: operations on constants, and on extents of tensors.
//!
//! A result is known if all its items follow from declared types, or if the node is a function of known operands. What
//! becomes known of conditions and trip counts is used by the expansion of control flow, which runs again after it.

use std::convert::Infallible;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::contradictions;
use super::growth::{ConstantForm, Growth, KeptNode, NewConstant};
use super::pure;
use super::references::References;
use super::share::same_attribute;
use super::unused::counted_uses;
use crate::Options;
use crate::eval::Budget;
use crate::extents;
use crate::graph::dims::Dim;
use crate::graph::names::NameId;
use crate::onnx::functions::Imports;
use crate::onnx::infer::{GraphTypes, TensorExtents, TensorFacts, each_typed_graph, infer};
use crate::onnx::inline::is_control;
use crate::onnx::model::{
    AttributeProto, AttributeValue, Fact, GraphProto, ModelNames, ModelProto, NodeProto, Scalar, TensorProto,
    ValueInfo, Values,
};
use crate::onnx::run::{Stores, dtype_of, evaluate_node, tensor_of, tensor_proto};
use crate::onnx::scan_form::{ScanForm, ScanSide};
use crate::onnx::walk::{each_graph, each_graph_mut, each_node_of_model, own_names};
use crate::room::with_stack;
use crate::tensor::{DType, Data, Tensor};

/// The number of items up to which results become constants, even if their operands have fewer.
const SMALL: usize = 1 << 14;

/// The number of items up to which constants are read, and results are computed.
const LARGE: usize = 1 << 22;

/// What becomes of a node whose results are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Folded {
    /// Constants stand for it.
    Replaced,
    /// It stays. Its graph notes what decides control flow.
    Noted,
}

/// What all rounds of folding a model have in common.
pub(super) struct FoldRun<'r> {
    pub(super) folded: Folded,
    /// Whether what nothing uses is removed afterwards.
    pub(super) removes: bool,
    pub(super) stores: &'r Stores,
    pub(super) budget: &'r Budget,
    /// Whether the model is quantized, before anything is computed: what is left of it may not tell.
    pub(super) is_quantized: bool,
    /// The number of nodes that constants stand for.
    pub(super) replaced: u64,
    /// Nodes of the outermost graph that stay though their results are known, by their first results: they are not computed
    /// again. Inside graphs several values may have one name.
    kept: FxHashMap<NameId, KeptNode>,
}

impl<'r> FoldRun<'r> {
    /// A run in which nothing of a model is computed so far.
    pub(super) fn new(folded: Folded, model: &ModelProto, stores: &'r Stores, budget: &'r Budget) -> Self {
        let mut is_quantized = false;
        each_node_of_model(model, &mut |node| is_quantized = is_quantized || pure::is_quantized(&model.names, node));
        FoldRun { folded, removes: true, stores, budget, is_quantized, replaced: 0, kept: FxHashMap::default() }
    }
}

/// Computes what is known in the graph of a model. Returns whether results were computed that do not follow from types:
/// then more may follow from types than before. What nodes compute that stay is kept for the next time. Functions of the
/// model are left alone: what is known differs between their calls.
pub(super) fn constants(model: &mut ModelProto, run: &mut FoldRun, options: &Options) -> bool {
    let types = infer(model, options);
    let growth = Growth::of(model, run, options);
    let mut references = References::of(model);
    let variables = std::mem::take(&mut references.variables);
    let uses = counted_uses(model, &references.kept());
    let ModelProto { names, graph: Some(graph), opsets, contradicts, .. } = model else { return false };
    if run.folded == Folded::Noted {
        // Graphs with such results may have been replaced by copies without them.
        run.budget.clear();
        run.budget.hold(noted_items(graph));
    }
    *contradicts |= contradictions::mark(graph, &types.main);
    let imports = Imports::new(names, opsets);
    let has_constants = imports.version(names, None).is_some();
    let known = vec![FoldValue::Nothing; names.values.len()];
    let (constants, undo) = (Vec::new(), Vec::new());
    let keeps_quantized = !options.internal.translates;
    let computed = false;
    let mut folding = Folding {
        names,
        imports,
        run,
        constants,
        known,
        undo,
        uses,
        variables,
        keeps_quantized,
        has_constants,
        growth,
        computed,
        around: vec![Some(&types.main)],
    };
    folding.nodes(graph, Some(&types.main));
    folding.computed
}

/// Forgets what was found out about the values of a graph.
pub(super) fn forget(graph: &mut GraphProto) {
    (graph.facts, graph.noted, graph.keeps_shapes) = (Vec::new(), Vec::new(), false);
    for attribute in graph.nodes.iter_mut().flat_map(|node| &mut node.attributes) {
        each_graph_mut(&mut attribute.value, &mut |inner| with_stack(|| forget(inner)));
    }
}

/// The items of results of nodes that stay, twice: as constants, and as the operands of others.
fn noted_items(graph: &GraphProto) -> usize {
    let items = |constant: &TensorProto| {
        let extents = constant.dims.iter().map(|extent| usize::try_from(*extent).unwrap_or(0));
        extents.fold(1, usize::saturating_mul).max(constant.stored_bytes() / size_of::<i64>())
    };
    let own = graph.noted.iter().map(items).fold(0, usize::saturating_add).saturating_mul(2);
    let mut inner = 0usize;
    for attribute in graph.nodes.iter().flat_map(|node| &node.attributes) {
        each_graph(&attribute.value, &mut |graph| inner = inner.saturating_add(with_stack(|| noted_items(graph))));
    }
    own.saturating_add(inner)
}

/// What is known of a value.
#[derive(Clone, Debug)]
enum FoldValue {
    Nothing,
    /// It is a constant that was not read yet, with this index among those of the open graphs.
    Stored(u32),
    Read(Arc<Tensor>),
}

struct Folding<'m, 'r> {
    names: &'m mut ModelNames,
    imports: Imports,
    run: &'m mut FoldRun<'r>,
    /// The initializers of the open graphs, and the results of nodes that stay, those of the outermost graph first.
    constants: Vec<TensorProto>,
    /// What is known of each visible value, by the number of its name.
    known: Vec<FoldValue>,
    /// What was known of the names of open graphs before.
    undo: Vec<(NameId, FoldValue)>,
    /// How often nodes, outputs and what is named outside nodes use each value, by the number of its name.
    uses: Vec<u32>,
    /// The values that training changes.
    variables: FxHashSet<NameId>,
    /// Whether quantized constants stay quantized.
    keeps_quantized: bool,
    /// Whether the model imports the operator set of `Constant`, which stands for outputs.
    has_constants: bool,
    /// How much larger the model may become.
    growth: Growth,
    /// Whether a node was computed whose results do not follow from types.
    computed: bool,
    /// The types of the open graphs, those of the outermost graph first.
    around: Vec<Option<&'m GraphTypes>>,
}

impl<'m> Folding<'m, '_> {
    /// Folds a graph of a node, whose values hide those of the same names around it.
    fn inner(&mut self, graph: &mut GraphProto, types: Option<&'m GraphTypes>) {
        (graph.facts, graph.keeps_shapes) = (Vec::new(), false);
        if graph.cannot_run {
            return;
        }
        let mark = self.undo.len();
        for name in own_names(graph) {
            let before = self.set(name, FoldValue::Nothing);
            self.undo.push((name, before));
        }
        self.around.push(types);
        self.nodes(graph, types);
        graph.keeps_shapes = self.keeps_shapes(graph);
        self.around.pop();
        while self.undo.len() > mark {
            let Some((name, before)) = self.undo.pop() else { break };
            self.set(name, before);
        }
    }

    /// Notes what is known of a value. Returns what was known before.
    fn set(&mut self, name: NameId, known: FoldValue) -> FoldValue {
        let place = self.known.get_mut(name.index());
        place.map_or(FoldValue::Nothing, |place| std::mem::replace(place, known))
    }

    /// Adds an initializer to the innermost open graph, whose value is visible from now on.
    fn store(&mut self, name: NameId, constant: TensorProto) {
        self.set(name, FoldValue::Stored(self.constants.len() as u32));
        self.growth.stored(self.names, name, &constant);
        self.constants.push(constant);
    }

    /// Folds the nodes of a graph.
    fn nodes(&mut self, graph: &mut GraphProto, types: Option<&'m GraphTypes>) {
        let inputs: FxHashSet<NameId> = graph.inputs.iter().filter_map(|input| input.name).collect();
        let outputs: FxHashSet<NameId> = graph.outputs.iter().filter_map(|output| output.name).collect();
        let first = self.constants.len();
        let mut facts = Vec::new();
        for constant in std::mem::take(&mut graph.initializers) {
            match constant.name.filter(|name| !inputs.contains(name) && !self.variables.contains(name)) {
                Some(name) => self.store(name, constant),
                None => self.constants.push(constant),
            }
        }
        let first_noted = self.constants.len();
        for constant in std::mem::take(&mut graph.noted) {
            if let Some(name) = constant.name {
                self.store(name, constant);
            }
        }
        let nodes = std::mem::take(&mut graph.nodes);
        graph.nodes.reserve(nodes.len());
        let mut kept = Vec::new();
        for (i, mut node) in nodes.into_iter().enumerate() {
            each_typed_graph(i, &mut node, types, &mut |inner, types| self.inner(inner, types));
            if is_control(self.names, &node) {
                facts.extend(self.scanned_extents(&node));
            }
            let is_output = || node.outputs.iter().any(|name| outputs.contains(name));
            let stays = self.keeps_quantized && pure::widens_codes(self.names, &node)
                || !self.has_constants && self.run.folded == Folded::Replaced && is_output();
            let schema = pure::schema_of(self.names, &self.imports, &node).filter(|_| !stays);
            let Some((_, version)) = schema else {
                graph.nodes.push(node);
                continue;
            };
            if self.run.folded == Folded::Noted && self.is_noted(&node) {
                facts.extend(node.outputs.iter().filter_map(|name| Some((*name, Fact::Is(self.noted_scalar(*name)?)))));
                graph.nodes.push(node);
                continue;
            }
            let inferred = inferred(&node, types);
            let is_inferred = inferred.is_some() || node.inputs.is_empty() && self.is_constant(&node);
            match inferred.or_else(|| self.kept_results(&node)).or_else(|| self.results(&node, version)) {
                Some(results) if self.run.folded == Folded::Noted => {
                    self.computed |= !is_inferred;
                    self.note(&node, results, !is_inferred, &mut facts);
                    graph.nodes.push(node);
                }
                Some(results) if self.is_constant(&node) && node.inputs.is_empty() => {
                    self.computed |= !is_inferred;
                    self.read_constant(&node, results);
                    graph.nodes.push(node);
                }
                Some(results) => {
                    let added = self.added(&node, &results, &outputs);
                    if self.growth.exceeds(self.names, &self.uses, &node, added) {
                        kept.push(self.keep(graph.nodes.len(), &node, results, added));
                        graph.nodes.push(node);
                    } else {
                        self.computed |= !is_inferred;
                        let constants = self.constants_for(&node, &results, &outputs);
                        self.replace(graph, constants);
                    }
                }
                None => graph.nodes.push(node),
            }
        }
        self.replace_together(graph, &kept, &outputs);
        if self.run.folded == Folded::Noted {
            graph.noted = self.constants.split_off(first_noted);
        }
        graph.initializers = self.constants.split_off(first);
        graph.facts = facts;
    }

    /// The value of a constant, if it is visible and not large.
    fn value(&mut self, name: NameId) -> Option<Arc<Tensor>> {
        let stored = match self.known.get(name.index())? {
            FoldValue::Nothing => return None,
            FoldValue::Read(value) => return Some(Arc::clone(value)),
            FoldValue::Stored(index) => self.constants.get(*index as usize)?,
        };
        let count = stored.dims.iter().try_fold(1usize, |all, extent| all.checked_mul(usize::try_from(*extent).ok()?));
        let value = count.filter(|count| *count <= LARGE).and_then(|_| self.read(stored));
        let value = value.map(Arc::new);
        self.set(name, value.clone().map_or(FoldValue::Nothing, FoldValue::Read));
        value
    }

    /// The tensor of a constant, if it can be read within the limits.
    fn read(&self, constant: &TensorProto) -> Option<Tensor> {
        let tensor = self.run.budget.operation(|| tensor_of(constant, self.run.stores, self.run.budget)).ok();
        self.run.budget.forgive();
        tensor
    }

    /// Whether the values of the outermost graph are visited.
    fn is_outermost(&self) -> bool {
        self.around.len() == 1
    }

    /// The results of a node that stayed in a round before.
    fn kept_results(&self, node: &NodeProto) -> Option<Vec<Option<Arc<Tensor>>>> {
        let kept = self.run.kept.get(node.outputs.first()?).filter(|_| self.is_outermost())?;
        is_same_call(node, &kept.node).then(|| node.outputs.iter().map(|name| kept.result(*name)).collect())
    }

    /// The results of a node whose operands are known.
    fn results(&mut self, node: &NodeProto, version: i64) -> Option<Vec<Option<Arc<Tensor>>>> {
        // No value is read for a node with an operand that is not known.
        let may_be_known = |input: &NameId| {
            let known = self.known.get(input.index());
            *input == NameId::ROOT || known.is_some_and(|known| !matches!(known, FoldValue::Nothing))
        };
        if !node.inputs.iter().all(may_be_known) {
            return None;
        }
        let mut operands = Vec::with_capacity(node.inputs.len());
        for input in &node.inputs {
            operands.push(if *input == NameId::ROOT { None } else { Some(self.value(*input)?) });
        }
        // Operands that nothing else uses are removed from the model.
        let removed = node.inputs.iter().zip(&operands).filter(|(input, _)| self.uses.get(input.index()) == Some(&1));
        let removed: usize = removed.filter_map(|(_, operand)| operand.as_ref().map(|tensor| tensor.len())).sum();
        let results = evaluate_node(self.names, node, version, &operands, self.run.stores, self.run.budget).ok();
        self.run.budget.forgive();
        let results = results?;
        // Programs do not agree on the extent where a window is larger than what it moves over. Where an operand has no
        // items, they do.
        let is_empty = |items: Option<&Tensor>| items.is_some_and(Tensor::is_empty);
        let has_none = results.iter().any(|result| is_empty(Some(result)));
        if pure::has_window(self.names, node) && has_none && !operands.iter().any(|x| is_empty(x.as_deref())) {
            return None;
        }
        let is_text = results.iter().any(|result| result.dtype() == DType::Text);
        if is_text && pure::spells_numbers(self.names, node, &operands) {
            return None;
        }
        let added: usize = results.iter().map(|result| result.len()).sum();
        let fits = results.len() >= node.outputs.len() && added <= LARGE && (added <= SMALL || added <= removed);
        // A result is a constant of the model from now on, and as a tensor it is an operand of others.
        let kept: usize = results.iter().map(|result| result.weight()).fold(0, usize::saturating_add);
        let fits = fits && self.run.budget.keeps(kept.saturating_mul(2));
        fits.then(|| results.into_iter().map(Some).collect())
    }

    /// Notes the results of a node that stays because they are large: what is computed from them may be small.
    fn keep(&mut self, place: usize, node: &NodeProto, results: Vec<Option<Arc<Tensor>>>, added: u64) -> KeptNode {
        let results = node.outputs.iter().zip(results).filter(|(name, _)| **name != NameId::ROOT);
        let results: Vec<_> = results.filter_map(|(name, tensor)| Some((*name, tensor?))).collect();
        results.iter().for_each(|(name, tensor)| _ = self.set(*name, FoldValue::Read(Arc::clone(tensor))));
        let kept = KeptNode { place, node: node.clone(), results, added };
        if let Some(first) = node.outputs.first().filter(|_| self.is_outermost()) {
            self.run.kept.entry(*first).or_insert_with(|| kept.clone());
        }
        kept
    }

    /// Puts constants in place of nodes that stayed, where these take no more than what goes with all of them.
    fn replace_together(&mut self, graph: &mut GraphProto, kept: &[KeptNode], outputs: &FxHashSet<NameId>) {
        let places: FxHashSet<usize> = self.growth.together(self.names, &self.uses, kept).into_iter().collect();
        if places.is_empty() {
            return;
        }
        let mut gone: FxHashMap<usize, &KeptNode> = FxHashMap::default();
        gone.extend(kept.iter().filter(|kept| places.contains(&kept.place)).map(|kept| (kept.place, kept)));
        let nodes = std::mem::take(&mut graph.nodes);
        for (place, node) in nodes.into_iter().enumerate() {
            let Some(kept) = gone.get(&place) else {
                graph.nodes.push(node);
                continue;
            };
            let results: Vec<_> = node.outputs.iter().map(|name| kept.result(*name)).collect();
            self.computed = true;
            let constants = self.constants_for(&node, &results, outputs);
            self.replace(graph, constants);
        }
    }

    /// The bytes that constants for the results of a node add to the model. They are only made where these are counted as
    /// they are written: large results mostly stay out.
    fn added(&mut self, node: &NodeProto, results: &[Option<Arc<Tensor>>], outputs: &FxHashSet<NameId>) -> u64 {
        if let Some(added) = self.growth.added_items(results.iter().flatten()) {
            return added;
        }
        let constants = self.constants_for(node, results, outputs);
        self.growth.added(self.names, &constants)
    }

    /// The constants that may stand for the results of a node: nodes for outputs of the graph, otherwise initializers.
    fn constants_for(
        &mut self,
        node: &NodeProto,
        results: &[Option<Arc<Tensor>>],
        outputs: &FxHashSet<NameId>,
    ) -> Vec<NewConstant> {
        let named = node.outputs.iter().zip(results).filter(|(name, _)| **name != NameId::ROOT);
        let named = named.filter_map(|(name, tensor)| Some((*name, Arc::clone(tensor.as_ref()?))));
        let constant = |(name, tensor): (NameId, Arc<Tensor>)| {
            let form = match outputs.contains(&name) {
                true => ConstantForm::Node(self.constant(node, name, tensor_proto(&tensor, None))),
                false => ConstantForm::Initializer(tensor_proto(&tensor, Some(name))),
            };
            NewConstant { name, tensor, form }
        };
        named.map(constant).collect()
    }

    /// Adds constants in place of a node.
    fn replace(&mut self, graph: &mut GraphProto, constants: Vec<NewConstant>) {
        self.run.replaced += 1;
        for NewConstant { name, tensor, form } in constants {
            match form {
                ConstantForm::Initializer(constant) => self.store(name, constant),
                ConstantForm::Node(constant) => {
                    self.growth.computed(self.names, name, &constant, &tensor);
                    self.set(name, FoldValue::Read(tensor));
                    graph.nodes.push(constant);
                }
            }
        }
    }

    /// Notes the value of a node that is a constant.
    fn read_constant(&mut self, node: &NodeProto, results: Vec<Option<Arc<Tensor>>>) {
        let named = node.outputs.iter().zip(results).filter(|(name, _)| **name != NameId::ROOT);
        for (name, tensor) in named.filter_map(|(name, tensor)| Some((*name, tensor?))) {
            self.growth.computed(self.names, name, node, &tensor);
            self.set(name, FoldValue::Read(tensor));
        }
    }

    /// Notes the results of a node that stays; the graph keeps those that do not follow from types.
    fn note(
        &mut self,
        node: &NodeProto,
        results: Vec<Option<Arc<Tensor>>>,
        kept: bool,
        facts: &mut Vec<(NameId, Fact)>,
    ) {
        let named = node.outputs.iter().zip(results).filter(|(name, _)| **name != NameId::ROOT);
        for (name, tensor) in named.filter_map(|(name, tensor)| Some((*name, tensor?))) {
            facts.extend(scalar(&tensor).map(|value| (name, Fact::Is(value))));
            if kept {
                self.constants.push(tensor_proto(&tensor, Some(name)));
            }
            self.set(name, FoldValue::Read(tensor));
        }
    }

    /// Whether the results of a node were computed before it is visited.
    fn is_noted(&self, node: &NodeProto) -> bool {
        let is_known = |name: &NameId| !matches!(self.known.get(name.index()), None | Some(FoldValue::Nothing));
        let mut named = node.outputs.iter().filter(|name| **name != NameId::ROOT).peekable();
        named.peek().is_some() && named.all(is_known)
    }

    /// The only item of a result that was computed before.
    fn noted_scalar(&mut self, name: NameId) -> Option<Scalar> {
        let FoldValue::Stored(index) = self.known.get(name.index())? else { return None };
        if self.constants.get(*index as usize)?.dims.iter().any(|extent| *extent != 1) {
            return None;
        }
        self.value(name).and_then(|value| scalar(&value))
    }

    /// The shape of a visible value.
    fn shape(&self, name: NameId) -> Option<&'m TensorExtents> {
        for types in self.around.iter().rev() {
            // A graph without types may hide a value around it.
            if let Some(ty) = (*types)?.values.get(name) {
                return ty.as_tensor()?.shape.as_ref();
            }
        }
        None
    }

    /// Whether the state of a loop has the same shape before and after a trip.
    fn keeps_shapes(&self, body: &GraphProto) -> bool {
        let shape = |value: &ValueInfo| self.shape(value.name?);
        let mut state = body.inputs.iter().skip(2).zip(body.outputs.iter().skip(1));
        body.inputs.len() > 1 && state.all(|(a, b)| shape(a).is_some() && shape(a) == shape(b))
    }

    /// The extents of what a `Scan` scans, which decide how often it runs.
    fn scanned_extents(&self, node: &NodeProto) -> Vec<(NameId, Fact)> {
        let value = |name: &str| node.attribute(self.names, name).map(|attribute| &attribute.value);
        let Some(AttributeValue::Int(count)) = value("num_scan_inputs") else { return Vec::new() };
        let ints = |name: &str| match value(name) {
            Some(AttributeValue::Ints(values)) => Ok::<_, Infallible>(Some(values.clone())),
            _ => Ok(None),
        };
        let Ok(Some(form)) = ScanForm::read(*count, node.inputs.len(), ints) else { return Vec::new() };
        let extent = |(name, side): (&NameId, &ScanSide)| {
            let shape = self.shape(*name)?;
            let extent = shape.get(extents::axis(side.axis, shape.len())?)?.known()?;
            Some((*name, Fact::Extent { axis: side.axis, extent }))
        };
        node.inputs.iter().skip(form.states).zip(&form.inputs).filter_map(extent).collect()
    }

    fn is_constant(&self, node: &NodeProto) -> bool {
        node.op_type.is_some_and(|operator| self.names.texts.text(operator) == CONSTANT)
    }

    /// A node with a constant as a result, in place of another node.
    fn constant(&mut self, node: &NodeProto, result: NameId, value: TensorProto) -> NodeProto {
        let value = AttributeValue::Tensor(Box::new(value));
        NodeProto {
            inputs: Values::new(),
            outputs: Values::from_slice(&[result]),
            op_type: Some(self.names.texts.intern(CONSTANT)),
            domain: None,
            attributes: vec![AttributeProto::new(&mut self.names.texts, "value", value)],
            ..node.clone()
        }
    }
}

/// Whether two nodes compute the same of the same operands.
fn is_same_call(a: &NodeProto, b: &NodeProto) -> bool {
    let attributes = || a.attributes.iter().zip(&b.attributes);
    (a.op_type, a.domain) == (b.op_type, b.domain)
        && (&a.inputs, &a.outputs, a.attributes.len()) == (&b.inputs, &b.outputs, b.attributes.len())
        && attributes().all(|(a, b)| !a.value.has_graphs() && same_attribute(a, b))
}

/// The operator of constants.
const CONSTANT: &str = "Constant";

/// The results of a node whose items all follow from types.
fn inferred(node: &NodeProto, types: Option<&GraphTypes>) -> Option<Vec<Option<Arc<Tensor>>>> {
    let types = types?;
    let result = |name: &NameId| match *name {
        NameId::ROOT => Some(None),
        name => Some(Some(Arc::new(items(types.values.get(name)?.as_tensor()?)?))),
    };
    node.outputs.iter().map(result).collect()
}

/// The only item of a tensor of integers or truth values.
fn scalar(of: &Tensor) -> Option<Scalar> {
    match of.data() {
        Data::Int64(items) => <[i64; 1]>::try_from(&items[..]).ok().map(|[item]| Scalar::Int(item)),
        Data::Int32(items) => <[i32; 1]>::try_from(&items[..]).ok().map(|[item]| Scalar::Int32(item)),
        Data::Bool(items) => <[bool; 1]>::try_from(&items[..]).ok().map(|[item]| Scalar::Bool(item)),
        _ => None,
    }
}

/// The tensor whose items and extents are all known.
fn items(facts: &TensorFacts) -> Option<Tensor> {
    let extent = |dim: &Dim| usize::try_from(dim.known()?).ok();
    let shape: Vec<usize> = facts.shape.as_ref()?.iter().map(extent).collect::<Option<_>>()?;
    let items: Vec<i64> = facts.items.as_ref()?.iter().map(Dim::known).collect::<Option<_>>()?;
    Tensor::integers(&shape, items).ok()?.into_type(dtype_of(facts.element? as i32)?).ok()
}
