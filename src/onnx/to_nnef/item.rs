//! The values of a model while it is translated.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::refusal::{Lowered, NodeRefusal};
use crate::eval::Budget;
use crate::graph::names::NameId;
use crate::graph::{Primitive, TensorId};
use crate::onnx::elements::LongConstant;
use crate::tensor::{DType, Data, Dims, Tensor};

/// A tensor of the graph, with its element type in the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FlatTensor {
    pub(super) id: TensorId,
    pub(super) dtype: DType,
}

/// The items of a value that is known.
#[derive(Clone, Debug)]
pub(super) enum KnownItems {
    Held(Arc<Tensor>),
    /// They are read when a rule asks for them.
    Long(LongConstant),
}

impl KnownItems {
    pub(super) fn shape(&self) -> &[usize] {
        match self {
            KnownItems::Held(tensor) => tensor.shape(),
            KnownItems::Long(constant) => constant.shape(),
        }
    }

    pub(super) fn dtype(&self) -> DType {
        match self {
            KnownItems::Held(tensor) => tensor.dtype(),
            KnownItems::Long(constant) => constant.dtype(),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            KnownItems::Held(tensor) => tensor.len(),
            KnownItems::Long(constant) => constant.len(),
        }
    }

    /// The tensor, unless it is long.
    pub(super) fn held(&self) -> Option<&Arc<Tensor>> {
        match self {
            KnownItems::Held(tensor) => Some(tensor),
            KnownItems::Long(_) => None,
        }
    }

    /// The tensor with one item. Long ones have more.
    pub(super) fn single(&self) -> Option<&Arc<Tensor>> {
        self.held().filter(|tensor| tensor.len() == 1)
    }

    /// The tensor, which counts until the end of the node if it has to be read.
    pub(super) fn tensor(&self, budget: &Budget) -> Lowered<Arc<Tensor>> {
        match self {
            KnownItems::Held(tensor) => Ok(Arc::clone(tensor)),
            KnownItems::Long(constant) => Ok(Arc::new(constant.tensor(budget)?)),
        }
    }

    /// The memory of the items, in units of 8 bytes.
    pub(super) fn weight(&self) -> usize {
        self.held().map_or(0, |tensor| tensor.weight())
    }

    /// The items in another shape, if it has as many.
    pub(super) fn reshaped(&self, shape: &[usize]) -> Lowered<KnownItems> {
        match self {
            KnownItems::Held(tensor) => tensor.reshaped(shape).ok().map(|tensor| KnownItems::Held(tensor.into())),
            KnownItems::Long(constant) => constant.reshaped(shape).map(KnownItems::Long),
        }
        .ok_or(NodeRefusal::UNFIT)
    }
}

/// A value that is known. It becomes a part of the graph where an operation needs it as a tensor.
#[derive(Debug)]
pub(super) struct KnownTensor {
    pub(super) items: KnownItems,
    /// Its name in the graph.
    pub(super) name: NameId,
    /// Its name in the model as a label.
    pub(super) label: Box<str>,
    /// Its tensors in the graph, each in another shape. The first one has its name.
    pub(super) stored: RefCell<Vec<(Dims, TensorId)>>,
}

/// A value of the model.
#[derive(Clone, Debug)]
pub(super) enum NnefItem {
    FlatTensor(FlatTensor),
    Known(Rc<KnownTensor>),
    /// A known value that has no name yet.
    Loose(KnownItems),
    Sequence(Rc<[NnefItem]>),
    /// The result of a node that was refused.
    Refused,
}

impl NnefItem {
    /// The items, if it is a known tensor.
    pub(super) fn known(&self) -> Option<&KnownItems> {
        match self {
            NnefItem::Known(constant) => Some(&constant.items),
            NnefItem::Loose(items) => Some(items),
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
