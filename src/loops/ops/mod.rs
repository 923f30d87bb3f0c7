//! The operations of layers: a table with type rule, computation and lowering of each.

mod attributes;
mod compute;
#[cfg(test)]
mod tests;
mod types;

pub(crate) use attributes::{Attribute, Attributes, Field};
pub(crate) use types::{Section, axis_of, order, reduced_axes, sections};

use super::network::{StaticType, volume};
use crate::dictionary::{Arith, Order, Row, elementwise};
use crate::tensor::{DType, Data, Dims, Tensor};
use attributes::*;
use compute::Operands;
use types::{ANY, Elements, FLOATS, LOGICALS, NUMBERS};

/// A result, or the error message.
type OpResult<T> = Result<T, String>;

/// An operation: a row of the table.
#[derive(Clone, Copy)]
pub(crate) struct Op(&'static Spec);

/// The properties of an operation.
pub(crate) struct Spec {
    /// Its names; messages use the first.
    pub(crate) names: &'static [&'static str],
    /// The minimum and maximum number of operands.
    pub(crate) arity: (usize, usize),
    /// The attributes that it takes.
    pub(crate) attributes: Takes,
    /// The element types that its first operand may have.
    elements: Elements,
    /// The type of its result.
    infer: Infer,
    /// The elements of its result.
    compute: Compute,
    /// Its lowering.
    pub(crate) lowering: Lowering,
}

/// The types of the operands and the attributes of an operation.
pub(crate) struct TypedCall<'a> {
    /// Their types.
    pub(crate) inputs: &'a [StaticType],
    /// The attributes.
    pub(crate) attributes: &'a Attributes,
}

type Infer = fn(&TypedCall) -> OpResult<StaticType>;

