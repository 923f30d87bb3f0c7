//! Checks nodes against the table of operators: operands, results and types.

use smallvec::SmallVec;

use super::bodies::BodyResults;
use super::checker::{Check, Pass};
use super::flow::ValueTypes;
use super::part::ModelPart;
use crate::diagnostics::{Code, PlacePart};
use crate::graph::names::NameId;
use crate::onnx::constant::ConstantForm;
use crate::onnx::model::{AttributeProto, AttributeValue, NodeProto};
use crate::onnx::schema::{MICROSOFT_DOMAIN, Parameter, ParameterType, Presence, Schema, SchemaLookup, TypeId, counts};
use crate::onnx::scopes::NodeScope;
use crate::progress;

/// The types bound to the type variables of an operator by its operands.
type Bound = SmallVec<[Option<TypeId>; 4]>;

/// Operators of the first versions that programs accept although no version has them.
const EXPERIMENTAL: &[&str] = &[
    "ATen",
    "Affine",
    "ConstantFill",
    "Crop",
    "DynamicSlice",
    "GRUUnit",
    "GivenTensorFill",
    "ImageScaler",
    "ParametricSoftplus",
    "Scale",
    "ScaledTanh",
];

/// The operators whose results have the element type that an attribute names, with this attribute.
const TYPE_ATTRIBUTES: &[(&str, &str)] = &[
    ("Cast", "to"),
    ("EyeLike", "dtype"),
    ("RandomNormal", "dtype"),
    ("RandomNormalLike", "dtype"),
    ("RandomUniform", "dtype"),
    ("RandomUniformLike", "dtype"),
    ("Multinomial", "dtype"),
    ("Bernoulli", "dtype"),
];

impl<'m> Check<'m> {
    /// Checks nodes; values must be defined before they are used.
    pub(super) fn nodes(&mut self, nodes: &'m [NodeProto], body: &ModelPart<'m>) {
        let around = self.node;
        for (i, node) in nodes.iter().enumerate() {
            progress::add(1);
            if self.pass == Pass::Types && !self.flow.spend() {
                break;
            }
            self.path.push(("node", Some(i)));
            let tells = node.name.is_some_and(|name| name != NameId::ROOT) || NodeScope::has_metadata(&node.rest);
            self.node = tells.then_some((self.path.len(), node)).or(around);
            for (at, input) in node.inputs.iter().enumerate() {
                let later = || nodes[i..].iter().any(|node| node.outputs.contains(input));
                self.operand(*input, (node.at, Some(PlacePart::Operand(at))), later);
            }
            self.node(node, body);
            self.path.pop();
        }
        self.node = around;
    }

    fn node(&mut self, node: &'m NodeProto, body: &ModelPart<'m>) {
        let graphs = self.attributes(node, body);
        if self.pass == Pass::All {
            self.named(node, body);
        }
        let types = match self.functions.called(self.names, node) {
            Ok(Some(function)) => self.call(function, node),
            Ok(None) => match self.schema(node, body) {
                Some(schema) => self.operation(node, schema, &graphs, body),
                None => ValueTypes::new(),
            },
            Err(found) => {
                let (code, message, help) = found.told();
                self.report(code, node.at, message, help);
                ValueTypes::new()
            }
        };
        for (i, output) in node.outputs.iter().enumerate() {
            let made = types.get(i).copied().flatten();
            let ty = self.result_type(*output, made, (node.at, Some(PlacePart::Result(i))));
            self.within(("output", Some(i)), |check| check.result(*output, ty, node.at));
        }
    }

    /// Checks the use of an operator against its schema. Returns the types of the results.
    fn operation(
        &mut self,
        node: &'m NodeProto,
        schema: &Schema,
        graphs: &BodyResults,
        body: &ModelPart,
    ) -> ValueTypes {
        self.operands(node, schema, body);
        if self.pass == Pass::Structure {
            self.unknown_attributes(node, schema, body);
            return ValueTypes::new();
        }
        self.schema_attributes(node, schema);
        let bound = self.operand_types(node, schema);
        let mut made = ValueTypes::new();
        for i in 0..node.outputs.len() {
            let named = |check: &mut Self| {
                let ty = check.named_type(node, graphs, i)?;
                check.made_type(node, schema, i, ty);
                Some(ty)
            };
            made.push(output_type(schema, &bound, i).or_else(|| named(self)));
        }
        made
    }

    /// Refuses the type of a result that attributes determine if the operator does not have it.
    fn made_type(&mut self, node: &NodeProto, schema: &Schema, i: usize, ty: TypeId) {
        let Some(parameter) = at(&schema.outputs, i) else { return };
        let allowed = parameter.allowed(schema);
        if !allowed.has(ty) {
            let message = format!(
                "the output `{}` of `{}` is `{}`, the operator makes {}",
                parameter.name,
                self.text(node.op_type),
                self.schemas.type_name(ty),
                listed(self.schemas.type_names(allowed))
            );
            self.report_part(Code::OnnxType, node.at, Some(PlacePart::Result(i)), message, None);
        }
    }

