//! Flat graphs as JSON, in two forms that share their parts: that of this program, and that of Khronos' package `nnef` for
//! Python, whose classes take the objects as keyword arguments.
//!
//! Scalars are written with a point. Values that JSON cannot represent are objects:
//! `{"tensor": "n"}` for a tensor in an attribute, `{"symbol": "N"}` for a dimension symbol, and
//! `{"scalar": "inf"}` for a scalar that is not finite.

use std::io::{self, Write};
use std::num::NonZeroUsize;

use crate::graph::names::{NameId, Speller};
use crate::graph::{Extent, Graph, Note, Operand, Operation, OperationId, Output, Primitive, TensorId, Value};
use crate::source::literals::{push_int, push_scalar, scalar_text};
use crate::threads::pieces;

/// The forms.
#[derive(Clone, Copy, PartialEq, Eq)]
enum JsonForm {
    /// That of this program, with what it knows of operations and layouts.
    Own,
    /// The fields of the classes `Graph`, `Tensor` and `Operation` of the package `nnef`, and nothing else.
    Khronos,
}

/// The version of the form of the package `nnef`. It changes when programs that read it have to be changed.
const VERSION: u32 = 1;

/// Writes a graph as one JSON object.
pub(crate) fn write(graph: &Graph, threads: Option<NonZeroUsize>, out: &mut dyn Write) -> io::Result<()> {
    write_as(JsonForm::Own, graph, threads, out)
}

/// Writes a graph as one JSON object with the fields of the package `nnef`.
pub(crate) fn write_khronos(graph: &Graph, threads: Option<NonZeroUsize>, out: &mut dyn Write) -> io::Result<()> {
    write_as(JsonForm::Khronos, graph, threads, out)
}

fn write_as(form: JsonForm, graph: &Graph, threads: Option<NonZeroUsize>, out: &mut dyn Write) -> io::Result<()> {
    let mut head = match form {
        JsonForm::Own => String::from("{\"name\": "),
        JsonForm::Khronos => format!("{{\"version\": {VERSION}, \"name\": "),
    };
    let mut json = Json::new(form, graph, &mut head);
    json.string(graph.text_of(graph.name));
    json.buffer.push_str(", \"inputs\": ");
    json.tensors(&graph.inputs);
    json.buffer.push_str(", \"outputs\": ");
    json.tensors(&graph.outputs);
    head.push_str(",\n\"tensors\": {");
    out.write_all(head.as_bytes())?;
    pieces::write(out, graph.tensors.len(), threads, |range, buffer| {
        let mut json = Json::new(form, graph, buffer);
        pieces::until_full(range, |i| {
            json.separate(i, ",");
            json.tensor_entry(TensorId(i as u32));
            json.buffer.len()
        })
    })?;
    out.write_all(b"},\n\"operations\": [")?;
    pieces::write(out, graph.operations.len(), threads, |range, buffer| {
        let mut json = Json::new(form, graph, buffer);
        pieces::until_full(range, |i| {
            json.separate(i, ",");
            json.operation(&graph.operations[i], graph.note(OperationId::at(i)));
            json.buffer.len()
        })
    })?;
    out.write_all(b"]}\n")
}

/// Appends a string of JSON.
pub(super) fn push_string(buffer: &mut String, text: &str) {
    if is_plain(text) {
        buffer.push('"');
        buffer.push_str(text);
        buffer.push('"');
    } else {
        buffer.push_str(&serde_json::Value::from(text).to_string());
    }
}

/// Appends the name of a tensor as a string of JSON.
pub(super) fn push_name(speller: &mut Speller, name: NameId, buffer: &mut String) {
    buffer.push('"');
    let start = buffer.len();
    speller.write(name, buffer);
    if is_plain(&buffer[start..]) {
        buffer.push('"');
    } else {
        // Names in NNEF are identifiers, those in ONNX are any texts.
        let name = buffer.split_off(start);
        speller.forget();
        buffer.pop();
        push_string(buffer, &name);
    }
}

struct Json<'g, 'b> {
    form: JsonForm,
    graph: &'g Graph,
    buffer: &'b mut String,
    speller: Speller<'g>,
}

impl<'g, 'b> Json<'g, 'b> {
    fn new(form: JsonForm, graph: &'g Graph, buffer: &'b mut String) -> Self {
        Json { form, graph, buffer, speller: graph.speller() }
    }

    fn separate(&mut self, i: usize, separator: &str) {
        if i > 0 {
            self.buffer.push_str(separator);
        }
        self.buffer.push('\n');
    }

    fn string(&mut self, text: &str) {
        push_string(self.buffer, text);
    }

    fn tensor(&mut self, tensor: TensorId) {
        push_name(&mut self.speller, self.graph.tensors[tensor.index()].name, self.buffer);
    }

