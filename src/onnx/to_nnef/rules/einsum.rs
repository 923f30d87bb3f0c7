//! Sums of products by a formula of axes: each pair of operands becomes one product of matrices.

use crate::onnx::to_nnef::emit::listed;
use crate::onnx::to_nnef::item::FlatTensor;
use crate::onnx::to_nnef::line::{NodeLine, NodeResults, one};
use crate::onnx::to_nnef::refusal::{Lowered, NodeRefusal};
use crate::onnx::to_nnef::shape::product;

use super::matrices;

/// A tensor with a letter for each axis.
struct Lettered {
    flat: FlatTensor,
    letters: Vec<char>,
}

/// The first of the letters that stand for the axes of an ellipsis. Formulas have letters of ASCII only.
const ELLIPSIS: u32 = 0x391;

/// The letters of an operand or of the result; `inner` is the number of axes of the ellipsis.
fn letters(text: &str, inner: usize) -> Lowered<Vec<char>> {
    let axes = |count: usize| (0..count as u32).filter_map(|i| char::from_u32(ELLIPSIS.saturating_add(i)));
    match text.split_once("...") {
        Some((before, after)) => Ok(before.chars().chain(axes(inner)).chain(after.chars()).collect()),
        None => Ok(text.chars().collect()),
    }
}

/// The operands with their letters, and the letters of the result.
fn read(line: &mut NodeLine) -> Lowered<(Vec<Lettered>, Vec<char>)> {
    let equation: String = line.text("equation", "")?.chars().filter(|c| !c.is_whitespace()).collect();
    let (inputs, output) = match equation.split_once("->") {
        Some((inputs, output)) => (inputs, Some(output)),
        None => (equation.as_str(), None),
    };
    let terms: Vec<&str> = inputs.split(',').collect();
    if terms.len() != line.count() {
        return Err(NodeRefusal::UNFIT);
    }
    let (mut operands, mut widest) = (Vec::new(), 0);
    for (i, term) in terms.iter().enumerate() {
        let flat = line.flat(i)?;
        let named = term.chars().filter(char::is_ascii_alphabetic).count();
        let inner = line.rank(i)?.checked_sub(named).ok_or(NodeRefusal::RANK)?;
        widest = widest.max(inner);
        let letters = letters(term, inner)?;
        if letters.len() != line.rank(i)? {
            return Err(NodeRefusal::RANK);
        }
        operands.push((Lettered { flat, letters }, inner));
    }
    if operands.iter().any(|(_, inner)| *inner != widest && *inner != 0) {
        return Err(NodeRefusal::because("its operands have different numbers of axes for `...`"));
    }
    let operands: Vec<Lettered> = operands.into_iter().map(|(operand, _)| operand).collect();
    let output = match output {
        Some(output) => letters(output, widest)?,
        None => implied(&operands),
    };
    Ok((operands, output))
}

/// The letters of a result that is not stated: those of `...`, and those that occur once, in their order.
fn implied(operands: &[Lettered]) -> Vec<char> {
    let all: Vec<char> = operands.iter().flat_map(|operand| operand.letters.iter().copied()).collect();
    let mut once: Vec<char> =
        all.iter().copied().filter(|c| all.iter().filter(|other| *other == c).count() == 1 || !c.is_ascii()).collect();
    once.sort_by_key(|c| (c.is_ascii(), *c));
    once.dedup();
    once
}

pub(in crate::onnx::to_nnef) fn einsum(line: &mut NodeLine) -> NodeResults {
    let (operands, output) = read(line)?;
    for operand in &operands {
        let distinct = operand.letters.iter().all(|c| operand.letters.iter().filter(|other| *other == c).count() == 1);
        if !distinct {
            return Err(NodeRefusal::because("an operand has a letter twice"));
        }
    }
    let mut rest = operands.into_iter();
    let mut result = rest.next().ok_or(NodeRefusal::UNFIT)?;
    while let Some(next) = rest.next() {
        let needed = |c: &char| output.contains(c) || rest.as_slice().iter().any(|later| later.letters.contains(c));
        result = pair(line, [result, next], &needed)?;
    }
    let result = summed(line, result, &|c| output.contains(c))?;
    let order = order(&result.letters, &output)?;
    one(line.emit.transpose(result.flat, &order)?)
}