    /// The type of a result that attributes determine.
    fn named_type(&self, node: &NodeProto, graphs: &BodyResults, i: usize) -> Option<TypeId> {
        let operator = self.text(node.op_type);
        let attribute = |name: &str| node.attributes.iter().find(|attribute| self.text(attribute.name) == name);
        if let Some((_, name)) = TYPE_ATTRIBUTES.iter().find(|row| row.0 == operator) {
            let AttributeValue::Int(number) = attribute(name)?.value else { return None };
            return self.tensor_type(Some(i32::try_from(number).ok()?));
        }
        if operator == "Constant" {
            return node.attributes.iter().find_map(|attribute| self.constant_type(attribute));
        }
        self.body_result(node, graphs, i)
    }

    fn constant_type(&self, value: &AttributeProto) -> Option<TypeId> {
        let number = match (self.text(value.name), &value.value) {
            ("value", AttributeValue::Tensor(tensor)) => tensor.data_type?,
            (name, _) => ConstantForm::named(name)?.element as i32,
        };
        self.tensor_type(Some(number))
    }

    /// Checks that a node names an operator of an imported operator set, and has operands or results.
    fn named(&mut self, node: &NodeProto, body: &ModelPart) {
        let name = self.text(node.op_type);
        if name.is_empty() {
            self.report(Code::OnnxModel, node.at, "a node has no operator".to_owned(), None);
        }
        if node.inputs.is_empty() && node.outputs.is_empty() {
            let message = format!("this node of `{name}` has neither inputs nor outputs");
            self.report(Code::OnnxOperands, node.at, message, None);
        }
        if body.imports.version(self.names, node.domain).is_none() {
            let domain = self.standard(node);
            let set = if domain.is_empty() { "ai.onnx" } else { domain };
            let whose = if body.function.is_some() { "function" } else { "model" };
            let message = format!("the {whose} does not import the operator set `{set}` of `{name}`");
            self.report(Code::OnnxNoOpset, node.at, message, None);
        }
    }

