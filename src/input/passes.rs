//! What the options ask of a flat graph before it is written or evaluated: values of inputs, a part of it, and passes.

use rustc_hash::FxHashSet;

use super::Refusal;
use super::settings::Settings;
use super::source::{Backing, Expanded, Flat};
use crate::graph::TensorId;
use crate::graph::names::NameId;
use crate::nnef::expand::compounds::expand_compounds;
use crate::nnef::reserved::is_reserved;
use crate::parts::{KERNELS, OUTLINING};
use crate::progress::{self, Phase};
use crate::{Graph, write};

/// What passes did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Passed {
    /// The number of operations that became constants, if they were folded.
    pub(crate) folded: Option<usize>,
    /// The number of operations that were merged with equal ones, if they were shared.
    pub(crate) shared: Option<usize>,
}

/// A graph whose inputs have the values of the options, and of which the part that the options select is left.
pub(crate) fn selected(result: Expanded, settings: &Settings) -> Expanded {
    let (mut graph, mut found) = result?;
    let bound = graph.bind(&settings.bound).map_err(|error| found.report(error.diagnostic(&graph)));
    let cut = bound.and_then(|()| graph.cut(&settings.options.internal.cut).map_err(|refused| found.extend(refused)));
    if cut.is_ok() { Ok((graph, found)) } else { Err(found) }
}

/// A graph that was made from another notation, with its compounds expanded where the options and the output notation
/// want that.
pub(super) fn lowered(result: Expanded, to: &write::Notation, settings: &Settings) -> Expanded {
    let (graph, mut found) = result?;
    let compounds = to.needs.compounds.map(|names| names());
    let options = settings.options.clone().with(|options| options.internal.compounds = compounds);
    match found.take(expand_compounds(graph, &options)) {
        Some(graph) => Ok((graph, found)),
        None => Err(found),
    }
}

/// Folds and merges the operations of a graph, if the options ask for it.
///
/// # Errors
///
/// The quantizations of a model, which tell what is left as it is, cannot be read; this build does not fold.
pub(crate) fn fold_and_share(
    backing: &mut dyn Backing,
    graph: &mut Graph,
    settings: &Settings,
) -> Result<Passed, Refusal> {
    let passes = settings.passes;
    let apart = if passes.fold || passes.share { backing.apart(graph, settings)? } else { Vec::new() };
    let mut passed = Passed::default();
    if let Some(part) = KERNELS.missing().filter(|_| passes.fold) {
        return Err(Refusal::Unfit(part.reason()));
    }
    #[cfg(feature = "kernels")]
    if passes.fold {
        let apart = tensors(graph, &apart);
        progress::enter(Phase::Evaluating);
        passed.folded = Some(graph.fold(settings.evaluation, &apart, settings.options.keep_unused));
    }
    if passes.share {
        let apart = tensors(graph, &apart);
        passed.shared = Some(graph.share(&apart));
    }
    Ok(passed)
}

/// A graph with fragments for its repeated structure; none if the options do not ask for it, or if that saves nothing.
///
/// # Errors
///
/// The quantizations of a model, which tell what keeps its name, cannot be read; this build does not outline.
pub(crate) fn outlined(
    backing: &mut dyn Backing,
    graph: &Graph,
    settings: &Settings,
) -> Result<Option<Graph>, Refusal> {
    if !settings.passes.outline {
        return Ok(None);
    }
    if let Some(part) = OUTLINING.missing() {
        return Err(Refusal::Unfit(part.reason()));
    }
    let apart = tensors(graph, &backing.apart(graph, settings)?);
    Ok(graph.outlined(&apart, &is_reserved))
}

impl Flat {
    /// The graph with the values of the options and after the passes. A model of which the graph is a view has gone
    /// through them itself.
    ///
    /// # Errors
    ///
    /// Those of [`fold_and_share`].
    pub(super) fn passed(mut self, settings: &Settings) -> Result<Flat, Refusal> {
        if !self.backing.is_bound() {
            self.result = selected(self.result, settings);
        }
        if let Ok((graph, _)) = &mut self.result
            && !self.backing.is_view()
        {
            fold_and_share(&mut *self.backing, graph, settings)?;
            // Only the command asks for it.
            #[cfg(feature = "cli")]
            if settings.passes.drop_bitcasts {
                graph.remove_bitcasts();
            }
            if settings.passes.annotate {
                graph.annotate(self.backing.sources());
            }
            graph.count_memory();
        }
        Ok(self)
    }
}

/// The tensors with these names.
fn tensors(graph: &Graph, names: &[NameId]) -> Vec<TensorId> {
    let names: FxHashSet<NameId> = names.iter().copied().collect();
    graph.tensors().filter(|tensor| names.contains(&graph.name_of(*tensor))).collect()
}
