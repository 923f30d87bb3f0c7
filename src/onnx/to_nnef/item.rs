//! The values of a model while it is translated.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::refusal::{Lowered, NodeRefusal};
use crate::graph::names::NameId;
use crate::graph::{Primitive, TensorId};
use crate::tensor::{DType, Data, Dims, Tensor};

/// A tensor of the graph, with its element type in the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FlatTensor {
    pub(super) id: TensorId,
    pub(super) dtype: DType,
}

/// A value that is known. It becomes a part of the graph where an operation needs it as a tensor.
#[derive(Debug)]
pub(super) struct KnownTensor {
    pub(super) tensor: Arc<Tensor>,
    /// Its name in the graph.
    pub(super) name: NameId,
    /// Its tensors in the graph, each in another shape. The first one has its name.
    pub(super) stored: RefCell<Vec<(Dims, TensorId)>>,
}

/// A value of the model.
#[derive(Clone, Debug)]
pub(super) enum NnefItem {
    FlatTensor(FlatTensor),
    Known(Rc<KnownTensor>),
    /// A known value that has no name yet.
    Loose(Arc<Tensor>),
    Sequence(Rc<[NnefItem]>),
    /// The result of a node that was refused.
    Refused,
}

impl NnefItem {
    /// The value, if it is a known tensor.
    pub(super) fn tensor(&self) -> Option<&Arc<Tensor>> {
        match self {
            NnefItem::Known(constant) => Some(&constant.tensor),
            NnefItem::Loose(tensor) => Some(tensor),
            NnefItem::FlatTensor(_) | NnefItem::Sequence(_) | NnefItem::Refused => None,
        }
    }
}

impl From<FlatTensor> for NnefItem {
    fn from(flat: FlatTensor) -> Self {
        NnefItem::FlatTensor(flat)
    }
}

/// What a rule gives as a result.
#[derive(Clone, Debug)]
pub(super) enum NnefOutcome {
    FlatTensor(FlatTensor),
    Known(Arc<Tensor>),
    /// The operand at a position, unchanged.
    Operand(usize),
    /// Any value.
    Held(NnefItem),
}

impl From<FlatTensor> for NnefOutcome {
    fn from(flat: FlatTensor) -> Self {
        NnefOutcome::FlatTensor(flat)
    }
}

/// A tensor without items, which NNEF does not have, so that it stays a known value.
pub(super) fn empty(extents: &[i64], dtype: DType) -> Lowered<NnefOutcome> {
    let tensor = Tensor::new(&counts(extents)?, Data::zeros(dtype, 0));
    tensor.map(|tensor| NnefOutcome::Known(tensor.into())).ok_or(NodeRefusal::UNFIT)
}

/// Extents as those of known tensors.
pub(super) fn counts(extents: &[i64]) -> Lowered<Vec<usize>> {
    extents.iter().map(|extent| usize::try_from(*extent).map_err(|_| NodeRefusal::UNFIT)).collect()
}

/// The primitive type of NNEF for an element type; none for texts and complex numbers.
pub(super) fn primitive(dtype: DType) -> Option<Primitive> {
    match dtype {
        DType::Bool => Some(Primitive::Logical),
        DType::Text | DType::Complex64 | DType::Complex128 => None,
        dtype if dtype.is_integer() => Some(Primitive::Integer),
        _ => Some(Primitive::Scalar),
    }
}
