//! Checks nodes against the table of operators: operands, attributes and types.

use rustc_hash::FxHashSet;

use super::{Body, Check};
use crate::diagnostics::Code;
use crate::graph::names::NameId;
use crate::onnx::model::{Attribute, AttributeValue, Function, Node};
use crate::onnx::schema::{Found, Parameter, ParameterType, Presence, Schema, TypeId, counts};
use crate::onnx::types::AttributeType;
use crate::source::names::Name;

/// The types bound to the type variables of an operator by its operands.
type Bound = Vec<Option<TypeId>>;

impl<'m> Check<'m> {
    /// Checks nodes; values must be defined before they are used.
    pub(super) fn nodes(&mut self, nodes: &'m [Node], body: &Body<'m>) {
        for (i, node) in nodes.iter().enumerate() {
            self.within(("node", Some(i)), |check| {
                for input in &node.inputs {
                    let later = || nodes[i..].iter().any(|node| node.outputs.contains(input));
                    check.operand(*input, node.at, later);
                }
                check.node(node, body);
            });
        }
    }

    fn node(&mut self, node: &'m Node, body: &Body<'m>) {
        self.attributes(node, body);
        let called = match self.functions.called(self.names, node) {
            Ok(called) => called.map(|function| &self.functions.keys[function]).copied(),
            Err(found) => return found.report(self.file, &mut self.diagnostics),
        };
        let schema = if called.is_none() { self.schema(node, body) } else { None };
        let bound = schema.as_deref().map_or_else(Vec::new, |schema| {
            self.operands(node, schema);
            self.schema_attributes(node, schema);
            self.operand_types(node, schema)
        });
        for (i, output) in node.outputs.iter().enumerate() {
            let made = schema.as_deref().and_then(|schema| output_type(schema, &bound, i));
            let ty = self.result_type(*output, made, node.at);
            self.within(("output", Some(i)), |check| check.define(*output, ty, node.at));
        }
    }

    /// The schema of a node's operator in the imported version of its operator set; none if it is unknown.
    fn schema(&mut self, node: &Node, body: &Body) -> Option<std::rc::Rc<Schema>> {
        let (name, domain) = (self.text(node.op_type), self.text(node.domain));
        let domain = if domain == "ai.onnx" { "" } else { domain };
        let Some(version) = body.imports.version(self.names, node.domain) else {
            let set = if domain.is_empty() { "ai.onnx" } else { domain };
            let whose = if body.function.is_some() { "function" } else { "model" };
            let message = format!("the {whose} does not import the operator set `{set}` of `{name}`");
            self.report(Code::OnnxNoOpset, node.at, message, None);
            return None;
        };
        let set = if domain.is_empty() { String::new() } else { format!(" of `{domain}`") };
        let (message, help) = match self.schemas.find(domain, name, version) {
            Found::Schema(schema) if !schema.deprecated => return Some(schema),
            Found::Foreign => return None,
            Found::Schema(schema) => {
                let since = schema.version;
                (format!("operator set {version}{set} has no `{name}` any more, since version {since}"), None)
            }
            Found::Later(since) => {
                let message = format!("operator set {version}{set} has no `{name}` yet");
                (message, Some(format!("import version {since} or a later one")))
            }
            Found::Unknown => {
                let near = self.nearest(Code::OnnxOperator, name, self.schemas.operators(domain));
                (format!("operator set {version}{set} has no `{name}`"), near)
            }
        };
        self.report(Code::OnnxOperator, node.at, message, help);
        None
    }

    /// Checks the numbers of operands and results.
    fn operands(&mut self, node: &Node, schema: &Schema) {
        let name = self.text(node.op_type);
        for (what, given, parameters) in
            [("inputs", &node.inputs, &schema.inputs), ("outputs", &node.outputs, &schema.outputs)]
        {
            let (least, most) = counts(parameters);
            let count = given.len();
            if count < least || count > most {
                let wanted = match most {
                    usize::MAX => format!("{least} or more"),
                    most if most == least => least.to_string(),
                    most => format!("{least} to {most}"),
                };
                let message = format!("`{name}` has {wanted} {what}, this node has {count}");
                self.report(Code::OnnxOperands, node.at, message, None);
                continue;
            }
            // Any output may be omitted.
            let missing = |parameter: &(usize, &Parameter)| {
                parameter.1.presence == Presence::Required && given[parameter.0] == NameId::ROOT
            };
            let known = parameters.iter().take(given.len()).enumerate();
            if let Some((_, parameter)) = known.filter(|_| what == "inputs").find(missing) {
                let message = format!("the input `{}` of `{name}` is left out", parameter.name);
                self.report(Code::OnnxOperands, node.at, message, None);
            }
        }
    }

    /// Checks the attributes of any node: names, references, and contents.
    fn attributes(&mut self, node: &'m Node, body: &Body<'m>) {
        let mut seen = FxHashSet::default();
        for (i, attribute) in node.attributes.iter().enumerate() {
            self.path.push(("attribute", Some(i)));
            if !seen.insert(attribute.name) {
                let message = format!("the attribute `{}` is given twice", self.text(attribute.name));
                self.report(Code::OnnxTwice, node.at, message, None);
            }
            if let Some(reference) = attribute.reference {
                self.reference(reference, node, body);
            }
            match &attribute.value {
                AttributeValue::Graph(graph) => self.within(("g", None), |check| check.graph(graph, body)),
                AttributeValue::Graphs(graphs) => {
                    for (i, graph) in graphs.iter().enumerate() {
                        self.within(("graphs", Some(i)), |check| check.graph(graph, body));
                    }
                }
                AttributeValue::Tensor(tensor) => self.tensor(tensor, node.at),
                AttributeValue::Tensors(tensors) => tensors.iter().for_each(|tensor| self.tensor(tensor, node.at)),
                _ => {}
            }
            self.path.pop();
        }
    }

