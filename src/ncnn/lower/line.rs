//! A layer that is being lowered: what its rule reads, and what it adds.

use std::cell::Cell;

use rustc_hash::{FxHashMap, FxHashSet};

use super::extents;
use crate::graph::TensorId;
use crate::library::assembly::Assembly;
use crate::ncnn::model::ParameterValue;
use crate::ncnn::settings::LayerSettings;
use crate::pnnx::lower::{Line, Lowered, Refusal};

/// The function that lowers a kind of layers. It returns the tensors of the results.
pub(in crate::ncnn) type LayerRule = fn(&mut LayerLine) -> Lowered<Vec<TensorId>>;

/// A rule with the kinds that it applies to.
pub(in crate::ncnn) type LayerRuleRow = (&'static [&'static str], LayerRule);

/// A layer that is being lowered.
pub(in crate::ncnn) struct LayerLine<'a> {
    /// What operations are added with.
    pub(in crate::ncnn) to: Line<'a>,
    pub(in crate::ncnn) settings: LayerSettings<'a>,
    pub(in crate::ncnn) operands: Vec<TensorId>,
    pub(in crate::ncnn) weights: &'a [(&'static str, TensorId)],
    /// The numbers of parameters that a rule has read, one bit for each.
    pub(in crate::ncnn) read: Cell<u32>,
    /// Tensors with an axis for the batch, by the tensors without it.
    pub(in crate::ncnn) batched: &'a mut FxHashMap<TensorId, TensorId>,
    /// Those of them that the layer has added.
    pub(in crate::ncnn) added: Vec<TensorId>,
    /// Blobs that have the codes of a quantization.
    pub(in crate::ncnn) codes: &'a FxHashSet<TensorId>,
    /// The results of the layer that have codes.
    pub(in crate::ncnn) coded: Vec<TensorId>,
}

impl LayerLine<'_> {
    /// Notes that a parameter has been read.
    pub(in crate::ncnn) fn note(&self, name: &str) {
        if let Some(parameter) = self.settings.row.named(name) {
            self.read.set(self.read.get() | 1 << parameter.number);
        }
    }

    /// The value of an integer parameter.
    pub(in crate::ncnn) fn integer(&self, name: &str) -> Lowered<i64> {
        self.note(name);
        self.settings.integer(name).map_err(|message| Refusal::Because(message.into()))
    }

    /// Whether an integer parameter is not 0.
    pub(in crate::ncnn) fn flag(&self, name: &str) -> Lowered<bool> {
        Ok(self.integer(name)? != 0)
    }

    /// The value of a parameter that is a number.
    pub(in crate::ncnn) fn scalar(&self, name: &str) -> Lowered<f64> {
        self.note(name);
        self.settings.scalar(name).map_err(|message| Refusal::Because(message.into()))
    }

    /// The items of a parameter that is an array of integers; none if it is not given.
    pub(in crate::ncnn) fn integers(&self, name: &str) -> Lowered<Vec<i64>> {
        match self.given(name) {
            None => Ok(Vec::new()),
            Some(ParameterValue::Integers(items)) => Ok(items.clone()),
            Some(ParameterValue::Integer(item)) => Ok(vec![*item]),
            Some(_) => Err(self.unsupported(name, "an array of integers")),
        }
    }

    /// The items of a parameter that is an array of numbers; none if it is not given.
    pub(in crate::ncnn) fn scalars(&self, name: &str) -> Lowered<Vec<f64>> {
        match self.given(name) {
            None => Ok(Vec::new()),
            Some(ParameterValue::Integers(items)) => Ok(items.iter().map(|item| *item as f64).collect()),
            Some(ParameterValue::Scalars(items)) => Ok(items.clone()),
            Some(ParameterValue::Scalar(item)) => Ok(vec![*item]),
            Some(_) => Err(self.unsupported(name, "an array of numbers")),
        }
    }

    pub(in crate::ncnn) fn given(&self, name: &str) -> Option<&ParameterValue> {
        self.note(name);
        let parameter = self.settings.row.named(name)?;
        self.settings.layer.parameter(parameter.number).map(|given| &given.value)
    }

    /// The extent of an operand with a letter; that of the batch is 1.
    pub(in crate::ncnn) fn extent(&self, operand: usize, letter: char) -> Option<i64> {
        let extents = self.to.extents(*self.operands.get(operand)?).ok()?;
        let letters = if extents.len() == 4 { "cdhw" } else { "chw" };
        let skipped = letters.len().checked_sub(extents.len())?;
        let at = letters.find(letter).and_then(|at| at.checked_sub(skipped));
        Some(at.and_then(|at| extents.get(at)).copied().unwrap_or(1))
    }

    /// The items of a parameter that is a list of expressions of extents; none if it is not given.
    pub(in crate::ncnn) fn computed(&self, name: &str) -> Lowered<Option<Vec<i64>>> {
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
    pub(in crate::ncnn) fn unsupported(&self, name: &str, expected: &str) -> Refusal {
        Refusal::Because(format!("its parameter `{name}` is not supported: expected {expected}").into())
    }

    /// Requires something of a parameter.
    pub(in crate::ncnn) fn require(&self, name: &str, fits: bool, expected: &str) -> Lowered<()> {
        if fits { Ok(()) } else { Err(self.unsupported(name, expected)) }
    }

    /// Requires the value of an integer parameter.
    pub(in crate::ncnn) fn is(&self, name: &str, value: i64) -> Lowered<()> {
        self.require(name, self.integer(name)? == value, &value.to_string())
    }

    /// The only operand.
    pub(in crate::ncnn) fn only(&self) -> Lowered<TensorId> {
        match self.operands[..] {
            [only] => Ok(only),
            _ => Err(Refusal::UNFIT),
        }
    }

    /// Weights with a name.
    pub(in crate::ncnn) fn weight(&self, name: &str) -> Lowered<TensorId> {
        self.weight_if(name).ok_or(Refusal::UNFIT)
    }

    /// Weights with a name, if the layer has them.
    pub(in crate::ncnn) fn weight_if(&self, name: &str) -> Option<TensorId> {
        self.weights.iter().find(|(known, _)| *known == name).map(|(_, tensor)| *tensor)
    }

    /// A tensor with an axis for the batch.
    pub(in crate::ncnn) fn batch(&mut self, x: TensorId) -> Lowered<TensorId> {
        if let Some(batched) = self.batched.get(&x) {
            return Ok(*batched);
        }
        self.to.with_axes(x, [0])
    }

    /// A tensor without the axis for the batch.
    pub(in crate::ncnn) fn unbatch(&mut self, batched: TensorId) -> Lowered<TensorId> {
        let plain = self.to.without_axes(batched, &[0])?;
        self.batched.insert(plain, batched);
        self.added.push(plain);
        Ok(plain)
    }

    /// The result of an item-wise function of one tensor, which is applied with the batch if the tensor has one.
    pub(in crate::ncnn) fn by_item(
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
