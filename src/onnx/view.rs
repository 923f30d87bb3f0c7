//! Converts a model to a graph, for pictures, JSON and statistics.
//!
//! Operands and results have the names of the operator's parameters if the table of operators has it. The nodes of a
//! graph in an attribute precede the node with this attribute, as a group with the name of the attribute; the attribute
//! lists the results of the graph.

mod attributes;
mod constants;
mod modules;
mod named;

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use self::attributes::described;
pub(crate) use self::constants::{ConstantReader, ModelConstants};
use self::named::VisibleTensors;
use super::infer::{GraphTypes, ModelTypes, ValueType, infer};
use super::model::{GraphProto as OnnxGraph, ModelProto, NodeProto, TensorProto};
use super::schema::{Parameter, Presence, SchemaLookup, Schemas};
use super::scopes::NodeScopes;
use crate::Options;
use crate::diagnostics::{Code, Diagnostic, memory_text};
use crate::graph::names::NameId;
use crate::graph::{
    Argument, Element, Extent as GraphExtent, Graph, Key, Kind, KindId, OriginId, Output, Shape, TensorId, Value,
};
use crate::onnx::functions::{Functions, Imports};
use crate::onnx::walk::{each_graph, each_node};
use crate::room::with_stack;
use crate::source::names::Name;
use crate::source::{FileId, Location, Span};

/// The name of operations for the constants of a graph.
const INITIALIZER: &str = "initializer";

/// What nodes of one operator have in common: the names of their operands, and their kind.
struct NodeForm {
    inputs: Vec<Name>,
    kind: KindId,
}

/// The bytes of an operation, excluding its operands, and those of an operand or a result with its tensor and its name.
const OPERATION: u64 = 64;
const OPERAND: u64 = 16;
const RESULT: u64 = 112;

/// The call and the group around the nodes of a graph.
#[derive(Clone, Copy)]
struct NodePlace {
    /// The call that the node with this graph comes from.
    call: OriginId,
    /// The group of this graph.
    group: OriginId,
}

/// Domain, operator and overload, and the numbers of operands and results.
type FormKey = (Option<Name>, Option<Name>, Option<Name>, usize, usize);

struct View<'m> {
    model: &'m ModelProto,
    file: FileId,
    graph: Graph,
    tensors: VisibleTensors,
    kinds: FxHashMap<(String, Vec<Name>), KindId>,
    /// What nodes of one operator with as many operands and results have in common.
    forms: FxHashMap<FormKey, Rc<NodeForm>>,
    /// The strings of attributes, by their place in the file: copies share them.
    strings: FxHashMap<(usize, usize), Arc<str>>,
    /// The bytes of the graph, and of its strings each time that they are written.
    bytes: u64,
    limit: u64,
    /// The groups of calls outside all graphs of nodes, by the number of the call; [`OriginId::NONE`] if there
    /// is none yet.
    outer_origins: Vec<OriginId>,
    /// The groups of calls inside others.
    origins: FxHashMap<(OriginId, OriginId), OriginId>,
    /// The rows of places of calls, by function and place.
    call_places: FxHashMap<(Name, u32), u32>,
    scopes: NodeScopes,
    /// The types in the graphs around the current node, the innermost last; none for a graph that inference did not
    /// visit.
    types: Vec<Option<&'m GraphTypes>>,
    schemas: Schemas,
    functions: Functions,
    imports: Imports,
    /// The constants of operations, if they are wanted.
    constants: Option<ModelConstants>,
}

/// The graph of a model with its constants; an empty one for a model without a graph.
///
/// # Errors
///
/// Model and graph together take more memory than the options allow.
pub(crate) fn graph(
    model: &ModelProto,
    file: FileId,
    types: ViewTypes,
    options: &Options,
) -> Result<(Graph, ModelConstants), Box<Diagnostic>> {
    let too_large = |_| {
        let limit = memory_text(options.max_memory);
        let message = format!("the model and its graph take more than {limit}");
        let at = Location::new(file, Span::new(0, 0));
        Box::new(Diagnostic::new(Code::MemoryBudget, at, message).help("raise the limit with --max-memory"))
    };
    let bytes = size(model);
    within(bytes, options.max_memory).map_err(too_large)?;
    let wanted = types;
    let types = match wanted {
        ViewTypes::Inferred | ViewTypes::Compared => Some(infer(model, options)),
        ViewTypes::Omitted => None,
    };
    seen(model, file, wanted, types.as_ref(), options, bytes).map_err(too_large)
}

