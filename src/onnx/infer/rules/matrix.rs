//! Products of matrices.

use rustc_hash::FxHashMap;

use super::axes::broadcast;
use crate::graph::dims::Dim;
use crate::onnx::infer::InferCall;

/// The shape of a product of two stacks of matrices; vectors are rows on the left and columns on the right.
fn product(a: &[Dim], b: &[Dim]) -> Option<Vec<Dim>> {
    let (row, lead_a) = match a {
        [] => return None,
        [_] => (None, &a[..0]),
        [lead @ .., row, _] => (Some(row), lead),
    };
    let (column, lead_b) = match b {
        [] => return None,
        [_] => (None, &b[..0]),
        [lead @ .., _, column] => (Some(column), lead),
    };
    let mut shape = broadcast(lead_a, lead_b)?;
    shape.extend(row.cloned());
    shape.extend(column.cloned());
    Some(shape)
}

/// `MatMul`, `MatMulInteger`
pub(crate) fn matmul(call: &mut InferCall) -> Option<()> {
    let shape = product(call.extents(0)?, call.extents(1)?)?;
    call.give(0, shape);
    Some(())
}

/// `QLinearMatMul`
pub(crate) fn quantized_matmul(call: &mut InferCall) -> Option<()> {
    let shape = product(call.extents(0)?, call.extents(3)?)?;
    call.give(0, shape);
    Some(())
}

/// `Gemm`
pub(crate) fn gemm(call: &mut InferCall) -> Option<()> {
    let at = |name: &str, plain: usize| if call.int_or(name, 0) == 0 { plain } else { 1 - plain };
    if call.rank(0).is_some_and(|rank| rank != 2) || call.rank(1).is_some_and(|rank| rank != 2) {
        return None;
    }
    let shape = [call.extent(0, at("transA", 0)), call.extent(1, at("transB", 1))];
    call.give(0, shape);
    Some(())
}

/// `Det`
pub(crate) fn det(call: &mut InferCall) -> Option<()> {
    let [lead @ .., _, _] = call.extents(0)? else { return None };
    let shape = lead.to_vec();
    call.give(0, shape);
    Some(())
}

/// The letters of a term of an equation, with the place of an ellipsis.
fn term(text: &str) -> (Vec<char>, Option<usize>) {
    let (lead, rest) = text.split_once("...").unwrap_or((text, ""));
    let letters: Vec<char> = lead.chars().chain(rest.chars()).collect();
    (letters, text.contains("...").then(|| lead.chars().count()))
}

/// `Einsum`
pub(crate) fn einsum(call: &mut InferCall) -> Option<()> {
    let equation: String = call.text("equation")?.chars().filter(|c| !c.is_whitespace()).collect();
    let (operands, result) = match equation.split_once("->") {
        Some((operands, result)) => (operands, Some(result)),
        None => (&equation[..], None),
    };
    let mut extents: FxHashMap<char, Dim> = FxHashMap::default();
    let mut ellipsis: Vec<Dim> = Vec::new();
    let mut uses: FxHashMap<char, usize> = FxHashMap::default();
    let mut has_ellipsis = false;
    for (i, text) in operands.split(',').enumerate() {
        let (letters, dots) = term(text);
        let own = call.extents(i)?;
        let spread = own.len().checked_sub(letters.len())?;
        if dots.is_none() && spread > 0 {
            return None;
        }
        let at = dots.unwrap_or(letters.len());
        has_ellipsis |= dots.is_some();
        ellipsis = broadcast(&ellipsis, own.get(at..at + spread)?)?;
        let named = own[..at].iter().chain(&own[at + spread..]);
        for (letter, extent) in letters.iter().zip(named) {
            let before = extents.remove(letter).unwrap_or(Dim::Int(1));
            extents.insert(*letter, before.broadcast(extent.clone()).unwrap_or(Dim::Unknown));
            *uses.entry(*letter).or_default() += 1;
        }
    }
    let (letters, dots) = match result {
        Some(result) => term(result),
        None => {
            // The letters that occur once, in alphabetic order.
            let mut letters: Vec<char> =
                uses.iter().filter(|(_, count)| **count == 1).map(|(letter, _)| *letter).collect();
            letters.sort_unstable();
            (letters, has_ellipsis.then_some(0))
        }
    };
    let mut shape: Vec<Dim> = letters.iter().map(|letter| extents.get(letter).cloned()).collect::<Option<_>>()?;
    if let Some(at) = dots {
        shape.splice(at..at, ellipsis);
    }
    call.give(0, shape);
    Some(())
}