/// How the elements of a result are computed.
enum Compute {
    /// By the kernel of a meaning for each element.
    Kernel(&'static Row),
    /// By a function.
    With(fn(&Operands) -> OpResult<Data>),
}

/// How an operation is lowered to a flat graph.
#[derive(Clone, Copy)]
pub(crate) enum Lowering {
    /// The result is the operand.
    Alias,
    /// As NNEF computes an element-wise meaning.
    ByItem(&'static Row),
    /// The NNEF reduction of this name.
    Reduce(&'static str),
    /// A function of [`super::lower`]; fails if NNEF 1.0 cannot express the operation.
    Own,
}

const UNARY: (usize, usize) = (1, 1);
const BINARY: (usize, usize) = (2, 2);
const MANY: (usize, usize) = (1, usize::MAX);

type Names = &'static [&'static str];
type Takes = &'static [Attribute];

const REDUCE: Takes = &[AXIS, AXES, KEEP_DIMS];
const TRANSPOSES: Takes = &[TRANSPOSE_A, TRANSPOSE_B];
const SLICE: Takes = &[AXIS, AXES, BEGIN, END, SIZE, STRIDE];

/// The type rule: the element types that the first operand may have, and the type of the result.
type Rule = (Elements, Infer);

const FLOAT: Rule = (FLOATS, types::same);
const NUMBER: Rule = (NUMBERS, types::same);
const LOGICAL: Rule = (LOGICALS, types::same);
const ARITHMETIC: Rule = (NUMBERS, types::alike);
const COMPARISON: Rule = (NUMBERS, types::comparison);
const EQUALITY: Rule = (ANY, types::comparison);
const LOGIC: Rule = (LOGICALS, types::alike);
const NUMBER_REDUCE: Rule = (NUMBERS, types::reduce);
const FLOAT_REDUCE: Rule = (FLOATS, types::reduce);
const LOGIC_REDUCE: Rule = (LOGICALS, types::reduce);
const ARG_REDUCE: Rule = (NUMBERS, types::arg);
const MATMUL: Rule = (NUMBERS, types::matmul);
const UNSQUEEZE: Rule = (ANY, types::unsqueeze);

/// An element-wise operation.
const fn by_item(names: Names, arity: (usize, usize), rule: Rule, row: &'static Row) -> Spec {
    let (compute, lowering) = (Compute::Kernel(row), ByItem(row));
    Spec { names, arity, attributes: &[], elements: rule.0, infer: rule.1, compute, lowering }
}

const fn unary(names: Names, rule: Rule, row: &'static Row) -> Spec {
    by_item(names, UNARY, rule, row)
}

const fn binary(names: Names, rule: Rule, row: &'static Row) -> Spec {
    by_item(names, BINARY, rule, row)
}

const fn reduction(names: Names, rule: Rule, compute: fn(&Operands) -> OpResult<Data>, lowering: Lowering) -> Spec {
    let compute = Compute::With(compute);
    Spec { names, arity: UNARY, attributes: REDUCE, elements: rule.0, infer: rule.1, compute, lowering }
}

/// An operation with its own functions.
const fn special(
    names: Names,
    (arity, attributes): ((usize, usize), Takes),
    (elements, infer): Rule,
    compute: fn(&Operands) -> OpResult<Data>,
) -> Spec {
    Spec { names, arity, attributes, elements, infer, compute: Compute::With(compute), lowering: Own }
}

use Lowering::{Alias, ByItem, Own, Reduce};

static TABLE: &[Spec] = &[
    Spec {
        names: &["identity", "copy"],
        arity: UNARY,
        attributes: &[],
        elements: ANY,
        infer: types::same,
        compute: Compute::With(compute::identity),
        lowering: Alias,
    },
    unary(&["sqrt"], FLOAT, &elementwise::ROOT),
    unary(&["rsqrt"], FLOAT, &elementwise::RECIPROCAL_ROOT),
    unary(&["exp"], FLOAT, &elementwise::EXP),
    unary(&["log", "ln"], FLOAT, &elementwise::LOG),
    unary(&["log2"], FLOAT, &elementwise::LOG2),
    unary(&["sin"], FLOAT, &elementwise::SIN),
    unary(&["cos"], FLOAT, &elementwise::COS),
    unary(&["tan"], FLOAT, &elementwise::TAN),
    unary(&["asin"], FLOAT, &elementwise::ASIN),
    unary(&["acos"], FLOAT, &elementwise::ACOS),
    unary(&["atan"], FLOAT, &elementwise::ATAN),
    unary(&["sinh"], FLOAT, &elementwise::SINH),
    unary(&["cosh"], FLOAT, &elementwise::COSH),
    unary(&["asinh"], FLOAT, &elementwise::ASINH),
    unary(&["acosh"], FLOAT, &elementwise::ACOSH),
    unary(&["atanh"], FLOAT, &elementwise::ATANH),
    unary(&["tanh"], FLOAT, &elementwise::TANH),
    unary(&["sigmoid"], FLOAT, &elementwise::SIGMOID),
    unary(&["softplus"], FLOAT, &elementwise::STABLE_SOFTPLUS),
    unary(&["floor"], FLOAT, &elementwise::FLOOR),
    unary(&["ceil"], FLOAT, &elementwise::CEIL),
    unary(&["round"], FLOAT, &elementwise::ROUND_EVEN),
    unary(&["reciprocal", "recip", "rcp"], FLOAT, &elementwise::RCP),
    special(&["leaky_relu"], (UNARY, &[ALPHA]), FLOAT, compute::leaky_relu),
    unary(&["neg", "negate"], NUMBER, &elementwise::NEG),
    unary(&["abs"], NUMBER, &elementwise::ABS),
    unary(&["sign"], NUMBER, &elementwise::SIGN),
    unary(&["square", "sqr"], NUMBER, &elementwise::SQUARE),
    unary(&["relu"], NUMBER, &elementwise::RECTIFY),
    special(&["clamp", "clip"], (UNARY, &[LOW, HIGH]), NUMBER, compute::clamp),
    unary(&["not", "logical_not"], LOGICAL, &elementwise::NOT),
    binary(&["add", "sum"], ARITHMETIC, &elementwise::ADD),
    binary(&["sub", "subtract"], ARITHMETIC, &elementwise::SUB),
    binary(&["mul", "prod", "multiply"], ARITHMETIC, &elementwise::MUL),
    binary(&["div", "divide"], ARITHMETIC, &elementwise::DIV),
    binary(&["mod"], ARITHMETIC, &elementwise::MOD),
    binary(&["floor_div", "floordiv"], ARITHMETIC, &elementwise::FLOOR_DIV),
    binary(&["pow", "power"], ARITHMETIC, &elementwise::POW),
    binary(&["min", "minimum"], ARITHMETIC, &elementwise::MINIMUM),
    binary(&["max", "maximum"], ARITHMETIC, &elementwise::MAXIMUM),
    binary(&["less", "lt"], COMPARISON, &elementwise::LT),
    binary(&["less_equal", "less_or_equal", "le"], COMPARISON, &elementwise::LE),
    binary(&["greater", "gt"], COMPARISON, &elementwise::GT),
    binary(&["greater_equal", "greater_or_equal", "ge"], COMPARISON, &elementwise::GE),
    binary(&["equal", "eq"], EQUALITY, &elementwise::EQ),
    binary(&["not_equal", "ne"], EQUALITY, &elementwise::NE),
    binary(&["and", "logical_and"], LOGIC, &elementwise::AND),
    binary(&["or", "logical_or"], LOGIC, &elementwise::OR),
    binary(&["xor", "logical_xor"], LOGIC, &elementwise::XOR),
    special(&["select", "where"], ((3, 3), &[]), (LOGICALS, types::select), compute::select),
    special(&["matmul", "matrix_multiply"], (BINARY, TRANSPOSES), MATMUL, compute::matmul),
    reduction(&["reduce_sum"], NUMBER_REDUCE, |call| compute::reduce(call, Arith::Add), Reduce("sum_reduce")),
    reduction(&["reduce_mean"], FLOAT_REDUCE, compute::mean, Reduce("mean_reduce")),
    reduction(&["reduce_max"], NUMBER_REDUCE, |call| compute::reduce(call, Arith::Max), Reduce("max_reduce")),
    reduction(&["reduce_min"], NUMBER_REDUCE, |call| compute::reduce(call, Arith::Min), Reduce("min_reduce")),
    reduction(&["reduce_prod"], NUMBER_REDUCE, |call| compute::reduce(call, Arith::Mul), Own),
    reduction(&["reduce_any", "any"], LOGIC_REDUCE, |call| compute::logical(call, true), Reduce("any_reduce")),
    reduction(&["reduce_all", "all"], LOGIC_REDUCE, |call| compute::logical(call, false), Reduce("all_reduce")),
    reduction(&["argmax"], ARG_REDUCE, |call| compute::extreme(call, Order::Greater), Reduce("argmax_reduce")),
    reduction(&["argmin"], ARG_REDUCE, |call| compute::extreme(call, Order::Less), Reduce("argmin_reduce")),
    special(&["softmax"], (UNARY, &[AXIS, AXES]), (ANY, types::softmax), compute::softmax),
    special(&["gather"], (BINARY, &[AXIS]), (ANY, types::gather), compute::gather),
    special(&["reshape", "shuffle"], (UNARY, &[SHAPE]), (ANY, types::reshape), compute::identity),
    special(&["transpose"], (UNARY, &[AXES]), (ANY, types::transpose), compute::transpose),
    special(&["squeeze"], (UNARY, &[AXIS, AXES]), (ANY, types::squeeze), compute::identity),
    special(&["unsqueeze", "expand_dims"], (UNARY, &[AXIS, AXES]), UNSQUEEZE, compute::identity),
    special(&["slice"], (UNARY, SLICE), (ANY, types::slice), compute::slice),
    special(&["concat", "concatenation"], (MANY, &[AXIS]), (ANY, types::concat), compute::join),
    special(&["stack"], (MANY, &[AXIS]), (ANY, types::stack), compute::join),
    special(&["cast"], (UNARY, &[TO]), (ANY, types::cast), compute::cast),
];

impl Op {
    /// The operation with a name.
    pub(crate) fn find(name: &str) -> Option<Op> {
        TABLE.iter().find(|spec| spec.names.contains(&name)).map(Op)
    }

