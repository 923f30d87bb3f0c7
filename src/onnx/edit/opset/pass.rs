//! The pass over the nodes of graphs and functions: each goes from change to change of its operator, up or down.

use rustc_hash::FxHashSet;

use super::super::simplify::{SimplifyScope, constant_value};
use super::change_table::rows_of;
use super::difference;
use super::row::Crossing;
use super::step::{OpsetStep, Reason, Stepped};
use crate::diagnostics::Code;
use crate::graph::names::NameId;
use crate::onnx::functions::{Functions, Imports, NodeFinding};
use crate::onnx::infer::{GraphTypes, ModelTypes, each_typed_graph};
use crate::onnx::model::{FunctionProto, GraphProto, ModelNames, ModelProto, NodeProto, TensorProto};
use crate::onnx::schema::{Schema, SchemaLookup, Schemas};
use crate::onnx::walk::{own_names, own_names_of_function};

/// The first version whose nodes `Constant` are of all types, and the types of those before: floats of 32, 16 and 64 bits.
const CONSTANTS_OF_ALL_TYPES: i64 = 9;
const FLOATS: [i32; 3] = [1, 10, 11];

/// A node that cannot be said in the wanted version.
pub(super) struct Unsaid {
    /// Its operator.
    pub(super) operator: String,
    pub(super) found: NodeFinding,
}

/// The state of the pass.
pub(super) struct OpsetPass<'m> {
    names: &'m mut ModelNames,
    functions: &'m Functions,
    imports: Imports,
    scope: SimplifyScope<'m>,
    target: i64,
    /// The version of the operator set around the current node.
    version: i64,
    /// Whether constants can be initializers: functions have none.
    has_initializers: bool,
    /// Whether names were made.
    has_new_names: bool,
    unsaid: Vec<Unsaid>,
}

/// Writes all graphs and functions of a model for another version of the standard operator set. Returns what cannot be said.
pub(super) fn convert(model: &mut ModelProto, types: &ModelTypes, target: i64) -> Vec<Unsaid> {
    let functions = Functions::of_calls(&model.names, &model.functions);
    let ModelProto { names, graph, functions: bodies, opsets, .. } = model;
    let scope = SimplifyScope::new(names.values.len(), FxHashSet::default());
    let imports = Imports::new(names, opsets);
    let mut pass = OpsetPass {
        names,
        functions: &functions,
        imports,
        scope,
        target,
        version: 1,
        has_initializers: true,
        has_new_names: false,
        unsaid: Vec::new(),
    };
    if let Some(graph) = graph {
        pass.enter(None);
        pass.graph(graph, Some(&types.main));
    }
    for (i, function) in bodies.iter_mut().enumerate() {
        pass.enter(Some(Imports::new(pass.names, &function.opsets)));
        pass.in_function(function, types.functions.get(&i));
    }
    if pass.has_new_names {
        pass.names.values.resolve(&pass.names.texts, &Default::default());
    }
    pass.unsaid
}

impl<'m> OpsetPass<'m> {
    /// Enters the graph of the model, or a function with other imports.
    fn enter(&mut self, imports: Option<Imports>) {
        if let Some(imports) = imports {
            self.imports = imports;
        }
        self.version = self.imports.version_read(self.names, None);
    }

    fn graph(&mut self, graph: &mut GraphProto, types: Option<&'m GraphTypes>) {
        let start = self.scope.open(&own_names(graph), types);
        let inputs: FxHashSet<NameId> = graph.inputs.iter().filter_map(|input| input.name).collect();
        for constant in std::mem::take(&mut graph.initializers) {
            let is_known = constant.name.is_some_and(|name| !inputs.contains(&name));
            self.scope.add_constant(constant, is_known);
        }
        self.nodes(std::mem::take(&mut graph.nodes), types);
        (graph.initializers, graph.nodes) = self.scope.close(start);
    }

    fn in_function(&mut self, function: &mut FunctionProto, types: Option<&'m GraphTypes>) {
        let start = self.scope.open(&own_names_of_function(function), types);
        self.has_initializers = false;
        self.nodes(std::mem::take(&mut function.nodes), types);
        (_, function.nodes) = self.scope.close(start);
    }

    fn nodes(&mut self, nodes: Vec<NodeProto>, types: Option<&'m GraphTypes>) {
        for (i, mut node) in nodes.into_iter().enumerate() {
            each_typed_graph(i, &mut node, types, &mut |inner, types| self.graph(inner, types));
            let is_standard = self.names.operator(&node).0.is_empty();
            let is_call = !matches!(self.functions.called(self.names, &node), Ok(None));
            match is_standard && !is_call {
                true => self.node(node, self.version),
                false => self.scope.add_node(node),
            }
        }
    }

