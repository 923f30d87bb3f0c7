//! The element types of results that follow from those of the operands.

use crate::dictionary::{self, ElementRule, Kernel, Vocabulary};
use crate::graph::{Graph, Operand, Primitive, Value};

/// The element type of the result of a standard operation, if it depends on the operands: operations that move items
/// keep the type of the first one, arithmetic gives the widest one. None if the declaration says it.
pub(super) fn of_result(graph: &Graph, operation: &str, arguments: &[Value]) -> Option<Primitive> {
    let row = dictionary::find(Vocabulary::Standard, operation)?;
    // The condition of a selection is not an item of the result.
    let skipped = usize::from(matches!(row.kernel, Some(Kernel::Select)));
    let of = |value: &Value| graph.elements(Operand::from(value));
    match row.elements? {
        ElementRule::First => of(arguments.first()?),
        ElementRule::Widest => arguments.iter().skip(skipped).map(of).reduce(Primitive::wider)?,
        _ => None,
    }
}
