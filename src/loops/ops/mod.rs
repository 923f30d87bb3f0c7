//! The operations of layers: one table with the rule on types, the computation, and what the
//! operation becomes in a flat graph.

mod attributes;
mod compute;
mod elementwise;
mod layout;
mod types;

pub(crate) use attributes::{Attributes, Role};
pub(crate) use attributes::{ROLES, Wanted};
pub(crate) use layout::{Section, sections};
pub(crate) use types::{axis_of, reduced_axes};

use super::network::Type;
use super::network::volume;
use crate::tensor::{Data, Tensor};
use elementwise::{Arith, Logic, Order};

/// An operation: a row of the table.
#[derive(Clone, Copy)]
pub(crate) struct Op(&'static Spec);

/// What there is to know about an operation.
pub(crate) struct Spec {
    /// Its names, the first one for messages.
    pub(crate) names: &'static [&'static str],
    /// The least and the most operands.
    pub(crate) arity: (usize, usize),
    /// The attributes that it takes.
    pub(crate) roles: &'static [Role],
    /// The type of its result.
    pub(crate) infer: fn(&Call) -> Result<Type, String>,
    /// The elements of its result.
    pub(crate) compute: Compute,
    /// What it becomes.
    pub(crate) lowering: Lowering,
}

/// The operands of an operation as far as they are known.
pub(crate) struct Call<'a> {
    /// Their types.
    pub(crate) inputs: &'a [Type],
    /// The attributes.
    pub(crate) attributes: &'a Attributes,
}

/// How the elements of a result are computed.
pub(crate) enum Compute {
    /// Each from one, by a function on 32 and one on 64 bits.
    Float(fn(f32) -> f32, fn(f64) -> f64),
    /// Each from two numbers.
    Arith(Arith),
    /// Each from the order of two numbers.
    Order(Order),
    /// Each from two logicals.
    Logic(Logic),
    /// In another way; the extents are those of the result.
    With(fn(&[&Tensor], &Attributes, &Type) -> Result<Data, String>),
}

