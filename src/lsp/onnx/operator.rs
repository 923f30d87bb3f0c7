//! Operators of the standard and functions of the model, as they are shown.

use crate::onnx::model::{FunctionProto, ModelNames, ModelProto, OperatorSet};
use crate::onnx::schema::{AttributeRow, Parameter, ParameterType, Presence, Schema, SchemaLookup, Schemas};

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
pub(super) fn schema((domain, name): (&str, &str), version: i64) -> Option<&'static Schema> {
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

/// The function of a model with a domain and a name.
pub(super) fn function_named<'m>(
    model: &'m ModelProto,
    (domain, name): (&str, &str),
) -> Option<(&'m ModelNames, &'m FunctionProto)> {
    let text = |name: Option<crate::source::names::Name>| name.map_or("", |name| model.names.texts.text(name));
    let found = model.functions.iter().find(|one| text(one.name) == name && text(one.domain) == domain)?;
    Some((&model.names, found))
}

/// The header of a function of the model.
pub(super) fn header(names: &ModelNames, function: &FunctionProto) -> String {
    let text = |name: Option<crate::source::names::Name>| name.map_or("", |name| names.texts.text(name));
    let values =
        |ids: &[crate::graph::names::NameId]| ids.iter().map(|id| names.text(*id)).collect::<Vec<_>>().join(", ");
    let own = function.attributes.iter().map(|name| names.texts.text(*name));
    let attributes: Vec<&str> = own.chain(function.defaults.iter().map(|default| text(default.name))).collect();
    let attributes = if attributes.is_empty() { String::new() } else { format!(" <{}>", attributes.join(", ")) };
    let domain = text(function.domain);
    let dot = if domain.is_empty() { "" } else { "." };
    let (inputs, outputs) = (values(&function.inputs), values(&function.outputs));
    format!("{domain}{dot}{}{attributes} ({inputs}) => ({outputs})", text(function.name))
}
