//! What rules ask about the shapes of operands.

use crate::extents::{EquationTerm, Formula, is_letter};
use crate::graph::dims::Dim;
use crate::onnx::infer::rules::axes::{self, axis};
use crate::onnx::infer::{InferCall, shown};

/// Why a node cannot run; none if it may.
pub(in crate::onnx::infer) type Misfit = Option<String>;

/// Whether two extents are different numbers.
pub(in crate::onnx::infer) fn differ(a: &Dim, b: &Dim) -> bool {
    a.known().zip(b.known()).is_some_and(|(a, b)| a != b)
}

/// An operand with its shape, as messages name it; nothing if nobody reads them: models may have many nodes that cannot run.
pub(in crate::onnx::infer) fn named(call: &InferCall, operand: usize) -> String {
    if !call.tells() {
        return String::new();
    }
    let shape = call.extents(operand).map_or(String::new(), |extents| format!(" of {}", shown(extents)));
    format!("`{}`{shape}", call.operand_name(operand))
}

/// The operand has another rank.
pub(in crate::onnx::infer) fn rank(
    call: &InferCall,
    operand: usize,
    wanted: std::ops::RangeInclusive<usize>,
) -> Misfit {
    let rank = call.rank(operand)?;
    let (least, most) = (*wanted.start(), *wanted.end());
    let told = match most {
        usize::MAX => format!("at least {least}"),
        most if most == least => least.to_string(),
        most => format!("{least} to {most}"),
    };
    (!wanted.contains(&rank)).then(|| format!("{} has the rank {rank}, not {told}", named(call, operand)))
}

/// All these operands have this rank, where they are given.
pub(in crate::onnx::infer) fn ranks(call: &InferCall, operands: &[usize], wanted: usize) -> Misfit {
    operands.iter().find_map(|operand| rank(call, *operand, wanted..=wanted))
}

/// These axes of operands have one extent.
pub(in crate::onnx::infer) fn same(call: &InferCall, axes: &[(usize, usize)]) -> Misfit {
    let known =
        |(operand, axis): &(usize, usize)| call.extent(*operand, *axis).known().map(|extent| (*operand, extent));
    let mut known = axes.iter().filter_map(known);
    let (first, extent) = known.next()?;
    let (other, _) = known.find(|(_, other)| *other != extent)?;
    Some(format!("{} and {} do not go together", named(call, first), named(call, other)))
}

/// These operands have one shape: nothing is broadcast.
pub(in crate::onnx::infer) fn alike(call: &InferCall, operands: &[usize]) -> Misfit {
    let mut known = operands.iter().filter(|operand| call.rank(**operand).is_some());
    let first = *known.next()?;
    let fits = |other: usize| {
        let (a, b) = (call.extents(first).unwrap_or_default(), call.extents(other).unwrap_or_default());
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| !differ(a, b))
    };
    let other = *known.find(|other| !fits(**other))?;
    Some(format!("{} and {} do not have one shape", named(call, first), named(call, other)))
}

/// A list of an attribute that is given has another number of items.
pub(in crate::onnx::infer) fn listed_items(call: &InferCall, name: &str, wanted: &[usize]) -> Misfit {
    let items = call.ints(name).filter(|items| !items.is_empty())?.len();
    let told = wanted.iter().map(usize::to_string).collect::<Vec<_>>().join(" or ");
    (!wanted.contains(&items)).then(|| format!("`{name}` has {items} items, not {told}"))
}

/// `SwiGLU`
pub(crate) fn gated(call: &InferCall) -> Misfit {
    alike(call, &[0, 1])
}

/// The number is not that of an axis.
pub(in crate::onnx::infer) fn outside(number: i64, rank: usize) -> Misfit {
    axis(number, rank).is_none().then(|| format!("there is no axis {number} of {rank}"))
}

/// The attribute `axis` is not that of an axis of an operand; without it, the default counts, if there is one.
pub(in crate::onnx::infer) fn axis_attribute(call: &InferCall, operand: usize, default: Option<i64>) -> Misfit {
    outside(call.int("axis").or(default)?, call.rank(operand)?)
}

/// Axes that do not exist, or are given twice.
pub(in crate::onnx::infer) fn axes_outside(numbers: &[i64], rank: usize) -> Misfit {
    let mut seen = vec![false; rank];
    numbers.iter().find_map(|number| {
        outside(*number, rank).or_else(|| {
            let seen = seen.get_mut(axis(*number, rank)?)?;
            std::mem::replace(seen, true).then(|| format!("the axis {number} is given twice"))
        })
    })
}

/// An attribute with a number that is not positive.
pub(in crate::onnx::infer) fn not_positive(call: &InferCall, name: &str) -> Misfit {
    call.int(name).filter(|number| *number < 1).map(|number| format!("`{name}` is {number}, not positive"))
}