/// What an operation becomes in a flat graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lowering {
    /// Another name of its operand.
    Alias,
    /// The operation of this name on scalars.
    Scalars(&'static str),
    /// The operation of this name on logicals.
    Logicals(&'static str),
    /// The reduction of this name.
    Reduce(&'static str),
    /// Several operations.
    Special(Special),
    /// Nothing in NNEF 1.0.
    Nothing,
}

/// Operations that become several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    Mod,
    FloorDiv,
    Xor,
    Select,
    Matmul,
    Gather,
    Softmax,
    Reshape,
    Transpose,
    Squeeze,
    Unsqueeze,
    Slice,
    Concat,
    Stack,
    Cast,
    Clamp,
    LeakyRelu,
}

const UNARY: (usize, usize) = (1, 1);
const BINARY: (usize, usize) = (2, 2);
const REDUCE: &[Role] = &[Role::Axes, Role::Axis, Role::KeepDims];

macro_rules! float {
    ($f32:expr, $f64:expr) => {
        Compute::Float(|x: f32| $f32(x), |x: f64| $f64(x))
    };
}

macro_rules! row {
    ($names:expr, $arity:expr, $roles:expr, $infer:expr, $compute:expr, $lowering:expr) => {
        Spec { names: $names, arity: $arity, roles: $roles, infer: $infer, compute: $compute, lowering: $lowering }
    };
}

/// A function of one float.
macro_rules! function {
    ($names:expr, $compute:expr, $lowering:expr) => {
        row!($names, UNARY, &[], types::float, $compute, $lowering)
    };
}

use Compute::With;
use Lowering::{Alias, Logicals, Nothing, Reduce, Scalars, Special as Into};

static TABLE: &[Spec] = &[
    row!(&["identity", "copy"], UNARY, &[], types::same, With(compute::identity), Alias),
    // Functions of a float.
    function!(&["sqrt"], float!(f32::sqrt, f64::sqrt), Scalars("sqrt")),
    function!(&["rsqrt"], float!(|x: f32| 1.0 / x.sqrt(), |x: f64| 1.0 / x.sqrt()), Scalars("rsqrt")),
    function!(&["exp"], float!(f32::exp, f64::exp), Scalars("exp")),
    function!(&["log", "ln"], float!(f32::ln, f64::ln), Scalars("log")),
    function!(&["log2"], float!(f32::log2, f64::log2), Scalars("log2")),
    function!(&["sin"], float!(f32::sin, f64::sin), Scalars("sin")),
    function!(&["cos"], float!(f32::cos, f64::cos), Scalars("cos")),
    function!(&["tan"], float!(f32::tan, f64::tan), Scalars("tan")),
    function!(&["asin"], float!(f32::asin, f64::asin), Scalars("asin")),
    function!(&["acos"], float!(f32::acos, f64::acos), Scalars("acos")),
    function!(&["atan"], float!(f32::atan, f64::atan), Scalars("atan")),
    function!(&["sinh"], float!(f32::sinh, f64::sinh), Scalars("sinh")),
    function!(&["cosh"], float!(f32::cosh, f64::cosh), Scalars("cosh")),
    function!(&["asinh"], float!(f32::asinh, f64::asinh), Scalars("asinh")),
    function!(&["acosh"], float!(f32::acosh, f64::acosh), Scalars("acosh")),
    function!(&["atanh"], float!(f32::atanh, f64::atanh), Scalars("atanh")),
    function!(&["tanh"], float!(f32::tanh, f64::tanh), Scalars("tanh")),
    function!(
        &["sigmoid"],
        float!(|x: f32| 1.0 / (1.0 + (-x).exp()), |x: f64| 1.0 / (1.0 + (-x).exp())),
        Scalars("sigmoid")
    ),
    function!(
        &["softplus"],
        float!(|x: f32| x.max(0.0) + (-x.abs()).exp().ln_1p(), |x: f64| x.max(0.0) + (-x.abs()).exp().ln_1p()),
        Scalars("softplus")
    ),
    function!(&["floor"], float!(f32::floor, f64::floor), Scalars("floor")),
    function!(&["ceil"], float!(f32::ceil, f64::ceil), Scalars("ceil")),
    function!(&["round"], float!(f32::round_ties_even, f64::round_ties_even), Scalars("round")),
    function!(&["reciprocal", "recip", "rcp"], float!(f32::recip, f64::recip), Scalars("rcp")),
    row!(&["leaky_relu"], UNARY, &[Role::Alpha], types::float, With(compute::leaky_relu), Into(Special::LeakyRelu)),
    // Functions of a number.
    row!(&["neg", "negate"], UNARY, &[], types::number, With(compute::negate), Scalars("neg")),
    row!(&["abs"], UNARY, &[], types::number, With(compute::absolute), Scalars("abs")),
    row!(&["sign"], UNARY, &[], types::number, With(compute::sign), Scalars("sign")),
    row!(&["square", "sqr"], UNARY, &[], types::number, With(compute::square), Scalars("sqr")),
    row!(&["relu"], UNARY, &[], types::number, With(compute::relu), Scalars("relu")),
    row!(
        &["clamp", "clip"],
        UNARY,
        &[Role::Low, Role::High],
        types::number,
        With(compute::clamp),
        Into(Special::Clamp)
    ),
    row!(&["not", "logical_not"], UNARY, &[], types::logical, With(compute::negation), Logicals("not")),
    // Arithmetic of two numbers.
    row!(&["add", "sum"], BINARY, &[], types::arithmetic, Compute::Arith(Arith::Add), Scalars("add")),
    row!(&["sub", "subtract"], BINARY, &[], types::arithmetic, Compute::Arith(Arith::Sub), Scalars("sub")),
    row!(&["mul", "prod", "multiply"], BINARY, &[], types::arithmetic, Compute::Arith(Arith::Mul), Scalars("mul")),
    row!(&["div", "divide"], BINARY, &[], types::arithmetic, Compute::Arith(Arith::Div), Scalars("div")),
    row!(&["mod"], BINARY, &[], types::arithmetic, Compute::Arith(Arith::Mod), Into(Special::Mod)),
    row!(
        &["floor_div", "floordiv"],
        BINARY,
        &[],
        types::arithmetic,
        Compute::Arith(Arith::FloorDiv),
        Into(Special::FloorDiv)
    ),
    row!(&["pow", "power"], BINARY, &[], types::arithmetic, Compute::Arith(Arith::Pow), Scalars("pow")),
    row!(&["min", "minimum"], BINARY, &[], types::arithmetic, Compute::Arith(Arith::Min), Scalars("min")),
    row!(&["max", "maximum"], BINARY, &[], types::arithmetic, Compute::Arith(Arith::Max), Scalars("max")),
    // Comparisons and logic.
    row!(&["less", "lt"], BINARY, &[], types::comparison, Compute::Order(Order::Less), Scalars("lt")),
    row!(
        &["less_equal", "less_or_equal", "le"],
        BINARY,
        &[],
        types::comparison,
        Compute::Order(Order::LessEqual),
        Scalars("le")
    ),
    row!(&["greater", "gt"], BINARY, &[], types::comparison, Compute::Order(Order::Greater), Scalars("gt")),
    row!(
        &["greater_equal", "greater_or_equal", "ge"],
        BINARY,
        &[],
        types::comparison,
        Compute::Order(Order::GreaterEqual),
        Scalars("ge")
    ),
    row!(&["equal", "eq"], BINARY, &[], types::equality, Compute::Order(Order::Equal), Scalars("eq")),
    row!(&["not_equal", "ne"], BINARY, &[], types::equality, Compute::Order(Order::NotEqual), Scalars("ne")),
    row!(&["and", "logical_and"], BINARY, &[], types::logic, Compute::Logic(Logic::And), Logicals("and")),
    row!(&["or", "logical_or"], BINARY, &[], types::logic, Compute::Logic(Logic::Or), Logicals("or")),
    row!(&["xor", "logical_xor"], BINARY, &[], types::logic, Compute::Logic(Logic::Xor), Into(Special::Xor)),
    row!(&["select", "where"], (3, 3), &[], types::select, With(elementwise::select), Into(Special::Select)),
    // Matrices, and reductions.
    row!(
        &["matmul", "matrix_multiply"],
        BINARY,
        &[Role::TransposeA, Role::TransposeB],
        types::matmul,
        With(compute::matmul),
        Into(Special::Matmul)
    ),
    row!(&["reduce_sum"], UNARY, REDUCE, types::reduce_number, With(compute::reduce_sum), Reduce("sum_reduce")),
    row!(&["reduce_mean"], UNARY, REDUCE, types::reduce_float, With(compute::reduce_mean), Reduce("mean_reduce")),
    row!(&["reduce_max"], UNARY, REDUCE, types::reduce_number, With(compute::reduce_max), Reduce("max_reduce")),
    row!(&["reduce_min"], UNARY, REDUCE, types::reduce_number, With(compute::reduce_min), Reduce("min_reduce")),
    row!(&["reduce_prod"], UNARY, REDUCE, types::reduce_number, With(compute::reduce_prod), Nothing),
    row!(&["reduce_any", "any"], UNARY, REDUCE, types::reduce_bool, With(compute::reduce_any), Reduce("any_reduce")),
    row!(&["reduce_all", "all"], UNARY, REDUCE, types::reduce_bool, With(compute::reduce_all), Reduce("all_reduce")),
    row!(&["argmax"], UNARY, REDUCE, types::arg, With(compute::argmax), Reduce("argmax_reduce")),
    row!(&["argmin"], UNARY, REDUCE, types::arg, With(compute::argmin), Reduce("argmin_reduce")),
    row!(
        &["softmax"],
        UNARY,
        &[Role::Axis, Role::Axes],
        types::softmax,
        With(compute::softmax),
        Into(Special::Softmax)
    ),
    // Layout.
    row!(&["gather"], BINARY, &[Role::Axis], types::gather, With(layout::gather), Into(Special::Gather)),
    row!(
        &["reshape", "shuffle"],
        UNARY,
        &[Role::Shape],
        types::reshape,
        With(compute::identity),
        Into(Special::Reshape)
    ),
    row!(&["transpose"], UNARY, &[Role::Axes], types::transpose, With(layout::transpose), Into(Special::Transpose)),
    row!(
        &["squeeze"],
        UNARY,
        &[Role::Axes, Role::Axis],
        types::squeeze,
        With(compute::identity),
        Into(Special::Squeeze)
    ),
    row!(
        &["unsqueeze", "expand_dims"],
        UNARY,
        &[Role::Axes, Role::Axis],
        types::unsqueeze,
        With(compute::identity),
        Into(Special::Unsqueeze)
    ),
    row!(
        &["slice"],
        UNARY,
        &[Role::Axes, Role::Axis, Role::Begin, Role::End, Role::Size, Role::Stride],
        types::slice,
        With(layout::slice),
        Into(Special::Slice)
    ),
    row!(
        &["concat", "concatenation"],
        (1, usize::MAX),
        &[Role::Axis],
        types::concat,
        With(layout::concat),
        Into(Special::Concat)
    ),
    row!(&["stack"], (1, usize::MAX), &[Role::Axis], types::stack, With(layout::stack), Into(Special::Stack)),
    row!(&["cast"], UNARY, &[Role::To], types::cast, With(compute::cast), Into(Special::Cast)),
];

impl Op {
    /// The operation of a name.
    pub(crate) fn find(name: &str) -> Option<Op> {
        TABLE.iter().find(|spec| spec.names.contains(&name)).map(Op)
    }

    /// The names of all operations, further names included.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        TABLE.iter().flat_map(|spec| spec.names.iter().copied())
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        self.0.names.first().copied().unwrap_or("")
    }

    pub(crate) fn spec(self) -> &'static Spec {
        self.0
    }

    /// The type of the result.
    pub(crate) fn infer(self, inputs: &[Type], attributes: &Attributes) -> Result<Type, String> {
        let (least, most) = self.0.arity;
        if inputs.len() < least || inputs.len() > most {
            let wanted = if most == usize::MAX { format!("at least {least}") } else { least.to_string() };
            return Err(format!("`{}` has {} operands instead of {wanted}", self.name(), inputs.len()));
        }
        let result = (self.0.infer)(&Call { inputs, attributes })?;
        let known: Option<Vec<usize>> = result.dims.iter().copied().collect();
        match known {
            Some(dims) if volume(&dims).is_none() => Err(format!("a result of {result} is too large")),
            _ => Ok(result),
        }
    }

    /// The result, whose type is known, and how many steps on elements it takes.
    pub(crate) fn compute(self, inputs: &[&Tensor], attributes: &Attributes, result: &Type) -> Result<Tensor, String> {
        let shape: Option<crate::tensor::Dims> = result.dims.iter().copied().collect();
        let shape = shape.ok_or_else(|| format!("the extents of {result} are not known"))?;
        let data = match (&self.0.compute, inputs) {
            (Compute::Float(single, double), [x]) => elementwise::float(x.data(), *single, *double),
            (Compute::Arith(op), [a, b]) => elementwise::arithmetic(*op, a, b, &shape),
            (Compute::Order(order), [a, b]) => elementwise::compare(*order, a, b, &shape),
            (Compute::Logic(logic), [a, b]) => elementwise::logic(*logic, a, b, &shape),
            (Compute::With(function), _) => function(inputs, attributes, result),
            _ => Err("wrong number of operands".to_owned()),
        }?;
        Tensor::new(&shape, data).ok_or_else(|| format!("`{}` does not fill {result}", self.name()))
    }
}

impl std::fmt::Debug for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl PartialEq for Op {
    fn eq(&self, other: &Op) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut seen = std::collections::BTreeSet::new();
        for name in Op::names() {
            assert!(seen.insert(name), "{name} twice");
            assert!(Op::find(name).is_some());
        }
    }
}
