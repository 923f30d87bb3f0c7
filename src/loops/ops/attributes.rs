//! Attributes of operations: what they are called in JSON, and what they hold.

use crate::tensor::DType;

/// What an attribute is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// One axis.
    Axis,
    /// Several axes.
    Axes,
    /// Whether reduced axes stay, with extent 1.
    KeepDims,
    /// Whether the last two axes of the first matrix are swapped.
    TransposeA,
    /// Whether those of the second are.
    TransposeB,
    /// Where a slice begins.
    Begin,
    /// Where a slice ends.
    End,
    /// How long a slice is.
    Size,
    /// The step of a slice.
    Stride,
    /// The new extents.
    Shape,
    /// The new type of elements.
    To,
    /// The least value.
    Low,
    /// The greatest value.
    High,
    /// The slope below zero.
    Alpha,
}

/// What values an attribute takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// An integer.
    Int,
    /// An integer or an array of such.
    Ints,
    /// A logical.
    Bool,
    /// A number.
    Number,
    /// The name of a type.
    Type,
}

/// The attributes: what for, what they take, what they are called.
pub(crate) const ROLES: &[(Role, Wanted, &[&str])] = &[
    (Role::Axis, Wanted::Int, &["axis", "dim"]),
    (Role::Axes, Wanted::Ints, &["axes", "dims", "perm", "permutation"]),
    (Role::KeepDims, Wanted::Bool, &["keepdims", "keep_dims", "keepdim"]),
    (Role::TransposeA, Wanted::Bool, &["ta", "transpose_a", "transA", "transposeA"]),
    (Role::TransposeB, Wanted::Bool, &["tb", "transpose_b", "transB", "transposeB"]),
    (Role::Begin, Wanted::Ints, &["begin", "begins", "start", "starts", "from"]),
    (Role::End, Wanted::Ints, &["end", "ends", "stop", "limit"]),
    (Role::Size, Wanted::Ints, &["size", "sizes", "length"]),
    (Role::Stride, Wanted::Ints, &["stride", "strides", "step", "steps"]),
    (Role::Shape, Wanted::Ints, &["shape"]),
    (Role::To, Wanted::Type, &["to", "dtype"]),
    (Role::Low, Wanted::Number, &["min", "low"]),
    (Role::High, Wanted::Number, &["max", "high"]),
    (Role::Alpha, Wanted::Number, &["alpha"]),
];

/// The attributes of an operation; those that were not given are none.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Attributes {
    /// One axis; a negative one counts from the end.
    pub(crate) axis: Option<i64>,
    /// Several axes.
    pub(crate) axes: Option<Vec<i64>>,
    /// Whether reduced axes stay, with extent 1.
    pub(crate) keep_dims: bool,
    /// Whether the last two axes of the first matrix are swapped.
    pub(crate) transpose_a: bool,
    /// Whether those of the second are.
    pub(crate) transpose_b: bool,
    /// Where a slice begins, for each of its axes.
    pub(crate) begin: Option<Vec<i64>>,
    /// Where a slice ends.
    pub(crate) end: Option<Vec<i64>>,
    /// How long a slice is, instead of where it ends.
    pub(crate) size: Option<Vec<i64>>,
    /// The step of a slice.
    pub(crate) stride: Option<Vec<i64>>,
    /// The new extents.
    pub(crate) shape: Option<Vec<i64>>,
    /// The new type of elements.
    pub(crate) to: Option<DType>,
    /// The least value.
    pub(crate) low: Option<f64>,
    /// The greatest value.
    pub(crate) high: Option<f64>,
    /// The slope below zero.
    pub(crate) alpha: Option<f64>,
}

impl Attributes {
    /// Sets what holds integers.
    pub(crate) fn set_ints(&mut self, role: Role, values: Vec<i64>) {
        let place = match role {
            Role::Axis => {
                self.axis = values.first().copied();
                return;
            }
            Role::Axes => &mut self.axes,
            Role::Begin => &mut self.begin,
            Role::End => &mut self.end,
            Role::Size => &mut self.size,
            Role::Stride => &mut self.stride,
            _ => &mut self.shape,
        };
        *place = Some(values);
    }

    /// Sets what holds a logical.
    pub(crate) fn set_bool(&mut self, role: Role, value: bool) {
        match role {
            Role::TransposeA => self.transpose_a = value,
            Role::TransposeB => self.transpose_b = value,
            _ => self.keep_dims = value,
        }
    }

    /// Sets what holds a number.
    pub(crate) fn set_number(&mut self, role: Role, value: f64) {
        let place = match role {
            Role::Low => &mut self.low,
            Role::High => &mut self.high,
            _ => &mut self.alpha,
        };
        *place = Some(value);
    }

    /// The axes, whether given as several or as one.
    pub(crate) fn any_axes(&self) -> Option<Vec<i64>> {
        self.axes.clone().or_else(|| self.axis.map(|axis| vec![axis]))
    }
}