    fn reference(&mut self, reference: Name, node: &Node, body: &Body) {
        if body.attributes.contains(&reference) {
            return;
        }
        let name = self.text(Some(reference));
        let (message, help) = match body.function {
            None => (format!("`@{name}` stands outside of a function"), None),
            Some(function) => {
                let known = attributes_of(function).map(|known| self.text(Some(known)));
                let near = self.nearest(Code::OnnxNoAttribute, name, known);
                (format!("the function `{}` has no attribute `{name}`", self.text(function.name)), near)
            }
        };
        self.report(Code::OnnxNoAttribute, node.at, message, help);
    }

    /// Checks attributes against the schema of the operator.
    fn schema_attributes(&mut self, node: &Node, schema: &Schema) {
        let operator = self.text(node.op_type);
        for attribute in &node.attributes {
            let name = self.text(attribute.name);
            let Some(row) = schema.attributes.iter().find(|row| row.name == name) else {
                let near = self.nearest(Code::OnnxNoAttribute, name, schema.attributes.iter().map(|row| row.name));
                let message = format!("`{operator}` has no attribute `{name}`");
                self.report(Code::OnnxNoAttribute, node.at, message, near);
                continue;
            };
            let given = kind(attribute);
            if given.is_some_and(|given| given != row.kind) {
                let given = given.map_or("", AttributeType::name);
                let message = format!("the attribute `{name}` of `{operator}` is `{}`, not `{given}`", row.kind.name());
                self.report(Code::OnnxAttributeType, node.at, message, None);
            }
        }
        for row in schema.attributes.iter().filter(|row| row.required) {
            if !node.attributes.iter().any(|attribute| self.text(attribute.name) == row.name) {
                let message = format!("`{operator}` needs the attribute `{}`", row.name);
                self.report(Code::OnnxAttributeMissing, node.at, message, None);
            }
        }
    }

    /// Checks the known types of operands, and binds type variables.
    fn operand_types(&mut self, node: &Node, schema: &Schema) -> Bound {
        let mut bound: Bound = vec![None; schema.variables.len()];
        for (i, input) in node.inputs.iter().enumerate() {
            let Some(parameter) = at(&schema.inputs, i) else { continue };
            let Some(ty) = self.scopes.type_of(*input) else { continue };
            let allowed = match parameter.ty {
                ParameterType::Variable(variable) => schema.variables[variable].1,
                ParameterType::Fixed(set) => set,
            };
            let operator = self.text(node.op_type);
            if !allowed.has(ty) {
                let message = format!(
                    "the input `{}` of `{operator}` is `{}`, the operator takes {}",
                    parameter.name,
                    self.schemas.type_name(ty),
                    listed(self.schemas.type_names(allowed))
                );
                self.report(Code::OnnxType, node.at, message, None);
                continue;
            }
            let ParameterType::Variable(variable) = parameter.ty else { continue };
            let alike = !matches!(parameter.presence, Presence::Variadic { alike: false, .. });
            match bound[variable].filter(|_| alike) {
                None if alike => bound[variable] = Some(ty),
                Some(other) if other != ty => {
                    let message = format!(
                        "the input `{}` of `{operator}` is `{}`, an input before it that has to be of the same type is `{}`",
                        parameter.name,
                        self.schemas.type_name(ty),
                        self.schemas.type_name(other)
                    );
                    self.report(Code::OnnxType, node.at, message, None);
                }
                _ => {}
            }
        }
        bound
    }

    /// The type of a result: that of the operator, or else the declared type.
    fn result_type(&mut self, output: NameId, made: Option<TypeId>, at: u32) -> Option<TypeId> {
        let declared = self.scopes.declared(output);
        if let (Some(made), Some(declared)) = (made, declared)
            && made != declared
        {
            let message = format!(
                "`{}` is declared as `{}`, the operator makes `{}`",
                self.names.text(output),
                self.schemas.type_name(declared),
                self.schemas.type_name(made)
            );
            self.report(Code::OnnxType, at, message, None);
        }
        made.or(declared)
    }
}

/// The names of the attributes of a function.
pub(super) fn attributes_of(function: &Function) -> impl Iterator<Item = Name> {
    let defaults = function.defaults.iter().filter_map(|attribute| attribute.name);
    function.attributes.iter().copied().chain(defaults)
}

/// The parameter of an operand; further operands belong to the last parameter, which is variadic.
fn at(parameters: &[Parameter], i: usize) -> Option<&Parameter> {
    parameters.get(i).or_else(|| parameters.last())
}

/// The type of an attribute: the declared type, or else that of its value.
fn kind(attribute: &Attribute) -> Option<AttributeType> {
    let written = attribute.kind.filter(|kind| *kind != 0).and_then(AttributeType::numbered);
    written.or_else(|| attribute.value.kind())
}

fn output_type(schema: &Schema, bound: &Bound, i: usize) -> Option<TypeId> {
    let parameter = at(&schema.outputs, i)?;
    match parameter.ty {
        _ if matches!(parameter.presence, Presence::Variadic { alike: false, .. }) => None,
        ParameterType::Variable(variable) => bound[variable].or_else(|| schema.variables[variable].1.single()),
        ParameterType::Fixed(set) => set.single(),
    }
}

/// The first few names of a list.
fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    const SHOWN: usize = 6;
    let names: Vec<&str> = names.collect();
    match names.len() {
        0..=SHOWN => names.join(", "),
        len => format!("{} and {} more", names[..SHOWN].join(", "), len - SHOWN),
    }
}
