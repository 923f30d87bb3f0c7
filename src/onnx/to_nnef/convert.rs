//! The translation of a model.

use super::import::{Import, ImportRun};
use super::lowering_table;
use super::variables::NnefVariables;
use crate::diagnostics::Diagnostics;
use crate::eval::Budget;
use crate::graph::Graph;
use crate::onnx::functions::NodeFinding;
use crate::onnx::inline::lower_standard;
use crate::onnx::model::ModelProto;
use crate::onnx::places::PlacedModel;
use crate::onnx::run::Computing;
use crate::{Lower, Options};

/// The options with which a model is expanded before its translation: loops of known trips are unrolled, and operators
/// without a rule become their bodies.
pub(crate) fn expanding(options: &Options) -> Options {
    options.clone().with(|options| {
        options.unroll = true;
        options.flat = false;
        options.lower = Lower::Custom;
        options.internal.translates = true;
    })
}

/// Translates an expanded model to a flat graph with the data of its variables. Operations of registries are used only
/// where NNEF 1.0 has none, and not at all in strict translations.
///
/// # Errors
///
/// Nodes have no counterpart, or extents of inputs are not known.
pub(crate) fn convert(
    model: &ModelProto,
    PlacedModel { file, places }: PlacedModel,
    Computing { stores, limits }: Computing,
    options: &Options,
) -> Result<(Graph, NnefVariables, Diagnostics), Diagnostics> {
    let budget = Budget::new(limits);
    let reading = ImportRun { file, places, stores, budget: &budget };
    let Some(graph) = &model.graph else { return Err(Diagnostics::of(options.policy())) };
    let mut import = Import::new(model, reading, false, options);
    import.graph(graph);
    if import.wants_registries && !options.strict {
        // What was made is dropped.
        budget.clear();
        import = Import::new(model, reading, true, options);
        import.graph(graph);
    }
    let Import { emit, found, .. } = import;
    if found.has_errors() {
        return Err(found);
    }
    match emit.builder.finish() {
        Ok(mut graph) => {
            graph.drop_unused(&emit.droppable);
            emit.variables.count_memory();
            Ok((graph, emit.variables, found))
        }
        Err(_) => Err(found),
    }
}

/// Expands the operators that have bodies, and no rule. What stays has no counterpart.
///
/// # Errors
///
/// There are more nodes than the options allow.
pub(crate) fn lower_compounds(model: &mut ModelProto, options: &Options) -> Result<(), Vec<NodeFinding>> {
    let options = options.clone().with(|options| options.lower = Lower::Names(lowering_table::compounds().to_vec()));
    lower_standard(model, &options)
}
