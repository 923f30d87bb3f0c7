//! Sums of products by a formula of axes: each pair of operands becomes one product of matrices.

use super::{Assembly, integers};

/// A tensor with a letter for each axis.
struct Lettered<T> {
    tensor: T,
    letters: Vec<char>,
}

/// The operands with their letters, and the letters of the result.
type Terms<T> = (Vec<Lettered<T>>, Vec<char>);

/// The first of the letters that stand for the axes of an ellipsis. Formulas have letters of ASCII only.
const ELLIPSIS: u32 = 0x391;

/// The most axes that an ellipsis may stand for.
const MOST_AXES: usize = 64;

/// The letters of an operand or of the result; `inner` is the number of axes of its ellipsis, which are the last ones
/// of the `widest` ellipsis.
fn letters(text: &str, inner: usize, widest: usize) -> Vec<char> {
    let axes =
        || (widest.saturating_sub(inner)..widest).filter_map(|i| char::from_u32(ELLIPSIS.checked_add(i as u32)?));
    match text.split_once("...") {
        Some((before, after)) => before.chars().chain(axes()).chain(after.chars()).collect(),
        None => text.chars().collect(),
    }
}

/// The letters of a result that is not stated: those of `...`, and those that occur once, in their order.
fn implied<T>(operands: &[Lettered<T>]) -> Vec<char> {
    let all: Vec<char> = operands.iter().flat_map(|operand| operand.letters.iter().copied()).collect();
    let mut once: Vec<char> =
        all.iter().copied().filter(|c| all.iter().filter(|other| *other == c).count() == 1 || !c.is_ascii()).collect();
    once.sort_by_key(|c| (c.is_ascii(), *c));
    once.dedup();
    once
}

/// Reads an equation for its operands.
fn read<A: Assembly>(to: &A, equation: &str, operands: &[A::Tensor]) -> Result<Terms<A::Tensor>, A::Refusal> {
    let equation: String = equation.chars().filter(|c| !c.is_whitespace()).collect();
    let (inputs, output) = match equation.split_once("->") {
        Some((inputs, output)) => (inputs, Some(output)),
        None => (equation.as_str(), None),
    };
    let terms: Vec<&str> = inputs.split(',').collect();
    let is_term = |text: &str| text.replacen("...", "", 1).chars().all(|c| c.is_ascii_alphabetic());
    if terms.len() != operands.len() || !terms.iter().copied().chain(output).all(is_term) {
        return Err(to.unfit());
    }
    let mut inner = Vec::with_capacity(terms.len());
    for (term, operand) in terms.iter().zip(operands) {
        let named = term.chars().filter(char::is_ascii_alphabetic).count();
        let more = to.extents_of(*operand)?.len().checked_sub(named).ok_or_else(|| to.unfit())?;
        if more > if term.contains("...") { MOST_AXES } else { 0 } {
            return Err(to.unfit());
        }
        inner.push(more);
    }
    let widest = inner.iter().copied().max().unwrap_or(0);
    let lettered = terms.iter().zip(operands).zip(&inner);
    let operands: Vec<Lettered<A::Tensor>> = lettered
        .map(|((term, tensor), inner)| Lettered { tensor: *tensor, letters: letters(term, *inner, widest) })
        .collect();
    let output = output.map_or_else(|| implied(&operands), |output| letters(output, widest, widest));
    Ok((operands, output))
}

/// The sum of products that an equation describes, with the types of the first operand.
///
/// # Errors
///
/// The equation is malformed, or does not fit the operands.
pub(crate) fn einsum<A: Assembly>(to: &mut A, equation: &str, operands: &[A::Tensor]) -> Result<A::Tensor, A::Refusal> {
    let (operands, output) = read(to, equation, operands)?;
    if (1..output.len())
        .any(|i| output.get(..i).is_some_and(|before| output.get(i).is_some_and(|c| before.contains(c))))
    {
        return Err(to.refusal("the result has a letter twice"));
    }
    let mut rest = Vec::with_capacity(operands.len());
    for operand in operands {
        rest.push(diagonals(to, operand)?);
    }
    let rest = stretched(to, rest, &output)?;
    let mut rest = rest.into_iter();
    let mut result = rest.next().ok_or_else(|| to.unfit())?;
    while let Some(next) = rest.next() {
        let needed = |c: &char| output.contains(c) || rest.as_slice().iter().any(|later| later.letters.contains(c));
        result = pair(to, [result, next], &needed)?;
    }
    let result = summed(to, result, &|c| output.contains(c))?;
    let order = order(to, &result.letters, &output)?;
    to.transposed(result.tensor, &order)
}

/// The extent of a letter.
fn extent<A: Assembly>(to: &A, of: &Lettered<A::Tensor>, c: char) -> Result<i64, A::Refusal> {
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
                let along = [&[axis][..], &[0], &[all], &[count.saturating_add(1)]].map(integers);
                to.on("slice", flat, along)?
            }
        };
        let letters: Vec<char> = outer.iter().filter_map(|axis| of.letters.get(*axis).copied()).collect();
        of = Lettered { tensor, letters: [letters, vec![letter]].concat() };
    }
}

