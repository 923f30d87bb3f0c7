//! What a rule sees of an operation: its arguments by what they mean.

use std::fmt;

use smallvec::SmallVec;

use super::shape::{Extent, Shape};
use super::{Plan, ShapeError};
use crate::diagnostics::Code;
use crate::graph::{Graph, Key, Kind, Operand, Operation, TensorId, Value};

/// The extents a rule computes with.
pub(crate) type Extents = SmallVec<[Extent; 8]>;

/// Integers of an attribute; none of those that are not known while expanding: tensors and symbols.
pub(crate) type Ints = SmallVec<[Option<i64>; 8]>;

/// Pairs of such integers.
pub(crate) type Pairs = SmallVec<[[Option<i64>; 2]; 8]>;

/// What is known of an attribute while expanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attribute<T> {
    /// The operation does not have it.
    Absent,
    /// Its value.
    Known(T),
    /// It depends on a tensor or a symbol.
    Unknown,
}

impl<T> Attribute<T> {
    /// The value, where it is known.
    pub(crate) fn known(self) -> Option<T> {
        match self {
            Attribute::Known(value) => Some(value),
            Attribute::Absent | Attribute::Unknown => None,
        }
    }

    /// The value, or another one where there is no such attribute; none where it is not known.
    pub(crate) fn known_or(self, absent: T) -> Option<T> {
        match self {
            Attribute::Absent => Some(absent),
            given => given.known(),
        }
    }

    /// Reads the value; none is one that is not known.
    fn read<U>(self, read: impl FnOnce(T) -> Option<U>) -> Attribute<U> {
        match self {
            Attribute::Absent => Attribute::Absent,
            Attribute::Known(value) => read(value).map_or(Attribute::Unknown, Attribute::Known),
            Attribute::Unknown => Attribute::Unknown,
        }
    }
}

