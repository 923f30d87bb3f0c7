//! Einstein summation.

use super::call::Call;
use super::outcome::{RuleResult, UNKNOWN, known, refuse};
use super::shape::{Extent, Extents};
use crate::diagnostics::Code;
use crate::graph::{Operand, Value};

const CODE: Code = Code::MatmulShapes;

/// An expression such as `ik,kj->ij`: letters name the axes of each operand and of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Einsum {
    /// The letters of each operand.
    pub(crate) operands: Vec<Vec<char>>,
    /// The letters of the result.
    pub(crate) result: Vec<char>,
}

impl Einsum {
    /// Parses an expression. Without an arrow, the result has the letters that occur once, sorted.
    pub(crate) fn read(text: &str) -> Option<Einsum> {
        let letters = |part: &str| part.chars().filter(|c| !c.is_whitespace()).collect::<Vec<char>>();
        let (operands, result) = match text.split_once("->") {
            Some((operands, result)) => (operands, Some(letters(result))),
            None => (text, None),
        };
        let operands: Vec<Vec<char>> = operands.split(',').map(letters).collect();
        let result = result.unwrap_or_else(|| {
            let all: Vec<char> = operands.concat();
            let mut once: Vec<char> =
                all.iter().copied().filter(|c| all.iter().filter(|other| *other == c).count() == 1).collect();
            once.sort_unstable();
            once
        });
        let mut all = operands.iter().flatten().chain(&result);
        all.all(|c| c.is_alphabetic()).then_some(Einsum { operands, result })
    }

    /// Parses an expression for operands of these ranks. The axes of an ellipsis get letters of their own; the last ones
    /// are the same in all operands.
    pub(crate) fn of_ranks(text: &str, ranks: &[usize]) -> Option<Einsum> {
        const ELLIPSIS: &str = "...";
        let letters =
            |axes: usize| (1..=axes as u32).rev().filter_map(|i| char::from_u32(0x4e00 + i)).collect::<String>();
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let (operands, result) = text.split_once("->").map_or((&*text, None), |(from, to)| (from, Some(to)));
        let (mut named, mut most) = (Vec::new(), 0);
        for (part, rank) in operands.split(',').zip(ranks) {
            let others = part.replacen(ELLIPSIS, "", 1);
            let axes = if others.len() == part.len() { 0 } else { rank.checked_sub(others.chars().count())? };
            most = most.max(axes);
            named.push(part.replacen(ELLIPSIS, &letters(axes), 1));
        }
        let named = named.join(",");
        let result = match result {
            Some(result) => result.replacen(ELLIPSIS, &letters(most), 1),
            None => {
                let shared = letters(most);
                let once = Einsum::read(&named)?.result.into_iter().filter(|letter| !shared.contains(*letter));
                shared.chars().chain(once).collect()
            }
        };
        Einsum::read(&format!("{named}->{result}"))
    }
}

/// The shape of a sum of products.
pub(super) fn einsum(call: &Call) -> RuleResult {
    let Some(einsum) = call.text("expr").and_then(Einsum::read) else { return UNKNOWN };
    let Some(shapes) = call.list(0) else { return UNKNOWN };
    let (named, given) = (einsum.operands.len(), shapes.len());
    // That of quantized numbers has axes for zero points and scales, too, which are arguments of their own.
    let more = call.named("a_scale").is_some();
    if named < given || named > given && !more {
        let are = if given == 1 { "is" } else { "are" };
        return refuse(CODE, format!("`expr` has axes for {named} operands, {given} {are} given"));
    }
    let mut sizes: Vec<(char, Extent)> = Vec::new();
    for (shape, letters) in shapes.iter().zip(&einsum.operands) {
        let Some(shape) = shape else { continue };
        if shape.len() != letters.len() {
            let axes: String = letters.iter().collect();
            return refuse(CODE, format!("`expr` names axes `{axes}` of an operand of shape {shape:?}"));
        }
        for (letter, extent) in letters.iter().zip(*shape) {
            match sizes.iter_mut().find(|(known, _)| known == letter) {
                None => sizes.push((*letter, extent.clone())),
                Some((_, size)) => match size.broadcast(extent) {
                    Some(both) => *size = both,
                    None => return refuse(CODE, format!("axis `{letter}` has extents {size:?} and {extent:?}")),
                },
            }
        }
    }
    let extent = |letter: &char| sizes.iter().find(|(known, _)| known == letter).map(|(_, size)| size.clone());
    known(einsum.result.iter().map(|letter| extent(letter).unwrap_or(Extent::UNKNOWN)).collect())
}

/// A matrix product. The argument `axes` specifies the axes of rows and sums of the first operand, sums and
/// columns of the second one, and rows and columns of the result.
pub(super) fn product(call: &Call) -> RuleResult {
    let (Some(a), Some(b)) = (call.extents(0), call.extents(1)) else { return UNKNOWN };
    if a.len() != b.len() {
        return refuse(CODE, format!("both operands need the same rank, these have shapes {a:?} and {b:?}"));
    }
    let Some(Operand::Value(Value::Integers(items))) = call.named("axes") else { return UNKNOWN };
    let axis = |&item: &i64| usize::try_from(item).ok().filter(|axis| *axis < a.len()).ok_or(item);
    let axes = items.iter().map(axis).collect::<Result<Vec<usize>, i64>>();
    let axes = axes.or_else(|axis| refuse(CODE, format!("the operands of rank {} have no axis {axis}", a.len())))?;
    let [rows, sums, _, columns, to_rows, to_columns] = &axes[..] else {
        return refuse(CODE, format!("`axes` has {} items, 6 are needed", axes.len()));
    };
    let mut extents = Extents::new();
    let mut batch = (0..a.len()).filter(|axis| axis != rows && axis != sums);
    for axis in 0..a.len() {
        extents.push(match axis {
            axis if axis == *to_rows => a[*rows].clone(),
            axis if axis == *to_columns => b[*columns].clone(),
            _ => batch.next().map_or(Extent::UNKNOWN, |from| a[from].broadcast(&b[from]).unwrap_or(Extent::UNKNOWN)),
        });
    }
    known(extents)
}