/// The number of operations of the graph of a model.
pub(crate) fn operations(model: &ModelProto) -> usize {
    let constants = |graph: &OnnxGraph| graph.initializers.iter().filter(|constant| constant.name.is_some()).count();
    let Some(graph) = &model.graph else { return 0 };
    let mut count = constants(graph);
    each_node(&graph.nodes, &mut |node| {
        count += 1;
        node.attributes.iter().for_each(|attribute| {
            each_graph(&attribute.value, &mut |inner| count += constants(inner));
        });
    });
    count
}

/// Whether tensors of a graph have types and shapes, which cost as much as the rest of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ViewTypes {
    Inferred,
    /// Inferred, and the constants behind operations are noted.
    Compared,
    Omitted,
}

/// The name of the operations of an operator.
fn kind_name(domain: &str, operator: &str) -> String {
    let point = if domain.is_empty() { "" } else { "." };
    format!("{domain}{point}{operator}")
}

/// The graph takes too much memory.
struct TooLarge;

fn within(bytes: u64, limit: u64) -> Result<(), TooLarge> {
    if bytes > limit { Err(TooLarge) } else { Ok(()) }
}

/// The bytes of the nodes of a model and of their names, and at least those of its graph, excluding attributes.
fn size(model: &ModelProto) -> u64 {
    let mut bytes = 0;
    let nodes = model.graph.iter().map(|graph| &graph.nodes);
    for nodes in nodes {
        each_node(nodes, &mut |node| {
            let (operands, results) = (node.inputs.len() as u64, node.outputs.len() as u64);
            bytes += node.bytes() as u64 + OPERATION + OPERAND * (operands + results) + RESULT * results;
        });
    }
    bytes + size_of_val(&model.calls[..]) as u64 * 2
}

fn seen(
    model: &ModelProto,
    file: FileId,
    types_wanted: ViewTypes,
    types: Option<&ModelTypes>,
    options: &Options,
    bytes: u64,
) -> Result<(Graph, ModelConstants), TooLarge> {
    let bytes = bytes.saturating_add(types.map_or(0, |types| types.bytes));
    within(bytes, options.max_memory)?;
    let mut symbols = model.names.texts.clone();
    let name = model.graph.as_ref().and_then(|graph| graph.name).unwrap_or_else(|| symbols.intern(""));
    let mut graph = Graph::new(name, Arc::new(symbols));
    graph.names = model.names.values.clone();
    graph.conventions.is_view = true;
    let mut view = View {
        model,
        file,
        graph,
        tensors: VisibleTensors::new(model.names.values.len()),
        kinds: FxHashMap::default(),
        forms: FxHashMap::default(),
        strings: FxHashMap::default(),
        bytes,
        limit: options.max_memory,
        outer_origins: vec![OriginId::NONE; model.calls.len()],
        origins: FxHashMap::default(),
        call_places: FxHashMap::default(),
        scopes: NodeScopes::default(),
        types: vec![types.map(|types| &types.main)],
        schemas: Schemas::new(),
        functions: Functions::of_calls(&model.names, &model.functions),
        imports: Imports::new(&model.names, &model.opsets),
        constants: (types_wanted == ViewTypes::Compared).then(ModelConstants::default),
    };
    if let Some(graph) = &model.graph {
        view.boundary(graph);
        view.body(graph, NodePlace { call: OriginId::NONE, group: OriginId::NONE })?;
        let outputs = graph.outputs.iter().map(|output| view.value(output.name.unwrap_or(NameId::ROOT)));
        view.graph.outputs = outputs.collect();
    }
    // Names of the model are distinct already.
    if view.graph.names.len() > model.names.values.len() {
        view.graph.names.resolve(&view.graph.symbols, &Default::default());
    }
    Ok((view.graph, view.constants.unwrap_or_default()))
}