    fn list<T>(&mut self, items: &[T], each: impl Fn(&mut Self, &T)) {
        self.buffer.push('[');
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.buffer.push_str(", ");
            }
            each(self, item);
        }
        self.buffer.push(']');
    }

    fn tensors(&mut self, tensors: &[TensorId]) {
        self.list(tensors, |json, &tensor| json.tensor(tensor));
    }

    /// `"x": {"dtype": "scalar", "shape": [2, 3]}`
    fn tensor_entry(&mut self, id: TensorId) {
        self.tensor(id);
        self.buffer.push_str(": {");
        if self.form == JsonForm::Khronos {
            self.buffer.push_str("\"name\": ");
            self.tensor(id);
            self.buffer.push_str(", ");
        }
        self.buffer.push_str("\"dtype\": ");
        self.text_or_null(self.graph.element_type(id));
        self.buffer.push_str(", \"shape\": ");
        match self.graph.shape(id) {
            Some(shape) => self.list(shape.extents(), |json, extent| json.extent(extent)),
            None => self.buffer.push_str("null"),
        }
        match self.form {
            JsonForm::Khronos => self.buffer.push_str(", \"data\": null, \"quantization\": {}"),
            #[cfg(feature = "tensor")]
            JsonForm::Own => self.layout(id),
            #[cfg(not(feature = "tensor"))]
            JsonForm::Own => {}
        }
        self.buffer.push('}');
    }

    /// The layout of a tensor and its sizes in bytes; nothing if the tensor has no layout.
    #[cfg(feature = "tensor")]
    fn layout(&mut self, id: TensorId) {
        let Some(layout) = self.graph.layout(id) else { return };
        self.buffer.push_str(", \"layout\": ");
        self.string(&layout.to_string());
        let array = self.graph.array_shape(id);
        let sizes = [
            ("byte_size_of", array.as_ref().and_then(|array| array.element_bytes().ok())),
            ("array_size_bytes", array.as_ref().and_then(|array| array.allocated_bytes().ok())),
        ];
        for (key, size) in sizes {
            let size = size.map_or_else(|| "null".to_owned(), |size| size.to_string());
            self.buffer.push_str(&format!(", \"{key}\": {size}"));
        }
    }

    /// An integer, or an expression on dimension symbols as a string; null if the extent is unknown.
    fn extent(&mut self, extent: &Extent) {
        match extent.known() {
            Some(extent) => push_int(self.buffer, extent),
            None if extent.is_unknown() => self.buffer.push_str("null"),
            None => self.string(&extent.to_string()),
        }
    }

    fn text_or_null(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.string(text),
            None => self.buffer.push_str("null"),
        }
    }

    fn operation(&mut self, operation: &Operation, note: Option<&Note>) {
        let kind = self.graph.kind(operation);
        self.buffer.push_str("{\"name\": ");
        self.string(self.graph.text_of(kind.name));
        self.buffer.push_str(", \"dtype\": ");
        self.text_or_null(operation.dtype().map(Primitive::text));
        let attributes = if self.form == JsonForm::Khronos { "attribs" } else { "attributes" };
        for (key, tensor) in [("inputs", true), (attributes, false)] {
            self.buffer.push_str(", \"");
            self.buffer.push_str(key);
            self.buffer.push_str("\": {");
            for (i, (name, value)) in self.graph.named(operation, tensor).into_iter().enumerate() {
                self.key(i, &name);
                self.operand(value, tensor);
            }
            self.buffer.push('}');
        }
        self.buffer.push_str(", \"outputs\": {");
        for (i, (name, output)) in self.graph.results(operation).enumerate() {
            self.key(i, &name);
            match output {
                Output::Tensor(tensor) => self.tensor(*tensor),
                Output::Array(tensors) => self.tensors(tensors),
            }
        }
        self.buffer.push('}');
        if let (JsonForm::Own, Some(note)) = (self.form, note) {
            self.note(note);
        }
        self.buffer.push('}');
    }

    /// What the model tells about an operation.
    fn note(&mut self, note: &Note) {
        for (key, text) in note.parts(self.graph) {
            if let Some(text) = text {
                self.buffer.push_str(&format!(", \"{key}\": "));
                self.string(&text);
            }
        }
    }

    /// The `i`th key of an object.
    fn key(&mut self, i: usize, name: &str) {
        if i > 0 {
            self.buffer.push_str(", ");
        }
        self.string(name);
        self.buffer.push_str(": ");
    }

    fn operand(&mut self, operand: Operand, input: bool) {
        match operand {
            Operand::Tensor(tensor) => self.value(&Value::Tensor(tensor), input),
            Operand::Tensors(tensors) => {
                self.list(tensors, |json, tensor| json.value(&Value::Tensor(*tensor), input));
            }
            Operand::Value(value) => self.value(value, input),
        }
    }

    /// A value; a tensor is its bare name among inputs, an object in an attribute.
    fn value(&mut self, value: &Value, input: bool) {
        match value {
            Value::Int(i) => push_int(self.buffer, *i),
            Value::Scalar(s) => self.scalar(*s),
            Value::Logical(b) => self.buffer.push_str(if *b { "true" } else { "false" }),
            Value::String(text) => self.string(text),
            Value::Tensor(tensor) if input => self.tensor(*tensor),
            Value::Tensor(tensor) => {
                self.buffer.push_str("{\"tensor\": ");
                self.tensor(*tensor);
                self.buffer.push('}');
            }
            Value::Symbol(text) => {
                self.buffer.push_str("{\"symbol\": ");
                self.string(text);
                self.buffer.push('}');
            }
            Value::Integers(items) => self.list(items, |json, &i| push_int(json.buffer, i)),
            Value::Scalars(items) => self.list(items, |json, &s| json.scalar(s)),
            Value::Array(items) | Value::Tuple(items) => self.list(items, |json, item| json.value(item, input)),
        }
    }

    fn scalar(&mut self, value: f64) {
        if value.is_finite() {
            push_scalar(self.buffer, value);
        } else {
            self.buffer.push_str("{\"scalar\": ");
            self.string(&scalar_text(value));
            self.buffer.push('}');
        }
    }
}

