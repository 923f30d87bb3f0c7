//! The types that pass between a node and the graphs in its attributes.

use smallvec::SmallVec;

use super::checker::Check;
use super::flow::ValueTypes;
use super::part::ModelPart;
use crate::onnx::model::{AttributeProto, NodeProto};
use crate::onnx::schema::TypeId;
use crate::source::names::Name;

/// The operators whose results are those of graphs in attributes: the attribute, and the number of results of the graph
/// before those of the operator.
const RESULTS: &[(&str, &str, usize)] =
    &[("If", "then_branch", 0), ("If", "else_branch", 0), ("Loop", "body", 1), ("Scan", "body", 0)];

/// The version of `Scan` from which on it has no lengths of sequences in front of its operands.
const SCAN_WITHOUT_LENGTHS: i64 = 9;

/// The types of the results of graphs in the attributes of a node, by the name of the attribute.
pub(super) type BodyResults = SmallVec<[(Option<Name>, ValueTypes); 2]>;

impl Check<'_> {
    /// The type of a result of a node that is a result of one of its graphs.
    pub(super) fn body_result(&self, node: &NodeProto, graphs: &BodyResults, i: usize) -> Option<TypeId> {
        let operator = self.text(node.op_type);
        let mut rows = RESULTS.iter().filter(|row| row.0 == operator);
        rows.find_map(|(_, name, skipped)| {
            let graph = graphs.iter().find(|graph| self.text(graph.0) == *name)?;
            *graph.1.get(i + skipped)?
        })
    }

    /// The types that a node gives to the inputs of the graph in one of its attributes.
    pub(super) fn given_to(&self, node: &NodeProto, attribute: &AttributeProto, body: &ModelPart) -> ValueTypes {
        if self.text(attribute.name) != "body" || !self.standard(node).is_empty() {
            return ValueTypes::new();
        }
        let operands = |first: usize| node.inputs.iter().skip(first).map(|input| self.scopes.type_of(*input));
        let named = |name: &str| self.schemas.type_id(name);
        match self.text(node.op_type) {
            "Loop" => [named("tensor(int64)"), named("tensor(bool)")].into_iter().chain(operands(2)).collect(),
            "Scan" => {
                let version = body.imports.version(self.names, node.domain).unwrap_or(SCAN_WITHOUT_LENGTHS);
                operands(usize::from(version < SCAN_WITHOUT_LENGTHS)).collect()
            }
            "SequenceMap" => operands(0).map(|ty| Some(self.item(ty?))).collect(),
            _ => ValueTypes::new(),
        }
    }

    /// The type of the items of a sequence, and any other type itself.
    fn item(&self, ty: TypeId) -> TypeId {
        let name = self.schemas.type_name(ty);
        let item = name.strip_prefix("seq(").and_then(|rest| rest.strip_suffix(')'));
        item.and_then(|item| self.schemas.type_id(item)).unwrap_or(ty)
    }
}
