//! What metadata tell about nodes: their names, modules and source lines, and groups of the nodes of a module.

use super::{RESULT, TooLarge, View};
use crate::graph::names::NameId;
use crate::graph::{Note, OperationId, OriginId};
use crate::onnx::model::NodeProto;
use crate::onnx::scopes::NodeScope;

impl View<'_> {
    /// The group of the modules around a node, inside the group of its graph. A group has nodes that follow each other: a
    /// module that is used again has another one.
    pub(super) fn module_group(
        &mut self,
        scope: &NodeScope,
        node: &NodeProto,
        group: OriginId,
    ) -> Result<OriginId, TooLarge> {
        if scope.modules.is_empty() && node.inputs.is_empty() {
            // A constant between the nodes of a module.
            return Ok(group);
        }
        let own = &scope.modules[scope.common(&self.around)..];
        let shared = own.iter().zip(&self.open).take_while(|(module, open)| **module == open.0).count();
        self.open.truncate(shared);
        for module in &own[shared..] {
            self.charge(RESULT as usize + module.title.len())?;
            let title = self.graph.symbols_mut().intern(&module.title);
            let at = self.at(node.at);
            let row = self.graph.add_call_place(title, at);
            let parent = self.open.last().map_or(group, |open| open.1);
            let origin = self.graph.add_origin(parent, row);
            self.open.push((module.clone(), origin));
        }
        Ok(self.open.last().map_or(group, |open| open.1))
    }

    /// Notes what the model tells about a node.
    pub(super) fn note(&mut self, id: OperationId, node: &NodeProto, scope: &NodeScope) -> Result<(), TooLarge> {
        let name = node.name.filter(|name| *name != NameId::ROOT);
        let of_name = || NodeScope::path_of_name(&self.model.names.spelled(name?));
        let module = scope.path().cloned().or_else(of_name);
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

    /// The names of the groups around an operation, the innermost first.
    fn groups(graph: &Graph, operation: usize) -> Vec<&str> {
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
            (Some("b.0.a"), "m.py:7", &["a: Act", "b.0: Block"]),
            (Some("b.0.a"), "m.py:8", &["f", "a: Act", "b.0: Block"]),
            (Some("b.0.a"), "m.py:8", &["f", "a: Act", "b.0: Block"]),
            (Some("b.1.a"), "m.py:8", &["f", "a: Act", "b.1: Block"]),
            (Some("b.1.a"), "m.py:8", &["f", "a: Act", "b.1: Block"]),
            (None, "m.py:9", &[]),
        ];
        for (i, (module, source, around)) in wanted.into_iter().enumerate() {
            assert_eq!((told(i).module.as_deref(), told(i).source.as_deref()), (module, Some(source)), "{i}");
            assert_eq!(groups(&graph, i), around, "{i}");
        }
        // The nodes of a module that follow each other have one group.
        assert_eq!(graph.origin_count(), 6);
        let mut json = Vec::new();
        graph.write_source_map(&sources, &mut json).unwrap();
        let json = String::from_utf8(json).unwrap();
        assert!(json.contains(r#""name":"Exp","results":["y"],"source":"m.py:9"}"#), "{json}");
    }
}
