//! Metadata of nodes that are copied from a function: those of the call are added, which tell the module and the line
//! of the source that the call comes from.

use crate::onnx::model::{EncodedField, Fields, Wire};
use crate::onnx::protobuf::fields::{entry, node};
use crate::onnx::protobuf::{decode_entry, writer};
use crate::room;

/// How a value of a call and one of a node in the function become one.
#[derive(Clone, Copy)]
enum Join {
    /// A path of modules.
    Path,
    /// A list of Python, as text.
    List,
    /// Lines, the outermost first.
    Lines,
}

/// The metadata of which the call has the outer part, and the node the inner one. Of others the node's own counts.
const JOINED: &[(&str, Join)] = &[
    ("namespace", Join::Path),
    ("pkg.torch.onnx.class_hierarchy", Join::List),
    ("pkg.torch.onnx.name_scopes", Join::List),
    ("pkg.torch.onnx.stack_trace", Join::Lines),
    ("nnef_flatten.calls", Join::Path),
];

impl Join {
    /// One value of both; none if the node's own has what the call says.
    fn of(self, call: &str, own: &str) -> Option<String> {
        let (head, tail, between) = match self {
            Join::Path => (call, own, "/"),
            Join::Lines => (call, own, "\n"),
            Join::List => (call.strip_suffix(']')?, own.strip_prefix('[')?, ", "),
        };
        let has = |rest: &str| rest.is_empty() || rest == "]" || rest.starts_with(between);
        if own.strip_prefix(head).is_some_and(has) {
            return None;
        }
        // An empty list has no separator.
        let between = if tail == "]" || head == "[" { "" } else { between };
        Some(format!("{head}{between}{tail}"))
    }
}

fn is_entry(field: &EncodedField) -> bool {
    field.number == node::METADATA && field.wire == Wire::Bytes
}

fn entries(fields: &Fields) -> impl Iterator<Item = &EncodedField> {
    fields.iter().flat_map(|fields| fields.iter()).filter(|field| is_entry(field))
}

/// The metadata among fields.
pub(super) fn of(fields: &Fields) -> Fields {
    let found: Vec<EncodedField> = entries(fields).cloned().collect();
    (!found.is_empty()).then(|| Box::new(found))
}

/// The fields of a copied node: its own, and the metadata of the call.
pub(super) fn carried(own: &Fields, call: &Fields) -> Fields {
    if call.is_none() {
        return own.clone();
    }
    let mut merged: Vec<EncodedField> = own.as_deref().cloned().unwrap_or_default();
    if !merged.iter().any(is_entry) {
        merged.extend(entries(call).cloned());
        return Some(Box::new(merged));
    }
    for field in entries(call) {
        match merged.iter().position(|known| is_entry(known) && key(known) == key(field)) {
            Some(place) => merged[place] = joined(field, &merged[place]),
            None => merged.push(field.clone()),
        }
    }
    Some(Box::new(merged))
}

/// The bytes that [`carried`] makes: of values that are joined. Others are shared.
pub(super) fn joined_bytes(own: &Fields, call: &Fields) -> usize {
    if call.is_none() {
        return 0;
    }
    let known: Vec<_> = entries(own).map(|field| (key(field), field.bytes.len())).collect();
    let joined = entries(call).filter_map(|field| {
        let own_key = if known.is_empty() { None } else { key(field) };
        let (_, own) = known.iter().find(|(known, _)| own_key.is_some() && *known == own_key)?;
        Some(field.bytes.len().saturating_add(*own))
    });
    joined.fold(0, usize::saturating_add)
}

/// Adds an entry to the metadata of a node; the value that the node has for its key becomes the outer part.
pub(in crate::onnx) fn add(fields: &mut Fields, added: EncodedField) {
    let fields = fields.get_or_insert_default();
    match fields.iter().position(|known| is_entry(known) && key(known) == key(&added)) {
        Some(place) => fields[place] = joined(&fields[place], &added),
        None => room::push_few(fields, added),
    }
}

fn key(field: &EncodedField) -> Option<Box<str>> {
    decode_entry(&field.bytes)?.key
}

/// The entry of a call and that of a node with the same key, as one.
fn joined(call: &EncodedField, own: &EncodedField) -> EncodedField {
    let both = || {
        let (call, own) = (decode_entry(&call.bytes)?, decode_entry(&own.bytes)?);
        let key = own.key?;
        let join = JOINED.iter().find(|(known, _)| **known == *key)?.1;
        let value = join.of(&call.value?, &own.value?)?;
        writer::to_vec(|writer| {
            writer.text(entry::KEY, &key);
            writer.text(entry::VALUE, &value);
        })
    };
    match both() {
        Some(bytes) => EncodedField { bytes: bytes.into(), ..own.clone() },
        None => own.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_call_has_the_outer_part() {
        for (join, call, own, wanted) in [
            (Join::Path, ": M/b: B", "add: aten.add", Some(": M/b: B/add: aten.add")),
            (Join::Path, ": M", ": M/add: aten.add", None),
            (Join::Path, ": M", ": Mb", Some(": M/: Mb")),
            (Join::List, "['', 'b']", "['add']", Some("['', 'b', 'add']")),
            (Join::List, "['', 'b']", "['', 'b', 'add']", None),
            (Join::List, "['b']", "[]", Some("['b']")),
            (Join::List, "b", "['add']", None),
            (Join::Lines, "File \"a\", line 1", "File \"b\", line 2", Some("File \"a\", line 1\nFile \"b\", line 2")),
        ] {
            assert_eq!(join.of(call, own).as_deref(), wanted, "{call} {own}");
        }
    }

    #[test]
    fn a_key_has_one_entry() {
        let field = |key: &str, value: &str| {
            let bytes = writer::to_vec(|writer| {
                writer.text(entry::KEY, key);
                writer.text(entry::VALUE, value);
            });
            EncodedField { number: node::METADATA, wire: Wire::Bytes, bytes: bytes.unwrap().into() }
        };
        let values = |fields: &Fields| -> Vec<String> {
            let value = |field: &EncodedField| {
                decode_entry(&field.bytes).and_then(|entry| entry.value).unwrap_or_default().into()
            };
            entries(fields).map(value).collect()
        };
        let mut fields = None;
        for (key, value) in [("nnef_flatten.calls", "f"), ("other", "a"), ("nnef_flatten.calls", "g/h")] {
            add(&mut fields, field(key, value));
        }
        assert_eq!(values(&fields), ["f/g/h", "a"]);
        let call = Some(Box::new(vec![field("other", "b"), field("more", "c")]));
        assert_eq!(values(&carried(&fields, &call)), ["f/g/h", "a", "c"]);
        assert_eq!(values(&carried(&None, &call)), ["b", "c"]);
    }
}
