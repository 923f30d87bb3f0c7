//! Finds the calls of standard operators that are to be expanded, and makes the functions that they call.

use rustc_hash::{FxHashMap, FxHashSet};

use super::body_table::StandardBody;
use super::needs::BodyNeeds;
use super::selection::Selection;
use super::standard_call::StandardCall;
use super::template::TemplateSettings;
use super::visible::VisibleTypes;
use crate::onnx::functions::{FunctionKey, Imports, NodeFinding};
use crate::onnx::infer::{InferGoal, ModelTypes, infer_functions};
use crate::onnx::model::{AttributeValue, Fields, FunctionProto, ModelNames, ModelProto, NodeProto, OperatorSet};
use crate::onnx::schema::{SchemaLookup, Schemas, counts};
use crate::onnx::text::parse_function;
use crate::onnx::walk::{each_graph, each_node};
use crate::room::with_stack;
use crate::source::names::Name;

/// What became of the calls of standard operators that the options select.
#[derive(Debug, Default)]
pub(super) struct PlanFindings {
    /// The operators with a call that has become a call of a function.
    pub(super) lowered: FxHashSet<FunctionKey>,
    /// The operators with a call that stays, and why.
    pub(super) blocked: FxHashMap<FunctionKey, &'static str>,
}

/// The domain, the name and the version of a body.
type BodyId = (&'static str, &'static str, i64);

/// A text with the operator sets that it imports.
type BodyKey = (String, Vec<(Option<Name>, Option<i64>)>);

/// The functions for the calls of one round.
pub(super) struct BodyPlan<'s, 'o> {
    /// The domain of the functions. No model has it.
    domain: Name,
    selection: &'s mut Selection<'o>,
    /// The overloads of the bodies of the current graph or function, by their rows and what fills them in: most nodes
    /// need no text.
    filled: FxHashMap<(BodyId, TemplateSettings), Name>,
    /// The lines that builders assembled.
    lines: usize,
    /// The overload of each body.
    overloads: FxHashMap<BodyKey, Name>,
    pub(super) functions: Vec<FunctionProto>,
    /// Whether the bodies may have calls that are to be expanded.
    pub(super) nested: bool,
    pub(super) found: PlanFindings,
}

/// What a plan depends on.
#[derive(Clone, Copy, Debug)]
struct PlanNeeds {
    /// What the bodies of the nodes that are to be expanded depend on; none if there are no such nodes.
    bodies: Option<BodyNeeds>,
    /// The number of nodes of the graph, from the first one on, whose results may matter.
    nodes: usize,
}

impl PlanNeeds {
    fn of(model: &ModelProto, selection: &mut Selection) -> Self {
        let (names, mut needs) = (&model.names, PlanNeeds { bodies: None, nodes: 0 });
        let nodes = model.graph.as_ref().map_or(&[][..], |graph| &graph.nodes);
        for (i, node) in nodes.iter().enumerate() {
            // A body depends on what comes before the node, and on the graphs of the node.
            needs.add(selection.needs(names, node), if node.has_graphs() { i + 1 } else { i });
            for attribute in &node.attributes {
                each_graph(&attribute.value, &mut |graph| {
                    each_node(&graph.nodes, &mut |node| needs.add(selection.needs(names, node), i + 1));
                });
            }
        }
        for function in &model.functions {
            each_node(&function.nodes, &mut |node| needs.add(selection.needs(names, node), nodes.len()));
            // Graphs in defaults are not visited here.
            needs.add((!function.defaults.is_empty()).then_some(BodyNeeds::Types), nodes.len());
        }
        needs
    }

    fn add(&mut self, body: Option<BodyNeeds>, nodes: usize) {
        if body.is_some() {
            *self = PlanNeeds { bodies: self.bodies.max(body), nodes: self.nodes.max(nodes) };
        }
    }
}

/// A graph or function, and what the nodes in it see.
struct PlanPlace<'p> {
    opsets: &'p [OperatorSet],
    imports: &'p Imports,
    types: VisibleTypes<'p>,
}

/// The most lines that builders assemble for a model: steps of recurrent layers are written one by one.
const MAX_LINES: usize = 1 << 20;

