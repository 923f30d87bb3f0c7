//! Windows with items for the spatial axes only, which the printed bodies of `avg_roi_align` and `max_roi_align` have:
//! along batch and channels their extent is 1.

use super::{Graph, Operand, Operation, Value};
use crate::dictionary::ShapeRule;

/// Whether a window of so many items over a tensor of this rank leaves out batch and channels.
pub(crate) fn is_of_space(items: usize, rank: usize) -> bool {
    items > 0 && items + 2 == rank
}

/// The arguments of a window, with what stands for batch and channels.
const ARGUMENTS: [&str; 4] = ["size", "stride", "dilation", "padding"];

/// Gives windows of spatial axes items for batch and channels, where the rank of the operand is known.
pub(crate) fn complete(graph: &mut Graph) {
    let is_pool = |rule| matches!(rule, Some(ShapeRule::Pool | ShapeRule::Sample));
    let pools: Vec<bool> = graph
        .kinds
        .iter()
        .map(|kind| kind.standard && graph.meaning(kind).is_some_and(|row| is_pool(row.shape)))
        .collect();
    let names: Vec<_> =
        ARGUMENTS.into_iter().filter_map(|name| graph.symbols.get(name).map(|symbol| (name, symbol))).collect();
    let Some((_, size)) = names.first().copied().filter(|(name, _)| *name == ARGUMENTS[0]) else { return };
    let rank_of = |operation: &Operation| {
        let input = graph.operands_of(operation).find_map(|operand| match operand {
            Operand::Tensor(tensor) => Some(tensor),
            _ => None,
        });
        let rank = graph.shape(input?)?.rank();
        let size = items(graph.argument_named(operation, size)?.value()?);
        (pools[graph.kind_id(operation).index()] && is_of_space(size, rank)).then_some(rank)
    };
    let operations = graph.operations.iter().enumerate();
    let changed: Vec<(usize, usize)> = operations.filter_map(|(i, operation)| Some((i, rank_of(operation)?))).collect();
    for (argument, name) in names.into_iter().filter(|_| !changed.is_empty()) {
        let whole = |(i, rank): &(usize, usize)| {
            let given = graph.argument_named(&graph.operations[*i], name)?.value()?;
            is_of_space(items(given), *rank).then(|| (*i, beside_batch(given, argument == "padding")))
        };
        let new: Vec<(usize, Value)> = changed.iter().filter_map(whole).collect();
        graph.replace_argument(name, new);
    }
}

/// The number of items of an array.
fn items(value: &Value) -> usize {
    match value {
        Value::Integers(items) => items.len(),
        Value::Array(items) => items.len(),
        _ => 0,
    }
}

/// An array with items for batch and channels in front.
fn beside_batch(value: &Value, is_padding: bool) -> Value {
    let first = match is_padding {
        true => Value::Tuple([Value::Int(0), Value::Int(0)].into()),
        false => Value::Int(1),
    };
    let rest: Vec<Value> = match value {
        Value::Integers(items) => items.iter().map(|item| Value::Int(*item)).collect(),
        Value::Array(items) => items.to_vec(),
        other => return other.clone(),
    };
    Value::list([first.clone(), first].into_iter().chain(rest).collect())
}