/// Sums over the axes that nothing needs.
fn summed(line: &mut NodeLine, of: Lettered, needed: &dyn Fn(&char) -> bool) -> Lowered<Lettered> {
    let axes: Vec<usize> = (0..of.letters.len()).filter(|i| !needed(&of.letters[*i])).collect();
    if axes.is_empty() {
        return Ok(of);
    }
    let flat = line.emit.on("sum_reduce", of.flat, [listed(&axes)])?;
    let flat = line.emit.squeeze(flat, &axes)?;
    Ok(Lettered { flat, letters: of.letters.into_iter().filter(|c| needed(c)).collect() })
}

/// The axes of letters in a wanted order.
fn order(letters: &[char], wanted: &[char]) -> Lowered<Vec<usize>> {
    let at = |c: &char| letters.iter().position(|own| own == c).ok_or(NodeRefusal::UNFIT);
    let found = wanted.iter().map(at).collect::<Lowered<Vec<usize>>>()?;
    if found.len() == letters.len() { Ok(found) } else { Err(NodeRefusal::UNFIT) }
}

/// The product of two operands, with the axes that are needed.
fn pair(line: &mut NodeLine, [a, b]: [Lettered; 2], needed: &dyn Fn(&char) -> bool) -> Lowered<Lettered> {
    let (left, right) = (a.letters.clone(), b.letters.clone());
    let a = summed(line, a, &|c| needed(c) || right.contains(c))?;
    let b = summed(line, b, &|c| needed(c) || left.contains(c))?;
    let shared = |c: &&char| b.letters.contains(c);
    let batch: Vec<char> = a.letters.iter().filter(shared).filter(|c| needed(c)).copied().collect();
    let inner: Vec<char> = a.letters.iter().filter(shared).filter(|c| !needed(c)).copied().collect();
    let rows: Vec<char> = a.letters.iter().filter(|c| !b.letters.contains(c)).copied().collect();
    let columns: Vec<char> = b.letters.iter().filter(|c| !a.letters.contains(c)).copied().collect();
    let extent = |of: &Lettered, extents: &[i64], c: &char| {
        of.letters.iter().position(|own| own == c).and_then(|i| extents.get(i)).copied().ok_or(NodeRefusal::UNFIT)
    };
    let (a_extents, b_extents) = (line.emit.extents(a.flat)?, line.emit.extents(b.flat)?);
    for c in batch.iter().chain(&inner) {
        if extent(&a, &a_extents, c)? != extent(&b, &b_extents, c)? {
            return Err(NodeRefusal::because("the extents of a letter differ"));
        }
    }
    let all = |of: &Lettered, extents: &[i64], list: &[char]| {
        list.iter().map(|c| extent(of, extents, c)).collect::<Lowered<Vec<i64>>>()
    };
    let (batches, height) = (all(&a, &a_extents, &batch)?, all(&a, &a_extents, &rows)?);
    let (depth, width) = (all(&a, &a_extents, &inner)?, all(&b, &b_extents, &columns)?);
    let arranged = |line: &mut NodeLine, of: &Lettered, wanted: [&[char]; 3], extents: [i64; 3]| {
        let order = order(&of.letters, &wanted.concat())?;
        let flat = line.emit.transpose(of.flat, &order)?;
        line.emit.reshape(flat, &extents)
    };
    let (count, height_all) = (product(&batches)?, product(&height)?);
    let (depth_all, width_all) = (product(&depth)?, product(&width)?);
    let x = arranged(line, &a, [&batch, &rows, &inner], [count, height_all, depth_all])?;
    let y = arranged(line, &b, [&batch, &inner, &columns], [count, depth_all, width_all])?;
    let flat = matrices::product(line, x, y, (false, false))?;
    let flat = line.emit.reshape(flat, &[batches, height, width].concat())?;
    Ok(Lettered { flat, letters: [batch, rows, columns].concat() })
}
