//! Convolutions: windows over the spatial axes, and a sum over the channels (H2).

use super::outcome::{RuleResult, ShapeError, refuse, same};
use super::shape::{Extent, Extents, Shape};
use super::shape_call::{Call, Ints, MAX_RANK, Role, check_positive};
use super::window::Windows;
use crate::diagnostics::Code;
use crate::dictionary::Deviation;
use crate::graph::dims::Dim;

const CODE: Code = Code::ConvolutionShapes;

/// A convolution with one filter. A separable convolution consists of two steps.
struct ConvolutionStep<'s> {
    filter: Option<&'s [Extent]>,
    bias: Option<&'s [Extent]>,
    windows: &'s Windows,
    groups: Option<i64>,
    output_shape: Option<&'s [Option<i64>]>,
    transposed: bool,
    /// Whether the filter of a transposed convolution has the output channels first.
    outputs_first: bool,
}

fn error<T>(message: String) -> Result<T, ShapeError> {
    refuse(CODE, message)
}

impl ConvolutionStep<'_> {
    /// The shape of the result, if the rank of the input is known.
    fn apply(&self, input: Option<&[Extent]>) -> Result<Option<Extents>, ShapeError> {
        let Some(input) = input else { return Ok(None) };
        if input.len() < 2 {
            return error(format!("the input has shape {input:?}: a batch and a channel axis are needed"));
        }
        if let Some(filter) = self.filter.filter(|filter| filter.len() != input.len()) {
            let (rank, filter_rank) = (input.len(), filter.len());
            return error(format!("the input has rank {rank}, the filter rank {filter_rank}: they must be equal"));
        }
        let groups = self.groups(input)?;
        let channels = self.channels(input, groups)?;
        let mut output: Extents = [input[0].clone(), channels].into_iter().collect();
        match self.output_shape {
            Some([]) => {
                for i in 2..input.len() {
                    let filter = self.filter.map_or(&Extent::UNKNOWN, |filter| &filter[i]);
                    let change = if self.transposed { Windows::up } else { Windows::down };
                    output.push(change(self.windows, i - 2, &input[i], filter)?);
                }
            }
            Some(reference) if self.outputs_first => {
                check_positive("output_shape", reference, CODE)?;
                output.extend(reference.iter().map(|&extent| Extent::from(extent)));
            }
            Some(reference) => output = self.reference(reference, input, &output)?,
            None => output.resize(input.len(), Extent::UNKNOWN),
        }
        self.check_bias(&output[1]).map_err(|error| error.but(Some(Shape::new(&output))))?;
        Ok(Some(output))
    }

    /// The number of groups; 0 means the number of channels.
    fn groups(&self, input: &[Extent]) -> Result<Option<i64>, ShapeError> {
        let groups = match self.groups {
            Some(groups) if groups < 0 => return error(format!("`groups` is {groups}, it cannot be negative")),
            Some(0) if self.outputs_first => self.filter.and_then(|filter| filter[0].known()),
            Some(0) => self.planes(input),
            groups => groups,
        };
        if let (Some(groups), Some(count)) =
            (groups.filter(|&groups| groups > 0), self.filter.and_then(|f| f[0].known()))
            && count % groups != 0
        {
            return error(format!("{groups} groups do not divide the {count} filters (axis 0 of the filter)"));
        }
        Ok(groups)
    }

    /// The number of groups that convolve each channel separately: the channels of the input, but those of the result
    /// if `output_shape` says that a transposed convolution has one filter for each.
    fn planes(&self, input: &[Extent]) -> Option<i64> {
        let stated = self.output_shape.filter(|_| self.transposed).and_then(|shape| shape.get(1).copied().flatten());
        stated.or(input[1].known())
    }

    /// Checks that input and filter have compatible numbers of channels, and returns the number of channels of
    /// the result.
    fn channels(&self, input: &[Extent], groups: Option<i64>) -> Result<Extent, ShapeError> {
        let Some(filter) = self.filter else { return Ok(Extent::UNKNOWN) };
        let all = Extent::from(filter[1].dim().times(Dim::from(groups)));
        let (taken, given) = match self.transposed && !self.outputs_first {
            true => (filter[0].clone(), all),
            false => (all, filter[0].clone()),
        };
        if taken.unify(&input[1]).is_none() {
            let (shape, channels) = (filter, &input[1]);
            return error(match groups {
                Some(groups) if (!self.transposed || self.outputs_first) && groups != 1 => format!(
                    "the filter of shape {shape:?} with {groups} groups takes {taken:?} channels, the input has {channels:?}"
                ),
                _ => format!("the filter of shape {shape:?} takes {taken:?} channels, the input has {channels:?}"),
            });
        }
        Ok(given)
    }

    /// Checks the bias: a single number, or one for each channel of the result: `[C]`, `[1, C]`, `[1, C, 1, ..]`.
    fn check_bias(&self, channels: &Extent) -> Result<(), ShapeError> {
        let Some(bias) = self.bias else { return Ok(()) };
        let axis = bias.len().min(2).saturating_sub(1);
        let fits = |(i, extent): (usize, &Extent)| {
            extent.unify(&Extent::ONE).is_some() || (i == axis && extent.unify(channels).is_some())
        };
        if bias.iter().enumerate().all(fits) {
            return Ok(());
        }
        // Other shapes are common, if they have an item for each channel.
        let items = bias.iter().map(Extent::known).try_fold(1i64, |items, extent| items.checked_mul(extent?));
        let fits = items.zip(channels.known()).is_none_or(|(items, channels)| items == channels);
        refuse(
            if fits { Code::BiasShape } else { CODE },
            format!("the bias has shape {bias:?}, it must be [1, {channels:?}] or a single number"),
        )
    }

    fn reference(&self, reference: &[Option<i64>], input: &[Extent], output: &[Extent]) -> Result<Extents, ShapeError> {
        if reference.len() != input.len() {
            return error(format!("`output_shape` has {} items, the input has rank {}", reference.len(), input.len()));
        }
        let filter = |i: usize| self.filter.map_or(Extent::UNKNOWN, |filter| filter[i].clone());
        let mut extents = self.windows.check_reference(reference, input, filter, 2)?;
        for (i, what) in ["batch", "channels"].into_iter().enumerate() {
            let (given, found) = (&extents[i], &output[i]);
            let Some(extent) = given.unify(found) else {
                let given = format!("`output_shape` has {given:?} along axis {i} ({what})");
                return error(format!("{given}, the result has {found:?}"));
            };
            extents[i] = extent;
        }
        Ok(extents)
    }
}

