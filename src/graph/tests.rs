//! Tests of small parts of the graph.

use super::operation::Operation;
use super::packed::SignatureId;
use super::primitive::Primitive;
use super::scan::is_named;
use super::shape_table::{ShapeId, ShapeTable};
use super::{Graph, OriginId, Shape, TensorId};
use crate::source::Location;

#[test]
fn operations_keep_signature_and_type_argument() {
    for signature in [0, 1, (1 << 28) - 1] {
        for dtype in Primitive::ALL.into_iter().map(Some).chain([None]) {
            for explicit in [false, true] {
                let operation = {
                    let signature = SignatureId(signature);
                    Operation::new(signature, (dtype, explicit), 0, TensorId(0), Location::default(), OriginId::NONE)
                };
                assert_eq!(operation.signature().index(), signature as usize);
                assert_eq!(operation.type_argument(), (dtype, explicit));
            }
        }
    }
}

#[test]
fn names_may_have_been_escaped() {
    assert!(is_named("h", "h") && is_named("Y.y_h", "Y_y_h") && is_named("0.x", "_0_x"));
    assert!(!is_named("h", "hh") && !is_named("a.b", "a_c") && !is_named("", "x"));
}

#[test]
fn equal_shapes_have_one_number() {
    let mut table = ShapeTable::default();
    let (a, b) = (table.intern(Shape::of(&[2, 3])), table.intern(Shape::of(&[3, 2])));
    assert_ne!(a, b);
    assert_eq!(table.intern(Shape::of(&[3, 2])), b);
    assert_eq!(table.intern(Shape::of(&[2, 3])), a);
    assert_eq!(table.get(b), Some(&Shape::of(&[3, 2])));
    assert_eq!(size_of::<Option<ShapeId>>(), 4);
}

/// The statements after that of the input, without spaces at their ends.
pub(crate) fn statements(graph: &Graph) -> String {
    let mut out = Vec::new();
    graph.write_nnef(&mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    text.lines().filter(|line| line.contains(" = ")).skip(1).map(str::trim).collect::<Vec<_>>().join(" ")
}
