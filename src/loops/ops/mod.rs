//! The operations of layers: one table with the rule on types, the computation, and what the
//! operation becomes in a flat graph.

mod attributes;
mod compute;
mod types;

pub(crate) use attributes::{Attributes, Role};
pub(crate) use attributes::{ROLES, Wanted};
pub(crate) use types::{Section, axis_of, reduced_axes, sections};

use super::network::{Type, volume};
use crate::tensor::kernels::{self, Arith, Kernel, Order};
use crate::tensor::{DType, Data, Dims, Tensor};
use compute::Known;

/// A result, or why there is none.
type Outcome<T> = Result<T, String>;

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
    infer: Infer,
    /// The elements of its result.
    compute: Compute,
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

type Infer = fn(&Call) -> Outcome<Type>;

/// How the elements of a result are computed.
enum Compute {
    /// Each from one or two elements.
    Kernel(Kernel),
    /// In another way.
    With(fn(&Known) -> Outcome<Data>),
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
const MANY: (usize, usize) = (1, usize::MAX);
const REDUCE: &[Role] = &[Role::Axes, Role::Axis, Role::KeepDims];

type Names = &'static [&'static str];

/// An operation of the table of kernels.
const fn kernel(names: Names, arity: (usize, usize), infer: Infer, kernel: &str, lowering: Lowering) -> Spec {
    let compute = match kernels::find(kernel) {
        Some(kernel) => Compute::Kernel(kernel),
        None => With(compute::identity),
    };
    Spec { names, arity, roles: &[], infer, compute, lowering }
}

/// A function of a float that NNEF has.
const fn float(names: Names, name: &'static str) -> Spec {
    kernel(names, UNARY, types::float, name, Scalars(name))
}

/// A function of a number that NNEF has.
const fn number(names: Names, name: &'static str) -> Spec {
    kernel(names, UNARY, types::number, name, Scalars(name))
}

/// A function of two operands that NNEF has on scalars.
const fn binary(names: Names, infer: Infer, name: &'static str) -> Spec {
    kernel(names, BINARY, infer, name, Scalars(name))
}

const fn reduction(names: Names, infer: Infer, compute: fn(&Known) -> Outcome<Data>, lowering: Lowering) -> Spec {
    Spec { names, arity: UNARY, roles: REDUCE, infer, compute: With(compute), lowering }
}

