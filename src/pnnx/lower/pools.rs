//! Pooling by norms, pooling to a given extent, and the places of maxima.

use super::settings::SettingKind;
use super::windows::{LARGE, arguments, pooled, pooling, spatial};
use super::{Line, Lowered, Refusal, exact_quotient, integers, product};
use crate::extents::Window;
use crate::graph::{TensorId, Value};
use crate::library::assembly::Assembly;

/// The most items of a plane whose places floats of 32 bits can count.
const MOST_PLACES: i64 = 1 << 24;

/// The maxima of windows, and their places in a plane. NNEF counts within the window, so that the places are read from
/// a plane that has them; `place` is what it has at an index.
pub(super) fn with_places(
    line: &mut Line,
    x: TensorId,
    windows: &[Window],
    place: impl Fn(i64) -> i64,
) -> Lowered<Vec<TensorId>> {
    let extents = line.extents(x)?;
    let (outer, inner) = extents.split_at_checked(extents.len().saturating_sub(windows.len())).ok_or(Refusal::UNFIT)?;
    let count = Some(product(inner)?).filter(|count| *count <= MOST_PLACES);
    count.ok_or_else(|| Refusal::Because("the places of its maxima are too many".into()))?;
    let given = arguments(line, x, "ignore", windows)?;
    let found = line.add_each("max_pool_with_index", std::iter::once(Value::Tensor(x)).chain(given).collect(), 2)?;
    let &[values, index] = &found[..] else { return Err(Refusal::UNFIT) };
    let shape: Vec<i64> = std::iter::repeat_n(1, outer.len()).chain(inner.iter().copied()).collect();
    let plane = line.numbers(&shape, |at| place(at) as f64)?;
    let repeats = integers(outer.iter().copied().chain(std::iter::repeat_n(1, inner.len())));
    let planes = line.on("tile", plane, [repeats])?;
    let given = arguments(line, x, "constant", windows)?;
    let places = line.on("sample", planes, std::iter::once(Value::Tensor(index)).chain(given))?;
    Ok(vec![values, line.cast_to_integers(places)?])
}

/// The norm of each window. What `ceil_mode` adds to a window counts as the mean of its items.
pub(super) fn norms(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let of = pooling(line)?;
    let order: f64 = line.required("norm_type")?;
    line.require("norm_type", order != 0.0, "a finite number other than 0")?;
    let powers = match order {
        1.0 => of.x,
        2.0 => line.on("sqr", of.x, [])?,
        order => line.on("pow", of.x, [Value::Scalar(order)])?,
    };
    let means = pooled(line, "avg_pool", powers, "ignore", &of.widened)?;
    let sums = line.on("mul", means, [Value::Scalar(of.volume()? as f64)])?;
    Ok(vec![match order {
        1.0 => sums,
        2.0 => line.on("sqrt", sums, [])?,
        order => line.on("pow", sums, [Value::Scalar(1.0 / order)])?,
    }])
}

/// The items of an axis that belong to an item of the result.
fn range(from: i64, to: i64, item: i64) -> Option<(i64, i64)> {
    let begin = item.checked_mul(from)?.checked_div(to)?;
    let end = item.checked_add(1)?.checked_mul(from)?.checked_add(to.checked_sub(1)?)?.checked_div(to)?;
    Some((begin, end))
}

/// The means of the items of an axis that belong to each item of the result.
pub(super) fn means(line: &mut Line, x: TensorId, axis: i64, to: i64) -> Lowered<TensorId> {
    let from = super::extent_of(&line.extents(x)?, axis)?;
    line.summed(x, axis, to, &|item| {
        let (begin, end) = range(from, to, item).unwrap_or((0, 0));
        let share = 1.0 / end.saturating_sub(begin) as f64;
        (begin..end).map(|at| (at, share)).collect()
    })
}

/// The operand of adaptive pooling, the number of its axes before the windows, and the extents before and after.
struct Adaptive {
    x: TensorId,
    outer: i64,
    from: Vec<i64>,
    to: Vec<i64>,
}

impl Adaptive {
    fn read(line: &Line) -> Lowered<Adaptive> {
        let x = line.tensor("input")?;
        let (extents, spatial) = (line.extents(x)?, spatial(line)?);
        let outer = extents.len().checked_sub(spatial).ok_or(Refusal::UNFIT)?;
        let from: Vec<i64> = extents.iter().skip(outer).copied().collect();
        let key = "output_size";
        let items = match (line.is_list(key), &line.required::<Vec<Option<i64>>>(key)?[..]) {
            (false, [one]) => vec![*one; spatial],
            (_, several) => several.to_vec(),
        };
        line.require(key, items.len() == spatial, <Vec<Option<i64>>>::EXPECTED)?;
        // An extent of `None`, for which pnnx also writes 0 if there are several axes, is not changed.
        let unchanged = |item: &Option<i64>| item.is_none_or(|item| item == 0 && spatial > 1);
        let to = items.iter().zip(&from).map(|(item, from)| item.filter(|_| !unchanged(item)).unwrap_or(*from));
        let to: Vec<i64> = to.collect();
        line.require(key, to.iter().all(|to| *to > 0), "a list of positive integers and `None`")?;
        if extents.contains(&0) {
            return Err(Refusal::UNFIT);
        }
        Ok(Adaptive { x, outer: outer as i64, from, to })
    }

