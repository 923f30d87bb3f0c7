//! Data-types of the tensors of a flat graph of the provisional dialect (T17).
//!
//! Fragments of a document do not declare data-types, so mismatches in them pass the checks before
//! expansion and are found here.

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::Dialect;
use crate::graph::Primitive;
use crate::graph::origin::with_origin;
use crate::graph::{Graph, Key, Operation, TensorId};
use crate::library::datatypes::data_type;
use crate::nnef::check::Checked;
use crate::nnef::datatypes::plural;

/// Infers the missing data-types and checks all. Mismatches are not reported if some were reported
/// before expansion.
pub(crate) fn check(checked: &Checked, graph: &mut Graph, diagnostics: &mut Diagnostics) {
    if checked.document.dialect() != Dialect::Draft {
        return;
    }
    let told = diagnostics.iter().any(|known| known.code == Code::DataType);
    for i in 0..graph.operations.len() {
        if !graph.kind(&graph.operations[i]).standard {
            continue;
        }
        let (shared, wrong) = arguments(graph, &graph.operations[i]);
        if let Some(message) = wrong.filter(|_| !told) {
            let operation = &graph.operations[i];
            let diagnostic = Diagnostic::new(Code::DataType, operation.at, message);
            diagnostics.report(with_origin(graph, operation, diagnostic));
        }
        set_results(graph, i, shared);
    }
}

/// The data-type that the arguments of any data-type share, and a message about the first argument
/// with a wrong one.
fn arguments(graph: &Graph, operation: &Operation) -> (Option<Primitive>, Option<String>) {
    let (mut shared, mut wrong) = (None, None);
    let (kind, of) = (graph.kind(operation), graph.operation_name(operation));
    for (key, value) in graph.arguments(operation) {
        let Key::Param(param) = key else { continue };
        let name = graph.text_of(kind.params[param as usize].name);
        let declared = data_type(of, name);
        value.each_tensor(&mut |tensor| {
            let Some(found) = graph.tensors[tensor.index()].dtype else { return };
            let wanted = if declared == Primitive::Generic { *shared.get_or_insert(found) } else { declared };
            if wanted != found && wrong.is_none() {
                let (wanted, found) = (plural(wanted), plural(found));
                wrong = Some(format!("argument `{name}` of `{of}` is tensor of {wanted}, this is tensor of {found}"));
            }
        });
    }
    (shared, wrong)
}

/// Sets the unknown data-types of results, for those of any data-type to that of the arguments.
fn set_results(graph: &mut Graph, operation: usize, shared: Option<Primitive>) {
    let operation = &graph.operations[operation];
    let of = graph.operation_name(operation);
    let results = graph.kind(operation).results.iter().map(|&name| data_type(of, graph.text_of(name)));
    let outputs = graph.outputs_of(operation).zip(results);
    let tensors: Vec<(TensorId, Primitive)> =
        outputs.flat_map(|(output, of)| output.tensors().iter().map(move |&tensor| (tensor, of))).collect();
    for (tensor, data_type) in tensors {
        let data_type = if data_type == Primitive::Generic { shared } else { Some(data_type) };
        let known = &mut graph.tensors[tensor.index()].dtype;
        *known = known.or(data_type);
    }
}
