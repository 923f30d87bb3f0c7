//! Nodes in bodies of standard operators that stand for the nodes of a graph: that of an attribute of the call.

use super::copy::{CopyTarget, Expand, Expansion, InlinedCall};
use crate::diagnostics::Code;
use crate::onnx::functions::Imports;
use crate::onnx::functions::NodeFinding;
use crate::onnx::model::{AttributeProto, AttributeValue, NodeProto};
use crate::room::with_stack;

/// The operator, in the domain of bodies of standard operators, that stands for the nodes of a graph.
const APPLY: &str = "apply";

impl Expansion<'_> {
    /// Whether a node of the body of a standard operator stands for the nodes of a graph that the call gives.
    pub(super) fn is_application(&self, node: &NodeProto, call: &InlinedCall) -> bool {
        !self.follows_control
            && node.domain.is_some()
            && node.domain == call.function.domain
            && node.op_type.is_some_and(|name| self.names.texts.text(name) == APPLY)
    }

    /// Adds the nodes of the graph that a node stands for.
    pub(super) fn apply(
        &mut self,
        node: &NodeProto,
        attributes: &[AttributeProto],
        call: &InlinedCall,
        target: &mut CopyTarget,
        imports: &mut Imports,
    ) -> Expand<()> {
        let (inputs, outputs) = (self.bindings.all_bound(&node.inputs), self.bindings.all_bound(&node.outputs));
        let graph = attributes.iter().find_map(|attribute| match &attribute.value {
            AttributeValue::Graph(graph) => Some(graph),
            _ => None,
        });
        let Some(graph) = graph.filter(|graph| graph.inputs.len() == inputs.len()) else {
            let message = "the graph in an attribute of this operator has other inputs than the operator gives it";
            return Err(Box::new(NodeFinding::new(Code::OnnxArguments, call.function.at, message.to_owned())));
        };
        with_stack(|| self.splice(graph, &inputs, Some(&outputs), call, target, imports))?;
        Ok(())
    }
}
