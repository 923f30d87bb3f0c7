//! The table is complete, and what cannot be said is told.

use super::change_table::{TABLE, rows_of};
use super::row::Crossing;
use crate::Options;
use crate::onnx::Document;
use crate::onnx::schema::{Presence, Schema, SchemaLookup, Schemas};
use crate::source::Sources;

fn schema(operator: &str, version: i64) -> &'static Schema {
    match Schemas::new().find("", operator, version) {
        SchemaLookup::Schema(schema) => schema,
        other => panic!("{operator} {version}: {other:?}"),
    }
}

/// The changes of all operators: name, version before, version of the change.
fn changes() -> Vec<(&'static str, i64, i64)> {
    let schemas = Schemas::new();
    let mut found = Vec::new();
    for operator in schemas.operators("") {
        let mut version = 0;
        while let Some(next) = schemas.next_change("", operator, version) {
            if version > 0 && !schema(operator, version).of_vendor {
                found.push((operator, version, next));
            }
            version = next;
        }
    }
    found.sort_unstable();
    found
}

/// Whether something other than attributes with defaults, operands that may be omitted and types changed.
fn needs_more(before: &Schema, after: &Schema) -> bool {
    let names = |schema: &Schema| -> Vec<&str> { schema.inputs.iter().map(|input| input.name).collect() };
    let required = |schema: &Schema| schema.inputs.iter().filter(|input| input.presence == Presence::Required).count();
    let attribute = |of: &Schema, name: &str| of.attributes.iter().find(|row| row.name == name).copied();
    let gone = before.attributes.iter().any(|row| {
        let other = attribute(after, row.name);
        row.name != "consumed_inputs"
            && other
                .is_none_or(|other| other.kind != row.kind || other.required && row.default.is_none() && !row.required)
    });
    let new = after.attributes.iter().any(|row| attribute(before, row.name).is_none() && row.default.is_none());
    after.deprecated || gone || new || required(before) < required(after) || names(after).len() < names(before).len()
}

/// Attributes without a default that came later, and mean nothing where they are not given.
const OPTIONAL: &[(&str, i64)] = &[("Constant", 11), ("Split", 18)];

#[test]
fn every_change_has_a_rule() {
    let mut count = 0;
    for (operator, before, version) in changes() {
        let (older, newer) = (schema(operator, before), schema(operator, version));
        if needs_more(older, newer) && !OPTIONAL.contains(&(operator, version)) {
            assert!(!rows_of(operator, version).is_empty(), "{operator} changed with version {version}");
            count += 1;
        }
    }
    assert!(count > 20, "only {count} changes need more");
}

#[test]
fn every_rule_is_of_a_change() {
    let changes = changes();
    for row in TABLE {
        assert!(!row.change.is_empty() && !matches!((row.up, row.down), (Crossing::BySchemas, Crossing::BySchemas)));
        for operator in row.operators {
            let is_new = schema(operator, row.version).version == row.version;
            assert!(is_new, "{operator} did not change with version {}", row.version);
            let known = changes.iter().any(|change| (change.0, change.2) == (*operator, row.version));
            assert!(known || matches!(row.up, Crossing::BySchemas), "{operator} came with version {}", row.version);
        }
    }
}

fn converted(text: &str, version: i64) -> Result<String, String> {
    let (document, found) = Document::parse("test", text, &mut Sources::new(), &Options::default());
    let mut document = document.unwrap_or_else(|| panic!("{text}: {found}"));
    document.convert_opset(&Options::default(), version).map_err(|found| found.to_string())?;
    Ok(document.to_text(false).unwrap().0)
}

#[test]
fn all_that_cannot_be_said_is_told() {
    let text = "<ir_version: 10, opset_import: [\"\" : 21]> g (float[2, 3] x, int64[1] n) => (float[2, 3] y, float z) \
        { a = Trilu (x) y = Softmax <axis = 0> (a) b = ReduceMax <keepdims = 0> (x, n) c, i = TopK (a, n) z = ReduceSum (c) }";
    let told = converted(text, 9).unwrap_err();
    for part in ["`Trilu` of `a`", "`ReduceMax` of `b`", "`TopK` of `c`"] {
        assert!(told.contains(part) && told.contains("version 9"), "{told}");
    }
    assert_eq!(told.matches("E2055").count(), 3, "{told}");
}

#[test]
fn graphs_of_nodes_and_functions_are_converted() {
    let text = "<ir_version: 10, opset_import: [\"\" : 13, \"l\" : 1]> \
        g (bool c, float[2, 1] x) => (float[2] y) <int64[1] axes = {1}> \
        { y = If (c) <then_branch = t () => (a) { a = Squeeze (x, axes) }, else_branch = e () => (b) { b = l.f (x) }> } \
        <domain: \"l\", opset_import: [\"\" : 13]> f (v) => (w) { k = Constant <value_ints = [1]> () w = Squeeze (v, k) }";
    let older = converted(text, 9).unwrap();
    assert_eq!(older.matches("Squeeze <axes: ints = [1]>").count(), 2, "{older}");
    assert_eq!(older.matches("\"\": 9").count(), 2, "{older}");
    assert!(!older.contains("Constant") && !older.contains("int64[1]"), "{older}");
    let newer = converted(&older, 13).unwrap();
    assert_eq!(newer.matches("Squeeze (").count(), 2, "{newer}");
}

#[test]
fn versions_that_are_not_known_are_refused() {
    let text = "<ir_version: 10, opset_import: [\"\" : 99]> g (float x) => (float y) { y = Exp (x) }";
    assert!(converted(text, 13).unwrap_err().contains("version 99"));
}

/// The version of the format grows with that of the operator set, and is not lowered.
#[test]
fn the_format_is_raised() {
    let text = "<ir_version: 4, opset_import: [\"\" : 9]> g (float x) => (float y) { y = Exp (x) }";
    let newer = converted(text, 21).unwrap();
    assert!(newer.contains("ir_version: 10"), "{newer}");
    assert!(converted(&newer, 9).unwrap().contains("ir_version: 10"));
}
