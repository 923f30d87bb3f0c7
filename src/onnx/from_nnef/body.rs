//! Graphs of ONNX that are attributes: the bodies of fragments that an operation runs.

use super::operation::operation_of;
use super::rules;
use super::sources::{Nothing, Sources, info};
use super::translated_call::{Refused, TranslatedCall, Translation};
use super::value::{KnownExtents, ModelValue, NnefElement};
use crate::dictionary::ToOnnx;
use crate::eval::Quantizations;
use crate::graph::{Extent, Graph, Primitive, Shape};
use crate::onnx::model::GraphProto;

/// The most bodies within each other.
const MOST_NESTED: usize = 8;

/// The flat graph of a fragment.
pub(super) struct FragmentBody<'c> {
    graph: &'c Graph,
}

/// What a parameter of a body is.
#[derive(Clone)]
pub(super) enum BodyParameter {
    /// An input of the graph, with its elements and extents.
    Local(NnefElement, Option<KnownExtents>),
    /// A value of the model around it.
    Outer(ModelValue),
}

/// A translated body.
pub(super) struct TranslatedBody {
    pub(super) graph: GraphProto,
    /// The wanted results.
    pub(super) results: Vec<ModelValue>,
}

impl<'c> FragmentBody<'c> {
    /// The body with a name.
    pub(super) fn find(call: &TranslatedCall<'c>, name: &str) -> Translation<FragmentBody<'c>> {
        let found = call.outer.flat_body(name, &format!("`{}`", call.name()));
        found.map(|graph| FragmentBody { graph }).map_err(Refused::meaning)
    }

    /// The names of its parameters.
    pub(super) fn params(&self) -> Vec<String> {
        self.graph.inputs.iter().map(|input| self.graph.tensor_name(*input)).collect()
    }

    /// The names of its results.
    pub(super) fn results(&self) -> Vec<String> {
        self.graph.outputs.iter().map(|output| self.graph.tensor_name(*output)).collect()
    }

    /// The body with the names of the model, and with the shapes of its parameters.
    fn adapted(&self, call: &mut TranslatedCall, given: &[Option<BodyParameter>]) -> Translation<Graph> {
        call.out.keep(self.graph.bytes());
        call.check_memory()?;
        let mut graph = self.graph.clone();
        let path = call.out.path();
        for at in 0..graph.tensors.len() {
            let name = self.graph.tensors.get(at).map(|_| self.graph.tensor_name(crate::graph::TensorId(at as u32)));
            let segment = call.out.names.texts.intern(&name.unwrap_or_default());
            let name = call.out.names.values.child(path, segment, 0, true);
            if let Some(tensor) = graph.tensors.get_mut(at) {
                tensor.name = name;
            }
        }
        let inputs = graph.inputs.clone();
        for ((input, name), given) in inputs.into_iter().zip(self.params()).zip(given) {
            let missing = || Refused::meaning(format!("the parameter `{name}` of a body has no value"));
            let (element, dims) = match given.as_ref().ok_or_else(missing)? {
                BodyParameter::Local(element, dims) => (*element, dims.clone()),
                BodyParameter::Outer(value) => (value.element, value.dims.clone()),
            };
            let extent = |extent: &Option<i64>| extent.map_or(Extent::UNKNOWN, Extent::new);
            let shape = dims.map(|dims| Shape::new(&dims.iter().map(extent).collect::<Vec<_>>()));
            graph.set_shape(input, shape);
            if let Some(tensor) = graph.tensors.get_mut(input.index()) {
                tensor.dtype = tensor.dtype.or(Some(primitive(element)));
            }
        }
        graph.infer_again();
        Ok(graph)
    }

    /// Translates the body. `order` has the parameters that are inputs, `wanted` the results that are outputs.
    pub(super) fn translated(
        &self,
        call: &mut TranslatedCall<'c>,
        given: Vec<Option<BodyParameter>>,
        order: &[usize],
        wanted: &[usize],
    ) -> Translation<TranslatedBody> {
        let graph = self.adapted(call, &given)?;
        let mut values: Vec<Option<ModelValue>> = vec![None; graph.tensors.len()];
        for (input, given) in graph.inputs.iter().zip(given) {
            let value = given.map(|given| match given {
                BodyParameter::Outer(value) => value,
                BodyParameter::Local(element, dims) => ModelValue { id: graph.name_of(*input), element, dims },
            });
            if let Some(place) = values.get_mut(input.index()) {
                *place = value;
            }
        }
        let inputs: Vec<ModelValue> =
            order.iter().filter_map(|at| values.get(graph.inputs.get(*at)?.index()).cloned().flatten()).collect();
        enclosed(call, self.graph.text_of(self.graph.name), &inputs, |call| {
            operations(call, &graph, &mut values)?;
            let result = |at: &usize| values.get(graph.outputs.get(*at)?.index()).cloned().flatten();
            let results = wanted.iter().map(result).collect::<Option<Vec<ModelValue>>>();
            results.ok_or_else(|| Refused::meaning("a result of a body is not computed"))
        })
    }
}

/// A value that is an input of a body.
pub(super) fn local(
    call: &mut TranslatedCall,
    name: &str,
    element: NnefElement,
    dims: Option<KnownExtents>,
) -> ModelValue {
    let segment = call.out.names.texts.intern(name);
    let path = call.out.path();
    ModelValue { id: call.out.names.values.child(path, segment, 0, true), element, dims }
}

/// A graph with these inputs, whose nodes and results a function adds.
pub(super) fn enclosed(
    call: &mut TranslatedCall,
    name: &str,
    inputs: &[ModelValue],
    compute: impl FnOnce(&mut TranslatedCall) -> Translation<Vec<ModelValue>>,
) -> Translation<TranslatedBody> {
    if call.out.nested() >= MOST_NESTED {
        return Err(Refused::meaning(format!("`{}` is in more than {MOST_NESTED} bodies", call.name())));
    }
    let outer = call.out.enter();
    let made = compute(call).map(|results| {
        // Outputs of a graph have names of their own.
        let copy = |value: ModelValue| ModelValue { id: call.out.node("Identity", &[&value], Vec::new()).id, ..value };
        results.into_iter().map(copy).collect::<Vec<ModelValue>>()
    });
    let nodes = call.out.leave(outer);
    let results = made?;
    let of = |value: &ModelValue| info(value.id, value.element, None);
    let (inputs, outputs) = (inputs.iter().map(of).collect(), results.iter().map(of).collect());
    let name = Some(call.out.names.texts.intern(name));
    Ok(TranslatedBody { graph: GraphProto { name, nodes, inputs, outputs, ..GraphProto::default() }, results })
}

/// Translates the operations of a body.
fn operations(call: &mut TranslatedCall, graph: &Graph, values: &mut [Option<ModelValue>]) -> Translation<()> {
    let (mut sources, quantizations) = (Sources::new(&Nothing), Quantizations::default());
    for operation in &graph.operations {
        let meaning = rules::find(graph, graph.kind(operation));
        let name = graph.operation_name(operation);
        let is_source = meaning.is_some_and(|row| matches!(row.to_onnx, Some(ToOnnx::Source(_))));
        if is_source && name != "constant" {
            return Err(Refused::meaning(format!("the body of `{}` has a `{name}`", call.name())));
        }
        let around = (call.outer, &quantizations);
        let made = operation_of((graph, operation, meaning), call.out, values, around, &mut sources)?;
        call.out.check_memory()?;
        for (tensor, value) in graph.tensors_of(operation).zip(made) {
            if let Some(place) = values.get_mut(tensor.index()) {
                *place = Some(value);
            }
        }
    }
    Ok(())
}

fn primitive(element: NnefElement) -> Primitive {
    match element {
        NnefElement::Float => Primitive::Scalar,
        NnefElement::Int => Primitive::Integer,
        NnefElement::Bool => Primitive::Logical,
    }
}