impl<'m> View<'m> {
    fn at(&self, at: u32) -> Location {
        Location::new(self.file, Span::new(at, at))
    }

    fn boundary(&mut self, graph: &'m OnnxGraph) {
        let constants: FxHashSet<Option<NameId>> = graph.initializers.iter().map(|tensor| tensor.name).collect();
        for input in &graph.inputs {
            let tensor = self.value(input.name.unwrap_or(NameId::ROOT));
            // An input with a default is a constant that the caller may replace.
            if !constants.contains(&input.name) {
                self.graph.inputs.push(tensor);
            }
        }
    }

    /// The tensor with a name; created on the first use of the name.
    fn value(&mut self, name: NameId) -> TensorId {
        if let Some(tensor) = self.tensors.get(name) {
            return tensor;
        }
        // Values of graphs around one without types have tensors already.
        let known = self.types.iter().rev().map_while(|types| *types);
        let types = known.into_iter().find_map(|types| types.values.get(name));
        let (element, shape) = match types {
            Some(ValueType::Tensor(facts)) => (facts.element, facts.shape.as_deref().map(Shape::of_dims)),
            _ => (None, None),
        };
        self.tensor(name, element, shape)
    }

    fn tensor(&mut self, name: NameId, element: Option<Element>, shape: Option<Shape>) -> TensorId {
        // Graphs beside each other may use one name for several values.
        let mut own = name;
        if self.tensors.is_taken(name) && name != NameId::ROOT {
            own = self.graph.names.sibling(name);
            self.graph.names.mark_used(own);
        }
        let tensor = self.graph.add_tensor(own, element.and_then(Element::primitive));
        self.graph.set_element(tensor, element);
        self.graph.set_shape(tensor, shape);
        self.tensors.show(name, tensor);
        tensor
    }

    fn body(&mut self, graph: &'m OnnxGraph, place: NodePlace) -> Result<(), TooLarge> {
        for constant in &graph.initializers {
            self.constant(constant, place);
        }
        for (i, node) in graph.nodes.iter().enumerate() {
            with_stack(|| self.node(node, i, place))?;
        }
        Ok(())
    }

    /// Counts bytes of a value of an attribute.
    fn charge(&mut self, bytes: usize) -> Result<(), TooLarge> {
        self.bytes = self.bytes.saturating_add(bytes as u64);
        within(self.bytes, self.limit)
    }

    fn constant(&mut self, constant: &TensorProto, place: NodePlace) {
        let Some(name) = constant.name else { return };
        let extents: Vec<GraphExtent> = constant.dims.iter().map(|extent| GraphExtent::new(*extent)).collect();
        let result = self.tensor(
            name,
            constant.data_type.and_then(|number| Element::numbered(number.into())),
            Some(Shape::new(&extents)),
        );
        let kind = self.kind(INITIALIZER.to_owned(), Vec::new());
        let key = Key::Named(self.graph.symbols_mut().intern("type"));
        let arguments = [Argument { key, value: Value::Symbol(described(constant).into()) }];
        let source = (self.at(0), place.group);
        let id = self.graph.add_operation(kind, (None, false), arguments, &[Output::Tensor(&result)], source);
        if let Some(constants) = &mut self.constants {
            constants.initializer(id, constant);
        }
    }

    fn kind(&mut self, name: String, results: Vec<Name>) -> KindId {
        if let Some(kind) = self.kinds.get(&(name.clone(), results.clone())) {
            return *kind;
        }
        let kind = Kind {
            name: self.graph.symbols_mut().intern(&name),
            params: Vec::new(),
            results: results.clone(),
            declared: false,
            standard: false,
            generic: false,
        };
        let kind = self.graph.add_kind(kind);
        self.kinds.insert((name, results), kind);
        kind
    }

