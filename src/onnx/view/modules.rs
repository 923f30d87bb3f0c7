//! What a model tells about its nodes: their names, modules and source lines.

use super::{TooLarge, View};
use crate::graph::names::NameId;
use crate::graph::{Note, OperationId};
use crate::onnx::model::NodeProto;
use crate::onnx::scopes::NodeScope;

impl View<'_> {
    /// Notes what the model tells about a node.
    pub(super) fn note(&mut self, id: OperationId, node: &NodeProto, scope: &NodeScope) -> Result<(), TooLarge> {
        let name = node.name.filter(|name| *name != NameId::ROOT);
        let of_name = || NodeScope::module_of_name(&self.model.names.spelled(name?));
        let module = scope.module.clone().or_else(of_name);
        let note = Note { node: name, module, source: scope.source.clone() };
        if !note.is_empty() {
            self.charge(note.bytes())?;
            self.graph.add_note(id, note);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::Options;
    use crate::graph::{Graph, OperationId, OriginId};
    use crate::onnx::Document;
    use crate::onnx::model::{EncodedField, Fields, NodeProto, Wire};
    use crate::onnx::protobuf::fields::{entry, node};
    use crate::onnx::protobuf::writer;
    use crate::source::Sources;

    /// Metadata of a node in a module, as the exporter of torch writes them.
    fn metadata(scopes: &str, classes: &str, line: u32) -> Fields {
        let field = |(key, value): (&str, &str)| {
            let bytes = writer::to_vec(|writer| {
                writer.text(entry::KEY, key);
                writer.text(entry::VALUE, value);
            });
            EncodedField { number: node::METADATA, wire: Wire::Bytes, bytes: bytes.unwrap().into() }
        };
        let trace = format!("File \"m.py\", line {line}, in forward\n    x");
        let all = [("name_scopes", scopes), ("class_hierarchy", classes), ("stack_trace", &*trace)];
        Some(Box::new(all.map(|(key, value)| field((&format!("pkg.torch.onnx.{key}"), value))).into()))
    }

    /// The calls around an operation, the innermost first.
    fn calls(graph: &Graph, operation: usize) -> Vec<&str> {
        let mut found = Vec::new();
        let mut origin = graph.operations[operation].origin;
        while origin != OriginId::NONE {
            let row = graph.origin(origin).unwrap();
            found.push(graph.text_of(row.fragment));
            origin = row.parent;
        }
        found
    }

    #[test]
    fn copies_are_in_the_module_of_their_call() {
        let text = r#"<ir_version: 10, opset_import: ["" : 21, "l" : 1]>
            g (float[2] x) => (float[2] y) { t = Neg (x) u = l.f (t) v = l.f (u) y = Exp (v) }
            <domain: "l", opset_import: ["" : 21]> f (a) => (c) { b = Abs (a) c = Relu (b) }"#;
        let (mut sources, options) = (Sources::new(), Options::default());
        let mut document = Document::parse("m", text, &mut sources, &options).0.unwrap();
        let nodes: &mut [NodeProto] = &mut document.model().unwrap().graph.as_mut().unwrap().nodes;
        for (node, module, line) in [(0, 0, 7), (1, 0, 8), (2, 1, 8)] {
            let scopes = format!("['', 'b.{module}', 'b.{module}.a', 'f']");
            nodes[node].rest = metadata(&scopes, "['m.Net', 'm.Block', 'm.Act', 'aten.f']", line);
        }
        nodes[3].rest = metadata("['', 'exp']", "['m.Net', 'aten.exp']", 9);
        document.flatten(&options).unwrap();
        let graph = document.graph(&options).unwrap();
        let told = |i: usize| graph.note(OperationId::at(i)).unwrap().clone();
        let wanted: [(Option<&str>, &str, &[&str]); 6] = [
            (Some("b.0.a"), "m.py:7", &[]),
            (Some("b.0.a"), "m.py:8", &["f"]),
            (Some("b.0.a"), "m.py:8", &["f"]),
            (Some("b.1.a"), "m.py:8", &["f"]),
            (Some("b.1.a"), "m.py:8", &["f"]),
            (None, "m.py:9", &[]),
        ];
        for (i, (module, source, around)) in wanted.into_iter().enumerate() {
            assert_eq!((told(i).module_path(), told(i).source.as_deref()), (module, Some(source)), "{i}");
            assert_eq!(calls(&graph, i), around, "{i}");
        }
        let classes: Vec<String> = told(1).module.unwrap().steps().map(|(_, class)| class.to_owned()).collect();
        assert_eq!((graph.origin_count(), classes), (2, vec!["Block".to_owned(), "Act".to_owned()]));
        let mut json = Vec::new();
        graph.write_source_map(&sources, &mut json).unwrap();
        let json = String::from_utf8(json).unwrap();
        assert!(json.contains(r#""name":"Exp","results":["y"],"source":"m.py:9"}"#), "{json}");
    }
}
