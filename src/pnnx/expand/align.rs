//! Operands of different ranks: PNNX aligns the last axes, NNEF the first.

use smallvec::SmallVec;

use super::{Expander, OperandList, OperationPlace};
use crate::diagnostics::Code;
use crate::graph::{Extent, Shape, TensorId, Value};
use crate::pnnx::item::ExpandedItem;

impl Expander<'_> {
    /// The operands, if leading axes had to be added, and the shape of the result.
    pub(super) fn align(
        &mut self,
        operands: &[ExpandedItem],
        place: OperationPlace,
    ) -> Option<(Option<OperandList>, Option<Shape>)> {
        let tensors = || {
            operands.iter().filter_map(|operand| match operand {
                ExpandedItem::Tensor(tensor) => Some(*tensor),
                _ => None,
            })
        };
        let first = tensors().next();
        let shape_of = |tensor: TensorId| self.builder.graph.shape(tensor);
        if tensors()
            .all(|tensor| first.is_some_and(|first| shape_of(first) == shape_of(tensor)) && shape_of(tensor).is_some())
            || tensors().all(|tensor| Some(tensor) == first)
        {
            return Some((None, first.and_then(shape_of).cloned()));
        }
        let Some(shapes) = tensors().map(|tensor| shape_of(tensor).cloned()).collect::<Option<Vec<Shape>>>() else {
            let message = format!("the shapes of the operands of `{}` are not known", place.op.row().name);
            self.refuse(Code::ExpressionCounterpart, place.span, message);
            return None;
        };
        let rank = shapes.iter().map(Shape::rank).max().unwrap_or(0);
        let Some(shape) = common(&shapes, rank) else {
            let message =
                format!("the shapes {shapes:?} of the operands of `{}` do not fit together", place.op.row().name);
            self.refuse(Code::ExpressionShapes, place.span, message);
            return None;
        };
        let mut aligned = SmallVec::new();
        for operand in operands {
            aligned.push(match operand {
                ExpandedItem::Tensor(tensor) => ExpandedItem::Tensor(self.raise(*tensor, rank)),
                other => other.clone(),
            });
        }
        Some((Some(aligned), Some(shape)))
    }

    /// Adds leading axes to a tensor up to a rank. Tensors of rank 0 need none.
    fn raise(&mut self, tensor: TensorId, rank: usize) -> TensorId {
        let Some(shape) = self.builder.graph.shape(tensor).filter(|shape| (1..rank).contains(&shape.rank())) else {
            return tensor;
        };
        if let Some(known) = self.aligned.get(&(tensor, rank)) {
            return *known;
        }
        let more = rank - shape.rank();
        let extents = [vec![Extent::ONE; more], shape.extents().to_vec()].concat();
        let axes = Value::Integers((0..more as i64).collect());
        let name = self.fresh("unsqueeze");
        let raised = self.builder.emit("unsqueeze", [Value::Tensor(tensor), axes], name, Some(Shape::new(&extents)));
        let raised = raised.unwrap_or(tensor);
        self.aligned.insert((tensor, rank), raised);
        raised
    }
}

/// The shape that shapes are broadcast to, with the last axes aligned.
fn common(shapes: &[Shape], rank: usize) -> Option<Shape> {
    let mut extents = vec![Extent::ONE; rank];
    for shape in shapes {
        for (to, extent) in extents[rank - shape.rank()..].iter_mut().zip(shape.extents()) {
            *to = to.broadcast(extent)?;
        }
    }
    Some(Shape::new(&extents))
}