    /// The group of a node: that of the call that it comes from, inside the group of its graph.
    fn origin(&mut self, of: OriginId, place: NodePlace) -> OriginId {
        if of == place.call || of == OriginId::NONE {
            return place.group;
        }
        let known = match place.group {
            OriginId::NONE => self.outer_origins.get(of.index()).filter(|origin| **origin != OriginId::NONE),
            group => self.origins.get(&(of, group)),
        };
        if let Some(origin) = known {
            return *origin;
        }
        let Some(call) = self.model.calls.get(of.index()) else { return place.group };
        let parent = with_stack(|| self.origin(call.parent, place));
        let at = self.at(call.at);
        let (graph, place_of) = (&mut self.graph, (call.function, call.at));
        let row = *self.call_places.entry(place_of).or_insert_with(|| graph.add_call_place(call.function, at));
        let origin = graph.add_origin(parent, row);
        match (place.group, self.outer_origins.get_mut(of.index())) {
            (OriginId::NONE, Some(outer)) => *outer = origin,
            (group, _) => _ = self.origins.insert((of, group), origin),
        }
        origin
    }

    fn node(&mut self, node: &'m NodeProto, index: usize, place: NodePlace) -> Result<(), TooLarge> {
        let scope = self.scopes.of(&node.rest);
        let origin = self.origin(node.origin, place);
        let form = self.form(node);
        let mut arguments: SmallVec<[Argument; 4]> = SmallVec::new();
        for (i, input) in node.inputs.iter().enumerate().filter(|(_, input)| **input != NameId::ROOT) {
            let value = Value::Tensor(self.value(*input));
            let key = form.inputs.get(i).map_or(Key::Positional, |name| Key::Named(*name));
            arguments.push(Argument { key, value });
        }
        for (i, attribute) in node.attributes.iter().enumerate() {
            let value = self.attribute(attribute, node, (index, i), origin)?;
            if let Some(name) = attribute.name {
                arguments.push(Argument { key: Key::Named(name), value });
            }
        }
        let made: SmallVec<[TensorId; 4]> = node.outputs.iter().map(|output| self.result(*output)).collect();
        let outputs: SmallVec<[Output; 4]> = made.iter().map(Output::Tensor).collect();
        let source = (self.at(node.at), origin);
        let id = self.graph.add_operation(form.kind, (None, false), arguments, &outputs, source);
        if let Some(constants) = &mut self.constants {
            constants.node(id, node);
        }
        self.note(id, node, &scope)
    }

    /// What a node has in common with others.
    fn form(&mut self, node: &NodeProto) -> Rc<NodeForm> {
        let key = (node.domain, node.op_type, node.overload, node.inputs.len(), node.outputs.len());
        if let Some(form) = self.forms.get(&key) {
            return form.clone();
        }
        let (domain, operator) = self.model.names.operator(node);
        let (inputs, outputs) = self.parameters(node, domain, operator);
        let kind = self.kind(kind_name(domain, operator), outputs);
        let form = Rc::new(NodeForm { inputs, kind });
        self.forms.insert(key, form.clone());
        form
    }

    /// The tensor of a result. An omitted result gets a new name.
    fn result(&mut self, output: NameId) -> TensorId {
        if output != NameId::ROOT {
            return self.value(output);
        }
        let segment = self.graph.symbols_mut().intern("unused");
        let name = self.graph.names.child(NameId::ROOT, segment, 0, false);
        self.graph.names.mark_used(name);
        self.graph.add_tensor(name, None)
    }