/// The place of graphs whose values are not known: those in defaults of functions.
const NOWHERE: usize = usize::MAX;

type Planned<T> = Result<T, Box<NodeFinding>>;

impl<'s, 'o> BodyPlan<'s, 'o> {
    /// The plan for a model, with an inference of types if bodies depend on them; none if nothing is to be expanded.
    pub(super) fn for_model(
        model: &mut ModelProto,
        selection: &'s mut Selection<'o>,
    ) -> Planned<Option<BodyPlan<'s, 'o>>> {
        let PlanNeeds { bodies, nodes } = PlanNeeds::of(model, selection);
        let infer = |goal| infer_functions(model, selection.options, nodes, goal);
        let types = match bodies {
            None => return Ok(None),
            Some(BodyNeeds::Nothing) => ModelTypes::default(),
            Some(BodyNeeds::Elements) => infer(InferGoal::Elements),
            Some(BodyNeeds::Types) => infer(InferGoal::All),
        };
        Self::of(model, &types, selection).map(Some)
    }

    /// Finds the calls in a model and turns them into calls of functions, which are in the plan.
    fn of(model: &mut ModelProto, types: &ModelTypes, selection: &'s mut Selection<'o>) -> Planned<BodyPlan<'s, 'o>> {
        let names = &mut model.names;
        let mut plan = BodyPlan {
            domain: unused_domain(names),
            selection,
            lines: 0,
            filled: FxHashMap::default(),
            overloads: FxHashMap::default(),
            functions: Vec::new(),
            nested: false,
            found: PlanFindings::default(),
        };
        if let Some(graph) = &mut model.graph {
            let imports = Imports::new(names, &model.opsets);
            let place = PlanPlace { opsets: &model.opsets, imports: &imports, types: VisibleTypes::of(&types.main) };
            plan.nodes(names, &mut graph.nodes, &place)?;
        }
        for (i, function) in model.functions.iter_mut().enumerate() {
            plan.filled.clear();
            let imports = Imports::new(names, &function.opsets);
            let place =
                PlanPlace { opsets: &function.opsets, imports: &imports, types: VisibleTypes::of_function(types, i) };
            plan.nodes(names, &mut function.nodes, &place)?;
            for default in &mut function.defaults {
                plan.graphs(names, &mut default.value, NOWHERE, NOWHERE, &place)?;
            }
        }
        Ok(plan)
    }

    fn nodes(&mut self, names: &mut ModelNames, nodes: &mut [NodeProto], place: &PlanPlace) -> Planned<()> {
        for (i, node) in nodes.iter_mut().enumerate() {
            for (k, attribute) in node.attributes.iter_mut().enumerate() {
                self.graphs(names, &mut attribute.value, i, k, place)?;
            }
            if self.selection.needs(names, node).is_some() {
                self.node(names, node, place)?;
            }
        }
        Ok(())
    }

    /// Finds the calls in the graphs of an attribute, which is given by the indices of node and attribute.
    fn graphs(
        &mut self,
        names: &mut ModelNames,
        value: &mut AttributeValue,
        node: usize,
        attribute: usize,
        place: &PlanPlace,
    ) -> Planned<()> {
        for (position, graph) in value.graphs_mut().iter_mut().enumerate() {
            let types = place.types.inner((node, attribute, position));
            let inner = PlanPlace { types, ..*place };
            with_stack(|| self.nodes(names, &mut graph.nodes, &inner))?;
        }
        Ok(())
    }

