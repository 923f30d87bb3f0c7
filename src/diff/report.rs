//! Differences as text and as JSON.

use std::fmt;
use std::io::{self, Write};

use rustc_hash::FxHashMap;
use serde_json::{Value as Json, json};

use super::difference::{ChangedOperation, DiffChange, Difference, What};
use crate::Graph;
use crate::diagnostics::json::write_line;
use crate::graph::{Operand, Value};
use crate::write;

/// The most items of a list that are shown.
const MOST_ITEMS: usize = 16;
/// The most characters of a text that are shown.
const LONGEST: usize = 200;

/// An operand, without the rest of a long list.
pub(super) fn operand(graph: &Graph, operand: Operand) -> String {
    let value = match operand {
        Operand::Tensors(tensors) => {
            Value::Array(tensors.iter().take(MOST_ITEMS + 1).copied().map(Value::Tensor).collect())
        }
        Operand::Tensor(tensor) => Value::Tensor(tensor),
        Operand::Value(value) => value.clone(),
    };
    write::value_text(graph, &shortened(&value))
}

/// A value without the rest of long lists and texts.
fn shortened(value: &Value) -> Value {
    let more = || Value::Symbol("…".into());
    let list = |items: &[Value]| items.iter().take(MOST_ITEMS).map(shortened).chain([more()]).collect();
    match value {
        Value::Integers(items) if items.len() > MOST_ITEMS => {
            Value::Array(items.iter().take(MOST_ITEMS).map(|item| Value::Int(*item)).chain([more()]).collect())
        }
        Value::Scalars(items) if items.len() > MOST_ITEMS => {
            Value::Array(items.iter().take(MOST_ITEMS).map(|item| Value::Scalar(*item)).chain([more()]).collect())
        }
        Value::Array(items) if items.len() > MOST_ITEMS => Value::Array(list(items)),
        Value::Tuple(items) if items.len() > MOST_ITEMS => Value::Tuple(list(items)),
        Value::Array(items) => Value::Array(items.iter().map(shortened).collect()),
        Value::Tuple(items) => Value::Tuple(items.iter().map(shortened).collect()),
        Value::String(text) => Value::String(short(text).into()),
        Value::Symbol(text) => Value::Symbol(short(text).into()),
        other => other.clone(),
    }
}

/// The beginning of a text.
fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => text[..end].to_owned() + "…",
        None => text.to_owned(),
    }
}

/// Names in a line, without the rest of many.
pub(super) fn list(names: &[String]) -> String {
    let more = if names.len() > MOST_ITEMS { ", …" } else { "" };
    names[..names.len().min(MOST_ITEMS)].join(", ") + more
}

impl ChangedOperation {
    /// `conv y`
    fn shown(&self) -> String {
        if self.result.is_empty() { self.name.clone() } else { format!("{} {}", self.name, self.result) }
    }

    /// `a.nnef:5:3`
    fn shown_place(&self) -> Option<String> {
        let (file, position) = self.place.as_ref()?;
        Some(match position {
            Some(position) => format!("{file}:{}:{}", position.line, position.column),
            None => file.clone(),
        })
    }

    fn object(&self) -> Json {
        let (file, position) = self.place.as_ref().map_or((None, None), |(file, position)| (Some(file), *position));
        json!({
            "operation": self.name, "result": self.result, "path": file,
            "line": position.map(|position| position.line), "column": position.map(|position| position.column),
        })
    }
}

impl DiffChange {
    /// `+` for what only the second graph has, `-` for what only the first one has, `~` for what both have.
    pub(crate) fn sign(&self) -> char {
        match (self.what, &self.old, &self.new) {
            (What::Added, ..) | (What::Input | What::Output | What::Fragment, None, Some(_)) => '+',
            (What::Removed, ..) | (What::Input | What::Output | What::Fragment, Some(_), None) => '-',
            _ => '~',
        }
    }

    /// The change on a line.
    pub(crate) fn line(&self) -> String {
        let places: Vec<String> = self.known().filter_map(ChangedOperation::shown_place).collect();
        let places = if places.is_empty() { String::new() } else { format!(" ({})", places.join(", ")) };
        self.without_places() + &places
    }

    /// The change, without where it is.
    pub(crate) fn without_places(&self) -> String {
        let subject = self.known().next().map_or_else(String::new, ChangedOperation::shown);
        format!("{} {}", self.sign(), self.said(&subject))
    }

    fn known(&self) -> impl Iterator<Item = &ChangedOperation> {
        self.operations.iter().flatten()
    }

