//! An operation as seen by rules: its arguments as values of the model and as numbers.

use super::computed;
use super::emit::Emitter;
use super::value::{KnownExtents, ModelValue, NnefElement};
use crate::core::budget::Failure;
use crate::diagnostics::Code;
use crate::eval::Quantizations;
use crate::graph::{Graph, Key, Operand, Operation, TensorId, Value as Argument};

/// The reason why an operation cannot be translated.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Refused {
    pub(super) code: Code,
    pub(super) message: String,
    /// The group of refusals that are reported together; none if they are grouped by message.
    pub(super) group: Option<&'static str>,
}

impl Refused {
    /// The model takes more memory than allowed.
    pub(super) fn memory(failure: &Failure) -> Self {
        Refused { code: failure.code, message: failure.message.clone(), group: None }
    }

    /// ONNX cannot express the operation.
    pub(super) fn meaning(message: impl Into<String>) -> Self {
        Refused { code: Code::OnnxMeaning, message: message.into(), group: None }
    }

    /// The translation needs something that is not known.
    pub(super) fn unknown(message: impl Into<String>) -> Self {
        Refused { code: Code::OnnxUnknown, message: message.into(), group: None }
    }
}

/// The group of refusals that are not reported: an operand comes from an operation that was refused.
pub(super) const FOLLOWS: &str = "follows";

/// The result of a rule.
pub(super) type Translation<T> = Result<T, Refused>;

/// An operation, and the values of the preceding operations.
pub(super) struct TranslatedCall<'c> {
    pub(super) graph: &'c Graph,
    /// The graph with the fragments that operations refer to: the graph itself, unless it is the body of one.
    pub(super) outer: &'c Graph,
    pub(super) operation: &'c Operation,
    pub(super) out: &'c mut Emitter,
    /// The values of tensors.
    pub(super) values: &'c [Option<ModelValue>],
    /// How tensors are quantized.
    pub(super) quantizations: &'c Quantizations,
}

/// An argument that becomes an operand of the model.
#[derive(Clone, Debug)]
pub(super) enum Bound {
    One(ModelValue),
    Many(Vec<ModelValue>),
    /// A literal number; the type of an integer depends on the other operands.
    Number(NnefElement, f64),
    /// A literal integer of more digits than a float has.
    Large(i64),
    /// Integers, for operands that were attributes in NNEF.
    Ints(Vec<i64>),
}

impl Bound {
    /// The same with a large integer as a float.
    pub(super) fn rounded(self) -> Bound {
        match self {
            Bound::Large(number) => Bound::Number(NnefElement::Float, number as f64),
            other => other,
        }
    }
}