/// An attribute that names an element type which does not exist.
pub(crate) fn element_named(call: &InferCall) -> Misfit {
    let name = ["to", "dtype", "output_datatype", "output_dtype"].into_iter().find(|name| call.has_attribute(name))?;
    let number = call.int(name)?;
    let allows_none = name == "output_dtype" && number == 0;
    let is_type = i32::try_from(number).is_ok_and(|number| crate::onnx::types::ElementType::numbered(number).is_some());
    (!is_type && !allows_none).then(|| format!("`{name}` is {number}, which is no element type"))
}

/// The version of the standard from which on operands are broadcast.
const BROADCASTS: i64 = 7;

/// The shapes of operands cannot be broadcast to one.
pub(crate) fn broadcast(call: &InferCall) -> Misfit {
    // Before, an attribute told which axes of the first operand the second one has.
    if call.version() < BROADCASTS {
        return None;
    }
    broadcast_of(call, &(0..call.operand_count()).collect::<Vec<_>>())
}

/// The shapes of some operands cannot be broadcast to one.
pub(in crate::onnx::infer) fn broadcast_of(call: &InferCall, operands: &[usize]) -> Misfit {
    let mut shape: Vec<Dim> = Vec::new();
    let known = operands.iter().filter_map(|operand| Some((*operand, call.extents(*operand)?)));
    for (operand, extents) in known {
        match axes::broadcast(&shape, extents) {
            Some(next) => shape = next,
            None => {
                let others: Vec<String> =
                    operands.iter().take_while(|other| **other != operand).map(|other| named(call, *other)).collect();
                let others = others.join(", ");
                return Some(format!("{others} and {} cannot be broadcast to one shape", named(call, operand)));
            }
        }
    }
    None
}

/// An operand with more than one item where one is wanted.
pub(in crate::onnx::infer) fn scalar(call: &InferCall, operand: usize) -> Misfit {
    let rank = call.rank(operand)?;
    (rank > 0).then(|| format!("{} is not a single number", named(call, operand)))
}

/// An operand has more or less than one item.
pub(in crate::onnx::infer) fn single(call: &InferCall, operand: usize) -> Misfit {
    let many = axes::product(call.extents(operand)?).known().is_some_and(|items| items != 1);
    many.then(|| format!("{} is not a single number", named(call, operand)))
}

/// `Softmax`, `LogSoftmax`, `Hardmax`: before version 13 the axes from the second one on are one.
pub(crate) fn softmax(call: &InferCall) -> Misfit {
    axis_attribute(call, 0, Some(if call.version() < 13 { 1 } else { -1 }))
}

/// `ArgMax`, `ArgMin`
pub(crate) fn arg(call: &InferCall) -> Misfit {
    axis_attribute(call, 0, Some(0))
}

/// `CumSum`, `CumProd`: the axis is an operand.
pub(crate) fn cumulative(call: &InferCall) -> Misfit {
    outside(call.item(1).known()?, call.rank(0)?)
}

/// Reductions.
pub(crate) fn reduced(call: &InferCall) -> Misfit {
    let (rank, axes) = (call.rank(0)?, crate::onnx::infer::rules::arrange::listed(call, 1, "axes")?);
    axes.iter().find_map(|number| outside(*number, rank))
}

/// `Einsum`
pub(crate) fn einsum(call: &InferCall) -> Misfit {
    let formula = match Formula::read(&call.text("equation")?, is_letter) {
        Ok(formula) => formula,
        Err(error) => return Some(error.to_string()),
    };
    let count = call.operand_count();
    if formula.operands.len() != count {
        return Some(format!("the equation has {} terms, the node {count} operands", formula.operands.len()));
    }
    if let Some(letter) = formula.missing() {
        return Some(format!("`{letter}` of the result is in no operand of the equation"));
    }
    let misfit = |(i, term): (usize, &EquationTerm)| {
        let misfit = term.spread(call.rank(i)?).is_none();
        misfit.then(|| format!("`{term}` of the equation does not fit {}", named(call, i)))
    };
    formula.operands.iter().enumerate().find_map(misfit).or_else(|| letters_differ(call, &formula))
}

/// An axis of an equation stands for two extents.
fn letters_differ(call: &InferCall, formula: &Formula) -> Misfit {
    let shapes: Vec<Option<&[Dim]>> = (0..call.operand_count()).map(|i| call.extents(i)).collect();
    let ranks = formula.operands.iter().zip(&shapes).map(|(term, shape)| shape.map_or(term.least(), <[Dim]>::len));
    let unequal = formula.of_ranks(&ranks.collect::<Vec<_>>()).ok()?.sizes(&shapes).err()?;
    let [a, b] = unequal.operands.map(|operand| named(call, operand));
    Some(format!("`{}` of the equation has two extents in {a} and {b}", unequal.axis))
}
