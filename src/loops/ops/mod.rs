//! The operations of layers: one table with the rule on types, the computation, and what the
//! operation becomes in a flat graph.

mod attributes;
mod compute;
#[cfg(test)]
mod tests;
mod types;

pub(crate) use attributes::{Attribute, Attributes, Field};
pub(crate) use types::{axis_of, reduced_axes, sections};

use super::network::{Type, volume};
use crate::graph::Primitive;
use crate::tensor::kernels::{self, Arith, Kernel, Order};
use crate::tensor::{DType, Data, Dims, Tensor};
use attributes::*;
use compute::Operands;

/// A result, or why there is none.
type OpResult<T> = Result<T, String>;

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
    pub(crate) attributes: Takes,
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

type Infer = fn(&Call) -> OpResult<Type>;

/// How the elements of a result are computed.
enum Compute {
    /// Each from one or two elements.
    Kernel(Kernel),
    /// In another way.
    With(fn(&Operands) -> OpResult<Data>),
}

/// What an operation becomes in a flat graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lowering {
    /// Another name of its operand.
    Alias,
    /// The operation of this name, item by item, on elements of this type.
    ByItem(&'static str, Primitive),
    /// The reduction of this name.
    Reduce(&'static str),
    /// What a function of [`super::lower`] makes, if NNEF 1.0 can express it at all.
    Own,
}

const UNARY: (usize, usize) = (1, 1);
const BINARY: (usize, usize) = (2, 2);
const MANY: (usize, usize) = (1, usize::MAX);

type Names = &'static [&'static str];
type Takes = &'static [Attribute];

const REDUCE: Takes = &[AXIS, AXES, KEEP_DIMS];
const SLICE: Takes = &[AXIS, AXES, BEGIN, END, SIZE, STRIDE];

/// An operation of the table of kernels.
const fn kernel(names: Names, arity: (usize, usize), infer: Infer, kernel: &str, lowering: Lowering) -> Spec {
    let compute = match kernels::find(kernel) {
        Some(kernel) => Compute::Kernel(kernel),
        None => Compute::With(compute::identity),
    };
    Spec { names, arity, attributes: &[], infer, compute, lowering }
}

/// A function of a float that NNEF has.
const fn float(names: Names, name: &'static str) -> Spec {
    kernel(names, UNARY, types::float, name, Lowering::ByItem(name, Primitive::Scalar))
}

/// A function of a number that NNEF has.
const fn number(names: Names, name: &'static str) -> Spec {
    kernel(names, UNARY, types::number, name, Lowering::ByItem(name, Primitive::Scalar))
}

/// A function of two operands that NNEF has on scalars.
const fn binary(names: Names, infer: Infer, name: &'static str) -> Spec {
    kernel(names, BINARY, infer, name, Lowering::ByItem(name, Primitive::Scalar))
}

/// A function of logicals that NNEF has.
const fn logic(names: Names, arity: (usize, usize), infer: Infer, name: &'static str) -> Spec {
    kernel(names, arity, infer, name, Lowering::ByItem(name, Primitive::Logical))
}

const fn reduction(names: Names, infer: Infer, compute: fn(&Operands) -> OpResult<Data>, lowering: Lowering) -> Spec {
    Spec { names, arity: UNARY, attributes: REDUCE, infer, compute: Compute::With(compute), lowering }
}

/// An operation with functions of its own.
const fn special(
    names: Names,
    (arity, attributes): ((usize, usize), Takes),
    infer: Infer,
    compute: fn(&Operands) -> OpResult<Data>,
) -> Spec {
    Spec { names, arity, attributes, infer, compute: Compute::With(compute), lowering: Own }
}