    /// The names of the operands and results of a node, as far as they are known.
    fn parameters(&mut self, node: &NodeProto, domain: &str, operator: &str) -> (Vec<Name>, Vec<Name>) {
        if let Ok(Some(function)) = self.functions.called(&self.model.names, node) {
            let function = &self.model.functions[function];
            let names = |formals: &[NameId], count: usize| {
                let names = formals.iter().take(count).map(|formal| self.model.names.values.user_name(*formal));
                names.collect::<Option<_>>().unwrap_or_default()
            };
            return (names(&function.inputs, node.inputs.len()), names(&function.outputs, node.outputs.len()));
        }
        let version = self.imports.version_read(&self.model.names, node.domain);
        let SchemaLookup::Schema(schema) = self.schemas.find(domain, operator, version) else {
            return (Vec::new(), Vec::new());
        };
        let mut names = |parameters: &[Parameter], count: usize| {
            let mut names = Vec::with_capacity(count);
            for (i, parameter) in (0..count).zip(parameters.iter().chain(parameters.last().into_iter().cycle())) {
                let ordinal = (i + 1).checked_sub(parameters.len()).filter(|ordinal| *ordinal > 0);
                let name = match (parameter.presence, ordinal) {
                    (Presence::Variadic { .. }, Some(ordinal)) => format!("{}{ordinal}", parameter.name),
                    _ => parameter.name.to_owned(),
                };
                names.push(self.graph.symbols_mut().intern(&name));
            }
            names
        };
        (names(&schema.inputs, node.inputs.len()), names(&schema.outputs, node.outputs.len()))
    }
}

#[cfg(test)]
mod tests {
    use crate::Options;
    use crate::onnx::Document;
    use crate::source::Sources;

    /// The operations of a model: results, name and operands.
    fn operations(nodes: &str, inputs: &str) -> Vec<String> {
        let text = format!("<ir_version: 8, opset_import: [\"\" : 17]> g ({inputs}) => (float[2] y) {{ {nodes} }}");
        let (document, _) = Document::parse("m", text, &mut Sources::new(), &Options::default());
        let graph = document.unwrap().graph(&Options::default()).unwrap();
        let names = |tensors: Vec<_>| tensors.into_iter().map(|id| graph.tensor_name(id)).collect::<Vec<_>>().join(" ");
        let told = |operation| {
            let mut operands = Vec::new();
            graph
                .arguments(operation)
                .for_each(|(_, operand)| operand.each_tensor(&mut |tensor| operands.push(tensor)));
            let results = names(graph.tensors_of(operation).collect());
            format!("{results} = {} {}", graph.operation_name(operation), names(operands))
        };
        graph.operations.iter().map(told).collect()
    }

    #[test]
    fn values_of_two_graphs_with_a_name_are_two_tensors() {
        let branches = "then_branch = a () => (o) { t = Neg (x) o = Abs (t) }, else_branch = b () => (o) { t = Exp (x) o = Sqrt (t) }";
        let found = operations(&format!("y = If <{branches}> (p)"), "float[2] x, bool p");
        assert_eq!(found, ["t = Neg x", "o = Abs t", "t_2 = Exp x", "o_2 = Sqrt t_2", "y = If p o o_2"]);
        // An input of a graph hides a value around it.
        let body = "body = b (int64 i, bool x2, float[2] x) => (x2, n) { n = Neg (x) }";
        let found = operations(&format!("l = Loop <{body}> (m, , x) y = Abs (x)"), "float[2] x, int64 m");
        assert_eq!(found, ["n = Neg x_2", "l = Loop m x x2 n", "y = Abs x"]);
    }

    #[test]
    fn a_file_may_omit_zeros() {
        let text =
            "<ir_version: 8, opset_import: [\"\" : 17]> g (float[2] x) => (float[2] y) { y = Softmax <axis = 0> (x) }";
        let (document, _) = Document::parse("m", text, &mut Sources::new(), &Options::default());
        let mut document = document.unwrap();
        let model = document.model().unwrap();
        model.graph.as_mut().unwrap().nodes[0].attributes[0].value = Default::default();
        let graph = document.graph(&Options::default()).unwrap();
        let value = graph.attribute(&graph.operations[0], "axis");
        assert_eq!(value, Some(&crate::graph::Value::Int(0)));
        assert!(document.to_text(false).unwrap().0.contains("axis: int = 0"));
    }
}
