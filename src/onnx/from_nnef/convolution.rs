//! Convolution, transposed convolution, and matrix products.

use super::formula::combine;
use super::lists;
use super::padding::{Axis, Border, border, pad, windows};
use super::translated_call::{Bound, Refused, TranslatedCall, Translation};
use super::value::{Attributes, ModelValue, NnefElement, ints, open, text};
use crate::extents::End;
use crate::onnx::model::AttributeValue;

/// The attributes of windows, with `pads` if these are known.
pub(super) fn attributes<'a>(axes: &[Axis], dilated: bool) -> Attributes<'a> {
    let mut found: Attributes = vec![("kernel_shape", ints(axes.iter().map(|axis| axis.window.size)))];
    if axes.iter().any(|axis| axis.window.stride != 1) {
        found.push(("strides", ints(axes.iter().map(|axis| axis.window.stride))));
    }
    if dilated && axes.iter().any(|axis| axis.window.dilation != 1) {
        found.push(("dilations", ints(axes.iter().map(|axis| axis.window.dilation))));
    }
    let pads: Option<Vec<(i64, i64)>> = axes.iter().map(|axis| axis.window.padding).collect();
    match pads {
        None => found.push(("auto_pad", text("SAME_UPPER"))),
        Some(pads) if pads.iter().all(|pads| *pads == (0, 0)) => {}
        Some(pads) => {
            let all = pads.iter().map(|pads| pads.0).chain(pads.iter().map(|pads| pads.1));
            found.push(("pads", ints(all)));
        }
    }
    found
}

/// The bias of an operation in the form of ONNX: a number for each channel; none if it is 0.
fn bias(call: &mut TranslatedCall, channels: Option<i64>) -> Translation<Option<ModelValue>> {
    let channels_known = || Refused::unknown("the number of channels of a bias is not known".to_owned());
    let bias = match call.bound("bias", 2)?.rounded() {
        Bound::Number(_, 0.0) => return Ok(None),
        Bound::Number(_, number) => {
            let count = channels.ok_or_else(channels_known)?;
            if (0..=MOST_REPEATED).contains(&count) {
                let items = vec![number; count as usize];
                return Ok(Some(call.out.constant("bias", NnefElement::Float, &[count], &items)));
            }
            let one = call.out.constant("bias", NnefElement::Float, &[1], &[number]);
            return Ok(Some(expanded(call, &one, count)));
        }
        Bound::One(value) => call.out.cast(&value, NnefElement::Float),
        Bound::Many(_) | Bound::Large(_) | Bound::Ints(_) => return Err(Refused::meaning("a bias must be a tensor")),
    };
    let volume = bias.known().and_then(|extents| lists::product(&extents));
    if volume == Some(1) && channels != Some(1) {
        let count = channels.ok_or_else(channels_known)?;
        let one = call.out.reshape(&bias, &[1]);
        return Ok(Some(expanded(call, &one, count)));
    }
    Ok(Some(match volume.or(channels) {
        Some(count) => call.out.reshape(&bias, &[count]),
        None => call.out.reshape(&bias, &[-1]),
    }))
}

/// The most channels for which a number is repeated in a constant tensor.
const MOST_REPEATED: i64 = 1 << 16;

/// A tensor of one number, repeated for each channel.
fn expanded(call: &mut TranslatedCall, one: &ModelValue, count: i64) -> ModelValue {
    let shape = call.out.list("shape", &[count]);
    call.node("Expand", &[one, &shape], Vec::new())
}

/// The operands of a convolution, with at least one spatial axis.
struct ConvolutionOperands {
    input: ModelValue,
    filter: ModelValue,
    /// The spatial extents of the input, and below those of the filter.
    inner: Vec<Option<i64>>,
    size: Vec<i64>,
    groups: i64,
    /// Whether a spatial axis was added.
    flat: bool,
}