use Lowering::{Alias, Own, Reduce};
use types::{arithmetic, comparison, equality, reduce_bool, reduce_float, reduce_number};

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
    special(&["leaky_relu"], (UNARY, &[ALPHA]), types::float, compute::leaky_relu),
    number(&["neg", "negate"], "neg"),
    number(&["abs"], "abs"),
    number(&["sign"], "sign"),
    number(&["square", "sqr"], "sqr"),
    number(&["relu"], "relu"),
    special(&["clamp", "clip"], (UNARY, &[LOW, HIGH]), types::number, compute::clamp),
    logic(&["not", "logical_not"], UNARY, types::logical, "not"),
    binary(&["add", "sum"], arithmetic, "add"),
    binary(&["sub", "subtract"], arithmetic, "sub"),
    binary(&["mul", "prod", "multiply"], arithmetic, "mul"),
    binary(&["div", "divide"], arithmetic, "div"),
    kernel(&["mod"], BINARY, arithmetic, "mod", Own),
    kernel(&["floor_div", "floordiv"], BINARY, arithmetic, "floor_div", Own),
    binary(&["pow", "power"], arithmetic, "pow"),
    binary(&["min", "minimum"], arithmetic, "min"),
    binary(&["max", "maximum"], arithmetic, "max"),
    binary(&["less", "lt"], comparison, "lt"),
    binary(&["less_equal", "less_or_equal", "le"], comparison, "le"),
    binary(&["greater", "gt"], comparison, "gt"),
    binary(&["greater_equal", "greater_or_equal", "ge"], comparison, "ge"),
    binary(&["equal", "eq"], equality, "eq"),
    binary(&["not_equal", "ne"], equality, "ne"),
    logic(&["and", "logical_and"], BINARY, types::logic, "and"),
    logic(&["or", "logical_or"], BINARY, types::logic, "or"),
    kernel(&["xor", "logical_xor"], BINARY, types::logic, "xor", Own),
    special(&["select", "where"], ((3, 3), &[]), types::select, compute::select),
    special(&["matmul", "matrix_multiply"], (BINARY, &[TRANSPOSE_A, TRANSPOSE_B]), types::matmul, compute::matmul),
    reduction(&["reduce_sum"], reduce_number, |call| compute::reduce(call, Arith::Add), Reduce("sum_reduce")),
    reduction(&["reduce_mean"], reduce_float, compute::mean, Reduce("mean_reduce")),
    reduction(&["reduce_max"], reduce_number, |call| compute::reduce(call, Arith::Max), Reduce("max_reduce")),
    reduction(&["reduce_min"], reduce_number, |call| compute::reduce(call, Arith::Min), Reduce("min_reduce")),
    reduction(&["reduce_prod"], reduce_number, |call| compute::reduce(call, Arith::Mul), Own),
    reduction(&["reduce_any", "any"], reduce_bool, |call| compute::logical(call, true), Reduce("any_reduce")),
    reduction(&["reduce_all", "all"], reduce_bool, |call| compute::logical(call, false), Reduce("all_reduce")),
    reduction(&["argmax"], types::arg, |call| compute::extreme(call, Order::Greater), Reduce("argmax_reduce")),
    reduction(&["argmin"], types::arg, |call| compute::extreme(call, Order::Less), Reduce("argmin_reduce")),
    special(&["softmax"], (UNARY, &[AXIS, AXES]), types::softmax, compute::softmax),
    special(&["gather"], (BINARY, &[AXIS]), types::gather, compute::gather),
    special(&["reshape", "shuffle"], (UNARY, &[SHAPE]), types::reshape, compute::identity),
    special(&["transpose"], (UNARY, &[AXES]), types::transpose, compute::transpose),
    special(&["squeeze"], (UNARY, &[AXIS, AXES]), types::squeeze, compute::identity),
    special(&["unsqueeze", "expand_dims"], (UNARY, &[AXIS, AXES]), types::unsqueeze, compute::identity),
    special(&["slice"], (UNARY, SLICE), types::slice, compute::slice),
    special(&["concat", "concatenation"], (MANY, &[AXIS]), types::concat, |call| compute::join(call, false)),
    special(&["stack"], (MANY, &[AXIS]), types::stack, |call| compute::join(call, true)),
    special(&["cast"], (UNARY, &[TO]), types::cast, compute::cast),
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
    ) -> OpResult<Tensor> {
        let call = Operands { inputs, attributes, dtype, shape: &shape };
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
