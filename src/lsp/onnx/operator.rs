//! Operators of the standard and functions of the model, as they are shown.

use crate::diagnostics::PlacePart;
use crate::onnx::model::{FunctionProto, ModelNames, ModelProto, OperatorSet};
use crate::onnx::schema::{AttributeRow, Parameter, ParameterType, Presence, Schema, SchemaLookup, Schemas};
use crate::onnx::text::{Marked, NameRole, TextMarks};

/// The version of a domain that is imported; the latest one if none is.
pub(super) fn version(model: Option<&ModelProto>, function: Option<&FunctionProto>, domain: &str) -> i64 {
    let imported = |names: &ModelNames, opsets: &[OperatorSet]| {
        let text = |set: &OperatorSet| set.domain.map_or("", |domain| names.texts.text(domain));
        let standard = |name: &str| name == "ai.onnx";
        let same = |set: &&OperatorSet| text(set) == domain || (domain.is_empty() && standard(text(set)));
        opsets.iter().find(same).and_then(|set| set.version)
    };
    let found = model.and_then(|model| {
        let own = function.and_then(|function| imported(&model.names, &function.opsets));
        own.or_else(|| imported(&model.names, &model.opsets))
    });
    found.unwrap_or_else(|| Schemas::new().latest(domain))
}

/// The schema of an operator in a version.
pub(super) fn schema(domain: &str, name: &str, version: i64) -> Option<&'static Schema> {
    let domain = if domain == "ai.onnx" { "" } else { domain };
    match Schemas::new().find(domain, name, version) {
        SchemaLookup::Schema(schema) => Some(schema),
        SchemaLookup::Later(_) | SchemaLookup::Unknown | SchemaLookup::Foreign => None,
    }
}

/// The operands and results of an operator, as in `Add (A: T, B: T) => (C: T)`.
pub(super) fn signature(name: &str, schema: &Schema) -> String {
    let list =
        |parameters: &[Parameter]| parameters.iter().map(|one| parameter(one, schema)).collect::<Vec<_>>().join(", ");
    format!("{name} ({}) => ({})", list(&schema.inputs), list(&schema.outputs))
}

/// An attribute with its type and its default.
pub(super) fn attribute(row: &AttributeRow) -> String {
    let default = row.default.map(|default| format!(" = {default}")).unwrap_or_default();
    let required = if row.required { ", required" } else { "" };
    format!("{}: {}{default}{required}", row.name, row.kind.name())
}

/// An operand or a result, with the name of its type.
pub(super) fn parameter(one: &Parameter, schema: &Schema) -> String {
    let ty = match one.ty {
        ParameterType::Variable(variable) => schema.variables.get(variable).map_or("", |variable| variable.0),
        ParameterType::Fixed(set) => {
            let mut types = Schemas::new().type_names(set);
            match (types.next(), types.next()) {
                (Some(only), None) => only,
                _ => "…",
            }
        }
    };
    let mark = match one.presence {
        Presence::Required => "",
        Presence::Optional => "?",
        Presence::Variadic { .. } => "…",
    };
    format!("{}{mark}: {ty}", one.name)
}

/// The lines about an operator: its signature, and its attributes.
pub(super) fn described(name: &str, schema: &Schema) -> String {
    let mut lines = vec![signature(name, schema)];
    lines.extend(schema.attributes.iter().map(|row| format!("    {}", attribute(row))));
    lines.join("\n")
}

/// The name of an operator with its domain, as texts have it.
pub(super) fn qualified(domain: &str, name: &str) -> String {
    if domain.is_empty() { name.to_owned() } else { format!("{domain}.{name}") }
}

/// The head of a function of the text.
pub(super) struct FunctionHead<'m> {
    pub(super) label: String,
    pub(super) inputs: Vec<&'m str>,
    /// How many nodes are in its body, not counting those in graphs.
    pub(super) nodes: usize,
}

/// The head of the function with a domain and a name, which is known even if the text has errors.
pub(super) fn function<'m>(marks: &'m TextMarks, domain: &str, name: &str) -> Option<FunctionHead<'m>> {
    let is_own = |mark: &&Marked| mark.role == NameRole::Function && mark.domain == domain && mark.text == name;
    head(marks, marks.names.iter().find(is_own)?)
}

/// The head of the function with a name.
pub(super) fn head<'m>(marks: &'m TextMarks, own: &Marked) -> Option<FunctionHead<'m>> {
    let parts = marks.within(marks.scopes.get(own.scope)?.span).iter().filter(|mark| mark.scope == own.scope);
    let texts = |is: fn(&Marked) -> bool| parts.clone().filter(move |mark| is(mark)).map(|mark| mark.text.as_str());
    let inputs: Vec<&str> = texts(|mark| matches!(mark.part, Some(PlacePart::Input(_)))).collect();
    let outputs: Vec<&str> = texts(|mark| matches!(mark.part, Some(PlacePart::Output(_)))).collect();
    let attributes: Vec<&str> = texts(|mark| mark.role == NameRole::Parameter).collect();
    let attributes = if attributes.is_empty() { String::new() } else { format!(" <{}>", attributes.join(", ")) };
    let name = qualified(&own.domain, &own.text);
    let label = format!("{name}{attributes} ({}) => ({})", inputs.join(", "), outputs.join(", "));
    Some(FunctionHead { label, inputs, nodes: texts(|mark| mark.role == NameRole::Operator).count() })
}