/// Whether a text needs no escapes in JSON.
fn is_plain(text: &str) -> bool {
    // Without an end at the first one, so that several bytes are compared at once.
    let escaped = |byte: u8| !(b' '..=b'~').contains(&byte) | (byte == b'"') | (byte == b'\\');
    !text.bytes().fold(false, |any, byte| any | escaped(byte))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{Options, expand, parse};

    #[test]
    fn arguments_of_undeclared_operations_have_distinct_names() {
        let text = "version 1.0; graph G( x, v ) -> ( y ) { x = external(shape = [1]); v = external(shape = [1]);
            y = vendor(x, 3, input = v, input2 = [v, x], input1 = 5, sizes = [1, 2]); }";
        let options = Options::default();
        let graph = expand(&parse("test", text.to_owned(), &options).document, &options).unwrap().graph;
        let mut out = Vec::new();
        graph.write_json(&mut out).unwrap();
        let json: Value = serde_json::from_slice(&out).unwrap();
        let vendor = &json["operations"][2];
        let inputs = serde_json::json!({ "input3": "x", "input4": 3, "input": "v", "input2": ["v", "x"] });
        assert_eq!(vendor["inputs"], inputs);
        assert_eq!(vendor["attributes"], serde_json::json!({ "input1": 5, "sizes": [1, 2] }));
    }

    #[test]
    fn the_form_of_khronos_has_the_fields_of_its_classes() {
        let text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [1,2]); y = softmax(x, axes = [1]); }";
        let options = Options::default();
        let graph = expand(&parse("test", text.to_owned(), &options).document, &options).unwrap().graph;
        let mut out = Vec::new();
        super::write_khronos(&graph, None, &mut out).unwrap();
        let json: Value = serde_json::from_slice(&out).unwrap();
        let tensor =
            |name: &str| json!({ "name": name, "dtype": "scalar", "shape": [1, 2], "data": null, "quantization": {} });
        let wanted = json!({
            "version": 1, "name": "G", "inputs": ["x"], "outputs": ["y"],
            "tensors": { "x": tensor("x"), "y": tensor("y") },
            "operations": [
                {
                    "name": "external", "dtype": "scalar", "inputs": {}, "attribs": { "shape": [1, 2] },
                    "outputs": { "output": "x" },
                },
                {
                    "name": "softmax", "dtype": null, "inputs": { "x": "x" }, "attribs": { "axes": [1] },
                    "outputs": { "y": "y" },
                },
            ],
        });
        assert_eq!(json, wanted);
    }

    /// Names of ONNX are any texts; each occurrence is escaped once.
    #[cfg(feature = "onnx")]
    #[test]
    fn names_are_escaped_wherever_they_occur() {
        let text = r#"<ir_version: 10, opset_import: ["" : 21]>
            g (float[2] x) => (float[2] y) { t = Neg (x) u = Exp (t) v = Abs (t) y = Add (u, v) }"#;
        let (mut sources, options) = (crate::source::Sources::new(), Options::default());
        let mut document = crate::onnx::Document::parse("m", text, &mut sources, &options).0.unwrap();
        let model = document.model().unwrap();
        let name = model.names.texts.intern(r#"a"b\c"#);
        let name = model.names.value(name);
        let nodes = &mut model.graph.as_mut().unwrap().nodes;
        (nodes[0].outputs[0], nodes[1].inputs[0], nodes[2].inputs[0]) = (name, name, name);
        let mut out = Vec::new();
        document.graph(&options).unwrap().write_json(&mut out).unwrap();
        let json: Value = serde_json::from_slice(&out).unwrap();
        for (operation, what, key) in [(0, "outputs", "Y"), (1, "inputs", "input"), (2, "inputs", "X")] {
            assert_eq!(json["operations"][operation][what][key], r#"a"b\c"#);
        }
    }
}
