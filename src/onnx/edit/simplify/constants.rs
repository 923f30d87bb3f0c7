//! Nodes `Constant` as initializers.

use crate::graph::Element;
use crate::graph::names::NameId;
use crate::onnx::constant::ConstantForm;
use crate::onnx::model::{AttributeValue, EncodedField, Fields, ModelNames, NodeProto, TensorProto};
use crate::onnx::protobuf::fields::{node as node_fields, tensor as tensor_fields};
use crate::onnx::run::tensor_proto;
use crate::tensor::Tensor;

/// The value of a node `Constant` with a name, and with the documentation and the metadata of the node; none if it has
/// another form than a tensor of numbers.
pub(in crate::onnx::edit) fn value(names: &ModelNames, node: &NodeProto, name: NameId) -> Option<TensorProto> {
    let (domain, operator) = names.operator(node);
    let [attribute] = &node.attributes[..] else { return None };
    if !domain.is_empty() || operator != "Constant" || attribute.reference.is_some() {
        return None;
    }
    let constant = match (&attribute.value, names.texts.text(attribute.name?)) {
        (AttributeValue::Tensor(tensor), "value") => (**tensor).clone(),
        (value, name) => {
            let form = ConstantForm::named(name).filter(|form| form.element != Element::String)?;
            let items = form.items(value)?;
            tensor_proto(&Tensor::new(&form.shape(items.len()), items)?, None)
        }
    };
    let mut fields = constant.rest.map(|fields| *fields).unwrap_or_default();
    fields.extend(told(&node.rest));
    Some(TensorProto { name: Some(name), rest: Some(Box::new(fields)), ..constant })
}

/// The documentation and the metadata of a node, as fields of a tensor.
fn told(fields: &Fields) -> impl Iterator<Item = EncodedField> {
    let moved = |field: &EncodedField| {
        let number = match field.number {
            node_fields::DOC_STRING => tensor_fields::DOC_STRING,
            node_fields::METADATA => tensor_fields::METADATA,
            _ => return None,
        };
        Some(EncodedField { number, ..field.clone() })
    };
    fields.iter().flat_map(|fields| fields.iter()).filter_map(moved)
}