fn operands(call: &mut TranslatedCall) -> Translation<ConvolutionOperands> {
    let (mut input, mut filter) = (call.scalars("input")?, call.scalars("filter")?);
    let rank = call.rank(&filter)?;
    if rank < 2 || input.rank().is_some_and(|given| given != rank) {
        return Err(Refused::meaning(format!("`{}` has an input and a filter of different ranks", call.name())));
    }
    let flat = rank == 2;
    if flat {
        (input, filter) = (call.out.unsqueeze(&input, &[2]), call.out.unsqueeze(&filter, &[2]));
    }
    let shape = call.extents(&filter)?;
    let dims = input.dims.clone().unwrap_or_else(|| open(shape.len()));
    // The channels of the result, if a transposed convolution states them.
    let stated = if call.name() == "deconv" { call.ints("output_shape")?.get(1).copied() } else { None };
    let groups = match call.int("groups")? {
        0 => stated.or(lists::known_at(&dims, 1)).ok_or_else(|| call.open_extents())?,
        groups => groups,
    };
    let channels = lists::known_at(&dims, 1).or(shape.first().copied());
    if groups < 1 || channels.is_some_and(|channels| channels.checked_rem(groups) != Some(0)) {
        return Err(Refused::meaning(format!("`{}` cannot divide its channels into {groups} groups", call.name())));
    }
    let (inner, size) = (lists::from(&dims, 2).to_vec(), lists::from(&shape, 2).to_vec());
    Ok(ConvolutionOperands { inner, size, input, filter, groups, flat })
}

/// The windows of a convolution; without spatial axes, that of the added axis.
fn axes(call: &TranslatedCall, of: &ConvolutionOperands, up: bool) -> Translation<Vec<Axis>> {
    match of.flat {
        true => Ok(vec![Axis::trivial(Some(1))]),
        false => windows(call, &of.size, &of.inner, up, false),
    }
}

fn unflattened(call: &mut TranslatedCall, flat: bool, made: ModelValue) -> Vec<ModelValue> {
    if !flat {
        return vec![made];
    }
    let axes = call.out.list("axes", &[2]);
    vec![call.node("Squeeze", &[&made, &axes], Vec::new())]
}

/// `conv`
pub(super) fn conv(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let mut of = operands(call)?;
    let mut axes = axes(call, &of, false)?;
    let border = border(call, 0.0)?;
    let negative = axes.iter().any(|axis| axis.window.padding.is_some_and(|(before, after)| before < 0 || after < 0));
    if border.repeats() || negative {
        let pads: Option<Vec<(i64, i64)>> = axes.iter().map(|axis| axis.window.padding).collect();
        let pads = pads.ok_or_else(|| call.open_extents())?;
        let all: Vec<(i64, i64)> = [(0, 0); 2].into_iter().chain(pads).collect();
        of.input = pad(call, &of.input, &all, border)?;
        axes.iter_mut().for_each(|axis| axis.window.padding = Some((0, 0)));
    }
    let channels = of.filter.dims.as_ref().and_then(|dims| lists::known_at(dims, 0));
    let bias = bias(call, channels)?;
    let mut attributes = attributes(&axes, true);
    if of.groups != 1 {
        attributes.push(("group", AttributeValue::Int(of.groups)));
    }
    let inputs: Vec<&ModelValue> = [&of.input, &of.filter].into_iter().chain(&bias).collect();
    let made = call.node("Conv", &inputs, attributes);
    Ok(unflattened(call, of.flat, made))
}