impl<'c> TranslatedCall<'c> {
    /// The name of the operation.
    pub(super) fn name(&self) -> &'c str {
        self.graph.operation_name(self.operation)
    }

    /// The argument of a parameter; for an operation that is not standard, else the one at a position.
    fn argument(&self, name: &str, position: usize) -> Option<Operand<'c>> {
        let (graph, operation) = (self.graph, self.operation);
        let at_position = || {
            let place = |(key, _): &(Key, Operand)| match key {
                Key::Param(i) => *i as usize == position,
                Key::Positional | Key::Named(_) => false,
            };
            let positional = graph.arguments(operation).filter(|(key, _)| *key == Key::Positional).nth(position);
            positional.or_else(|| graph.arguments(operation).find(place)).map(|(_, operand)| operand)
        };
        let standard = graph.kind(operation).standard;
        graph.argument(operation, name).or_else(|| at_position().filter(|_| !standard))
    }

    /// The argument of an attribute; for an operation that is not declared, else the one without a name at a position.
    pub(super) fn attribute(&self, name: &str, position: usize) -> Option<Operand<'c>> {
        let (graph, operation) = (self.graph, self.operation);
        let unnamed = || graph.arguments(operation).filter(|(key, _)| *key == Key::Positional).nth(position);
        graph.argument(operation, name).or_else(|| unnamed().map(|(_, operand)| operand))
    }

    pub(super) fn missing(&self, name: &str) -> Refused {
        Refused::unknown(format!("`{}` has no argument `{name}`", self.name()))
    }

    pub(super) fn unknown(&self, name: &str) -> Refused {
        Refused::unknown(format!("`{name}` of `{}` depends on tensors or symbols; ONNX requires numbers", self.name()))
    }

    pub(super) fn tensor(&self, tensor: TensorId) -> Translation<ModelValue> {
        let follows = || Refused { group: Some(FOLLOWS), ..self.missing("input") };
        self.values.get(tensor.index()).cloned().flatten().ok_or_else(follows)
    }

    /// An argument as an operand.
    pub(super) fn bound(&self, name: &str, position: usize) -> Translation<Bound> {
        let operand = self.argument(name, position).ok_or_else(|| self.missing(name))?;
        match operand {
            Operand::Tensor(tensor) => Ok(Bound::One(self.tensor(tensor)?)),
            Operand::Tensors(items) => {
                Ok(Bound::Many(items.iter().map(|item| self.tensor(*item)).collect::<Translation<_>>()?))
            }
            Operand::Value(Argument::Scalar(value)) => Ok(Bound::Number(NnefElement::Float, *value)),
            Operand::Value(Argument::Int(value)) if value.unsigned_abs() > 1 << f64::MANTISSA_DIGITS => {
                Ok(Bound::Large(*value))
            }
            Operand::Value(Argument::Int(value)) => Ok(Bound::Number(NnefElement::Int, *value as f64)),
            Operand::Value(Argument::Logical(value)) => {
                Ok(Bound::Number(NnefElement::Bool, f64::from(u8::from(*value))))
            }
            Operand::Value(value) => integers(value).map(Bound::Ints).ok_or_else(|| self.unknown(name)),
        }
    }

    /// An argument as a value; numbers become constant tensors.
    pub(super) fn value(&mut self, name: &str) -> Translation<ModelValue> {
        self.value_at(name, 0)
    }

    /// Like `value`, for an operation that may be undeclared.
    pub(super) fn value_at(&mut self, name: &str, position: usize) -> Translation<ModelValue> {
        if let Some(extent) = self.symbolic(name, position)? {
            return Ok(extent);
        }
        match self.bound(name, position)? {
            Bound::One(value) => Ok(value),
            Bound::Number(element, number) => Ok(self.out.number(element, number)),
            Bound::Large(number) => Ok(self.out.integer(number)),
            Bound::Ints(items) => Ok(self.out.list(name, &items)),
            Bound::Many(_) => Err(self.unknown(name)),
        }
    }

    /// An argument as a value, converted to scalars.
    pub(super) fn scalars(&mut self, name: &str) -> Translation<ModelValue> {
        match self.bound(name, 0)? {
            Bound::Number(_, number) => Ok(self.out.number(NnefElement::Float, number)),
            Bound::Large(number) => Ok(self.out.number(NnefElement::Float, number as f64)),
            _ => {
                let value = self.value(name)?;
                Ok(self.out.cast(&value, NnefElement::Float))
            }
        }
    }

    /// An argument that is a list of tensors.
    pub(super) fn list(&mut self, name: &str) -> Translation<Vec<ModelValue>> {
        match self.bound(name, 0)? {
            Bound::Many(values) => Ok(values),
            Bound::One(value) => Ok(vec![value]),
            Bound::Number(..) | Bound::Large(_) | Bound::Ints(_) => Err(self.unknown(name)),
        }
    }

    /// A literal number.
    pub(super) fn literal(&self, name: &str) -> Option<f64> {
        self.literal_at(name, usize::MAX).ok().flatten()
    }

    /// A literal number as an attribute; none if there is no such argument.
    pub(super) fn literal_at(&self, name: &str, position: usize) -> Translation<Option<f64>> {
        match self.attribute(name, position) {
            None => Ok(None),
            Some(Operand::Value(Argument::Scalar(value))) => Ok(Some(*value)),
            Some(Operand::Value(Argument::Int(value))) => Ok(Some(*value as f64)),
            Some(_) => Err(self.unknown(name)),
        }
    }

    /// The integers of an attribute; a single integer is a list of one.
    pub(super) fn ints(&self, name: &str) -> Translation<Vec<i64>> {
        self.ints_at(name, usize::MAX)
    }

    /// Like `ints`, for an operation that may be undeclared.
    pub(super) fn ints_at(&self, name: &str, position: usize) -> Translation<Vec<i64>> {
        let operand = self.attribute(name, position).ok_or_else(|| self.missing(name))?;
        computed::known(self.graph, operand).ok_or_else(|| self.unknown(name))
    }

    /// The axes of an operand or a result with this rank, see [`Self::checked_axes`].
    pub(super) fn axes(&self, name: &str, rank: Option<usize>) -> Translation<Vec<i64>> {
        self.checked_axes(&self.ints(name)?, rank)
    }

    /// Distinct axes, counted from the start, of an operand or a result with this rank.
    pub(super) fn checked_axes(&self, axes: &[i64], rank: Option<usize>) -> Translation<Vec<i64>> {
        let place = |axis: &i64| checked_axis(self, *axis, rank).map(|axis| axis as i64);
        let places = axes.iter().map(place).collect::<Translation<Vec<_>>>()?;
        let mut sorted = places.clone();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair.first() == pair.last()) {
            Some(pair) => Err(Refused::meaning(format!("`{}` has the axes {pair:?}, which are equal", self.name()))),
            None => Ok(places),
        }
    }

    /// Fails if the model takes more memory than allowed, for operations that become many nodes.
    pub(super) fn check_memory(&self) -> Translation<()> {
        self.out.check_memory()
    }

    /// An integer.
    pub(super) fn int(&self, name: &str) -> Translation<i64> {
        self.ints(name)?.first().copied().ok_or_else(|| self.unknown(name))
    }

    /// Pairs of integers.
    pub(super) fn pairs(&self, name: &str) -> Translation<Vec<(i64, i64)>> {
        let pair = |item: &Argument| match item {
            Argument::Tuple(_) | Argument::Array(_) | Argument::Integers(_) => {
                let [before, after] = integers(item)?[..] else { return None };
                Some((before, after))
            }
            _ => None,
        };
        match self.argument(name, usize::MAX).ok_or_else(|| self.missing(name))? {
            Operand::Value(Argument::Integers(items)) if items.is_empty() => Ok(Vec::new()),
            Operand::Value(Argument::Array(items)) => {
                items.iter().map(|item| pair(item).ok_or_else(|| self.unknown(name))).collect()
            }
            _ => Err(self.unknown(name)),
        }
    }

    /// A logical, which is false where an operation that is not declared does not have it.
    pub(super) fn flag_or_false(&self, name: &str) -> Translation<bool> {
        if self.attribute(name, usize::MAX).is_none() { Ok(false) } else { self.flag(name) }
    }

    /// A logical.
    pub(super) fn flag(&self, name: &str) -> Translation<bool> {
        match self.argument(name, usize::MAX) {
            Some(Operand::Value(Argument::Logical(flag))) => Ok(*flag),
            _ => Err(self.unknown(name)),
        }
    }

    /// A string.
    pub(super) fn text(&self, name: &str) -> Translation<&'c str> {
        match self.argument(name, usize::MAX) {
            Some(Operand::Value(Argument::String(text))) => Ok(text),
            _ => Err(self.unknown(name)),
        }
    }

    /// The rank of an operand, which must be known.
    pub(super) fn rank(&self, value: &ModelValue) -> Translation<usize> {
        value.rank().ok_or_else(|| {
            Refused::unknown(format!("`{}`: the number of axes of an operand is not known", self.name()))
        })
    }

    /// The extents of an operand, which must be known.
    pub(super) fn extents(&self, value: &ModelValue) -> Translation<Vec<i64>> {
        value.known().ok_or_else(|| self.open_extents())
    }

    /// The refusal for unknown extents.
    pub(super) fn open_extents(&self) -> Refused {
        Refused::unknown(format!("`{}`: ONNX requires extents that are not known", self.name()))
    }

    /// The results.
    pub(super) fn results(&self) -> Vec<TensorId> {
        self.graph.tensors_of(self.operation).collect()
    }

    /// The extents of the first result, if the rank is known.
    pub(super) fn result_dims(&mut self) -> Option<KnownExtents> {
        let result = self.graph.tensors_of(self.operation).next()?;
        self.out.dims_of(self.graph, result)
    }

    /// Adds a node.
    pub(super) fn node(
        &mut self,
        op: &str,
        inputs: &[&ModelValue],
        attributes: super::value::Attributes,
    ) -> ModelValue {
        self.out.node(op, inputs, attributes)
    }
}

/// An axis of an operand or a result with this rank; a negative axis counts from the end.
pub(super) fn checked_axis(call: &TranslatedCall, axis: i64, rank: Option<usize>) -> Translation<usize> {
    let rank = rank.map(|rank| rank as i64);
    let place = if axis < 0 { rank.map(|rank| axis.saturating_add(rank)) } else { Some(axis) };
    let within = place.filter(|place| *place >= 0 && rank.is_none_or(|rank| *place < rank));
    let found = within.and_then(|place| usize::try_from(place).ok());
    found.ok_or_else(|| Refused::meaning(format!("`{}` has no axis {axis}", call.name())))
}

/// The items of an array or a tuple of integers.
pub(super) fn integers(value: &Argument) -> Option<Vec<i64>> {
    let integer = |item: &Argument| match item {
        Argument::Int(item) => Some(*item),
        _ => None,
    };
    match value {
        Argument::Integers(items) => Some(items.to_vec()),
        Argument::Array(items) | Argument::Tuple(items) => items.iter().map(integer).collect(),
        _ => None,
    }
}
