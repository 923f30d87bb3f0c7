//! Operands that are tensors or numbers, and operations that many rules add.

use super::settings::SettingKind;
use super::{Line, Lowered, Refusal, integers};
use crate::extents::{Align, broadcast};
use crate::graph::{Primitive, TensorId, Value};
use crate::pnnx::item::ExpandedItem;
use crate::pnnx::model::{Role, Setting};
use crate::pnnx::number::{self, Meaning, Number};
use crate::pnnx::tokens::Literal;

/// Any number, also an infinite one.
impl SettingKind for Literal {
    const EXPECTED: &'static str = "a number";

    fn of(setting: &Setting) -> Option<Self> {
        match setting {
            Setting::Literal(literal) => literal.number().map(|_| *literal),
            _ => None,
        }
    }
}

/// A number without its fraction, as an integer.
pub(super) fn whole(number: Number) -> Option<i64> {
    match number::apply(Meaning::Whole, &[number]) {
        Some(Number::Int(whole)) => Some(whole),
        _ => None,
    }
}

impl Line<'_> {
    /// The element type of a tensor, which has to be known.
    pub(crate) fn primitive(&self, tensor: TensorId) -> Lowered<Primitive> {
        let unknown = Refusal::Because("the element types of its operands are not known".into());
        self.builder.graph.dtype(tensor).ok_or(unknown)
    }

    /// Whether a tensor has integers.
    pub(super) fn is_integer(&self, tensor: TensorId) -> bool {
        self.builder.graph.dtype(tensor) == Some(Primitive::Integer)
    }

    /// Whether a tensor has truth values.
    pub(super) fn is_logical(&self, tensor: TensorId) -> bool {
        self.builder.graph.dtype(tensor) == Some(Primitive::Logical)
    }

    /// Whether the file says that the first operand has integers without a sign.
    pub(super) fn is_unsigned(&self, tensor: TensorId) -> bool {
        let told = self.operator.inputs.first().and_then(|input| self.operator.param(Role::Shape, input));
        let told = told.and_then(|param| param.typed()).is_some_and(|typed| typed.element == "u8");
        told || self.builder.graph.element_type(tensor) == Some("uint8")
    }

    /// Whether an operand with this name is a tensor.
    pub(super) fn has_tensor(&self, key: &str) -> bool {
        self.operand(key).is_some_and(|operand| matches!(operand.item, ExpandedItem::Tensor(_)))
    }

    /// An operand that is a tensor or a number.
    pub(super) fn term(&mut self, key: &str) -> Lowered<ExpandedItem> {
        if self.has_tensor(key) {
            return self.tensor(key).map(ExpandedItem::Tensor);
        }
        let literal: Literal = self.required(key)?;
        self.number(literal)
    }

    /// A number as an operand. NNEF has no literals of infinities and NaN: they are results of divisions by 0.
    pub(super) fn number(&mut self, literal: Literal) -> Lowered<ExpandedItem> {
        let float = literal.number().map(|number| number.float()).ok_or(Refusal::UNFIT)?;
        if float.is_finite() {
            return Ok(ExpandedItem::Literal(literal));
        }
        let zero = self.constant(&[], Value::Scalars([0.0].into()))?;
        let infinity = self.add("rcp", vec![Value::Tensor(zero)])?;
        let negative = |line: &mut Self| line.add("neg", vec![Value::Tensor(infinity)]);
        let tensor = match float {
            f64::INFINITY => infinity,
            f64::NEG_INFINITY => negative(self)?,
            _ => {
                let negative = negative(self)?;
                self.add("add", vec![Value::Tensor(infinity), Value::Tensor(negative)])?
            }
        };
        Ok(ExpandedItem::Tensor(tensor))
    }

    /// Adds a constant; a single item is that of all places.
    pub(super) fn constant(&mut self, shape: &[i64], value: Value) -> Lowered<TensorId> {
        let of = match &value {
            Value::Integers(_) => Primitive::Integer,
            Value::Array(_) => Primitive::Logical,
            _ => Primitive::Scalar,
        };
        self.add_of("constant", Some(of), vec![integers(shape.iter().copied()), value])
    }

    /// Adds a constant of equally spaced integers along an axis; the other extents are 1.
    pub(super) fn spaced(&mut self, rank: i64, axis: i64, first: i64, step: i64, count: i64) -> Lowered<TensorId> {
        let items = self.items(count, |place| step.checked_mul(place)?.checked_add(first))?;
        let shape: Vec<i64> = (0..rank).map(|other| if other == axis { count } else { 1 }).collect();
        self.constant(&shape, Value::Integers(items.into()))
    }

    /// Adds a constant of the numbers from 0 on along an axis; the other extents are 1.
    pub(super) fn counting(&mut self, at: (i64, i64), count: i64) -> Lowered<TensorId> {
        self.spaced(at.0, at.1, 0, 1, count)
    }

    /// The items of a list, if it is neither empty nor longer than lists may be.
    pub(super) fn items<T>(&self, count: i64, item: impl Fn(i64) -> Option<T>) -> Lowered<Vec<T>> {
        let long =
            || Refusal::Because(format!("it needs a list of more than {} items", self.options.max_length).into());
        let most = i64::try_from(self.options.max_length).unwrap_or(i64::MAX);
        match count {
            1.. if count <= most => {
                self.has_room_for_items(count.unsigned_abs())?;
                (0..count).map(item).collect::<Option<_>>().ok_or(Refusal::UNFIT)
            }
            ..=0 => Err(Refusal::UNFIT),
            _ => Err(long()),
        }
    }

    /// Repeats items along axes of extent 1, which may be new leading ones, up to a shape.
    pub(super) fn expanded(&mut self, x: TensorId, to: &[i64]) -> Lowered<TensorId> {
        let x = self.with_rank(x, to.len() as i64)?;
        let extents = self.extents(x)?;
        let repeats = extents.iter().zip(to).map(|(from, to)| match (from, to) {
            (from, to) if from == to => Some(1),
            (1, 1..) => Some(*to),
            _ => None,
        });
        let repeats: Vec<i64> = repeats.collect::<Option<_>>().ok_or(Refusal::UNFIT)?;
        if extents.len() != to.len() {
            return Err(Refusal::UNFIT);
        }
        match repeats.iter().all(|times| *times == 1) {
            true => Ok(x),
            false => self.add("tile", vec![Value::Tensor(x), integers(repeats)]),
        }
    }

    /// Converts a tensor to another element type: numbers are truncated to integers, and all but 0 are true.
    pub(super) fn cast(&mut self, x: TensorId, to: Primitive) -> Lowered<TensorId> {
        match self.primitive(x)? {
            from if from == to => Ok(x),
            _ => self.add_of("cast", Some(to), vec![Value::Tensor(x)]),
        }
    }

    /// A condition from an operand: numbers other than 0 are true.
    pub(super) fn truth(&mut self, x: TensorId) -> Lowered<TensorId> {
        match self.primitive(x)? {
            Primitive::Logical => Ok(x),
            Primitive::Integer => self.add("ne", vec![Value::Tensor(x), Value::Int(0)]),
            _ => self.add("ne", vec![Value::Tensor(x), Value::Scalar(0.0)]),
        }
    }

    /// The extents that shapes are broadcast to, with the last axes aligned.
    pub(super) fn broadcast(&self, tensors: &[TensorId]) -> Lowered<Vec<i64>> {
        let shapes = tensors.iter().map(|tensor| self.extents(*tensor)).collect::<Lowered<Vec<_>>>()?;
        let joined = |all: Vec<i64>, shape: &Vec<i64>| broadcast(&all, shape, Align::Last).map_err(|_| Refusal::UNFIT);
        shapes.iter().try_fold(Vec::new(), joined)
    }
}
