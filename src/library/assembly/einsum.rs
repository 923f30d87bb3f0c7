//! Sums of products by a formula of axes: each pair of operands becomes one product of matrices.

use super::{Assembly, integers};
use crate::extents::{Equation, EquationAxis, EquationSizes, Formula, is_letter};

/// A tensor with a letter for each axis.
struct Lettered<T> {
    tensor: T,
    letters: Vec<EquationAxis>,
}

/// The most axes that an ellipsis may stand for.
const MOST_AXES: usize = 64;

/// Reads an equation for its operands.
fn read<A: Assembly>(to: &A, equation: &str, operands: &[A::Tensor]) -> Result<Equation, A::Refusal> {
    let formula = Formula::read(equation, is_letter).map_err(|_| to.unfit())?;
    let shapes = operands.iter().map(|operand| to.extents_of(*operand)).collect::<Result<Vec<_>, _>>()?;
    let equation = formula.of_ranks(&shapes.iter().map(Vec::len).collect::<Vec<_>>()).map_err(|_| to.unfit())?;
    if equation.operands.iter().flatten().any(|axis| matches!(axis, EquationAxis::Ellipsis(MOST_AXES..))) {
        return Err(to.unfit());
    }
    if equation.repeats() {
        return Err(to.refusal("the result has a letter twice"));
    }
    if let Some(missing) = equation.missing() {
        let reason = "the result has a letter that no operand has";
        return Err(if let EquationAxis::Letter(_) = missing { to.refusal(reason) } else { to.unfit() });
    }
    Ok(equation)
}

/// The sum of products that an equation describes, with the types of the first operand.
///
/// # Errors
///
/// The equation is malformed, or does not fit the operands.
pub(crate) fn einsum<A: Assembly>(to: &mut A, equation: &str, operands: &[A::Tensor]) -> Result<A::Tensor, A::Refusal> {
    let equation = read(to, equation, operands)?;
    let shapes = operands.iter().map(|operand| to.extents_of(*operand)).collect::<Result<Vec<_>, _>>()?;
    let shapes: Vec<Option<&[i64]>> = shapes.iter().map(|shape| Some(&shape[..])).collect();
    let sizes = equation.sizes(&shapes).map_err(|_| to.refusal("the extents of a letter differ"))?;
    let Equation { operands: terms, result: output } = equation;
    let lettered = terms.into_iter().zip(operands).map(|(letters, tensor)| Lettered { tensor: *tensor, letters });
    let rest = lettered.map(|operand| diagonals(to, operand)).collect::<Result<Vec<_>, _>>()?;
    let rest = rest.into_iter().map(|operand| stretched(to, operand, &sizes)).collect::<Result<Vec<_>, _>>()?;
    let mut rest = rest.into_iter();
    let mut result = rest.next().ok_or_else(|| to.unfit())?;
    while let Some(next) = rest.next() {
        let needed =
            |c: &EquationAxis| output.contains(c) || rest.as_slice().iter().any(|later| later.letters.contains(c));
        result = pair(to, [result, next], &needed)?;
    }
    let result = summed(to, result, &|c| output.contains(c))?;
    let order = order(to, &result.letters, &output)?;
    to.transposed(result.tensor, &order)
}

/// The extent of a letter.
fn extent<A: Assembly>(to: &A, of: &Lettered<A::Tensor>, c: EquationAxis) -> Result<i64, A::Refusal> {
    let at = of.letters.iter().position(|own| *own == c);
    at.and_then(|at| to.extents_of(of.tensor).ok()?.get(at).copied()).ok_or_else(|| to.unfit())
}

/// Takes the diagonal for a letter that an operand has twice.
fn diagonals<A: Assembly>(to: &mut A, mut of: Lettered<A::Tensor>) -> Result<Lettered<A::Tensor>, A::Refusal> {
    loop {
        let twice = of.letters.iter().enumerate().find_map(|(i, c)| {
            let later = of.letters.iter().skip(i.saturating_add(1)).position(|other| other == c)?;
            Some((i, i.saturating_add(1).saturating_add(later), *c))
        });
        let Some((first, second, letter)) = twice else { return Ok(of) };
        let extents = to.extents_of(of.tensor)?;
        let (Some(count), Some(other)) = (extents.get(first), extents.get(second)) else { return Err(to.unfit()) };
        if count != other {
            return Err(to.refusal("the extents of a letter differ"));
        }
        let outer: Vec<usize> = (0..extents.len()).filter(|axis| *axis != first && *axis != second).collect();
        let order: Vec<i64> = outer.iter().copied().chain([first, second]).map(|axis| axis as i64).collect();
        let mut shape: Vec<i64> = outer.iter().filter_map(|axis| extents.get(*axis).copied()).collect();
        let (axis, all) = (shape.len() as i64, to.count(&[*count, *count])?);
        shape.push(all);
        let turned = to.transposed(of.tensor, &order)?;
        let flat = to.reshaped(turned, &shape)?;
        let tensor = match all {
            1 => flat,
            _ => {
                let along = [axis, 0, all, count.saturating_add(1)].map(|number| integers([number]));
                to.on("slice", flat, along)?
            }
        };
        let letters: Vec<EquationAxis> = outer.iter().filter_map(|axis| of.letters.get(*axis).copied()).collect();
        of = Lettered { tensor, letters: [letters, vec![letter]].concat() };
    }
}

