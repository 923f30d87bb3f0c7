//! Lowers layers to operations of NNEF, by a table that maps kinds to rules.
//!
//! Blobs have no axis for a batch, which convolutions and pooling of NNEF have: it is added before them and removed
//! behind them. Layers that torch has, too, are lowered by its rules.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod elements;
mod extents;
mod norms;
mod products;
mod quantized;
mod sequences;
mod shaping;
mod vision;
mod windows;

use std::cell::Cell;

use rustc_hash::{FxHashMap, FxHashSet};

use super::model::ParameterValue;
use super::settings::LayerSettings;
use crate::graph::TensorId;
use crate::library::assembly::Assembly;
use crate::parts::TRANSLATION;
use crate::pnnx::lower::{Line, Lowered, Refusal};

/// The function that lowers a kind of layers. It returns the tensors of the results.
type LayerRule = fn(&mut LayerLine) -> Lowered<Vec<TensorId>>;

/// A rule with the kinds that it applies to.
type LayerRuleRow = (&'static [&'static str], LayerRule);

/// The rules.
fn table() -> impl Iterator<Item = &'static LayerRuleRow> {
    let families = [
        elements::ROWS,
        windows::ROWS,
        norms::ROWS,
        products::ROWS,
        quantized::ROWS,
        shaping::ROWS,
        sequences::ROWS,
        vision::ROWS,
    ];
    families.into_iter().flatten()
}

/// The parameters of any layer that do not change what it computes: the shapes of its results, and what it must not use.
const WITHOUT_EFFECT: &[u32] = &[30, 31];

/// A layer that is being lowered.
pub(super) struct LayerLine<'a> {
    /// What operations are added with.
    pub(super) to: Line<'a>,
    pub(super) settings: LayerSettings<'a>,
    pub(super) operands: Vec<TensorId>,
    pub(super) weights: &'a [(&'static str, TensorId)],
    /// The numbers of parameters that a rule has read, one bit for each.
    pub(super) read: Cell<u32>,
    /// Tensors with an axis for the batch, by the tensors without it.
    pub(super) batched: &'a mut FxHashMap<TensorId, TensorId>,
    /// Those of them that the layer has added.
    pub(super) added: Vec<TensorId>,
    /// Blobs that have the codes of a quantization.
    pub(super) codes: &'a FxHashSet<TensorId>,
    /// The results of the layer that have codes.
    pub(super) coded: Vec<TensorId>,
}

/// Lowers a layer.
///
/// # Errors
///
/// There is no rule, the rule does not support the operands or parameters, or it does not use all of them.
pub(super) fn lower(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    if let Some(part) = TRANSLATION.missing() {
        return Err(Refusal::Because(part.reason().into()));
    }
    let layer = line.settings.layer;
    let rule = table().find(|(kinds, _)| kinds.contains(&layer.kind.as_str())).map(|(_, rule)| rule);
    let rule = rule.ok_or_else(|| Refusal::Because("it has no rule".into()))?;
    let has_codes = line.operands.iter().any(|operand| line.codes.contains(operand));
    if has_codes && !quantized::OF_CODES.contains(&layer.kind.as_str()) {
        return Err(Refusal::Because("an operand of it has integers of 8 bits, the codes of a quantized layer".into()));
    }
    let results = rule(line)?;
    let is_read = |number: u32| WITHOUT_EFFECT.contains(&number) || line.read.get() & (1 << number) != 0;
    if let Some(unread) = layer.parameters.iter().find(|parameter| !is_read(parameter.number)) {
        let name = line.settings.row.numbered(unread.number).map_or("", |known| known.name);
        return Err(Refusal::Because(format!("its parameter {} `{name}` is not supported", unread.number).into()));
    }
    match results.len() == layer.tops.len() {
        true => Ok(results),
        false => Err(Refusal::UNFIT),
    }
}