    /// All operations.
    #[cfg(test)]
    pub(crate) fn all() -> impl Iterator<Item = Op> {
        TABLE.iter().map(Op)
    }

    /// All names of all operations.
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
    pub(crate) fn infer(self, inputs: &[StaticType], attributes: &Attributes) -> Result<StaticType, String> {
        let (least, most) = self.0.arity;
        if inputs.len() < least || inputs.len() > most {
            let wanted = if most == usize::MAX { format!("at least {least}") } else { least.to_string() };
            return Err(format!("`{}` has {} operands instead of {wanted}", self.name(), inputs.len()));
        }
        types::check_elements(&inputs[0], self.0.elements)?;
        let result = (self.0.infer)(&TypedCall { inputs, attributes })?;
        let known: Option<Vec<usize>> = result.dims.iter().copied().collect();
        match known {
            Some(dims) if volume(&dims).is_none() => Err(format!("a result of {result} is too large")),
            _ => Ok(result),
        }
    }

    /// Computes the result, whose type is known.
    pub(crate) fn compute(
        self,
        inputs: &[&Tensor],
        attributes: &Attributes,
        (dtype, shape): (DType, Dims),
    ) -> OpResult<Tensor> {
        let call = Operands { inputs, attributes, dtype, shape: &shape };
        let data = match &self.0.compute {
            Compute::Kernel(row) => match row.kernel {
                Some(kernel) => kernel.compute(inputs, call.to()),
                None => Err(format!("`{}` has no kernel", row.name)),
            },
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
