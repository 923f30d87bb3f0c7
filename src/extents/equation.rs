//! Equations of sums of products, such as `ij,jk->ik`: which axes operands share, and which of them the result has.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::Size;

/// What stands for any number of axes.
const ELLIPSIS: &str = "...";

/// An axis of operands or of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EquationAxis {
    /// One of the axes that an ellipsis stands for, counted from the last one.
    Ellipsis(usize),
    /// An axis with a letter.
    Letter(char),
}

impl fmt::Display for EquationAxis {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            EquationAxis::Ellipsis(_) => f.write_str(ELLIPSIS),
            EquationAxis::Letter(letter) => write!(f, "{letter}"),
        }
    }
}

/// Why an equation has no meaning, or none for these operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EquationError {
    /// A character that is not the letter of an axis.
    Sign(char),
    /// Another number of terms than there are operands.
    Terms(usize),
    /// A term that names more or fewer axes than its operand has.
    Rank(usize),
}

impl fmt::Display for EquationError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            EquationError::Sign(sign) => write!(f, "the equation has `{sign}`"),
            EquationError::Terms(count) => write!(f, "the equation has {count} terms"),
            EquationError::Rank(operand) => write!(f, "term {operand} of the equation does not fit its operand"),
        }
    }
}

/// The letters of an operand or of the result: those before an ellipsis, and those after it if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EquationTerm {
    before: Vec<char>,
    after: Option<Vec<char>>,
}

impl EquationTerm {
    fn read(text: &str, is_letter: impl Fn(char) -> bool) -> Result<EquationTerm, EquationError> {
        let letters = |part: &str| match part.chars().find(|c| !is_letter(*c)) {
            Some(other) => Err(EquationError::Sign(other)),
            None => Ok(part.chars().collect::<Vec<char>>()),
        };
        Ok(match text.split_once(ELLIPSIS) {
            Some((before, after)) => EquationTerm { before: letters(before)?, after: Some(letters(after)?) },
            None => EquationTerm { before: letters(text)?, after: None },
        })
    }

    fn letters(&self) -> impl Iterator<Item = char> + '_ {
        self.before.iter().chain(self.after.iter().flatten()).copied()
    }

    /// The number of axes with a letter, the least rank of an operand.
    pub(crate) fn least(&self) -> usize {
        self.letters().count()
    }

    /// The number of axes that the ellipsis stands for in an operand of a rank; none if the axes do not fit.
    pub(crate) fn spread(&self, rank: usize) -> Option<usize> {
        let others = rank.checked_sub(self.least())?;
        (others == 0 || self.after.is_some()).then_some(others)
    }

    /// The axes, with so many in place of the ellipsis.
    fn axes(&self, spread: usize) -> Vec<EquationAxis> {
        let mut axes: Vec<EquationAxis> = self.before.iter().copied().map(EquationAxis::Letter).collect();
        if let Some(after) = &self.after {
            axes.extend((0..spread).rev().map(EquationAxis::Ellipsis));
            axes.extend(after.iter().copied().map(EquationAxis::Letter));
        }
        axes
    }
}

impl fmt::Display for EquationTerm {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.before.iter().try_for_each(|letter| write!(f, "{letter}"))?;
        let Some(after) = &self.after else { return Ok(()) };
        f.write_str(ELLIPSIS)?;
        after.iter().try_for_each(|letter| write!(f, "{letter}"))
    }
}

/// An equation as it is written. Which axes an ellipsis stands for follows from the ranks of operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Formula {
    pub(crate) operands: Vec<EquationTerm>,
    /// The term of the result; without one, the result has the axes of ellipses, then letters that occur once, sorted.
    pub(crate) result: Option<EquationTerm>,
}

/// Whether a character is a letter of ONNX and torch; tract has those of any alphabet.
pub(crate) fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic()
}

impl Formula {
    /// Reads an equation whose axes have certain letters; white space does not count.
    ///
    /// # Errors
    ///
    /// There is another character.
    pub(crate) fn read(text: &str, is_letter: fn(char) -> bool) -> Result<Formula, EquationError> {
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let (operands, result) = text.split_once("->").map_or((&*text, None), |(from, to)| (from, Some(to)));
        let term = |text: &str| EquationTerm::read(text, is_letter);
        Ok(Formula {
            operands: operands.split(',').map(term).collect::<Result<_, _>>()?,
            result: result.map(term).transpose()?,
        })
    }

    /// Reads an equation of tract, which has letters of any alphabet and no ellipses.
    pub(crate) fn plain(text: &str) -> Option<Equation> {
        let formula = Formula::read(text, char::is_alphabetic).ok()?;
        let mut terms = formula.operands.iter().chain(&formula.result);
        terms.all(|term| term.after.is_none()).then(|| formula.spread(&vec![0; formula.operands.len()]))
    }