    /// The domain of a node; the standard domain is the empty text.
    pub(super) fn standard(&self, node: &NodeProto) -> &'m str {
        match self.text(node.domain) {
            "ai.onnx" => "",
            domain => domain,
        }
    }

    /// The schema of a node's operator in the imported version of its operator set; none if it is unknown.
    fn schema(&mut self, node: &NodeProto, body: &ModelPart) -> Option<&'static Schema> {
        let version = body.imports.version(self.names, node.domain)?;
        let (name, domain) = (self.text(node.op_type), self.standard(node));
        let schemas = self.schemas;
        let key = (node.domain, node.op_type, version);
        let is_new = !self.operators.contains_key(&key);
        let found = *self.operators.entry(key).or_insert_with(|| schemas.find(domain, name, version));
        if is_new {
            self.of_vendor(node, domain, name, found);
        }
        let set = if domain.is_empty() { String::new() } else { format!(" of `{domain}`") };
        let (message, help) = match found {
            SchemaLookup::Schema(schema) if !schema.deprecated => return Some(schema),
            SchemaLookup::Foreign => {
                self.foreign(node);
                return None;
            }
            SchemaLookup::Unknown | SchemaLookup::Later(_) if domain == MICROSOFT_DOMAIN => return None,
            SchemaLookup::Unknown if self.is_misspelt(domain, name, version) => {
                let near = self.nearest(Code::OnnxNoFunction, name, self.schemas.operators(domain));
                let message = format!("no operator set{set} has an operator `{name}`");
                self.report(Code::OnnxNoFunction, node.at, message, near);
                return None;
            }
            _ if self.pass == Pass::Structure || domain.is_empty() && EXPERIMENTAL.contains(&name) => return None,
            SchemaLookup::Schema(schema) => {
                let since = schema.version;
                (format!("operator set {version}{set} has no `{name}` since version {since}"), None)
            }
            SchemaLookup::Later(since) => {
                let message = format!("operator set {version}{set} has no `{name}` yet");
                (message, Some(format!("import version {since} or a later one")))
            }
            SchemaLookup::Unknown => {
                let near = self.nearest(Code::OnnxOperator, name, self.schemas.operators(domain));
                (format!("operator set {version}{set} has no `{name}`"), near)
            }
        };
        self.report(Code::OnnxOperator, node.at, message, help);
        None
    }

    /// Tells of an operator of onnxruntime that is not known, or that stands in the domain of the standard.
    fn of_vendor(&mut self, node: &NodeProto, domain: &str, name: &str, found: SchemaLookup) {
        let (message, help) = match found {
            _ if self.pass != Pass::All => return,
            SchemaLookup::Schema(schema) if schema.of_vendor && domain.is_empty() => {
                (format!("`{name}` in this version of the operator set is of onnxruntime, not of the standard"), None)
            }
            SchemaLookup::Unknown | SchemaLookup::Later(_) if domain == MICROSOFT_DOMAIN => {
                let near = self.nearest(Code::OnnxVendor, name, self.schemas.operators(domain));
                (format!("no operator `{name}` of `{domain}` is known"), near)
            }
            _ => return,
        };
        self.report(Code::OnnxVendor, node.at, message, help);
    }

    /// Whether a model that is expanded has an operator that no version of a known operator set has, if it is not one of a
    /// later version.
    fn is_misspelt(&self, domain: &str, name: &str, version: i64) -> bool {
        let is_later = version > self.schemas.latest(domain);
        self.pass == Pass::Structure && !is_later && !(domain.is_empty() && EXPERIMENTAL.contains(&name))
    }

    /// Whether a node is of a version of its operator set that the table does not have yet.
    pub(super) fn is_later(&self, node: &NodeProto, body: &ModelPart) -> bool {
        let version = body.imports.version(self.names, node.domain);
        version.is_some_and(|version| version > self.schemas.latest(self.standard(node)))
    }

    /// Checks the numbers of operands and results.
    fn operands(&mut self, node: &NodeProto, schema: &Schema, body: &ModelPart) {
        let name = self.text(node.op_type);
        // The operator may have others in a version that the table does not have yet.
        let may_pass = |check: &Self| check.pass == Pass::Structure && (schema.of_vendor || check.is_later(node, body));
        for (what, given, parameters, part) in [
            ("inputs", &node.inputs, &schema.inputs, PlacePart::Operand as fn(usize) -> PlacePart),
            ("outputs", &node.outputs, &schema.outputs, PlacePart::Result),
        ] {
            let (least, most) = counts(parameters);
            let count = given.len();
            if count < least || count > most {
                if may_pass(self) {
                    continue;
                }
                let wanted = match most {
                    usize::MAX => format!("{least} or more"),
                    most if most == least => least.to_string(),
                    most => format!("{least} to {most}"),
                };
                let message = format!("`{name}` has {wanted} {what}, this node has {count}");
                let surplus = (count > most).then(|| part(most));
                self.report_part(Code::OnnxOperands, node.at, surplus, message, None);
                continue;
            }
            let missing = |parameter: &(usize, &Parameter)| {
                parameter.1.presence == Presence::Required && given[parameter.0] == NameId::ROOT
            };
            if let Some((_, parameter)) = parameters.iter().take(given.len()).enumerate().find(missing) {
                // Programs compute results that are not used.
                let (code, what) = match (what, self.pass) {
                    ("inputs", _) => (Code::OnnxOperands, "input"),
                    (_, Pass::All) => (Code::OnnxOperands, "output"),
                    _ => (Code::OnnxIncomplete, "output"),
                };
                let message = format!("the {what} `{}` of `{name}` is left out", parameter.name);
                self.report(code, node.at, message, None);
            }
        }
    }

    /// Checks the known types of operands, and binds type variables.
    fn operand_types(&mut self, node: &NodeProto, schema: &Schema) -> Bound {
        let mut bound = Bound::from_elem(None, schema.variables.len());
        for (i, input) in node.inputs.iter().enumerate() {
            let Some(parameter) = at(&schema.inputs, i) else { continue };
            let Some(ty) = self.scopes.type_of(*input) else { continue };
            let allowed = parameter.allowed(schema);
            let operator = self.text(node.op_type);
            if !allowed.has(ty) {
                let message = format!(
                    "the input `{}` of `{operator}` is `{}`, the operator takes {}",
                    parameter.name,
                    self.schemas.type_name(ty),
                    listed(self.schemas.type_names(allowed))
                );
                self.report_part(Code::OnnxType, node.at, Some(PlacePart::Operand(i)), message, None);
                continue;
            }
            let ParameterType::Variable(variable) = parameter.ty else { continue };
            let alike = !matches!(parameter.presence, Presence::Variadic { alike: false, .. });
            match bound[variable].filter(|_| alike) {
                None if alike => bound[variable] = Some(ty),
                Some(other) if other != ty => {
                    let message = format!(
                        "the input `{}` of `{operator}` is `{}`, an earlier input that must have the same type is `{}`",
                        parameter.name,
                        self.schemas.type_name(ty),
                        self.schemas.type_name(other)
                    );
                    self.report_part(Code::OnnxType, node.at, Some(PlacePart::Operand(i)), message, None);
                }
                _ => {}
            }
        }
        bound
    }

    /// The type of a result: that of the operator, or else the declared type.
    fn result_type(&mut self, output: NameId, made: Option<TypeId>, at: (u32, Option<PlacePart>)) -> Option<TypeId> {
        let declared = self.scopes.declared(output);
        if let (Some(made), Some(declared)) = (made, declared)
            && made != declared
        {
            let message = format!(
                "`{}` is declared as `{}`, the operator produces `{}`",
                self.names.text(output),
                self.schemas.type_name(declared),
                self.schemas.type_name(made)
            );
            self.report_part(Code::OnnxType, at.0, at.1, message, None);
        }
        made.or(declared)
    }
}

/// The parameter of an operand; further operands belong to the last parameter, which is variadic.
fn at(parameters: &[Parameter], i: usize) -> Option<&Parameter> {
    parameters.get(i).or_else(|| parameters.last())
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
