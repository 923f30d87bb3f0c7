//! The signature of the operator or function whose operands or attributes are being written.

use super::hover::function_at;
use super::operator::{FunctionHead, attribute, function, parameter, schema, signature as operands, version};
use super::place::node;
use super::text::OnnxText;
use crate::lsp::analyzed::CallSignature;
use crate::lsp::signature::spans_of;
use crate::onnx::schema::Presence;

/// The signature around an offset.
pub(super) fn signature(of: &OnnxText, offset: u32) -> Option<CallSignature> {
    let node = node(of.source().get(..offset as usize)?)?;
    let (domain, name) = node.operator.rsplit_once('.').unwrap_or(("", node.operator));
    if let Some(FunctionHead { label, inputs, .. }) = function(&of.marks, domain, name) {
        let start = label.find(" (").unwrap_or(0);
        let active = node.operands.filter(|at| *at < inputs.len());
        return Some(CallSignature { params: spans_of(&label, start, &inputs), label, active, remark: None });
    }
    let schema = schema(domain, name, version(of.model(), function_at(of, offset), domain))?;
    let label = operands(name, schema);
    let texts: Vec<String> = schema.inputs.iter().map(|input| parameter(input, schema)).collect();
    let last = schema.inputs.len().checked_sub(1);
    let is_variadic = schema.inputs.last().is_some_and(|last| matches!(last.presence, Presence::Variadic { .. }));
    let active = node.operands.and_then(|at| if is_variadic { last.map(|last| at.min(last)) } else { Some(at) });
    let attributes: Vec<String> = schema.attributes.iter().map(attribute).collect();
    let remark = (!attributes.is_empty()).then(|| format!("Attributes: {}", attributes.join("; ")));
    let active = active.filter(|at| *at < texts.len());
    Some(CallSignature { params: spans_of(&label, name.len(), &texts), label, active, remark })
}
