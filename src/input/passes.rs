//! What the options ask of a flat graph before it is written or evaluated: values of inputs, a part of it, and passes.

pub(crate) mod rows;
pub(crate) mod work;

use self::rows::Stage;
use self::work::{GraphWork, Passing, Ran, Stopped};
use super::Refusal;
use super::settings::Settings;
use super::source::{Backing, Expanded, Flat};
use crate::nnef::expand::compounds::expand_compounds;
use crate::{Graph, write};

/// A graph whose inputs have the values of the options, and of which the part that the options select is left.
///
/// # Errors
///
/// Those of a pass that cannot be done.
pub(crate) fn selected(result: Expanded, backing: &mut dyn Backing, settings: &Settings) -> Result<Expanded, Refusal> {
    let (mut graph, mut found) = match result {
        Ok(flat) => flat,
        Err(errors) => return Ok(Err(errors)),
    };
    match GraphWork::new(&mut graph, backing).run(&[Stage::Given, Stage::Part], settings) {
        Ok(_) => Ok(Ok((graph, found))),
        Err(Stopped::Found(errors)) => {
            found.extend(errors);
            Ok(Err(found))
        }
        Err(Stopped::Refused(refusal)) => Err(refusal),
    }
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

/// Runs the passes behind the selection on a graph. Returns what they did.
///
/// # Errors
///
/// The quantizations of a model, which tell what is left as it is, cannot be read; layouts do not fit; this build does not
/// fold.
pub(crate) fn changed(
    graph: &mut Graph,
    backing: &mut dyn Backing,
    stages: &[Stage],
    settings: &Settings,
) -> Result<Vec<Ran>, Refusal> {
    let ran = GraphWork::new(graph, backing).run(stages, settings);
    unstopped(ran, backing)
}

/// A graph with fragments for its repeated structure; none if the options do not ask for it, or if that saves nothing.
///
/// # Errors
///
/// The quantizations of a model, which tell what keeps its name, cannot be read; this build does not outline.
pub(crate) fn outlined(
    backing: &mut dyn Backing,
    graph: &mut Graph,
    settings: &Settings,
) -> Result<Option<Graph>, Refusal> {
    let mut work = GraphWork::new(graph, backing);
    let ran = work.run(&[Stage::Form], settings);
    let outlined = work.outlined.take();
    unstopped(ran, backing).map(|_| outlined)
}

fn unstopped<T>(passing: Passing<T>, backing: &dyn Backing) -> Result<T, Refusal> {
    passing.map_err(|stopped| match stopped {
        Stopped::Refused(refusal) => refusal,
        Stopped::Found(found) => Refusal::Found(Box::new(super::Findings::new(backing.sources().clone(), found))),
    })
}

impl Flat {
    /// The graph with the values of the options and after the passes. A model of which the graph is a view has gone
    /// through them itself.
    ///
    /// # Errors
    ///
    /// Those of [`changed`].
    pub(super) fn passed(mut self, settings: &Settings) -> Result<Flat, Refusal> {
        if !self.backing.is_bound() {
            self.result = selected(self.result, &mut *self.backing, settings)?;
        }
        if let Ok((graph, _)) = &mut self.result
            && !self.backing.is_view()
        {
            changed(graph, &mut *self.backing, &[Stage::Change, Stage::Note], settings)?;
            graph.count_memory();
        }
        Ok(self)
    }
}