/// How many items of the complete result of a transposed window are removed at the start and at the end of an axis. A
/// negative number adds zeros.
pub(super) fn cuts(call: &TranslatedCall, axis: Axis, reference: Option<i64>) -> Translation<(i64, i64)> {
    let open = || call.open_extents();
    let (covered, stride) = (axis.covered(), axis.window.stride);
    if let (None, None) = (axis.window.padding, reference) {
        // The extent of the result is a multiple of the stride, regardless of the extent of the input.
        let all = covered.saturating_sub(stride);
        let before = all.max(0) / 2;
        return Ok((before, all.saturating_sub(before)));
    }
    if let (Some(pads), None) = (axis.window.padding, reference) {
        return Ok(pads);
    }
    let (extent, reference) = (axis.extent.ok_or_else(open)?, reference.ok_or_else(open)?);
    let before = match axis.window.padding {
        Some((before, _)) => before,
        None => {
            let window = axis.window.automatic(End::After, reference, 0).ok_or_else(open)?;
            window.padding.0
        }
    };
    Ok((before, axis.enlarged(extent).saturating_sub(before).saturating_sub(reference)))
}

/// A transposed convolution of an input with a filter. If the border repeats items of the input, all items that
/// contribute to the result are added to the input.
pub(super) fn transposed(
    call: &mut TranslatedCall,
    (input, filter, bias): (&ModelValue, &ModelValue, Option<ModelValue>),
    axes: &[Axis],
    (border, groups): (Border, i64),
    cuts: &[(i64, i64)],
) -> Translation<ModelValue> {
    let (mut input, mut cuts) = (input.clone(), cuts.to_vec());
    if border.repeats() {
        let mut pads = vec![(0, 0); 2];
        for (axis, cuts) in axes.iter().zip(&mut cuts) {
            let items =
                |cut: i64| axis.covered().saturating_sub(cut.min(0)).div_euclid(axis.window.stride).saturating_add(1);
            let more = |cut: i64| cut.saturating_add(items(cut).saturating_mul(axis.window.stride));
            pads.push((items(cuts.0), items(cuts.1)));
            *cuts = (more(cuts.0), more(cuts.1));
        }
        input = pad(call, &input, &pads, border)?;
    }
    let simple =
        |(axis, (before, after)): (&Axis, &(i64, i64))| *before >= 0 && after.saturating_add(axis.window.stride) > 0;
    let simple = axes.iter().zip(&cuts).all(simple);
    let plain = |axis: &Axis| axis.padded(Some((0, 0)));
    let mut attributes = attributes(&axes.iter().map(plain).collect::<Vec<_>>(), true);
    if groups != 1 {
        attributes.push(("group", AttributeValue::Int(groups)));
    }
    if simple && cuts.iter().any(|cuts| *cuts != (0, 0)) {
        let all = cuts.iter().map(|cuts| cuts.0).chain(cuts.iter().map(|cuts| cuts.1.max(0)));
        attributes.push(("pads", ints(all)));
        if cuts.iter().any(|cuts| cuts.1 < 0) {
            attributes.push(("output_padding", ints(cuts.iter().map(|cuts| cuts.1.saturating_neg().max(0)))));
        }
    }
    let kept = bias.as_ref().filter(|_| simple);
    let inputs: Vec<&ModelValue> = [&input, filter].into_iter().chain(kept).collect();
    let made = call.node("ConvTranspose", &inputs, attributes);
    if simple {
        return Ok(made);
    }
    let taken = cuts.iter().map(|cuts| (cuts.0.saturating_neg(), cuts.1.saturating_neg()));
    let pads: Vec<(i64, i64)> = [(0, 0); 2].into_iter().chain(taken).collect();
    let made = pad(call, &made, &pads, Border::Constant(0.0))?;
    let Some(bias) = bias else { return Ok(made) };
    let column: Vec<i64> = [1, -1].into_iter().chain(axes.iter().map(|_| 1)).collect();
    let bias = call.out.reshape(&bias, &column);
    Ok(call.node("Add", &[&made, &bias], Vec::new()))
}

