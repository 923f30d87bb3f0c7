//! The functions that training information calls. It stays encoded, and so do its calls: their functions are kept.

use crate::onnx::contents::Contents;
use crate::onnx::functions::Functions;
use crate::onnx::model::{Fields, ModelNames};
use crate::onnx::protobuf::WireError;
use crate::onnx::protobuf::fields::{attribute, graph, model, node, training};
use crate::onnx::protobuf::reader::MessageReader;

/// For each function, whether the training information of a model calls it. If the information cannot be read, any
/// function may be called.
pub(super) fn called(names: &ModelNames, table: &Functions, fields: &Fields) -> Vec<bool> {
    let mut search = Search { names, table, called: vec![false; table.keys.len()] };
    for field in fields.iter().flat_map(|fields| fields.iter()).filter(|field| field.number == model::TRAINING) {
        let message = field.bytes.load().map(Contents::from);
        if !message.is_ok_and(|message| search.training(&mut MessageReader::new(&message)).is_ok()) {
            search.called.fill(true);
        }
    }
    search.called
}

type SearchResult = Result<(), Box<WireError>>;

struct Search<'m> {
    names: &'m ModelNames,
    table: &'m Functions,
    called: Vec<bool>,
}

impl Search<'_> {
    fn training(&mut self, reader: &mut MessageReader) -> SearchResult {
        while let Some((field, _)) = reader.next()? {
            if matches!(field, training::INITIALIZATION | training::ALGORITHM) {
                self.inside(reader, Self::graph)?;
            }
        }
        Ok(())
    }

    /// Searches the message in the current field.
    fn inside(
        &mut self,
        reader: &mut MessageReader,
        search: impl FnOnce(&mut Self, &mut MessageReader) -> SearchResult,
    ) -> SearchResult {
        let outer = reader.enter()?;
        search(self, reader)?;
        reader.leave(outer);
        Ok(())
    }

    fn graph(&mut self, reader: &mut MessageReader) -> SearchResult {
        while let Some((field, _)) = reader.next()? {
            if field == graph::NODE {
                self.inside(reader, Self::node)?;
            }
        }
        Ok(())
    }

    fn node(&mut self, reader: &mut MessageReader) -> SearchResult {
        let text = |reader: &MessageReader| reader.bytes().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let [mut domain, mut name, mut overload] = [const { String::new() }; 3];
        while let Some((field, _)) = reader.next()? {
            match field {
                node::DOMAIN => domain = text(reader)?,
                node::OP_TYPE => name = text(reader)?,
                node::OVERLOAD => overload = text(reader)?,
                node::ATTRIBUTE => self.inside(reader, Self::attribute)?,
                _ => {}
            }
        }
        if let Some(function) = self.table.named(self.names, &domain, &name, &overload) {
            self.called[function] = true;
        }
        Ok(())
    }

    fn attribute(&mut self, reader: &mut MessageReader) -> SearchResult {
        while let Some((field, _)) = reader.next()? {
            if matches!(field, attribute::GRAPH | attribute::GRAPHS) {
                self.inside(reader, Self::graph)?;
            }
        }
        Ok(())
    }
}
