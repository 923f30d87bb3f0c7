//! Sliding windows: the relation of their parameters and extents (4.3).

use super::outcome::{ShapeError, refuse};
use super::shape::{Extent, Extents};
use super::shape_call::{Call, Ints, Pairs, Role, check_positive, shown};
use crate::diagnostics::Code;
use crate::extents::Window;
use crate::graph::dims::Dim;
use crate::graph::windows::is_of_space;

/// The parameters of windows over some axes; none for a parameter whose length is unknown.
pub(crate) struct Windows {
    code: Code,
    padding: Option<Pairs>,
    stride: Option<Ints>,
    dilation: Option<Ints>,
}

impl Windows {
    /// The default parameters: stride and dilation 1, automatic padding.
    pub(crate) fn plain(code: Code) -> Self {
        Windows { code, padding: Some(Pairs::new()), stride: Some(Ints::new()), dilation: Some(Ints::new()) }
    }

    /// Reads the parameters of a window; `axes` is the number of its axes, if known. Those of a window that is
    /// `of_space` may leave out batch and channels.
    pub(crate) fn read(call: &Call, axes: Option<usize>, code: Code, of_space: bool) -> Result<Self, ShapeError> {
        let rank = axes.filter(|_| of_space);
        let is_short = |items: usize| rank.is_some_and(|rank| is_of_space(items, rank));
        let mut padding = call.pairs(Role::Padding);
        if let Some(items) = padding.as_mut().filter(|items| is_short(items.len())) {
            items.insert_many(0, [[Some(0); 2]; 2]);
        }
        call.check_length(Role::Padding, padding.as_ref().map(|items| items.len()), axes, code)?;
        let steps = [Role::Stride, Role::Dilation];
        let [stride, dilation] = steps.map(|role| {
            let mut items = call.ints(role);
            if let Some(items) = items.as_mut().filter(|items| is_short(items.len())) {
                items.insert_many(0, [Some(1); 2]);
            }
            items
        });
        for (role, items) in steps.into_iter().zip([&stride, &dilation]) {
            call.check_length(role, items.as_ref().map(|items| items.len()), axes, code)?;
        }
        for (role, items) in steps.into_iter().zip([&stride, &dilation]) {
            check_positive(role.name(), items.as_deref().unwrap_or(&[]), code)?;
        }
        Ok(Windows { code, padding, stride, dilation })
    }

    /// Removes the padding of the first axes.
    pub(crate) fn leave_out(&mut self, axes: usize) {
        self.padding.iter_mut().flatten().take(axes).for_each(|padding| *padding = [Some(0); 2]);
    }

    /// The length of the longest parameter, if known.
    pub(crate) fn axes(call: &Call) -> Option<usize> {
        let padding = call.pairs(Role::Padding)?.len();
        Some(padding.max(call.ints(Role::Stride)?.len()).max(call.ints(Role::Dilation)?.len()))
    }

    /// The window along an axis with a filter of this extent; its padding is none where it is automatic.
    fn along(&self, i: usize, filter: &Extent) -> Window<Dim, Option<(Dim, Dim)>> {
        let step = |items: &Option<Ints>| items.as_ref()?.get(i).copied().unwrap_or(Some(1));
        let [stride, dilation] = [&self.stride, &self.dilation].map(|items| Dim::from(step(items)));
        let padding = match &self.padding {
            None => Some([None; 2]),
            Some(padding) => padding.get(i).copied(),
        };
        let padding = padding.map(|[before, after]| (Dim::from(before), Dim::from(after)));
        Window { size: Dim::from(filter.known()), stride, dilation, padding }
    }

    /// The extent of the result along the `i`th axis.
    pub(crate) fn down(&self, i: usize, input: &Extent, filter: &Extent) -> Result<Extent, ShapeError> {
        let (window, input) = (self.along(i, filter), input.dim());
        let Some(padding) = window.padding.clone() else { return Ok(Dim::from(window.strides(&input)).into()) };
        let window = window.padded(padding);
        if window.room(&input).and_then(|room| room.known()).is_some_and(|room| room < 0) {
            let (before, after) = window.padding.clone();
            let (around, covered) = (before.plus(after), Dim::from(window.span()));
            let items = format!("{} items with {} around them", input.text(), around.text());
            return refuse(self.code, format!("a window of {} items does not fit into {items}", covered.text()));
        }
        Ok(Dim::from(window.places(&input)).into())
    }

    /// The extent of the result of a transposed window along the `i`th axis.
    pub(crate) fn up(&self, i: usize, input: &Extent, filter: &Extent) -> Result<Extent, ShapeError> {
        let (window, input) = (self.along(i, filter), input.dim());
        let extent = match window.padding.clone() {
            None => input.times(window.stride),
            Some(padding) => window.padded(padding).extent(&input).into(),
        };
        match extent {
            Dim::Int(extent) if extent < 1 => {
                refuse(self.code, format!("the padding takes away all items: the extent would be {extent}"))
            }
            extent => Ok(extent.into()),
        }
    }

    /// The extents of the `output_shape` of a transposed operation: the window must map them to those of the
    /// input. It does not cover the `first` axes.
    pub(crate) fn check_reference(
        &self,
        reference: &[Option<i64>],
        input: &[Extent],
        filter: impl Fn(usize) -> Extent,
        first: usize,
    ) -> Result<Extents, ShapeError> {
        check_positive("output_shape", reference, self.code)?;
        let extents: Extents = reference.iter().map(|&extent| extent.into()).collect();
        for (i, extent) in extents.iter().enumerate().skip(first) {
            let (down, input) = (self.down(i - first, extent, &filter(i))?, &input[i]);
            if down.unify(input).is_none() {
                let reference = format!("output_shape {} leads to extent {down:?}", shown(reference));
                return refuse(self.code, format!("{reference} along axis {i}, the input has {input:?}"));
            }
        }
        Ok(extents)
    }
}