/// `deconv`
pub(super) fn deconv(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let of = operands(call)?;
    let axes = axes(call, &of, true)?;
    let reference = call.ints("output_shape")?;
    let border = border(call, 0.0)?;
    let reference = if of.flat { &[] } else { lists::from(&reference, 2) };
    let cuts = |(i, axis): (usize, &Axis)| cuts(call, *axis, reference.get(i).copied());
    let cuts = axes.iter().enumerate().map(cuts).collect::<Translation<Vec<_>>>()?;
    let channels = of.filter.dims.as_ref().and_then(|dims| lists::known_at(dims, 1));
    let channels = channels.map(|channels| channels.saturating_mul(of.groups));
    let bias = bias(call, channels)?;
    let made = transposed(call, (&of.input, &of.filter, bias), &axes, (border, of.groups), &cuts)?;
    Ok(unflattened(call, of.flat, made))
}

/// A matrix, transposed if `transpose` is set.
fn matrix(call: &mut TranslatedCall, value: &ModelValue, transpose: bool) -> Translation<ModelValue> {
    if !transpose {
        return Ok(value.clone());
    }
    let rank = call.rank(value)?;
    let mut order: Vec<usize> = (0..rank).collect();
    let [.., row, column] = &mut order[..] else {
        return Err(Refused::meaning(format!("`{}` transposes an operand that is not a matrix", call.name())));
    };
    std::mem::swap(row, column);
    Ok(call.out.transpose(value, &order))
}

/// A product of matrices, which may be transposed: `Gemm` if a matrix is transposed and both have two axes.
fn product(
    call: &mut TranslatedCall,
    a: &ModelValue,
    b: &ModelValue,
    first: bool,
    second: bool,
) -> Translation<ModelValue> {
    if (first || second) && a.rank() == Some(2) && b.rank() == Some(2) {
        let flags = [("transA", first), ("transB", second)].into_iter().filter(|(_, set)| *set);
        let attributes = flags.map(|(name, _)| (name, AttributeValue::Int(1))).collect();
        return Ok(call.node("Gemm", &[a, b], attributes));
    }
    let (a, b) = (matrix(call, a, first)?, matrix(call, b, second)?);
    Ok(call.node("MatMul", &[&a, &b], Vec::new()))
}

/// `matmul`
pub(super) fn matmul(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let (a, b) = (call.scalars("A")?, call.scalars("B")?);
    let (first, second) = (call.flag("transposeA")?, call.flag("transposeB")?);
    Ok(vec![product(call, &a, &b, first, second)?])
}

/// `linear`
pub(super) fn linear(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let (input, filter) = (call.scalars("input")?, call.scalars("filter")?);
    let bias = match call.bound("bias", 2)? {
        Bound::Number(_, 0.0) => None,
        _ => Some(call.scalars("bias")?),
    };
    let matrices = input.rank() == Some(2) && filter.rank() == Some(2);
    // `Gemm` broadcasts a bias by the rules of ONNX, which differ from NNEF for a bias with fewer axes.
    let fits = |bias: &&ModelValue| {
        let first = |value: &ModelValue| value.dims.as_ref().and_then(|dims| lists::known_at(dims, 0));
        let output = [first(&input), first(&filter)];
        let fits = |(extent, output): (&Option<i64>, _)| *extent == Some(1) || extent.is_some() && *extent == output;
        bias.dims.as_ref().is_some_and(|dims| dims.len() <= 2 && dims.iter().zip(output).all(fits))
    };
    if let Some(bias) = bias.as_ref().filter(|_| matrices).filter(fits) {
        let bias = call.out.lengthen(bias, 2);
        let made = call.node("Gemm", &[&input, &filter, &bias], vec![("transB", AttributeValue::Int(1))]);
        return Ok(vec![made]);
    }
    let rank = filter.rank().or(input.rank());
    let made = product(call, &input, &filter, false, true)?;
    let made = ModelValue { dims: call.result_dims().or(rank.map(open)), ..made };
    match bias {
        None => Ok(vec![made]),
        Some(bias) => Ok(vec![combine(call, "Add(x, y)", &[("x", &made), ("y", &bias)])?]),
    }
}
