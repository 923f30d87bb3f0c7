//! Folding: what is known is computed, and control flow that becomes known is expanded, until nothing changes.

use super::cut;
use super::fold::constants;
use super::unused;
use crate::Options;
use crate::diagnostics::{Code, Diagnostics};
use crate::eval::{Budget, Limits};
use crate::live::Held;
use crate::onnx::inline::{Functions, each_node, expand, expand_control};
use crate::onnx::model::{ModelProto, ValueInfo};
use crate::onnx::places::Places;
use crate::onnx::run::Stores;
use crate::source::{FileId, Location, Span};

/// The number of rounds after which folding ends: each one resolves a condition that the result of another one decides.
const ROUNDS: usize = 100;

/// Expands a model, given its functions, and computes what is known, and removes what is no longer needed. Returns warnings,
/// and the memory of constants.
///
/// # Errors
///
/// The expansion is refused, see [`expand`].
pub(crate) fn fold(
    model: &mut ModelProto,
    functions: Functions,
    (file, places): (FileId, &Places),
    (stores, limits): (&Stores, Limits),
    options: &Options,
) -> Result<(Diagnostics, Held), Diagnostics> {
    // Loops that stay are told about in the end, when all that can be known is. Until then no bound stands for a number of
    // trips that may become known.
    let early = options.clone().with(|options| {
        (options.flat, options.max_trips) = (false, None);
        options.internal.typed = true;
    });
    let mut found = Diagnostics::of(options.policy());
    let expanded = expand(model, functions, (file, places), &early)?;
    expanded.into_iter().filter(|found| found.code != Code::LoopKept).for_each(|warning| found.report(warning));
    cut(model, Location::new(file, Span::default()), options)?;
    let budget = Budget::new(limits);
    settled(model, (file, places), (stores, &budget), &early)?;
    if options.max_trips.is_some() {
        let bounded = early.with(|early| early.max_trips = options.max_trips);
        settled(model, (file, places), (stores, &budget), &bounded)?;
    }
    unused::remove(model);
    let last = options.clone().with(|options| options.internal.is_folded = true);
    found.extend(expand_control(model, file, places, &last)?.0);
    Ok((found, budget.into_held()))
}

/// The bytes of the nodes of a model, and of the types of its values.
pub(crate) fn memory(model: &ModelProto) -> u64 {
    let Some(graph) = &model.graph else { return 0 };
    let mut bytes: usize = graph.value_info.iter().map(|value| size_of::<ValueInfo>() + value.heap_bytes()).sum();
    each_node(&graph.nodes, &mut |node| bytes += node.bytes());
    bytes as u64
}

/// Computes what is known and expands the control flow that it decides, until nothing changes.
fn settled(
    model: &mut ModelProto,
    (file, places): (FileId, &Places),
    (stores, budget): (&Stores, &Budget),
    options: &Options,
) -> Result<(), Diagnostics> {
    for _ in 0..ROUNDS {
        let nodes = Held::of(memory(model));
        let computed = constants(model, (stores, budget), options);
        drop(nodes);
        let (_, expanded) = expand_control(model, file, places, options)?;
        if !computed && !expanded {
            break;
        }
    }
    Ok(())
}