/// An operation that becomes several.
const fn special(
    names: Names,
    (arity, roles): ((usize, usize), &'static [Role]),
    infer: Infer,
    compute: fn(&Known) -> Outcome<Data>,
    lowering: Special,
) -> Spec {
    Spec { names, arity, roles, infer, compute: With(compute), lowering: Lowering::Special(lowering) }
}

use Compute::With;
use Lowering::{Alias, Logicals, Nothing, Reduce, Scalars, Special as Into};
use types::{arithmetic, comparison, equality, logic, logical, reduce_bool, reduce_float, reduce_number};

static TABLE: &[Spec] = &[
    kernel(&["identity", "copy"], UNARY, types::same, "", Alias),
    float(&["sqrt"], "sqrt"),
    float(&["rsqrt"], "rsqrt"),
    float(&["exp"], "exp"),
    float(&["log", "ln"], "log"),
    float(&["log2"], "log2"),
    float(&["sin"], "sin"),
    float(&["cos"], "cos"),
    float(&["tan"], "tan"),
    float(&["asin"], "asin"),
    float(&["acos"], "acos"),
    float(&["atan"], "atan"),
    float(&["sinh"], "sinh"),
    float(&["cosh"], "cosh"),
    float(&["asinh"], "asinh"),
    float(&["acosh"], "acosh"),
    float(&["atanh"], "atanh"),
    float(&["tanh"], "tanh"),
    float(&["sigmoid"], "sigmoid"),
    float(&["softplus"], "softplus"),
    float(&["floor"], "floor"),
    float(&["ceil"], "ceil"),
    float(&["round"], "round"),
    float(&["reciprocal", "recip", "rcp"], "rcp"),
    special(&["leaky_relu"], (UNARY, &[Role::Alpha]), types::float, compute::leaky_relu, Special::LeakyRelu),
    number(&["neg", "negate"], "neg"),
    number(&["abs"], "abs"),
    number(&["sign"], "sign"),
    number(&["square", "sqr"], "sqr"),
    number(&["relu"], "relu"),
    special(&["clamp", "clip"], (UNARY, &[Role::Low, Role::High]), types::number, compute::clamp, Special::Clamp),
    kernel(&["not", "logical_not"], UNARY, logical, "not", Logicals("not")),
    binary(&["add", "sum"], arithmetic, "add"),
    binary(&["sub", "subtract"], arithmetic, "sub"),
    binary(&["mul", "prod", "multiply"], arithmetic, "mul"),
    binary(&["div", "divide"], arithmetic, "div"),
    kernel(&["mod"], BINARY, arithmetic, "mod", Into(Special::Mod)),
    kernel(&["floor_div", "floordiv"], BINARY, arithmetic, "floor_div", Into(Special::FloorDiv)),
    binary(&["pow", "power"], arithmetic, "pow"),
    binary(&["min", "minimum"], arithmetic, "min"),
    binary(&["max", "maximum"], arithmetic, "max"),
    binary(&["less", "lt"], comparison, "lt"),
    binary(&["less_equal", "less_or_equal", "le"], comparison, "le"),
    binary(&["greater", "gt"], comparison, "gt"),
    binary(&["greater_equal", "greater_or_equal", "ge"], comparison, "ge"),
    binary(&["equal", "eq"], equality, "eq"),
    binary(&["not_equal", "ne"], equality, "ne"),
    kernel(&["and", "logical_and"], BINARY, logic, "and", Logicals("and")),
    kernel(&["or", "logical_or"], BINARY, logic, "or", Logicals("or")),
    kernel(&["xor", "logical_xor"], BINARY, logic, "xor", Into(Special::Xor)),
    special(&["select", "where"], ((3, 3), &[]), types::select, compute::select, Special::Select),
    special(
        &["matmul", "matrix_multiply"],
        (BINARY, &[Role::TransposeA, Role::TransposeB]),
        types::matmul,
        compute::matmul,
        Special::Matmul,
    ),
    reduction(&["reduce_sum"], reduce_number, |call| compute::reduce(call, Arith::Add), Reduce("sum_reduce")),
    reduction(&["reduce_mean"], reduce_float, compute::mean, Reduce("mean_reduce")),
    reduction(&["reduce_max"], reduce_number, |call| compute::reduce(call, Arith::Max), Reduce("max_reduce")),
    reduction(&["reduce_min"], reduce_number, |call| compute::reduce(call, Arith::Min), Reduce("min_reduce")),
    reduction(&["reduce_prod"], reduce_number, |call| compute::reduce(call, Arith::Mul), Nothing),
    reduction(&["reduce_any", "any"], reduce_bool, |call| compute::logical(call, true), Reduce("any_reduce")),
    reduction(&["reduce_all", "all"], reduce_bool, |call| compute::logical(call, false), Reduce("all_reduce")),
    reduction(&["argmax"], types::arg, |call| compute::extreme(call, Order::Greater), Reduce("argmax_reduce")),
    reduction(&["argmin"], types::arg, |call| compute::extreme(call, Order::Less), Reduce("argmin_reduce")),
    special(&["softmax"], (UNARY, &[Role::Axis, Role::Axes]), types::softmax, compute::softmax, Special::Softmax),
    special(&["gather"], (BINARY, &[Role::Axis]), types::gather, compute::gather, Special::Gather),
    special(&["reshape", "shuffle"], (UNARY, &[Role::Shape]), types::reshape, compute::identity, Special::Reshape),
    special(&["transpose"], (UNARY, &[Role::Axes]), types::transpose, compute::transpose, Special::Transpose),
    special(&["squeeze"], (UNARY, &[Role::Axes, Role::Axis]), types::squeeze, compute::identity, Special::Squeeze),
    special(
        &["unsqueeze", "expand_dims"],
        (UNARY, &[Role::Axes, Role::Axis]),
        types::unsqueeze,
        compute::identity,
        Special::Unsqueeze,
    ),
    special(
        &["slice"],
        (UNARY, &[Role::Axes, Role::Axis, Role::Begin, Role::End, Role::Size, Role::Stride]),
        types::slice,
        compute::slice,
        Special::Slice,
    ),
    special(
        &["concat", "concatenation"],
        (MANY, &[Role::Axis]),
        types::concat,
        |call| compute::join(call, false),
        Special::Concat,
    ),
    special(&["stack"], (MANY, &[Role::Axis]), types::stack, |call| compute::join(call, true), Special::Stack),
    special(&["cast"], (UNARY, &[Role::To]), types::cast, compute::cast, Special::Cast),
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

    /// The result, whose type is known.
    pub(crate) fn compute(
        self,
        inputs: &[&Tensor],
        attributes: &Attributes,
        (dtype, shape): (DType, Dims),
    ) -> Outcome<Tensor> {
        let call = Known { inputs, attributes, dtype, shape: &shape };
        let data = match &self.0.compute {
            Compute::Kernel(kernel) => kernel.compute(inputs, call.to()),
            Compute::With(function) => function(&call),
        }?;
        Tensor::new(&shape, data).ok_or_else(|| format!("`{}` does not fill {shape:?}", self.name()))
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
            let op = Op::find(name).expect("a known name");
            let told = !matches!(
                op.0.lowering,
                Scalars(_) | Logicals(_) | Into(Special::Mod | Special::FloorDiv | Special::Xor)
            );
            assert!(told || matches!(op.0.compute, Compute::Kernel(_)), "{name} has no kernel");
        }
    }
}
