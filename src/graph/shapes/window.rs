//! Sliding windows: how their parameters and the extents depend on each other (4.3).

use super::ShapeError;
use super::call::{Call, Extents, Ints, Pairs, Role, Shown};
use super::shape::Extent;
use crate::diagnostics::Code;

/// The parameters of a window over some axes.
pub(crate) struct Window {
    code: Code,
    padding: Option<Pairs>,
    stride: Option<Ints>,
    dilation: Option<Ints>,
}

impl Window {
    /// A window of one item for each item.
    pub(crate) fn plain(code: Code) -> Self {
        Window { code, padding: Some(Pairs::new()), stride: Some(Ints::new()), dilation: Some(Ints::new()) }
    }

    /// Reads the parameters of a window over `axes` axes, where their number is known.
    pub(crate) fn read(call: &Call, axes: Option<usize>, code: Code) -> Result<Self, ShapeError> {
        let window = Window {
            code,
            padding: call.pairs(Role::Padding),
            stride: call.ints(Role::Stride),
            dilation: call.ints(Role::Dilation),
        };
        let lengths = [
            ("padding", window.padding.as_ref().map(|items| items.len())),
            ("stride", window.stride.as_ref().map(|items| items.len())),
            ("dilation", window.dilation.as_ref().map(|items| items.len())),
        ];
        for (name, length) in lengths {
            if let (Some(length), Some(axes)) = (length, axes) {
                check_length(call, name, length, axes, code, true)?;
            }
        }
        for (name, items) in [("stride", &window.stride), ("dilation", &window.dilation)] {
            check_positive(name, items.as_deref().unwrap_or(&[]), code)?;
        }
        Ok(window)
    }

    /// The number of axes that the parameters speak of at least, where it is known.
    pub(crate) fn axes(call: &Call) -> Option<usize> {
        let length = |role| call.ints(role).map(|items| items.len());
        let padding = call.pairs(Role::Padding)?.len();
        Some(padding.max(length(Role::Stride)?).max(length(Role::Dilation)?))
    }

    /// The stride along an axis, and the extent that a filter covers there.
    fn steps(&self, i: usize, filter: Extent) -> (Option<i64>, Option<i64>) {
        let item = |items: &Option<Ints>| match items {
            Some(items) => items.get(i).copied().unwrap_or(Some(1)),
            None => None,
        };
        let covered = match (filter.known(), item(&self.dilation)) {
            (Some(1), _) => Some(1),
            (Some(filter), Some(dilation)) => {
                (filter - 1).checked_mul(dilation).and_then(|extent| extent.checked_add(1))
            }
            _ => None,
        };
        (item(&self.stride), covered)
    }

    /// What is added before and after an axis; `Ok(None)` where that follows from the extents.
    fn around(&self, i: usize) -> Result<Option<i64>, ()> {
        let Some(padding) = &self.padding else { return Err(()) };
        match padding.get(i) {
            None => Ok(None),
            Some([Some(before), Some(after)]) => before.checked_add(*after).map(Some).ok_or(()),
            Some(_) => Err(()),
        }
    }

    /// The extent of what the window gives along its `i`th axis.
    pub(crate) fn down(&self, i: usize, input: Extent, filter: Extent) -> Result<Extent, ShapeError> {
        let (stride, covered) = self.steps(i, filter);
        match (self.around(i), stride) {
            (Ok(None), Some(stride)) => Ok(input.map(|input| Some(input.checked_add(stride - 1)? / stride))),
            (Ok(Some(around)), Some(stride)) => {
                let room = input
                    .known()
                    .zip(covered)
                    .and_then(|(input, covered)| input.checked_add(around)?.checked_sub(covered));
                match room {
                    Some(room) if room < 0 => Err(self.too_large(input, around, covered)),
                    Some(room) => Ok(Extent::new(room / stride + 1)),
                    None => Ok(Extent::UNKNOWN),
                }
            }
            _ => Ok(Extent::UNKNOWN),
        }
    }

    fn too_large(&self, input: Extent, around: i64, covered: Option<i64>) -> ShapeError {
        let covered = covered.unwrap_or(0);
        let message =
            format!("a window of {covered} items does not fit into {input:?} items with {around} around them");
        ShapeError::new(self.code, message)
    }

    /// The extent of what the transposed window gives along its `i`th axis.
    pub(crate) fn up(&self, i: usize, input: Extent, filter: Extent) -> Result<Extent, ShapeError> {
        let (stride, covered) = self.steps(i, filter);
        let extent = match (self.around(i), stride) {
            (Ok(None), Some(stride)) => input.known().and_then(|input| input.checked_mul(stride)),
            (Ok(Some(around)), Some(stride)) => input.known().zip(covered).and_then(|(input, covered)| {
                input.checked_sub(1)?.checked_mul(stride)?.checked_add(covered)?.checked_sub(around)
            }),
            _ => None,
        };
        match extent {
            Some(extent) if extent < 1 => {
                let message = format!("the padding takes away all items: the extent would be {extent}");
                Err(ShapeError::new(self.code, message))
            }
            extent => Ok(extent.into()),
        }
    }

    /// The reference shape of a transposed operation: the window must lead from it to the input,
    /// whose first axes that the window does not cover are `first` in number.
    pub(crate) fn check_reference(
        &self,
        reference: &[Option<i64>],
        input: &[Extent],
        filter: &[Extent],
        first: usize,
    ) -> Result<Extents, ShapeError> {
        check_positive("output_shape", reference, self.code)?;
        let extents: Extents = reference.iter().map(|&extent| extent.into()).collect();
        for (i, &extent) in extents.iter().enumerate().skip(first) {
            let down = self.down(i - first, extent, filter.get(i).copied().unwrap_or(Extent::UNKNOWN))?;
            if down.unify(input[i]).is_none() {
                let message = format!(
                    "output_shape {} leads to extent {down:?} along axis {i}, the input has {:?}",
                    Shown(reference),
                    input[i]
                );
                return Err(ShapeError::new(self.code, message));
            }
        }
        Ok(extents)
    }
}

/// Checks the length of an attribute that has an item for each axis. In the draft the last items
/// may be left out.
pub(crate) fn check_length(
    call: &Call,
    name: &str,
    length: usize,
    axes: usize,
    code: Code,
    optional: bool,
) -> Result<(), ShapeError> {
    if length == axes || (length == 0 && optional) || (length < axes && call.endless()) {
        return Ok(());
    }
    let message = format!("`{name}` of `{}` has {length} items, {axes} are needed: one for each axis", call.name());
    Err(ShapeError::new(code, message))
}

/// Checks that the items of an attribute are positive.
pub(crate) fn check_positive(name: &str, items: &[Option<i64>], code: Code) -> Result<(), ShapeError> {
    match items.iter().find(|item| item.is_some_and(|item| item < 1)) {
        None => Ok(()),
        Some(_) => {
            let message = format!("the items of `{name}` are positive, these are {}", Shown(items));
            Err(ShapeError::new(code, message))
        }
    }
}
