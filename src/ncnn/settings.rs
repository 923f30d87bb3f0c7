//! The parameters of a layer by their names, with their defaults, and what weights follow from them.

use super::layer_table::{LayerRow, ParameterCondition, Relation};
use super::model::{NcnnLayer, ParameterValue};

/// The number of directions of a recurrent layer, which follows from its parameter `direction`.
const DIRECTIONS: &str = "directions";

/// Weights that a layer has in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WantedWeights {
    /// Their name.
    pub(super) name: &'static str,
    /// Their extents, the last one changes fastest.
    pub(super) extents: Vec<i64>,
    /// The number of items.
    pub(super) items: u64,
    /// Whether they are 32-bit floats without a tag.
    pub(super) is_raw: bool,
}

/// A layer with the row of its kind.
#[derive(Clone, Copy)]
pub(super) struct LayerSettings<'l> {
    pub(super) layer: &'l NcnnLayer,
    pub(super) row: &'static LayerRow,
}

impl LayerSettings<'_> {
    /// The value of an integer parameter; the error says why there is none.
    pub(super) fn integer(&self, name: &str) -> Result<i64, String> {
        if name == DIRECTIONS {
            return Ok(if self.integer("direction")? == 2 { 2 } else { 1 });
        }
        let Some(parameter) = self.row.named(name) else { return Err(format!("there is no parameter `{name}`")) };
        match self.layer.parameter(parameter.number).map(|given| &given.value) {
            Some(ParameterValue::Integer(value)) => Ok(*value),
            Some(_) => Err(format!("parameter {} (`{name}`) is not an integer", parameter.number)),
            None => self.computed(parameter.default.unwrap_or("0")),
        }
    }

    /// The value of a parameter that is a number.
    pub(super) fn scalar(&self, name: &str) -> Result<f64, String> {
        let Some(parameter) = self.row.named(name) else { return Err(format!("there is no parameter `{name}`")) };
        match self.layer.parameter(parameter.number).map(|given| &given.value) {
            Some(ParameterValue::Integer(value)) => Ok(*value as f64),
            Some(ParameterValue::Scalar(value)) => Ok(*value),
            Some(_) => Err(format!("parameter {} (`{name}`) is not a number", parameter.number)),
            None => {
                let default = parameter.default.unwrap_or("0");
                default.parse().map_or_else(|_| self.computed(default).map(|value| value as f64), Ok)
            }
        }
    }

    /// The value of products and quotients of parameters and numbers, from left to right.
    fn computed(&self, text: &str) -> Result<i64, String> {
        let mut value: Option<i64> = None;
        let mut rest = text;
        let mut divides = false;
        loop {
            let (atom, after) = rest.split_at(rest.find(['*', '/']).unwrap_or(rest.len()));
            let operand = atom.parse().map_or_else(|_| self.integer(atom), Ok)?;
            value = match value {
                None => Some(operand),
                Some(value) if divides => value.checked_rem(operand).filter(|rest| *rest == 0).map(|_| value / operand),
                Some(value) => value.checked_mul(operand),
            };
            let Some(known) = value else { return Err(format!("{text} is not a whole number of 63 bits")) };
            divides = after.starts_with('/');
            match after.get(1..) {
                Some(next) => rest = next,
                None => return Ok(known),
            }
        }
    }

    fn holds(&self, condition: &ParameterCondition) -> Result<bool, String> {
        let (left, right) = (self.computed(condition.left)?, self.computed(condition.right)?);
        Ok(match condition.relation {
            Relation::Equal => left == right,
            Relation::Different => left != right,
            Relation::Above => left > right,
            Relation::AtLeast => left >= right,
        })
    }

    /// The weights of the layer in the order of the file.
    pub(super) fn weights(&self) -> Result<Vec<WantedWeights>, String> {
        for (condition, what) in &self.row.refused {
            if self.holds(condition)? {
                return Err(format!("{what} are not supported"));
            }
        }
        let mut wanted = Vec::new();
        for row in &self.row.weights {
            let mut holds = true;
            for condition in &row.conditions {
                holds = holds && self.holds(condition)?;
            }
            if !holds {
                continue;
            }
            let extents = row.extents.iter().map(|extent| self.computed(extent)).collect::<Result<Vec<i64>, _>>()?;
            let mut positive = extents.iter().map(|extent| u64::try_from(*extent).ok().filter(|extent| *extent > 0));
            let items = positive.try_fold(1u64, |items, extent| items.checked_mul(extent?));
            let items = items.filter(|items| *items <= i64::MAX as u64);
            let items = items.ok_or_else(|| format!("`{}` cannot have the shape {extents:?}", row.name))?;
            wanted.push(WantedWeights { name: row.name, extents, items, is_raw: row.is_raw });
        }
        Ok(wanted)
    }
}
