//! Attributes of operations: their names in JSON and their values.

use crate::tensor::DType;

/// The attributes of an operation; absent attributes are none or false.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Attributes {
    /// One axis; a negative one counts from the end.
    pub(crate) axis: Option<i64>,
    /// Several axes.
    pub(crate) axes: Option<Vec<i64>>,
    /// Whether reduced axes are kept, with extent 1.
    pub(crate) keep_dims: bool,
    /// Whether the last two axes of the first operand are swapped.
    pub(crate) transpose_a: bool,
    /// Whether the last two axes of the second operand are swapped.
    pub(crate) transpose_b: bool,
    /// Where a slice begins, for each of its axes.
    pub(crate) begin: Option<Vec<i64>>,
    /// Where a slice ends.
    pub(crate) end: Option<Vec<i64>>,
    /// The length of a slice, instead of its end.
    pub(crate) size: Option<Vec<i64>>,
    /// The step of a slice.
    pub(crate) stride: Option<Vec<i64>>,
    /// The new extents.
    pub(crate) shape: Option<Vec<i64>>,
    /// The new element type.
    pub(crate) to: Option<DType>,
    /// The minimum value.
    pub(crate) low: Option<f64>,
    /// The maximum value.
    pub(crate) high: Option<f64>,
    /// The slope below zero.
    pub(crate) alpha: Option<f64>,
}

impl Attributes {
    /// `axes`, or else `axis` alone.
    pub(crate) fn any_axes(&self) -> Option<Vec<i64>> {
        self.axes.clone().or_else(|| self.axis.map(|axis| vec![axis]))
    }
}

/// The field of [`Attributes`] that an attribute is stored in, by the type of its value.
#[derive(Clone, Copy)]
pub(crate) enum Field {
    /// An integer.
    Int(fn(&mut Attributes) -> &mut Option<i64>),
    /// An integer or an array of integers.
    Ints(fn(&mut Attributes) -> &mut Option<Vec<i64>>),
    /// A logical.
    Bool(fn(&mut Attributes) -> &mut bool),
    /// A number.
    Number(fn(&mut Attributes) -> &mut Option<f64>),
    /// The name of a type.
    Type(fn(&mut Attributes) -> &mut Option<DType>),
}

/// An attribute: its names and its field.
pub(crate) type Attribute = (&'static [&'static str], Field);

pub(super) const AXIS: Attribute = (&["axis", "dim"], Field::Int(|to| &mut to.axis));
pub(super) const AXES: Attribute = (&["axes", "dims", "perm", "permutation"], Field::Ints(|to| &mut to.axes));
pub(super) const KEEP_DIMS: Attribute = (&["keepdims", "keep_dims", "keepdim"], Field::Bool(|to| &mut to.keep_dims));
pub(super) const TRANSPOSE_A: Attribute =
    (&["ta", "transpose_a", "transA", "transposeA"], Field::Bool(|to| &mut to.transpose_a));
pub(super) const TRANSPOSE_B: Attribute =
    (&["tb", "transpose_b", "transB", "transposeB"], Field::Bool(|to| &mut to.transpose_b));
pub(super) const BEGIN: Attribute = (&["begin", "begins", "start", "starts", "from"], Field::Ints(|to| &mut to.begin));
pub(super) const END: Attribute = (&["end", "ends", "stop", "limit"], Field::Ints(|to| &mut to.end));
pub(super) const SIZE: Attribute = (&["size", "sizes", "length"], Field::Ints(|to| &mut to.size));
pub(super) const STRIDE: Attribute = (&["stride", "strides", "step", "steps"], Field::Ints(|to| &mut to.stride));
pub(super) const SHAPE: Attribute = (&["shape"], Field::Ints(|to| &mut to.shape));
pub(super) const TO: Attribute = (&["to", "dtype"], Field::Type(|to| &mut to.to));
pub(super) const LOW: Attribute = (&["min", "low"], Field::Number(|to| &mut to.low));
pub(super) const HIGH: Attribute = (&["max", "high"], Field::Number(|to| &mut to.high));
pub(super) const ALPHA: Attribute = (&["alpha"], Field::Number(|to| &mut to.alpha));