/// Drops axes of extent 1 whose letter has a larger extent in another operand.
fn stretched<A: Assembly>(
    to: &mut A,
    operand: Lettered<A::Tensor>,
    sizes: &EquationSizes<i64>,
) -> Result<Lettered<A::Tensor>, A::Refusal> {
    let extents = to.extents_of(operand.tensor)?;
    let kept = |(letter, extent): (&EquationAxis, &i64)| *extent != 1 || sizes.get(letter) == Some(&1);
    let kept: Vec<bool> = operand.letters.iter().zip(&extents).map(kept).collect();
    let axes: Vec<i64> = (0..).zip(&kept).filter(|(_, kept)| !**kept).map(|(axis, _)| axis).collect();
    let tensor = to.without_axes(operand.tensor, &axes)?;
    let letters = operand.letters.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(c, _)| *c).collect();
    Ok(Lettered { tensor, letters })
}

/// Sums over the axes that nothing needs.
fn summed<A: Assembly>(
    to: &mut A,
    of: Lettered<A::Tensor>,
    needed: &dyn Fn(&EquationAxis) -> bool,
) -> Result<Lettered<A::Tensor>, A::Refusal> {
    let axes: Vec<i64> = (0..).zip(&of.letters).filter(|(_, c)| !needed(c)).map(|(axis, _)| axis).collect();
    if axes.is_empty() {
        return Ok(of);
    }
    let tensor = to.on("sum_reduce", of.tensor, [integers(axes.iter().copied())])?;
    let tensor = to.without_axes(tensor, &axes)?;
    Ok(Lettered { tensor, letters: of.letters.into_iter().filter(|c| needed(c)).collect() })
}

/// The axes of letters in a wanted order.
fn order<A: Assembly>(to: &A, letters: &[EquationAxis], wanted: &[EquationAxis]) -> Result<Vec<i64>, A::Refusal> {
    let at = |c: &EquationAxis| letters.iter().position(|own| own == c).map(|at| at as i64);
    let found = wanted.iter().map(at).collect::<Option<Vec<i64>>>();
    found.filter(|found| found.len() == letters.len()).ok_or_else(|| to.unfit())
}

/// The product of two operands, with the axes that are needed.
fn pair<A: Assembly>(
    to: &mut A,
    [a, b]: [Lettered<A::Tensor>; 2],
    needed: &dyn Fn(&EquationAxis) -> bool,
) -> Result<Lettered<A::Tensor>, A::Refusal> {
    let (left, right) = (a.letters.clone(), b.letters.clone());
    let a = summed(to, a, &|c| needed(c) || right.contains(c))?;
    let b = summed(to, b, &|c| needed(c) || left.contains(c))?;
    let shared = |c: &&EquationAxis| b.letters.contains(c);
    let batch: Vec<EquationAxis> = a.letters.iter().filter(shared).filter(|c| needed(c)).copied().collect();
    let inner: Vec<EquationAxis> = a.letters.iter().filter(shared).filter(|c| !needed(c)).copied().collect();
    let rows: Vec<EquationAxis> = a.letters.iter().filter(|c| !b.letters.contains(c)).copied().collect();
    let columns: Vec<EquationAxis> = b.letters.iter().filter(|c| !a.letters.contains(c)).copied().collect();
    let all = |of: &Lettered<A::Tensor>, list: &[EquationAxis], to: &A| {
        list.iter().map(|c| extent(to, of, *c)).collect::<Result<Vec<i64>, A::Refusal>>()
    };
    let (batches, height) = (all(&a, &batch, to)?, all(&a, &rows, to)?);
    let (depth, width) = (all(&a, &inner, to)?, all(&b, &columns, to)?);
    let letters = [&batch[..], &rows, &columns].concat();
    let arranged = |to: &mut A, of: &Lettered<A::Tensor>, wanted: [&[EquationAxis]; 3], extents: &[i64]| {
        let order = order(to, &of.letters, &wanted.concat())?;
        let turned = to.transposed(of.tensor, &order)?;
        to.reshaped(turned, extents)
    };
    if rows.is_empty() && columns.is_empty() && inner.is_empty() {
        let x = arranged(to, &a, [&batch, &[], &[]], &batches)?;
        let y = arranged(to, &b, [&batch, &[], &[]], &batches)?;
        return Ok(Lettered { tensor: to.on("mul", x, [A::argument(y)])?, letters });
    }
    let (count, height_all) = (to.count(&batches)?, to.count(&height)?);
    let (depth_all, width_all) = (to.count(&depth)?, to.count(&width)?);
    let x = arranged(to, &a, [&batch, &rows, &inner], &[count, height_all, depth_all])?;
    let y = arranged(to, &b, [&batch, &inner, &columns], &[count, depth_all, width_all])?;
    let product = to.multiplied(x, y, [false, false])?;
    Ok(Lettered { tensor: to.reshaped(product, &[batches, height, width].concat())?, letters })
}
