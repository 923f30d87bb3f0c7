//! Operators that are nothing but their bodies: inference and evaluation look at the body of a call, which becomes a
//! function with names of its own.

use std::borrow::Cow;

use super::body_table::BodyTable;
use super::facts::OperandTypes;
use super::standard_call::StandardCall;
use crate::graph::names::NameId;
use crate::onnx::model::{AttributeProto, Fields, FunctionProto, ModelNames, ModelProto, NodeProto, OperatorSet};
use crate::onnx::operators::row_of;
use crate::onnx::schema::{MICROSOFT_DOMAIN, Schemas};
use crate::onnx::text::parse_function;

/// Whether all that is known of an operator is its body.
pub(crate) fn is_its_body(domain: &str, name: &str) -> bool {
    row_of(domain, name).is_none() && BodyTable::Functions.needs(domain, name).is_some()
}

/// The body of a call as the only function of a model; none if what it depends on is not known. The versions are those of
/// the operator set of the node, and of the standard one if it is imported.
pub(crate) fn apart(
    names: &ModelNames,
    node: &NodeProto,
    types: &dyn OperandTypes,
    version: i64,
    base: Option<i64>,
) -> Option<ModelProto> {
    let (domain, name) = names.operator(node);
    let body = BodyTable::Functions.body(domain, name, version)?;
    let base = base.unwrap_or_else(|| Schemas::new().latest(""));
    let call = StandardCall { names, node, version: base, types, needs: body.needs, domain: "" };
    let text = body.text(&body.settings(&call).ok()?).ok()?;
    let mut own = ModelNames::default();
    let parsed = parse_function(&mut own, &text).ok().filter(|of| node.inputs.len() <= of.inputs.len())?;
    let opset = |domain, version| OperatorSet { domain: Some(domain), version: Some(version), rest: Fields::None };
    let opsets = vec![opset(own.standard_domain(), base), opset(own.texts.intern(MICROSOFT_DOMAIN), 1)];
    let function = FunctionProto { opsets: opsets.clone(), ..parsed };
    Some(ModelProto { names: own, opsets, functions: vec![function], ..ModelProto::default() })
}

/// A node as it is in a call of the function around it: without the operands that the call omits, and with the attributes
/// that the call gives in place of references, if it does.
pub(crate) fn called<'m>(
    node: &'m NodeProto,
    omits: impl Fn(usize, NameId) -> bool,
    given: impl Fn(&AttributeProto) -> Option<AttributeProto>,
) -> Cow<'m, NodeProto> {
    let inputs = || node.inputs.iter().enumerate();
    let refers = node.attributes.iter().any(|attribute| attribute.reference.is_some());
    if !refers && !inputs().any(|(i, input)| *input != NameId::ROOT && omits(i, *input)) {
        return Cow::Borrowed(node);
    }
    let attribute = |attribute: &AttributeProto| match attribute.reference {
        None => Some(attribute.clone()),
        Some(_) => Some(AttributeProto { name: attribute.name, ..given(attribute)? }),
    };
    Cow::Owned(NodeProto {
        inputs: inputs().map(|(i, input)| if omits(i, *input) { NameId::ROOT } else { *input }).collect(),
        attributes: node.attributes.iter().filter_map(attribute).collect(),
        ..node.clone()
    })
}