macro_rules! roles {
    ($($(#[$doc:meta])* $role:ident $names:expr;)*) => {
        /// An attribute by what it means, whatever a dialect calls it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Role {
            $($(#[$doc])* $role,)*
        }

        /// What the dialects call the attributes.
        pub(super) const ROLES: &[(Role, &[&str])] = &[$((Role::$role, &$names)),*];
    };
}

roles! {
    /// A shape to have.
    Shape ["shape"];
    /// The extents of a window.
    Size ["size"];
    /// What is added around the items.
    Padding ["padding"];
    /// The steps of a window or a slice.
    Stride ["stride"];
    /// The steps within a window.
    Dilation ["dilation"];
    /// Into how many groups the channels fall.
    Groups ["groups"];
    /// The shape that a transposed window operation arrives at.
    OutputShape ["output_shape"];
    /// Axes, or their new order.
    Axes ["axes", "perm"];
    /// One axis.
    Axis ["axis"];
    /// The first of several axes.
    AxisStart ["axis_start"];
    /// The number of axes.
    AxisCount ["axis_count"];
    /// Proportions of the parts.
    Ratios ["ratios"];
    /// Where parts begin.
    Begin ["begin"];
    /// Where parts end.
    End ["end"];
    /// How often items are repeated.
    Repeats ["repeats"];
    /// By what extents are multiplied or divided.
    Factor ["factor"];
    /// Whether the first matrix is transposed.
    TransposeA ["transposeA", "trA"];
    /// Whether the second matrix is transposed.
    TransposeB ["transposeB", "trB"];
    /// The spatial extents of a region's result.
    OutputSize ["output_size"];
    /// How finely a region is sampled.
    SamplingRate ["sampling_rate"];
    /// How many copies.
    Times ["times"];
}

/// The number of roles.
pub(super) const ROLE_COUNT: usize = ROLES.len();

/// An operation to which a rule is applied.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(super) graph: &'a Graph,
    pub(super) kind: &'a Kind,
    pub(super) operation: &'a Operation,
    pub(super) plan: &'a Plan,
}

impl<'a> Call<'a> {
    /// Whether shapes go on with extents of 1 after their last one, as in the draft.
    pub(crate) fn endless(&self) -> bool {
        self.plan.draft
    }

    /// The name of the operation.
    pub(crate) fn name(&self) -> &'a str {
        self.graph.text_of(self.kind.name)
    }

    /// How many tensors the operation gives.
    pub(crate) fn outputs(&self) -> usize {
        self.graph.outputs_of(self.operation).map(|output| output.tensors().len()).sum()
    }

    fn param(&self, index: u32) -> Option<Operand<'a>> {
        let (keys, key) = (self.graph.keys(self.operation), Key::Param(index));
        let place = match keys.get(index as usize) {
            // Mostly the first parameters are given, in their order.
            Some(first) if *first == key => Some(index as usize),
            _ => keys.iter().position(|given| *given == key),
        };
        match place {
            Some(place) => Some(self.graph.operand(self.operation, place)),
            None => self.kind.params.get(index as usize)?.default.as_ref().map(Operand::from),
        }
    }

    fn attribute(&self, role: Role) -> Attribute<Operand<'a>> {
        let index = self.plan.roles[role as usize];
        match (index != u8::MAX).then(|| self.param(u32::from(index))).flatten() {
            None => Attribute::Absent,
            Some(Operand::Tensor(_)) => Attribute::Unknown,
            Some(operand) => Attribute::Known(operand),
        }
    }

    /// Whether the operation has an attribute at all.
    pub(crate) fn has(&self, role: Role) -> bool {
        self.plan.roles[role as usize] != u8::MAX
    }

    /// The rank of the `i`th tensor argument, if it is known.
    pub(crate) fn rank(&self, i: u32) -> Option<usize> {
        self.extents(i).map(<[Extent]>::len)
    }

    /// The number of parameters that take tensors; they come first.
    pub(crate) fn tensor_params(&self) -> u32 {
        u32::from(self.plan.tensors)
    }

    /// The shape of the `i`th tensor argument, if it is a tensor whose rank is known.
    pub(crate) fn shape(&self, i: u32) -> Option<&'a Shape> {
        match self.param(i)? {
            Operand::Tensor(tensor) => self.of(tensor),
            Operand::Tensors(_) | Operand::Value(_) => None,
        }
    }

    fn of(&self, tensor: TensorId) -> Option<&'a Shape> {
        self.graph.shape(tensor)
    }

    fn extents_of(&self, value: &'a Value) -> Option<&'a [Extent]> {
        match value {
            Value::Tensor(tensor) => self.of(*tensor).map(Shape::extents),
            Value::Int(_) | Value::Scalar(_) | Value::Logical(_) => Some(&[]),
            _ => None,
        }
    }

    /// The extents of the `i`th tensor argument, if its rank is known. A literal has rank 0.
    pub(crate) fn extents(&self, i: u32) -> Option<&'a [Extent]> {
        match self.param(i)? {
            Operand::Tensor(tensor) => self.of(tensor).map(Shape::extents),
            Operand::Tensors(_) => None,
            Operand::Value(value) => self.extents_of(value),
        }
    }

    /// The same, with the trailing extents of 1 that the draft leaves out, up to a rank.
    pub(crate) fn extents_to(&self, i: u32, rank: usize) -> Option<Extents> {
        let mut extents: Extents = self.extents(i)?.into();
        self.lengthen(&mut extents, rank);
        Some(extents)
    }

    /// Adds the extents that the draft leaves out.
    pub(crate) fn lengthen(&self, extents: &mut Extents, rank: usize) {
        if self.endless() && extents.len() < rank {
            extents.resize(rank, Extent::ONE);
        }
    }

    /// The shapes of an argument that is an array of tensors.
    pub(crate) fn list(&self, i: u32) -> Option<SmallVec<[Option<&'a [Extent]>; 4]>> {
        let value = match self.param(i)? {
            Operand::Tensors(tensors) => {
                return Some(tensors.iter().map(|&tensor| self.of(tensor).map(Shape::extents)).collect());
            }
            operand => operand.value()?,
        };
        match value {
            Value::Array(items) => Some(items.iter().map(|item| self.extents_of(item)).collect()),
            Value::Integers(items) => Some(items.iter().map(|_| Some(&[][..])).collect()),
            Value::Scalars(items) => Some(items.iter().map(|_| Some(&[][..])).collect()),
            _ => None,
        }
    }

    /// An integer.
    pub(crate) fn int(&self, role: Role) -> Attribute<i64> {
        self.attribute(role).read(|operand| integer(operand.value()?))
    }

    /// A logical; none where it is not known while expanding.
    pub(crate) fn flag(&self, role: Role) -> Option<bool> {
        let flag = self.attribute(role).read(|operand| match operand {
            Operand::Value(Value::Logical(flag)) => Some(*flag),
            _ => None,
        });
        flag.known_or(false)
    }

    /// The integers of an array; none where not even their number is known. An attribute that the
    /// operation does not have is empty.
    pub(crate) fn ints(&self, role: Role) -> Option<Ints> {
        let items = self.attribute(role).read(|operand| match operand {
            Operand::Tensors(items) => Some(items.iter().map(|_| None).collect()),
            Operand::Value(Value::Integers(items)) => Some(items.iter().map(|&item| Some(item)).collect()),
            Operand::Value(Value::Array(items) | Value::Tuple(items)) => Some(items.iter().map(integer).collect()),
            _ => None,
        });
        items.known_or(Ints::new())
    }

    /// The pairs of an array; none where not even their number is known.
    pub(crate) fn pairs(&self, role: Role) -> Option<Pairs> {
        let pair = |item: &Value| match item {
            Value::Tuple(pair) | Value::Array(pair) if pair.len() == 2 => [integer(&pair[0]), integer(&pair[1])],
            Value::Integers(pair) if pair.len() == 2 => [Some(pair[0]), Some(pair[1])],
            _ => [None, None],
        };
        let items = self.attribute(role).read(|operand| match operand {
            Operand::Tensors(items) => Some(items.iter().map(|_| [None, None]).collect()),
            Operand::Value(Value::Integers(items)) if items.is_empty() => Some(Pairs::new()),
            Operand::Value(Value::Array(items)) => Some(items.iter().map(pair).collect()),
            _ => None,
        });
        items.known_or(Pairs::new())
    }

    /// Checks that axes lie within `0..rank` and differ.
    pub(crate) fn check_axes(&self, axes: &[Option<i64>], rank: Option<usize>, code: Code) -> Result<(), ShapeError> {
        let rank = rank.and_then(|rank| i64::try_from(rank).ok());
        for (i, axis) in axes.iter().enumerate().filter_map(|(i, axis)| Some((i, (*axis)?))) {
            if axis < 0 || (!self.endless() && rank.is_some_and(|rank| axis >= rank)) {
                return Err(out_of_range(code, axis, rank));
            }
            if axes[..i].contains(&Some(axis)) {
                return Err(ShapeError::new(code, format!("axis {axis} is given twice")));
            }
        }
        Ok(())
    }

    /// The one axis of an operation, within `0..rank`; none where it is not known.
    pub(crate) fn axis(&self, rank: usize, code: Code) -> Result<Option<usize>, ShapeError> {
        let Some(axis) = self.int(Role::Axis).known() else { return Ok(None) };
        self.check_axes(&[Some(axis)], Some(rank), code)?;
        Ok(usize::try_from(axis).ok().filter(|&axis| axis < MAX_RANK))
    }
}

/// The most axes that a shape is lengthened to.
pub(super) const MAX_RANK: usize = 64;

/// The failure of an axis that there is not.
fn out_of_range(code: Code, axis: i64, rank: Option<i64>) -> ShapeError {
    let message = match rank {
        Some(0) => format!("axis {axis}: a tensor of rank 0 has no axes"),
        Some(rank) => format!("axis {axis} is not within 0..{}", rank - 1),
        None => format!("axis {axis} is negative"),
    };
    ShapeError::new(code, message)
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Int(i) => Some(*i),
        _ => None,
    }
}

/// Integers as messages show them.
pub(super) struct Shown<'a>(pub &'a [Option<i64>]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("[")?;
        for (i, item) in self.0.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            match item {
                Some(item) => write!(f, "{comma}{item}")?,
                None => write!(f, "{comma}?")?,
            }
        }
        f.write_str("]")
    }
}
