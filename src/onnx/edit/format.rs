//! The version of the format (`ir_version`) that a model needs after it was edited.

use rustc_hash::FxHashSet;

use crate::graph::names::NameId;
use crate::onnx::model::ModelProto;

/// The version from which on initializers need not be inputs.
const INITIALIZERS_ALONE: i64 = 4;

/// Raises the version of a model if it has initializers that are no inputs, which older versions do not have. Inputs of the
/// model stay as they are: callers know them.
pub(in crate::onnx) fn raise(model: &mut ModelProto) {
    let (Some(graph), Some(version)) = (&model.graph, &mut model.ir_version) else { return };
    let inputs: FxHashSet<NameId> = graph.inputs.iter().filter_map(|input| input.name).collect();
    let is_alone = |name: Option<NameId>| name.is_some_and(|name| !inputs.contains(&name));
    if (1..INITIALIZERS_ALONE).contains(version) && graph.initializers.iter().any(|constant| is_alone(constant.name)) {
        *version = INITIALIZERS_ALONE;
    }
}