    /// All axes, if there is one item of the result for all of them.
    fn all(&self) -> Option<Vec<i64>> {
        let axes = (0..).zip(&self.from).map(|(at, _): (i64, _)| self.outer.saturating_add(at));
        self.to.iter().all(|to| *to == 1).then(|| axes.collect())
    }

    /// Windows of one size side by side, if the extents are multiples of those of the result.
    fn even(&self) -> Option<Vec<Window>> {
        let window = |(from, to): (&i64, &i64)| exact_quotient(*from, *to).map(Window::side_by_side);
        self.from.iter().zip(&self.to).map(window).collect()
    }
}

/// Adaptive pooling by means.
pub(super) fn adaptive_mean(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let of = Adaptive::read(line)?;
    if let Some(axes) = of.all() {
        return Ok(vec![line.on("mean_reduce", of.x, [integers(axes)])?]);
    }
    if let Some(windows) = of.even() {
        return pooled(line, "avg_pool", of.x, "constant", &windows).map(|y| vec![y]);
    }
    let mut y = of.x;
    for (axis, (from, to)) in (of.outer..).zip(of.from.iter().zip(&of.to)) {
        if from != to {
            y = means(line, y, axis, *to)?;
        }
    }
    Ok(vec![y])
}

/// The places along an axis of windows that are all as large as the largest one: the last item of others is repeated.
fn spread(from: i64, to: i64) -> Option<(i64, Vec<i64>)> {
    let ranges = (0..to).map(|item| range(from, to, item)).collect::<Option<Vec<(i64, i64)>>>()?;
    let size = ranges.iter().map(|(begin, end)| end.saturating_sub(*begin)).max()?;
    let window = |(begin, end): &(i64, i64)| {
        let (begin, last) = (*begin, end.saturating_sub(1));
        (0..size).map(move |at| begin.saturating_add(at).min(last))
    };
    Some((size, ranges.iter().flat_map(window).collect()))
}

/// Adaptive pooling by maxima, and their places in the plane if these are asked for.
pub(super) fn adaptive_max(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let of = Adaptive::read(line)?;
    let placed = line.flag("return_indices")?;
    if let Some(axes) = of.all().filter(|_| !placed) {
        return Ok(vec![line.on("max_reduce", of.x, [integers(axes)])?]);
    }
    if let Some(windows) = of.even() {
        return match placed {
            true => with_places(line, of.x, &windows, |place| place),
            false => pooled(line, "max_pool", of.x, "constant", &windows).map(|y| vec![y]),
        };
    }
    let (mut x, mut windows, mut all) = (of.x, Vec::new(), Vec::new());
    for (axis, (from, to)) in (of.outer..).zip(of.from.iter().zip(&of.to)) {
        line.items_of(&[*from.max(to)])?;
        let (size, places) = match exact_quotient(*from, *to) {
            Some(size) => (size, (0..*from).collect()),
            None => spread(*from, *to).ok_or(LARGE)?,
        };
        line.items_of(&[places.len() as i64])?;
        if places.len() as i64 != *from || exact_quotient(*from, *to).is_none() {
            x = line.taken_at(x, places.clone(), axis)?;
        }
        windows.push(Window::side_by_side(size));
        all.push((*from, places));
    }
    if !placed {
        return pooled(line, "max_pool", x, "constant", &windows).map(|y| vec![y]);
    }
    with_places(line, x, &windows, |at| original(&all, at))
}

/// The place in a plane for a place in the plane with repeated items. For each axis, its extent and the items of the
/// larger one.
fn original(axes: &[(i64, Vec<i64>)], at: i64) -> i64 {
    let (mut rest, mut place, mut step) = (at, 0i64, 1i64);
    for (from, places) in axes.iter().rev() {
        let count = (places.len() as i64).max(1);
        let item = usize::try_from(rest.rem_euclid(count)).ok().and_then(|at| places.get(at)).copied().unwrap_or(0);
        place = place.saturating_add(item.saturating_mul(step));
        step = step.saturating_mul(*from);
        rest = rest.div_euclid(count);
    }
    place
}