impl LayerLine<'_> {
    /// Notes that a parameter has been read.
    fn note(&self, name: &str) {
        if let Some(parameter) = self.settings.row.named(name) {
            self.read.set(self.read.get() | 1 << parameter.number);
        }
    }

    /// The value of an integer parameter.
    fn integer(&self, name: &str) -> Lowered<i64> {
        self.note(name);
        self.settings.integer(name).map_err(|message| Refusal::Because(message.into()))
    }

    /// Whether an integer parameter is not 0.
    fn flag(&self, name: &str) -> Lowered<bool> {
        Ok(self.integer(name)? != 0)
    }

    /// The value of a parameter that is a number.
    fn scalar(&self, name: &str) -> Lowered<f64> {
        self.note(name);
        self.settings.scalar(name).map_err(|message| Refusal::Because(message.into()))
    }

    /// The items of a parameter that is an array of integers; none if it is not given.
    fn integers(&self, name: &str) -> Lowered<Vec<i64>> {
        match self.given(name) {
            None => Ok(Vec::new()),
            Some(ParameterValue::Integers(items)) => Ok(items.clone()),
            Some(ParameterValue::Integer(item)) => Ok(vec![*item]),
            Some(_) => Err(self.unsupported(name, "an array of integers")),
        }
    }

    /// The items of a parameter that is an array of numbers; none if it is not given.
    fn scalars(&self, name: &str) -> Lowered<Vec<f64>> {
        match self.given(name) {
            None => Ok(Vec::new()),
            Some(ParameterValue::Integers(items)) => Ok(items.iter().map(|item| *item as f64).collect()),
            Some(ParameterValue::Scalars(items)) => Ok(items.clone()),
            Some(ParameterValue::Scalar(item)) => Ok(vec![*item]),
            Some(_) => Err(self.unsupported(name, "an array of numbers")),
        }
    }

    fn given(&self, name: &str) -> Option<&ParameterValue> {
        self.note(name);
        let parameter = self.settings.row.named(name)?;
        self.settings.layer.parameter(parameter.number).map(|given| &given.value)
    }

    /// The extent of an operand with a letter; that of the batch is 1.
    fn extent(&self, operand: usize, letter: char) -> Option<i64> {
        let extents = self.to.extents(*self.operands.get(operand)?).ok()?;
        let letters = if extents.len() == 4 { "cdhw" } else { "chw" };
        let skipped = letters.len().checked_sub(extents.len())?;
        let at = letters.find(letter).and_then(|at| at.checked_sub(skipped));
        Some(at.and_then(|at| extents.get(at)).copied().unwrap_or(1))
    }

    /// The items of a parameter that is a list of expressions of extents; none if it is not given.
    fn computed(&self, name: &str) -> Lowered<Option<Vec<i64>>> {
        let items = match self.given(name) {
            None => return Ok(None),
            Some(ParameterValue::Text(text)) => extents::extents(text, &|operand, letter| self.extent(operand, letter)),
            Some(ParameterValue::Integer(item)) => Some(vec![*item]),
            Some(ParameterValue::Integers(items)) => Some(items.clone()),
            Some(_) => None,
        };
        items.map(Some).ok_or_else(|| self.unsupported(name, "a list of expressions of extents"))
    }

    /// The refusal of the value of a parameter.
    fn unsupported(&self, name: &str, expected: &str) -> Refusal {
        Refusal::Because(format!("its parameter `{name}` is not supported: expected {expected}").into())
    }

    /// Requires something of a parameter.
    fn require(&self, name: &str, fits: bool, expected: &str) -> Lowered<()> {
        if fits { Ok(()) } else { Err(self.unsupported(name, expected)) }
    }

    /// Requires the value of an integer parameter.
    fn is(&self, name: &str, value: i64) -> Lowered<()> {
        self.require(name, self.integer(name)? == value, &value.to_string())
    }

    /// The only operand.
    fn only(&self) -> Lowered<TensorId> {
        match self.operands[..] {
            [only] => Ok(only),
            _ => Err(Refusal::UNFIT),
        }
    }

    /// Weights with a name.
    fn weight(&self, name: &str) -> Lowered<TensorId> {
        self.weight_if(name).ok_or(Refusal::UNFIT)
    }

    /// Weights with a name, if the layer has them.
    fn weight_if(&self, name: &str) -> Option<TensorId> {
        self.weights.iter().find(|(known, _)| *known == name).map(|(_, tensor)| *tensor)
    }

    /// A tensor with an axis for the batch.
    fn batch(&mut self, x: TensorId) -> Lowered<TensorId> {
        if let Some(batched) = self.batched.get(&x) {
            return Ok(*batched);
        }
        self.to.with_axes(x, vec![0])
    }

    /// A tensor without the axis for the batch.
    fn unbatch(&mut self, batched: TensorId) -> Lowered<TensorId> {
        let plain = self.to.without_axes(batched, &[0])?;
        self.batched.insert(plain, batched);
        self.added.push(plain);
        Ok(plain)
    }

    /// The result of an item-wise function of one tensor, which is applied with the batch if the tensor has one.
    fn by_item(
        &mut self,
        x: TensorId,
        function: impl FnOnce(&mut Line, TensorId) -> Lowered<TensorId>,
    ) -> Lowered<TensorId> {
        match self.batched.get(&x).copied() {
            Some(batched) => {
                let y = function(&mut self.to, batched)?;
                self.unbatch(y)
            }
            None => function(&mut self.to, x),
        }
    }
}

#[cfg(test)]
mod tests;
