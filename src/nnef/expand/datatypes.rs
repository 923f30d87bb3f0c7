//! Data-types of the tensors of a flat graph of the provisional dialect (T17).
//!
//! Fragments of a document do not say what their tensors hold. Where that hides a confusion of
//! data-types from the checks before expansion, it shows here.

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::Dialect;
use crate::graph::Primitive;
use crate::graph::origin::with_origin;
use crate::graph::{Graph, Key, Operand, Operation, TensorId};
use crate::nnef::check::Checked;
use crate::nnef::datatypes::{data_type, plural};

/// Fills in the data-types that follow from those of other tensors, and checks all. What was
/// told before expansion is not told again.
pub(crate) fn check(checked: &Checked, graph: &mut Graph, diagnostics: &mut Diagnostics) {
    if checked.document.dialect() != Dialect::Draft {
        return;
    }
    let told = diagnostics.iter().any(|known| known.code == Code::DataType);
    let declared: Vec<Option<Signature>> = (0..graph.kinds.len()).map(|kind| Signature::of(graph, kind)).collect();
    for i in 0..graph.operations.len() {
        let Some(signature) = &declared[graph.kind_id(&graph.operations[i]).index()] else { continue };
        let (shared, wrong) = arguments(graph, &graph.operations[i], signature);
        if let Some(message) = wrong.filter(|_| !told) {
            let operation = &graph.operations[i];
            let diagnostic = Diagnostic::new(Code::DataType, operation.at, message);
            diagnostics.report(with_origin(graph, operation, diagnostic));
        }
        set_results(graph, i, signature, shared);
    }
}

/// The data-type that the arguments of any data-type share, and what is wrong with the first
/// argument of another one.
fn arguments(graph: &Graph, operation: &Operation, signature: &Signature) -> (Option<Primitive>, Option<String>) {
    let mut shared = None;
    let mut wrong = None;
    for (key, value) in graph.arguments(operation) {
        let Key::Param(param) = key else { continue };
        let (name, declared) = &signature.params[param as usize];
        each_data_type(graph, value, &mut |found| {
            let wanted = if *declared == Primitive::Generic { *shared.get_or_insert(found) } else { *declared };
            if wanted != found && wrong.is_none() {
                let operation = graph.operation_name(operation);
                let (wanted, found) = (plural(wanted), plural(found));
                wrong = Some(format!(
                    "argument `{name}` of `{operation}` is tensor of {wanted}, this is tensor of {found}"
                ));
            }
        });
    }
    (shared, wrong)
}

/// The data-types of a standard operation.
struct Signature {
    params: Vec<(String, Primitive)>,
    results: Vec<Primitive>,
}

impl Signature {
    fn of(graph: &Graph, kind: usize) -> Option<Signature> {
        let kind = graph.kinds.get(kind).filter(|kind| kind.standard)?;
        let operation = graph.text_of(kind.name);
        let param = |name| (graph.text_of(name).to_string(), data_type(operation, graph.text_of(name)));
        Some(Signature {
            params: kind.params.iter().map(|p| param(p.name)).collect(),
            results: kind.results.iter().map(|&name| data_type(operation, graph.text_of(name))).collect(),
        })
    }
}

/// The known data-types of the tensors in an argument.
fn each_data_type(graph: &Graph, value: Operand, f: &mut impl FnMut(Primitive)) {
    value.each_tensor(&mut |tensor| {
        if let Some(data_type) = graph.tensors[tensor.index()].dtype {
            f(data_type);
        }
    });
}

/// Results that share the data-type of the arguments get it where nothing better is known.
fn set_results(graph: &mut Graph, operation: usize, signature: &Signature, shared: Option<Primitive>) {
    let outputs: Vec<(TensorId, Primitive)> = {
        let outputs = graph.outputs_of(&graph.operations[operation]);
        let pairs = outputs.zip(&signature.results);
        pairs.flat_map(|(output, &of)| output.tensors().iter().map(move |&tensor| (tensor, of))).collect()
    };
    for (tensor, data_type) in outputs {
        let data_type = if data_type == Primitive::Generic { shared } else { Some(data_type) };
        let known = &mut graph.tensors[tensor.index()].dtype;
        *known = known.or(data_type);
    }
}