    /// A letter of the result that no operand has.
    pub(crate) fn missing(&self) -> Option<char> {
        let all: BTreeSet<char> = self.operands.iter().flat_map(EquationTerm::letters).collect();
        self.result.as_ref()?.letters().find(|letter| !all.contains(letter))
    }

    /// The equation for operands of these ranks.
    ///
    /// # Errors
    ///
    /// The terms do not fit the operands.
    pub(crate) fn of_ranks(&self, ranks: &[usize]) -> Result<Equation, EquationError> {
        if self.operands.len() != ranks.len() {
            return Err(EquationError::Terms(self.operands.len()));
        }
        let spread =
            |(i, (term, rank)): (usize, (&EquationTerm, &usize))| term.spread(*rank).ok_or(EquationError::Rank(i));
        let spreads = self.operands.iter().zip(ranks).enumerate().map(spread).collect::<Result<Vec<_>, _>>()?;
        Ok(self.spread(&spreads))
    }

    /// The equation whose ellipses stand for so many axes of each operand.
    fn spread(&self, spreads: &[usize]) -> Equation {
        let operands: Vec<Vec<EquationAxis>> =
            self.operands.iter().zip(spreads).map(|(term, spread)| term.axes(*spread)).collect();
        let widest = spreads.iter().copied().max().unwrap_or(0);
        let result = match &self.result {
            Some(term) => term.axes(widest),
            None => implied(&operands, widest),
        };
        Equation { operands, result }
    }
}

/// The axes of a result that is not written.
fn implied(operands: &[Vec<EquationAxis>], widest: usize) -> Vec<EquationAxis> {
    let is_letter = |axis: &EquationAxis| matches!(axis, EquationAxis::Letter(_));
    let mut letters: Vec<EquationAxis> = operands.iter().flatten().copied().filter(is_letter).collect();
    letters.sort_unstable();
    let once = letters.chunk_by(|a, b| a == b).filter(|equal| equal.len() == 1).flatten().copied();
    (0..widest).rev().map(EquationAxis::Ellipsis).chain(once).collect()
}

/// The axes of operands and of the result of a sum of products. Axes of operands that are the same have the same index,
/// or an extent of 1; the sum is over those that the result does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Equation {
    pub(crate) operands: Vec<Vec<EquationAxis>>,
    pub(crate) result: Vec<EquationAxis>,
}

/// The extent of each axis of an equation.
pub(crate) type EquationSizes<S> = BTreeMap<EquationAxis, S>;

/// An axis whose extents in two operands, or in one, are different.
#[derive(Clone, Debug)]
pub(crate) struct Unequal<S> {
    pub(crate) axis: EquationAxis,
    /// The operand that decided the extent so far, and the one that has another extent.
    pub(crate) operands: [usize; 2],
    pub(crate) sizes: [S; 2],
}

impl Equation {
    /// The product of two stacks of matrices of one rank: the axes of rows and sums of the first operand, of sums and
    /// columns of the second, and of rows and columns of the result. The other axes are shared, in their order.
    pub(crate) fn of_matrices(axes: &[usize], rank: usize) -> Option<Equation> {
        let &[rows, sums, b_sums, columns, to_rows, to_columns] = axes else { return None };
        if axes.iter().any(|axis| *axis >= rank) {
            return None;
        }
        let term = |named: [(usize, char); 2]| -> Vec<EquationAxis> {
            let mut batch = 'a'..;
            let letter = |axis: usize| named.iter().find(|(own, _)| *own == axis).map(|(_, letter)| *letter);
            (0..rank).filter_map(|axis| letter(axis).or_else(|| batch.next())).map(EquationAxis::Letter).collect()
        };
        Some(Equation {
            operands: vec![term([(rows, 'M'), (sums, 'K')]), term([(b_sums, 'K'), (columns, 'N')])],
            result: term([(to_rows, 'M'), (to_columns, 'N')]),
        })
    }