/// Drops axes of extent 1 whose letter has a larger extent in another operand.
fn stretched<A: Assembly>(
    to: &mut A,
    operands: Vec<Lettered<A::Tensor>>,
    output: &[char],
) -> Result<Vec<Lettered<A::Tensor>>, A::Refusal> {
    if let Some(missing) = output.iter().find(|c| !operands.iter().any(|operand| operand.letters.contains(c))) {
        let reason = "the result has a letter that no operand has";
        return Err(if missing.is_ascii() { to.refusal(reason) } else { to.unfit() });
    }
    let mut all: Vec<(char, i64)> = Vec::new();
    for operand in &operands {
        for (letter, extent) in operand.letters.iter().zip(to.extents_of(operand.tensor)?) {
            match all.iter_mut().find(|(known, _)| known == letter) {
                None => all.push((*letter, extent)),
                Some((_, known)) if *known == 1 => *known = extent,
                Some((_, known)) if extent == 1 || *known == extent => {}
                Some(_) => return Err(to.refusal("the extents of a letter differ")),
            }
        }
    }
    let mut found = Vec::with_capacity(operands.len());
    for operand in operands {
        let extents = to.extents_of(operand.tensor)?;
        let is_one = |(letter, extent): (&char, &i64)| *extent == 1 && !all.contains(&(*letter, 1));
        let drops: Vec<bool> = operand.letters.iter().zip(&extents).map(is_one).collect();
        let axes: Vec<i64> = (0..).zip(&drops).filter(|(_, drops)| **drops).map(|(axis, _)| axis).collect();
        let tensor = to.without_axes(operand.tensor, &axes)?;
        let letters = operand.letters.iter().zip(&drops).filter(|(_, drops)| !**drops).map(|(c, _)| *c).collect();
        found.push(Lettered { tensor, letters });
    }
    Ok(found)
}

/// Sums over the axes that nothing needs.
fn summed<A: Assembly>(
    to: &mut A,
    of: Lettered<A::Tensor>,
    needed: &dyn Fn(&char) -> bool,
) -> Result<Lettered<A::Tensor>, A::Refusal> {
    let axes: Vec<i64> = (0..).zip(&of.letters).filter(|(_, c)| !needed(c)).map(|(axis, _)| axis).collect();
    if axes.is_empty() {
        return Ok(of);
    }
    let tensor = to.on("sum_reduce", of.tensor, [integers(&axes)])?;
    let tensor = to.without_axes(tensor, &axes)?;
    Ok(Lettered { tensor, letters: of.letters.into_iter().filter(|c| needed(c)).collect() })
}

/// The axes of letters in a wanted order.
fn order<A: Assembly>(to: &A, letters: &[char], wanted: &[char]) -> Result<Vec<i64>, A::Refusal> {
    let at = |c: &char| letters.iter().position(|own| own == c).map(|at| at as i64);
    let found = wanted.iter().map(at).collect::<Option<Vec<i64>>>();
    found.filter(|found| found.len() == letters.len()).ok_or_else(|| to.unfit())
}

/// The product of two operands, with the axes that are needed.
fn pair<A: Assembly>(
    to: &mut A,
    [a, b]: [Lettered<A::Tensor>; 2],
    needed: &dyn Fn(&char) -> bool,
) -> Result<Lettered<A::Tensor>, A::Refusal> {
    let (left, right) = (a.letters.clone(), b.letters.clone());
    let a = summed(to, a, &|c| needed(c) || right.contains(c))?;
    let b = summed(to, b, &|c| needed(c) || left.contains(c))?;
    let shared = |c: &&char| b.letters.contains(c);
    let batch: Vec<char> = a.letters.iter().filter(shared).filter(|c| needed(c)).copied().collect();
    let inner: Vec<char> = a.letters.iter().filter(shared).filter(|c| !needed(c)).copied().collect();
    let rows: Vec<char> = a.letters.iter().filter(|c| !b.letters.contains(c)).copied().collect();
    let columns: Vec<char> = b.letters.iter().filter(|c| !a.letters.contains(c)).copied().collect();
    let all = |of: &Lettered<A::Tensor>, list: &[char], to: &A| {
        list.iter().map(|c| extent(to, of, *c)).collect::<Result<Vec<i64>, A::Refusal>>()
    };
    let (batches, height) = (all(&a, &batch, to)?, all(&a, &rows, to)?);
    let (depth, width) = (all(&a, &inner, to)?, all(&b, &columns, to)?);
    let letters = [&batch[..], &rows, &columns].concat();
    let arranged = |to: &mut A, of: &Lettered<A::Tensor>, wanted: [&[char]; 3], extents: &[i64]| {
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
    let product = to.multiplied(x, y, (false, false))?;
    Ok(Lettered { tensor: to.reshaped(product, &[batches, height, width].concat())?, letters })
}