/// The extents of input and filters. In the draft they are extended to the rank of the longest argument, which
/// is unknown if an attribute is unknown.
fn operands<const N: usize>(call: &Call, tensors: [u32; N]) -> [Option<Extents>; N] {
    if !call.endless() {
        return tensors.map(|i| call.extents_to(i, 0));
    }
    let longest = tensors.iter().filter_map(|&i| call.rank(i)).max().unwrap_or(0);
    let rank = Windows::axes(call).map(|axes| longest.max(axes + 2).min(MAX_RANK));
    tensors.map(|i| call.extents_to(i, rank?))
}

/// `conv` and `deconv`, and their planewise variants, which convolve each channel separately.
pub(crate) fn convolve(call: &Call, planewise: bool, transposed: bool) -> RuleResult {
    let [input, filter] = operands(call, [0, 1]);
    let of_rank = input.as_ref().or(filter.as_ref().filter(|_| !planewise));
    let windows = Windows::read(call, of_rank.map(|extents| extents.len().saturating_sub(2)), CODE, false)?;
    if !planewise {
        let spatial = filter.as_ref().and_then(|filter| filter.get(2..)).unwrap_or(&[]);
        check_positive("filter", &spatial.iter().map(|extent| extent.known()).collect::<Ints>(), CODE)?;
    }
    let outputs_first = call.deviates(Deviation::OutputsFirst);
    let output_shape = output_shape(call, of_rank.map(|extents| extents.len()));
    let step = ConvolutionStep {
        filter: filter.as_deref(),
        bias: call.extents(2),
        windows: &windows,
        groups: if planewise { Some(0) } else { call.int(Role::Groups) },
        output_shape: output_shape.as_deref(),
        transposed,
        outputs_first,
    };
    same(step.apply(input.as_deref())?)
}

/// The attribute `output_shape`; empty if it is ignored.
fn output_shape(call: &Call, rank: Option<usize>) -> Option<Ints> {
    let given = call.ints(Role::OutputShape)?;
    let ignored = || rank.is_some_and(|rank| given.len() + 2 != rank);
    if call.deviates(Deviation::SpatialOutputShape) && ignored() {
        return Some(Ints::new());
    }
    Some(given)
}

/// `separable_conv`: a planewise convolution, then a convolution over the channels at each position. The
/// transposed operation has the same steps in reverse order.
pub(crate) fn separable(call: &Call, transposed: bool) -> RuleResult {
    let [input, plane, point] = operands(call, [0, 1, 2]);
    let axes = input.as_ref().map(|input| input.len().saturating_sub(2));
    let (windows, unit) = (Windows::read(call, axes, CODE, false)?, Windows::plain(CODE));
    let outputs_first = call.deviates(Deviation::OutputsFirst);
    let output_shape = output_shape(call, input.as_ref().map(|input| input.len()));
    // The second step adds the bias.
    let (bias, none) = (call.extents(3), Some(&[][..]));
    let planes = ConvolutionStep {
        filter: plane.as_deref(),
        bias: if transposed { bias } else { none },
        windows: &windows,
        groups: Some(0),
        output_shape: output_shape.as_deref(),
        transposed,
        outputs_first,
    };
    let points = ConvolutionStep {
        filter: point.as_deref(),
        bias: if transposed { none } else { bias },
        windows: &unit,
        groups: call.int(Role::Groups),
        output_shape: Some(&[]),
        transposed,
        outputs_first,
    };
    let (first, second) = if transposed { (points, planes) } else { (planes, points) };
    let between = first.apply(input.as_deref())?;
    same(second.apply(between.as_deref())?)
}
