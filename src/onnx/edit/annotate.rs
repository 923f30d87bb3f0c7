//! Types of values as inference finds them, written into the model.

use rustc_hash::FxHashSet;

use crate::Options;
use crate::graph::dims::Dim as Found;
use crate::graph::names::NameId;
use crate::onnx::infer::{GraphTypes, TensorFacts, ValueType, each_typed_graph, infer};
use crate::onnx::model::{Dim, Extent, GraphProto, ModelProto, ShapeProto, TensorType, TypeForm, TypeProto, ValueInfo};
use crate::source::names::Names;

/// Writes the inferred types of the results of nodes into the graph of a model, and into the graphs of its nodes. What is
/// declared stays, except that unknown extents and symbols become what they are known to be. Types in functions are not
/// written: they differ from call to call.
pub(in crate::onnx) fn annotate(model: &mut ModelProto, options: &Options) {
    let types = infer(model, options);
    let ModelProto { graph: Some(graph), names, .. } = model else { return };
    Annotation { texts: &mut names.texts }.graph(graph, &types.main);
}

/// Adds to the declared type of a value what is known in addition.
pub(super) fn complete(texts: &mut Names, value: &mut ValueInfo, types: &GraphTypes) {
    Annotation { texts }.complete(value, types);
}

struct Annotation<'n> {
    texts: &'n mut Names,
}

impl Annotation<'_> {
    fn graph(&mut self, graph: &mut GraphProto, types: &GraphTypes) {
        let mut declared: FxHashSet<NameId> = FxHashSet::default();
        for value in graph.value_info.iter_mut().chain(&mut graph.outputs) {
            self.complete(value, types);
            declared.extend(value.name);
        }
        graph.value_info.reserve(graph.nodes.len().saturating_sub(declared.len()));
        for (i, node) in graph.nodes.iter_mut().enumerate() {
            // With types that contradict each other, programs would refuse the model for a branch that never runs.
            each_typed_graph(i, node, Some(types), &mut |graph, types| {
                types.filter(|types| !types.contradicts).into_iter().for_each(|types| self.graph(graph, types));
            });
            for name in node.outputs.iter().filter(|name| **name != NameId::ROOT && !declared.contains(name)) {
                let ty = types.values.get(*name).and_then(|ty| self.written(ty));
                graph.value_info.extend(ty.map(|ty| ValueInfo { name: Some(*name), ty: Some(ty), rest: None }));
            }
        }
    }

    /// Adds to a declared type what is known in addition.
    fn complete(&mut self, value: &mut ValueInfo, types: &GraphTypes) {
        let Some(found) = value.name.and_then(|name| types.values.get(name)) else { return };
        match (&mut value.ty, found) {
            (Some(TypeProto { form: TypeForm::Tensor(declared), .. }), ValueType::Tensor(facts)) => {
                declared.element = declared.element.or(facts.element.map(|element| element as i32));
                self.complete_shape(declared, facts);
            }
            (Some(TypeProto { form: TypeForm::None, .. }) | None, found) => {
                if let Some(ty) = self.written(found) {
                    value.ty.get_or_insert_default().form = ty.form;
                }
            }
            (Some(_), _) => {}
        }
    }

    fn complete_shape(&mut self, declared: &mut TensorType, facts: &TensorFacts) {
        let Some(extents) = &facts.shape else { return };
        let Some(shape) = &mut declared.shape else {
            declared.shape = Some(self.shape(extents));
            return;
        };
        for (dim, found) in shape.dims.iter_mut().zip(extents.iter()) {
            match (dim.extent, found) {
                (Extent::Value(_), _) | (_, Found::Unknown) => {}
                (Extent::Symbol(_), Found::Expr(_)) => {}
                (Extent::Symbol(_) | Extent::Unknown, found) => dim.extent = self.extent(found),
            }
        }
    }

    /// A type of which the element types are known.
    fn written(&mut self, ty: &ValueType) -> Option<TypeProto> {
        let form = match ty {
            ValueType::Unknown | ValueType::Other => return None,
            ValueType::Tensor(facts) => TypeForm::Tensor(TensorType {
                element: Some(facts.element? as i32),
                shape: facts.shape.as_ref().map(|extents| self.shape(extents)),
                rest: None,
            }),
            ValueType::Sequence(item) => TypeForm::Sequence(Some(Box::new(self.written(item)?)), None),
            ValueType::Optional(content) => TypeForm::Optional(Some(Box::new(self.written(content)?)), None),
        };
        Some(TypeProto { form, rest: None })
    }

    fn shape(&mut self, extents: &[Found]) -> ShapeProto {
        let dim = |found: &Found| Dim { extent: self.extent(found), rest: None };
        ShapeProto { dims: extents.iter().map(dim).collect(), rest: None }
    }

    fn extent(&mut self, found: &Found) -> Extent {
        match found {
            Found::Int(value) => Extent::Value(*value),
            Found::Expr(_) => Extent::Symbol(self.texts.intern(&found.text())),
            Found::Unknown => Extent::Unknown,
        }
    }
}
