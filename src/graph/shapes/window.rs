//! Sliding windows: the relation of their parameters and extents (4.3).

use super::call::{Call, Ints, Pairs, Role, check_positive, shown};
use super::outcome::{ShapeError, refuse};
use super::shape::{Extent, Extents};
use crate::diagnostics::Code;
use crate::graph::dims::Dim;
use crate::graph::windows::is_of_space;

/// The parameters of a window; none for a parameter whose length is unknown.
pub(crate) struct Window {
    code: Code,
    padding: Option<Pairs>,
    stride: Option<Ints>,
    dilation: Option<Ints>,
}

impl Window {
    /// The default parameters: stride and dilation 1, automatic padding.
    pub(crate) fn plain(code: Code) -> Self {
        Window { code, padding: Some(Pairs::new()), stride: Some(Ints::new()), dilation: Some(Ints::new()) }
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
        Ok(Window { code, padding, stride, dilation })
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

    /// The stride along an axis, and the extent that a filter covers there.
    fn steps(&self, i: usize, filter: &Extent) -> (Option<i64>, Option<i64>) {
        let item = |items: &Option<Ints>| items.as_ref()?.get(i).copied().unwrap_or(Some(1));
        let covered = match filter.known() {
            Some(1) => Some(1),
            filter => filter
                .zip(item(&self.dilation))
                .and_then(|(filter, dilation)| (filter - 1).checked_mul(dilation)?.checked_add(1)),
        };
        (item(&self.stride), covered)
    }

    /// The number of items that the padding of an axis adds; `Ok(None)` for automatic padding, which depends on
    /// the extents, and `Err` if it is unknown.
    fn added(&self, i: usize) -> Result<Option<i64>, ()> {
        match self.padding.as_ref().ok_or(())?.get(i) {
            None => Ok(None),
            Some([Some(before), Some(after)]) => before.checked_add(*after).map(Some).ok_or(()),
            Some(_) => Err(()),
        }
    }

    /// The extent of the result along the `i`th axis.
    pub(crate) fn down(&self, i: usize, input: &Extent, filter: &Extent) -> Result<Extent, ShapeError> {
        let (Ok(added), (Some(stride), covered)) = (self.added(i), self.steps(i, filter)) else {
            return Ok(Extent::UNKNOWN);
        };
        let Some(added) = added else {
            return Ok(Extent::from(input.dim().over_up(Dim::Int(stride))));
        };
        if input.known().is_none() {
            let room = input.dim().plus(Dim::Int(added)).minus(Dim::from(covered));
            return Ok(Extent::from(room.over(Dim::Int(stride)).plus(Dim::Int(1))));
        }
        let room = |covered| input.known()?.checked_add(added)?.checked_sub(covered);
        let Some((covered, room)) = covered.and_then(|covered| Some((covered, room(covered)?))) else {
            return Ok(Extent::UNKNOWN);
        };
        if room < 0 {
            let items = format!("{input:?} items with {added} around them");
            return refuse(self.code, format!("a window of {covered} items does not fit into {items}"));
        }
        Ok(Extent::new(room / stride + 1))
    }

    /// The extent of the result of a transposed window along the `i`th axis.
    pub(crate) fn up(&self, i: usize, input: &Extent, filter: &Extent) -> Result<Extent, ShapeError> {
        let (Ok(added), (Some(stride), covered)) = (self.added(i), self.steps(i, filter)) else {
            return Ok(Extent::UNKNOWN);
        };
        if input.known().is_none() {
            let (input, stride) = (input.dim(), Dim::Int(stride));
            return Ok(Extent::from(match added {
                None => input.times(stride),
                Some(added) => {
                    let covered = Dim::from(covered).minus(Dim::Int(added));
                    input.minus(Dim::Int(1)).times(stride).plus(covered)
                }
            }));
        }
        let extent = input.known().and_then(|input| match added {
            None => input.checked_mul(stride),
            Some(added) => input.checked_sub(1)?.checked_mul(stride)?.checked_add(covered?)?.checked_sub(added),
        });
        match extent {
            Some(extent) if extent < 1 => {
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