    /// Turns a call into one of a function, if the operator has a body in this version.
    fn node(&mut self, names: &mut ModelNames, node: &mut NodeProto, place: &PlanPlace) -> Planned<()> {
        let key = FunctionKey::of_node(names, node);
        let Some(version) = place.imports.version(names, node.domain) else { return Ok(()) };
        let Some(body) = self.selection.table.body(key.domain(names), key.name(names), version) else { return Ok(()) };
        if self.lines > MAX_LINES || is_overfull(names, node, version) {
            self.found.blocked.insert(key, NOT_KNOWN);
            return Ok(());
        }
        let base = place.imports.version(names, None).unwrap_or_else(|| Schemas::new().latest(""));
        let domain = names.texts.text(self.domain);
        let call = StandardCall { names, node, version: base, types: &place.types, needs: body.needs, domain };
        let Ok(settings) = body.settings(&call) else {
            self.found.blocked.insert(key, NOT_KNOWN);
            return Ok(());
        };
        self.lines += settings.line_count();
        if self.lines > MAX_LINES {
            self.found.blocked.insert(key, NOT_KNOWN);
            return Ok(());
        }
        let filled = ((body.row.domain, body.row.name, body.row.version), settings);
        let overload = match self.filled.get(&filled) {
            Some(overload) => *overload,
            None => {
                let Ok(text) = body.text(&filled.1) else {
                    self.found.blocked.insert(key, NOT_KNOWN);
                    return Ok(());
                };
                let Some(overload) = self.overload(names, body, text, place, base, node.at)? else {
                    self.found.blocked.insert(key, LATER);
                    return Ok(());
                };
                self.filled.insert(filled, overload);
                overload
            }
        };
        self.found.lowered.insert(key);
        (node.domain, node.overload) = (Some(self.domain), Some(overload));
        Ok(())
    }

    /// The overload of the function with a text, which is added unless it is there; none if the text has operators that the
    /// operator set of the model lacks.
    fn overload(
        &mut self,
        names: &mut ModelNames,
        body: &StandardBody,
        text: String,
        place: &PlanPlace,
        base: i64,
        at: u32,
    ) -> Planned<Option<Name>> {
        let versions = place.opsets.iter().map(|opset| (opset.domain, opset.version)).collect();
        let key = (text, versions);
        if let Some(overload) = self.overloads.get(&key) {
            return Ok(Some(*overload));
        }
        let parsed = parse_function(names, &key.0).map_err(|found| NodeFinding::of(found, at))?;
        let mut is_later = false;
        each_node(&parsed.nodes, &mut |node| is_later |= is_of_later_version(names, node, base));
        if is_later {
            return Ok(None);
        }
        each_node(&parsed.nodes, &mut |node| self.nested |= self.selection.needs(names, node).is_some());
        let overload = names.texts.intern(&self.functions.len().to_string());
        let mut opsets = place.opsets.to_vec();
        if place.imports.version(names, None).is_none() {
            let domain = Some(names.standard_domain());
            opsets.push(OperatorSet { domain, version: Some(base), rest: Fields::None });
        }
        let name = Some(names.texts.intern(body.row.name));
        let (domain, overload_of) = (Some(self.domain), Some(overload));
        self.functions.push(FunctionProto { name, domain, overload: overload_of, opsets, at, ..parsed });
        self.overloads.insert(key, overload);
        Ok(Some(overload))
    }
}

/// Why a body cannot be made.
const NOT_KNOWN: &str = "its body depends on types, shapes or attributes that are not known";

/// Why a body is not used.
const LATER: &str = "its body has operators that the operator set of the model lacks; --opset raises it";

/// Whether a node is one of a standard operator that an operator set does not have yet.
fn is_of_later_version(names: &ModelNames, node: &NodeProto, base: i64) -> bool {
    let (domain, name) = names.operator(node);
    domain.is_empty() && matches!(Schemas::new().find(domain, name, base), SchemaLookup::Later(_))
}

/// Whether a node has more operands or results than its operator: a later version of onnxruntime may have them.
fn is_overfull(names: &ModelNames, node: &NodeProto, version: i64) -> bool {
    let (domain, name) = names.operator(node);
    match Schemas::new().find(domain, name, version) {
        // Of a deprecated operator nothing is known but its body.
        SchemaLookup::Schema(schema) if !schema.deprecated => {
            node.inputs.len() > counts(&schema.inputs).1 || node.outputs.len() > counts(&schema.outputs).1
        }
        SchemaLookup::Schema(_) | SchemaLookup::Later(_) | SchemaLookup::Unknown | SchemaLookup::Foreign => false,
    }
}

/// A domain that no model has so far.
fn unused_domain(names: &mut ModelNames) -> Name {
    let mut domain = "standard".to_owned();
    while names.texts.get(&domain).is_some() {
        domain.push('_');
    }
    names.texts.intern(&domain)
}
