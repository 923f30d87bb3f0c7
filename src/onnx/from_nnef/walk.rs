//! Walks over nodes, also over those in the bodies of others.

use crate::graph::names::NameId;
use crate::onnx::model::{AttributeValue, GraphProto, NodeProto};

/// The bodies that a node has as attributes.
pub(super) fn bodies(node: &NodeProto) -> impl Iterator<Item = &GraphProto> {
    node.attributes.iter().filter_map(|attribute| match &attribute.value {
        AttributeValue::Graph(body) => Some(&**body),
        _ => None,
    })
}

/// Calls a function with all nodes, also with those in bodies, which are not many within each other.
pub(super) fn each_node<'n>(nodes: &'n [NodeProto], f: &mut impl FnMut(&'n NodeProto)) {
    for node in nodes {
        f(node);
        bodies(node).for_each(|body| each_node(&body.nodes, f));
    }
}

/// Calls a function with all operands of nodes, also with those in bodies.
pub(super) fn each_operand(nodes: &mut [NodeProto], f: &impl Fn(&mut NameId)) {
    for node in nodes {
        node.inputs.iter_mut().for_each(f);
        for attribute in &mut node.attributes {
            if let AttributeValue::Graph(body) = &mut attribute.value {
                each_operand(&mut body.nodes, f);
            }
        }
    }
}
