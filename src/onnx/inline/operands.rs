//! Operands that calls leave out.

use crate::diagnostics::Code;
use crate::graph::names::NameId;
use crate::onnx::functions::Imports;
use crate::onnx::functions::NodeFinding;
use crate::onnx::model::{ModelNames, NodeProto};
use crate::onnx::schema::{Presence, SchemaLookup, Schemas};

/// Refuses the copy of a node whose operator needs an operand that the call leaves out.
///
/// # Errors
///
/// The operand.
pub(super) fn check(
    names: &ModelNames,
    node: &NodeProto,
    copy: &NodeProto,
    imports: &Imports,
) -> Result<(), Box<NodeFinding>> {
    let operands = node.inputs.iter().zip(&copy.inputs).enumerate();
    let mut left_out =
        operands.filter(|(_, (formal, actual))| **formal != NameId::ROOT && **actual == NameId::ROOT).peekable();
    let (Some(_), Some(version)) = (left_out.peek(), imports.version(names, node.domain)) else { return Ok(()) };
    let (domain, operator) = names.operator(node);
    let SchemaLookup::Schema(schema) = Schemas::new().find(domain, operator, version) else { return Ok(()) };
    let needed = left_out.find_map(|(i, (formal, _))| {
        let parameter = schema.inputs.get(i).filter(|parameter| parameter.presence == Presence::Required)?;
        Some((parameter.name, names.text(*formal)))
    });
    let Some((parameter, formal)) = needed else { return Ok(()) };
    let message = format!("the input `{parameter}` of `{operator}` is `{formal}`, which this call does not give");
    Err(Box::new(NodeFinding::new(Code::OnnxOperands, node.at, message)))
}
