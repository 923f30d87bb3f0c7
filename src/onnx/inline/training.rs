//! The functions that training information calls. It stays encoded, and so do its calls: their functions are kept.

use super::functions::Functions;
use crate::onnx::contents::Contents;
use crate::onnx::model::{Fields, ModelNames};
use crate::onnx::protobuf::WireError;
use crate::onnx::protobuf::fields::{attribute, graph, model, node, training};
use crate::onnx::protobuf::reader::{MessageReader, Payload};

/// For each function, whether the training information of a model calls it. If the information cannot be read, any
/// function may be called.
pub(super) fn called(names: &ModelNames, table: &Functions, fields: &Fields) -> Vec<bool> {
    let mut search = Search { names, table, called: vec![false; table.keys.len()] };
    for field in fields.iter().flat_map(|fields| fields.iter()).filter(|field| field.number == model::TRAINING) {
        let message = field.bytes.load().map(Contents::from);
        if !message.is_ok_and(|message| search.training(MessageReader::new(&message)).is_ok()) {
            search.called.fill(true);
        }
    }
    search.called
}

struct Search<'m> {
    names: &'m ModelNames,
    table: &'m Functions,
    called: Vec<bool>,
}

impl Search<'_> {
    fn training(&mut self, mut reader: MessageReader) -> Result<(), WireError> {
        while let Some((field, payload)) = reader.field()? {
            if matches!(field, training::INITIALIZATION | training::ALGORITHM) {
                self.graph(reader.message(&payload)?)?;
            }
        }
        Ok(())
    }

    fn graph(&mut self, mut reader: MessageReader) -> Result<(), WireError> {
        while let Some((field, payload)) = reader.field()? {
            if field == graph::NODE {
                self.node(reader.message(&payload)?)?;
            }
        }
        Ok(())
    }

    fn node(&mut self, mut reader: MessageReader) -> Result<(), WireError> {
        let text = |reader: &MessageReader, payload: &Payload| {
            Ok(String::from_utf8_lossy(&reader.bytes(payload)?).into_owned())
        };
        let [mut domain, mut name, mut overload] = [const { String::new() }; 3];
        while let Some((field, payload)) = reader.field()? {
            match field {
                node::DOMAIN => domain = text(&reader, &payload)?,
                node::OP_TYPE => name = text(&reader, &payload)?,
                node::OVERLOAD => overload = text(&reader, &payload)?,
                node::ATTRIBUTE => {
                    let mut reader = reader.message(&payload)?;
                    while let Some((field, payload)) = reader.field()? {
                        if matches!(field, attribute::GRAPH | attribute::GRAPHS) {
                            self.graph(reader.message(&payload)?)?;
                        }
                    }
                }
                _ => {}
            }
        }
        if let Some(function) = self.table.named(self.names, &domain, &name, &overload) {
            self.called[function] = true;
        }
        Ok(())
    }
}
