//! Checks constant tensors: their types, and the fields with their elements.

use super::checker::{Check, Pass};
use crate::diagnostics::Code;
use crate::graph::names::NameId;
use crate::onnx::model::{GraphProto, TensorProto};
use crate::onnx::protobuf::fields::{graph, tensor as fields};
use crate::onnx::protobuf::sparse;
use crate::onnx::types::ElementType;

/// The last version of the format in which initializers are defaults of inputs.
const ONLY_DEFAULTS: i64 = 3;

/// The fields of elements.
const ELEMENTS: &[u32] = &[
    fields::FLOAT_DATA,
    fields::INT32_DATA,
    fields::STRING_DATA,
    fields::INT64_DATA,
    fields::RAW_DATA,
    fields::DOUBLE_DATA,
    fields::UINT64_DATA,
];

/// Whether the data of a tensor are outside the model.
fn is_external(tensor: &TensorProto) -> bool {
    let mut fields = tensor.rest.iter().flat_map(|fields| fields.iter());
    fields.any(|field| field.number == fields::DATA_LOCATION && field.bytes.number() == 1)
}

/// What is wrong about the type of a tensor or the fields of its elements.
pub(super) fn fault(tensor: &TensorProto) -> Option<(Code, String)> {
    let Some(element) = tensor.data_type.and_then(ElementType::numbered) else {
        let what = match tensor.data_type {
            None | Some(0) => "has no element type".to_owned(),
            Some(number) => format!("has the unknown element type {number}"),
        };
        return Some((Code::OnnxElement, what));
    };
    let mut used: Vec<u32> = Vec::new();
    for field in tensor.rest.iter().flat_map(|fields| fields.iter()) {
        let counts = !field.bytes.is_empty() || field.number == fields::STRING_DATA;
        if counts && ELEMENTS.contains(&field.number) && !used.contains(&field.number) {
            used.push(field.number);
        }
    }
    let is_empty = tensor.dims.contains(&0);
    let what = if is_external(tensor) {
        match used[..] {
            [] => return None,
            _ => "has elements in the model and in another file",
        }
    } else {
        match used[..] {
            [] if is_empty => return None,
            [] => "has no elements",
            [_] if is_empty => "has elements, but its shape has none",
            [fields::RAW_DATA] => return None,
            [field] if field == element.storage.field() => return None,
            [_] => "stores its elements in the field of another type",
            _ => "stores its elements in several fields",
        }
    };
    Some((Code::OnnxData, what.to_owned()))
}

impl<'m> Check<'m> {
    /// Checks a constant tensor.
    pub(super) fn constant(&mut self, tensor: &TensorProto, at: u32) {
        if self.pass != Pass::All {
            return;
        }
        match fault(tensor) {
            Some((code, what)) => {
                let named = tensor.name.filter(|name| *name != NameId::ROOT);
                let named =
                    named.map_or("a tensor".to_owned(), |name| format!("the tensor `{}`", self.names.text(name)));
                self.report(code, at, format!("{named} {what}"), None);
            }
            None => self.tensor(tensor, at),
        }
    }

    /// Checks the constants of a graph, and defines them.
    pub(super) fn initializers(&mut self, graph: &'m GraphProto, at: u32) {
        for (i, tensor) in graph.initializers.iter().enumerate() {
            self.within(("initializer", Some(i)), |check| check.initializer(tensor, at));
        }
        let mut seen = rustc_hash::FxHashSet::default();
        for (i, name) in sparse::names(graph).enumerate() {
            self.within(("sparse_initializer", Some(i)), |check| check.sparse_initializer(&name, at));
            if !name.is_empty() && !seen.insert(name.clone()) {
                self.report(Code::OnnxTwice, at, format!("`{name}` is defined twice"), None);
            }
        }
        if self.pass == Pass::All {
            self.sparse_fields(("sparse_initializer", Some(0)), &graph.rest, graph::SPARSE_INITIALIZER, at);
        }
    }

    /// Checks a constant; it is the default of the input with its name, if there is one.
    fn initializer(&mut self, tensor: &TensorProto, at: u32) {
        self.constant(tensor, at);
        let Some(name) = tensor.name.filter(|name| *name != NameId::ROOT) else {
            return self.report(Code::OnnxModel, at, "an initializer has no name".to_owned(), None);
        };
        if self.scopes.is_own(name) && !self.scopes.has_default(name) {
            return self.scopes.give_default(name);
        }
        if self.pass == Pass::All && (1..=ONLY_DEFAULTS).contains(&self.ir_version) {
            let message = format!("the initializer `{}` is not an input", self.names.text(name));
            self.report(Code::OnnxModel, at, message, None);
        }
        let ty = self.tensor_type(tensor.data_type);
        self.define(name, ty, at);
        self.scopes.give_default(name);
    }

    /// Defines a sparse constant by the text of its name, if anything refers to it.
    fn sparse_initializer(&mut self, text: &str, at: u32) {
        if text.is_empty() {
            return self.report(Code::OnnxModel, at, "an initializer has no name".to_owned(), None);
        }
        let Some(name) = self.names.value_named(text) else { return };
        if !self.scopes.is_own(name) || self.scopes.has_default(name) {
            self.define(name, None, at);
        }
        self.scopes.give_default(name);
    }
}
