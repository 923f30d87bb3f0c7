//! Broadcasting of the operands of element-wise operations to a common shape.

use super::super::{Data, Dims, Element, Tensor};
use crate::extents::Align;

/// The shape that operands are broadcast to. Its rank is the maximum rank of the operands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Repeat<'s> {
    /// The extents.
    pub shape: &'s [usize],
    /// Which axes of operands of lower rank are aligned.
    pub align: Align,
}

/// Elements and their extents.
pub(crate) type Side<'a, T> = (&'a [T], &'a [usize]);

impl Repeat<'_> {
    /// The stride of each axis of an operand; 0 if the axis is broadcast.
    pub(crate) fn steps(self, shape: &[usize]) -> Dims {
        let first = match self.align {
            Align::First => 0,
            Align::Last => self.shape.len() - shape.len(),
        };
        let mut steps = Dims::from_elem(0, self.shape.len());
        let mut step = 1;
        for (i, &extent) in shape.iter().enumerate().rev() {
            steps[first + i] = if extent == 1 { 0 } else { step };
            step *= extent;
        }
        steps
    }

    /// Applies a function to the pairs of elements of two operands.
    pub(crate) fn zip<A: Copy, B: Copy, R, C: FromIterator<R>>(
        self,
        a: Side<A>,
        b: Side<B>,
        f: impl Fn(A, B) -> R,
    ) -> C {
        let shape = self.shape;
        if a.1 == b.1 {
            return a.0.iter().zip(b.0).map(|(&x, &y)| f(x, y)).collect();
        }
        if let ([y], true) = (b.0, a.1 == shape) {
            return a.0.iter().map(|&x| f(x, *y)).collect();
        }
        if let ([x], true) = (a.0, b.1 == shape) {
            return b.0.iter().map(|&y| f(*x, y)).collect();
        }
        let (steps_a, steps_b) = (self.steps(a.1), self.steps(b.1));
        let mut index = Dims::from_elem(0, shape.len());
        let (mut x, mut y) = (0, 0);
        let next = |_| {
            let result = f(a.0[x], b.0[y]);
            for axis in (0..shape.len()).rev() {
                index[axis] += 1;
                (x, y) = (x + steps_a[axis], y + steps_b[axis]);
                if index[axis] < shape[axis] {
                    break;
                }
                (x, y) = (x - steps_a[axis] * shape[axis], y - steps_b[axis] * shape[axis]);
                index[axis] = 0;
            }
            result
        };
        (0..shape.iter().product()).map(next).collect()
    }

    /// Selects elements of two tensors of equal type by a tensor of logicals; none for other types.
    pub(crate) fn select(self, condition: &Tensor, yes: &Tensor, no: &Tensor) -> Option<Data> {
        let chosen = (condition.items::<bool>()?, condition.shape());
        macro_rules! of_type {
            ($($variant:ident),*) => {
                match (yes.data(), no.data()) {
                    $((Data::$variant(a), Data::$variant(b)) => {
                        Some(self.chosen(chosen, (a, yes.shape()), (b, no.shape())))
                    })*
                    _ => None,
                }
            };
        }
        of_type!(Float32, Float64, Int32, Int64, Bool)
    }

    fn chosen<T: Element>(self, condition: Side<bool>, yes: Side<T>, no: Side<T>) -> Data {
        let both: Vec<(T, T)> = self.zip(yes, no, |yes, no| (yes, no));
        // Branches of equal shape are not broadcast, but the condition may be.
        let wide = if yes.1 == no.1 { yes.1 } else { self.shape };
        T::pack(self.zip(condition, (&both, wide), |condition, (yes, no)| if condition { yes } else { no }))
    }
}
