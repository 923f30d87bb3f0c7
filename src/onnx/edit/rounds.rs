//! Folding: what is known is computed, and control flow that becomes known is expanded, until nothing changes.

use super::cut;
use super::fold::{self, FoldRun, Folded};
use super::simplify::{RuleCounts, UsedRules};
use super::unused;
use crate::Options;
use crate::diagnostics::{Code, Diagnostics};
use crate::eval::Budget;
use crate::live::Held;
use crate::onnx::functions::Functions;
use crate::onnx::inline::{expand, expand_control, is_control};
use crate::onnx::model::{ModelProto, ValueInfo};
use crate::onnx::places::PlacedModel;
use crate::onnx::run::Computing;
use crate::onnx::walk::each_node;
use crate::source::{Location, Span};

/// The number of rounds after which folding ends: each one resolves a condition that the result of another one decides.
const ROUNDS: usize = 100;

/// The number of passes of rules after which simplifying ends: each one may remove what only the last one left unused, and
/// a chain of such nodes must not take time that is out of proportion to the model.
const PASSES: usize = 24;

/// Expands a model, given its functions, and computes what is known, and removes what is no longer needed. Returns warnings,
/// and the memory of constants.
///
/// # Errors
///
/// The expansion is refused, see [`expand`].
pub(crate) fn fold(
    model: &mut ModelProto,
    functions: Functions,
    places: PlacedModel,
    computing: Computing,
    options: &Options,
) -> Result<(Diagnostics, Held), Diagnostics> {
    decided(model, functions, places, Rounds { folded: Folded::Replaced, rules: None, computing }, options)
        .map(|(found, held, _)| (found, held))
}

/// Expands a model, given its functions, and simplifies it by rules, until nothing changes. Returns warnings, the memory of
/// constants, and how often each rule was applied.
///
/// # Errors
///
/// The expansion is refused, see [`expand`].
pub(crate) fn simplify(
    model: &mut ModelProto,
    functions: Functions,
    places: PlacedModel,
    computing: Computing,
    rules: UsedRules,
    options: &Options,
) -> Result<(Diagnostics, Held, RuleCounts), Diagnostics> {
    let folded = if rules.folds() { Folded::Replaced } else { Folded::Noted };
    decided(model, functions, places, Rounds { folded, rules: Some(rules), computing }, options)
}

/// Expands a model, given its functions. The control flow that is expanded is that of [`fold`], but nodes whose results are
/// known stay. Returns warnings.
///
/// # Errors
///
/// The expansion is refused, see [`expand`].
pub(crate) fn unroll(
    model: &mut ModelProto,
    functions: Functions,
    places: PlacedModel,
    computing: Computing,
    options: &Options,
) -> Result<Diagnostics, Diagnostics> {
    decided(model, functions, places, Rounds { folded: Folded::Noted, rules: None, computing }, options)
        .map(|(found, ..)| found)
}

/// What is done in rounds.
struct Rounds<'s> {
    folded: Folded,
    /// The rules by which the model is simplified then.
    rules: Option<UsedRules>,
    computing: Computing<'s>,
}

fn decided(
    model: &mut ModelProto,
    functions: Functions,
    placed: PlacedModel,
    Rounds { folded, rules, computing }: Rounds,
    options: &Options,
) -> Result<(Diagnostics, Held, RuleCounts), Diagnostics> {
    let (PlacedModel { file, places }, Computing { stores, limits }) = (placed, computing);
    // Loops that stay are told about in the end, when all that can be known is. Until then no bound stands for a number of
    // trips that may become known.
    let early = options.clone().with(|options| {
        (options.flat, options.max_trips) = (false, None);
        options.internal.typed = true;
    });
    let mut found = Diagnostics::of(options.policy());
    let expanded = expand(model, functions, placed, &early)?;
    expanded.into_iter().filter(|found| found.code != Code::LoopKept).for_each(|warning| found.report(warning));
    cut(model, Location::new(file, Span::default()), options)?;
    let budget = Budget::new(limits);
    let mut run = FoldRun::new(folded, model, stores, &budget);
    run.removes = rules.is_none_or(UsedRules::removes);
    settled(model, placed, &mut run, &early)?;
    let bounded = early.with(|early| early.max_trips = options.max_trips);
    if options.max_trips.is_some() {
        settled(model, placed, &mut run, &bounded)?;
    }
    if folded == Folded::Replaced && rules.is_none() {
        unused::remove(model);
    }
    let mut counts = RuleCounts::default();
    if let Some(rules) = rules {
        counts = simplified(model, placed, &mut run, rules, &bounded)?;
    }
    let last = options.clone().with(|options| options.internal.is_folded = true);
    found.extend(expand_control(model, file, places, &last)?.0);
    model.graph.iter_mut().for_each(fold::forget);
    Ok((found, budget.into_held(), counts))
}

/// Merges arithmetic into weights until nothing changes. Returns how often each rule was applied.
pub(crate) fn merge(model: &mut ModelProto, rules: UsedRules, options: &Options) -> RuleCounts {
    let mut counts = RuleCounts::default();
    for _ in 0..PASSES {
        let nodes = Held::of(memory(model));
        let round = super::simplify::merge(model, rules, options);
        drop(nodes);
        if round.total() == 0 {
            break;
        }
        counts.add(&round);
    }
    counts
}

/// Simplifies a model, and computes what is known then, until nothing changes. Returns how often each rule was applied.
fn simplified(
    model: &mut ModelProto,
    places: PlacedModel,
    run: &mut FoldRun,
    rules: UsedRules,
    options: &Options,
) -> Result<RuleCounts, Diagnostics> {
    let mut counts = RuleCounts::default();
    for _ in 0..PASSES {
        let nodes = Held::of(memory(model));
        let round = super::simplify::simplify(model, rules, options);
        drop(nodes);
        if round.total() == 0 {
            break;
        }
        counts.add(&round);
        settled(model, places, run, options)?;
    }
    counts.count_folded(run.replaced);
    Ok(counts)
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
    PlacedModel { file, places }: PlacedModel,
    run: &mut FoldRun,
    options: &Options,
) -> Result<(), Diagnostics> {
    for _ in 0..ROUNDS {
        if run.folded == Folded::Noted && !has_control(model) {
            break;
        }
        let nodes = Held::of(memory(model));
        let computed = fold::constants(model, run, options);
        drop(nodes);
        let (_, expanded) = expand_control(model, file, places, options)?;
        if !computed && !expanded {
            break;
        }
    }
    Ok(())
}

/// Whether there is control flow that may become known.
fn has_control(model: &ModelProto) -> bool {
    let mut found = false;
    if let Some(graph) = &model.graph {
        each_node(&graph.nodes, &mut |node| found |= is_control(&model.names, node));
    }
    found
}
