//! Models in text, and the types that are inferred for their values.

mod control;
mod operators;
mod values;

use super::{ModelTypes, ValueType, infer};
use crate::Options;
use crate::graph::dims::Dim;
use crate::onnx::Document;
use crate::source::Sources;

/// The start of a model of one graph.
const HEADER: &str = "<ir_version: 10, opset_import: [\"\" : 21]>";

/// The text of a type: `float32[N, 4]`, with items as `int64[2]{N, 4}`.
fn told(ty: &ValueType) -> String {
    let list = |dims: &[Dim]| dims.iter().map(Dim::text).collect::<Vec<_>>().join(", ");
    match ty {
        ValueType::Unknown => "?".to_owned(),
        ValueType::Other => "other".to_owned(),
        ValueType::Sequence(item) => format!("seq({})", told(item)),
        ValueType::Optional(content) => format!("optional({})", told(content)),
        ValueType::Tensor(facts) => {
            let element = facts.element.map_or("?", |element| element.text());
            let shape = facts.shape.as_ref().map_or("[..]".to_owned(), |shape| format!("[{}]", list(shape)));
            let items = facts.items.as_ref().map_or(String::new(), |items| format!("{{{}}}", list(items)));
            format!("{element}{shape}{items}")
        }
    }
}

/// Infers the types of a model, and applies a function to them and the names.
fn with_types<T>(
    text: &str,
    options: &Options,
    f: impl FnOnce(&ModelTypes, &dyn Fn(&str) -> crate::graph::names::NameId) -> T,
) -> T {
    let (document, found) = Document::parse("m", text.to_owned(), &mut Sources::new(), &Options::default());
    let mut document = document.unwrap_or_else(|| panic!("{text}: {found:?}"));
    let model = document.model().unwrap();
    let types = infer(model, options);
    f(&types, &|name| model.names.value_named(name).unwrap_or_else(|| panic!("{name} in {text}")))
}

/// Checks the types of values, given as `y: float32[N, 4]; z: ?`, of a graph of nodes and, after them, functions.
fn check_in(version: i64, inputs: &str, nodes: &str, functions: &str, wanted: &str) {
    let text = format!(
        "<ir_version: 10, opset_import: [\"\" : {version}, \"local\" : 1, \"ai.onnx.ml\" : 5, \
         \"ai.onnx.preview.training\" : 1]> g ({inputs}) => () {{ {nodes} }} {functions}"
    );
    with_types(&text, &Options::default(), |types, id| {
        for wanted in wanted.split("; ") {
            let (name, ty) = wanted.split_once(": ").unwrap();
            let found = types.main.values.get(id(name)).map_or("absent".to_owned(), told);
            assert_eq!(found, ty, "{name} in {nodes}");
        }
    });
}

fn check(inputs: &str, nodes: &str, wanted: &str) {
    check_in(21, inputs, nodes, "", wanted);
}
