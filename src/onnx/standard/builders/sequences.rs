//! Operators of sequences.

use crate::onnx::infer::ValueType;
use crate::onnx::standard::standard_call::{Build, NotKnown, StandardCall};
use crate::onnx::standard::template::TemplateSettings;
use crate::onnx::types::ElementType;

/// The most inputs or outputs of a graph.
const MAX_VALUES: usize = 1 << 10;

/// A list of numbered names.
fn numbered(count: usize, name: impl Fn(usize) -> String) -> Vec<String> {
    (0..count).map(name).collect()
}

pub(in crate::onnx::standard) fn map(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let (inputs, outputs) = (call.node.inputs.len(), call.node.outputs.len());
    if inputs.max(outputs) > MAX_VALUES || !call.has_attribute("body") {
        return Err(NotKnown);
    }
    settings.set("inputs", numbered(inputs, |i| format!("input{i}")).join(", "));
    settings.set("outputs", numbered(outputs, |i| format!("output{i}")).join(", "));
    let (mut collected, mut body) = (Vec::new(), Vec::new());
    for i in 0..outputs {
        let element = item_element(call, i)?;
        settings.line(format!("empty{i} = SequenceEmpty <dtype: int = {}> ()", element.number));
        collected.push(format!("seq({}[]) before{i}", element.name));
    }
    let mut operands = Vec::new();
    for i in 0..inputs {
        let is_sequence = match call.value_type(i) {
            Some(ValueType::Sequence(_)) => true,
            Some(ValueType::Unknown) | None => return Err(NotKnown),
            Some(_) => false,
        };
        if is_sequence {
            body.push(format!("item{i} = SequenceAt (input{i}, trip)"));
        }
        operands.push(if is_sequence { format!("item{i}") } else { format!("input{i}") });
    }
    let results = numbered(outputs, |i| format!("result{i}")).join(", ");
    body.push(format!("{results} = $apply <body: graph = @body> ({})", operands.join(", ")));
    body.extend(numbered(outputs, |i| format!("after{i} = SequenceInsert (before{i}, result{i})")));
    body.push("still = Identity (go)".to_owned());
    let after = numbered(outputs, |i| format!("after{i}"));
    settings.line(format!(
        "$outputs = Loop <body: graph = step (int64 trip, bool go, {}) => (still, {}) {{ {} }}> (count, goes_on, {})",
        collected.join(", "),
        after.join(", "),
        body.join(" "),
        numbered(outputs, |i| format!("empty{i}")).join(", ")
    ));
    Ok(())
}

/// The element type of the items of a result.
fn item_element(call: &StandardCall, i: usize) -> Build<&'static ElementType> {
    let ty = call.node.outputs.get(i).and_then(|output| call.types.of_value(*output));
    let Some(ValueType::Sequence(item)) = ty else { return Err(NotKnown) };
    item.element().and_then(|element| ElementType::numbered(element as i32)).ok_or(NotKnown)
}