    /// Takes a node of a version over the next change of its operator, and what is made of it further on. Each step comes
    /// nearer to the wanted version, so that there are at most as many as versions.
    fn node(&mut self, node: NodeProto, version: i64) {
        if let Some(constant) = self.initializer(&node) {
            return self.scope.add_constant(constant, true);
        }
        let Some((next, change)) = self.next(&node, version) else { return self.scope.add_node(node) };
        let (value, name) = (node.outputs.iter().copied().find(|name| *name != NameId::ROOT), node.name);
        match self.stepped(node, (version, next), change) {
            Ok(nodes) => nodes.into_iter().for_each(|node| self.node(node, next)),
            Err(left) => {
                let (operator, node, reason) = *left;
                self.refuse(&operator, [value, name], node.at, change, &reason);
                self.scope.add_node(node);
            }
        }
    }

    /// The initializer that a node `Constant` becomes, if the wanted version has such nodes for floats only.
    fn initializer(&self, node: &NodeProto) -> Option<TensorProto> {
        let is_early = self.target < CONSTANTS_OF_ALL_TYPES && self.has_initializers;
        let name = node.outputs.first().copied().filter(|name| is_early && *name != NameId::ROOT)?;
        let constant = constant_value(self.names, node, name)?;
        let is_float = constant.data_type.is_some_and(|element| FLOATS.contains(&element));
        (!is_float).then_some(constant)
    }

    /// The version that a node goes to in the next step, and the version of the change that is crossed.
    fn next(&self, node: &NodeProto, version: i64) -> Option<(i64, i64)> {
        let (_, operator) = self.names.operator(node);
        let schemas = Schemas::new();
        if version < self.target {
            let change = schemas.next_change("", operator, version).filter(|change| *change <= self.target)?;
            // What is of a later version already is not known to be right.
            schemas.since("", operator, version)?;
            return Some((change, change));
        }
        let change = schemas.since("", operator, version).filter(|change| *change > self.target)?;
        Some((change - 1, change))
    }

    /// What a node is in the next version; else its operator, what is left of it, and why it cannot be said.
    fn stepped(
        &mut self,
        node: NodeProto,
        versions: (i64, i64),
        change: i64,
    ) -> Result<Vec<NodeProto>, Box<(String, NodeProto, Reason)>> {
        let operator = self.names.operator(&node).1.to_owned();
        let scope = &self.scope;
        let (names, from) = (&mut *self.names, versions.0);
        let mut step = OpsetStep { names, scope, node, from, before: Vec::new(), after: Vec::new() };
        let crossed = cross(&mut step, &operator, versions, change);
        let OpsetStep { node, mut before, after, .. } = step;
        if let Err(reason) = crossed {
            return Err(Box::new((operator, node, reason)));
        }
        self.has_new_names |= !before.is_empty() || !after.is_empty();
        before.push(node);
        before.extend(after);
        Ok(before)
    }

    /// Notes that a node cannot be said.
    fn refuse(&mut self, operator: &str, named: [Option<NameId>; 2], at: u32, change: i64, reason: &str) {
        let [value, name] = named.map(|name| name.map(|name| self.names.spelled(name)).unwrap_or_default());
        let value = if value.is_empty() { value } else { format!(" of `{value}`") };
        let name = if name.is_empty() { name } else { format!(" (node `{name}`)") };
        let (version, target) = (self.version, self.target);
        let message =
            format!("the `{operator}`{value}{name} of version {version} cannot be said in version {target}: {reason}");
        let changes: Vec<&str> = rows_of(operator, change).iter().map(|row| row.change).collect();
        let told = if changes.is_empty() { String::new() } else { format!(": {}", changes.join("; ")) };
        let is_new = Schemas::new().since("", operator, change - 1).is_none();
        let what = if is_new { "added" } else { "changed" };
        let found = NodeFinding::new(Code::OnnxInexpressible, at, message)
            .help(&format!("version {change} of the operator set {what} `{operator}`{told}"));
        self.unsaid.push(Unsaid { operator: operator.to_owned(), found });
    }
}

/// Takes a node over a change of its operator.
fn cross(step: &mut OpsetStep, operator: &str, versions: (i64, i64), change: i64) -> Stepped {
    let (from, to) = versions;
    let SchemaLookup::Schema(own) = Schemas::new().find("", operator, from) else {
        return Err(format!("version {from} has no such operator"));
    };
    for row in rows_of(operator, change) {
        match if to > from { row.up } else { row.down } {
            Crossing::BySchemas => {}
            Crossing::By(function) => function(step)?,
            Crossing::None(reason) => return Err(reason.to_owned()),
        }
    }
    let becomes = step.operator().to_owned();
    let other = standard(&becomes, to).filter(|schema| !schema.deprecated);
    let other = other.ok_or_else(|| match to > from {
        true => format!("version {change} has no such operator"),
        false => format!("it came with version {change}"),
    })?;
    if becomes == operator { difference::cross(step, own, other) } else { difference::fits(step, other) }
}

/// The schema of an operator of the standard, which is not one of onnxruntime in its domain.
fn standard(operator: &str, version: i64) -> Option<&'static Schema> {
    match Schemas::new().find("", operator, version) {
        SchemaLookup::Schema(schema) if !schema.of_vendor => Some(schema),
        _ => None,
    }
}