    fn said(&self, subject: &str) -> String {
        let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
        let change = || match (&self.old, &self.new) {
            (None, None) => "differ".to_owned(),
            (old, new) => format!("{} -> {}", value(old), value(new)),
        };
        let part = &self.part;
        let of = if subject.is_empty() { String::new() } else { format!("{subject}: ") };
        match self.what {
            What::Added | What::Removed => subject.to_owned(),
            What::Attribute | What::Operand => format!("{of}{part}: {}", change()),
            What::Results => format!("{of}number of results: {}", change()),
            What::Shape if subject.is_empty() => format!("input {part}: shape: {}", change()),
            What::ElementType if subject.is_empty() => format!("input {part}: element type: {}", change()),
            What::Shape => format!("{of}shape of {part}: {}", change()),
            What::ElementType => format!("{of}element type of {part}: {}", change()),
            What::Data => {
                let largest = self.largest.map(|largest| format!(", the largest difference is {largest:e}"));
                format!("{of}data: {}{}", change(), largest.unwrap_or_default())
            }
            What::Input | What::Output => {
                let end = if self.what == What::Input { "input" } else { "output" };
                match (&self.old, &self.new) {
                    (Some(_), Some(_)) if part == "order" => format!("order of {end}s: {}", change()),
                    (Some(old), Some(_)) if old != part => format!("{end} {part}: {}", change()),
                    (Some(_), Some(_)) => format!("name of {end}: {}", change()),
                    _ => format!("{end} {part}"),
                }
            }
            What::Fragment => match (&self.old, &self.new) {
                (Some(old), Some(new)) if old == new => old.clone(),
                (Some(_), Some(_)) => change(),
                (old, new) => old.clone().or(new.clone()).unwrap_or_default(),
            },
        }
    }

    /// The change as an object.
    pub(crate) fn object(&self) -> Json {
        let [a, b] = self.operations.each_ref().map(|of| of.as_ref().map(ChangedOperation::object));
        let part = if self.part.is_empty() { None } else { Some(&self.part) };
        json!({
            "kind": "change", "what": self.what.word(), "module": self.module, "part": part,
            "old": self.old, "new": self.new, "largest_difference": self.largest, "a": a, "b": b,
        })
    }
}

impl Difference {
    /// The changes by the modules around them, in the order in which these occur.
    pub(crate) fn by_module(&self) -> Vec<(&str, Vec<&DiffChange>)> {
        let mut places: FxHashMap<&str, usize> = FxHashMap::default();
        let mut groups: Vec<(&str, Vec<&DiffChange>)> = vec![("", Vec::new())];
        places.insert("", 0);
        for change in &self.changes {
            let at = *places.entry(&change.module).or_insert_with(|| {
                groups.push((&change.module, Vec::new()));
                groups.len() - 1
            });
            groups[at].1.push(change);
        }
        groups.retain(|(_, changes)| !changes.is_empty());
        groups
    }

    fn count(&self, what: What) -> usize {
        self.changes.iter().filter(|change| change.what == what).count()
    }

    /// The line that sums up.
    pub(crate) fn summary(&self) -> String {
        let several = |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
        let mut parts = Vec::new();
        if self.is_equal() {
            parts.push(format!("no difference: {}", several(self.operations[0], "operation", "operations")));
        } else {
            let (added, removed) = (self.count(What::Added), self.count(What::Removed));
            let other = self.changes.len() - added - removed;
            let all = several(self.changes.len(), "change", "changes");
            parts.push(format!("{all}: {added} added, {removed} removed, {other} changed"));
        }
        if self.following > 0 {
            parts.push(format!("{} follow from that", several(self.following, "type or shape", "types and shapes")));
        }
        if self.renamed > 0 {
            parts.push(several(self.renamed, "inner tensor has another name", "inner tensors have other names"));
        }
        if self.unknown_data > 0 {
            let constants = several(self.unknown_data, "constant", "constants");
            parts.push(format!("data of {constants} are on one side only"));
        }
        parts.join("; ")
    }

    /// What sums up, as an object.
    pub(crate) fn summary_object(&self) -> Json {
        json!({
            "kind": "summary", "notes": self.notes, "equal": self.is_equal(), "changes": self.changes.len(),
            "added": self.count(What::Added), "removed": self.count(What::Removed),
            "operations": self.operations, "following": self.following, "renamed": self.renamed,
            "data_on_one_side": self.unknown_data,
        })
    }

    /// Another name of an inner tensor, as an object.
    pub(crate) fn rename_object((old, new): &(String, String)) -> Json {
        json!({ "kind": "renamed", "old": old, "new": new })
    }

    /// Writes each change on a line, by module.
    pub(crate) fn write_changes(&self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        for (module, changes) in self.by_module() {
            if !module.is_empty() {
                writeln!(out, "in {module}:")?;
            }
            changes.iter().try_for_each(|change| writeln!(out, "{}", change.line()))?;
        }
        Ok(())
    }

    /// Writes each change as an object of JSON on a line, and at last an object that sums up.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        self.changes.iter().try_for_each(|change| write_line(out, &change.object()))?;
        self.renames.iter().try_for_each(|names| write_line(out, &Self::rename_object(names)))?;
        write_line(out, &self.summary_object())
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.notes.iter().try_for_each(|note| writeln!(f, "{note}"))?;
        let mut changes = Vec::new();
        self.write_changes(&mut changes).map_err(|_| fmt::Error)?;
        f.write_str(&String::from_utf8_lossy(&changes))?;
        writeln!(f, "{}", self.summary())
    }
}
