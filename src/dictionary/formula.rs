//! Formulas: meanings applied to operands and numbers, as `select(lt(@0,0.0),ceil(@0),floor(@0))`.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::index::{all, named};
use super::row::{InNnef, Row};

/// A part of a formula. Equal parts exist once.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    /// An operand, by its position.
    Operand(usize),
    /// A number.
    Number(f64),
    /// A meaning, applied to earlier parts.
    Apply(&'static Row, Vec<usize>),
}

/// A formula: its parts, each after those that it is made of. The last one is the result.
pub(crate) type Formula = Vec<Part>;

/// The formula of a meaning that NNEF computes by others.
pub(crate) fn of(row: &Row) -> Option<&'static Formula> {
    static KNOWN: LazyLock<FxHashMap<&'static str, Formula>> = LazyLock::new(|| {
        let formula = |row: &'static Row| match row.nnef {
            InNnef::Formula(text) => Some((row.name, read(text)?)),
            InNnef::Operation(_) | InNnef::Missing => None,
        };
        all().filter_map(formula).collect()
    });
    KNOWN.get(row.name)
}

/// Reads a formula; none if it is malformed or names a meaning that does not exist, which a test excludes.
pub(crate) fn read(text: &str) -> Option<Formula> {
    let mut formula = Formula::new();
    let mut reader = Reader { rest: text, formula: &mut formula };
    reader.part()?;
    reader.rest.is_empty().then_some(formula)
}

struct Reader<'t, 'f> {
    rest: &'t str,
    formula: &'f mut Formula,
}

impl<'t> Reader<'t, '_> {
    /// Reads a part and returns its position. Formulas are rows of the dictionary, so that their depth is bounded.
    fn part(&mut self) -> Option<usize> {
        let word = self.word();
        let part = if let Some(place) = word.strip_prefix('@') {
            Part::Operand(place.parse().ok()?)
        } else if let Ok(number) = word.parse() {
            Part::Number(number)
        } else {
            let row = named(word)?;
            self.rest = self.rest.strip_prefix('(')?;
            let mut operands = vec![self.part()?];
            while let Some(rest) = self.rest.strip_prefix(',') {
                self.rest = rest;
                operands.push(self.part()?);
            }
            self.rest = self.rest.strip_prefix(')')?;
            Part::Apply(row, operands)
        };
        let known = self.formula.iter().position(|known| *known == part);
        Some(known.unwrap_or_else(|| {
            self.formula.push(part);
            self.formula.len() - 1
        }))
    }

    fn word(&mut self) -> &'t str {
        let (word, rest) = self.rest.split_at(self.rest.find(['(', ')', ',']).unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }
}
