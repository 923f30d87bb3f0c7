//! The headers of models and functions.

use std::fmt::Write;

use super::Printer;
use crate::onnx::model::{OperatorSet, StringEntry};
use crate::source::names::Name;

/// The header of a model or a function, with one item in each line.
#[derive(Default)]
pub(super) struct Header {
    items: Vec<String>,
}

impl Header {
    /// Adds an item printed by a function.
    fn add(&mut self, printer: &mut Printer, key: &str, print: impl FnOnce(&mut Printer)) {
        let before = std::mem::take(&mut printer.out.text);
        print(printer);
        let value = std::mem::replace(&mut printer.out.text, before);
        self.items.push(format!("{key}: {value}"));
    }

    pub(super) fn number(&mut self, key: &str, number: Option<i64>) {
        self.items.extend(number.map(|number| format!("{key}: {number}")));
    }

    pub(super) fn text(&mut self, printer: &mut Printer, key: &str, text: &Option<Box<str>>) {
        if let Some(text) = text {
            self.add(printer, key, |printer| printer.text(text));
        }
    }

    pub(super) fn name(&mut self, printer: &mut Printer, key: &str, name: Option<Name>) {
        if let Some(name) = name {
            let text = printer.names.texts.text(name).to_owned();
            self.add(printer, key, |printer| printer.text(&text));
        }
    }

    pub(super) fn opsets(&mut self, printer: &mut Printer, opsets: &[OperatorSet]) {
        if opsets.is_empty() {
            return;
        }
        self.add(printer, "opset_import", |printer| {
            printer.put("[");
            printer.list(opsets, |printer, opset| {
                let domain = opset.domain.map_or("", |domain| printer.names.texts.text(domain)).to_owned();
                printer.text(&domain);
                let _ = write!(printer.out.text, ": {}", opset.version.unwrap_or_default());
            });
            printer.put("]");
        });
    }

    pub(super) fn entries(&mut self, printer: &mut Printer, entries: &[StringEntry]) {
        if !entries.is_empty() {
            self.add(printer, "metadata_props", |printer| printer.entries(entries));
        }
    }

    pub(super) fn print(self, printer: &mut Printer) {
        if !self.items.is_empty() {
            printer.put("<\n    ");
            printer.put(&self.items.join(",\n    "));
            printer.put("\n>\n");
        }
    }
}