    /// The extents of all axes of operands, those of unknown rank left out.
    ///
    /// # Errors
    ///
    /// An axis has two extents.
    pub(crate) fn sizes<S: Size>(&self, shapes: &[Option<&[S]>]) -> Result<EquationSizes<S>, Unequal<S>> {
        // With the operand that decided each extent.
        let mut found: BTreeMap<EquationAxis, (S, usize)> = BTreeMap::new();
        for (operand, (axes, shape)) in self.operands.iter().zip(shapes).enumerate() {
            let own = diagonal(axes, shape.unwrap_or_default());
            let own = own.map_err(|(axis, sizes)| Unequal { axis, operands: [operand; 2], sizes })?;
            for (axis, extent) in own {
                let Some((size, decided)) = found.get_mut(&axis) else {
                    found.insert(axis, (extent, operand));
                    continue;
                };
                let unequal = || Unequal { axis, operands: [*decided, operand], sizes: [size.clone(), extent.clone()] };
                let both = size.broadcast(&extent).ok_or_else(unequal)?;
                *decided = if both == *size { *decided } else { operand };
                *size = both;
            }
        }
        Ok(found.into_iter().map(|(axis, (size, _))| (axis, size)).collect())
    }

    /// An axis of the result that no operand has.
    pub(crate) fn missing(&self) -> Option<EquationAxis> {
        let all: BTreeSet<&EquationAxis> = self.operands.iter().flatten().collect();
        self.result.iter().find(|axis| !all.contains(axis)).copied()
    }

    /// Whether the result has an axis twice.
    pub(crate) fn repeats(&self) -> bool {
        let mut seen = BTreeSet::new();
        !self.result.iter().all(|axis| seen.insert(axis))
    }
}

/// The extents of the axes of one operand: axes that are the same have one extent.
fn diagonal<S: Size>(axes: &[EquationAxis], shape: &[S]) -> Result<EquationSizes<S>, (EquationAxis, [S; 2])> {
    let mut own = EquationSizes::new();
    for (axis, extent) in axes.iter().zip(shape) {
        let size = own.entry(*axis).or_insert_with(|| extent.clone());
        *size = size.unify(extent).ok_or_else(|| (*axis, [size.clone(), extent.clone()]))?;
    }
    Ok(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_ranks(text: &str, ranks: &[usize]) -> Result<Equation, EquationError> {
        Formula::read(text, char::is_alphabetic)?.of_ranks(ranks)
    }

    /// Equations that say the same.
    #[test]
    fn what_is_left_out_is_implied() {
        for (short, long, ranks) in [
            ("ij,jk", "ij,jk->ik", &[2, 2][..]),
            (" b a ", "ba->ab", &[2]),
            ("ii", "ii->", &[2]),
            ("...j,j", "...j,j->...", &[3, 1]),
            ("b...,a", "b...,a->...ab", &[2, 1]),
        ] {
            assert_eq!(of_ranks(short, ranks).unwrap(), of_ranks(long, ranks).unwrap(), "{short}");
        }
        let axes = |text: &str, ranks: &[usize]| of_ranks(text, ranks).unwrap().result.len();
        assert_eq!(axes("...i,...i->...i", &[1, 3]), 3);
    }

    #[test]
    fn what_does_not_fit_is_told() {
        assert_eq!(of_ranks("i1,j", &[2, 1]), Err(EquationError::Sign('1')));
        assert_eq!(of_ranks("...i...,j", &[2, 1]), Err(EquationError::Sign('.')));
        assert_eq!(of_ranks("ij,j", &[2]), Err(EquationError::Terms(2)));
        assert_eq!(of_ranks("ij,j", &[2, 2]), Err(EquationError::Rank(1)));
        assert_eq!(of_ranks("ij...,j", &[1, 1]), Err(EquationError::Rank(0)));
        assert!(Formula::plain("...i").is_none() && Formula::plain("αβ,βγ->αγ").is_some());
    }

    #[test]
    fn sizes_are_broadcast_between_operands_only() {
        let sizes = |text: &str, shapes: &[&[i64]]| {
            let ranks: Vec<usize> = shapes.iter().map(|shape| shape.len()).collect();
            let shapes: Vec<Option<&[i64]>> = shapes.iter().map(|shape| Some(*shape)).collect();
            of_ranks(text, &ranks).unwrap().sizes(&shapes).map_err(|error| error.operands)
        };
        let letters = [('i', 2), ('j', 3)].map(|(letter, size)| (EquationAxis::Letter(letter), size));
        assert_eq!(sizes("ij,ij", &[&[2, 1], &[1, 3]]).unwrap(), EquationSizes::from(letters));
        assert_eq!(sizes("ij,i,j", &[&[2, 1], &[1], &[3]]).unwrap(), EquationSizes::from(letters));
        assert_eq!(sizes("j,jj,i", &[&[3], &[1, 1], &[2]]).unwrap(), EquationSizes::from(letters));
        assert_eq!(sizes("i,i,i", &[&[1], &[2], &[3]]), Err([1, 2]));
        assert_eq!(sizes("ii", &[&[1, 3]]), Err([0, 0]));
    }
}
